//! A provider on loopback whose answers each test sets.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use docent_http_client::SecretSource;
use docent_operators::{AuthorizationRequest, Identity, IdentityClaims, IdentityError, IdentityProvider as _};
use docent_types::{Clock as _, ManualClock, SystemClock};
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJsonWebKeySet, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKey as _, JsonWebKeyId, PrivateSigningKey as _};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use crate::{OpenIdConfig, OpenIdProvider};

const CODE: &str = "the code";
const SECRET: &str = "s3cret";
const RETURN: &str = "https://docent.test/dashboard/-/sign-in/openid/return";

/// The provider's answers, and the requests that it received.
struct Script {
    issuer: String,
    is_up: bool,
    key: Arc<CoreEdDsaPrivateSigningKey>,
    /// The key that it publishes.
    published: Arc<CoreEdDsaPrivateSigningKey>,
    /// Claims that replace those of the default ID token; `null` removes one.
    claims: Value,
    /// Changes the signed token before it is sent.
    forge: fn(String) -> String,
    user_info: Value,
    is_code_used: bool,
    nonce: String,
    token_requests: Vec<String>,
}

struct Fixture {
    script: Arc<Mutex<Script>>,
    provider: OpenIdProvider,
    clock: ManualClock,
    folder: tempfile::TempDir,
}

fn key(id: &str) -> Arc<CoreEdDsaPrivateSigningKey> {
    let pem = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key").serialize_pem();
    let id = Some(JsonWebKeyId::new(id.to_owned()));
    Arc::new(CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, id).expect("a key"))
}

impl Script {
    fn answer(&mut self, path: &str, body: &str) -> (u16, Value) {
        let issuer = &self.issuer;
        match path {
            _ if !self.is_up => (503, json!({})),
            "/.well-known/openid-configuration" => (
                200,
                json!({
                    "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
                    "userinfo_endpoint": format!("{issuer}/me"), "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["EdDSA", "none", "made-up"],
                }),
            ),
            "/keys" => (200, json!(CoreJsonWebKeySet::new(vec![self.published.as_verification_key()]))),
            "/token" => {
                self.token_requests.push(body.to_owned());
                if std::mem::replace(&mut self.is_code_used, true) {
                    return (400, json!({ "error": "invalid_grant" }));
                }
                let token = (self.forge)(self.token());
                (200, json!({ "access_token": "a", "token_type": "Bearer", "id_token": token }))
            }
            "/me" => (200, self.user_info.clone()),
            other => panic!("nobody asks for {other}"),
        }
    }

    fn token(&self) -> String {
        let mut claims = json!({
            "iss": self.issuer, "aud": ["docent"], "sub": "4711", "iat": 1_700_000_000, "exp": 4_000_000_000_i64,
            "nonce": self.nonce, "preferred_username": "ada", "groups": ["docs"],
        });
        let claims_of = claims.as_object_mut().expect("an object");
        for (name, value) in self.claims.as_object().expect("an object") {
            claims_of.insert(name.clone(), value.clone());
        }
        claims_of.retain(|_, value| !value.is_null());
        let encoded = |part: Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
        let id = self.key.as_verification_key().key_id().map(|id| id.to_string());
        let message = format!("{}.{}", encoded(json!({ "alg": "EdDSA", "kid": id })), encoded(claims));
        let signature = self.key.sign(&CoreJwsSigningAlgorithm::EdDsa, message.as_bytes()).expect("a signature");
        format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

async fn fixture() -> Fixture {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let issuer = format!("http://{}", listener.local_addr().expect("an address"));
    let key = key("one");
    let script = Arc::new(Mutex::new(Script {
        issuer: issuer.clone(),
        is_up: true,
        published: key.clone(),
        key,
        claims: json!({}),
        forge: |token| token,
        user_info: json!({ "sub": "4711", "name": "Ada", "groups": ["elsewhere"] }),
        is_code_used: false,
        nonce: String::new(),
        token_requests: Vec::new(),
    }));
    let says = Arc::clone(&script);
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            let mut socket = BufReader::new(socket);
            let (mut first, mut length) = (String::new(), 0);
            socket.read_line(&mut first).await.expect("a request");
            loop {
                let mut line = String::new();
                socket.read_line(&mut line).await.expect("a header");
                match line.trim_end().split_once(':') {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.trim().parse().expect("a length");
                    }
                    Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                        first = format!("{} {}", first.trim_end(), value.trim());
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            let mut body = vec![0; length];
            socket.read_exact(&mut body).await.expect("a body");
            let mut words = first.split(' ');
            let path = words.nth(1).unwrap_or_default().to_owned();
            let body = format!("{} {}", String::from_utf8_lossy(&body), words.skip(1).collect::<Vec<_>>().join(" "));
            let (status, answer) = says.lock().answer(&path, &body);
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                answer.len()
            );
            socket.write_all(format!("{head}{answer}").as_bytes()).await.expect("answers");
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("secret"), SECRET).expect("written");
    let config = OpenIdConfig {
        label: "Example".to_owned(),
        issuer,
        client_id: "docent".to_owned(),
        client_secret: Some(SecretSource::File(folder.path().join("secret"))),
        scopes: vec!["profile".to_owned()],
        groups_claim: "groups".to_owned(),
    };
    let clock = ManualClock::at(SystemClock.now());
    let provider = OpenIdProvider::new(config, RETURN.to_owned(), Arc::new(clock.clone()));
    Fixture { script, provider, clock, folder }
}

impl Fixture {
    /// A whole sign-in; `change` is applied to the provider's answers once it has begun.
    async fn signs_in(&self, change: impl FnOnce(&mut Script)) -> Result<IdentityClaims, IdentityError> {
        let request = self.provider.begin().await?;
        {
            let mut script = self.script.lock();
            (script.nonce, script.is_code_used) = (request.nonce.clone(), false);
            change(&mut script);
        }
        self.provider.identify(CODE.to_owned(), &request).await
    }
}

fn parameter<'r>(request: &'r AuthorizationRequest, name: &str) -> Option<&'r str> {
    let (_, query) = request.url.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

