//! Measures a one-file job on a repository of thousands of files.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use docent_tests::agent::{branch, id};
use docent_tests::installation::KeyKind;
use docent_tests::repository::git;
use docent_tests::{Agent, Installation, Repository};

use crate::bench::Times;
use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::child::StopSignal;
use crate::workspace::Workspace;

const PROJECT: &str = "bench";

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Options {
    /// Files in the repository
    #[arg(long, default_value_t = 5_000)]
    files: usize,
    /// Rounds, each with one job and one turn of the git CLI
    #[arg(long, default_value_t = 15)]
    rounds: usize,
}

pub(crate) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    if options.files == 0 || options.rounds == 0 || options.rounds >= options.files {
        return Err("there must be at least one round, and more files than rounds".to_owned());
    }
    let (server, options) = (workspace.target.join("release/docent"), *options);
    let what: [&[&str]; 1] = [&["--package", "docent-server"]];
    let measure = move |stopping: &Stopping| measure(server, options, stopping);
    let Some((docent, cli)) = run_to_its_end(Profile::Release, &what, workspace, stop, measure).await? else {
        return Ok(ExitCode::from(130));
    };
    if stop.was_received() {
        return Ok(ExitCode::from(130));
    }
    println!("\none file of {}, {} rounds, medians", options.files, options.rounds);
    println!("  docent, request to pull request      {}", docent.shown());
    println!("  git clone --local, edit, commit, push {}", cli.shown());
    println!("  ratio {:.1}", cli.median().as_secs_f64() / docent.median().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

/// Alternates between both sides, so that other load on the machine affects both.
fn measure(binary: PathBuf, options: Options, stopping: &Stopping) -> (Times, Times) {
    println!("a repository of {} files …", options.files);
    let installation = Installation::of(binary);
    let repository = installation.repository(PROJECT, &pages(options.files));
    installation.add_project(PROJECT, &repository);
    let key = installation.mint(PROJECT, KeyKind::Admin, &[]);
    let server = installation.serve_with(&[("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", "100000")]);
    let agent = Agent::new(&server, PROJECT, &key);

    let cold = by_docent(&agent, &repository, 0);
    println!("the first job, which mirrors the repository: {:.1} ms", cold.as_secs_f64() * 1e3);
    let (mut docent, mut cli) = (Times::default(), Times::default());
    for n in 1..=options.rounds {
        if stopping.is_asked() {
            break;
        }
        docent.0.push(by_docent(&agent, &repository, n));
        cli.0.push(by_the_cli(&installation, &repository, n));
    }
    (docent, cli)
}

/// Pages that each contain a unique word.
fn pages(count: usize) -> Vec<(String, String)> {
    let filler =
        "A parcel goes from one warehouse to the next, and its way is written down at every door.\n\n".repeat(12);
    (0..count)
        .map(|n| {
            let body = format!("---\ntitle: Page {n}\n---\n\n## Overview\n\nHere is alpha-{n:04}.\n\n{filler}");
            (format!("section-{:02}/page-{n:04}.md", n % 50), body)
        })
        .collect()
}

/// From sending the request to seeing the job completed.
fn by_docent(agent: &Agent<'_>, repository: &Repository, n: usize) -> Duration {
    let start = Instant::now();
    let job = agent.create(&format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\""));
    let job = loop {
        let now = agent.job(id(&job));
        if now["status"] != "active" {
            break now;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let took = start.elapsed();
    assert_eq!(job["status"], "completed", "{job:#}");
    assert!(job["prLink"].is_string(), "{job:#}");
    assert_eq!(repository.changed_files(branch(&job)), [format!("section-{:02}/page-{n:04}.md", n % 50)]);
    took
}

/// The same edit by a script without a server: clone, edit, commit and push with the git CLI.
fn by_the_cli(installation: &Installation, repository: &Repository, n: usize) -> Duration {
    let clone = installation.root().join("clone");
    let origin = repository.path().display().to_string();
    let start = Instant::now();
    git(installation.root(), &["clone", "--quiet", "--local", &origin, "clone"]);
    let page = clone.join(format!("section-{:02}/page-{n:04}.md", n % 50));
    let text = std::fs::read_to_string(&page).expect("read a page");
    std::fs::write(&page, text.replace(&format!("alpha-{n:04}"), &format!("beta-{n:04}"))).expect("write a page");
    git(&clone, &["commit", "--quiet", "--all", "--message=Replace a word"]);
    git(&clone, &["push", "--quiet", "origin", &format!("HEAD:refs/heads/cli-{n}")]);
    let took = start.elapsed();
    std::fs::remove_dir_all(&clone).expect("remove the clone");
    took
}
