use std::net::IpAddr;

use docent_types::{FinishReason, ProjectUid, Usage};
use futures::{FutureExt, stream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::*;
use crate::chat::tests::{HERE, THERE, chat_from, thread};
use crate::replies::Replies;

const PATIENCE: Duration = Duration::from_secs(30);

fn delta(text: &str) -> StreamEvent {
    StreamEvent::TextDelta { id: "1".into(), text: text.into() }
}

fn finish() -> StreamEvent {
    StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::default(), thread_id: None }
}

/// A server's replies, and the models behind them.
struct Fixture {
    replies: Replies,
    draining: CancellationToken,
}

/// A running call of a model: the sender of its events.
type Model = mpsc::UnboundedSender<StreamEvent>;

impl Fixture {
    fn new() -> Self {
        Self::with(Replies::at_once(2).resumable_for(PATIENCE))
    }

    fn with(replies: Replies) -> Self {
        Self { replies, draining: CancellationToken::new() }
    }

    /// A question of a chat, in the thread that the chat has.
    fn asks(&self, id: &str) -> (ChatReader, Model) {
        let (followed, model) = self.asks_in(thread(7), id);
        (followed.unwrap_or_else(|_| panic!("the id is good")), model)
    }

    fn asks_in(&self, thread: ThreadId, id: &str) -> (Result<ChatReader, Live>, Model) {
        let (model, mut said) = mpsc::unbounded_channel();
        let events = stream::poll_fn(move |cx| said.poll_recv(cx));
        let permit = self.replies.permit(ProjectUid::new(Uuid::from_u128(1))).expect("a place");
        let live = Live::new(events.boxed(), permit);
        let draining = self.draining.clone().into();
        (self.replies.chats.begin(chat_from(id, HERE), live, thread, draining), model)
    }

    fn resumes(&self, id: &str) -> Option<ChatReader> {
        self.resumes_from(id, HERE)
    }

    fn resumes_from(&self, id: &str, from: IpAddr) -> Option<ChatReader> {
        self.replies.chats.resume(&chat_from(id, from), self.draining.clone().into())
    }

    fn is_empty(&self) -> bool {
        let state = self.replies.chats.state.lock();
        state.replies.is_empty() && state.unread.is_empty()
    }
}