#[tokio::test]
async fn somebody_signs_in_with_a_code_and_its_proof() {
    let fixture = fixture().await;
    let request = fixture.provider.begin().await.expect("begins");
    let decoded =
        |name| parameter(&request, name).map(|value| percent_decode_str(value).decode_utf8_lossy().into_owned());
    assert_eq!(decoded("response_type").as_deref(), Some("code"));
    assert_eq!(decoded("code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(decoded("redirect_uri").as_deref(), Some(RETURN));
    assert_eq!(decoded("scope").as_deref(), Some("openid+profile"));
    assert_eq!(decoded("state").as_deref(), Some(request.state.as_str()));
    assert_eq!(decoded("nonce").as_deref(), Some(request.nonce.as_str()));
    assert!(!request.url.contains(&request.verifier) && !format!("{request:?}").contains(&request.verifier));

    fixture.script.lock().nonce = request.nonce.clone();
    let claims = fixture.provider.identify(CODE.to_owned(), &request).await.expect("is identified");
    let issuer = fixture.provider.issuer().to_owned();
    assert_eq!(claims.identity, Identity { issuer, subject: "4711".to_owned() });
    assert_eq!((claims.names[0].as_str(), claims.groups), ("ada", vec!["docs".to_owned()]));
    let sent = fixture.script.lock().token_requests.remove(0);
    assert!(sent.contains(&format!("code_verifier={}", request.verifier)), "{sent}");
    assert!(sent.contains("code=the+code") && sent.contains("Basic ") && !sent.contains(SECRET), "{sent}");

    // The same code again.
    let again = fixture.provider.identify(CODE.to_owned(), &request).await;
    assert!(matches!(again, Err(IdentityError::Unproven(_))), "{again:?}");
}

#[tokio::test]
async fn a_token_that_proves_nothing_is_refused() {
    let fixture = fixture().await;
    let other = key("one");
    type Change = Box<dyn FnOnce(&mut Script)>;
    let claims = |claims: Value| -> Change { Box::new(move |script| script.claims = claims) };
    let forged = |forge: fn(String) -> String| -> Change { Box::new(move |script| script.forge = forge) };
    let changes: Vec<(&str, Change)> = vec![
        ("another nonce", claims(json!({ "nonce": "another" }))),
        ("no nonce", claims(json!({ "nonce": null }))),
        ("expired", claims(json!({ "exp": 1_700_000_600 }))),
        ("another issuer", claims(json!({ "iss": "https://evil.test" }))),
        ("another audience", claims(json!({ "aud": ["another"] }))),
        ("no audience", claims(json!({ "aud": null }))),
        ("one more audience", claims(json!({ "aud": ["docent", "another"] }))),
        ("one more audience, asked for by it", claims(json!({ "aud": ["docent", "another"], "azp": "another" }))),
        ("asked for by another", claims(json!({ "azp": "another" }))),
        ("asked for by several", claims(json!({ "aud": ["docent", "another"], "azp": ["docent", "another"] }))),
        ("no subject", claims(json!({ "sub": null }))),
        ("an empty subject", claims(json!({ "sub": "" }))),
        ("a number for a subject", claims(json!({ "sub": 4711 }))),
        ("no end", claims(json!({ "exp": null }))),
        ("a text for an end", claims(json!({ "exp": "4000000000" }))),
        ("from the future", claims(json!({ "iat": 3_900_000_000_i64 }))),
        ("not yet", claims(json!({ "nbf": 3_900_000_000_i64 }))),
        ("another key of the same name", Box::new(move |script| script.key = other)),
        ("unsigned", forged(|token| format!("eyJhbGciOiJub25lIn0.{}.", token.split('.').nth(1).expect("a payload")))),
        ("no signature", forged(|token| token.rsplit_once('.').expect("a signature").0.to_owned() + ".")),
        ("no token", forged(|_| "x".to_owned())),
    ];
    for (what, change) in changes {
        let refused = fixture.signs_in(change).await;
        assert!(matches!(refused, Err(IdentityError::Unproven(_))), "{what}: {refused:?}");
        let mut script = fixture.script.lock();
        (script.claims, script.forge, script.key) = (json!({}), |token| token, script.published.clone());
    }
    fixture.signs_in(|_| ()).await.expect("the usual token is good");
}

#[tokio::test]
async fn unused_claims_may_have_any_type() {
    let fixture = fixture().await;
    let odd = [
        json!({ "aud": "docent" }),
        json!({ "aud": ["docent", "a project"], "azp": "docent" }),
        json!({ "email_verified": "true", "phone_number_verified": "false", "updated_at": "2026-01-01T00:00:00.000Z" }),
        json!({ "auth_time": "1700000000", "amr": "pwd", "acr": 1, "address": "Street 1", "birthdate": 0, "gender": [] }),
        json!({ "exp": 3_999_999_999.5, "iat": 1_700_000_000.25 }),
        json!({ "picture": null, "zoneinfo": {}, "locale": ["en"], "realm_access": { "roles": [1, null] } }),
        json!({ "email": 7, "name": false, "website": "no address", "jti": 1, "at_hash": 2, "nbf": "later" }),
    ];
    for claims in odd {
        let signed_in = fixture.signs_in(|script| script.claims = claims.clone()).await;
        assert_eq!(signed_in.expect("is identified").names[0], "ada", "{claims}");
    }
    let odd =
        json!({ "sub": "4711", "groups": ["elsewhere"], "updated_at": "now", "email_verified": "true", "address": 1 });
    let lacks = json!({ "groups": null });
    let claims =
        fixture.signs_in(|script| (script.claims, script.user_info) = (lacks, odd)).await.expect("is identified");
    assert_eq!(claims.groups, ["elsewhere"]);
}

#[tokio::test]
async fn clocks_may_differ_a_little() {
    let fixture = fixture().await;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    for (claims, is_good) in [
        (json!({ "exp": now() - 2 }), true),
        (json!({ "exp": now() - 60 }), false),
        (json!({ "iat": now() + 20 }), true),
        (json!({ "iat": now() + 600 }), false),
    ] {
        let signed_in = fixture.signs_in(|script| script.claims = claims.clone()).await;
        assert_eq!(signed_in.is_ok(), is_good, "{claims}");
    }
}

#[tokio::test]
async fn times_are_compared_with_the_clock_that_all_nodes_share() {
    let fixture = fixture().await;
    let in_an_hour = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() + 3_600;
    let later = json!({ "iat": in_an_hour, "exp": in_an_hour + 60 });
    assert!(fixture.signs_in(|script| script.claims = later.clone()).await.is_err(), "it is not yet good");
    fixture.clock.advance(Duration::from_secs(3_600));
    fixture.signs_in(|script| script.claims = later.clone()).await.expect("is identified");
}

#[tokio::test]
async fn missing_claims_are_fetched_for_the_same_subject() {
    let fixture = fixture().await;
    let lacks = json!({ "groups": null, "preferred_username": null });
    let claims = fixture.signs_in(|script| script.claims = lacks).await.expect("is identified");
    assert_eq!(
        (claims.names, claims.groups),
        (vec!["Ada".to_owned(), "4711".to_owned()], vec!["elsewhere".to_owned()])
    );
    let swapped = fixture.signs_in(|script| script.user_info["sub"] = "4712".into()).await;
    assert!(matches!(swapped, Err(IdentityError::Unproven(_))), "{swapped:?}");
}

#[tokio::test]
async fn a_provider_is_asked_again_after_a_failure_and_for_new_keys() {
    let fixture = fixture().await;
    fixture.script.lock().is_up = false;
    let down = fixture.provider.begin().await;
    assert!(matches!(down, Err(IdentityError::Unavailable(_))), "{down:?}");
    fixture.script.lock().is_up = true;
    fixture.signs_in(|_| ()).await.expect("it is up again");
    let new = key("two");
    let rotated = fixture.signs_in(|script| (script.key, script.published) = (new.clone(), new)).await;
    rotated.expect("the new key is read");
    // A missing secret is for the operator to fix.
    std::fs::remove_file(fixture.folder.path().join("secret")).expect("removed");
    let unset = fixture.provider.begin().await;
    assert!(matches!(unset, Err(IdentityError::Unavailable(_))), "{unset:?}");
}
