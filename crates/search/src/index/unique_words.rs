//! Words of pages, each once: a page says most of its words again and again, in its sections and in what is said of it.

use crate::text::vocabulary::{Number, Word};

/// Words of the page at hand, each once. For page after page, of one vocabulary or another.
#[derive(Debug, Default)]
pub(crate) struct UniqueWords {
    words: Vec<Number>,
    /// By number of word: where it was put last, counted through all pages.
    places: Vec<u32>,
    /// Where the page at hand begins in that count: what was put before is not of this page, and need not be tidied.
    begin: u32,
}

impl UniqueWords {
    /// Adds those words that are spelled otherwise than their stems, as they are spelled.
    pub(crate) fn add_otherwise(&mut self, words: &[Word]) {
        for word in words.iter().flatten().filter(|word| word.spelled != word.stem) {
            self.add(word.spelled);
        }
    }

    fn add(&mut self, word: Number) {
        let number = word.get();
        if number >= self.places.len() {
            self.places.resize((number + 1).next_power_of_two(), 0);
        }
        let place = &mut self.places[number];
        // Counted from 1.
        if *place <= self.begin {
            self.words.push(word);
            *place = self.begin + self.words.len() as u32;
        }
    }

    /// In the order they were met in.
    pub(crate) fn words(&self) -> &[Number] {
        &self.words
    }

    /// Begins the next page, with nothing.
    pub(crate) fn clear(&mut self) {
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
    use crate::text::languages::Language;
    use crate::text::vocabulary::Vocabulary;

    #[test]
    fn words_spelled_otherwise_are_there_once_for_each_page() {
        let (mut vocabulary, mut page) = (Vocabulary::default(), UniqueWords::default());
        for _ in 0..2 {
            for text in ["Retry the retries", "retry"] {
                let mut words = Vec::new();
                vocabulary.add_words(text, Language::English, &mut words);
                page.add_otherwise(&words);
            }
            let words: Vec<&str> = page.words().iter().map(|word| vocabulary.text(*word)).collect();
            assert_eq!(words, ["retry", "retries"], "`the` is its own stem");
            page.clear();
        }
        assert!(page.words().is_empty());
    }
}
