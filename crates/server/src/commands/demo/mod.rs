//! `docent demo`: creates a bare git repository from the sample site, starts the server on a free port, and calls it
//! over HTTP: one agent job, one question.

mod sample;
mod streamed_text;

use std::path::Path;
use std::time::{Duration, Instant};

use docent_operators::OperatorName;
use docent_workspace::DiffView;
use serde_json::{Value, json};

use crate::cli::DemoArgs;
use crate::commands::client::Client;
use crate::commands::keys;
use crate::config::{Config, StoreConfig};
use crate::failure::Failure;
use crate::serve::{self, RunningServer, shutdown_signal};
use crate::wiring::app::{App, join_url};
use crate::wiring::privacy;

const PROJECT: &str = "larkspur";
const INSTRUCTION: &str = "Replace \"dead-letter queue\" with \"holding queue\"";
const QUESTION: &str = "What is the maximum size of a payload?";
/// Timeout of the job, after which the demo fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the tour. Without `--exit` the server keeps running until Ctrl-C.
pub(crate) async fn run(args: &DemoArgs, mut config: Config, keep: bool) -> Result<(), Failure> {
    let temporary = if keep { None } else { Some(temporary_folder()?) };
    if let Some(folder) = &temporary {
        config.data = folder.path().to_owned();
    }
    // Nothing of the tour is for a database that others use.
    (config.listen, config.store) = (args.listen, StoreConfig::Sqlite);
    let made = privacy::make_private(&config.data);
    made.map_err(|error| Failure::new(format!("cannot make the folder {}", config.data.display()), error))?;
    let repository = config.data.join("larkspur.git");
    let pages = sample::repository(&repository)?;
    let running = serve::start(config).await?;
    let tour = tokio::select! {
        toured = tour(&running, &repository, pages) => toured,
        signal = shutdown_signal() => signal.and_then(|()| Err(Failure::plain("stopped before the tour was over"))),
    };
    match tour {
        Ok(()) if args.exit => running.stop().await,
        Ok(()) => {
            streamed_text::note("The server stays up. Press Ctrl-C to stop it.");
            running.until_shutdown().await
        }
        Err(failure) => {
            running.stop().await?;
            Err(failure)
        }
    }
}

fn temporary_folder() -> Result<tempfile::TempDir, Failure> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder
        .prefix("docent-demo-")
        .tempdir()
        .map_err(|error| Failure::new("could not make a temporary folder for the demo", error))
}

async fn tour(running: &RunningServer, repository: &Path, pages: usize) -> Result<(), Failure> {
    let app = running.app();
    let (admin, assistant) = set_up(app, repository).await?;
    let url = running.url();
    streamed_text::title("Docent demo");
    streamed_text::fact("Docs", &format!("{pages} pages of a sample site in a real git repository"));
    streamed_text::fact("Repository", &repository.display().to_string());
    streamed_text::fact("Server", url);
    let model = app.agent_model()?;
    streamed_text::fact("Model", &model.to_string());
    if model.is_builtin() {
        streamed_text::note("              (no model is configured: docs chores and quotes from the docs, all local)");
    }
    let client = Client::new(running.address());
    job(app, &client, &admin).await?;
    question(&client, &assistant).await?;
    next(url, &admin, &assistant);
    dashboard(running).await
}

async fn dashboard(running: &RunningServer) -> Result<(), Failure> {
    let (app, url) = (running.app(), running.url());
    let demo = OperatorName::parse("demo").map_err(|error| Failure::plain(error.to_string()))?;
    let others = app.operators.operators().await?.iter().any(|operator| operator.name != demo);
    let (note, link) = if others {
        ("Sign in as usual.", format!("{url}/dashboard"))
    } else if running.address().ip().is_loopback() {
        let token = app.operators.sign_in_link(demo).await?;
        ("Open this link in a browser on this machine: it signs you in, once, within a day.", join_url(url, &token))
    } else if let Some(link) = app.first_run_link(url).await? {
        ("Open this link in a browser and choose a password. It works once.", link)
    } else {
        return Ok(());
    };
    streamed_text::title("4  The dashboard");
    streamed_text::note(note);
    streamed_text::blank();
    streamed_text::link("Dashboard", &link);
    Ok(())
}

/// Adds the project, indexes it, and creates both keys.
async fn set_up(app: &App, repository: &Path) -> Result<(String, String), Failure> {
    let project = sample::project(app, repository)?;
    if app.projects().by_id(&project.id).await?.is_none() {
        app.projects().add(project.clone()).await?;
    }
    let admin = keys::create(app, &project.id, docent_access::KeyKind::Admin).await?;
    let assistant = keys::create(app, &project.id, docent_access::KeyKind::Assistant).await?;
    app.index(&project, |_| ()).await?;
    Ok((admin, assistant))
}

