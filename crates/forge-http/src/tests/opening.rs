//! Responses of forges to opening a pull request that the imitations do not cover.

use docent_forge::{ForgeError, PullRequest, PullRequestSpec, PullState};
use serde_json::{Value, json};

use super::server::{Answer, Server};
use super::{forge, request, told};
use crate::Host::{Gitea, Github, Gitlab};

fn github_pull(number: u64, head: &str) -> Value {
    json!({
        "number": number, "html_url": format!("https://github.com/acme/docs/pull/{number}"), "state": "open",
        "draft": false, "merged_at": null,
        "head": { "ref": head, "repo": { "id": 7 } }, "base": { "ref": "main", "repo": { "id": 7 } },
    })
}

fn unprocessable(error: &Value) -> Answer {
    Answer::json(422, json!({ "message": "Validation Failed", "errors": [error] }))
}

#[tokio::test]
async fn a_branch_without_changes_is_told_apart() {
    let error =
        json!({ "resource": "PullRequest", "code": "custom", "message": "No commits between main and docent/a" });
    let server = Server::saying(unprocessable(&error)).await;
    let error = forge(Github, &server).open(&request()).await.expect_err("nothing to open");
    assert_eq!(told(&error), "no changes: the branch `docent/a` holds nothing that `main` does not have");
}

#[tokio::test]
async fn a_base_that_is_gone_is_told_apart_from_a_head_that_is() {
    let github =
        Server::saying(unprocessable(&json!({ "resource": "PullRequest", "field": "base", "code": "invalid" }))).await;
    let script = |asked: &super::server::Asked| match asked.path.as_str() {
        path if path.ends_with("/branches/docent%2Fa") => Answer::json(200, json!({})),
        path if path.ends_with("/branches/main") => Answer::json(404, json!({})),
        _ if asked.method == "GET" => Answer::json(200, json!({ "full_name": "acme/docs" })),
        _ => Answer::json(if asked.path.contains("v4") { 422 } else { 404 }, json!({ "message": "Something." })),
    };
    let (gitlab, gitea) = (Server::start(script).await, Server::start(script).await);
    for (host, server) in [(Github, &github), (Gitlab, &gitlab), (Gitea, &gitea)] {
        let text = told(&forge(host, server).open(&request()).await.expect_err("no base"));
        let authority = server.url().replace("http://", "");
        assert_eq!(text, format!("refused: acme/docs at {authority} has no branch `main` to open it to"), "{host:?}");
    }
}

#[tokio::test]
async fn refused_requests_quote_the_forge() {
    let server = Server::start(|asked| match asked.method.as_str() {
        "POST" => Answer::json(400, json!({ "message": { "title": ["is too long"], "base": ["is odd"] } })),
        _ => Answer::json(200, json!({})),
    })
    .await;
    let text = told(&forge(Gitlab, &server).open(&request()).await.expect_err("refused"));
    assert!(text.ends_with("refused with 400 Bad Request: title is too long; base is odd"), "{text}");
}

#[tokio::test]
async fn a_plan_without_drafts_gets_a_ready_one() {
    let server = Server::start(|asked| match &asked.body["draft"] {
        Value::Bool(true) => {
            Answer::json(422, json!({ "message": "Draft pull requests are not supported in this repository." }))
        }
        _ => Answer::json(201, github_pull(4, "docent/a")),
    })
    .await;
    let opened = forge(Github, &server).open(&PullRequestSpec { draft: true, ..request() }).await.expect("opens");
    assert_eq!((opened.number, opened.draft, server.asked().len()), (4, false, 2));
}

#[tokio::test]
async fn labels_that_may_not_be_set_do_not_cost_the_pull_request() {
    let github = Server::start(|asked| match asked.path.ends_with("/labels") {
        true => Answer::json(403, json!({ "message": "Resource not accessible by integration" })),
        false => Answer::json(201, github_pull(4, "docent/a")),
    })
    .await;
    let gitea = Server::start(|asked| match asked.path.ends_with("/labels") {
        true => Answer::json(403, json!({ "message": "token does not have read:issue" })),
        false => Answer::json(
            201,
            json!({
                "number": 4, "html_url": "https://codeberg.org/acme/docs/pulls/4", "state": "open",
                "head": { "ref": "docent/a" }, "base": { "ref": "main" },
            }),
        ),
    })
    .await;
    for (host, server) in [(Github, &github), (Gitea, &gitea)] {
        let request = PullRequestSpec { labels: vec!["docs".to_owned()], ..request() };
        let opened = forge(host, server).open(&request).await.expect("opens");
        assert_eq!((opened.number, opened.state), (4, PullState::Open), "{host:?}");
        assert!(server.lines().iter().any(|line| line.ends_with("/labels")));
    }
}

