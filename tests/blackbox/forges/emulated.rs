//! A GitHub emulator behind a proxy that validates every request against GitHub's published description of its API. The
//! repository is on a separate git host over HTTP.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use docent_tests::agent::{branch, id};
use docent_tests::forge_server::Relay;
use docent_tests::git_server::{Behaviour, basic};
use docent_tests::model_server::brain::read_edit_finish;
use docent_tests::model_server::{Edit, Gate, Wire};
use docent_tests::third_party::{Story, ThirdPartyServer, free_port, node, play_side_by_side};
use docent_tests::{ModelServer, Request};
use serde_json::{Value, json};

use super::{Host, Hosted, PROMPT, prompt};

const TOKEN: &str = "gho_0123456789abcdefghij";
/// The id of an App with sufficient permissions, and of one that may only read pull requests.
const APP: u32 = 4242;
const NARROW_APP: u32 = 4243;

/// A repository for each story, so that they are independent.
const REPOSITORIES: [(&str, &str); 8] = [
    ("acme", "opened"),
    ("acme", "draft"),
    ("acme", "followed"),
    ("acme", "continued"),
    ("acme", "moved"),
    ("acme", "bad-token"),
    ("acme", "app"),
    ("narrow", "docs"),
];

#[test]
#[ignore = "needs node and the packages of tests/forges: cargo xtask test --only forges"]
fn jobs_come_to_their_pull_request_on_a_github_that_is_held_against_its_description() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let github = Github::start(folder.path());
    let github = &github;
    let story = |name: &str, play| -> Story<'_> { (name.to_owned(), play) };
    let stories = vec![
        story("a branch, a commit, a pull request", Box::new(|| opened(github))),
        story("a draft", Box::new(|| draft(github))),
        story("a follow-up to the same pull request", Box::new(|| followed(github))),
        story("a person's commit between two turns", Box::new(|| continued(github))),
        story("a branch that moves during a turn", Box::new(|| moved(github))),
        story("a bad token, and one without permission", Box::new(|| bad_token(github))),
        story("an App", Box::new(|| app(github))),
        story("an App that may do too little", Box::new(|| narrow_app(github))),
    ];
    github.notices_what_is_wrong();
    play_side_by_side(stories, 3);
    github.was_asked_as_it_describes();
}

struct Github {
    emulator: ThirdPartyServer,
    proxy: ThirdPartyServer,
    relay: Relay,
    app_key: PathBuf,
}

impl Github {
    fn start(folder: &Path) -> Self {
        let app_key = folder.join("app.pem");
        make_key(&app_key);
        let seed = folder.join("seed.json");
        fs::write(&seed, seed_of(&fs::read_to_string(&app_key).expect("read the key")).to_string()).expect("write");

        let port = free_port();
        let mut command = node("forges", "node_modules/emulate/dist/index.js");
        command.args(["start", "--service", "github", "--port", &port.to_string(), "--seed"]).arg(&seed);
        let emulator = ThirdPartyServer::start("emulate", command, port, folder);

        let port = free_port();
        let mut command = node("forges", "node_modules/@stoplight/prism-cli/dist/index.js");
        // The proxy reports violations in a header and forwards the request anyway.
        command.args(["proxy", "node_modules/@octokit/openapi/generated/api.github.com.json", &emulator.url()]);
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        let proxy = ThirdPartyServer::start("prism", command, port, folder);
        let relay = Relay::start(proxy.address());
        Self { emulator, proxy, relay, app_key }
    }

    /// A project on one of the repositories, whose git host accepts [`TOKEN`] for everything; the project uses `token`.
    fn project(&self, name: &str, token: &str, env: &[(&str, &str)]) -> Hosted {
        let host = Host::named(name);
        host.git.give(TOKEN);
        let env = [&[("DOCS_TOKEN", token)], env].concat();
        host.with_project("github", &self.relay.url(), &["--token-env", "DOCS_TOKEN"], &env)
    }

    /// A project without a token, on a server that is configured as this App.
    fn app_project(&self, name: &str, app: u32) -> Hosted {
        let host = Host::named(name);
        // The git host does not know the tokens that the emulator creates; the received credentials are checked
        // afterwards.
        host.git.behave(Behaviour::Open);
        let (app, key) = (app.to_string(), self.app_key.display().to_string());
        let env = [("DOCENT_GITHUB_APP__ID", app.as_str()), ("DOCENT_GITHUB_APP__PRIVATE_KEY_FILE", key.as_str())];
        host.with_project("github", &self.relay.url(), &[], &env)
    }

    /// The pull requests as stored by the emulator, read without the proxy.
    fn pulls(&self, name: &str) -> Vec<Value> {
        let list = Request::get(format!("/repos/{name}/pulls?state=all")).bearer(TOKEN);
        self.emulator.send(&list).json().as_array().cloned().expect("a list")
    }

    /// The number of requests with this method and a target that contains `part`.
    fn count(&self, method: &str, part: &str) -> usize {
        self.relay.exchanges().iter().filter(|one| one.method == method && one.target.contains(part)).count()
    }

