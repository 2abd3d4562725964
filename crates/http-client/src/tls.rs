//! Which certificate authorities are trusted, and the error when none matches.

use std::io;
use std::sync::{Arc, LazyLock};

use rustls::{CertificateError, ClientConfig, Error, RootCertStore};

/// The certificate authorities of the system: its store, or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name. A system
/// without any is an error only when a certificate must be verified. Read once by a process, as they are some hundred files.
pub(crate) fn system_roots() -> Arc<RootCertStore> {
    static ROOTS: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    });
    ROOTS.clone()
}

/// The TLS configuration with those roots: versions 1.2 and 1.3, without a client certificate.
pub(crate) fn config(roots: Arc<RootCertStore>) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.expect("the provider has suites for both").with_root_certificates(roots).with_no_client_auth()
}

/// Why a handshake failed, if a certificate or protocol was rejected rather than the connection broken.
pub(crate) fn refusal(error: &io::Error) -> Option<&'static str> {
    Some(match rustls_error(error)? {
        Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => "its certificate is not valid now; renew it, or set this machine's clock",
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "its certificate is for another name",
        Error::InvalidCertificate(_) => {
            "its certificate is not trusted here; add its authority to the system's certificates, or name a file that \
             has it in SSL_CERT_FILE"
        }
        Error::InvalidMessage(_) => "it does not answer with TLS; perhaps the address should begin with http://",
        _ => "no common TLS version or cipher suite was found",
    })
}

/// The connector wraps rustls's error in one or two `io::Error`s.
fn rustls_error(error: &io::Error) -> Option<&Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref::<Error>().or_else(|| rustls_error(inner.downcast_ref::<io::Error>()?))
}
