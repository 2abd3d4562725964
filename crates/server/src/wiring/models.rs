//! The configured models, by the names that requests may give.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_builtin::Builtin;
use docent_http_client::{Client, ClientOptions, Secret};
use docent_llm::{Description, EventStream, Model, ModelError, ModelErrorKind, Request};
use docent_llm_http::{Anthropic, Dialect, Endpoint, EndpointError, OpenAi};
use parking_lot::Mutex;
use tracing::{info, warn};

use crate::config::{self, Config, ModelConfig, OpenAiQuirks, RunsOn};
use crate::failure::Failure;
use crate::metrics::ModelCalls;
use docent_http_client::{SecretSource, SecretSourceError};

/// All configured models.
#[derive(Debug)]
pub(crate) struct Models {
    configured: BTreeMap<String, Arc<ConfiguredModel>>,
    offered: BTreeMap<String, Arc<dyn Model>>,
    calls: ModelCalls,
}

impl Models {
    pub(crate) fn new(config: &Config) -> Result<Self, Failure> {
        let options = longest_silence(config).map_or_else(ClientOptions::default, |idle| {
            let usual = ClientOptions::default();
            ClientOptions { head: usual.head.max(idle), idle: usual.idle.max(idle), ..usual }
        });
        let client = Client::new(options);
        let mut configured = BTreeMap::new();
        for (name, model) in &config.models {
            configured.insert(name.clone(), Arc::new(ConfiguredModel::new(name, model, &client)?));
        }
        let calls = ModelCalls::default();
        let runs_on = |name: &str, runs_on: &RunsOn| -> Option<Arc<dyn Model>> {
            let own = |name: &str| configured.get(name).map(|model| calls.of(name, Arc::clone(model) as _));
            match runs_on {
                RunsOn::Itself => own(name),
                RunsOn::Other(other) => own(other),
                RunsOn::Builtin => Some(calls.of("builtin", Arc::new(Builtin))),
            }
        };
        let offered = config.offered.iter();
        let offered = offered.filter_map(|(name, on)| Some((name.clone(), runs_on(name, on)?))).collect();
        Ok(Self { configured, offered, calls })
    }

    /// The model that a name refers to.
    pub(crate) fn named(&self, name: &str) -> Result<Arc<dyn Model>, Failure> {
        let found = self.offered.get(name).cloned();
        found.ok_or_else(|| Failure::plain(format!("there is no model `{name}` in the configuration")))
    }

    /// The counts of model calls.
    pub(crate) const fn calls(&self) -> &ModelCalls {
        &self.calls
    }

    pub(crate) fn offered(&self) -> &BTreeMap<String, Arc<dyn Model>> {
        &self.offered
    }

    /// The configured models by name, with their calls counted.
    pub(crate) fn callable(&self) -> impl Iterator<Item = (String, Arc<dyn Model>)> {
        self.configured.keys().filter_map(|name| Some((name.clone(), Arc::clone(self.offered.get(name)?))))
    }

    /// Logs warnings about the configured models.
    pub(crate) fn announce(&self, config: &Config) {
        for (name, runs_on) in &config.offered {
            if let RunsOn::Other(other) = runs_on {
                info!(model = name, runs_on = other, "this model is not configured; another one replaces it");
            }
        }
        if !config.models.values().any(ModelConfig::is_language) {
            info!("no language model is configured: jobs are docs chores, and answers are quotes");
        }
        for (name, model) in &self.configured {
            if let Err(error) = model.key() {
                warn!(
                    model = name,
                    error = &error as &dyn std::error::Error,
                    "this model cannot be used without its key"
                );
            }
        }
    }

    pub(crate) fn configured(&self) -> impl Iterator<Item = (&str, &ConfiguredModel)> {
        self.configured.iter().map(|(name, model)| (name.as_str(), model.as_ref()))
    }
}

/// The longest idle limit of all models: the client's own limit must not be shorter.
fn longest_silence(config: &Config) -> Option<Duration> {
    config.models.values().filter_map(|model| model.endpoint()?.idle).max()
}

/// One configured model.
///
/// Its key is read again for each call, so that a new key takes effect without a restart. While the key is the same,
/// the client is reused, because it learns which fields its server accepts.
#[derive(Debug)]
pub(crate) struct ConfiguredModel {
    name: String,
    config: ModelConfig,
    client: Client,
    description: Description,
    last: Mutex<(Option<Secret>, ModelClient)>,
}

/// The client of a model.
#[derive(Debug, Clone)]
enum ModelClient {
    Builtin,
    Anthropic(Anthropic),
    OpenAi(OpenAi),
}

impl ConfiguredModel {
    pub(crate) fn new(name: &str, config: &ModelConfig, client: &Client) -> Result<Self, Failure> {
        let model_client = ModelClient::new(config, client, None);
        let model_client =
            model_client.map_err(|error| Failure::new(format!("cannot use the model `{name}`"), error))?;
        Ok(Self {
            name: name.to_owned(),
            config: config.clone(),
            client: client.clone(),
            description: model_client.model().describe(),
            last: Mutex::new((None, model_client)),
        })
    }