    /// Checks that the proxy reports violations, so that a clean report is meaningful.
    fn notices_what_is_wrong(&self) {
        let wrong = json!({ "title": "t", "head": "nobody", "base": "main", "draft": "yes" });
        let wrong = Request::post("/repos/acme/opened/pulls").bearer("nobody").json(&wrong);
        let found = self.proxy.send(&wrong);
        assert!(!faults_of_the_request(found.header("sl-violations")).is_empty(), "{:?}", found.headers);
        // The emulator accepted the invalid request.
        let number = found.json()["number"].clone();
        let closing = Request::new("PATCH", format!("/repos/acme/opened/pulls/{number}")).bearer(TOKEN);
        assert_eq!(self.emulator.send(&closing.json(&json!({ "state": "closed" }))).status, 200);
    }

    fn was_asked_as_it_describes(&self) {
        let exchanges = self.relay.exchanges();
        println!("{} requests were held against the description", exchanges.len());
        assert!(exchanges.len() >= 2 * REPOSITORIES.len(), "the requests went through it: {}", exchanges.len());
        for one in exchanges {
            let faults = faults_of_the_request(one.answer_headers.get("sl-violations"));
            assert!(faults.is_empty(), "{} {}: {faults:?} in {:#}", one.method, one.target, one.body);
            assert!(one.headers.get("user-agent").is_some_and(|agent| agent.starts_with("docent/")), "{}", one.target);
            assert!(one.headers.get("accept").is_some_and(|accept| accept.contains("github")), "{}", one.target);
            assert!(one.headers.contains_key("x-github-api-version"), "{}", one.target);
            assert_ne!(one.status, 404, "{} {}: every path exists", one.method, one.target);
        }
    }
}

/// The violations of the request, without those of the emulator's response.
fn faults_of_the_request(found: Option<&str>) -> Vec<&str> {
    let all = found.unwrap_or_default().split("{\"location\":");
    all.filter(|fault| fault.starts_with("[\"request\"")).collect()
}

fn opened(github: &Github) {
    let hosted = github.project("acme/opened", TOKEN, &[("DOCENT_AGENT__LABELS", "docs")]);
    let job = hosted.completes(&prompt());
    let mut pulls = github.pulls("acme/opened");
    pulls.retain(|pull| pull["state"] == "open");
    assert_eq!(pulls.len(), 1);
    let pull = &pulls[0];
    assert_eq!((&pull["head"]["ref"], &pull["base"]["ref"]), (&json!(branch(&job)), &json!("main")));
    assert_eq!((&pull["state"], &pull["draft"]), (&json!("open"), &json!(false)));
    assert_eq!(pull["html_url"], job["prLink"]);
    assert!(pull["body"].as_str().is_some_and(|body| body.contains(id(&job))), "{:#}", pull["body"]);
    assert_eq!(pull["labels"][0]["name"], "docs");
    assert_eq!(hosted.repository.commits_ahead(branch(&job)), 1);
    assert!(hosted.repository.file(branch(&job), "quickstart.mdx").contains("gadget"));
    let authorization = basic(&format!("x-access-token:{TOKEN}"));
    assert!(hosted.git.seen().iter().all(|one| one.headers.get("authorization") == Some(&authorization)));
}

fn draft(github: &Github) {
    let hosted = github.project("acme/draft", TOKEN, &[]);
    hosted.completes(&json!({ "prompt": PROMPT, "asDraft": true }));
    assert_eq!(github.pulls("acme/draft")[0]["draft"], true);
}

fn followed(github: &Github) {
    let hosted = github.project("acme/followed", TOKEN, &[]);
    let job = hosted.completes(&prompt());
    let again = hosted.follows_up(id(&job), "Replace \"parcel\" with \"package\" in quickstart.mdx");
    assert_eq!(again["prLink"], job["prLink"]);
    assert_eq!(github.pulls("acme/followed").len(), 1);
    assert_eq!(github.count("POST", "/acme/followed/pulls"), 1, "opened once");
    assert!(github.count("PATCH", "/acme/followed/pulls/") >= 1, "and changed");
    assert_eq!(hosted.repository.commits_ahead(branch(&job)), 2);
}

fn continued(github: &Github) {
    let hosted = github.project("acme/continued", TOKEN, &[]);
    let job = hosted.completes(&prompt());
    let theirs = "---\ntitle: Theirs\n---\n\nA parcel of a person.\n";
    hosted.repository.commit(branch(&job), "theirs.mdx", theirs);
    let again = hosted.follows_up(id(&job), "Replace \"parcel\" with \"package\"");
    assert_eq!(again["prLink"], job["prLink"]);
    assert_eq!(hosted.repository.commits_ahead(branch(&job)), 3, "theirs is between ours");
    assert!(hosted.repository.file(branch(&job), "theirs.mdx").contains("A package of a person."));
    assert_eq!(github.pulls("acme/continued").len(), 1);
}

