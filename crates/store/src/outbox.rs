//! The port to the outbox: one row per hook and event.

use async_trait::async_trait;
use docent_jobs::{DeliveryAttempt, HookState, Outbox, OutboxEvent, QueuedEvent, Row};
use docent_types::{BoxError, StoreError, Timestamp};
use rusqlite::Connection;

use crate::error::Abort;
use crate::sqlite::SqliteStore;

/// Adds the event of a change that ended its job to the queue of each hook.
pub(crate) fn add(connection: &Connection, before: &Row, next: &Row, at: Timestamp) -> Result<(), BoxError> {
    let Some(event) = OutboxEvent::of(before, next, at) else { return Ok(()) };
    if connection.prepare_cached("SELECT 1 FROM hooks")?.exists([])? {
        connection
            .prepare_cached("INSERT INTO outbox (hook, id, due, failed, body) SELECT n, ?1, ?2, 0, ?3 FROM hooks")?
            .execute((event.id(), at.millis(), serde_json::to_string(&event)?))?;
    }
    Ok(())
}

#[async_trait]
impl Outbox for SqliteStore {
    async fn set_hooks(&self, hooks: Vec<String>) -> Result<(), StoreError> {
        self.write("set the hooks", move |connection| {
            let named = serde_json::to_string(&hooks)?;
            connection.execute("DELETE FROM hooks WHERE url NOT IN (SELECT value FROM json_each(?1))", [&named])?;
            connection.execute("INSERT OR IGNORE INTO hooks (url) SELECT value FROM json_each(?1)", [&named])?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn queued(&self, hook: &str, limit: u32) -> Result<Vec<QueuedEvent>, StoreError> {
        let hook = hook.to_owned();
        self.read("read the outbox", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT body, failed, due FROM outbox WHERE hook = (SELECT n FROM hooks WHERE url = ?1)
                 ORDER BY due, id LIMIT ?2",
            )?;
            let mut rows = select.query((hook, limit))?;
            let mut queued = Vec::new();
            while let Some(row) = rows.next()? {
                let event = serde_json::from_str(row.get_ref(0)?.as_str()?)?;
                queued.push(QueuedEvent { event, failed: row.get(1)?, due: Timestamp::from_millis(row.get(2)?) });
            }
            Ok(queued)
        })
        .await
    }

    async fn attempted(
        &self,
        hook: &str,
        event: String,
        attempt: DeliveryAttempt,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let hook = hook.to_owned();
        self.write_in_order("record the delivery", move |connection| {
            const QUEUED: &str = "hook = (SELECT n FROM hooks WHERE url = ?1) AND id = ?2";
            connection
                .prepare_cached("UPDATE hooks SET last = ?2 WHERE url = ?1")?
                .execute((&hook, serde_json::to_string(&attempt)?))?;
            match again {
                None => {
                    connection.prepare_cached(&format!("DELETE FROM outbox WHERE {QUEUED}"))?.execute((&hook, event))?
                }
                Some(again) => connection
                    .prepare_cached(&format!("UPDATE outbox SET failed = failed + 1, due = ?3 WHERE {QUEUED}"))?
                    .execute((&hook, event, again.millis()))?,
            };
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn hook_states(&self) -> Result<Vec<HookState>, StoreError> {
        self.read("read how the deliveries stand", |connection| {
            let mut select = connection.prepare_cached(
                "SELECT url, (SELECT count(*) FROM outbox WHERE hook = n), last FROM hooks ORDER BY url",
            )?;
            let mut rows = select.query([])?;
            let mut states = Vec::new();
            while let Some(row) = rows.next()? {
                let last: Option<String> = row.get(2)?;
                let last = last.map(|last| serde_json::from_str(&last)).transpose()?;
                states.push(HookState { hook: row.get(0)?, queued: row.get(1)?, last });
            }
            Ok(states)
        })
        .await
    }
}
