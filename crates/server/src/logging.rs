//! Logs to stderr: as text on a terminal, as JSON otherwise. Colours are used on terminals only, unless `NO_COLOR` is
//! set.

use std::io::IsTerminal;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::failure::Failure;

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
///
/// # Errors
/// The filter cannot be read, or names something that is neither a level nor a crate.
pub(crate) fn start(logger: Logger) -> Result<(), Failure> {
    let is_terminal = std::io::stderr().is_terminal();
    let usual = match logger {
        Logger::Server => "info",
        Logger::Run if is_terminal => "warn,docent_jobs=error",
        Logger::Run | Logger::Command => "warn",
    };
    let wanted = std::env::var("DOCENT_LOG").ok().filter(|wanted| !wanted.is_empty());
    let filter = filter(wanted.as_deref().unwrap_or(usual))?;
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let layer = layer().with_writer(std::io::stderr).with_ansi(colours);
    let layer = match is_terminal || logger != Logger::Server {
        true => layer.with_target(false).boxed(),
        false => layer.json().boxed(),
    };
    // A second subscriber would be a bug, which a user could not fix.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter)).try_init();
    Ok(())
}

/// What the crates of Docent are called behind `docent_`.
const CRATES: &str = "access agent api_docs assistant authoring builtin dashboard discovery embed forge forge_http hooks http_client http_v1 http_v2 jobs llm llm_http markdown mcp openid operators quarantine refactor search site store store_postgres types ui_stream web widget workspace";

/// Reads a filter. A word alone is a level; the parser would take a misspelled one for a crate and log nothing else.
fn filter(text: &str) -> Result<Targets, Failure> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let remedy =
        "write one of off, error, warn, info, debug and trace, or levels by crate, as in warn,docent_jobs=debug";
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let shown = || part.chars().take(40).collect::<String>();
        let name = part.split(['=', ':']).next().unwrap_or_default();
        if !part.contains('=') && !is_level(part) && !name.starts_with("docent") {
            return Err(Failure::usage(format!("DOCENT_LOG: `{}` is no level; {remedy}", shown())));
        }
        let is_known = |name: &str| CRATES.split(' ').any(|known| known == name);
        if is_known(name) {
            return Err(Failure::usage(format!("DOCENT_LOG: `{}`: write the crate as docent_{name}", shown())));
        }
        if name.starts_with("doc") && name != "docent" && !name.strip_prefix("docent_").is_some_and(is_known) {
            return Err(Failure::usage(format!(
                "DOCENT_LOG: `{}` names no crate of docent; behind docent_ there are {CRATES}",
                shown()
            )));
        }
    }
    text.parse().map_err(|error| Failure::usage(format!("DOCENT_LOG: {error}; {remedy}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_misspelled_is_refused() {
        for good in ["info", "WARN,docent_jobs=debug", "docent_jobs", "off", "hyper=trace, info"] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for bad in ["inof", "warn,docent_jobs=loud", "debug,verbose"] {
            let refused = filter(bad).expect_err(bad).to_string();
            assert!(refused.starts_with("DOCENT_LOG: ") && refused.contains("docent_jobs=debug"), "{refused}");
        }
        for bare in ["jobs=debug", "warn,store_postgres=trace"] {
            let refused = filter(bare).expect_err(bare).to_string();
            assert!(refused.contains("as docent_"), "{refused}");
        }
        for bad in ["docnet_jobs=debug", "docent_jbos", "warn,docent_job=debug"] {
            let refused = filter(bad).expect_err(bad).to_string();
            assert!(refused.contains("names no crate of docent") && refused.contains(" jobs "), "{refused}");
        }
    }

    #[test]
    fn each_crate_can_be_named() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .expect("the crates")
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.replace('-', "_")))
            .filter(|name| name != "server")
            .collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), CRATES);
    }
}
