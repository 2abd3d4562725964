//! Exactly one hundred jobs per hour and project, regardless of how they are submitted, and across a restart.

use std::thread;

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::{Agent, Response, Site};
use serde_json::json;

const NOTHING_TO_DO: &str = "Replace \"no-such-term\" with \"another\"";

fn is_a_refusal(response: &Response) {
    assert_eq!(response.status, 429, "{}", response.text());
    assert!(!response.error().is_empty(), "{}", response.text());
    let wait: u32 = response.header("Retry-After").expect("says when to come back").parse().expect("whole seconds");
    assert!((1..=3600).contains(&wait), "within the hour: {wait}");
    assert!(response.header("RateLimit").is_some(), "{:?}", response.headers);
    assert!(response.header("RateLimit-Policy").is_some(), "{:?}", response.headers);
}

#[test]
fn a_hundred_of_a_hundred_and_fifty_are_accepted_before_and_after_a_restart() {
    let site = Site::start();
    for _ in 0..20 {
        assert_eq!(site.agent().try_create(&json!({ "prompt": "" })).status, 400, "what is refused does not count");
    }
    let answers: Vec<Response> = thread::scope(|scope| {
        let agent = site.agent();
        let requests: Vec<_> = (0..150)
            .map(|_| {
                let agent: Agent<'_> = agent.clone();
                scope.spawn(move || agent.try_create(&json!({ "prompt": NOTHING_TO_DO })))
            })
            .collect();
        requests.into_iter().map(|request| request.join().expect("a request")).collect()
    });
    let (accepted, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    assert_eq!(accepted.len(), 100);
    assert_eq!(refused.len(), 50);
    refused.iter().for_each(|answer| is_a_refusal(answer));

    let site = site.killed_and_restarted();
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| is_a_refusal(&site.agent().try_create(&json!({ "prompt": NOTHING_TO_DO }))));
        }
    });
    for answer in &accepted {
        site.agent().reaches(id(&answer.json()), "completed");
    }
}

#[test]
fn a_project_does_not_pay_for_another() {
    let site = Site::with_env(docent_tests::site::PAGES, &[("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", "2")]);
    let agent = site.agent();
    for _ in 0..2 {
        agent.create(NOTHING_TO_DO);
    }
    is_a_refusal(&agent.try_create(&json!({ "prompt": NOTHING_TO_DO })));

    site.installation.add_project("other", &site.repository);
    let key = site.installation.mint("other", KeyKind::Admin, &[]);
    Agent::new(&site.server, "other", &key).create(NOTHING_TO_DO);
}

#[test]
fn a_repeated_request_is_not_counted_twice() {
    let site = Site::with_env(docent_tests::site::PAGES, &[("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", "2")]);
    let send = |key: &str| {
        let request = site.agent().request("POST", "job").header("Idempotency-Key", key);
        site.server.send(&request.json(&json!({ "prompt": NOTHING_TO_DO })))
    };
    for _ in 0..5 {
        assert_eq!(send("same").status, 201);
    }
    assert_eq!(send("second").status, 201);
    is_a_refusal(&send("third"));
    assert_eq!(send("same").status, 201, "an answer given once is given again, quota or not");
}

#[test]
fn follow_ups_have_a_hundred_of_their_own() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create(NOTHING_TO_DO);
    for _ in 0..100 {
        let answer = agent.message(id(&job), NOTHING_TO_DO);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    is_a_refusal(&agent.message(id(&job), NOTHING_TO_DO));
    agent.create(NOTHING_TO_DO);
}
