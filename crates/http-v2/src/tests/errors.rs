//! Tests the tables of refusals on every path.

use std::sync::Arc;
use std::time::Duration;

use docent_access::{KeyKind, Scope};
use docent_search::Indexes;
use docent_types::{Refusal, RefusalKind};
use docent_web::Request;
use http::Method;
use http_body_util::Full;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::fixture::{TestApi, TestResponse};

const JOB: &str = "00000000-0000-0000-0000-00000000ffff";

/// Every path of the API with its method and the kind of key that it requires.
fn doors(name: &str) -> Vec<(Method, String, KeyKind)> {
    let admin = |method, rest: &str| (method, format!("/v2/agent/{name}/{rest}"), KeyKind::Admin);
    let reader = |method, path: String| (method, format!("/discovery/{path}"), KeyKind::Assistant);
    vec![
        admin(Method::POST, "job"),
        admin(Method::GET, &format!("job/{JOB}")),
        admin(Method::GET, "jobs"),
        admin(Method::GET, &format!("job/{JOB}/events")),
        admin(Method::POST, &format!("job/{JOB}/message")),
        admin(Method::POST, &format!("job/{JOB}/archive")),
        (Method::GET, format!("/v1/analytics/{name}/assistant"), KeyKind::Admin),
        (Method::GET, format!("/v1/analytics/{name}/summary"), KeyKind::Admin),
        (Method::GET, format!("/v1/analytics/{name}/gaps/groups"), KeyKind::Admin),
        (Method::GET, format!("/v1/analytics/{name}/searches"), KeyKind::Admin),
        reader(Method::POST, format!("v2/assistant/{name}/message")),
        reader(Method::GET, format!("v2/assistant/{name}/message/c1/stream")),
        reader(Method::POST, format!("v1/assistant/{name}/feedback")),
        reader(Method::POST, format!("v1/search/{name}")),
        reader(Method::POST, format!("v1/page/{name}")),
        reader(Method::POST, format!("v2/openai/{name}/chat/completions")),
    ]
}

#[tokio::test]
async fn whoever_has_no_good_key_is_told_to_show_one() {
    let fixture = TestApi::new().await;
    let stranger = docent_access::conformance::sample_key("acme", 9).0;
    for (method, path, _) in doors("acme") {
        let ask = || fixture.ask(method.clone(), &path);
        let authorization = |value: &str| ask().header("authorization", value);
        for (why, ask) in [
            ("none", ask()),
            ("empty", authorization("")),
            ("not bearer", authorization("Basic YTpi")),
            ("malformed", authorization("Bearer docent_admin_short")),
            ("bytes", authorization("Bearer é")),
            ("unknown", ask().key(&stranger)),
            ("twice", ask().key(&fixture.admin).key(&fixture.admin)),
        ] {
            let answer = ask.json(json!({})).await;
            assert_eq!(answer.status, 401, "{why} {path}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{why} {path}");
        }
    }
}

