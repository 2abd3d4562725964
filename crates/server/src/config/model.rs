//! `[models.NAME]`: a model's provider, and the settings of requests to it.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use docent_types::TokenPrice;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::ConfigError;
use crate::config::variable::is_variable;
use docent_http_client::{BaseUrl, SecretSource};

/// The configuration of one named model.
#[derive(Debug, Clone)]
pub(crate) enum ModelConfig {
    Builtin,
    Anthropic(Endpoint),
    OpenAi(Endpoint, OpenAiQuirks),
}

impl ModelConfig {
    /// Whether this is a language model; `builtin` is not.
    pub(crate) const fn is_language(&self) -> bool {
        !matches!(self, Self::Builtin)
    }

    pub(crate) const fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Self::Builtin => None,
            Self::Anthropic(endpoint) | Self::OpenAi(endpoint, _) => Some(endpoint),
        }
    }
}

/// A language model behind an API.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// The provider's name for the model.
    pub(crate) model: String,
    /// The base URL of the API; without it, the provider's own.
    pub(crate) base_url: Option<String>,
    pub(crate) key: Option<SecretSource>,
    pub(crate) context_tokens: Option<NonZeroU32>,
    pub(crate) max_reply_tokens: Option<NonZeroU32>,
    /// Maximum wait for the next bytes of a response.
    pub(crate) idle: Option<Duration>,
    pub(crate) price: Option<TokenPrice>,
}

/// Options for servers that are only partly compatible with OpenAI's API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OpenAiQuirks {
    /// Sends `tool_choice: "required"`: for models that answer with text where a tool call is expected.
    pub(crate) force_tools: bool,
    /// Parses tool calls in the text, for models whose server does not separate them.
    pub(crate) text_tool_calls: bool,
}

/// The keys of a model, not yet validated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelKeys {
    provider: Option<Provider>,
    model: Option<String>,
    base_url: Option<String>,
    api_key_env: Option<String>,
    api_key_file: Option<PathBuf>,
    context_tokens: Option<NonZeroU32>,
    max_reply_tokens: Option<NonZeroU32>,
    idle_seconds: Option<NonZeroU64>,
    force_tools: Option<bool>,
    text_tool_calls: Option<bool>,
    #[serde(default, deserialize_with = "amount")]
    input_price: Option<f64>,
    #[serde(default, deserialize_with = "amount")]
    cached_input_price: Option<f64>,
    #[serde(default, deserialize_with = "amount")]
    output_price: Option<f64>,
}

