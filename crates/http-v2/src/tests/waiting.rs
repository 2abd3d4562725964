//! Following a job by polling, or by one request that waits for its end.

use std::time::Duration;

use http::Method;
use tokio::time::Instant;

use super::fixture::{TestApi, TestResponse};

const JOBS: &str = "/v2/agent/acme/job";

/// Creates a job and returns its path.
async fn created(fixture: &TestApi) -> String {
    let job = fixture.agent(Method::POST, JOBS).json(serde_json::json!({"prompt": "Fix broken links"})).await.json();
    format!("{JOBS}/{}", job["id"].as_str().unwrap())
}

async fn archive(fixture: &TestApi, job: &str) {
    assert_eq!(fixture.agent(Method::POST, &format!("{job}/archive")).send().await.status, 200);
}

#[tokio::test]
async fn events_a_client_has_are_not_sent_again() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    let get = async |known: &str| fixture.agent(Method::GET, &job).header("if-none-match", known).send().await;
    let first = fixture.agent(Method::GET, &job).send().await;
    let tag = first.header("etag").expect("a tag").to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong one: {tag}");
    for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let again = get(&known).await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{known}");
        assert_eq!((again.header("etag"), again.header("content-type")), (Some(tag.as_str()), None));
    }
    for unknown in ["\"other\"", "", &tag[1..], "nonsense"] {
        let again = get(unknown).await;
        assert_eq!((again.status, again.json()), (200, first.json()), "{unknown}");
    }
    archive(&fixture, &job).await;
    let changed = get(&tag).await;
    assert_eq!((changed.status, &changed.json()["status"]), (200, &"archived".into()));
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
}

#[tokio::test]
async fn no_cache_keeps_what_only_a_key_opens() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    let created = fixture.agent(Method::POST, JOBS).json(serde_json::json!({"prompt": "a"})).await;
    let known = fixture.agent(Method::GET, &job).header("if-none-match", "*").send().await;
    let list = fixture.agent(Method::GET, "/v2/agent/acme/jobs").send().await;
    let refused = fixture.ask(Method::GET, &job).send().await;
    let missing = fixture.agent(Method::GET, &format!("{JOBS}/7")).send().await;
    let statuses = [created, known, list, refused, missing].map(|answer: TestResponse| {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
        answer.status
    });
    assert_eq!(statuses, [201, 304, 200, 401, 404]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_of_the_end_at_once() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    let begun = Instant::now();
    let waiting = fixture.agent(Method::GET, &format!("{job}?wait=60")).send();
    let ending = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        archive(&fixture, &job).await;
    };
    let (heard, ()) = tokio::join!(waiting, ending);
    assert_eq!((heard.status, &heard.json()["status"]), (200, &"archived".into()));
    assert_eq!(begun.elapsed().as_millis() / 10, 30, "as soon as it ends");
    let again = fixture.agent(Method::GET, &format!("{job}?wait=60")).send().await;
    assert_eq!((again.status, again.json()), (200, heard.json()));
    assert_eq!(begun.elapsed().as_millis() / 10, 30, "there is nothing to wait for");
}

#[tokio::test(start_paused = true)]
async fn who_waits_in_vain_is_told_where_the_job_stands() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    let begun = Instant::now();
    let told = fixture.agent(Method::GET, &format!("{job}?wait=2")).send().await;
    assert_eq!((told.status, &told.json()["status"]), (200, &"active".into()));
    assert_eq!(begun.elapsed().as_secs(), 2);
    let tag = told.header("etag").expect("a tag");
    let known = fixture.agent(Method::GET, &format!("{job}?wait=2")).header("if-none-match", tag).send().await;
    assert_eq!((known.status, begun.elapsed().as_secs()), (304, 4));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_drains_lets_nobody_wait() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    let begun = Instant::now();
    let waiting = fixture.agent(Method::GET, &format!("{job}?wait=60")).send();
    let drain = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        fixture.drain.cancel();
    };
    let (told, ()) = tokio::join!(waiting, drain);
    assert_eq!((told.status, &told.json()["status"]), (200, &"active".into()));
    assert_eq!(begun.elapsed().as_secs(), 1);
}

#[tokio::test]
async fn a_wait_is_of_whole_seconds_and_not_for_ever() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    for wait in ["0", "61", "-1", "1.5", "30s", "forever"] {
        let refused = fixture.agent(Method::GET, &format!("{job}?wait={wait}")).send().await;
        assert_eq!(refused.status, 400, "{wait}");
        let sentence = "wait: it must be a whole number from 1 to 60; leave it out to be answered at once.";
        assert_eq!(refused.json()["error"], sentence, "{wait}");
    }
    assert_eq!(fixture.agent(Method::GET, &format!("{job}?wait=")).send().await.status, 200);
    assert_eq!(fixture.agent(Method::GET, &format!("{JOBS}/7?wait=60")).send().await.status, 404);
}
