//! `cargo xtask test`: runs every suite in order, and prints a summary table.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

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
}

pub(crate) async fn run(options: &Options, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let workspace = Workspace::read()?;
    let mut suites = Suites::new(&workspace, options.install);
    let mut summary = Summary::default();
    for &suite in Suite::ALL.iter().filter(|suite| suite.is_of_the_project() || options.only.contains(suite)) {
        let start = Instant::now();
        let outcome = if let Some(why) = options.leaves_out(suite) {
            Outcome::Skipped(why.to_owned())
        } else if stop.was_received() {
            Outcome::Skipped("stopped before it began".to_owned())
        } else {
            println!("\n── {} ──", suite.name());
            suites.run(suite, stop).await.unwrap_or_else(Outcome::Failed)
        };
        summary.results.push(SuiteResult { suite: suite.name(), outcome, took: start.elapsed() });
    }
    println!("\n{summary}");
    Ok(if stop.was_received() {
        // The exit code that a shell reports for a command that Ctrl-C ended.
        ExitCode::from(130)
    } else if summary.failed() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
