//! How long the assistant lets a reader wait for the first word, the model's own time left out: questions to a site of
//! 10,000 pages, answered by a model that answers at once, kept on a disk that takes 4 ms to write.
//!
//! ```text
//! cargo run --release -p docent-assistant --example first_word [PAGES] [QUESTIONS]
//! ```

mod synthetic;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use docent_assistant::memory::MemoryThreads;
use docent_assistant::{
    AskRequest, Assistant, ChatMessage, Days, Export, ExportQuery, Feedback, NewThread, Summary, Thread, Threads, Turn,
};
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_search::Filter;
use docent_types::{
    Domain, FinishReason, ProjectUid, RandomIds, Role, StoreError, StreamEvent, SystemClock, ThreadId, Timestamp, Usage,
};
use futures::{StreamExt, stream};

/// Words of a reply: enough to tell what one of them costs.
const WORDS: usize = 2_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a whole number"));
    let (pages, questions) = (arguments.next().unwrap_or(10_000), arguments.next().unwrap_or(500));
    let site = synthetic::Site::new(pages, 60);
    let docs = site.snapshot();
    println!("{} pages, {questions} questions", docs.page_count());
    let (threads, ids) = (Arc::new(Disk(MemoryThreads::default())), Arc::new(RandomIds));
    let assistant = Assistant::new(Arc::new(Instantly), threads, Arc::new(SystemClock), ids);

    let mut times = [const { Vec::new() }; 4];
    for number in 0..questions + 20 {
        let ask = AskRequest {
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
        let measured = measure(&assistant, ask).await;
        // The first ones read the index from the disk.
        if number >= 20 {
            times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
        }
    }
    for (what, mut times) in ["first event", "what was found", "first word", "a word after it"].into_iter().zip(times) {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
        println!("{what:>16}  p50 {:>10.1?}  p99 {:>10.1?}", at(50), at(99));
    }
}

/// From the question to the first event, to what was found, to the first word; and what another word takes.
async fn measure(assistant: &Assistant, ask: AskRequest) -> [Duration; 4] {
    let start = Instant::now();
    let mut events = assistant.answer(ask).await.expect("a reply begins").events;
    let (mut first, mut found, mut word, mut words) = (None, None, None, 0_u32);
    let mut last = start;
    while let Some(event) = events.next().await {
        let now = Instant::now();
        first.get_or_insert(now);
        match event {
            StreamEvent::ToolResult { .. } => drop(found.get_or_insert(now)),
            StreamEvent::TextDelta { .. } => {
                word.get_or_insert(now);
                words += 1;
                last = now;
            }
            StreamEvent::Error { sentence } => panic!("{sentence}"),
            _ => {}
        }
    }
    let since = |moment: Option<Instant>| moment.expect("it came").duration_since(start);
    [since(first), since(found), since(word), last.duration_since(word.expect("it came")) / (words - 1)]
}

/// A model that answers at once.
#[derive(Debug)]
struct Instantly;

#[async_trait]
impl Model for Instantly {
    fn describe(&self) -> Description {
        Description::new("instant", "instant")
    }

    async fn stream(&self, _request: Request) -> Result<EventStream, ModelError> {
        let words = (0..WORDS).map(|number| Ok(Event::TextDelta(format!("word{number} "))));
        let done = Event::Done { reason: FinishReason::Stop, usage: Usage::of(1, 1) };
        Ok(stream::iter(words.chain([Ok(done)])).boxed())
    }
}

/// Threads on a disk that takes its time.
#[derive(Debug)]
struct Disk(MemoryThreads);

impl Disk {
    async fn flushes(&self) {
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
}

#[async_trait]
impl Threads for Disk {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError> {
        self.flushes().await;
        self.0.begin(thread).await
    }

    async fn thread(&self, domain: &Domain, id: ThreadId, turns: usize) -> Result<Option<Thread>, StoreError> {
        self.0.thread(domain, id, turns).await
    }

    async fn put_turn(&self, id: ThreadId, turn: Turn, instead_of: Option<String>) -> Result<(), StoreError> {
        self.flushes().await;
        self.0.put_turn(id, turn, instead_of).await
    }

    async fn rate(&self, domain: &Domain, id: ThreadId, answer: &str, said: Feedback) -> Result<bool, StoreError> {
        self.0.rate(domain, id, answer, said).await
    }

    async fn export(&self, query: ExportQuery) -> Result<Export, StoreError> {
        self.0.export(query).await
    }

    async fn summary(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        self.0.summary(domain, days).await
    }

    async fn forget(&self, untouched_since: Timestamp, limit: u32) -> Result<u32, StoreError> {
        self.0.forget(untouched_since, limit).await
    }
}
