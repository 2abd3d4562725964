use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use docent_search::conformance::Twin;
use docent_search::{Asker, Embedder, Role, conformance};
use docent_types::BoxError;

use crate::{QuestionCounts, Questions, Waits};

/// The [`Twin`] with a delay, like a remote server.
#[derive(Debug)]
struct DelayedTwin {
    twin: Twin,
    delay: Duration,
    requests: AtomicUsize,
}

impl DelayedTwin {
    fn with_delay(millis: u64) -> Arc<Self> {
        Arc::new(Self { twin: Twin::named("far"), delay: Duration::from_millis(millis), requests: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Embedder for DelayedTwin {
    fn id(&self) -> &str {
        self.twin.id()
    }

    fn dimensions(&self) -> usize {
        self.twin.dimensions()
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(self.delay).await;
        if texts.contains(&"fail") { Err("out of order".into()) } else { self.twin.embed(texts, role).await }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_waits_where_a_search_box_does_not_and_both_are_served_the_second_time() {
    let remote = DelayedTwin::with_delay(400);
    let questions = Questions::new(Arc::clone(&remote) as _, Waits::default());
    let twin = remote.twin.question("why?", Asker::Assistant).await.expect("a vector");

    assert_eq!(questions.question("why?", Asker::Assistant).await.expect("in time"), twin);
    assert_eq!(questions.question(" why?", Asker::SearchBox).await.expect("known"), twin);
    questions.question("how?", Asker::SearchBox).await.expect_err("too late");
    // The vector arrives and is cached all the same.
    tokio::time::sleep(Duration::from_millis(150)).await;
    questions.question("how?", Asker::SearchBox).await.expect("known by now");
    questions.question("fail", Asker::Assistant).await.expect_err("out of order");
    questions.passed_over();
    assert_eq!(questions.counts(), QuestionCounts { embedded: 1, cached: 2, late: 1, failed: 1, unready: 1 });
    assert_eq!(remote.requests.load(Ordering::Relaxed), 3);
    let askers = (0..5).map(|_| questions.question("who?", Asker::Assistant));
    futures::future::join_all(askers).await.into_iter().for_each(|vector| drop(vector.expect("in time")));
    assert_eq!(remote.requests.load(Ordering::Relaxed), 4, "one request for all who ask the same");
}

#[tokio::test(start_paused = true)]
async fn questions_that_nobody_waits_for_do_not_pile_up() {
    let remote = DelayedTwin::with_delay(10_000);
    let questions = Questions::new(Arc::clone(&remote) as _, Waits::default());
    let texts: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let all = texts.iter().map(|text| questions.question(text, Asker::SearchBox));
    assert!(futures::future::join_all(all).await.iter().all(Result::is_err));
    assert_eq!(remote.requests.load(Ordering::Relaxed), 64);
    tokio::time::sleep(Duration::from_secs(10)).await;
    questions.question("0", Asker::SearchBox).await.expect("known by now");
    questions.question("one more", Asker::Operator).await.expect("there is room again");
}

#[tokio::test]
async fn it_is_an_embedder_as_any_other() {
    conformance::run(Arc::new(Questions::new(DelayedTwin::with_delay(0), Waits::default()))).await;
}
