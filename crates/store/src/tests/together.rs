//! Jobs that are created in one transaction.

use docent_types::{JobStatus, Source};

use super::*;

/// A job on a branch of its own, as most are: whether its concurrency key is taken need not be checked.
fn own(n: u128) -> AgentJob {
    let job = sample_job(n);
    let branch = format!("docent/{}", job.id);
    AgentJob { source: Source { branch, ..job.source }, ..job }
}

/// Creates these jobs in one transaction, and returns for each whether it was created.
async fn make(store: &Arc<SqliteStore>, jobs: impl IntoIterator<Item = AgentJob>) -> Vec<bool> {
    let release = hold_the_writer(store).await;
    let before = store.writes().commits;
    let making = |job| {
        let store = Arc::clone(store);
        tokio::spawn(async move { create(&store, job, limited_gate()).await.is_ok() })
    };
    let tries: Vec<_> = jobs.into_iter().map(making).collect();
    let_them_ask().await;
    drop(release);
    let mut made = Vec::new();
    for attempt in tries {
        made.push(attempt.await.expect("no panic"));
    }
    // One commit for the command that held the writer, and one for all of these.
    assert_eq!(store.writes().commits, before + 2);
    made
}

#[tokio::test]
async fn as_many_jobs_as_are_made_at_once_are_there() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let mut all = 0;
    for count in [1, 7, 8, 9, 41, 33] {
        // Also created in another order than that of their ids.
        let ids = (all + 1..=all + count).rev();
        all += count;
        assert_eq!(make(&store, ids.map(own)).await, vec![true; usize::try_from(count).expect("few")]);
        let other = database.open();
        for n in 1..=all {
            let id = own(n).id;
            let row = other.row(id).await.expect("the store answers").expect("the job is there");
            assert_eq!((row.id(), row.last_seq), (id, 2));
            let known = store.entries(id, 0, 9).await.expect("the store answers");
            let read = other.entries(id, 0, 9).await.expect("the store answers");
            assert_eq!(known, read);
            assert_eq!(read.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2]);
        }
    }
    store.check().await.expect("sound");
}

#[tokio::test]
async fn an_id_is_given_to_one_job_alone() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    assert_eq!(make(&store, [3, 1, 3, 2].map(own)).await, [true, true, false, true]);
    // With the jobs in the cache, and with an empty cache.
    for store in [store, database.open()] {
        assert_eq!(make(&store, [2, 1].map(own)).await, [false, false]);
    }
    let store = database.open();
    assert_eq!(make(&store, [2, 5, 4].map(own)).await, [false, true, true]);
    assert_eq!(make(&database.open(), [4, 6].map(own)).await, [false, true]);
}

#[tokio::test]
async fn changes_find_jobs_created_in_the_same_transaction() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let release = hold_the_writer(&store).await;
    let making = |job| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { create(&store, job, open_gate()).await.expect("a job is created") })
    };
    let (first, second) = (making(own(1)), making(own(2)));
    let archived = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.change(own(1).id, open_gate(), Arc::new(|row: &Row| state::archive(row, NOW))).await }
    });
    // The third job waits for the second, whose branch it is on.
    let source = Source { branch: own(2).source.branch, ..own(3).source };
    let third = making(AgentJob { source, ..own(3) });
    let claimed = tokio::spawn({
        let store = Arc::clone(&store);
        async move { claim(&store, 9).await }
    });
    let_them_ask().await;
    drop(release);
    for made in [first, second, third] {
        made.await.expect("no panic");
    }
    assert_eq!(archived.await.expect("no panic").expect("archives").job.status, JobStatus::Archived);
    let claimed: Vec<_> = claimed.await.expect("no panic").iter().map(Row::id).collect();
    assert_eq!(claimed, [own(2).id]);
    let other = database.open();
    let row = other.row(own(1).id).await.expect("the store answers").expect("the job is there");
    assert_eq!((row.job.status, row.last_seq), (JobStatus::Archived, 3));
}
