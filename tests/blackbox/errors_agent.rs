//! Each row of the error tables, on every path of the agent endpoints.

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::{Agent, Request, Site};
use serde_json::{Value, json};

use crate::errors::{Row, all_refused, row};

const UNKNOWN_JOB: &str = "01938f6c-0000-7000-8000-000000000000";

/// Every agent path with the method that it accepts, and whether it reads a body.
fn paths(job: &str) -> [(&'static str, String, bool); 4] {
    [
        ("POST", "/v2/agent/acme/job".to_owned(), true),
        ("GET", format!("/v2/agent/acme/job/{job}"), false),
        ("POST", format!("/v2/agent/acme/job/{job}/message"), true),
        ("POST", format!("/v2/agent/acme/job/{job}/archive"), false),
    ]
}

fn on(method: &str, path: &str, reads_body: bool) -> Request {
    let request = Request::new(method, path);
    if reads_body { request.json(&json!({ "prompt": "Replace \"a\" with \"b\"" })) } else { request }
}

#[test]
fn who_may_not_is_told_so_on_every_path() {
    let site = Site::start();
    let job = site.agent().create("Replace \"no-such-term\" with \"another\"");
    site.installation.add_project("other", &site.repository);
    let others = site.installation.mint("other", KeyKind::Admin, &[]);
    let elsewhere = site.installation.mint("acme", KeyKind::Admin, &["--allow-ip", "203.0.113.0/24"]);
    let stranger = docent_tests::Installation::new();
    let repository = stranger.repository("acme", docent_tests::site::PAGES);
    stranger.add_project("acme", &repository);
    let unknown = stranger.mint("acme", KeyKind::Admin, &[]);
    let damaged = format!("{}{}", &site.admin_key[..site.admin_key.len() - 1], flipped(&site.admin_key));

    let mut rows: Vec<Row> = Vec::new();
    for (method, path, reads_body) in paths(id(&job)) {
        let request = || on(method, &path, reads_body);
        let name = |what: &str| format!("{method} {path}, {what}");
        rows.extend([
            row(name("no Authorization"), request(), 401, &[]),
            row(name("Basic"), request().header("Authorization", "Basic YTpi"), 401, &[]),
            row(name("Bearer and nothing"), request().header("Authorization", "Bearer "), 401, &[]),
            row(name("not a key"), request().bearer("let-me-in"), 401, &[]),
            row(name("a damaged key"), request().bearer(&damaged), 401, &[]),
            row(name("a key nobody minted here"), request().bearer(&unknown), 401, &[]),
            row(name("an assistant key"), request().bearer(&site.assistant_key), 403, &[]),
            row(name("another project's key"), request().bearer(&others), 403, &[]),
            row(name("from a wrong address"), request().bearer(&elsewhere), 403, &[]),
        ]);
        let nowhere = path.replace("/acme/", "/no-such-project/");
        rows.push(row(
            name("a project that does not exist"),
            on(method, &nowhere, reads_body).bearer(&site.admin_key),
            403,
            &[],
        ));
    }
    all_refused(&site.server, &rows);
}

fn flipped(key: &str) -> char {
    if key.ends_with('a') { 'b' } else { 'a' }
}

#[test]
fn a_read_key_reads_and_does_not_write() {
    let site = Site::start();
    let job = site.agent().create("Replace \"no-such-term\" with \"another\"");
    let key = site.installation.mint("acme", KeyKind::Admin, &["--scope", "read"]);
    let rows: Vec<Row> = paths(id(&job))
        .into_iter()
        .filter(|(method, ..)| *method == "POST")
        .map(|(method, path, reads_body)| row(&path, on(method, &path, reads_body).bearer(&key), 403, &[]))
        .collect();
    all_refused(&site.server, &rows);
    assert_eq!(Agent::new(&site.server, "acme", &key).job(id(&job))["id"], job["id"]);
}

#[test]
fn a_body_that_is_wrong_is_told_where() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"no-such-term\" with \"another\"");
    let message = format!("job/{}/message", id(&job));
    let long = "x".repeat(100_001);

    let mut rows: Vec<Row> = Vec::new();
    for suffix in ["job", message.as_str()] {
        let raw = |body: &str| agent.request("POST", suffix).header("Content-Type", "application/json").body(body);
        let with = |body: &Value| agent.request("POST", suffix).json(body);
        let name = |what: &str| format!("{suffix}: {what}");
        rows.extend([
            row(name("no body"), agent.request("POST", suffix), 400, &[]),
            row(name("empty body"), raw(""), 400, &[]),
            row(name("not JSON"), raw("{oops"), 400, &[]),
            row(name("JSON and more"), raw("{\"prompt\":\"a\"} b"), 400, &[]),
            row(name("not an object"), raw("[1, 2]"), 400, &[]),
            row(name("null"), raw("null"), 400, &[]),
            row(
                name("not UTF-8"),
                agent
                    .request("POST", suffix)
                    .header("Content-Type", "application/json")
                    .body(b"{\"prompt\":\"\xff\xfe\"}".to_vec()),
                400,
                &[],
            ),
            row(name("no prompt"), with(&json!({})), 400, &["prompt"]),
            row(name("prompt null"), with(&json!({ "prompt": null })), 400, &["prompt"]),
            row(name("prompt a number"), with(&json!({ "prompt": 7 })), 400, &["prompt"]),
            row(name("prompt empty"), with(&json!({ "prompt": "" })), 400, &["prompt"]),
            row(name("prompt of white space"), with(&json!({ "prompt": " \n\t\u{3000}" })), 400, &["prompt"]),
            row(name("prompt too long"), with(&json!({ "prompt": long })), 400, &["prompt", "100"]),
        ]);
    }
    let create = |more: Value| {
        let mut body = json!({ "prompt": "Replace \"a\" with \"b\"" });
        for (field, value) in more.as_object().expect("an object") {
            body[field] = value.clone();
        }
        agent.request("POST", "job").json(&body)
    };
    rows.extend([
        row("model unknown", create(json!({ "model": "gpt-2" })), 400, &["model", "sonnet", "opus"]),
        row("model a number", create(json!({ "model": 1 })), 400, &["model"]),
        row("branch git refuses", create(json!({ "branch": "a..b" })), 400, &["branch"]),
        row("branch a number", create(json!({ "branch": 5 })), 400, &["branch"]),
        row("asDraft a list", create(json!({ "asDraft": [] })), 400, &["asDraft"]),
    ]);
    all_refused(&site.server, &rows);
}

