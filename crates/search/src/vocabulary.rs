//! Texts to the words an index takes, for indexing many of them.
//!
//! The same words come again and again: each spelling is cut to its stem once, and from then on is a number.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Range;

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
    /// For use in between.
    cut: Vec<Cut>,
}

/// The spellings of one language that were met. Most words are short, and a short one is compared as a number, where it
/// stands in the table.
#[derive(Debug, Default)]
struct Spellings {
    short: ShortWords<Forms>,
    long: HashMap<Box<str>, Forms, RandomState>,
}

/// A word of a text on its way to its forms.
#[derive(Debug, Clone, Copy)]
enum Cut {
    /// As a number.
    Short(u128),
    /// Too long for one: it is looked up already.
    Long(Word),
}

/// A word of at most fifteen bytes as a number; `None` for a longer one. `at`: where it stands in its text.
fn packed(word: &str, text: &[u8], at: &Range<usize>) -> Option<u128> {
    let in_text = if at.len() == word.len() { packed_at(text, at) } else { None };
    in_text.or_else(|| packed_alone(word))
}

/// The bytes of a word that is a number.
fn unpacked(packed: &[u8; 16]) -> &[u8] {
    &packed[..usize::from(packed[15]).min(15)]
}

/// A word of at most fifteen bytes as a number: its bytes, and how many. What stands behind it in its text is read with it,
/// and masked out. `None` for a longer one, and at the end of the text.
fn packed_at(text: &[u8], at: &Range<usize>) -> Option<u128> {
    let length = at.len();
    let piece = text.get(at.start..)?.first_chunk().filter(|_| length < 16)?;
    let mask = (1_u128 << (8 * length)) - 1;
    Some(u128::from_le_bytes(*piece) & mask | (length as u128) << 120)
}

/// The same of a word by itself. What is read twice, where it has no round number of bytes, is shifted out.
fn packed_alone(word: &str) -> Option<u128> {
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
    /// Adds the words of a text, in order. It is cut first and its words are looked up then, one right after the other:
    /// most of that is waiting for the memory, which is asked for several at a time so.
    pub(crate) fn add_words(&mut self, text: &str, language: Language, to: &mut Vec<Word>) {
        let place = language as usize;
        if self.spellings.len() <= place {
            self.spellings.resize_with(place + 1, Spellings::default);
        }
        let Self { spellings, known, texts, cut } = self;
        let Spellings { short, long } = &mut spellings[place];
        let stemmer = LazyCell::new(|| Stemmer::create(language.algorithm()));
        // What is spelled with capitals is mostly known without.
        let mut new = |word: &str, of_lower: &dyn Fn(&str) -> Option<Forms>| {
            *known += 1;
            let lower = words::lower(word);
            let forms = if lower == word { None } else { of_lower(&lower) };
            forms.unwrap_or_else(|| texts.forms(&lower, &words::indexed_stem(&lower, language, &stemmer)))
        };
        cut.clear();
        words::each_word_at(text, |word, at| {
            let mut long_word = |word: &str| match long.get(word) {
                Some(forms) => *forms,
                None => {
                    let forms = new(word, &|lower| long.get(lower).copied());
                    long.insert(word.into(), forms);
                    forms
                }
            };
            cut.push(match word.map(|word| (packed(word, text.as_bytes(), &at), word)) {
                Some((Some(short), _)) => Cut::Short(short),
                Some((None, word)) => Cut::Long(Some(long_word(word))),
                None => Cut::Long(None),
            });
        });
        to.extend(cut.iter().map(|word| match word {
            Cut::Short(word) => short.get(*word).or_else(|| {
                let text = word.to_le_bytes();
                let forms = new(str::from_utf8(unpacked(&text)).ok()?, &|lower| short.get(packed_alone(lower)?));
                short.insert(*word, forms);
                Some(forms)
            }),
            Cut::Long(forms) => *forms,
        }));
    }

    /// The text a number stands for.
    pub(crate) fn text(&self, number: Number) -> &str {
        self.texts.text(number.get())
    }

    /// Adds what tells words from others in every build ([`copies::number`]), in order.
    pub(crate) fn add_numbers(&self, words: &[Word], to: &mut Vec<u64>) {
        let numbers = words.iter().flatten().map(|word| self.texts.copies[word.spelled.get()]);
        to.extend(numbers.filter(|number| *number != NO_NUMBER));
    }

    /// All words, in order of their texts.
    pub(crate) fn in_order_of_text(&self) -> InOrder {
        // Most texts differ in their first letters, and numbers are compared sooner than texts.
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
        let mut sorted = InOrder::default();
        for (_, number) in order {
            sorted.text.push_str(self.text(number));
            sorted.words.push((number, sorted.text.len() as u32));
        }
        sorted
    }

    /// Forgets all words when they have become too many. The numbers of words count no more.
    pub(crate) fn keep_small(&mut self) {
        if self.known > MOST_SPELLINGS {
            *self = Self::default();
        }
    }
}

/// Words in order of their texts, one text behind the other: whoever goes through them all does not jump to and fro.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    text: String,
    /// Each with where its text ends.
    words: Vec<(Number, u32)>,
}

impl InOrder {
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = Number> {
        self.words.iter().map(|(number, _)| *number)
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let mut begin = 0;
        self.words.iter().map(move |(_, end)| {
            let from = std::mem::replace(&mut begin, *end as usize);
            &self.text[from..*end as usize]
        })
    }
}

/// Texts by number, each once.
#[derive(Debug, Default)]
struct Texts {
    short: ShortWords<Number>,
    long: HashMap<Box<str>, Number, RandomState>,
    /// All texts in order of number, one behind the other, and where each ends.
    all: String,
    ends: Vec<u32>,
    /// By number: what [`copies::number`] says of the text, or [`NO_NUMBER`].
    copies: Vec<u64>,
}

/// Stands for none, in half the room.
const NO_NUMBER: u64 = 0;

impl Texts {
    fn text(&self, number: usize) -> &str {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin as usize..self.ends[number] as usize]
    }

    /// Of a word in lower case and its stem.
    fn forms(&mut self, lower: &str, stem: &str) -> Forms {
        let spelled = self.number(lower);
        Forms { spelled, stem: if stem == lower { spelled } else { self.number(stem) } }
    }

    fn number(&mut self, text: &str) -> Number {
        let packed = packed_alone(text);
        let known = packed.map_or_else(|| self.long.get(text).copied(), |packed| self.short.get(packed));
        if let Some(number) = known {
            return number;
        }
        let number = Number::of(self.ends.len());
        match packed {
            Some(packed) => self.short.insert(packed, number),
            None => drop(self.long.insert(text.into(), number)),
        }
        self.all.push_str(text);
        self.ends.push(self.all.len() as u32);
        self.copies.push(copies::number(text).unwrap_or(NO_NUMBER));
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
            assert_eq!(packed_alone(word), expected, "{word}");
            let text = format!("({word}) and so on and on");
            assert_eq!(packed_at(text.as_bytes(), &(1..length + 1)), expected, "{word}");
            assert_eq!(packed_at(&text.as_bytes()[..length + 1], &(1..length + 1)), None, "nothing behind it");
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
            let order = vocabulary.in_order_of_text();
            prop_assert!(order.numbers().zip(order.texts()).all(|(number, text)| vocabulary.text(number) == text));
            let texts: Vec<&str> = order.texts().collect();
            prop_assert!(texts.windows(2).all(|two| two[0] < two[1]), "{:?}", texts);
            prop_assert_eq!(texts.len(), vocabulary.texts.ends.len());
        }
    }
}
