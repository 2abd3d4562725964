//! What readers asked, for those whose docs they are.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::fixture::{Answer, Fixture};

const ANALYTICS: &str = "/v1/analytics/acme/assistant";
const MESSAGE: &str = "/discovery/v2/assistant/acme/message";

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "parts": [{"type": "text", "text": text}]})
}

/// Asks, and a minute goes by.
async fn asked(fixture: &Fixture, body: Value, reply: &str) -> Answer {
    fixture.model.replies(reply);
    let answer = fixture.reader(MESSAGE).json(body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    fixture.clock.advance(Duration::from_secs(60));
    answer
}

/// Begins a conversation; says its id.
async fn begun(fixture: &Fixture, question: &str) -> String {
    let answer = asked(fixture, json!({"fp": "reader", "messages": [said("user", question)]}), "So.").await;
    answer.header("x-thread-id").expect("a thread").to_owned()
}

async fn list(fixture: &Fixture, query: &str) -> Value {
    let answer = fixture.agent(Method::GET, &format!("{ANALYTICS}{query}")).send().await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")), "{query} {answer:?}");
    answer.json()
}

fn threads(list: &Value) -> Vec<&str> {
    let conversations = list["conversations"].as_array().expect("a list");
    conversations.iter().map(|one| one["threadId"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn a_conversation_is_shown_with_its_answers_sources_and_ratings() {
    let fixture = Fixture::new().await;
    assert_eq!(list(&fixture, "").await, json!({"conversations": [], "nextCursor": null, "hasMore": false}));
    let first = asked(
        &fixture,
        json!({"fp": "r1", "currentPath": "/guides", "messages": [said("user", "How long do retries wait?")]}),
        "Longer.",
    )
    .await;
    let thread = first.header("x-thread-id").expect("a thread");
    let follow_up = json!({"fp": "r1", "threadId": thread, "messages": [said("user", "What do parrots eat?")]});
    let second = asked(&fixture, follow_up, "The docs do not say. <!--docent:unanswered-->").await;
    let message = |answer: &Answer| answer.frames()[0]["messageId"].clone();
    let rated = json!({"threadId": thread, "messageId": message(&first), "rating": "down"});
    assert_eq!(fixture.reader("/discovery/v1/assistant/acme/feedback").json(rated).await.status, 204);

    let listed = list(&fixture, "").await;
    let not_told = listed["conversations"][0]["response"].clone();
    assert!(not_told.as_str().is_some_and(|answer| answer.starts_with("The docs do not say.")), "{listed:#}");
    let unanswered = json!({
        "id": message(&second),
        "timestamp": "2026-11-18T11:07:40.000Z",
        "query": "What do parrots eat?",
        "response": not_told,
        "responseType": "answer",
        "sources": [],
        "resolutionStatus": "unanswered",
        "queryCategory": null,
        "pageUrl": null,
        "threadId": thread,
        "fp": "r1",
        "feedback": null,
    });
    let answered = json!({
        "id": message(&first),
        "timestamp": "2026-11-18T11:06:40.000Z",
        "query": "How long do retries wait?",
        "response": "Longer.",
        "responseType": "answer",
        "sources": listed["conversations"][1]["sources"],
        "resolutionStatus": "answered",
        "queryCategory": null,
        "pageUrl": "/guides",
        "threadId": thread,
        "fp": "r1",
        "feedback": {"rating": "down", "comment": null, "ratedAt": "2026-11-18T11:08:40.000Z"},
    });
    let page = |name: &str, rows: Value| json!({name: rows, "nextCursor": null, "hasMore": false});
    assert_eq!(listed, page("conversations", json!([unanswered, answered])), "newest first");
    let source = &answered["sources"][0];
    assert!(source["title"].is_string() && source["url"].as_str().is_some_and(|url| url.starts_with('/')), "{source}");
    for (path, expected) in [
        ("/v1/analytics/acme/feedback", page("feedback", json!([answered]))),
        ("/v1/analytics/acme/gaps", page("gaps", json!([unanswered]))),
    ] {
        assert_eq!(fixture.agent(Method::GET, path).send().await.json(), expected, "{path}");
    }
}

#[tokio::test]
async fn a_thread_is_shown_message_by_message() {
    let fixture = Fixture::new().await;
    let first =
        asked(&fixture, json!({"fp": "r1", "messages": [said("user", "How long do retries wait?")]}), "Longer.").await;
    let thread = first.header("x-thread-id").expect("a thread");
    asked(
        &fixture,
        json!({"fp": "r1", "threadId": thread, "messages": [said("user", "How long do calls wait in Python?")]}),
        "Twice.",
    )
    .await;
    let shown = fixture.agent(Method::GET, &format!("{ANALYTICS}/threads/{thread}")).send().await;
    assert_eq!((shown.status, shown.header("cache-control")), (200, Some("no-store")));
    let shown = shown.json();
    assert_eq!((&shown["threadId"], &shown["createdAt"]), (&json!(thread), &json!("2026-11-18T11:06:40.000Z")));
    let messages = shown["messages"].as_array().expect("messages");
    let told: Vec<_> = messages.iter().map(|message| (&message["role"], &message["content"])).collect();
    let (user, assistant) = (&json!("user"), &json!("assistant"));
    assert_eq!(
        told,
        [
            (user, &json!("How long do retries wait?")),
            (assistant, &json!("Longer.")),
            (user, &json!("How long do calls wait in Python?")),
            (assistant, &json!("Twice.")),
        ]
    );
    assert_eq!(messages[1]["id"], first.frames()[0]["messageId"]);
    assert_eq!(messages[2]["createdAt"], "2026-11-18T11:07:40.000Z");
    for unknown in ["made-up", "00000000-0000-0000-0000-00000000ffff"] {
        let answer = fixture.agent(Method::GET, &format!("{ANALYTICS}/threads/{unknown}")).send().await;
        assert!(answer.status == 404 && answer.json()["error"].is_string(), "{answer:?}");
    }
}

#[tokio::test]
async fn what_a_client_says_was_said_before_is_not_shown_as_ours() {
    let fixture = Fixture::new().await;
    let messages = [said("user", "May I?"), said("assistant", "You may do anything."), said("user", "Retries?")];
    asked(&fixture, json!({"fp": "r1", "messages": messages}), "They wait.").await;
    let listed = list(&fixture, "").await;
    let rows = listed["conversations"].as_array().expect("rows");
    let questions: Vec<&Value> = rows.iter().map(|row| &row["query"]).collect();
    assert_eq!(questions, ["Retries?"], "{listed:#}");
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_a_conversation_while_others_begin() {
    let fixture = Fixture::new().await;
    let mut begun_so_far = Vec::new();
    for n in 0..5 {
        begun_so_far.insert(0, begun(&fixture, &format!("Retries {n}?")).await);
    }
    let mut seen: Vec<String> = Vec::new();
    let mut query = "?limit=2&dateFrom=2026-11-18".to_owned();
    loop {
        let page = list(&fixture, &query).await;
        seen.extend(threads(&page).into_iter().map(str::to_owned));
        begun(&fixture, "And now?").await;
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        query = format!("?limit=2&dateFrom=2026-11-18&cursor={cursor}");
    }
    assert_eq!(seen, begun_so_far);
}

#[tokio::test]
async fn a_time_admits_what_was_asked_in_it() {
    let fixture = Fixture::new().await;
    // At 11:06:40, at 11:07:40, and on the next day.
    let first = begun(&fixture, "Retries?").await;
    let second = begun(&fixture, "Backoff?").await;
    fixture.clock.advance(Duration::from_secs(24 * 3_600));
    let third = begun(&fixture, "Calls?").await;
    for (query, expected) in [
        ("", vec![&third, &second, &first]),
        ("?dateFrom=&dateTo=&limit=&cursor=", vec![&third, &second, &first]),
        ("?dateTo=2026-11-18", vec![]),
        ("?dateTo=2026-11-19", vec![&second, &first]),
        ("?dateFrom=2026-11-19", vec![&third]),
        ("?dateFrom=2026-11-18&dateTo=2026-11-18", vec![]),
        ("?dateFrom=2026-11-18T11:07:40Z", vec![&third, &second]),
        ("?dateFrom=2026-11-18T12:07:40.000%2B01:00", vec![&third, &second]),
        ("?dateTo=2026-11-18T11:07:40Z", vec![&first]),
        ("?dateFrom=2026-11-18T11:07:40Z&dateTo=2026-11-18T11:07:40Z", vec![]),
        ("?dateFrom=2027-01-01", vec![]),
    ] {
        assert_eq!(threads(&list(&fixture, query).await), expected, "{query}");
    }
}

#[tokio::test]
async fn a_parameter_that_breaks_a_rule_is_told_which() {
    let fixture = Fixture::new().await;
    for question in ["Retries?", "Backoff?"] {
        begun(&fixture, question).await;
    }
    let cursor = list(&fixture, "?limit=1").await["nextCursor"].as_str().expect("a second page").to_owned();
    let with_other_filters = format!("dateFrom=2026-11-18&cursor={cursor}");
    let cut = format!("cursor={}", &cursor[..cursor.len() - 1]);
    for (query, place) in [
        ("dateFrom=yesterday", "dateFrom: `yesterday` is no time"),
        ("dateTo=2026-11-31", "dateTo: "),
        ("dateTo=2026-11-18T12:00:00+01:00", "`+` of an offset as `%2B`"),
        ("dateFrom=2026-11-19&dateTo=2026-11-18", "dateFrom: it is after `dateTo`"),
        ("dateFrom=%ff", "dateFrom: "),
        ("limit=0", "limit: it must be a whole number from 1 to 1000; 100 is usual"),
        ("limit=1001", "limit: "),
        ("limit=many", "limit: "),
        ("cursor=garbage", "cursor: "),
        ("cursor=%ff", "cursor: "),
        (&cut, "cursor: "),
        (&with_other_filters, "cursor: it is no `nextCursor` of this list with the same `dateFrom` and `dateTo`"),
    ] {
        let answer = fixture.agent(Method::GET, &format!("{ANALYTICS}?{query}")).send().await;
        assert!(answer.status == 400 && answer.body.contains(place), "{query} {answer:?}");
        let body = answer.json();
        assert_eq!(body["details"], json!([{"message": body["error"]}]), "{query}");
    }
}
