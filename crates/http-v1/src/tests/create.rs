//! Creating a job and streaming its events.

use std::time::Duration;

use docent_jobs::Outcome;
use docent_types::{FinishReason, Halt, JobEvent, Todo, TodoPriority, TodoStatus, Usage};
use http::Method;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::fixture::{JOBS, TestApi, user};

fn said(text: &str) -> JobEvent {
    JobEvent::Said { text: text.into() }
}

fn replied(reason: FinishReason) -> JobEvent {
    JobEvent::Replied { reason, usage: Usage::of(10, 2) }
}

fn done(message: &str) -> Outcome {
    Outcome::Completed { message: message.into() }
}

/// Plays a job that reads, writes and completes.
fn play(fixture: &TestApi) {
    let call = |id: &str, name: &str| JobEvent::Called {
        id: id.into(),
        name: name.into(),
        input: json!({"path": "index.md"}),
    };
    let answer =
        |id: &str, output: &str, is_error| JobEvent::Answered { id: id.into(), output: output.into(), is_error };
    let todo = Todo {
        id: "1".into(),
        content: "Fix the link".into(),
        status: TodoStatus::Completed,
        priority: TodoPriority::High,
    };
    fixture.agent.writes([
        said("I look at the page.\nThen \"fix\" it."),
        call("call-1", "read"),
        call("call-2", "edit"),
        replied(FinishReason::ToolCalls),
    ]);
    fixture.agent.writes([
        answer("call-1", "# Welcome", false),
        answer("call-2", "The text is not there.", true),
        JobEvent::Planned { todos: vec![todo] },
    ]);
    fixture.agent.writes([said("Fixed one link."), replied(FinishReason::Stop)]);
    fixture.agent.writes([JobEvent::PullRequest { url: "https://forge.example/acme/pulls/7".into() }]);
    fixture.agent.ends(done("Fixed one link."));
}

