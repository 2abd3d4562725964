//! Tests of the parts of ended jobs that are pruned, and of those that stay.

use std::sync::Arc;
use std::time::Duration;

use docent_types::{JobStatus, Timestamp};

use super::{HOUR, NOW, after, append, change, claim, created, follow_up, hold, id, journal, lease, open, row, work};
use crate::entry::EntryBody;
use crate::row::Row;
use crate::state::{self, JobProgress, Outcome};
use crate::store::{Pruned, Pruning, Store, WriteError, WriteGuards};

const DAYS: Duration = Duration::from_secs(24 * 3600);

/// A job with a journal of nine entries that ended `days` after now.
async fn ended(store: &Arc<dyn Store>, n: u128, days: u32) -> Row {
    created(store, n).await;
    let token = hold(store, n, lease("node", after(HOUR))).await.last_token;
    change(store, n, append(token, (0..5).map(work).collect())).await;
    let outcome = Outcome::Completed { message: format!("job {n}") };
    let end = move |row: &Row| state::finish(row, token, row.last_seq, &outcome, Vec::new(), JobProgress::default());
    let guards = WriteGuards { now: after(days * DAYS), ..open() };
    store.change(id(n), guards, Arc::new(end)).await.expect("the change is written");
    row(store, n).await
}

async fn prune(store: &Arc<dyn Store>, journals: Option<u32>, jobs: Option<u32>, limit: usize) -> Pruned {
    let before = |days: Option<u32>| days.map(|days| after(days * DAYS));
    let now = Timestamp::from_millis(250_000_000_000_000);
    let pruning = Pruning { now, journals_before: before(journals), jobs_before: before(jobs), limit };
    store.prune(pruning).await.expect("the store answers")
}

pub(super) async fn journals_of_ended_jobs_go_and_their_ends_stay(store: Arc<dyn Store>) {
    let before = ended(&store, 1, 1).await;
    ended(&store, 2, 3).await;
    assert_eq!(prune(&store, None, None, 100).await, Pruned::default(), "kept for ever");
    assert_eq!(prune(&store, Some(1), None, 100).await, Pruned::default(), "not yet");
    assert_eq!(prune(&store, Some(2), None, 100).await, Pruned { entries: 8, jobs: 0, more: false });
    let after = row(&store, 1).await;
    assert_eq!(after, Row { pruned_to: 8, ..before });
    let left = journal(&store, 1).await;
    assert_eq!((left.len(), left[0].seq), (1, 9));
    assert!(matches!(left[0].body, EntryBody::Transition { to: JobStatus::Completed, .. }));
    assert_eq!(journal(&store, 2).await.len(), 9);
    assert_eq!(prune(&store, Some(2), None, 100).await, Pruned::default(), "once is enough");
    let more = store.change(id(1), open(), follow_up("and more")).await;
    assert!(matches!(more, Err(WriteError::Refused(_))), "what was done is not known any more");
    let archived = change(&store, 1, Arc::new(|row: &Row| state::archive(row, NOW))).await;
    assert_eq!(archived.job.status, JobStatus::Archived);
    assert_eq!(journal(&store, 1).await.last().expect("an entry").seq, 10);
    change(&store, 2, follow_up("and more")).await;
}

pub(super) async fn a_job_is_forgotten_with_its_journal(store: Arc<dyn Store>) {
    ended(&store, 1, 1).await;
    ended(&store, 2, 2).await;
    ended(&store, 3, 3).await;
    assert_eq!(prune(&store, Some(2), None, 100).await.entries, 8);
    assert_eq!(prune(&store, None, Some(3), 100).await, Pruned { entries: 8, jobs: 2, more: false });
    for n in [1, 2] {
        assert_eq!(store.row(id(n)).await.expect("the store answers"), None);
        assert!(journal(&store, n).await.is_empty());
        let gone = store.change(id(n), open(), follow_up("and more")).await;
        assert!(matches!(gone, Err(WriteError::NotFound)));
    }
    assert_eq!(journal(&store, 3).await.len(), 9);
    created(&store, 1).await;
    assert_eq!(claim(&store, NOW).await.map(|row| row.id()), Some(id(1)), "nothing of the old one is left");
}

pub(super) async fn pruning_leaves_live_jobs(store: Arc<dyn Store>) {
    created(&store, 1).await;
    let again = ended(&store, 2, 1).await;
    assert_eq!(again.job.status, JobStatus::Completed);
    change(&store, 2, follow_up("and more")).await;
    assert_eq!(prune(&store, Some(1000), Some(1000), 100).await, Pruned::default());
    assert_eq!(journal(&store, 2).await.len(), 11);
    // The retention of a job that is archived later still counts from its end.
    let done = ended(&store, 3, 1).await;
    let guards = WriteGuards { now: after(50 * DAYS), ..open() };
    let archive = Arc::new(|row: &Row| state::archive(row, NOW));
    store.change(done.id(), guards, archive).await.expect("the change is written");
    assert_eq!(prune(&store, Some(2), None, 100).await, Pruned { entries: 9, jobs: 0, more: false });
}

pub(super) async fn pruning_goes_in_steps(store: Arc<dyn Store>) {
    for n in 1..=3 {
        ended(&store, n, 1).await;
    }
    let (mut entries, mut jobs, mut steps) = (0, 0, 0);
    loop {
        let step = prune(&store, Some(2), Some(2), 5).await;
        assert!(step.entries + step.jobs <= 5, "{step:?}");
        (entries, jobs, steps) = (entries + step.entries, jobs + step.jobs, steps + 1);
        if let Some(row) = store.row(id(1)).await.expect("the store answers") {
            let journal = journal(&store, 1).await;
            assert!(journal.iter().map(|entry| entry.seq).eq(row.pruned_to + 1..=9), "no gap");
        }
        if !step.more {
            break;
        }
        assert!(step.entries + step.jobs > 0, "it gets on");
    }
    assert_eq!((entries, jobs), (24, 3));
    assert!(steps >= 6, "{steps}");
}
