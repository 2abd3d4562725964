//! Tests of the events queued for hooks, and of how long they are kept.

use std::sync::Arc;
use std::time::Duration;

use docent_types::{JobStatus, Timestamp};

use super::{DAY, HOUR, NOW, after, change, created, follow_up, hold, id, lease, open_at, refuse, row};
use crate::outbox::{DeliveryAttempt, Outbox, QueuedEvent};
use crate::row::Row;
use crate::state::{self, JobProgress, Outcome};
use crate::store::{Pruning, Store};

const ONE: &str = "https://one.example/hook";
const OTHER: &str = "https://other.example/hook";

async fn hooks(store: &dyn Outbox, hooks: &[&str]) {
    store.set_hooks(hooks.iter().map(|hook| (*hook).to_owned()).collect()).await.expect("the hooks are set");
}

async fn queued(store: &dyn Outbox, hook: &str) -> Vec<QueuedEvent> {
    store.queued(hook, 100).await.expect("the store answers")
}

/// Ends a turn of an active job at this time.
async fn ends(store: &Arc<dyn Store>, n: u128, now: Timestamp, outcome: Outcome) -> Row {
    let token = hold(store, n, lease("node", after(HOUR))).await.last_token;
    let link = JobProgress { pr_link: Some(format!("https://git.example/pulls/{n}")), ..JobProgress::default() };
    let end = move |row: &Row| state::finish(row, token, row.last_seq, &outcome, Vec::new(), link.clone());
    store.change(id(n), open_at(now), Arc::new(end)).await.expect("the change is written");
    row(store, n).await
}

fn completed() -> Outcome {
    Outcome::Completed { message: "zwölf\n\u{1F980}".to_owned() }
}

fn attempt(delivered: bool) -> DeliveryAttempt {
    DeliveryAttempt { at: after(HOUR), delivered, answer: if delivered { "200" } else { "500" }.to_owned() }
}

fn archive() -> crate::store::Decision {
    Arc::new(|row: &Row| state::archive(row, NOW))
}

pub(super) async fn each_end_of_a_job_is_an_event_for_each_hook<S: Store + Outbox>(store: Arc<S>) {
    let jobs: Arc<dyn Store> = store.clone();
    hooks(&*store, &[ONE, OTHER]).await;
    created(&jobs, 1).await;
    created(&jobs, 2).await;
    let first = ends(&jobs, 1, after(HOUR), completed()).await;
    change(&jobs, 1, follow_up("and more")).await;
    let failed = Outcome::Failed { halt: docent_types::Halt::Error, message: "no".to_owned() };
    let second = ends(&jobs, 1, after(2 * HOUR), failed).await;
    change(&jobs, 1, archive()).await;
    change(&jobs, 1, archive()).await;
    change(&jobs, 2, archive()).await;
    let (third, stopped) = (row(&jobs, 1).await, row(&jobs, 2).await);
    for hook in [ONE, OTHER] {
        let events = queued(&*store, hook).await;
        let told: Vec<_> = events.iter().map(|queued| (&queued.event.job, queued.event.seq, queued.due)).collect();
        let expected = [(&third, NOW), (&stopped, NOW), (&first, after(HOUR)), (&second, after(2 * HOUR))];
        assert_eq!(told, expected.map(|(row, at)| (&*row.job, row.last_seq, at)), "{hook}");
        assert!(events.iter().all(|queued| queued.failed == 0 && queued.due == queued.event.at));
        assert_eq!(events[2].event.id(), format!("{}-{}", id(1), first.last_seq));
        assert_eq!(events[2].event.job.pr_link.as_deref(), Some("https://git.example/pulls/1"));
    }
    let statuses = [third.job.status, stopped.job.status, first.job.status, second.job.status];
    assert_eq!(statuses, [JobStatus::Archived, JobStatus::Archived, JobStatus::Completed, JobStatus::Failed]);
    assert_eq!(store.queued(ONE, 3).await.expect("the store answers"), queued(&*store, ONE).await[..3]);
}

