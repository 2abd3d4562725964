//! The life of threads: stored, continued, rated, exported, deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use docent_llm::scripted::{Reply, ReplyGate};
use docent_types::{CallError, Domain, FixedIds, RefusalKind, StoreError, StreamEvent, ThreadId, Timestamp};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::{NOW, ReceivedReply, TestAssistant};
use crate::memory::MemoryThreads;
use crate::{
    AskRequest, Assistant, Days, Export, ExportQuery, Feedback, NewThread, Rating, Summary, Thread, Threads, Timing,
    Turn,
};

const QUESTION: &str = "How often is a failed call retried?";
const DAY: Duration = Duration::from_secs(24 * 3600);

fn message(told: &ReceivedReply) -> String {
    let ids = told.each(|event| match event {
        StreamEvent::Start { message_id, .. } => Some(message_id.to_string()),
        _ => None,
    });
    ids.into_iter().next().expect("a start")
}

async fn rate(fixture: &TestAssistant, thread: ThreadId, message: &str, comment: &str) -> Result<(), RefusalKind> {
    let rated = fixture.assistant.rate(&fixture.domain, thread, message, Rating::Down, Some(comment.to_owned())).await;
    rated.map_err(|error| match error {
        CallError::Refused(refusal) => refusal.kind,
        CallError::Store(error) => panic!("{error}"),
    })
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_no_readers_is_answered_and_kept_nowhere() {
    let fixture = TestAssistant::builtin();
    let reply = fixture.assistant.unrecorded().answer(fixture.question(QUESTION)).await.expect("a reply begins");
    let events: Vec<StreamEvent> = reply.events.collect().await;
    assert!(events.iter().any(|event| matches!(event, StreamEvent::TextDelta { .. })), "{events:?}");
    assert!(fixture.asked().await.is_empty());
    fixture.ask(QUESTION).await;
    assert_eq!(fixture.asked().await.len(), 1, "a reader's is");
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_in_a_preview_is_in_no_list() {
    let fixture = TestAssistant::builtin();
    let preview = fixture.assistant.preview_fingerprint().to_owned();
    for (fp, listed) in [(preview.as_str(), 0), ("preview-1", 1), ("anonymous", 2)] {
        let ask = AskRequest { fp: fp.to_owned(), ..fixture.question(QUESTION) };
        let reply = fixture.assistant.answer(ask).await.expect("a reply begins");
        let events: Vec<StreamEvent> = reply.events.collect().await;
        assert!(events.iter().any(|event| matches!(event, StreamEvent::TextDelta { .. })), "{events:?}");
        assert_eq!(fixture.asked().await.len(), listed, "{fp}");
    }
}

#[tokio::test]
async fn an_answer_is_rated_by_the_ids_of_its_stream() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.");
    let told = fixture.ask(QUESTION).await;
    let message = message(&told);
    assert_eq!(rate(&fixture, told.thread, &message, "Too short.").await, Ok(()));
    let feedback = fixture.last_turn().await.feedback.expect("is kept");
    assert_eq!((feedback.rating, feedback.comment.as_deref(), feedback.at), (Rating::Down, Some("Too short."), NOW));
    assert_eq!(rate(&fixture, told.thread, &message, " ").await, Ok(()));
    assert_eq!(fixture.last_turn().await.feedback.expect("is kept").comment, None);
    assert_eq!(rate(&fixture, told.thread, "another", "x").await, Err(RefusalKind::NotFound));
    assert_eq!(rate(&fixture, told.thread, &message, &"x".repeat(4_001)).await, Err(RefusalKind::Invalid));
    let other = Domain::parse("other").expect("a name");
    assert!(fixture.assistant.rate(&other, told.thread, &message, Rating::Up, None).await.is_err());
}

#[tokio::test]
async fn conversations_are_exported_with_what_became_of_them() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.").replies("As a bearer token.");
    let first = fixture.ask(QUESTION).await;
    fixture.clock.advance(DAY);
    fixture.ask("How is the API key sent to the server?").await;
    let asked = fixture.asked().await;
    assert_eq!(asked.len(), 2);
    let turn = &asked[1].turn;
    assert_eq!((asked[1].thread, turn.asked_at, turn.answered_at), (first.thread, NOW, Some(NOW)));
    assert!(turn.answered && !turn.is_imported());
    assert_eq!((turn.question.as_str(), turn.answer.as_deref()), (QUESTION, Some("Five times.")));
}

