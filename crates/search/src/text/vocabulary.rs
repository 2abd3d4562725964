//! Turns texts into the words that are indexed, optimized for many texts.
//!
//! The same words occur again and again, so each spelling is stemmed once, and is a number from then on. Likewise, each
//! identifier is split into its parts once.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Range;

use foldhash::fast::RandomState;
use rust_stemmers::Stemmer;

use crate::text::languages::Language;
use crate::text::near_duplicates;
use crate::text::terms::{self, LONGEST_WORD};
use crate::text::tokenizer::{Piece, UnspacedSplit, each_piece, identifier, is_unspaced};

/// A vocabulary with more spellings than this is cleared before the next page.
const MOST_SPELLINGS: usize = 200_000;

/// The words seen so far.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// The spellings of each language, indexed by language.
    spellings: Vec<Spellings>,
    known: usize,
    texts: Texts,
}

type Table<K> = HashMap<Box<str>, K, RandomState>;

/// The spellings of one language seen so far.
#[derive(Debug, Default)]
struct Spellings {
    words: Table<Forms>,
    identifiers: Table<Parts>,
    /// The words of all identifiers, concatenated.
    parts: Vec<Word>,
}

/// The range of an identifier's words in [`Spellings::parts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts {
    begin: u32,
    end: u32,
}

/// The number of a text, counted from 1 so that `Option<Number>` takes no extra space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Number(NonZeroU32);

impl Number {
    /// The number, counted from 0.
    pub(crate) fn get(self) -> usize {
        self.0.get() as usize - 1
    }

    pub(crate) fn of(place: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
    }
}

/// A word: the numbers of its spelling in lower case and of its stem. `None` for one that is too long.
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
        let Self { spellings, known, texts } = self;
        let stemmer = Stemmer::create(language.algorithm());
        let mut met = LanguageVocabulary { spellings: &mut spellings[place], known, texts, language, stemmer };
        each_piece(text, |piece, at| {
            let whole = &text[at];
            match piece {
                Piece::Word => to.push(met.word(whole)),
                // Not cached: a run of characters in a script without spaces seldom occurs twice.
                Piece::Identifier if whole.len() > LONGEST_WORD || whole.chars().any(is_unspaced) => {
                    met.each_part(whole, |word| to.push(word));
                }
                Piece::Identifier => {
                    let parts = met.identifier(whole);
                    to.extend_from_slice(&met.spellings.parts[parts.begin as usize..parts.end as usize]);
                }
            }
        });
    }

    /// The text with this number.
    pub(crate) fn text(&self, number: Number) -> &str {
        self.texts.text(number.get())
    }

    /// Adds the hashes of words, which are the same in every build ([`near_duplicates::number`]), in order.
    pub(crate) fn add_numbers(&self, words: &[Word], to: &mut Vec<u64>) {
        to.extend(words.iter().flatten().filter_map(|word| self.texts.word_hashes[word.spelled.get()]));
    }

    /// The numbers of all words, sorted by text.
    pub(crate) fn in_order_of_text(&self) -> Vec<Number> {
        // Most texts differ in their first 16 bytes, and comparing integers is faster than comparing texts.
        let beginning = |text: &str| {
            let bytes = text.as_bytes();
            let mut first = [0; 16];
            let length = bytes.len().min(16);
            first[..length].copy_from_slice(&bytes[..length]);
            u128::from_be_bytes(first)
        };
        let numbers = 0..self.texts.ends.len();
        let mut order: Vec<(u128, Number)> =
            numbers.map(|number| (beginning(self.texts.text(number)), Number::of(number))).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.text(a.1).cmp(self.text(b.1))));
        order.into_iter().map(|(_, number)| number).collect()
    }

    /// Clears the vocabulary when it has become too large. Numbers of words from before are invalid then.
    pub(crate) fn keep_small(&mut self) {
        if self.known > MOST_SPELLINGS {
            *self = Self::default();
        }
    }
}

/// The parts of a vocabulary that change while the words of one language are added.
struct LanguageVocabulary<'v> {
    spellings: &'v mut Spellings,
    known: &'v mut usize,
    texts: &'v mut Texts,
    language: Language,
    stemmer: Stemmer,
}

