//! `[search]`: the embedder, if there is one.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use docent_embed::{ModelFolder, Waits};
use docent_http_client::{BaseUrl, SecretSource};
use serde::Deserialize;

use super::ConfigError;
use crate::config::variable::is_variable;

/// Maximum time that a question may wait for its vector, in milliseconds.
const LONGEST_WAIT: u32 = 10_000;

/// The method by which search embeds texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum SearchConfig {
    #[default]
    Words,
    /// A static model: the average of its token vectors.
    Static(ModelFolder),
    /// A small sentence-embedding model on this machine.
    Transformer(ModelFolder),
    Endpoint(EmbeddingsConfig),
}

/// An embeddings API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmbeddingsConfig {
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) key: Option<SecretSource>,
    pub(crate) dimensions: Option<usize>,
}

/// The keys, not yet validated.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SearchKeys {
    embedder: EmbedderKind,
    path: Option<PathBuf>,
    model: Option<String>,
    base_url: Option<String>,
    api_key_env: Option<String>,
    dimensions: Option<NonZeroUsize>,
    assistant_wait_ms: Option<NonZeroU32>,
    endpoint_wait_ms: Option<NonZeroU32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EmbedderKind {
    #[default]
    None,
    Static,
    Transformer,
    OpenAi,
}

fn wrong<T>(key: &str, sentence: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError::wrong(format!("search.{key}"), sentence.into()))
}

impl SearchKeys {
    /// The maximum waits for the vector of a question.
    pub(super) fn waits(&self) -> Result<Waits, ConfigError> {
        let usual = Waits::default();
        let wait = |key: &str, given: Option<NonZeroU32>, usual: Duration| match given.map(NonZeroU32::get) {
            None => Ok(usual),
            Some(_) if self.embedder == EmbedderKind::None => {
                wrong(key, "is of no use without `search.embedder`; leave it out")
            }
            Some(millis) if millis > LONGEST_WAIT => {
                wrong(key, format!("is more than {LONGEST_WAIT}; readers would be gone before they are answered"))
            }
            Some(millis) => Ok(Duration::from_millis(millis.into())),
        };
        Ok(Waits {
            assistant: wait("assistant_wait_ms", self.assistant_wait_ms, usual.assistant)?,
            search_box: wait("endpoint_wait_ms", self.endpoint_wait_ms, usual.search_box)?,
        })
    }

    pub(super) fn validate(self) -> Result<SearchConfig, ConfigError> {
        let superfluous = |keys: &[(&str, bool)]| match keys.iter().find(|(_, given)| *given) {
            Some((key, _)) => wrong(key, "is not a key of this `search.embedder`; leave it out"),
            None => Ok(()),
        };
        let remote = [
            ("base_url", self.base_url.is_some()),
            ("api_key_env", self.api_key_env.is_some()),
            ("dimensions", self.dimensions.is_some()),
        ];
        let local = [("path", self.path.is_some()), ("model", self.model.is_some())];
        match self.embedder {
            EmbedderKind::None => superfluous(&[&local[..], &remote[..]].concat()).map(|()| SearchConfig::Words),
            EmbedderKind::Static => superfluous(&remote).and_then(|()| Ok(SearchConfig::Static(self.place()?))),
            EmbedderKind::Transformer => {
                superfluous(&remote).and_then(|()| Ok(SearchConfig::Transformer(self.place()?)))
            }
            EmbedderKind::OpenAi => {
                superfluous(&local[..1]).and_then(|()| Ok(SearchConfig::Endpoint(self.endpoint()?)))
            }
        }
    }

    fn place(self) -> Result<ModelFolder, ConfigError> {
        match (self.path, self.model) {
            (Some(folder), None) => Ok(ModelFolder::Folder(folder)),
            (None, Some(name)) => Ok(ModelFolder::Name(name)),
            (Some(_), Some(_)) => wrong("model", "stands beside `path`; leave one of the two out"),
            (None, None) => wrong(
                "path",
                "is missing; give the folder of a model, or with `model` the name of one in the cache of this machine",
            ),
        }
    }