#[tokio::test]
async fn a_thread_that_is_not_there_is_begun_anew_and_a_wrong_key_is_refused() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.").replies("As a bearer token.").replies("As often.");
    let told = fixture.ask(QUESTION).await;
    let ask = |thread, key: Option<&str>| AskRequest {
        thread: Some(thread),
        thread_key: key.map(str::to_owned),
        ..fixture.question("How is the API key sent to the server?")
    };
    let unknown = ThreadId::new(uuid::Uuid::from_u128(404));
    let begun = fixture.assistant.answer(ask(unknown, Some("any"))).await.expect("begins");
    assert!(begun.thread != unknown && begun.new_key.is_some());
    let refused = fixture.assistant.answer(ask(told.thread, Some("wrong"))).await.expect_err("the key is another");
    assert!(matches!(refused, CallError::Refused(refusal) if refusal.kind == RefusalKind::NotFound));
}

#[tokio::test]
async fn threads_nobody_touches_are_forgotten() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.").replies("As a bearer token.");
    let old = fixture.ask(QUESTION).await;
    fixture.clock.advance(DAY * 20);
    let young = fixture.ask("How is the API key sent to the server?").await;
    fixture.clock.advance(DAY * 20);
    assert_eq!(fixture.assistant.forget(DAY * 30).await.expect("forgets"), 1);
    let kept: Vec<ThreadId> = fixture.asked().await.iter().map(|asked| asked.thread).collect();
    assert_eq!(kept, [young.thread]);
    assert_ne!(old.thread, young.thread);
}

/// A store with an adjustable delay, or a broken one.
#[derive(Debug, Default)]
struct Disk {
    threads: MemoryThreads,
    is_full: bool,
    waits: Option<Arc<Semaphore>>,
    writes: Arc<AtomicUsize>,
}

impl Disk {
    async fn writes(&self) -> Result<(), StoreError> {
        if let Some(gate) = &self.waits {
            // Closing the semaphore opens the gate.
            let _ = gate.acquire().await;
        }
        self.writes.fetch_add(1, Ordering::Relaxed);
        if self.is_full { Err(StoreError::new("write", "the disk is full")) } else { Ok(()) }
    }
}

#[async_trait]
impl Threads for Disk {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError> {
        self.writes().await?;
        self.threads.begin(thread).await
    }

    async fn thread(&self, domain: &Domain, id: ThreadId, turns: usize) -> Result<Option<Thread>, StoreError> {
        self.threads.thread(domain, id, turns).await
    }

    async fn put_turn(&self, id: ThreadId, turn: Turn, instead_of: Option<String>) -> Result<(), StoreError> {
        self.writes().await?;
        self.threads.put_turn(id, turn, instead_of).await
    }

    async fn rate(&self, domain: &Domain, id: ThreadId, answer: &str, said: Feedback) -> Result<bool, StoreError> {
        self.threads.rate(domain, id, answer, said).await
    }

    async fn export(&self, query: ExportQuery) -> Result<Export, StoreError> {
        self.threads.export(query).await
    }

    async fn summary(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        self.threads.summary(domain, days).await
    }

    async fn forget(&self, untouched_since: Timestamp, limit: u32) -> Result<u32, StoreError> {
        self.threads.forget(untouched_since, limit).await
    }
}

/// A fixture with this store.
fn fixture_with_store(disk: Disk) -> TestAssistant {
    let mut fixture = TestAssistant::new();
    let clock = Arc::new(fixture.clock.clone());
    fixture.assistant =
        Assistant::new(Arc::new(fixture.model.clone()), Arc::new(disk), clock, Arc::new(FixedIds::default()));
    fixture
}

/// All events that are ready now.
async fn heard(events: &mut BoxStream<'static, StreamEvent>) -> Vec<StreamEvent> {
    let mut heard = Vec::new();
    while let Poll::Ready(Some(event)) = futures::poll!(events.next()) {
        heard.push(event);
    }
    heard
}

