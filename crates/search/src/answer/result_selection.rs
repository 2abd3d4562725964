//! Turns ranked pages into the passages a reader sees: the best section of each page, without duplicates.

use docent_types::{LONGEST_PASSAGE, Passage, encoded_path};
use tantivy::schema::{Field, Value};
use tantivy::{DocAddress, TantivyDocument};

use crate::answer::passages::{SoughtWords, excerpt};
use crate::index::manifest::ManifestPage;
use crate::index::schema::SECTION;
use crate::rank::lookup::documents_of;
use crate::rank::ranking::{Candidate, Search};
use crate::text::languages::Language;
use crate::text::near_duplicates::{are_copies, is_telling};

/// When a section is a duplicate and scores less than this share of its page's best section, no further section of the
/// page is tried.
const STAND_IN: f32 = 0.5;
/// Maximum number of sections of a page that are tried, the best one included.
const MOST_STAND_INS: usize = 4;
/// Maximum number of sections of a page that are compared.
const MOST_COMPARED: usize = 60;
/// Maximum number of characters of a section for a model that quotes.
const LONGEST_SECTION: usize = 16_000;

pub(crate) struct ResultSelection<'s> {
    search: &'s Search<'s>,
    sought: SoughtWords,
    shown: Vec<Shown<'s>>,
}

/// A page to show, and the section it is shown by.
struct Shown<'s> {
    page: &'s ManifestPage,
    section: Option<DocAddress>,
    fingerprint: Option<u64>,
    score: f32,
}

impl<'s> ResultSelection<'s> {
    pub(crate) fn new(search: &'s Search<'s>) -> Self {
        Self { search, sought: SoughtWords::of(&search.question), shown: Vec::new() }
    }

    /// The passages of the best pages, at most `limit`.
    pub(crate) fn passages(mut self, ranked: Vec<Candidate>, limit: usize) -> tantivy::Result<Vec<Passage>> {
        self.choose(ranked, limit)?;
        self.shown.iter().map(|shown| self.passage(shown, LONGEST_PASSAGE)).collect()
    }

    /// The whole sections of a page, in their order, at most `limit` of them.
    pub(crate) fn page(&self, page: &ManifestPage, limit: usize) -> tantivy::Result<Vec<Passage>> {
        self.sections_of(page, limit, LONGEST_SECTION)
    }

    fn sections_of(&self, page: &ManifestPage, limit: usize, most_chars: usize) -> tantivy::Result<Vec<Passage>> {
        let (fields, searcher) = (&self.search.snapshot.fields, self.search.lookup.searcher);
        let sections = documents_of(searcher, fields, page.id, SECTION)?.into_iter().take(limit);
        let shown = |at| Shown { page, section: Some(at), fingerprint: None, score: 0.0 };
        sections.map(|at| self.passage(&shown(at), most_chars)).collect()
    }

    /// The sections of a page as passages, best first: at most `limit`, with at least this share of what the best one
    /// has of the question.
    pub(crate) fn matching(&self, page: &ManifestPage, limit: usize, share: f32) -> tantivy::Result<Vec<Passage>> {
        let language = self.language_of(page);
        let weight = |passage: &Passage| {
            self.sought.weight_in(&format!("{} {}", passage.headings.join(" "), passage.content), language)
        };
        let passages = self.sections_of(page, MOST_COMPARED, LONGEST_PASSAGE)?.into_iter();
        let weighed: Vec<(f32, Passage)> = passages.map(|passage| (weight(&passage), passage)).collect();
        let best = weighed.iter().map(|(weight, _)| *weight).fold(0.0, f32::max);
        let mut order: Vec<(f32, Passage)> = weighed.into_iter().filter(|(weight, _)| *weight > best * share).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(order.into_iter().take(limit).map(|(_, passage)| passage).collect())
    }

    fn language_of(&self, page: &ManifestPage) -> Language {
        let language = page.language.as_deref().and_then(Language::of_tag);
        let language = language.or_else(|| self.search.snapshot.stats.languages.first().copied());
        language.unwrap_or(Language::English)
    }

    /// The pages to show, each with its section and its score.
    pub(crate) fn sections(
        mut self,
        ranked: Vec<Candidate>,
        limit: usize,
    ) -> tantivy::Result<Vec<(&'s ManifestPage, Option<DocAddress>, f32)>> {
        self.choose(ranked, limit)?;
        Ok(self.shown.into_iter().map(|shown| (shown.page, shown.section, shown.score)).collect())
    }

    /// Selects the best pages, at most `limit`.
    fn choose(&mut self, ranked: Vec<Candidate>, limit: usize) -> tantivy::Result<()> {
        for candidate in ranked {
            if self.shown.len() == limit {
                break;
            }
            let Some(page) = self.search.snapshot.page_numbered(candidate.number) else { continue };
            // Two files served at one path are one page to a reader.
            if self.shown.iter().all(|shown| shown.page.path != page.path) {
                self.add(page, &candidate)?;
            }
        }
        Ok(())
    }

