//! Checks of the database.

#[cfg(feature = "postgres")]
mod postgres;

use docent_store::SqliteStore;

use super::Finding;
use crate::failure::Failure;
use crate::wiring::storage::{Storage, StoreKind};

pub(super) async fn findings(store: &dyn Storage) -> Vec<Finding> {
    match store.kind() {
        StoreKind::Sqlite(store) => vec![sqlite(store).await],
        #[cfg(feature = "postgres")]
        StoreKind::Postgres(store) => postgres::findings(store).await,
    }
}

async fn sqlite(store: &SqliteStore) -> Finding {
    match store.check().await {
        Ok(()) => Finding::Good("SQLite, sound".to_owned()),
        Err(error) => Finding::bad(
            Failure::from(error).to_string(),
            "stop the server and restore a backup with `docent restore FILE`",
        ),
    }
}
