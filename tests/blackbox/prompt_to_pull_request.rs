//! A prompt becomes a commit on a branch of a real repository, and a pull request that can be read and merged.

use std::fs;

use docent_tests::agent::{branch, id, pull_request};
use docent_tests::repository::git;
use docent_tests::{Request, Site};
use serde_json::{Value, json};

/// Every key of an AgentJob, as documented.
const KEYS: [&str; 8] = ["archivedAt", "createdAt", "id", "message", "model", "prLink", "source", "status"];

#[test]
fn a_prompt_becomes_a_pull_request() {
    let site = Site::start();
    let agent = site.agent();

    let response = agent.try_create(&json!({ "prompt": "Replace \"widget\" with \"gadget\"" }));
    assert_eq!(response.status, 201, "{}", response.text());
    let created = response.json();
    let location = response.header("Location").expect("a created job says where it is");
    assert!(location.ends_with(&format!("/v2/agent/acme/job/{}", id(&created))), "{location}");
    assert!(created["source"]["ref"].is_string(), "the branch is known from the moment of creation: {created:#}");

    let job = agent.reaches(id(&created), "completed");
    assert_eq!(keys(&job), KEYS, "every key is always there");
    assert_eq!(keys(&created), KEYS);
    assert_eq!(job["archivedAt"], Value::Null);
    assert!(job["message"].as_str().is_some_and(|message| !message.is_empty()), "the agent says what it did: {job:#}");
    assert_eq!(branch(&job), branch(&created));
    assert_eq!(job["createdAt"], created["createdAt"]);
    let made = job["createdAt"].as_str().expect("a time");
    assert!(made.len() == 24 && made.ends_with('Z'), "RFC 3339 UTC with milliseconds: {made}");

    let repository = &site.repository;
    assert_eq!(repository.branches(), [branch(&job)], "one branch");
    assert_eq!(repository.commits_ahead(branch(&job)), 1, "one commit");
    assert_eq!(repository.changed_files(branch(&job)), ["guides/rate-limits.mdx", "quickstart.mdx"]);
    let page = repository.file(branch(&job), "guides/rate-limits.mdx");
    assert!(page.contains("The gadget endpoint") && !page.contains("widget"), "{page}");
    let author = repository.git(&["log", "-1", "--format=%an <%ae>", branch(&job)]);
    assert!(author.to_lowercase().contains("docent"), "the commit says who wrote it: {author}");
    assert_eq!(repository.git(&["rev-parse", "main"]), repository.git(&["merge-base", "main", branch(&job)]));

    let link = job["prLink"].as_str().expect("a pull request");
    assert!(link.starts_with(&site.server.url()), "the link leads to this server: {link}");
    let page = docent_tests::Person::follows(&site, &pull_request(&job));
    assert_eq!(page.status, 200);
    assert!(page.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")), "{:?}", page.headers);
    for shown in ["gadget", "widget", "guides/rate-limits.mdx", "quickstart.mdx"] {
        assert!(page.text().contains(shown), "the page shows the diff, but not {shown}");
    }
}

#[test]
fn a_link_to_a_page_that_somebody_renamed_is_fixed_by_history() {
    let site = Site::start();
    let clone = site.installation.root().join("clone");
    git(site.installation.root(), &["clone", "--quiet", &site.repository.path().display().to_string(), "clone"]);
    git(&clone, &["mv", "guides/webhooks.mdx", "guides/deliveries.mdx"]);
    let navigation = fs::read_to_string(clone.join("docs.json")).expect("read");
    fs::write(clone.join("docs.json"), navigation.replace("guides/webhooks", "guides/deliveries")).expect("write");
    git(&clone, &["commit", "--quiet", "--all", "--message=Say what it is about"]);
    git(&clone, &["push", "--quiet", "origin", "HEAD:main"]);

    let agent = site.agent();
    let job = agent.create("Fix broken links");
    let job = agent.reaches(id(&job), "completed");
    assert_eq!(site.repository.changed_files(branch(&job)), ["index.mdx"], "{job:#}");
    let page = site.repository.file(branch(&job), "index.mdx");
    assert!(page.contains("[webhooks](/guides/deliveries)"), "{page}");
}

#[test]
fn a_pull_request_is_merged_with_the_admin_key_and_not_without() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let job = agent.reaches(id(&job), "completed");
    let merge = format!("{}/merge", pull_request(&job));

    assert_eq!(site.server.send(&Request::post(&merge)).status, 401);
    assert_eq!(site.server.send(&Request::post(&merge).bearer(&site.assistant_key)).status, 403);
    assert!(site.repository.file("main", "quickstart.mdx").contains("widget"), "nothing was merged yet");

    let merged = site.server.send(&Request::post(&merge).bearer(&site.admin_key));
    assert!(matches!(merged.status, 200 | 303), "{} {}", merged.status, merged.text());
    assert!(site.repository.file("main", "quickstart.mdx").contains("gadget"), "main has the change");

    let again = site.server.send(&Request::post(&merge).bearer(&site.admin_key));
    assert_eq!(again.status, 409, "a merged pull request is not merged twice: {}", again.text());
}

