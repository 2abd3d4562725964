//! Measures the response times of the dashboard's pages, with many jobs and conversations in the store.
//!
//! ```text
//! a project with docs ──▶ one job and one question over HTTP ──▶ 10,000 jobs and 100,000 conversations
//!     ──▶ docent serve ──▶ each page, again and again, as an owner
//! ```

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::Args;
use docent_tests::installation::KeyKind;
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{Agent, Assistant, Installation, Person};

use crate::bench::Times;
use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::bench::stream::table::{Row, Threshold, shown};
use crate::child::StopSignal;
use crate::workspace::Workspace;

/// Time within which a page must be served, over loopback.
const LONGEST: Duration = Duration::from_millis(50);
/// Measured requests per page, after one warm-up request.
const TRIES: usize = 20;

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Jobs in the store
    #[arg(long, default_value_t = 10_000)]
    jobs: u32,
    /// Conversations in the store
    #[arg(long, default_value_t = 100_000)]
    conversations: u32,
    /// Measure a build without optimisation, to try the bench out
    #[arg(long)]
    dev: bool,
}

pub(crate) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let profile = if options.dev { Profile::Dev } else { Profile::Release };
    let what: [&[&str]; 2] = [&["--package", "docent-server"], &["--package", "docent-store", "--example", "seed"]];
    let (options, folder) = (options.clone(), workspace.target.join(profile.folder()));
    let measure = move |stopping: &Stopping| measured(&options, &folder, stopping);
    let Some(rows) = run_to_its_end(profile, &what, workspace, stop, measure).await? else {
        return Ok(ExitCode::from(130));
    };
    println!("\n{}", shown(&rows?));
    Ok(if stop.was_received() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

fn measured(options: &Options, folder: &Path, stopping: &Stopping) -> Result<Vec<Row>, String> {
    let installation = Installation::of(folder.join("docent"));
    let repository = installation.repository(PROJECT, PAGES);
    installation.add_project(PROJECT, &repository);
    let (job, pull) = begun(&installation);
    seed(&folder.join("examples/seed"), &installation.data().join("docent.db"), options)?;
    let server = installation.serve();
    let key = installation.mint(PROJECT, KeyKind::Assistant, &[]);
    Assistant::new(&server, PROJECT, &key).is_ready();
    let mut owner = Person::joins(&server, &installation, "olive", "owner");
    let mut rows = Vec::new();
    let conversation = conversation(&mut owner)?;
    for path in pages(&job, &pull, &conversation) {
        stopping.check()?;
        let mut times = Times::default();
        let mut size = 0;
        for _ in 0..=TRIES {
            let began = Instant::now();
            let page = owner.gets(&path);
            times.0.push(began.elapsed());
            if page.status != 200 {
                return Err(format!("{path} answers {}: {}", page.status, page.text()));
            }
            size = page.body.len();
        }
        let first = times.0.remove(0);
        println!("{path}: {}, at first {:.1}, {} KiB", times.shown(), first.as_secs_f64() * 1e3, size >> 10);
        let millis = times.median().as_secs_f64() * 1e3;
        rows.push(Row::alone(path, millis, "ms", Threshold::AtMost(LONGEST.as_secs_f64() * 1e3)));
    }
    Ok(rows)
}

/// Creates a completed job with an open pull request and an answered question, so that their pages have real content.
/// Returns the ids of the job and of the pull request.
fn begun(installation: &Installation) -> (String, String) {
    let keys = [KeyKind::Admin, KeyKind::Assistant].map(|kind| installation.mint(PROJECT, kind, &[]));
    let server = installation.serve();
    let agent = Agent::new(&server, PROJECT, &keys[0]);
    let created = agent.create("Replace \"widget\" with \"gadget\"");
    let done = agent.reaches(created["id"].as_str().expect("an id"), "completed");
    let last = |name: &str| done[name].as_str().and_then(|text| text.rsplit('/').next()).expect("text").to_owned();
    (last("id"), last("prLink"))
}

/// The id of the newest conversation.
fn conversation(owner: &mut Person<'_>) -> Result<String, String> {
    let link = format!("/dashboard/{PROJECT}/conversations/");
    let list = owner.gets(link.trim_end_matches('/'));
    let id = list.text().split(&link).nth(1).and_then(|rest| rest.split('"').next());
    id.map(str::to_owned).ok_or_else(|| "the list of conversations is empty".to_owned())
}

fn seed(program: &PathBuf, database: &Path, options: &Options) -> Result<(), String> {
    println!("{} jobs and {} conversations …", options.jobs, options.conversations);
    let mut command = Command::new(program);
    command.arg(database).arg(PROJECT).args([options.jobs, options.conversations].map(|count| count.to_string()));
    let status = command.status().map_err(|error| format!("could not run {}: {error}", program.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", program.display())) }
}

/// Every page that reads what grows with a server: lists, filters, searches and counts; and one of each other kind.
fn pages(job: &str, pull: &str, conversation: &str) -> Vec<String> {
    let server = [
        "",
        "/-/jobs",
        "/-/jobs?text=topic+7",
        "/-/pulls",
        "/-/pulls?state=open&text=widget",
        "/-/projects",
        "/-/operators",
        "/-/audit",
        "/-/settings",
        "/-/account",
        "/-/style",
        "/-/search?q=webhook",
        "/-/search?q=widget+7",
        "/-/search?q=nowhere+to+be+found",
    ];
    let of_project = [
        "",
        "/jobs",
        "/jobs?status=failed",
        "/jobs/new",
        "/pulls",
        "/pulls?state=merged",
        "/playground",
        "/playground?q=How+is+a+webhook+delivered%3F",
        "/conversations",
        "/conversations?which=unanswered",
        "/conversations?text=number+7",
        "/conversations?text=nowhere",
        "/analytics",
        "/analytics?days=7",
        "/analytics?days=365",
        "/gaps",
        "/gaps?days=365",
        "/searches",
        "/searches?which=nothing",
        "/docs",
        "/docs?page=quickstart",
        "/widget",
        "/keys",
        "/settings",
    ];
    let of_one = [
        format!("/jobs/{job}"),
        format!("/jobs/{job}/changes"),
        format!("/jobs/{job}/events?after=0"),
        format!("/pulls/{pull}"),
        format!("/pulls/{pull}?layout=split"),
        format!("/pulls/{pull}/conflicts"),
        format!("/conversations/{conversation}"),
    ];
    let of_project = of_project.iter().copied().chain(of_one.iter().map(String::as_str));
    let of_project = of_project.map(|page| format!("/dashboard/{PROJECT}{page}"));
    server.iter().map(|page| format!("/dashboard{page}")).chain(of_project).collect()
}
