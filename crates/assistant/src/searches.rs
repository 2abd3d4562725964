//! What readers searched for, counted by day of UTC.

use std::fmt;

use async_trait::async_trait;
use docent_types::{Domain, StoreError, Timestamp};

use crate::analytics::{Days, day_of};

/// Most terms that are counted on one day of a domain; others are left out.
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

    /// Deletes the counts of days before this one, as a number of days since the Unix epoch, at most `limit` of them;
    /// returns how many.
    async fn forget(&self, before: i64, limit: u32) -> Result<u32, StoreError>;
}

/// One search of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub domain: Domain,
    /// What was searched for, in small letters.
    pub term: String,
    pub at: Timestamp,
    pub has_results: bool,
}

impl Search {
    /// The day of UTC on which it counts, as a number of days since the Unix epoch.
    pub fn day(&self) -> i64 {
        day_of(self.at)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchCounts {
    pub searches: u64,
    /// How many of them found nothing.
    pub without_results: u64,
}

impl SearchCounts {
    pub(crate) fn add(&mut self, other: Self) {
        self.searches += other.searches;
        self.without_results += other.without_results;
    }
}

/// Which terms to list, those with the most searches first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermQuery {
    pub domain: Domain,
    pub days: Days,
    /// Only terms that found nothing at least once, those that did so most often first.
    pub without_results: bool,
    /// The [`SearchTerms::next`] of the previous page.
    pub after: Option<TermCursor>,
    /// Most terms on a page, at least 1.
    pub limit: u32,
}

/// A position in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermCursor {
    /// By which the list is sorted.
    pub count: u64,
    pub term: String,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchTerms {
    /// Of all terms in these days, not only of this page.
    pub counts: SearchCounts,
    pub terms: Vec<SearchTerm>,
    /// Where the next page begins; `None` at the end of the list.
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

    /// A page of these terms, which are sorted, begin where the page does and may be more than fit on it.
    pub fn page(&self, counts: SearchCounts, mut terms: Vec<SearchTerm>) -> SearchTerms {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let goes_on = terms.len() > limit;
        terms.truncate(limit);
        let last = terms.last().filter(|_| goes_on);
        let next = last.map(|last| TermCursor { count: self.key(last.counts), term: last.term.clone() });
        SearchTerms { counts, terms, next }
    }
}
