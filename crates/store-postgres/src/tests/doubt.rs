//! Connections that are cut, and callers that go away: what is acknowledged is there, what is refused is not.

use std::sync::Arc;
use std::time::Duration;

use docent_jobs::conformance::sample_job;
use docent_jobs::{IdempotencyKey, Instruction, Row, Store, WriteError, WriteGuards, WriteOutcome, state};
use docent_types::{Clock, Message, Quota, Role};

use super::cluster::{Database, eventually};
use super::proxy::{AtCommit, Proxy};
use crate::PostgresStore;
use crate::error::Abort;

fn guards(store: &PostgresStore) -> WriteGuards {
    let quota = Quota { bucket: "agent-jobs:acme".to_owned(), limit: 100, window: Duration::from_secs(3600) };
    WriteGuards { now: store.clock().now(), quota: Some(quota), key: None }
}

async fn create(store: &PostgresStore, n: u128) -> Result<WriteOutcome, WriteError> {
    let (row, entries) = state::create(sample_job(n), Instruction::new(vec![Message::text(Role::User, "Fix links")]));
    store.create(row, entries, guards(store)).await
}

async fn find(store: &PostgresStore, n: u128) -> Option<Row> {
    store.row(sample_job(n).id).await.expect("the store answers")
}

/// A store behind a proxy, and one that is not.
async fn through_a_proxy(database: &Database) -> (Proxy, Arc<PostgresStore>, Arc<PostgresStore>) {
    let proxy = Proxy::before(database.address()).await;
    let store = PostgresStore::connect(&database.url_at(proxy.address()), 4).await.expect("the database opens");
    (proxy, Arc::new(store), database.node().await)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_commit_whose_answer_is_lost_is_found_to_have_taken_place() {
    let database = Database::new().await;
    let (proxy, store, other) = through_a_proxy(&database).await;
    for n in 1..=5 {
        proxy.at_next_commit(AtCommit::LoseAnswer);
        let written = create(&store, n).await.expect("it took place");
        assert_eq!(written.quota_status.expect("counted").remaining, 100 - u32::try_from(n).expect("few"));
        assert_eq!(find(&other, n).await, written.row);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_commit_that_never_arrived_is_refused_and_leaves_nothing() {
    let database = Database::new().await;
    let (proxy, store, other) = through_a_proxy(&database).await;
    proxy.at_next_commit(AtCommit::Lose);
    let lost = create(&store, 1).await.expect_err("it did not take place");
    assert!(docent_types::error_chain(&lost).contains("nothing was written"), "{}", docent_types::error_chain(&lost));
    assert_eq!(find(&other, 1).await, None);
    let written = create(&store, 1).await.expect("a job is created");
    assert_eq!(written.quota_status.expect("counted").remaining, 99, "what did not take place used no quota");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_commit_that_was_refused_does_not_take_place_when_it_arrives_later() {
    let database = Database::new().await;
    let (proxy, store, other) = through_a_proxy(&database).await;
    proxy.at_next_commit(AtCommit::Delay);
    create(&store, 1).await.expect_err("it has not arrived");
    proxy.deliver().await;
    assert_eq!(find(&other, 1).await, None, "it is too late");
    let written = create(&other, 1).await.expect("a job is created");
    assert_eq!(written.quota_status.expect("counted").remaining, 99);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_commit_that_cannot_be_asked_about_is_called_unknown_and_is_made_once_with_a_key() {
    let database = Database::new().await;
    let (proxy, store, other) = through_a_proxy(&database).await;
    let create = async |n| {
        let hour = Duration::from_secs(3600);
        let key = IdempotencyKey { scope: "acme".to_owned(), key: "once".to_owned(), fingerprint: [1; 32], keep: hour };
        let instruction = Instruction::new(vec![Message::text(Role::User, "Fix links")]);
        let (row, entries) = state::create(sample_job(n), instruction);
        store.create(row, entries, WriteGuards { key: Some(key), ..guards(&store) }).await
    };
    store.row(sample_job(1).id).await.expect("a connection is open");
    proxy.go_away_at_next_commit();
    let error = create(1).await.expect_err("nothing is known");
    let said = docent_types::error_chain(&error);
    assert!(said.contains("could not be asked"), "{said}");
    assert!(matches!(&error, WriteError::Store(error) if error.is_unavailable()), "a later attempt may succeed");
    assert!(find(&other, 1).await.is_some(), "it took place");
    proxy.come_back();
    // With ids of its own, as a client's second request has.
    let again = create(2).await.expect("the database is back");
    assert!(again.repeat);
    assert_eq!(again.job.id, sample_job(1).id);
    assert_eq!(find(&other, 2).await, None);
}

/// Creates jobs at once while they are disturbed ten times: what is acknowledged is there, and what is refused is not.
async fn create_disturbed(store: &Arc<PostgresStore>, other: &PostgresStore, disturb: impl AsyncFn()) {
    let tries: Vec<_> = (1..=60)
        .map(|n| {
            let store = Arc::clone(store);
            tokio::spawn(async move { create(&store, n).await.is_ok() })
        })
        .collect();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        disturb().await;
    }
    let mut count = 0;
    for (n, attempt) in (1..).zip(tries) {
        let is_acknowledged = attempt.await.expect("no panic");
        assert_eq!(find(other, n).await.is_some(), is_acknowledged, "job {n}");
        count += u32::from(is_acknowledged);
    }
    let last = create(store, 100).await.expect("it heals by itself");
    assert_eq!(last.quota_status.expect("counted").remaining, 99 - count);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn whatever_is_cut_what_is_acknowledged_is_there_and_what_is_refused_is_not() {
    let database = Database::new().await;
    let (proxy, store, other) = through_a_proxy(&database).await;
    create_disturbed(&store, &other, async || proxy.cut()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn when_the_database_ends_all_sessions_what_is_acknowledged_is_there_and_what_is_refused_is_not() {
    let database = Database::new().await;
    let (store, other, client) = (database.node().await, database.node().await, database.client().await);
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let end_sessions = async || {
        client.query_one(end, &[]).await.expect("the sessions are ended");
    };
    create_disturbed(&store, &other, end_sessions).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_write_whose_caller_goes_away_is_carried_out() {
    let database = Database::new().await;
    let store = database.node().await;
    for n in 1..=20 {
        let (creating, store) = (Arc::clone(&store), Arc::clone(&store));
        let caller = tokio::spawn(async move { create(&creating, n).await });
        tokio::time::sleep(Duration::from_micros(100 * u64::try_from(n).expect("few"))).await;
        caller.abort();
        let was_begun = caller.await.is_ok();
        assert!(!was_begun || find(&store, n).await.is_some());
    }
    let store = Arc::try_unwrap(store).expect("nobody else has it");
    store.close().await.expect("it closes");
    let left = "SELECT count(*) FROM jobs FULL JOIN queue ON queue.job = jobs.id
                FULL JOIN (SELECT DISTINCT job FROM entries) AS written ON written.job = jobs.id
                WHERE jobs.id IS NULL OR queue.job IS NULL OR written.job IS NULL";
    let client = database.client().await;
    let torn: i64 = client.query_one(left, &[]).await.expect("answers").get(0);
    assert_eq!(torn, 0, "each is whole or not there");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_write_that_panics_leaves_nothing_and_its_connection_is_used_by_nobody_else() {
    let database = Database::new().await;
    let store = PostgresStore::connect(&database.url(), 1).await.expect("the database opens");
    create(&store, 1).await.expect("a job is created");
    let panics = Arc::new(|_: &Row| panic!("as the test says"));
    let error = store.change(sample_job(1).id, guards(&store), panics).await.expect_err("it panics");
    assert!(matches!(error, WriteError::Store(_)));
    let stuck = store.read("look", |transaction| async move {
        let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
        Ok(transaction.query(open, &[]).await?[0].get::<_, i64>(0))
    });
    assert_eq!(stuck.await.expect("the store answers"), 0);
    create(&store, 2).await.expect("a job is created");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_node_that_stops_in_the_middle_of_a_transaction_does_not_hold_up_the_others_for_long() {
    let database = Database::new().await;
    let (stopped, other) = (database.node().await, database.node().await);
    create(&other, 1).await.expect("a job is created");
    let holding = Arc::clone(&stopped);
    tokio::spawn(async move {
        let hold = |transaction: crate::transaction::Transaction| async move {
            transaction.lock("quota", "agent-jobs:acme").await?;
            std::future::pending::<()>().await;
            Ok::<_, Abort<docent_types::StoreError>>(())
        };
        holding.write("stop", hold).await
    });
    eventually("the lock is held", async || {
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";
        database.client().await.query_one(locks, &[]).await.expect("answers").get::<_, i64>(0) > 0
    })
    .await;
    create(&other, 2).await.expect("the database ends the transaction of the node that stopped");
}
