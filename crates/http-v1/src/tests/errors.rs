//! Tests every row of the error table on every path.

use std::time::Duration;

use docent_access::{KeyKind, Scope};
use docent_types::{Refusal, RefusalKind};
use docent_web::Request;
use http::Method;
use http_body_util::Full;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::fixture::{JOBS, TestApi, TestResponse};

const JOB: &str = "00000000-0000-0000-0000-00000000ffff";

/// Every agent path of the API with its method.
fn doors(project: &str) -> [(Method, String); 3] {
    let path = |rest: &str| format!("/v1/agent/{project}/{rest}");
    [(Method::POST, path("job")), (Method::GET, path(&format!("job/{JOB}"))), (Method::GET, path("jobs"))]
}

/// Whether an answer has the deprecation header and the link to the newer version of this path.
fn is_deprecated(answer: &TestResponse, path: &str) -> bool {
    let link = format!("<{}>; rel=\"successor-version\"", path.replacen("/v1/", "/v2/", 1));
    answer.header("deprecation") == Some("@1795219200") && answer.header("link") == Some(&link)
}

#[tokio::test]
async fn whoever_has_no_good_key_is_told_to_show_one() {
    let fixture = TestApi::new().await;
    let stranger = docent_access::conformance::sample_key("acme", 9).0;
    for (method, path) in doors("acme") {
        let ask = || fixture.ask(method.clone(), &path);
        let authorization = |value: &str| ask().header("authorization", value);
        for (why, ask) in [
            ("none", ask()),
            ("empty", authorization("")),
            ("not bearer", authorization("Basic YTpi")),
            ("malformed", authorization("Bearer docent_admin_short")),
            ("unknown", ask().key(&stranger)),
            ("twice", ask().key(&fixture.admin).key(&fixture.admin)),
        ] {
            let answer = ask.json(json!({})).await;
            assert_eq!(answer.status, 401, "{why} {path}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{why} {path}");
            assert!(is_deprecated(&answer, &path), "{why} {path}");
        }
    }
}

#[tokio::test]
async fn a_good_key_at_the_wrong_door_is_forbidden() {
    let fixture = TestApi::new().await;
    for elsewhere in ["other", "nothing", "N%20O", "..", "%2e%2e%2facme"] {
        for (method, path) in doors(elsewhere) {
            assert_eq!(fixture.agent(method, &path).json(json!({})).await.status, 403, "{path}");
        }
    }
    let assistant = fixture.key(KeyKind::Assistant, Scope::Write).await;
    for (method, path) in doors("acme") {
        assert_eq!(fixture.ask(method, &path).key(&assistant).json(json!({})).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn a_key_that_may_only_read_may_only_get() {
    let fixture = TestApi::new().await;
    let key = fixture.key(KeyKind::Admin, Scope::Read).await;
    for (method, path) in doors("acme") {
        let answer = fixture.ask(method.clone(), &path).key(&key).json(json!({})).await;
        assert_eq!(answer.status != 403, method == Method::GET, "{method} {path}");
    }
}

#[tokio::test]
async fn another_method_is_told_which_ones_work() {
    let fixture = TestApi::new().await;
    for (method, path) in doors("acme") {
        let allow = if method == Method::GET { "GET, HEAD, OPTIONS" } else { "POST, OPTIONS" };
        for other in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            if method != other {
                let answer = fixture.ask(other.clone(), &path).send().await;
                assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{other} {path}");
                assert!(is_deprecated(&answer, &path), "{other} {path}");
            }
        }
        let options = fixture.ask(Method::OPTIONS, &path).send().await;
        assert_eq!((options.status, options.header("allow")), (204, Some(allow)), "{path}");
        assert!(is_deprecated(&options, &path), "{path}");
    }
}

#[tokio::test]
async fn unknown_jobs_are_not_found() {
    let fixture = TestApi::new().await;
    for id in [JOB, "nonsense", "..%2f..%2fetc%2fpasswd"] {
        let path = format!("{JOBS}/{id}");
        let answer = fixture.agent(Method::GET, &path).send().await;
        assert!(answer.status == 404 && is_deprecated(&answer, &path), "{answer:?}");
    }
    for path in ["/", "/v1", "/v1/agent/acme/job/", "/v1/agent/acme/jobs/", "/V1/agent/acme/job", "//v1/agent/acme/job"]
    {
        assert_eq!(fixture.agent(Method::GET, path).send().await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_refused_by_its_kind() {
    let fixture = TestApi::new().await;
    let limit = docent_jobs::LARGEST_REQUEST;
    for (why, body, status) in [
        ("empty", String::new(), 400),
        ("not JSON", "{\"a\"".to_owned(), 400),
        ("at the limit", " ".repeat(limit), 400),
        ("over the limit", " ".repeat(limit + 1), 413),
    ] {
        let answer = fixture.agent(Method::POST, JOBS).bytes(body).await;
        assert!(answer.status == status && is_deprecated(&answer, JOBS), "{why} {answer:?}");
    }
    let plain = fixture.agent(Method::POST, JOBS).header("content-type", "text/plain").bytes("{}").await;
    assert_eq!(plain.status, 415);
    for key in ["", " ", &"k".repeat(256)] {
        let answer = fixture.agent(Method::POST, JOBS).header("idempotency-key", key).json(json!({})).await;
        assert!(answer.status == 400 && answer.body.contains("Idempotency-Key"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_server_that_drains_says_so() {
    let TestApi { api, .. } = TestApi::new().await;
    let draining = Refusal::new(RefusalKind::Unavailable(Duration::from_secs(5)), "the server is draining; come back");
    let busy = move |request: Request| std::future::ready(api.refused(&request, draining.clone()));
    for (method, path) in doors("acme") {
        let request = http::Request::builder().method(method).uri(&path).body(Full::default()).unwrap();
        let answer = TestResponse::of(&busy, request).await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{path}");
        assert!(is_deprecated(&answer, &path), "{path}");
    }
}

/// JSON of any shape, with the key names of this API's bodies.
pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "messages", "role", "content", "parts", "type", "text", "branch", "asDraft", "model", "trigger", "threadId",
        "groups",
    ]);
    let word = prop::sample::select(vec!["user", "system", "assistant", "text", "true", "opus", "main", "a/b", ""]);
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

/// Bodies that are nearly valid, and bodies that are not JSON.
fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let message = (any_json(), any_json()).prop_map(|(role, content)| json!({"role": role, "content": content}));
    let near = (prop::collection::vec(message, 0..3), any_json(), any_json())
        .prop_map(|(messages, branch, draft)| json!({"messages": messages, "branch": branch, "asDraft": draft}));
    prop_oneof![
        any_json().prop_map(|body| body.to_string().into_bytes()),
        near.prop_map(|body| body.to_string().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

#[test]
fn no_body_whatever_is_a_fault_of_ours() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let fixture = runtime.block_on(TestApi::new());
    let mut runner = TestRunner::new(ProptestConfig::with_cases(256));
    runner
        .run(&any_body(), |body| {
            // An accepted request is answered by an endless stream, so only its head is read.
            let request = fixture.agent(Method::POST, JOBS).header("content-type", "application/json");
            let status = runtime.block_on(request.head(body));
            prop_assert!(status < 500, "{status}");
            Ok(())
        })
        .unwrap();
}
