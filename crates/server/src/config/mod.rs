//! `docent.toml`, overridden by the environment, which the command line overrides.
//!
//! Every key has a variable: `DOCENT_` and the key in capitals, `__` between levels (`DOCENT_AGENT__WORKERS`). An
//! unknown key in the file is an error that names it. An unknown variable is only warned about, because orchestrators
//! set variables of that form on their own (`DOCENT_PORT` beside a service called `docent`).
//!
//! [`keys::Keys`] holds the values as written; [`Config`] holds them validated.

mod hooks;
mod keys;
mod load;
mod model;
mod names;
mod openid;
mod proxies;
mod search;
mod sources;
pub(crate) mod variable;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use hooks::HookConfig;
pub(crate) use keys::LimitsConfig;
pub(crate) use load::ConfigError;
pub(crate) use model::{Endpoint, ModelConfig, OpenAiQuirks};
pub(crate) use names::RunsOn;
pub(crate) use openid::OpenIdSignIn;
pub(crate) use search::{EmbeddingsConfig, SearchConfig};

/// The whole configuration.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    /// Where people reach the server; the address it listens on when not given.
    pub(crate) public_url: Option<String>,
    pub(crate) data: PathBuf,
    /// The models that are configured, by the names requests give.
    pub(crate) models: BTreeMap<String, ModelConfig>,
    /// Every name a request may give, and what it runs on.
    pub(crate) offered: BTreeMap<String, RunsOn>,
    /// What they cost, as far as that is said.
    pub(crate) prices: docent_dashboard::Prices,
    pub(crate) agent: AgentConfig,
    pub(crate) assistant: AssistantConfig,
    pub(crate) limits: LimitsConfig,
    /// How long ended jobs are kept.
    pub(crate) retention: docent_jobs::Retention,
    /// The proxies in front of the server that are believed.
    pub(crate) proxies: Option<docent_access::Proxies>,
    pub(crate) github_app: Option<GithubApp>,
    pub(crate) git: GitConfig,
    /// The identity provider that people may sign in at.
    pub(crate) openid: Option<OpenIdSignIn>,
    /// Who is told of the ends of jobs.
    pub(crate) hooks: Vec<HookConfig>,
    pub(crate) search: SearchConfig,
    /// How long the vector of a question is waited for.
    pub(crate) question_waits: docent_embed::Waits,
    /// Where each key comes from that was given, for people: the line of the file, the variable, the option.
    pub(crate) sources: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
pub(crate) struct AgentConfig {
    /// The model of a job that names none, one of those offered.
    pub(crate) model: String,
    /// Jobs run at the same time.
    pub(crate) workers: usize,
    /// Of those, how many may be one project's.
    pub(crate) at_once_per_project: usize,
    /// What one turn of a job may take.
    pub(crate) limits: docent_agent::TurnLimits,
    /// Put on each pull request, where the forge has labels.
    pub(crate) labels: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct AssistantConfig {
    /// The model of the assistant, one of those offered.
    pub(crate) model: String,
    /// Whether answers end with questions to ask next, on sites that do not say.
    pub(crate) suggestions: bool,
    /// How long a conversation is kept after it was last touched; `None` for ever.
    pub(crate) keep_threads: Option<Duration>,
    /// How long a reply without a reader continues, if its chat has announced that it resumes.
    pub(crate) resumable: Duration,
}

/// The GitHub App that opens repositories of projects without a token of their own.
#[derive(Debug, Clone)]
pub(crate) struct GithubApp {
    /// The App's id, or its client id.
    pub(crate) id: String,
    pub(crate) private_key_file: PathBuf,
}

/// How git servers are spoken to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitConfig {
    /// What OpenSSH finds by itself when not given.
    pub(crate) ssh: Option<SshKey>,
}

/// How we are known to git servers over ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SshKey {
    pub(crate) key_file: PathBuf,
    /// The hosts that are trusted; those the user knows when not given.
    pub(crate) known_hosts_file: Option<PathBuf>,
}

/// What the command line says over the file and the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) data: Option<PathBuf>,
}
