//! Failures of the disk, the file or a decision: the caller gets an error, nothing is half-written, and the writer goes
//! on.

use super::*;

/// Runs a statement on the writer's own connection and commits it, so that no savepoint undoes it.
async fn on_the_writer(store: &SqliteStore, sql: &'static str) {
    let run = move |connection: &rusqlite::Connection| Ok::<_, Abort<StoreError>>(connection.execute_batch(sql)?);
    store.write("set the scene", run).await.expect("the scene is set");
}

fn long_job(n: u128) -> AgentJob {
    AgentJob { message: Some("x".repeat(1_000_000)), ..sample_job(n) }
}

#[tokio::test]
async fn a_full_disk_refuses_what_does_not_fit_and_nothing_else() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), limited_gate()).await.expect("a job is created");
    on_the_writer(&store, "PRAGMA max_page_count = 60").await;
    let full = create(&store, long_job(2), limited_gate()).await.expect_err("it does not fit");
    assert!(matches!(full, WriteError::Store(_)));
    assert!(
        docent_types::error_chain(&full).starts_with("could not create the job: database or disk is full"),
        "{}",
        docent_types::error_chain(&full)
    );
    assert_eq!(store.row(sample_job(2).id).await.expect("the store answers"), None);
    let small = create(&store, sample_job(2), limited_gate()).await.expect("a small one fits");
    assert_eq!(small.quota_status.expect("counted").remaining, 98, "what failed used no quota");
    store.check().await.expect("sound");
}

#[tokio::test]
async fn a_full_disk_is_told_to_all_whose_work_it_undid() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    on_the_writer(&store, "PRAGMA max_page_count = 60").await;
    let release = hold_the_writer(&store).await;
    let tries: Vec<_> = [sample_job(1), long_job(2), sample_job(3)]
        .map(|job| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { create(&store, job, open_gate()).await })
        })
        .into();
    let_them_ask().await;
    drop(release);
    let mut told = Vec::new();
    for attempt in tries {
        told.push(attempt.await.expect("no panic").map(|written| written.job.id));
    }
    for (n, told) in (1..).zip(told) {
        let there = store.row(sample_job(n).id).await.expect("the store answers").is_some();
        assert_eq!(told.is_ok(), there, "job {n}: what is acknowledged is there, what failed is not: {told:?}");
    }
    create(&store, sample_job(4), open_gate()).await.expect("the writer goes on");
}

#[tokio::test]
async fn a_database_that_cannot_be_written_says_so() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    on_the_writer(&store, "PRAGMA query_only = ON").await;
    let refused = create(&store, sample_job(2), open_gate()).await.expect_err("is read-only");
    let told = docent_types::error_chain(&refused);
    assert!(
        told.starts_with("could not create the job: the transaction could not begin: attempt to write a readonly"),
        "{told}"
    );
    assert!(store.row(sample_job(1).id).await.expect("reads go on").is_some());
    assert!(store.ready().await.is_err());
}

#[tokio::test]
async fn being_ready_is_to_have_written() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let log = database.path.with_extension("db-wal");
    let length = || std::fs::metadata(&log).expect("a log").len();
    let before = length();
    store.ready().await.expect("ready");
    assert!(length() > before, "a page was written, though nothing changed");
}

#[tokio::test]
async fn a_commit_that_fails_fails_for_all() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let release = hold_the_writer(&store).await;
    let break_the_commit = |connection: &rusqlite::Connection| {
        connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
        connection.execute("INSERT INTO turns VALUES ('nobody', 0, 'a', 0, 0, '{}', 'acme')", [])?;
        Ok::<_, Abort<StoreError>>(())
    };
    let (first, broken, refused) = (Arc::clone(&store), Arc::clone(&store), Arc::clone(&store));
    let first = tokio::spawn(async move { create(&first, sample_job(1), open_gate()).await.map(drop) });
    let broken = tokio::spawn(async move { broken.write("break the commit", break_the_commit).await });
    let refused = tokio::spawn(async move { append(&refused, &no_row(), 1).await.map(drop) });
    let_them_ask().await;
    drop(release);
    let told = docent_types::error_chain(&first.await.expect("no panic").expect_err("its commit failed"));
    let expected = "could not create the job: the transaction could not be committed: FOREIGN KEY constraint failed";
    assert!(told.starts_with(expected), "{told}");
    assert!(broken.await.expect("no panic").is_err());
    assert!(matches!(refused.await.expect("no panic"), Err(WriteError::Store(_))), "no answer rests on what is undone");
    assert_eq!(store.row(sample_job(1).id).await.expect("the store answers"), None);
    create(&store, sample_job(1), open_gate()).await.expect("the writer goes on");
}

