//! The jobs of a project.

use std::time::Duration;

use docent_jobs::Outcome;
use docent_jobs::scripted::Scripted;
use http::Method;
use serde_json::{Value, json};

use super::fixture::TestApi;

const LIST: &str = "/v2/agent/acme/jobs";

async fn created(fixture: &TestApi) -> Value {
    fixture.clock.advance(Duration::from_secs(1));
    fixture.agent(Method::POST, "/v2/agent/acme/job").json(json!({"prompt": "Fix broken links"})).await.json()
}

async fn list(fixture: &TestApi, query: &str) -> Value {
    let answer = fixture.agent(Method::GET, &format!("{LIST}{query}")).send().await;
    assert_eq!(answer.status, 200, "{query} {answer:?}");
    answer.json()
}

fn ids(list: &Value) -> Vec<&str> {
    list["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_newest_come_first_and_twenty_at_a_time() {
    let fixture = TestApi::new().await;
    assert_eq!(list(&fixture, "").await, json!({"jobs": [], "nextCursor": null}));
    let mut made = Vec::new();
    for _ in 0..21 {
        made.insert(0, created(&fixture).await);
    }
    let all = list(&fixture, "?limit=100").await;
    assert_eq!(all, json!({"jobs": made, "nextCursor": null}));
    assert_eq!(list(&fixture, "?limit=21&status=&cursor=").await, all);
    let usual = list(&fixture, "").await;
    assert_eq!(usual["jobs"].as_array().unwrap()[..], made[..20]);
    assert!(usual["nextCursor"].is_string());
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_a_job_while_others_are_made() {
    let fixture = TestApi::new().await;
    let mut made = Vec::new();
    for _ in 0..7 {
        made.insert(0, created(&fixture).await["id"].as_str().unwrap().to_owned());
    }
    let mut seen: Vec<String> = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = list(&fixture, &query).await;
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        created(&fixture).await;
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn a_list_may_be_of_one_status() {
    let fixture = TestApi::new().await;
    let agent = Scripted::start(&fixture.api.jobs);
    let mut made = Vec::new();
    for _ in 0..3 {
        made.insert(0, created(&fixture).await["id"].as_str().unwrap().to_owned());
    }
    agent.ends(Outcome::Completed { message: "Done.".into() });
    let completed = loop {
        let completed = list(&fixture, "?status=completed").await;
        if !ids(&completed).is_empty() {
            break completed;
        }
        tokio::task::yield_now().await;
    };
    // Workers take the oldest job first.
    assert_eq!(ids(&completed), [&made[2]]);
    let active = list(&fixture, "?status=active&limit=1").await;
    assert_eq!(ids(&active), [&made[0]]);
    let cursor = active["nextCursor"].as_str().unwrap();
    let rest = list(&fixture, &format!("?status=active&limit=1&cursor={cursor}")).await;
    assert_eq!((ids(&rest), &rest["nextCursor"]), (vec![made[1].as_str()], &Value::Null));
    assert_eq!(ids(&list(&fixture, "?status=archived").await), [""; 0]);
    let elsewhere = fixture.agent(Method::GET, &format!("{LIST}?cursor={cursor}")).send().await;
    assert!(elsewhere.status == 400 && elsewhere.body.contains("cursor"), "{elsewhere:?}");
}

#[tokio::test]
async fn a_parameter_that_breaks_a_rule_is_told_which() {
    let fixture = TestApi::new().await;
    for (query, place) in [
        ("status=done", "`active`, `completed`, `archived`, `failed`"),
        ("status=Active", "status"),
        ("limit=0", "limit: it must be a whole number from 1 to 100"),
        ("limit=101", "limit"),
        ("limit=many", "limit"),
        ("cursor=garbage", "cursor"),
        ("cursor=%ff", "cursor"),
        ("cursor=00000000-0000-0000-0000-000000000001", "cursor"),
    ] {
        let answer = fixture.agent(Method::GET, &format!("{LIST}?{query}")).send().await;
        assert!(answer.status == 400 && answer.body.contains(place), "{query} {answer:?}");
    }
}
