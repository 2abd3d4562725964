//! The words an index holds: whether it knows one, and which are like one it does not know.

use std::cell::RefCell;
use std::collections::HashMap;

use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use crate::ground::Ground;
use crate::languages::Language;
use crate::schema::Fields;
use crate::spelling;

/// How many known words are looked at for one unknown.
const MOST_LOOKED_AT: usize = 20_000;

/// The words of a snapshot.
pub(crate) struct Lexicon<'s> {
    searcher: &'s Searcher,
    fields: &'s Fields,
    ground: &'s Ground,
    /// What was asked for before: whether a word with this stem stands anywhere.
    asked: RefCell<HashMap<String, bool>>,
}

impl<'s> Lexicon<'s> {
    pub(crate) fn new(searcher: &'s Searcher, fields: &'s Fields, ground: &'s Ground) -> Self {
        Self { searcher, fields, ground, asked: RefCell::default() }
    }

    /// The languages that words of pages are stemmed by; English when there are no pages.
    pub(crate) fn languages(&self) -> &'s [Language] {
        if self.ground.languages.is_empty() { &[Language::English] } else { &self.ground.languages }
    }

    /// Whether a word with this stem stands anywhere.
    pub(crate) fn holds_stem(&self, stem: &str) -> tantivy::Result<bool> {
        if let Some(known) = self.asked.borrow().get(stem) {
            return Ok(*known);
        }
        let mut holds = false;
        for field in [self.fields.whole, self.fields.path, self.fields.link] {
            holds = holds || self.is_in(field, stem)?;
        }
        self.asked.borrow_mut().insert(stem.to_owned(), holds);
        Ok(holds)
    }

    fn is_in(&self, field: Field, stem: &str) -> tantivy::Result<bool> {
        for text in self.ground.segments.iter().filter_map(|segment| segment.readers.text(field)) {
            if text.index.terms().get(stem.as_bytes())?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a page holds the word, spelled so.
    pub(crate) fn holds(&self, word: &str) -> tantivy::Result<bool> {
        Ok(self.searcher.doc_freq(&Term::from_field_text(self.fields.spelled, word))? > 0)
    }

    /// The known words that begin so, those on most pages first.
    pub(crate) fn beginning_with(&self, start: &str, most: usize) -> tantivy::Result<Vec<String>> {
        let mut found: Vec<(u32, String)> = Vec::new();
        self.each_beginning_with(start, |word, pages| found.push((pages, word.to_owned())))?;
        Ok(commonest(found, most))
    }

    /// The known words that differ in at most `slips` from a word and begin with the same letter, with how many slips
    /// lie between: of those with the fewest, the ones on most pages.
    pub(crate) fn alike(&self, word: &str, slips: usize, most: usize) -> tantivy::Result<Vec<(String, usize)>> {
        let letters: Vec<char> = word.chars().collect();
        let Some(first) = letters.first() else { return Ok(Vec::new()) };
        let mut found: Vec<(usize, u32, String)> = Vec::new();
        let mut known_letters = Vec::new();
        self.each_beginning_with(first.encode_utf8(&mut [0; 4]), |known, pages| {
            if spelling::may_be_near(word, known, slips) {
                known_letters.clear();
                known_letters.extend(known.chars());
                if let Some(slips) = spelling::distance(&letters, &known_letters, slips) {
                    found.push((slips, pages, known.to_owned()));
                }
            }
        })?;
        let fewest = found.iter().map(|(slips, ..)| *slips).min().unwrap_or_default();
        found.retain(|(slips, ..)| *slips == fewest);
        let words = found.into_iter().map(|(_, pages, word)| (pages, word)).collect();
        Ok(commonest(words, most).into_iter().map(|word| (word, fewest)).collect())
    }

    /// Calls `each` with the known words that begin so, and on how many pages of one part of the index each is. A word
    /// may come more than once.
    fn each_beginning_with(&self, start: &str, mut each: impl FnMut(&str, u32)) -> tantivy::Result<()> {
        let mut left = MOST_LOOKED_AT;
        for reader in self.searcher.segment_readers() {
            let index = reader.inverted_index(self.fields.spelled)?;
            let mut range = index.terms().range().ge(start);
            let mut end = start.as_bytes().to_vec();
            // No byte of UTF-8 is 255.
            end.push(255);
            range = range.lt(end);
            let mut stream = range.into_stream()?;
            while left > 0 && stream.advance() {
                left -= 1;
                if let Ok(word) = std::str::from_utf8(stream.key()) {
                    each(word, stream.value().doc_freq);
                }
            }
        }
        Ok(())
    }
}

/// The words with the highest counts, each once.
fn commonest(mut found: Vec<(u32, String)>, most: usize) -> Vec<String> {
    found.sort_unstable_by(|a, b| a.1.cmp(&b.1));
    let mut merged: Vec<(u32, String)> = Vec::new();
    for (count, word) in found {
        match merged.last_mut().filter(|(_, last)| *last == word) {
            Some((sum, _)) => *sum += count,
            None => merged.push((count, word)),
        }
    }
    merged.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    merged.into_iter().map(|(_, word)| word).take(most).collect()
}
