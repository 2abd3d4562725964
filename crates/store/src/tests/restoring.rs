//! Backups that take the place of a database.

use super::*;
use crate::{CheckedBackup, Existing, RestoreError, Restored};

/// Which of the jobs with these numbers a store has.
async fn jobs_of(store: &SqliteStore, numbers: impl IntoIterator<Item = u128>) -> Vec<u128> {
    let mut there = Vec::new();
    for n in numbers {
        there.extend(store.row(sample_job(n).id).await.expect("the store answers").map(|_| n));
    }
    there
}

/// A backup that holds the job with this number, beside the database.
async fn backup_with(database: &TemporaryDatabase, job: u128) -> PathBuf {
    let other = TemporaryDatabase::new();
    let store = other.open();
    create(&store, sample_job(job), open_gate()).await.expect("a job is created");
    let path = database.path.with_file_name(format!("backup #{job}? 100%.db"));
    store.backup(&path, Existing::Refuse).await.expect("is copied");
    path
}

fn restore(from: &Path, database: &Path) -> Result<Restored, RestoreError> {
    CheckedBackup::open(from)?.restore_to(database, NOW)
}

fn names(database: &TemporaryDatabase) -> Vec<String> {
    let entries = std::fs::read_dir(database.path.parent().expect("a folder")).expect("reads").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_backup_takes_the_place_of_a_database_which_is_kept() {
    let database = TemporaryDatabase::new();
    let backup = backup_with(&database, 1).await;
    let before = std::fs::read(&backup).expect("reads");
    let store = database.open();
    create(&store, sample_job(2), open_gate()).await.expect("a job is created");
    drop(store);
    let restored = restore(&backup, &database.path).expect("restores");
    assert_eq!(jobs_of(&database.open(), 1..=2).await, [1]);
    let kept = restored.replaced.expect("there was one");
    assert_eq!(jobs_of(&SqliteStore::open(&kept).expect("opens"), 1..=2).await, [2]);
    assert_eq!(std::fs::read(&backup).expect("reads"), before, "the backup is as it was");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&database.path).expect("there").permissions().mode() & 0o777, 0o600);
    }
    // And back again, in the same millisecond.
    let again = restore(&kept, &database.path).expect("restores");
    assert_ne!(again.replaced.as_ref(), Some(&kept));
    assert_eq!(jobs_of(&database.open(), 1..=2).await, [2]);
}

#[tokio::test]
async fn the_log_of_a_dead_process_does_not_reach_the_restored_database() {
    let database = TemporaryDatabase::new();
    let backup = backup_with(&database, 1).await;
    let store = database.open();
    create(&store, sample_job(2), open_gate()).await.expect("a job is created");
    // What a process that was killed leaves: all it wrote is in the log.
    let aside = tempfile::tempdir().expect("a folder");
    for ending in ["", "-wal", "-shm"] {
        let name = format!("docent.db{ending}");
        std::fs::copy(database.path.with_file_name(&name), aside.path().join(&name)).expect("copies");
    }
    let dead = aside.path().join("docent.db");
    assert!(std::fs::metadata(aside.path().join("docent.db-wal")).expect("there").len() > 0);
    let restored = restore(&backup, &dead).expect("restores");
    assert!(!aside.path().join("docent.db-wal").exists() && !aside.path().join("docent.db-shm").exists());
    assert_eq!(jobs_of(&SqliteStore::open(&dead).expect("opens"), 1..=2).await, [1]);
    let kept = restored.replaced.expect("there was one");
    assert_eq!(jobs_of(&SqliteStore::open(kept).expect("opens"), 1..=2).await, [2], "its log is in the kept file");
}