    /// Selects a page with its best section that is no duplicate. If a section duplicates that of a selected page with
    /// the same title, the two are one page in different versions or languages: the new one is left out, or replaces
    /// the other when the asker would prefer it. A page with another title is left out when all of its sections that
    /// were tried are duplicates, unless the last of them is too short to tell.
    fn add(&mut self, page: &'s ManifestPage, candidate: &Candidate) -> tantivy::Result<()> {
        let stats = &self.search.snapshot.stats;
        let mut shown = Shown { page, section: None, fingerprint: None, score: candidate.answers };
        let best = candidate.sections.first().map_or(0.0, |(score, _)| *score);
        let mut is_copy = false;
        for (score, number) in candidate.sections.iter().take(MOST_STAND_INS) {
            let address = stats.address(*number);
            let fingerprint = self.fingerprint(address);
            let Some(twin) = self.twin(fingerprint) else {
                shown.section = Some(address);
                shown.fingerprint = fingerprint;
                break;
            };
            if self.shown[twin].page.title == page.title {
                if self.is_preferred(page, self.shown[twin].page) {
                    self.shown[twin].page = page;
                    self.shown[twin].section = Some(address);
                }
                return Ok(());
            }
            // A short duplicate does not make the page a copy: it may be all that the page says.
            is_copy = fingerprint.is_some_and(is_telling);
            if *score < best * STAND_IN {
                break;
            }
        }
        if shown.section.is_none() {
            if is_copy {
                return Ok(());
            }
            shown.section = candidate.sections.first().map(|(_, number)| stats.address(*number));
        }
        self.shown.push(shown);
        Ok(())
    }

    /// The index of a selected page whose section has the same text.
    fn twin(&self, fingerprint: Option<u64>) -> Option<usize> {
        let fingerprint = fingerprint.filter(|_| self.search.lookup.settings.copies_once > 0.0)?;
        self.shown.iter().position(|shown| shown.fingerprint.is_some_and(|known| are_copies(known, fingerprint)))
    }

    fn fingerprint(&self, address: DocAddress) -> Option<u64> {
        let segment = self.search.snapshot.stats.segments.get(address.segment_ord as usize)?;
        segment.readers.fingerprint.first(address.doc_id)
    }

    /// Whether the asker would prefer the first of two copies: the one that better fits the language and the version
    /// asked for (or else the current version), then the one without a version label, then the later version.
    fn is_preferred(&self, one: &ManifestPage, other: &ManifestPage) -> bool {
        let (variants, wanted) = (&self.search.snapshot.tables.variants, &self.search.wanted);
        let rank = |page: &ManifestPage| wanted.rank(variants, variants.page(self.search.snapshot.number_of(page)));
        let order = rank(other).cmp(&rank(one)).then_with(|| match (&one.version, &other.version) {
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(_), None) => std::cmp::Ordering::Less,
            (Some(one), Some(other)) => numbers(one).cmp(&numbers(other)),
            (None, None) => std::cmp::Ordering::Equal,
        });
        order.is_gt()
    }

    fn passage(&self, shown: &Shown<'_>, most_chars: usize) -> tantivy::Result<Passage> {
        let (fields, searcher, page) = (&self.search.snapshot.fields, self.search.lookup.searcher, shown.page);
        let section = match shown.section {
            Some(address) => Some(address),
            None => documents_of(searcher, fields, page.id, SECTION)?.first().copied(),
        };
        let document: TantivyDocument = match section {
            Some(address) => searcher.doc(address)?,
            None => TantivyDocument::default(),
        };
        let (variants, number) = (&self.search.snapshot.tables.variants, self.search.snapshot.number_of(page));
        let stored = |field: Field| document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default();
        let language = self.language_of(page);
        let anchor = stored(fields.anchor);
        let (url, anchor) = (page.url(), encoded_path(anchor));
        let href = if anchor.is_empty() { format!("/{url}") } else { format!("/{url}#{anchor}") };
        let mut passage = Passage {
            path: page.path.clone(),
            href,
            title: page.title.clone(),
            headings: stored(fields.heading_path).lines().map(str::to_owned).collect(),
            content: String::new(),
            score: shown.score.clamp(0.0, 1.0),
            version: variants.version_of(number).map(|version| version.name.clone()),
            language: variants.language_of(number).map(str::to_owned),
        };
        // A passage that is shown by itself has its headings above it, followed by an empty line.
        let room = most_chars - passage.heading_lines().chars().count() - 1;
        passage.content = excerpt(stored(fields.content), &self.sought, language, room);
        if passage.content.is_empty() {
            passage.content = page.description.clone().unwrap_or_else(|| page.title.clone());
        }
        Ok(passage)
    }
}

/// The numbers in a version, to find out which version is later.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("v1.10") > numbers("v1.9"));
        assert!(numbers("2.0") > numbers("v1.9-beta"));
        assert!(numbers("next").is_empty());
    }
}
