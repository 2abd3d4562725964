//! The pull request API of Gitea and Forgejo.

use serde_json::{Value, json};

use super::{ForgeRequest, NAME, PlannedAnswer, Pull, PullState, Rights, State};
use crate::http_server::unescaped;

const DRAFT: &str = "WIP: ";

pub(super) fn answer(state: &mut State, asked: &ForgeRequest) -> PlannedAnswer {
    let rights = state.rights(asked);
    if rights == Rights::None {
        return refused(401, "invalid username, password or token");
    }
    let Some(rest) = asked.path.strip_prefix(&format!("/api/v1/repos/{NAME}")) else { return not_found() };
    if asked.method != "GET" && rights == Rights::Read {
        return refused(403, "token does not have at least one of required scope(s): [write:repository]");
    }
    let parts: Vec<String> = rest.split('/').skip(1).map(unescaped).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match (asked.method.as_str(), parts.as_slice()) {
        ("GET", []) => PlannedAnswer::json(200, &repository(rights)),
        ("GET", ["branches", branch]) if state.has_branch(branch) => {
            PlannedAnswer::json(200, &json!({ "name": branch, "commit": { "id": state.commit(branch) } }))
        }
        ("GET", ["labels"]) => labels(state, asked),
        ("GET", ["pulls"]) => listed(state, asked),
        ("POST", ["pulls"]) => opened(state, asked),
        ("GET", ["pulls", base, head]) => {
            let found = state.pulls.iter().find(|pull| pull.base == *base && pull.head == *head);
            found.map_or_else(not_found, |pull| PlannedAnswer::json(200, &shown(state, pull)))
        }
        ("PATCH", ["pulls", number]) => edited(state, asked, number),
        ("GET", ["pulls", number]) => {
            let found = state.pulls.iter().find(|pull| number.parse() == Ok(pull.number));
            found.map_or_else(not_found, |pull| PlannedAnswer::json(200, &shown(state, pull)))
        }
        _ => not_found(),
    }
}

fn refused(status: u16, message: &str) -> PlannedAnswer {
    PlannedAnswer::json(status, &json!({ "message": message, "url": "http://forge.example.com/api/swagger" }))
}

fn not_found() -> PlannedAnswer {
    let body = json!({
        "message": "The target couldn't be found.",
        "url": "http://forge.example.com/api/swagger",
        "errors": [],
    });
    PlannedAnswer::json(404, &body)
}

fn repository(rights: Rights) -> Value {
    json!({
        "id": 7,
        "full_name": NAME,
        "default_branch": "main",
        "archived": false,
        "has_pull_requests": true,
        "permissions": { "admin": false, "push": rights == Rights::Write, "pull": true },
    })
}

fn shown(state: &State, pull: &Pull) -> Value {
    let side = |branch: &str| json!({ "label": branch, "ref": branch, "sha": state.commit(branch), "repo_id": 7 });
    let labels: Vec<Value> = pull.labels.iter().map(|name| json!({ "name": name })).collect();
    json!({
        "id": 1000 + pull.number,
        "number": pull.number,
        "html_url": format!("http://{}/{NAME}/pulls/{}", state.address, pull.number),
        "state": if pull.stage == PullState::Open { "open" } else { "closed" },
        "merged": pull.stage == PullState::Merged,
        "title": pull.title,
        "body": pull.body,
        "draft": pull.title.starts_with(DRAFT),
        "labels": labels,
        "head": side(&pull.head),
        "base": side(&pull.base),
    })
}

/// The page of a list that the request asks for.
fn page<T: Clone>(all: &[T], asked: &ForgeRequest) -> Vec<T> {
    let number = |name: &str, usual: usize| asked.value(name).parse().unwrap_or(usual).max(1);
    let (page, limit) = (number("page", 1), number("limit", 30).min(50));
    all.iter().skip((page - 1) * limit).take(limit).cloned().collect()
}

fn labels(state: &State, asked: &ForgeRequest) -> PlannedAnswer {
    let all = (1..).zip(&state.labels);
    let all: Vec<Value> = all.map(|(id, name): (i64, &String)| json!({ "id": id, "name": name })).collect();
    PlannedAnswer::json(200, &Value::Array(page(&all, asked)))
}

fn listed(state: &State, asked: &ForgeRequest) -> PlannedAnswer {
    let wanted = |pull: &&Pull| match asked.value("state") {
        "all" => true,
        "closed" => pull.stage != PullState::Open,
        _ => pull.stage == PullState::Open,
    };
    let all: Vec<Value> = state.pulls.iter().rev().filter(wanted).map(|pull| shown(state, pull)).collect();
    PlannedAnswer::json(200, &Value::Array(page(&all, asked))).with("X-Total-Count", &all.len().to_string())
}

fn opened(state: &mut State, asked: &ForgeRequest) -> PlannedAnswer {
    let (head, base) = (asked.text("head"), asked.text("base"));
    if !state.has_branch(&head) || !state.has_branch(&base) {
        return not_found();
    }
    if let Some(there) = state.open_between(&head, &base) {
        let said = format!("pull request already exists for these targets [id: {0}, issue_id: {0}]", there.number);
        return refused(409, &said);
    }
    if state.commit(&head) == state.commit(&base) {
        return refused(422, "There are no changes between the head and the base");
    }
    let ids = asked.body["labels"].as_array().into_iter().flatten();
    let label = |id: &Value| id.as_u64().and_then(|id| state.labels.get(usize::try_from(id).ok()?.checked_sub(1)?));
    let labels = ids.filter_map(label).cloned().collect();
    let title = asked.text("title");
    let draft = title.starts_with(DRAFT);
    let pull = Pull { number: 0, title, body: asked.text("body"), head, base, draft, labels, stage: PullState::Open };
    let pull = state.add(pull);
    PlannedAnswer::json(201, &shown(state, &pull))
}

/// Gitea answers an update with 201.
fn edited(state: &mut State, asked: &ForgeRequest, number: &str) -> PlannedAnswer {
    let Some(pull) = number.parse().ok().and_then(|number| state.pull(number)) else { return not_found() };
    if let Some(title) = asked.body["title"].as_str() {
        pull.title = title.to_owned();
        pull.draft = title.starts_with(DRAFT);
    }
    if let Some(body) = asked.body["body"].as_str() {
        pull.body = body.to_owned();
    }
    let pull = pull.clone();
    PlannedAnswer::json(201, &shown(state, &pull))
}
