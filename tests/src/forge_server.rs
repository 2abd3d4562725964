//! Forges as their published REST APIs describe them: GitHub, GitLab and Gitea, status by status, for one repository.
//!
//! ```no_run
//! # use docent_tests::{Repository, forge_server::{ForgeServer, Kind, PlannedAnswer}};
//! # let repository = Repository::create("/srv/docs.git".as_ref(), &[("index.md", "")]);
//! let forge = ForgeServer::start(Kind::Github, &repository);
//! forge.give("a-token");
//! forge.says("POST", "/pulls", PlannedAnswer::new(503, "{}").with("Retry-After", "2")); // once
//! assert!(forge.pulls().is_empty());
//! ```
//!
//! Branches are those of the repository on disk, so a head that was not pushed is refused as the forge refuses it.
//! Every request is recorded. A [`Relay`] forwards to a third-party forge and records the requests and answers.

mod gitea;
mod github;
mod gitlab;
mod relay;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::http_server::{AfterAnswer, Connection, Received, listen, path_and_query};
use crate::repository::Repository;

pub use self::relay::{Exchange, Relay};

/// The name of the repository on the forges.
pub const NAME: &str = "acme/docs";

/// The forge whose REST API is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Github,
    Gitlab,
    Gitea,
}

/// A running forge. It ends with the process.
#[derive(Debug, Clone)]
pub struct ForgeServer {
    kind: Kind,
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

/// A stored pull request or merge request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub head: String,
    pub base: String,
    pub draft: bool,
    pub labels: Vec<String>,
    pub stage: PullState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullState {
    Open,
    Closed,
    Merged,
}

/// One recorded request.
#[derive(Debug, Clone)]
pub struct ForgeRequest {
    pub method: String,
    /// Without the query, not decoded.
    pub path: String,
    pub query: HashMap<String, String>,
    /// Keyed by lower-case name.
    pub headers: HashMap<String, String>,
    /// Null if there was no body.
    pub body: Value,
}

/// A response to send.
#[derive(Debug, Clone)]
pub struct PlannedAnswer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl PlannedAnswer {
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type", "application/json; charset=utf-8".to_owned())],
            body: body.into(),
        }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string())
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn message(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "message": message }))
    }
}

/// The permissions of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rights {
    None,
    Read,
    Write,
}

#[derive(Debug)]
struct State {
    repository: Repository,
    address: SocketAddr,
    tokens: HashMap<String, Rights>,
    pulls: Vec<Pull>,
    labels: Vec<String>,
    seen: Vec<ForgeRequest>,
    /// Method, suffix of the path, response.
    planned: Vec<(String, String, PlannedAnswer)>,
    /// How long each answer takes.
    delay: Duration,
}

