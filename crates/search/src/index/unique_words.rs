//! Removes duplicate words of a page: a page repeats most of its words, in its sections and in its metadata.

use crate::text::vocabulary::{Number, Word};

/// The distinct words of the current page. Reused for page after page, also with another vocabulary.
#[derive(Debug, Default)]
pub(crate) struct UniqueWords {
    words: Vec<Number>,
    /// By word number: the position at which the word was last added, counted across all pages.
    places: Vec<u32>,
    /// The last position of the previous page. Positions up to it belong to earlier pages and need no reset.
    begin: u32,
}

impl UniqueWords {
    /// Adds the words whose spelling differs from their stem, as spelled.
    pub(crate) fn add_spellings(&mut self, words: &[Word]) {
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
        // Positions are counted from 1.
        if *place <= self.begin {
            self.words.push(word);
            *place = self.begin + self.words.len() as u32;
        }
    }

    /// In the order of their first occurrence.
    pub(crate) fn words(&self) -> &[Number] {
        &self.words
    }

    /// Begins the next page, without any words.
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
                page.add_spellings(&words);
            }
            let words: Vec<&str> = page.words().iter().map(|word| vocabulary.text(*word)).collect();
            assert_eq!(words, ["retry", "retries"], "`the` is its own stem");
            page.clear();
        }
        assert!(page.words().is_empty());
    }
}
