//! Texts to the words an index takes, for indexing many of them.
//!
//! The same words come again and again: each spelling is cut to its stem once, and from then on is a number. What the
//! engine gets is a text of ready words, a line for each:
//!
//! ```text
//! backup⏎⇥⇥retri⏎⏎limit⏎     backup three times, retri, a place without a word, limit
//! ```

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rust_stemmers::Stemmer;
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};

use crate::languages::Language;
use crate::words;

/// The analyzer of texts of ready words.
pub(crate) const READY: &str = "ready";
/// Ends a word; no word has it.
const END: u8 = b'\n';
/// Stands for the last word once more; no word has it.
const AGAIN: u8 = b'\t';

/// A vocabulary of more spellings than this is begun anew with the next page.
const MOST_SPELLINGS: usize = 200_000;

/// The words met so far.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// By spelling, for each language on its own.
    spellings: Vec<HashMap<Box<str>, Word, RandomState>>,
    known: usize,
    texts: Texts,
    /// By text: how often it stands in what is counted at the moment.
    counts: Vec<u32>,
}

/// A word: how it is spelled in lower case, and its stem, by their numbers. No word stands for one that is too long.
pub(crate) type Word = Option<Forms>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Forms {
    spelled: u32,
    stem: u32,
}

impl Vocabulary {
    /// Adds the words of a text, in order.
    pub(crate) fn add_words(&mut self, text: &str, language: Language, to: &mut Vec<Word>) {
        let place = language as usize;
        if self.spellings.len() <= place {
            self.spellings.resize_with(place + 1, HashMap::default);
        }
        let (spellings, texts, known) = (&mut self.spellings[place], &mut self.texts, &mut self.known);
        let mut stemmer = None;
        words::each_word(text, |word| {
            let forms = word.and_then(|word| match spellings.get(word) {
                Some(known) => *known,
                None => {
                    let stemmer = stemmer.get_or_insert_with(|| Stemmer::create(language.algorithm()));
                    let lower = words::lower(word);
                    let stem = texts.number(&words::indexed_stem(&lower, stemmer));
                    let forms = Some(Forms { spelled: texts.number(&lower), stem });
                    spellings.insert(word.into(), forms);
                    *known += 1;
                    forms
                }
            });
            to.push(forms);
        });
    }

    /// The stems of words, each at its place.
    pub(crate) fn in_order(&self, words: &[Word]) -> String {
        let mut ready = String::with_capacity(words.len() * 7);
        for word in words {
            if let Some(forms) = word {
                ready.push_str(self.texts.of(forms.stem));
            }
            ready.push(char::from(END));
        }
        ready
    }

    /// The stems of words, as often as they stand there; their places are lost.
    pub(crate) fn counted(&mut self, words: &[Word]) -> String {
        let counted = self.count(words, |forms| forms.stem);
        let mut ready = String::with_capacity(counted.len() * 8 + words.len());
        for (stem, often) in counted {
            ready.push_str(self.texts.of(stem));
            ready.push(char::from(END));
            ready.extend(std::iter::repeat_n(char::from(AGAIN), often as usize - 1));
        }
        ready
    }

    /// Words as they are spelled, each once.
    pub(crate) fn spelled(&mut self, words: &[Word]) -> String {
        let counted = self.count(words, |forms| forms.spelled);
        let mut ready = String::with_capacity(counted.len() * 9);
        for (spelled, _) in counted {
            ready.push_str(self.texts.of(spelled));
            ready.push(char::from(END));
        }
        ready
    }

    /// How often each form stands among words, in the order they come first.
    fn count(&mut self, words: &[Word], form: impl Fn(&Forms) -> u32) -> Vec<(u32, u32)> {
        self.counts.resize(self.texts.by_number.len(), 0);
        let mut found = Vec::new();
        for number in words.iter().flatten().map(form) {
            let count = &mut self.counts[number as usize];
            if *count == 0 {
                found.push((number, 0));
            }
            *count += 1;
        }
        for (number, often) in &mut found {
            *often = std::mem::take(&mut self.counts[*number as usize]);
        }
        found
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
    numbers: HashMap<Box<str>, u32, RandomState>,
    by_number: Vec<Box<str>>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.by_number.len() as u32;
        self.numbers.insert(text.into(), number);
        self.by_number.push(text.into());
        number
    }

