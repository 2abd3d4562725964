//! Conversations with the assistant.
//!
//! A turn is visible to the next reader, also after the end of this process, without a wait for the disk: that wait
//! would be most of the time of a short answer. It reaches the disk a moment later, so a loss of power takes at most
//! the last second of a conversation. Feedback on an answer is on the disk when it is acknowledged.

use async_trait::async_trait;
use docent_assistant::{
    DayCount, Days, Export, ExportQuery, Feedback, NewThread, Summary, Thread, ThreadKey, Threads, Turn,
};
use docent_types::{BoxError, Domain, StoreError, ThreadId, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Abort;
use crate::sqlite::SqliteStore;

#[async_trait]
impl Threads for SqliteStore {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError> {
        self.write_in_order("begin the thread", move |connection| {
            let id = thread.id.to_string();
            let asked_times = thread.turns.iter().map(|turn| turn.asked_at);
            let touched_at = asked_times.fold(thread.created_at, Timestamp::max).millis();
            connection
                .prepare_cached(
                    "INSERT INTO threads (id, domain, fp, key, created_at, touched_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute((
                    &id,
                    thread.domain.as_str(),
                    &thread.fp,
                    thread.key.0,
                    thread.created_at.millis(),
                    touched_at,
                ))?;
            for (position, turn) in (0..).zip(&thread.turns) {
                put(connection, &id, thread.domain.as_str(), position, turn)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn thread(&self, domain: &Domain, id: ThreadId, turns: usize) -> Result<Option<Thread>, StoreError> {
        let domain = domain.clone();
        self.read("read the thread", move |connection| {
            // Both queries see the same state.
            let snapshot = connection.unchecked_transaction()?;
            let found = snapshot
                .prepare_cached("SELECT key, created_at FROM threads WHERE id = ?1 AND domain = ?2")?
                .query_row((id.to_string(), domain.as_str()), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((key, created_at)) = found else { return Ok(None) };
            let turns = last_turns(&snapshot, &id.to_string(), turns)?;
            Ok(Some(Thread { id, domain, key: ThreadKey(key), created_at: Timestamp::from_millis(created_at), turns }))
        })
        .await
    }

    async fn put_turn(&self, id: ThreadId, mut turn: Turn, instead_of: Option<String>) -> Result<(), StoreError> {
        self.write_in_order("keep the turn", move |connection| {
            let id = id.to_string();
            let Some(domain) = touch(connection, &id, turn.asked_at)? else { return Ok(()) };
            if let Some(from) =
                instead_of.map(|replaced_answer| position_of(connection, &id, &replaced_answer)).transpose()?.flatten()
            {
                connection
                    .prepare_cached("DELETE FROM turns WHERE thread = ?1 AND place >= ?2")?
                    .execute((&id, from))?;
            }
            let position = match position_of(connection, &id, &turn.answer_id)? {
                Some(position) => {
                    turn.feedback = turn_at(connection, &id, position)?.feedback;
                    position
                }
                None => connection
                    .prepare_cached("SELECT coalesce(max(place) + 1, 0) FROM turns WHERE thread = ?1")?
                    .query_row([&id], |row| row.get(0))?,
            };
            put(connection, &id, &domain, position, &turn)
        })
        .await
    }

    async fn rate(
        &self,
        domain: &Domain,
        id: ThreadId,
        answer_id: &str,
        feedback: Feedback,
    ) -> Result<bool, StoreError> {
        let (domain, answer_id) = (domain.clone(), answer_id.to_owned());
        self.write("keep the feedback", move |connection| {
            let id = id.to_string();
            let cached = connection
                .prepare_cached("SELECT 1 FROM threads WHERE id = ?1 AND domain = ?2")?
                .exists((&id, domain.as_str()))?;
            let Some(position) = position_of(connection, &id, &answer_id)?.filter(|_| cached) else { return Ok(false) };
            touch(connection, &id, feedback.at)?;
            let turn = Turn { feedback: Some(feedback), ..turn_at(connection, &id, position)? };
            put(connection, &id, domain.as_str(), position, &turn)?;
            Ok::<_, Abort<StoreError>>(true)
        })
        .await
    }

    async fn export(&self, query: ExportQuery) -> Result<Export, StoreError> {
        self.list_questions(query).await
    }

    async fn counts(&self, domain: &Domain, days: Days) -> Result<Vec<DayCount>, StoreError> {
        self.count_questions(domain, days).await
    }

    async fn summary(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        self.sum_up(domain, days).await
    }

    async fn forget(&self, untouched_since: Timestamp, limit: u32) -> Result<u32, StoreError> {
        self.write("forget old threads", move |connection| {
            // By the index of threads on domain and start, one domain after another: no thread was touched before it
            // began.
            let old: Vec<String> = connection
                .prepare_cached(
                    "WITH RECURSIVE domains (name) AS (
                         SELECT min(domain) FROM threads
                         UNION ALL
                         SELECT (SELECT min(domain) FROM threads WHERE domain > name) FROM domains WHERE name IS NOT NULL
                     )
                     SELECT threads.id FROM domains CROSS JOIN threads ON threads.domain = domains.name
                     WHERE threads.created_at < ?1 AND threads.touched_at < ?1
                     LIMIT ?2",
                )?
                .query_map((untouched_since.millis(), limit), |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for id in &old {
                connection.prepare_cached("DELETE FROM turns WHERE thread = ?1")?.execute([id])?;
                connection.prepare_cached("DELETE FROM threads WHERE id = ?1")?.execute([id])?;
            }
            Ok::<_, Abort<StoreError>>(u32::try_from(old.len()).unwrap_or(u32::MAX))
        })
        .await
    }
}

/// Updates the time of a thread's last activity. Returns its domain; `None` when it is gone.
fn touch(connection: &Connection, thread: &str, at: Timestamp) -> rusqlite::Result<Option<String>> {
    let cached: Option<(i64, String)> = connection
        .prepare_cached("SELECT touched_at, domain FROM threads WHERE id = ?1")?
        .query_row([thread], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    // Usually the same turn has touched it already; writing the same value would rewrite two pages.
    if cached.as_ref().is_some_and(|(cached, _)| *cached < at.millis()) {
        connection
            .prepare_cached("UPDATE threads SET touched_at = ?2 WHERE id = ?1")?
            .execute((thread, at.millis()))?;
    }
    Ok(cached.map(|(_, domain)| domain))
}

/// The last turns of a thread, in order.
fn last_turns(connection: &Connection, thread: &str, limit: usize) -> Result<Vec<Turn>, BoxError> {
    let mut select =
        connection.prepare_cached("SELECT body FROM turns WHERE thread = ?1 ORDER BY place DESC LIMIT ?2")?;
    let mut rows = select.query((thread, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        turns.push(serde_json::from_str(row.get_ref(0)?.as_str()?)?);
    }
    turns.reverse();
    Ok(turns)
}

fn turn_at(connection: &Connection, thread: &str, position: i64) -> Result<Turn, BoxError> {
    let body: String = connection
        .prepare_cached("SELECT body FROM turns WHERE thread = ?1 AND place = ?2")?
        .query_row((thread, position), |row| row.get(0))?;
    Ok(serde_json::from_str(&body)?)
}

fn position_of(connection: &Connection, thread: &str, answer: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT place FROM turns WHERE thread = ?1 AND answer_id = ?2 ORDER BY place LIMIT 1")?
        .query_row((thread, answer), |row| row.get(0))
        .optional()
}

fn put(
    connection: &Connection,
    thread: &str,
    domain: &str,
    position: i64,
    turn: &Turn,
) -> Result<(), Abort<StoreError>> {
    connection
        .prepare_cached(
            "INSERT INTO turns (thread, place, answer_id, answered, asked_at, body, domain)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (thread, place) DO UPDATE
             SET answer_id = ?3, answered = ?4, asked_at = ?5, body = ?6",
        )?
        .execute((
            thread,
            position,
            &turn.answer_id,
            turn.answered,
            turn.listed_at().millis(),
            serde_json::to_string(turn)?,
            domain,
        ))?;
    Ok(())
}
