//! The vocabulary of an index: whether it contains a word, and which of its words resemble an unknown one.

use std::cell::RefCell;
use std::collections::HashMap;

use tantivy::query::{EnableScoring, PhraseQuery, Query as EngineQuery};
use tantivy::schema::Field;
use tantivy::{DocSet, Searcher, TERMINATED};

use crate::index::readers::Stem;
use crate::index::schema::Fields;
use crate::rank::corpus_stats::CorpusStats;
use crate::text::languages::Language;
use crate::text::spelling;
use crate::text::terms;

/// Maximum number of known words that are compared with an unknown one.
const MOST_LOOKED_AT: usize = 20_000;

/// The document frequencies of a word, indexed by the mark of the field.
type DocFreqByField = [u32; 16];

/// The words of a snapshot.
pub(crate) struct Lexicon<'s> {
    searcher: &'s Searcher,
    fields: &'s Fields,
    stats: &'s CorpusStats,
    /// Cached results of [`Lexicon::holds_stem`].
    asked: RefCell<HashMap<String, bool>>,
}

impl<'s> Lexicon<'s> {
    pub(crate) fn new(searcher: &'s Searcher, fields: &'s Fields, stats: &'s CorpusStats) -> Self {
        Self { searcher, fields, stats, asked: RefCell::default() }
    }

    /// The languages that words of pages are stemmed by; English when there are no pages.
    pub(crate) fn languages(&self) -> &'s [Language] {
        if self.stats.languages.is_empty() { &[Language::English] } else { &self.stats.languages }
    }

    /// Whether a word with this stem occurs in any field.
    pub(crate) fn holds_stem(&self, stem: &str) -> tantivy::Result<bool> {
        if let Some(known) = self.asked.borrow().get(stem) {
            return Ok(*known);
        }
        let mut holds = false;
        for field in self.fields.of_page().into_iter().chain([self.fields.path, self.fields.link]) {
            holds = holds || self.is_in(field, stem)?;
        }
        self.asked.borrow_mut().insert(stem.to_owned(), holds);
        Ok(holds)
    }

    fn is_in(&self, field: Field, stem: &str) -> tantivy::Result<bool> {
        let mut stem = Stem::of(stem);
        for text in self.stats.segments.iter().filter_map(|segment| segment.readers.text(field)) {
            if text.find(&mut stem)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a page contains the word in this spelling, or any word whose stem it is.
    pub(crate) fn holds(&self, word: &str) -> tantivy::Result<bool> {
        for field in self.fields.of_page().into_iter().chain([self.fields.spelled]) {
            if self.searcher.doc_freq(&self.fields.marked(field, word))? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether two words are adjacent in the text of any section, in this order.
    pub(crate) fn holds_beside(&self, left: &str, right: &str) -> tantivy::Result<bool> {
        for language in self.languages() {
            let terms = [left, right].map(|word| self.fields.marked(self.fields.body, &terms::stem(word, *language)));
            if terms[0] == terms[1] {
                continue;
            }
            let query = PhraseQuery::new(terms.to_vec());
            let weight = query.weight(EnableScoring::disabled_from_searcher(self.searcher))?;
            for reader in self.searcher.segment_readers() {
                let mut beside = weight.scorer(reader, 1.0)?;
                while beside.doc() != TERMINATED {
                    if !reader.is_deleted(beside.doc()) {
                        return Ok(true);
                    }
                    beside.advance();
                }
            }
        }
        Ok(false)
    }

    /// The known words with this prefix, the most frequent first.
    pub(crate) fn beginning_with(&self, start: &str, most: usize) -> tantivy::Result<Vec<String>> {
        let mut found = Vec::new();
        self.each_beginning_with(start, |word, often| found.push((word.to_owned(), often)))?;
        Ok(commonest(found, most))
    }

    /// The known words within an edit distance (insertions, deletions, substitutions, and transpositions of adjacent
    /// letters) of `max_edits` that begin with the same letter, each with its distance: only
    /// those at the smallest distance found, the most frequent first.
    pub(crate) fn similar(&self, word: &str, max_edits: usize, most: usize) -> tantivy::Result<Vec<(String, usize)>> {
        let Some(first) = word.chars().next() else { return Ok(Vec::new()) };
        let mut found: Vec<(usize, String, DocFreqByField)> = Vec::new();
        self.each_beginning_with(first.encode_utf8(&mut [0; 4]), |known, often| {
            if spelling::may_be_near(word, known, max_edits) {
                let edits = strsim::osa_distance(word, known);
                if edits <= max_edits {
                    found.push((edits, known.to_owned(), often));
                }
            }
        })?;
        let fewest = found.iter().map(|(edits, ..)| *edits).min().unwrap_or_default();
        found.retain(|(edits, ..)| *edits == fewest);
        let words = found.into_iter().map(|(_, word, often)| (word, often)).collect();
        Ok(commonest(words, most).into_iter().map(|word| (word, fewest)).collect())
    }

    /// Calls `each` with the known words (stems included) that have this prefix, and the document frequencies of each
    /// in one segment. A word comes once per segment.
    fn each_beginning_with(&self, start: &str, mut each: impl FnMut(&str, DocFreqByField)) -> tantivy::Result<()> {
        let mut left = MOST_LOOKED_AT;
        let fields = self.fields.of_page().into_iter().chain([self.fields.spelled]);
        let marks: Vec<u8> = fields.map(|field| self.fields.mark(field)).collect();
        for reader in self.searcher.segment_readers() {
            let index = reader.inverted_index(self.fields.terms)?;
            let mut end = start.as_bytes().to_vec();
            // No byte of UTF-8 is 255.
            end.push(255);
            let mut stream = index.terms().range().ge(start).lt(end).into_stream()?;
            let (mut at, mut often) = (String::new(), DocFreqByField::default());
            while left > 0 && stream.advance() {
                let Some((mark, word)) = stream.key().split_last().filter(|(mark, _)| marks.contains(mark)) else {
                    continue;
                };
                let Ok(word) = std::str::from_utf8(word) else { continue };
                if word != at {
                    if !at.is_empty() {
                        each(&at, often);
                    }
                    left -= 1;
                    often = DocFreqByField::default();
                    at.clear();
                    at.push_str(word);
                }
                if let Some(often) = often.get_mut(usize::from(*mark)) {
                    *often += stream.value().doc_freq;
                }
            }
            if !at.is_empty() {
                each(&at, often);
            }
        }
        Ok(())
    }
}

/// The words with the highest document frequencies, each once. A word counts by the field in which it is most frequent.
fn commonest(mut found: Vec<(String, DocFreqByField)>, most: usize) -> Vec<String> {
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    found.dedup_by(|next, word| {
        let is_same = next.0 == word.0;
        if is_same {
            word.1.iter_mut().zip(next.1).for_each(|(sum, often)| *sum += often);
        }
        is_same
    });
    let often = |word: &(String, DocFreqByField)| word.1.iter().copied().max();
    found.sort_by(|a, b| often(b).cmp(&often(a)).then_with(|| a.0.cmp(&b.0)));
    found.into_iter().map(|(word, _)| word).take(most).collect()
}
