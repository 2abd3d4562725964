//! What readers searched for: one row per term and day.

use std::collections::HashMap;

use async_trait::async_trait;
use docent_assistant::{
    Days, MOST_TERMS_A_DAY, Search, SearchCounts, SearchTerm, SearchTerms, Searches, TermCursor, TermQuery,
};
use docent_types::{BoxError, Domain, StoreError, Timestamp};
use rusqlite::{Connection, Row};

use crate::error::Abort;
use crate::sqlite::SqliteStore;

#[async_trait]
impl Searches for SqliteStore {
    async fn count(&self, searches: Vec<Search>) -> Result<(), StoreError> {
        self.write_in_order("count the searches", move |connection| {
            // The number of terms by domain and day.
            let mut terms: HashMap<(Domain, i64), u64> = HashMap::new();
            for search in searches {
                count(connection, &mut terms, search)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn terms(&self, query: TermQuery) -> Result<SearchTerms, StoreError> {
        self.read("list what was searched for", move |connection| {
            let (counts, mut terms) = terms(connection, &query)?;
            let is_after = |one: &SearchTerm| match &query.after {
                None => true,
                Some(TermCursor { count, term }) => {
                    let key = query.key(one.counts);
                    key < *count || (key == *count && one.term > *term)
                }
            };
            terms.retain(|one| query.key(one.counts) > 0 && is_after(one));
            let by_place = |one: &SearchTerm, other: &SearchTerm| {
                let key = |one: &SearchTerm| query.key(one.counts);
                key(other).cmp(&key(one)).then_with(|| one.term.cmp(&other.term))
            };
            // One more than fit on the page.
            let shown = usize::try_from(query.limit).unwrap_or(usize::MAX).saturating_add(1);
            if shown < terms.len() {
                terms.select_nth_unstable_by(shown - 1, by_place);
                terms.truncate(shown);
            }
            terms.sort_unstable_by(by_place);
            Ok(query.page(counts, terms))
        })
        .await
    }

    async fn term_by_day(
        &self,
        domain: &Domain,
        days: Days,
        term: &str,
    ) -> Result<Vec<(Timestamp, SearchCounts)>, StoreError> {
        let (domain, term) = (domain.clone(), term.to_owned());
        self.read("list the days of a search", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT searches, without_results, day * 86400000 FROM searches
                 WHERE domain = ?1 AND day >= ?2 AND day < ?3 AND term = ?4 ORDER BY day",
            )?;
            let days = select.query_map((domain.as_str(), days.first, days.end, &term), |row| {
                Ok((Timestamp::from_millis(row.get(2)?), read_counts(row)?))
            })?;
            Ok(days.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn forget(&self, before: i64, limit: u32) -> Result<u32, StoreError> {
        self.write("forget old searches", move |connection| {
            // By the primary key, one domain after another.
            let gone = connection
                .prepare_cached(
                    "WITH RECURSIVE domains (name) AS (
                         SELECT min(domain) FROM searches
                         UNION ALL
                         SELECT (SELECT min(domain) FROM searches WHERE domain > name) FROM domains WHERE name IS NOT NULL
                     )
                     DELETE FROM searches WHERE (domain, day, term) IN (
                         SELECT domain, day, term FROM domains CROSS JOIN searches ON domain = name
                         WHERE day < ?1 LIMIT ?2
                     )",
                )?
                .execute((before, limit))?;
            Ok::<_, Abort<StoreError>>(u32::try_from(gone).unwrap_or(u32::MAX))
        })
        .await
    }
}

/// The sum of all searches of a period, and of each term in it. Summed up here: SQLite would keep the terms in a tree on its side,
/// which takes three times as long for a month of them.
fn terms(connection: &Connection, query: &TermQuery) -> Result<(SearchCounts, Vec<SearchTerm>), BoxError> {
    let mut select = connection.prepare_cached(
        "SELECT searches, without_results, last_at, term FROM searches WHERE domain = ?1 AND day >= ?2 AND day < ?3",
    )?;
    let mut rows = select.query((query.domain.as_str(), query.days.first, query.days.end))?;
    let mut all = SearchCounts::default();
    let mut by_term: HashMap<String, (SearchCounts, i64)> = HashMap::new();
    while let Some(row) = rows.next()? {
        let (counts, last_at): (_, i64) = (read_counts(row)?, row.get(2)?);
        let term = row.get_ref(3)?.as_str()?;
        all.add(counts);
        match by_term.get_mut(term) {
            Some((sum, last)) => {
                sum.add(counts);
                *last = last_at.max(*last);
            }
            None => drop(by_term.insert(term.to_owned(), (counts, last_at))),
        }
    }
    let terms = by_term.into_iter().map(|(term, (counts, last_at))| SearchTerm {
        term,
        counts,
        last_at: Timestamp::from_millis(last_at),
    });
    Ok((all, terms.collect()))
}

/// Reads the counts from the first two columns.
fn read_counts(row: &Row<'_>) -> rusqlite::Result<SearchCounts> {
    Ok(SearchCounts { searches: row.get(0)?, without_results: row.get(1)? })
}

fn count(connection: &Connection, terms: &mut HashMap<(Domain, i64), u64>, search: Search) -> Result<(), BoxError> {
    let day = search.day();
    let Search { domain, term, at, has_results } = search;
    let without_results = u64::from(!has_results);
    let known = connection
        .prepare_cached(
            "UPDATE searches SET searches = searches + 1, without_results = without_results + ?4, last_at = max(last_at, ?5)
             WHERE domain = ?1 AND day = ?2 AND term = ?3",
        )?
        .execute((domain.as_str(), day, &term, without_results, at.millis()))?;
    if known > 0 {
        return Ok(());
    }
    let key = (domain, day);
    let terms = match terms.get_mut(&key) {
        Some(terms) => terms,
        None => {
            let counted = connection
                .prepare_cached("SELECT count(*) FROM searches WHERE domain = ?1 AND day = ?2")?
                .query_row((key.0.as_str(), day), |row| row.get(0))?;
            terms.entry(key.clone()).or_insert(counted)
        }
    };
    if *terms < MOST_TERMS_A_DAY {
        *terms += 1;
        connection.prepare_cached("INSERT INTO searches VALUES (?1, ?2, ?3, 1, ?4, ?5)")?.execute((
            key.0.as_str(),
            day,
            &term,
            without_results,
            at.millis(),
        ))?;
    }
    Ok(())
}
