//! Forges that follow the published REST APIs, and that can be told to give a planned response once.

use docent_tests::agent::{branch, id};
use docent_tests::forge_server::{Kind, NAME, PlannedAnswer, PullState};
use docent_tests::git_server::{Behaviour, basic};
use docent_tests::{ForgeServer, eventually};
use serde_json::json;

use super::{Host, Hosted, PROMPT, prompt};

const TOKEN: &str = "t0ken-0f-a-test";
const KINDS: [Kind; 3] = [Kind::Github, Kind::Gitlab, Kind::Gitea];

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Github => "github",
        Kind::Gitlab => "gitlab",
        Kind::Gitea => "gitea",
    }
}

/// A project on a forge of this kind, whose token is valid for the forge and for the git host.
fn hosted(kind: Kind) -> (Hosted, ForgeServer) {
    hosted_with(kind, &[])
}

fn hosted_with(kind: Kind, env: &[(&str, &str)]) -> (Hosted, ForgeServer) {
    let host = Host::start();
    let forge = ForgeServer::start(kind, &host.repository);
    forge.give(TOKEN);
    // GitLab expects another user name for git than the one that this host knows.
    host.git.behave(Behaviour::Open);
    let env = [&[("DOCS_TOKEN", TOKEN)], env].concat();
    let hosted = host.with_project(name(kind), &forge.url(), &["--token-env", "DOCS_TOKEN"], &env);
    (hosted, forge)
}

#[test]
fn a_job_becomes_a_pull_request_on_every_forge() {
    for kind in KINDS {
        let (hosted, forge) = hosted_with(kind, &[("DOCENT_AGENT__LABELS", "docs,automated")]);
        let job = hosted.completes(&prompt());
        let pulls = forge.pulls();
        assert_eq!(pulls.len(), 1, "{kind:?}");
        let pull = &pulls[0];
        assert_eq!((pull.head.as_str(), pull.base.as_str()), (branch(&job), "main"), "{kind:?}");
        assert!(!pull.draft && !pull.title.is_empty(), "{kind:?}: {pull:?}");
        assert!(pull.body.contains(id(&job)), "{kind:?}: the body leads to the job: {}", pull.body);
        assert_eq!(pull.labels, ["docs", "automated"], "{kind:?}");
        let link = job["prLink"].as_str().expect("a link");
        assert!(link.starts_with(&format!("http://{}/{NAME}/", forge.address())), "{kind:?}: {link}");
        assert_eq!(hosted.repository.branches(), [branch(&job)]);

        let user = if kind == Kind::Gitlab { "oauth2" } else { "x-access-token" };
        let authorization = basic(&format!("{user}:{TOKEN}"));
        for one in hosted.git.seen() {
            assert_eq!(one.headers.get("authorization"), Some(&authorization), "{kind:?}: {}", one.target);
        }
        for one in forge.seen() {
            assert!(one.headers.get("user-agent").is_some_and(|agent| agent.starts_with("docent/")), "{kind:?}");
            assert!(!one.path.contains(TOKEN) && !one.query.values().any(|value| value.contains(TOKEN)));
        }
    }
}

#[test]
fn a_draft_is_a_draft_and_stays_one() {
    for kind in KINDS {
        let (hosted, forge) = hosted(kind);
        let job = hosted.completes(&json!({ "prompt": PROMPT, "asDraft": true }));
        assert!(forge.pulls()[0].draft, "{kind:?}");
        hosted.follows_up(id(&job), "Replace \"parcel\" with \"package\" in quickstart.mdx");
        assert!(forge.pulls()[0].draft, "{kind:?}: a follow-up leaves it a draft");
    }
}

#[test]
fn a_follow_up_changes_the_same_pull_request() {
    for kind in KINDS {
        let (hosted, forge) = hosted(kind);
        let job = hosted.completes(&prompt());
        let first = forge.pulls().remove(0);
        let again = hosted.follows_up(id(&job), "Replace \"parcel\" with \"package\" in quickstart.mdx");
        assert_eq!(again["prLink"], job["prLink"], "{kind:?}");
        let pulls = forge.pulls();
        assert_eq!(pulls.len(), 1, "{kind:?}");
        assert_ne!(pulls[0].body, first.body, "{kind:?}: it says what is in it now");
        assert_eq!(hosted.repository.commits_ahead(branch(&job)), 2, "{kind:?}");
    }
}