    fn endpoint(self) -> Result<EmbeddingsConfig, ConfigError> {
        let Some(base_url) = self.base_url else {
            return wrong("base_url", "is missing; give what stands before `/embeddings`");
        };
        let Some(model) = self.model.filter(|model| !model.trim().is_empty()) else {
            return wrong("model", "is missing; give the server's name for the model");
        };
        let key = match self.api_key_env {
            // The value may be the key itself, so it is not shown.
            Some(variable) if !is_variable(&variable) => {
                return wrong("api_key_env", "is no name of a variable; give its name, not the key");
            }
            variable => variable.map(SecretSource::Variable),
        };
        match BaseUrl::parse(&base_url) {
            Err(why) => return wrong("base_url", why.to_string()),
            Ok(site) if key.is_some() && site.is_in_the_clear() => {
                let sentence = format!("the key is not sent to {} over plain http; use https", site.host());
                return wrong("base_url", sentence);
            }
            Ok(_) => {}
        }
        let dimensions = self.dimensions.map(NonZeroUsize::get);
        Ok(EmbeddingsConfig { base_url, model, key, dimensions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validated(text: &str) -> Result<SearchConfig, String> {
        let keys: SearchKeys = toml::from_str(text).map_err(|error| error.to_string())?;
        keys.validate().map_err(|error| error.to_string())
    }

    #[test]
    fn questions_wait_as_long_as_is_said() {
        let waits = |text: &str| {
            let keys: SearchKeys = toml::from_str(text).map_err(|error| error.to_string())?;
            keys.waits().map_err(|error| error.to_string())
        };
        let millis = Duration::from_millis;
        assert_eq!(waits(""), Ok(Waits { assistant: millis(1_500), search_box: millis(300) }));
        let said = "embedder = \"openai\"\nassistant_wait_ms = 900\nendpoint_wait_ms = 600";
        assert_eq!(waits(said), Ok(Waits { assistant: millis(900), search_box: millis(600) }));
        for (text, key) in [
            ("endpoint_wait_ms = 600", "search.endpoint_wait_ms"),
            ("embedder = \"openai\"\nassistant_wait_ms = 10001", "search.assistant_wait_ms"),
            ("embedder = \"openai\"\nassistant_wait_ms = 0", "nonzero"),
        ] {
            let error = waits(text).expect_err(text);
            assert!(error.contains(key), "{error}");
        }
    }

    #[test]
    fn each_embedder_has_its_own_keys() {
        assert_eq!(validated(""), Ok(SearchConfig::Words));
        let folder = ModelFolder::Folder("/m".into());
        assert_eq!(validated("embedder = \"static\"\npath = \"/m\""), Ok(SearchConfig::Static(folder)));
        let name = ModelFolder::Name("a/b".to_owned());
        assert_eq!(validated("embedder = \"transformer\"\nmodel = \"a/b\""), Ok(SearchConfig::Transformer(name)));
        let remote =
            validated("embedder = \"openai\"\nmodel = \"m\"\nbase_url = \"https://x/v1\"\napi_key_env = \"KEY\"");
        assert!(matches!(remote, Ok(SearchConfig::Endpoint(EmbeddingsConfig { key: Some(_), .. }))), "{remote:?}");
        for (text, key) in [
            ("path = \"/m\"", "search.path"),
            ("embedder = \"static\"", "search.path"),
            ("embedder = \"static\"\npath = \"/m\"\nmodel = \"a/b\"", "search.model"),
            ("embedder = \"transformer\"\npath = \"/m\"\ndimensions = 3", "search.dimensions"),
            ("embedder = \"openai\"\nmodel = \"m\"", "search.base_url"),
            ("embedder = \"openai\"\nbase_url = \"https://x\"", "search.model"),
            (
                "embedder = \"openai\"\nmodel = \"m\"\nbase_url = \"https://x\"\napi_key_env = \"sk-1\"",
                "search.api_key_env",
            ),
        ] {
            let error = validated(text).expect_err(text);
            assert!(error.contains(key) && !error.contains("sk-1"), "{error}");
        }
    }
}
