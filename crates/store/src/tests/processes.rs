//! Several processes on one file, and what is left when one is killed. The children run this test binary again,
//! configured by environment variables.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::{CheckedBackup, Existing};

const DATABASE: &str = "DOCENT_STORE_TEST_DATABASE";
const FIRST: &str = "DOCENT_STORE_TEST_FIRST";

/// Starts this binary as a child that runs only `test`.
fn child(test: &str, database: &Path, first: u128) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", &format!("tests::processes::{test}"), "--nocapture", "--include-ignored"])
        .env(DATABASE, database)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

fn told() -> Option<(Arc<SqliteStore>, u128)> {
    let path = std::env::var_os(DATABASE)?;
    let first = std::env::var(FIRST).ok()?.parse().ok()?;
    Some((Arc::new(SqliteStore::open(path).expect("opens")), first))
}

/// The numbers that the child acknowledges, from among the output of the test harness.
fn numbers(child: &mut Child) -> impl Iterator<Item = u128> + use<> {
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a child of the tests below"]
async fn child_writes_until_it_is_killed() {
    let Some((store, first)) = told() else { return };
    let writers: Vec<_> = (0..4)
        .map(|lane| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for n in (first + lane..).step_by(4) {
                    create(&store, sample_job(n), open_gate()).await.expect("a job is created");
                    println!("acknowledged {n}");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("no panic");
    }
}

/// Creates jobs, and works on them as an engine does: leases some at once, renews, writes down, finishes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a child of the tests below"]
async fn child_works_until_it_is_killed() {
    let Some((store, first)) = told() else { return };
    let creates = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for n in first.. {
                create(&store, sample_job(n), open_gate()).await.expect("a job is created");
                println!("acknowledged {n}");
            }
        }
    });
    loop {
        for row in claim(&store, 4).await {
            let (n, token) = (row.id().uuid().as_u128(), row.last_token);
            println!("leased {n}");
            let until = NOW.plus(Duration::from_secs(60));
            let renew = Arc::new(move |row: &Row| state::renew(row, token, until));
            store.hold(row.id(), NOW, renew).await.expect("the lease is renewed");
            println!("renewed {n}");
            if n % 3 == 0 && token == 1 {
                let release = Arc::new(move |row: &Row| state::release(row, token));
                store.hold(row.id(), NOW, release).await.expect("the job is given back");
                continue;
            }
            append(&store, &row, 1).await.expect("the entry is written");
            let outcome = state::Outcome::Completed { message: "done".to_owned() };
            let finish =
                move |row: &Row| state::finish(row, token, u64::MAX, &outcome, Vec::new(), JobProgress::default());
            store.change(row.id(), open_gate(), Arc::new(finish)).await.expect("the job is finished");
            println!("finished {n}");
        }
        assert!(!creates.is_finished(), "goes on until it is killed");
    }
}

#[tokio::test]
async fn whatever_was_going_on_a_kill_leaves_whole_and_in_order() {
    let database = TemporaryDatabase::new();
    for round in 0..5 {
        let first = 1_000_000 * (round + 1);
        let mut child = child("child_works_until_it_is_killed", &database.path, first);
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut said = lines.map_while(Result::ok).filter_map(|line| {
            let (word, number) = line.split_once(' ')?;
            Some((word.to_owned(), number.parse::<u128>().ok()?))
        });
        let mut heard: Vec<_> = said.by_ref().take(40 + 31 * round as usize).collect();
        child.kill().expect("is killed");
        heard.extend(said);
        child.wait().expect("ends");
        let store = database.open();
        store.check().await.expect("sound");
        for (word, n) in &heard {
            let row = store.row(sample_job(*n).id).await.expect("the store answers").expect("there");
            let journal = store.entries(row.id(), 0, 100).await.expect("the store answers");
            assert!(journal.iter().map(|entry| entry.seq).eq(1..=row.last_seq), "job {n}: no gap and nothing torn");
            let leases = journal.iter().filter(|entry| matches!(entry.body, EntryBody::Leased { .. })).count() as u64;
            assert_eq!(leases, row.last_token, "job {n}: each token has its entry");
            match word.as_str() {
                "finished" => assert_eq!(row.job.status, docent_types::JobStatus::Completed, "job {n}"),
                "leased" | "renewed" => assert!(row.last_token > 0, "job {n}"),
                _ => {}
            }
        }
        assert!(heard.iter().any(|(word, _)| word == "finished"), "{heard:?}");
        for id in store.leased().await.expect("the store answers") {
            store.hold(id, NOW, Arc::new(state::orphan)).await.expect("is taken back");
        }
    }
}