#[test]
fn a_pull_request_that_ended_meanwhile_is_followed_by_a_new_one() {
    for kind in KINDS {
        for stage in [PullState::Closed, PullState::Merged] {
            let (hosted, forge) = hosted(kind);
            let job = hosted.completes(&prompt());
            if stage == PullState::Merged {
                hosted.repository.git(&["update-ref", "refs/heads/main", branch(&job)]);
            }
            forge.ends(1, stage);
            let again = hosted.follows_up(id(&job), "Replace \"parcel\" with \"package\" in quickstart.mdx");
            assert_ne!(again["prLink"], job["prLink"], "{kind:?}, {stage:?}");
            let pulls = forge.pulls();
            assert_eq!(pulls.len(), 2, "{kind:?}, {stage:?}");
            assert_eq!((pulls[0].stage, pulls[1].stage), (stage, PullState::Open));
            let message = again["message"].as_str().expect("a message");
            let word = if stage == PullState::Merged { "merged" } else { "closed" };
            assert!(message.contains(word), "{kind:?}: the message tells of it: {message}");
        }
    }
}

#[test]
fn a_pull_request_that_somebody_opened_first_is_taken() {
    for kind in KINDS {
        let (hosted, forge) = hosted(kind);
        let name = "docs/words";
        hosted.repository.git(&["branch", name, "main"]);
        hosted.repository.commit(name, "notes.mdx", "---\ntitle: Notes\n---\n\nA widget.\n");
        // The first list does not have it, as when somebody opens it at the same moment.
        forge.says(
            "GET",
            if kind == Kind::Gitlab { "/merge_requests" } else { "/pulls" },
            PlannedAnswer::new(200, "[]"),
        );
        let number = forge.opens(name, "main", "By hand");
        let job = hosted.completes(&json!({ "prompt": PROMPT, "branch": name }));
        let pulls = forge.pulls();
        assert_eq!(pulls.len(), 1, "{kind:?}");
        assert_eq!(pulls[0].number, number);
        assert!(job["prLink"].as_str().is_some_and(|link| link.ends_with("/1")), "{kind:?}: {job:#}");
    }
}

#[test]
fn a_token_the_forge_does_not_know_fails_the_job_and_is_named() {
    for kind in KINDS {
        let host = Host::start();
        let forge = ForgeServer::start(kind, &host.repository);
        host.git.behave(Behaviour::Open);
        let env = [("DOCS_TOKEN", "wr0ng-secret")];
        let hosted = host.with_project(name(kind), &forge.url(), &["--token-env", "DOCS_TOKEN"], &env);
        let message = hosted.fails();
        assert!(message.contains("DOCS_TOKEN"), "{kind:?}: the message says which token: {message}");
        assert!(!message.contains("wr0ng"), "{kind:?}: {message}");
        assert!(forge.pulls().is_empty());
    }
}

#[test]
fn a_token_that_may_only_read_fails_the_job_and_the_message_says_what_to_grant() {
    for kind in KINDS {
        let host = Host::start();
        let forge = ForgeServer::start(kind, &host.repository);
        forge.give_to_read(TOKEN);
        host.git.behave(Behaviour::Open);
        let env = [("DOCS_TOKEN", TOKEN)];
        let hosted = host.with_project(name(kind), &forge.url(), &["--token-env", "DOCS_TOKEN"], &env);
        let message = hosted.fails();
        let grant = match kind {
            Kind::Github => "Pull requests: read and write",
            Kind::Gitlab => "api",
            Kind::Gitea => "repositor",
        };
        assert!(message.contains(grant), "{kind:?}: {message}");
        assert!(forge.pulls().is_empty());
    }
}

#[test]
fn a_repository_that_the_forge_does_not_show_fails_the_job() {
    for kind in KINDS {
        let (hosted, forge) = hosted(kind);
        let (list, open) =
            if kind == Kind::Gitlab { ("/merge_requests", "/merge_requests") } else { ("/pulls", "/pulls") };
        for _ in 0..4 {
            forge.says("GET", list, PlannedAnswer::json(404, &json!({ "message": "Not Found" })));
        }
        forge.says("POST", open, PlannedAnswer::json(404, &json!({ "message": "Not Found" })));
        let message = hosted.fails();
        assert!(message.contains("acme/docs"), "{kind:?}: {message}");
        assert!(forge.pulls().is_empty());
    }
}

