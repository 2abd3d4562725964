//! How we are known to git servers: by a project's token, by the GitHub App, or by a key for ssh.

use std::sync::Arc;
use std::time::Duration;

use docent_authoring::TokenOf;
use docent_forge_http::{Host, KeptSecret};
use docent_types::Project;
use docent_workspace::Credentials;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::warn;

use crate::config::{GitConfig, SshKey};
use crate::forges::Forges;

/// How long it may take to get a token.
const LIMIT: Duration = Duration::from_secs(15);

/// What opens a project's repository: looked up at each use, so that a rotated token counts at once. `None` where nothing
/// is configured, or where what is configured cannot be had; then the log says why, and the server's answer the rest.
#[derive(Debug, Clone)]
pub(crate) struct Keyring {
    pub(crate) forges: Forges,
    pub(crate) git: GitConfig,
}

impl Keyring {
    /// As authoring asks.
    pub(crate) fn token_of(self) -> TokenOf {
        Arc::new(move |project| {
            // An installation token of a GitHub App takes two calls, once an hour; everything else is at hand. The caller's
            // task stands still meanwhile: it must not be the one that is making this token elsewhere.
            let opens = timeout(LIMIT, self.opens(project));
            let opened = tokio::task::block_in_place(|| Handle::current().block_on(opens));
            opened.unwrap_or_else(|_| {
                warn!(project = %project.id, "there was no token for the repository within {} s", LIMIT.as_secs());
                None
            })
        })
    }

    async fn opens(&self, project: &Project) -> Option<Credentials> {
        match transport(&project.repository) {
            Transport::Local => None,
            Transport::Ssh => self.git.ssh.as_ref().map(|SshKey { key_file, known_hosts_file }| Credentials::SshKey {
                key_file: key_file.clone(),
                known_hosts: known_hosts_file.clone(),
            }),
            Transport::Http => self.token(project).await,
        }
    }

    async fn token(&self, project: &Project) -> Option<Credentials> {
        let place = self.forges.place(project).ok().flatten();
        let (username, token) = match (&place, &project.token_env) {
            (Some(place), _) => (place.host.git_user(), place.tokens.token(&place.address).await),
            // The local forge: git's server is nobody we know, and takes any user name beside a token.
            (None, Some(variable)) => {
                (Host::Github.git_user(), KeptSecret::Env(variable.clone()).token().await.map(Some))
            }
            (None, None) => return None,
        };
        let secret = token.unwrap_or_else(|error| {
            warn!(project = %project.id, error = &error as &dyn std::error::Error, "no token for the repository");
            None
        })?;
        Some(Credentials::Token { username: username.to_owned(), secret: secret.expose().to_owned() })
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Transport {
    Local,
    Http,
    Ssh,
}

fn transport(repository: &str) -> Transport {
    match repository.split_once("://") {
        Some(("http" | "https", _)) => Transport::Http,
        Some(("ssh", _)) => Transport::Ssh,
        Some(_) => Transport::Local,
        None if repository.starts_with('/') => Transport::Local,
        None if repository.split_once(':').is_some_and(|(host, _)| !host.contains('/')) => Transport::Ssh,
        None => Transport::Local,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_opened_by_what_fits_it() {
        for (repository, expected) in [
            ("https://example.com/a", Transport::Http),
            ("http://127.0.0.1:1/a", Transport::Http),
            ("ssh://git@example.com/a", Transport::Ssh),
            ("git@example.com:a/b", Transport::Ssh),
            ("file:///srv/a", Transport::Local),
            ("/srv/a:b", Transport::Local),
        ] {
            assert_eq!(transport(repository), expected, "{repository}");
        }
    }
}
