//! A third-party model server that plays fixtures on both protocols: npm's `@copilotkit/aimock`.

use docent_tests::agent::id;
use docent_tests::model_server::{Wire, configuration};
use docent_tests::third_party::{Story, ThirdPartyServer, free_port, node, play_side_by_side};
use docent_tests::{Request, Site, eventually};
use serde_json::{Value, json};

use super::{PROMPT, change, completes, finish, look, replace, site_with};

const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

#[test]
#[ignore = "needs node and the packages of tests/models: cargo xtask test --only models"]
fn jobs_come_to_their_pull_request_on_aimock() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let port = free_port();
    let mut command = node("models", "node_modules/@copilotkit/aimock/dist/cli.js");
    // Small chunks, so that a reply has many of them. The server requires a fixture file to start.
    let none = folder.path().join("none.json");
    std::fs::write(&none, r#"{"fixtures":[{"match":{"model":"nobody"},"response":{"content":"?"}}]}"#).expect("write");
    command.args(["--port", &port.to_string(), "--chunk-size", "9", "--latency", "5", "--strict", "--fixtures"]);
    command.arg(&none);
    let server = ThirdPartyServer::start("aimock", command, port, folder.path());

    let mut stories: Vec<Story<'_>> = Vec::new();
    for wire in WIRES {
        let wire_name = if wire == Wire::Anthropic { "anthropic" } else { "openai" };
        for (name, faults) in faults() {
            let (server, model) = (&server, format!("{wire_name}-{name}"));
            stories.push((format!("{name} ({wire_name})"), Box::new(move || plays(server, wire, &model, &faults))));
        }
        let server = &server;
        stories.push((
            format!("garbage ({wire_name})"),
            Box::new(move || garbage_fails_with_what_to_look_at(server, wire)),
        ));
    }
    play_side_by_side(stories, 4);
}

/// Faults before the second reply: fixtures that are used once each, in this order.
fn faults() -> Vec<(&'static str, Vec<Value>)> {
    let error = |status: u16, kind: &str| json!({ "response": { "error": { "message": "Not now.", "type": kind }, "status": status, "retryAfter": 1 } });
    vec![
        ("the usual", vec![]),
        ("429 with retry-after", vec![error(429, "rate_limit_error")]),
        ("529", vec![error(529, "overloaded_error")]),
        ("500 and 503", vec![error(500, "api_error"), error(503, "api_error")]),
        ("a truncated stream", vec![json!({ "truncateAfterChunks": 6 })]),
        ("a connection that breaks", vec![json!({ "disconnectAfterMs": 40 })]),
    ]
}

/// A job whose model reads two pages in one reply, makes a wrong edit, then a right one, and finishes.
fn plays(server: &ThirdPartyServer, wire: Wire, model: &str, faults: &[Value]) {
    let call = |(name, arguments): (&str, Value)| json!({ "name": name, "arguments": arguments });
    let (tool, _) = look(wire);
    let other = match wire {
        Wire::Anthropic => json!({ "command": "view", "path": "quickstart.mdx" }),
        Wire::OpenAi => json!({ "path": "quickstart.mdx" }),
    };
    let words = "I will read both pages before I change anything, for they may say the same.";
    let both = json!({ "content": words, "toolCalls": [call(look(wire)), call((tool, other))] });
    let wrong = json!({ "toolCalls": [call(replace(wire, "nowhere to be found", "x"))] });
    let right = json!({ "content": "Now it is right.", "toolCalls": [call(change(wire))] });
    let end = json!({ "toolCalls": [call(("finish", finish()))] });
    let mut fixtures = Vec::new();
    for (turn, response) in [both, wrong, right, end].into_iter().enumerate() {
        let at = |more: Value| {
            let mut at = json!({ "model": model, "turnIndex": turn });
            for (name, value) in more.as_object().into_iter().flatten() {
                at[name] = value.clone();
            }
            at
        };
        if turn == 2 {
            for (n, fault) in faults.iter().enumerate() {
                let mut fixture = fault.clone();
                fixture["match"] = at(json!({ "sequenceIndex": n }));
                if fixture["response"].is_null() {
                    fixture["response"] = response.clone();
                }
                fixtures.push(fixture);
            }
        }
        fixtures.push(json!({ "match": at(json!({})), "response": response }));
    }
    add(server, &fixtures);
    completes(&site_of(server, wire, model), PROMPT);

    // aimock records a request when its reply has ended, which may be after the client has what it needs.
    let asked = eventually("aimock to have noted every request", || {
        let journal = server.send(&Request::get("/__aimock/journal?limit=1000")).json();
        let entries = journal.as_array().or_else(|| journal["entries"].as_array()).cloned().unwrap_or_default();
        let ours: Vec<Value> = entries.into_iter().filter(|entry| entry["body"]["model"] == model).collect();
        (ours.len() >= 4 + faults.len()).then_some(ours)
    });
    assert_eq!(asked.len(), 4 + faults.len(), "every step once, and once more for each fault");
}

/// A response that no model service gives will not change on a retry: a person has to check the configuration.
fn garbage_fails_with_what_to_look_at(server: &ThirdPartyServer, wire: Wire) {
    let model = format!("garbage-{wire:?}").to_lowercase();
    let chaos = json!({ "malformedRate": 1.0 });
    add(server, &[json!({ "match": { "model": model }, "response": { "content": "?" }, "chaos": chaos })]);
    let site = site_of(server, wire, &model);
    let job = site.agent().create(PROMPT);
    let job = site.agent().reaches(id(&job), "failed");
    let message = job["message"].as_str().expect("a job that failed says why");
    assert!(message.contains("base_url") && message.contains("models.sonnet"), "{message}");
    assert!(site.repository.branches().is_empty());
}

fn add(server: &ThirdPartyServer, fixtures: &[Value]) {
    let added = server.send(&Request::post("/__aimock/fixtures").json(&json!({ "fixtures": fixtures })));
    assert_eq!(added.status, 200, "{}", added.text());
}

fn site_of(server: &ThirdPartyServer, wire: Wire, model: &str) -> Site {
    let (provider, base) = match wire {
        Wire::Anthropic => ("anthropic", server.url()),
        Wire::OpenAi => ("openai", format!("{}/v1", server.url())),
    };
    site_with(&configuration(provider, model, &base), &[])
}
