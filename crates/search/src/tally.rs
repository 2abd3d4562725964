//! Sums by number, of sections or of pages.

/// What everything scores, and which words of the question it holds.
#[derive(Debug)]
pub(crate) struct Tally {
    all: Vec<Entry>,
    /// Where the word at hand stands.
    touched: Vec<u32>,
    /// What scores at all, each once.
    found: Vec<u32>,
    /// How rare each word is that was counted, by its number.
    rarities: Vec<f32>,
    of: f32,
    k1: f32,
}

/// What one number stands for.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    score: f32,
    /// How often the word at hand stands there, weighed.
    often: f32,
    /// Which words are met, a bit for each.
    met: u32,
}

/// How many words can be told apart.
pub(crate) const MOST_WORDS: usize = 32;

impl Tally {
    /// For numbers below `size`, of which `of` are in use.
    pub(crate) fn new(size: usize, of: usize, k1: f32) -> Self {
        Self {
            all: vec![Entry::default(); size],
            touched: Vec::new(),
            found: Vec::new(),
            rarities: Vec::new(),
            of: of as f32,
            k1,
        }
    }

    pub(crate) fn add(&mut self, at: usize, often: f32) {
        let entry = &mut self.all[at];
        if entry.often == 0.0 {
            self.touched.push(at as u32);
        }
        entry.often += often;
    }

    /// A word is done in a field: how often it stands there becomes a score, by how rare it is. With the number of a word,
    /// it is met where it stands; the first field it is settled for tells how rare it is.
    pub(crate) fn settle(&mut self, weight: f32, word: Option<usize>) {
        let rarity = rarity(self.of, self.touched.len() as f32);
        let bit = word.filter(|word| *word < MOST_WORDS).map_or(0, |word| 1_u32 << word);
        if word.is_some_and(|word| word == self.rarities.len()) {
            self.rarities.push(rarity);
        }
        for at in self.touched.drain(..) {
            let entry = &mut self.all[at as usize];
            let often = std::mem::take(&mut entry.often);
            if entry.score == 0.0 {
                self.found.push(at);
            }
            entry.score += weight * rarity * often * (self.k1 + 1.0) / (often + self.k1);
            entry.met |= bit;
        }
    }

    /// Everything as it was in the beginning.
    pub(crate) fn clear(&mut self) {
        for at in self.found.drain(..) {
            self.all[at as usize] = Entry::default();
        }
        self.rarities.clear();
    }

    pub(crate) fn score(&self, at: usize) -> f32 {
        self.all[at].score
    }

    /// Which words are met, a bit for each.
    pub(crate) fn met(&self, at: usize) -> u32 {
        self.all[at].met
    }

    pub(crate) fn rarities(&self) -> &[f32] {
        &self.rarities
    }

    pub(crate) fn found(&self) -> impl Iterator<Item = usize> {
        self.found.iter().map(|at| *at as usize)
    }
}

/// How much a word tells that `holding` of `of` have: the logarithm BM25 weighs it by.
fn rarity(of: f32, holding: f32) -> f32 {
    (1.0 + (of - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
}

/// What of a question is met: the sum of the words whose bits are set.
pub(crate) fn sum_of(rarities: &[f32], met: u32) -> f32 {
    rarities
        .iter()
        .take(MOST_WORDS)
        .enumerate()
        .filter(|(word, _)| met >> word & 1 == 1)
        .map(|(_, rarity)| rarity)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_word_scores_more_than_a_common_one_and_more_of_it_ever_less() {
        let mut tally = Tally::new(4, 4, 1.2);
        tally.add(0, 1.0);
        tally.settle(1.0, Some(0));
        (0..4).for_each(|at| tally.add(at, if at == 2 { 9.0 } else { 1.0 }));
        tally.settle(1.0, Some(1));
        assert!(tally.score(0) > 2.0 * tally.score(1));
        assert!(tally.score(2) > tally.score(1) && tally.score(2) < 3.0 * tally.score(1));
        assert_eq!((tally.met(0), tally.met(1)), (0b11, 0b10));
        assert!((sum_of(tally.rarities(), tally.met(0)) - tally.rarities().iter().sum::<f32>()).abs() < 1e-6);
        tally.clear();
        assert_eq!((tally.score(0), tally.met(0), tally.found().count()), (0.0, 0, 0));
    }
}
