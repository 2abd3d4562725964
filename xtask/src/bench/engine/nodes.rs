//! Nodes of Docent, graphile-worker and procrastinate on one PostgreSQL server, each in a database of its own, in turns.
//!
//! ```text
//! engine_host node URL … ──┐
//! peer.mjs URL …          ─┼─▶ PostgreSQL, each commit on the disk
//! peer.py URL …           ─┘
//! ```
//!
//! All add and carry out jobs in processes of their own, with what each has by default: up to 16 connections and 24 jobs at a
//! time for the peers, 16 connections and 64 jobs for Docent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bench::engine::peer::Enqueued;
use crate::bench::engine::{Options, Part, middle};
use crate::bench::process;
use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::bench::stream::table::{Row, Threshold, shown};
use crate::child::StopSignal;
use crate::postgres::{Cluster, Flushing};
use crate::tools::{Missing, Tools};
use crate::workspace::Workspace;

const NODES: [usize; 3] = [1, 2, 3];
/// Clients of each process that adds jobs.
const CLIENTS: usize = 16;
const ENTRIES_A_SECOND: f64 = 2000.0;
const STREAMS: usize = 50;
const CPU: &str = "  CPU each, of the database and the clients";
/// Jobs of the journals are appended to for so long.
const JOURNAL_SECONDS: u64 = 15;

/// An engine: how it is run, and its database.
#[derive(Debug)]
struct Engine {
    name: &'static str,
    /// The program and its arguments before the URL.
    program: Vec<OsString>,
    folder: PathBuf,
    database: &'static str,
    /// Its argument of `work`, if it has one.
    way: Option<&'static str>,
    /// Deletes all jobs.
    clear: &'static str,
    /// It is given one of so many jobs, as it would take too long with all.
    share: u64,
}

