//! A client that lost a response may repeat its request.

use docent_tests::agent::id;
use docent_tests::{Agent, Response, Site};
use serde_json::{Value, json};

fn create(site: &Site, key: &str, body: &Value) -> Response {
    site.server.send(&site.agent().request("POST", "job").header("Idempotency-Key", key).json(body))
}

fn message(site: &Site, job: &str, key: &str, prompt: &str) -> Response {
    let request = site.agent().request("POST", &format!("job/{job}/message"));
    site.server.send(&request.header("Idempotency-Key", key).json(&json!({ "prompt": prompt })))
}

#[test]
fn the_same_key_and_body_give_the_first_answer_again_also_after_a_crash() {
    let site = Site::start();
    let body = json!({ "prompt": "Replace \"widget\" with \"gadget\"" });
    let first = create(&site, "once-1", &body);
    assert_eq!(first.status, 201, "{}", first.text());
    let again = create(&site, "once-1", &body);
    assert_eq!(again.status, 201, "{}", again.text());
    assert_eq!(again.json(), first.json(), "the first answer, to the letter");
    assert_eq!(again.header("Location"), first.header("Location"));

    let site = site.killed_and_restarted();
    let after = create(&site, "once-1", &body);
    assert_eq!(after.status, 201, "{}", after.text());
    assert_eq!(after.json()["id"], first.json()["id"]);
    site.agent().reaches(id(&first.json()), "completed");
    assert_eq!(site.repository.branches().len(), 1, "three requests, one job");
}

#[test]
fn the_same_key_with_another_body_is_a_conflict() {
    let site = Site::start();
    assert_eq!(create(&site, "once-2", &json!({ "prompt": "Replace \"widget\" with \"gadget\"" })).status, 201);
    let other = create(&site, "once-2", &json!({ "prompt": "Replace \"widget\" with \"gizmo\"" }));
    assert_eq!(other.status, 409, "{}", other.text());
    assert!(other.error().to_lowercase().contains("idempotency"), "{}", other.error());
}

#[test]
fn a_follow_up_sent_twice_is_one_follow_up() {
    let site = Site::start();
    let agent: Agent<'_> = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    agent.reaches(id(&job), "completed");
    let prompt = "Replace \"parcel\" with \"package\"";
    assert_eq!(message(&site, id(&job), "more-1", prompt).status, 200);
    let job = agent.reaches(id(&job), "completed");
    let again = message(&site, id(&job), "more-1", prompt);
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(message(&site, id(&job), "more-1", "Replace \"parcel\" with \"box\"").status, 409);
    assert_eq!(agent.job(id(&job))["status"], "completed", "the answer was repeated, the work was not");
}

#[test]
fn racing_twins_make_one_job() {
    let site = Site::start();
    let body = json!({ "prompt": "Replace \"widget\" with \"gadget\"" });
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let twins: Vec<_> = (0..8).map(|_| scope.spawn(|| create(&site, "race", &body))).collect();
        twins.into_iter().map(|twin| twin.join().expect("a request")).collect()
    });
    let mut ids: Vec<String> = Vec::new();
    for answer in &answers {
        assert_eq!(answer.status, 201, "{}", answer.text());
        ids.push(id(&answer.json()).to_owned());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "one job: {ids:?}");
}
