//! Measures what a streamed reply costs, and the time to its first word.
//!
//! ```text
//! readers ──▶ the SDK's server, plain Node, bare hyper               peers, with a made-up model
//!         ──▶ docent, model in-process                               the library crates in a separate program
//!         ──▶ the SDK's server, plain Node ──▶ a paced model server  the same peers, model over HTTP
//!         ──▶ docent                       ──▶ a paced model server  the built binary
//! ```
//!
//! All of them take turns in one run, so that other load on the machine affects each. CPU is that of the server process
//! alone, as the kernel counts it: on a busy machine it is the figure to trust. A new server is started for each
//! measurement.

pub(crate) mod cores;
mod docs;
mod measured_server;
mod readers;
pub(crate) mod table;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use docent_tests::Installation;

use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::bench::stream::cores::open_files;
use crate::bench::stream::docs::Docs;
use crate::bench::stream::measured_server::{MeasuredServer, Pace, Programs, ServerKind, installation};
use crate::bench::stream::readers::{Measured, Work, measure};
use crate::bench::stream::table::{Row, Threshold, percentile, shown};
use crate::child::StopSignal;
use crate::tools::{Missing, Tools};
use crate::workspace::Workspace;

/// A token every 50 ms, for longer than any measurement.
const SLOW: Pace = Pace { deltas: 100_000, every: Duration::from_millis(50) };
/// 200 deltas at once.
const FAST: Pace = Pace { deltas: 200, every: Duration::ZERO };
/// A short answer.
const BRIEF: Pace = Pace { deltas: 20, every: Duration::ZERO };
/// Tokens a second of a slow stream.
const RATE: f64 = 20.0;
/// Concurrent streams of the largest part.
const MANY: usize = 3_000;
/// Upper bound for the file descriptors that a server has open beside streams.
const OTHER_FILES: u64 = 200;

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// A short run, which shows less and trusts its figures less
    #[arg(long)]
    quick: bool,
    /// Rounds of each part; the median counts
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    /// Pages of the docs for the time to the first word
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Install what the peers need when it is missing
    #[arg(long)]
    install: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Streams at 20 tokens a second: CPU a delta, memory a stream
    Slow,
    /// Replies as fast as they can be had: CPU a delta
    Fast,
    /// 3,000 streams, each on time
    Open,
    /// The time our server adds before the first word
    First,
}

