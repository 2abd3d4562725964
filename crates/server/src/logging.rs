//! Logs to stderr: as text on a terminal, as JSON otherwise. Colours are used on terminals only, unless `NO_COLOR` is
//! set.

use std::io::IsTerminal;

use tracing::warn;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

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
    let wanted = std::env::var("DOCENT_LOG").ok().filter(|wanted| !wanted.is_empty());
    let parsed = wanted.as_deref().map(str::parse::<Targets>);
    let filter = match &parsed {
        Some(Ok(filter)) => filter.clone(),
        Some(Err(_)) | None => usual.parse().expect("the filters above are valid"),
    };
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let layer = layer().with_writer(std::io::stderr).with_ansi(colours);
    let layer = match is_terminal || logger != Logger::Server {
        true => layer.with_target(false).boxed(),
        false => layer.json().boxed(),
    };
    // A second subscriber would be a bug, which a user could not fix.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter)).try_init();
    if let Some(Err(error)) = parsed {
        warn!("`DOCENT_LOG` was left aside: {error}");
    }
}
