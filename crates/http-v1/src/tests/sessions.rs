//! Looking sessions up.

use std::time::Duration;

use docent_jobs::Outcome;
use http::Method;
use serde_json::json;
use tokio::time::Instant;

use super::fixture::{JOBS, TestApi};

const LIST: &str = "/v1/agent/acme/jobs";

#[tokio::test]
async fn a_session_can_be_looked_up_by_the_id_its_stream_gave() {
    let fixture = TestApi::new().await;
    let id = fixture.create("Fix broken links").await.session();
    assert_eq!(
        fixture.session(&id).await,
        json!({
            "sessionId": id,
            "subdomain": "acme",
            "branch": format!("docent/{id}"),
            "haulted": false,
            "pullRequestLink": "",
            "messageToUser": "",
            "todos": [],
            "createdAt": "2026-11-18T11:06:40.000Z",
        })
    );
}

#[tokio::test]
async fn the_list_shows_the_newest_first_and_skips_as_it_is_told() {
    let fixture = TestApi::new().await;
    let mut made = Vec::new();
    for _ in 0..15 {
        made.insert(0, fixture.create("Fix broken links").await.session());
        fixture.clock.advance(Duration::from_secs(1));
    }
    for (query, shown) in [
        ("", &made[..12]),
        ("?take=3", &made[..3]),
        ("?skip=2&take=3", &made[2..5]),
        ("?skip=14", &made[14..]),
        ("?skip=15&take=100", &[]),
        ("?skip=4294967295", &[]),
        ("?skip=&take=", &made[..12]),
    ] {
        let answer = fixture.agent(Method::GET, &format!("{LIST}{query}")).send().await;
        assert_eq!(answer.status, 200, "{query}");
        let list = answer.json();
        let sessions = list["allSessions"].as_array().unwrap();
        let ids: Vec<&str> = sessions.iter().map(|one| one["sessionId"].as_str().unwrap()).collect();
        assert_eq!(ids, shown, "{query}");
    }
    let whole = fixture.agent(Method::GET, LIST).send().await.json();
    assert_eq!(whole["allSessions"][0], fixture.session(&made[0]).await);
    assert_eq!(whole.as_object().unwrap().len(), 1);
}

#[tokio::test]
async fn a_number_out_of_bounds_is_told_its_bounds() {
    let fixture = TestApi::new().await;
    for (query, place) in [
        ("take=0", "take: it must be a whole number from 1 to 100"),
        ("take=101", "take"),
        ("take=-1", "take"),
        ("take=ten", "take"),
        ("take=1.5", "take"),
        ("skip=-1", "skip"),
        ("skip=4294967296", "skip"),
    ] {
        let answer = fixture.agent(Method::GET, &format!("{LIST}?{query}")).send().await;
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.json()["error"].as_str().unwrap().starts_with(place), "{query} {answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_of_the_end_at_once_and_what_is_known_is_not_sent_again() {
    let fixture = TestApi::new().await;
    let path = format!("{JOBS}/{}?wait=60", fixture.create("Fix broken links").await.session());
    let begun = Instant::now();
    let ending = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        fixture.agent.ends(Outcome::Completed { message: "Done.".to_owned() });
    };
    let (heard, ()) = tokio::join!(fixture.agent(Method::GET, &path).send(), ending);
    assert_eq!((heard.status, &heard.json()["haulted"]), (200, &json!(true)));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(heard.header("cache-control"), Some("no-store"));
    let tag = heard.header("etag").expect("a tag");
    let known = fixture.agent(Method::GET, &path).header("if-none-match", tag).send().await;
    assert_eq!((known.status, known.body.as_str()), (304, ""));
    assert!(known.header("deprecation").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_its_time_or_with_the_server() {
    let fixture = TestApi::new().await;
    let path = format!("{JOBS}/{}", fixture.create("Fix broken links").await.session());
    let begun = Instant::now();
    let told = fixture.agent(Method::GET, &format!("{path}?wait=2")).send().await;
    assert_eq!((&told.json()["haulted"], begun.elapsed().as_secs()), (&json!(false), 2));
    fixture.drain.cancel();
    let told = fixture.agent(Method::GET, &format!("{path}?wait=60")).send().await;
    assert_eq!((&told.json()["haulted"], begun.elapsed().as_secs()), (&json!(false), 2));
    for wait in ["0", "61", "1.5"] {
        assert_eq!(fixture.agent(Method::GET, &format!("{path}?wait={wait}")).send().await.status, 400, "{wait}");
    }
}
