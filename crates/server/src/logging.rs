//! Logs to stderr: as text on a terminal, as JSON otherwise. Colours are used on terminals only, unless `NO_COLOR` is
//! set.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// The kind of command that logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logger {
    Server,
    /// A command that prints the progress of its job, including waits, on a terminal.
    Run,
    Command,
}

/// Starts logging. `DOCENT_LOG` is the filter (`info`, `docent_jobs=debug`); the default is `info` for a server and
/// warnings for other commands.
pub(crate) fn start(logger: Logger) {
    let is_terminal = std::io::stderr().is_terminal();
    let usual = match logger {
        Logger::Server => "info",
        Logger::Run if is_terminal => "warn,docent_jobs=error",
        Logger::Run | Logger::Command => "warn",
    };
    let filter = EnvFilter::try_from_env("DOCENT_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    // A second subscriber would be a bug, which a user could not fix.
    let _ = if is_terminal || logger != Logger::Server {
        builder.with_target(false).try_init()
    } else {
        builder.json().try_init()
    };
}
