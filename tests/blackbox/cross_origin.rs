//! A docs page in a browser calls the assistant from another origin.

use docent_tests::assistant::question_body;
use docent_tests::{Request, Response, Site};
use serde_json::json;

const ORIGIN: &str = "https://docs.example.com";
const PATHS: [&str; 4] = [
    "/discovery/v2/assistant/acme/message",
    "/discovery/v1/assistant/acme/message",
    "/discovery/v1/search/acme",
    "/discovery/v1/page/acme",
];
const EXPOSED: [&str; 5] = ["X-Thread-Id", "X-Thread-Key", "X-Request-Id", "Retry-After", "RateLimit"];

fn is_readable_from_elsewhere(what: &str, response: &Response) {
    let allowed = response.header("Access-Control-Allow-Origin");
    assert!(matches!(allowed, Some("*" | ORIGIN)), "{what}: allows {allowed:?}");
    for header in EXPOSED {
        assert!(
            response.headers.lists("Access-Control-Expose-Headers", header),
            "{what}: {header} is not exposed: {:?}",
            response.header("Access-Control-Expose-Headers")
        );
    }
}

#[test]
fn the_preflight_is_answered_without_a_key() {
    let site = Site::start();
    let resume = format!("{}/chat-1/stream", PATHS[0]);
    for (path, method) in PATHS.iter().map(|path| (*path, "POST")).chain([(resume.as_str(), "GET")]) {
        let preflight = Request::new("OPTIONS", path)
            .header("Origin", ORIGIN)
            .header("Access-Control-Request-Method", method)
            .header("Access-Control-Request-Headers", "authorization,content-type");
        let response = site.server.send(&preflight);
        assert_eq!(response.status, 204, "{path}: {}", response.text());
        assert!(response.body.is_empty());
        assert!(matches!(response.header("Access-Control-Allow-Origin"), Some("*" | ORIGIN)), "{path}");
        assert_eq!(response.header("Access-Control-Max-Age"), Some("86400"), "{path}");
        assert!(response.headers.lists("Access-Control-Allow-Methods", method), "{path}: {:?}", response.headers);
        for header in ["authorization", "content-type"] {
            assert!(response.headers.lists("Access-Control-Allow-Headers", header), "{path}: {:?}", response.headers);
        }
    }
}

#[test]
fn answers_and_errors_alike_can_be_read_from_elsewhere() {
    let site = Site::start();
    let from_elsewhere = |path: &str| Request::post(path).header("Origin", ORIGIN);
    let body = question_body("How often is a webhook retried?", &json!({ "query": "webhook", "path": "/quickstart" }));
    for path in PATHS {
        let with_key = || from_elsewhere(path).bearer(&site.assistant_key);
        let answer = site.server.send(&with_key().json(&body));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        is_readable_from_elsewhere(&format!("{path} 200"), &answer);
        for (what, request, status) in [
            ("no key", from_elsewhere(path).json(&body), 401),
            ("the other kind of key", from_elsewhere(path).bearer(&site.admin_key).json(&body), 403),
            ("bad JSON", with_key().body("{oops"), 400),
            ("not JSON", with_key().header("Content-Type", "text/plain").body("x"), 415),
            ("too large", with_key().body(vec![b' '; 4 * 1024 * 1024 + 1]), 413),
        ] {
            let refused = site.server.send(&request);
            assert_eq!(refused.status, status, "{path}, {what}: {}", refused.text());
            is_readable_from_elsewhere(&format!("{path}, {what}"), &refused);
        }
    }
    let nowhere = site.server.send(&from_elsewhere("/discovery/nowhere"));
    assert_eq!(nowhere.status, 404);
    is_readable_from_elsewhere("an unknown path", &nowhere);
}

#[test]
fn the_agent_endpoints_are_not_for_browsers() {
    let site = Site::start();
    let request = site.agent().request("POST", "job").header("Origin", ORIGIN);
    let response = site.server.send(&request.json(&json!({ "prompt": "" })));
    assert_eq!(response.header("Access-Control-Allow-Origin"), None, "an admin key has no business in a page");
}
