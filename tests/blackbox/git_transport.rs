//! Remote repositories: a job reaches them over http, https and ssh; if it does not, its message says which permission
//! to grant.

pub(crate) mod https;
mod ssh;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use docent_tests::agent::{branch, id};
use docent_tests::git_server::{Behaviour, basic};
use docent_tests::installation::KeyKind;
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{Agent, Assistant, GitServer, Installation, Repository, Server, eventually};
use serde_json::Value;
use tempfile::TempDir;

const TOKEN: &str = "t0ken-0f-a-test";
const PROMPT: &str = "Replace \"widget\" with \"gadget\"";

/// A docs repository on a git host, and a project that works on it.
struct Hosted {
    docent: Server,
    admin_key: String,
    repository: Repository,
    installation: Installation,
    /// A folder with files that the server reads while it runs.
    _kept: Option<TempDir>,
}

impl Hosted {
    /// A project with the URL that `host` returns for the repository, served with `env`.
    fn at(host: impl FnOnce(&Path) -> String, env: &[(&str, &str)]) -> Self {
        let installation = Installation::new();
        let repository = installation.repository(PROJECT, PAGES);
        let url = host(repository.path());
        installation.must(&["project", "add", PROJECT, "--repo", &url, "--token-env", "DOCS_TOKEN", "--no-check"]);
        let admin_key = installation.mint(PROJECT, KeyKind::Admin, &[]);
        let docent = installation.serve_with(env);
        Self { docent, admin_key, repository, installation, _kept: None }
    }

    /// A project on a git host over http that accepts [`TOKEN`] for everything; the project uses `token`.
    fn over_http(token: &str) -> (Self, GitServer) {
        let mut server = None;
        let host = |repository: &Path| {
            let folder = repository.parent().expect("a repository is in a folder");
            server.insert(GitServer::start(folder)).url(&format!("{PROJECT}.git"))
        };
        let hosted = Self::at(host, &[("DOCS_TOKEN", token)]);
        let server = server.expect("the host was started");
        server.give(TOKEN);
        (hosted, server)
    }

    /// Keeps a temporary folder for the lifetime of this value.
    fn keeping(mut self, folder: TempDir) -> Self {
        self._kept = Some(folder);
        self
    }

    fn agent(&self) -> Agent<'_> {
        Agent::new(&self.docent, PROJECT, &self.admin_key)
    }

    fn completes(&self) -> Value {
        let job = self.agent().create(PROMPT);
        self.agent().reaches(id(&job), "completed")
    }

    /// Runs a job that must fail, and returns its message.
    fn fails(&self) -> String {
        let job = self.agent().create(PROMPT);
        let job = self.agent().reaches(id(&job), "failed");
        job["message"].as_str().expect("a job that failed says why").to_owned()
    }

    fn has_the_work_of(&self, job: &Value) {
        assert_eq!(self.repository.branches(), [branch(job)]);
        assert_eq!(self.repository.commits_ahead(branch(job)), 1);
        assert!(self.repository.file(branch(job), "quickstart.mdx").contains("gadget"));
    }
}

#[test]
fn a_job_reaches_a_repository_over_http_with_a_token_that_goes_nowhere_else() {
    let (hosted, server) = Hosted::over_http(TOKEN);
    let job = hosted.completes();
    hosted.has_the_work_of(&job);
    assert!(!job.to_string().contains(TOKEN));

    let authorization = basic(&format!("x-access-token:{TOKEN}"));
    let seen = server.seen();
    assert!(seen.iter().any(|one| one.target.ends_with("/git-receive-pack") && one.method == "POST"));
    // Even the first request, before the host asked for credentials, had the token.
    for one in seen {
        assert_eq!(one.headers.get("authorization"), Some(&authorization), "{}", one.target);
        assert!(!one.target.contains(TOKEN), "{}", one.target);
    }
    let pattern = format!("{TOKEN}|{}", authorization.trim_start_matches("Basic "));
    let kept =
        Command::new("grep").args(["-rlE", &pattern]).arg(hosted.installation.root()).output().expect("run grep");
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "", "no file holds the token, the log included");
}

