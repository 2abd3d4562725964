//! `[openid]`: the identity provider at which people may sign in.

use std::path::PathBuf;

use docent_http_client::{BaseUrl, SecretSource};
use docent_operators::{GroupRoles, OperatorRole};
use serde::Deserialize;

use super::ConfigError;
use super::keys::words;
use super::variable::is_variable;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OpenIdKeys {
    issuer: Option<String>,
    client_id: Option<String>,
    client_secret_env: Option<String>,
    client_secret_file: Option<PathBuf>,
    #[serde(deserialize_with = "some_words")]
    scopes: Option<Vec<String>>,
    groups_claim: Option<String>,
    #[serde(deserialize_with = "words")]
    owner_groups: Vec<String>,
    #[serde(deserialize_with = "words")]
    editor_groups: Vec<String>,
    #[serde(deserialize_with = "words")]
    viewer_groups: Vec<String>,
    default_role: Option<OperatorRole>,
    label: Option<String>,
}

fn some_words<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    words(from).map(Some)
}

/// An identity provider, this server's registration there, and the roles that its groups have.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "openid"), allow(dead_code))]
pub(crate) struct OpenIdSignIn {
    pub(crate) label: String,
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<SecretSource>,
    pub(crate) scopes: Vec<String>,
    pub(crate) groups_claim: String,
    pub(crate) roles: GroupRoles,
}

impl OpenIdKeys {
    pub(super) fn validate(self) -> Result<Option<OpenIdSignIn>, ConfigError> {
        let roles = GroupRoles {
            owner: self.owner_groups,
            editor: self.editor_groups,
            viewer: self.viewer_groups,
            default: self.default_role,
        };
        let no_groups = roles.owner.is_empty() && roles.editor.is_empty() && roles.viewer.is_empty();
        let Some(issuer) = self.issuer else {
            let is_absent = self.client_id.is_none()
                && self.client_secret_env.is_none()
                && self.client_secret_file.is_none()
                && no_groups;
            let sentence = "is missing; give the provider's issuer, for example `https://id.example.com`";
            return if is_absent { Ok(None) } else { wrong("issuer", sentence) };
        };
        let url = match BaseUrl::parse(&issuer) {
            Ok(url) if url.is_in_the_clear() => return wrong("issuer", "has to be reached by https"),
            Ok(url) => url,
            Err(why) => return wrong("issuer", &format!("{why}; give it as the provider writes it")),
        };
        let Some(client_id) = self.client_id.filter(|id| !id.trim().is_empty()) else {
            return wrong("client_id", "is missing; it is given when this server is registered with the provider");
        };
        let client_secret = match (self.client_secret_env, self.client_secret_file) {
            (Some(_), Some(_)) => {
                return wrong("client_secret_file", "stands beside `client_secret_env`; leave one of the two out");
            }
            // The value may be the secret itself, so it is not shown.
            (Some(variable), None) if !is_variable(&variable) => {
                let sentence = "is no name of a variable; give the name of the variable that holds it, not the secret";
                return wrong("client_secret_env", sentence);
            }
            (Some(variable), None) => Some(SecretSource::Variable(variable)),
            (None, file) => file.map(SecretSource::File),
        };
        if no_groups && roles.default.is_none() {
            let sentence = "is missing, and so are the groups of other roles, so nobody could sign in; name groups, or set \
                            `openid.default_role`";
            return wrong("owner_groups", sentence);
        }
        Ok(Some(OpenIdSignIn {
            label: self.label.unwrap_or_else(|| url.host().to_owned()),
            issuer,
            client_id,
            client_secret,
            scopes: self.scopes.unwrap_or_else(|| vec!["profile".to_owned(), "email".to_owned()]),
            groups_claim: self.groups_claim.unwrap_or_else(|| "groups".to_owned()),
            roles,
        }))
    }
}

fn wrong<T>(key: &str, sentence: &str) -> Result<T, ConfigError> {
    Err(ConfigError::wrong(format!("openid.{key}"), sentence))
}
