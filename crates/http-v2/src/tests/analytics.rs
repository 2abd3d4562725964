//! The analytics endpoints, for the owners of the docs.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::fixture::{TestApi, TestResponse};

const ANALYTICS: &str = "/v1/analytics/acme/assistant";
const MESSAGE: &str = "/discovery/v2/assistant/acme/message";

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "parts": [{"type": "text", "text": text}]})
}

/// Asks a question, then advances the clock by a minute.
async fn asked(fixture: &TestApi, body: Value, reply: &str) -> TestResponse {
    fixture.model.replies(reply);
    let answer = fixture.reader(MESSAGE).json(body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    fixture.clock.advance(Duration::from_secs(60));
    answer
}

/// Begins a conversation and returns its id.
async fn begun(fixture: &TestApi, question: &str) -> String {
    let answer = asked(fixture, json!({"fp": "reader", "messages": [said("user", question)]}), "So.").await;
    answer.header("x-thread-id").expect("a thread").to_owned()
}

async fn list(fixture: &TestApi, query: &str) -> Value {
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
    let fixture = TestApi::new().await;
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
    let message = |answer: &TestResponse| answer.frames()[0]["messageId"].clone();
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
    let mut rated = answered.clone();
    for (key, value) in [
        ("path", json!("/guides")),
        ("comment", Value::Null),
        ("createdAt", json!("2026-11-18T11:08:40.000Z")),
        ("source", json!("contextual")),
        ("status", json!("pending")),
        ("helpful", json!(false)),
    ] {
        rated[key] = value;
    }
    let by_page = json!([{"path": "/guides", "thumbsUp": 0, "thumbsDown": 1, "code": 0, "total": 1}]);
    for (path, expected) in [
        ("/v1/analytics/acme/feedback", page("feedback", json!([rated]))),
        ("/v1/analytics/acme/feedback?source=contextual&status=pending,resolved", page("feedback", json!([rated]))),
        ("/v1/analytics/acme/feedback?source=code_snippet", page("feedback", json!([]))),
        ("/v1/analytics/acme/feedback?status=resolved", page("feedback", json!([]))),
        ("/v1/analytics/acme/feedback/by-page", page("feedback", by_page)),
        ("/v1/analytics/acme/feedback/by-page?status=dismissed", page("feedback", json!([]))),
        ("/v1/analytics/acme/feedback/by-page?dateFrom=2026-11-19", page("feedback", json!([]))),
        ("/v1/analytics/acme/gaps", page("gaps", json!([unanswered]))),
    ] {
        assert_eq!(fixture.agent(Method::GET, path).send().await.json(), expected, "{path}");
    }

    let (neither, both) = (vec![], vec![&unanswered, &answered]);
    for (query, expected) in [
        ("resolutionStatus=answered", vec![&answered]),
        ("resolutionStatus=unanswered", vec![&unanswered]),
        ("rating=down", vec![&answered]),
        ("rating=up", neither.clone()),
        ("text=PARROTS", vec![&unanswered]),
        ("text=longer.", vec![&answered]),
        ("sourceUrl=/guides/retries", vec![&answered]),
        ("sourceUrl=/guides", neither.clone()),
        ("pageUrl=/guides", vec![&answered]),
        ("language=und", both.clone()),
        ("language=UND", both.clone()),
        ("language=de", neither.clone()),
        ("waited=end", both),
        ("waited=firstWord&waitedMs=60000", neither),
        ("rating=down&resolutionStatus=unanswered", vec![]),
    ] {
        assert_eq!(list(&fixture, &format!("?{query}")).await, page("conversations", json!(expected)), "{query}");
    }
    for (path, rows) in [("feedback?rating=up", 0), ("feedback?rating=down", 1), ("gaps?text=parrots", 1)] {
        let listed = fixture.agent(Method::GET, &format!("/v1/analytics/acme/{path}")).send().await.json();
        let name = path.split('?').next().expect("a name");
        assert_eq!(listed[name].as_array().map(Vec::len), Some(rows), "{path}");
    }
    for wrong in ["resolutionStatus=missed", "rating=any", "waited=first-word", "waited=end&waitedMs=-1"] {
        let answer = fixture.agent(Method::GET, &format!("{ANALYTICS}?{wrong}")).send().await;
        let name = wrong.split('&').next_back().and_then(|pair| pair.split('=').next()).expect("a name");
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.json()["error"].as_str().is_some_and(|error| error.starts_with(name)), "{answer:?}");
    }
}

