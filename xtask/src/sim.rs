//! `cargo xtask sim`: the simulation of the job engine, in any number of worlds.

use std::process::ExitCode;

use clap::Args;
use tokio::process::Command;

use crate::child::{self, Ended, StopSignal};
use crate::workspace::{Workspace, cargo};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many worlds
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// This world alone, with all that happens in it
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Break the engine from outside, to test that the simulation notices; another value lists the possible ones
    #[arg(long, value_name = "WHAT")]
    broken: Option<String>,
}

/// The release profile with debug assertions in `docent-jobs`, which compile in the named failure points.
const PROFILE: [&str; 3] = ["--release", "--config", "profile.release.package.docent-jobs.debug-assertions=true"];

pub(crate) async fn run(options: &Options, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let workspace = Workspace::read()?;
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "--package", "docent-sim"]).args(PROFILE).arg("--").current_dir(&workspace.root);
    match options.seed {
        Some(seed) => command.args(["--seed", &seed.to_string()]),
        None => command.args(["--seeds", &options.seeds.to_string(), "--from", &options.from.to_string()]),
    };
    if let Some(broken) = &options.broken {
        command.args(["--broken", broken]);
    }
    Ok(match child::run(&mut command, stop).await? {
        Ended::Well => ExitCode::SUCCESS,
        Ended::Badly(_) => ExitCode::FAILURE,
        // The exit code that a shell reports for a command that Ctrl-C ended.
        Ended::Stopped => ExitCode::from(130),
    })
}