#[tokio::test]
async fn words_leave_before_the_question_is_kept_and_the_end_does_not() {
    let gate = Arc::new(Semaphore::new(0));
    let fixture = fixture_with_store(Disk { waits: Some(Arc::clone(&gate)), ..Disk::default() });
    fixture.model.replies("Five times.").replies("As often as that.");
    let first = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins");
    let (thread, mut events) = (first.thread, first.events);
    let told = heard(&mut events).await;
    assert!(matches!(told.last(), Some(StreamEvent::StepFinish { .. })), "{told:?}");

    // The thread id is known already; a request that continues it waits until it is stored.
    let ask = AskRequest { thread: Some(thread), ..fixture.question("And then, after that?") };
    let mut second = Box::pin(fixture.assistant.answer(ask));
    assert!(futures::poll!(&mut second).is_pending());
    gate.close();
    let second = second.await.expect("finds the thread");
    assert_eq!(second.thread, thread);
    assert!(matches!(events.next().await, Some(StreamEvent::Finish { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_question_is_kept_before_its_answer() {
    let writes = Arc::default();
    let fixture = fixture_with_store(Disk { writes: Arc::clone(&writes), ..Disk::default() });
    let gate = ReplyGate::closed();
    fixture.model.replies(Reply::text("Five times.").wait(&gate));
    let reply = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins");
    let mut events = reply.events;
    heard(&mut events).await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(fixture.last_turn().await.answer, None, "the question is there");
    gate.open();
    events.collect::<Vec<_>>().await;
    assert_eq!(fixture.last_turn().await.answer.as_deref(), Some("Five times."));
    assert_eq!(writes.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_with_how_long_it_took() {
    let fixture = TestAssistant::new();
    let (before_words, before_end) = (ReplyGate::closed(), ReplyGate::closed());
    fixture.model.replies(Reply::text("").wait(&before_words).say("Five times.\n\n").wait(&before_end).say("Always."));
    let mut events = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins").events;
    heard(&mut events).await;
    sleep(Duration::from_millis(100)).await;
    let last = fixture.last_turn().await;
    assert_eq!((last.timing, last.search_only), (None, false), "it is not complete");
    for (gate, millis) in [(&before_words, 700), (&before_end, 1_300)] {
        fixture.clock.advance(Duration::from_millis(millis));
        gate.open();
        heard(&mut events).await;
    }
    events.collect::<Vec<_>>().await;
    let timing = Timing { search_ms: 0, first_word_ms: 700, end_ms: 2_000 };
    assert_eq!(fixture.last_turn().await.timing, Some(timing));
    let builtin = TestAssistant::builtin();
    builtin.ask(QUESTION).await;
    assert!(builtin.last_turn().await.search_only, "no model took part");
}

#[tokio::test]
async fn a_question_is_kept_even_when_its_reader_leaves_at_once() {
    let fixture = TestAssistant::new();
    fixture.model.replies(Reply::text("Five").wait(&ReplyGate::closed()));
    let reply = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins");
    let (thread, mut events) = (reply.thread, reply.events);
    heard(&mut events).await;
    drop(events);
    fixture.model.replies("As often as that.");
    fixture.ask_on(thread, "And then, after that?").await;
    assert_eq!(fixture.asked().await.iter().filter(|asked| asked.thread == thread).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_question_does_not_wait_for_an_answer_that_nobody_reads() {
    let fixture = TestAssistant::new();
    fixture.model.replies(Reply::text("Five").wait(&ReplyGate::closed()));
    let mut reply = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins");
    heard(&mut reply.events).await;
    drop(reply.events);
    let left = Instant::now();
    let ask = AskRequest { thread: Some(reply.thread), ..fixture.question("And then, after that?") };
    fixture.assistant.answer(ask).await.expect("finds the thread");
    assert_eq!(left.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn an_end_that_is_being_kept_is_kept_when_its_reader_leaves() {
    let gate = Arc::new(Semaphore::new(0));
    let fixture = fixture_with_store(Disk { waits: Some(Arc::clone(&gate)), ..Disk::default() });
    fixture.model.replies("Five times.");
    let mut reply = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins");
    heard(&mut reply.events).await;
    drop(reply.events);
    gate.close();
    let ask = AskRequest { thread: Some(reply.thread), ..fixture.question("And then, after that?") };
    fixture.assistant.answer(ask).await.expect("finds the thread");
    assert_eq!(fixture.last_turn().await.answer.as_deref(), Some("Five times."));
}

#[tokio::test(start_paused = true)]
async fn a_thread_whose_question_is_never_kept_is_not_waited_for_forever() {
    let fixture = fixture_with_store(Disk { waits: Some(Arc::new(Semaphore::new(0))), ..Disk::default() });
    fixture.model.replies("Five times.");
    let mut reply = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins");
    heard(&mut reply.events).await;
    let ask = AskRequest { thread: Some(reply.thread), ..fixture.question(QUESTION) };
    let begun = fixture.assistant.answer(ask).await.expect("begins");
    assert_ne!(begun.thread, reply.thread, "another is begun");
}

#[tokio::test]
async fn a_question_that_cannot_be_kept_ends_the_reply_as_an_error() {
    let fixture = fixture_with_store(Disk { is_full: true, ..Disk::default() });
    fixture.model.replies("Five times.");
    let told = fixture.ask(QUESTION).await;
    assert_eq!(told.error().as_deref(), Some("The conversation could not be stored. Try again."));
    assert_eq!(told.text(), "Five times.");
}
