//! What readers asked, listed and counted.
//!
//! The index of questions covers everything that decides whether a question is listed and how it is counted. The text
//! is read only for questions that are listed. Triggers keep the counts of each day.

use docent_assistant::{
    AskedTurn, DayCount, Days, Export, ExportQuery, NEWEST, PageBuilder, QuestionCounts, QuestionFacts, Rating,
    Summary, Tally, Timing,
};
use docent_types::{BoxError, Domain, StoreError, ThreadId, Timestamp};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::sqlite::SqliteStore;

/// All columns are in the index, so no row is read.
macro_rules! indexed_questions {
    ($end:literal) => {
        concat!(
            "SELECT asked_at, answer_id, answered, rating, language, page, sources, search_ms, first_word_ms, end_ms, rowid
             FROM turns INDEXED BY turns_asked
             WHERE domain = ?1 AND asked_at > 0 AND asked_at >= ?2 AND asked_at < ?3 ",
            $end
        )
    };
}

impl SqliteStore {
    pub(crate) async fn list_questions(&self, query: ExportQuery) -> Result<Export, StoreError> {
        self.read("list what was asked", move |connection| {
            let snapshot = connection.unchecked_transaction()?;
            // Without a cursor, one that sorts before everything.
            let (asked_at, answer_id) = query
                .after
                .as_ref()
                .map_or((i64::MAX, ""), |after| (after.asked_at.millis(), after.answer_id.as_str()));
            let from = query.from.map_or(i64::MIN, Timestamp::millis);
            let to = query.to.map_or(i64::MAX, Timestamp::millis);
            let mut select = snapshot.prepare_cached(indexed_questions!(
                "AND (asked_at, answer_id) < (?4, ?5) ORDER BY asked_at DESC, answer_id DESC"
            ))?;
            let mut rows = select.query((query.domain.as_str(), from, to, asked_at, answer_id))?;
            let mut page = PageBuilder::new(&query);
            while let Some(row) = rows.next()? {
                if !page.examine(&facts(row)?, || question(&snapshot, row.get(10)?))? {
                    break;
                }
            }
            Ok(page.page())
        })
        .await
    }

    pub(crate) async fn count_questions(&self, domain: &Domain, days: Days) -> Result<Vec<DayCount>, StoreError> {
        let domain = domain.clone();
        self.read("count what was asked", move |connection| counts(connection, &domain, days)).await
    }

    pub(crate) async fn sum_up(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        let domain = domain.clone();
        self.read("sum up what was asked", move |connection| {
            let snapshot = connection.unchecked_transaction()?;
            let by_day = counts(&snapshot, &domain, days)?;
            let (from, to) = days.bounds();
            let mut newest = Tally::default();
            let mut select =
                snapshot.prepare_cached(indexed_questions!("ORDER BY asked_at DESC, answer_id DESC LIMIT ?4"))?;
            let mut rows = select.query((domain.as_str(), from.millis(), to.millis(), NEWEST))?;
            while let Some(row) = rows.next()? {
                newest.add(&facts(row)?);
            }
            Ok(Summary::new(by_day, newest.total()))
        })
        .await
    }
}

fn counts(connection: &Connection, domain: &Domain, days: Days) -> Result<Vec<DayCount>, BoxError> {
    let mut select = connection.prepare_cached(
        "SELECT day, questions, answered, up, down FROM question_days
         WHERE domain = ?1 AND day >= ?2 AND day < ?3 ORDER BY day",
    )?;
    let mut rows = select.query((domain.as_str(), days.first, days.end))?;
    let mut by_day = Vec::new();
    while let Some(row) = rows.next()? {
        let (questions, answered, up, down) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        by_day.push(DayCount::new(row.get(0)?, QuestionCounts { questions, answered, up, down }));
    }
    Ok(by_day)
}

fn facts<'r>(row: &'r Row<'_>) -> Result<QuestionFacts<'r>, BoxError> {
    let text = |column| Ok::<_, BoxError>(row.get_ref(column)?.as_str_or_null()?);
    let rating = text(3)?.and_then(|rating| match rating {
        "up" => Some(Rating::Up),
        "down" => Some(Rating::Down),
        _ => None,
    });
    let timing = match row.get_ref(7)? {
        ValueRef::Null => None,
        _ => Some(Timing { search_ms: row.get(7)?, first_word_ms: row.get(8)?, end_ms: row.get(9)? }),
    };
    Ok(QuestionFacts {
        asked_at: Timestamp::from_millis(row.get(0)?),
        answer_id: row.get_ref(1)?.as_str()?,
        answered: row.get(2)?,
        rating,
        language: text(4)?,
        page: text(5)?,
        timing,
        sources: text(6)?.unwrap_or_default().into(),
    })
}

/// A question, and its size in bytes as stored.
fn question(connection: &Connection, rowid: i64) -> Result<(AskedTurn, u64), BoxError> {
    let mut select = connection.prepare_cached(
        "SELECT turns.thread, threads.fp, turns.body FROM turns JOIN threads ON threads.id = turns.thread
         WHERE turns.rowid = ?1",
    )?;
    let mut rows = select.query([rowid])?;
    let row = rows.next()?.ok_or("a question of the index is not in its table")?;
    let thread: String = row.get(0)?;
    let body = row.get_ref(2)?.as_str()?;
    let turn = AskedTurn {
        thread: ThreadId::parse(&thread).ok_or_else(|| format!("`{thread}` is no id of a thread"))?,
        fp: row.get(1)?,
        turn: serde_json::from_str(body)?,
    };
    Ok((turn, body.len() as u64))
}
