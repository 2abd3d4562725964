//! Analytics: what readers asked and how it was answered, as the owners of the docs see it.

use docent_tests::installation::KeyKind;
use docent_tests::{Request, Response, Site};
use serde_json::{Value, json};

use crate::errors::{all_refused, row};

const ANALYTICS: &str = "/v1/analytics/acme/assistant";
const QUESTION: &str = "How often is a webhook delivery retried?";
const OFF_TOPIC: &str = "Who composed the zebra trombone concerto?";

fn listed(site: &Site, query: &str) -> Response {
    let response = site.server.send(&Request::get(format!("{ANALYTICS}?{query}")).bearer(&site.admin_key));
    assert_eq!(response.status, 200, "{query}: {}", response.text());
    assert_eq!(response.header("Cache-Control"), Some("no-store"));
    response
}

fn rows(page: &Value) -> &[Value] {
    page["conversations"].as_array().unwrap_or_else(|| panic!("a list: {page:#}"))
}

fn threads(page: &Value) -> Vec<&str> {
    rows(page).iter().map(|one| one["threadId"].as_str().expect("an id")).collect()
}

/// Asks in version 1, and returns the ids of the thread and of the reply.
fn asked_in_version_1(site: &Site, question: &str) -> (String, String) {
    let body = json!({ "fp": "reader-1", "messages": [{ "role": "user", "content": question }] });
    let path = "/discovery/v1/assistant/acme/message";
    let response = site.server.send(&Request::post(path).bearer(&site.assistant_key).json(&body));
    assert_eq!(response.status, 200, "{}", response.text());
    let begin = response.text().lines().find_map(|line| line.strip_prefix("f:")).expect("a beginning");
    let begin: Value = serde_json::from_str(begin).expect("JSON");
    let thread = response.header("X-Thread-Id").expect("names the thread").to_owned();
    (thread, begin["messageId"].as_str().expect("an id").to_owned())
}

#[test]
fn the_owners_of_the_docs_read_what_was_asked_answered_and_rated() {
    let site = Site::start();
    let (first, reply) = asked_in_version_1(&site, QUESTION);
    let follow_up = json!({ "threadId": first, "fp": "reader-1" });
    let second = site.assistant().ask_with("And what happens after the fifth failure?", &follow_up);
    let rating = json!({ "threadId": first, "messageId": reply, "rating": "up", "comment": "Thanks!" });
    let feedback = Request::post("/discovery/v1/assistant/acme/feedback").bearer(&site.assistant_key);
    assert_eq!(site.server.send(&feedback.json(&rating)).status, 204);
    let other = site.assistant().ask_with(OFF_TOPIC, &json!({ "fp": "reader-2" }));

    let site = site.killed_and_restarted();
    let page = listed(&site, "").json();
    assert_eq!(threads(&page), [other.thread(), &first, &first], "a row a question, newest first");
    assert_eq!((&page["nextCursor"], &page["hasMore"]), (&Value::Null, &json!(false)));

    let [off_topic, follow_up, rated] = rows(&page) else { panic!("three questions: {page:#}") };
    assert_eq!((&rated["fp"], &off_topic["fp"]), (&json!("reader-1"), &json!("reader-2")));
    assert_eq!((&rated["query"], &rated["id"]), (&json!(QUESTION), &json!(reply)));
    assert_eq!((&rated["resolutionStatus"], &rated["responseType"]), (&json!("answered"), &json!("answer")));
    assert!(rated["response"].as_str().is_some_and(|answer| answer.contains("five")), "{rated:#}");
    let source = &rated["sources"][0];
    assert_eq!(source["title"], "Webhooks");
    assert!(source["url"].as_str().is_some_and(|url| url.starts_with("/guides/webhooks")), "{rated:#}");
    assert_eq!((&rated["feedback"]["rating"], &rated["feedback"]["comment"]), (&json!("up"), &json!("Thanks!")));
    assert!(rated["timestamp"].is_string() && rated["feedback"]["ratedAt"].is_string(), "{rated:#}");
    assert_eq!(follow_up["id"], second.frames[0]["messageId"]);
    assert!(follow_up.as_object().is_some_and(|row| row.get("feedback") == Some(&Value::Null)), "{follow_up:#}");
    assert_eq!((&off_topic["query"], &off_topic["resolutionStatus"]), (&json!(OFF_TOPIC), &json!("unanswered")));
    assert_eq!((&off_topic["sources"], &other.sources().len()), (&json!([]), &0), "no answer names no sources");

    let get = |path: &str| site.server.send(&Request::get(path).bearer(&site.admin_key)).json();
    let messages = get(&format!("{ANALYTICS}/threads/{first}"))["messages"].clone();
    let roles: Vec<&Value> = messages.as_array().expect("messages").iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    assert_eq!((&messages[0]["content"], &messages[1]["id"]), (&json!(QUESTION), &json!(reply)));
    let mut on_a_page = rated.clone();
    let path = "/guides/webhooks";
    let form = json!({
        "path": path, "comment": "Thanks!", "createdAt": rated["feedback"]["ratedAt"], "source": "contextual",
        "status": "pending", "helpful": true,
    });
    on_a_page.as_object_mut().expect("a row").extend(form.as_object().expect("fields").clone());
    assert_eq!(get("/v1/analytics/acme/feedback")["feedback"], json!([on_a_page]));
    let counted = json!([{ "path": path, "thumbsUp": 1, "thumbsDown": 0, "code": 0, "total": 1 }]);
    assert_eq!(get("/v1/analytics/acme/feedback/by-page")["feedback"], counted);
    assert_eq!(get("/v1/analytics/acme/gaps")["gaps"], json!([off_topic]));
}

