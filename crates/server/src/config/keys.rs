//! The keys of the configuration with their raw values, not yet validated together.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::{NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use docent_agent::TurnLimits;
use docent_assistant::{DailyLimit, DailyLimits};
use docent_dashboard::Prices;
use docent_http_client::BaseUrl;
use docent_jobs::Retention;
use docent_types::Domain;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::forges::ForgesKeys;
use super::hooks::{self, HookKeys};
use super::model::{ModelKeys, amount};
use super::names::{self, Names, RunsOn};
use super::openid::OpenIdKeys;
use super::proxies;
use super::search::SearchKeys;
use super::store::StoreConfig;
use super::{AgentConfig, AssistantConfig, Config, ConfigError, GitConfig, GithubApp, ModelConfig, Overrides, SshKey};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum value of `resume_seconds`: how long a reply may continue without a reader, in seconds.
const LONGEST_RESUME: u32 = 600;
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Keys {
    #[serde(deserialize_with = "listen")]
    listen: SocketAddr,
    public_url: Option<String>,
    data: PathBuf,
    store: String,
    store_password_env: Option<String>,
    store_password_file: Option<PathBuf>,
    store_connections: NonZeroU16,
    currency: String,
    models: BTreeMap<String, ModelKeys>,
    agent: AgentKeys,
    assistant: AssistantKeys,
    limits: LimitsConfig,
    retention: RetentionKeys,
    #[serde(deserialize_with = "words")]
    trusted_proxies: Vec<String>,
    client_ip_header: Option<String>,
    forges: ForgesKeys,
    github_app: GithubAppKeys,
    git: GitKeys,
    openid: OpenIdKeys,
    search: SearchKeys,
    hooks: BTreeMap<String, HookKeys>,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            public_url: None,
            data: PathBuf::from("./docent-data"),
            store: "sqlite".to_owned(),
            store_password_env: None,
            store_password_file: None,
            store_connections: NonZeroU16::new(16).unwrap_or(NonZeroU16::MIN),
            currency: "USD".to_owned(),
            models: BTreeMap::new(),
            agent: AgentKeys::default(),
            assistant: AssistantKeys::default(),
            limits: LimitsConfig::default(),
            retention: RetentionKeys::default(),
            trusted_proxies: Vec::new(),
            client_ip_header: None,
            forges: ForgesKeys::default(),
            github_app: GithubAppKeys::default(),
            git: GitKeys::default(),
            openid: OpenIdKeys::default(),
            search: SearchKeys::default(),
            hooks: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AgentKeys {
    model: Option<String>,
    workers: NonZeroUsize,
    jobs_at_once_per_project: Option<NonZeroUsize>,
    max_steps: Option<NonZeroU32>,
    max_tokens: Option<NonZeroU64>,
    max_minutes: Option<NonZeroU32>,
    max_files: Option<NonZeroUsize>,
    max_bytes: Option<NonZeroUsize>,
    #[serde(deserialize_with = "words")]
    labels: Vec<String>,
}

impl Default for AgentKeys {
    fn default() -> Self {
        Self {
            model: None,
            workers: NonZeroUsize::new(8).unwrap_or(NonZeroUsize::MIN),
            jobs_at_once_per_project: None,
            max_steps: None,
            max_tokens: None,
            max_minutes: None,
            max_files: None,
            max_bytes: None,
            labels: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AssistantKeys {
    model: Option<String>,
    suggestions: bool,
    thread_days: u32,
    resume_seconds: u32,
    tokens_per_day: Option<u64>,
    #[serde(deserialize_with = "amount")]
    cost_per_day: Option<f64>,
    sites: BTreeMap<Domain, DailyLimitKeys>,
}

/// The limits of one site.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DailyLimitKeys {
    tokens_per_day: Option<u64>,
    #[serde(deserialize_with = "amount")]
    cost_per_day: Option<f64>,
}

impl Default for AssistantKeys {
    fn default() -> Self {
        Self {
            model: None,
            suggestions: false,
            thread_days: 90,
            resume_seconds: 30,
            tokens_per_day: None,
            cost_per_day: None,
            sites: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RetentionKeys {
    journal_days: u32,
    job_days: u32,
}

impl Default for RetentionKeys {
    fn default() -> Self {
        Self { journal_days: 30, job_days: 365 }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GithubAppKeys {
    #[serde(deserialize_with = "id")]
    id: Option<String>,
    private_key_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GitKeys {
    ssh_key_file: Option<PathBuf>,
    ssh_known_hosts_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsConfig {
    pub(crate) agent_jobs_per_hour: u32,
    pub(crate) agent_messages_per_hour: u32,
    /// Maximum number of requests per hour to the assistant, search and page endpoints of a project.
    pub(crate) assistant_requests_per_hour: u32,
    /// Maximum number of those requests per day from one address, over all projects.
    pub(crate) assistant_requests_per_address_per_day: u32,
    /// Maximum number of concurrent replies of the assistant per project.
    pub(crate) assistant_replies_at_once: NonZeroUsize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            agent_jobs_per_hour: 100,
            agent_messages_per_hour: 100,
            assistant_requests_per_hour: 10_000,
            assistant_requests_per_address_per_day: 10_000,
            assistant_replies_at_once: NonZeroUsize::new(100).unwrap_or(NonZeroUsize::MIN),
        }
    }
}

impl Keys {
    /// Validates the keys together.
    pub(super) fn validate(mut self, overrides: Overrides) -> Result<Config, ConfigError> {
        let mut models: BTreeMap<String, ModelConfig> = BTreeMap::new();
        for (name, keys) in self.models {
            let model = keys.validate().map_err(|why| why.below(&format!("models.{name}")))?;
            models.insert(name, model);
        }
        let agent_limits = self.agent.limits();
        let asked = (self.agent.model.take(), self.assistant.model.take());
        let Names { agent, assistant, offered } = names::validate(&models, asked.0, asked.1)?;
        let assistant_price = match &offered[&assistant] {
            RunsOn::Itself => models.get(&assistant),
            RunsOn::Other(other) => models.get(other),
            RunsOn::Builtin => None,
        };
        let assistant_config = self.assistant.validate(assistant.clone(), assistant_price)?;
        let config = Config {
            listen: overrides.listen.unwrap_or(self.listen),
            public_url: self.public_url.as_deref().map(public_url).transpose()?,
            data: overrides.data.unwrap_or_else(|| self.data.clone()),
            configured_data: self.data,
            store: StoreConfig::validate(
                self.store, self.store_password_env, self.store_password_file, self.store_connections,
            )?,
            rerun: None,
            prices: prices(self.currency, &models, &offered),
            models,
            offered,
            agent: AgentConfig {
                model: agent,
                workers: self.agent.workers.get(),
                at_once_per_project: self.agent.jobs_at_once_per_project.unwrap_or(self.agent.workers).get(),
                limits: agent_limits,
                labels: self.agent.labels,
            },
            assistant: assistant_config,
            limits: self.limits,
            retention: self.retention.to_retention(),
            proxies: proxies::validate(self.trusted_proxies, self.client_ip_header)?,
            tokens: self.forges.validate()?,
            github_app: self.github_app.validate()?,
            git: self.git.validate()?,
            openid: self.openid.validate()?,
            hooks: hooks::validate(self.hooks)?,
            question_waits: self.search.waits()?,
            sources: BTreeMap::new(),
            search: self.search.validate()?,
        };
        config.tokens.are_no_other_secrets(&config)?;
        Ok(config)
    }
}

impl AgentKeys {
    /// The turn limits, with the agent's default for keys that are not set.
    fn limits(&self) -> TurnLimits {
        let usual = TurnLimits::default();
        TurnLimits {
            steps: self.max_steps.map_or(usual.steps, NonZeroU32::get),
            tokens: self.max_tokens.map_or(usual.tokens, NonZeroU64::get),
            minutes: self.max_minutes.map_or(usual.minutes, NonZeroU32::get),
            files: self.max_files.map_or(usual.files, NonZeroUsize::get),
            bytes: self.max_bytes.map_or(usual.bytes, NonZeroUsize::get),
            ..usual
        }
    }
}

impl AssistantKeys {
    /// `model` is the resolved name of the assistant's model, and `runs_on` what is configured for it.
    fn validate(self, model: String, runs_on: Option<&ModelConfig>) -> Result<AssistantConfig, ConfigError> {
        let limits = self.daily_limits();
        let price = runs_on.and_then(|model| model.endpoint()?.price);
        let limits_cost = limits.by_domain.values().chain([&limits.usual]).any(|limit| limit.cost_micros.is_some());
        if limits_cost && price.is_none() && runs_on.is_some_and(ModelConfig::is_language) {
            let sentence = format!(
                "needs the prices of the model `{model}`; give its `input_price` and `output_price`, or limit `tokens_per_day`"
            );
            return Err(ConfigError::wrong("assistant.cost_per_day", sentence));
        }
        if self.resume_seconds > LONGEST_RESUME {
            let sentence =
                format!("is more than {LONGEST_RESUME}; a reply that nobody reads costs as much as one that is read");
            return Err(ConfigError::wrong("assistant.resume_seconds", sentence));
        }
        Ok(AssistantConfig {
            model,
            suggestions: self.suggestions,
            keep_threads: days(self.thread_days),
            resumable: Duration::from_secs(self.resume_seconds.into()),
            limits,
            price,
        })
    }

    fn daily_limits(&self) -> DailyLimits {
        let limit = |tokens: Option<u64>, cost: Option<f64>| DailyLimit {
            tokens,
            cost_micros: cost.map(|cost| (cost * 1e6).round() as u64),
        };
        let own = |(domain, keys): (&Domain, &DailyLimitKeys)| {
            (domain.clone(), limit(keys.tokens_per_day, keys.cost_per_day))
        };
        DailyLimits {
            usual: limit(self.tokens_per_day, self.cost_per_day),
            by_domain: self.sites.iter().map(own).collect(),
        }
    }
}

impl RetentionKeys {
    fn to_retention(&self) -> Retention {
        Retention { journals: days(self.journal_days), jobs: days(self.job_days) }
    }
}

/// A number of days; `0` means for ever.
fn days(days: u32) -> Option<Duration> {
    (days > 0).then(|| DAY * days)
}

impl GithubAppKeys {
    fn validate(self) -> Result<Option<GithubApp>, ConfigError> {
        match (self.id, self.private_key_file) {
            (None, None) => Ok(None),
            (Some(id), Some(private_key_file)) => Ok(Some(GithubApp { id, private_key_file })),
            (Some(_), None) => Err(ConfigError::wrong(
                "github_app.private_key_file",
                "is missing; name the .pem file that GitHub gave out when the App's private key was generated",
            )),
            (None, Some(_)) => {
                Err(ConfigError::wrong("github_app.id", "is missing; it is on the App's page on GitHub, under About"))
            }
        }
    }
}

impl GitKeys {
    fn validate(self) -> Result<GitConfig, ConfigError> {
        let ssh = match (self.ssh_key_file, self.ssh_known_hosts_file) {
            (Some(key_file), known_hosts_file) => Some(SshKey { key_file, known_hosts_file }),
            (None, None) => None,
            (None, Some(_)) => {
                let sentence = "is missing beside `git.ssh_known_hosts_file`; name the private key, or leave both out and \
                                let ssh find its own";
                return Err(ConfigError::wrong("git.ssh_key_file", sentence));
            }
        };
        Ok(GitConfig { ssh })
    }
}

/// The prices of all model names that a request may give.
fn prices(currency: String, models: &BTreeMap<String, ModelConfig>, offered: &BTreeMap<String, RunsOn>) -> Prices {
    let price = |(name, on): (&String, &RunsOn)| {
        let model = match on {
            RunsOn::Itself => name,
            RunsOn::Other(other) => other,
            RunsOn::Builtin => return None,
        };
        Some((name.clone(), models.get(model)?.endpoint()?.price?))
    };
    Prices { currency, models: offered.iter().filter_map(price).collect() }
}

/// The public URL of the server, without a trailing slash.
fn public_url(given: &str) -> Result<String, ConfigError> {
    let wrong = |sentence| Err(ConfigError::wrong("public_url", sentence));
    match BaseUrl::parse(given) {
        Ok(_) => Ok(given.trim_end_matches('/').to_owned()),
        Err(why) => {
            wrong(format!("{why}; give the address people reach the server at, such as `https://docent.example.com`"))
        }
    }
}

fn listen<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let given = String::deserialize(from)?;
    given.parse().map_err(|_| {
        let shown: String = given.chars().take(80).collect();
        D::Error::custom(format!(
            "`{shown}` is not an address to listen on; write an IP address and a port, such as `127.0.0.1:8080`"
        ))
    })
}

/// Parses an id, which is a number or a text that may look like one.
fn id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the App's id, a number or a text")]
    enum Id {
        Number(u64),
        Text(String),
    }
    Ok(Some(match Id::deserialize(from)? {
        Id::Number(number) => number.to_string(),
        Id::Text(text) => text,
    }))
}

/// A list of words, or, as in an environment variable, one text with commas between them.
pub(super) fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list of texts, or one text with commas between them")]
    enum Words {
        List(Vec<String>),
        Text(String),
        Number(i64),
    }
    let words = match Words::deserialize(from)? {
        Words::List(words) => words,
        Words::Text(text) => text.split(',').map(str::to_owned).collect(),
        Words::Number(number) => vec![number.to_string()],
    };
    Ok(words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).map(str::to_owned).collect())
}
