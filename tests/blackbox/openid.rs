//! Sign-in at an identity provider, with claims of the shapes that products send by their documentation.

use std::time::{SystemTime, UNIX_EPOCH};

use docent_tests::{IdentityProvider, Installation, Person, Server};
use serde_json::{Value, json};

/// The status of an operator's own page after a sign-in with these claims.
fn status_after(server: &Server, provider: &IdentityProvider, claims: &Value, user_info: &Value) -> u16 {
    status_after_at([server, server], provider, claims, user_info)
}

/// As [`status_after`], where the browser comes back to the second server.
pub(crate) fn status_after_at(
    [begins, ends]: [&Server; 2],
    provider: &IdentityProvider,
    claims: &Value,
    user_info: &Value,
) -> u16 {
    let mut person = Person::new(begins);
    let begun = person.gets("/dashboard/-/sign-in/openid?to=/dashboard");
    let (_, query) = begun.header("location").and_then(|to| to.split_once('?')).expect("the provider's address");
    let parameter = |name: &str| {
        let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("no {name} in {query}")).to_owned()
    };
    provider.says(&parameter("nonce"), claims, user_info);
    let mut person = person.at(ends);
    person.gets(&format!("/dashboard/-/sign-in/openid/return?code=c&state={}", parameter("state")));
    person.gets("/dashboard/-/account").status
}

#[test]
fn people_sign_in_with_the_claims_of_common_providers() {
    let (installation, provider) = (Installation::new(), IdentityProvider::start());
    let issuer = provider.issuer();
    let serve = |groups_claim: &str| {
        installation.serve_with(&[
            ("DOCENT_OPENID__ISSUER", &issuer),
            ("DOCENT_OPENID__CLIENT_ID", "docent"),
            ("DOCENT_OPENID__GROUPS_CLAIM", groups_claim),
            ("DOCENT_OPENID__EDITOR_GROUPS", "docs"),
        ])
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let with = |more: Value| {
        let mut claims = json!({ "sub": "4711", "aud": "docent", "iat": now, "exp": now + 300 });
        let all = claims.as_object_mut().expect("an object");
        all.extend(more.as_object().expect("an object").clone());
        all.retain(|_, value| !value.is_null());
        claims
    };
    let nothing = json!({ "sub": "4711" });
    let zitadel = "urn:zitadel:iam:org:project:roles";
    for (groups_claim, claims, user_info, status) in [
        // Zitadel: the audience has the project too, and roles are the members of an object.
        (
            zitadel,
            with(json!({
                "aud": ["docent", "280132345@project"], "azp": "docent", "amr": ["pwd"], "auth_time": now,
                "client_id": "docent", "sid": "V1_1", "updated_at": now,
                (zitadel): { "docs": { "280131": "acme.zitadel.example" } },
            })),
            nothing.clone(),
            200,
        ),
        // Auth0: times as texts, groups in a claim whose name is an address.
        (
            "https://acme.example/groups",
            with(json!({
                "nickname": "ada", "name": "ada@example.com", "picture": "https://s.gravatar.com/avatar/1",
                "updated_at": "2026-11-20T09:12:27.000Z", "email": "ada@example.com", "email_verified": true,
                "sid": "s", "https://acme.example/groups": ["docs"],
            })),
            nothing.clone(),
            200,
        ),
        // Cognito: flags as texts, an address as an object, groups under a name with a colon.
        (
            "cognito:groups",
            with(json!({
                "cognito:groups": ["docs"], "email_verified": "true", "phone_number_verified": "false",
                "cognito:username": "ada", "token_use": "id", "auth_time": now, "identities": [{ "primary": "true" }],
                "address": { "formatted": "Street 1" }, "origin_jti": "1", "event_id": "2",
            })),
            nothing.clone(),
            200,
        ),
        // JumpCloud: the audience as a list, an address as a text, groups with other members.
        (
            "groups",
            with(json!({
                "aud": ["docent"], "auth_time": now, "rat": now, "at_hash": "x", "email_verified": null,
                "address": "Street 1", "phone_number": null, "birthdate": "", "groups": ["docs", { "id": 1 }],
            })),
            nothing.clone(),
            200,
        ),
        // Groups from the user info alone, with times as texts there.
        (
            "groups",
            with(json!({ "groups": null })),
            json!({ "sub": "4711", "groups": "docs", "updated_at": "yesterday", "email_verified": "false" }),
            200,
        ),
        ("groups", with(json!({ "groups": ["docs"], "exp": now - 600 })), nothing.clone(), 303),
        ("groups", with(json!({ "groups": ["docs"], "iat": now + 86_400 })), nothing.clone(), 303),
        ("groups", with(json!({ "groups": ["docs"], "sub": "" })), json!({ "sub": "" }), 303),
        (
            "groups",
            with(json!({ "groups": ["docs"], "aud": ["docent", "other"], "azp": "other" })),
            nothing.clone(),
            303,
        ),
        ("groups", with(json!({ "groups": null })), json!({ "sub": "4712", "groups": ["docs"] }), 303),
    ] {
        let server = serve(groups_claim);
        assert_eq!(status_after(&server, &provider, &claims, &user_info), status, "{claims:#}");
        server.kill();
    }
}
