//! `cargo xtask test`: runs every suite in order, and prints a summary table.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use crate::beside::Beside;
use crate::child::StopSignal;
use crate::suites::{Suite, Suites};
use crate::summary::{Outcome, SuiteResult, Summary};
use crate::workspace::Workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Install what is missing; a suite that can't be installed has then failed
    #[arg(long)]
    install: bool,
    /// Run only these suites
    #[arg(long, value_name = "SUITE", value_enum)]
    only: Vec<Suite>,
    /// Run all but these suites
    #[arg(long, value_name = "SUITE", value_enum)]
    skip: Vec<Suite>,
    /// Do not build what the suite needs: it is up to date
    #[arg(long, hide = true)]
    built: bool,
    /// Write the results of the suites named by --only to this file
    #[arg(long, hide = true, value_name = "FILE")]
    results: Option<PathBuf>,
}

impl Options {
    /// The reason why a suite is left out, if it is.
    fn leaves_out(&self, suite: Suite) -> Option<&'static str> {
        if !self.only.is_empty() && !self.only.contains(&suite) {
            Some("not among --only")
        } else if self.skip.contains(&suite) {
            Some("left out by --skip")
        } else {
            None
        }
    }

    fn runs(&self, suite: Suite) -> bool {
        self.leaves_out(suite).is_none()
    }
}

pub(crate) async fn run(options: &Options, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let workspace = Workspace::read()?;
    // Asked before the build, which may put a new file in this program's place: Linux then calls the old one deleted.
    let program = std::env::current_exe().map_err(|error| format!("could not find this program: {error}"))?;
    let mut suites = Suites::new(&workspace, options.install, options.built);
    let mut summary = Summary::default();
    let waiting: Vec<Suite> = Suite::WAITING.into_iter().filter(|suite| options.runs(*suite)).collect();
    let mut beside = None;
    for &suite in Suite::ALL.iter().filter(|suite| suite.is_of_the_project() || options.only.contains(suite)) {
        if suite == Suite::Clippy
            && options.runs(Suite::Tests)
            && !waiting.is_empty()
            && suites.build(stop).await? == Outcome::Passed
        {
            suites.install_for_waiting(stop).await;
            beside = Some(Beside::start(&program, &waiting, options.install)?);
        }
        if beside.is_none() || !waiting.contains(&suite) {
            summary.results.push(result(suite, options, &mut suites, stop).await);
        }
    }
    if let Some(beside) = beside {
        summary.add(beside.results(stop).await?);
    }
    println!("\n{summary}");
    if let Some(file) = &options.results {
        summary.write(&options.only, file)?;
    }
    Ok(if stop.was_received() {
        // The exit code that a shell reports for a command that Ctrl-C ended.
        ExitCode::from(130)
    } else if summary.failed() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Runs a suite, unless it is left out.
async fn result(suite: Suite, options: &Options, suites: &mut Suites<'_>, stop: &mut StopSignal) -> SuiteResult {
    let (start, cpu_before) = (Instant::now(), cpu_time());
    let outcome = if let Some(why) = options.leaves_out(suite) {
        Outcome::Skipped(why.to_owned())
    } else if stop.was_received() {
        Outcome::Skipped("stopped before it began".to_owned())
    } else {
        println!("\n── {} ──", suite.name());
        suites.run(suite, stop).await.unwrap_or_else(Outcome::Failed)
    };
    let cpu = cpu_time().saturating_sub(cpu_before);
    SuiteResult { suite: suite.name().to_owned(), outcome, took: start.elapsed(), cpu }
}

/// Processor time of this process and of its children that have ended. Zero where the system does not tell.
fn cpu_time() -> Duration {
    // Fields 14 to 17, in hundredths of a second (`man 5 proc_pid_stat`); the second field may hold blanks.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = behind_name.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
