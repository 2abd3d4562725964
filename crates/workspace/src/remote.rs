//! The address of a repository, and the credentials for it.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use docent_types::{hex, is_private_host};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use sha2::{Digest, Sha256};

use crate::error::{GitError, TriedCredentials};

/// Credentials for a remote.
///
/// A token reaches the remote in a header, never in a URL, an argument, a file or a log. A key stays in its file, which
/// `ssh` reads.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// For http: a user name, and a token or password. Ignored for an ssh address.
    Token { username: String, secret: String },
    /// For ssh: this private key and no other, without a passphrase.
    SshKey {
        key_file: PathBuf,
        /// The file of trusted hosts; `None` uses the known hosts of the user that runs the process.
        known_hosts: Option<PathBuf>,
    },
}

impl Credentials {
    /// A token alone, with a user name that forges accept for tokens.
    pub fn token(secret: impl Into<String>) -> Self {
        Self::Token { username: "x-access-token".to_owned(), secret: secret.into() }
    }

    /// A private key, for hosts known to the user that runs the process.
    pub fn ssh_key(key_file: impl Into<PathBuf>) -> Self {
        Self::SshKey { key_file: key_file.into(), known_hosts: None }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token { username, .. } => {
                f.debug_struct("Token").field("username", username).field("secret", &"…").finish()
            }
            Self::SshKey { key_file, known_hosts } => {
                f.debug_struct("SshKey").field("key_file", key_file).field("known_hosts", known_hosts).finish()
            }
        }
    }
}

/// The address of a repository, `https://…`, `ssh://…`, `user@host:path`, `file://…` or an absolute path, and its
/// credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Remote {
    pub url: String,
    pub credentials: Option<Credentials>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("url", &self.redacted()).field("credentials", &self.credentials).finish()
    }
}

/// What kind of address a URL is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    /// A folder on this machine.
    Local(PathBuf),
    Http,
    Ssh,
}

impl Remote {
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), credentials: None }
    }

    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// The address without a user name or password: what may be shown, logged and hashed.
    pub fn redacted(&self) -> String {
        redacted(&self.url)
    }

    /// The name of the folder the mirror of this repository lives in.
    pub(crate) fn folder(&self) -> String {
        hex(&Sha256::digest(self.url.as_bytes())[..8])
    }

    /// Identifies an address with its credentials, without storing the credentials.
    pub(crate) fn fetch_key(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.url.as_bytes());
        let parts: [&[u8]; 3] = match &self.credentials {
            None => [b"", b"", b""],
            Some(Credentials::Token { username, secret }) => [b"token", username.as_bytes(), secret.as_bytes()],
            Some(Credentials::SshKey { key_file, known_hosts }) => {
                let known_hosts = known_hosts.as_deref().unwrap_or(Path::new(""));
                [b"key", key_file.as_os_str().as_encoded_bytes(), known_hosts.as_os_str().as_encoded_bytes()]
            }
        };
        for part in parts {
            hash.update([0]);
            hash.update(part);
        }
        hash.finalize().into()
    }

    pub(crate) fn location(&self) -> Result<Location, GitError> {
        let url = self.url.as_str();
        let refuse = |reason| Err(GitError::Address { repository: self.redacted(), reason });
        if url.contains(char::is_control) || url.starts_with('-') {
            return refuse("it begins with a dash or holds a control character");
        }
        if url.starts_with('/') {
            return Ok(Location::Local(PathBuf::from(url)));
        }
        if let Some(rest) = url.strip_prefix("file://") {
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            return match percent_decoded(path) {
                Some(path) if path.starts_with('/') => Ok(Location::Local(PathBuf::from(path))),
                _ => refuse("a file URL names an absolute path, as in `file:///srv/docs.git`"),
            };
        }
        if let Some((scheme, rest)) = url.split_once("://") {
            let authority = rest.split('/').next().unwrap_or_default();
            let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
            return match scheme {
                "http" | "https" if user.contains(':') => {
                    refuse("it holds a password; name an environment variable that holds the token instead")
                }
                "http" | "https" if matches!(self.credentials, Some(Credentials::SshKey { .. })) => {
                    refuse("an ssh key opens no http address; write it as `ssh://…`, or give a token")
                }
                "http" if self.credentials.is_some() && !has_private_host(url) => {
                    refuse("a token is not sent over plain http to another network; use https")
                }
                "http" | "https" => Ok(Location::Http),
                "ssh" => Ok(Location::Ssh),
                _ => refuse("only https, http, ssh, file and absolute paths are known"),
            };
        }
        match url.split_once(':') {
            Some((host, path))
                if !host.contains('/') && !host.is_empty() && !path.is_empty() && !path.starts_with(':') =>
            {
                Ok(Location::Ssh)
            }
            _ => refuse("give an absolute path or a URL"),
        }
    }

    /// Removes the secret from a text that a server or a program wrote.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut text = text.replace(&self.url, &self.redacted());
        if let Some(Credentials::Token { username, secret }) = &self.credentials
            && !secret.is_empty()
        {
            text = text.replace(secret, "…").replace(&basic(username, secret), "…");
        }
        text
    }

    /// The value of an `Authorization` header.
    pub(crate) fn authorization(&self) -> Option<String> {
        match self.credentials.as_ref()? {
            Credentials::Token { username, secret } => Some(format!("Basic {}", basic(username, secret))),
            Credentials::SshKey { .. } => None,
        }
    }

    /// The kind of credentials used.
    pub(crate) fn tried(&self) -> TriedCredentials {
        match (self.location(), &self.credentials) {
            (Ok(Location::Ssh), _) => TriedCredentials::SshKey,
            (_, Some(_)) => TriedCredentials::Token,
            (_, None) => TriedCredentials::Nothing,
        }
    }
}

