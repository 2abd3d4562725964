//! The API with all its cores in memory, two projects, keys to the first, and a worker that the test controls.

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
use docent_jobs::scripted::{self, Scripted};
use docent_jobs::{JobLimits, Jobs, ModelNames};
use docent_search::{Indexes, Source, SourceFile};
use docent_types::{BoxError, FixedIds, ManualClock, ProjectId, RandomIds, Timestamp};
use docent_web::{Draining, Handler, Response, ServerLimits, answer};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::Api;

pub(super) const JOBS: &str = "/v1/agent/acme/job";
pub(super) const MESSAGE: &str = "/discovery/v1/assistant/acme/message";

pub(super) struct TestApi {
    pub(super) api: Api,
    pub(super) agent: Scripted,
    pub(super) model: docent_llm::scripted::Scripted,
    pub(super) clock: ManualClock,
    pub(super) admin: Key,
    pub(super) assistant: Key,
    pub(super) drain: CancellationToken,
    keys: Arc<MemoryAccess>,
}

/// A single page, as the index of the first project.
struct Page;

impl Source for Page {
    fn commit(&self) -> &'static str {
        "c1"
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(vec![SourceFile { path: "guides/retries.md".to_owned(), blob: "b1".to_owned() }])
    }

    fn read(&self, _: &SourceFile) -> Result<Vec<u8>, BoxError> {
        Ok(b"---\ntitle: Retries\n---\nRetries wait twice as long each time.\n".to_vec())
    }
}

/// Built once for all tests.
fn docs() -> Arc<Indexes> {
    static DOCS: LazyLock<(tempfile::TempDir, Arc<Indexes>)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let indexes = Indexes::new(folder.path());
        let index = indexes.open(sample_project("acme").uid).expect("an index");
        index.update(&Page, &mut |_| {}).expect("the page is indexed");
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

/// An answer whose body is read incrementally. Dropping it closes the connection.
pub(super) struct StreamingResponse {
    pub(super) response: Response,
    pub(super) body: String,
}

/// A request being built.
pub(super) struct TestRequest<'a> {
    fixture: &'a TestApi,
    builder: http::request::Builder,
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

impl StreamingResponse {
    pub(super) async fn of(handler: &impl Handler, request: http::Request<Full<Bytes>>) -> Self {
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

    pub(super) fn session(&self) -> String {
        self.response.headers()["x-session-id"].to_str().expect("an id").to_owned()
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

impl TestApi {
    pub(super) async fn new() -> Self {
        let keys = Arc::new(MemoryAccess::new());
        for name in ["acme", "other"] {
            keys.add(sample_project(name)).await.expect("a new project");
        }
        let clock = ManualClock::at(Timestamp::from_millis(1_795_000_000_000));
        let shared_clock = Arc::new(clock.clone());
        let ids = Arc::new(FixedIds::default());
        let jobs = Jobs::new(Arc::new(MemoryStore::new()), shared_clock.clone(), ids, JobLimits::default());
        let agent = Scripted::start(&jobs);
        let model = docent_llm::scripted::Scripted::new();
        let (threads, ids) = (Arc::new(MemoryThreads::default()), Arc::new(FixedIds::default()));
        let assistant = Assistant::new(Arc::new(model.clone()), threads, shared_clock.clone(), ids);
        let api = Api {
            access: Access::new(keys.clone(), keys.clone(), shared_clock.clone()),
            jobs,
            models: ModelNames { offered: vec!["sonnet".into(), "opus".into()], default: "sonnet".into() },
            answering: Answering {
                assistant: Arc::new(assistant),
                docs: docs(),
                replies: Replies::at_once(2),
                searches: SearchLog::new(Arc::new(MemorySearches::default()), shared_clock),
            },
            events_of: scripted::events_of,
        };
        let admin = issue(&keys, |_| {}).await;
        let assistant = issue(&keys, |grant| grant.kind = KeyKind::Assistant).await;
        Self { api, agent, model, clock, admin, assistant, drain: CancellationToken::new(), keys }
    }

    /// Creates another key of the first project.
    pub(super) async fn key(&self, kind: KeyKind, scope: Scope) -> Key {
        issue(&self.keys, |grant| *grant = Grant { scope, kind, ..grant.clone() }).await
    }

    pub(super) fn ask(&self, method: Method, path: &str) -> TestRequest<'_> {
        let builder = http::Request::builder()
            .method(method)
            .uri(format!("http://docent.test{path}"))
            .extension(Draining::from(self.drain.clone()));
        TestRequest { fixture: self, builder }
    }

    /// A request of the project's client.
    pub(super) fn agent(&self, method: Method, path: &str) -> TestRequest<'_> {
        self.ask(method, path).key(&self.admin)
    }

    /// A request of the assistant's client.
    pub(super) fn reader(&self) -> TestRequest<'_> {
        self.ask(Method::POST, MESSAGE).key(&self.assistant)
    }

    /// Creates a job whose answer is read incrementally.
    pub(super) async fn create(&self, text: &str) -> StreamingResponse {
        let reading = self.agent(Method::POST, JOBS).open(user(text)).await;
        assert_eq!(reading.response.status(), 200);
        reading
    }

    pub(super) async fn session(&self, id: &str) -> Value {
        self.agent(Method::GET, &format!("{JOBS}/{id}")).send().await.json()
    }
}

/// The smallest valid body of a job.
pub(super) fn user(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": text}]})
}

async fn issue(keys: &MemoryAccess, change: impl FnOnce(&mut Grant)) -> Key {
    let now = Timestamp::from_millis(1_795_000_000_000);
    let mut grant = Grant::new(KeyKind::Admin, ProjectId::parse("acme").expect("a name"), now);
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

    /// Sends a body and returns the answer before its body is read.
    pub(super) async fn open(self, body: Value) -> StreamingResponse {
        let request = self.builder.header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a request");
        StreamingResponse::of(&self.fixture.api, request).await
    }

    pub(super) async fn json(self, body: Value) -> TestResponse {
        self.open(body).await.finish().await
    }

    /// Sends any bytes, returns the status, and closes the connection.
    pub(super) async fn head(self, body: Vec<u8>) -> u16 {
        let request = self.builder.body(Full::new(body.into())).expect("a request");
        StreamingResponse::of(&self.fixture.api, request).await.response.status().as_u16()
    }

    pub(super) async fn send(self) -> TestResponse {
        self.bytes("").await
    }

    pub(super) async fn bytes(self, body: impl Into<Bytes>) -> TestResponse {
        let request = self.builder.body(Full::new(body.into())).expect("a request");
        TestResponse::of(&self.fixture.api, request).await
    }
}
