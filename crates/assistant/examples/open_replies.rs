//! What an open reply costs in memory while its model is at the first words: bytes of heap, counted at the allocator.
//!
//! ```text
//! cargo run --release -p docent-assistant --example open_replies [REPLIES]
//! ```

mod synthetic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use docent_assistant::{
    AskRequest, Assistant, ChatMessage, Days, Export, ExportQuery, Feedback, NewThread, Summary, Thread, Threads, Turn,
};
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_search::Filter;
use docent_types::{
    Domain, ProjectUid, RandomIds, Role, StoreError, StreamEvent, SystemClock, ThreadId, Timestamp, ToolOutput,
};
use futures::{StreamExt, stream};

#[global_allocator]
static HEAP: Counting = Counting;
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, and how much of it is held.
struct Counting;

// SAFETY: passes everything on as it came.
#[allow(unsafe_code, reason = "an allocator cannot be counted otherwise")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let replies = std::env::args().nth(1).map_or(1_000, |argument| argument.parse().expect("a whole number"));
    let site = synthetic::Site::new(60, 400);
    let docs = site.snapshot();
    let assistant = Assistant::new(Arc::new(Thinking), Arc::new(Elsewhere), Arc::new(SystemClock), Arc::new(RandomIds));

    let ask = |number| AskRequest {
        project: ProjectUid::new(uuid::Uuid::from_u128(1)),
        domain: Domain::parse("docs").expect("a name"),
        docs: Arc::clone(&docs),
        fp: "anonymous".to_owned(),
        said: vec![ChatMessage { id: None, role: Role::User, text: site.question(number) }],
        thread: None,
        thread_key: None,
        passages: 5,
        filter: Filter::default(),
        context: Vec::new(),
        current_path: None,
    };
    for keeps_events in [false, true] {
        let mut open = Vec::with_capacity(replies);
        let mut shown = 0;
        for number in 0..50 {
            drop(begin(&assistant, ask(number)).await);
        }
        let before = HELD.load(Ordering::Relaxed);
        for number in 0..replies {
            let (events, log) = begin(&assistant, ask(number)).await;
            shown += passages(&log);
            open.push((events, if keeps_events { log } else { Vec::new() }));
        }
        let held = HELD.load(Ordering::Relaxed) - before;
        let state = open.first().map_or(0, |(events, _)| size_of_val(&**events));
        println!(
            "{replies} replies, {}: {} bytes each, {state} of them the course of the reply ({} characters of passages shown)",
            if keeps_events { "their events kept to be told again" } else { "each read by one" },
            held / replies,
            shown / replies,
        );
    }
}

/// A reply up to its first word, and what it has said by then.
async fn begin(assistant: &Assistant, ask: AskRequest) -> (stream::BoxStream<'static, StreamEvent>, Vec<StreamEvent>) {
    let mut events = assistant.answer(ask).await.expect("a reply begins").events;
    let mut log = Vec::new();
    while !matches!(log.last(), Some(StreamEvent::TextDelta { .. })) {
        log.push(events.next().await.expect("it goes on"));
    }
    // The question is kept by then.
    tokio::task::yield_now().await;
    (events, log)
}

fn passages(log: &[StreamEvent]) -> usize {
    let found = log.iter().filter_map(|event| match event {
        StreamEvent::ToolResult { output: ToolOutput::Passages(passages), .. } => Some(passages),
        _ => None,
    });
    found.flatten().map(|passage| passage.content.chars().count()).sum()
}

/// A model that says one word and then thinks.
#[derive(Debug)]
struct Thinking;

#[async_trait]
impl Model for Thinking {
    fn describe(&self) -> Description {
        Description::new("thinking", "thinking")
    }

    async fn stream(&self, _request: Request) -> Result<EventStream, ModelError> {
        Ok(stream::iter([Ok(Event::TextDelta("Well, ".to_owned()))]).chain(stream::pending()).boxed())
    }
}

/// Threads that are kept where they do not count.
#[derive(Debug)]
struct Elsewhere;

#[async_trait]
impl Threads for Elsewhere {
    async fn begin(&self, _thread: NewThread) -> Result<(), StoreError> {
        Ok(())
    }

    async fn thread(&self, _domain: &Domain, _id: ThreadId, _turns: usize) -> Result<Option<Thread>, StoreError> {
        Ok(None)
    }

    async fn put_turn(&self, _id: ThreadId, _turn: Turn, _instead_of: Option<String>) -> Result<(), StoreError> {
        Ok(())
    }

    async fn rate(&self, _domain: &Domain, _id: ThreadId, _answer: &str, _said: Feedback) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn export(&self, _query: ExportQuery) -> Result<Export, StoreError> {
        Ok(Export { turns: Vec::new(), next: None })
    }

    async fn summary(&self, _domain: &Domain, _days: Days) -> Result<Summary, StoreError> {
        Ok(Summary::default())
    }

    async fn forget(&self, _untouched_since: Timestamp, _limit: u32) -> Result<u32, StoreError> {
        Ok(0)
    }
}
