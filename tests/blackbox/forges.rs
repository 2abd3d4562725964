//! Pull requests on GitHub, GitLab and Gitea, with the repository on a separate git host.
//!
//! The stories of [`scripted`] run against the forges of `docent_tests`, which follow the published REST API of each.
//! Those of [`emulated`] need a GitHub emulator and GitHub's description of its API, which `cargo xtask test` installs.

mod emulated;
mod scripted;

use docent_tests::agent::id;
use docent_tests::git_server::GitServer;
use docent_tests::installation::KeyKind;
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{Agent, Installation, Repository, Request, Server};
use serde_json::{Value, json};

const PROMPT: &str = "Replace \"widget\" with \"gadget\"";
/// A docs repository on a git host, and a project that opens its pull requests on a forge.
struct Hosted {
    docent: Server,
    admin_key: String,
    repository: Repository,
    git: GitServer,
    _installation: Installation,
}

/// A repository on a git host, before there is a project.
struct Host {
    /// The path of the repository.
    path: String,
    installation: Installation,
    repository: Repository,
    git: GitServer,
}

impl Host {
    /// A host of the repository `acme/docs`.
    fn start() -> Self {
        Self::named(docent_tests::forge_server::NAME)
    }

    /// A host of a repository `OWNER/NAME`.
    fn named(name: &str) -> Self {
        let installation = Installation::new();
        let path = format!("{name}.git");
        let folder = installation.root().join(&path);
        std::fs::create_dir(folder.parent().expect("the owner's")).expect("make a folder");
        let repository = Repository::create(&folder, PAGES);
        let (authority, handshake) = crate::git_transport::https::authority();
        std::fs::write(installation.root().join(AUTHORITY), authority).expect("write the certificate");
        let git = GitServer::start_with_handshake(installation.root(), "https", handshake);
        Self { path, installation, repository, git }
    }

    /// A project with the forge at `base_url`; `more` are arguments such as `--token-env`.
    fn with_project(self, forge: &str, base_url: &str, more: &[&str], env: &[(&str, &str)]) -> Hosted {
        let url = self.git.url(&self.path);
        let add = ["project", "add", PROJECT, "--no-check", "--repo", &url, "--forge", forge, "--base-url", base_url];
        self.installation.must(&[&add, more].concat());
        let admin_key = self.installation.mint(PROJECT, KeyKind::Admin, &[]);
        let authority = self.installation.root().join(AUTHORITY).display().to_string();
        let docent = self.installation.serve_with(&[env, &[("SSL_CERT_FILE", &authority)]].concat());
        Hosted { docent, admin_key, repository: self.repository, git: self.git, _installation: self.installation }
    }
}

/// The file with the certificate of the authority that signed the git host's certificate.
const AUTHORITY: &str = "authority.pem";

impl Hosted {
    fn agent(&self) -> Agent<'_> {
        Agent::new(&self.docent, PROJECT, &self.admin_key)
    }

    fn completes(&self, body: &Value) -> Value {
        let job = self.agent().create_with(body);
        self.agent().reaches(id(&job), "completed")
    }

    /// Runs a job that fails because of the repository or the forge; returns the reason, which must be the same in both
    /// versions of the API.
    fn fails(&self) -> String {
        let job = self.agent().create(PROMPT);
        self.has_failed(id(&job))
    }

    fn has_failed(&self, id: &str) -> String {
        let job = self.agent().reaches(id, "failed");
        let session = Request::get(format!("/v1/agent/{PROJECT}/job/{id}")).bearer(&self.admin_key);
        let session = self.docent.send(&session).json();
        let halt = (&session["haulted"], &session["haultReason"]);
        assert_eq!(halt, (&json!(true), &json!("git_missconfigured")), "{session:#}");
        assert_eq!(session["messageToUser"], job["message"]);
        job["message"].as_str().expect("a job that failed says why").to_owned()
    }

    /// Sends a follow-up to a job, which must complete again.
    fn follows_up(&self, id: &str, prompt: &str) -> Value {
        let sent = self.agent().message(id, prompt);
        assert_eq!(sent.status, 200, "{}", sent.text());
        self.agent().reaches(id, "completed")
    }
}

fn prompt() -> Value {
    json!({ "prompt": PROMPT })
}
