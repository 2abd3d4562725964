//! Answers a question to an index with passages.

use docent_types::Passage;

use crate::answer::result_selection::ResultSelection;
use crate::index::manifest::ManifestPage;
use crate::index::snapshot::Snapshot;
use crate::query::{Query, asked};
use crate::rank::question::Question;
use crate::rank::ranking::Search;
use crate::rank::settings::{SHIPPED, Settings};
use crate::rank::variants::without_versions;
use crate::text::lexicon::Lexicon;
use crate::vectors::similarity::Similarities;

impl Snapshot {
    /// The best passages for a question, best first, one a page. Empty when nothing fits, nothing is indexed, or the
    /// question holds no word.
    pub fn search(&self, query: &Query) -> Vec<Passage> {
        or_nothing(search(self, &query.read(), &SHIPPED, None), "search failed")
    }

    /// The best passages for a question by its words and, where the index has vectors, by its meaning.
    pub async fn find(&self, query: &Query) -> Vec<Passage> {
        self.find_with(query, &SHIPPED).await
    }

    /// As `find`, with other settings than the shipped ones.
    #[doc(hidden)]
    pub async fn find_with(&self, query: &Query, settings: &Settings) -> Vec<Passage> {
        let query = &query.read();
        let similarity = match &query.after {
            Some(after) => self.similarities(&format!("{} {after}", query.text), query.asker).await,
            None => self.similarities(&query.text, query.asker).await,
        };
        or_nothing(search(self, query, settings, similarity.as_ref()), "search failed")
    }

    /// The words of a question that these docs never mention, as the asker spelled them, in order. Completions and
    /// likely typos are not included.
    pub fn never_mentioned(&self, question: &str) -> Vec<String> {
        let Some(searcher) = self.searcher() else { return Vec::new() };
        let lexicon = Lexicon::new(searcher, &self.fields, &self.stats);
        let (question, _) = without_versions(&asked(question), &self.tables.variants);
        let understood = Question::of(&question, None, "", &lexicon, &self.tables.synonyms);
        understood.map(|understood| understood.never_mentioned(&question)).unwrap_or_default()
    }

    /// The sections of the page at an address, in their order: at most `query.limit`, each with up to 16,000 characters
    /// and a score of 0. Empty when there is no such page or the question has no words.
    pub fn sections(&self, query: &Query, address: &str) -> Vec<Passage> {
        sections(self, query, address, |selection, page| selection.page(page, query.limit))
    }

    /// As [`Snapshot::sections`], but as passages, best first, and only those that have at least this share of what the best one has of the
    /// question's words.
    pub fn matching_sections(&self, query: &Query, address: &str, share: f32) -> Vec<Passage> {
        sections(self, query, address, |selection, page| selection.matching(page, query.limit, share))
    }
}

/// The passages for a question.
fn search(
    snapshot: &Snapshot,
    query: &Query,
    settings: &Settings,
    similarity: Option<&Similarities>,
) -> tantivy::Result<Vec<Passage>> {
    let Some(mut search) = Search::new(snapshot, query, settings)? else { return Ok(Vec::new()) };
    let ranked = search.ranked(similarity)?;
    ResultSelection::new(&search).passages(ranked, query.limit)
}

/// The chosen sections of the page at an address as passages.
fn sections(
    snapshot: &Snapshot,
    query: &Query,
    address: &str,
    choose: impl Fn(&ResultSelection<'_>, &ManifestPage) -> tantivy::Result<Vec<Passage>>,
) -> Vec<Passage> {
    let (settings, query) = (SHIPPED, query.read());
    let chosen = || {
        let Some(page) = snapshot.lookup(address) else { return Ok(Vec::new()) };
        let search = Search::new(snapshot, &query, &settings)?;
        search.map_or_else(|| Ok(Vec::new()), |search| choose(&ResultSelection::new(&search), page))
    };
    or_nothing(chosen(), "a page's sections could not be read")
}

/// What was found; nothing, and `failed` in the log, after an error.
pub(crate) fn or_nothing<T>(found: tantivy::Result<Vec<T>>, failed: &str) -> Vec<T> {
    found.unwrap_or_else(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "{failed}");
        Vec::new()
    })
}