async fn job(app: &App, client: &Client, key: &str) -> Result<(), Failure> {
    streamed_text::title("1  An instruction becomes a pull request");
    streamed_text::said(INSTRUCTION);
    let path = format!("/v2/agent/{PROJECT}/job");
    let began = Instant::now();
    let (status, mut job) = client.json("POST", &path, key, Some(&json!({ "prompt": INSTRUCTION }))).await?;
    streamed_text::request("POST", &path, status);
    // The request is answered as soon as the job has ended.
    let path = format!("{path}/{}?wait=20", text(&job, "id"));
    let mut seen = String::new();
    loop {
        let now = text(&job, "status").to_owned();
        if now != seen {
            streamed_text::state(&now, &format!("{:.2} s", began.elapsed().as_secs_f64()));
            seen = now;
        }
        if seen != "active" {
            break;
        }
        if began.elapsed() > PATIENCE {
            return Err(Failure::plain("the job did not end within a minute; see the log above"));
        }
        job = client.json("GET", &path, key, None).await?.1;
    }
    if seen != "completed" {
        return Err(Failure::plain(format!("the job ended {seen}: {}", text(&job, "message"))));
    }
    let Some(link) = job["prLink"].as_str() else {
        // The pull request of an earlier tour on this data folder was merged.
        streamed_text::note(text(&job, "message"));
        return Ok(());
    };
    show_change(app, link).await?;
    streamed_text::note(text(&job, "message"));
    streamed_text::blank();
    streamed_text::link("Pull request", link);
    Ok(())
}

async fn show_change(app: &App, link: &str) -> Result<(), Failure> {
    let missing = || Failure::plain(format!("the pull request at {link} is not in the store"));
    let project = app.known_project(PROJECT).await?;
    let id = link.rsplit('/').next().and_then(|id| uuid::Uuid::try_parse(id).ok()).ok_or_else(missing)?;
    let pulls = app.pulls();
    let record = pulls.record(&project.id, id).await?.ok_or_else(missing)?;
    let diff = pulls.changes(&project, &record, DiffView::default()).await?.diff;
    let files = &diff.files;
    let (mut added, mut removed) = (0, 0);
    for file in files {
        added += file.additions;
        removed += file.deletions;
    }
    streamed_text::blank();
    streamed_text::note(&format!(
        "{} → {}: {} files, +{added} −{removed}",
        record.head, record.base, diff.files_in_all
    ));
    streamed_text::blank();
    streamed_text::diff(files, link);
    Ok(())
}

async fn question(client: &Client, key: &str) -> Result<(), Failure> {
    streamed_text::title("2  A question becomes an answer from the docs");
    streamed_text::said(QUESTION);
    let path = format!("/discovery/v2/assistant/{PROJECT}/message");
    let message = json!({ "id": "demo-1", "role": "user", "parts": [{ "type": "text", "text": QUESTION }] });
    let body = json!({ "fp": "anonymous", "messages": [message] });
    let mut streamed = streamed_text::StreamedText::default();
    let mut sources: Vec<(String, String)> = Vec::new();
    let mut trouble = None;
    client
        .events(&path, key, &body, |event| match text(event, "type") {
            "text-delta" => streamed.push(text(event, "delta")),
            "source-url" => sources.push((text(event, "title").to_owned(), text(event, "url").to_owned())),
            "error" => trouble = Some(text(event, "errorText").to_owned()),
            _ => {}
        })
        .await?;
    streamed.end();
    if let Some(sentence) = trouble {
        return Err(Failure::plain(sentence));
    }
    if sources.is_empty() {
        return Err(Failure::plain("the assistant found no source for the demo's question"));
    }
    for (title, url) in sources {
        streamed_text::fact("Source", &format!("{title}  {url}"));
    }
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn next(url: &str, admin: &str, assistant: &str) {
    streamed_text::title("3  Try it yourself");
    streamed_text::note(&format!(
        "ADMIN={admin}\nASSISTANT={assistant}\n\n\
         curl -s {url}/v2/agent/{PROJECT}/job -H \"Authorization: Bearer $ADMIN\" \\\n\
         \x20    --json '{{\"prompt\": \"Fix broken links\"}}'\n\n\
         curl -s {url}/v2/agent/{PROJECT}/job -H \"Authorization: Bearer $ADMIN\" \\\n\
         \x20    --json '{{\"prompt\": \"Add missing descriptions\"}}'\n\n\
         curl -sN {url}/discovery/v2/assistant/{PROJECT}/message -H \"Authorization: Bearer $ASSISTANT\" \\\n\
         \x20    --json '{{\"fp\": \"anonymous\", \"messages\": [{{\"id\": \"1\", \"role\": \"user\",\n\
         \x20            \"parts\": [{{\"type\": \"text\", \"text\": \"How are webhooks signed?\"}}]}}]}}'\n\n\
         curl -s {url}/discovery/v1/search/{PROJECT} -H \"Authorization: Bearer $ASSISTANT\" \\\n\
         \x20    --json '{{\"query\": \"idempotency key\"}}'"
    ));
    streamed_text::blank();
}
