//! Measures the overhead that the engine adds to a model: a job of three steps (read a page, edit it, finish) on a
//! repository of thousands of files, with a scripted model that answers at once; and the same with another agent on the
//! same model.
//!
//! Docent is measured from the request to the pull request, commit and push included. The other agent is measured from
//! its start to its exit in an existing clone; it neither commits nor pushes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use docent_tests::agent::{branch, id};
use docent_tests::installation::KeyKind;
use docent_tests::model_server::brain::read_edit_finish;
use docent_tests::model_server::{Edit, Wire};
use docent_tests::repository::git;
use docent_tests::{Agent, Assistant, Installation, ModelServer, Repository, Server};

use crate::bench::Times;
use crate::bench::peer::OtherAgent;
use crate::bench::process::{self, Peak};
use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::child::StopSignal;
use crate::tools::{Missing, Tools};
use crate::workspace::Workspace;

const PROJECT: &str = "bench";

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Options {
    /// Files in the repository
    #[arg(long, default_value_t = 3_000)]
    files: usize,
    /// Rounds, each with one run of the other agent and some jobs
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Jobs a round
    #[arg(long, default_value_t = 10)]
    jobs: usize,
    /// The other agent
    #[arg(long, value_enum, default_value_t = OtherAgent::MiniSweAgent)]
    peer: OtherAgent,
    /// Install the other agent when it is missing
    #[arg(long)]
    install: bool,
}

/// The measurements of one side.
#[derive(Debug, Default)]
struct Side {
    wall: Times,
    /// The total of all runs: the kernel's CPU clock is too coarse for single runs.
    cpu: Duration,
    /// Peak memory in bytes; for the server, what exceeds its idle memory.
    memory: u64,
}

pub(crate) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    if options.rounds == 0 || options.jobs == 0 || options.rounds * (options.jobs + 2) + 1 >= options.files {
        return Err("there must be at least one round and one job, and more files than jobs".to_owned());
    }
    let tools = Tools::new(workspace, options.install);
    let (name, requirements) = options.peer.program();
    let peer = match tools.python_program(name, requirements, stop).await {
        Ok(peer) => peer,
        Err(Missing::Skip(why) | Missing::Failed(why)) => return Err(format!("no agent to compare with: {why}")),
    };
    let (server, asked) = (workspace.target.join("release/docent"), *options);
    let what: [&[&str]; 1] = [&["--package", "docent-server"]];
    let measure = move |stopping: &Stopping| measure(server, &peer, asked, stopping);
    let Some((docent, peer)) = run_to_its_end(Profile::Release, &what, workspace, stop, measure).await? else {
        return Ok(ExitCode::from(130));
    };
    if stop.was_received() {
        return Ok(ExitCode::from(130));
    }
    report(options, &docent, &peer);
    Ok(ExitCode::SUCCESS)
}

fn report(options: &Options, docent: &Side, peer: &Side) {
    let each = |side: &Side| side.cpu.as_secs_f64() * 1e3 / side.wall.0.len() as f64;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!("\nread, edit, finish in one of {} files; the model takes no time", options.files);
    for (name, side) in [("docent", docent), (options.peer.name(), peer)] {
        println!("  {name}, {} runs", side.wall.0.len());
        println!("    wall   {}", side.wall.shown());
        println!("    CPU    {:>9.1} ms", each(side));
        println!("    memory {:>9.1} MiB", mib(side.memory));
    }
    let wall = peer.wall.median().as_secs_f64() / docent.wall.median().as_secs_f64();
    println!("  ratio: wall {wall:.0}, CPU {:.0}, memory {:.0}", each(peer) / each(docent), {
        peer.memory as f64 / docent.memory.max(1) as f64
    });
}

