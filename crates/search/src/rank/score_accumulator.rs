//! Accumulates scores by number of section or page.

use std::sync::Arc;

use parking_lot::Mutex;

/// The score of every section or page, and which words of the question it contains.
#[derive(Debug)]
pub(crate) struct ScoreAccumulator {
    table: Table,
    /// The rarity of each word counted so far, by word number.
    rarities: Vec<f32>,
    of: f32,
    k1: f32,
    /// The pool that the table is taken from and returned to.
    tables: Arc<Tables>,
}

/// A pool of tables for reuse: a table has an entry for every section of the docs, and allocating one for each question
/// would take longer than filling it.
#[derive(Debug, Default)]
pub(crate) struct Tables(Mutex<Vec<Table>>);

#[derive(Debug, Default)]
struct Table {
    all: Vec<Entry>,
    /// The weighted frequency of the current word, by number.
    often: Vec<f32>,
    /// The numbers that contain the current word, each once.
    touched: DistinctNumbers,
    /// The numbers with a score, each once.
    found: DistinctNumbers,
}

/// A list of distinct numbers, appended to without branching: half of the branches would be mispredicted, which takes longer than
/// everything else that is done for a number.
#[derive(Debug, Default)]
struct DistinctNumbers {
    /// Only the first `count` are valid. A number that is noted again is written behind them and not counted.
    numbers: Vec<u32>,
    count: usize,
}

impl DistinctNumbers {
    /// Makes room for `most` more numbers.
    fn reserve(&mut self, most: usize) {
        let room = self.count + most;
        if self.numbers.len() < room {
            self.numbers.resize(room, 0);
        }
    }

    fn add(&mut self, number: usize, is_new: bool) {
        if let Some(next) = self.numbers.get_mut(self.count) {
            *next = number as u32;
        }
        self.count += usize::from(is_new);
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        self.numbers.iter().take(self.count).map(|number| *number as usize)
    }
}

/// Maximum number of tables in the pool. Further concurrent questions allocate their own.
const MOST_TABLES: usize = 8;

/// The state of one section or page.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    score: f32,
    /// The words that were met, a bit for each.
    met: u32,
}

/// Less than the weight of any single occurrence of a word, and more than the rounding error of sums.
pub(crate) const NEXT_TO_NOTHING: f32 = 0.01;

/// Maximum number of words that have a bit in [`Entry::met`].
pub(crate) const MOST_WORDS: usize = 32;

impl ScoreAccumulator {
    /// For numbers below `size`, of which `of` are in use.
    pub(crate) fn new(size: usize, of: usize, k1: f32, tables: &Arc<Tables>) -> Self {
        let known = tables.0.lock().pop();
        let mut table = known.unwrap_or_default();
        table.all.resize(size, Entry::default());
        table.often.resize(size, 0.0);
        Self { table, rarities: Vec::new(), of: of as f32, k1, tables: Arc::clone(tables) }
    }

    /// Adds to the frequency of the current word, for at most `most` numbers.
    pub(crate) fn add(&mut self, most: usize, each: impl IntoIterator<Item = (usize, f32)>) {
        let Table { often: all, touched, .. } = &mut self.table;
        touched.reserve(most);
        for (at, often) in each {
            let known = &mut all[at];
            touched.add(at, *known == 0.0);
            *known += often;
        }
    }

    /// Subtracts from the frequency of the current word. The number is still counted as containing the word.
    pub(crate) fn take_off(&mut self, at: usize, often: f32) {
        let known = &mut self.table.often[at];
        if *known > 0.0 {
            *known = (*known - often).max(f32::MIN_POSITIVE);
        }
    }

    /// The weighted frequency of the current word.
    pub(crate) fn often(&self, at: usize) -> f32 {
        self.table.often[at]
    }

    /// Finishes a word in a field: turns its frequencies, times `counts`, into scores, by its rarity. With a word number, the word
    /// is marked as met wherever it occurs more than `nothing`; the first field it is finished for determines the rarity that is
    /// recorded.
    pub(crate) fn finish_word(
        &mut self,
        weight: f32,
        word: Option<usize>,
        nothing: f32,
        counts: impl Fn(usize) -> f32,
    ) {
        let Table { all, often, touched, found } = &mut self.table;
        let rarity = rarity(self.of, touched.count as f32);
        if word.is_some_and(|word| word == self.rarities.len()) {
            self.rarities.push(rarity);
        }
        let (bit, most) = (bit(word), weight * rarity * (self.k1 + 1.0));
        found.reserve(touched.count);
        for at in touched.all() {
            let often = std::mem::take(&mut often[at]);
            if often <= nothing {
                continue;
            }
            let (entry, often) = (&mut all[at], often * counts(at));
            found.add(at, entry.score == 0.0);
            entry.score += most * often / (often + self.k1);
            entry.met |= bit;
        }
        touched.count = 0;
    }

