//! Who writes what is brief: the one who asks, where that takes no waiting.

use std::fs::File;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread::{ThreadId, current};
use std::time::Instant;

use super::*;
use crate::schema::mark;

/// A store whose log has begun, and whose writer has nothing left to do: it answers before it tidies up.
async fn store_of(house: &House) -> Arc<SqliteStore> {
    let store = house.open();
    store.ready().await.expect("ready");
    let begun = Instant::now();
    loop {
        let asked = Instant::now();
        let by = briefly(&store).await.expect("is written");
        // Who was held up, as by others on this machine, would leave the next to the writer.
        if by == current().id() && asked.elapsed() < Duration::from_millis(20) {
            return store;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the writer has no rest");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Something brief; gives the thread that wrote it.
fn briefly(store: &SqliteStore) -> impl Future<Output = Result<ThreadId, StoreError>> + use<> {
    store.write_briefly("look", |_| Ok::<_, Abort<StoreError>>(current().id()))
}

/// What it has come to, without waiting.
fn by_now<F: Future>(work: Pin<&mut F>) -> Option<F::Output> {
    match work.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn what_is_brief_is_written_by_who_asks() {
    let house = House::new();
    let store = store_of(&house).await;
    let before = store.writes();
    let by = by_now(pin!(briefly(&store))).expect("is done").expect("is written");
    assert_eq!(by, current().id());
    let after = store.writes();
    assert_eq!((after.commits - before.commits, after.flushes - before.flushes), (1, 0));
}

#[tokio::test]
async fn nobody_is_overtaken() {
    let house = House::new();
    let store = store_of(&house).await;
    let release = hold_the_writer(&store).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let asking = |n: u32| {
        let order = Arc::clone(&order);
        store.write_briefly("look", move |_| {
            order.lock().expect("nobody panicked").push(n);
            Ok::<_, Abort<StoreError>>(current().id())
        })
    };
    let asked: Vec<_> = (0..3).map(asking).collect();
    drop(release);
    for asked in asked {
        assert_ne!(asked.await.expect("is written"), current().id());
    }
    assert_eq!(*order.lock().expect("nobody panicked"), [0, 1, 2]);
}

#[tokio::test]
async fn who_asks_does_not_wait_for_another_process() {
    let house = House::new();
    let store = store_of(&house).await;
    let mut turn = house.path.clone().into_os_string();
    turn.push("-turn");
    let turn = File::open(turn).expect("opens");
    turn.lock().expect("takes the turn");
    let mut asked = pin!(briefly(&store));
    assert!(by_now(asked.as_mut()).is_none());
    turn.unlock().expect("gives it back");
    assert_ne!(asked.await.expect("is written"), current().id());

    let other = rusqlite::Connection::open(&house.path).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("takes the lock");
    let mut asked = pin!(briefly(&store));
    assert!(by_now(asked.as_mut()).is_none());
    other.execute_batch("COMMIT").expect("gives it back");
    assert_ne!(asked.await.expect("is written"), current().id());
}

#[tokio::test]
async fn who_was_held_up_leaves_the_next_to_the_writer() {
    let house = House::new();
    let store = store_of(&house).await;
    let slow = store.write_briefly("write slowly", |_| {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(25) {
            std::thread::yield_now();
        }
        Ok::<_, Abort<StoreError>>(current().id())
    });
    assert_eq!(slow.await.expect("is written"), current().id());
    assert_ne!(briefly(&store).await.expect("is written"), current().id());
}

#[tokio::test]
async fn the_log_is_moved_and_begun_anew_by_the_writer() {
    let house = House::new();
    let store = store_of(&house).await;
    // More pages than the log is to have.
    let fill = "CREATE TABLE filling (body BLOB); INSERT INTO filling VALUES (zeroblob(34000000));";
    let filled = store.write("fill the log", move |desk| Ok::<_, Abort<StoreError>>(desk.execute_batch(fill)?));
    filled.await.expect("fills");
    let writing = || {
        store.write_briefly("write", |desk| {
            mark(desk)?;
            Ok::<_, Abort<StoreError>>(current().id())
        })
    };
    assert_ne!(writing().await.expect("is written"), current().id());
    let begun = Instant::now();
    while writing().await.expect("is written") != current().id() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the log stays long");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let pages = store.read("look", |connection| {
        Ok(connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get::<_, i64>(1))?)
    });
    assert!(pages.await.expect("reads") < 1000);
}

#[tokio::test]
async fn what_panics_is_undone_and_the_next_is_written() {
    let house = House::new();
    let store = store_of(&house).await;
    let torn = |desk: &crate::desk::Desk| -> Result<(), Abort<StoreError>> {
        desk.execute_batch("CREATE TABLE torn (n INTEGER)")?;
        panic!("in the middle")
    };
    let failed = store.write_briefly("write", torn).await.expect_err("panicked");
    assert_eq!(whole(&failed), "could not write: the decision panicked");
    let there = store.write_briefly("look", |desk| {
        Ok::<_, Abort<StoreError>>(desk.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'torn'")?.exists([])?)
    });
    assert!(!there.await.expect("is written"));
}

#[tokio::test]
async fn nothing_is_written_once_the_store_is_closed() {
    let house = House::new();
    let store = store_of(&house).await;
    store.close().await.expect("closes");
    let late = briefly(&store).await.expect_err("is closed");
    assert_eq!(whole(&late), "could not look: the store is closed");
}
