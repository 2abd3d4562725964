//! What the assistant spends: one row per domain and day.

use async_trait::async_trait;
use docent_assistant::{Spend, Spends};
use docent_types::{Domain, StoreError};

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;

#[async_trait]
impl Spends for PostgresStore {
    async fn spend(&self, domain: &Domain, day: i64, spend: Spend) -> Result<(), StoreError> {
        let domain = domain.clone();
        self.write_in_order("count what was spent", move |transaction| async move {
            let add = "INSERT INTO spends (domain, day, tokens, cost_micros) VALUES ($1, $2, $3, $4)
                       ON CONFLICT (domain, day) DO UPDATE
                       SET tokens = spends.tokens + $3, cost_micros = spends.cost_micros + $4";
            transaction.execute(add, params![domain.as_str(), day, spend.tokens, spend.cost_micros]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn spent(&self, domain: &Domain, day: i64) -> Result<Spend, StoreError> {
        let domain = domain.clone();
        self.read("read what was spent", move |transaction| async move {
            let select = "SELECT tokens, cost_micros FROM spends WHERE domain = $1 AND day = $2";
            let Some(row) = transaction.query_opt(select, params![domain.as_str(), day]).await? else {
                return Ok(Spend::default());
            };
            Ok(Spend { tokens: row.try_get(0)?, cost_micros: row.try_get(1)? })
        })
        .await
    }
}
