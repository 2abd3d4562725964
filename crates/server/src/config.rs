//! `docent.toml`, with the environment over it and the command line over both.
//!
//! Every key has a variable: `DOCENT_` and the key in capitals, `__` between levels (`DOCENT_AGENT__WORKERS`). An
//! unknown key in the file is an error that names it. An unknown variable is only warned about, because orchestrators
//! set variables of that form on their own (`DOCENT_PORT` beside a service called `docent`).

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use thiserror::Error;
use toml::{Table, Value};
use tracing::warn;

/// The whole configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    /// Where people reach the server; the address it listens on when not given.
    pub(crate) public_url: Option<String>,
    pub(crate) data: PathBuf,
    pub(crate) store: String,
    pub(crate) models: BTreeMap<String, ModelConfig>,
    pub(crate) agent: AgentConfig,
    pub(crate) assistant: AssistantConfig,
    pub(crate) limits: LimitsConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            public_url: None,
            data: PathBuf::from("./docent-data"),
            store: "sqlite".to_owned(),
            models: BTreeMap::new(),
            agent: AgentConfig::default(),
            assistant: AssistantConfig::default(),
            limits: LimitsConfig::default(),
        }
    }
}

/// One named model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelConfig {
    pub(crate) provider: Provider,
    // What a language model takes: known, so that it can be refused with more than its name.
    #[serde(default, rename = "model", deserialize_with = "of_a_language_model")]
    _model: (),
    #[serde(default, rename = "api_key_env", deserialize_with = "of_a_language_model")]
    _api_key_env: (),
    #[serde(default, rename = "base_url", deserialize_with = "of_a_language_model")]
    _base_url: (),
}

fn of_a_language_model<'de, D: Deserializer<'de>>(_: D) -> Result<(), D::Error> {
    Err(D::Error::custom(format!("the builtin model takes no such key, and {BUILTIN_ONLY}; leave the key out")))
}

const BUILTIN_ONLY: &str = "this build has the builtin model only; language models come with a later version";

/// Who runs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Provider {
    Builtin,
}

impl TryFrom<String> for Provider {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            docent_llm::builtin::PROVIDER => Ok(Self::Builtin),
            _ => Err(format!("there is no provider `{name}`: {BUILTIN_ONLY}; say `builtin`, or leave the model out")),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentConfig {
    /// The model of a job that names none.
    pub(crate) model: String,
    /// Jobs run at the same time.
    pub(crate) workers: usize,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { model: "sonnet".to_owned(), workers: 8 }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AssistantConfig {
    pub(crate) model: String,
}

impl Default for AssistantConfig {
    fn default() -> Self {
        Self { model: "sonnet".to_owned() }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsConfig {
    pub(crate) agent_jobs_per_hour: u32,
    pub(crate) agent_messages_per_hour: u32,
    /// Requests to the assistant, search and page endpoints of a project.
    pub(crate) assistant_requests_per_hour: u32,
    /// The same of one address, over all projects.
    pub(crate) assistant_requests_per_address_per_day: u32,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            agent_jobs_per_hour: 100,
            agent_messages_per_hour: 100,
            assistant_requests_per_hour: 10_000,
            assistant_requests_per_address_per_day: 10_000,
        }
    }
}

/// Why there is no usable configuration.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the configuration file {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}: {message}", path.display())]
    File { path: PathBuf, message: String },
    #[error("{variable}: {message}")]
    Variable { variable: String, message: String },
    #[error("{0}")]
    Unsupported(String),
}

/// What the command line says over the file and the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) data: Option<PathBuf>,
}

