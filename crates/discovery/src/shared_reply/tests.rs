use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;

use docent_types::{FinishReason, ProjectUid, Usage};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::replies::Replies;

/// A reply whose events the test triggers.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    due: VecDeque<StreamEvent>,
    waker: Option<Waker>,
    is_gone: bool,
}

impl Script {
    fn says(&self, event: StreamEvent) {
        let mut lines = self.0.lock();
        lines.due.push_back(event);
        let waker = lines.waker.take();
        drop(lines);
        waker.into_iter().for_each(Waker::wake);
    }

    fn is_gone(&self) -> bool {
        self.0.lock().is_gone
    }

    fn begins(&self) -> (Arc<SharedReply>, Reader) {
        let replies = Replies::default();
        let permit = replies.permit(ProjectUid::new(Uuid::from_u128(1))).expect("a place");
        SharedReply::begin(Live::new(Actor(self.clone()).boxed(), permit), ThreadId::new(Uuid::nil()), Log::default())
    }
}

/// Plays the script, until dropped. Like most streams it remembers only the last waker.
struct Actor(Script);

impl Stream for Actor {
    type Item = StreamEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let mut lines = self.0.0.lock();
        match lines.due.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None => {
                lines.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.0.0.lock().is_gone = true;
    }
}

/// A reader with a task of its own.
struct Client {
    reader: Reader,
    heard: Vec<StreamEvent>,
    woken: Arc<Woken>,
    waits: bool,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Client {
    fn new(reader: Reader) -> Self {
        Self { reader, heard: Vec::new(), woken: Arc::default(), waits: false }
    }

    /// Reads one event if one is ready. Returns whether it did.
    fn reads(&mut self) -> bool {
        self.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.woken));
        match self.reader.poll_next_unpin(&mut Context::from_waker(&waker)) {
            Poll::Ready(Some(event)) => {
                self.waits = false;
                self.heard.push(event);
                true
            }
            Poll::Ready(None) => {
                self.waits = false;
                false
            }
            Poll::Pending => {
                self.waits = true;
                false
            }
        }
    }

    fn reads_all(&mut self) {
        while self.reads() {}
    }

    fn knows_to_read(&self) -> bool {
        !self.waits || self.woken.0.load(Ordering::SeqCst)
    }
}

fn delta(id: u8, text: &str) -> StreamEvent {
    StreamEvent::TextDelta { id: id.to_string().into(), text: text.into() }
}

fn finish() -> StreamEvent {
    StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::default(), thread_id: None }
}

/// Events with the pieces of each text joined, for comparing readers.
fn joined(events: &[StreamEvent]) -> Vec<StreamEvent> {
    let mut joined: Vec<StreamEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (_, StreamEvent::TextDelta { text, .. }) if text.is_empty() => {}
            (Some(StreamEvent::TextDelta { id, text }), StreamEvent::TextDelta { id: same, text: more })
                if id == same =>
            {
                text.push_str(more);
            }
            _ => joined.push(event.clone()),
        }
    }
    joined
}

#[test]
fn the_model_is_not_polled_ahead_of_its_readers() {
    let script = Script::default();
    let (_running, _reader) = script.begins();
    script.says(delta(1, "a"));
    assert_eq!(script.0.lock().due.len(), 1);
}

#[test]
fn whoever_waits_goes_on_when_the_one_who_asked_last_is_gone() {
    let script = Script::default();
    let (reply, first) = script.begins();
    let (mut first, mut second) = (Client::new(first), Client::new(reply.join()));
    first.reads_all();
    second.reads_all();
    drop(second);
    script.says(delta(1, "a"));
    assert!(first.knows_to_read() && first.reads());
}

/// A reader that holds the model's waker may leave; the others must poll again.
#[test]
fn whoever_waits_asks_again_when_another_leaves() {
    let (reply, first) = Script::default().begins();
    let (mut first, mut second) = (Client::new(first), Client::new(reply.join()));
    first.reads_all();
    second.reads_all();
    assert!(!first.knows_to_read());
    drop(second);
    assert!(first.knows_to_read());
}

#[test]
fn a_slow_reader_does_not_delay_others() {
    let script = Script::default();
    let (reply, slow) = script.begins();
    let (mut slow, mut quick) = (Client::new(slow), Client::new(reply.join()));
    slow.reads_all();
    for event in [delta(1, "a"), delta(1, "b"), finish()] {
        script.says(event);
        assert!(quick.reads());
    }
    assert!(script.is_gone(), "nothing is left to be made");
    slow.reads_all();
    assert_eq!(slow.heard, [delta(1, "ab"), finish()]);
    assert_eq!(quick.heard.len(), 3);
}

#[test]
fn an_absence_is_over_when_somebody_comes_and_with_the_reply() {
    let script = Script::default();
    let (reply, mut first) = script.begins();
    let mut second = reply.join();
    assert_eq!(first.leave(), None, "there is another");
    let absence = second.leave().expect("the last one");
    assert!(reply.is_current_absence(absence) && !script.is_gone());
    let mut third = reply.join();
    assert!(!reply.is_current_absence(absence));
    let absence = third.leave().expect("the last one");
    reply.abandon();
    assert!(script.is_gone() && !reply.is_current_absence(absence));
}

#[derive(Debug, Clone)]
enum Deed {
    Says(u8, String),
    Begins,
    Joins,
    Reads(usize),
    Leaves(usize),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..3_u8, "[aé ]{0,3}").prop_map(|(id, text)| Deed::Says(id, text)),
        1 => Just(Deed::Begins),
        1 => Just(Deed::Joins),
        4 => any::<usize>().prop_map(Deed::Reads),
        1 => any::<usize>().prop_map(Deed::Leaves),
    ]
}

proptest! {
    /// Readers that join, read and leave in any order: each gets the reply from its beginning, in order, and is woken
    /// whenever there is more.
    #[test]
    fn all_readers_hear_the_same(deeds in prop::collection::vec(deed(), 0..80)) {
        let script = Script::default();
        let (reply, first) = script.begins();
        let mut clients = BTreeMap::from([(0, Client::new(first))]);
        let mut said: Vec<StreamEvent> = Vec::new();
        for (number, deed) in deeds.into_iter().enumerate() {
            let some = |index: usize| clients.keys().nth(index % clients.len().max(1)).copied();
            match deed {
                Deed::Says(id, text) => {
                    said.push(delta(id, &text));
                    script.says(delta(id, &text));
                }
                Deed::Begins => {
                    said.push(StreamEvent::StepStart);
                    script.says(StreamEvent::StepStart);
                }
                Deed::Joins => drop(clients.insert(number + 1, Client::new(reply.join()))),
                Deed::Reads(index) => {
                    if let Some(client) = some(index).and_then(|key| clients.get_mut(&key)) {
                        client.reads();
                    }
                }
                Deed::Leaves(index) => {
                    if let Some(key) = some(index) {
                        clients.remove(&key);
                    }
                }
            }
            let is_more = !script.0.lock().due.is_empty();
            let asleep = clients.values().filter(|client| !client.knows_to_read()).count();
            prop_assert!(!is_more || asleep == 0, "somebody waits for what is there");
        }
        said.push(finish());
        script.says(finish());
        clients.insert(usize::MAX, Client::new(reply.join()));
        for client in clients.values_mut() {
            prop_assert!(client.knows_to_read());
            client.reads_all();
            prop_assert_eq!(joined(&client.heard), joined(&said));
        }
        prop_assert!(script.is_gone());
    }
}
