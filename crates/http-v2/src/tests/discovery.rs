//! The assistant, search and pages over HTTP.

use std::borrow::Borrow;
use std::sync::Arc;
use std::time::Duration;

use docent_discovery::Replies;
use docent_llm::ModelErrorKind;
use docent_llm::scripted::{Reply, ReplyGate};
use docent_types::RandomIds;
use docent_web::ServerLimits;
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::fixture::{TestApi, TestResponse};

const MESSAGE: &str = "/discovery/v2/assistant/acme/message";

fn question(text: &str) -> Value {
    json!({"fp": "anonymous", "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}]})
}

fn with(mut body: Value, changes: impl Borrow<Value>) -> Value {
    body.as_object_mut().unwrap().extend(changes.borrow().as_object().unwrap().clone());
    body
}

fn kinds(answer: &TestResponse) -> Vec<String> {
    answer.frames().iter().map(|frame| frame["type"].as_str().unwrap().to_owned()).collect()
}

fn last(answer: &TestResponse) -> Value {
    answer.frames().pop().unwrap()
}

#[tokio::test]
async fn a_question_is_answered_by_a_stream() {
    let fixture = TestApi::new().await;
    fixture.model.replies("Retries wait longer each time.");
    let answer = fixture.reader(MESSAGE).json(question("How long do retries wait?")).await;
    assert_eq!(answer.status, 200);
    for (name, value) in [
        ("content-type", "text/event-stream; charset=utf-8"),
        ("x-vercel-ai-ui-message-stream", "v1"),
        ("cache-control", "no-cache"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    let frames = answer.frames();
    let thread = answer.header("x-thread-id").unwrap();
    assert_eq!(frames[0]["messageMetadata"]["threadId"], thread);
    assert!(answer.header("x-thread-key").is_some_and(|key| key.len() >= 22));
    for kind in [
        "start", "start-step", "tool-input-available", "tool-output-available", "source-url", "text-delta",
        "finish-step",
    ] {
        assert!(kinds(&answer).iter().any(|is| is == kind), "{kind}: {}", answer.body);
    }
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
    let text: String = frames.iter().filter_map(|frame| frame["delta"].as_str()).collect();
    assert_eq!(text, "Retries wait longer each time.");
}

#[tokio::test]
async fn the_last_frame_says_the_thread_in_the_way_the_reader_takes_it() {
    let fixture = TestApi::new().await;
    let plain = || fixture.reader(MESSAGE);
    let sdk = with(question("Retries?"), json!({"trigger": "submit-message"}));
    let current = || fixture.reader(&format!("{MESSAGE}?sdk=current"));
    for (why, ask, body, open) in [
        ("plain", plain(), question("Retries?"), true),
        ("sdk that reads it", current().header("user-agent", "ai-sdk/7.0"), sdk.clone(), true),
        ("page that reads it", current().header("origin", "https://docs.example.com"), question("Retries?"), true),
        ("curl", plain().header("user-agent", "curl/8"), question("Retries?"), true),
        ("other value", fixture.reader(&format!("{MESSAGE}?sdk=open")), question("Retries?"), true),
        ("trigger", plain(), sdk, false),
        ("sdk agent", plain().header("user-agent", "node ai-sdk/6.0 x"), question("Retries?"), false),
        ("browser", plain().header("origin", "https://docs.example.com"), question("Retries?"), false),
        ("asked for", fixture.reader(&format!("{MESSAGE}?sdk=strict")), question("Retries?"), false),
    ] {
        fixture.model.replies("Yes.");
        let answer = ask.json(body).await;
        let thread = answer.header("x-thread-id").unwrap();
        let metadata = json!({"threadId": thread, "finishReason": "stop"});
        let expected = if open {
            json!({"type": "finish", "finishReason": "stop", "threadId": thread, "messageMetadata": metadata})
        } else {
            json!({"type": "finish", "messageMetadata": metadata})
        };
        assert_eq!(last(&answer), expected, "{why}");
    }
}

#[tokio::test]
async fn an_answer_comes_as_blocks_where_they_are_asked_for() {
    let fixture = TestApi::new().await;
    fixture.model.replies("Wait *longer*.");
    let answer = fixture.reader(&format!("{MESSAGE}?parts=blocks")).json(question("Retries?")).await;
    let kinds = kinds(&answer);
    assert!(kinds.iter().any(|kind| kind == "data-block") && !kinds.iter().any(|kind| kind.starts_with("text-")));
    assert!(answer.body.contains(r#"["em","longer"]"#), "{}", answer.body);
    fixture.model.replies("Yes.");
    let answer = fixture.reader(&format!("{MESSAGE}?parts=text")).json(question("Retries?")).await;
    assert!(answer.body.contains("text-delta"), "{}", answer.body);
    let refused = fixture.reader(&format!("{MESSAGE}?parts=html")).json(question("Retries?")).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
}

#[tokio::test]
async fn a_thread_goes_on_by_its_id_wherever_the_client_sends_it() {
    let fixture = TestApi::new().await;
    fixture.model.replies("One.").replies("Two.").replies("Three.").replies("Four.");
    let first = fixture.reader(MESSAGE).json(question("Retries?")).await;
    let thread = first.header("x-thread-id").unwrap();
    let key = first.header("x-thread-key").unwrap();
    let second = fixture.reader(MESSAGE).json(with(question("Why?"), json!({"threadId": thread}))).await;
    assert_eq!((second.header("x-thread-id"), second.header("x-thread-key")), (Some(thread), None));
    let echoed = json!({"fp": "a", "messages": [
        {"role": "assistant", "metadata": {"threadId": thread}, "parts": [{"type": "text", "text": "One."}]},
        {"role": "user", "parts": [{"type": "text", "text": "And then?"}]},
    ]});
    assert_eq!(fixture.reader(MESSAGE).json(echoed.clone()).await.header("x-thread-id"), Some(thread));
    let anew = fixture.reader(MESSAGE).json(with(echoed, json!({"threadId": null}))).await;
    assert_ne!(anew.header("x-thread-id"), Some(thread));
    fixture.model.replies("Five.");
    let keyed = async |key: &str| {
        let body = with(question("Why?"), json!({"threadId": thread, "threadKey": key}));
        fixture.reader(MESSAGE).json(body).await.status
    };
    assert_eq!((keyed(key).await, keyed("wrong").await), (200, 404));
}

#[tokio::test]
async fn a_thread_that_is_not_there_is_begun_anew() {
    let fixture = TestApi::new().await;
    for id in ["made-up", "00000000-0000-0000-0000-00000000ffff"] {
        fixture.model.replies("Twice as long.");
        let answer = fixture.reader(MESSAGE).json(with(question("Retries?"), json!({"threadId": id}))).await;
        assert_eq!(answer.status, 200, "{id}");
        assert!(answer.header("x-thread-id") != Some(id) && answer.header("x-thread-key").is_some(), "{answer:?}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_a_rule_is_told_where() {
    let fixture = TestApi::new().await;
    for (changes, place) in [
        (json!({"fp": ""}), "fp"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": [{"role": "robot"}]}), "messages[0].role"),
        (json!({"retrievalPageSize": 51}), "retrievalPageSize"),
        (json!({"currentPath": "a".repeat(201)}), "currentPath"),
        (json!({"context": [{"type": "x", "value": "y"}]}), "context[0].type"),
        (json!({"filter": {"groups": "a"}}), "filter.groups"),
    ] {
        let answer = fixture.reader(MESSAGE).json(with(question("Retries?"), changes)).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.contains(place), "{place}: {answer:?}");
    }
}

#[tokio::test]
async fn a_model_that_fails_in_the_middle_ends_the_reply_as_an_error() {
    let fixture = TestApi::new().await;
    fixture.model.replies(Reply::text("Retries w").cut(ModelErrorKind::Fatal));
    let answer = fixture.reader(MESSAGE).json(question("Retries?")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(last(&answer)["type"], "error");
    assert!(!answer.body.contains("[DONE]"));
}

#[tokio::test]
async fn an_array_is_no_question() {
    let fixture = TestApi::new().await;
    let message = json!(["m1", "user", [{"type": "text", "text": "Retries?"}], null]);
    let body = json!({"fp": "a", "messages": [message]});
    for (body, place) in [
        (body.clone(), "messages[0]"),
        (json!(["a", body["messages"]]), "must be a JSON object"),
        (with(question("Retries?"), json!({"retrievalPageSize": -1})), "expected a whole number from 0 up"),
    ] {
        let answer = fixture.reader(MESSAGE).json(body).await;
        assert_eq!(answer.status, 400);
        assert!(answer.body.contains(place), "{answer:?}");
        assert!(!answer.body.contains("struct") && !answer.body.contains("u64"), "{answer:?}");
    }
}

#[tokio::test]
async fn there_is_never_a_reply_to_resume() {
    let fixture = TestApi::new().await;
    for method in [Method::GET, Method::HEAD] {
        let answer = fixture.ask(method, &format!("{MESSAGE}/chat-1/stream")).key(&fixture.assistant).send().await;
        assert_eq!((answer.status, answer.body.as_str()), (204, ""));
    }
}

#[tokio::test]
async fn hanging_up_cancels_the_model_while_it_thinks() {
    let fixture = TestApi::new().await;
    let thinking = ReplyGate::closed();
    fixture.model.replies(Reply::text("Retries ").wait(&thinking).say("wait."));
    let (model, key) = (fixture.model.clone(), fixture.assistant.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let server = tokio::spawn(docent_web::serve(
        listener,
        fixture.api,
        ServerLimits::default(),
        Arc::new(RandomIds),
        std::future::pending(),
    ));
    let body = question("Retries?").to_string();
    let head = format!(
        "POST {MESSAGE} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        key.expose(),
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut seen = String::new();
    let mut chunk = [0; 4096];
    while !seen.contains("text-delta") {
        let count = client.read(&mut chunk).await.unwrap();
        assert!(count > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    drop(client);
    let cancelled = async {
        while model.cancelled() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(1), cancelled).await.expect("cancelled within a second");
    server.abort();
}

#[tokio::test]
async fn a_search_gives_passages() {
    let fixture = TestApi::new().await;
    let search = async |body: Value| fixture.reader("/discovery/v1/search/acme").json(body).await;
    let found = search(json!({"query": "retries"})).await;
    assert_eq!(found.status, 200);
    let first = &found.json()[0];
    assert_eq!(first["path"], "guides/retries");
    assert_eq!(first["metadata"]["title"], "Retries");
    assert!(first["content"].is_string() && first["score"].is_number());
    let both = search(json!({"query": "a call over the network that fails", "filter": null})).await.json();
    let scores: Vec<f64> = both.as_array().unwrap().iter().map(|found| found["score"].as_f64().unwrap()).collect();
    assert!(scores.len() == 2 && scores[0] > scores[1], "{both}");
    let between = f64::midpoint(scores[0], scores[1]);
    for narrower in [json!({"pageSize": 1}), json!({"pageSize": 1.0}), json!({"scoreThreshold": between})] {
        let found = search(with(json!({"query": "a call over the network that fails"}), narrower)).await.json();
        assert_eq!(found, json!([both[0]]));
    }
    for body in [
        json!({}),
        json!({"query": " "}),
        json!({"query": "a".repeat(2001)}),
        json!({"query": "a", "pageSize": 0}),
        json!({"query": "a", "pageSize": 51}),
        json!({"query": "a", "scoreThreshold": 1.1}),
        json!({"query": "a", "scoreThreshold": -0.1}),
        json!({"query": "a", "filter": {"version": 1}}),
        json!({"query": "a", "filter": [null, null, null, null]}),
        json!(["a", null, null, null]),
        json!([]),
    ] {
        assert_eq!(search(body.clone()).await.status, 400, "{body}");
    }
}

#[tokio::test]
async fn a_page_is_given_whole_or_not_found() {
    let fixture = TestApi::new().await;
    let page = async |path: Value| fixture.reader("/discovery/v1/page/acme").json(json!({ "path": path })).await;
    for path in ["guides/retries", "/guides/retries"] {
        let found = page(json!(path)).await;
        assert_eq!((found.status, &found.json()["path"]), (200, &json!("guides/retries")), "{path}");
    }
    assert_eq!(page(json!("guides/nothing")).await.status, 404);
    assert_eq!(page(json!("../../etc/passwd")).await.status, 404);
    for front in ["", "/", "index", "/index", "index.md", "index.mdx", "index.html"] {
        let found = page(json!(front)).await;
        assert_eq!((found.status, &found.json()["path"]), (200, &json!("")), "{front}");
    }
    assert_eq!(page(json!("guides/index")).await.status, 404);
    assert_eq!(page(json!(7)).await.status, 400);
    for body in [json!({}), json!(["guides/retries"])] {
        assert_eq!(fixture.reader("/discovery/v1/page/acme").json(body).await.status, 400);
    }
}

#[tokio::test]
async fn a_reply_is_rated_by_the_ids_it_came_with() {
    const FEEDBACK: &str = "/discovery/v1/assistant/acme/feedback";
    let fixture = TestApi::new().await;
    fixture.model.replies("Twice as long.");
    let answer = fixture.reader(MESSAGE).json(question("How long do retries wait?")).await;
    let message = answer.frames()[0]["messageId"].clone();
    let rated = json!({"threadId": answer.header("x-thread-id"), "messageId": message, "rating": "up"});
    let rate = async |changes: Value| fixture.reader(FEEDBACK).json(with(rated.clone(), changes)).await;
    for changes in [json!({}), json!({"rating": "down", "comment": "It is not."}), json!({"comment": null, "x": [1]})] {
        let answer = rate(changes).await;
        assert_eq!((answer.status, answer.body.as_str()), (204, ""));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
    for (changes, status, place) in [
        (json!({"rating": "great"}), 400, "rating"),
        (json!({"rating": null}), 400, "rating"),
        (json!({"comment": "a".repeat(4_001)}), 400, "comment"),
        (json!({"messageId": "nobody's"}), 404, "messageId"),
        (json!({"threadId": "nobody's"}), 404, "threadId"),
        (json!({"threadId": "00000000-0000-0000-0000-00000000ffff"}), 404, "messageId"),
        (json!({"threadId": 7}), 400, "threadId"),
        (json!({"threadId": "x".repeat(201)}), 400, "threadId"),
        (json!({"messageId": "x".repeat(201)}), 400, "messageId"),
    ] {
        let answer = rate(changes.clone()).await;
        assert_eq!(answer.status, status, "{changes} {answer:?}");
        assert!(answer.body.contains(place), "{changes} {answer:?}");
    }
}

#[tokio::test]
async fn a_site_that_answers_as_many_questions_as_it_may_refuses_the_next() {
    let mut fixture = TestApi::new().await;
    fixture.api.answering.replies = Replies::at_once(1);
    let gate = ReplyGate::closed();
    fixture.model.replies(Reply::text("Retries ").wait(&gate).say("wait."));
    let asked = question("Retries?").to_string();
    let mut running = fixture.reader(MESSAGE).header("content-type", "application/json").open(asked).await;
    running.until("text-delta").await;
    let refused = fixture.reader(MESSAGE).json(question("Retries?")).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("2")), "{refused:?}");
    assert!(refused.header("ratelimit").is_some() && refused.header("ratelimit-policy").is_some(), "{refused:?}");
    gate.open();
    assert!(running.finish().await.body.ends_with("data: [DONE]\n\n"));
    fixture.model.replies("Now.");
    assert_eq!(fixture.reader(MESSAGE).json(question("Retries?")).await.status, 200);
    assert_eq!(fixture.api.answering.replies.counts().finished, 2);
}
