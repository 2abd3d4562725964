//! `store`: where everything is kept.

#![cfg_attr(
    not(feature = "postgres"),
    allow(dead_code, reason = "an address that is checked, and that nobody connects to")
)]

use std::fmt;
use std::num::NonZeroU16;
use std::path::PathBuf;

use docent_http_client::{SecretSource, SecretSourceError};
use zeroize::Zeroizing;

use super::ConfigError;
use super::variable::is_variable;

/// Where everything is kept.
#[derive(Debug, Clone)]
pub(crate) enum StoreConfig {
    /// In a database file in the data folder.
    Sqlite,
    Postgres(PostgresConfig),
}

/// A PostgreSQL database. `Debug` and `Display` show its address without the password.
#[derive(Clone)]
pub(crate) struct PostgresConfig {
    url: String,
    password: Option<SecretSource>,
    /// Maximum number of connections for transactions; one more follows the other servers.
    pub(crate) connections: usize,
}

impl StoreConfig {
    /// The place of the database's password, if it is not in the address.
    pub(super) fn password(&self) -> Option<&SecretSource> {
        match self {
            Self::Sqlite => None,
            Self::Postgres(config) => config.password.as_ref(),
        }
    }

    pub(super) fn validate(
        store: String,
        password_env: Option<String>,
        password_file: Option<PathBuf>,
        connections: NonZeroU16,
    ) -> Result<Self, ConfigError> {
        let password = match (password_env, password_file) {
            (Some(_), Some(_)) => {
                let sentence = "stands beside `store_password_env`; leave one of the two out";
                return Err(ConfigError::wrong("store_password_file", sentence));
            }
            // The value may be the password itself, so it is not shown.
            (Some(variable), None) if !is_variable(&variable) => {
                let sentence =
                    "is no name of a variable; give the name of the variable that holds it, not the password";
                return Err(ConfigError::wrong("store_password_env", sentence));
            }
            (Some(variable), None) => Some(SecretSource::Variable(variable)),
            (None, file) => file.map(SecretSource::File),
        };
        if store == "sqlite" {
            return match password {
                None => Ok(Self::Sqlite),
                Some(_) => Err(ConfigError::wrong("store", "has no password when it is `sqlite`")),
            };
        }
        let config = PostgresConfig { url: store, password, connections: connections.get().into() };
        let Some(parts) = config.parts() else {
            let sentence = "is neither `sqlite` nor the address of a PostgreSQL database, such as \
                            `postgres://docent@db.example.com/docent`";
            return Err(ConfigError::wrong("store", sentence));
        };
        if config.password.is_some() && (parts.user.is_empty() || parts.password.is_some()) {
            let sentence = match parts.user.is_empty() {
                true => "names no user whom the password is of, as in `postgres://docent@db.example.com/docent`",
                false => "has a password already; leave one of the two out",
            };
            return Err(ConfigError::wrong("store", sentence));
        }
        Ok(Self::Postgres(config))
    }
}

/// The parts of an address, as they are written.
struct Parts<'a> {
    scheme: &'a str,
    user: &'a str,
    password: Option<&'a str>,
    /// Hosts and database.
    place: &'a str,
    /// With its question mark.
    query: &'a str,
}

impl PostgresConfig {
    fn parts(&self) -> Option<Parts<'_>> {
        let (scheme, rest) = self.url.split_once("://")?;
        let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        let (credentials, place) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (user, password) = match credentials.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (credentials, None),
        };
        let is_postgres = ["postgres", "postgresql"].contains(&scheme);
        is_postgres.then_some(Parts { scheme, user, password, place, query })
    }

    /// The address with the password, for the one place that connects.
    pub(crate) fn url(&self) -> Result<Zeroizing<String>, SecretSourceError> {
        let (Some(source), Some(parts)) = (&self.password, self.parts()) else {
            return Ok(Zeroizing::new(self.url.clone()));
        };
        let mut url = Zeroizing::new(format!("{}://{}:", parts.scheme, parts.user));
        for byte in source.text()?.trim_end_matches(['\r', '\n']).bytes() {
            match byte.is_ascii_alphanumeric() {
                true => url.push(char::from(byte)),
                false => url.push_str(&format!("%{byte:02X}")),
            }
        }
        url.push_str(&format!("@{}{}", parts.place, parts.query));
        Ok(url)
    }
}

impl fmt::Display for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            // Behind a question mark that is part of the password, or so it seems.
            Some(Parts { query, .. }) if query.contains('@') => f.write_str("postgres://…"),
            Some(Parts { user: "", place, .. }) => write!(f, "postgres://{place}"),
            Some(Parts { user, place, .. }) => write!(f, "postgres://{user}@{place}"),
            None => f.write_str("postgres://…"),
        }
    }
}

impl fmt::Debug for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite => f.write_str("sqlite"),
            Self::Postgres(config) => config.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validated(store: &str, password_file: Option<PathBuf>) -> Result<PostgresConfig, String> {
        match StoreConfig::validate(store.to_owned(), None, password_file, NonZeroU16::MIN) {
            Ok(StoreConfig::Postgres(config)) => Ok(config),
            Ok(StoreConfig::Sqlite) => panic!("SQLite"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://ann:se@cret/1@db/docent?sslmode=require", "postgres://ann@db/docent"),
            ("postgresql://ann:secret@a:1,b:2/docent?password=secret", "postgres://ann@a:1,b:2/docent"),
            ("postgres:///docent?host=/run/postgresql", "postgres:///docent"),
            ("postgres://ann:se?cret@db/docent", "postgres://…"),
        ] {
            let config = validated(url, None).expect(url);
            assert_eq!((config.to_string().as_str(), format!("{config:?}").as_str()), (shown, shown));
            assert_eq!(config.url().expect("no other place").as_str(), url);
        }
    }

    #[test]
    fn a_password_in_a_file_becomes_a_part_of_the_address() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("password");
        std::fs::write(&file, "p@ss w/ö%\n").expect("written");
        let config = validated("postgres://ann@db:5433/docent?sslmode=require", Some(file.clone())).expect("valid");
        let expected = "postgres://ann:p%40ss%20w%2F%C3%B6%25@db:5433/docent?sslmode=require";
        assert_eq!(config.url().expect("a file").as_str(), expected);
        assert!(!format!("{config:?}").contains("p%40"));
        let twice = validated("postgres://ann:other@db/docent", Some(file.clone())).expect_err("two passwords");
        assert!(twice.contains("a password already") && !twice.contains("other"), "{twice}");
        assert!(validated("postgres://db/docent", Some(file)).expect_err("of whom").contains("names no user"));
    }

    #[test]
    fn another_kind_of_store_is_refused_without_repeating_it() {
        for store in ["mysql://ann:secret@db/docent", "SQLite", "secret", ""] {
            let refused = validated(store, None).expect_err(store);
            assert!(refused.contains("neither `sqlite` nor") && !refused.contains("secret"), "{refused}");
        }
        let sqlite = StoreConfig::validate("sqlite".to_owned(), Some("PASSWORD".to_owned()), None, NonZeroU16::MIN);
        assert!(sqlite.expect_err("no password").to_string().contains("has no password"));
    }
}
