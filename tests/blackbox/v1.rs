//! Version 1 of the agent endpoints, called in the way of existing scripts.

use std::thread;

use docent_tests::agent::{branch, id};
use docent_tests::installation::KeyKind;
use docent_tests::{Answer, Request, Response, Site};
use serde_json::{Value, json};

use crate::errors::{Row, all_refused, row};

const NOTHING_TO_DO: &str = "Replace \"no-such-term\" with \"another\"";

/// The session id of a stream.
fn session_id(response: &Response) -> String {
    assert_eq!(response.status, 200, "{}", response.text());
    response.header("X-Session-Id").expect("names its session").to_owned()
}

/// Creates a job that must be accepted, and reads its stream to the end.
fn stream(site: &Site, body: &Value) -> Answer {
    let request = site.agent().request_v1("POST", "job").header("Accept", "application/json").json(body);
    let response = site.server.send(&request);
    assert_eq!(response.status, 200, "{}", response.text());
    Answer::read(response)
}

#[test]
fn a_job_is_told_to_its_end_and_can_be_polled() {
    let site = Site::start();
    let answer =
        stream(&site, &json!({ "messages": [{ "role": "user", "content": "Replace \"widget\" with \"gadget\"" }] }));
    let response = &answer.response;
    for (name, value) in [
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("X-Vercel-AI-UI-Message-Stream", "v1"),
        ("Cache-Control", "no-cache"),
        ("X-Accel-Buffering", "no"),
        ("Link", "</v2/agent/acme/job>; rel=\"successor-version\""),
    ] {
        assert_eq!(response.header(name), Some(value), "{name}");
    }
    assert!(response.header("Deprecation").is_some_and(|since| since.starts_with('@')), "{:?}", response.headers);
    assert!(response.header("RateLimit").is_some(), "{:?}", response.headers);

    let session = site.agent().halts(&session_id(response));
    let link = session["pullRequestLink"].as_str().expect("a pull request");
    assert_eq!(session["haultReason"], "completed");
    assert_eq!(session["subdomain"], "acme");
    assert_eq!(session["branch"], response.header("X-Branch-Name").expect("names the branch"));
    assert_eq!(site.repository.commits_ahead(session["branch"].as_str().expect("a branch")), 1);

    assert_eq!(answer.of_type("data-pull-request")[0]["data"]["url"], link);
    let last_status = answer.of_type("data-status").pop().expect("says where it stands");
    assert_eq!(
        (&last_status["data"]["status"], &last_status["data"]["branch"]),
        (&json!("completed"), &session["branch"])
    );
    let calls = answer.of_type("tool-input-available").len();
    let answered = answer.of_type("tool-output-available").len() + answer.of_type("tool-output-error").len();
    assert!(calls > 0 && calls == answered, "every call is answered: {:?}", answer.types());
    assert!(answer.text().contains(session["messageToUser"].as_str().expect("a message")), "{}", answer.text());
    assert_eq!(answer.finish()["finishReason"], "stop");
}

#[test]
fn scripts_of_every_kind_are_understood() {
    let site = Site::start();
    for body in [
        json!({ "messages": [{ "role": "system", "content": NOTHING_TO_DO }] }),
        json!({ "messages": [{ "role": "user", "content": NOTHING_TO_DO }], "asDraft": "true", "model": "opus" }),
        json!({ "messages": [{ "role": "user", "content": [{ "type": "text", "text": NOTHING_TO_DO }] }], "branch": null }),
        json!({ "messages": [{ "role": "user", "content": NOTHING_TO_DO, "id": 7 }], "asDraft": false, "colour": "red" }),
    ] {
        let answer = stream(&site, &body);
        let session = site.agent().halts(&session_id(&answer.response));
        assert_eq!(session["haultReason"], "completed", "{body}: {session:#}");
        assert_eq!(session["pullRequestLink"], "", "nothing was changed: {session:#}");
    }
    let body = json!({ "messages": [{ "role": "user", "content": "Replace \"widget\" with \"gadget\"" }], "branch": "docs/terms" });
    let answer = stream(&site, &body);
    assert_eq!(answer.response.header("X-Branch-Name"), Some("docs/terms"));
    assert_eq!(site.repository.branches(), ["docs/terms"]);
}

#[test]
fn a_branch_named_after_the_time_is_mended_and_told() {
    let site = Site::start();
    let asked = |branch: &str, old: &str, new: &str| {
        let prompt = format!("Replace \"{old}\" with \"{new}\"");
        let answer = stream(&site, &json!({ "messages": [{ "role": "user", "content": prompt }], "branch": branch }));
        let session = site.agent().halts(&session_id(&answer.response));
        assert_eq!(session["branch"], answer.response.header("X-Branch-Name").expect("names the branch"));
        session["branch"].as_str().expect("a name").to_owned()
    };
    assert_eq!(asked("docs 2026-11-24T10:12:21Z", "widget", "gadget"), "docs-2026-11-24T10-12-21Z");
    assert_eq!(site.repository.branches(), ["docs-2026-11-24T10-12-21Z"]);
    for nothing in ["", "::", "main", "refs/heads/main"] {
        let own = asked(nothing, "no-such-term", "another");
        assert!(own.starts_with("docent/"), "a branch of its own: {own}");
    }
}

