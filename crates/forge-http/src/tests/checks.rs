//! The checks of `doctor`.

use serde_json::{Value, json};

use super::server::{Answer, Server};
use super::{forge, told};
use crate::Host::{self, Gitea, Github, Gitlab};

async fn checked(host: Host, repository: Value, scopes: &'static str) -> String {
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/api/v4/personal_access_tokens/self" if scopes.is_empty() => Answer::json(404, json!({})),
        "/api/v4/personal_access_tokens/self" => {
            Answer::json(200, json!({ "scopes": scopes.split(", ").collect::<Vec<_>>() }))
        }
        _ => Answer::json(200, repository.clone()).with("x-oauth-scopes", scopes),
    })
    .await;
    let found = match forge(host, &server).check().await {
        Ok(sentence) => format!("well: {sentence}"),
        Err(error) => told(&error),
    };
    found.replace(server.url().trim_start_matches("http://"), "…")
}

#[tokio::test]
async fn a_check_says_what_is_missing() {
    let name = "acme/docs";
    let github =
        |push: bool, private: bool| json!({ "full_name": name, "private": private, "permissions": { "push": push } });
    let gitlab = |level: Option<u32>| {
        let access = level.map(|level| json!({ "access_level": level }));
        json!({ "path_with_namespace": name, "permissions": { "project_access": access, "group_access": null } })
    };
    let gitea =
        |push: bool| json!({ "full_name": name, "permissions": { "admin": false, "push": push, "pull": true } });
    for (host, repository, scopes, expected) in [
        (Github, github(true, true), "gist, repo", "well: the token may push and open pull requests in acme/docs at …"),
        (Github, github(true, false), "public_repo", "well: the token may push and open"),
        (
            Github,
            github(true, true),
            "public_repo",
            "refused: acme/docs at … needs the scope `repo`, which the token lacks",
        ),
        (
            Github,
            github(true, true),
            "",
            "well: the owner of the token may push to acme/docs at …; whether the token itself",
        ),
        (Github, github(false, false), "", "refused: acme/docs at … may be read but not written to by the token"),
        (Github, json!({ "full_name": name, "archived": true }), "", "refused: acme/docs at … is archived"),
        (Gitlab, gitlab(Some(40)), "api", "well: the token may push and open merge requests in acme/docs at …"),
        (Gitlab, gitlab(Some(30)), "", "well: the token may push and open merge requests"),
        (Gitlab, gitlab(None), "api", "well: the token sees acme/docs at …; its role there GitLab does not tell"),
        (
            Gitlab,
            gitlab(Some(20)),
            "api",
            "refused: acme/docs at … lets the token do too little: give it at least the role",
        ),
        (Gitlab, gitlab(Some(30)), "read_api", "refused: acme/docs at … needs the scope `api`, which the token lacks"),
        (
            Gitlab,
            json!({ "path_with_namespace": name, "merge_requests_access_level": "disabled" }),
            "api",
            "refused: acme/docs at … has merge requests turned off",
        ),
        (Gitea, gitea(true), "", "well: the user of the token may push to acme/docs at …"),
        (Gitea, gitea(false), "", "refused: acme/docs at … may not be written to by the token"),
        (
            Gitea,
            json!({ "full_name": name, "has_pull_requests": false }),
            "",
            "refused: acme/docs at … has pull requests",
        ),
        (Gitea, json!({ "full_name": name, "archived": true }), "", "refused: acme/docs at … is archived"),
    ] {
        let text = checked(host, repository.clone(), scopes).await;
        assert!(text.starts_with(expected), "{repository}\n{text}\n{expected}");
    }
}

#[tokio::test]
async fn a_check_does_not_repeat_what_a_service_answers() {
    for status in [400, 403, 422, 500, 503] {
        let body = json!({ "message": "hunter2 is the password", "error": ["hunter2"] });
        for host in [Github, Gitlab, Gitea] {
            let server = Server::saying(Answer::json(status, body.clone())).await;
            let text = told(&forge(host, &server).check().await.expect_err("it is no forge"));
            assert!(!text.contains("hunter2"), "{status}: {text}");
            assert!(status == 403 || text.contains(&status.to_string()), "{status}: {text}");
        }
    }
}
