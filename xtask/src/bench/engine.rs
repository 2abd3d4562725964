//! Measures the throughput of the job engine, and what each operation costs.
//!
//! ```text
//! asking program ──▶ docent serve, its worker busy      create, get, queued
//!                ──▶ bare hyper                          the floor, in the same run
//!                ──▶ engine_host                         no-op jobs from their creation to their end
//! peer.mjs ──▶ graphile-worker on PostgreSQL             another engine, as durable
//! ```
//!
//! With `--store postgres`, nodes of Docent and processes of other engines on one PostgreSQL: `nodes`.
//!
//! All of them take turns, so that other load on the machine affects each; the median round counts. CPU is that of the
//! server process alone, as the kernel counts it: on a busy machine it is the figure to trust. A missing peer is
//! reported and never counted.

mod load;
mod nodes;
mod peer;
mod served;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use docent_tests::Request;
use serde::de::DeserializeOwned;

use crate::bench::engine::load::{LoadGenerator, Measured, Target};
use crate::bench::engine::peer::{Drained, Enqueued, GraphileWorker, PickedUp, Way};
use crate::bench::engine::served::{Served, create};
use crate::bench::process;
use crate::bench::program::Program;
use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::bench::stream::cores::{Cores, open_files};
use crate::bench::stream::table::{Row, Threshold, shown};
use crate::child::StopSignal;
use crate::tools::{Missing, Tools};
use crate::workspace::Workspace;

/// Connections that create jobs.
const CREATORS: [usize; 4] = [1, 4, 16, 256];
/// Clients of the peer that add jobs concurrently.
const ADDERS: [usize; 3] = [1, 4, 256];
/// Connections that poll jobs.
const POLLERS: usize = 64;
/// Requests that wait for the end of a job.
const WAITERS: usize = 10_000;
/// Upper bound for the file descriptors that a server has open beside connections.
const OTHER_FILES: u64 = 200;
/// Timeout for the end of all jobs.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// What the jobs are stored in
    #[arg(long, value_enum, default_value = "sqlite")]
    store: Store,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// A short run, which shows less and trusts its figures less
    #[arg(long)]
    quick: bool,
    /// Rounds of each part; the one in the middle counts [default: 3, or 1 of a short run]
    #[arg(long)]
    rounds: Option<usize>,
    /// Jobs that wait, in the part `queued`
    #[arg(long, default_value_t = 100_000)]
    jobs: u64,
    /// Install what the peer needs when it is missing
    #[arg(long)]
    install: bool,
    /// Measure builds of the dev profile: to try the bench out, for its figures mean nothing
    #[arg(long)]
    dev: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Store {
    Sqlite,
    /// One to three nodes on a PostgreSQL, beside other engines on the same server
    Postgres,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Durable creates a second, and what one costs
    Create,
    /// No-op jobs from their creation to their end
    Drain,
    /// How soon an idle worker begins
    Pickup,
    /// Asking for a job, again and again, and once for as long as it takes
    Get,
    /// Creates, a restart and memory with many jobs waiting
    Queued,
    /// On PostgreSQL: how much slower no-op jobs get while a transaction is held open, for ten minutes or, in a short run, one
    Held,
    /// On PostgreSQL: 2,000 journal entries a second with 50 streams open on another node
    Journal,
}

impl Options {
    fn does(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }

    const fn seconds(&self) -> u64 {
        if self.quick { 2 } else { 5 }
    }
}

