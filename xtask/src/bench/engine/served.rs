//! `docent serve` whose only worker is busy with a job that does not end, so that all other jobs wait. This measures
//! accepting and reporting jobs without the cost of builtin chores.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::{Agent, Installation, Request, Server};
use serde_json::json;

use crate::bench::engine::load::Target;
use crate::bench::stream::cores::Cores;

const PROJECT: &str = "bench";
const PROMPT: &str = "Replace \"alpha\" with \"beta\" in guides/page.md";
/// A limit above the number of jobs that are ever created.
const MANY: &str = "1000000000";
/// Timeout for the worker to be busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// A model server that accepts every call and never answers.
struct Silent {
    address: SocketAddr,
    calls: Receiver<TcpStream>,
}

impl Silent {
    fn start() -> Result<Self, String> {
        let failed = |error| format!("could not start a silent model: {error}");
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (call, calls) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if call.send(stream).is_err() {
                    break;
                }
            }
        });
        Ok(Self { address, calls })
    }
}

/// The server, and the admin key of its project.
pub(crate) struct Served {
    // Field order is drop order: the server before its model and its data.
    server: Option<Server>,
    key: String,
    cores: Cores,
    model: Silent,
    // The connection of the call that keeps the worker busy.
    _call: TcpStream,
    installation: Installation,
}

impl Served {
    /// Starts a server on these cores, with a new installation.
    pub(crate) fn start(docent: &Path, cores: Cores) -> Result<Self, String> {
        let installation = Installation::of(docent.to_owned());
        let page = "# A page\n\nHere is alpha.\n".to_owned();
        let repository = installation.repository(PROJECT, &[("guides/page.md", page)]);
        installation.add_project(PROJECT, &repository);
        let key = installation.mint(PROJECT, KeyKind::Admin, &[]);
        let model = Silent::start()?;
        let server = served(&installation, &model, cores)?;
        Agent::new(&server, PROJECT, &key).create("Keep the worker busy");
        let busy = model.calls.recv_timeout(PATIENCE);
        let call = busy.map_err(|_| "the server's worker does not ask its model".to_owned())?;
        Ok(Self { server: Some(server), key, cores, model, _call: call, installation })
    }

    /// Kills the server and starts another on the same data. Returns the time from the start until the server is ready.
    pub(crate) fn restarted(&mut self) -> Result<Duration, String> {
        if let Some(server) = self.server.take() {
            server.kill();
        }
        let began = Instant::now();
        let server = served(&self.installation, &self.model, self.cores)?;
        while server.send(&Request::get("/readyz")).status != 200 {
            if began.elapsed() > PATIENCE {
                return Err("the server does not get ready again".to_owned());
            }
            thread::sleep(Duration::from_millis(2));
        }
        let took = began.elapsed();
        self.server = Some(server);
        Ok(took)
    }

    fn server(&self) -> &Server {
        self.server.as_ref().expect("there is one but while it is started anew")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server().pid()
    }

    fn agent(&self) -> Agent<'_> {
        Agent::new(self.server(), PROJECT, &self.key)
    }

    /// Creates this many waiting jobs and returns their ids.
    pub(crate) fn jobs(&self, count: usize) -> Vec<String> {
        (0..count).map(|_| id(&self.agent().create(PROMPT)).to_owned()).collect()
    }

    /// The ids of the newest jobs, at most this many.
    pub(crate) fn newest(&self, count: usize) -> Vec<String> {
        let mut ids = Vec::new();
        let mut cursor = String::new();
        while ids.len() < count {
            let answer = self.server().send(&self.agent().request("GET", &format!("jobs?limit=100&cursor={cursor}")));
            let page = answer.json();
            ids.extend(page["jobs"].as_array().into_iter().flatten().map(|job| id(job).to_owned()));
            match page["nextCursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        ids.truncate(count);
        ids
    }

    pub(crate) fn archive(&self, job: &str) {
        let answer = self.agent().archive(job);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// The body length and the `ETag` of a waiting job.
    pub(crate) fn shown(&self, job: &str) -> (usize, String) {
        let answer = self.server().send(&self.agent().request("GET", &format!("job/{job}")));
        (answer.text().len(), answer.header("ETag").unwrap_or_default().to_owned())
    }

    /// The target of requests that create jobs.
    pub(crate) fn creating(&self) -> Target {
        self.target(vec![create(&format!("/v2/agent/{PROJECT}/job"), &self.key)], 201)
    }

    /// The target of requests for these jobs, each an id and extra header lines; `more` is appended to the path.
    pub(crate) fn asking(&self, jobs: &[(String, String)], more: &str, status: u16) -> Target {
        let request = |(job, head): &(String, String)| {
            let key = &self.key;
            format!(
                "GET /v2/agent/{PROJECT}/job/{job}{more} HTTP/1.1\r\nHost: docent\r\nAuthorization: Bearer {key}\r\n{head}\r\n"
            )
        };
        self.target(jobs.iter().map(request).collect(), status)
    }

    fn target(&self, requests: Vec<String>, status: u16) -> Target {
        Target { pid: self.pid(), address: self.server().address(), requests, status }
    }
}

/// The HTTP request that creates a job, verbatim.
pub(crate) fn create(path: &str, key: &str) -> String {
    let body = json!({ "prompt": PROMPT }).to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: docent\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

fn served(installation: &Installation, model: &Silent, cores: Cores) -> Result<Server, String> {
    let base = format!("http://{}/v1", model.address);
    let env = [
        ("DOCENT_MODELS__SONNET__PROVIDER", "openai"),
        ("DOCENT_MODELS__SONNET__MODEL", "silent-1"),
        ("DOCENT_MODELS__SONNET__BASE_URL", base.as_str()),
        ("DOCENT_MODELS__SONNET__IDLE_SECONDS", "3600"),
        ("DOCENT_AGENT__WORKERS", "1"),
        ("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", MANY),
    ];
    // A child process inherits the core affinity of the thread that starts it.
    thread::scope(|scope| {
        let starting = scope.spawn(|| cores.take().map(|()| installation.serve_with(&env)));
        starting.join().unwrap_or_else(|_| Err("the server did not start".to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_how_long_its_body_is() {
        let request = create("/v2/agent/bench/job", "k");
        let (head, body) = request.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{head}");
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok_and(|body| body["prompt"] == PROMPT));
    }
}
