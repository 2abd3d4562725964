//! Loads the configuration from the file and the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use docent_web::{Notation, in_plain_words};
use thiserror::Error;
use toml::{Table, Value};
use tracing::warn;

use super::keys::Keys;
use super::{Config, Overrides};
use super::{hooks, sources};

/// The prefix of environment variables for configuration keys.
const PREFIX: &str = "DOCENT_";
/// Variables with the prefix that are not configuration keys.
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
    /// The keys are known, but a value is invalid.
    #[error("`{key}`: {sentence}")]
    Wrong { key: String, sentence: String },
}

impl ConfigError {
    pub(super) fn wrong(key: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self::Wrong { key: key.into(), sentence: sentence.into() }
    }
}

impl Config {
    /// Loads the file (without a path, `docent.toml` if it exists), then the environment, then `overrides`.
    pub(crate) fn load(
        path: Option<&Path>,
        environment: impl Iterator<Item = (OsString, OsString)>,
        overrides: Overrides,
    ) -> Result<Self, ConfigError> {
        let default = Path::new("docent.toml");
        let path = path.or_else(|| default.exists().then_some(default));
        let mut sources = path.map(sources::of_file).unwrap_or_default();
        let mut table = path.map(read).transpose()?.unwrap_or_default();
        for (variable, value) in environment {
            // The variables of other programs need not be UTF-8.
            let Some(variable) = variable.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
            let Some(value) = value.to_str() else {
                let message = "is not UTF-8 text; write it anew".to_owned();
                return Err(ConfigError::Variable { variable: variable.to_owned(), message });
            };
            if let Some(key) = overlay(&mut table, variable, value)? {
                sources.insert(key, format!("variable {variable}"));
            }
        }
        sources.extend(overrides.listen.map(|_| ("listen".to_owned(), "--listen".to_owned())));
        sources.extend(overrides.data.as_ref().map(|_| ("data".to_owned(), "--data".to_owned())));
        let mut config = keys(table, path.unwrap_or(default))?.validate(overrides)?;
        config.sources = sources;
        Ok(config)
    }
}

fn keys(table: Table, path: &Path) -> Result<Keys, ConfigError> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| ConfigError::File {
        path: path.to_owned(),
        message: format!("`{}`: {}", error.path(), in_plain_words(error.inner().message(), Notation::Toml)),
    })
}

fn read(path: &Path) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let mut table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| ConfigError::File { path: path.to_owned(), message: error.to_string() })?;
    hooks::number(&mut table)?;
    // The file is validated alone first, so that an error in it is not attributed to a variable.
    keys(table.clone(), path)?;
    Ok(table)
}

/// Inserts a variable into the table if it names a key of the configuration, and returns that key.
fn overlay(table: &mut Table, variable: &str, text: &str) -> Result<Option<String>, ConfigError> {
    let Some(key) = variable.strip_prefix(PREFIX).filter(|_| !OTHER_VARIABLES.contains(&variable)) else {
        return Ok(None);
    };
    let path: Vec<String> = key.split("__").map(str::to_lowercase).collect();
    let fault = |value: &Value| {
        let mut alone = Table::new();
        put(&mut alone, &path, value.clone());
        let error = serde_path_to_error::deserialize::<_, Keys>(Value::Table(alone)).err()?;
        Some(error.inner().message().to_owned())
    };
    // A name may consist of digits: a value that is invalid as a number may be a text.
    let text = Value::String(text.to_owned());
    let value = Some(scalar(&text)).filter(|value| fault(value).is_none()).unwrap_or(text);
    match fault(&value) {
        None => {
            put(table, &path, value);
            return Ok(Some(path.join(".")));
        }
        Some(message) if message.starts_with("unknown field") => {
            warn!(variable, "no such key in the configuration; the variable is ignored");
        }
        Some(message) => {
            let message = fault(&scalar(&value)).unwrap_or(message);
            let message = in_plain_words(&message, Notation::Toml);
            return Err(ConfigError::Variable { variable: variable.to_owned(), message });
        }
    }
    Ok(None)
}

/// The number or boolean that a text represents; otherwise the text.
fn scalar(text: &Value) -> Value {
    let Value::String(written) = text else { return text.clone() };
    let number = written.parse().map(Value::Integer);
    number.or_else(|_| written.parse().map(Value::Boolean)).unwrap_or_else(|_: std::str::ParseBoolError| text.clone())
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