/// An amount of money: a number, or, as in an environment variable, the text of one.
pub(super) fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number")]
    enum Amount {
        Number(f64),
        Text(String),
    }
    let amount = match Amount::deserialize(from)? {
        Amount::Number(number) => Some(number),
        Amount::Text(text) => text.trim().parse().ok(),
    };
    let amount = amount.filter(|amount| amount.is_finite() && (0.0..=1e12).contains(amount));
    amount.map(Some).ok_or_else(|| D::Error::custom("expected an amount of money, such as 3 or 0.25"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
enum Provider {
    Anthropic,
    OpenAi,
    Builtin,
}

const PROVIDERS: &str = "`anthropic`, `openai` (OpenAI and every compatible server, by `base_url`) or `builtin`";

impl TryFrom<String> for Provider {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match name.as_str() {
            "anthropic" => Ok(Self::Anthropic),
            "openai" => Ok(Self::OpenAi),
            docent_llm::BUILTIN => Ok(Self::Builtin),
            _ => Err(format!("there is no provider `{name}`; say {PROVIDERS}")),
        }
    }
}

/// An invalid key of a model, and the reason.
#[derive(Debug)]
pub(super) struct ModelConfigError {
    key: &'static str,
    sentence: String,
}

impl ModelConfigError {
    fn new(key: &'static str, sentence: impl Into<String>) -> Self {
        Self { key, sentence: sentence.into() }
    }

    pub(super) fn below(self, table: &str) -> ConfigError {
        ConfigError::wrong(format!("{table}.{}", self.key), self.sentence)
    }
}

impl ModelKeys {
    pub(super) fn validate(self) -> Result<ModelConfig, ModelConfigError> {
        match self.provider {
            None => Err(ModelConfigError::new("provider", format!("is missing; say {PROVIDERS}"))),
            Some(Provider::Builtin) => match self.first_given() {
                Some(key) => Err(ModelConfigError::new(key, "the builtin model takes no such key; leave it out")),
                None => Ok(ModelConfig::Builtin),
            },
            Some(Provider::Anthropic) => {
                let openai_only = [("force_tools", self.force_tools), ("text_tool_calls", self.text_tool_calls)];
                if let Some((key, _)) = openai_only.iter().find(|(_, given)| given.is_some()) {
                    return Err(ModelConfigError::new(key, "only the provider `openai` has this key; leave it out"));
                }
                let endpoint = self.endpoint("claude-sonnet-4-5")?;
                if endpoint.base_url.is_none() && endpoint.key.is_none() {
                    let sentence = "is missing; name the variable that holds the key, for example \
                                    `api_key_env = \"ANTHROPIC_API_KEY\"`, or a file with `api_key_file`";
                    return Err(ModelConfigError::new("api_key_env", sentence));
                }
                Ok(ModelConfig::Anthropic(endpoint))
            }
            Some(Provider::OpenAi) => {
                let ways = OpenAiQuirks {
                    force_tools: self.force_tools.unwrap_or_default(),
                    text_tool_calls: self.text_tool_calls.unwrap_or_default(),
                };
                let endpoint = self.endpoint("gpt-5")?;
                if endpoint.base_url.is_none() && endpoint.key.is_none() {
                    let sentence = "is missing; name the variable that holds the key, for example \
                                    `api_key_env = \"OPENAI_API_KEY\"`, or give the `base_url` of a server that needs none";
                    return Err(ModelConfigError::new("api_key_env", sentence));
                }
                Ok(ModelConfig::OpenAi(endpoint, ways))
            }
        }
    }

    /// The first key beside `provider` that has a value.
    fn first_given(&self) -> Option<&'static str> {
        [
            ("model", self.model.is_some()),
            ("base_url", self.base_url.is_some()),
            ("api_key_env", self.api_key_env.is_some()),
            ("api_key_file", self.api_key_file.is_some()),
            ("context_tokens", self.context_tokens.is_some()),
            ("max_reply_tokens", self.max_reply_tokens.is_some()),
            ("idle_seconds", self.idle_seconds.is_some()),
            ("force_tools", self.force_tools.is_some()),
            ("text_tool_calls", self.text_tool_calls.is_some()),
            ("input_price", self.input_price.is_some()),
            ("cached_input_price", self.cached_input_price.is_some()),
            ("output_price", self.output_price.is_some()),
        ]
        .into_iter()
        .find_map(|(key, given)| given.then_some(key))
    }

    fn price(&self) -> Result<Option<TokenPrice>, ModelConfigError> {
        let beside = |key, other| {
            Err(ModelConfigError::new(key, format!("is missing beside `{other}`; give the prices of both, or none")))
        };
        match (self.input_price, self.output_price) {
            (Some(input), Some(output)) => {
                let cached_input = self.cached_input_price.unwrap_or(input);
                Ok(Some(TokenPrice { input, cached_input, output }))
            }
            (None, None) if self.cached_input_price.is_some() => beside("input_price", "cached_input_price"),
            (None, None) => Ok(None),
            (None, Some(_)) => beside("input_price", "output_price"),
            (Some(_), None) => beside("output_price", "input_price"),
        }
    }

    fn endpoint(self, example: &str) -> Result<Endpoint, ModelConfigError> {
        let price = self.price()?;
        let Some(model) = self.model.filter(|model| !model.trim().is_empty()) else {
            let sentence = format!("is missing; give the provider's name for the model, for example `{example}`");
            return Err(ModelConfigError::new("model", sentence));
        };
        let key = match (self.api_key_env, self.api_key_file) {
            (Some(_), Some(_)) => {
                return Err(ModelConfigError::new(
                    "api_key_file",
                    "stands beside `api_key_env`; leave one of the two out",
                ));
            }
            (Some(variable), None) if !is_variable(&variable) => {
                // The value may be the key itself, so it is not shown.
                let sentence =
                    "is no name of a variable; give the name of the variable that holds the key, not the key";
                return Err(ModelConfigError::new("api_key_env", sentence));
            }
            (Some(variable), None) => Some(SecretSource::Variable(variable)),
            (None, Some(file)) => Some(SecretSource::File(file)),
            (None, None) => None,
        };
        if let Some(url) = &self.base_url {
            let site = BaseUrl::parse(url).map_err(|why| {
                ModelConfigError::new(
                    "base_url",
                    format!("{why}; give the address of the server's API, for example `http://127.0.0.1:8000/v1`"),
                )
            })?;
            if key.is_some() && site.is_in_the_clear() {
                let sentence = format!("the key is not sent to {} over plain http; use https", site.host());
                return Err(ModelConfigError::new("base_url", sentence));
            }
        }
        let (context, reply) = (self.context_tokens, self.max_reply_tokens);
        if let (Some(context), Some(reply)) = (context, reply)
            && reply >= context
        {
            let sentence = format!("{reply} leaves no room for the request in `context_tokens`, {context}");
            return Err(ModelConfigError::new("max_reply_tokens", sentence));
        }
        let idle = self.idle_seconds.map(|seconds| Duration::from_secs(seconds.get()));
        let (context_tokens, max_reply_tokens) = (context, reply);
        Ok(Endpoint { model, base_url: self.base_url, key, context_tokens, max_reply_tokens, idle, price })
    }
}
