//! A model server that plays a script: Anthropic Messages and OpenAI chat completions on one port, streamed frame by
//! frame like the services, and with the same strict checks of requests.
//!
//! ```no_run
//! # use docent_tests::model_server::{ModelServer, Reply};
//! # use serde_json::json;
//! let model = ModelServer::start();
//! model.replies("Let me think.").replies(Reply::rate_limited("1")).replies(Reply::text("I will").cut());
//! model.replies(Reply::calls("read", &json!({ "path": "index.mdx" })));
//! // … a job, talking to `model.anthropic()` or `model.openai()` …
//! assert_eq!(model.requests()[3].answers().len(), 1);
//! ```
//!
//! Instead of a script it can have a [brain]: a function from a request to the reply. A request that a service would
//! refuse is refused with the service's message, and recorded in [`faults`](ModelServer::faults), so that a test can
//! assert that there were none.

mod anthropic;
mod asked;
pub mod brain;
mod cache;
mod frames;
mod openai;
mod reply;
mod serving;

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use self::cache::Cache;
use crate::http_server::listen;

pub use self::asked::{Call, ModelRequest, ToolAnswer, TranscriptTurn, Wire};
pub use self::brain::Edit;
pub use self::reply::{Gate, Reply, StopReason};

/// The only API key that is accepted.
pub const KEY: &str = "sk-model-0123456789";

/// Computes the reply to a request.
type Brain = dyn Fn(&ModelRequest) -> Reply + Send + Sync;

/// A running model server. It ends with the process.
#[derive(Debug, Clone)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Reply>,
    brain: Option<Arc<Brain>>,
    keeps: bool,
    requests: Vec<ModelRequest>,
    faults: Vec<String>,
    cache: Cache,
    read_from_cache: Vec<u64>,
    served: u64,
    hung_up: usize,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("script", &self.script).field("served", &self.served).finish_non_exhaustive()
    }
}

impl ModelServer {
    /// A server with an empty script, on a free port.
    pub fn start() -> Self {
        Self::on_port(0)
    }

    /// A server with an empty script, on this port.
    ///
    /// # Panics
    /// When the port is not free.
    pub fn on_port(port: u16) -> Self {
        let state = Arc::new(Mutex::new(State { keeps: true, ..State::default() }));
        let shared = state.clone();
        let address = listen(port, Arc::new(move |received, connection| serving::serve(received, connection, &shared)));
        Self { address, state }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for clients of this protocol, as their configuration expects it.
    pub fn url(&self, wire: Wire) -> String {
        match wire {
            Wire::Anthropic => format!("http://{}", self.address),
            Wire::OpenAi => format!("http://{}/v1", self.address),
        }
    }

    /// The environment variables that make Docent use this server, as the model `sonnet` of the agent and the
    /// assistant.
    pub fn configures(&self, wire: Wire) -> Vec<(String, String)> {
        let provider = match wire {
            Wire::Anthropic => "anthropic",
            Wire::OpenAi => "openai",
        };
        configuration(provider, "scripted-1", &self.url(wire))
    }

    /// Adds a reply to the end of the script.
    pub fn replies(&self, reply: impl Into<Reply>) -> &Self {
        self.state.lock().script.push_back(reply.into());
        self
    }

    /// Sets the brain, which replies when the script is empty.
    pub fn replies_with(&self, brain: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static) -> &Self {
        self.state.lock().brain = Some(Arc::new(brain));
        self
    }

    /// Records no requests from here on, for long runs.
    pub fn forgets(&self) -> &Self {
        let mut state = self.state.lock();
        state.keeps = false;
        state.requests.clear();
        drop(state);
        self
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state.lock().requests.clone()
    }

    /// The number of requests so far.
    pub fn served(&self) -> u64 {
        self.state.lock().served
    }

    /// The number of replies left in the script.
    pub fn remaining(&self) -> usize {
        self.state.lock().script.len()
    }

    /// The faults of requests, with the messages of the services.
    pub fn faults(&self) -> Vec<String> {
        self.state.lock().faults.clone()
    }

    /// The cached tokens of each request, as Anthropic's prompt caching counts them: those of the prefix that the
    /// request shares with an earlier one, up to a `cache_control` mark in that.
    pub fn read_from_cache(&self) -> Vec<u64> {
        self.state.lock().read_from_cache.clone()
    }

    /// The number of replies during which the client closed the connection.
    pub fn hung_up(&self) -> usize {
        self.state.lock().hung_up
    }
}

/// The environment variables that make Docent use a model server, as the model `sonnet` of the agent and the assistant.
pub fn configuration(provider: &str, model: &str, base_url: &str) -> Vec<(String, String)> {
    let variables = [
        ("DOCENT_MODELS__SONNET__PROVIDER", provider),
        ("DOCENT_MODELS__SONNET__MODEL", model),
        ("DOCENT_MODELS__SONNET__BASE_URL", base_url),
        ("DOCENT_MODELS__SONNET__API_KEY_ENV", "MODEL_KEY"),
        ("MODEL_KEY", KEY),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}
