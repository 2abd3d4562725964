//! The assistant in version 1.

use std::time::Duration;

use docent_access::{KeyKind, Scope};
use docent_llm::ModelErrorKind;
use docent_llm::scripted::{Reply, ReplyGate};
use docent_types::{Refusal, RefusalKind};
use docent_web::Request;
use http::Method;
use http_body_util::Full;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::errors::any_json;
use super::fixture::{MESSAGE, TestApi, TestResponse};

fn question(text: &str) -> Value {
    json!({"fp": "anonymous", "messages": [{"id": "m1", "role": "user", "content": text}]})
}

fn with(mut body: Value, changes: &Value) -> Value {
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    body
}

/// Parses the lines of a reply: a letter and a value each.
fn lines(answer: &TestResponse) -> Vec<(char, Value)> {
    assert!(answer.body.ends_with('\n'), "{}", answer.body);
    let line = |line: &str| {
        let (letter, value) = line.split_once(':').expect("a letter and a value");
        (letter.chars().next().expect("a letter"), serde_json::from_str(value).expect("JSON"))
    };
    answer.body.lines().map(line).collect()
}

fn letters(answer: &TestResponse) -> String {
    lines(answer).iter().map(|(letter, _)| letter).collect()
}

fn is_deprecated(answer: &TestResponse) -> bool {
    let link = "</discovery/v2/assistant/acme/message>; rel=\"successor-version\"";
    answer.header("deprecation").is_some_and(|since| since.starts_with('@')) && answer.header("link") == Some(link)
}

