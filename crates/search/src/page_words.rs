//! The words of one page, each once: a page says most of its words again and again.

use crate::vocabulary::{Number, Word};

/// A word, and how often it is said.
pub(crate) type Counted = (Number, u32);

/// What a page says, as it is spelled and as stems. For page after page, of one vocabulary or another.
#[derive(Debug, Default)]
pub(crate) struct PageWords {
    spelled: Bag,
    /// The stems of the words as they are spelled, in the same order.
    stem_of: Vec<Number>,
    stems: Bag,
    /// Those words that are not their own stems.
    otherwise: Vec<Number>,
}

impl PageWords {
    pub(crate) fn add(&mut self, words: &[Word]) {
        for word in words.iter().flatten() {
            if self.spelled.add(word.spelled, 1) {
                self.stem_of.push(word.stem);
            }
        }
    }

    /// The words that are spelled otherwise than their stems, as they are spelled; and the stems.
    pub(crate) fn counted(&mut self) -> (&[Number], &[Counted]) {
        // The stem of a word hangs on how it is spelled and nothing else, in one page.
        for (stem, (spelled, often)) in self.stem_of.drain(..).zip(&self.spelled.words) {
            self.stems.add(stem, *often);
            if stem != *spelled {
                self.otherwise.push(*spelled);
            }
        }
        (&self.otherwise, &self.stems.words)
    }

    /// Begins the next page, with nothing.
    pub(crate) fn clear(&mut self) {
        self.stem_of.clear();
        self.otherwise.clear();
        self.spelled.clear();
        self.stems.clear();
    }
}

/// Words in the order they are met in.
#[derive(Debug, Default)]
struct Bag {
    words: Vec<Counted>,
    /// By number of word: where it was put last, counted through all pages.
    places: Vec<u32>,
    /// Where the page at hand begins in that count: what was put before is not of this page, and need not be tidied.
    begin: u32,
}

impl Bag {
    /// Whether the word is new.
    fn add(&mut self, word: Number, often: u32) -> bool {
        let number = word.get();
        if number >= self.places.len() {
            self.places.resize((number + 1).next_power_of_two(), 0);
        }
        let place = &mut self.places[number];
        // Counted from 1.
        if *place > self.begin
            && let Some((_, count)) = self.words.get_mut((*place - self.begin - 1) as usize)
        {
            *count += often;
            return false;
        }
        self.words.push((word, often));
        *place = self.begin + self.words.len() as u32;
        true
    }

    fn clear(&mut self) {
        match self.begin.checked_add(self.words.len() as u32).filter(|begin| *begin < u32::MAX / 2) {
            Some(begin) => self.begin = begin,
            None => (self.begin, self.places) = (0, Vec::new()),
        }
        self.words.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::Language;
    use crate::vocabulary::Vocabulary;

    #[test]
    fn each_word_is_there_once_with_how_often_it_is_said() {
        let (mut vocabulary, mut page) = (Vocabulary::default(), PageWords::default());
        for _ in 0..2 {
            for text in ["Retry the retries", "retry"] {
                let mut words = Vec::new();
                vocabulary.add_words(text, Language::English, &mut words);
                page.add(&words);
            }
            let (spelled, stems) = page.counted();
            let texts = |counted: &[Counted]| -> Vec<(String, u32)> {
                counted.iter().map(|(word, often)| (vocabulary.text(*word).to_owned(), *often)).collect()
            };
            let counted = |words: &[(&str, u32)]| -> Vec<(String, u32)> {
                words.iter().map(|(word, often)| ((*word).to_owned(), *often)).collect()
            };
            let spelled: Vec<&str> = spelled.iter().map(|word| vocabulary.text(*word)).collect();
            assert_eq!(spelled, ["retry", "retries"], "`the` is its own stem");
            assert_eq!(texts(stems), counted(&[("retri", 3), ("the", 1)]));
            page.clear();
        }
        assert!(page.counted().0.is_empty());
    }
}