    fn of(&self, number: u32) -> &str {
        &self.by_number[number as usize]
    }
}

pub(crate) fn ready() -> TextAnalyzer {
    TextAnalyzer::builder(Ready::default()).build()
}

/// Reads texts of ready words.
#[derive(Debug, Clone, Default)]
struct Ready(Token);

impl Tokenizer for Ready {
    type TokenStream<'a> = Reading<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Reading<'a> {
        self.0.reset();
        Reading { text, at: 0, token: &mut self.0 }
    }
}

struct Reading<'a> {
    text: &'a str,
    at: usize,
    token: &'a mut Token,
}

impl TokenStream for Reading<'_> {
    fn advance(&mut self) -> bool {
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            // Before the first word this comes round to 0.
            self.token.position = self.token.position.wrapping_add(1);
            if rest.first() == Some(&AGAIN) {
                self.at += 1;
                return true;
            }
            let Some(length) = rest.iter().position(|byte| *byte == END) else { return false };
            let word = &self.text[self.at..self.at + length];
            self.at += length + 1;
            if !word.is_empty() {
                self.token.text.clear();
                self.token.text.push_str(word);
                return true;
            }
        }
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words with their places, as the engine reads them.
    fn read(ready: &str) -> Vec<(String, usize)> {
        let mut analyzer = super::ready();
        let mut stream = analyzer.token_stream(ready);
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().text.clone(), stream.token().position));
        }
        found
    }

    fn stems(text: &str, language: Language) -> Vec<(String, usize)> {
        let mut analyzer = words::stemmed();
        let marked = format!("{}{text}", language.mark());
        let mut stream = analyzer.token_stream(&marked);
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().text.clone(), stream.token().position));
        }
        found
    }

    #[test]
    fn words_are_counted_or_kept_in_order() {
        let mut vocabulary = Vocabulary::default();
        let mut words = Vec::new();
        vocabulary.add_words("Retry the retries: retry", Language::English, &mut words);
        assert_eq!(vocabulary.in_order(&words), "retri\nthe\nretri\nretri\n");
        assert_eq!(vocabulary.counted(&words), "retri\n\t\tthe\n");
        assert_eq!(vocabulary.spelled(&words), "retry\nthe\nretries\n");
        let read = read(&vocabulary.counted(&words));
        assert_eq!(read.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(), ["retri", "retri", "retri", "the"]);
    }

    #[test]
    fn the_same_spelling_has_a_stem_in_each_language() {
        let mut vocabulary = Vocabulary::default();
        let (mut english, mut german) = (Vec::new(), Vec::new());
        vocabulary.add_words("häusern", Language::English, &mut english);
        vocabulary.add_words("häusern", Language::German, &mut german);
        assert_eq!(
            (vocabulary.in_order(&english), vocabulary.in_order(&german)),
            ("hausern\n".into(), "haus\n".into())
        );
    }

    proptest! {
        #[test]
        fn ready_words_are_those_of_the_text(texts in proptest::collection::vec("(\\PC|[a-z]{1,3}[ _.-]|[A-Za-z]{61,70} ){0,40}", 1..4)) {
            let mut vocabulary = Vocabulary::default();
            for text in texts {
                for language in [Language::English, Language::French] {
                    let mut words = Vec::new();
                    vocabulary.add_words(&text, language, &mut words);
                    let expected = stems(&text, language);
                    prop_assert_eq!(&read(&vocabulary.in_order(&words)), &expected);
                    let mut counted: Vec<String> = read(&vocabulary.counted(&words)).into_iter().map(|(word, _)| word).collect();
                    let mut expected: Vec<String> = expected.into_iter().map(|(word, _)| word).collect();
                    counted.sort();
                    expected.sort();
                    prop_assert_eq!(counted, expected);
                }
            }
        }
    }
}
