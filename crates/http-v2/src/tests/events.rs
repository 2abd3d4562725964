//! The events of a job, live and afterwards.

use std::time::Duration;

use docent_jobs::Outcome;
use docent_jobs::scripted::Scripted;
use docent_types::{FinishReason, JobEvent, Usage};
use http::Method;
use serde_json::{Value, json};

use super::fixture::{TestApi, TestRequest};

const JOBS: &str = "/v2/agent/acme/job";

/// A received event: its id if it has one, its type and its data.
type Event = (Option<u64>, String, Value);

async fn created(fixture: &TestApi) -> String {
    let job = fixture.agent(Method::POST, JOBS).json(json!({"prompt": "Fix broken links"})).await.json();
    job["id"].as_str().unwrap().to_owned()
}

fn events<'a>(fixture: &'a TestApi, id: &str) -> TestRequest<'a> {
    fixture.agent(Method::GET, &format!("{JOBS}/{id}/events"))
}

fn read(body: &str) -> Vec<Event> {
    let blocks = body.split("\n\n").filter(|block| block.contains("data: "));
    blocks
        .map(|block| {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            let data: Value = serde_json::from_str(field("data: ").unwrap()).unwrap();
            let kind = field("event: ").unwrap().to_owned();
            assert_eq!(data["type"], kind);
            (field("id: ").map(|id| id.parse().unwrap()), kind, data)
        })
        .collect()
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|(_, kind, _)| kind.as_str()).collect()
}

fn said(text: &str) -> JobEvent {
    JobEvent::Said { text: text.into() }
}

fn replied() -> JobEvent {
    JobEvent::Replied { reason: FinishReason::Stop, usage: Usage::of(10, 2) }
}

fn done() -> Outcome {
    Outcome::Completed { message: "Fixed.".into() }
}

#[tokio::test]
async fn events_come_as_the_job_goes_and_end_with_it() {
    let fixture = TestApi::new().await;
    let agent = Scripted::start(&fixture.api.jobs);
    let id = created(&fixture).await;
    let mut reading = events(&fixture, &id).open("").await;
    assert_eq!(reading.response.status(), 200);
    for (name, value) in [
        ("content-type", "text/event-stream; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(reading.response.headers()[name], value);
    }
    reading.until("event: asked").await;
    agent.writes([JobEvent::Planned { todos: Vec::new() }]);
    reading.until("event: planned").await;
    agent.says(JobEvent::Delta { at: 0, text: "Fix".into() });
    reading.until("event: delta").await;
    agent.writes([said("Fixed."), replied()]);
    agent.ends(done());
    let answer = reading.finish().await;
    assert!(answer.body.starts_with("retry: 1000\n\n"), "{}", answer.body);
    let events = read(&answer.body);
    assert_eq!(kinds(&events), ["status", "asked", "planned", "delta", "said", "replied", "status"]);
    let ids: Vec<_> = events.iter().map(|(id, ..)| *id).collect();
    // The third entry is the lease, which has no events.
    assert_eq!(ids, [Some(1), Some(2), Some(4), None, None, Some(5), Some(6)]);
    assert_eq!(
        events[6].2,
        json!({
            "type": "status",
            "status": "completed",
            "message": "Fixed.",
            "seq": 6,
            "time": "2026-11-18T11:06:40.000Z",
        })
    );
}

#[tokio::test]
async fn a_client_goes_on_after_the_last_event_it_has() {
    let fixture = TestApi::new().await;
    let agent = Scripted::start(&fixture.api.jobs);
    let id = created(&fixture).await;
    agent.writes([said("One."), replied()]);
    agent.writes([said("Two."), replied()]);
    agent.ends(done());
    let all = read(&events(&fixture, &id).send().await.body);
    for at in 0..all.len() {
        // A client keeps the events up to the last id.
        let Some(last) = all[..=at].iter().rev().find_map(|(id, ..)| *id) else { continue };
        let kept = 1 + all.iter().position(|(id, ..)| *id == Some(last)).unwrap();
        let (number, path) = (last.to_string(), format!("{JOBS}/{id}/events?lastEventId={last}"));
        let by_header = events(&fixture, &id).header("last-event-id", &number).send().await;
        let by_query = fixture.agent(Method::GET, &path).send().await;
        assert_eq!(by_header.body, by_query.body);
        assert_eq!([&all[..kept], &read(&by_header.body)].concat(), all, "cut after {at}");
    }
}

#[tokio::test]
async fn a_client_that_has_it_all_is_told_not_to_come_back() {
    let fixture = TestApi::new().await;
    let agent = Scripted::start(&fixture.api.jobs);
    let id = created(&fixture).await;
    agent.ends(done());
    let all = read(&events(&fixture, &id).send().await.body);
    let last = all.last().unwrap().0.unwrap().to_string();
    let again = events(&fixture, &id).header("last-event-id", &last).send().await;
    assert_eq!((again.status, again.body.as_str()), (204, ""));
    fixture.agent(Method::POST, &format!("{JOBS}/{id}/archive")).send().await;
    let archived = events(&fixture, &id).header("last-event-id", &last).send().await;
    assert_eq!((archived.status, kinds(&read(&archived.body))), (200, vec!["status"]));
}

#[tokio::test]
async fn an_id_that_is_none_of_the_jobs_is_refused() {
    let fixture = TestApi::new().await;
    let id = created(&fixture).await;
    for bad in ["x", "-1", "1.0", "+1", "99999999999999999999", "3", "1 1"] {
        let by_header = events(&fixture, &id).header("last-event-id", bad).send().await;
        let path = format!("{JOBS}/{id}/events?lastEventId={}", bad.replace(' ', "%20").replace('+', "%2B"));
        let by_query = fixture.agent(Method::GET, &path).send().await;
        assert_eq!((by_header.status, by_query.status), (400, 400), "{bad}");
    }
    let reading = events(&fixture, &id).header("last-event-id", "").open("").await;
    assert_eq!(reading.response.status(), 200, "nothing is no id");
}

#[tokio::test]
async fn a_server_that_drains_lets_its_listeners_go() {
    let fixture = TestApi::new().await;
    let id = created(&fixture).await;
    let mut reading = events(&fixture, &id).open("").await;
    reading.until("event: asked").await;
    fixture.drain.cancel();
    let answer = reading.finish().await;
    assert_eq!(kinds(&read(&answer.body)), ["status", "asked"]);
}

#[tokio::test(start_paused = true)]
async fn silence_is_broken_by_a_comment() {
    let fixture = TestApi::new().await;
    let id = created(&fixture).await;
    let mut reading = events(&fixture, &id).open("").await;
    let start = tokio::time::Instant::now();
    reading.until(": keep-alive\n\n").await;
    assert!(start.elapsed() <= Duration::from_secs(16));
}
