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

    async fn jobs(&self) -> Arc<dyn Store> {
        self.store().await
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_rows_and_journals() {
    let databases = Databases::default();
    conformance::writes(|| databases.jobs()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_idempotency_keys_and_quotas() {
    let databases = Databases::default();
    conformance::guards(|| databases.jobs()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_leases() {
    let databases = Databases::default();
    conformance::leases(|| databases.jobs()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_turns() {
    let databases = Databases::default();
    conformance::turns(|| databases.jobs()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_job_searches() {
    let databases = Databases::default();
    conformance::searches(|| databases.jobs()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_pruning() {
    let databases = Databases::default();
    conformance::pruning(|| databases.jobs()).await;
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
    for number in 2..4 {
        conformance::history(databases.store().await, number).await;
    }
}
