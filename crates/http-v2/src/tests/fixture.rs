//! The API with all its cores in memory, two projects, and a key of each kind to the first.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use docent_access::conformance::sample_project;
use docent_access::memory::MemoryAccess;
use docent_access::{Access, Grant, Key, KeyKind, Keys, Projects, Scope, mint, system_randomness};
use docent_assistant::memory::{MemorySearches, MemoryThreads};
use docent_assistant::{Assistant, SearchLog};
use docent_discovery::{Answering, Replies};
use docent_jobs::memory::MemoryStore;
use docent_jobs::scripted::events_of;
use docent_jobs::{JobLimits, Jobs, ModelNames};
use docent_llm::scripted::Scripted;
use docent_search::{Indexes, Source, SourceFile};
use docent_types::{BoxError, FixedIds, ManualClock, ProjectId, RandomIds, Timestamp};
use docent_web::{Draining, Handler, Response, ServerLimits, answer};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Api;

pub(super) struct TestApi {
    pub(super) api: Api,
    pub(super) model: Scripted,
    pub(super) clock: ManualClock,
    pub(super) admin: Key,
    pub(super) assistant: Key,
    pub(super) drain: CancellationToken,
    keys: Arc<MemoryAccess>,
}

/// Two pages, keyed by path.
struct Pages;

const PAGES: [(&str, &str); 2] = [
    (
        "guides/retries.md",
        "---\ntitle: Retries\n---\nA call that fails is made again.\n\n## Backoff\n\nRetries wait twice as long each time.\n",
    ),
    ("index.md", "---\ntitle: Welcome\n---\nThe docs of a small library for calls over the network.\n"),
];

impl Source for Pages {
    fn commit(&self) -> &'static str {
        "c1"
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(PAGES.iter().map(|(path, _)| SourceFile { path: (*path).to_owned(), blob: (*path).to_owned() }).collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        let (_, text) = PAGES.iter().find(|(path, _)| *path == file.path).expect("a file we listed");
        Ok(text.as_bytes().to_vec())
    }
}

/// The pages as the index of the first project, built once for all tests.
fn docs() -> Arc<Indexes> {
    static DOCS: LazyLock<(tempfile::TempDir, Arc<Indexes>)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let indexes = Indexes::new(folder.path());
        let index = indexes.open(sample_project("acme").uid).expect("an index");
        index.update(&Pages, &mut |_| {}).expect("the pages are indexed");
        (folder, Arc::new(indexes))
    });
    Arc::clone(&DOCS.1)
}

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct TestResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl TestResponse {
    pub(super) async fn of(handler: &impl Handler, request: http::Request<Full<Bytes>>) -> Self {
        StreamingResponse::of(handler, request).await.finish().await
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The frames of a stream, without `[DONE]`.
    pub(super) fn frames(&self) -> Vec<Value> {
        let data = self.body.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).expect("a frame is JSON")).collect()
    }
}

/// An answer whose body is read incrementally. Dropping it closes the connection.
pub(super) struct StreamingResponse {
    pub(super) response: Response,
    pub(super) body: String,
}

impl StreamingResponse {
    async fn of(handler: &impl Handler, request: http::Request<Full<Bytes>>) -> Self {
        let peer = SocketAddr::from(([127, 0, 0, 1], 9));
        let response = answer(handler, request, peer, &RandomIds, &ServerLimits::default()).await;
        Self { response, body: String::new() }
    }

    /// Reads until the body contains this text.
    pub(super) async fn until(&mut self, text: &str) {
        while !self.body.contains(text) {
            let frame = self.response.body_mut().frame().await.unwrap_or_else(|| panic!("no {text}: {}", self.body));
            let data = frame.expect("bodies do not fail").into_data().expect("data");
            self.body.push_str(std::str::from_utf8(&data).expect("whole frames"));
        }
    }

    pub(super) async fn finish(mut self) -> TestResponse {
        let (parts, body) = self.response.into_parts();
        let bytes = body.collect().await.expect("bodies do not fail").to_bytes();
        self.body.push_str(std::str::from_utf8(&bytes).expect("text"));
        assert!(parts.headers.contains_key("x-request-id"));
        let answer = TestResponse { status: parts.status.as_u16(), headers: parts.headers, body: self.body };
        if parts.status >= StatusCode::BAD_REQUEST {
            let told = answer.json();
            assert!(told["error"].as_str().is_some_and(|sentence| sentence.ends_with(['.', '!'])), "{answer:?}");
        }
        answer
    }
}

