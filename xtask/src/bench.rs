//! `cargo xtask bench`: measures the built server and the usual alternatives, in one run on one machine.

mod agent;
mod dashboard;
mod engine;
mod job;
mod peer;
mod process;
mod program;
mod questions;
mod running;
mod search;
mod stream;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::child::StopSignal;
use crate::workspace::Workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// A one-file job, from the request to the pull request, against clone, edit, commit and push by the git CLI
    Job(job::Options),
    /// A job on a scripted model that takes no time, against another agent on the same model: what the engine adds
    Agent(agent::Options),
    /// Streamed replies, against the chat SDK's own server and plain Node: CPU a delta, memory a stream, time to the first word
    Stream(stream::Options),
    /// The job engine: durable creates, no-op jobs to their end, polling, many jobs waiting; against hyper alone and another engine
    Engine(engine::Options),
    /// Search on judged sets: quality beside the peers' figures, and cost beside plain tantivy
    Search(search::Options),
    /// The dashboard's pages, with 10,000 jobs and 100,000 conversations in the store
    Dashboard(dashboard::Options),
    /// Readers' questions on the docs of known projects: how often a right page is first
    Questions(questions::Options),
}

pub(crate) async fn run(options: &Options, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let workspace = Workspace::read()?;
    match &options.bench {
        Bench::Job(options) => job::run(options, &workspace, stop).await,
        Bench::Agent(options) => agent::run(options, &workspace, stop).await,
        Bench::Stream(options) => stream::run(options, &workspace, stop).await,
        Bench::Engine(options) => engine::run(options, &workspace, stop).await,
        Bench::Search(options) => search::run(options, &workspace, stop).await,
        Bench::Dashboard(options) => dashboard::run(options, &workspace, stop).await,
        Bench::Questions(options) => questions::run(options, &workspace, stop).await,
    }
}

/// Durations of one side, in the order they were measured.
#[derive(Debug, Default)]
struct Times(Vec<Duration>);

impl Times {
    fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let half = sorted.len() / 2;
        if sorted.len().is_multiple_of(2) { (sorted[half - 1] + sorted[half]) / 2 } else { sorted[half] }
    }

    fn shown(&self) -> String {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let fastest = self.0.iter().min().copied().unwrap_or_default();
        let slowest = self.0.iter().max().copied().unwrap_or_default();
        format!(
            "{:>9.1} ms  (fastest {:.1}, slowest {:.1})",
            milliseconds(self.median()),
            milliseconds(fastest),
            milliseconds(slowest)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two() {
        let times = |millis: &[u64]| Times(millis.iter().map(|n| Duration::from_millis(*n)).collect());
        assert_eq!(times(&[9, 1, 5]).median(), Duration::from_millis(5));
        assert_eq!(times(&[8, 2, 4, 6]).median(), Duration::from_millis(5));
    }
}
