//! An input that ends the process ends it once: the next start knows what it was, leaves it aside, says so, and serves
//! everything else.

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;

use docent_tests::agent::{Agent, id};
use docent_tests::assistant::Assistant;
use docent_tests::site::PAGES;
use docent_tests::{Installation, KeyKind, Repository, Server};
use serde_json::{Value, json};

/// The variables by which a debug build is told where to end.
const ABORT: &str = "DOCENT_ABORT_AT";
const OVERFLOW: &str = "DOCENT_OVERFLOW_AT";

const SOUND: &str = "acme";
const POISONED: &str = "swamp";

/// Two projects on one server: one of them holds something on which the process ends.
struct Pair {
    installation: Installation,
    poisoned: Repository,
    keys: [(String, String); 2],
}

impl Pair {
    fn new() -> Self {
        let installation = Installation::new();
        let sound = installation.repository(SOUND, PAGES);
        let poisoned = installation.repository(
            POISONED,
            &[
                ("docs.json", r#"{ "name": "Swamp", "navigation": { "pages": ["index", "bog"] } }"#),
                ("index.md", "---\ntitle: Swamp\n---\n\nA heron.\n"),
                ("bog.md", "---\ntitle: Bog\n---\n\nAn otter.\n"),
            ],
        );
        installation.add_project(SOUND, &sound);
        installation.add_project(POISONED, &poisoned);
        let keys = [SOUND, POISONED].map(|project| {
            let mint = |kind| installation.mint(project, kind, &[]);
            (mint(KeyKind::Admin), mint(KeyKind::Assistant))
        });
        Self { installation, poisoned, keys }
    }

    fn blob(&self, path: &str) -> String {
        self.poisoned.git(&["rev-parse", &format!("main:{path}")])
    }

    /// A start that ends by itself, by SIGABRT.
    fn dies(&self, variable: &str, what: &str) {
        let address = SocketAddr::from(([127, 0, 0, 1], 0)).to_string();
        let mut command = self.installation.command(["serve", "--listen", &address, "--data"]);
        let output = command.arg(self.installation.data()).env(variable, what).output().expect("start docent");
        assert_eq!(output.status.signal(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn agent<'s>(&'s self, server: &'s Server, project: &'s str) -> Agent<'s> {
        Agent::new(server, project, &self.keys[usize::from(project == POISONED)].0)
    }

    fn assistant<'s>(&'s self, server: &'s Server, project: &'s str) -> Assistant<'s> {
        Assistant::new(server, project, &self.keys[usize::from(project == POISONED)].1)
    }

    /// The paths that a search of the poisoned project finds.
    fn found(&self, words: &str) -> Vec<String> {
        let found = self.installation.must(&["search", POISONED, words, "--json"]).json();
        let passages = found["passages"].as_array().expect("a list").iter();
        passages.map(|passage| passage["path"].as_str().expect("a path").to_owned()).collect()
    }

    /// Search, assistant and jobs of the sound project.
    fn serves_the_other(&self, server: &Server) {
        let assistant = self.assistant(server, SOUND);
        assistant.is_ready();
        assert!(assistant.ask("How often is a webhook delivery retried?").text().contains("five times"));
        let agent = self.agent(server, SOUND);
        let job = agent.create("Replace \"forty kilograms\" with \"thirty kilograms\"");
        agent.reaches(id(&job), "completed");
    }

    /// What `docent doctor` says of the quarantine.
    fn doctor(&self) -> Vec<String> {
        let report = self.installation.run(&["doctor", "--json"]).json();
        let findings = report["findings"].as_array().expect("a list").iter();
        let of_it = findings.filter(|finding| finding["check"] == "quarantine");
        of_it.map(|finding| finding["what"].as_str().expect("text").to_owned()).collect()
    }
}

fn reasons(told: &Value) -> Vec<&str> {
    let skipped = told["skipped"].as_array().expect("a list").iter();
    skipped.map(|skipped| skipped["reason"].as_str().expect("text")).collect()
}

