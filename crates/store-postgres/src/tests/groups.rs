//! Changes that are committed together.

use std::sync::Arc;
use std::time::Duration;

use docent_jobs::conformance::sample_job;
use docent_jobs::{ClaimRequest, EntryBody, Instruction, JobProgress, Row, Store, WriteError, WriteGuards, state};
use docent_types::{AgentJob, Clock, JobId, Message, Role, Source};
use futures::future::join_all;
use serde_json::json;

use super::cluster::Database;
use super::proxy::{AtCommit, Proxy};
use crate::PostgresStore;

fn guards(store: &PostgresStore) -> WriteGuards {
    WriteGuards { now: store.clock().now(), quota: None, key: None }
}

/// Leased jobs.
async fn leased(store: &PostgresStore, count: u128) -> Vec<Row> {
    for n in 1..=count {
        let source = Source { repository: "/srv/git/docs.git".to_owned(), branch: format!("docent/{n}") };
        let job = AgentJob { source, ..sample_job(n) };
        let (row, entries) = state::create(job, Instruction::new(vec![Message::text(Role::User, "Fix links")]));
        store.create(row, entries, guards(store)).await.expect("a job is created");
    }
    let now = store.clock().now();
    let request = ClaimRequest { now, cap_per_project: usize::MAX, limit: 100 };
    let lease = Arc::new(move |row: &Row| state::lease(row, "node", now.plus(Duration::from_secs(30))));
    let rows = store.claim(request, lease).await.expect("the store answers");
    assert_eq!(rows.len() as u128, count);
    rows
}

async fn append(store: &PostgresStore, id: JobId, token: u64, step: usize) -> Result<u64, WriteError> {
    let work = vec![EntryBody::Work { kind: "step".to_owned(), data: json!(step) }];
    let decide = Arc::new(move |row: &Row| state::append(row, token, work.clone(), JobProgress::default()));
    Ok(store.change(id, guards(store), decide).await?.row.expect("a row").last_seq)
}

/// The steps in a journal, in order.
async fn steps(store: &PostgresStore, id: JobId) -> Vec<u64> {
    let journal = store.entries(id, 0, 1000).await.expect("the store answers");
    let step = |body: &EntryBody| match body {
        EntryBody::Work { data, .. } => data.as_u64(),
        _ => None,
    };
    journal.iter().filter_map(|entry| step(&entry.body)).collect()
}

async fn commits(database: &Database) -> i64 {
    database.client().await.query_one("SELECT count(*) FROM commits", &[]).await.expect("a count").get(0)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn changes_that_are_asked_for_at_once_are_committed_together() {
    let database = Database::new().await;
    let store = database.node().await;
    let (rows, before) = (leased(&store, 40).await, commits(&database).await);
    for step in 0..5 {
        let changes = rows.iter().map(|row| append(&store, row.id(), row.last_token, step));
        assert!(join_all(changes).await.iter().all(Result::is_ok));
    }
    for row in &rows {
        assert_eq!(steps(&store, row.id()).await, [0, 1, 2, 3, 4]);
    }
    let commits = commits(&database).await - before;
    assert!((5..100).contains(&commits), "{commits} commits for 200 changes");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_change_that_is_refused_or_panics_does_not_undo_its_neighbours() {
    let database = Database::new().await;
    let store = database.node().await;
    let rows = leased(&store, 12).await;
    let changes = rows.iter().enumerate().map(async |(n, row)| match n % 4 {
        0 => append(&store, row.id(), row.last_token + 1, 1)
            .await
            .is_err_and(|error| matches!(error, WriteError::Refused(_))),
        1 => append(&store, sample_job(1000 + n as u128).id, 1, 1)
            .await
            .is_err_and(|error| matches!(error, WriteError::NotFound)),
        2 => {
            let panics = Arc::new(|_: &Row| panic!("as the test says"));
            store
                .change(row.id(), guards(&store), panics)
                .await
                .is_err_and(|error| matches!(error, WriteError::Store(_)))
        }
        _ => append(&store, row.id(), row.last_token, 1).await.is_ok_and(|seq| seq == row.last_seq + 1),
    });
    assert_eq!(join_all(changes).await, [true; 12]);
    for (n, row) in rows.iter().enumerate() {
        assert_eq!(steps(&store, row.id()).await.len(), usize::from(n % 4 == 3));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_job_that_another_transaction_has_locked_holds_up_no_other() {
    let database = Database::new().await;
    let (store, mut client) = (database.node().await, database.client().await);
    let rows = leased(&store, 6).await;
    let holding = client.transaction().await.expect("a transaction");
    let lock = "SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE";
    holding.query_one(lock, &[&rows[0].id().uuid()]).await.expect("a lock");
    let held = append(&store, rows[0].id(), rows[0].last_token, 1);
    let others = async {
        for step in 0..5 {
            let changes = rows[1..].iter().map(|row| append(&store, row.id(), row.last_token, step));
            assert!(join_all(changes).await.iter().all(Result::is_ok));
        }
        assert!(steps(&store, rows[0].id()).await.is_empty(), "it is locked");
        holding.commit().await.expect("it ends");
    };
    let (held, ()) = futures::join!(held, others);
    held.expect("it waits for the lock");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn changes_whose_commit_is_cut_are_carried_out_once() {
    let database = Database::new().await;
    let proxy = Proxy::before(database.address()).await;
    let store = PostgresStore::connect(&database.url_at(proxy.address()), 8).await.expect("the database opens");
    let rows = leased(&store, 30).await;
    for (step, at) in
        [AtCommit::Lose, AtCommit::LoseAnswer, AtCommit::Lose, AtCommit::LoseAnswer].into_iter().enumerate()
    {
        // The first change is a group of its own; the others are the next.
        let others = rows[1..].iter().map(|row| append(&store, row.id(), row.last_token, step));
        let first = append(&store, rows[0].id(), rows[0].last_token, step);
        let (first, others) = futures::join!(first, async {
            proxy.at_next_commit(at);
            join_all(others).await
        });
        for (row, written) in rows.iter().zip([first].into_iter().chain(others)) {
            let last = steps(&store, row.id()).await.last().copied();
            assert_eq!(last == Some(step as u64), written.is_ok(), "{at:?}: {written:?}");
        }
    }
    for row in &rows {
        let mut steps = steps(&store, row.id()).await;
        let count = steps.len();
        steps.dedup();
        assert_eq!(steps.len(), count, "none is there twice");
    }
}
