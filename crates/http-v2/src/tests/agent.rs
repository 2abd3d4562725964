//! Jobs over HTTP.

use std::time::Duration;

use docent_jobs::JobLimits;
use http::Method;
use serde_json::{Value, json};

use super::fixture::TestApi;

const JOBS: &str = "/v2/agent/acme/job";

async fn created(fixture: &TestApi) -> Value {
    fixture.agent(Method::POST, JOBS).json(json!({"prompt": "Fix broken links"})).await.json()
}

#[tokio::test]
async fn a_job_is_accepted_and_can_be_looked_up_where_it_says() {
    let fixture = TestApi::new().await;
    let accepted = fixture.agent(Method::POST, JOBS).json(json!({"prompt": "Fix broken links"})).await;
    assert_eq!(accepted.status, 201);
    let job = accepted.json();
    let id = job["id"].as_str().unwrap();
    assert_eq!(
        job,
        json!({
            "id": id,
            "status": "active",
            "source": {"repository": "file:///srv/git/acme.git", "ref": format!("docent/{id}")},
            "model": "sonnet",
            "prLink": null,
            "message": null,
            "createdAt": "2026-11-18T11:06:40.000Z",
            "archivedAt": null,
        })
    );
    assert_eq!(accepted.header("ratelimit-policy"), Some(r#""default";q=100;w=3600"#));
    let location = accepted.header("location").unwrap();
    let found = fixture.agent(Method::GET, location).send().await;
    assert_eq!((found.status, found.json()), (200, job));
}

#[tokio::test]
async fn a_job_may_have_a_branch_a_model_and_a_draft_of_its_choice() {
    let fixture = TestApi::new().await;
    let wanted =
        json!({"prompt": "Fix broken links", "branch": "docs/links", "model": "opus", "asDraft": true, "x": 1});
    let job = fixture.agent(Method::POST, JOBS).json(wanted).await.json();
    assert_eq!((&job["source"]["ref"], &job["model"]), (&json!("docs/links"), &json!("opus")));
    let nulls = json!({"prompt": "Fix broken links", "branch": null, "model": null, "asDraft": null});
    assert_eq!(fixture.agent(Method::POST, JOBS).json(nulls).await.status, 201);
}

#[tokio::test]
async fn a_body_that_breaks_a_rule_is_told_where() {
    let fixture = TestApi::new().await;
    for (body, place) in [
        (json!({}), "prompt"),
        (json!({"prompt": null}), "prompt"),
        (json!({"prompt": 7}), "prompt"),
        (json!({"prompt": ""}), "prompt"),
        (json!({"prompt": " \n"}), "prompt"),
        (json!({"prompt": "a".repeat(100_001)}), "prompt"),
        (json!({"prompt": "a", "branch": "a..b"}), "branch"),
        (json!({"prompt": "a", "branch": 1}), "branch"),
        (json!({"prompt": "a", "model": "gpt"}), "`sonnet`, `opus`"),
        (json!({"prompt": "a", "asDraft": "maybe"}), "asDraft"),
        (json!([]), "must be a JSON object, not an array"),
        (json!(["Fix broken links", null]), "must be a JSON object, not an array"),
        (json!(["Fix broken links", null, null, null]), "must be a JSON object, not an array"),
        (json!(null), "must be a JSON object, not null"),
        (json!("a"), "body"),
    ] {
        let answer = fixture.agent(Method::POST, JOBS).json(body.clone()).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.contains(place), "{place}: {answer:?}");
    }
}

#[tokio::test]
async fn the_101st_job_of_an_hour_is_refused_until_one_falls_out_of_it() {
    let fixture = TestApi::new().await;
    for _ in 0..100 {
        assert_eq!(fixture.agent(Method::POST, JOBS).json(json!({"prompt": "a"})).await.status, 201);
    }
    fixture.clock.advance(Duration::from_millis(59 * 60 * 1000 + 500));
    let refused = fixture.agent(Method::POST, JOBS).json(json!({"prompt": "a"})).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert_eq!(refused.header("ratelimit"), Some(r#""default";r=0;t=60"#));
    assert_eq!(refused.json()["error"], "The project has used its 100 jobs an hour; try again in 60 seconds.");
    assert_eq!(refused.header("ratelimit-policy"), Some(r#""default";q=100;w=3600"#));
    fixture.clock.advance(Duration::from_secs(60));
    assert_eq!(fixture.agent(Method::POST, JOBS).json(json!({"prompt": "a"})).await.status, 201);
}

#[tokio::test]
async fn counts_of_one_are_worded_in_the_singular() {
    let mut fixture = TestApi::new().await;
    fixture.limit_jobs(JobLimits { creates_per_hour: 1, messages_per_hour: 1 });
    let job = created(&fixture).await;
    fixture.clock.advance(Duration::from_millis(59 * 60 * 1000 + 59_500));
    let refused = fixture.agent(Method::POST, JOBS).json(json!({"prompt": "a"})).await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.json()["error"], "The project has used its 1 job an hour; try again in 1 second.");
    let path = format!("{JOBS}/{}/message", job["id"].as_str().unwrap());
    let message = async || fixture.agent(Method::POST, &path).json(json!({"prompt": "a"})).await;
    assert_eq!(message().await.status, 200);
    let refused = message().await;
    assert_eq!(refused.header("retry-after"), Some("3600"));
    assert_eq!(refused.json()["error"], "The project has used its 1 message an hour; try again in 3600 seconds.");
}

#[tokio::test]
async fn the_same_key_and_body_are_the_same_job() {
    let fixture = TestApi::new().await;
    let post = async |key: &str, prompt: &str| {
        fixture.agent(Method::POST, JOBS).header("idempotency-key", key).json(json!({ "prompt": prompt })).await
    };
    let first = post("k1", "a").await;
    let again = post("k1", "a").await;
    assert_eq!((again.status, again.json()), (201, first.json()));
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(post("k1", "b").await.status, 409);
    assert_ne!(post("k2", "a").await.json()["id"], first.json()["id"]);
    for bad in ["", " ", &"k".repeat(256)] {
        assert_eq!(post(bad, "a").await.status, 400, "{bad}");
    }
    let twice = fixture.agent(Method::POST, JOBS).header("idempotency-key", "a").header("idempotency-key", "b");
    assert_eq!(twice.json(json!({"prompt": "a"})).await.status, 400);
}

#[tokio::test]
async fn a_follow_up_goes_to_its_job() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    let path = format!("{JOBS}/{}/message", job["id"].as_str().unwrap());
    let answer = fixture.agent(Method::POST, &path).json(json!({"prompt": "And titles"})).await;
    assert_eq!((answer.status, &answer.json()["id"]), (200, &job["id"]));
    assert_eq!(fixture.agent(Method::POST, &path).json(json!({"prompt": ""})).await.status, 400);
    for array in [json!(["And titles"]), json!([])] {
        assert_eq!(fixture.agent(Method::POST, &path).json(array).await.status, 400);
    }
    let keyed = async |prompt: &str| {
        fixture.agent(Method::POST, &path).header("idempotency-key", "k").json(json!({ "prompt": prompt })).await.status
    };
    assert_eq!((keyed("a").await, keyed("a").await, keyed("b").await), (200, 200, 409));
}

#[tokio::test]
async fn an_archived_job_is_put_away_for_good() {
    let fixture = TestApi::new().await;
    let job = created(&fixture).await;
    let path = |verb: &str| format!("{JOBS}/{}/{verb}", job["id"].as_str().unwrap());
    for _ in 0..2 {
        let answer = fixture.agent(Method::POST, &path("archive")).send().await;
        assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("archived")));
        assert_eq!(answer.json()["archivedAt"], "2026-11-18T11:06:40.000Z");
    }
    let late = fixture.agent(Method::POST, &path("message")).json(json!({"prompt": "a"})).await;
    assert_eq!(late.status, 409);
}

#[tokio::test]
async fn a_job_that_is_not_there_is_not_found() {
    let fixture = TestApi::new().await;
    for id in ["7", "00000000-0000-0000-0000-00000000ffff", "..%2F..%2Fetc", "%00", "%ff"] {
        let path = format!("{JOBS}/{id}");
        assert_eq!(fixture.agent(Method::GET, &path).send().await.status, 404, "{id}");
        let message = fixture.agent(Method::POST, &format!("{path}/message")).json(json!({"prompt": "a"})).await;
        assert_eq!(message.status, 404, "{id}");
        assert_eq!(fixture.agent(Method::POST, &format!("{path}/archive")).send().await.status, 404, "{id}");
    }
}
