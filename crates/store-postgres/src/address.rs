//! The address of a database: what libpq understands, with the TLS modes that the driver does not know.

use std::time::Duration;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::error::OpenError;
use crate::tls::{Tls, Verify};

/// Time for making a connection.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A peer that says nothing for so long is asked whether it is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
/// A connection whose peer acknowledges nothing for so long is cut.
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(15);

/// Where a database is, and how its server is to prove who it is.
#[derive(Debug, Clone)]
pub(crate) struct ServerAddress {
    pub(crate) config: Config,
    pub(crate) tls: Tls,
}

impl ServerAddress {
    /// Reads an address. `sslmode` means what libpq means by it: without `verify-ca` or `verify-full`, a certificate is
    /// not verified. `sslrootcert` names a file with the authorities to trust; without it, those of the system are.
    pub(crate) fn parse(url: &str) -> Result<Self, OpenError> {
        let (rest, [mode, roots]) = without_parameters(url, ["sslmode", "sslrootcert"]);
        let mut config: Config =
            rest.parse().map_err(|source: tokio_postgres::Error| OpenError::Address { source: source.into() })?;
        let mode = mode.as_deref().unwrap_or("prefer");
        let (ssl_mode, verify) = match mode {
            "disable" => (SslMode::Disable, Verify::Nothing),
            "allow" | "prefer" => (SslMode::Prefer, Verify::Nothing),
            // As libpq does: whoever names the authorities wants them used.
            "require" if roots.is_some() => (SslMode::Require, Verify::Authority),
            "require" => (SslMode::Require, Verify::Nothing),
            "verify-ca" => (SslMode::Require, Verify::Authority),
            "verify-full" => (SslMode::Require, Verify::AuthorityAndName),
            _ => return Err(OpenError::SslMode { mode: mode.to_owned() }),
        };
        config.ssl_mode(ssl_mode).keepalives_idle(KEEPALIVE_IDLE).tcp_user_timeout(UNACKNOWLEDGED_TIMEOUT);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("docent");
        }
        let roots = roots.filter(|path| path != "system").map(|path| roots_of(&path)).transpose()?;
        Ok(Self { config, tls: Tls::new(verify, roots).map_err(|source| OpenError::Address { source })? })
    }
}

/// The authorities in a file of PEM.
fn roots_of(path: &str) -> Result<RootCertStore, OpenError> {
    let failed = |source| OpenError::RootCertificates { path: path.to_owned(), source };
    let read = || -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(path)? {
            roots.add(certificate?)?;
        }
        if roots.is_empty() { Err("it has no certificate".into()) } else { Ok(roots) }
    };
    read().map_err(failed)
}

/// The URL without these parameters of its query, and their values.
fn without_parameters<const N: usize>(url: &str, names: [&str; N]) -> (String, [Option<String>; N]) {
    let mut values = [const { None }; N];
    let Some((head, query)) = url.split_once('?') else { return (url.to_owned(), values) };
    let rest = query.split('&').filter(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Some(at) = names.iter().position(|known| *known == name) else { return true };
        values[at] = Some(decoded(value));
        false
    });
    let rest = rest.collect::<Vec<_>>().join("&");
    (if rest.is_empty() { head.to_owned() } else { format!("{head}?{rest}") }, values)
}

/// A value of a query, with `%2F` and its like replaced.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        match (first, tail.get(..2).and_then(hex)) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_the_driver_does_not_know_are_taken_out() {
        let names = ["sslmode", "sslrootcert"];
        for (url, rest, mode, roots) in [
            ("postgres://h/d", "postgres://h/d", None, None),
            ("postgres://h/d?sslmode=verify-full", "postgres://h/d", Some("verify-full"), None),
            ("postgres://h/d?a=1&sslrootcert=%2Fetc%2Fca.pem&b=2", "postgres://h/d?a=1&b=2", None, Some("/etc/ca.pem")),
            ("postgres://h/d?sslmode=require&a=%zz%", "postgres://h/d?a=%zz%", Some("require"), None),
        ] {
            let (without, [found_mode, found_roots]) = without_parameters(url, names);
            assert_eq!((without.as_str(), found_mode.as_deref(), found_roots.as_deref()), (rest, mode, roots), "{url}");
        }
    }

    #[test]
    fn an_address_says_how_the_server_proves_who_it_is() {
        for (mode, verify) in [
            ("disable", Verify::Nothing),
            ("require", Verify::Nothing),
            ("verify-ca", Verify::Authority),
            ("verify-full", Verify::AuthorityAndName),
        ] {
            let address = ServerAddress::parse(&format!("postgres://docent@db.example/docent?sslmode={mode}"));
            assert_eq!(address.expect("an address").tls.verify(), verify, "{mode}");
        }
        assert!(matches!(ServerAddress::parse("postgres://h/d?sslmode=no"), Err(OpenError::SslMode { .. })));
        assert!(matches!(ServerAddress::parse("postgres://h:port/d"), Err(OpenError::Address { .. })));
        let missing = ServerAddress::parse("postgres://h/d?sslrootcert=/nowhere.pem");
        assert!(matches!(missing, Err(OpenError::RootCertificates { .. })));
    }
}
