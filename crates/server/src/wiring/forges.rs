//! The forges where pull requests are opened, and their tokens: the project's own, or the GitHub App's.

use std::sync::Arc;
use std::time::Duration;

use docent_forge::{Forge, LocalForge, Misconfigured, PullRequests};
use docent_forge_http::{Address, AddressError, GithubApp, Host, HttpForge, TokenSource, http_forge};
use docent_http_client::{Client, ClientOptions, SecretSource};
use docent_types::{Clock, ForgeKind, Ids, Project, TokenLocation};

use crate::config::Config;

/// Timeout of one call to a forge.
const CALL: Duration = Duration::from_secs(60);

/// The forges that are reached over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Forges {
    client: Client,
    clock: Arc<dyn Clock>,
    app: Option<Arc<GithubApp>>,
}

/// A repository on a forge, and its token.
pub(crate) struct ForgeRepository {
    pub(crate) host: Host,
    pub(crate) address: Address,
    pub(crate) tokens: TokenSource,
}

impl Forges {
    pub(crate) fn new(config: &Config, clock: Arc<dyn Clock>) -> Self {
        let options = ClientOptions { head: CALL, total: Some(CALL), ..ClientOptions::default() };
        let client = Client::new(options);
        let app = config.github_app.as_ref().map(|app| {
            let key = SecretSource::File(app.private_key_file.clone());
            Arc::new(GithubApp::new(client.clone(), app.id.clone(), key, Arc::clone(&clock)))
        });
        Self { client, clock, app }
    }

    /// The forge repository of a project's pull requests; `None` for the local forge.
    pub(crate) fn place(&self, project: &Project) -> Result<Option<ForgeRepository>, AddressError> {
        let Some(host) = Host::of(project.forge) else { return Ok(None) };
        let address = Address::parse(host, &project.repository, project.base_url.as_deref())?;
        Ok(Some(ForgeRepository { host, address, tokens: self.tokens(project) }))
    }

    fn tokens(&self, project: &Project) -> TokenSource {
        match (&project.token, &self.app) {
            (Some(token), _) => TokenSource::Read(secret_source(token)),
            (None, Some(app)) if project.forge == ForgeKind::Github => TokenSource::App(Arc::clone(app)),
            (None, _) => TokenSource::None,
        }
    }

    /// The forge of this repository.
    pub(crate) fn at(&self, place: ForgeRepository) -> Arc<dyn HttpForge> {
        http_forge(self.client.clone(), place.address, place.tokens, Arc::clone(&self.clock))
    }
}

/// The secret of a project's token.
pub(crate) fn secret_source(token: &TokenLocation) -> SecretSource {
    match token {
        TokenLocation::Variable(name) => SecretSource::Variable(name.clone()),
        TokenLocation::File(path) => SecretSource::File(path.into()),
    }
}

/// All forges, including the local one: its pull requests are in the store, and shown at `public_url`.
#[derive(Clone)]
pub(crate) struct AllForges {
    pub(crate) remote: Forges,
    pub(crate) pulls: Arc<dyn PullRequests>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) public_url: String,
}

impl AllForges {
    pub(crate) fn of(&self, project: &Project) -> Arc<dyn Forge> {
        match self.remote.place(project) {
            Ok(Some(place)) => self.remote.at(place),
            Ok(None) => Arc::new(self.local(project)),
            Err(error) => Arc::new(Misconfigured { sentence: error.to_string() }),
        }
    }

    fn local(&self, project: &Project) -> LocalForge {
        let shown_at = project.base_url.as_deref().unwrap_or(&self.public_url).trim_end_matches('/').to_owned();
        let (pulls, ids) = (Arc::clone(&self.pulls), Arc::clone(&self.ids));
        LocalForge::new(pulls, project.id.clone(), shown_at, Arc::clone(&self.remote.clock), ids)
    }
}