/// When a process worked, in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Worked {
    began: i64,
    ended: i64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Figure {
    /// Jobs a second.
    rate: f64,
    /// Microseconds of CPU that each cost the database and the clients, with their start.
    cpu: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Filled {
    jobs: u64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Journaled {
    entries: u64,
    seconds: f64,
    /// Milliseconds of a commit.
    p99: f64,
    /// Entries that the streams showed.
    streamed: u64,
}

pub(super) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let why = |missing| match missing {
        Missing::Skip(why) | Missing::Failed(why) => why,
    };
    let tools = Tools::new(workspace, options.install);
    let bin = tools.postgres(stop).await.map_err(why)?.swap_remove(0);
    let profile = if options.dev { Profile::Dev } else { Profile::Release };
    let host = workspace.target.join(profile.folder()).join("examples/engine_host");
    let mut engines = vec![docent(host, workspace)];
    let folder = workspace.root.join("tests/engines");
    match tools.node_with(&folder, stop).await {
        Ok(node) => engines.extend(graphile_worker(&node, &folder)),
        Err(missing) => println!("no graphile-worker to compare with: {}", why(missing)),
    }
    match tools.python_program("procrastinate", "tests/engines/requirements.txt", stop).await {
        Ok(program) => engines.push(procrastinate(&program.with_file_name("python"), folder)),
        Err(missing) => println!("no procrastinate to compare with: {}", why(missing)),
    }
    let cluster = Cluster::start(&bin, Flushing::On, stop).await.map_err(why)?;
    let bench = Bench { options: options.clone(), engines, psql: bin.join("psql"), cluster };
    let what: [&[&str]; 1] = [&["--package", "docent-examples", "--example", "engine_host"]];
    let measure = move |stopping: &Stopping| bench.parts(stopping);
    let Some(rows) = run_to_its_end(profile, &what, workspace, stop, measure).await? else {
        return Ok(ExitCode::from(130));
    };
    println!("\n{}", shown(&rows?));
    Ok(if stop.was_received() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

impl Engine {
    fn is_batched(&self) -> bool {
        self.way == Some("batched")
    }
}

fn docent(host: PathBuf, workspace: &Workspace) -> Engine {
    Engine {
        name: "docent",
        program: vec![host.into(), "node".into()],
        folder: workspace.root.clone(),
        database: "docent",
        way: None,
        clear: "TRUNCATE jobs, queue, entries, prompts, uses",
        share: 1,
    }
}

/// With its defaults, and with a local queue and completions in batches.
fn graphile_worker(node: &Path, folder: &Path) -> [Engine; 2] {
    [("graphile-worker", "usual"), ("graphile-worker, batched", "batched")].map(|(name, way)| Engine {
        name,
        program: vec![node.into(), "peer.mjs".into()],
        folder: folder.to_owned(),
        database: "graphile",
        way: Some(way),
        clear: "TRUNCATE graphile_worker._private_jobs",
        share: 1,
    })
}

fn procrastinate(python: &Path, folder: PathBuf) -> Engine {
    Engine {
        name: "procrastinate",
        program: vec![python.into(), "peer.py".into()],
        folder,
        database: "procrastinate",
        way: None,
        clear: "TRUNCATE procrastinate_jobs CASCADE",
        share: 10,
    }
}

struct Bench {
    options: Options,
    /// Docent's is the first.
    engines: Vec<Engine>,
    psql: PathBuf,
    cluster: Cluster,
}

impl Bench {
    fn parts(&self, stopping: &Stopping) -> Result<Vec<Row>, String> {
        let mut made = Vec::new();
        for engine in &self.engines {
            if !made.contains(&engine.database) {
                self.sql("postgres", &format!("CREATE DATABASE {}", engine.database))?;
                self.said::<serde_json::Value>(engine, &["prepare"], 1)?;
                made.push(engine.database);
            }
        }
        let mut rows = Vec::new();
        if self.options.does(Part::Create) {
            println!("\ndurable creates, {CLIENTS} clients a node");
            let figures = self.in_turns(stopping, |engine, nodes| match engine.is_batched() {
                // It creates jobs as it does without.
                true => Ok(Figure::default()),
                false => self.create(engine, nodes),
            })?;
            self.compare("durable creates a second", &figures, &mut rows);
        }
        if self.options.does(Part::Drain) {
            println!("\nno-op jobs that wait");
            let figures = self.in_turns(stopping, |engine, nodes| {
                self.clear(engine)?;
                self.drain(engine, nodes)
            })?;
            self.compare("no-op jobs that waited, a second", &figures, &mut rows);
        }
        if self.options.does(Part::Journal) {
            rows.extend(self.journal()?);
        }
        if self.options.does(Part::Held) {
            rows.extend(self.held(stopping)?);
        }
        Ok(rows)
    }

    /// The figures of each engine at each number of nodes, a round after the other.
    fn in_turns(
        &self,
        stopping: &Stopping,
        measure: impl Fn(&Engine, usize) -> Result<Figure, String>,
    ) -> Result<Vec<[Figure; NODES.len()]>, String> {
        let mut rounds: Vec<[Vec<Figure>; NODES.len()]> = vec![Default::default(); self.engines.len()];
        for _ in 0..self.options.rounds() {
            for (at, nodes) in NODES.into_iter().enumerate() {
                for (engine, rates) in self.engines.iter().zip(&mut rounds) {
                    stopping.check()?;
                    rates[at].push(measure(engine, nodes)?);
                }
            }
        }
        let median = |of: fn(&Figure) -> f64, rounds: &[Figure]| middle(rounds, of).unwrap_or_default();
        let medians = |rounds: &Vec<Figure>| Figure {
            rate: median(|figure| figure.rate, rounds),
            cpu: median(|figure| figure.cpu, rounds),
        };
        Ok(rounds.iter().map(|rounds| rounds.each_ref().map(medians)).collect())
    }

    /// Docent beside the best peer, at each number of nodes. A peer that completes jobs in batches is only shown.
    fn compare(&self, what: &str, figures: &[[Figure; NODES.len()]], rows: &mut Vec<Row>) {
        for (at, nodes) in NODES.into_iter().enumerate() {
            let what = format!("{what}, {nodes} node{}", if nodes == 1 { "" } else { "s" });
            let ours = figures[0][at];
            let peers = || self.engines.iter().zip(figures).skip(1).map(|(peer, figures)| (peer, figures[at]));
            let best = |batched: bool| {
                let peers = peers().filter(|(peer, figure)| peer.is_batched() == batched && figure.rate > 0.0);
                peers.max_by(|(_, one), (_, other)| one.rate.total_cmp(&other.rate))
            };
            let Some((peer, figure)) = best(false) else {
                rows.push(Row::alone(what, ours.rate, "/s", Threshold::Nothing));
                continue;
            };
            rows.push(Row::beside(what.clone(), ours.rate, "/s", (peer.name, figure.rate), Threshold::AtLeast(1.0)));
            rows.push(Row::beside(CPU, ours.cpu, "µs", (peer.name, figure.cpu), Threshold::Nothing));
            if let Some((peer, figure)) = best(true) {
                rows.push(Row::beside(what, ours.rate, "/s", (peer.name, figure.rate), Threshold::Nothing));
            }
        }
    }

    fn create(&self, engine: &Engine, nodes: usize) -> Result<Figure, String> {
        self.clear(engine)?;
        let (clients, seconds) = (CLIENTS.to_string(), self.options.seconds().to_string());
        let before = self.cpu();
        let added: Vec<Enqueued> = self.said(engine, &["create", &clients, &seconds], nodes)?;
        let rate: f64 = added.iter().map(|added| added.jobs as f64 / added.seconds).sum();
        // The second that does not count cost as much as each other.
        let jobs = rate * (self.options.seconds() + 1) as f64;
        let figure = Figure { rate, cpu: self.cpu().saturating_sub(before).as_secs_f64() * 1e6 / jobs };
        let p99 = added.iter().map(|added| added.p99).fold(0.0, f64::max);
        println!("  {:<24} {nodes} nodes {rate:>7.0}/s, CPU {:.0} µs each, p99 {p99:.1} ms", engine.name, figure.cpu);
        Ok(figure)
    }

    fn drain(&self, engine: &Engine, nodes: usize) -> Result<Figure, String> {
        let jobs = if self.options.quick { 2_000 } else { 10_000 } / engine.share;
        let filled: Vec<Filled> = self.said(engine, &["fill", &jobs.to_string()], 1)?;
        let work: Vec<&str> = ["work"].into_iter().chain(engine.way).collect();
        let before = self.cpu();
        let worked: Vec<Worked> = self.said(engine, &work, nodes)?;
        let cpu = self.cpu().saturating_sub(before).as_secs_f64();
        let began = worked.iter().map(|worked| worked.began).min().unwrap_or_default();
        let ended = worked.iter().map(|worked| worked.ended).max().unwrap_or_default();
        let jobs = filled[0].jobs as f64;
        let figure = Figure { rate: jobs * 1e3 / (ended - began) as f64, cpu: cpu * 1e6 / jobs };
        println!("  {:<24} {nodes} nodes {:>7.0}/s, CPU {:.0} µs each", engine.name, figure.rate, figure.cpu);
        Ok(figure)
    }

    /// CPU time of the database and of the clients so far.
    fn cpu(&self) -> Duration {
        self.cluster.pid().map(process::cpu_of_all).unwrap_or_default() + process::cpu_of_children()
    }

    fn journal(&self) -> Result<[Row; 4], String> {
        println!("\njournal entries, {STREAMS} streams on another node");
        self.clear(&self.engines[0])?;
        let (rate, streams, seconds) = (ENTRIES_A_SECOND.to_string(), STREAMS.to_string(), JOURNAL_SECONDS.to_string());
        let before = self.cpu();
        let said: Vec<Journaled> = self.said(&self.engines[0], &["journal", &rate, &streams, &seconds], 1)?;
        let (said, cpu) = (said[0], self.cpu().saturating_sub(before).as_secs_f64());
        let rate = said.entries as f64 / said.seconds;
        let shown = said.streamed as f64 / said.entries as f64;
        Ok([
            Row::alone("journal entries a second", rate, "/s", Threshold::AtLeast(0.98 * ENTRIES_A_SECOND)),
            Row::alone("  the commit of one, p99", said.p99, "ms", Threshold::AtMost(20.0)),
            Row::alone(CPU, cpu * 1e6 / said.entries as f64, "µs", Threshold::Nothing),
            Row::alone("  of which the streams showed", 100.0 * shown, "%", Threshold::AtLeast(100.0)),
        ])
    }

    /// No-op jobs before, and after jobs came and went while a transaction was open.
    fn held(&self, stopping: &Stopping) -> Result<Vec<Row>, String> {
        let held = Duration::from_secs(if self.options.quick { 60 } else { 600 });
        println!("\nwith a transaction held open for {} s", held.as_secs());
        let mut shares = Vec::new();
        for engine in self.engines.iter().filter(|engine| !engine.is_batched()) {
            self.clear(engine)?;
            let before = self.drain(engine, 1)?.rate;
            let transaction = self.open_transaction(engine)?;
            let began = Instant::now();
            let mut last = before;
            while began.elapsed() < held {
                stopping.check()?;
                last = self.drain(engine, 1)?.rate;
            }
            drop(transaction);
            println!("  {:<24} {before:.0}/s before, {last:.0}/s at the end", engine.name);
            shares.push((engine.name, last, last / before));
        }
        let best = shares.iter().skip(1).copied().max_by(|one, other| one.1.total_cmp(&other.1));
        let (_, rate, share) = shares[0];
        let what = ["no-op jobs a second with a transaction held open", "  of those without"];
        Ok(match best {
            Some((peer, best_rate, best_share)) => vec![
                Row::beside(what[0], rate, "/s", (peer, best_rate), Threshold::AtLeast(1.0)),
                Row::beside(what[1], 100.0 * share, "%", (peer, 100.0 * best_share), Threshold::Nothing),
            ],
            None => vec![
                Row::alone(what[0], rate, "/s", Threshold::Nothing),
                Row::alone(what[1], 100.0 * share, "%", Threshold::Nothing),
            ],
        })
    }

    fn psql(&self, database: &str, sql: &str) -> Command {
        let mut psql = Command::new(&self.psql);
        psql.args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", sql]);
        psql.arg(self.cluster.url_of(database)).env("PGOPTIONS", "-c client_min_messages=warning");
        psql.stdin(Stdio::null()).stdout(Stdio::null());
        psql
    }

    fn sql(&self, database: &str, sql: &str) -> Result<(), String> {
        let status = self.psql(database, sql).status().map_err(|error| format!("could not run psql: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("psql ended with {status}: {sql}")) }
    }

    fn clear(&self, engine: &Engine) -> Result<(), String> {
        self.sql(engine.database, engine.clear)
    }

    /// Opens a transaction with a number and a snapshot of its own, which ends when the result is dropped.
    fn open_transaction(&self, engine: &Engine) -> Result<Held, String> {
        let sql = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id(); SELECT pg_sleep(86400)";
        let child = self.psql(engine.database, sql).spawn();
        let held = Held(child.map_err(|error| format!("could not run psql: {error}"))?);
        thread::sleep(Duration::from_secs(1));
        Ok(held)
    }

    /// What this many processes of an engine say, which run at the same time.
    fn said<T: DeserializeOwned>(&self, engine: &Engine, what: &[&str], processes: usize) -> Result<Vec<T>, String> {
        let failed = |error: std::io::Error| format!("could not run {}: {error}", engine.name);
        let start = || {
            let mut command = Command::new(&engine.program[0]);
            command.args(&engine.program[1..]).arg(self.cluster.url_of(engine.database)).args(what);
            command.current_dir(&engine.folder).env("NODE_ENV", "production");
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)
        };
        let children = (0..processes).map(|_| start()).collect::<Result<Vec<Child>, _>>()?;
        let outputs: Vec<_> = children.into_iter().map(Child::wait_with_output).collect();
        let mut said = Vec::new();
        for output in outputs {
            let output = output.map_err(failed)?;
            let (stdout, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let last = stdout.lines().rev().find(|line| line.starts_with('{')).filter(|_| output.status.success());
            let last =
                last.ok_or_else(|| format!("{} {what:?} ended with {}: {errors}", engine.name, output.status))?;
            said.push(serde_json::from_str(last).map_err(|error| format!("{} says `{last}`: {error}", engine.name))?);
        }
        Ok(said)
    }
}

/// A session with an open transaction.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