impl ForgeServer {
    /// A forge that hosts this repository as [`NAME`], with no tokens yet.
    pub fn start(kind: Kind, repository: &Repository) -> Self {
        let state = Arc::new(Mutex::new(State {
            repository: repository.clone(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            tokens: HashMap::new(),
            pulls: Vec::new(),
            labels: vec!["docs".to_owned(), "automated".to_owned()],
            seen: Vec::new(),
            planned: Vec::new(),
            delay: Duration::ZERO,
        }));
        let shared = state.clone();
        let address = listen(0, Arc::new(move |received, connection| serve(kind, &received, connection, &shared)));
        state.lock().address = address;
        Self { kind, address, state }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL to configure for a project.
    pub fn url(&self) -> String {
        match self.kind {
            // As for GitHub Enterprise, the base URL of the API.
            Kind::Github => format!("http://{}/api/v3", self.address),
            Kind::Gitlab | Kind::Gitea => format!("http://{}", self.address),
        }
    }

    /// Accepts this token for reading and writing.
    pub fn give(&self, token: &str) {
        self.state.lock().tokens.insert(token.to_owned(), Rights::Write);
    }

    /// Accepts this token for reading only.
    pub fn give_to_read(&self, token: &str) {
        self.state.lock().tokens.insert(token.to_owned(), Rights::Read);
    }

    /// Sends this response once, to the next request with this method and a path with this suffix.
    pub fn says(&self, method: &str, path_end: &str, said: PlannedAnswer) -> &Self {
        self.state.lock().planned.push((method.to_owned(), path_end.to_owned(), said));
        self
    }

    /// From now on each answer takes this long.
    pub fn takes(&self, delay: Duration) {
        self.state.lock().delay = delay;
    }

    /// All pull requests, oldest first.
    pub fn pulls(&self) -> Vec<Pull> {
        self.state.lock().pulls.clone()
    }

    /// A person opens a pull request.
    pub fn opens(&self, head: &str, base: &str, title: &str) -> u64 {
        let pull = Pull {
            number: 0,
            title: title.to_owned(),
            body: String::new(),
            head: head.to_owned(),
            base: base.to_owned(),
            draft: false,
            labels: Vec::new(),
            stage: PullState::Open,
        };
        self.state.lock().add(pull).number
    }

    /// A person merges or closes a pull request.
    ///
    /// # Panics
    /// When there is no pull request of this number.
    pub fn ends(&self, number: u64, stage: PullState) {
        self.state.lock().pull(number).expect("a pull request of this number").stage = stage;
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<ForgeRequest> {
        self.state.lock().seen.clone()
    }

    /// The paths of the requests with this method.
    pub fn paths(&self, method: &str) -> Vec<String> {
        let seen = self.seen();
        seen.into_iter().filter(|asked| asked.method == method).map(|asked| asked.path).collect()
    }
}

impl State {
    fn add(&mut self, mut pull: Pull) -> Pull {
        pull.number = self.pulls.len() as u64 + 1;
        self.pulls.push(pull.clone());
        pull
    }

    fn pull(&mut self, number: u64) -> Option<&mut Pull> {
        self.pulls.iter_mut().find(|pull| pull.number == number)
    }

    /// The open pull request between two branches.
    fn open_between(&self, head: &str, base: &str) -> Option<&Pull> {
        self.pulls.iter().find(|pull| pull.stage == PullState::Open && pull.head == head && pull.base == base)
    }

    /// The commit hash of a branch; empty if the branch does not exist.
    fn commit(&self, branch: &str) -> String {
        self.repository.git(&["for-each-ref", "--format=%(objectname)", &format!("refs/heads/{branch}")])
    }

    fn has_branch(&self, branch: &str) -> bool {
        !branch.is_empty() && !self.commit(branch).is_empty()
    }

    fn rights(&self, asked: &ForgeRequest) -> Rights {
        let header = |name: &str| asked.headers.get(name).map(String::as_str).unwrap_or_default();
        let given = header("authorization");
        let token = given.strip_prefix("Bearer ").or_else(|| given.strip_prefix("token "));
        let token = token.unwrap_or_else(|| header("private-token"));
        self.tokens.get(token).copied().unwrap_or(Rights::None)
    }
}

impl ForgeRequest {
    fn of(received: &Received) -> Self {
        let (path, query) = path_and_query(&received.target);
        let body = serde_json::from_slice(&received.body).unwrap_or_default();
        Self { method: received.method.clone(), path, query, headers: received.headers.clone(), body }
    }

    /// A query parameter; empty if it is missing.
    fn value(&self, name: &str) -> &str {
        self.query.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A string field of the body; empty if it is missing.
    fn text(&self, name: &str) -> String {
        self.body[name].as_str().unwrap_or_default().to_owned()
    }
}

fn serve(
    kind: Kind,
    received: &Received,
    connection: &mut Connection,
    state: &Mutex<State>,
) -> io::Result<AfterAnswer> {
    let asked = ForgeRequest::of(received);
    let (said, delay) = {
        let mut state = state.lock();
        state.seen.push(asked.clone());
        let planned = state.planned.iter();
        let mut planned = planned.enumerate().filter(|(_, (method, ..))| *method == asked.method);
        let planned = planned.find(|(_, (_, end, _))| asked.path.ends_with(end)).map(|(at, _)| at);
        let said = match planned {
            Some(at) => state.planned.remove(at).2,
            None => match kind {
                Kind::Github => github::answer(&mut state, &asked),
                Kind::Gitlab => gitlab::answer(&mut state, &asked),
                Kind::Gitea => gitea::answer(&mut state, &asked),
            },
        };
        (said, state.delay)
    };
    thread::sleep(delay);
    let headers: Vec<(&str, String)> = said.headers.iter().map(|(name, value)| (*name, value.clone())).collect();
    connection.answer(said.status, &headers, said.body.as_bytes())
}
