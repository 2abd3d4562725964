//! Counts searches that are sent while readers type.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{Clock, Domain, StoreError, Timestamp};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tracing::{error, warn};

use crate::analytics::{Days, day_of};
use crate::searches::{Search, SearchCounts, SearchTerms, Searches, TermQuery};

/// A search counts when its reader has not typed for this long.
const TYPING: Duration = Duration::from_secs(5);
/// Maximum number of searches that are not stored yet; further ones are not counted.
const MOST_PENDING: usize = 1_000;
/// Maximum number of characters of a term; the rest is cut off.
const LONGEST_TERM: usize = 200;
/// Maximum number of counts that are deleted at once.
const STEP: u32 = 1_000;

/// Counts what readers search for.
///
/// Search boxes send a request with each letter. So a search that extends the previous one of the same reader within 5
/// seconds replaces it. A reader is identified by address, which is not stored. Searches are stored a few seconds
/// later, by a task that ends when there are none left.
#[derive(Debug, Clone)]
pub struct SearchLog {
    store: Arc<dyn Searches>,
    clock: Arc<dyn Clock>,
    pending: Arc<Mutex<PendingSearches>>,
}

#[derive(Debug, Default)]
struct PendingSearches {
    /// The newest search of each reader, and when it was typed.
    newest: HashMap<(Domain, IpAddr), (Search, Instant)>,
    complete: Vec<Search>,
    /// The number of searches dropped for lack of room since that was last logged.
    dropped: u64,
    /// Whether the task that stores the searches is running.
    is_storing: bool,
}

impl SearchLog {
    pub fn new(store: Arc<dyn Searches>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, pending: Arc::default() }
    }

    /// Counts a search. Must be called in a Tokio runtime.
    pub fn record(&self, domain: &Domain, reader: IpAddr, query: &str, has_results: bool) {
        let words = query.split_whitespace().collect::<Vec<_>>().join(" ");
        let term: String = words.to_lowercase().chars().take(LONGEST_TERM).collect();
        if term.is_empty() {
            return;
        }
        let search = Search { domain: domain.clone(), term, at: self.clock.now(), has_results };
        let mut pending = self.pending.lock();
        pending.add(reader, search);
        if !std::mem::replace(&mut pending.is_storing, true) {
            tokio::spawn(self.clone().store_until_none());
        }
    }

    async fn store_until_none(self) {
        loop {
            sleep(TYPING).await;
            let complete = {
                let mut pending = self.pending.lock();
                let complete = pending.take_complete(Instant::now());
                let dropped = std::mem::take(&mut pending.dropped);
                if dropped > 0 {
                    warn!(dropped, "searches are not counted: too many waited to be stored");
                }
                pending.is_storing = !(complete.is_empty() && pending.newest.is_empty());
                if !pending.is_storing {
                    return;
                }
                complete
            };
            self.store(complete).await;
        }
    }

    async fn store(&self, searches: Vec<Search>) {
        if searches.is_empty() {
            return;
        }
        let count = searches.len();
        if let Err(error) = self.store.count(searches).await {
            error!(error = &error as &dyn std::error::Error, count, "searches are not counted");
        }
    }

    /// Stores everything that is not stored yet. For the shutdown of a server.
    pub async fn flush(&self) {
        let all = {
            let mut pending = self.pending.lock();
            let newest = std::mem::take(&mut pending.newest).into_values().map(|(search, _)| search);
            let mut all: Vec<Search> = newest.collect();
            all.append(&mut pending.complete);
            all
        };
        self.store(all).await;
    }

    pub async fn terms(&self, query: TermQuery) -> Result<SearchTerms, StoreError> {
        self.store.terms(query).await
    }

    /// The counts of one term on each day on which it was searched for, in order.
    pub async fn term_by_day(
        &self,
        domain: &Domain,
        days: Days,
        term: &str,
    ) -> Result<Vec<(Timestamp, SearchCounts)>, StoreError> {
        self.store.term_by_day(domain, days, term).await
    }

    /// Deletes the counts of days that ended this long ago; returns the number of deleted counts.
    pub async fn forget(&self, age: Duration) -> Result<u64, StoreError> {
        let before = day_of(self.clock.now().minus(age));
        let mut all = 0;
        loop {
            let gone = self.store.forget(before, STEP).await?;
            all += u64::from(gone);
            if gone < STEP {
                return Ok(all);
            }
        }
    }
}

