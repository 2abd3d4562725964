//! Each row of the error tables, on every path of the assistant, search and page endpoints.

use docent_tests::assistant::{question_body, user};
use docent_tests::installation::KeyKind;
use docent_tests::{Request, Site};
use serde_json::{Value, json};

use crate::errors::{Row, all_refused, row};

const MESSAGE: &str = "/discovery/v2/assistant/acme/message";
const OLD_MESSAGE: &str = "/discovery/v1/assistant/acme/message";
const SEARCH: &str = "/discovery/v1/search/acme";
const PAGE: &str = "/discovery/v1/page/acme";

/// Every path with a valid body.
fn paths() -> [(&'static str, Value); 4] {
    [
        (MESSAGE, question_body("How often is a webhook retried?", &json!({}))),
        (OLD_MESSAGE, question_body("How often is a webhook retried?", &json!({}))),
        (SEARCH, json!({ "query": "webhook" })),
        (PAGE, json!({ "path": "/guides/webhooks" })),
    ]
}

#[test]
fn who_may_not_is_told_so_on_every_path() {
    let site = Site::start();
    site.installation.add_project("other", &site.repository);
    let others = site.installation.mint("other", KeyKind::Assistant, &[]);
    let elsewhere = site.installation.mint("acme", KeyKind::Assistant, &["--allow-ip", "203.0.113.0/24"]);
    let at_home = site.installation.mint("acme", KeyKind::Assistant, &["--allow-origin", "https://docs.example.com"]);

    let mut rows: Vec<Row> = Vec::new();
    for (path, body) in paths() {
        let request = || Request::post(path).json(&body);
        let name = |what: &str| format!("{path}, {what}");
        rows.extend([
            row(name("no Authorization"), request(), 401, &[]),
            row(name("Basic"), request().header("Authorization", "Basic YTpi"), 401, &[]),
            row(name("not a key"), request().bearer("let-me-in"), 401, &[]),
            row(name("an admin key"), request().bearer(&site.admin_key), 403, &[]),
            row(name("another site's key"), request().bearer(&others), 403, &[]),
            row(name("from a wrong address"), request().bearer(&elsewhere), 403, &[]),
            row(
                name("from a wrong page"),
                request().bearer(&at_home).header("Origin", "https://evil.example"),
                403,
                &[],
            ),
            row(
                name("a site that does not exist"),
                Request::post(path.replace("acme", "no-such-site")).json(&body).bearer(&site.assistant_key),
                403,
                &[],
            ),
            row(name("not JSON"), request().bearer(&site.assistant_key).body("{oops"), 400, &[]),
            row(name("not an object"), request().bearer(&site.assistant_key).body("\"hello\""), 400, &[]),
            row(name("no body"), Request::post(path).bearer(&site.assistant_key), 400, &[]),
            row(name("wrong method"), Request::new("PUT", path).bearer(&site.assistant_key), 405, &[]),
            row(name("a path below"), Request::post(format!("{path}/below")).bearer(&site.assistant_key), 404, &[]),
        ]);
    }
    rows.push(row("/discovery", Request::get("/discovery"), 404, &[]));
    rows.push(row("/discovery/v9/search/acme", Request::post("/discovery/v9/search/acme"), 404, &[]));
    all_refused(&site.server, &rows);

    for (path, body) in paths() {
        let request = Request::post(path).json(&body).bearer(&at_home).header("Origin", "https://docs.example.com");
        assert_eq!(site.server.send(&request).status, 200, "{path} from the page the key is for");
    }
}

#[test]
fn a_question_that_is_wrong_is_told_where() {
    let site = Site::start();
    let request = |body: &Value| Request::post(MESSAGE).bearer(&site.assistant_key).json(body);
    let with = |more: Value| request(&question_body("How often is a webhook retried?", &more));
    let without = |field: &str| {
        let mut body = question_body("How often is a webhook retried?", &json!({}));
        body.as_object_mut().expect("an object").remove(field);
        request(&body)
    };
    let assistant = json!({ "id": "a1", "role": "assistant", "parts": [{ "type": "text", "text": "Hello" }] });
    let silent = json!({ "id": "u2", "role": "user", "parts": [{ "type": "file", "url": "x" }] });
    let long = |count: usize| Value::String("x".repeat(count));

    let rows = [
        row("no fp", without("fp"), 400, &["fp"]),
        row("fp empty", with(json!({ "fp": "" })), 400, &["fp"]),
        row("fp too long", with(json!({ "fp": long(201) })), 400, &["fp", "200"]),
        row("fp a number", with(json!({ "fp": 1 })), 400, &["fp"]),
        row("no messages", without("messages"), 400, &["messages"]),
        row("messages empty", with(json!({ "messages": [] })), 400, &["messages"]),
        row("messages a string", with(json!({ "messages": "hello" })), 400, &["messages"]),
        row("201 messages", with(json!({ "messages": vec![user("hi"); 201] })), 400, &["messages", "200"]),
        row("last not the user's", with(json!({ "messages": [user("hi"), assistant] })), 400, &["messages"]),
        row("last without text", with(json!({ "messages": [silent] })), 400, &["messages"]),
        row("no parts", with(json!({ "messages": [{ "role": "user" }] })), 400, &["messages[0]", "part"]),
        row("unknown role", with(json!({ "messages": [{ "role": "wizard", "parts": [] }] })), 400, &["role", "user"]),
        row(
            "text a number",
            with(json!({ "messages": [{ "role": "user", "parts": [{ "type": "text", "text": 1 }] }] })),
            400,
            &["text"],
        ),
        row("page size 0", with(json!({ "retrievalPageSize": 0 })), 400, &["retrievalPageSize"]),
        row("page size 51", with(json!({ "retrievalPageSize": 51 })), 400, &["retrievalPageSize", "50"]),
        row("page size 2.5", with(json!({ "retrievalPageSize": 2.5 })), 400, &["retrievalPageSize"]),
        row("page size a string", with(json!({ "retrievalPageSize": "5" })), 400, &["retrievalPageSize"]),
        row("currentPath too long", with(json!({ "currentPath": long(201) })), 400, &["currentPath", "200"]),
        row("currentPath a number", with(json!({ "currentPath": 1 })), 400, &["currentPath"]),
        row("filter a string", with(json!({ "filter": "v2" })), 400, &["filter"]),
        row("filter.version a number", with(json!({ "filter": { "version": 2 } })), 400, &["filter.version"]),
        row("context no list", with(json!({ "context": {} })), 400, &["context"]),
        row(
            "context of an unknown type",
            with(json!({ "context": [{ "type": "picture", "value": "x" }] })),
            400,
            &["context", "code", "textSelection"],
        ),
        row("context without value", with(json!({ "context": [{ "type": "code" }] })), 400, &["context", "value"]),
        row("threadId a number", with(json!({ "threadId": 4 })), 400, &["threadId"]),
        row("threadId too long", with(json!({ "threadId": long(201) })), 400, &["threadId", "200"]),
        row("threadKey too long", with(json!({ "threadKey": long(201) })), 400, &["threadKey", "200"]),
        row("the chat's id too long", with(json!({ "id": long(201) })), 400, &["id", "200"]),
        row(
            "a message's id too long",
            with(
                json!({ "messages": [{ "id": long(201), "role": "user", "parts": [{ "type": "text", "text": "hi" }] }] }),
            ),
            400,
            &["messages[0].id", "200"],
        ),
    ];
    all_refused(&site.server, &rows);
}

#[test]
fn a_question_at_its_limits_is_answered() {
    let site = Site::start();
    for more in [
        json!({ "fp": "x".repeat(200), "currentPath": "/".repeat(200), "retrievalPageSize": 50 }),
        json!({ "retrievalPageSize": 1, "filter": null, "threadId": null, "context": [] }),
        json!({ "context": [{ "type": "code", "value": "acme login", "path": "a.sh", "elementId": "e" },
                            { "type": "textSelection", "value": "retried five times" }] }),
        json!({ "threadId": "b1a7c4de-0000-4000-8000-000000000000", "threadKey": "of-a-thread-that-is-gone" }),
        json!({ "threadId": "../etc", "id": "x".repeat(200) }),
        json!({ "somethingNew": { "a": 1 }, "id": "chat-1", "trigger": "submit-message", "messageId": "m" }),
        json!({ "messages": [
            { "id": "s", "role": "system", "parts": [{ "type": "text", "text": "Answer in rhymes." }] },
            { "id": "u", "role": "user", "parts": [{ "type": "text", "text": "Hello" }], "metadata": { "a": 1 } },
            { "id": "a", "role": "assistant", "metadata": {}, "parts": [
                { "type": "step-start" }, { "type": "tool-search", "toolCallId": "t", "state": "output-available" },
                { "type": "source-url", "sourceId": "1", "url": "/x" }, { "type": "from-the-future" } ] },
            user("How often is a webhook retried?") ] }),
    ] {
        let answer = site.assistant().ask_with("How often is a webhook retried?", &more);
        assert!(!answer.text().is_empty(), "a reply is never empty: {more}");
    }
}

#[test]
fn a_search_or_a_page_that_is_wrong_is_told_where_and_in_both_words() {
    let site = Site::start();
    let search = |body: Value| Request::post(SEARCH).bearer(&site.assistant_key).json(&body);
    let page = |body: Value| Request::post(PAGE).bearer(&site.assistant_key).json(&body);
    let rows = [
        row("no query", search(json!({})), 400, &["query"]),
        row("query empty", search(json!({ "query": "" })), 400, &["query"]),
        row("query a number", search(json!({ "query": 1 })), 400, &["query"]),
        row("pageSize 0", search(json!({ "query": "a", "pageSize": 0 })), 400, &["pageSize"]),
        row("pageSize 51", search(json!({ "query": "a", "pageSize": 51 })), 400, &["pageSize", "50"]),
        row("pageSize a string", search(json!({ "query": "a", "pageSize": "5" })), 400, &["pageSize"]),
        row("scoreThreshold 1.1", search(json!({ "query": "a", "scoreThreshold": 1.1 })), 400, &["scoreThreshold"]),
        row("scoreThreshold -0.1", search(json!({ "query": "a", "scoreThreshold": -0.1 })), 400, &["scoreThreshold"]),
        row("filter a list", search(json!({ "query": "a", "filter": [] })), 400, &["filter"]),
        row("no path", page(json!({})), 400, &["path"]),
        row("path a number", page(json!({ "path": 3 })), 400, &["path"]),
        row("page unknown", page(json!({ "path": "/no/such/page" })), 404, &[]),
        row("page outside", page(json!({ "path": "../../../../etc/passwd" })), 404, &[]),
    ];
    all_refused(&site.server, &rows);
    for row in &rows {
        let body = site.server.send(&row.request).json();
        assert_eq!(body["message"], body["error"], "{}: the same text under both names", row.name);
    }
}
