//! `docent doctor`: what works, what does not, and what to do about it.

use docent_types::Project;
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;
use crate::output;

/// What one check came to.
enum Finding {
    Good(String),
    /// It works, but somebody may wonder.
    Note(String),
    Bad {
        what: String,
        fix: String,
    },
}

/// Checks everything and fails when something must be mended.
pub(crate) async fn run(app: &App, json: bool) -> Result<(), Failure> {
    let mut findings = vec![
        ("configuration", Finding::Good("read, no unknown keys".to_owned())),
        ("data", data(app)),
        ("store", store(app).await),
        ("git", git().await),
    ];
    for (name, model) in app.models() {
        let finding = if model.is_builtin() {
            Finding::Note(format!("`{name}` is the builtin model: docs chores and quotes, no language model"))
        } else {
            Finding::Good(format!("`{name}` is {model}"))
        };
        findings.push(("model", finding));
    }
    let projects = app.projects().projects().await?;
    if projects.is_empty() {
        findings.push(("projects", Finding::Note("none yet; add one with `docent project add`".to_owned())));
    }
    for project in &projects {
        findings.push(("repository", repository(app, project).await));
        findings.push(("index", index(app, project)));
    }
    report(&findings, json)
}

fn data(app: &App) -> Finding {
    let folder = &app.config.data;
    let probe = folder.join(".doctor");
    match std::fs::write(&probe, b"probe").and_then(|()| std::fs::remove_file(&probe)) {
        Ok(()) => Finding::Good(format!("{} can be written", folder.display())),
        Err(error) => Finding::Bad {
            what: format!("{} cannot be written: {error}", folder.display()),
            fix: "give the user that runs docent the right to write there, or choose another folder with --data".into(),
        },
    }
}

async fn store(app: &App) -> Finding {
    match app.store.check().await {
        Ok(()) => Finding::Good("SQLite, sound".to_owned()),
        Err(error) => Finding::Bad {
            what: Failure::from(error).to_string(),
            fix: "stop the server and restore docent.db from a backup".to_owned(),
        },
    }
}

async fn git() -> Finding {
    let output = tokio::process::Command::new("git").arg("--version").output().await;
    match output {
        Ok(output) if output.status.success() => {
            Finding::Good(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        _ => Finding::Bad {
            what: "no `git` program was found".to_owned(),
            fix: "install git; it is needed to push to repositories on other machines".to_owned(),
        },
    }
}

async fn repository(app: &App, project: &Project) -> Finding {
    if let Some(variable) = project.token_env.as_deref().filter(|variable| std::env::var_os(variable).is_none()) {
        return Finding::Bad {
            what: format!("`{}`: the variable {variable} is not set", project.id),
            fix: format!("set {variable} to a token that may read and write {}", project.repository),
        };
    }
    match app.repositories.docs(project).await {
        Ok(_) => Finding::Good(format!("`{}`: {} on `{}`", project.id, project.repository, project.branch)),
        Err(error) => Finding::Bad {
            what: format!("`{}`: {}", project.id, Failure::from(error)),
            fix: format!("check the address, the branch and the token with `git ls-remote {}`", project.repository),
        },
    }
}

fn index(app: &App, project: &Project) -> Finding {
    match app.indexes.open(&project.domain) {
        Ok(index) => match index.snapshot().page_count() {
            0 => Finding::Note(format!("`{}` is not indexed yet; `docent index {0}` does it", project.domain)),
            pages => Finding::Good(format!("`{}`: {pages} pages", project.domain)),
        },
        Err(error) => Finding::Bad {
            what: format!("`{}`: {}", project.domain, Failure::from(error)),
            fix: format!("remove its folder below {} and index again", app.config.data.join("index").display()),
        },
    }
}

fn report(findings: &[(&str, Finding)], json: bool) -> Result<(), Failure> {
    let bad = findings.iter().filter(|(_, finding)| matches!(finding, Finding::Bad { .. })).count();
    if json {
        let shown: Vec<_> = findings.iter().map(|(name, finding)| shown(name, finding)).collect();
        output::line(json!({ "ok": bad == 0, "findings": shown }))?;
    } else {
        for (name, finding) in findings {
            output::line(match finding {
                Finding::Good(what) => format!("  ok    {name:<14} {what}"),
                Finding::Note(what) => format!("  note  {name:<14} {what}"),
                Finding::Bad { what, fix } => format!("  FIX   {name:<14} {what}\n{:<23}→ {fix}", ""),
            })?;
        }
    }
    if bad == 0 { Ok(()) } else { Err(Failure::plain(format!("{bad} of {} checks need attention", findings.len()))) }
}

fn shown(name: &str, finding: &Finding) -> serde_json::Value {
    match finding {
        Finding::Good(what) => json!({ "check": name, "state": "ok", "what": what }),
        Finding::Note(what) => json!({ "check": name, "state": "note", "what": what }),
        Finding::Bad { what, fix } => json!({ "check": name, "state": "bad", "what": what, "fix": fix }),
    }
}
