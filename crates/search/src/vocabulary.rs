//! Texts to the words an index takes, for indexing many of them.
//!
//! The same words come again and again: each spelling is cut to its stem once, and from then on is a number.

use std::collections::HashMap;
use std::num::NonZeroU32;

use foldhash::fast::RandomState;
use rust_stemmers::Stemmer;

use crate::copies;
use crate::languages::Language;
use crate::short_words::ShortWords;
use crate::words;

/// A vocabulary of more spellings than this is begun anew with the next page.
const MOST_SPELLINGS: usize = 200_000;

/// The words met so far.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// By spelling, for each language on its own.
    spellings: Vec<Spellings>,
    known: usize,
    texts: Texts,
}

/// The spellings of one language that were met. Most words are short, and a short one is compared as a number, where it
/// stands in the table.
#[derive(Debug, Default)]
struct Spellings {
    short: ShortWords,
    long: HashMap<Box<str>, Forms, RandomState>,
}

impl Spellings {
    fn get(&self, word: &str) -> Option<Forms> {
        match packed(word) {
            Some(word) => self.short.get(word),
            None => self.long.get(word).copied(),
        }
    }

    fn insert(&mut self, word: &str, forms: Forms) {
        match packed(word) {
            Some(word) => self.short.insert(word, forms),
            None => drop(self.long.insert(word.into(), forms)),
        }
    }
}

/// A word of at most fifteen bytes as a number: its bytes, and how many. What is read twice, where a word has no round
/// number of bytes, is shifted out.
fn packed(word: &str) -> Option<u128> {
    let bytes = word.as_bytes();
    let length = bytes.len();
    let number = match length {
        0..=3 => bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte)),
        4..=7 => {
            let (first, last) = (bytes.first_chunk()?, bytes.last_chunk()?);
            let last = u64::from(u32::from_le_bytes(*last)) >> (8 * (8 - length));
            u128::from(u32::from_le_bytes(*first)) | u128::from(last) << 32
        }
        8..=15 => {
            let (first, last) = (bytes.first_chunk()?, bytes.last_chunk()?);
            let last = u128::from(u64::from_le_bytes(*last)) >> (8 * (16 - length));
            u128::from(u64::from_le_bytes(*first)) | last << 64
        }
        _ => return None,
    };
    Some(number | (length as u128) << 120)
}

/// Stands for a text. Counted from 1, so that no number takes no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number(NonZeroU32);

impl Number {
    /// The same, counted from 0.
    pub(crate) fn get(self) -> usize {
        self.0.get() as usize - 1
    }

    pub(crate) fn of(place: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
    }
}

/// A word: how it is spelled in lower case, and its stem, by their numbers. No word stands for one that is too long.
pub(crate) type Word = Option<Forms>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Forms {
    pub(crate) spelled: Number,
    pub(crate) stem: Number,
}

impl Vocabulary {
    /// Adds the words of a text, in order.
    pub(crate) fn add_words(&mut self, text: &str, language: Language, to: &mut Vec<Word>) {
        let place = language as usize;
        if self.spellings.len() <= place {
            self.spellings.resize_with(place + 1, Spellings::default);
        }
        let (spellings, texts, known) = (&mut self.spellings[place], &mut self.texts, &mut self.known);
        let mut stemmer = None;
        words::each_word(text, |word| {
            let forms = word.map(|word| match spellings.get(word) {
                Some(known) => known,
                None => {
                    let stemmer = stemmer.get_or_insert_with(|| Stemmer::create(language.algorithm()));
                    let lower = words::lower(word);
                    let stem = texts.number(&words::indexed_stem(&lower, stemmer));
                    let forms = Forms { spelled: texts.number(&lower), stem };
                    spellings.insert(word, forms);
                    *known += 1;
                    forms
                }
            });
            to.push(forms);
        });
    }

    /// The text a number stands for.
    pub(crate) fn text(&self, number: Number) -> &str {
        &self.texts.by_number[number.get()]
    }

    /// Adds what tells words from others in every build ([`copies::number`]), in order.
    pub(crate) fn add_numbers(&self, words: &[Word], to: &mut Vec<u64>) {
        to.extend(words.iter().flatten().filter_map(|word| self.texts.copies[word.spelled.get()]));
    }

