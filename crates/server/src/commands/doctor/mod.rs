//! `docent doctor`: reports what works, what does not, and how to fix it.
//!
//! Checks of this machine run first, one after the other; checks of other services run in parallel, each with a
//! timeout. No finding contains a secret: it names the variable or the file with the secret.

mod database;
mod machine;
mod network;
mod sizes;

use std::sync::Arc;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use docent_types::printable;
use futures::future::join_all;
use serde_json::json;

use self::sizes::DiskUsage;
use crate::config::{Config, RunsOn};
use crate::data_folder::Missing;
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

const GOOD: Style = AnsiColor::Green.on_default();
const NOTE: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Timeout of a check of another service.
const LIMIT: Duration = Duration::from_secs(20);

/// The checks that are about the data folder.
const OF_DATA: [&str; 4] = ["data", "store", "sizes", "projects"];

/// The result of one check.
#[derive(Debug)]
pub(crate) enum Finding {
    Good(String),
    /// Works, but may be unexpected.
    Note(String),
    Bad {
        what: String,
        fix: String,
    },
}

impl Finding {
    fn bad(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Bad { what: what.into(), fix: fix.into() }
    }
}

pub(crate) type Findings = Vec<(&'static str, Finding)>;

/// Runs all checks, prints the report, and fails if a check failed. Without a data folder (`missing` says so) the rest is
/// checked all the same, and none is made.
pub(crate) async fn run(mut config: Config, missing: Option<Missing>, json: bool) -> Result<(), Failure> {
    let Some(missing) = missing else {
        let (findings, sizes) = checked(&Arc::new(App::open(config).await?)).await?;
        return report(&findings, sizes.as_ref(), json);
    };
    let empty = tempfile::tempdir().map_err(|error| Failure::new("could not make a temporary folder", error))?;
    config.data = empty.path().to_owned();
    let (mut findings, _) = checked(&Arc::new(App::open(config).await?)).await?;
    findings.retain(|(check, _)| !OF_DATA.contains(check));
    findings.insert(1, ("data", Finding::bad(missing.what, missing.remedy)));
    report(&findings, None, json)
}

/// The result of each check.
pub(crate) async fn findings(app: &Arc<App>) -> Result<Findings, Failure> {
    Ok(checked(app).await?.0)
}

/// The results of the checks of one project, which need not be in the store.
pub(crate) async fn of_project(app: &Arc<App>, project: &docent_types::Project) -> Findings {
    let found = network::project(Arc::clone(app), project.clone()).await;
    // A new project has no index yet.
    found.into_iter().filter(|(check, _)| *check != "index").collect()
}

async fn checked(app: &Arc<App>) -> Result<(Findings, Option<DiskUsage>), Failure> {
    let mut findings = vec![
        ("configuration", Finding::Good("read, no unknown keys".to_owned())),
        ("data", machine::data(&app.config)),
    ];
    findings.extend(machine::exposed(app).map(|finding| ("data", finding)));
    findings.extend(database::findings(&*app.store).await.into_iter().map(|finding| ("store", finding)));
    findings.push(("git", machine::git().await));
    // A database that cannot be read has its own finding.
    let sizes = DiskUsage::of(app).await.ok();
    findings.extend(sizes.iter().flat_map(DiskUsage::findings).map(|finding| ("sizes", finding)));
    findings.extend(machine::ssh_key(&app.config).await.map(|finding| ("ssh key", finding)));
    findings.extend(machine::github_app(&app.config).map(|finding| ("GitHub App", finding)));
    findings.extend(machine::identity_provider(&app.config).map(|finding| ("openid", finding)));
    let models = join_all(app.models.configured().map(|(name, model)| network::model(name, model)));
    findings.extend(models.await.into_iter().map(|finding| ("model", finding)));
    findings.extend(names(&app.config).into_iter().map(|finding| ("model", finding)));
    findings.extend(network::embedder(app).await.map(|finding| ("search", finding)));
    let hooks = join_all(app.config.hooks.iter().map(|hook| network::hook(app, hook)));
    findings.extend(hooks.await.into_iter().map(|finding| ("webhook", finding)));
    findings.extend(assistant(&app.config).map(|finding| ("assistant", finding)));
    let projects = app.projects().projects().await?;
    if projects.is_empty() {
        findings.push(("projects", Finding::Note("none yet; add one with `docent project add`".to_owned())));
    }
    // Each check in a separate task, because they may wait for each other's token.
    let asked = projects.into_iter().map(|project| tokio::spawn(network::project(Arc::clone(app), project)));
    for findings_of_one in join_all(asked).await {
        findings.extend(findings_of_one.map_err(|error| Failure::new("a check stopped short", error))?);
    }
    Ok((findings, sizes))
}

/// Reports the models that replace unconfigured model names.
fn names(config: &Config) -> Vec<Finding> {
    let note = |(name, runs_on): (&String, &RunsOn)| match runs_on {
        RunsOn::Itself => None,
        RunsOn::Other(other) => Some(Finding::Note(format!("`{name}` is not configured and runs on `{other}`"))),
        RunsOn::Builtin => {
            Some(Finding::Note(format!("`{name}` is the builtin model: docs chores and quotes, no language model")))
        }
    };
    config.offered.iter().filter_map(note).collect()
}

fn assistant(config: &Config) -> Option<Finding> {
    let for_ever = || Finding::Note("conversations are kept for ever: `assistant.thread_days` is 0".to_owned());
    config.assistant.keep_threads.is_none().then(for_ever)
}

fn report(findings: &[(&str, Finding)], sizes: Option<&DiskUsage>, json: bool) -> Result<(), Failure> {
    let bad = findings.iter().filter(|(_, finding)| matches!(finding, Finding::Bad { .. })).count();
    if json {
        let shown: Vec<_> = findings.iter().map(|(name, finding)| shown(name, finding)).collect();
        output::json(&json!({ "ok": bad == 0, "findings": shown, "sizes": sizes.map(DiskUsage::shown) }))?;
    } else {
        for (name, finding) in findings {
            output::coloured(line(name, finding))?;
        }
    }
    if bad == 0 { Ok(()) } else { Err(Failure::plain(format!("{bad} of {} checks need attention", findings.len()))) }
}

/// A finding as a line, its state in colour. The remedy stands below it.
fn line(name: &str, finding: &Finding) -> String {
    let (style, word, what) = match finding {
        Finding::Good(what) => (GOOD, "ok", what),
        Finding::Note(what) => (NOTE, "note", what),
        Finding::Bad { what, .. } => (BAD, "FIX", what),
    };
    let line = format!("  {style}{word:<4}{style:#}  {name:<14} {}", printable(what));
    match finding {
        Finding::Bad { fix, .. } => format!("{line}\n{:<23}→ {}", "", printable(fix)),
        Finding::Good(_) | Finding::Note(_) => line,
    }
}

fn shown(name: &str, finding: &Finding) -> serde_json::Value {
    match finding {
        Finding::Good(what) => json!({ "check": name, "state": "ok", "what": what }),
        Finding::Note(what) => json!({ "check": name, "state": "note", "what": what }),
        Finding::Bad { what, fix } => json!({ "check": name, "state": "bad", "what": what, "fix": fix }),
    }
}
