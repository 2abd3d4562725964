//! Which writes wait for the disk, and which do not.

use docent_assistant::{Feedback, NewThread, Rating, ThreadKey, Threads, Turn};
use docent_types::{Domain, ThreadId};
use uuid::Uuid;

use super::*;
use crate::transaction::Decides;
use crate::write_connection::WriteConnection;

/// The value of `PRAGMA synchronous` inside a command of this durability.
async fn synchronous(store: &SqliteStore, durability: Durability) -> i64 {
    let read = |connection: &WriteConnection| {
        Ok::<_, Abort<StoreError>>(connection.pragma_query_value(None, "synchronous", |row| row.get(0))?)
    };
    store.write_then("look", (durability, Decides::BeforeWriting), read, |_| ()).await.expect("the store answers")
}

#[tokio::test]
async fn order_alone_does_not_wait_for_the_disk() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    for _ in 0..2 {
        assert_eq!(synchronous(&store, Durability::Flushed).await, 2);
        assert_eq!(synchronous(&store, Durability::Ordered).await, 1);
    }
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let before = store.writes();
    let row = claim(&store, 1).await.remove(0);
    let token = row.last_token;
    let renew = Arc::new(move |row: &Row| state::renew(row, token, NOW.plus(Duration::from_secs(60))));
    store.hold(row.id(), NOW, renew).await.expect("the lease is renewed");
    let release = Arc::new(move |row: &Row| state::release(row, token));
    store.hold(row.id(), NOW, release).await.expect("the job is given back");
    let after = store.writes();
    assert_eq!((after.commits - before.commits, after.flushes - before.flushes), (3, 0));
    create(&store, sample_job(2), open_gate()).await.expect("a job is created");
    assert_eq!(store.writes().flushes, after.flushes + 1, "and all that was written before is flushed with it");
}

#[tokio::test]
async fn a_group_lasts_as_long_as_the_most_careful_in_it() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let row = claim(&store, 1).await.remove(0);
    let release = hold_the_writer(&store).await;
    let before = store.writes();
    let token = row.last_token;
    let renew = Arc::new(move |row: &Row| state::renew(row, token, NOW.plus(Duration::from_secs(60))));
    let (renewing, creating) = (Arc::clone(&store), Arc::clone(&store));
    let renewed = tokio::spawn(async move { renewing.hold(sample_job(1).id, NOW, renew).await });
    let created = tokio::spawn(async move { create(&creating, sample_job(2), open_gate()).await });
    let_them_ask().await;
    drop(release);
    renewed.await.expect("no panic").expect("the lease is renewed");
    created.await.expect("no panic").expect("a job is created");
    let after = store.writes();
    // The command that held the writer is counted too, since it ends after `before` was read.
    assert_eq!((after.commits - before.commits, after.flushes - before.flushes), (2, 2));
}

#[tokio::test]
async fn a_conversation_does_not_wait_for_the_disk() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let (domain, id) = (Domain::parse("acme").expect("a name"), ThreadId::new(Uuid::from_u128(1)));
    let thread = NewThread {
        id,
        domain: domain.clone(),
        fp: "anonymous".to_owned(),
        key: ThreadKey::of("secret"),
        created_at: NOW,
        turns: Vec::new(),
    };
    let turn = Turn { question: "Why?".to_owned(), answer_id: "a1".to_owned(), asked_at: NOW, ..Turn::default() };
    let before = store.writes();
    store.begin(thread).await.expect("begins");
    store.put_turn(id, turn, None).await.expect("is kept");
    let said = store.writes();
    assert_eq!((said.commits - before.commits, said.flushes - before.flushes), (2, 0));
    let feedback = Feedback { rating: Rating::Up, comment: None, at: NOW };
    assert!(store.rate(&domain, id, "a1", feedback).await.expect("is kept"));
    assert_eq!(store.writes().flushes, said.flushes + 1);
}
