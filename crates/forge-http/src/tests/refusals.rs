//! The meaning of each status of each forge: who must fix what, or when to retry.

use std::sync::LazyLock;

use docent_forge::ForgeError;
use docent_http_client::SecretSource;
use proptest::prelude::*;
use serde_json::json;

use super::server::{Answer, Server};
use super::{NOON, TOKEN, address, client, clock, forge, request, told};
use crate::{Address, Host, TokenSource, http_forge};

use Host::{Gitea, Github, Gitlab};

fn said(status: u16, message: &str) -> Answer {
    Answer::json(status, json!({ "message": message }))
}

/// `(forge, its response, the resulting error)`; `…` is replaced by the server's address.
fn table() -> Vec<(Host, Answer, &'static str)> {
    let in_seconds = |seconds: i64| (NOON / 1000 + seconds).to_string();
    let limited = said(403, "API rate limit exceeded for user ID 1.").with("x-ratelimit-remaining", "0");
    vec![
        (
            Github,
            said(401, "Bad credentials"),
            "refused: the token is not accepted by …: it is wrong, revoked or expired; put a valid one in its place",
        ),
        (
            Github,
            said(403, "Resource not accessible by personal access token"),
            "refused: … does not permit this in acme/docs for the token: grant it the repository permissions Contents: read \
             and write and Pull requests: read and write (a classic token: the scope `repo`) (it says: Resource not \
             accessible by personal access token)",
        ),
        (
            Github,
            said(403, "Repository was archived so is read-only."),
            "refused: acme/docs is archived, so nothing can change there: unarchive it, or remove the project",
        ),
        (
            Github,
            said(403, "Resource protected by organization SAML enforcement.")
                .with("x-github-sso", "required; url=https://github.com/orgs/acme/sso?authorization_request=AAAA"),
            "refused: the token is not authorised for single sign-on of the owner of acme/docs: authorise it at \
             https://github.com/orgs/acme/sso",
        ),
        (
            Github,
            said(404, "Not Found"),
            "refused: … has no repository acme/docs, or the token may not see it: correct the repository's address or \
             give the token access to it",
        ),
        (
            Github,
            said(451, "Repository access blocked"),
            "refused: … refused with 451 Unavailable For Legal Reasons: Repository access blocked",
        ),
        (
            Github,
            limited.clone().with("x-ratelimit-reset", in_seconds(119)),
            "unavailable for 120s: the forge could not be reached: … limits the rate of requests",
        ),
        (Github, limited, "unavailable for 60s: the forge could not be reached: … limits the rate"),
        (
            Github,
            said(403, "You have exceeded a secondary rate limit.").with("retry-after", "30"),
            "unavailable for 30s: ",
        ),
        (Github, said(403, "You have exceeded a secondary rate limit."), "unavailable for 60s: "),
        (Github, said(429, "Too many").with("retry-after", "7"), "unavailable for 7s: "),
        (
            Github,
            Answer::new(502, "<html>Bad gateway</html>"),
            "unavailable: the forge could not be reached: … answered 502 Bad Gateway",
        ),
        (
            Github,
            said(503, "Try later").with("retry-after", "5"),
            "unavailable for 5s: the forge could not be reached: … answered 503 Service Unavailable: Try later",
        ),
        (
            Github,
            said(301, "Moved Permanently").with("location", "https://elsewhere.example/repositories/1?access=1"),
            "refused: … redirects to https://elsewhere.example/repositories/1 for acme/docs: correct the repository's \
             address or the base URL",
        ),
        (
            Github,
            Answer::new(200, "<html>Sign in to the hotel's network</html>"),
            "unavailable: the forge could not be reached: … answered with text that is not JSON",
        ),
        (
            Github,
            said(200, "not a list"),
            "unavailable: the forge could not be reached: … answered with JSON of another",
        ),
        (
            Gitlab,
            said(401, "401 Unauthorized"),
            "refused: the token is not accepted by …: it is wrong, revoked or expired; put a valid one in its place",
        ),
        (
            Gitlab,
            Answer::json(
                403,
                json!({ "error": "insufficient_scope", "error_description": "Needs more.", "scope": "api" }),
            ),
            "refused: … does not permit this in acme/docs for the token: give it the scope `api` and at least the role \
             Developer in the project, where merge requests must be on (it says: insufficient_scope; Needs more)",
        ),
        (
            Gitlab,
            said(404, "404 Project Not Found"),
            "refused: … has no repository acme/docs, or the token may not see it",
        ),
        (Gitlab, Answer::new(429, "Retry later").with("retry-after", "40"), "unavailable for 40s: "),
        (Gitlab, Answer::new(429, "Retry later").with("ratelimit-reset", in_seconds(9)), "unavailable for 10s: "),
        (Gitlab, said(500, "500 Internal Server Error"), "unavailable: the forge could not be reached: … answered 500"),
        (
            Gitea,
            said(401, "user does not exist [uid: 0, name: ]"),
            "refused: the token is not accepted by …: it is wrong, revoked or expired; put a valid one in its place",
        ),
        (
            Gitea,
            said(403, "token does not have at least one of required scope(s): [write:repository]"),
            "refused: … does not permit this in acme/docs for the token: give it the permission read and write for \
             repositories, and its user write access to this one (it says: token does not have at least one of required scope(s): \
             [write:repository])",
        ),
        (
            Gitea,
            said(404, "The target couldn't be found."),
            "refused: … has no repository acme/docs, or the token may not see",
        ),
        (
            Gitea,
            said(423, "repo is archived"),
            "refused: acme/docs is archived, so nothing can change there: unarchive it, or remove the project",
        ),
        (Gitea, said(500, ""), "unavailable: the forge could not be reached: … answered 500 Internal Server Error"),
    ]
}

