//! What readers searched for: one row per term and day.

use std::collections::HashMap;

use async_trait::async_trait;
use docent_assistant::{Days, MOST_TERMS_A_DAY, Search, SearchCounts, SearchTerm, SearchTerms, Searches, TermQuery};
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
            let snapshot = connection.unchecked_transaction()?;
            let (domain, Days { first, end }) = (query.domain.as_str(), query.days);
            let counts = snapshot
                .prepare_cached(
                    "SELECT coalesce(sum(searches), 0), coalesce(sum(without_results), 0) FROM searches
                     WHERE domain = ?1 AND day >= ?2 AND day < ?3",
                )?
                .query_row((domain, first, end), read_counts)?;
            let key = if query.without_results { "without_results" } else { "searches" };
            let mut select = snapshot.prepare_cached(&format!(
                "SELECT sum(searches), sum(without_results), term, max(last_at), sum({key}) AS key FROM searches
                 WHERE domain = ?1 AND day >= ?2 AND day < ?3
                 GROUP BY term HAVING key > 0 AND (key < ?4 OR (key = ?4 AND term > ?5))
                 ORDER BY key DESC, term LIMIT ?6"
            ))?;
            // Without a cursor, one that sorts before everything.
            let after = query
                .after
                .as_ref()
                .map_or((i64::MAX, ""), |after| (i64::try_from(after.count).unwrap_or(i64::MAX), after.term.as_str()));
            let limit = i64::from(query.limit) + 1;
            let terms = select.query_map((domain, first, end, after.0, after.1, limit), |row| {
                let last_at = Timestamp::from_millis(row.get(3)?);
                Ok(SearchTerm { term: row.get(2)?, counts: read_counts(row)?, last_at })
            })?;
            let terms = terms.collect::<Result<_, _>>()?;
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