#[tokio::test]
async fn a_damaged_database_is_replaced_and_kept() {
    let database = TemporaryDatabase::new();
    let backup = backup_with(&database, 1).await;
    let garbage = "what a broken disk has made of a database ".repeat(400);
    let files = [("", garbage.as_str()), ("-wal", "the log"), ("-shm", "nothing of worth")];
    let file = |ending: &str| database.path.with_file_name(format!("docent.db{ending}"));
    for (ending, text) in files {
        std::fs::write(file(ending), text).expect("writes");
    }
    let kept = restore(&backup, &database.path).expect("restores").replaced.expect("there was one");
    assert_eq!(std::fs::read_to_string(kept).expect("is kept"), garbage);
    assert!(["-wal", "-shm"].iter().all(|ending| !file(ending).exists()));
    assert_eq!(jobs_of(&database.open(), [1]).await, [1]);
}

#[tokio::test]
async fn a_database_that_is_open_is_not_replaced_and_one_that_is_replaced_not_opened() {
    let database = TemporaryDatabase::new();
    let backup = backup_with(&database, 1).await;
    let store = database.open();
    let refused = restore(&backup, &database.path).expect_err("it is open");
    assert!(matches!(refused, RestoreError::InUse { .. }), "{refused}");
    drop(store);
    // A program of others, which does not know of our lock.
    let theirs = rusqlite::Connection::open(&database.path).expect("opens");
    let _: i64 = theirs.query_row("SELECT count(*) FROM jobs", [], |row| row.get(0)).expect("reads");
    let refused = restore(&backup, &database.path).expect_err("it is open");
    assert!(matches!(refused, RestoreError::InUse { .. }), "{refused}");
    drop(theirs);
    let alone = crate::use_lock::UseLock::alone(&database.path).expect("locks").expect("nobody has it open");
    let refused = SqliteStore::open(&database.path).expect_err("it is being replaced");
    assert!(refused.to_string().contains("being replaced"), "{refused}");
    drop(alone);
    restore(&backup, &database.path).expect("restores");
}

#[tokio::test]
async fn only_a_whole_backup_of_a_known_version_is_restored() {
    let database = TemporaryDatabase::new();
    let good = backup_with(&database, 1).await;
    drop(database.open());
    let before = (std::fs::read(&database.path).expect("reads"), names(&database).len());
    let elsewhere = tempfile::tempdir().expect("a folder");
    let file = |name: &str| elsewhere.path().join(name);
    std::fs::write(file("empty"), "").expect("writes");
    std::fs::write(file("text"), "a text that is longer than the head of a database ".repeat(40)).expect("writes");
    std::fs::create_dir(file("folder")).expect("makes");
    let foreign = rusqlite::Connection::open(file("foreign")).expect("opens");
    foreign.execute_batch("CREATE TABLE theirs (n INTEGER)").expect("writes");
    drop(foreign);
    std::fs::copy(&good, file("newer")).expect("copies");
    let newer = rusqlite::Connection::open(file("newer")).expect("opens");
    newer.pragma_update(None, "user_version", 99).expect("updates");
    drop(newer);
    let bytes = std::fs::read(&good).expect("reads");
    std::fs::write(file("cut"), &bytes[..bytes.len() / 2]).expect("writes");
    let mut torn = bytes.clone();
    torn[4096..4096 + 512].fill(0xff);
    std::fs::write(file("torn"), torn).expect("writes");
    let said = |name: &str| restore(&file(name), &database.path).expect_err(name).to_string();
    for (name, words) in [
        ("none", "cannot be read"),
        ("empty", "not a backup"),
        ("text", "not a backup"),
        ("folder", "not a backup"),
        ("foreign", "not a backup"),
        ("newer", "newer version"),
        ("cut", "damaged"),
        ("torn", "damaged"),
    ] {
        assert!(said(name).contains(words), "{name}: {}", said(name));
    }
    let refused = restore(&database.path, &database.path).expect_err("it is the database");
    assert!(matches!(refused, RestoreError::Same { .. }), "{refused}");
    assert_eq!((std::fs::read(&database.path).expect("reads"), names(&database).len()), before, "nothing was changed");
}