#[tokio::test]
async fn a_job_is_told_from_its_first_word_to_its_last() {
    let fixture = TestApi::new().await;
    play(&fixture);
    let answer = fixture.agent(Method::POST, JOBS).json(user("Fix broken links")).await;
    assert_eq!(answer.status, 200);
    for (name, value) in [
        ("content-type", "text/event-stream; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("x-accel-buffering", "no"),
        ("x-vercel-ai-ui-message-stream", "v1"),
        ("ratelimit", r#""default";r=99;t=0"#),
        ("ratelimit-policy", r#""default";q=100;w=3600"#),
        ("deprecation", "@1795219200"),
        ("link", r#"</v2/agent/acme/job>; rel="successor-version""#),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let session = answer.header("x-session-id").unwrap();
    assert_eq!(answer.header("x-branch-name").unwrap(), format!("docent/{session}"));
    assert_snapshot!(answer.body.replace(session, "SESSION"), @r##"
    data: {"type":"start","messageId":"SESSION"}

    data: {"type":"data-status","id":"status","data":{"sessionId":"SESSION","status":"active","branch":"docent/SESSION"}}

    data: {"type":"start-step"}

    data: {"type":"text-start","id":"text-1"}

    data: {"type":"text-delta","id":"text-1","delta":"I look at the page.\nThen \"fix\" it."}

    data: {"type":"text-end","id":"text-1"}

    data: {"type":"tool-input-available","toolCallId":"call-1","toolName":"read","input":{"path":"index.md"}}

    data: {"type":"tool-input-available","toolCallId":"call-2","toolName":"edit","input":{"path":"index.md"}}

    data: {"type":"tool-output-available","toolCallId":"call-1","output":"# Welcome"}

    data: {"type":"tool-output-error","toolCallId":"call-2","errorText":"The text is not there."}

    data: {"type":"finish-step"}

    data: {"type":"data-todos","id":"todos","data":{"todos":[{"id":"1","content":"Fix the link","status":"completed","priority":"high"}]}}

    data: {"type":"start-step"}

    data: {"type":"text-start","id":"text-2"}

    data: {"type":"text-delta","id":"text-2","delta":"Fixed one link."}

    data: {"type":"text-end","id":"text-2"}

    data: {"type":"finish-step"}

    data: {"type":"data-pull-request","id":"pull-request","data":{"url":"https://forge.example/acme/pulls/7"}}

    data: {"type":"data-status","id":"status","data":{"sessionId":"SESSION","status":"completed","branch":"docent/SESSION","haultReason":"completed"}}

    data: {"type":"finish","finishReason":"stop","messageMetadata":{"finishReason":"stop"}}

    data: [DONE]
    "##);
}

#[tokio::test]
async fn whoever_may_be_an_sdk_gets_a_finish_that_all_of_them_take() {
    let fixture = TestApi::new().await;
    let finish = async |path: &str, body: Value, header: (&str, &str)| {
        fixture.agent.ends(done("Done."));
        let answer = fixture.agent(Method::POST, path).header(header.0, header.1).json(body).await;
        let finish = answer.frames().pop().unwrap();
        assert_eq!(finish["messageMetadata"]["finishReason"], "stop");
        finish["finishReason"].is_null()
    };
    let mut by_sdk = user("a");
    by_sdk["trigger"] = json!("submit-message");
    for (path, body, header, strict) in [
        (JOBS, user("a"), ("user-agent", "curl/8.5.0"), false),
        (JOBS, user("a"), ("accept", "application/json"), false),
        (JOBS, by_sdk, ("accept", "*/*"), true),
        (JOBS, user("a"), ("user-agent", "ai-sdk/5.0"), true),
        (JOBS, user("a"), ("origin", "https://docs.example.com"), true),
        ("/v1/agent/acme/job?sdk=strict", user("a"), ("accept", "*/*"), true),
    ] {
        assert_eq!(finish(path, body, header).await, strict, "{path} {header:?}");
    }
}

#[tokio::test]
async fn words_are_told_while_they_come_from_the_model() {
    let fixture = TestApi::new().await;
    let mut reading = fixture.create("Fix broken links").await;
    reading.until(r#""status":"active""#).await;
    fixture.agent.writes([JobEvent::Planned { todos: Vec::new() }]);
    reading.until("data-todos").await;
    let mut at = 0;
    for word in ["One ", "word ", "after "] {
        fixture.agent.says(JobEvent::Delta { at, text: word.into() });
        at += word.len();
        reading.until(&format!(r#""delta":"{word}""#)).await;
    }
    fixture.agent.writes([said("One word after another."), replied(FinishReason::Stop)]);
    fixture.agent.ends(done(""));
    let answer = reading.finish().await;
    let text: String = answer.frames().iter().filter_map(|frame| frame["delta"].as_str().map(str::to_owned)).collect();
    assert_eq!(text, "One word after another.");
}

#[tokio::test]
async fn a_client_that_hangs_up_does_not_end_the_job() {
    let fixture = TestApi::new().await;
    let mut reading = fixture.create("Fix broken links").await;
    reading.until("data-status").await;
    let id = reading.session();
    drop(reading);
    fixture.agent.writes([said("Fixed."), replied(FinishReason::Stop)]);
    fixture.agent.ends(done("Fixed."));
    let session = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            let session = fixture.session(&id).await;
            if session["haulted"] == true {
                return session;
            }
            tokio::task::yield_now().await;
        }
    });
    let session = session.await.expect("the job comes to its end");
    assert_eq!((&session["haultReason"], &session["messageToUser"]), (&json!("completed"), &json!("Fixed.")));
}

#[tokio::test]
async fn a_job_that_fails_is_a_stream_that_ends_well_and_says_so() {
    let fixture = TestApi::new().await;
    let message = "The repository cannot be reached.".to_owned();
    fixture.agent.ends(Outcome::Failed { halt: Halt::GitMisconfigured, message: message.clone() });
    let answer = fixture.agent(Method::POST, JOBS).json(user("Fix broken links")).await;
    let frames = answer.frames();
    let status = frames.iter().rfind(|frame| frame["type"] == "data-status").unwrap();
    assert_eq!(
        (&status["data"]["status"], &status["data"]["haultReason"]),
        (&json!("failed"), &json!("git_missconfigured"))
    );
    assert!(frames.iter().any(|frame| frame["delta"] == json!(message)));
    let finish = frames.last().unwrap();
    assert_eq!((&finish["type"], &finish["finishReason"]), (&json!("finish"), &json!("error")));
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn a_stream_of_a_server_that_drains_does_not_look_finished() {
    let fixture = TestApi::new().await;
    let mut reading = fixture.create("Fix broken links").await;
    reading.until("data-status").await;
    let id = reading.session();
    fixture.drain.cancel();
    let answer = reading.finish().await;
    let last = answer.frames().pop().unwrap();
    assert_eq!(last["type"], "error");
    let told = last["errorText"].as_str().unwrap();
    assert!(told.contains(&format!("GET /v1/agent/acme/job/{id}")), "{told}");
    assert!(!answer.body.contains("[DONE]") && !answer.body.contains("finish"), "{}", answer.body);
    assert_eq!(fixture.session(&id).await["haulted"], false);
}

#[tokio::test]
async fn the_same_request_again_tells_the_same_job_again() {
    let fixture = TestApi::new().await;
    let post = async |body: Value| fixture.agent(Method::POST, JOBS).header("idempotency-key", "k").json(body).await;
    play(&fixture);
    let first = post(user("Fix broken links")).await;
    let again = post(user("Fix broken links")).await;
    assert_eq!((again.status, again.header("x-session-id")), (200, first.header("x-session-id")));
    assert_eq!(again.body, first.body);
    assert_eq!(again.header("ratelimit"), None, "a repeat counts against nothing");
    assert_eq!(post(user("Fix titles")).await.status, 409);
}

#[tokio::test(start_paused = true)]
async fn silence_is_broken_by_a_comment() {
    let fixture = TestApi::new().await;
    let mut reading = fixture.create("Fix broken links").await;
    reading.until(": keep-alive\n\n").await;
}

#[tokio::test]
async fn a_job_may_have_a_branch_a_model_and_a_draft_of_its_choice() {
    let fixture = TestApi::new().await;
    let branch = async |mut body: Value, more: Value| {
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fixture.agent.ends(done("Done."));
        let answer = fixture.agent(Method::POST, JOBS).json(body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.headers["x-branch-name"].as_bytes().to_vec()
    };
    let all = json!({"branch": "docs/links", "model": "opus", "asDraft": "True", "x": 1});
    assert_eq!(branch(user("Fix"), all).await, b"docs/links");
    assert_eq!(branch(user("Fix"), json!({"branch": "docs/ünï"})).await, "docs/ünï".as_bytes());
    assert_eq!(branch(user("Fix"), json!({"branch": "docs 10:12..21"})).await, b"docs-10-12-21");
    for none in ["", "main", "refs/heads/main", " main ", "~^:"] {
        assert!(branch(user("Fix"), json!({"branch": none})).await.starts_with(b"docent/"), "{none}");
    }
    let none = json!({"branch": null, "model": null, "asDraft": null});
    assert!(branch(user("Fix"), none).await.starts_with(b"docent/"));
    let system = json!({"messages": [{"role": "system", "content": "Fix broken links"}]});
    assert!(branch(system, json!({})).await.starts_with(b"docent/"));
}

#[tokio::test]
async fn a_body_that_breaks_a_rule_is_told_where() {
    let fixture = TestApi::new().await;
    let with = |name: &str, value: Value| {
        let mut body = user("Fix");
        body[name] = value;
        body
    };
    let message = |message: Value| json!({ "messages": [message] });
    for (body, place) in [
        (json!({}), "messages"),
        (json!({"messages": null}), "messages"),
        (json!({"messages": "Fix"}), "messages"),
        (json!({"messages": []}), "messages"),
        (message(json!("Fix")), "messages[0]"),
        (message(json!(["user", "Fix"])), "messages[0]"),
        (message(json!({"content": "Fix"})), "role"),
        (message(json!({"role": "tool", "content": "Fix"})), "`system`, `user`, `assistant`"),
        (message(json!({"role": "user", "content": 5})), "messages[0].content"),
        (message(json!({"role": "user", "content": [5]})), "messages[0].content[0]"),
        (message(json!({"role": "user", "content": " "})), "messages[0].content"),
        (message(json!({"role": "assistant", "content": "Fix"})), "messages"),
        (with("branch", json!(1)), "branch"),
        (with("model", json!("gpt")), "`sonnet`, `opus`"),
        (with("model", json!(1)), "model"),
        (with("asDraft", json!("maybe")), "asDraft"),
        (with("asDraft", json!(1)), "asDraft"),
        (json!([]), "must be a JSON object, not an array"),
        (json!(null), "must be a JSON object, not null"),
    ] {
        let answer = fixture.agent(Method::POST, JOBS).json(body.clone()).await;
        assert_eq!(answer.status, 400, "{body} {answer:?}");
        assert!(answer.body.contains(place), "{place}: {answer:?}");
    }
}

#[tokio::test]
async fn the_101st_job_of_an_hour_is_refused() {
    let fixture = TestApi::new().await;
    for _ in 0..100 {
        assert_eq!(fixture.agent(Method::POST, JOBS).open(user("a")).await.response.status(), 200);
    }
    let refused = fixture.agent(Method::POST, JOBS).json(user("a")).await;
    assert_eq!(refused.status, 429);
    for name in ["retry-after", "ratelimit", "ratelimit-policy", "deprecation"] {
        assert!(refused.headers.contains_key(name), "{name}");
    }
}
