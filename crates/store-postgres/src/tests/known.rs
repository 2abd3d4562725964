//! The suites of the ports.

use std::sync::Arc;

use docent_jobs::{Store, conformance};
use parking_lot::Mutex;

use super::cluster::Database;

/// Makes stores on databases of their own, which live as long as this.
#[derive(Default)]
struct Databases(Mutex<Vec<Database>>);

impl Databases {
    async fn store(&self) -> Arc<crate::PostgresStore> {
        let database = Database::new().await;
        let store = database.node().await;
        self.0.lock().push(database);
        store
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_a_store_of_jobs() {
    let databases = Databases::default();
    conformance::run(|| async { databases.store().await as Arc<dyn Store> }).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_an_outbox() {
    let databases = Databases::default();
    conformance::outbox(|| async { databases.store().await }).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn histories_give_what_the_store_in_memory_gives() {
    let databases = Databases::default();
    for number in 2..6 {
        conformance::history(databases.store().await, number).await;
    }
}
