//! The model names that a request may give, and the configured model each refers to.
//!
//! Without a language model both names of the API, `sonnet` and `opus`, run on `builtin`, and so does every other
//! configured name. With one, no name falls back to `builtin` by itself: if one of the two names of the API is not
//! configured, it runs on the other, or, if that is not a language model, on the agent's model.

use std::collections::BTreeMap;

use super::{ConfigError, ModelConfig};

/// The two model names that the API offers.
const OF_THE_API: [&str; 2] = ["sonnet", "opus"];

/// The model that a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunsOn {
    /// The configured model with exactly this name.
    Itself,
    /// Another configured model, which replaces the missing one of this name.
    Other(String),
    /// No language model is configured at all.
    Builtin,
}

#[derive(Debug)]
pub(super) struct Names {
    pub(super) agent: String,
    pub(super) assistant: String,
    pub(super) offered: BTreeMap<String, RunsOn>,
}

pub(super) fn validate(
    models: &BTreeMap<String, ModelConfig>,
    agent: Option<String>,
    assistant: Option<String>,
) -> Result<Names, ConfigError> {
    let agent = agent.map_or_else(|| default(models), Ok)?;
    let offered = offered(models, &agent);
    let assistant = assistant.unwrap_or_else(|| agent.clone());
    for (key, name) in [("agent.model", &agent), ("assistant.model", &assistant)] {
        if !offered.contains_key(name) {
            let known = offered.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(ConfigError::wrong(key, format!("there is no model `{name}`; known: {known}")));
        }
    }
    Ok(Names { agent, assistant, offered })
}

/// The default model of jobs and of the assistant.
fn default(models: &BTreeMap<String, ModelConfig>) -> Result<String, ConfigError> {
    let configured = OF_THE_API.into_iter().find(|name| models.contains_key(*name));
    if let Some(name) = configured {
        return Ok(name.to_owned());
    }
    let mut languages = models.iter().filter(|(_, model)| model.is_language()).map(|(name, _)| name);
    match (languages.next(), languages.next()) {
        (None, _) => Ok(OF_THE_API[0].to_owned()),
        (Some(only), None) => Ok(only.clone()),
        (Some(one), Some(two)) => {
            let sentence =
                format!("is missing; say which model jobs run on when they name none, for example `{one}` or `{two}`");
            Err(ConfigError::wrong("agent.model", sentence))
        }
    }
}

fn offered(models: &BTreeMap<String, ModelConfig>, agent: &str) -> BTreeMap<String, RunsOn> {
    let mut offered: BTreeMap<String, RunsOn> = models.keys().map(|name| (name.clone(), RunsOn::Itself)).collect();
    let is_language = |name: &&str| models.get(*name).is_some_and(ModelConfig::is_language);
    let any_language = models.values().any(ModelConfig::is_language);
    for [name, other] in [OF_THE_API, [OF_THE_API[1], OF_THE_API[0]]] {
        if models.contains_key(name) {
            continue;
        }
        let stand_in =
            Some(other).filter(is_language).or_else(|| Some(agent).filter(|name| models.contains_key(*name)));
        match stand_in {
            _ if !any_language => offered.insert(name.to_owned(), RunsOn::Builtin),
            Some(stand_in) => offered.insert(name.to_owned(), RunsOn::Other(stand_in.to_owned())),
            // The agent's model has this name, so nothing may replace it: the name is refused as unknown.
            None => None,
        };
    }
    offered
}