impl PendingSearches {
    fn add(&mut self, reader: IpAddr, search: Search) {
        let has_room = self.newest.len() + self.complete.len() < MOST_PENDING;
        let now = Instant::now();
        match self.newest.entry((search.domain.clone(), reader)) {
            Entry::Occupied(mut entry) => {
                let (before, typed_at) = entry.get();
                let is_typing = now.duration_since(*typed_at) < TYPING
                    && (search.term.starts_with(&before.term) || before.term.starts_with(&search.term));
                if !is_typing && !has_room {
                    self.dropped += 1;
                    return;
                }
                let (before, _) = entry.insert((search, now));
                if !is_typing {
                    self.complete.push(before);
                }
            }
            Entry::Vacant(entry) if has_room => drop(entry.insert((search, now))),
            Entry::Vacant(_) => self.dropped += 1,
        }
    }

    /// The searches whose readers have stopped typing.
    fn take_complete(&mut self, now: Instant) -> Vec<Search> {
        let mut complete = std::mem::take(&mut self.complete);
        let over = self.newest.extract_if(|_, (_, typed_at)| now.duration_since(*typed_at) >= TYPING);
        complete.extend(over.map(|(_, (search, _))| search));
        complete
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use docent_types::ManualClock;

    use super::*;
    use crate::memory::MemorySearches;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);
    const ANN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const BEN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn log() -> (SearchLog, Domain) {
        let log = SearchLog::new(Arc::new(MemorySearches::default()), Arc::new(ManualClock::at(NOW)));
        (log, Domain::parse("acme").expect("a name"))
    }

    /// The terms, each with its number of searches and the number of those without results.
    async fn counted(log: &SearchLog, domain: &Domain) -> Vec<(String, u64, u64)> {
        let days = Days::touched(None, None);
        let query = TermQuery { domain: domain.clone(), days, without_results: false, after: None, limit: 5_000 };
        let terms = log.terms(query).await.expect("lists").terms.into_iter();
        terms.map(|one| (one.term, one.counts.searches, one.counts.without_results)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn searches_while_typing_are_logged_once_at_the_end() {
        let (log, acme) = log();
        for (reader, query, has_results) in [
            (ANN, "w", true),
            (ANN, "web", true),
            (BEN, "Retry", true),
            (ANN, "webh", false),
            (ANN, "  ", false),
            (BEN, "  retry\tPOLICY ", true),
            (ANN, "web", true),
            (ANN, "keys", false),
        ] {
            log.record(&acme, reader, query, has_results);
        }
        assert_eq!(counted(&log, &acme).await, [], "nothing is stored while it is typed");
        sleep(TYPING + Duration::from_millis(1)).await;
        let once = |term: &str, without| (term.to_owned(), 1, without);
        assert_eq!(counted(&log, &acme).await, [once("keys", 1), once("retry policy", 0), once("web", 0)]);
        assert!(log.pending.lock().is_storing);
        sleep(TYPING).await;
        assert!(!log.pending.lock().is_storing, "the task ends");
        log.record(&acme, ANN, "keys again", true);
        sleep(TYPING + Duration::from_millis(1)).await;
        log.record(&acme, ANN, "keys", true);
        log.flush().await;
        let keys = ("keys".to_owned(), 2, 1);
        assert_eq!(counted(&log, &acme).await[..2], [keys, once("keys again", 0)], "later it is a search of its own");
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_not_kept_and_a_long_query_is_cut() {
        let (log, acme) = log();
        for at in 0..MOST_PENDING + 10 {
            log.record(&acme, ANN, &format!("{at} {}", "x".repeat(9_999)), true);
        }
        assert_eq!(log.pending.lock().dropped, 10);
        log.flush().await;
        let found = counted(&log, &acme).await;
        assert_eq!((found.len(), found[0].0.len()), (MOST_PENDING, LONGEST_TERM));
    }
}