#[test]
fn a_job_that_fails_says_why() {
    let site = Site::start();
    let answer =
        stream(&site, &json!({ "messages": [{ "role": "user", "content": "Make everything better, please" }] }));
    let session = site.agent().halts(&session_id(&answer.response));
    assert_eq!(session["haultReason"], "error");
    assert_eq!(answer.finish()["finishReason"], "error");
    assert!(answer.text().contains(session["messageToUser"].as_str().expect("says why")), "{}", answer.text());
}

#[test]
fn a_client_that_hangs_up_does_not_end_its_job() {
    let pages: Vec<_> =
        (0..20).map(|n| (format!("page-{n}.md"), format!("# Page {n}\n\nHere is alpha-{n:04}.\n"))).collect();
    let site = Site::with_pages(&pages);
    let agent = site.agent();
    let sessions: Vec<String> = (0..20)
        .map(|n| {
            let request = agent.create_v1(&format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\""));
            let mut stream = request.open(site.server.address()).expect("an answer");
            // Half of the clients read the first piece, the others nothing.
            if n % 2 == 0 {
                stream.piece().expect("a beginning");
            }
            stream.headers.get("X-Session-Id").expect("names its session").to_owned()
        })
        .collect();
    for session in sessions {
        let session = agent.halts(&session);
        assert_eq!(session["haultReason"], "completed", "{session:#}");
        assert_eq!(site.repository.commits_ahead(session["branch"].as_str().expect("a branch")), 1);
    }
}

#[test]
fn a_job_of_either_version_is_seen_by_both() {
    let site = Site::start();
    let agent = site.agent();
    let first = session_id(&site.server.send(&agent.create_v1("Replace \"widget\" with \"gadget\"")));
    let job = agent.reaches(&first, "completed");
    let session = agent.halts(&first);
    assert_eq!(job["prLink"], session["pullRequestLink"]);
    assert_eq!(branch(&job), session["branch"]);
    assert_eq!(agent.message(&first, "Replace \"parcel\" with \"package\"").status, 200);
    agent.reaches(&first, "completed");

    let second = agent.create(NOTHING_TO_DO);
    assert_eq!(agent.halts(id(&second))["sessionId"], second["id"]);
    let jobs = site.server.send(&agent.request("GET", "jobs")).json();
    let sessions = site.server.send(&agent.request_v1("GET", "jobs")).json();
    let of = |list: &Value, key: &str| -> Vec<Value> {
        list.as_array().expect("a list").iter().map(|one| one[key].clone()).collect()
    };
    let newest_first = vec![second["id"].clone(), json!(first)];
    assert_eq!(of(&jobs["jobs"], "id"), newest_first);
    assert_eq!(of(&sessions["allSessions"], "sessionId"), newest_first);
}

#[test]
fn both_versions_share_a_hundred_jobs_an_hour() {
    let site = Site::start();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let requests: Vec<_> = (0..120)
            .map(|n| {
                let site = &site;
                scope.spawn(move || {
                    let agent = site.agent();
                    if n % 2 == 0 {
                        return agent.try_create(&json!({ "prompt": NOTHING_TO_DO })).status;
                    }
                    agent.create_v1(NOTHING_TO_DO).open(site.server.address()).expect("an answer").status
                })
            })
            .collect();
        requests.into_iter().map(|request| request.join().expect("a request")).collect()
    });
    let count = |status| statuses.iter().filter(|given| **given == status).count();
    assert_eq!((count(200) + count(201), count(429)), (100, 20), "{statuses:?}");
    let refused = site.server.send(&site.agent().create_v1(NOTHING_TO_DO));
    assert_eq!(refused.status, 429);
    for name in ["Retry-After", "RateLimit", "RateLimit-Policy", "Deprecation", "Link"] {
        assert!(refused.header(name).is_some(), "{name}: {:?}", refused.headers);
    }
}

#[test]
fn the_same_request_again_is_the_same_job_told_again_also_after_a_crash() {
    let site = Site::start();
    let send =
        |site: &Site, prompt: &str| site.server.send(&site.agent().create_v1(prompt).header("Idempotency-Key", "once"));
    let first = send(&site, "Replace \"widget\" with \"gadget\"");
    let site = site.killed_and_restarted();
    let again = send(&site, "Replace \"widget\" with \"gadget\"");
    assert_eq!(session_id(&again), session_id(&first));
    assert_eq!(Answer::read(again).finish(), Answer::read(first).finish());
    assert_eq!(site.repository.branches().len(), 1, "two requests, one job");
    assert_eq!(send(&site, NOTHING_TO_DO).status, 409);
}

