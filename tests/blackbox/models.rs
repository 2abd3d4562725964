//! The agent on language models: the requests on each protocol, and what happens to a job when a model misbehaves.
//!
//! The stories of [`scripted`] run against the model server of `docent_tests`. Those of [`aimock`] and [`llmock`] need
//! third-party servers, which `cargo xtask test` installs.

mod aimock;
mod at_once;
mod bounds;
mod faults;
mod llmock;
mod scripted;

use docent_tests::agent::{branch, id};
use docent_tests::site::PAGES;
use docent_tests::{ModelServer, Site, model_server::Wire};
use serde_json::{Value, json};

const PROMPT: &str = "A webhook is retried seven times now. Say so.";

/// The page that the stories edit, and the words that they replace.
const PAGE: &str = "guides/webhooks.mdx";
const OLD: &str = "five times";
const NEW: &str = "seven times";

/// The call that reads the page, with the tools that models of this protocol know.
fn look(wire: Wire) -> (&'static str, Value) {
    match wire {
        Wire::Anthropic => ("str_replace_based_edit_tool", json!({ "command": "view", "path": PAGE })),
        Wire::OpenAi => ("read", json!({ "path": PAGE })),
    }
}

/// The call that replaces the words.
fn change(wire: Wire) -> (&'static str, Value) {
    replace(wire, OLD, NEW)
}

fn replace(wire: Wire, old: &str, new: &str) -> (&'static str, Value) {
    match wire {
        Wire::Anthropic => (
            "str_replace_based_edit_tool",
            json!({ "command": "str_replace", "path": PAGE, "old_str": old, "new_str": new }),
        ),
        Wire::OpenAi => ("edit", json!({ "path": PAGE, "old": old, "new": new })),
    }
}

/// The call that ends a turn.
fn finish() -> Value {
    json!({ "outcome": "done", "title": "Say how often a webhook is retried", "summary": "It is seven times now." })
}

/// The site of [`PAGES`], with its agent on a model server.
fn site_on(model: &ModelServer, wire: Wire, more: &[(&str, &str)]) -> Site {
    site_with(&model.configures(wire), more)
}

fn site_with(configuration: &[(String, String)], more: &[(&str, &str)]) -> Site {
    let env: Vec<(&str, &str)> = configuration.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Site::with_env(PAGES, &[&env, more].concat())
}

/// Runs a job that must complete with the words replaced, in one commit and one pull request.
fn completes(site: &Site, prompt: &str) -> Value {
    let agent = site.agent();
    let job = agent.create(prompt);
    let job = agent.reaches(id(&job), "completed");
    has_the_change(site, &job);
    job
}

fn has_the_change(site: &Site, job: &Value) {
    assert_eq!(site.repository.commits_ahead(branch(job)), 1, "one commit, whatever went wrong on the way");
    assert_eq!(site.repository.changed_files(branch(job)), [PAGE]);
    let page = site.repository.file(branch(job), PAGE);
    assert!(page.contains(NEW) && !page.contains(OLD), "{page}");
    assert!(job["prLink"].is_string(), "{job:#}");
}
