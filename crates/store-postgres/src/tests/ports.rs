//! The conformance suites of the ports beside jobs.

use std::sync::Arc;

use parking_lot::Mutex;

use super::cluster::Database;
use crate::PostgresStore;

/// Stores on databases of their own, which are removed at the end of a test.
#[derive(Default)]
struct Stores(Mutex<Vec<Database>>);

impl Stores {
    async fn open(&self) -> Arc<PostgresStore> {
        let database = Database::new().await;
        let store = database.node().await;
        self.0.lock().push(database);
        store
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_keys_and_projects() {
    let stores = Stores::default();
    docent_access::conformance::run(|| stores.open()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_a_throttle() {
    let stores = Stores::default();
    docent_access::conformance::run_throttle(|| stores.open()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_operators() {
    let stores = Stores::default();
    docent_operators::conformance::run(|| stores.open()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_the_assistants_ports() {
    let stores = Stores::default();
    docent_assistant::conformance::threads(&*stores.open().await).await;
    docent_assistant::conformance::searches(&*stores.open().await).await;
    docent_assistant::conformance::spends(&*stores.open().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs a PostgreSQL server"]
async fn keeps_the_promises_of_pull_requests() {
    let stores = Stores::default();
    docent_forge::conformance::pull_requests(&*stores.open().await).await;
}
