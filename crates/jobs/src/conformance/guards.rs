//! Idempotency keys and quotas.

use std::sync::Arc;
use std::time::Duration;

use super::{DAY, HOUR, NOW, after, change, create, created, follow_up, id, keyed, limited, refuse, row, sample_job};
use crate::row::Row;
use crate::state::{self};
use crate::store::{JobQuery, Store, WriteError, WriteGuards};

pub(super) async fn the_same_key_gives_the_first_answer(store: Arc<dyn Store>) {
    let first = create(&store, sample_job(1), keyed("k", 1)).await.expect("a job is created");
    assert!(!first.repeat);
    let again = create(&store, sample_job(2), keyed("k", 1)).await.expect("the first answer");
    assert_eq!((again.repeat, &again.job), (true, &first.job));
    assert_eq!(store.row(id(2)).await.expect("the store answers"), None);
    let other = create(&store, sample_job(2), keyed("k", 2)).await;
    assert!(matches!(other, Err(WriteError::KeyReused)));
    let mut elsewhere = keyed("k", 2);
    elsewhere.key.as_mut().expect("a key").scope = "agent-messages:acme".to_owned();
    let said = store.change(id(1), elsewhere.clone(), follow_up("more")).await.expect("another scope, another key");
    assert!(!said.repeat);
    change(&store, 1, Arc::new(|row: &Row| state::archive(row, NOW))).await;
    let repeat = store.change(id(1), elsewhere, follow_up("more")).await.expect("the first answer");
    assert_eq!((repeat.repeat, repeat.job), (true, said.job), "the key is looked at before the decision");
    assert_eq!(row(&store, 1).await.last_seq, 4);
}

pub(super) async fn a_key_is_forgotten_in_time(store: Arc<dyn Store>) {
    create(&store, sample_job(1), keyed("k", 1)).await.expect("a job is created");
    let late = |by| WriteGuards { now: after(by), ..keyed("k", 2) };
    let kept = create(&store, sample_job(2), late(DAY - Duration::from_millis(1))).await;
    assert!(matches!(kept, Err(WriteError::KeyReused)));
    let forgotten = create(&store, sample_job(2), late(DAY)).await.expect("the key is free again");
    assert!(!forgotten.repeat);
    let repeat = create(&store, sample_job(3), late(DAY)).await.expect("the second answer");
    assert_eq!((repeat.repeat, repeat.job.id), (true, id(2)));
}

pub(super) async fn one_key_at_the_same_time_makes_one_job(store: Arc<dyn Store>) {
    let tries: Vec<_> = (1..=20)
        .map(|n| {
            let store = Arc::clone(&store);
            let guards = WriteGuards { quota: limited(100).quota, ..keyed("k", 1) };
            tokio::spawn(async move { create(&store, sample_job(n), guards).await })
        })
        .collect();
    let mut first = Vec::new();
    let mut answers = Vec::new();
    for attempt in tries {
        let written = attempt.await.expect("no panic").expect("an answer");
        if !written.repeat {
            first.push(written.job.id);
        }
        answers.push(written.job.id);
    }
    assert_eq!(first.len(), 1);
    assert!(answers.iter().all(|id| *id == first[0]));
    let next = create(&store, sample_job(50), limited(100)).await.expect("a job is created");
    assert_eq!(next.quota_status.expect("counted").remaining, 98, "a repeat uses no quota");
}

