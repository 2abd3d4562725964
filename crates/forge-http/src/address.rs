//! The location of a repository on a forge: the URL of the API, and the repository's owner and name there.

use std::collections::BTreeSet;
use std::fmt;

use docent_http_client::BaseUrl;
use docent_types::ForgeKind;
use http::Uri;
use thiserror::Error;

/// A kind of forge that is reached over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Host {
    Github,
    Gitlab,
    /// Gitea, and Forgejo with the same API.
    Gitea,
}

impl Host {
    /// `None` for the local forge, which is not reached over HTTP.
    pub const fn of(kind: ForgeKind) -> Option<Self> {
        match kind {
            ForgeKind::Local => None,
            ForgeKind::Github => Some(Self::Github),
            ForgeKind::Gitlab => Some(Self::Gitlab),
            ForgeKind::Gitea => Some(Self::Gitea),
        }
    }

    /// The user name that git sends with a token over HTTP.
    pub const fn git_user(self) -> &'static str {
        match self {
            Self::Github | Self::Gitea => "x-access-token",
            Self::Gitlab => "oauth2",
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Github => "GitHub",
            Self::Gitlab => "GitLab",
            Self::Gitea => "Gitea",
        }
    }

    /// The path of the API, relative to the URL of the forge.
    const fn api_path(self) -> &'static str {
        match self {
            Self::Github => "/api/v3",
            Self::Gitlab => "/api/v4",
            Self::Gitea => "/api/v1",
        }
    }
}

/// A repository on a forge.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    pub(crate) host: Host,
    /// The base URL of the API, without a trailing slash.
    pub(crate) api: String,
    /// The owner; on GitLab the whole path of groups.
    pub(crate) owner: String,
    pub(crate) name: String,
}

/// Why a URL is not that of a repository on a forge. Says how to fix it, and never contains a password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    #[error(
        "`{repository}` is not an address of a repository on {host}: give it as https://HOST/{wanted}, \
         ssh://git@HOST/{wanted} or git@HOST:{wanted}"
    )]
    Repository { repository: String, host: &'static str, wanted: &'static str },
    #[error("`{base_url}` is not a base URL of a forge: give an http or https URL without user, query and fragment")]
    BaseUrl { base_url: String },
}