/// Variables that are not keys of the configuration.
const OTHER_VARIABLES: &[&str] = &["DOCENT_LOG", "DOCENT_CONFIG", "DOCENT_CRASH_AT", "DOCENT_BIN"];

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
        let mut config: Self = serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
            let path = path.unwrap_or(default).to_owned();
            ConfigError::File { path, message: format!("`{}`: {}", error.path(), error.inner().message()) }
        })?;
        config.listen = overrides.listen.unwrap_or(config.listen);
        config.data = overrides.data.unwrap_or(config.data);
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        if self.store != "sqlite" {
            let sentence = format!("`store`: this build keeps its data in SQLite only, not in {}", scheme(&self.store));
            return Err(ConfigError::Unsupported(sentence));
        }
        if self.agent.workers == 0 {
            return Err(ConfigError::Unsupported("`agent.workers` must be at least 1".to_owned()));
        }
        for name in [&self.agent.model, &self.assistant.model] {
            if !self.model_names().contains(&name.as_str()) {
                let known = self.model_names().join(", ");
                return Err(ConfigError::Unsupported(format!("there is no model `{name}`; known: {known}")));
            }
        }
        Ok(())
    }

    /// The names a request may give: the two the API offers, and those of the configuration.
    pub(crate) fn model_names(&self) -> Vec<&str> {
        let mut names = vec!["sonnet", "opus"];
        names.extend(self.models.keys().map(String::as_str).filter(|name| !["sonnet", "opus"].contains(name)));
        names
    }
}

/// What may be shown of a store's URL, which can hold a password.
fn scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(scheme, _)| scheme)
}

fn read(path: &Path) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| ConfigError::File { path: path.to_owned(), message: error.to_string() })?;
    // The file is judged by itself first, so that a mistake in it is not blamed on a variable.
    serde_path_to_error::deserialize::<_, Config>(Value::Table(table.clone())).map_err(|error| ConfigError::File {
        path: path.to_owned(),
        message: format!("`{}`: {}", error.path(), error.inner().message()),
    })?;
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
    match serde_path_to_error::deserialize::<_, Config>(Value::Table(alone)) {
        Ok(_) => put(table, &path, value),
        Err(error) if error.inner().message().starts_with("unknown field") => {
            warn!(variable, "no such key in the configuration; the variable is ignored");
        }
        // A part of a table, which is judged when the whole is put together.
        Err(error) if error.inner().message().starts_with("missing field") => put(table, &path, value),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("docent.toml");
        std::fs::write(&path, text).expect("written");
        let environment = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Config::load(Some(&path), environment, Overrides::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_environment_is_over_the_file() {
        let text = "listen = \"127.0.0.1:1\"\n[agent]\nworkers = 2\n";
        let environment = [("DOCENT_AGENT__WORKERS", "3"), ("DOCENT_PORT", "tcp://10.0.0.1:80"), ("HOME", "/root")];
        let config = load(text, &environment).expect("loads");
        assert_eq!((config.listen.port(), config.agent.workers), (1, 3));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, environment, named) in [
            ("lisen = 1", &[][..], "`lisen`"),
            ("[agent]\nworker = 1", &[], "`worker`"),
            ("[agent]\nworkers = \"many\"", &[], "`agent.workers`"),
            ("[agent", &[], "TOML"),
            ("", &[("DOCENT_LISTEN", "everywhere")], "DOCENT_LISTEN"),
            ("store = \"postgres://user:secret@host/db\"", &[], "not in postgres"),
            ("[agent]\nmodel = \"gpt\"", &[], "known: sonnet, opus"),
            ("[models.fast]", &[], "`provider`"),
            ("[models.sonnet]\nprovider = \"anthropic\"", &[], "come with a later version"),
            ("[models.sonnet]\nprovider = \"builtin\"\nmodel = \"x\"", &[], "`models.sonnet.model`: the builtin model"),
            ("[models.sonnet]\napi_key_env = \"X\"", &[], "come with a later version"),
            ("[models.sonnet]\nprovide = \"builtin\"", &[], "`provide`"),
            ("", &[("DOCENT_MODELS__SONNET__PROVIDER", "openai")], "come with a later version"),
            ("", &[("DOCENT_MODELS__SONNET__MODEL", "x")], "DOCENT_MODELS__SONNET__MODEL: the builtin model"),
        ] {
            let error = load(text, environment).expect_err(text);
            assert!(error.contains(named), "{text}: {error}");
            assert!(!error.contains("secret"));
        }
    }
}
