//! Claims and leases: one worker a job, one job a concurrency key.

use std::sync::Arc;
use std::time::Duration;

use docent_types::{AgentJob, JobStatus, Source};

use super::{
    HOUR, NOW, after, append, change, claim, claim_for, create, created, hold, id, journal, open, row, sample_job, work,
};
use crate::entry::EntryBody;
use crate::row::Row;
use crate::state::{self, JobProgress, Outcome};
use crate::store::{Store, WriteError};

pub(super) async fn a_late_write_is_refused(store: Arc<dyn Store>) {
    created(&store, 1).await;
    let first = claim_for(&store, NOW, "slow", after(Duration::from_secs(30))).await;
    let old = first.expect("a job is due").last_token;
    let rescue = claim_for(&store, after(Duration::from_secs(30)), "quick", after(HOUR)).await;
    let rescued = rescue.expect("the lease ran out");
    assert!(rescued.last_token > old);
    let late = store.change(id(1), open(), append(old, vec![work(1)])).await;
    assert!(matches!(late, Err(WriteError::Refused(_))));
    let journal_before = journal(&store, 1).await;
    change(&store, 1, append(rescued.last_token, vec![work(2)])).await;
    let journal = journal(&store, 1).await;
    assert_eq!(journal[..journal_before.len()], journal_before);
    assert_eq!(journal.last().expect("an entry").body, work(2));
}

pub(super) async fn the_oldest_job_is_claimed_first(store: Arc<dyn Store>) {
    assert_eq!(claim(&store, NOW).await, None);
    for n in [3, 1, 4, 2] {
        created(&store, n).await;
    }
    let done = claim(&store, NOW).await.expect("a job is due");
    let outcome = Outcome::Completed { message: "done".to_owned() };
    let (token, seen) = (done.last_token, done.last_seq);
    let finish = move |row: &Row| state::finish(row, token, seen, &outcome, vec![work(1)], JobProgress::default());
    assert_eq!(change(&store, 1, Arc::new(finish)).await.job.status, JobStatus::Completed);
    let wait = claim(&store, NOW).await.expect("a job is due");
    assert_eq!(wait.id(), id(2));
    let token = wait.last_token;
    let retry = move |row: &Row| state::retry(row, token, "busy", after(HOUR));
    change(&store, 2, Arc::new(retry)).await;
    let third = claim(&store, NOW).await.expect("a job is due");
    assert_eq!(third.id(), id(3));
    assert_eq!(third, row(&store, 3).await, "what is claimed is what is written");
    let leased = third.lease.as_ref().expect("a lease");
    assert_eq!((leased.holder.as_str(), leased.until, third.last_seq), ("node", after(HOUR), 3));
    assert!(matches!(journal(&store, 3).await[2].body, EntryBody::Leased { rescued: false, .. }));
    assert_eq!(claim(&store, NOW).await.map(|row| row.id()), Some(id(4)));
    assert_eq!(claim(&store, NOW).await, None);
    assert_eq!(claim(&store, after(HOUR - Duration::from_millis(1))).await, None);
    assert_eq!(claim(&store, after(HOUR)).await.map(|row| row.id()), Some(id(2)), "due again, and the oldest");
}

pub(super) async fn a_job_is_claimed_once_under_a_race(store: Arc<dyn Store>) {
    for n in 1..=20 {
        created(&store, n).await;
    }
    let claims: Vec<_> = (0..40)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { claim(&store, NOW).await.map(|row| row.id()) })
        })
        .collect();
    let mut claimed = Vec::new();
    for attempt in claims {
        claimed.extend(attempt.await.expect("no panic"));
    }
    claimed.sort_unstable();
    assert_eq!(claimed, (1..=20).map(id).collect::<Vec<_>>());
}

