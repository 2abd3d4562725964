//! Tests of the whole store.

mod beginnings;
mod copies;
mod durability;
mod faults;
mod known;
mod processes;
mod queues;
mod removed_projects;
mod restoring;
mod together;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use docent_access::{Keys, Projects};
use docent_jobs::conformance::sample_job;
use docent_jobs::{
    ClaimRequest, EntryBody, IdempotencyKey, Instruction, JobProgress, Row, Store, WriteError, WriteGuards,
    WriteOutcome, state,
};
use docent_types::{AgentJob, Message, Quota, Role, StoreError, Timestamp};
use parking_lot::Mutex;

use crate::SqliteStore;
use crate::error::Abort;
use crate::transaction::Durability;

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

/// A database in a folder of its own.
struct TemporaryDatabase {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl TemporaryDatabase {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { path: folder.path().join("docent.db"), _folder: folder }
    }

    fn open(&self) -> Arc<SqliteStore> {
        Arc::new(SqliteStore::open(&self.path).expect("opens"))
    }
}

/// Temporary databases for suites that need an empty store again and again.
#[derive(Default)]
struct DatabasePool(Mutex<Vec<TemporaryDatabase>>);

impl DatabasePool {
    async fn open(&self) -> Arc<SqliteStore> {
        let database = TemporaryDatabase::new();
        let store = database.open();
        self.0.lock().push(database);
        store
    }
}

fn open_gate() -> WriteGuards {
    WriteGuards { now: NOW, quota: None, key: None }
}

fn limited_gate() -> WriteGuards {
    let quota = Quota { bucket: "agent-jobs:acme".to_owned(), limit: 100, window: Duration::from_secs(3600) };
    WriteGuards { quota: Some(quota), ..open_gate() }
}

async fn create(store: &SqliteStore, job: AgentJob, guards: WriteGuards) -> Result<WriteOutcome, WriteError> {
    let instruction = Instruction::new(vec![Message::text(Role::User, "Fix broken links")]);
    let (row, entries) = state::create(job, instruction);
    store.create(row, entries, guards).await
}

async fn append(store: &SqliteStore, row: &Row, n: usize) -> Result<WriteOutcome, WriteError> {
    let token = row.last_token;
    let entry = EntryBody::Work { kind: "step".to_owned(), data: n.into() };
    let decide = move |row: &Row| state::append(row, token, vec![entry.clone()], JobProgress::default());
    store.change(row.id(), open_gate(), Arc::new(decide)).await
}

async fn claim(store: &SqliteStore, limit: usize) -> Vec<Row> {
    let lease = |row: &Row| state::lease(row, "node", NOW.plus(Duration::from_secs(30)));
    let request = ClaimRequest { now: NOW, cap_per_project: usize::MAX, limit };
    store.claim(request, Arc::new(lease)).await.expect("the store answers")
}

/// Holds the writer in the middle of a transaction until the sender is dropped.
async fn hold_the_writer(store: &Arc<SqliteStore>) -> Sender<()> {
    let (release, released) = channel::<()>();
    let (begun, begins) = tokio::sync::oneshot::channel();
    let store = Arc::clone(store);
    tokio::spawn(async move {
        let wait = move |_: &rusqlite::Connection| {
            let _ = begun.send(());
            let _ = released.recv();
            Ok::<_, Abort<StoreError>>(())
        };
        store.write("wait", wait).await.expect("waits");
    });
    begins.await.expect("the writer begins");
    release
}

