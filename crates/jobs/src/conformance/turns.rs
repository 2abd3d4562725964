//! Turns: which project is served next, how many of its jobs at once, and who waits for a concurrency key.

use std::sync::Arc;
use std::time::Duration;

use docent_types::{AgentJob, ProjectId, Source};

use super::{
    HOUR, NOW, after, append, change, claim, claim_for, create, hold, id, lease, open, refuse, row, sample_job, work,
};
use crate::row::Row;
use crate::state::{self, JobProgress, Outcome};
use crate::store::{ClaimRequest, Decision, Store, WriteError};

async fn queue(store: &Arc<dyn Store>, project: &str, jobs: impl IntoIterator<Item = u128>) {
    let project = ProjectId::parse(project).expect("a name");
    for n in jobs {
        let job = AgentJob { project: project.clone(), ..sample_job(n) };
        create(store, job, open()).await.expect("a job is created");
    }
}

/// Jobs on one branch.
async fn queue_under_one_key(store: &Arc<dyn Store>, jobs: impl IntoIterator<Item = u128>) {
    let source = Source { repository: "/a".to_owned(), branch: "x".to_owned() };
    for n in jobs {
        let job = AgentJob { source: source.clone(), ..sample_job(n) };
        create(store, job, open()).await.expect("a job is created");
    }
}

async fn batch(store: &Arc<dyn Store>, cap_per_project: usize, limit: usize) -> Vec<u128> {
    let request = ClaimRequest { now: NOW, cap_per_project, limit };
    let rows = store.claim(request, lease("node", after(HOUR))).await.expect("the store answers");
    rows.iter().map(|row| row.id().uuid().as_u128()).collect()
}

fn finish(row: &Row) -> Decision {
    let (token, seen) = (row.last_token, row.last_seq);
    let outcome = Outcome::Completed { message: "done".to_owned() };
    Arc::new(move |row: &Row| state::finish(row, token, seen, &outcome, Vec::new(), JobProgress::default()))
}

pub(super) async fn projects_take_turns(store: Arc<dyn Store>) {
    queue(&store, "beta", [1, 2, 3]).await;
    queue(&store, "alpha", [4, 5, 6]).await;
    queue(&store, "gamma", [7]).await;
    let mut order = Vec::new();
    while let Some(row) = claim(&store, NOW).await {
        order.push(row.id().uuid().as_u128());
    }
    assert_eq!(order, [4, 1, 7, 5, 2, 6, 3], "never served by name first, then who was served least recently");
    queue(&store, "beta", [8]).await;
    queue(&store, "gamma", [9]).await;
    assert_eq!(batch(&store, usize::MAX, 9).await, [9, 8], "what was served while others waited counts on");
}

pub(super) async fn a_long_queue_does_not_starve_a_short_one(store: Arc<dyn Store>) {
    queue(&store, "long", 1..=50).await;
    assert_eq!(batch(&store, usize::MAX, 3).await, [1, 2, 3]);
    queue(&store, "short", [51]).await;
    assert_eq!(batch(&store, usize::MAX, 2).await, [51, 4]);
}

pub(super) async fn a_project_runs_no_more_than_its_cap(store: Arc<dyn Store>) {
    queue(&store, "long", 1..=5).await;
    queue(&store, "short", [6, 7, 8]).await;
    assert!(batch(&store, 0, 9).await.is_empty());
    assert_eq!(batch(&store, 2, 9).await, [1, 6, 2, 7]);
    assert!(batch(&store, 2, 9).await.is_empty());
    let first = row(&store, 6).await;
    change(&store, 6, finish(&first)).await;
    assert_eq!(batch(&store, 2, 9).await, [8], "a place is free again");
    assert_eq!(batch(&store, 3, 9).await, [3], "with a higher cap");
    let late = ClaimRequest { now: after(HOUR), cap_per_project: 1, limit: 9 };
    let rescued = store.claim(late, lease("node", after(2 * HOUR))).await.expect("the store answers");
    let rescued: Vec<_> = rescued.iter().map(Row::id).collect();
    assert_eq!(rescued, [id(7), id(1)], "leases that ran out do not count");
}

