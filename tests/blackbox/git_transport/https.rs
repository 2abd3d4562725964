//! A git host whose certificate is signed by a private authority.

use std::io;
use std::path::Path;
use std::sync::Arc;

use docent_tests::GitServer;
use docent_tests::git_server::{Accept, Stream};
use docent_tests::site::PROJECT;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{Hosted, TOKEN};

/// The authority's certificate in PEM, and a TLS handshake with a certificate that it has signed.
pub(crate) fn authority() -> (String, Arc<Accept>) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("make a key")).expect("sign itself");
    let key = KeyPair::generate().expect("make a key");
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("sign a certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key is a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the protocols are known")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("the key belongs to the certificate");
    let config = Arc::new(config);
    let handshake = move |stream| -> io::Result<Box<dyn Stream>> {
        let connection = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    };
    (authority.pem(), Arc::new(handshake))
}

fn hosted(trusting: bool) -> Hosted {
    let (pem, handshake) = authority();
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, pem).expect("write the certificate");
    let host = |repository: &Path| {
        let server = GitServer::start_with_handshake(repository.parent().expect("a folder"), "https", handshake);
        server.give(TOKEN);
        server.url(&format!("{PROJECT}.git"))
    };
    let file = file.display().to_string();
    let mut env = vec![("DOCS_TOKEN", TOKEN)];
    if trusting {
        env.push(("SSL_CERT_FILE", file.as_str()));
    }
    Hosted::at(host, &env).keeping(folder)
}

#[test]
fn an_authority_named_in_one_variable_is_trusted_for_fetch_and_push() {
    let hosted = hosted(true);
    let job = hosted.completes();
    hosted.has_the_work_of(&job);
}

#[test]
fn a_certificate_of_nobody_known_fails_the_job_and_says_where_to_name_the_authority() {
    let message = hosted(false).fails();
    assert!(message.contains("certificate") && message.contains("SSL_CERT_FILE"), "{message}");
}