    /// All numbers, in order of their texts.
    pub(crate) fn in_order_of_text(&self) -> Vec<Number> {
        // Most texts differ in their first letters, and numbers are compared sooner than texts.
        let beginning = |text: &str| {
            let bytes = text.as_bytes();
            let mut first = [0; 16];
            let length = bytes.len().min(16);
            first[..length].copy_from_slice(&bytes[..length]);
            u128::from_be_bytes(first)
        };
        let texts = self.texts.by_number.iter().enumerate();
        let mut order: Vec<(u128, Number)> = texts.map(|(place, text)| (beginning(text), Number::of(place))).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.text(a.1).cmp(self.text(b.1))));
        order.into_iter().map(|(_, number)| number).collect()
    }

    /// Forgets all words when they have become too many. The numbers of words count no more.
    pub(crate) fn keep_small(&mut self) {
        if self.known > MOST_SPELLINGS {
            *self = Self::default();
        }
    }
}

/// Texts by number, each once.
#[derive(Debug, Default)]
struct Texts {
    numbers: HashMap<Box<str>, Number, RandomState>,
    by_number: Vec<Box<str>>,
    /// By number: what [`copies::number`] says of the text.
    copies: Vec<Option<u64>>,
}

impl Texts {
    fn number(&mut self, text: &str) -> Number {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = Number::of(self.by_number.len());
        self.numbers.insert(text.into(), number);
        self.by_number.push(text.into());
        self.copies.push(copies::number(text));
        number
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The stems of a text, each with its place.
    fn known(vocabulary: &mut Vocabulary, text: &str, language: Language) -> Vec<(String, usize)> {
        let mut words = Vec::new();
        vocabulary.add_words(text, language, &mut words);
        let places = words.iter().enumerate();
        places.filter_map(|(place, word)| Some((vocabulary.text((*word)?.stem).to_owned(), place))).collect()
    }

    fn stems(text: &str, language: Language) -> Vec<(String, usize)> {
        let mut analyzer = words::stemmed();
        let marked = format!("{}{text}", language.mark());
        let mut stream = tantivy::tokenizer::TextAnalyzer::token_stream(&mut analyzer, &marked);
        let mut found = Vec::new();
        while tantivy::tokenizer::TokenStream::advance(&mut stream) {
            let token = tantivy::tokenizer::TokenStream::token(&stream);
            found.push((token.text.clone(), token.position));
        }
        found
    }

    #[test]
    fn a_short_word_is_packed_as_it_stands() {
        for length in 0..18 {
            let word = &"abcdefghijklmnopqr"[..length];
            let mut bytes = [0; 16];
            let packed_by_hand = bytes.get_mut(..length).filter(|_| length < 16).map(|to| {
                to.copy_from_slice(word.as_bytes());
                length as u8
            });
            let expected = packed_by_hand.map(|length| {
                bytes[15] = length;
                u128::from_le_bytes(bytes)
            });
            assert_eq!(packed(word), expected, "{word}");
        }
    }

    #[test]
    fn the_same_spelling_has_a_stem_in_each_language() {
        let mut vocabulary = Vocabulary::default();
        assert_eq!(known(&mut vocabulary, "häusern", Language::English), [("hausern".to_owned(), 0)]);
        assert_eq!(known(&mut vocabulary, "häusern", Language::German), [("haus".to_owned(), 0)]);
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_text(texts in proptest::collection::vec("(\\PC|[a-z]{1,3}[ _.-]|[A-Za-z]{61,70} ){0,40}", 1..4)) {
            let mut vocabulary = Vocabulary::default();
            for text in texts {
                for language in [Language::English, Language::French] {
                    prop_assert_eq!(known(&mut vocabulary, &text, language), stems(&text, language));
                }
            }
        }

        #[test]
        fn numbers_come_in_order_of_their_texts(text in "([a-c\u{e4}\u{4e00}]{1,12} ){0,30}") {
            let mut vocabulary = Vocabulary::default();
            vocabulary.add_words(&text, Language::English, &mut Vec::new());
            let texts: Vec<&str> = vocabulary.in_order_of_text().into_iter().map(|number| vocabulary.text(number)).collect();
            prop_assert!(texts.windows(2).all(|two| two[0] < two[1]), "{:?}", texts);
            prop_assert_eq!(texts.len(), vocabulary.texts.by_number.len());
        }
    }
}