fn has_private_host(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| is_private_host(url.host_str().unwrap_or_default()))
}

fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rsplit_once('@') {
        // For ssh the user name is part of the address and no secret.
        Some((user, host)) if scheme == "ssh" => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}{}", &rest[end..])
        }
        Some((_, host)) => format!("{scheme}://{host}{}", &rest[end..]),
        None => url.to_owned(),
    }
}

pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

/// `user:secret` in base64, as HTTP basic authentication has it.
fn basic(username: &str, secret: &str) -> String {
    STANDARD.encode(format!("{username}:{secret}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        for (url, location) in [
            ("/srv/a b.git", Location::Local("/srv/a b.git".into())),
            ("file:///srv/a%20b.git", Location::Local("/srv/a b.git".into())),
            ("file://localhost/srv/a", Location::Local("/srv/a".into())),
            ("https://git.example.com/a/b", Location::Http),
            ("https://me@git.example.com/a/b", Location::Http),
            ("ssh://git@example.com:22/a", Location::Ssh),
            ("git@example.com:a/b.git", Location::Ssh),
        ] {
            assert_eq!(Remote::new(url).location().unwrap(), location, "{url}");
        }
        for bad in [
            "",
            "docs",
            "./docs",
            "ext::sh -c x",
            "git://example.com/a",
            "https://me:pw@example.com/a",
            "-upload",
            "file://a/b",
        ] {
            assert!(matches!(Remote::new(bad).location(), Err(GitError::Address { .. })), "{bad}");
        }
    }

    #[test]
    fn a_token_is_not_sent_in_the_clear_to_another_network() {
        let with_token = |url: &str| Remote::new(url).with_credentials(Credentials::token("s3cret")).location();
        for near in [
            "http://127.0.0.1:3000/a",
            "http://gitea:3000/a",
            "http://10.1.2.3/a",
            "http://[::1]/a",
            "https://example.com/a",
        ] {
            assert!(with_token(near).is_ok(), "{near}");
        }
        for far in ["http://example.com/a", "http://8.8.8.8/a", "http://me@example.com/a"] {
            assert!(matches!(with_token(far), Err(GitError::Address { .. })), "{far}");
            assert!(Remote::new(far).location().is_ok(), "{far}");
        }
    }

    #[test]
    fn a_key_opens_ssh_and_a_token_http() {
        let key = |url: &str| Remote::new(url).with_credentials(Credentials::ssh_key("/keys/docs")).location();
        assert_eq!(key("git@example.com:docs").unwrap(), Location::Ssh);
        assert!(matches!(key("https://example.com/docs"), Err(GitError::Address { .. })));
        // A token is allowed with an ssh address: it may be for the forge's pull requests.
        let token = Remote::new("git@example.com:docs").with_credentials(Credentials::token("s3cret"));
        assert_eq!(token.location().unwrap(), Location::Ssh);
        assert_eq!(token.tried(), TriedCredentials::SshKey);
    }

    #[test]
    fn secrets_are_not_shown() {
        let remote = Remote::new("https://me:pw@example.com/a").with_credentials(Credentials::token("s3cret"));
        assert_eq!(remote.redacted(), "https://example.com/a");
        assert!(!format!("{:?}", remote.credentials).contains("s3cret"));
        let message = format!("fatal: {} with s3cret and {}", remote.url, remote.authorization().unwrap());
        let scrubbed = remote.scrub(&message);
        assert_eq!(scrubbed, "fatal: https://example.com/a with … and Basic …");
    }

    #[test]
    fn basic_authentication_is_base64() {
        assert_eq!(basic("Aladdin", "open sesame"), "QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(basic("a", "b"), "YTpi");
        assert_eq!(basic("a", "bc"), "YTpiYw==");
    }
}