impl Options {
    fn does(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    const fn seconds(&self) -> u64 {
        if self.quick { 3 } else { 8 }
    }
}

pub(crate) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    if options.rounds == 0 || options.pages < 100 {
        return Err("there must be at least one round, and a hundred pages".to_owned());
    }
    let peers = workspace.root.join("tests/streams");
    let tools = Tools::new(workspace, options.install);
    let node = match tools.node_with(&peers, stop).await {
        Ok(node) => node,
        Err(Missing::Skip(why) | Missing::Failed(why)) => return Err(format!("no peers to compare with: {why}")),
    };
    let what: [&[&str]; 3] = [
        &["--package", "docent-server"],
        &["--package", "docent-tests", "--example", "stream_load", "--example", "paced_model"],
        &["--package", "docent-examples", "--example", "stream_host"],
    ];
    let release = workspace.target.join("release");
    let programs = Programs { docent: release.join("docent"), examples: release.join("examples"), node, peers };
    let options = options.clone();
    let measure = move |stopping: &Stopping| Bench { options, programs, stopping: stopping.clone() }.parts();
    let Some(rows) = run_to_its_end(Profile::Release, &what, workspace, stop, measure).await? else {
        return Ok(ExitCode::from(130));
    };
    let rows = rows?;
    println!("\n{}", shown(&rows));
    Ok(if stop.was_received() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

struct Bench {
    options: Options,
    programs: Programs,
    stopping: Stopping,
}

impl Bench {
    fn parts(&self) -> Result<Vec<Row>, String> {
        let files = open_files();
        let mut rows = Vec::new();
        let site = installation(&self.programs.docent, &small_site());
        if self.options.does(Part::Slow) {
            self.slow(&site, &mut rows)?;
        }
        if self.options.does(Part::Fast) {
            self.fast(&site, &mut rows)?;
        }
        if self.options.does(Part::Open) {
            self.open(&site, files, &mut rows)?;
        }
        drop(site);
        if self.options.does(Part::First) {
            self.first(&mut rows)?;
        }
        Ok(rows)
    }

    /// Measures slow streams.
    fn slow(&self, site: &Installation, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\n20 tokens a second a stream");
        for readers in [200, 1_000] {
            // The machine's speed varies over time, so each peer is measured close to what is compared with it.
            let sdk = ("SDK", self.least(ServerKind::Sdk, site)?);
            let sdk_relay = ("SDK over HTTP", self.least(ServerKind::SdkRelay, site)?);
            let plain = ("plain Node", self.streams(ServerKind::Plain, readers, site)?.cpu_a_delta());
            // The floor: what the kernel and a bare server need for as many writes.
            let bare = self.streams(ServerKind::Bare, readers, site)?.cpu_a_delta();
            let what = format!("CPU a delta, {readers} slow streams, bare hyper");
            rows.push(Row::beside(what, bare, "µs", plain, Threshold::Nothing));
            let relay = ("Node over HTTP", self.streams(ServerKind::Relay, readers, site)?.cpu_a_delta());
            let peers = [(ServerKind::InProcess, sdk, plain), (ServerKind::BehindHttp, sdk_relay, relay)];
            for (kind, sdk, node) in peers {
                let ours = self.streams(kind, readers, site)?;
                // The thresholds are for the server as it is used: with a model over HTTP.
                let wanted = |wanted| if kind == ServerKind::BehindHttp { wanted } else { Threshold::Nothing };
                let cpu = ours.cpu_a_delta();
                let what = format!("CPU a delta, {readers} slow streams, {}", of(kind));
                rows.push(Row::beside(what.clone(), cpu, "µs", sdk, Threshold::Nothing));
                rows.push(Row::beside(what, cpu, "µs", node, wanted(Threshold::AtMost(0.9))));
                let what = format!("later than 25 ms, {readers} slow streams, {}", of(kind));
                rows.push(Row::alone(what, ours.late()[0], "%", wanted(Threshold::AtMost(1.0))));
                let each = ours.grown as f64 / 1024.0 / readers as f64;
                let what = format!("memory a stream, {readers} slow streams, {}", of(kind));
                rows.push(Row::alone(what, each, "KB", wanted(Threshold::AtMost(90.0))));
            }
        }
        Ok(())
    }

    /// The CPU cost of a delta at the stream counts that the SDK's server can serve (50 and 200): the lower of the two.
    fn least(&self, kind: ServerKind, site: &Installation) -> Result<f64, String> {
        let cost = |readers| Ok::<_, String>(self.streams(kind, readers, site)?.cpu_a_delta());
        Ok(f64::min(cost(50)?, cost(200)?))
    }

    fn fast(&self, site: &Installation, rows: &mut Vec<Row>) -> Result<(), String> {
        for readers in [1, 64] {
            println!("\nfull speed, {readers} at a time, {} deltas a reply", FAST.deltas);
            let work = Work::Again { readers, seconds: self.options.seconds() };
            let cost = |kind| -> Result<f64, String> {
                let measured = self.median(|| self.one(kind, FAST, work, site))?;
                let Measured { counts, .. } = &measured;
                println!(
                    "  {:<26} {:>9.0} deltas/s, {:>7.0} replies/s, CPU {:>7.2} µs a delta, {:.2} cores{}",
                    kind.name(),
                    counts.deltas as f64 / counts.seconds,
                    counts.replies as f64 / counts.seconds,
                    measured.cpu_a_delta(),
                    measured.core(),
                    troubles(&measured)
                );
                Ok(measured.cpu_a_delta())
            };
            cost(ServerKind::Sdk)?;
            let peers = [(ServerKind::Plain, "plain Node"), (ServerKind::Relay, "Node over HTTP")];
            for (kind, (peer, name)) in [ServerKind::InProcess, ServerKind::BehindHttp].into_iter().zip(peers) {
                let what = format!("CPU a delta, full speed, {readers} at a time, {}", of(kind));
                let node = cost(peer)?;
                rows.push(Row::beside(what, cost(kind)?, "µs", (name, node), Threshold::Nothing));
            }
        }
        Ok(())
    }

    /// Measures as many streams as two cores can serve with room to spare.
    fn open(&self, site: &Installation, files: u64, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\n{MANY} streams at 20 tokens a second");
        for kind in [ServerKind::Bare, ServerKind::InProcess, ServerKind::BehindHttp] {
            let sockets = if kind == ServerKind::BehindHttp { 2 } else { 1 };
            let most = usize::try_from(files.saturating_sub(OTHER_FILES) / sockets).unwrap_or(usize::MAX);
            let readers = most.min(MANY);
            if readers < MANY {
                println!("  a process may have {files} files open here, so {} gets {readers} streams", kind.name());
            }
            let measured = self.streams(kind, readers, site)?;
            let [of_25, of_50, of_100] = measured.late();
            println!(
                "    late: {of_25:.2} % > 25 ms, {of_50:.2} % > 50 ms, {of_100:.2} % > 100 ms; the slowest stream had {:.2} a \
                 second",
                measured.counts.least as f64 / measured.counts.seconds
            );
            // If the hypervisor takes a core away, every word is late; readers without processor time add delays of
            // their own.
            let did = measured.spent.map(|spent| {
                format!("{:.0} % idle, {:.0} % taken by the host", 100.0 * spent.idle, 100.0 * spent.stolen)
            });
            println!("    the first core: {}; the others: {}", did[0], did[1]);
            let wanted = |wanted| if kind == ServerKind::BehindHttp { wanted } else { Threshold::Nothing };
            let what = format!("tokens/s a stream, {readers} streams, {}", of(kind));
            rows.push(Row::alone(what, measured.rate(readers), "/s", Threshold::Nothing));
            let what = format!("later than 50 ms, {readers} streams, {}", of(kind));
            rows.push(Row::alone(what, of_50, "%", wanted(Threshold::AtMost(1.0))));
        }
        Ok(())
    }

    fn first(&self, rows: &mut Vec<Row>) -> Result<(), String> {
        println!("\nthe first word, on {} pages", self.options.pages);
        let docs = Docs::of(self.options.pages, 1_000);
        let site = installation(&self.programs.docent, &docs.files);
        for readers in [1, 20] {
            let times = if self.options.quick { 200 } else { 1_000 } / readers;
            let work = Work::First { readers, times, warm: 10 };
            let measured = self.median(|| {
                let mut server = self.start(ServerKind::BehindHttp, BRIEF, &site)?;
                server.asks(&docs.questions);
                measure(&self.programs.readers(), &server, work)
            })?;
            let ways = &measured.counts.ways;
            let part = |of: fn(&[u64; 3]) -> u64| ways.iter().map(of).collect::<Vec<_>>();
            let added = part(|[_, there, back]| there + back);
            let milliseconds = |values: &[u64], share| percentile(values, share) as f64 / 1e3;
            for (name, values) in [
                ("added by docent", &added),
                ("request to the model's request", &part(|way| way[1])),
                ("model's first word to ours", &part(|way| way[2])),
            ] {
                println!(
                    "  {readers:>2} at a time, {name:<32} p50 {:>7.2} ms, p99 {:>7.2} ms",
                    milliseconds(values, 0.5),
                    milliseconds(values, 0.99)
                );
            }
            println!("    {} replies{}", ways.len(), troubles(&measured));
            for (share, name, asked) in [(0.5, "p50", Threshold::AtMost(3.0)), (0.99, "p99", Threshold::Nothing)] {
                let what = format!("added before the first word, {name}, {readers} at a time");
                // Twenty readers that ask again as soon as they are answered saturate the machine: they wait for each
                // other, and so do the readers' program and the model.
                let wanted = if readers == 1 { asked } else { Threshold::Nothing };
                rows.push(Row::alone(what, milliseconds(&added, share), "ms", wanted));
            }
        }
        Ok(())
    }

    /// Measures the cost of this many slow streams.
    fn streams(&self, kind: ServerKind, readers: usize, site: &Installation) -> Result<Measured, String> {
        let work = Work::Open { readers, seconds: self.options.seconds() };
        let measured = self.median(|| self.one(kind, SLOW, work, site))?;
        println!(
            "  {:<26} {readers:>6} streams: {:>5.2} of {RATE:.0} tokens/s each, CPU {:>7.2} µs a delta, {:.2} cores, {:>6.1} KB a \
             stream{}",
            kind.name(),
            measured.rate(readers),
            measured.cpu_a_delta(),
            measured.core(),
            measured.grown as f64 / 1024.0 / readers as f64,
            troubles(&measured)
        );
        Ok(measured)
    }

    fn one(&self, kind: ServerKind, pace: Pace, work: Work, site: &Installation) -> Result<Measured, String> {
        let server = self.start(kind, pace, site)?;
        measure(&self.programs.readers(), &server, work)
    }

    fn start(&self, kind: ServerKind, pace: Pace, site: &Installation) -> Result<MeasuredServer, String> {
        self.stopping.check()?;
        MeasuredServer::start(kind, pace, &self.programs, site)
    }

    /// The median round, by the CPU cost of a delta.
    fn median(&self, mut round: impl FnMut() -> Result<Measured, String>) -> Result<Measured, String> {
        let mut rounds = (0..self.options.rounds).map(|_| round()).collect::<Result<Vec<_>, _>>()?;
        rounds.sort_by(|one, other| one.cpu_a_delta().total_cmp(&other.cpu_a_delta()));
        Ok(rounds.swap_remove(rounds.len() / 2))
    }
}

const fn of(kind: ServerKind) -> &'static str {
    match kind {
        ServerKind::InProcess => "in-process",
        ServerKind::BehindHttp => "over HTTP",
        ServerKind::Sdk | ServerKind::SdkRelay | ServerKind::Plain | ServerKind::Relay | ServerKind::Bare => {
            kind.name()
        }
    }
}

/// The refused and broken streams, if any.
fn troubles(measured: &Measured) -> String {
    let counts = &measured.counts;
    if counts.refused + counts.broken == 0 {
        return String::new();
    }
    format!("; {} refused, {} broken off", counts.refused, counts.broken)
}

/// A few pages that contain the answer to the question.
fn small_site() -> Vec<(String, String)> {
    let page = |topic: &str| {
        let sentence = |n| format!("A delivery of {topic} that fails for the {n}th time is tried again after a pause.");
        let sentences: Vec<String> = (1..=15).map(sentence).collect();
        format!("# Deliveries of {topic}\n\n## Retries\n\n{}\n", sentences.join(" "))
    };
    ["webhooks", "queues", "callbacks", "mails", "exports"].map(|topic| (format!("{topic}.md"), page(topic))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_measured_unless_parts_are_named() {
        let options = |only| Options { only, quick: true, rounds: 1, pages: 100, install: false };
        assert!([Part::Slow, Part::Fast, Part::Open, Part::First].iter().all(|part| options(Vec::new()).does(*part)));
        let some = options(vec![Part::Open]);
        assert!(some.does(Part::Open) && !some.does(Part::First));
    }

    #[test]
    fn trouble_is_told_where_there_is_some() {
        let mut measured = Measured::default();
        assert_eq!(troubles(&measured), "");
        measured.counts.refused = 2;
        assert_eq!(troubles(&measured), "; 2 refused, 0 broken off");
    }
}
