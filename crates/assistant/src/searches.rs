//! The terms that readers searched for, counted by UTC day.

use std::fmt;

use async_trait::async_trait;
use docent_types::{Domain, StoreError, Timestamp};

use crate::analytics::{Days, day_of};

/// Maximum number of terms that are counted per day and domain; further ones are omitted.
pub const MOST_TERMS_A_DAY: u64 = 2_000;

/// The port to stored searches.
#[async_trait]
pub trait Searches: Send + Sync + fmt::Debug + 'static {
    /// Adds searches to the counts of their days, at most [`MOST_TERMS_A_DAY`] terms each.
    async fn count(&self, searches: Vec<Search>) -> Result<(), StoreError>;

    async fn terms(&self, query: TermQuery) -> Result<SearchTerms, StoreError>;

    /// The counts of one term on each day on which it was searched for, in order.
    async fn term_by_day(
        &self,
        domain: &Domain,
        days: Days,
        term: &str,
    ) -> Result<Vec<(Timestamp, SearchCounts)>, StoreError>;

    /// Deletes the counts of days before this one, given as a number of days since the Unix epoch, at most `limit` of
    /// them; returns the number of deleted counts.
    async fn forget(&self, before: i64, limit: u32) -> Result<u32, StoreError>;
}

/// One search of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub domain: Domain,
    /// The search query, in lower case.
    pub term: String,
    pub at: Timestamp,
    pub has_results: bool,
}

impl Search {
    /// The UTC day on which the search counts, as a number of days since the Unix epoch.
    pub fn day(&self) -> i64 {
        day_of(self.at)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchCounts {
    pub searches: u64,
    /// The number of searches without results.
    pub without_results: u64,
}

impl SearchCounts {
    pub fn add(&mut self, other: Self) {
        self.searches += other.searches;
        self.without_results += other.without_results;
    }
}

/// Selects terms to list, those with the most searches first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermQuery {
    pub domain: Domain,
    pub days: Days,
    /// Only terms that had no results at least once, sorted by how often they had none.
    pub without_results: bool,
    /// The [`SearchTerms::next`] of the previous page.
    pub after: Option<TermCursor>,
    /// Maximum number of terms on a page, at least 1.
    pub limit: u32,
}

/// A position in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermCursor {
    /// The count that the list is sorted by.
    pub count: u64,
    pub term: String,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchTerms {
    /// The counts of all terms in these days, not only of this page.
    pub counts: SearchCounts,
    pub terms: Vec<SearchTerm>,
    /// The start of the next page; `None` at the end of the list.
    pub next: Option<TermCursor>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm {
    pub term: String,
    pub counts: SearchCounts,
    /// When it was last searched for.
    pub last_at: Timestamp,
}

impl TermQuery {
    /// The count that the list is sorted by.
    pub const fn key(&self, counts: SearchCounts) -> u64 {
        if self.without_results { counts.without_results } else { counts.searches }
    }

    /// Builds a page from sorted terms that begin at the start of the page and may be more than fit on it.
    pub fn page(&self, counts: SearchCounts, mut terms: Vec<SearchTerm>) -> SearchTerms {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let goes_on = terms.len() > limit;
        terms.truncate(limit);
        let last = terms.last().filter(|_| goes_on);
        let next = last.map(|last| TermCursor { count: self.key(last.counts), term: last.term.clone() });
        SearchTerms { counts, terms, next }
    }
}
