//! What the assistant spends: one row per domain and day.

use async_trait::async_trait;
use docent_assistant::{Spend, Spends};
use docent_types::{Domain, StoreError};
use rusqlite::OptionalExtension;

use crate::error::Abort;
use crate::sqlite::SqliteStore;

#[async_trait]
impl Spends for SqliteStore {
    async fn spend(&self, domain: &Domain, day: i64, spend: Spend) -> Result<(), StoreError> {
        let domain = domain.clone();
        self.write_in_order("count what was spent", move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO spends (domain, day, tokens, cost_micros) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET tokens = tokens + ?3, cost_micros = cost_micros + ?4",
                )?
                .execute((domain.as_str(), day, spend.tokens, spend.cost_micros))?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn spent(&self, domain: &Domain, day: i64) -> Result<Spend, StoreError> {
        let domain = domain.clone();
        self.read("read what was spent", move |connection| {
            let spent = connection
                .prepare_cached("SELECT tokens, cost_micros FROM spends WHERE domain = ?1 AND day = ?2")?
                .query_row((domain.as_str(), day), |row| Ok(Spend { tokens: row.get(0)?, cost_micros: row.get(1)? }))
                .optional()?;
            Ok(spent.unwrap_or_default())
        })
        .await
    }
}