pub(super) async fn refused_changes_queue_no_event<S: Store + Outbox>(store: Arc<S>) {
    let jobs: Arc<dyn Store> = store.clone();
    hooks(&*store, &[ONE]).await;
    created(&jobs, 1).await;
    assert!(jobs.change(id(1), open_at(NOW), refuse()).await.is_err());
    hold(&jobs, 1, lease("node", after(HOUR))).await;
    assert_eq!(queued(&*store, ONE).await, []);
}

pub(super) async fn an_event_stays_until_it_is_delivered_or_given_up<S: Store + Outbox>(store: Arc<S>) {
    let jobs: Arc<dyn Store> = store.clone();
    hooks(&*store, &[OTHER, ONE]).await;
    for n in 1..=2 {
        created(&jobs, n).await;
        ends(&jobs, n, NOW, completed()).await;
    }
    let [first, second] = &queued(&*store, ONE).await[..] else { panic!("two events") };
    let told = async |event: &QueuedEvent, delivered, again| {
        store.attempted(ONE, event.event.id(), attempt(delivered), again).await.expect("the attempt is recorded");
    };
    told(first, false, Some(after(DAY))).await;
    told(first, false, Some(after(2 * DAY))).await;
    let later = QueuedEvent { failed: 2, due: after(2 * DAY), ..first.clone() };
    assert_eq!(queued(&*store, ONE).await, [second.clone(), later], "what is due later comes later");
    told(second, true, None).await;
    let states = store.hook_states().await.expect("the store answers");
    let shown: Vec<_> = states.iter().map(|state| (state.hook.as_str(), state.queued, state.last.clone())).collect();
    assert_eq!(shown, [(ONE, 1, Some(attempt(true))), (OTHER, 2, None)]);
    told(first, false, None).await;
    assert_eq!(queued(&*store, ONE).await, []);
    assert_eq!(queued(&*store, OTHER).await.len(), 2);
    told(first, true, Some(after(DAY))).await;
    assert_eq!(queued(&*store, ONE).await, [], "what is not there is not put back");
}

pub(super) async fn a_hook_hears_from_when_it_is_added_until_it_is_removed<S: Store + Outbox>(store: Arc<S>) {
    let jobs: Arc<dyn Store> = store.clone();
    for n in 1..=3 {
        created(&jobs, n).await;
    }
    ends(&jobs, 1, NOW, completed()).await;
    hooks(&*store, &[ONE]).await;
    ends(&jobs, 2, NOW, completed()).await;
    hooks(&*store, &[ONE, OTHER]).await;
    ends(&jobs, 3, NOW, completed()).await;
    let heard = async |hook| queued(&*store, hook).await.iter().map(|queued| queued.event.job.id).collect::<Vec<_>>();
    assert_eq!(heard(ONE).await, [id(2), id(3)]);
    assert_eq!(heard(OTHER).await, [id(3)]);
    hooks(&*store, &[OTHER]).await;
    hooks(&*store, &[OTHER, ONE]).await;
    assert_eq!((heard(ONE).await, heard(OTHER).await), (vec![], vec![id(3)]));
    let gone = store.attempted("https://gone.example/", "x".to_owned(), attempt(true), None).await;
    assert!(gone.is_ok(), "an attempt that ends after its hook was removed");
    hooks(&*store, &[]).await;
    assert_eq!(store.hook_states().await.expect("the store answers"), []);
}

pub(super) async fn an_event_outlives_its_job<S: Store + Outbox>(store: Arc<S>) {
    let jobs: Arc<dyn Store> = store.clone();
    hooks(&*store, &[ONE]).await;
    created(&jobs, 1).await;
    ends(&jobs, 1, NOW, completed()).await;
    let before = queued(&*store, ONE).await;
    let long_ago = Some(after(Duration::from_secs(1)));
    let pruning = Pruning { now: after(DAY), journals_before: long_ago, jobs_before: long_ago, limit: 100 };
    while jobs.prune(pruning).await.expect("the store answers").more {}
    assert!(jobs.row(id(1)).await.expect("the store answers").is_none());
    assert_eq!(queued(&*store, ONE).await, before);
}