#[tokio::test]
async fn refusals_of_a_forge_come_with_advice() {
    for (host, answer, expected) in table() {
        let server = Server::saying(answer.clone()).await;
        let error = forge(host, &server).find("docent/a").await.expect_err("no success");
        let text = told(&error).replace(server.url().trim_start_matches("http://"), "…");
        let whole = expected.starts_with("refused") && expected.len() > 90;
        assert!(if whole { text == expected } else { text.starts_with(expected) }, "{answer:?}\n{text}\n{expected}");
    }
}

#[tokio::test]
async fn a_forge_that_quotes_the_token_is_not_quoted() {
    for host in [Github, Gitlab, Gitea] {
        let server = Server::saying(said(400, &format!("what is {TOKEN}?"))).await;
        let error = forge(host, &server).find("docent/a").await.expect_err("no success");
        assert!(told(&error).contains("what is …?"));
    }
}

#[tokio::test]
async fn a_forge_that_is_not_there_may_be_there_later() {
    let server = Server::saying(said(200, "")).await;
    let (forge, url) = (forge(Github, &server), server.url());
    drop(server);
    // The port is free at the latest when the task has ended.
    let error = loop {
        match forge.find("docent/a").await.expect_err("nobody answers well") {
            ForgeError::Unavailable { source, .. } if source.to_string().contains("not its own") => {
                tokio::task::yield_now().await;
            }
            error => break error,
        }
    };
    let text = told(&error);
    let authority = url.trim_start_matches("http://");
    assert!(
        text.starts_with(&format!("unavailable: the forge could not be reached: could not connect to {authority}")),
        "{text}"
    );
}

#[tokio::test]
async fn a_token_is_not_sent_in_the_clear_to_another_network() {
    let address = Address::parse(Gitea, "http://git.example.com/acme/docs", None).expect("an address");
    let forge = http_forge(client(), address, super::token(), clock());
    let text = told(&forge.find("docent/a").await.expect_err("not sent"));
    assert!(text.starts_with("refused: could not ask git.example.com: ") && text.contains("use https"), "{text}");
}

#[tokio::test]
async fn a_token_is_read_at_every_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    let server = Server::saying(Answer::json(200, json!([]))).await;
    let tokens = TokenSource::Read(SecretSource::File(file.clone()));
    let forge = http_forge(client(), address(Github, &server), tokens, clock());
    for written in ["first\n", " second "] {
        std::fs::write(&file, written).expect("writes");
        forge.find("docent/a").await.expect("looks");
        assert_eq!(server.asked().last().expect("asked").header("authorization"), format!("Bearer {}", written.trim()));
    }
    for (written, why) in [("", "is empty"), ("two words", "white space")] {
        std::fs::write(&file, written).expect("writes");
        let text = told(&forge.find("docent/a").await.expect_err("no token"));
        assert!(text.starts_with("refused: the file ") && text.contains(why), "{text}");
    }
    let unset = TokenSource::Read(SecretSource::Variable("DOCENT_NOBODY_SETS_THIS".to_owned()));
    let forge = http_forge(client(), address(Github, &server), unset, clock());
    assert_eq!(
        told(&forge.find("docent/a").await.expect_err("no token")),
        "refused: the variable DOCENT_NOBODY_SETS_THIS is not set"
    );
}

#[tokio::test]
async fn a_forge_that_wants_a_token_and_gets_none_asks_for_one() {
    let server = Server::saying(said(401, "Requires authentication")).await;
    let forge = http_forge(client(), address(Github, &server), TokenSource::None, clock());
    let text = told(&forge.find("docent/a").await.expect_err("no token"));
    assert!(text.contains("requires a token: name the environment variable"), "{text}");
    assert_eq!(server.asked()[0].header("authorization"), "");
}

/// One client for all tests: reading the system's certificates takes longer than a request.
static SHARED: LazyLock<(tokio::runtime::Runtime, docent_http_client::Client)> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    (runtime.expect("a runtime"), client())
});

fn answers() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let json = prop_oneof![
        Just(r#"[{"number":1,"iid":1,"html_url":7}]"#.to_owned()),
        Just(r#"[null,{"number":-1},[]]"#.to_owned()),
        Just(r#"{"errors":{"a":{"b":["c",{"message":[1,null]}]}},"message":{"x":"\u001b[2J"}}"#.to_owned()),
        "\\PC{0,80}".prop_map(|text| json!({ "message": text, "errors": [text] }).to_string()),
    ];
    let body = prop_oneof![json.prop_map(String::into_bytes), proptest::collection::vec(any::<u8>(), 0..200)];
    let status = prop_oneof![Just(200), Just(201), Just(422), Just(409), Just(404), 200_u16..600];
    (status, body)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_answer_is_read_or_refused((status, body) in answers()) {
        let (runtime, client) = &*SHARED;
        runtime.block_on(async {
            // Informational and bodyless responses are handled by the HTTP library.
            let body = if matches!(status, 204 | 304) { Vec::new() } else { body };
            let server = Server::saying(Answer::new(status, body)).await;
            for host in [Github, Gitlab, Gitea] {
                let forge = http_forge(client.clone(), address(host, &server), super::token(), clock());
                let outcomes = [
                    forge.find("docent/a").await.err(),
                    forge.open(&request()).await.err(),
                    forge.check().await.err(),
                ];
                for error in outcomes.iter().flatten() {
                    let text = told(error);
                    assert!(!text.contains('\u{1b}') && text.chars().count() < 1_500, "{text:?}");
                }
            }
        });
    }
}