pub(super) async fn a_concurrency_key_is_leased_once(store: Arc<dyn Store>) {
    let on = |n, repository: &str, branch: &str| {
        let source = Source { repository: repository.to_owned(), branch: branch.to_owned() };
        AgentJob { source, ..sample_job(n) }
    };
    for job in [on(1, "/a", "x"), on(2, "/a", "x"), on(3, "/a", "y"), on(4, "/b", "x")] {
        create(&store, job, open()).await.expect("a job is created");
    }
    let short = after(Duration::from_secs(30));
    let first = claim_for(&store, NOW, "node", short).await.expect("a job is due");
    assert_eq!(first.id(), id(1));
    assert_eq!(claim(&store, NOW).await.map(|row| row.id()), Some(id(3)), "job 2 waits for its key");
    assert_eq!(claim(&store, NOW).await.map(|row| row.id()), Some(id(4)));
    assert_eq!(claim(&store, NOW).await, None);
    let token = first.last_token;
    change(&store, 1, Arc::new(move |row: &Row| state::retry(row, token, "busy", after(HOUR)))).await;
    assert_eq!(claim(&store, NOW).await.map(|row| row.id()), Some(id(2)), "the key is free");
    assert_eq!(claim(&store, after(HOUR - Duration::from_millis(1))).await, None, "held by job 2");
}

pub(super) async fn a_lease_that_ran_out_is_claimed_again(store: Arc<dyn Store>) {
    created(&store, 1).await;
    let until = after(Duration::from_secs(30));
    let first = claim_for(&store, NOW, "gone", until).await.expect("a job is due");
    let renewed = until.plus(Duration::from_secs(30));
    let token = first.last_token;
    let held = hold(&store, 1, Arc::new(move |row: &Row| state::renew(row, token, renewed))).await;
    assert_eq!(held, row(&store, 1).await, "what is given is what is written");
    assert_eq!(claim(&store, until).await, None, "it was renewed");
    let rescued = claim(&store, renewed).await.expect("it ran out");
    assert_eq!((rescued.id(), rescued.attempt.failed, rescued.last_token), (id(1), 1, token + 1));
    let last = journal(&store, 1).await.pop().expect("an entry");
    assert!(matches!(last.body, EntryBody::Leased { rescued: true, .. }));
    assert_eq!(last.at, renewed);
    let token = rescued.last_token;
    hold(&store, 1, Arc::new(move |row: &Row| state::release(row, token))).await;
    assert_eq!(claim(&store, renewed).await.map(|row| row.attempt.failed), Some(1), "given back, not lost");
}

pub(super) async fn the_next_due_time_is_known(store: Arc<dyn Store>) {
    let next = async |now| store.next_due(now).await.expect("the store answers");
    assert_eq!(next(NOW).await, None);
    created(&store, 1).await;
    created(&store, 2).await;
    assert_eq!(next(NOW).await, None, "what is due already is no wait");
    let until = after(Duration::from_secs(30));
    let first = claim_for(&store, NOW, "node", until).await.expect("a job is due");
    assert_eq!(next(NOW).await, Some(until));
    let second = claim(&store, NOW).await.expect("a job is due");
    let sooner = after(Duration::from_secs(5));
    let token = second.last_token;
    change(&store, 2, Arc::new(move |row: &Row| state::retry(row, token, "busy", sooner))).await;
    assert_eq!(next(NOW).await, Some(sooner));
    assert_eq!(next(sooner).await, Some(until));
    assert_eq!(next(until).await, None);
    change(&store, first.job.id.uuid().as_u128(), Arc::new(|row: &Row| state::archive(row, NOW))).await;
    assert_eq!(next(sooner).await, None, "an ended job waits for nothing");
}

pub(super) async fn leases_of_the_dead_are_found_and_taken(store: Arc<dyn Store>) {
    created(&store, 1).await;
    created(&store, 2).await;
    let leased = async || store.leased().await.expect("the store answers");
    assert!(leased().await.is_empty());
    let first = claim(&store, NOW).await.expect("a job is due");
    assert_eq!(leased().await, [first.id()]);
    hold(&store, 1, Arc::new(state::orphan)).await;
    assert!(leased().await.is_empty());
    let again = claim(&store, NOW).await.expect("it need not wait for the lease to run out");
    assert_eq!((again.id(), again.attempt.failed, again.last_token), (first.id(), 1, first.last_token + 1));
}