pub(super) async fn a_quota_is_exact_under_a_race(store: Arc<dyn Store>) {
    let tries: Vec<_> = (1..=150)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { create(&store, sample_job(n), limited(100)).await })
        })
        .collect();
    let (mut remaining, mut refused) = (Vec::new(), 0);
    for attempt in tries {
        match attempt.await.expect("no panic") {
            Ok(written) => remaining.push(written.quota_status.expect("counted").remaining),
            Err(WriteError::Limited(quota_status)) => {
                assert_eq!((quota_status.limit, quota_status.window, quota_status.remaining), (100, HOUR, 0));
                assert_eq!(quota_status.retry_after, HOUR);
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    remaining.sort_unstable();
    assert_eq!((remaining, refused), ((0..100).collect(), 50));
    let query = JobQuery { project: sample_job(1).project, status: None, after: None, skip: 0, limit: 1000 };
    assert_eq!(store.list(query).await.expect("the store answers").len(), 100);
}

pub(super) async fn a_quota_slides(store: Arc<dyn Store>) {
    let minutes = |n: u64| Duration::from_secs(60 * n);
    let try_at =
        async |n, at: Duration| create(&store, sample_job(n), WriteGuards { now: after(at), ..limited(2) }).await;
    let first = try_at(1, minutes(0)).await.expect("the first").quota_status.expect("counted");
    assert_eq!((first.remaining, first.retry_after), (1, Duration::ZERO));
    let second = try_at(2, minutes(20)).await.expect("the second").quota_status.expect("counted");
    assert_eq!((second.remaining, second.retry_after), (0, minutes(40)), "until the first is an hour old");
    let third = try_at(3, minutes(30)).await;
    assert!(matches!(third, Err(WriteError::Limited(quota_status)) if quota_status.retry_after == minutes(30)));
    let almost = try_at(3, minutes(60) - Duration::from_millis(1)).await;
    assert!(
        matches!(almost, Err(WriteError::Limited(quota_status)) if quota_status.retry_after == Duration::from_millis(1))
    );
    let waited = try_at(3, minutes(60)).await.expect("one is free again").quota_status.expect("counted");
    assert_eq!((waited.remaining, waited.retry_after), (0, minutes(20)));
    let lowered = create(&store, sample_job(4), WriteGuards { now: after(minutes(61)), ..limited(1) }).await;
    assert!(
        matches!(lowered, Err(WriteError::Limited(quota_status)) if quota_status.retry_after == minutes(59)),
        "with a lower limit, until enough have gone"
    );
    let mut other = limited(2);
    other.quota.as_mut().expect("a quota").bucket = "agent-jobs:other".to_owned();
    let other = create(&store, sample_job(5), other).await.expect("another bucket").quota_status.expect("counted");
    assert_eq!(other.remaining, 1);
    let none = create(&store, sample_job(6), limited(0)).await;
    assert!(matches!(none, Err(WriteError::Limited(quota_status)) if quota_status.remaining == 0));
}

pub(super) async fn refused_jobs_use_no_quota(store: Arc<dyn Store>) {
    created(&store, 1).await;
    for _ in 0..3 {
        assert!(matches!(store.change(id(1), limited(2), refuse()).await, Err(WriteError::Refused(_))));
        assert!(matches!(store.change(id(9), limited(2), follow_up("hello")).await, Err(WriteError::NotFound)));
        assert!(matches!(create(&store, sample_job(1), limited(2)).await, Err(WriteError::Store(_))));
    }
    let both = |key| WriteGuards { quota: limited(2).quota, ..keyed(key, 1) };
    assert!(matches!(store.change(id(1), both("refused"), refuse()).await, Err(WriteError::Refused(_))));
    let said = store.change(id(1), both("refused"), follow_up("hello")).await.expect("a refusal is not remembered");
    assert_eq!((said.repeat, said.quota_status.expect("counted").remaining), (false, 1));
    create(&store, sample_job(2), both("second")).await.expect("the second use");
    let before = row(&store, 1).await;
    let over = store.change(id(1), both("third"), follow_up("too much")).await;
    assert!(matches!(over, Err(WriteError::Limited(_))));
    assert_eq!(row(&store, 1).await, before, "a change over the quota leaves no trace");
    assert!(matches!(create(&store, sample_job(3), both("third")).await, Err(WriteError::Limited(_))));
    assert_eq!(store.row(id(3)).await.expect("the store answers"), None);
    let repeat = create(&store, sample_job(3), both("second")).await.expect("a repeat passes a used-up quota");
    assert_eq!((repeat.repeat, repeat.job.id), (true, id(2)));
    let free = WriteGuards { now: after(HOUR), ..both("third") };
    let later = create(&store, sample_job(3), free).await.expect("the key of a limited write is still free");
    assert!(!later.repeat);
}
