//! Reads settings in TOML and in YAML as the same values, so that one rule reads both.

use docent_markdown::yaml::{self, Yaml};

/// Parses a configuration as TOML or as YAML (which includes JSON), depending on its file extension.
pub(crate) fn parse(name: &str, text: &str) -> Result<Yaml, String> {
    match name.ends_with(".toml") {
        true => match toml::from_str::<toml::Table>(text) {
            Ok(table) => Ok(of_toml(toml::Value::Table(table))),
            Err(error) => Err(format!("the configuration is not TOML: {}", error.message())),
        },
        false => yaml::read(text).map_err(|message| format!("the configuration is not YAML: {message}")),
    }
}

/// Like [`parse`], with nothing in place of a configuration that cannot be parsed, and the error.
pub(crate) fn parse_or_empty(name: &str, text: &str) -> (Yaml, Option<String>) {
    parse(name, text).map_or_else(|message| (Yaml::Empty, Some(message)), |config| (config, None))
}

/// The same values as those of YAML.
pub(crate) fn of_toml(value: toml::Value) -> Yaml {
    match value {
        toml::Value::Table(table) => Yaml::Map(table.into_iter().map(|(key, value)| (key, of_toml(value))).collect()),
        toml::Value::Array(items) => Yaml::List(items.into_iter().map(of_toml).collect()),
        toml::Value::String(text) => Yaml::Text(text),
        single => Yaml::Text(single.to_string()),
    }
}
