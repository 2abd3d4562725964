//! The configuration: `docent.toml`, overridden by the environment, which is overridden by the command line.
//!
//! Every key has a variable: `DOCENT_` and the key in capitals, `__` between levels (`DOCENT_AGENT__WORKERS`). An
//! unknown key in the file is an error that names it. An unknown variable only causes a warning, because orchestrators
//! set variables of that form (`DOCENT_PORT` beside a service called `docent`).
//!
//! [`keys::Keys`] has the raw values; [`Config`] has the validated ones.

mod forges;
mod hooks;
mod keys;
mod load;
mod model;
mod names;
mod openid;
mod proxies;
mod search;
mod sources;
mod store;
pub(crate) mod variable;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use docent_http_client::SecretSource;
pub(crate) use forges::OfferedTokens;
pub(crate) use hooks::HookConfig;
pub(crate) use keys::LimitsConfig;
pub(crate) use load::ConfigError;
pub(crate) use model::{Endpoint, ModelConfig, OpenAiQuirks};
pub(crate) use names::RunsOn;
pub(crate) use openid::OpenIdSignIn;
pub(crate) use search::{EmbeddingsConfig, SearchConfig};
pub(crate) use store::{PostgresConfig, StoreConfig};

/// The complete, validated configuration.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    /// The URL by which people reach the server; without it, the address that it listens on is used.
    pub(crate) public_url: Option<String>,
    pub(crate) data: PathBuf,
    /// The data folder without the command line's `--data`.
    pub(crate) configured_data: PathBuf,
    pub(crate) store: StoreConfig,
    /// The command line of `docent run`, to be given again with more allowed.
    pub(crate) rerun: Option<String>,
    /// The configured models, by the names that requests give.
    pub(crate) models: BTreeMap<String, ModelConfig>,
    /// Every model name that a request may give, and the model that it refers to.
    pub(crate) offered: BTreeMap<String, RunsOn>,
    /// The prices of the models, as far as they are configured.
    pub(crate) prices: docent_dashboard::Prices,
    pub(crate) agent: AgentConfig,
    pub(crate) assistant: AssistantConfig,
    pub(crate) limits: LimitsConfig,
    /// How long ended jobs are stored.
    pub(crate) retention: docent_jobs::Retention,
    /// The trusted proxies in front of the server.
    pub(crate) proxies: Option<docent_access::Proxies>,
    /// The tokens that owners may choose for a project in the dashboard.
    pub(crate) tokens: OfferedTokens,
    pub(crate) github_app: Option<GithubApp>,
    pub(crate) git: GitConfig,
    /// The identity provider at which people may sign in.
    pub(crate) openid: Option<OpenIdSignIn>,
    /// The receivers of webhooks about the ends of jobs.
    pub(crate) hooks: Vec<HookConfig>,
    pub(crate) search: SearchConfig,
    /// Maximum waits for the vector of a question.
    pub(crate) question_waits: docent_embed::Waits,
    /// The source of each key that is set, for display: the line of the file, the variable, or the option.
    pub(crate) sources: BTreeMap<String, String>,
}

impl Config {
    /// The folder of the copies of repositories.
    pub(crate) fn mirrors(&self) -> PathBuf {
        self.data.join("mirrors")
    }

    /// The secrets of this server that are not for forges, each with its key of the configuration.
    fn secrets(&self) -> impl Iterator<Item = (String, &SecretSource)> {
        let models = self.models.iter().filter_map(|(name, model)| {
            let key = model.endpoint()?.key.as_ref()?;
            Some((format!("models.{name}"), key))
        });
        let embedder = match &self.search {
            SearchConfig::Endpoint(embeddings) => embeddings.key.as_ref(),
            SearchConfig::Words | SearchConfig::Static(_) | SearchConfig::Transformer(_) => None,
        };
        let hooks = self.hooks.iter().map(|hook| (format!("{}.secret_env", hook.key), &hook.secret));
        let sign_in = self.openid.as_ref().and_then(|openid| openid.client_secret.as_ref());
        models
            .chain(embedder.map(|key| ("search.api_key_env".to_owned(), key)))
            .chain(hooks)
            .chain(self.store.password().map(|password| ("store_password".to_owned(), password)))
            .chain(sign_in.map(|secret| ("openid.client_secret".to_owned(), secret)))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct AgentConfig {
    /// The default model of jobs, one of those offered.
    pub(crate) model: String,
    /// Number of concurrent jobs.
    pub(crate) workers: usize,
    /// Maximum number of concurrent jobs per project.
    pub(crate) at_once_per_project: usize,
    /// Limits of one turn of a job.
    pub(crate) limits: docent_agent::TurnLimits,
    /// Labels for each pull request, on forges with labels.
    pub(crate) labels: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct AssistantConfig {
    /// The model of the assistant, one of those offered.
    pub(crate) model: String,
    /// Whether answers end with suggested questions, on sites without a setting of their own.
    pub(crate) suggestions: bool,
    /// How long a conversation is stored after its last use; `None` for ever.
    pub(crate) keep_threads: Option<Duration>,
    /// How long a reply without a reader continues, if the chat client has declared that it resumes.
    pub(crate) resumable: Duration,
    /// The most that the assistant may spend in a day.
    pub(crate) limits: docent_assistant::DailyLimits,
    /// The price of `model`, if it is configured.
    pub(crate) price: Option<docent_types::TokenPrice>,
}

/// The GitHub App for the repositories of projects without their own token.
#[derive(Debug, Clone)]
pub(crate) struct GithubApp {
    /// The App's id, or its client id.
    pub(crate) id: String,
    pub(crate) private_key_file: PathBuf,
}

/// The settings for git servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitConfig {
    /// The key for ssh; without it, OpenSSH uses its defaults.
    pub(crate) ssh: Option<SshKey>,
}

/// The credentials for git servers over ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SshKey {
    pub(crate) key_file: PathBuf,
    /// The trusted host keys; without it, the user's own file.
    pub(crate) known_hosts_file: Option<PathBuf>,
}

/// The settings of the command line, which override the file and the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) data: Option<PathBuf>,
}