#[test]
fn questions_are_read_page_by_page_and_by_the_time_they_were_asked() {
    let site = Site::start();
    let (first, _) = asked_in_version_1(&site, QUESTION);
    let second = site.assistant().ask(QUESTION).thread().to_owned();

    let newest = listed(&site, "limit=1").json();
    assert_eq!(threads(&newest), [second.as_str()]);
    let cursor = newest["nextCursor"].as_str().expect("there is another page");
    let last = listed(&site, &format!("limit=1&cursor={cursor}")).json();
    assert_eq!((threads(&last), &last["nextCursor"]), (vec![first.as_str()], &Value::Null));

    let asked = rows(&newest)[0]["timestamp"].as_str().expect("a time");
    let first_day = &rows(&last)[0]["timestamp"].as_str().expect("a time")[..10];
    for (query, expected) in [
        (format!("dateFrom={asked}"), vec![second.as_str()]),
        (format!("dateTo={asked}"), vec![first.as_str()]),
        (format!("dateFrom={first_day}&dateTo=2999-01-01"), vec![second.as_str(), first.as_str()]),
        (format!("dateFrom={first_day}&dateTo={first_day}"), vec![]),
        ("dateTo=2020-01-01".to_owned(), vec![]),
    ] {
        assert_eq!(threads(&listed(&site, &query).json()), expected, "{query}");
    }
    let moved = format!("{ANALYTICS}?limit=1&dateTo=2020-01-01&cursor={cursor}");
    let refused = [row("a cursor of another time", Request::get(moved).bearer(&site.admin_key), 400, &["cursor"])];
    all_refused(&site.server, &refused);
}

#[test]
fn who_may_not_read_the_conversations_is_told_so_and_what_cannot_be_asked_too() {
    let site = Site::start();
    site.installation.add_project("other", &site.repository);
    let others = site.installation.mint("other", KeyKind::Admin, &[]);
    let reader = site.installation.mint("acme", KeyKind::Admin, &["--scope", "read"]);
    site.assistant().ask(QUESTION);
    let get = |query: &str| Request::get(format!("{ANALYTICS}{query}")).bearer(&reader);
    assert_eq!(threads(&site.server.send(&get("")).json()).len(), 1, "a key that may read is enough");
    let theirs = site.server.send(&Request::get(ANALYTICS.replace("acme", "other")).bearer(&others));
    assert_eq!(
        theirs.json(),
        json!({ "conversations": [], "nextCursor": null, "hasMore": false }),
        "every project has its own"
    );
    let wrong = site.server.send(&get("?limit=0")).json();
    assert_eq!(wrong["details"], json!([{ "message": wrong["error"] }]));
    all_refused(
        &site.server,
        &[
            row("no key", Request::get(ANALYTICS), 401, &[]),
            row("an assistant key", Request::get(ANALYTICS).bearer(&site.assistant_key), 403, &["admin"]),
            row("another project's key", Request::get(ANALYTICS).bearer(&others), 403, &["project"]),
            row("no such project", Request::get(ANALYTICS.replace("acme", "none")).bearer(&reader), 403, &["project"]),
            row("another method", Request::post(ANALYTICS).bearer(&site.admin_key), 405, &["GET"]),
            row("no date", get("?dateFrom=yesterday"), 400, &["dateFrom", "yesterday"]),
            row("no such day", get("?dateTo=2026-02-30"), 400, &["dateTo"]),
            row("backwards", get("?dateFrom=2026-02-02&dateTo=2026-02-01"), 400, &["dateFrom", "dateTo"]),
            row("no limit", get("?limit=0"), 400, &["limit", "1000"]),
            row("a large limit", get("?limit=1001"), 400, &["limit", "1000"]),
            row("no such thread", get("/threads/b1a7c4de-0000-4000-8000-000000000000"), 404, &["threadId"]),
            row("a made-up cursor", get("?cursor=abc"), 400, &["cursor", "nextCursor"]),
        ],
    );
}
