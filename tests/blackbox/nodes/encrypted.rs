//! Connections to a database under TLS: what each `sslmode` proves, and to whom it refuses to talk.

use std::path::{Path, PathBuf};

use docent_tests::{Finished, Installation, Postgres, eventually};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// The only name that the server's certificate is for. Its address is not in it.
const NAME: &str = "localhost";

/// A certificate authority, and the file with its certificate.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("make a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("sign itself");
        let file = folder.join(name);
        std::fs::write(&file, issuer.pem()).expect("write the certificate");
        Self { issuer, file }
    }

    /// A certificate for this name, and its key.
    fn certifies(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().expect("make a key");
        let params = CertificateParams::new([name.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.issuer).expect("sign a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}

/// An installation that reaches the database by this name, in this mode.
fn reaching(database: &Postgres, host: &str, mode: &str, authority: Option<&Authority>) -> Installation {
    let roots = authority.map(|authority| format!("&sslrootcert={}", authority.file.display())).unwrap_or_default();
    let url = database.url().replace("127.0.0.1", host) + "?sslmode=" + mode + &roots;
    let [_, password] = database.env();
    Installation::with_variables([("DOCENT_STORE".to_owned(), url), password])
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_database_proves_who_it_is_as_its_address_asks() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let [ours, other] = ["ours.pem", "other.pem"].map(|name| Authority::new(folder.path(), name));
    let database = Postgres::start();
    let lists = |host: &str, mode: &str, authority: Option<&Authority>| -> Finished {
        reaching(&database, host, mode, authority).run(&["project", "list"])
    };
    assert_eq!(lists(NAME, "prefer", None).code, Some(0), "without TLS, if the server has none");
    assert_eq!(lists(NAME, "require", None).code, Some(1), "not without TLS");
    let (certificate, key) = ours.certifies(NAME);
    database.speaks_tls(&certificate, &key);
    for (host, mode, authority) in [
        (NAME, "require", None),
        ("127.0.0.1", "require", None),
        ("127.0.0.1", "require", Some(&ours)),
        ("127.0.0.1", "verify-ca", Some(&ours)),
        (NAME, "verify-full", Some(&ours)),
    ] {
        let listed = lists(host, mode, authority);
        assert_eq!(listed.code, Some(0), "{mode} at {host}: {}", listed.stderr);
    }
    for (host, mode, authority) in [
        // Whoever names authorities wants them used.
        (NAME, "require", Some(&other)),
        (NAME, "verify-ca", Some(&other)),
        (NAME, "verify-ca", None),
        (NAME, "verify-full", Some(&other)),
        (NAME, "verify-full", None),
        ("127.0.0.1", "verify-full", Some(&ours)),
    ] {
        let refused = lists(host, mode, authority);
        assert_eq!(refused.code, Some(1), "{mode} at {host}: {}", refused.stdout);
        assert!(refused.stderr.contains("certificate"), "{mode} at {host}: {}", refused.stderr);
    }
    let installation = reaching(&database, NAME, "verify-full", Some(&ours));
    let _server = installation.serve();
    let sessions = "SELECT count(*), bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                    WHERE application_name IN ('docent', 'docent feed')";
    eventually("all of a server's sessions to be encrypted", || {
        let found = database.query(sessions);
        let (count, is_encrypted) = found.split_once('|').expect("two columns");
        (count.parse::<usize>().is_ok_and(|count| count > 1) && is_encrypted == "t").then_some(())
    });
}
