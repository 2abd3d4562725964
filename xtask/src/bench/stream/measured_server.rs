//! The servers that are measured, with a new process for each measurement.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use docent_tests::installation::KeyKind;
use docent_tests::{Assistant, Installation, Request, Server};

use crate::bench::process;
use crate::bench::program::Program;
use crate::bench::stream::cores::Cores;

/// The project that is measured.
pub(crate) const PROJECT: &str = "bench";
const QUESTION: &str = "How often is a delivery tried again that fails?";
/// A limit above the number of requests that are ever sent.
const MANY: &str = "100000000";

/// The kind of server that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    /// The chat SDK's own server.
    Sdk,
    /// The chat SDK's own server with a model server behind HTTP.
    SdkRelay,
    /// Plain Node without the SDK.
    Plain,
    /// Plain Node with a model server behind HTTP.
    Relay,
    /// hyper without anything else.
    Bare,
    /// Docent with a model in the process.
    InProcess,
    /// `docent serve` with a model server behind HTTP.
    BehindHttp,
}

impl ServerKind {
    const fn has_a_model_server(self) -> bool {
        matches!(self, Self::SdkRelay | Self::Relay | Self::BehindHttp)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sdk => "the SDK's server",
            Self::SdkRelay => "the SDK's, model over HTTP",
            Self::Plain => "plain Node",
            Self::Relay => "plain Node, model over HTTP",
            Self::Bare => "bare hyper",
            Self::InProcess => "docent, model in-process",
            Self::BehindHttp => "docent, model over HTTP",
        }
    }
}

/// The pacing of a model's reply: the number of deltas, and the interval between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) deltas: u32,
    pub(crate) every: Duration,
}

impl Pace {
    fn arguments(self) -> [String; 2] {
        [self.deltas.to_string(), self.every.as_millis().to_string()]
    }
}

/// The programs that are started.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) docent: PathBuf,
    pub(crate) examples: PathBuf,
    pub(crate) node: PathBuf,
    pub(crate) peers: PathBuf,
}

impl Programs {
    pub(crate) fn readers(&self) -> PathBuf {
        self.examples.join("stream_load")
    }
}

/// A running server, and the requests that are sent to it.
#[derive(Debug)]
pub(crate) struct MeasuredServer {
    // Field order is drop order: the server before its model.
    running: Running,
    _model: Option<Program>,
    path: String,
    key: Option<String>,
    bodies: Vec<String>,
    idle: u64,
}

#[derive(Debug)]
enum Running {
    Program(Program),
    Docent(Server),
}

impl MeasuredServer {
    pub(crate) fn start(
        kind: ServerKind,
        pace: Pace,
        programs: &Programs,
        installation: &Installation,
    ) -> Result<Self, String> {
        let [deltas, every] = pace.arguments();
        let model = kind.has_a_model_server().then(|| {
            let mut command = Command::new(programs.examples.join("paced_model"));
            command.args([&deltas, &every]);
            Program::start(command, Cores::All)
        });
        let model = model.transpose()?;
        let base = model.as_ref().map(|model| format!("http://{}/v1", model.address())).unwrap_or_default();
        let (running, path, key) = match kind {
            ServerKind::Sdk | ServerKind::SdkRelay | ServerKind::Plain | ServerKind::Relay => {
                let mut command = Command::new(&programs.node);
                command.arg("peer.mjs").args(match kind {
                    ServerKind::Sdk => vec!["sdk"],
                    ServerKind::SdkRelay => vec!["sdk", &base],
                    ServerKind::Relay => vec!["relay", &base],
                    _ => vec!["plain"],
                });
                command.current_dir(&programs.peers).env("NODE_ENV", "production");
                let path = format!("/?deltas={deltas}&every={every}");
                (Running::Program(Program::start(command, Cores::All)?), path, None)
            }
            ServerKind::Bare | ServerKind::InProcess => {
                let mut command = Command::new(programs.examples.join("stream_host"));
                command.arg(if kind == ServerKind::Bare { "bare" } else { "docent" }).args([deltas, every]);
                let program = Program::start(command, Cores::All)?;
                let path = program.said("path").unwrap_or_else(|| "/".to_owned());
                let key = program.said("key");
                (Running::Program(program), path, key)
            }
            ServerKind::BehindHttp => {
                let (server, key) = docent(installation, &base);
                let path = Assistant::new(&server, PROJECT, &key).path();
                (Running::Docent(server), path, Some(key))
            }
        };
        let mut server = Self { running, _model: model, path, key, bodies: vec![body(QUESTION)], idle: 0 };
        server.warm_up();
        server.idle = process::resident(server.pid());
        Ok(server)
    }

    /// Sends these questions instead, one after the other.
    pub(crate) fn asks(&mut self, questions: &[String]) {
        self.bodies = questions.iter().map(|question| body(question)).collect();
    }

    pub(crate) fn pid(&self) -> u32 {
        match &self.running {
            Running::Program(program) => program.pid(),
            Running::Docent(server) => server.pid(),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        match &self.running {
            Running::Program(program) => program.address(),
            Running::Docent(server) => server.address(),
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The extra header lines that a request needs.
    pub(crate) fn head(&self) -> String {
        self.key.as_ref().map_or_else(String::new, |key| format!("Authorization: Bearer {key}\r\n"))
    }

    pub(crate) fn bodies(&self) -> &[String] {
        &self.bodies
    }

    /// The resident memory in bytes after the server answered its first request.
    pub(crate) fn idle(&self) -> u64 {
        self.idle
    }

    /// Opens a few streams and drops them unread.
    fn warm_up(&self) {
        let mut request = Request::post(&self.path).header("Content-Type", "application/json");
        if let Some(key) = &self.key {
            request = request.bearer(key);
        }
        for n in 0..8 {
            let request = request.clone().body(self.bodies[0].replace("{n}", &format!("warm-{n}")));
            // A wrong response shows in the measurement.
            let _ = request.open(self.address());
        }
    }
}

/// The request body of a question, as the chat SDK sends it.
fn body(question: &str) -> String {
    let body = serde_json::json!({
        "fp": "anonymous",
        "id": "chat-{n}",
        "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": question }] }],
        "trigger": "submit-message",
    });
    body.to_string()
}

/// The built server on an installation, with this model.
fn docent(installation: &Installation, base: &str) -> (Server, String) {
    let env = [
        ("DOCENT_MODELS__SONNET__PROVIDER", "openai"),
        ("DOCENT_MODELS__SONNET__MODEL", "paced-1"),
        ("DOCENT_MODELS__SONNET__BASE_URL", base),
        ("DOCENT_LIMITS__ASSISTANT_REPLIES_AT_ONCE", MANY),
        ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_HOUR", MANY),
        ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_ADDRESS_PER_DAY", MANY),
    ];
    let key = installation.mint(PROJECT, KeyKind::Assistant, &[]);
    let server = installation.serve_with(&env);
    Assistant::new(&server, PROJECT, &key).is_ready();
    (server, key)
}

/// An installation with a small site.
pub(crate) fn installation(docent: &Path, files: &[(String, String)]) -> Installation {
    let installation = Installation::of(docent.to_owned());
    let repository = installation.repository(PROJECT, files);
    installation.add_project(PROJECT, &repository);
    installation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_valid_json_whatever_it_holds() {
        let body: serde_json::Value = serde_json::from_str(&body("a \"quoted\"\nword")).expect("JSON");
        assert_eq!(body["messages"][0]["parts"][0]["text"], "a \"quoted\"\nword");
    }
}