    /// Resets everything.
    pub(crate) fn clear(&mut self) {
        let Table { all, often, touched, found } = &mut self.table;
        touched.all().for_each(|at| often[at] = 0.0);
        found.all().for_each(|at| all[at] = Entry::default());
        (touched.count, found.count) = (0, 0);
        self.rarities.clear();
    }

    pub(crate) fn score(&self, at: usize) -> f32 {
        self.table.all[at].score
    }

    /// The words that were met, a bit for each.
    pub(crate) fn met(&self, at: usize) -> u32 {
        self.table.all[at].met
    }

    pub(crate) fn rarities(&self) -> &[f32] {
        &self.rarities
    }

    pub(crate) fn found(&self) -> impl Iterator<Item = usize> {
        self.table.found.all()
    }
}

impl Drop for ScoreAccumulator {
    fn drop(&mut self) {
        // Scores that were not noted before a panic would remain in the table.
        if std::thread::panicking() {
            return;
        }
        self.clear();
        let mut tables = self.tables.0.lock();
        if tables.len() < MOST_TABLES {
            tables.push(std::mem::take(&mut self.table));
        }
    }
}

/// The bit of a word.
fn bit(word: Option<usize>) -> u32 {
    word.filter(|word| *word < MOST_WORDS).map_or(0, |word| 1 << word)
}

/// The inverse document frequency (IDF) of BM25, of a word that `holding` of `of` documents contain.
pub(crate) fn rarity(of: f32, holding: f32) -> f32 {
    (1.0 + (of - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
}

/// The sum of the rarities of the words whose bits are set.
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
        let tables = Arc::default();
        let mut scores = ScoreAccumulator::new(4, 4, 1.2, &tables);
        scores.add(1, [(0, 1.0)]);
        scores.finish_word(1.0, Some(0), 0.0, |_| 1.0);
        scores.add(4, (0..4).map(|at| (at, if at == 2 { 9.0 } else { 1.0 })));
        scores.finish_word(1.0, Some(1), 0.0, |_| 1.0);
        assert!(scores.score(0) > 2.0 * scores.score(1));
        assert!(scores.score(2) > scores.score(1) && scores.score(2) < 3.0 * scores.score(1));
        assert_eq!((scores.met(0), scores.met(1)), (0b11, 0b10));
        assert!((sum_of(scores.rarities(), scores.met(0)) - scores.rarities().iter().sum::<f32>()).abs() < 1e-6);
        scores.clear();
        assert_eq!((scores.score(0), scores.met(0), scores.found().count()), (0.0, 0, 0));
    }

    #[test]
    fn a_table_that_somebody_was_torn_from_is_not_used_again() {
        let tables = Arc::default();
        let torn = || {
            let mut scores = ScoreAccumulator::new(2, 2, 1.2, &tables);
            scores.add(1, [(0, 1.0)]);
            scores.finish_word(1.0, None, 0.0, |_| 1.0);
            scores.add(1, [(2, 1.0)]);
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(torn)).expect_err("there is no third");
        assert!(ScoreAccumulator::new(2, 2, 1.2, &tables).score(0) == 0.0);
    }

    #[test]
    fn a_number_that_comes_again_is_noted_once() {
        let tables = Arc::default();
        let mut scores = ScoreAccumulator::new(2, 2, 1.2, &tables);
        (0..9).for_each(|_| scores.add(1, [(0, 0.0)]));
        scores.add(3, [(0, 1.0), (1, 1.0), (0, 1.0)]);
        scores.finish_word(1.0, Some(0), 0.0, |_| 1.0);
        assert_eq!(scores.found().filter(|at| *at == 0).count(), 1);
        assert!(scores.found().any(|at| at == 1) && scores.score(0) > scores.score(1));
        drop(scores);
        assert!((0..2).all(|at| ScoreAccumulator::new(2, 2, 1.2, &tables).score(at) == 0.0));
    }

    #[test]
    fn a_table_that_was_used_is_as_good_as_a_new_one() {
        let tables = Arc::default();
        let mut used = ScoreAccumulator::new(3, 3, 1.2, &tables);
        used.add(1, [(2, 1.0)]);
        used.finish_word(1.0, Some(4), 0.0, |_| 1.0);
        used.add(1, [(1, 1.0)]);
        drop(used);
        for size in [2, 5] {
            let scores = ScoreAccumulator::new(size, size, 1.2, &tables);
            assert!((0..size).all(|at| scores.score(at) == 0.0 && scores.met(at) == 0), "{size}");
            assert_eq!((scores.found().count(), scores.rarities().len()), (0, 0));
        }
    }
}