#[test]
fn a_page_that_ends_the_process_ends_it_once_and_is_read_again_when_it_changes() {
    for variable in [ABORT, OVERFLOW] {
        let pair = Pair::new();
        let poison = pair.blob("bog.md");
        pair.dies(variable, &poison);
        let server = pair.installation.serve_with(&[(variable, &poison)]);
        pair.serves_the_other(&server);
        pair.assistant(&server, POISONED).is_ready();
        assert_eq!(pair.found("heron"), [""], "the home page, {variable}");
        assert_eq!(pair.found("otter"), [""; 0], "{variable}");
        let [finding] = &pair.doctor()[..] else { panic!("one finding: {:?}", pair.doctor()) };
        assert!(finding.contains("bog.md is set aside"), "{finding}");
        let told = pair.installation.must(&["index", POISONED, "--json"]).json();
        assert!(reasons(&told).contains(&"setAside"), "{told:#}");
        let why = pair.installation.must(&["search", POISONED, "--why-not", "bog.md", "--json"]).json();
        assert_eq!(why["reason"], "setAside", "{why:#}");

        pair.poisoned.commit("main", "bog.md", "---\ntitle: Bog\n---\n\nA walrus.\n");
        let told = pair.installation.must(&["index", POISONED, "--json"]).json();
        assert_eq!((reasons(&told).contains(&"setAside"), &told["pages"]), (false, &json!(2)), "{told:#}");
        assert_eq!(pair.found("walrus"), ["bog"]);
    }
}

#[test]
fn a_page_that_is_tried_again_may_end_the_command_and_not_the_server() {
    let pair = Pair::new();
    let poison = pair.blob("bog.md");
    pair.dies(ABORT, &poison);
    let server = pair.installation.serve_with(&[(ABORT, &poison)]);
    pair.assistant(&server, POISONED).is_ready();
    let retry = || {
        let mut command = pair.installation.command(["index", POISONED, "--retry", "--json", "--data"]);
        command.arg(pair.installation.data());
        command
    };
    let died = retry().env(ABORT, &poison).output().expect("start docent");
    assert_eq!(died.status.signal(), Some(6), "{}", String::from_utf8_lossy(&died.stderr));
    pair.serves_the_other(&server);
    assert_eq!(pair.found("otter"), [""; 0]);
    assert!(pair.doctor()[0].contains("2 times"), "{:?}", pair.doctor());

    let told = retry().output().expect("start docent");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(pair.found("otter"), ["bog"]);
    assert_eq!(pair.doctor(), [""; 0]);
}

#[test]
fn a_configuration_that_ends_the_process_is_not_understood_and_its_pages_are_served() {
    let pair = Pair::new();
    let poison = pair.blob("docs.json");
    pair.dies(ABORT, &poison);
    let server = pair.installation.serve_with(&[(ABORT, &poison)]);
    pair.serves_the_other(&server);
    pair.assistant(&server, POISONED).is_ready();
    assert_eq!(pair.found("otter"), ["bog"]);
    assert!(pair.doctor()[0].contains("docs.json is set aside"), "{:?}", pair.doctor());
    // Its jobs leave the configuration alone, too.
    let agent = pair.agent(&server, POISONED);
    let job = agent.create("Replace \"An otter\" with \"A walrus\"");
    agent.reaches(id(&job), "completed");
    let told = pair.installation.must(&["index", POISONED, "--json"]).json();
    assert_eq!(told["odd"][0]["file"], "docs.json", "{told:#}");
    pair.poisoned.commit("main", "docs.json", r#"{ "name": "Swamp", "navigation": { "pages": ["index"] } }"#);
    let told = pair.installation.must(&["index", POISONED, "--json"]).json();
    assert_eq!((&told["generator"], &told["pages"]), (&json!("Mintlify"), &json!(1)), "{told:#}");
    assert_eq!(pair.doctor().len(), 0, "{:?}", pair.doctor());
}

#[test]
fn a_job_that_ends_the_process_twice_at_one_step_fails() {
    let pair = Pair::new();
    let poison = format!("{POISONED}:running the tools");
    let server = pair.installation.serve_with(&[(ABORT, &poison)]);
    let job = pair.agent(&server, POISONED).create("Replace \"An otter\" with \"A walrus\"");
    assert_eq!(server.ended().signal(), Some(6));
    pair.dies(ABORT, &poison);
    let server = pair.installation.serve_with(&[(ABORT, &poison)]);
    let failed = pair.agent(&server, POISONED).reaches(id(&job), "failed").to_string();
    assert!(failed.contains("the server ended 2 times while running the tools"), "{failed}");
    pair.serves_the_other(&server);
    assert!(pair.doctor()[0].contains("this step is not tried again"), "{:?}", pair.doctor());
}
