//! Tests of the replies that readers get, and of the requests that models get.

mod answering;
mod grounding;
mod sample;
mod spending;
mod threads;
mod trouble;

use std::collections::BTreeMap;
use std::sync::Arc;

use docent_builtin::Builtin;
use docent_llm::Model;
use docent_llm::scripted::Scripted;
use docent_search::{Filter, Index, Snapshot, Source, SourceFile};
use docent_types::{
    BoxError, Domain, FixedIds, ManualClock, ProjectUid, Role, StreamEvent, ThreadId, Timestamp, ToolOutput, Usage,
};
use docent_ui_stream::Grammar;
use futures::StreamExt;

use crate::memory::MemoryThreads;
use crate::{AskRequest, AskedTurn, Assistant, ChatMessage, ExportQuery, QuestionFilter, SiteSettings};

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

const RETRIES: &str = "---\ntitle: Retries\n---\n\nA failed call is retried five times.\n\n## Backoff\n\nThe delay doubles up to `max_delay`. \
                       See [the RFC](https://rfc.test/9110).\n";
const KEYS: &str = "# API keys\n\nSend the key as a bearer token.\n\n## Rotation\n\nRotate keys every month.\n";
const PYTHON: &str =
    "# Python client\n\nInstall it with pip.\n\n## Retries in Python\n\nPass `retries=5` to the client in Python.\n";

struct Docs(BTreeMap<String, String>);

impl Source for Docs {
    fn commit(&self) -> &'static str {
        "c1"
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(self.0.iter().map(|(path, text)| SourceFile { path: path.clone(), blob: text.clone() }).collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        Ok(self.0[&file.path].clone().into_bytes())
    }
}

/// A snapshot of a site with these pages.
pub(crate) fn docs(files: &[(&str, &str)]) -> Arc<Snapshot> {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let index = Index::open(folder.path()).expect("an index");
    index.update(&Docs(files), &mut |_| {}).expect("an update");
    index.snapshot()
}

struct TestAssistant {
    model: Scripted,
    clock: ManualClock,
    docs: Arc<Snapshot>,
    assistant: Assistant,
    domain: Domain,
}

impl TestAssistant {
    fn new() -> Self {
        let model = Scripted::new();
        Self::with(Arc::new(model.clone()), model)
    }

    /// An assistant without a language model.
    fn builtin() -> Self {
        Self::with(Arc::new(Builtin), Scripted::new())
    }

    fn with(answering: Arc<dyn Model>, model: Scripted) -> Self {
        let clock = ManualClock::at(NOW);
        let (threads, ids) = (Arc::new(MemoryThreads::default()), Arc::new(FixedIds::default()));
        let assistant = Assistant::new(answering, threads, Arc::new(clock.clone()), ids);
        let docs = docs(&[
            ("index.mdx", "# Acme\n\nWelcome."),
            ("guides/retries.mdx", RETRIES),
            ("guides/keys.mdx", KEYS),
            ("clients/python.mdx", PYTHON),
        ]);
        Self { model, clock, docs, assistant, domain: Domain::parse("acme").expect("a name") }
    }

    fn site(mut self, site: SiteSettings) -> Self {
        self.assistant = self.assistant.with_sites(move |_| site.clone());
        self
    }

    fn question(&self, text: &str) -> AskRequest {
        AskRequest {
            project: ProjectUid::new(uuid::Uuid::from_u128(1)),
            domain: self.domain.clone(),
            docs: Arc::clone(&self.docs),
            fp: "anonymous".to_owned(),
            said: vec![ChatMessage { id: None, role: Role::User, text: text.to_owned() }],
            thread: None,
            thread_key: None,
            passages: 5,
            filter: Filter::default(),
            context: Vec::new(),
            current_path: None,
        }
    }

    async fn ask(&self, text: &str) -> ReceivedReply {
        self.answer(self.question(text)).await
    }

    async fn ask_on(&self, thread: ThreadId, text: &str) -> ReceivedReply {
        self.answer(AskRequest { thread: Some(thread), ..self.question(text) }).await
    }

    async fn answer(&self, ask: AskRequest) -> ReceivedReply {
        let reply = self.assistant.answer(ask).await.expect("a reply begins");
        let thread = reply.thread;
        let events: Vec<StreamEvent> = reply.events.collect().await;
        Grammar::check(&events).expect("a well-formed reply");
        ReceivedReply { thread, events }
    }

    /// All questions, newest first.
    async fn asked(&self) -> Vec<AskedTurn> {
        let query = ExportQuery {
            domain: self.domain.clone(),
            which: QuestionFilter::default(),
            from: None,
            to: None,
            after: None,
            limit: 100,
            most_bytes: u64::MAX,
        };
        self.assistant.export(query).await.expect("exports").turns
    }

    async fn last_turn(&self) -> crate::Turn {
        self.asked().await.swap_remove(0).turn
    }

    /// The text form of the model's n-th request.
    fn told(&self, call: usize) -> String {
        crate::prompt::tests::shown(&self.model.requests()[call])
    }
}

/// A reply as received by the reader.
struct ReceivedReply {
    thread: ThreadId,
    events: Vec<StreamEvent>,
}

impl ReceivedReply {
    fn text(&self) -> String {
        self.each(|event| match event {
            StreamEvent::TextDelta { text, .. } => Some(text.clone()),
            _ => None,
        })
        .concat()
    }

    fn sources(&self) -> Vec<String> {
        self.each(|event| match event {
            StreamEvent::Source { passage, .. } => Some(passage.path.clone()),
            _ => None,
        })
    }

    fn queries(&self) -> Vec<String> {
        self.each(|event| match event {
            StreamEvent::ToolCall { name, input, .. } if name == "search" => input["query"].as_str().map(str::to_owned),
            _ => None,
        })
    }

    fn found(&self) -> Vec<Vec<String>> {
        self.each(|event| match event {
            StreamEvent::ToolResult { output: ToolOutput::Passages(passages), .. } => {
                Some(passages.iter().map(|passage| passage.path.clone()).collect())
            }
            _ => None,
        })
    }

    fn error(&self) -> Option<String> {
        self.each(|event| match event {
            StreamEvent::Error { sentence } => Some(sentence.clone()),
            _ => None,
        })
        .pop()
    }

    fn usage(&self) -> Option<Usage> {
        self.each(|event| match event {
            StreamEvent::Finish { usage, .. } => Some(*usage),
            _ => None,
        })
        .pop()
    }

    /// The kinds of events received, with adjacent text events merged.
    fn kinds(&self) -> Vec<&'static str> {
        let mut kinds = self.each(|event| {
            Some(match event {
                StreamEvent::Start { .. } => "start",
                StreamEvent::StepStart => "step",
                StreamEvent::ToolCall { .. } => "call",
                StreamEvent::ToolResult { .. } => "result",
                StreamEvent::Source { .. } => "source",
                StreamEvent::TextStart { .. } | StreamEvent::TextDelta { .. } | StreamEvent::TextEnd { .. } => "text",
                StreamEvent::Data { name, .. } => name,
                StreamEvent::StepFinish { .. } => "step-end",
                StreamEvent::Finish { .. } => "finish",
                StreamEvent::Error { .. } => "error",
                StreamEvent::KeepAlive => "keep-alive",
            })
        });
        kinds.dedup();
        kinds
    }

    fn each<T>(&self, pick: impl Fn(&StreamEvent) -> Option<T>) -> Vec<T> {
        self.events.iter().filter_map(pick).collect()
    }
}