#[test]
fn a_pull_request_that_is_closed_leaves_main_alone() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let job = agent.reaches(id(&job), "completed");
    let before = site.repository.git(&["rev-parse", "main"]);

    let close = format!("{}/close", pull_request(&job));
    let closed = site.server.send(&Request::post(&close).bearer(&site.admin_key));
    assert!(matches!(closed.status, 200 | 303), "{} {}", closed.status, closed.text());
    assert_eq!(site.repository.git(&["rev-parse", "main"]), before);

    let merge = format!("{}/merge", pull_request(&job));
    assert_eq!(site.server.send(&Request::post(&merge).bearer(&site.admin_key)).status, 409);
}

#[test]
fn a_job_on_a_named_branch_works_there() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create_with(&json!({ "prompt": "Replace \"widget\" with \"gadget\"", "branch": "docs/words" }));
    assert_eq!(branch(&job), "docs/words");
    agent.reaches(id(&job), "completed");
    assert_eq!(site.repository.branches(), ["docs/words"]);
}

#[test]
fn a_job_on_a_branch_that_exists_continues_it() {
    let site = Site::start();
    site.repository.git(&["branch", "docs/words", "main"]);
    site.repository.commit("docs/words", "guides/new.mdx", "---\ntitle: New\n---\n\nA widget of a new kind.\n");
    let agent = site.agent();
    let job = agent.create_with(&json!({ "prompt": "Replace \"widget\" with \"gadget\"", "branch": "docs/words" }));
    agent.reaches(id(&job), "completed");
    assert_eq!(site.repository.commits_ahead("docs/words"), 2, "the person's commit and the agent's");
    assert!(site.repository.file("docs/words", "guides/new.mdx").contains("A gadget of a new kind."));
}

#[test]
fn a_prompt_that_changes_nothing_completes_without_a_pull_request() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"no-such-term\" with \"another\"");
    let job = agent.reaches(id(&job), "completed");
    assert_eq!(job["prLink"], Value::Null);
    assert!(site.repository.branches().is_empty(), "no branch for nothing");
}

#[test]
fn a_prompt_the_builtin_agent_cannot_read_fails_with_what_it_can() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Write a poem about parcels");
    let job = agent.reaches(id(&job), "failed");
    let message = job["message"].as_str().expect("why it failed");
    assert!(message.contains("Replace"), "the message lists the forms: {message}");
    assert_eq!(job["prLink"], Value::Null);
}

#[test]
fn a_repository_that_is_gone_fails_the_job_and_not_the_server() {
    let site = Site::start();
    std::fs::rename(site.repository.path(), site.installation.root().join("elsewhere.git"))
        .expect("move the repository");
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let job = agent.reaches(id(&job), "failed");
    assert!(job["message"].as_str().is_some_and(|message| !message.is_empty()), "{job:#}");
    assert_eq!(site.server.send(&Request::get("/healthz")).status, 200);
}

fn keys(job: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = job.as_object().expect("a job is an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