/// A request being built.
pub(super) struct TestRequest<'a> {
    fixture: &'a TestApi,
    builder: http::request::Builder,
}

impl TestApi {
    pub(super) async fn new() -> Self {
        let keys = Arc::new(MemoryAccess::new());
        for name in ["acme", "other"] {
            keys.add(sample_project(name)).await.expect("a new project");
        }
        let clock = ManualClock::at(Timestamp::from_millis(1_795_000_000_000));
        let shared_clock = Arc::new(clock.clone());
        let ids = Arc::new(FixedIds::default());
        let model = Scripted::new();
        let jobs = Jobs::new(Arc::new(MemoryStore::new()), shared_clock.clone(), ids.clone(), JobLimits::default());
        let assistant =
            Assistant::new(Arc::new(model.clone()), Arc::new(MemoryThreads::default()), shared_clock.clone(), ids);
        let api = Api {
            access: Access::new(keys.clone(), keys.clone(), shared_clock.clone()),
            jobs,
            models: ModelNames { offered: vec!["sonnet".into(), "opus".into()], default: "sonnet".into() },
            answering: Answering {
                assistant: Arc::new(assistant),
                docs: docs(),
                replies: Replies::default(),
                searches: SearchLog::new(Arc::new(MemorySearches::default()), shared_clock),
            },
            events_of,
            clock: Arc::new(clock.clone()),
        };
        let admin = issue(&keys, |grant| grant.kind = KeyKind::Admin).await;
        let assistant = issue(&keys, |_| {}).await;
        Self { api, model, clock, admin, assistant, drain: CancellationToken::new(), keys }
    }

    /// Sets other limits, and removes all jobs.
    pub(super) fn limit_jobs(&mut self, limits: JobLimits) {
        let (clock, ids) = (Arc::new(self.clock.clone()), Arc::new(FixedIds::default()));
        self.api.jobs = Jobs::new(Arc::new(MemoryStore::new()), clock, ids, limits);
    }

    /// Creates another key of the first project.
    pub(super) async fn key(&self, kind: KeyKind, scope: Scope) -> Key {
        issue(&self.keys, |grant| *grant = Grant { scope, kind, ..grant.clone() }).await
    }

    /// Creates another assistant key of the first project, for pages of these origins.
    pub(super) async fn key_for(&self, origins: &[&str]) -> Key {
        let origins = origins.iter().map(|origin| origin.parse().expect("an origin")).collect();
        issue(&self.keys, |grant| grant.allow_origin = origins).await
    }

    pub(super) fn ask(&self, method: Method, path: &str) -> TestRequest<'_> {
        let builder = http::Request::builder()
            .method(method)
            .uri(format!("http://docent.test{path}"))
            .extension(Draining::from(self.drain.clone()));
        TestRequest { fixture: self, builder }
    }

    /// A request of the agent's client.
    pub(super) fn agent(&self, method: Method, path: &str) -> TestRequest<'_> {
        self.ask(method, path).key(&self.admin)
    }

    /// A request of the assistant's client.
    pub(super) fn reader(&self, path: &str) -> TestRequest<'_> {
        self.ask(Method::POST, path).key(&self.assistant)
    }
}

async fn issue(keys: &MemoryAccess, change: impl FnOnce(&mut Grant)) -> Key {
    let now = Timestamp::from_millis(1_795_000_000_000);
    let mut grant = Grant::new(KeyKind::Assistant, ProjectId::parse("acme").expect("a name"), now);
    change(&mut grant);
    let (key, record) = mint(grant, now, system_randomness).expect("randomness");
    keys.insert(record).await.expect("a new key");
    key
}

impl TestRequest<'_> {
    pub(super) fn key(self, key: &Key) -> Self {
        self.header("authorization", &format!("Bearer {}", key.expose()))
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.header(name, value);
        self
    }

    pub(super) async fn json(self, body: Value) -> TestResponse {
        self.header("content-type", "application/json").bytes(body.to_string()).await
    }

    /// Sends the request and returns the answer before its body is read.
    pub(super) async fn open(self, body: impl Into<Bytes>) -> StreamingResponse {
        let request = self.builder.body(Full::new(body.into())).expect("a request");
        StreamingResponse::of(&self.fixture.api, request).await
    }

    pub(super) async fn send(self) -> TestResponse {
        self.bytes("").await
    }

    pub(super) async fn bytes(self, body: impl Into<Bytes>) -> TestResponse {
        let request = self.builder.body(Full::new(body.into())).expect("a request");
        TestResponse::of(&self.fixture.api, request).await
    }
}
