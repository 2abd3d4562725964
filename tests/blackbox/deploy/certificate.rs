//! A certificate for a proxy, signed by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// The names that the files of `deploy/` serve.
pub(crate) const SERVER: &str = "docent.example.com";
pub(crate) const DOCS: &str = "docs.example.com";

/// The files of a certificate for both names, and its bytes.
pub(crate) struct Certificate {
    pub(crate) pem: PathBuf,
    pub(crate) key: PathBuf,
    /// Certificate and key in one file.
    pub(crate) both: PathBuf,
    der: CertificateDer<'static>,
}

impl Certificate {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let key_pair = KeyPair::generate().expect("make a key");
        let params = CertificateParams::new([SERVER.to_owned(), DOCS.to_owned()]).expect("names");
        let made = params.self_signed(&key_pair).expect("sign itself");
        let [pem, key, both] = ["certificate.pem", "certificate.key", "both.pem"].map(|name| folder.join(name));
        fs::write(&pem, made.pem()).expect("write the certificate");
        fs::write(&key, key_pair.serialize_pem()).expect("write the key");
        fs::write(&both, [made.pem(), key_pair.serialize_pem()].concat()).expect("write both");
        Self { pem, key, both, der: made.der().clone() }
    }

    /// The settings of a client that trusts this certificate and no other.
    pub(crate) fn trusting(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).expect("a certificate");
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the protocols are known")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Arc::new(config)
    }
}
