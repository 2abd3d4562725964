//! `docent`: a self-hosted documentation agent and assistant in one binary.
//!
//! This crate is the roof: it reads the command line and the configuration, wires the cores and the faces, waits, and
//! drains. Nothing uses it.

mod app;
mod cli;
mod client;
mod config;
mod demo;
mod doctor;
mod failure;
mod index;
mod indexing;
mod keys;
mod logging;
mod output;
mod projects;
mod serve;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;

use crate::app::App;
use crate::cli::{Cli, Command};
use crate::config::{Config, Overrides};
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::start(matches!(cli.command, Command::Serve(_)));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&Failure::new("cannot start the runtime", error)),
    };
    let result = runtime.block_on(run(&cli));
    // Blocking work that nobody waits for any more must not hold the process.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &Failure) -> ExitCode {
    let _ = writeln!(anstream::stderr(), "docent: {failure}");
    ExitCode::from(failure.exit_code())
}

async fn run(cli: &Cli) -> Result<(), Failure> {
    let listen = match &cli.command {
        Command::Serve(args) => args.listen,
        _ => None,
    };
    let overrides = Overrides { listen, data: cli.global.data.clone() };
    let config = Config::load(cli.global.config.as_deref(), std::env::vars(), overrides)?;
    let json = cli.global.json;
    match &cli.command {
        Command::Demo(args) => demo::run(args, config, cli.global.data.is_some()).await,
        Command::Serve(_) => {
            let running = serve::start(config).await?;
            output::line(format_args!("listening on http://{}", running.address()))?;
            running.until_told().await
        }
        Command::Project(command) => projects::run(&App::open(config)?, command, json).await,
        Command::Key(command) => keys::run(&App::open(config)?, command, json).await,
        Command::Index(args) => index::run(&App::open(config)?, &args.domain, json).await,
        Command::Doctor => doctor::run(&App::open(config)?, json).await,
    }
}
