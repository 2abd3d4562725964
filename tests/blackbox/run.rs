//! `docent run`: one instruction and one branch, without a server, and without touching anything else.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use docent_tests::model_server::{Reply, Wire};
use docent_tests::repository::git;
use docent_tests::site::PAGES;
use docent_tests::{Finished, Installation, ModelServer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const GADGET: &str = "Replace \"widget\" with \"gadget\"";

/// A clone with a working tree, on its branch `main`.
fn clone_of_the_docs(installation: &Installation) -> PathBuf {
    let origin = installation.repository("origin", PAGES);
    let clone = installation.root().join("clone");
    git(installation.root(), &["clone", "--quiet", &origin.path().display().to_string(), "clone"]);
    clone
}

/// `docent run --repo PATH MORE`, without a data folder.
fn run(installation: &Installation, repo: &Path, more: &[&str]) -> Finished {
    command(installation, repo, more).output().expect("start docent run").into()
}

fn command(installation: &Installation, repo: &Path, more: &[&str]) -> Command {
    let mut command = installation.command(["run", "--repo"]);
    command.arg(repo).args(more);
    command
}

#[test]
fn a_branch_is_left_and_what_is_in_it_is_told() {
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    let finished = run(&installation, repository.path(), &[GADGET]);
    assert_eq!(finished.code, Some(0), "{}\n{}", finished.stdout, finished.stderr);

    let [branch] = &repository.branches()[..] else { panic!("one branch: {:?}", repository.branches()) };
    assert_eq!(repository.commits_ahead(branch), 1);
    assert_eq!(repository.changed_files(branch), ["guides/rate-limits.mdx", "quickstart.mdx"]);
    assert!(repository.file(branch, "quickstart.mdx").contains("gadget"));
    for shown in [branch.as_str(), "2 files, +2 −2", "guides/rate-limits.mdx  +1 −1", "Replaced"] {
        assert!(finished.stdout.contains(shown), "{shown}: {}", finished.stdout);
    }
    assert!(finished.stderr.contains("git -C"), "how to look at it: {}", finished.stderr);
    assert!(!finished.stdout.contains("/pulls/"), "there is no server to show a pull request: {}", finished.stdout);
    assert!(!installation.root().join("docent-data").exists(), "no data folder");
}

#[test]
fn the_repository_is_the_one_it_stands_in_and_a_prompt_may_begin_with_a_hyphen() {
    let installation = Installation::new();
    let clone = clone_of_the_docs(&installation);
    let list = "- Replace \"widget\" with \"gadget\"";
    for (args, branch) in [
        (&["run", list, "--branch", "docs/one"][..], "docs/one"),
        (&["run", "--branch", "docs/two", "--", list], "docs/two"),
    ] {
        let mut command = installation.command(args);
        let finished: Finished = command.current_dir(clone.join("guides")).output().expect("start docent run").into();
        assert_eq!(finished.code, Some(0), "{args:?}: {}\n{}", finished.stdout, finished.stderr);
        assert!(git(&clone, &["show", &format!("{branch}:quickstart.mdx")]).contains("gadget"), "{args:?}");
    }
}

#[test]
fn a_program_gets_one_json_value() {
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    let done = run(&installation, repository.path(), &[GADGET, "--json", "--branch", "docs/gadgets"]).json();
    assert_eq!(done["status"], "completed", "{done:#}");
    assert_eq!((&done["branch"], &done["base"]), (&"docs/gadgets".into(), &"main".into()), "{done:#}");
    assert_eq!(done["commit"], repository.git(&["rev-parse", "docs/gadgets"]));
    assert_eq!((&done["additions"], &done["deletions"]), (&2.into(), &2.into()));
    assert_eq!(done["files"][1]["path"], "quickstart.mdx");
    assert_eq!(done["files"][1]["status"], "modified");
    assert!(done["message"].as_str().is_some_and(|message| !message.is_empty()), "{done:#}");

    let more =
        run(&installation, repository.path(), &["Add missing descriptions", "--json", "--branch", "docs/gadgets"]);
    assert_eq!(more.json()["status"], "completed", "nothing to add is no failure: {}", more.stdout);
    assert_eq!(more.json()["branch"], serde_json::Value::Null, "nothing was left: {}", more.stdout);
}

#[test]
fn a_file_that_is_no_document_is_changed_where_its_owner_allows_it() {
    let installation = Installation::new();
    let package = [("package.json", "{\"name\": \"widget\"}\n"), ("index.md", "# Widget\n\nA widget.\n")];
    let repository = installation.repository("docs", &package);
    let rename = "Replace \"widget\" with \"gadget\" in package.json";
    let refused = run(&installation, repository.path(), &[rename, "--json"]).json();
    assert_eq!(refused["branch"], serde_json::Value::Null, "{refused:#}");
    let message = refused["message"].as_str().unwrap_or_default();
    assert!(message.contains("--allow-path 'package.json'"), "{message}");
    let allowed = run(&installation, repository.path(), &[rename, "--json", "--allow-path", "*.json"]).json();
    assert_eq!(allowed["files"][0]["path"], "package.json", "{allowed:#}");
    let bad = run(&installation, repository.path(), &[rename, "--allow-path", "/etc/*"]);
    assert_eq!(bad.code, Some(2), "{}", bad.stderr);
}

#[test]
fn the_command_that_a_message_prints_allows_what_was_left() {
    let installation = Installation::new();
    let pages = [
        ("docs.json", "{\"name\": \"Acme\", \"navigation\": [\"index\", \"it's\"]}\n"),
        ("index.mdx", "# Widget\n\nA widget.\n"),
        ("it's.mdx", "# It\n\nA parcel.\n"),
        ("package.json", "{\"name\": \"widget\"}\n"),
    ];
    let repository = installation.repository("docs", &pages);
    let chores = "Replace \"widget\" with \"gadget\"\nReplace \"widget\" with \"gadget\" in package.json\n\
                  Set title to \"<i>It</i>\" in \"it's.mdx\"";
    let left = run(&installation, repository.path(), &[chores, "--json"]).json();
    assert_eq!(left["files"].as_array().map(Vec::len), Some(1), "{left:#}");
    let message = left["message"].as_str().unwrap_or_default();
    let (_, command) = message.split_once("The owner can allow it: `").expect(message);
    let command = command.split('`').next().unwrap_or_default();
    assert!(command.contains("--allow-path 'package.json'") && command.contains("--allow-code"), "{command}");
    let line = command.replacen("docent", &docent_tests::binary::docent().display().to_string(), 1);
    let mut shell = Command::new("sh");
    let done = shell.arg("-c").arg(&line).current_dir(installation.root()).output().expect("start sh");
    let done = Finished::from(done).json();
    let files = done["files"].as_array().expect("files").iter().map(|file| file["path"].clone()).collect::<Vec<_>>();
    assert_eq!(files, ["index.mdx", "it's.mdx", "package.json"], "{done:#}");
    let message = done["message"].as_str().unwrap_or_default();
    assert!(!message.contains("--allow-"), "{message}");
}

#[test]
fn a_branch_that_is_there_is_continued_and_only_what_is_new_is_told() {
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    run(&installation, repository.path(), &[GADGET, "--branch", "docs/words"]);
    let more = ["Replace \"parcels\" with \"boxes\" in index.mdx", "--branch", "docs/words", "--json"];
    let done = run(&installation, repository.path(), &more).json();
    assert_eq!(done["files"].as_array().map(Vec::len), Some(1), "{done:#}");
    assert_eq!(repository.commits_ahead("docs/words"), 2);
}

#[test]
fn a_work_tree_with_uncommitted_changes_is_left_as_it_is() {
    let installation = Installation::new();
    let clone = clone_of_the_docs(&installation);
    fs::write(clone.join("quickstart.mdx"), "half a widget").expect("write");
    fs::write(clone.join("staged.mdx"), "a staged widget").expect("write");
    git(&clone, &["add", "staged.mdx"]);
    fs::write(clone.join("untracked.mdx"), "an untracked widget").expect("write");
    let state = || {
        let read = |name: &str| fs::read_to_string(clone.join(name)).expect("a file");
        (
            git(&clone, &["status", "--porcelain", "--branch"]),
            git(&clone, &["rev-parse", "HEAD"]),
            [read("quickstart.mdx"), read("staged.mdx"), read("untracked.mdx")],
        )
    };
    let before = state();

    // From a folder inside the clone, as git itself can be used.
    let finished = run(&installation, &clone.join("guides"), &[GADGET, "--branch", "docs/gadgets"]);
    assert_eq!(finished.code, Some(0), "{}\n{}", finished.stdout, finished.stderr);
    assert_eq!(state(), before);
    assert_eq!(git(&clone, &["diff", "--name-only", "main...docs/gadgets"]), "guides/rate-limits.mdx\nquickstart.mdx");
    assert!(
        git(&clone, &["show", "docs/gadgets:quickstart.mdx"]).contains("The gadget endpoint"),
        "from what is committed"
    );

    let refused = run(&installation, &clone, &[GADGET, "--ref", "docs/gadgets", "--branch", "main"]);
    assert_eq!(refused.code, Some(2), "what is checked out is left alone: {}", refused.stderr);
    assert!(refused.stderr.contains("checked out"), "{}", refused.stderr);
    assert_eq!(state(), before);
}

#[test]
fn an_instruction_that_cannot_be_read_fails_with_what_can() {
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    let finished = run(&installation, repository.path(), &["Write a poem about parcels"]);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    for said in ["Replace \"A\" with \"B\"", "[models.sonnet]", "api_key_env", "docs/CONFIGURATION.md"] {
        assert!(finished.stderr.contains(said), "{said}: {}", finished.stderr);
    }
    assert!(repository.branches().is_empty());

    let finished = run(&installation, repository.path(), &["Write a poem about parcels", "--json"]);
    assert_eq!((finished.code, &finished.json()["status"]), (Some(1), &"failed".into()), "{}", finished.stdout);
}

#[test]
fn impossible_options_are_refused_before_the_work() {
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    let docs = repository.path();
    let nowhere = installation.root().join("nowhere");
    let root = installation.root().to_owned();
    for (repo, more, code, said) in [
        (docs, &[" "][..], 2, "instruction"),
        (docs, &[GADGET, "--branch", "main"], 2, "`main` is the branch to begin from"),
        (docs, &[GADGET, "--branch", "a..b"], 2, "--branch"),
        (docs, &[GADGET, "--model", "gpt"], 2, "known: `opus`, `sonnet`"),
        (docs, &[GADGET, "--docs-root", "../x"], 2, "--docs-root"),
        (docs, &[GADGET, "--ref", "no-such-branch"], 1, "no-such-branch"),
        (&nowhere, &[GADGET], 1, "nowhere"),
        (&root, &[GADGET], 1, "no git repository"),
    ] {
        let finished = run(&installation, repo, more);
        assert_eq!(finished.code, Some(code), "{more:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{more:?}: {}", finished.stderr);
    }
    assert!(repository.branches().is_empty());
}

#[test]
fn nothing_a_model_says_is_obeyed_by_a_terminal_or_a_forge() {
    const OBEYED: [char; 4] = ['\u{1b}', '\u{9b}', '\u{202e}', '\r'];
    let model = ModelServer::start();
    let edit = json!({ "path": "quickstart.mdx", "old": "widget", "new": "gadget" });
    let end = json!({
        "outcome": "done",
        "title": "Draft: say gadget \u{1b}]0;owned\u{7} [skip ci]",
        "summary": "Said\u{1b}[2J gadget\u{202e}, closes other/repo#2.\r\n\nskip-checks: true\u{9b}31m"
    });
    model.replies(Reply::text("Now\u{1b}[1;1H.").call("read", &json!({ "path": "quickstart.mdx" })));
    model.replies(Reply::calls("edit", &edit)).replies(Reply::calls("finish", &end));
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    let told = |more: &[&str]| {
        let mut command = command(&installation, repository.path(), more);
        Finished::from(command.envs(model.configures(Wire::OpenAi)).output().expect("start docent run"))
    };
    let finished = told(&["Say gadget", "--branch", "docs/gadget"]);
    assert_eq!(finished.code, Some(0), "{:?}", finished.stderr);
    assert!(finished.stdout.contains("Said[2J gadget, closes"), "{:?}", finished.stdout);
    let message = repository.git(&["log", "-1", "--format=%B", "docs/gadget"]);
    for text in [&finished.stdout, &finished.stderr, &message] {
        assert!(!text.contains(OBEYED), "{text:?}");
    }
    for heeded in ["Draft:", "[skip ci]", "repo#2", "skip-checks:"] {
        assert!(!message.contains(heeded), "{message:?}");
    }

    let end = json!({ "outcome": "cannot", "title": "No", "summary": "I\u{1b}[2J cannot\u{202e}." });
    model.replies(Reply::calls("finish", &end)).replies(Reply::calls("finish", &end));
    let failed = told(&["Say gadget"]);
    assert!(failed.stderr.contains("I[2J cannot.") && !failed.stderr.contains(OBEYED), "{:?}", failed.stderr);
    let failed = told(&["Say gadget", "--json"]);
    assert!(!failed.stdout.contains(OBEYED), "{:?}", failed.stdout);
    assert_eq!(failed.json()["message"], "I\u{1b}[2J cannot\u{202e}.", "a program has it as it was said");
}

#[test]
fn ctrl_c_stops_a_run_and_its_model_call_and_leaves_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    fs::write(
        installation.root().join("docent.toml"),
        format!("[models.sonnet]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\n"),
    )
    .expect("write");
    let mut command = command(&installation, repository.path(), &["Fix broken links"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start docent run");

    // The model gets the request and does not reply.
    let (mut call, _) = listener.accept().expect("a call");
    let mut asked = [0; 16];
    call.read_exact(&mut asked).expect("a request");
    kill_process(Pid::from_child(&child), Signal::INT).expect("send SIGINT");
    let finished = Finished::from(child.wait_with_output().expect("the end of docent run"));
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("stopped; nothing was left"), "{}", finished.stderr);
    let mut rest = Vec::new();
    // EOF or a reset: either way the connection is closed.
    let _ = call.read_to_end(&mut rest);
    assert!(repository.branches().is_empty());
}
