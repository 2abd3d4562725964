//! `docent`: a self-hosted documentation agent and assistant in one binary.
//!
//! It reads the command line and the configuration, constructs the services and the HTTP APIs, serves, and drains.

mod cli;
mod commands;
mod config;
mod data_folder;
mod failure;
mod logging;
mod metrics;
mod output;
mod serve;
mod wiring;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde_json::json;
use tracing::{info, warn};

use crate::cli::{Cli, Command};
use crate::commands::{
    ask, backup, demo, doctor, health, index, keys, manual, operators, projects, restore, run, search,
};
use crate::config::{Config, Overrides, StoreConfig};
use crate::failure::Failure;
use crate::logging::Logger;
use crate::serve::RunningServer;
use crate::wiring::app::App;

/// Requests make many small allocations that another thread frees; the C library's allocator is slow at that. The
/// library crates leave the choice to their users. mimalloc is built without huge pages (`no_thp`), with which the
/// server would use a third more memory.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long a push that is in progress may continue when `docent run` is stopped.
const LAST_PUSH: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let cli = Cli::parse();
    // These need no configuration, so that a broken one does not stop an installation.
    let printed = match &cli.command {
        Command::Completions { shell } => Some(manual::completions(*shell)),
        Command::Man { folder } => Some(manual::man(folder.as_deref())),
        _ => None,
    };
    if let Some(printed) = printed {
        return printed.map_or_else(|failure| failed(&failure), |()| ExitCode::SUCCESS);
    }
    let started = logging::start(match cli.command {
        Command::Serve(_) => Logger::Server,
        Command::Run(_) => Logger::Run,
        _ => Logger::Command,
    });
    if let Err(failure) = started {
        return failed(&failure);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&Failure::new("cannot start the runtime", error)),
    };
    let result = runtime.block_on(run(&cli));
    // Abandoned blocking work must not delay the exit; a push in progress may finish.
    runtime.shutdown_timeout(match cli.command {
        Command::Run(_) => LAST_PUSH,
        _ => Duration::ZERO,
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failed(&failure),
    }
}

/// Prints a sign-in link if there is no operator yet. The link is a secret: it is printed on a terminal only, never
/// logged.
async fn greet_the_first(running: &RunningServer, json: bool) -> Result<(), Failure> {
    if json || !std::io::stdout().is_terminal() {
        if !running.app().operators.has_any().await? {
            info!(
                "nobody can sign in to the dashboard yet; `docent operator link` prints a link for the first operator"
            );
        }
        return Ok(());
    }
    match running.app().first_run_link(running.url()).await? {
        Some(link) => output::line(format_args!("nobody can sign in yet; open this once, within a day: {link}")),
        None => Ok(()),
    }
}

fn failed(failure: &Failure) -> ExitCode {
    output::print_note(format_args!("docent: {failure}"));
    ExitCode::from(failure.exit_code())
}

async fn run(cli: &Cli) -> Result<(), Failure> {
    let listen = match &cli.command {
        Command::Serve(args) | Command::Health(args) => args.listen,
        _ => None,
    };
    let overrides = Overrides { listen, data: cli.global.data.clone() };
    let config = Config::load(cli.global.config.as_deref(), std::env::vars_os(), overrides)?;
    let json = cli.global.json;
    // With PostgreSQL the data folder holds caches only.
    let needs_folder = matches!(config.store, StoreConfig::Sqlite) && !cli.command.makes_data_folder();
    let missing = if needs_folder { data_folder::require(&config).err() } else { None };
    match (&cli.command, missing) {
        (Command::Doctor, missing) => doctor::run(config, missing, json).await,
        (_, Some(missing)) => Err(missing.into()),
        (command, None) => carry_out(command, cli, config, json).await,
    }
}

async fn carry_out(command: &Command, cli: &Cli, config: Config, json: bool) -> Result<(), Failure> {
    match command {
        Command::Demo(_) if json => {
            Err(Failure::usage("demo: a tour for a person to read, which there is no JSON of; leave out --json"))
        }
        Command::Demo(args) => demo::run(args, config, cli.global.data.is_some()).await,
        Command::Serve(_) => {
            let running = serve::start(config).await?;
            let url = format!("http://{}", running.address());
            output::line(if json { json!({ "listening": url }).to_string() } else { format!("listening on {url}") })?;
            // The server runs: a database that is away for a moment now does not end it.
            if let Err(failure) = greet_the_first(&running, json).await {
                warn!(%failure, "could not look whether anybody can sign in");
            }
            running.until_shutdown().await
        }
        Command::Project(command) => projects::run(&App::open(config).await?, command, json).await,
        Command::Key(command) => keys::run(&App::open(config).await?, command, json).await,
        Command::Operator(command) => operators::run(&App::open(config).await?, command, json).await,
        Command::Health(_) => health::run(&config, json).await,
        Command::Index(args) => index::run(&App::open(config).await?, args, json).await,
        Command::Ask(args) => ask::run(&App::open(config).await?, args, json).await,
        Command::Search(args) => search::run(&App::open(config).await?, args, json).await,
        Command::Run(args) => run::run(args, config, json).await,
        Command::Backup(args) => backup::run(args, &config, json).await,
        Command::Restore(args) => restore::run(args, &config, json).await,
        Command::Doctor => doctor::run(config, None, json).await,
        // Printed before the configuration is read.
        Command::Completions { .. } | Command::Man { .. } => Ok(()),
    }
}
