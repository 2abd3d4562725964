//! `[[hooks]]`: the receivers of webhooks about the ends of jobs.

use std::collections::BTreeMap;

use docent_hooks::HookUrl;
use docent_http_client::SecretSource;
use serde::Deserialize;
use toml::{Table, Value};

use super::ConfigError;
use super::variable::is_variable;

/// The keys of a hook, not yet validated.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct HookKeys {
    url: Option<String>,
    secret_env: Option<String>,
}

/// A receiver of webhooks.
#[derive(Debug, Clone)]
pub(crate) struct HookConfig {
    /// The key of the hook's table: `hooks.0` for the first hook of the file.
    pub(crate) key: String,
    pub(crate) url: HookUrl,
    pub(crate) secret: SecretSource,
}

/// Numbers the hooks of a file, so that a variable can refer to one: `hooks.0.url` is `DOCENT_HOOKS__0__URL`.
pub(super) fn number(table: &mut Table) -> Result<(), ConfigError> {
    let numbered = match table.get_mut("hooks") {
        None => return Ok(()),
        Some(Value::Array(hooks)) => {
            std::mem::take(hooks).into_iter().enumerate().map(|(n, hook)| (n.to_string(), hook)).collect()
        }
        Some(Value::Table(hooks)) if hooks.values().all(Value::is_table) => return Ok(()),
        Some(_) => {
            let sentence = "is a list; write `[[hooks]]`, with two brackets, above the keys of each";
            return Err(ConfigError::wrong("hooks", sentence));
        }
    };
    table.insert("hooks".to_owned(), Value::Table(numbered));
    Ok(())
}

pub(super) fn validate(keys: BTreeMap<String, HookKeys>) -> Result<Vec<HookConfig>, ConfigError> {
    let mut numbered: BTreeMap<u32, HookKeys> = BTreeMap::new();
    for (number, hook) in keys {
        let wrong = |_| ConfigError::wrong(format!("hooks.{number}"), "hooks are numbered: the first is `hooks.0`");
        numbered.insert(number.parse().map_err(wrong)?, hook);
    }
    let mut hooks: Vec<HookConfig> = Vec::new();
    for (number, keys) in numbered {
        let key = format!("hooks.{number}");
        let wrong = |name: &str, sentence: String| Err(ConfigError::wrong(format!("{key}.{name}"), sentence));
        let Some(url) = keys.url else {
            return wrong("url", "is missing; give the address that events are posted to".to_owned());
        };
        let url = match HookUrl::parse(&url) {
            Ok(url) => url,
            Err(why) => return wrong("url", format!("{why}; give an address such as `https://example.com/docent`")),
        };
        if let Some(other) = hooks.iter().find(|other| other.url == url) {
            return wrong("url", format!("is that of `{}` too; leave one of the two out", other.key));
        }
        let variable = match keys.secret_env {
            Some(variable) if is_variable(&variable) => variable,
            // The value may be the secret itself, so it is not shown.
            Some(_) => {
                let sentence = "is no name of a variable; give the name of the variable that holds it, not the secret";
                return wrong("secret_env", sentence.to_owned());
            }
            None => {
                let sentence = "is missing; name the variable that holds the secret which events are signed with";
                return wrong("secret_env", sentence.to_owned());
            }
        };
        hooks.push(HookConfig { key, url, secret: SecretSource::Variable(variable) });
    }
    Ok(hooks)
}