/// On a runtime of one thread: waits until every spawned task has sent its command and waits for the answer. The
/// runtime resumes this task after at most 61 polls.
async fn let_them_ask() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn keeps_the_promises_of_the_job_store() {
    let street = DatabasePool::default();
    docent_jobs::conformance::run(|| async { street.open().await as Arc<dyn Store> }).await;
    docent_jobs::conformance::outbox(|| street.open()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn long_histories_are_the_same_in_memory_and_on_the_disk() {
    // These tests are about order, so no real disk is needed.
    let quick = Some(Path::new("/dev/shm")).filter(|folder| folder.is_dir());
    for number in 2..14 {
        let folder = quick.map_or_else(tempfile::tempdir, tempfile::tempdir_in).expect("a folder");
        let store = Arc::new(SqliteStore::open(folder.path().join("docent.db")).expect("opens"));
        docent_jobs::conformance::history(store, number).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn keeps_the_promises_of_keys_and_projects() {
    let street = DatabasePool::default();
    docent_access::conformance::run(|| street.open()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn keeps_the_promises_of_operators() {
    let street = DatabasePool::default();
    docent_operators::conformance::run(|| street.open()).await;
}

#[tokio::test]
async fn keeps_the_promises_of_pull_requests() {
    docent_forge::conformance::pull_requests(&*TemporaryDatabase::new().open()).await;
}

#[tokio::test]
async fn keeps_the_promises_of_threads() {
    docent_assistant::conformance::threads(&*TemporaryDatabase::new().open()).await;
    docent_assistant::conformance::searches(&*TemporaryDatabase::new().open()).await;
    docent_assistant::conformance::spends(&*TemporaryDatabase::new().open()).await;
}

#[tokio::test]
async fn waiting_writes_are_committed_together() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let row = claim(&store, 1).await.remove(0);
    let before = store.writes();
    let release = hold_the_writer(&store).await;
    let appends: Vec<_> = (0..64)
        .map(|n| {
            let (store, row) = (Arc::clone(&store), row.clone());
            tokio::spawn(async move { append(&store, &row, n).await })
        })
        .collect();
    let_them_ask().await;
    drop(release);
    for append in appends {
        append.await.expect("no panic").expect("the entry is written");
    }
    let after = store.writes();
    assert_eq!(after.commands - before.commands, 65);
    assert_eq!(after.commits - before.commits, 2, "one that held the writer, one for all that waited");
    let seqs: Vec<u64> =
        store.entries(row.id(), 3, 100).await.expect("the store answers").iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (4..68).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_150_creations_at_once_100_are_accepted_before_and_after_a_restart() {
    let database = TemporaryDatabase::new();
    for (round, expected) in [(0, 100), (1, 0)] {
        let store = database.open();
        let tries: Vec<_> = (1..=150)
            .map(|n| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { create(&store, sample_job(1000 * round + n), limited_gate()).await })
            })
            .collect();
        let mut accepted = 0;
        for attempt in tries {
            match attempt.await.expect("no panic") {
                Ok(_) => accepted += 1,
                Err(WriteError::Limited(quota_status)) => assert_eq!(quota_status.retry_after.as_secs(), 3600),
                Err(error) => panic!("{}", docent_types::error_chain(&error)),
            }
        }
        assert_eq!(accepted, expected, "round {round}");
    }
}

#[tokio::test]
async fn writes_survive_reopening() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let written = create(&store, sample_job(1), limited_gate()).await.expect("a job is created");
    store.add(docent_access::conformance::sample_project("acme")).await.expect("the project is added");
    let (_, key) = docent_access::conformance::sample_key("acme", 1);
    store.insert(key.clone()).await.expect("the key is added");
    drop(store);
    let store = database.open();
    let row = store.row(written.job.id).await.expect("the store answers").expect("the job is there");
    assert_eq!((row.job, row.last_seq), (written.job, 2));
    assert_eq!(store.by_hash(&key.hash).await.expect("the store answers"), Some(key));
    let next = create(&store, sample_job(2), limited_gate()).await.expect("a job is created");
    assert_eq!(next.quota_status.expect("counted").remaining, 98, "the quota too");
    store.check().await.expect("sound");
    store.ready().await.expect("ready");
}

#[tokio::test]
async fn closing_tidies_up_and_ends_all_work() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let release = hold_the_writer(&store).await;
    let waiting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { create(&store, sample_job(1), open_gate()).await }
    });
    let_them_ask().await;
    drop(release);
    store.close().await.expect("closes");
    waiting.await.expect("no panic").expect("what was asked before is done");
    let late = create(&store, sample_job(2), open_gate()).await.expect_err("is closed");
    assert_eq!(docent_types::error_chain(&late), "could not create the job: the store is closed");
    let late = store.row(sample_job(1).id).await.expect_err("is closed");
    assert_eq!(docent_types::error_chain(&late), "could not read the job: the store is closed");
    store.close().await.expect("closing twice is closing once");
    drop(store);
    assert!(!database.path.with_extension("db-wal").exists(), "the last to close leaves the one file");
    assert!(database.open().row(sample_job(1).id).await.expect("the store answers").is_some());
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_other() {
    let database = TemporaryDatabase::new();
    let (server, tool) = (database.open(), database.open());
    let project = docent_access::conformance::sample_project("acme");
    tool.add(project.clone()).await.expect("the project is added");
    assert_eq!(server.by_id(&project.id).await.expect("the store answers"), Some(project.clone()));
    let (_, key) = docent_access::conformance::sample_key("acme", 1);
    tool.insert(key.clone()).await.expect("the key is added");
    assert!(server.by_hash(&key.hash).await.expect("the store answers").is_some_and(|key| key.revoked_at.is_none()));
    tool.revoke(&key.id, NOW).await.expect("the store answers");
    assert!(server.by_hash(&key.hash).await.expect("the store answers").is_some_and(|key| key.revoked_at.is_some()));
    assert!(server.add(project).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_busy_stores_on_one_file_take_turns() {
    let database = TemporaryDatabase::new();
    let stores = [database.open(), database.open()];
    let writers: Vec<_> = (0..200)
        .map(|n| {
            let store = Arc::clone(&stores[n as usize % 2]);
            tokio::spawn(async move { create(&store, sample_job(n + 1), limited_gate()).await.is_ok() })
        })
        .collect();
    let mut accepted = 0;
    for writer in writers {
        accepted += usize::from(writer.await.expect("no panic"));
    }
    assert_eq!(accepted, 100, "the quota is one for both");
}

#[tokio::test]
async fn expired_idempotency_keys_and_quota_counts_are_deleted() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let keyed = |n: u8, now| {
        let keep = Duration::from_secs(24 * 3600);
        let key = IdempotencyKey { scope: "acme".to_owned(), key: n.to_string(), fingerprint: [n; 32], keep };
        WriteGuards { now, key: Some(key), ..limited_gate() }
    };
    for n in 1..=3 {
        create(&store, sample_job(n.into()), keyed(n, NOW)).await.expect("a job is created");
    }
    let later = NOW.plus(Duration::from_secs(24 * 3600));
    create(&store, sample_job(4), keyed(4, later)).await.expect("a job is created");
    let count = |connection: &rusqlite::Connection| {
        let sql = "SELECT (SELECT count(*) FROM answers), (SELECT count(*) FROM uses)";
        Ok(connection.query_row(sql, [], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?)))?)
    };
    assert_eq!(store.read("count", count).await.expect("counts"), (1, 1));
}

