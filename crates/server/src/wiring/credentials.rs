//! Credentials for git servers: a project's token, the GitHub App, or an ssh key.

use std::sync::Arc;

use docent_authoring::CredentialsOf;
use docent_forge::ForgeError;
use docent_forge_http::{Host, TokenSource};
use docent_http_client::Secret;
use docent_types::Project;
use docent_workspace::{Credentials, GitError};
use futures::FutureExt;

use crate::config::{GitConfig, SshKey};
use crate::wiring::forges::{Forges, secret_source};

/// Finds the credentials for a project's repository. They are read at each use, so a rotated token takes effect
/// immediately.
#[derive(Debug, Clone)]
pub(crate) struct RepositoryCredentials {
    pub(crate) forges: Forges,
    pub(crate) git: GitConfig,
}

impl RepositoryCredentials {
    /// The credentials as the function that authoring expects.
    pub(crate) fn token_of(self) -> CredentialsOf {
        let credentials = Arc::new(self);
        Arc::new(move |project| {
            let (credentials, project) = (Arc::clone(&credentials), project.clone());
            async move { credentials.find(&project).await }.boxed()
        })
    }

    async fn find(&self, project: &Project) -> Result<Option<Credentials>, GitError> {
        match transport(&project.repository) {
            Transport::Local => Ok(None),
            Transport::Ssh => Ok(self.git.ssh.as_ref().map(|SshKey { key_file, known_hosts_file }| {
                Credentials::SshKey { key_file: key_file.clone(), known_hosts: known_hosts_file.clone() }
            })),
            Transport::Http => self.token(project).await.map_err(|error| git_error(project, &error)),
        }
    }

    async fn token(&self, project: &Project) -> Result<Option<Credentials>, ForgeError> {
        let (username, secret) = match (self.forges.place(project)?, &project.token) {
            (Some(place), _) => (place.host.git_user(), place.tokens.token(&place.address).await?),
            // With the local forge the kind of git server is unknown; this user name is accepted by most servers with a
            // token.
            (None, Some(token)) => (Host::Github.git_user(), Some(TokenSource::read(&secret_source(token))?)),
            (None, None) => return Ok(None),
        };
        let credentials =
            |secret: Secret| Credentials::Token { username: username.to_owned(), secret: secret.expose().to_owned() };
        Ok(secret.map(credentials))
    }
}

/// Converts a failure to get credentials into a git error.
fn git_error(project: &Project, error: &ForgeError) -> GitError {
    match error {
        ForgeError::Unavailable { retry_after, source } => {
            GitError::unreachable(&project.repository, *retry_after, format_args!("no token for it: {source}"))
        }
        error => GitError::no_credentials(&project.repository, error),
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