#[tokio::test]
async fn a_repository_that_moved_is_followed_once_also_to_another_owner() {
    let server = Server::start(|asked| match (asked.line().as_str(), asked.value("head")) {
        // The filter contains the owner's old name, so nothing is found.
        ("GET /repositories/7/pulls", Some(_)) => Answer::json(200, json!([])),
        ("GET /repositories/7/pulls", None) => {
            Answer::json(200, json!([github_pull(9, "docent/other"), github_pull(8, "docent/a")]))
        }
        ("POST /repositories/7/pulls", _) => Answer::json(201, github_pull(10, "docent/a")),
        _ => {
            let query = if asked.query.is_empty() { String::new() } else { format!("?{}", asked.query) };
            let there = format!("/repositories/7/pulls{query}");
            Answer::json(if asked.method == "GET" { 301 } else { 307 }, json!({})).with("location", there)
        }
    })
    .await;
    let forge = forge(Github, &server);
    assert_eq!(forge.find("docent/a").await.expect("looks").map(|found| found.number), Some(8));
    let opened = forge.open(&request()).await.expect("opens");
    assert_eq!(opened.number, 10);
    let asked = server.asked();
    let last = asked.last().expect("asked");
    assert_eq!((last.line().as_str(), &last.body["head"]), ("POST /repositories/7/pulls", &json!("docent/a")));
    assert!(!last.header("authorization").is_empty());
}

#[tokio::test]
async fn a_second_redirect_is_not_followed() {
    let server = Server::start(|asked| Answer::new(307, "").with("location", format!("{}/again", asked.path))).await;
    let text = told(&forge(Github, &server).open(&request()).await.expect_err("goes in circles"));
    assert!(text.contains("redirects to /repos/acme/docs/pulls/again/again"), "{text}");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_pull_request_that_is_there_but_not_shown_is_looked_for_later() {
    for (host, status, message) in [
        (Github, 422, "A pull request already exists for acme:docent/a."),
        (Gitlab, 409, "Another open merge request already exists for this source branch: !1"),
        (Gitea, 409, "pull request already exists"),
    ] {
        let server = Server::start(move |asked| match asked.method.as_str() {
            "POST" => Answer::json(status, json!({ "message": message })),
            _ => Answer::json(200, json!([])),
        })
        .await;
        let error = forge(host, &server).open(&request()).await.expect_err("not seen");
        assert!(matches!(error, ForgeError::Unavailable { .. }), "{host:?}: {}", told(&error));
    }
}

#[tokio::test]
async fn gitea_is_asked_page_by_page_and_then_for_the_two_branches() {
    let pull = |number: usize, head: &str| {
        json!({
            "number": number, "html_url": format!("https://codeberg.org/acme/docs/pulls/{number}"), "state": "open",
            "head": { "ref": head, "label": head, "repo_id": 7 }, "base": { "ref": "main", "repo_id": 7 },
        })
    };
    // 400 newer pull requests come before ours.
    let server = Server::start(move |asked| {
        let page: usize = asked.value("page").and_then(|page| page.parse().ok()).unwrap_or(0);
        let newer = || (0..50).map(|place| pull(1_000 - page * 50 - place, "other")).collect();
        match asked.line().as_str() {
            "GET /api/v1/repos/acme/docs/pulls" => Answer::json(200, newer()),
            "GET /api/v1/repos/acme/docs/pulls/main/docent%2Fa" | "PATCH /api/v1/repos/acme/docs/pulls/3" => {
                Answer::json(200, pull(3, "docent/a"))
            }
            _ => Answer::json(409, json!({ "message": "pull request already exists" })),
        }
    })
    .await;
    let forge = forge(Gitea, &server);
    assert_eq!(forge.find("docent/a").await.expect("looks"), None);
    assert_eq!(server.asked().len(), 5, "the search has an end");
    assert_eq!(forge.open(&request()).await.expect("finds").number, 3);
    assert_eq!(forge.find("other").await.expect("looks").map(|found| found.number), Some(950), "the newest");
}

#[tokio::test]
async fn gitea_with_short_pages_is_asked_for_the_next_one() {
    let server = Server::start(|asked| match asked.value("page").as_deref() {
        Some("1") => {
            let link = "<https://codeberg.org/api/v1/repos/acme/docs/pulls?page=2>; rel=\"next\"";
            Answer::json(200, json!([null])).with("link", link)
        }
        _ => Answer::json(200, json!([])),
    })
    .await;
    assert_eq!(forge(Gitea, &server).find("docent/a").await.expect("looks"), None);
    let pages: Vec<_> = server.asked().iter().filter_map(|asked| asked.value("page")).collect();
    assert_eq!(pages, ["1", "2"]);
}

#[tokio::test]
async fn a_pull_request_that_is_gone_is_told_apart_from_a_repository_that_is() {
    let server = Server::saying(Answer::json(404, json!({ "message": "Not Found" }))).await;
    let found =
        PullRequest { number: 5, url: "https://forge.example/5".to_owned(), state: PullState::Open, draft: false };
    for host in [Github, Gitlab, Gitea] {
        let text = told(&forge(host, &server).update(&found, &request()).await.expect_err("gone"));
        assert!(text.contains("has no pull request 5 any more, or the token may not see it"), "{text}");
    }
}

#[tokio::test]
async fn long_texts_are_cut_to_what_the_forge_takes() {
    let server = Server::saying(Answer::json(201, github_pull(1, "docent/a"))).await;
    let long = PullRequestSpec { title: "ö".repeat(500), body: "ö".repeat(70_000), ..request() };
    forge(Github, &server).open(&long).await.expect("opens");
    let body = &server.asked()[0].body;
    let length = |key: &str| body[key].as_str().expect("a text").chars().count();
    assert_eq!((length("title"), length("body")), (255, 65_000));
}
