//! The project's own commands: `cargo xtask test`, `cargo xtask site`, `cargo xtask bench` and `cargo xtask sim`.

mod arrows;
mod bench;
mod beside;
mod child;
mod cycles;
mod language;
mod module_files;
mod postgres;
mod sim;
mod site;
mod suites;
mod summary;
mod symbols;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::child::StopSignal;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The project's own commands", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run all checks and tests of the project on this machine
    Test(test::Options),
    /// Holds what is believed of a site against what the site's own generator builds
    Site(site::Options),
    /// Measures the built server against what people use otherwise
    Bench(bench::Options),
    /// Run the job engine in thousands of simulations with faults of every kind
    Sim(sim::Options),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = async {
        let mut stop = StopSignal::listen()?;
        match arguments.command {
            Command::Test(options) => test::run(&options, &mut stop).await,
            Command::Site(options) => site::run(&options, &mut stop).await,
            Command::Bench(options) => bench::run(&options, &mut stop).await,
            Command::Sim(options) => sim::run(&options, &mut stop).await,
        }
    };
    outcome.await.unwrap_or_else(|fault: String| {
        eprintln!("xtask: {fault}");
        ExitCode::FAILURE
    })
}
