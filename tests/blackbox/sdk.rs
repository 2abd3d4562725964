//! The real SDK clients, in node, against the built server; and the parts shared with [`browser`](crate::browser): a
//! model that holds its reply, and a protocol by which stories in node send requests to the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use docent_tests::api_description::{api_description, operations};
use docent_tests::binary::source_root;
use docent_tests::model_server::{Gate, ModelRequest, Reply, Wire};
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{ModelServer, Person, Site, third_party};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::site_files::site_with;

/// Pause between two words: slow enough that an answer can be interrupted in the middle.
const PACE: Duration = Duration::from_millis(100);

/// Needs node and the packages of `tests/sdk`, which `cargo xtask test` installs; `$DOCENT_NODE` names another node.
#[test]
#[ignore = "needs node and the packages of tests/sdk: cargo xtask test --only sdk"]
fn the_real_sdk_clients_read_the_assistant_and_the_agent() {
    let site = Site::start();
    let model = HeldModel::start();
    let held = Site::with_env(PAGES, &pairs(&model.configures()));
    let mut command = third_party::node("sdk", "clients.mjs");
    command
        .args([&site.server.url(), PROJECT, &held.server.url()])
        .env("DOCENT_KEY", &site.assistant_key)
        .env("DOCENT_ADMIN_KEY", &site.admin_key)
        .env("DOCENT_HELD_KEY", &held.assistant_key)
        .env("DOCENT_SNIPPET", snippet(&site));
    let status = converse(command, |asked| model.answers(asked));
    assert!(status.success(), "the clients found fault: {status}");
    assert_eq!(model.faults(), [""; 0], "what the model's service would not take");
}

/// Needs what the test above needs.
#[test]
#[ignore = "needs node and the packages of tests/sdk: cargo xtask test --only sdk"]
fn released_clients_of_the_model_context_protocol_use_the_tools() {
    let closed = site_with("---\nagentsMayAsk: true\n---\n", &[]);
    let open = site_with("---\npublic: true\nagentsMayAsk: true\n---\n", &[]);
    let mut command = third_party::node("sdk", "mcp.mjs");
    let at = |site: &Site| format!("{}/mcp/{PROJECT}", site.server.url());
    command.args([at(&closed), at(&open)]).env("DOCENT_KEY", &closed.assistant_key);
    let status = command.status().expect("start node");
    assert!(status.success(), "the clients found fault: {status}");
}

/// Needs what the tests above need.
#[test]
#[ignore = "needs node and the packages of tests/sdk: cargo xtask test --only sdk"]
fn the_sdk_of_openai_talks_to_the_assistant() {
    let site = Site::start();
    let mut command = third_party::node("sdk", "openai.mjs");
    command.args([&site.server.url(), PROJECT]).env("DOCENT_KEY", &site.assistant_key);
    let status = command.status().expect("start node");
    assert!(status.success(), "the client found fault: {status}");
}

/// Needs what the tests above need.
#[test]
#[ignore = "needs node and the packages of tests/sdk: cargo xtask test --only sdk"]
fn a_client_typed_by_the_description_runs_a_job_and_asks() {
    let site = Site::start();
    let mut command = third_party::node("sdk", "described.mjs");
    command.args([&site.server.url(), PROJECT]).arg(site.installation.root().join("typescript"));
    let status = with_keys(&mut command, &site).status().expect("start node");
    assert!(status.success(), "the client found fault: {status}");
}

/// Needs the Python packages of `tests/sdk`, which `cargo xtask test` installs; `$DOCENT_PYTHON` names their Python.
#[test]
#[ignore = "needs the Python packages of tests/sdk: cargo xtask test --only sdk"]
fn a_client_generated_from_the_description_runs_a_job_and_asks() {
    let site = Site::start();
    let mut command = Command::new(python());
    let folder = site.installation.root().join("python");
    std::fs::create_dir_all(&folder).expect("make a folder");
    command.arg(source_root().join("tests/sdk/described.py")).args([&site.server.url(), PROJECT]).arg(folder);
    let status = with_keys(&mut command, &site).status().expect("start Python");
    assert!(status.success(), "the client found fault: {status}");
}

/// About how many requests are made up, unless `$DOCENT_CASES` says otherwise.
const CASES: usize = 300;

