//! Reading the file and the environment.

use std::path::{Path, PathBuf};

use thiserror::Error;
use toml::{Table, Value};
use tracing::warn;

use super::keys::Keys;
use super::{Config, Overrides};

/// Variables that are not keys of the configuration.
const OTHER_VARIABLES: &[&str] = &["DOCENT_LOG", "DOCENT_CONFIG", "DOCENT_CRASH_AT", "DOCENT_BIN"];

/// Why there is no usable configuration.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the configuration file {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}: {message}", path.display())]
    File { path: PathBuf, message: String },
    #[error("{variable}: {message}")]
    Variable { variable: String, message: String },
    /// The keys can be read and do not make sense.
    #[error("`{key}`: {sentence}")]
    Wrong { key: String, sentence: String },
}

impl ConfigError {
    pub(super) fn wrong(key: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self::Wrong { key: key.into(), sentence: sentence.into() }
    }
}

impl Config {
    /// Reads the file (when no path is given, `docent.toml` if it is there), then the environment, then `overrides`.
    pub(crate) fn load(
        path: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
        overrides: Overrides,
    ) -> Result<Self, ConfigError> {
        let default = Path::new("docent.toml");
        let path = path.or_else(|| default.exists().then_some(default));
        let mut table = path.map(read).transpose()?.unwrap_or_default();
        for (variable, value) in environment {
            overlay(&mut table, &variable, &value)?;
        }
        keys(table, path.unwrap_or(default))?.judge(overrides)
    }
}

fn keys(table: Table, path: &Path) -> Result<Keys, ConfigError> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| ConfigError::File {
        path: path.to_owned(),
        message: format!("`{}`: {}", error.path(), error.inner().message()),
    })
}

fn read(path: &Path) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| ConfigError::File { path: path.to_owned(), message: error.to_string() })?;
    // The file is judged by itself first, so that a mistake in it is not blamed on a variable.
    keys(table.clone(), path)?;
    Ok(table)
}

/// Puts one variable into the table, when it is a key of the configuration.
fn overlay(table: &mut Table, variable: &str, text: &str) -> Result<(), ConfigError> {
    let Some(key) = variable.strip_prefix("DOCENT_").filter(|_| !OTHER_VARIABLES.contains(&variable)) else {
        return Ok(());
    };
    let path: Vec<String> = key.split("__").map(str::to_lowercase).collect();
    let value = scalar(text);
    let mut alone = Table::new();
    put(&mut alone, &path, value.clone());
    match serde_path_to_error::deserialize::<_, Keys>(Value::Table(alone)) {
        Ok(_) => put(table, &path, value),
        Err(error) if error.inner().message().starts_with("unknown field") => {
            warn!(variable, "no such key in the configuration; the variable is ignored");
        }
        Err(error) => {
            let message = error.inner().message().to_owned();
            return Err(ConfigError::Variable { variable: variable.to_owned(), message });
        }
    }
    Ok(())
}

fn scalar(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return Value::Integer(number);
    }
    text.parse::<bool>().map_or_else(|_| Value::String(text.to_owned()), Value::Boolean)
}

fn put(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let entry = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = entry {
                put(inner, rest, value);
            }
        }
    }
}