#[tokio::test]
async fn uses_that_are_counted_together_are_counted_as_one_after_another() {
    let database = TemporaryDatabase::new();
    let (store, twin) = (database.open(), docent_jobs::memory::MemoryStore::new());
    // Clocks that advance, stand still, and are ahead or behind for a while; the limit is reached on the way.
    let moments = [0, 0, 0, 5, 5, 9, 4, 4, 9, 9, 30, 30, 30, 30, 29, 31];
    let guards = |at: u64, limit| {
        let quota = Quota { bucket: "agent-jobs:acme".to_owned(), limit, window: Duration::from_millis(20) };
        WriteGuards { now: NOW.plus(Duration::from_millis(at)), quota: Some(quota), key: None }
    };
    let release = hold_the_writer(&store).await;
    let tries: Vec<_> = (1..)
        .zip(moments)
        .map(|(n, at)| {
            let (store, guards) = (Arc::clone(&store), guards(at, 4 + at as u32 / 5));
            tokio::spawn(async move { create(&store, sample_job(n), guards).await })
        })
        .collect();
    let_them_ask().await;
    drop(release);
    let told = |written: Result<WriteOutcome, WriteError>| match written {
        Ok(written) => format!("{:?}", written.quota_status),
        Err(error) => format!("{error:?}"),
    };
    let row = |n| state::create(sample_job(n), Instruction::new(Vec::new()));
    let mut refused = 0;
    for ((n, at), attempt) in (1..).zip(moments).zip(tries) {
        let (row, entries) = row(n);
        let expected = told(twin.create(row, entries, guards(at, 4 + at as u32 / 5)).await);
        assert_eq!(told(attempt.await.expect("no panic")), expected, "use {n} at {at}");
        refused += usize::from(expected.starts_with("Limited"));
    }
    assert!(refused > 0);
    for (n, at) in (100..).zip([31, 33, 36, 60]) {
        let (row, entries) = row(n);
        let expected = told(twin.create(row, entries, guards(at, 100)).await);
        assert_eq!(told(create(&store, sample_job(n), guards(at, 100)).await), expected, "later, at {at}");
    }
}