#[tokio::test]
async fn a_question_is_answered_by_a_data_stream() {
    let fixture = TestApi::new().await;
    fixture.model.replies("Twice as long.");
    let answer = fixture.reader().json(question("How long do retries wait?")).await;
    assert_eq!(answer.status, 200);
    for (name, value) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("x-vercel-ai-data-stream", "v1"),
        ("cache-control", "no-cache"),
        ("x-accel-buffering", "no"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    assert!(is_deprecated(&answer), "{answer:?}");
    let thread = answer.header("x-thread-id").expect("a thread");
    assert!(answer.header("x-thread-key").is_some());
    let told = letters(&answer);
    assert!(told.starts_with("f89a0") && told.ends_with("0he2d"), "{}", answer.body);
    let lines = lines(&answer);
    assert_eq!(lines[1].1, json!([{"threadId": thread}]));
    assert_eq!(lines[lines.len() - 2].1, json!([{"type": "finish", "threadId": thread}]));
    assert_eq!(lines[lines.len() - 1].1["threadId"], thread);
    let text: String =
        lines.iter().filter(|(letter, _)| *letter == '0').filter_map(|(_, text)| text.as_str()).collect();
    assert_eq!(text, "Twice as long.");
}

#[tokio::test]
async fn a_thread_goes_on_by_its_id_wherever_the_client_sends_it() {
    let fixture = TestApi::new().await;
    for _ in 0..5 {
        fixture.model.replies("So.");
    }
    let first = fixture.reader().json(question("Retries?")).await;
    let thread = first.header("x-thread-id").expect("a thread");
    let named = fixture.reader().json(with(question("Why?"), &json!({"threadId": thread}))).await;
    assert_eq!((named.header("x-thread-id"), named.header("x-thread-key")), (Some(thread), None));
    let echoed = json!({"fp": "a", "messages": [
        {"role": "user", "content": "Retries?"},
        {"role": "assistant", "content": "So.", "annotations": [{"threadId": thread}], "parts": [{"type": "step-start"}]},
        {"role": "user", "content": "And then?", "parts": [{"type": "text", "text": "And then?"}]},
    ]});
    assert_eq!(fixture.reader().json(echoed.clone()).await.header("x-thread-id"), Some(thread));
    let anew = fixture.reader().json(with(echoed, &json!({"threadId": null}))).await;
    assert!(anew.status == 200 && anew.header("x-thread-id") != Some(thread), "{anew:?}");
    let made_up = fixture.reader().json(with(question("Why?"), &json!({"threadId": "made-up"}))).await;
    assert!(made_up.status == 200 && made_up.header("x-thread-key").is_some(), "begun anew: {made_up:?}");
    let wrong = json!({"threadId": thread, "threadKey": "wrong"});
    let refused = fixture.reader().json(with(question("Why?"), &wrong)).await;
    assert!(refused.status == 404 && is_deprecated(&refused), "{refused:?}");
}

#[tokio::test]
async fn a_model_that_fails_in_the_middle_ends_the_reply_as_an_error() {
    let fixture = TestApi::new().await;
    fixture.model.replies(Reply::text("Retries w").cut(ModelErrorKind::Fatal));
    let answer = fixture.reader().json(question("Retries?")).await;
    assert_eq!(answer.status, 200);
    let (letter, sentence) = lines(&answer).pop().expect("a last line");
    assert!(letter == '3' && sentence.is_string(), "{}", answer.body);
    assert!(!letters(&answer).contains('d'), "{}", answer.body);
}

#[tokio::test]
async fn a_body_that_breaks_a_rule_is_told_where() {
    let fixture = TestApi::new().await;
    for (changes, place) in [
        (json!({"fp": ""}), "fp"),
        (json!({"fp": null}), "fp"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": [{"role": "robot"}]}), "messages[0].role"),
        (json!({"messages": [{"role": "user", "content": 5}]}), "messages[0].content"),
        (json!({"messages": [{"role": "user", "content": ""}]}), "messages[0]"),
        (json!({"messages": [{"role": "user", "parts": [{"type": "text"}]}]}), "messages[0].parts[0].text"),
        (json!({"retrievalPageSize": 51}), "retrievalPageSize"),
        (json!({"currentPath": "a".repeat(201)}), "currentPath"),
        (json!({"context": [{"type": "x", "value": "y"}]}), "context[0].type"),
        (json!({"filter": {"groups": "a"}}), "filter.groups"),
    ] {
        let answer = fixture.reader().json(with(question("Retries?"), &changes)).await;
        assert!(answer.status == 400 && is_deprecated(&answer), "{changes} {answer:?}");
        assert!(answer.body.contains(place), "{place}: {answer:?}");
    }
    let limit = docent_discovery::LARGEST_BODY;
    assert_eq!(fixture.reader().bytes(" ".repeat(limit + 1)).await.status, 413);
    assert_eq!(fixture.reader().header("content-type", "text/plain").bytes("{}").await.status, 415);
}

#[tokio::test]
async fn nothing_is_added_to_a_reply_that_was_cut_off() {
    let fixture = TestApi::new().await;
    let get = |path: &str| fixture.ask(Method::GET, path).key(&fixture.assistant);
    let resumed = get(&format!("{MESSAGE}?chatId=chat-1")).send().await;
    assert_eq!((resumed.status, resumed.body.as_str()), (200, ""));
    assert_eq!(resumed.header("x-vercel-ai-data-stream"), Some("v1"));
    assert_eq!(get(MESSAGE).send().await.status, 400);
    assert_eq!(fixture.ask(Method::GET, &format!("{MESSAGE}?chatId=c")).send().await.status, 401);
}

#[tokio::test]
async fn who_may_ask_is_decided_by_the_key() {
    let fixture = TestApi::new().await;
    let reading = fixture.key(KeyKind::Assistant, Scope::Read).await;
    for (why, ask, status) in [
        ("no key", fixture.ask(Method::POST, MESSAGE), 401),
        ("an admin key", fixture.ask(Method::POST, MESSAGE).key(&fixture.admin), 403),
        ("a key to read", fixture.ask(Method::POST, MESSAGE).key(&reading), 403),
        (
            "another site",
            fixture.ask(Method::POST, "/discovery/v1/assistant/other/message").key(&fixture.assistant),
            403,
        ),
        ("another method", fixture.ask(Method::PUT, MESSAGE).key(&fixture.assistant), 405),
    ] {
        let answer = ask.json(question("Retries?")).await;
        assert_eq!(answer.status, status, "{why}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{why}");
        assert!(answer.header("deprecation").is_some(), "{why}");
    }
}

#[tokio::test]
async fn pages_of_any_origin_may_ask() {
    let fixture = TestApi::new().await;
    let preflight = fixture.ask(Method::OPTIONS, MESSAGE).header("origin", "https://docs.example.com").send().await;
    assert_eq!((preflight.status, preflight.header("access-control-max-age")), (204, Some("86400")));
    for method in ["POST", "GET"] {
        assert!(preflight.header("access-control-allow-methods").is_some_and(|allowed| allowed.contains(method)));
    }
    let exposed = preflight.header("access-control-expose-headers").unwrap_or_default();
    assert!(exposed.contains("X-Thread-Id"), "{exposed}");
}

#[tokio::test]
async fn a_server_that_drains_says_so_to_browsers_too() {
    let TestApi { api, .. } = TestApi::new().await;
    let draining = Refusal::new(RefusalKind::Unavailable(Duration::from_secs(5)), "the server is draining; come back");
    let busy = move |request: Request| std::future::ready(api.refused(&request, draining.clone()));
    let request = http::Request::builder().method(Method::POST).uri(MESSAGE).body(Full::default()).unwrap();
    let answer = TestResponse::of(&busy, request).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (503, Some("*")));
    assert!(is_deprecated(&answer), "{answer:?}");
}

#[tokio::test]
async fn both_versions_share_the_places_for_replies() {
    let fixture = TestApi::new().await;
    let gate = ReplyGate::closed();
    let mut running = Vec::new();
    for _ in 0..2 {
        fixture.model.replies(Reply::text("Retries ").wait(&gate).say("wait."));
        let mut reading = fixture.reader().open(question("Retries?")).await;
        reading.until("0:").await;
        running.push(reading);
    }
    assert_eq!(fixture.api.answering.replies.counts().running, 2);
    let refused = fixture.reader().json(question("Retries?")).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("2")), "{refused:?}");
    drop(running);
    assert_eq!(fixture.api.answering.replies.counts().running, 0, "whoever hangs up leaves its place");
    assert_eq!(fixture.api.answering.replies.counts().left, 2);
}

