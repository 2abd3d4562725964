//! What readers searched for: one row per term and day.

use std::collections::BTreeMap;

use async_trait::async_trait;
use docent_assistant::{Days, MOST_TERMS_A_DAY, Search, SearchCounts, SearchTerm, SearchTerms, Searches, TermQuery};
use docent_types::{BoxError, Domain, StoreError, Timestamp};
use tokio_postgres::Row;

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;
use crate::text::storable;

#[async_trait]
impl Searches for PostgresStore {
    async fn count(&self, searches: Vec<Search>) -> Result<(), StoreError> {
        self.write_in_order("count the searches", move |transaction| async move {
            let counts = Counts::of(searches);
            // One node after another, each with all that it has: the limit of terms counts those of all nodes.
            transaction.lock("searches", "").await?;
            let add = "
                WITH given AS (
                    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
                    WITH ORDINALITY AS given (domain, day, term, searches, without_results, last_at, n)
                ), days AS (
                    SELECT domain, day, (
                        SELECT count(*) FROM searches WHERE searches.domain = given.domain AND searches.day = given.day
                    ) AS terms FROM given GROUP BY domain, day
                ), judged AS (
                    SELECT given.*, known.term IS NOT NULL AS is_known, days.terms + count(*) FILTER (
                        WHERE known.term IS NULL
                    ) OVER (PARTITION BY given.domain, given.day ORDER BY given.n) AS terms
                    FROM given JOIN days USING (domain, day) LEFT JOIN searches AS known USING (domain, day, term)
                )
                INSERT INTO searches (domain, day, term, searches, without_results, last_at)
                SELECT domain, day, term, searches, without_results, last_at FROM judged
                WHERE is_known OR terms <= $7
                ON CONFLICT (domain, day, term) DO UPDATE SET
                    searches = searches.searches + excluded.searches,
                    without_results = searches.without_results + excluded.without_results,
                    last_at = greatest(searches.last_at, excluded.last_at)";
            let most = i64::try_from(MOST_TERMS_A_DAY).unwrap_or(i64::MAX);
            let Counts { domains, days, terms, searches, without_results, last_at } = counts;
            transaction.execute(add, params![domains, days, terms, searches, without_results, last_at, most]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn terms(&self, query: TermQuery) -> Result<SearchTerms, StoreError> {
        self.read("list what was searched for", move |transaction| async move {
            let (domain, Days { first, end }) = (query.domain.as_str(), query.days);
            let sums = "SELECT coalesce(sum(searches), 0)::bigint, coalesce(sum(without_results), 0)::bigint
                        FROM searches WHERE domain = $1 AND day >= $2 AND day < $3";
            let counts = transaction.query_opt(sums, params![domain, first, end]).await?;
            let counts = counts.as_ref().map(read_counts).transpose()?.unwrap_or_default();
            let key = if query.without_results { "without_results" } else { "searches" };
            let select = format!(
                "SELECT * FROM (
                     SELECT sum(searches)::bigint, sum(without_results)::bigint, term, max(last_at),
                            sum({key})::bigint AS key
                     FROM searches WHERE domain = $1 AND day >= $2 AND day < $3 GROUP BY term
                 ) AS terms
                 WHERE key > 0 AND (key < $4 OR (key = $4 AND term > $5)) ORDER BY key DESC, term LIMIT $6"
            );
            // Without a cursor, one that sorts before everything.
            let after = query.after.as_ref();
            let after = after.map_or((i64::MAX, String::new()), |after| {
                (i64::try_from(after.count).unwrap_or(i64::MAX), storable(&after.term))
            });
            let limit = i64::from(query.limit) + 1;
            let rows = transaction.query(&select, params![domain, first, end, after.0, after.1, limit]).await?;
            let term = |row: &Row| {
                let last_at = Timestamp::from_millis(row.try_get(3)?);
                Ok::<_, BoxError>(SearchTerm { term: row.try_get(2)?, counts: read_counts(row)?, last_at })
            };
            let terms = rows.iter().map(term).collect::<Result<_, _>>()?;
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
        let (domain, term) = (domain.clone(), storable(term));
        self.read("list the days of a search", move |transaction| async move {
            let select = "SELECT searches, without_results, day * 86400000 FROM searches
                          WHERE domain = $1 AND day >= $2 AND day < $3 AND term = $4 ORDER BY day";
            let rows = transaction.query(select, params![domain.as_str(), days.first, days.end, term]).await?;
            let day = |row: &Row| Ok((Timestamp::from_millis(row.try_get(2)?), read_counts(row)?));
            rows.iter().map(day).collect()
        })
        .await
    }

    async fn forget(&self, before: i64, limit: u32) -> Result<u32, StoreError> {
        self.write("forget old searches", move |transaction| async move {
            let delete = "DELETE FROM searches WHERE (domain, day, term) IN (
                              SELECT domain, day, term FROM searches WHERE day < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
                          )";
            let gone = transaction.execute(delete, params![before, i64::from(limit)]).await?;
            Ok::<_, Abort<StoreError>>(u32::try_from(gone).unwrap_or(u32::MAX))
        })
        .await
    }
}

/// Searches, counted by domain, day and term: a list for each column.
#[derive(Default)]
struct Counts {
    domains: Vec<String>,
    days: Vec<i64>,
    terms: Vec<String>,
    searches: Vec<i64>,
    without_results: Vec<i64>,
    last_at: Vec<i64>,
}

impl Counts {
    /// In the order in which the terms came first.
    fn of(given: Vec<Search>) -> Self {
        let mut counts = Self::default();
        let mut places: BTreeMap<(String, i64, String), usize> = BTreeMap::new();
        for search in given {
            let key = (search.domain.to_string(), search.day(), storable(&search.term));
            let place = *places.entry(key).or_insert_with_key(|(domain, day, term)| {
                counts.domains.push(domain.clone());
                counts.days.push(*day);
                counts.terms.push(term.clone());
                counts.searches.push(0);
                counts.without_results.push(0);
                counts.last_at.push(i64::MIN);
                counts.days.len() - 1
            });
            counts.searches[place] += 1;
            counts.without_results[place] += i64::from(!search.has_results);
            counts.last_at[place] = counts.last_at[place].max(search.at.millis());
        }
        counts
    }
}

/// Reads the counts from the first two columns.
fn read_counts(row: &Row) -> Result<SearchCounts, BoxError> {
    let count = |column| Ok::<_, BoxError>(u64::try_from(row.try_get::<_, i64>(column)?)?);
    Ok(SearchCounts { searches: count(0)?, without_results: count(1)? })
}