    /// Checks that the model can be used, without generating text. Returns the result as one sentence.
    pub(crate) async fn check(&self) -> Result<String, Failure> {
        match self.now()? {
            ModelClient::Builtin => Ok("docs chores and quotes, no language model".to_owned()),
            ModelClient::Anthropic(model) => Ok(model.check().await?),
            ModelClient::OpenAi(model) => Ok(model.check().await?),
        }
    }

    /// Advice for a failed check.
    pub(crate) fn remedy(&self) -> String {
        let Some(endpoint) = self.config.endpoint() else { return String::new() };
        let address = match &endpoint.base_url {
            Some(url) => format!("that a server answers at {url}"),
            None => "that this machine may reach the provider".to_owned(),
        };
        let key = match &endpoint.key {
            Some(key) => format!("the key in {key}"),
            None => "whether it wants a key".to_owned(),
        };
        format!("check {address}, {key}, and `models.{}.model`", self.name)
    }

    /// The current key; `None` if the model needs none.
    pub(crate) fn key(&self) -> Result<Option<Secret>, SecretSourceError> {
        let source = self.config.endpoint().and_then(|endpoint| endpoint.key.as_ref());
        source.map(SecretSource::read).transpose()
    }

    fn now(&self) -> Result<ModelClient, ModelError> {
        let key = self
            .key()
            .map_err(|error| ModelError::new(ModelErrorKind::Auth, "there is no key for it").because(error))?;
        let mut last = self.last.lock();
        if last.0 != key {
            let model_client = ModelClient::new(&self.config, &self.client, key.clone()).map_err(|error| {
                ModelError::new(ModelErrorKind::Fatal, format!("cannot use the model `{}`", self.name)).because(error)
            })?;
            *last = (key, model_client);
        }
        Ok(last.1.clone())
    }
}

impl ModelClient {
    fn new(config: &ModelConfig, client: &Client, key: Option<Secret>) -> Result<Self, EndpointError> {
        let endpoint = |config: &config::Endpoint| {
            let usual = Endpoint::new(config.model.clone());
            Endpoint {
                base_url: config.base_url.clone(),
                key,
                key_source: config.key.as_ref().map(ToString::to_string),
                context_tokens: config.context_tokens.map(Into::into),
                max_reply_tokens: config.max_reply_tokens.map(Into::into),
                idle: config.idle.unwrap_or(usual.idle),
                ..usual
            }
        };
        Ok(match config {
            ModelConfig::Builtin => Self::Builtin,
            ModelConfig::Anthropic(config) => Self::Anthropic(Anthropic::new(client.clone(), endpoint(config))?),
            ModelConfig::OpenAi(config, ways) => {
                let OpenAiQuirks { force_tools, text_tool_calls } = *ways;
                let dialect = Dialect { force_tools, text_tool_calls, ..Dialect::default() };
                Self::OpenAi(OpenAi::new(client.clone(), endpoint(config), dialect)?)
            }
        })
    }

    fn model(&self) -> &dyn Model {
        match self {
            Self::Builtin => &Builtin,
            Self::Anthropic(model) => model,
            Self::OpenAi(model) => model,
        }
    }
}

#[async_trait]
impl Model for ConfiguredModel {
    fn describe(&self) -> Description {
        self.description.clone()
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        self.now()?.model().stream(request).await
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use docent_llm::{Editor, ToolChoice};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    fn endpoint(base_url: String, key: Option<SecretSource>) -> config::Endpoint {
        let context_tokens = NonZeroU32::new(32_000);
        config::Endpoint {
            model: "m".into(),
            base_url: Some(base_url),
            key,
            context_tokens,
            max_reply_tokens: None,
            idle: None,
            price: None,
        }
    }

    fn client() -> Client {
        Client::new(ClientOptions::default())
    }

    /// Refuses one request and returns its head.
    async fn refuse(listener: &TcpListener) -> String {
        let (mut stream, _) = listener.accept().await.expect("a call");
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read_buf(&mut head).await.expect("a request");
            assert!(read > 0, "the whole head");
        }
        let answer = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.expect("answered");
        String::from_utf8(head).expect("a head is text").to_lowercase()
    }

    #[tokio::test]
    async fn a_new_key_counts_at_the_next_call() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("key");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let config =
            ModelConfig::OpenAi(endpoint(url, Some(SecretSource::File(file.clone()))), OpenAiQuirks::default());
        let model = ConfiguredModel::new("sonnet", &config, &client()).expect("a model");
        assert_eq!((model.describe().context_tokens, model.describe().editor), (32_000, Editor::Separate));

        let request = || Request {
            system: String::new(),
            messages: vec![docent_types::Message::text(docent_types::Role::User, "hello")],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_tokens: 100,
        };
        let missing = model.stream(request()).await.err().expect("no key yet");
        assert_eq!(missing.kind, ModelErrorKind::Auth);
        for key in ["first", "second"] {
            std::fs::write(&file, format!("{key}\n")).expect("written");
            let (refused, head) = tokio::join!(model.stream(request()), refuse(&listener));
            assert_eq!(refused.err().expect("refused").kind, ModelErrorKind::Auth);
            assert!(head.contains(&format!("authorization: bearer {key}\r\n")), "{head}");
        }
        assert!(!format!("{model:?}").contains("second"), "no key is shown: {model:?}");
    }
}