#[test]
fn a_token_that_is_not_accepted_fails_the_job_and_says_so() {
    let (hosted, _server) = Hosted::over_http("wr0ng-secret");
    let message = hosted.fails();
    assert!(message.contains("its token was not accepted"), "{message}");
    assert!(!message.contains("wr0ng"), "{message}");
}

#[test]
fn a_token_that_may_only_read_fails_the_job_and_says_what_to_grant() {
    let (hosted, server) = Hosted::over_http("r3ad-only");
    server.give_to_read("r3ad-only");
    let message = hosted.fails();
    assert!(message.contains("Contents: Read and write") && message.contains("write_repository"), "{message}");
    assert!(message.contains("denied to reader"), "the words of the forge stay: {message}");
    assert!(hosted.repository.branches().is_empty());
}

#[test]
fn a_protected_branch_fails_the_job_with_the_words_of_the_forge() {
    let (hosted, _server) = Hosted::over_http(TOKEN);
    let hook = hosted.repository.path().join("hooks/pre-receive");
    let script = "#!/bin/sh\ncat >/dev/null\necho 'error: GH006: Protected branch update failed' >&2\nexit 1\n";
    std::fs::write(&hook, script).expect("write a hook");
    let made = Command::new("chmod").arg("755").arg(&hook).status().expect("run chmod");
    assert!(made.success());
    let message = hosted.fails();
    assert!(message.contains("GH006") && message.contains("the branch is protected"), "{message}");
}

#[test]
fn a_repository_that_is_gone_or_hidden_fails_the_job_with_both_in_the_sentence() {
    let (hosted, _server) = Hosted::over_http(TOKEN);
    let elsewhere = hosted.installation.root().join("elsewhere.git");
    std::fs::rename(hosted.repository.path(), elsewhere).expect("move the repository");
    let message = hosted.fails();
    assert!(message.contains("check the address and what the token may see"), "{message}");
}

#[test]
fn a_host_that_is_down_for_a_moment_is_waited_for() {
    let (hosted, server) = Hosted::over_http(TOKEN);
    server.behave(Behaviour::Busy { status: 503, retry_after: Some(1) });
    server.forget();
    let job = hosted.agent().create(PROMPT);
    eventually("the job to meet the host that is down", || (!server.seen().is_empty()).then_some(()));
    server.behave(Behaviour::Normal);
    let job = hosted.agent().reaches(id(&job), "completed");
    hosted.has_the_work_of(&job);
}

#[test]
fn docs_that_could_not_be_read_are_read_again_when_somebody_asks() {
    let installation = Installation::new();
    let repository = installation.repository(PROJECT, PAGES);
    let server = GitServer::start(repository.path().parent().expect("a repository is in a folder"));
    server.behave(Behaviour::Busy { status: 503, retry_after: None });
    let url = server.url(&format!("{PROJECT}.git"));
    installation.must(&["project", "add", PROJECT, "--repo", &url, "--token-env", "DOCS_TOKEN", "--no-check"]);
    let key = installation.mint(PROJECT, KeyKind::Assistant, &[]);
    let docent = installation.serve_with(&[("DOCS_TOKEN", TOKEN)]);
    eventually("the docs to be given up", || docent.log().contains("the docs cannot be read").then_some(()));
    server.give(TOKEN);
    server.behave(Behaviour::Normal);
    let begun = Instant::now();
    Assistant::new(&docent, PROJECT, &key).is_ready();
    assert!(begun.elapsed() < Duration::from_secs(30), "the next round is a minute away: {:?}", begun.elapsed());
}

#[test]
fn a_redirect_to_another_host_gets_no_token() {
    let (hosted, server) = Hosted::over_http(TOKEN);
    let stranger = GitServer::start(hosted.installation.root());
    server.behave(Behaviour::Elsewhere(format!("http://{}", stranger.address())));
    let message = hosted.fails();
    assert!(message.contains(&format!("redirects to http://{}", stranger.address())), "{message}");
    assert!(!stranger.saw_credentials());
}