#[test]
fn unknown_fields_are_ignored() {
    let site = Site::start();
    let agent = site.agent();
    let nothing = "Replace \"no-such-term\" with \"another\"";
    agent.create_with(&json!({ "prompt": nothing, "colour": "green", "nested": { "a": [1, null] } }));
    agent.create_with(&json!({ "prompt": nothing, "model": "opus", "asDraft": true, "branch": null }));
    let job = agent.create_with(&json!({ "prompt": nothing, "branch": "" }));
    assert_eq!(docent_tests::agent::branch(&job), format!("docent/{}", docent_tests::agent::id(&job)));
    agent.create(&"ü".repeat(100_000));
    let body = json!({ "prompt": nothing }).to_string();
    for kind in [None, Some("application/json; charset=utf-8"), Some("APPLICATION/JSON")] {
        let request = agent.request("POST", "job").body(body.as_str());
        let request = match kind {
            Some(kind) => request.header("Content-Type", kind),
            None => request,
        };
        let response = site.server.send(&request);
        assert_eq!(response.status, 201, "content type {kind:?}: {}", response.text());
    }
    let response =
        site.server.send(&agent.request("POST", "job").header("Accept", "text/html;q=0").body(body.as_str()));
    assert_eq!(response.status, 201, "never 406");
}

#[test]
fn unknown_paths_are_404_and_wrong_methods_405() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"no-such-term\" with \"another\"");
    site.installation.add_project("other", &site.repository);
    let others = site.installation.mint("other", KeyKind::Admin, &[]);
    let theirs = Agent::new(&site.server, "other", &others).create("Replace \"no-such-term\" with \"another\"");

    let mut rows: Vec<Row> = Vec::new();
    for (what, unknown) in [
        ("an id nobody has", UNKNOWN_JOB),
        ("no id at all", "nonsense"),
        ("a way out", "..%2f..%2fetc%2fpasswd"),
        ("another project's job", id(&theirs)),
    ] {
        for (method, path, reads_body) in paths(unknown).into_iter().skip(1) {
            let request = on(method, &path, reads_body).bearer(&site.admin_key);
            rows.push(row(format!("{method} {path}: {what}"), request, 404, &[]));
        }
    }
    for path in ["/nowhere", "/v2", "/v2/agent", "/v2/agent/acme", "/v2/agent/acme/job/x/y/z", "/v3/agent/acme/job"] {
        rows.push(row(path, Request::get(path).bearer(&site.admin_key), 404, &[]));
        rows.push(row(format!("{path} without a key"), Request::get(path), 404, &[]));
    }
    for (right, path, _) in paths(id(&job)) {
        for wrong in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            if wrong != right {
                let request = Request::new(wrong, &path).bearer(&site.admin_key);
                rows.push(row(format!("{wrong} {path}"), request, 405, &[]));
            }
        }
    }
    all_refused(&site.server, &rows);
    for (right, path, _) in paths(id(&job)) {
        let wrong = if right == "GET" { "DELETE" } else { "GET" };
        let refused = site.server.send(&Request::new(wrong, &path).bearer(&site.admin_key));
        assert!(refused.headers.lists("Allow", right), "{path} allows {right}: {:?}", refused.header("Allow"));
    }
}
