//! What is cached, and for how long the cache is valid.

use super::*;

/// Waits until the store can tell whether other processes have written.
async fn checked_changes(store: &SqliteStore) -> u64 {
    loop {
        if let Some(changes) = Store::changes(store) {
            return changes;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_row_that_was_written_here_is_known() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    checked_changes(&store).await;
    let cached = store.changes().job(sample_job(1).id).expect("known").row.clone();
    let read = store.read("read", |connection| {
        Ok(connection.query_row("SELECT body FROM jobs", [], |row| row.get::<_, String>(0))?)
    });
    let read: Row = serde_json::from_str(&read.await.expect("reads")).expect("a row");
    assert_eq!(cached, read);
    let row = claim(&store, 1).await.remove(0);
    assert_eq!(store.changes().job(row.id()).expect("known").row, row, "each write is known");
    append(&store, &row, 1).await.expect("the entry is written");
    assert_eq!(store.row(row.id()).await.expect("the store answers").expect("there").last_seq, 4);
    let refused = append(&store, &Row { last_token: 0, ..row.clone() }, 1).await;
    assert!(refused.is_err());
    assert_eq!(store.changes().job(row.id()).expect("known").row.last_seq, 4, "what was refused is not");
}

#[tokio::test]
async fn writes_of_another_process_invalidate_the_cache() {
    let database = TemporaryDatabase::new();
    let (server, other) = (database.open(), database.open());
    create(&server, sample_job(1), open_gate()).await.expect("a job is created");
    let before = checked_changes(&server).await;
    assert!(server.changes().job(sample_job(1).id).is_some());
    let archive = Arc::new(|row: &Row| state::archive(row, NOW));
    other.change(sample_job(1).id, open_gate(), archive).await.expect("the change is written");
    let written = std::time::Instant::now();
    while checked_changes(&server).await == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(written.elapsed() < Duration::from_secs(5), "soon: 200 ms on a machine that has nothing else to do");
    let row = server.row(sample_job(1).id).await.expect("the store answers").expect("there");
    assert_eq!(row.job.archived_at, Some(NOW));
    let now = checked_changes(&server).await;
    create(&server, sample_job(2), open_gate()).await.expect("a job is created");
    assert_eq!(checked_changes(&server).await, now, "what is written here is no news");
}

#[tokio::test]
async fn a_key_that_another_process_revokes_is_refused_soon() {
    use docent_access::{Access, AccessError, Credentials, Scope};
    let database = TemporaryDatabase::new();
    let (server, tool) = (database.open(), database.open());
    let project = docent_access::conformance::sample_project("acme");
    tool.add(project).await.expect("the project is added");
    let (key, record) = docent_access::conformance::sample_key("acme", 1);
    tool.insert(record.clone()).await.expect("the key is added");
    let clock = Arc::new(docent_types::ManualClock::at(NOW));
    let access = Access::new(Arc::clone(&server) as _, Arc::clone(&server) as _, clock);
    let header = format!("Bearer {}", key.expose());
    let enter = async || {
        let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
        access.agent(&credentials, "acme", Scope::Read).await.map(drop)
    };
    for _ in 0..100 {
        enter().await.expect("lets in");
    }
    tool.revoke(&record.id, NOW).await.expect("revokes");
    let revoked = std::time::Instant::now();
    loop {
        match enter().await {
            Err(AccessError::Denied(_)) => break,
            Ok(()) => assert!(revoked.elapsed() < Duration::from_secs(5)),
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn only_so_much_is_known() {
    let changes = crate::change_tracker::ChangeTracker::new();
    let job = |job: AgentJob| {
        let (row, _) = state::create(job, Instruction::new(Vec::new()));
        Arc::new(crate::write_connection::Job { n: 1, row, journal: None })
    };
    for n in 1..=10_000 {
        changes.cache_jobs(&[job(sample_job(n))]);
    }
    let cached = (1..=10_000).filter(|n| changes.job(sample_job(*n).id).is_some()).count();
    assert_eq!(cached, 4096);
    assert!(changes.job(sample_job(10_000).id).is_some(), "the newest are");
    changes.cache_jobs(&[job(AgentJob { message: Some("x".repeat(100_000)), ..sample_job(10_000) })]);
    assert!(changes.job(sample_job(10_000).id).is_none(), "what is long is read");
}

#[tokio::test]
async fn reads_do_not_wait_for_the_writer() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let release = hold_the_writer(&store).await;
    // Waits until the last check of other processes has expired.
    while Store::changes(&*store).is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(store.row(sample_job(1).id).await.expect("the store answers").is_some());
    assert_eq!(store.entries(sample_job(1).id, 0, 9).await.expect("the store answers").len(), 2);
    drop(release);
}
