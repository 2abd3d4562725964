//! The words of whole pages: a page says most of its words again and again, in its sections and in what is said of it.

use crate::vocabulary::{Number, Word};

/// Words of the page at hand, each once. For page after page, of one vocabulary or another.
#[derive(Debug, Default)]
pub(crate) struct Once {
    words: Vec<Number>,
    /// By number of word: where it was put last, counted through all pages.
    places: Vec<u32>,
    /// Where the page at hand begins in that count: what was put before is not of this page, and need not be tidied.
    begin: u32,
}

impl Once {
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

/// How often pages say one word after the other. A page has a document of its own, which comes after those of its sections.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// By document.
    parts: Vec<Part>,
    /// By page: its own document.
    pages: Vec<u32>,
    /// By page: how often it says the word at hand. Nothing once that is told.
    often: Vec<u32>,
    /// The pages that say the word at hand.
    saying: Vec<u32>,
}

/// A document as a part of a page.
#[derive(Debug, Clone, Copy)]
struct Part {
    page: u32,
    /// How many words its body begins with that are said elsewhere.
    borrowed: u32,
}

impl Counts {
    /// Adds a document of the page at hand. If it is the page's own, what comes after it is of the next page.
    pub(crate) fn add(&mut self, borrowed: u32, is_page: bool) {
        let document = self.documents();
        self.parts.push(Part { page: self.pages.len() as u32, borrowed });
        if is_page {
            self.pages.push(document);
        }
    }

    /// How many documents there are.
    pub(crate) fn documents(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Counts the word at hand, where it stands in documents; in their bodies without what those borrow.
    pub(crate) fn count(&mut self, stands: &[(u32, u32)], in_bodies: bool) {
        self.often.resize(self.pages.len(), 0);
        for (document, place) in stands {
            let Part { page, borrowed } = self.parts[*document as usize];
            if in_bodies && *place < borrowed {
                continue;
            }
            let Some(often) = self.often.get_mut(page as usize) else { continue };
            if *often == 0 {
                self.saying.push(page);
            }
            *often += 1;
        }
    }

    /// Whether any page says the word at hand.
    pub(crate) const fn are_any(&self) -> bool {
        !self.saying.is_empty()
    }

    /// Tells how often each page's document says the word at hand, in order, and goes on with the next word.
    pub(crate) fn tell(&mut self, mut each: impl FnMut(u32, u32)) {
        if !self.saying.is_sorted() {
            self.saying.sort_unstable();
        }
        for page in self.saying.drain(..).map(|page| page as usize) {
            each(self.pages[page], std::mem::take(&mut self.often[page]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::Language;
    use crate::vocabulary::Vocabulary;

    #[test]
    fn words_spelled_otherwise_are_there_once_for_each_page() {
        let (mut vocabulary, mut page) = (Vocabulary::default(), Once::default());
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

    #[test]
    fn a_page_says_what_its_sections_say_and_what_is_said_of_it() {
        let mut counts = Counts::default();
        // Two sections that borrow two words each, and their page; then a link, and a page of one section that borrows one.
        for (borrowed, is_page) in [(2, false), (2, false), (0, true), (0, false), (1, false), (0, true)] {
            counts.add(borrowed, is_page);
        }
        assert_eq!(counts.documents(), 6);
        let mut told = |in_bodies: &[(u32, u32)], elsewhere: &[(u32, u32)]| {
            counts.count(in_bodies, true);
            counts.count(elsewhere, false);
            let mut told = Vec::new();
            counts.tell(|page, often| told.push((page, often)));
            told
        };
        assert_eq!(told(&[(0, 1), (0, 2), (1, 0), (1, 7), (4, 1)], &[(2, 0)]), [(2, 3), (5, 1)]);
        assert_eq!(told(&[(4, 3)], &[(0, 0), (1, 1)]), [(2, 2), (5, 1)], "in order of page");
        assert_eq!(told(&[(0, 0), (4, 0)], &[]), []);
    }
}
