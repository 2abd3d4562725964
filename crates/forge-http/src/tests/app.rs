//! A GitHub App: its JWT, its installation, its tokens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docent_http_client::SecretSource;
use docent_types::{ManualClock, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use rcgen::{KeyPair, PKCS_RSA_SHA256};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::{Answer, Asked, Server};
use super::{NOON, address, client, clock, told};
use crate::Host::Github;
use crate::{GithubApp, HttpForge, TokenSource, http_forge};

struct Setup {
    key: KeyPair,
    folder: TempDir,
    clock: Arc<ManualClock>,
    source: TokenSource,
}

impl Setup {
    fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_RSA_SHA256).expect("a key");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("key.pem");
        std::fs::write(&file, key.serialize_pem()).expect("writes");
        let clock = clock();
        let app = GithubApp::new(client(), "4711", SecretSource::File(file), Arc::clone(&clock) as _);
        Self { key, folder, clock, source: TokenSource::App(Arc::new(app)) }
    }

    fn forge(&self, server: &Server) -> Arc<dyn HttpForge> {
        http_forge(client(), address(Github, server), self.source.clone(), Arc::clone(&self.clock) as _)
    }

    /// The claims of the signed JWT.
    fn claims(&self, asked: &Asked) -> Value {
        let statement = asked.header("authorization").strip_prefix("Bearer ").expect("a statement");
        let mut validation = Validation::new(Algorithm::RS256);
        validation.validate_exp = false;
        let key = DecodingKey::from_rsa_pem(self.key.public_key_pem().as_bytes()).expect("a key");
        jsonwebtoken::decode::<Value>(statement, &key, &validation).expect("is signed by the App").claims
    }
}

/// A GitHub server with an installation whose tokens are `ghs_1`, `ghs_2`, … and expire at this time.
async fn github(tokens_until: Timestamp) -> Server {
    let made = AtomicU64::new(0);
    Server::start(move |asked| match asked.line().as_str() {
        "GET /repos/acme/docs/installation" => Answer::json(200, json!({ "id": 31, "suspended_at": null })),
        "POST /app/installations/31/access_tokens" => {
            let token = format!("ghs_{}", made.fetch_add(1, Ordering::SeqCst) + 1);
            Answer::json(201, json!({ "token": token, "expires_at": tokens_until.to_string() }))
        }
        "GET /repos/acme/docs" => {
            Answer::json(200, json!({ "full_name": "acme/docs", "permissions": { "push": false } }))
        }
        _ if asked.query.contains("revoked") => Answer::json(401, json!({ "message": "Bad credentials" })),
        _ => Answer::json(200, json!([])),
    })
    .await
}

fn in_an_hour() -> Timestamp {
    Timestamp::from_millis(NOON).plus(Duration::from_secs(3_600))
}

#[tokio::test]
async fn an_app_gets_a_token_for_one_repository_and_no_more_than_it_needs() {
    let setup = Setup::new();
    let server = github(in_an_hour()).await;
    assert_eq!(setup.forge(&server).find("docent/a").await.expect("looks"), None);
    let asked = server.asked();
    let lines =
        ["GET /repos/acme/docs/installation", "POST /app/installations/31/access_tokens", "GET /repos/acme/docs/pulls"];
    assert_eq!(server.lines(), lines);
    let seconds = NOON / 1000;
    for statement in &asked[..2] {
        assert_eq!(setup.claims(statement), json!({ "iss": "4711", "iat": seconds - 60, "exp": seconds + 540 }));
    }
    let wanted = json!({ "repositories": ["docs"], "permissions": { "contents": "write", "pull_requests": "write" } });
    assert_eq!(asked[1].body, wanted);
    assert_eq!(asked[2].header("authorization"), "Bearer ghs_1");
    assert!(setup.forge(&server).check().await.expect("is well").contains("the GitHub App 4711 may push"));
}

#[tokio::test]
async fn a_token_is_shared_by_all_and_made_anew_before_it_expires() {
    let setup = Setup::new();
    let server = github(in_an_hour()).await;
    let address = address(Github, &server);
    let token = async || setup.source.token(&address).await.expect("a token").expect("a token").expose().to_owned();
    assert_eq!(tokio::join!(token(), token(), token()), ("ghs_1".into(), "ghs_1".into(), "ghs_1".into()));
    setup.clock.advance(Duration::from_secs(54 * 60));
    assert_eq!(token().await, "ghs_1");
    setup.clock.advance(Duration::from_secs(60));
    assert_eq!(token().await, "ghs_2");
    let made = server.lines().into_iter().filter(|line| line.starts_with("POST")).count();
    assert_eq!(made, 2);
}

#[tokio::test]
async fn a_token_that_is_refused_is_not_used_again() {
    let setup = Setup::new();
    let server = github(in_an_hour()).await;
    let forge = setup.forge(&server);
    let text = told(&forge.find("revoked").await.expect_err("not accepted"));
    assert!(text.starts_with("unavailable: "), "the next attempt comes with another token: {text}");
    assert_eq!(forge.find("docent/a").await.expect("looks"), None);
    assert_eq!(server.asked().last().expect("asked").header("authorization"), "Bearer ghs_2");
}

#[tokio::test]
async fn faults_of_an_app_are_reported() {
    let setup = Setup::new();
    let installed = Answer::json(200, json!({ "id": 31 }));
    let refused = |status: u16| Answer::json(status, json!({ "message": "No." }));
    for (first, second, expected) in [
        (refused(404), None, "refused: the GitHub App 4711 is not installed on acme/docs at …: install it there"),
        (
            refused(401),
            None,
            "refused: the GitHub App 4711 is not recognised by its key at acme/docs at …: check the App's id",
        ),
        (
            Answer::json(200, json!({ "id": 31, "suspended_at": "2026-01-01T00:00:00Z" })),
            None,
            "refused: the GitHub App 4711 is suspended for acme/docs at …",
        ),
        (
            installed.clone(),
            Some(refused(403)),
            "refused: the GitHub App 4711 is suspended or not permitted for acme/docs",
        ),
        (
            installed.clone(),
            Some(refused(422)),
            "refused: the GitHub App 4711 lacks permissions in acme/docs at …: in the App's settings grant the \
             repository permissions Contents: read and write and Pull requests: read and write",
        ),
        (installed.clone(), Some(refused(502)), "unavailable: the forge could not be reached: … answered 502"),
        (installed.clone(), Some(refused(429)), "unavailable for 60s: "),
        (installed, Some(Answer::json(201, json!({ "token": "x" }))), "unavailable: the forge could not be reached: …"),
    ] {
        let server = Server::start(move |asked| match asked.method.as_str() {
            "GET" => first.clone(),
            _ => second.clone().expect("no second question"),
        })
        .await;
        let text = told(&setup.forge(&server).find("docent/a").await.expect_err("no token"));
        let text = text.replace(server.url().trim_start_matches("http://"), "…");
        assert!(text.starts_with(expected), "{text}\n{expected}");
    }
}

#[tokio::test]
async fn a_key_is_read_when_it_is_needed_and_may_be_on_one_line() {
    let setup = Setup::new();
    let server = github(in_an_hour()).await;
    let file = setup.folder.path().join("key.pem");
    std::fs::write(&file, "no key").expect("writes");
    let text = told(&setup.forge(&server).find("docent/a").await.expect_err("no key"));
    assert!(text.contains("holds no private key of a GitHub App in PEM form"), "{text}");
    assert!(server.asked().is_empty());
    std::fs::write(&file, setup.key.serialize_pem().replace('\n', "\\n")).expect("writes");
    setup.forge(&server).find("docent/a").await.expect("looks");
}
