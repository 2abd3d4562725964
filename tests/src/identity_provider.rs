//! An OpenID Connect provider whose claims each test sets, with the shapes that the documentation of products shows.

use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use rcgen::{KeyPair, PKCS_ED25519, SigningKey as _};
use serde_json::{Value, json};

use crate::http_server::{listen, path_and_query};

/// A running provider. It ends with the process.
#[derive(Debug, Clone)]
pub struct IdentityProvider {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    /// The claims of the next ID token besides the issuer and the nonce.
    claims: Value,
    user_info: Value,
    nonce: String,
}

impl IdentityProvider {
    /// A provider on a free port.
    ///
    /// # Panics
    /// When no key can be made.
    pub fn start() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        let script = Arc::<Mutex<Script>>::default();
        let says = Arc::clone(&script);
        let address = listen(
            0,
            Arc::new(move |received, connection| {
                let host = received.headers.get("host").cloned().unwrap_or_default();
                let answer = says.lock().answer(&format!("http://{host}"), &path_and_query(&received.target).0, &key);
                connection.answer(
                    if answer.is_null() { 404 } else { 200 },
                    &[("Content-Type", "application/json".to_owned())],
                    answer.to_string().as_bytes(),
                )
            }),
        );
        Self { address, script }
    }

    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next sign-in, with this nonce: the claims of its ID token, and what the user info says.
    pub fn says(&self, nonce: &str, claims: &Value, user_info: &Value) {
        let (claims, user_info) = (claims.clone(), user_info.clone());
        *self.script.lock() = Script { claims, user_info, nonce: nonce.to_owned() };
    }
}

impl Script {
    fn answer(&self, issuer: &str, path: &str, key: &KeyPair) -> Value {
        let encoded = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        match path {
            "/.well-known/openid-configuration" => json!({
                "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
                "userinfo_endpoint": format!("{issuer}/me"), "response_types_supported": ["code"],
                "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["EdDSA"],
            }),
            "/keys" => json!({ "keys": [
                { "kty": "AKP", "alg": "ML-DSA-44", "kid": "new", "pub": "AA" },
                { "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": "one", "x": encoded(key.public_key_raw()) },
            ] }),
            "/token" => {
                let mut claims = self.claims.clone();
                claims["iss"] = issuer.into();
                claims["nonce"] = self.nonce.as_str().into();
                let header = json!({ "alg": "EdDSA", "kid": "one", "typ": "JWT" }).to_string();
                let message = format!("{}.{}", encoded(header.as_bytes()), encoded(claims.to_string().as_bytes()));
                let signature = key.sign(message.as_bytes()).expect("a signature");
                json!({
                    "access_token": "an-access-token", "token_type": "bearer", "expires_in": "3600",
                    "id_token": format!("{message}.{}", encoded(&signature)),
                })
            }
            "/me" => self.user_info.clone(),
            _ => Value::Null,
        }
    }
}
