//! Conversations with the assistant.

use async_trait::async_trait;
use docent_assistant::{NewThread, Thread, ThreadKey, Threads, Turn};
use docent_types::{Domain, StoreError, ThreadId};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Abort;
use crate::sqlite::SqliteStore;

#[async_trait]
impl Threads for SqliteStore {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError> {
        self.write("begin the thread", move |connection| {
            let id = thread.id.to_string();
            connection
                .prepare_cached("INSERT INTO threads (id, domain, fp, key, created_at) VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute((&id, thread.domain.as_str(), &thread.fp, thread.key.0, thread.created_at.millis()))?;
            for (place, turn) in (0..).zip(&thread.turns) {
                put(connection, &id, place, turn)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn thread(&self, domain: &Domain, id: ThreadId) -> Result<Option<Thread>, StoreError> {
        let domain = domain.clone();
        self.read("read the thread", move |connection| {
            // Both looks see the same state.
            let snapshot = connection.unchecked_transaction()?;
            let key = snapshot
                .prepare_cached("SELECT key FROM threads WHERE id = ?1 AND domain = ?2")?
                .query_row((id.to_string(), domain.as_str()), |row| row.get(0))
                .optional()?;
            let Some(key) = key.map(ThreadKey) else { return Ok(None) };
            let mut select = snapshot.prepare_cached("SELECT body FROM turns WHERE thread = ?1 ORDER BY place")?;
            let mut rows = select.query([id.to_string()])?;
            let mut turns = Vec::new();
            while let Some(row) = rows.next()? {
                turns.push(serde_json::from_str(row.get_ref(0)?.as_str()?)?);
            }
            Ok(Some(Thread { id, domain, key, turns }))
        })
        .await
    }

    async fn put_turn(&self, id: ThreadId, turn: Turn, instead_of: Option<String>) -> Result<(), StoreError> {
        self.write("keep the turn", move |connection| {
            let id = id.to_string();
            let known = connection.prepare_cached("SELECT 1 FROM threads WHERE id = ?1")?.exists([&id])?;
            if !known {
                return Ok(());
            }
            if let Some(from) = instead_of.map(|gone| place_of(connection, &id, &gone)).transpose()?.flatten() {
                connection
                    .prepare_cached("DELETE FROM turns WHERE thread = ?1 AND place >= ?2")?
                    .execute((&id, from))?;
            }
            let place = match place_of(connection, &id, &turn.answer_id)? {
                Some(place) => place,
                None => connection
                    .prepare_cached("SELECT coalesce(max(place) + 1, 0) FROM turns WHERE thread = ?1")?
                    .query_row([&id], |row| row.get(0))?,
            };
            put(connection, &id, place, &turn)
        })
        .await
    }
}

fn place_of(connection: &Connection, thread: &str, answer: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT place FROM turns WHERE thread = ?1 AND answer_id = ?2 ORDER BY place LIMIT 1")?
        .query_row((thread, answer), |row| row.get(0))
        .optional()
}

fn put(connection: &Connection, thread: &str, place: i64, turn: &Turn) -> Result<(), Abort<StoreError>> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO turns (thread, place, answer_id, answered, asked_at, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            thread,
            place,
            &turn.answer_id,
            turn.answered,
            turn.asked_at.millis(),
            serde_json::to_string(turn)?,
        ))?;
    Ok(())
}
