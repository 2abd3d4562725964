//! The port to the outbox: one row per hook and event.
//!
//! A row is there from the commit of the change that ended its job until it is delivered or given up. The queue is read
//! whole, not from where the last read ended, so an event whose change commits late is found all the same.

use async_trait::async_trait;
use docent_jobs::{DeliveryAttempt, HookState, Outbox, OutboxEvent, QueuedEvent};
use docent_types::{BoxError, StoreError, Timestamp};

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;
use crate::transaction::Transaction;

const ADD: &str = "INSERT INTO outbox (hook, id, due, failed, body)
                   SELECT n, event.id, event.due, 0, event.body FROM hooks, unnest($1, $2, $3) AS event (id, due, body)";
const REMOVE_HOOKS: &str = "DELETE FROM hooks WHERE url <> ALL ($1)";
/// Also events of a change that began before the hook was removed.
const REMOVE_EVENTS: &str = "DELETE FROM outbox WHERE hook NOT IN (SELECT n FROM hooks)";
const ADD_HOOKS: &str = "INSERT INTO hooks (url) SELECT unnest($1) ON CONFLICT (url) DO NOTHING";
const QUEUED: &str = "SELECT outbox.body, outbox.failed, outbox.due FROM outbox JOIN hooks ON hooks.n = outbox.hook
                      WHERE hooks.url = $1 ORDER BY outbox.due, outbox.id LIMIT $2";
const SET_LAST: &str = "UPDATE hooks SET last = $2 WHERE url = $1";
const REMOVE: &str = "DELETE FROM outbox WHERE id = $2 AND hook = (SELECT n FROM hooks WHERE url = $1)";
const POSTPONE: &str = "UPDATE outbox SET failed = failed + 1, due = $3
                        WHERE id = $2 AND hook = (SELECT n FROM hooks WHERE url = $1)";
/// A node that has the hook already keeps it.
const HOLD: &str = "UPDATE hooks SET holder = $2, held_until = $4
                    WHERE url = $1 AND (holder IS NULL OR holder = $2 OR held_until <= $3)";
const STATES: &str = "SELECT url, (SELECT count(*) FROM outbox WHERE hook = n), last FROM hooks ORDER BY url";

/// Adds the events of changes that ended their jobs to the queue of each hook.
pub(crate) async fn add(transaction: &Transaction, events: &[OutboxEvent]) -> Result<(), BoxError> {
    if events.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = events.iter().map(OutboxEvent::id).collect();
    let moments: Vec<i64> = events.iter().map(|event| event.at.millis()).collect();
    let bodies = events.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    transaction.execute(ADD, params![ids, moments, bodies]).await.map(drop)
}

#[async_trait]
impl Outbox for PostgresStore {
    async fn set_hooks(&self, hooks: Vec<String>) -> Result<(), StoreError> {
        self.write("set the hooks", |transaction| async move {
            transaction.execute(REMOVE_HOOKS, params![hooks]).await?;
            transaction.execute(REMOVE_EVENTS, &[]).await?;
            transaction.execute(ADD_HOOKS, params![hooks]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn queued(&self, hook: &str, limit: u32) -> Result<Vec<QueuedEvent>, StoreError> {
        let hook = hook.to_owned();
        self.read("read the outbox", move |transaction| async move {
            let records = transaction.query(QUEUED, params![hook, i64::from(limit)]).await?;
            let queued = |record: &tokio_postgres::Row| -> Result<QueuedEvent, BoxError> {
                let event = serde_json::from_str(record.get(0))?;
                let failed = u32::try_from(record.get::<_, i32>(1))?;
                Ok(QueuedEvent { event, failed, due: Timestamp::from_millis(record.get(2)) })
            };
            records.iter().map(queued).collect()
        })
        .await
    }

    async fn take_deliveries(&self, hook: &str, now: Timestamp, until: Timestamp) -> Result<bool, StoreError> {
        let (hook, node) = (hook.to_owned(), self.shared().node);
        self.write_in_order("take the deliveries to a webhook", move |transaction| async move {
            Ok::<_, Abort<StoreError>>(
                transaction.execute(HOLD, params![hook, node, now.millis(), until.millis()]).await? > 0,
            )
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
        self.write_in_order("record the delivery", move |transaction| async move {
            transaction.execute(SET_LAST, params![hook, serde_json::to_string(&attempt)?]).await?;
            match again {
                None => transaction.execute(REMOVE, params![hook, event]).await?,
                Some(again) => transaction.execute(POSTPONE, params![hook, event, again.millis()]).await?,
            };
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn hook_states(&self) -> Result<Vec<HookState>, StoreError> {
        self.read("read how the deliveries stand", |transaction| async move {
            let records = transaction.query(STATES, &[]).await?;
            let state = |record: &tokio_postgres::Row| -> Result<HookState, BoxError> {
                let last = record.get::<_, Option<&str>>(2).map(serde_json::from_str).transpose()?;
                Ok(HookState { hook: record.get(0), queued: record.get::<_, i64>(1).unsigned_abs(), last })
            };
            records.iter().map(state).collect()
        })
        .await
    }
}