/// A valid question in which some fields have arbitrary values.
fn any_question() -> impl Strategy<Value = Value> {
    let said = (any::<String>(), any_json(), any_json())
        .prop_map(|(text, parts, annotations)| json!({"role": "user", "content": text, "parts": parts, "annotations": annotations}));
    let right = any::<String>().prop_map(|text| json!({"role": "user", "content": text}));
    let message = prop_oneof![4 => right, 2 => said, 1 => any_json()];
    let field = prop::sample::select(vec![
        "fp", "threadId", "threadKey", "retrievalPageSize", "filter", "context", "currentPath",
    ]);
    let odd = prop::option::of((field, any_json()));
    (prop::collection::vec(message, 0..4), odd).prop_map(|(messages, odd)| {
        let odd = odd.map(|(name, value)| json!({ name: value })).unwrap_or_else(|| json!({}));
        with(json!({"fp": "anonymous", "messages": messages}), &odd)
    })
}

/// Arbitrary input of an untrusted client.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let cut = (any_question(), any::<prop::sample::Index>()).prop_map(|(body, at)| {
        let mut bytes = body.to_string().into_bytes();
        bytes.truncate(at.index(bytes.len()));
        bytes
    });
    prop_oneof![
        6 => any_question().prop_map(|body| body.to_string().into_bytes()),
        2 => any_json().prop_map(|body| body.to_string().into_bytes()),
        1 => cut,
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

#[test]
fn two_thousand_hostile_questions_are_answered_or_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let fixture = runtime.block_on(TestApi::new());
    let mut runner = TestRunner::new(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(2_000) });
    runner
        .run(&any_bytes(), |body| {
            // A question that continues a conversation calls the model twice: for a search query, then for the reply.
            fixture.model.replies("So.").replies("So.");
            let ask = fixture.reader().header("content-type", "application/json");
            let answered =
                runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), ask.bytes(body)).await });
            let answer = answered.expect("no question hangs");
            prop_assert!(answer.status == 200 || (400..500).contains(&answer.status), "{answer:?}");
            prop_assert!(answer.status != 200 || letters(&answer).ends_with("e2d"), "{answer:?}");
            Ok(())
        })
        .unwrap();
    assert!(fixture.model.requests().len() > 100, "some of them are questions");
}