/// All events that are ready at this moment.
fn hears(reader: &mut ChatReader) -> Vec<StreamEvent> {
    std::iter::from_fn(|| reader.next().now_or_never().flatten()).collect()
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_at_once_goes_on() {
    let fixture = Fixture::new();
    let (mut reader, model) = fixture.asks("chat");
    model.send(delta("a")).expect("runs");
    assert_eq!(hears(&mut reader), [delta("a")]);
    drop(reader);
    sleep(GRACE - Duration::from_millis(1)).await;
    let mut again = fixture.resumes("chat").expect("a reply");
    sleep(PATIENCE).await;
    model.send(delta("b")).expect("still runs");
    assert_eq!(hears(&mut again), [delta("a"), delta("b")]);
    model.send(finish()).expect("runs");
    assert_eq!(hears(&mut again), [finish()]);
    assert!(fixture.resumes("chat").is_none(), "it was read to its end");
    assert_eq!(fixture.replies.counts().finished, 1);
    assert!(fixture.is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_does_not_come_back_cancels_the_model_call_within_a_second() {
    let fixture = Fixture::new();
    let (reader, model) = fixture.asks("chat");
    let since = Instant::now();
    drop(reader);
    model.send(delta("not read")).expect("kept");
    model.closed().await;
    assert!(since.elapsed() < Duration::from_secs(1));
    assert!(fixture.resumes("chat").is_none() && fixture.is_empty());
    assert_eq!((fixture.replies.counts().running, fixture.replies.counts().left), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn the_reply_of_a_chat_that_resumes_goes_on_alone_and_waits_to_be_read() {
    let fixture = Fixture::new();
    assert!(fixture.resumes("chat").is_none());
    let (mut reader, model) = fixture.asks("chat");
    model.send(delta("a")).expect("runs");
    assert_eq!(hears(&mut reader), [delta("a")]);
    drop(reader);
    sleep(Duration::from_secs(2)).await;
    for event in [delta("b"), finish()] {
        model.send(event).expect("still runs");
    }
    model.closed().await;
    assert_eq!((fixture.replies.counts().running, fixture.replies.counts().finished), (0, 1), "its place is free");
    sleep(Duration::from_secs(20)).await;
    let mut again = fixture.resumes("chat").expect("it waits to be read");
    assert_eq!(hears(&mut again), [delta("ab"), finish()]);
    assert!(fixture.resumes("chat").is_none() && fixture.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_stopped_ends_at_once_even_of_a_chat_that_resumes() {
    let fixture = Fixture::new();
    assert!(fixture.resumes("chat").is_none());
    let (mut reader, model) = fixture.asks("chat");
    model.send(delta("a")).expect("runs");
    assert_eq!(hears(&mut reader), [delta("a")]);
    fixture.replies.chats.stop(&chat_from("chat", THERE));
    assert!(!model.is_closed(), "it belongs to another client");
    fixture.replies.chats.stop(&chat_from("chat", HERE));
    assert!(model.is_closed());
    assert_eq!(reader.next().await, None);
    assert!(fixture.resumes("chat").is_none() && fixture.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_reply_is_dropped_after_the_patience() {
    let fixture = Fixture::new();
    assert!(fixture.resumes("chat").is_none());
    let (reader, model) = fixture.asks("chat");
    let since = Instant::now();
    drop(reader);
    model.closed().await;
    assert_eq!(since.elapsed().as_secs(), PATIENCE.as_secs());
    assert_eq!(fixture.replies.counts().left, 1);

    let (reader, model) = fixture.asks("chat");
    drop(reader);
    model.send(finish()).expect("runs");
    model.closed().await;
    sleep(PATIENCE + GRACE).await;
    assert!(fixture.resumes("chat").is_none() && fixture.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_who_came_back_slows_the_model_again() {
    let fixture = Fixture::new();
    assert!(fixture.resumes("chat").is_none());
    let (reader, model) = fixture.asks("chat");
    drop(reader);
    tokio::task::yield_now().await;
    let slow = fixture.resumes("chat").expect("a reply");
    model.send(finish()).expect("runs");
    sleep(PATIENCE * 2).await;
    assert!(!model.is_closed(), "nobody asked for more");
    drop(slow);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_for_longer_where_that_is_switched_off() {
    let fixture = Fixture::with(Replies::default().resumable_for(Duration::ZERO));
    assert!(fixture.resumes("chat").is_none());
    let (reader, model) = fixture.asks("chat");
    let since = Instant::now();
    drop(reader);
    model.closed().await;
    assert_eq!(since.elapsed().as_millis(), GRACE.as_millis());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_drains_keeps_nothing_that_nobody_reads() {
    let fixture = Fixture::new();
    assert!(fixture.resumes("chat").is_none());
    let (reader, model) = fixture.asks("chat");
    let (_read, other) = fixture.asks("other");
    drop(reader);
    tokio::task::yield_now().await;
    let since = Instant::now();
    fixture.draining.cancel();
    model.closed().await;
    assert_eq!(since.elapsed(), Duration::ZERO);
    assert!(!other.is_closed());
}

#[tokio::test(start_paused = true)]
async fn an_id_is_good_where_it_was_used() {
    let fixture = Fixture::new();
    let (_reader, _model) = fixture.asks("jBWk0bLlnyoeL6nO");
    assert!(fixture.resumes_from("jBWk0bLlnyoeL6nO", THERE).is_none());
    assert!(fixture.resumes_from("jBWk0bLlnyoeL6nO", HERE).is_some());
}

#[tokio::test(start_paused = true)]
async fn where_two_threads_are_begun_under_one_id_nobody_gets_a_reply_by_it_any_more() {
    let fixture = Fixture::new();
    let (ann, model) = fixture.asks_in(thread(1), "constant");
    let mut ann = ann.unwrap_or_else(|_| panic!("the first"));
    assert!(fixture.resumes("constant").is_some());
    let (bob, _theirs) = fixture.asks_in(thread(2), "constant");
    assert!(bob.is_err() && fixture.resumes("constant").is_none());
    drop(bob);
    model.send(finish()).expect("runs");
    assert_eq!(hears(&mut ann), [finish()], "who reads it reads on");
    let (again, _model) = fixture.asks_in(thread(1), "constant");
    assert!(again.is_err() && fixture.resumes("constant").is_none() && fixture.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_nobody_reads_ends_when_its_id_is_used_in_another_thread() {
    let fixture = Fixture::new();
    assert!(fixture.resumes("constant").is_none());
    let (reader, model) = fixture.asks_in(thread(1), "constant");
    drop(reader);
    tokio::task::yield_now().await;
    assert!(!model.is_closed());
    let (_other, _theirs) = fixture.asks_in(thread(2), "constant");
    assert!(model.is_closed() && fixture.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_newer_reply_takes_the_place_of_the_one_before() {
    let fixture = Fixture::with(Replies::at_once(4).resumable_for(PATIENCE));
    assert!(fixture.resumes("chat").is_none());
    let (mut first, model) = fixture.asks("chat");
    let (second, newer) = fixture.asks("chat");
    newer.send(delta("new")).expect("runs");
    assert_eq!(hears(&mut fixture.resumes("chat").expect("a reply")), [delta("new")]);
    model.send(delta("old")).expect("runs");
    assert_eq!(hears(&mut first), [delta("old")], "it goes on for its reader");
    drop(first);
    assert!(model.is_closed(), "and nobody can come back to it");
    drop(second);
    let (_third, _newest) = fixture.asks("chat");
    newer.closed().now_or_never().expect("nobody read it");
}

#[tokio::test(start_paused = true)]
async fn only_so_many_replies_wait_to_be_read() {
    let fixture = Fixture::new();
    for id in ["1", "2", "3"] {
        assert!(fixture.resumes(id).is_none());
        let (reader, model) = fixture.asks(id);
        drop(reader);
        model.send(finish()).expect("runs");
        model.closed().await;
        sleep(Duration::from_millis(1)).await;
    }
    assert!(fixture.resumes("1").is_none());
    assert!(fixture.resumes("2").is_some() && fixture.resumes("3").is_some());
}

#[test]
fn outside_of_a_runtime_nobody_comes_back() {
    let fixture = Fixture::new();
    let (reader, model) = fixture.asks("chat");
    drop(reader);
    assert!(model.is_closed() && fixture.is_empty());
}