fn no_row() -> Row {
    let instruction = Instruction::new(Vec::new());
    state::create(sample_job(99), instruction).0
}

#[tokio::test]
async fn a_refused_command_does_not_undo_its_neighbours() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let release = hold_the_writer(&store).await;
    let tries: Vec<_> = [2, 1, 3, 1, 4]
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { create(&store, sample_job(n), open_gate()).await.is_ok() })
        })
        .into();
    let_them_ask().await;
    drop(release);
    let mut accepted = Vec::new();
    for attempt in tries {
        accepted.push(attempt.await.expect("no panic"));
    }
    assert_eq!(accepted, [true, false, true, false, true]);
    for n in 1..=4 {
        let row = store.row(sample_job(n).id).await.expect("the store answers").expect("the job is there");
        assert_eq!(row.last_seq, 2);
    }
}

#[tokio::test]
async fn a_write_that_fails_half_way_is_undone_with_its_group() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    on_the_writer(&store, "ALTER TABLE entries RENAME TO elsewhere").await;
    let release = hold_the_writer(&store).await;
    let (beside, torn) = (Arc::clone(&store), Arc::clone(&store));
    let beside = tokio::spawn(async move {
        let run = |connection: &rusqlite::Connection| {
            Ok::<_, Abort<StoreError>>(connection.execute_batch("INSERT INTO queues VALUES ('beside', 0, 0)")?)
        };
        beside.write("write beside it", run).await
    });
    // Too long for the job's row, so it takes a second write.
    let instruction = Instruction::new(vec![Message::text(Role::User, "Fix broken links. ".repeat(100))]);
    let (row, entries) = state::create(sample_job(1), instruction);
    let torn = tokio::spawn(async move { torn.create(row, entries, open_gate()).await.map(drop) });
    let_them_ask().await;
    drop(release);
    let told = docent_types::error_chain(&torn.await.expect("no panic").expect_err("its journal has no place"));
    assert!(told.starts_with("could not create the job: no such table"), "{told}");
    let told = docent_types::error_chain(&beside.await.expect("no panic").expect_err("it was undone"));
    assert!(told.ends_with("the transaction was rolled back when one of its writes failed"), "{told}");
    assert_eq!(store.row(sample_job(1).id).await.expect("the store answers"), None);
    on_the_writer(&store, "ALTER TABLE elsewhere RENAME TO entries").await;
    create(&store, sample_job(1), open_gate()).await.expect("the writer goes on");
}

#[tokio::test]
async fn a_write_that_fails_half_way_and_alone_leaves_nothing() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let half = |connection: &rusqlite::Connection| {
        connection.execute_batch("INSERT INTO queues VALUES ('half', 0, 0)")?;
        Err::<(), _>(Abort::<StoreError>::from(connection.execute_batch("INSERT INTO nowhere VALUES (1)").unwrap_err()))
    };
    let told = docent_types::error_chain(&store.write("write a half", half).await.expect_err("there is no such table"));
    assert!(told.starts_with("could not write a half: no such table"), "{told}");
    let count = |connection: &rusqlite::Connection| {
        Ok(connection
            .query_row("SELECT count(*) FROM queues WHERE project = 'half'", [], |row| row.get::<_, i64>(0))?)
    };
    assert_eq!(store.read("count", count).await.expect("the store answers"), 0);
    create(&store, sample_job(1), open_gate()).await.expect("the writer goes on");
}

#[tokio::test]
async fn a_decision_that_panics_harms_nobody_else() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let panics = Arc::new(|_: &Row| panic!("a fault in a rule"));
    let told = store.change(sample_job(1).id, open_gate(), panics).await.expect_err("it panicked");
    assert_eq!(docent_types::error_chain(&told), "could not change the job: the decision panicked");
    create(&store, sample_job(2), open_gate()).await.expect("the writer goes on");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_an_error_not_an_absence() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    on_the_writer(&store, "UPDATE jobs SET body = '{\"job\":'").await;
    let other = database.open();
    let told = docent_types::error_chain(&other.row(sample_job(1).id).await.expect_err("it is damaged"));
    assert!(told.starts_with("could not read the job: EOF while parsing"), "{told}");
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_its_write_behind() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let release = hold_the_writer(&store).await;
    let gone = tokio::spawn({
        let store = Arc::clone(&store);
        async move { create(&store, sample_job(1), open_gate()).await }
    });
    let_them_ask().await;
    gone.abort();
    drop(release);
    store.ready().await.expect("the writer goes on");
    assert!(store.row(sample_job(1).id).await.expect("the store answers").is_some(), "sent is sent");
}