impl From<AddressError> for docent_forge::ForgeError {
    fn from(error: AddressError) -> Self {
        Self::Refused { sentence: error.to_string() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl Address {
    /// Parses a URL in any form that git accepts (https, http, ssh, or `user@host:path`).
    ///
    /// The API's URL is derived from it: `https://api.github.com` for github.com, otherwise `/api/v3`, `/api/v4` or
    /// `/api/v1` on the same host. `base_url` overrides it. For GitHub it is the base of the API verbatim; for the
    /// others it may be the forge's URL instead.
    pub fn parse(host: Host, repository: &str, base_url: Option<&str>) -> Result<Self, AddressError> {
        let no_repository = || AddressError::Repository {
            repository: shown(repository),
            host: host.name(),
            wanted: if host == Host::Gitlab { "GROUP/PROJECT" } else { "OWNER/NAME" },
        };
        let place = GitAddress::parse(repository).ok_or_else(no_repository)?;
        let base = base_url.map(Base::parse).transpose()?;
        let segments = base.as_ref().map_or(&place.segments[..], |base| base.below(&place));
        let (name, above) = segments.split_last().ok_or_else(no_repository)?;
        let (prefix, owners) = match host {
            Host::Gitlab => (&[][..], above),
            // A Gitea may be served below a folder of its host; git's path over http then begins with that folder.
            Host::Gitea if place.web.is_some() || base.is_some() => above.split_at(above.len().saturating_sub(1)),
            Host::Gitea | Host::Github => (&[][..], above),
        };
        if owners.is_empty() || (host != Host::Gitlab && owners.len() > 1) {
            return Err(no_repository());
        }
        let api = base.map_or_else(|| place.api(host, prefix), |base| base.api(host));
        Ok(Self { host, api, owner: owners.join("/"), name: name.clone() })
    }

    pub const fn host(&self) -> Host {
        self.host
    }

    /// The host and port of the API.
    pub(crate) fn authority(&self) -> &str {
        authority(&self.api)
    }
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

/// The parts of git's URL.
struct GitAddress {
    /// The scheme, if it is http or https; for ssh, https is assumed for the API.
    web: Option<&'static str>,
    /// The host in lower case, with the port if the scheme is http or https.
    authority: String,
    segments: Vec<String>,
}

impl GitAddress {
    fn parse(repository: &str) -> Option<Self> {
        let (web, authority, path) = git_server(repository)?;
        Some(Self { web, authority, segments: segments(path)? })
    }

    fn api(&self, host: Host, prefix: &[String]) -> String {
        let (scheme, authority) = (self.web.unwrap_or("https"), &self.authority);
        match host {
            Host::Github if authority == "github.com" => "https://api.github.com".to_owned(),
            Host::Github if authority.ends_with(".ghe.com") => format!("https://api.{authority}"),
            _ => {
                let folder: String = prefix.iter().map(|segment| format!("/{segment}")).collect();
                format!("{scheme}://{authority}{folder}{}", host.api_path())
            }
        }
    }
}

/// The server in git's URL: its scheme, its authority as in [`GitAddress`], and the path there. `None` for a folder.
fn git_server(repository: &str) -> Option<(Option<&'static str>, String, &str)> {
    let (web, authority, path) = match repository.split_once("://") {
        Some((scheme, rest)) => {
            let web = match scheme.to_ascii_lowercase().as_str() {
                "https" => Some("https"),
                "http" => Some("http"),
                "ssh" | "git+ssh" => None,
                _ => return None,
            };
            let (authority, path) = rest.split_once('/')?;
            (web, authority, path)
        }
        None => {
            let (host, path) = repository.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            (None, host, path)
        }
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = if web.is_some() { host } else { without_port(host) };
    Some((web, web_host(&named(host)?), path))
}

/// The servers that a repository's token is sent to, each as scheme, host and port: the repository's own, which stands
/// for the API that follows from it too, and that of `base_url`. None for a folder.
pub fn token_receivers(repository: &str, base_url: Option<&str>) -> BTreeSet<String> {
    let own = git_server(repository).map(|(web, authority, _)| origin(web.unwrap_or("https"), &authority));
    let base = base_url.and_then(|url| Base::parse(url).ok()).and_then(|Base(url)| {
        let (scheme, rest) = url.split_once("://")?;
        Some(origin(scheme, rest.split('/').next()?))
    });
    own.into_iter().chain(base).collect()
}

fn origin(scheme: &str, authority: &str) -> String {
    let default_port = if scheme == "https" { ":443" } else { ":80" };
    format!("{scheme}://{}", authority.strip_suffix(default_port).unwrap_or(authority))
}

/// A base URL from the configuration.
struct Base(String);

impl Base {
    fn parse(base_url: &str) -> Result<Self, AddressError> {
        let refuse = || AddressError::BaseUrl { base_url: shown(base_url) };
        let url = BaseUrl::parse(base_url.trim()).map_err(|_| refuse())?;
        let (scheme, authority) = url.uri().scheme_str().zip(url.uri().authority()).ok_or_else(refuse)?;
        let authority = authority.as_str().to_ascii_lowercase();
        Ok(Self(format!("{scheme}://{authority}{}", url.uri().path().trim_end_matches('/'))))
    }

    fn api(&self, host: Host) -> String {
        let whole = host == Host::Github || self.0.ends_with(host.api_path());
        if whole { self.0.clone() } else { format!("{}{}", self.0, host.api_path()) }
    }

    /// The repository's path, without the folder of the host below which the forge is served.
    fn below<'a>(&self, place: &'a GitAddress) -> &'a [String] {
        let whole = &place.segments[..];
        if place.web.is_none() || authority(&self.0) != place.authority {
            return whole;
        }
        let path = self.0.splitn(4, '/').nth(3).unwrap_or_default();
        let folder: Vec<&str> =
            path.split('/').filter(|part| !part.is_empty()).take_while(|part| *part != "api").collect();
        let within = whole.len() > folder.len() && folder.iter().zip(whole).all(|(ours, theirs)| ours == theirs);
        if within { &whole[folder.len()..] } else { whole }
    }
}

/// The web host of a forge whose ssh host is a different one.
fn web_host(host: &str) -> String {
    match host {
        "ssh.github.com" | "www.github.com" => "github.com".to_owned(),
        "altssh.gitlab.com" | "www.gitlab.com" => "gitlab.com".to_owned(),
        _ => host.to_owned(),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

/// The host in lower case, if it is valid.
fn named(host: &str) -> Option<String> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if host.is_empty() || !host.bytes().all(known) {
        return None;
    }
    let uri: Uri = format!("https://{host}/").parse().ok()?;
    uri.host().filter(|host| !host.is_empty())?;
    Some(host.to_ascii_lowercase())
}

/// The names in a path. `None` if one is not a name that forges allow.
fn segments(path: &str) -> Option<Vec<String>> {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let allowed = |name: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+".contains(&byte);
        name != "." && name != ".." && name.len() <= 255 && name.bytes().all(known)
    };
    let names: Vec<String> = path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    (!path.ends_with('/') && names.iter().all(|name| allowed(name))).then_some(names)
}

/// The URL for error messages: without user and password.
fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let end = rest.find('/').unwrap_or(rest.len());
    let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
    let between = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{between}{host}{}", &rest[end..]).chars().filter(|c| !c.is_control()).take(300).collect()
}
