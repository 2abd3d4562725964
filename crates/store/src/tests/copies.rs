//! Copies made while the store is in use, and the size of the store.

use docent_jobs::Pruning;

use super::*;
use crate::{BackupError, Existing};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_copy_is_one_moment_of_a_store_that_is_written_to() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writer = tokio::spawn({
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        async move {
            let mut n = 1;
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                n += 1;
                create(&store, sample_job(n), open_gate()).await.expect("a job is created");
            }
            n
        }
    });
    let copy = database.path.with_file_name("copy.db");
    let made = store.backup(&copy, Existing::Refuse).await.expect("is copied");
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    let last = writer.await.expect("no panic");
    assert_eq!(made.bytes, std::fs::metadata(&copy).expect("there").len());
    let copied = SqliteStore::open(&copy).expect("is a database like any");
    copied.check().await.expect("sound");
    let there: Vec<bool> = which_are_there(&copied, last).await;
    let (first, rest) = there.split_first().expect("one at least");
    assert!(*first, "what was there before is in the copy");
    let end = rest.iter().position(|there| !there).unwrap_or(rest.len());
    assert!(rest[end..].iter().all(|there| !there), "and of the later ones none without those before it");
    assert_eq!(claim(&copied, 1).await.len(), 1, "work goes on from the copy");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&copy).expect("there").permissions().mode() & 0o777, 0o600);
    }
}

/// Which of the jobs from 1 to `last` exist.
async fn which_are_there(store: &SqliteStore, last: u128) -> Vec<bool> {
    let mut there = Vec::new();
    for n in 1..=last {
        there.push(store.row(sample_job(n).id).await.expect("the store answers").is_some());
    }
    there
}

#[tokio::test]
async fn a_copy_replaces_only_what_it_is_told_to() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let copy = database.path.with_file_name("copy.db");
    std::fs::write(&copy, "something dear").expect("writes");
    let refused = store.backup(&copy, Existing::Refuse).await.expect_err("there is something");
    assert!(matches!(&refused, BackupError::Exists { path } if *path == copy), "{refused}");
    assert_eq!(std::fs::read_to_string(&copy).expect("there"), "something dear");
    let left = ["yesterday.db.7.docent-copy", "copy.db.8.docent-copy"].map(|name| copy.with_file_name(name));
    for draft in &left {
        std::fs::write(draft, "left behind by one that was killed").expect("writes");
    }
    let at_work = std::fs::File::open(&left[0]).expect("opens");
    at_work.lock().expect("locks");
    store.backup(&copy, Existing::Replace).await.expect("is copied");
    store.backup(&copy, Existing::Replace).await.expect("is copied again");
    assert_eq!(left.each_ref().map(|draft| draft.exists()), [true, false], "one is still at work");
    SqliteStore::open(&copy).expect("is a database like any");
    let nowhere = database.path.with_file_name("no such folder").join("deeper").join("copy.db");
    std::fs::write(database.path.with_file_name("no such folder"), "a file").expect("writes");
    let failed = store.backup(&nowhere, Existing::Refuse).await.expect_err("there is no such folder");
    assert!(matches!(failed, BackupError::Write { .. }));
}

#[cfg(unix)]
#[tokio::test]
async fn a_database_is_never_written_over_by_a_copy_of_it() {
    use std::os::unix::fs::symlink;
    let database = TemporaryDatabase::new();
    let store = database.open();
    create(&store, sample_job(1), open_gate()).await.expect("a job is created");
    let folder = database.path.parent().expect("a folder");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (link, hard, round) = (
        elsewhere.path().join("link.db"),
        elsewhere.path().join("hard.db"),
        folder.join("..").join(folder.file_name().expect("a name")).join("docent.db"),
    );
    symlink(&database.path, &link).expect("links");
    symlink(folder, elsewhere.path().join("folder")).expect("links");
    std::fs::hard_link(&database.path, &hard).expect("links");
    let own = |name: &str| database.path.with_file_name(name);
    let of_its_own = [
        database.path.clone(),
        link,
        hard,
        round,
        elsewhere.path().join("folder/docent.db"),
        elsewhere.path().join("folder/docent.db-journal"),
        own("docent.db-wal"),
        own("docent.db-shm"),
        own("docent.db-turn"),
        own("docent.db-use"),
        own("docent.db-journal"),
    ];
    for target in of_its_own {
        for existing in [Existing::Replace, Existing::Refuse] {
            let refused = store.backup(&target, existing).await.expect_err("is its own");
            assert!(matches!(refused, BackupError::Own { .. }), "{}: {refused}", target.display());
        }
    }
    assert!(!own("docent.db-journal").exists());
    store.check().await.expect("sound");
    assert!(which_are_there(&store, 1).await[0]);
}

#[tokio::test]
async fn a_copy_does_not_go_beside_the_log_of_another_database() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let file = |name: &str| elsewhere.path().join(name);
    std::fs::write(file("a.db-wal"), "pages of the database that was here").expect("writes");
    std::fs::write(file("b.db"), "a database").expect("writes");
    std::fs::write(file("c.db-wal"), "").expect("writes");
    for (name, is_refused) in
        [("a.db", true), ("b.db-wal", true), ("c.db", false), ("d.db-wal", false), ("b.db", false)]
    {
        let copied = store.backup(file(name), Existing::Replace).await;
        assert_eq!(matches!(copied, Err(BackupError::Beside { .. })), is_refused, "{name}: {copied:?}");
        assert_eq!(copied.is_ok(), !is_refused, "{name}");
    }
}

#[tokio::test]
async fn pruned_space_is_returned() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    for n in 1..=20 {
        let job = AgentJob { message: Some("x".repeat(200_000)), ..sample_job(n) };
        create(&store, job, open_gate()).await.expect("a job is created");
        let archive = Arc::new(|row: &Row| state::archive(row, NOW));
        store.change(sample_job(n).id, open_gate(), archive).await.expect("the change is written");
    }
    let before = store.sizes().await.expect("measures");
    assert_eq!((before.jobs, before.active_jobs, before.entries, before.shrinks), (20, 0, 60, true));
    let later = Some(NOW.plus(Duration::from_secs(1)));
    let pruning = Pruning { now: NOW, journals_before: later, jobs_before: None, limit: 1000 };
    while store.prune(pruning).await.expect("prunes").more {}
    assert_eq!(store.sizes().await.expect("measures").pruned_jobs, 20);
    let pruning = Pruning { jobs_before: later, ..pruning };
    while store.prune(pruning).await.expect("prunes").more {}
    store.close().await.expect("closes");
    drop(store);
    let after = database.open().sizes().await.expect("measures");
    assert_eq!((after.jobs, after.entries), (0, 0));
    assert!(after.file_bytes < before.file_bytes.max(before.log_bytes) / 2, "{after:?} after {before:?}");
    assert!(after.free_bytes <= 256 * 4096, "{after:?}");
}