#[tokio::test]
async fn a_good_key_at_the_wrong_door_is_forbidden() {
    let fixture = TestApi::new().await;
    for elsewhere in ["other", "nothing", "N%20O", "..", "%2e%2e%2facme"] {
        for (method, path, kind) in doors(elsewhere) {
            let key = if kind == KeyKind::Admin { &fixture.admin } else { &fixture.assistant };
            assert_eq!(fixture.ask(method, &path).key(key).json(json!({})).await.status, 403, "{path}");
        }
    }
    for (method, path, kind) in doors("acme") {
        let other_kind = if kind == KeyKind::Admin { &fixture.assistant } else { &fixture.admin };
        assert_eq!(fixture.ask(method, &path).key(other_kind).json(json!({})).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn a_key_that_may_only_read_may_only_get() {
    let fixture = TestApi::new().await;
    for (method, path, kind) in doors("acme") {
        let key = fixture.key(kind, Scope::Read).await;
        let answer = fixture.ask(method.clone(), &path).key(&key).json(json!({})).await;
        assert_eq!(answer.status != 403, method == Method::GET, "{method} {path}");
    }
}

#[tokio::test]
async fn another_method_is_told_which_ones_work() {
    let fixture = TestApi::new().await;
    for (method, path, _) in doors("acme") {
        let may_be_stopped = path.ends_with("/stream");
        let allow = match method == Method::GET {
            true if may_be_stopped => "GET, DELETE, HEAD, OPTIONS",
            true => "GET, HEAD, OPTIONS",
            false => "POST, OPTIONS",
        };
        for other in [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            if method == other
                || (other == Method::DELETE && may_be_stopped)
                || (method == Method::GET && other == Method::HEAD)
            {
                continue;
            }
            let answer = fixture.ask(other.clone(), &path).send().await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{other} {path}");
        }
        let options = fixture.ask(Method::OPTIONS, &path).send().await;
        assert_eq!((options.status, options.header("allow")), (204, Some(allow)), "{path}");
    }
}

#[tokio::test]
async fn a_path_that_is_nowhere_is_not_found() {
    let fixture = TestApi::new().await;
    for path in [
        "/",
        "/v2",
        "/v2/agent/acme/jobs/",
        "/v2/agent/acme/job/",
        "/v2/agent/acme/job//message",
        "/v1/analytics/acme",
        "/v1/analytics/acme/assistant/",
        "/V2/agent/acme/job",
        "/discovery",
        "/discovery/v9/x",
        "//v2/agent/acme/job",
    ] {
        for method in [Method::GET, Method::POST] {
            assert_eq!(fixture.agent(method, path).json(json!({})).await.status, 404, "{path}");
        }
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_refused_by_its_kind() {
    let fixture = TestApi::new().await;
    for (method, path, kind) in
        doors("acme").into_iter().filter(|(method, path, _)| method == Method::POST && !path.contains(JOB))
    {
        let (key, limit) = match kind {
            KeyKind::Admin => (&fixture.admin, 1024 * 1024),
            KeyKind::Assistant => (&fixture.assistant, 4 * 1024 * 1024),
        };
        let ask = || fixture.ask(method.clone(), &path).key(key);
        for (why, body, status) in [
            ("empty", String::new(), 400),
            ("not JSON", "{\"a\"".to_owned(), 400),
            ("at the limit", " ".repeat(limit), 400),
            ("over the limit", " ".repeat(limit + 1), 413),
        ] {
            assert_eq!(ask().bytes(body).await.status, status, "{why} {path}");
        }
        let plain = ask().header("content-type", "text/plain").bytes("{}").await;
        assert_eq!(plain.status, 415, "{path}");
    }
}

#[tokio::test]
async fn scripts_may_read_everything_under_discovery_and_nothing_else() {
    let fixture = TestApi::new().await;
    let exposed = "X-Thread-Id, X-Thread-Key, X-Request-Id, Retry-After, RateLimit";
    for (method, path, kind) in doors("acme") {
        let shared = kind == KeyKind::Assistant;
        let from = |method| fixture.ask(method, &path).header("origin", "https://docs.example.com");
        let denied = from(method.clone()).json(json!({})).await;
        assert_eq!(
            (denied.status, denied.header("access-control-allow-origin")),
            (401, shared.then_some("*")),
            "{path}"
        );
        assert_eq!(denied.header("access-control-expose-headers"), shared.then_some(exposed), "{path}");
        let preflight = from(Method::OPTIONS)
            .header("access-control-request-method", method.as_str())
            .header("access-control-request-headers", "authorization,content-type")
            .send()
            .await;
        assert_eq!(preflight.status, 204);
        assert_eq!(preflight.header("access-control-max-age"), shared.then_some("86400"), "{path}");
        assert_eq!(
            preflight.header("access-control-allow-headers"),
            shared.then_some("authorization,content-type"),
            "{path}"
        );
    }
    let nowhere = fixture.ask(Method::GET, "/discovery/nowhere").send().await;
    assert_eq!(nowhere.header("access-control-allow-origin"), Some("*"));
}

#[tokio::test]
async fn search_and_page_say_their_errors_twice() {
    let fixture = TestApi::new().await;
    for (_, path, _) in doors("acme") {
        let told = fixture.ask(Method::PUT, &path).send().await.json();
        let twice = path.contains("/search/") || path.contains("/page/");
        assert_eq!(told.get("message"), twice.then_some(&told["error"]), "{path}");
    }
}

#[tokio::test]
async fn an_expired_key_is_no_key() {
    let fixture = TestApi::new().await;
    fixture.clock.advance(docent_access::LIFETIME);
    let answer = fixture.agent(Method::GET, &format!("/v2/agent/acme/job/{JOB}")).send().await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn docs_that_are_still_being_read_are_worth_another_try() {
    let mut fixture = TestApi::new().await;
    let folder = tempfile::tempdir().unwrap();
    fixture.api.answering.docs = Arc::new(Indexes::new(folder.path()));
    let question = json!({"fp": "a", "messages": [{"role": "user", "parts": [{"type": "text", "text": "How?"}]}]});
    for (path, body) in [
        ("v2/assistant/acme/message", question),
        ("v1/search/acme", json!({"query": "how"})),
        ("v1/page/acme", json!({"path": "index"})),
    ] {
        let answer = fixture.reader(&format!("/discovery/{path}")).json(body).await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{path}");
        assert_eq!(answer.json()["error"], "The docs of `acme` have not been read yet; try again.", "{path}");
    }
}

#[tokio::test]
async fn a_key_for_some_origins_shares_its_answers_with_them_alone() {
    let fixture = TestApi::new().await;
    let key = fixture.key_for(&["https://docs.example.com", "https://www.example.com"]).await;
    for (method, path, _) in doors("acme").into_iter().filter(|(_, _, kind)| *kind == KeyKind::Assistant) {
        let from = |origin| fixture.ask(method.clone(), &path).key(&key).header("origin", origin);
        for origin in ["https://docs.example.com", "https://www.example.com"] {
            let answer = from(origin).json(json!({})).await;
            assert_ne!(answer.status, 403, "{path}");
            assert_eq!(answer.header("access-control-allow-origin"), Some(origin), "{path}");
            assert_eq!(answer.header("vary"), Some("origin"), "{path}");
        }
        let denied = from("https://evil.example").json(json!({})).await;
        assert_eq!((denied.status, denied.header("access-control-allow-origin")), (403, None), "{path}");
        assert_eq!(denied.header("vary"), Some("origin"), "{path}");
        let preflight = fixture.ask(Method::OPTIONS, &path).header("origin", "https://docs.example.com").send().await;
        assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")), "{path}");
        let open = fixture.ask(method.clone(), &path).key(&fixture.assistant).header("origin", "https://a.example");
        assert_eq!(open.json(json!({})).await.header("access-control-allow-origin"), Some("*"), "{path}");
    }
}

#[tokio::test]
async fn a_server_that_drains_says_so_in_the_shape_of_the_path() {
    let TestApi { api, .. } = TestApi::new().await;
    let draining = Refusal::new(RefusalKind::Unavailable(Duration::from_secs(5)), "the server is draining; come back");
    let busy = move |request: Request| std::future::ready(api.refused(&request, draining.clone()));
    for (method, path, kind) in doors("acme") {
        let request = http::Request::builder().method(method).uri(&path).body(Full::default()).unwrap();
        let answer = TestResponse::of(&busy, request).await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{path}");
        let shared = (kind == KeyKind::Assistant).then_some("*");
        assert_eq!(answer.header("access-control-allow-origin"), shared, "{path}");
        let twice = path.contains("/search/") || path.contains("/page/");
        assert_eq!(answer.json().get("message").is_some(), twice, "{path}");
    }
}

/// JSON of any shape, with the key names of this API's bodies.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "prompt", "branch", "model", "asDraft", "fp", "messages", "role", "parts", "type", "text", "metadata",
        "threadId", "threadKey", "retrievalPageSize", "filter", "groups", "context", "value", "currentPath", "query",
        "messageId", "rating", "comment", "pageSize", "scoreThreshold", "path", "id",
    ]);
    let word = prop::sample::select(vec!["user", "text", "code", "sonnet", "main", "guides/retries", ""]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(name.clone(), inner, 0..6)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

#[test]
fn no_body_whatever_is_a_fault_of_ours() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let fixture = runtime.block_on(TestApi::new());
    let mut runner = TestRunner::new(ProptestConfig::with_cases(128));
    runner
        .run(&any_json(), |body| {
            for (method, path, kind) in doors("acme") {
                let key = if kind == KeyKind::Admin { &fixture.admin } else { &fixture.assistant };
                let answer = runtime.block_on(fixture.ask(method, &path).key(key).json(body.clone()));
                prop_assert!(answer.status < 500, "{path} {answer:?}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_path_below_a_site_is_a_page_a_list_or_not_found() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let fixture = runtime.block_on(TestApi::new());
    let segment = prop_oneof![
        "[a-z]{0,4}(\\.md)?",
        "(%[0-9a-fA-F]{2}|%[g-z]|é){1,4}(\\.md)?",
        "llms(-[0-9]{1,25}|-full)?\\.txt",
        Just("..".to_owned()),
        Just("index.md".to_owned()),
    ];
    let mut runner = TestRunner::new(ProptestConfig::with_cases(512));
    runner
        .run(&prop::collection::vec(segment, 0..5), |segments| {
            let path = format!("/sites/acme/{}", segments.join("/"));
            let Ok(uri) = path.parse::<http::Uri>() else { return Ok(()) };
            let asked = fixture.ask(Method::GET, uri.path()).key(&fixture.assistant).send();
            let answer = runtime.block_on(asked);
            prop_assert!(matches!(answer.status, 200 | 400 | 404), "{path} {answer:?}");
            Ok(())
        })
        .unwrap();
}

/// A valid question in which some fields have arbitrary values.
fn any_question() -> impl Strategy<Value = Value> {
    let texts = prop::collection::vec(any::<String>(), 0..3);
    let parts = texts.prop_map(|texts| texts.iter().map(|text| json!({"type": "text", "text": text})).collect());
    let right = parts.prop_map(|parts: Value| json!({"id": "m1", "role": "user", "parts": parts}));
    let message = prop_oneof![4 => right, 1 => any_json()];
    let field = prop::sample::select(vec![
        "fp", "threadId", "threadKey", "retrievalPageSize", "filter", "context", "currentPath", "trigger", "id",
    ]);
    let odd = prop::option::of((field, any_json()));
    (prop::collection::vec(message, 0..4), odd).prop_map(|(messages, odd)| {
        let mut body = json!({"fp": "anonymous", "messages": messages});
        body.as_object_mut().expect("an object").extend(odd.map(|(name, value)| (name.to_owned(), value)));
        body
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
            let ask = fixture.reader("/discovery/v2/assistant/acme/message").header("content-type", "application/json");
            let answered =
                runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), ask.bytes(body)).await });
            let answer = answered.expect("no question hangs");
            prop_assert!(answer.status == 200 || (400..500).contains(&answer.status), "{answer:?}");
            prop_assert!(answer.status != 200 || answer.body.ends_with("data: [DONE]\n\n"), "{answer:?}");
            Ok(())
        })
        .unwrap();
    assert!(fixture.model.requests().len() > 100, "some of them are questions");
}