fn moved(github: &Github) {
    let (model, gate) = (ModelServer::start(), Gate::new());
    let held = gate.clone();
    model.replies_with(move |asked| match asked.replies_since_the_user() {
        2 => read_edit_finish(asked).held_by(&held),
        _ => read_edit_finish(asked),
    });
    let env = model.configures(Wire::OpenAi);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let hosted = github.project("acme/moved", TOKEN, &env);
    let branch_name = "docs/words";
    hosted.repository.git(&["branch", branch_name, "main"]);
    let edit = Edit::new("quickstart.mdx", "widget", "gadget");
    let job = hosted.agent().create_with(&json!({ "prompt": edit.prompt(), "branch": branch_name }));
    gate.holds(1);
    hosted.repository.commit(branch_name, "theirs.mdx", "---\ntitle: Theirs\n---\n\nA person was here.\n");
    gate.open();
    let job = hosted.agent().reaches(id(&job), "completed");
    assert_eq!(hosted.repository.commits_ahead(branch_name), 2, "theirs, and ours on top");
    assert!(hosted.repository.file(branch_name, "theirs.mdx").contains("A person was here."));
    assert!(hosted.repository.file(branch_name, "quickstart.mdx").contains("gadget"));
    assert_eq!(github.pulls("acme/moved").len(), 1);
    assert!(job["prLink"].is_string(), "{job:#}");
}

fn bad_token(github: &Github) {
    let hosted = github.project("acme/bad-token", "gho_wr0ng", &[]);
    let message = hosted.fails();
    assert!(message.contains("token was not accepted") && !message.contains("wr0ng"), "{message}");
    hosted.git.give_to_read("gho_wr0ng");
    let message = hosted.fails();
    assert!(message.contains("Contents: Read and write"), "{message}");
    assert!(github.pulls("acme/bad-token").is_empty() && hosted.repository.branches().is_empty());
}

fn app(github: &Github) {
    let hosted = github.app_project("acme/app", APP);
    let job = hosted.completes(&prompt());
    let pulls = github.pulls("acme/app");
    assert_eq!(pulls.len(), 1);
    assert_eq!(pulls[0]["html_url"], job["prLink"]);
    assert_eq!(pulls[0]["user"]["login"], "docent[bot]", "the App opened it");
    let made = github.relay.exchanges().into_iter().filter(|one| one.target.ends_with("/access_tokens"));
    let ours: Vec<_> = made.filter(|one| one.body["repositories"] == json!(["app"])).collect();
    assert_eq!(ours.len(), 1, "one token serves the whole job");
    assert_eq!(ours[0].body["permissions"], json!({ "contents": "write", "pull_requests": "write" }));
    let token = ours[0].answer["token"].as_str().expect("a token");
    let authorization = basic(&format!("x-access-token:{token}"));
    assert!(hosted.git.seen().iter().all(|one| one.headers.get("authorization") == Some(&authorization)));
}

fn narrow_app(github: &Github) {
    let hosted = github.app_project("narrow/docs", NARROW_APP);
    let message = hosted.fails();
    assert!(message.contains("Pull requests: read and write") && message.contains("installation"), "{message}");
    assert!(github.pulls("narrow/docs").is_empty());
}

/// The initial state of the emulator.
fn seed_of(key: &str) -> Value {
    let repositories = REPOSITORIES.map(|(owner, name)| json!({ "owner": owner, "name": name, "auto_init": true }));
    let app = |id: u32, slug: &str, pull_requests: &str, account: &str| {
        json!({
            "app_id": id,
            "slug": slug,
            "name": slug,
            "private_key": key,
            "permissions": { "contents": "write", "pull_requests": pull_requests, "metadata": "read" },
            "installations": [{ "installation_id": id + 1000, "account": account, "repository_selection": "all" }],
        })
    };
    let org = |login: &str| json!({ "login": login, "members": [{ "login": "acme-bot", "role": "admin" }] });
    json!({
        "tokens": { TOKEN: { "login": "acme-bot", "scopes": ["repo"] } },
        "github": {
            "users": [{ "login": "acme-bot" }],
            "orgs": [org("acme"), org("narrow")],
            "repos": repositories,
            "apps": [app(APP, "docent", "write", "acme"), app(NARROW_APP, "narrow-app", "read", "narrow")],
        },
    })
}

/// Creates an RSA key in the format of GitHub Apps (PKCS#1).
fn make_key(file: &Path) {
    const MAKE: &str = "const { privateKey } = require('crypto').generateKeyPairSync('rsa', { modulusLength: 2048 });
        require('fs').writeFileSync(process.argv[1], privateKey.export({ type: 'pkcs1', format: 'pem' }));";
    let node = std::env::var_os("DOCENT_NODE").unwrap_or_else(|| "node".into());
    let made = Command::new(node).args(["-e", MAKE]).arg(file).status().expect("run node");
    assert!(made.success(), "node could not make a key: {made}");
}
