//! The agent endpoints, as a client of one project sees them.

use serde_json::{Value, json};

use crate::http::{Request, Response};
use crate::server::Server;
use crate::wait::eventually;

/// A client of one project's agent endpoints.
#[derive(Debug, Clone)]
pub struct Agent<'a> {
    server: &'a Server,
    project: &'a str,
    key: &'a str,
}

impl<'a> Agent<'a> {
    pub fn new(server: &'a Server, project: &'a str, key: &'a str) -> Self {
        Self { server, project, key }
    }

    /// A request to `/v2/agent/PROJECT/SUFFIX` with the key.
    pub fn request(&self, method: &str, suffix: &str) -> Request {
        Request::new(method, format!("/v2/agent/{}/{suffix}", self.project)).bearer(self.key)
    }

    /// A request to `/v1/agent/PROJECT/SUFFIX` with the key.
    pub fn request_v1(&self, method: &str, suffix: &str) -> Request {
        Request::new(method, format!("/v1/agent/{}/{suffix}", self.project)).bearer(self.key)
    }

    /// A version 1 request that creates a job.
    pub fn create_v1(&self, prompt: &str) -> Request {
        self.request_v1("POST", "job").json(&json!({ "messages": [{ "role": "user", "content": prompt }] }))
    }

    /// The job as version 1 shows it.
    ///
    /// # Panics
    /// When the answer is not 200.
    pub fn session(&self, id: &str) -> Value {
        let response = self.server.send(&self.request_v1("GET", &format!("job/{id}")));
        assert_eq!(response.status, 200, "no such session: {}", response.text());
        response.json()
    }

    /// Polls as clients of version 1 do, until the session is halted, and returns the session.
    ///
    /// # Panics
    /// When it is not halted in time.
    pub fn halts(&self, id: &str) -> Value {
        eventually(&format!("session {id} to halt"), || {
            Some(self.session(id)).filter(|session| session["haulted"] == true)
        })
    }

    /// A request for the events of a job, after the one with this id.
    pub fn events(&self, id: &str, after: Option<u64>) -> Request {
        let request = self.request("GET", &format!("job/{id}/events"));
        match after {
            Some(after) => request.header("Last-Event-ID", after.to_string()),
            None => request,
        }
    }

    /// Tries to create a job; the response may have any status.
    pub fn try_create(&self, body: &Value) -> Response {
        self.server.send(&self.request("POST", "job").json(body))
    }

    /// Creates a job that must be accepted, and returns the AgentJob.
    ///
    /// # Panics
    /// When the answer is not 201.
    pub fn create(&self, prompt: &str) -> Value {
        self.create_with(&json!({ "prompt": prompt }))
    }

    /// Creates a job from a complete request body.
    ///
    /// # Panics
    /// When the answer is not 201.
    pub fn create_with(&self, body: &Value) -> Value {
        let response = self.try_create(body);
        assert_eq!(response.status, 201, "a job was not accepted: {}", response.text());
        response.json()
    }

    /// The job in its current state.
    ///
    /// # Panics
    /// When the answer is not 200.
    pub fn job(&self, id: &str) -> Value {
        let response = self.server.send(&self.request("GET", &format!("job/{id}")));
        assert_eq!(response.status, 200, "no such job: {}", response.text());
        response.json()
    }

    /// Waits until the job is no longer active, and returns it.
    ///
    /// # Panics
    /// When it stays active.
    pub fn ends(&self, id: &str) -> Value {
        eventually(&format!("job {id} to end"), || Some(self.job(id)).filter(|job| job["status"] != "active"))
    }

    /// Waits until the job ends, and checks that it ends with this status.
    ///
    /// # Panics
    /// When it ends with another status.
    pub fn reaches(&self, id: &str, status: &str) -> Value {
        let job = self.ends(id);
        assert_eq!(job["status"], status, "the job ended otherwise: {job:#}");
        job
    }

    /// Sends a follow-up; the response may have any status.
    pub fn message(&self, id: &str, prompt: &str) -> Response {
        self.server.send(&self.request("POST", &format!("job/{id}/message")).json(&json!({ "prompt": prompt })))
    }

    /// Archives the job; the response may have any status.
    pub fn archive(&self, id: &str) -> Response {
        self.server.send(&self.request("POST", &format!("job/{id}/archive")))
    }
}

/// A job's id.
///
/// # Panics
/// When the value is not a job.
pub fn id(job: &Value) -> &str {
    job["id"].as_str().unwrap_or_else(|| panic!("a job has an id: {job:#}"))
}

/// The branch a job works on.
///
/// # Panics
/// When the job has no branch.
pub fn branch(job: &Value) -> &str {
    job["source"]["ref"].as_str().unwrap_or_else(|| panic!("a job names its branch: {job:#}"))
}

/// The path of a job's pull request on this server: the link without scheme and host.
///
/// # Panics
/// When the job has no pull request.
pub fn pull_request(job: &Value) -> String {
    let link = job["prLink"].as_str().unwrap_or_else(|| panic!("a job that changed files has a pull request: {job:#}"));
    let rest = link.strip_prefix("http://").unwrap_or_else(|| panic!("the link is a URL: {link}"));
    rest[rest.find('/').unwrap_or(rest.len())..].to_owned()
}

/// One event of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Only the last event of a journal entry has one.
    pub id: Option<u64>,
    pub kind: String,
    pub data: Value,
}

impl Event {
    /// Parses the complete events of a body that may have been cut anywhere.
    ///
    /// # Panics
    /// When one of them is not a valid event.
    pub fn read(body: &[u8]) -> Vec<Self> {
        let whole = body.windows(2).rposition(|two| two == b"\n\n").map_or(0, |at| at + 2);
        let text = std::str::from_utf8(&body[..whole]).expect("events are UTF-8");
        let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
        blocks
            .map(|block| {
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
                let data = field("data: ").unwrap_or_else(|| panic!("no data: {block}"));
                Self {
                    id: field("id: ").map(|id| id.parse().expect("ids are numbers")),
                    kind: field("event: ").unwrap_or_else(|| panic!("no type: {block}")).to_owned(),
                    data: serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}")),
                }
            })
            .collect()
    }

    /// The events that a client keeps of a truncated stream: those up to the last one with an id, and that id.
    pub fn kept(mut events: Vec<Self>) -> (Vec<Self>, Option<u64>) {
        let last = events.iter().rposition(|event| event.id.is_some());
        events.truncate(last.map_or(0, |last| last + 1));
        let id = events.last().and_then(|event| event.id);
        (events, id)
    }
}
