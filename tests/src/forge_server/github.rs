//! The pull request API of GitHub.

use serde_json::{Value, json};

use super::{ForgeRequest, NAME, PlannedAnswer, Pull, PullState, Rights, State};

pub(super) fn answer(state: &mut State, asked: &ForgeRequest) -> PlannedAnswer {
    let rights = state.rights(asked);
    if rights == Rights::None {
        return refused(401, "Bad credentials");
    }
    let path = asked.path.strip_prefix("/api/v3").unwrap_or(&asked.path);
    let Some(rest) = path.strip_prefix(&format!("/repos/{NAME}")) else { return refused(404, "Not Found") };
    let parts: Vec<&str> = rest.split('/').skip(1).collect();
    if asked.method != "GET" && rights == Rights::Read {
        return refused(403, "Resource not accessible by personal access token");
    }
    match (asked.method.as_str(), parts.as_slice()) {
        ("GET", []) => PlannedAnswer::json(200, &repository(rights)),
        ("GET", ["pulls"]) => listed(state, asked),
        ("POST", ["pulls"]) => opened(state, asked),
        ("GET" | "PATCH", ["pulls", number]) => edited(state, asked, number),
        ("POST", ["issues", number, "labels"]) => labelled(state, asked, number),
        _ => refused(404, "Not Found"),
    }
}

fn refused(status: u16, message: &str) -> PlannedAnswer {
    let body = json!({
        "message": message,
        "documentation_url": "https://docs.github.com/rest",
        "status": status.to_string(),
    });
    PlannedAnswer::json(status, &body)
}

/// A 422 with GitHub's error body.
fn unprocessable(error: &Value) -> PlannedAnswer {
    let body = json!({
        "message": "Validation Failed",
        "errors": [error],
        "documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
        "status": "422",
    });
    PlannedAnswer::json(422, &body)
}

fn repository(rights: Rights) -> Value {
    json!({
        "id": 7,
        "name": "docs",
        "full_name": NAME,
        "private": true,
        "archived": false,
        "default_branch": "main",
        "owner": { "login": "acme", "id": 3 },
        "permissions": { "admin": false, "push": rights == Rights::Write, "pull": true },
    })
}

fn shown(state: &State, pull: &Pull) -> Value {
    let side = |branch: &str| {
        json!({
            "label": format!("acme:{branch}"),
            "ref": branch,
            "sha": state.commit(branch),
            "repo": { "id": 7, "full_name": NAME },
        })
    };
    let labels: Vec<Value> = pull.labels.iter().map(|name| json!({ "name": name })).collect();
    json!({
        "id": 1000 + pull.number,
        "number": pull.number,
        "url": format!("http://{}/api/v3/repos/{NAME}/pulls/{}", state.address, pull.number),
        "html_url": format!("http://{}/{NAME}/pull/{}", state.address, pull.number),
        "state": if pull.stage == PullState::Open { "open" } else { "closed" },
        "merged_at": (pull.stage == PullState::Merged).then_some("2026-01-02T03:04:05Z"),
        "title": pull.title,
        "body": pull.body,
        "draft": pull.draft,
        "labels": labels,
        "head": side(&pull.head),
        "base": side(&pull.base),
    })
}

fn listed(state: &State, asked: &ForgeRequest) -> PlannedAnswer {
    let head = asked.value("head").strip_prefix("acme:");
    let wanted = |pull: &&Pull| {
        let state = match asked.value("state") {
            "all" => true,
            "closed" => pull.stage != PullState::Open,
            _ => pull.stage == PullState::Open,
        };
        state && head.is_none_or(|head| head == pull.head)
    };
    let pulls: Vec<Value> = state.pulls.iter().rev().filter(wanted).map(|pull| shown(state, pull)).collect();
    PlannedAnswer::json(200, &Value::Array(pulls))
}

fn opened(state: &mut State, asked: &ForgeRequest) -> PlannedAnswer {
    let (head, base) = (asked.text("head"), asked.text("base"));
    let field = |field: &str| json!({ "resource": "PullRequest", "field": field, "code": "invalid" });
    let custom = |message: String| json!({ "resource": "PullRequest", "code": "custom", "message": message });
    if !state.has_branch(&base) {
        return unprocessable(&field("base"));
    }
    if !state.has_branch(&head) {
        return unprocessable(&field("head"));
    }
    if state.open_between(&head, &base).is_some() {
        return unprocessable(&custom(format!("A pull request already exists for acme:{head}.")));
    }
    if state.commit(&head) == state.commit(&base) {
        return unprocessable(&custom(format!("No commits between {base} and {head}")));
    }
    let pull = Pull {
        number: 0,
        title: asked.text("title"),
        body: asked.text("body"),
        head,
        base,
        draft: asked.body["draft"] == true,
        labels: Vec::new(),
        stage: PullState::Open,
    };
    let pull = state.add(pull);
    PlannedAnswer::json(201, &shown(state, &pull))
}

fn edited(state: &mut State, asked: &ForgeRequest, number: &str) -> PlannedAnswer {
    let Some(pull) = number.parse().ok().and_then(|number| state.pull(number)) else {
        return refused(404, "Not Found");
    };
    if let Some(title) = asked.body["title"].as_str() {
        pull.title = title.to_owned();
    }
    if let Some(body) = asked.body["body"].as_str() {
        pull.body = body.to_owned();
    }
    let pull = pull.clone();
    PlannedAnswer::json(200, &shown(state, &pull))
}

fn labelled(state: &mut State, asked: &ForgeRequest, number: &str) -> PlannedAnswer {
    let Some(pull) = number.parse().ok().and_then(|number| state.pull(number)) else {
        return refused(404, "Not Found");
    };
    let names = asked.body["labels"].as_array().into_iter().flatten();
    pull.labels.extend(names.filter_map(|name| name.as_str().map(str::to_owned)));
    let labels: Vec<Value> = pull.labels.iter().map(|name| json!({ "name": name })).collect();
    PlannedAnswer::json(200, &Value::Array(labels))
}