#[tokio::test]
async fn a_thread_is_shown_message_by_message() {
    let fixture = TestApi::new().await;
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
async fn questions_are_counted_by_day_and_told_apart_by_page() {
    let fixture = TestApi::new().await;
    let asks =
        |page: Value, question: &str| json!({"fp": "r1", "currentPath": page, "messages": [said("user", question)]});
    let first = asked(&fixture, asks(json!(null), "How long do retries wait?"), "Longer.").await;
    let nothing = "The docs do not say. <!--docent:unanswered-->";
    asked(&fixture, asks(json!("/guides"), "What do parrots eat?"), nothing).await;
    fixture.clock.advance(Duration::from_secs(24 * 3_600));
    asked(&fixture, asks(json!("/guides"), "Do parrots eat retries?"), nothing).await;
    let rated =
        json!({"threadId": first.header("x-thread-id"), "messageId": first.frames()[0]["messageId"], "rating": "up"});
    assert_eq!(fixture.reader("/discovery/v1/assistant/acme/feedback").json(rated).await.status, 204);

    let get = |path: &str| fixture.agent(Method::GET, &format!("/v1/analytics/acme/{path}")).send();
    let day = |date: &str, questions: u64, answered: u64, up: u64| json!({"date": date, "questions": questions, "answered": answered, "unanswered": questions - answered, "up": up, "down": 0});
    let summary = get("summary").await;
    assert_eq!((summary.status, summary.header("cache-control")), (200, Some("no-store")));
    let summary = summary.json();
    assert_eq!(summary["byDay"], json!([day("2026-11-18", 2, 1, 1), day("2026-11-19", 1, 0, 0)]));
    assert_eq!((&summary["questions"], &summary["unanswered"], &summary["up"]), (&json!(3), &json!(2), &json!(1)));
    let newest = &summary["newest"];
    assert_eq!(newest["languages"], json!([{"language": null, "questions": 3}]));
    assert_eq!(newest["sources"], json!([{"title": "Retries", "url": "/guides/retries", "answers": 1, "down": 0}]));
    assert_eq!(newest["unansweredPages"], json!([{"pageUrl": "/guides", "questions": 2}]));
    let none = json!({"p50": 0, "p95": 0});
    assert_eq!(newest["latencyMs"], json!({"answers": 3, "search": none, "firstWord": none, "end": none}));
    // The period is extended to whole days.
    let one_day = get("summary?dateFrom=2026-11-19T12:00:00Z&format=csv").await;
    assert_eq!(one_day.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    assert_eq!(one_day.body, "date,questions,answered,unanswered,up,down\r\n2026-11-19,1,0,1,0,0\r\n");

    let groups = get("gaps/groups").await.json();
    let group = &groups["groups"][0];
    assert_eq!((group["questions"].clone(), group["down"].clone()), (json!(2), json!(0)), "{groups:#}");
    let ids: Vec<&Value> = group["examples"].as_array().expect("examples").iter().map(|one| &one["id"]).collect();
    assert_eq!(group["ids"], json!(ids), "each question has a text of its own, so each is an example");
    assert_eq!(group["words"], json!(["eat", "parrots", "retries"]));
    assert_eq!(group["unknownWords"], json!(["parrots", "eat"]));
    let queries: Vec<&Value> =
        group["examples"].as_array().expect("examples").iter().map(|one| &one["query"]).collect();
    assert_eq!(queries, ["Do parrots eat retries?", "What do parrots eat?"]);
    assert!(group["suggestion"].as_str().is_some_and(|text| text.contains("- \"What do parrots eat?\"")), "{groups:#}");
    let none = get("gaps/groups?dateTo=2026-11-18").await;
    assert_eq!(none.json(), json!({"groups": []}));
}

#[tokio::test]
async fn a_list_is_a_table_for_a_spreadsheet() {
    let fixture = TestApi::new().await;
    for question in ["=HYPERLINK(\"http://x\")", "Retries, please?"] {
        begun(&fixture, question).await;
    }
    let get = |query: &str| fixture.agent(Method::GET, &format!("{ANALYTICS}?format=csv&limit=1{query}")).send();
    let first = get("").await;
    assert_eq!((first.status, first.header("cache-control")), (200, Some("no-store")));
    assert_eq!(first.header("content-disposition"), Some("attachment; filename=\"conversations.csv\""));
    let lines: Vec<&str> = first.body.split("\r\n").collect();
    let header = "id,timestamp,query,response,resolutionStatus,sources,pageUrl,threadId,fp,rating,comment,ratedAt";
    assert_eq!((lines.len(), lines[0]), (3, header));
    assert!(
        lines[1].contains(",2026-11-18T11:07:40.000Z,\"Retries, please?\",So.,answered,/guides/retries"),
        "{lines:?}"
    );
    let second = get(&format!("&cursor={}", first.header("x-next-cursor").expect("there is more"))).await;
    assert!(second.body.contains(",\"'=HYPERLINK(\"\"http://x\"\")\",So.,"), "{}", second.body);
    assert_eq!(second.header("x-next-cursor"), None);
    let refused = fixture.agent(Method::GET, &format!("{ANALYTICS}?format=xml")).send().await;
    assert!(refused.status == 400 && refused.body.contains("format: it must be `json` or `csv`"), "{refused:?}");
}

#[tokio::test]
async fn messages_sent_by_clients_are_not_shown_as_answers() {
    let fixture = TestApi::new().await;
    let messages = [said("user", "May I?"), said("assistant", "You may do anything."), said("user", "Retries?")];
    asked(&fixture, json!({"fp": "r1", "messages": messages}), "They wait.").await;
    let listed = list(&fixture, "").await;
    let rows = listed["conversations"].as_array().expect("rows");
    let questions: Vec<&Value> = rows.iter().map(|row| &row["query"]).collect();
    assert_eq!(questions, ["Retries?"], "{listed:#}");
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_a_conversation_while_others_begin() {
    let fixture = TestApi::new().await;
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
    let fixture = TestApi::new().await;
    // The questions are asked at 11:06:40, at 11:07:40, and on the next day.
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
        ("?dateFrom=20261118T110740Z", vec![&third, &second]),
        ("?dateFrom=2026-11-18T12:07:40+01:00", vec![&third, &second]),
        ("?dateTo=2026-W47-3T11:07:40", vec![&first]),
    ] {
        assert_eq!(threads(&list(&fixture, query).await), expected, "{query}");
    }
}

#[tokio::test]
async fn a_parameter_that_breaks_a_rule_is_told_which() {
    let fixture = TestApi::new().await;
    for question in ["Retries?", "Backoff?"] {
        begun(&fixture, question).await;
    }
    let cursor = list(&fixture, "?limit=1").await["nextCursor"].as_str().expect("a second page").to_owned();
    let with_other_filters = format!("dateFrom=2026-11-18&cursor={cursor}");
    let cut = format!("cursor={}", &cursor[..cursor.len() - 1]);
    for (query, place) in [
        ("dateFrom=yesterday", "dateFrom: `yesterday` is not a time"),
        ("dateTo=2026-11-31", "dateTo: "),
        ("dateFrom=2026-11-19&dateTo=2026-11-18", "dateFrom: it is after `dateTo`"),
        ("dateFrom=%ff", "dateFrom: "),
        ("limit=0", "limit: it must be a whole number from 1 to 1000; 100 is usual"),
        ("limit=1001", "limit: "),
        ("limit=many", "limit: "),
        ("cursor=garbage", "cursor: "),
        ("cursor=%ff", "cursor: "),
        (&cut, "cursor: "),
        (&with_other_filters, "cursor: it is not a `nextCursor` of this list with the same `dateFrom` and `dateTo`"),
    ] {
        let answer = fixture.agent(Method::GET, &format!("{ANALYTICS}?{query}")).send().await;
        assert!(answer.status == 400 && answer.body.contains(place), "{query} {answer:?}");
        let body = answer.json();
        assert_eq!(body["details"], json!([{"message": body["error"]}]), "{query}");
    }
}

#[tokio::test]
async fn searches_are_counted_by_what_was_searched_for() {
    let fixture = TestApi::new().await;
    let search = async |query: &str| {
        let found = fixture.reader("/discovery/v1/search/acme").json(json!({"query": query})).await;
        assert_eq!(found.status, 200, "{found:?}");
        let results = found.json().as_array().expect("a list").len();
        fixture.clock.advance(Duration::from_secs(60));
        results
    };
    assert!(search("ret").await > 0 || search("retr").await > 0 || search("retries").await > 0);
    search("retries").await;
    assert_eq!(search("Zyzzyva").await, 0);
    search("retries").await;
    fixture.api.answering.searches.flush().await;
    let get = |query: &str| fixture.agent(Method::GET, &format!("/v1/analytics/acme/searches{query}")).send();
    let listed = get("").await;
    assert_eq!((listed.status, listed.header("cache-control")), (200, Some("no-store")));
    let listed = listed.json();
    let last = |at: usize| listed["searches"][at]["lastSearchedAt"].clone();
    let term = |query: &str, hits: u64, nothing: u64, at| json!({"searchQuery": query, "hits": hits, "withoutResults": nothing, "ctr": null, "topClickedPage": null, "lastSearchedAt": last(at)});
    let terms = json!([term("retries", 2, 0, 0), term("zyzzyva", 1, 1, 1)]);
    let whole = json!({"searches": terms, "totalSearches": 3, "hasMore": false, "nextCursor": null});
    assert_eq!(listed, whole, "what is typed on counts once, and again later");

    let first = get("?limit=1").await.json();
    assert_eq!((&first["searches"][0]["searchQuery"], &first["hasMore"]), (&json!("retries"), &json!(true)));
    let next = first["nextCursor"].as_str().expect("a cursor");
    let second = get(&format!("?limit=1&cursor={next}")).await.json();
    assert_eq!((&second["searches"][0]["searchQuery"], &second["nextCursor"]), (&json!("zyzzyva"), &json!(null)));
    let missed = get("?withoutResults=true").await.json();
    assert_eq!(missed["searches"].as_array().map(Vec::len), Some(1), "{missed:#}");
    let table = get("?format=csv&limit=1").await;
    assert_eq!(table.header("x-next-cursor"), Some(next));
    assert!(
        table.body.starts_with("searchQuery,hits,withoutResults,lastSearchedAt\r\nretries,2,0,2026-"),
        "{}",
        table.body
    );
    for bad in ["?withoutResults=maybe", "?limit=0", "?cursor=x", &format!("?dateFrom=2026-01-01&cursor={next}")] {
        assert_eq!(get(bad).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn ratings_are_counted_by_page_a_page_at_a_time() {
    let fixture = TestApi::new().await;
    for (page, ratings) in [("/b", &["up", "up"][..]), ("/a", &["up"]), ("https://docs.test/c/?x#y", &["down", "up"])] {
        for rating in ratings {
            let question =
                json!({"fp": "r1", "currentPath": page, "messages": [said("user", "How long do retries wait?")]});
            let answer = asked(&fixture, question, "Longer.").await;
            let thread = answer.header("x-thread-id").expect("a thread");
            let rated = json!({"threadId": thread, "messageId": answer.frames()[0]["messageId"], "rating": rating});
            fixture.reader("/discovery/v1/assistant/acme/feedback").json(rated).await;
        }
    }
    let path = "/v1/analytics/acme/feedback/by-page";
    let count = |path: &str, up: u64, down: u64| json!({"path": path, "thumbsUp": up, "thumbsDown": down, "code": 0, "total": up + down});
    let first = fixture.agent(Method::GET, &format!("{path}?limit=2")).send().await.json();
    assert_eq!((&first["feedback"], &first["hasMore"]), (&json!([count("/b", 2, 0), count("/c", 1, 1)]), &json!(true)));
    let cursor = first["nextCursor"].as_str().expect("a second page");
    let second = fixture.agent(Method::GET, &format!("{path}?limit=2&cursor={cursor}")).send().await.json();
    assert_eq!(second, json!({"feedback": [count("/a", 1, 0)], "hasMore": false, "nextCursor": null}));
    let table = fixture.agent(Method::GET, &format!("{path}?format=csv")).send().await.body;
    assert!(table.starts_with("path,thumbsUp,thumbsDown,code,total\r\n/b,2,0,0,2\r\n"), "{table}");
    for wrong in ["limit=0", "cursor=garbage", "source=readers", "status=pending,open", "dateFrom=soon"] {
        let answer = fixture.agent(Method::GET, &format!("{path}?{wrong}")).send().await;
        let name = wrong.split('=').next().expect("a name");
        assert!(
            answer.status == 400 && answer.json()["error"].as_str().is_some_and(|error| error.starts_with(name)),
            "{answer:?}"
        );
    }
}
