//! A third-party model server that grades its clients: PyPI's `llmock`. It plays faults, observes how the client
//! handles them, and ends with a report; in its strict mode the report must be empty.

use std::process::Command;

use docent_tests::Request;
use docent_tests::model_server::{Wire, configuration};
use docent_tests::third_party::{Story, ThirdPartyServer, free_port, play_side_by_side};
use serde_json::{Value, json};

use super::{PROMPT, change, completes, finish, look, site_with};

const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

/// `$DOCENT_LLMOCK` names the program.
#[test]
#[ignore = "needs llmock: cargo xtask test --only models"]
fn llmock_finds_no_fault_with_how_models_are_asked() {
    let program = std::env::var_os("DOCENT_LLMOCK").unwrap_or_else(|| "llmock".into());
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let port = free_port();
    let mut command = Command::new(&program);
    // With pauses between the frames, so that llmock sees when a client closes the connection.
    command.args(["serve", "--port", &port.to_string(), "--log-level", "warning", "--stream-chunk-delay-ms", "25"]);
    let server = ThirdPartyServer::start("llmock", command, port, folder.path());

    let mut stories: Vec<Story<'_>> = Vec::new();
    for wire in WIRES {
        let wire_name = if wire == Wire::Anthropic { "anthropic" } else { "openai" };
        for (name, faults) in faults() {
            let (server, model) = (&server, format!("{wire_name} {name}").replace([' ', ','], "-"));
            stories.push((format!("{name} ({wire_name})"), Box::new(move || plays(server, wire, &model, &faults))));
        }
    }
    play_side_by_side(stories, 6);

    let report = Command::new(&program).args(["report", "--strict", "--url", &server.url()]).output();
    let report = report.expect("run llmock report");
    let said = String::from_utf8_lossy(&report.stdout);
    println!("{said}");
    assert!(report.status.success() && said.contains("PASS"), "{said}{}", String::from_utf8_lossy(&report.stderr));
}

/// The faults of the first step, before it succeeds.
fn faults() -> Vec<(&'static str, Vec<Value>)> {
    let fail = |status: u16| json!({ "type": "fail", "status": status });
    let after = |status: u16, seconds: f64| json!({ "type": "fail", "status": status, "retry_after": seconds });
    let stream = |kind: &str| json!({ "type": "stream_fault", "kind": kind, "after_chunks": 5, "stall_seconds": 20.0 });
    vec![
        ("the usual", vec![]),
        ("429 with a short and a longer retry-after", vec![after(429, 0.4), after(429, 2.2)]),
        ("529 twice", vec![fail(529), fail(529)]),
        ("500, 502 and 503", vec![fail(500), fail(502), fail(503)]),
        ("408 and 504", vec![fail(408), fail(504)]),
        ("disconnected", vec![stream("disconnect")]),
        ("truncated", vec![stream("truncate")]),
        ("malformed", vec![stream("malformed")]),
        ("stalled", vec![stream("stall")]),
        ("one thing after the other", vec![stream("disconnect"), fail(500), stream("truncate"), after(503, 0.5)]),
        ("a first token that comes late", vec![json!({ "type": "slow_first_token", "seconds": 1.5 })]),
        ("malformed arguments", vec![json!({ "type": "tool_fault", "kind": "malformed_arguments" })]),
        ("an unknown tool", vec![json!({ "type": "tool_fault", "kind": "unknown_tool" })]),
    ]
}

/// Runs a job that reads, edits and finishes after the faults.
fn plays(server: &ThirdPartyServer, wire: Wire, model: &str, faults: &[Value]) {
    let calls = |(name, arguments): (&str, Value)| {
        let call = json!({ "name": name, "arguments": arguments });
        json!({ "type": "reply", "text": "Let me do that, a word at a time, so that there is a stream.", "tool_calls": [call] })
    };
    // A stream or tool fault spoils one queued reply, which is lost; other faults need no reply.
    let spoilt = faults.iter().filter(|fault| matches!(fault["type"].as_str(), Some("stream_fault" | "tool_fault")));
    let looks = vec![calls(look(wire)); 1 + spoilt.count()];
    queue(server, model, &[faults, &looks, &[calls(change(wire)), calls(("finish", finish()))]].concat());

    let (provider, base) = match wire {
        Wire::Anthropic => ("anthropic", format!("{}/anthropic", server.url())),
        Wire::OpenAi => ("openai", format!("{}/v1", server.url())),
    };
    let idle = [("DOCENT_MODELS__SONNET__IDLE_SECONDS", "4")];
    let site = site_with(&configuration(provider, model, &base), &idle);
    completes(&site, PROMPT);
}

/// Adds behaviours for one model.
fn queue(server: &ThirdPartyServer, model: &str, behaviours: &[Value]) {
    let ours = behaviours.iter().cloned().map(|mut behaviour| {
        behaviour["match"] = json!({ "model": model });
        behaviour
    });
    let behaviours: Vec<Value> = ours.collect();
    let queued = server.send(&Request::post("/_llmock/scenario").json(&json!({ "behaviors": behaviours })));
    assert_eq!(queued.status, 201, "{}", queued.text());
}
