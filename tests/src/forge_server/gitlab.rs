//! The merge request API of GitLab, version 4 of its REST API.

use serde_json::{Value, json};

use super::{ForgeRequest, NAME, PlannedAnswer, Pull, PullState, Rights, State};
use crate::http_server::unescaped;

const DRAFT: &str = "Draft: ";

pub(super) fn answer(state: &mut State, asked: &ForgeRequest) -> PlannedAnswer {
    let rights = state.rights(asked);
    if rights == Rights::None {
        return PlannedAnswer::message(401, "401 Unauthorized");
    }
    let Some(path) = asked.path.strip_prefix("/api/v4/") else { return PlannedAnswer::message(404, "404 Not Found") };
    let parts: Vec<String> = path.split('/').map(unescaped).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if parts == ["personal_access_tokens", "self"] {
        let scope = if rights == Rights::Write { "api" } else { "read_api" };
        return PlannedAnswer::json(200, &json!({ "id": 1, "active": true, "scopes": [scope] }));
    }
    let ["projects", NAME, rest @ ..] = parts.as_slice() else {
        return PlannedAnswer::message(404, "404 Project Not Found");
    };
    if asked.method != "GET" && rights == Rights::Read {
        let body = json!({
            "error": "insufficient_scope",
            "error_description": "The request requires higher privileges than provided by the access token.",
            "scope": "api",
        });
        return PlannedAnswer::json(403, &body);
    }
    match (asked.method.as_str(), rest) {
        ("GET", []) => PlannedAnswer::json(200, &project(rights)),
        ("GET", ["repository", "branches", branch]) if state.has_branch(branch) => {
            PlannedAnswer::json(200, &json!({ "name": branch, "commit": { "id": state.commit(branch) } }))
        }
        ("GET", ["repository", "branches", _]) => PlannedAnswer::message(404, "404 Branch Not Found"),
        ("GET", ["merge_requests"]) => listed(state, asked),
        ("POST", ["merge_requests"]) => opened(state, asked),
        ("GET" | "PUT", ["merge_requests", number]) => edited(state, asked, number),
        _ => PlannedAnswer::message(404, "404 Not Found"),
    }
}

fn project(rights: Rights) -> Value {
    let level = if rights == Rights::Write { 30 } else { 20 };
    json!({
        "id": 7,
        "path_with_namespace": NAME,
        "default_branch": "main",
        "archived": false,
        "merge_requests_access_level": "enabled",
        "permissions": { "project_access": { "access_level": level }, "group_access": null },
    })
}

fn shown(state: &State, pull: &Pull) -> Value {
    json!({
        "id": 1000 + pull.number,
        "iid": pull.number,
        "project_id": 7,
        "web_url": format!("http://{}/{NAME}/-/merge_requests/{}", state.address, pull.number),
        "state": match pull.stage {
            PullState::Open => "opened",
            PullState::Closed => "closed",
            PullState::Merged => "merged",
        },
        "title": pull.title,
        "description": pull.body,
        "draft": pull.title.starts_with(DRAFT),
        "labels": pull.labels,
        "source_branch": pull.head,
        "target_branch": pull.base,
        "source_project_id": 7,
        "target_project_id": 7,
        "sha": state.commit(&pull.head),
    })
}

fn listed(state: &State, asked: &ForgeRequest) -> PlannedAnswer {
    let matches = |name: &str, value: &str| asked.query.get(name).is_none_or(|wanted| wanted == value);
    let wanted = |pull: &&Pull| {
        let stage = match asked.value("state") {
            "opened" => pull.stage == PullState::Open,
            "closed" => pull.stage == PullState::Closed,
            "merged" => pull.stage == PullState::Merged,
            _ => true,
        };
        stage && matches("source_branch", &pull.head) && matches("target_branch", &pull.base)
    };
    let pulls: Vec<Value> = state.pulls.iter().rev().filter(wanted).map(|pull| shown(state, pull)).collect();
    PlannedAnswer::json(200, &Value::Array(pulls))
}

fn opened(state: &mut State, asked: &ForgeRequest) -> PlannedAnswer {
    let (head, base) = (asked.text("source_branch"), asked.text("target_branch"));
    for (field, branch) in [("source_branch", &head), ("target_branch", &base)] {
        if branch.is_empty() {
            return PlannedAnswer::json(400, &json!({ "error": format!("{field} is missing") }));
        }
        if !state.has_branch(branch) {
            let said = format!(
                "{} \"{branch}\" does not exist",
                if field == "source_branch" { "Source branch" } else { "Target branch" }
            );
            return PlannedAnswer::json(400, &json!({ "message": [said] }));
        }
    }
    if let Some(there) = state.open_between(&head, &base) {
        let said = format!("Another open merge request already exists for this source branch: !{}", there.number);
        return PlannedAnswer::json(409, &json!({ "message": [said] }));
    }
    let title = asked.text("title");
    let labels = asked.text("labels");
    let pull = Pull {
        number: 0,
        draft: title.starts_with(DRAFT),
        title,
        body: asked.text("description"),
        head,
        base,
        labels: labels.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        stage: PullState::Open,
    };
    let pull = state.add(pull);
    PlannedAnswer::json(201, &shown(state, &pull))
}

fn edited(state: &mut State, asked: &ForgeRequest, number: &str) -> PlannedAnswer {
    let Some(pull) = number.parse().ok().and_then(|number| state.pull(number)) else {
        return PlannedAnswer::message(404, "404 Not found");
    };
    if let Some(title) = asked.body["title"].as_str() {
        pull.title = title.to_owned();
        pull.draft = title.starts_with(DRAFT);
    }
    if let Some(body) = asked.body["description"].as_str() {
        pull.body = body.to_owned();
    }
    let pull = pull.clone();
    PlannedAnswer::json(200, &shown(state, &pull))
}