#[tokio::test]
#[ignore = "a child of the tests below"]
async fn child_tries_150_creations() {
    let Some((store, first)) = told() else { return };
    for n in first..first + 150 {
        match create(&store, sample_job(n), limited_gate()).await {
            Ok(_) => println!("acknowledged {n}"),
            Err(WriteError::Limited(_)) => {}
            Err(error) => panic!("{}", docent_types::error_chain(&error)),
        }
    }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() {
    let database = TemporaryDatabase::new();
    for round in 0..5 {
        let first = 1_000_000 * (round + 1);
        let mut child = child("child_writes_until_it_is_killed", &database.path, first);
        let mut numbers = numbers(&mut child);
        let mut acknowledged: Vec<u128> = numbers.by_ref().take(20 + 13 * round as usize).collect();
        child.kill().expect("is killed");
        acknowledged.extend(numbers);
        child.wait().expect("ends");
        let store = database.open();
        store.check().await.expect("sound");
        for n in acknowledged {
            let row = store.row(sample_job(n).id).await.expect("the store answers").expect("acknowledged, so there");
            let entries = store.entries(row.id(), 0, 10).await.expect("the store answers");
            assert_eq!(entries.len() as u64, row.last_seq, "a job is there whole");
        }
    }
}

#[tokio::test]
async fn three_processes_share_one_quota() {
    let database = TemporaryDatabase::new();
    let mut children = [1000, 2000].map(|first| child("child_tries_150_creations", &database.path, first));
    let store = database.open();
    let mut accepted = 0;
    for n in 1..=150 {
        accepted += usize::from(create(&store, sample_job(n), limited_gate()).await.is_ok());
    }
    for child in &mut children {
        accepted += numbers(child).count();
        assert!(child.wait().expect("ends").success());
    }
    assert_eq!(accepted, 100);
}

/// Copies the database again and again.
#[tokio::test]
#[ignore = "a child of the test below"]
async fn child_copies_until_it_is_killed() {
    let Some((store, _)) = told() else { return };
    let copy = store.path().with_file_name("copy.db");
    for n in 1.. {
        store.backup(&copy, Existing::Replace).await.expect("is copied");
        println!("acknowledged {n}");
    }
}

/// Restores two backups in turns.
#[tokio::test]
#[ignore = "a child of the test below"]
async fn child_restores_until_it_is_killed() {
    let Some(database) = std::env::var_os(DATABASE).map(PathBuf::from) else { return };
    for n in 1.. {
        let backup = database.with_file_name(format!("backup-{}.db", n % 2));
        CheckedBackup::open(backup).expect("whole").restore_to(&database, NOW).expect("is restored");
        println!("acknowledged {n}");
        for entry in std::fs::read_dir(database.parent().expect("a folder")).expect("reads").flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.contains(".replaced-")) {
                std::fs::remove_file(entry.path()).expect("removes");
            }
        }
    }
}

/// Kills a child after it acknowledged `after` rounds, somewhere in the next one.
fn kill_after(mut child: Child, after: usize) {
    let acknowledged = numbers(&mut child).take(after).count();
    assert_eq!(acknowledged, after, "it was at work");
    // How far it comes meanwhile is up to the machine.
    (0..after * 50).for_each(|_| std::thread::yield_now());
    child.kill().expect("kills");
    child.wait().expect("ends");
}

#[tokio::test]
async fn a_kill_leaves_a_whole_copy_and_what_it_leaves_behind_is_removed() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    for n in 1..=20 {
        create(&store, sample_job(n), open_gate()).await.expect("a job is created");
    }
    let copy = database.path.with_file_name("copy.db");
    for after in 1..=8 {
        kill_after(child("child_copies_until_it_is_killed", &database.path, 0), after);
        let copied = SqliteStore::open(&copy).expect("is whole");
        copied.check().await.expect("sound");
        assert!(copied.row(sample_job(20).id).await.expect("the store answers").is_some());
    }
    store.backup(&copy, Existing::Replace).await.expect("is copied");
    let names = std::fs::read_dir(copy.parent().expect("a folder")).expect("reads").flatten();
    let left: Vec<_> = names
        .map(|entry| entry.file_name())
        .filter(|name| name.to_str().is_some_and(|name| name.contains(".docent-copy")))
        .collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new());
}

#[tokio::test]
async fn a_kill_leaves_the_old_database_or_the_restored_one() {
    let database = TemporaryDatabase::new();
    for n in [0, 1] {
        let other = TemporaryDatabase::new();
        let store = other.open();
        create(&store, sample_job(n + 1), open_gate()).await.expect("a job is created");
        let backup = database.path.with_file_name(format!("backup-{n}.db"));
        store.backup(backup, Existing::Refuse).await.expect("is copied");
    }
    for after in 1..=8 {
        kill_after(child("child_restores_until_it_is_killed", &database.path, 0), after);
        {
            let store = database.open();
            store.check().await.expect("sound");
            let is_there = async |n| store.row(sample_job(n).id).await.expect("the store answers").is_some();
            assert!(is_there(1).await ^ is_there(2).await, "one of them, and not a mixture");
            // More for the log, of which nothing may reach the next one.
            create(&store, sample_job(100), open_gate()).await.expect("a job is created");
        }
        let backup = database.path.with_file_name("backup-0.db");
        CheckedBackup::open(backup).expect("whole").restore_to(&database.path, NOW).expect("finishes");
        let store = database.open();
        store.check().await.expect("sound");
        for (n, expected) in [(1, true), (2, false), (100, false)] {
            assert_eq!(store.row(sample_job(n).id).await.expect("the store answers").is_some(), expected, "{n}");
        }
    }
}