/// Needs what the test above needs.
#[test]
#[ignore = "needs the Python packages of tests/sdk: cargo xtask test --only sdk"]
fn no_request_that_schemathesis_makes_up_is_answered_otherwise_than_described() {
    let limits = [
        ("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", "1000000"),
        ("DOCENT_LIMITS__AGENT_MESSAGES_PER_HOUR", "1000000"),
        ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_HOUR", "1000000"),
        ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_ADDRESS_PER_DAY", "1000000"),
    ];
    let site = Site::with_env(PAGES, &limits);
    let asked: Option<usize> =
        std::env::var("DOCENT_CASES").ok().map(|cases| cases.parse().expect("a number of cases"));
    let mut command = Command::new(python().with_file_name("schemathesis"));
    command.arg("--config-file").arg(source_root().join("tests/sdk/schemathesis.toml"));
    command.args(["run", &format!("{}/openapi.json", site.server.url()), "--continue-on-failure", "--no-color"]);
    let per_operation = asked.unwrap_or(CASES) / operations(api_description()).count();
    command.args(["--max-examples", &per_operation.max(1).to_string()]);
    if asked.is_none() {
        // The other phases try thousands of bounds, and sequences of requests.
        command.args(["--phases", "examples,fuzzing", "--max-time", "45"]);
    }
    let status = with_keys(command.current_dir(site.installation.root()), &site).status().expect("start schemathesis");
    assert!(status.success(), "schemathesis found fault: {status}");
}

/// Needs what the tests above need.
#[test]
#[ignore = "needs the Python packages of tests/sdk: cargo xtask test --only sdk"]
fn a_chat_for_the_terminal_shows_the_answer_as_it_is_written() {
    let model = HeldModel::start();
    let site = Site::with_env(PAGES, &pairs(&model.configures()));
    let folder = site.installation.root().join("llm");
    std::fs::create_dir_all(&folder).expect("make a folder");
    let base = format!("{}/discovery/v2/openai/{PROJECT}", site.server.url());
    let configured = format!("- model_id: docs\n  model_name: {PROJECT}\n  api_base: {base}\n  api_key_name: docent\n");
    std::fs::write(folder.join("extra-openai-models.yaml"), configured).expect("configure the chat");
    let asks = |arguments: &[&str]| {
        let mut command = Command::new(python().with_file_name("llm"));
        command.args(["-m", "docs", "--key", &site.assistant_key]).args(arguments);
        command.env("LLM_USER_PATH", &folder).env("PYTHONUNBUFFERED", "1").stdin(Stdio::null()).stdout(Stdio::piped());
        command.spawn().expect("start the chat")
    };
    let mut chat = asks(&["What does E1002 mean?"]);
    let mut shown = String::new();
    let mut stdout = BufReader::new(chat.stdout.take().expect("stdout is a pipe"));
    while !shown.contains("heavier ") {
        let mut letter = [0];
        stdout.read_exact(&mut letter).expect("the beginning of the answer");
        shown.push(letter[0].into());
    }
    assert!(!shown.contains("kilograms"), "the model holds the rest back");
    model.answers("let");
    stdout.read_to_string(&mut shown).expect("the rest");
    assert!(chat.wait().expect("wait for the chat").success());
    assert!(shown.starts_with("The parcel is heavier than forty kilograms."), "{shown}");
    assert!(shown.contains("Sources:\n- [Errors]("), "{shown}");
    let second =
        asks(&["--continue", "And how often is a webhook delivery retried?"]).wait_with_output().expect("an answer");
    let second = String::from_utf8(second.stdout).expect("text");
    assert!(second.contains("retried five times"), "{second}");
    assert_eq!(model.faults(), [""; 0], "what the model's service would not take");
}

fn with_keys<'c>(command: &'c mut Command, site: &Site) -> &'c mut Command {
    command.env("DOCENT_KEY", &site.assistant_key).env("DOCENT_ADMIN_KEY", &site.admin_key)
}

/// The Python that has the packages of `tests/sdk`.
fn python() -> PathBuf {
    let installed = || source_root().join("target/tools/schemathesis/bin/python");
    std::env::var_os("DOCENT_PYTHON").map_or_else(installed, PathBuf::from)
}