#[test]
fn a_forge_that_is_busy_is_asked_again_when_it_says() {
    for kind in KINDS {
        let (hosted, forge) = hosted(kind);
        let open = if kind == Kind::Gitlab { "/merge_requests" } else { "/pulls" };
        forge.says(
            "POST",
            open,
            PlannedAnswer::json(503, &json!({ "message": "Unavailable" })).with("Retry-After", "1"),
        );
        forge.says("POST", open, PlannedAnswer::json(429, &json!({ "message": "Slow down" })).with("Retry-After", "1"));
        let job = hosted.completes(&prompt());
        assert_eq!(forge.pulls().len(), 1, "{kind:?}");
        assert_eq!(hosted.repository.commits_ahead(branch(&job)), 1, "{kind:?}: pushed once");
    }
}

#[test]
fn an_answer_that_was_lost_does_not_open_a_second_pull_request() {
    for kind in KINDS {
        let (hosted, forge) = hosted(kind);
        let open = if kind == Kind::Gitlab { "/merge_requests" } else { "/pulls" };
        // The forge opens the pull request, but a proxy in between answers with an error.
        forge.says("POST", open, PlannedAnswer::new(502, "<html>bad gateway</html>"));
        let job = hosted.agent().create(PROMPT);
        eventually("the pull request to be asked for", || {
            forge.seen().iter().any(|asked| asked.method == "POST").then_some(())
        });
        forge.opens(branch(&job), "main", "Opened before the answer was lost");
        let job = hosted.agent().reaches(id(&job), "completed");
        assert_eq!(forge.pulls().len(), 1, "{kind:?}: the one that is there is found");
        assert!(job["prLink"].as_str().is_some_and(|link| link.ends_with("/1")), "{kind:?}: {job:#}");
    }
}

#[test]
fn github_explains_its_422s_and_the_job_tells_what_to_do() {
    let custom = |message: &str| {
        let error = json!({ "resource": "PullRequest", "code": "custom", "message": message });
        PlannedAnswer::json(422, &json!({ "message": "Validation Failed", "errors": [error], "status": "422" }))
    };
    let (hosted, forge) = hosted(Kind::Github);
    forge.says("POST", "/pulls", custom("The base branch has rules that this pull request does not meet"));
    let message = hosted.fails();
    assert!(message.contains("rules that this pull request does not meet"), "GitHub's own words stay: {message}");

    let no_drafts = json!({ "message": "Draft pull requests are not supported in this repository.", "status": "422" });
    forge.says("POST", "/pulls", PlannedAnswer::json(422, &no_drafts));
    let job = hosted.completes(&json!({ "prompt": PROMPT, "asDraft": true }));
    assert!(!forge.pulls()[0].draft, "where there are no drafts it is opened without");
    assert!(job["prLink"].is_string());
}

#[test]
fn a_repository_that_was_archived_or_has_no_base_fails_the_job() {
    let (hosted, forge) = hosted(Kind::Github);
    let archived = json!({ "message": "Repository was archived so is read-only.", "status": "403" });
    forge.says("POST", "/pulls", PlannedAnswer::json(403, &archived));
    let message = hosted.fails();
    assert!(message.contains("archived"), "{message}");

    let error = json!({ "resource": "PullRequest", "field": "base", "code": "invalid" });
    forge.says(
        "POST",
        "/pulls",
        PlannedAnswer::json(422, &json!({ "message": "Validation Failed", "errors": [error] })),
    );
    let message = hosted.fails();
    assert!(message.contains("main"), "{message}");
    assert!(forge.pulls().is_empty());
}

#[test]
fn labels_that_can_not_be_set_do_not_fail_a_job() {
    let (hosted, forge) = hosted_with(Kind::Github, &[("DOCENT_AGENT__LABELS", "docs")]);
    let refused = json!({ "message": "Resource not accessible by personal access token", "status": "403" });
    forge.says("POST", "/labels", PlannedAnswer::json(403, &refused));
    let job = hosted.completes(&prompt());
    assert!(job["prLink"].is_string());
    assert!(forge.pulls()[0].labels.is_empty());
}
