//! What readers asked, listed and counted.
//!
//! Questions are examined by columns that tell whether they are listed and how they are counted. The text is read only
//! of those that may be listed. The questions of a day are counted when somebody asks: a row of counts would make all
//! questions of a site wait for each other.

use std::collections::HashMap;

use docent_assistant::{
    AskedTurn, DayCount, Days, Export, ExportQuery, NEWEST, PageBuilder, QuestionCounts, QuestionFacts, Rating,
    Summary, Tally, Timing,
};
use docent_types::{BoxError, Domain, StoreError, ThreadId, Timestamp};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::params::params;
use crate::postgres::PostgresStore;
use crate::transaction::Transaction;

/// Questions that are read at once.
const BATCH: i64 = 500;

/// `$1` is the domain; `$2` and `$3` are the beginning and the end of the period.
const QUESTIONS: &str =
    "SELECT thread, place, asked_at, answer_id, answered, rating, language, page, sources, search_ms,
                                first_word_ms, end_ms
                         FROM thread_turns
                         WHERE domain = $1 AND asked_at > 0 AND asked_at >= $2 AND asked_at < $3";

impl PostgresStore {
    pub(crate) async fn list_questions(&self, query: ExportQuery) -> Result<Export, StoreError> {
        self.read("list what was asked", move |transaction| async move {
            let select = format!(
                "{QUESTIONS} AND (asked_at, answer_id) < ($4, $5) ORDER BY asked_at DESC, answer_id DESC LIMIT $6"
            );
            // Without a cursor, one that sorts before everything.
            let mut after = query
                .after
                .as_ref()
                .map_or((i64::MAX, String::new()), |after| (after.asked_at.millis(), after.answer_id.clone()));
            let from = query.from.map_or(i64::MIN, Timestamp::millis);
            let to = query.to.map_or(i64::MAX, Timestamp::millis);
            let mut page = PageBuilder::new(&query);
            loop {
                let rows = transaction
                    .query(&select, params![query.domain.as_str(), from, to, after.0, after.1, BATCH])
                    .await?;
                let Some(last) = rows.last() else { return Ok(page.page()) };
                after = (last.try_get(2)?, last.try_get(3)?);
                let mut texts = texts(&transaction, &query, &rows).await?;
                for row in &rows {
                    let text = texts.remove(&place(row)?);
                    if !page.examine(&facts(row)?, || text.ok_or_else(|| BoxError::from("a question has no text")))? {
                        return Ok(page.page());
                    }
                }
            }
        })
        .await
    }

    pub(crate) async fn count_questions(&self, domain: &Domain, days: Days) -> Result<Vec<DayCount>, StoreError> {
        let domain = domain.clone();
        self.read("count what was asked", move |transaction| async move { counts(&transaction, &domain, days).await })
            .await
    }

    pub(crate) async fn sum_up(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        let domain = domain.clone();
        self.read("sum up what was asked", move |transaction| async move {
            let (from, to) = days.bounds();
            let (from, to) = (from.millis(), to.millis());
            let by_day = counts(&transaction, &domain, days).await?;
            let select = format!("{QUESTIONS} ORDER BY asked_at DESC, answer_id DESC LIMIT $4");
            let mut newest = Tally::default();
            for row in transaction.query(&select, params![domain.as_str(), from, to, i64::from(NEWEST)]).await? {
                newest.add(&facts(&row)?);
            }
            Ok(Summary::new(by_day, newest.total()))
        })
        .await
    }
}

async fn counts(transaction: &Transaction, domain: &Domain, days: Days) -> Result<Vec<DayCount>, BoxError> {
    let (from, to) = days.bounds();
    let select = "SELECT asked_at / 86400000 AS day, count(*), count(*) FILTER (WHERE answered),
                         count(*) FILTER (WHERE rating = 'up'), count(*) FILTER (WHERE rating = 'down')
                  FROM thread_turns
                  WHERE domain = $1 AND asked_at > 0 AND asked_at >= $2 AND asked_at < $3
                  GROUP BY day ORDER BY day";
    let mut by_day = Vec::new();
    for row in transaction.query(select, params![domain.as_str(), from.millis(), to.millis()]).await? {
        let count = |column: usize| row.try_get::<_, i64>(column).map(i64::unsigned_abs);
        let (questions, answered, up, down) = (count(1)?, count(2)?, count(3)?, count(4)?);
        by_day.push(DayCount::new(row.try_get(0)?, QuestionCounts { questions, answered, up, down }));
    }
    Ok(by_day)
}

fn place(row: &Row) -> Result<(Uuid, i64), BoxError> {
    Ok((row.try_get(0)?, row.try_get(1)?))
}

fn facts(row: &Row) -> Result<QuestionFacts<'_>, BoxError> {
    let rating = match row.try_get(5)? {
        Some("up") => Some(Rating::Up),
        Some("down") => Some(Rating::Down),
        _ => None,
    };
    let millis =
        |column: usize| Ok::<_, BoxError>(row.try_get::<_, Option<i64>>(column)?.map(u32::try_from).transpose()?);
    let timing = match (millis(9)?, millis(10)?, millis(11)?) {
        (Some(search_ms), Some(first_word_ms), Some(end_ms)) => Some(Timing { search_ms, first_word_ms, end_ms }),
        _ => None,
    };
    Ok(QuestionFacts {
        asked_at: Timestamp::from_millis(row.try_get(2)?),
        answer_id: row.try_get(3)?,
        answered: row.try_get(4)?,
        rating,
        language: row.try_get(6)?,
        page: row.try_get(7)?,
        timing,
        sources: row.try_get::<_, &str>(8)?.into(),
    })
}

/// The questions of these rows that may be listed, each with its size in bytes as stored.
async fn texts(
    transaction: &Transaction,
    query: &ExportQuery,
    rows: &[Row],
) -> Result<HashMap<(Uuid, i64), (AskedTurn, u64)>, BoxError> {
    let (mut threads, mut places) = (Vec::new(), Vec::new());
    for row in rows {
        if query.which.admits(&facts(row)?) {
            let (thread, place) = place(row)?;
            threads.push(thread);
            places.push(place);
        }
    }
    let select = "SELECT thread, place, threads.fp, thread_turns.body
                  FROM unnest($1, $2) AS wanted (thread, place)
                  JOIN thread_turns USING (thread, place) JOIN threads ON threads.id = thread";
    let mut texts = HashMap::new();
    for row in transaction.query(select, params![threads, places]).await? {
        let (place, body) = (place(&row)?, row.try_get::<_, &str>(3)?);
        let turn = AskedTurn { thread: ThreadId::new(place.0), fp: row.try_get(2)?, turn: serde_json::from_str(body)? };
        texts.insert(place, (turn, body.len() as u64));
    }
    Ok(texts)
}