impl LanguageVocabulary<'_> {
    fn word(&mut self, word: &str) -> Word {
        (word.len() <= LONGEST_WORD)
            .then(|| self.spellings.words.get(word).copied().unwrap_or_else(|| self.new_word(word)))
    }

    fn new_word(&mut self, word: &str) -> Forms {
        *self.known += 1;
        let lower = terms::lower(word);
        // The lowercase form of a capitalized word is usually known already.
        let known = if lower == word { None } else { self.spellings.words.get(lower.as_str()).copied() };
        let stemmed = || self.texts.forms(&lower, &terms::indexed_stem(&lower, self.language, &self.stemmer));
        let forms = known.unwrap_or_else(stemmed);
        self.spellings.words.insert(word.into(), forms);
        forms
    }

    fn identifier(&mut self, whole: &str) -> Parts {
        if let Some(parts) = self.spellings.identifiers.get(whole) {
            return *parts;
        }
        *self.known += 1;
        let mut words = Vec::new();
        self.each_part(whole, |word| words.push(word));
        let begin = self.spellings.parts.len() as u32;
        self.spellings.parts.extend(words);
        let parts = Parts { begin, end: self.spellings.parts.len() as u32 };
        self.spellings.identifiers.insert(whole.into(), parts);
        parts
    }

    fn each_part(&mut self, whole: &str, mut each: impl FnMut(Word)) {
        let mut between = String::new();
        let mut part = |word: &str, _: Range<usize>| each(self.word(word));
        identifier(whole, 0..whole.len(), UnspacedSplit::InPairsAndSingly, &mut between, &mut part);
    }
}

/// Distinct texts by number.
#[derive(Debug, Default)]
struct Texts {
    numbers: Table<Number>,
    /// All texts concatenated in order of number, and the end of each.
    all: String,
    ends: Vec<u32>,
    /// By number: the result of [`near_duplicates::number`] for the text.
    word_hashes: Vec<Option<u64>>,
}

impl Texts {
    fn text(&self, number: usize) -> &str {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin as usize..self.ends[number] as usize]
    }

    /// The forms of a word, given its spelling in lower case and its stem.
    fn forms(&mut self, lower: &str, stem: &str) -> Forms {
        let spelled = self.number(lower);
        Forms { spelled, stem: if stem == lower { spelled } else { self.number(stem) } }
    }

    fn number(&mut self, text: &str) -> Number {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = Number::of(self.ends.len());
        self.numbers.insert(text.into(), number);
        self.all.push_str(text);
        self.ends.push(self.all.len() as u32);
        self.word_hashes.push(near_duplicates::number(text));
        number
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The stems of a text, each with its position.
    fn known(vocabulary: &mut Vocabulary, text: &str, language: Language) -> Vec<(String, usize)> {
        let mut words = Vec::new();
        vocabulary.add_words(text, language, &mut words);
        let places = words.iter().enumerate();
        places.filter_map(|(place, word)| Some((vocabulary.text((*word)?.stem).to_owned(), place))).collect()
    }

    fn stems(text: &str, language: Language) -> Vec<(String, usize)> {
        let (mut found, mut places) = (Vec::new(), 0..);
        terms::each_word(text, |word| {
            let place = places.next().unwrap_or_default();
            found.extend(word.map(|word| (terms::stem(&terms::lower(word), language), place)));
        });
        found
    }

    #[test]
    fn the_same_spelling_has_a_stem_in_each_language() {
        let mut vocabulary = Vocabulary::default();
        assert_eq!(known(&mut vocabulary, "häusern", Language::English), [("hausern".to_owned(), 0)]);
        assert_eq!(known(&mut vocabulary, "häusern", Language::German), [("haus".to_owned(), 0)]);
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_text(texts in proptest::collection::vec("(\\PC|[a-z]{1,3}[ _.-]|(retry|Policy|v1|\u{e9}t\u{e9})[ _.-]?|[A-Za-z]{61,70}[ _]){0,40}", 1..4)) {
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
            let order = vocabulary.in_order_of_text();
            let texts: Vec<&str> = order.iter().map(|number| vocabulary.text(*number)).collect();
            prop_assert!(texts.windows(2).all(|two| two[0] < two[1]), "{:?}", texts);
            prop_assert_eq!(texts.len(), vocabulary.texts.ends.len());
        }
    }
}