pub(crate) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    if options.rounds() == 0 || options.jobs < 1_000 {
        return Err("there must be at least one round, and a thousand jobs that wait".to_owned());
    }
    if options.store == Store::Postgres {
        return nodes::run(options, workspace, stop).await;
    }
    let peer = match peer_programs(options, workspace, stop).await {
        Ok(programs) => Some(programs),
        Err(why) => {
            println!("no {} to compare with: {why}", GraphileWorker::NAME);
            None
        }
    };
    let profile = if options.dev { Profile::Dev } else { Profile::Release };
    let built = workspace.target.join(profile.folder());
    let bench = Bench {
        options: options.clone(),
        docent: built.join("docent"),
        host: built.join("examples/engine_host"),
        load_program: built.join("examples/request_load"),
        peer,
    };
    let what: [&[&str]; 3] = [
        &["--package", "docent-server"],
        &["--package", "docent-tests", "--example", "request_load"],
        &["--package", "docent-examples", "--example", "engine_host"],
    ];
    let measure = move |stopping: &Stopping| bench.parts(stopping);
    let Some(rows) = run_to_its_end(profile, &what, workspace, stop, measure).await? else {
        return Ok(ExitCode::from(130));
    };
    println!("\n{}", shown(&rows?));
    Ok(if stop.was_received() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

async fn peer_programs(
    options: &Options,
    workspace: &Workspace,
    stop: &mut StopSignal,
) -> Result<peer::Programs, String> {
    let postgres = peer::postgres().ok_or("PostgreSQL is missing (Debian: postgresql)")?;
    let folder = workspace.root.join("tests/engines");
    let node = match Tools::new(workspace, options.install).node_with(&folder, stop).await {
        Ok(node) => node,
        Err(Missing::Skip(why) | Missing::Failed(why)) => return Err(why),
    };
    Ok(peer::Programs { node, folder, postgres })
}

struct Bench {
    options: Options,
    docent: PathBuf,
    host: PathBuf,
    load_program: PathBuf,
    peer: Option<peer::Programs>,
}

impl Bench {
    fn parts(&self, stopping: &Stopping) -> Result<Vec<Row>, String> {
        let files = open_files();
        let needed = [Part::Create, Part::Drain, Part::Pickup].iter().any(|part| self.options.does(*part));
        let peer = match &self.peer {
            Some(programs) if needed => Some(GraphileWorker::start(programs.clone())?),
            _ => None,
        };
        let mut rows = Vec::new();
        if self.options.does(Part::Create) {
            self.create(peer.as_ref(), stopping, &mut rows)?;
        }
        if self.options.does(Part::Drain) {
            self.drain(peer.as_ref(), stopping, &mut rows)?;
        }
        if self.options.does(Part::Pickup) {
            self.pickup(peer.as_ref(), stopping, &mut rows)?;
        }
        drop(peer);
        if self.options.does(Part::Get) {
            self.get(stopping, files, &mut rows)?;
        }
        if self.options.does(Part::Queued) {
            self.queued(stopping, &mut rows)?;
        }
        Ok(rows)
    }

    fn load_generator(&self, cores: Cores) -> LoadGenerator {
        LoadGenerator { program: self.load_program.clone(), cores }
    }

    fn bare(&self, cores: Cores) -> Result<Program, String> {
        let mut command = Command::new(&self.host);
        command.arg("bare");
        Program::start(command, cores)
    }

    fn create(&self, peer: Option<&GraphileWorker>, stopping: &Stopping, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\ndurable creates");
        let (load, seconds) = (self.load_generator(Cores::All), self.options.seconds());
        let mut ours: [Vec<Measured>; CREATORS.len()] = Default::default();
        let mut floors = Vec::new();
        let mut added: [Vec<Enqueued>; ADDERS.len()] = Default::default();
        for _ in 0..self.options.rounds() {
            let served = Served::start(&self.docent, Cores::All)?;
            for (connections, measured) in CREATORS.into_iter().zip(&mut ours) {
                stopping.check()?;
                measured.push(load.measure(&served.creating(), connections, seconds)?);
                println!("  docent, {connections:>3} connections      {}", latest(measured).shown());
            }
            drop(served);
            let bare = self.bare(Cores::All)?;
            let target = Target {
                pid: bare.pid(),
                address: bare.address(),
                requests: vec![create("/v2/agent/bench/job", &"k".repeat(51))],
                status: 200,
            };
            floors.push(load.measure(&target, CREATORS[3], seconds)?);
            println!("  bare hyper, {:>3} connections  {}", CREATORS[3], latest(&floors).shown());
            for (clients, added) in ADDERS.into_iter().zip(&mut added) {
                let Some(peer) = peer else { continue };
                stopping.check()?;
                let enqueued = peer.enqueue(clients, seconds)?;
                let (rate, p50, p99) = (enqueued.jobs as f64 / enqueued.seconds, enqueued.p50, enqueued.p99);
                println!(
                    "  {}, {clients:>3} clients {rate:>8.0}/s, p50 {p50:.2} ms, p99 {p99:.2} ms",
                    GraphileWorker::NAME
                );
                added.push(enqueued);
            }
        }
        let rate = |enqueued: &Enqueued| enqueued.jobs as f64 / enqueued.seconds;
        let peers = added.each_ref().map(|added| middle(added, rate));
        let best = peers.iter().flatten().copied().reduce(f64::max);
        for (connections, measured) in CREATORS.into_iter().zip(&ours) {
            let what = format!("durable creates a second, {connections} connections");
            let figure = middle(measured, Measured::rate).unwrap_or_default();
            let same = ADDERS.iter().position(|adders| *adders == connections).and_then(|at| peers[at]);
            let wanted = if connections == CREATORS[3] { Threshold::AtLeast(4.0) } else { Threshold::Nothing };
            let beside = if connections == CREATORS[3] { best } else { same };
            rows.push(compared(what, figure, "/s", beside.map(|figure| (GraphileWorker::NAME, figure)), wanted));
        }
        let cost = |measured: &[Measured]| middle(measured, Measured::cpu).unwrap_or_default();
        let what = format!("CPU a create, {} connections", CREATORS[3]);
        rows.push(Row::beside(what, cost(&ours[3]), "µs", ("bare hyper", cost(&floors)), Threshold::AtMost(3.0)));
        Ok(())
    }

    fn drain(&self, peer: Option<&GraphileWorker>, stopping: &Stopping, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\nno-op jobs");
        let jobs = if self.options.quick { 2_000 } else { 10_000 };
        let rate = |drained: &Drained| drained.jobs as f64 / drained.seconds;
        let (mut through, mut ours, mut usual, mut batched) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut peers_through = ADDERS.map(|_| Vec::new());
        for _ in 0..self.options.rounds() {
            stopping.check()?;
            through.push(self.created_to_completed()?);
            ours.push(self.host_said::<Drained>("drain", jobs)?);
            if let Some(peer) = peer {
                for (clients, through) in ADDERS.into_iter().zip(&mut peers_through) {
                    stopping.check()?;
                    let drained = peer.through(clients, self.options.seconds())?;
                    println!(
                        "  {}, {clients} clients: {} jobs in {:.2} s",
                        GraphileWorker::NAME,
                        drained.jobs,
                        drained.seconds
                    );
                    through.push(drained);
                }
                stopping.check()?;
                usual.push(peer.drain(jobs, Way::Usual)?);
                batched.push(peer.drain(jobs, Way::Batched)?);
            }
        }
        let peer = |drained: &[Drained]| middle(drained, rate).map(|rate| (GraphileWorker::NAME, rate));
        let best = peers_through.iter().filter_map(|through| middle(through, rate)).reduce(f64::max);
        let [through, ours] = [&through, &ours].map(|drained| middle(drained, rate).unwrap_or_default());
        let what = "no-op jobs created → completed a second, over HTTP";
        rows.push(compared(
            what,
            through,
            "/s",
            best.map(|rate| (GraphileWorker::NAME, rate)),
            Threshold::AtLeast(4.0),
        ));
        rows.push(compared("no-op jobs that waited, a second", ours, "/s", peer(&usual), Threshold::AtLeast(4.0)));
        let what = "the same, the peer in batches of 500";
        rows.push(compared(what, ours, "/s", peer(&batched), Threshold::Nothing));
        Ok(())
    }

    /// Creates jobs over HTTP while they are worked on, and waits until none is left.
    fn created_to_completed(&self) -> Result<Drained, String> {
        let mut command = Command::new(&self.host);
        command.arg("serve");
        let host = Program::start(command, Cores::All)?;
        let said = |name: &str| host.said(name).ok_or_else(|| format!("the host says no {name}"));
        let request = create(&said("path")?, &said("key")?);
        let target = Target { pid: host.pid(), address: host.address(), requests: vec![request], status: 201 };
        let began = Instant::now();
        let measured = self.load_generator(Cores::All).measure(&target, CREATORS[3], self.options.seconds())?;
        let jobs = loop {
            let counts = Request::get("/counts").send(host.address());
            let counts = counts.map_err(|error| format!("the host does not count: {error}"))?.json();
            if counts["active"].as_u64().unwrap_or_default() == 0 {
                break counts["completed"].as_u64().unwrap_or_default();
            }
            if began.elapsed() > PATIENCE {
                return Err(format!("jobs do not end: {counts}"));
            }
            thread::sleep(Duration::from_millis(5));
        };
        let drained = Drained { jobs, seconds: began.elapsed().as_secs_f64() };
        let cpu = process::own_cpu(host.pid()).as_secs_f64() * 1e6 / jobs as f64;
        println!(
            "  over HTTP: {jobs} jobs in {:.2} s, CPU {cpu:.0} µs each; created {}",
            drained.seconds,
            measured.shown()
        );
        Ok(drained)
    }

    fn pickup(&self, peer: Option<&GraphileWorker>, stopping: &Stopping, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\none job at a time");
        let jobs = if self.options.quick { 50 } else { 200 };
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        for _ in 0..self.options.rounds() {
            stopping.check()?;
            ours.push(self.host_said::<PickedUp>("pickup", jobs)?);
            others.extend(peer.map(|peer| peer.pickup(jobs)).transpose()?);
        }
        let mut row = |what: &str, of: fn(&PickedUp) -> f64, wanted: Threshold| {
            let figure = middle(&ours, of).unwrap_or_default();
            rows.push(Row::alone(what, figure, "ms", wanted));
            if let Some(peer) = middle(&others, of) {
                rows.push(Row::beside(what, figure, "ms", (GraphileWorker::NAME, peer), Threshold::Nothing));
            }
        };
        row("accepted → an idle worker begins, median", |picked| picked.accepted_p50, Threshold::AtMost(2.0));
        row("accepted → an idle worker begins, p99", |picked| picked.accepted_p99, Threshold::Nothing);
        row("asked → an idle worker begins, median", |picked| picked.asked_p50, Threshold::Nothing);
        Ok(())
    }

    /// Runs the host once and parses its output.
    fn host_said<T: DeserializeOwned>(&self, what: &str, jobs: usize) -> Result<T, String> {
        let output = Command::new(&self.host).arg(what).arg(jobs.to_string()).output();
        let output = output.map_err(|error| format!("could not run the engine's host: {error}"))?;
        if !output.status.success() {
            return Err(format!("the engine's host: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        print!("  docent {what}: {said}");
        serde_json::from_str(&said).map_err(|error| format!("the engine's host says `{said}`: {error}"))
    }

    /// The server on one core and the load generator on the others, so that the requests a second are those of one
    /// core.
    fn get(&self, stopping: &Stopping, files: u64, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\nasking for a job, the server on one core");
        let (load, seconds) = (self.load_generator(Cores::Others), self.options.seconds());
        let served = Served::start(&self.docent, Cores::First)?;
        let jobs = served.jobs(POLLERS);
        let (length, _) = served.shown(&jobs[0]);
        let known: Vec<_> =
            jobs.iter().map(|job| (job.clone(), format!("If-None-Match: {}\r\n", served.shown(job).1))).collect();
        let plain: Vec<_> = jobs.iter().map(|job| (job.clone(), String::new())).collect();
        let bare = self.bare(Cores::First)?;
        let floor = |length: usize| {
            let key = "k".repeat(51);
            let request = format!("GET /{length} HTTP/1.1\r\nHost: docent\r\nAuthorization: Bearer {key}\r\n\r\n");
            Target { pid: bare.pid(), address: bare.address(), requests: vec![request], status: 200 }
        };
        let (mut whole, mut not_modified, mut echo, mut empty) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.options.rounds() {
            for (name, target, measured) in [
                ("docent", served.asking(&plain, "", 200), &mut whole),
                ("bare hyper", floor(length), &mut echo),
                ("docent, 304", served.asking(&known, "", 304), &mut not_modified),
                ("bare hyper, empty", floor(0), &mut empty),
            ] {
                stopping.check()?;
                measured.push(load.measure(&target, POLLERS, seconds)?);
                println!("  {name:<18} {}", latest(measured).shown());
            }
        }
        let rate = |measured: &[Measured]| middle(measured, Measured::rate).unwrap_or_default();
        let cost = |measured: &[Measured]| middle(measured, Measured::cpu).unwrap_or_default();
        for (what, ours, floor, wanted) in [
            ("GET job", &whole, &echo, Threshold::AtLeast(0.4)),
            ("GET job, 304", &not_modified, &empty, Threshold::Nothing),
        ] {
            rows.push(Row::beside(format!("{what}, a second"), rate(ours), "/s", ("bare hyper", rate(floor)), wanted));
            let floor = ("bare hyper", cost(floor));
            rows.push(Row::beside(format!("{what}, CPU each"), cost(ours), "µs", floor, Threshold::Nothing));
        }
        drop(bare);
        self.wait(&served, &jobs[0], files, rows)
    }

    /// Measures many waiting requests: first all for the same job, then each for a different job.
    fn wait(&self, served: &Served, job: &str, files: u64, rows: &mut Vec<Row>) -> Result<(), String> {
        let load = self.load_generator(Cores::Others);
        // The server uses half of its file descriptors for connections; further connections wait until one is free.
        let most = usize::try_from((files / 2).saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX);
        let waiters = most.min(if self.options.quick { 1_000 } else { WAITERS });
        let row = |what: String, figure, unit| Row::alone(what, figure, unit, Threshold::Nothing);

        let target = served.asking(&[(job.to_owned(), String::new())], "?wait=60", 200);
        let waiting = load.wait(&target, waiters)?;
        let began = Instant::now();
        served.archive(job);
        waiting.answered()?;
        let told = began.elapsed().as_secs_f64() * 1e3;
        rows.push(row(format!("{waiters} wait for one job: all told of its end after"), told, "ms"));

        while served.newest(waiters).len() < waiters {
            load.measure(&served.creating(), CREATORS[3], 1)?;
        }
        let jobs: Vec<_> = served.newest(waiters).into_iter().map(|job| (job, String::new())).collect();
        let before = process::resident(served.pid());
        let target = served.asking(&jobs, "?wait=20", 200);
        let waiting = load.wait(&target, waiters)?;
        let (cpu, looked) = (process::own_cpu(served.pid()), Instant::now());
        thread::sleep(Duration::from_secs(self.options.seconds()));
        let cpu = process::own_cpu(served.pid()).saturating_sub(cpu).as_secs_f64() / looked.elapsed().as_secs_f64();
        let each = process::resident(served.pid()).saturating_sub(before) as f64 / 1024.0 / waiters as f64;
        waiting.answered()?;
        let what = |of: &str| format!("{waiters} wait, each for a job of its own: {of}");
        rows.push(row(what("memory of each"), each, "KB"));
        rows.push(row(what("CPU meanwhile"), cpu * 100.0, "% of a core"));
        Ok(())
    }

    fn queued(&self, stopping: &Stopping, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\n{} jobs that wait", self.options.jobs);
        let (load, seconds) = (self.load_generator(Cores::All), self.options.seconds());
        let mut full = Served::start(&self.docent, Cores::All)?;
        let mut jobs = 0;
        while jobs < self.options.jobs {
            stopping.check()?;
            let more = load.measure(&full.creating(), CREATORS[3], 1)?;
            jobs += more.counts.answered;
            println!("  {jobs} jobs: {}", more.shown());
        }
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..self.options.rounds() {
            stopping.check()?;
            let empty = Served::start(&self.docent, Cores::All)?;
            without.push(load.measure(&empty.creating(), CREATORS[2], seconds)?);
            println!("  an empty database  {}", latest(&without).shown());
            drop(empty);
            with.push(load.measure(&full.creating(), CREATORS[2], seconds)?);
            println!("  the full one       {}", latest(&with).shown());
        }
        let p99 = |measured: &[Measured]| middle(measured, Measured::p99).unwrap_or_default();
        let what = format!("create p99 with {} waiting, {} connections", self.options.jobs, CREATORS[2]);
        rows.push(Row::beside(what, p99(&with), "ms", ("empty database", p99(&without)), Threshold::AtMost(2.0)));
        let mib = |pid: u32| process::resident(pid) as f64 / f64::from(1 << 20);
        rows.push(Row::alone("memory after creating them", mib(full.pid()), "MiB", Threshold::AtMost(150.0)));
        let mut starts = Vec::new();
        for _ in 0..self.options.rounds() {
            starts.push(full.restarted()?);
        }
        let took = middle(&starts, Duration::as_secs_f64).unwrap_or_default();
        rows.push(Row::alone("from the start to ready with them", took, "s", Threshold::AtMost(2.0)));
        rows.push(Row::alone("memory after that start", mib(full.pid()), "MiB", Threshold::AtMost(150.0)));
        Ok(())
    }
}

/// A row that compares a figure with a peer's; without a peer's figure it has no threshold.
fn compared(
    what: impl Into<String>,
    ours: f64,
    unit: &'static str,
    peer: Option<(&'static str, f64)>,
    wanted: Threshold,
) -> Row {
    match peer {
        Some(peer) => Row::beside(what, ours, unit, peer, wanted),
        None => Row::alone(what, ours, unit, Threshold::Nothing),
    }
}

fn latest(measured: &[Measured]) -> &Measured {
    measured.last().expect("one was measured just now")
}

/// The median of a figure over the rounds.
fn middle<T>(rounds: &[T], of: impl Fn(&T) -> f64) -> Option<f64> {
    let mut figures: Vec<f64> = rounds.iter().map(of).collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_in_the_middle_counts() {
        assert_eq!(middle(&[3.0, 1.0, 2.0], |figure| *figure), Some(2.0));
        assert_eq!(middle(&[], |figure: &f64| *figure), None);
    }

    #[test]
    fn without_a_peer_nothing_is_judged() {
        let table = |peer| shown(&[compared("creates", 10.0, "/s", peer, Threshold::AtLeast(4.0))]);
        assert!(table(Some(("peer", 1.0))).contains(" met"));
        assert!(!table(None).contains("met"));
    }
}