/// The code snippet that the playground shows for a question, with the key of the site.
fn snippet(site: &Site) -> String {
    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    let page = owner.gets(&format!("/dashboard/{PROJECT}/playground?q=How+is+a+webhook+delivery+retried%3F"));
    let code = page.text().split_once("<pre id=\"typescript\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let code = code.expect("a snippet").0.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    code.replace("&amp;", "&").replace("docent_assistant_YOUR_KEY", &site.assistant_key)
}

/// Runs a program to its end and prints its output. A line `? WORDS` of the program is a request, which is answered
/// with a line of JSON.
///
/// # Panics
/// When it can't be started.
pub(crate) fn converse(mut command: Command, mut answers: impl FnMut(&str) -> Value) -> ExitStatus {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("start node");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let stdout = child.stdout.take().expect("stdout is a pipe");
    for line in BufReader::new(stdout).lines() {
        let line = line.expect("read what node says");
        match line.strip_prefix("? ") {
            Some(asked) => writeln!(stdin, "{}", answers(asked)).expect("answer node"),
            None => println!("{line}"),
        }
    }
    child.wait().expect("wait for node")
}

/// A model that streams slowly, and waits in the middle of some replies until it is released.
pub(crate) struct HeldModel {
    server: ModelServer,
    gate: Arc<Mutex<Gate>>,
    /// What it replies to [`SHOW`].
    shown: Arc<Mutex<String>>,
}

/// The question to which the reply is what a story last wanted it to be.
const SHOW: &str = "Show the retries";

/// The model's replies to questions that contain the first string: the text sent at once, and the text after the
/// release.
const ANSWERS: &[(&str, &str, &str)] = &[
    (
        "delivery retried",
        "A delivery that fails is retried five times with exponential backoff, then it is parked for a day. See \
         [Webhooks](/guides/webhooks).",
        "",
    ),
    ("after that", "After a day somebody looks at it again. See [Webhooks](/guides/webhooks).", ""),
    ("widget endpoint", "It accepts six hundred ", "requests a minute. See [Rate limits](/guides/rate-limits)."),
    ("E1002", "The parcel is heavier ", "than forty kilograms. Send it in two. See [Errors](/reference/errors)."),
];

impl HeldModel {
    pub(crate) fn start() -> Self {
        let (server, gate) = (ModelServer::start(), Arc::new(Mutex::new(Gate::new())));
        let shown = Arc::new(Mutex::new(String::new()));
        let (held_by, to_show) = (Arc::clone(&gate), Arc::clone(&shown));
        server.replies_with(move |asked| match is_to_answer(asked) && newest(asked).contains(SHOW) {
            true => in_pieces(&to_show.lock()),
            false => reply(asked, &held_by.lock()),
        });
        Self { server, gate, shown }
    }

    /// The environment variables that make the assistant use this model.
    pub(crate) fn configures(&self) -> Vec<(String, String)> {
        self.server.configures(Wire::OpenAi)
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        self.server.faults()
    }

    /// Answers the requests of stories: `hold`, `let`, `show TEXT` with a text in JSON, and `model QUESTION`, which returns how often an answer to that
    /// question was requested, and how many of the model's replies were cancelled.
    ///
    /// # Panics
    /// When the request is unknown.
    pub(crate) fn answers(&self, asked: &str) -> Value {
        match asked.split_once(' ').unwrap_or((asked, "")) {
            ("hold", _) => *self.gate.lock() = Gate::new(),
            ("let", _) => self.gate.lock().open(),
            ("show", text) => *self.shown.lock() = serde_json::from_str(text).expect("a text in JSON"),
            ("model", question) => {
                let requests = self.server.requests();
                let asked = requests.iter().filter(|asked| is_to_answer(asked) && newest(asked).contains(question));
                return json!({ "asked": asked.count(), "hungUp": self.server.hung_up() });
            }
            (other, _) => panic!("the stories ask for `{other}`"),
        }
        Value::Null
    }
}

fn reply(asked: &ModelRequest, gate: &Gate) -> Reply {
    if !is_to_answer(asked) {
        return Reply::text("webhook delivery after the fifth failure");
    }
    let question = newest(asked);
    let known = ANSWERS.iter().find(|(about, ..)| question.contains(about));
    let (_, first, rest) = known.unwrap_or_else(|| panic!("the model has no answer to {question:?}"));
    let reply = paced(Reply::default(), first);
    if rest.is_empty() { reply } else { paced(reply.waits_at(gate), rest) }
}

/// The text cut everywhere.
fn in_pieces(text: &str) -> Reply {
    text.chars().fold(Reply::default(), Reply::say)
}

/// Whether the request asks for an answer, and not for a search query.
fn is_to_answer(asked: &ModelRequest) -> bool {
    asked.offers("search")
}

/// The last message of the reader.
fn newest(asked: &ModelRequest) -> String {
    asked.said().pop().unwrap_or_default()
}

fn paced(reply: Reply, words: &str) -> Reply {
    words.split_inclusive(' ').fold(reply, |reply, word| reply.pause(PACE).say(word))
}

/// Environment variables as `&str` pairs.
pub(crate) fn pairs(variables: &[(String, String)]) -> Vec<(&str, &str)> {
    variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