/// Alternates between both sides, so that other load on the machine affects both.
fn measure(binary: PathBuf, peer: &Path, options: Options, stopping: &Stopping) -> (Side, Side) {
    println!("a repository of {} files …", options.files);
    let model = ModelServer::start();
    model.forgets().replies_with(read_edit_finish);
    let installation = Installation::of(binary);
    let repository = installation.repository(PROJECT, &pages(options.files));
    installation.add_project(PROJECT, &repository);
    let key = installation.mint(PROJECT, KeyKind::Admin, &[]);
    let mut env = model.configures(Wire::OpenAi);
    env.push(("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR".to_owned(), "100000".to_owned()));
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let server = installation.serve_with(&env);
    let agent = Agent::new(&server, PROJECT, &key);
    // The idle state: the server has read the docs and has not run a job yet.
    let reader = installation.mint(PROJECT, KeyKind::Assistant, &[]);
    Assistant::new(&server, PROJECT, &reader).is_ready();
    let idle = process::resident(server.pid());
    let clone = installation.root().join("clone");
    git(installation.root(), &["clone", "--quiet", &repository.path().display().to_string(), "clone"]);

    let mut edits = (0..).map(edit);
    let mut next = || edits.next().expect("there is always another");
    let (mut docent, mut other) = (Side::default(), Side::default());
    let (cold, peak) = watched(&server, &agent, &repository, &next());
    docent.memory = peak.saturating_sub(idle);
    println!("docent's first job, watched: {:.1} ms; idle it has {} MiB", cold.as_secs_f64() * 1e3, idle >> 20);
    for _ in 0..options.rounds {
        if stopping.is_asked() {
            break;
        }
        let before = process::cpu(server.pid());
        for _ in 0..options.jobs {
            docent.wall.0.push(by_docent(&agent, &repository, &next()));
        }
        docent.cpu += process::cpu(server.pid()).saturating_sub(before);
        let (_, peak) = watched(&server, &agent, &repository, &next());
        docent.memory = docent.memory.max(peak.saturating_sub(idle));
        by_the_peer(options.peer, peer, &clone, &model, &next(), &mut other);
    }
    (docent, other)
}

/// Runs a job and returns the peak memory of the server meanwhile. Sampling memory costs time, so the duration of such
/// a job is not counted.
fn watched(server: &Server, agent: &Agent<'_>, repository: &Repository, edit: &Edit) -> (Duration, u64) {
    let peak = Peak::watch(server.pid());
    let took = by_docent(agent, repository, edit);
    (took, peak.end())
}

fn edit(n: usize) -> Edit {
    Edit::new(&format!("section-{:02}/page-{n:04}.md", n % 50), &format!("alpha-{n:04}"), &format!("beta-{n:04}"))
}

/// Pages that each contain a unique word.
fn pages(count: usize) -> Vec<(String, String)> {
    let filler =
        "A parcel goes from one warehouse to the next, and its way is written down at every door.\n\n".repeat(12);
    let page = |n: usize| {
        let edit = edit(n);
        (edit.path, format!("---\ntitle: Page {n}\n---\n\n## Overview\n\nHere is {}.\n\n{filler}", edit.old))
    };
    (0..count).map(page).collect()
}

/// From sending the request to seeing the job completed.
fn by_docent(agent: &Agent<'_>, repository: &Repository, edit: &Edit) -> Duration {
    let start = Instant::now();
    let job = agent.create(&edit.prompt());
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
    assert!(repository.file(branch(&job), &edit.path).contains(&edit.new));
    took
}

/// From the start of the other agent to its exit.
fn by_the_peer(peer: OtherAgent, program: &Path, clone: &Path, model: &ModelServer, edit: &Edit, side: &mut Side) {
    let home = clone.with_file_name("peer");
    std::fs::create_dir_all(&home).expect("make a folder");
    let mut command = peer.command(program, clone, &home, model, edit);
    let before = process::cpu_of_children();
    let start = Instant::now();
    let mut child = command.spawn().expect("start the other agent");
    let peak = Peak::watch(child.id());
    let status = child.wait().expect("wait for the other agent");
    side.wall.0.push(start.elapsed());
    side.memory = side.memory.max(peak.end());
    side.cpu += process::cpu_of_children().saturating_sub(before);
    assert!(status.success(), "the other agent failed: {status}");
    let page = std::fs::read_to_string(clone.join(&edit.path)).expect("read the page");
    assert!(page.contains(&edit.new), "the other agent made no edit: {page}");
}