#[test]
fn a_stream_of_a_server_that_stops_ends_whole_or_says_that_the_job_goes_on() {
    let pages: Vec<_> =
        (0..12).map(|n| (format!("page-{n}.md"), format!("# Page {n}\n\nHere is alpha-{n:04}.\n"))).collect();
    let site = Site::with_pages(&pages);
    let streams: Vec<_> = (0..12)
        .map(|n| {
            let request = site.agent().create_v1(&format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\""));
            request.open(site.server.address()).expect("an answer")
        })
        .collect();
    site.server.terminate();
    let ended: Vec<Response> = streams.into_iter().map(|stream| stream.finish().expect("a whole body")).collect();
    let site = site.restarted(|server| assert!(server.ended().success()));
    for response in &ended {
        let text = response.text();
        let whole = text.ends_with("data: [DONE]\n\n");
        let told =
            text.contains("\"type\":\"error\"") && text.contains("/v1/agent/acme/job/") && !text.contains("[DONE]");
        assert!(whole != told, "{text}");
        assert_eq!(site.agent().halts(&session_id(response))["haultReason"], "completed");
    }
}

#[test]
fn every_refusal_says_what_to_do_and_that_there_is_a_newer_version() {
    let site = Site::start();
    let agent = site.agent();
    let read_only = site.installation.mint("acme", KeyKind::Admin, &["--scope", "read"]);
    let unknown = "01938f6c-0000-7000-8000-000000000000";
    let paths = [
        ("POST", "/v1/agent/acme/job".to_owned()),
        ("GET", format!("/v1/agent/acme/job/{unknown}")),
        ("GET", "/v1/agent/acme/jobs".to_owned()),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for (method, path) in &paths {
        let on = |path: &str| Request::new(method, path);
        let name = |what: &str| format!("{method} {path}, {what}");
        rows.extend([
            row(name("no key"), on(path), 401, &[]),
            row(name("not a key"), on(path).bearer("let-me-in"), 401, &[]),
            row(name("an assistant key"), on(path).bearer(&site.assistant_key), 403, &[]),
            row(name("another project"), on(&path.replace("/acme/", "/no/")).bearer(&site.admin_key), 403, &[]),
            row(name("DELETE"), Request::new("DELETE", path).bearer(&site.admin_key), 405, &[]),
        ]);
    }
    let with = |body: &Value| agent.request_v1("POST", "job").json(body);
    let asked = |field: &str, value: Value| {
        let mut body = json!({ "messages": [{ "role": "user", "content": NOTHING_TO_DO }] });
        body[field] = value;
        with(&body)
    };
    let message = |message: Value| with(&json!({ "messages": [message] }));
    rows.extend([
        row("a read key", Request::post("/v1/agent/acme/job").bearer(&read_only).json(&json!({})), 403, &[]),
        row("an unknown job", agent.request_v1("GET", &format!("job/{unknown}")), 404, &[]),
        row("no id", agent.request_v1("GET", "job/nonsense"), 404, &[]),
        row("no body", agent.request_v1("POST", "job"), 400, &[]),
        row("not JSON", agent.request_v1("POST", "job").header("Content-Type", "application/json").body("{"), 400, &[]),
        row("plain text", agent.request_v1("POST", "job").header("Content-Type", "text/plain").body("{}"), 415, &[]),
        row("too much", agent.request_v1("POST", "job").body(" ".repeat(1_048_577)), 413, &["1048576"]),
        row("no messages", with(&json!({})), 400, &["messages"]),
        row("empty messages", with(&json!({ "messages": [] })), 400, &["messages"]),
        row(
            "an unknown role",
            message(json!({ "role": "tool", "content": "a" })),
            400,
            &["messages[0].role", "`system`"],
        ),
        row("only the assistant", message(json!({ "role": "assistant", "content": "a" })), 400, &["messages"]),
        row("nothing said", message(json!({ "role": "user", "content": " " })), 400, &["messages[0].content"]),
        row("an unknown model", asked("model", json!("gpt-2")), 400, &["model", "sonnet", "opus"]),
        row("a draft of another kind", asked("asDraft", json!("maybe")), 400, &["asDraft"]),
        row("a bad take", agent.request_v1("GET", "jobs?take=0"), 400, &["take", "100"]),
        row("a bad skip", agent.request_v1("GET", "jobs?skip=x"), 400, &["skip"]),
    ]);
    all_refused(&site.server, &rows);
    for row in &rows {
        let response = site.server.send(&row.request);
        assert!(response.header("Deprecation").is_some_and(|since| since.starts_with('@')), "{}", row.name);
        assert!(response.header("Link").is_some_and(|link| link.contains("</v2/agent/")), "{}", row.name);
    }
}
