//! Several processes on one file, and what is left when one is killed. The children run this test binary again,
//! configured by environment variables.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;

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
async fn what_was_acknowledged_survives_a_kill() {
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
