//! The words of one page, each once: a page says most of its words again and again.

use crate::vocabulary::{Number, Word};

/// Each word, and how often it is said.
pub(crate) type Counted = Vec<(Number, u32)>;

/// What a page says, as it is spelled and as stems. For page after page, of one vocabulary or another.
#[derive(Debug, Default)]
pub(crate) struct PageWords {
    spelled: Bag,
    /// The stems of the words as they are spelled, in the same order.
    stem_of: Vec<Number>,
    stems: Bag,
}

impl PageWords {
    pub(crate) fn add(&mut self, words: &[Word]) {
        for word in words.iter().flatten() {
            if self.spelled.add(word.spelled, 1) {
                self.stem_of.push(word.stem);
            }
        }
    }

    /// The words as they are spelled, and the stems. The next page begins with nothing.
    pub(crate) fn take(&mut self) -> (Counted, Counted) {
        let spelled = self.spelled.take();
        // The stem of a word hangs on how it is spelled and nothing else, in one page.
        for (stem, (_, often)) in self.stem_of.drain(..).zip(&spelled) {
            self.stems.add(stem, *often);
        }
        (spelled, self.stems.take())
    }
}

/// Words in the order they are met in.
#[derive(Debug, Default)]
struct Bag {
    words: Counted,
    /// By number of word: where it was put, and for which page. What stands there for another page counts for nothing, so
    /// that nothing need be tidied.
    places: Vec<(u32, u32)>,
    page: u32,
}

impl Bag {
    /// Whether the word is new.
    fn add(&mut self, word: Number, often: u32) -> bool {
        let number = word.get();
        if number >= self.places.len() {
            self.places.resize((number + 1).next_power_of_two(), (0, u32::MAX));
        }
        let (place, page) = &mut self.places[number];
        if *page == self.page
            && let Some((_, count)) = self.words.get_mut(*place as usize)
        {
            *count += often;
            return false;
        }
        (*place, *page) = (self.words.len() as u32, self.page);
        self.words.push((word, often));
        true
    }

    fn take(&mut self) -> Counted {
        self.page += 1;
        std::mem::take(&mut self.words)
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
            let (spelled, stems) = page.take();
            let texts = |counted: Counted| -> Vec<(String, u32)> {
                counted.into_iter().map(|(word, often)| (vocabulary.text(word).to_owned(), often)).collect()
            };
            let counted = |words: &[(&str, u32)]| -> Vec<(String, u32)> {
                words.iter().map(|(word, often)| ((*word).to_owned(), *often)).collect()
            };
            assert_eq!(texts(spelled), counted(&[("retry", 2), ("the", 1), ("retries", 1)]));
            assert_eq!(texts(stems), counted(&[("retri", 3), ("the", 1)]));
        }
        assert!(page.take().0.is_empty());
    }
}