pub(super) async fn a_batch_is_like_one_claim_after_another(store: Arc<dyn Store>) {
    queue(&store, "a", [1, 4, 5]).await;
    queue(&store, "b", [2]).await;
    queue(&store, "c", [3, 6]).await;
    assert!(batch(&store, usize::MAX, 0).await.is_empty());
    assert_eq!(batch(&store, usize::MAX, 2).await, [1, 2]);
    assert_eq!(batch(&store, usize::MAX, 3).await, [3, 4, 6]);
    let rows = batch(&store, usize::MAX, 3).await;
    assert_eq!(rows, [5]);
    let last = row(&store, 5).await;
    assert_eq!((last.last_token, last.last_seq, last.lease.is_some()), (1, 3, true));
}

pub(super) async fn a_deep_concurrency_key_gives_one_at_a_time(store: Arc<dyn Store>) {
    queue_under_one_key(&store, 1..=20).await;
    queue(&store, "acme", [21, 22]).await;
    assert_eq!(batch(&store, usize::MAX, 9).await, [1, 21, 22], "the others of the key wait");
    for n in 1..=19 {
        let held = row(&store, n).await;
        change(&store, n, finish(&held)).await;
        assert_eq!(batch(&store, usize::MAX, 9).await, [n + 1]);
    }
}

pub(super) async fn an_older_job_that_waits_lets_a_younger_one_of_its_key_go_first(store: Arc<dyn Store>) {
    queue_under_one_key(&store, 1..=3).await;
    let first = claim(&store, NOW).await.expect("a job is due");
    assert!(batch(&store, usize::MAX, 9).await.is_empty());
    let (token, soon) = (first.last_token, after(Duration::from_secs(5)));
    change(&store, 1, Arc::new(move |row: &Row| state::retry(row, token, "busy", soon))).await;
    let second = claim_for(&store, NOW, "node", soon).await.expect("the key is free");
    assert_eq!(second.id(), id(2));
    let oldest = claim(&store, soon).await.expect("the lease of the second ran out as the first fell due");
    assert_eq!(oldest.id(), id(1), "the oldest that is due goes first");
    assert_eq!(claim(&store, soon).await, None);
    change(&store, 1, finish(&oldest)).await;
    assert_eq!(claim(&store, soon).await.map(|row| row.id()), Some(id(2)));
}

pub(super) async fn who_waits_for_a_concurrency_key_goes_on_when_its_holder_ends_in_any_way(store: Arc<dyn Store>) {
    queue_under_one_key(&store, 1..=7).await;
    let mut holder = claim(&store, NOW).await.expect("a job is due");
    let ends: [fn(&Row) -> Decision; 3] = [
        finish,
        |_| Arc::new(|row: &Row| state::archive(row, NOW)),
        |row| {
            let token = row.last_token;
            Arc::new(move |row: &Row| state::retry(row, token, "busy", after(HOUR)))
        },
    ];
    for (n, end) in (2..).zip(ends) {
        assert_eq!(claim(&store, NOW).await, None, "job {n} waits");
        change(&store, n - 1, end(&holder)).await;
        holder = claim(&store, NOW).await.expect("the key is free");
        assert_eq!(holder.id(), id(n));
    }
    // Archived while it was next in line, and nobody held the concurrency key.
    assert_eq!(claim(&store, NOW).await, None);
    change(&store, 4, finish(&holder)).await;
    change(&store, 5, Arc::new(|row: &Row| state::archive(row, NOW))).await;
    let sixth = claim_for(&store, NOW, "gone", after(Duration::from_secs(1))).await.expect("the key is free");
    assert_eq!(sixth.id(), id(6));
    change(&store, 6, Arc::new(|row: &Row| state::archive(row, NOW))).await;
    assert_eq!(claim(&store, NOW).await.map(|row| row.id()), Some(id(7)));
}

pub(super) async fn holding_a_job_is_refused_as_a_change_is(store: Arc<dyn Store>) {
    queue(&store, "acme", [1]).await;
    let before = row(&store, 1).await;
    assert!(matches!(store.hold(id(1), NOW, refuse()).await, Err(WriteError::Refused(_))));
    assert!(matches!(store.hold(id(9), NOW, refuse()).await, Err(WriteError::NotFound)));
    assert_eq!(row(&store, 1).await, before);
    let token = claim(&store, NOW).await.expect("a job is due").last_token;
    let held = hold(&store, 1, append(token, vec![work(1)])).await;
    assert_eq!((held.last_seq, held), (4, row(&store, 1).await));
}
