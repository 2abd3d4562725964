//! SIGTERM and SIGHUP: running jobs stop between two steps, and are resumed at the next start.

use docent_tests::Site;
use docent_tests::agent::{branch, id};
use serde_json::{Value, json};

fn pages(count: usize) -> Vec<(String, String)> {
    (0..count).map(|n| (format!("page-{n}.md"), format!("# Page {n}\n\nHere is alpha-{n:04}.\n"))).collect()
}

#[test]
fn jobs_that_run_at_a_sigterm_are_taken_up_at_the_next_start() {
    const JOBS: usize = 20;
    let site = Site::with_pages(&pages(JOBS));
    let jobs: Vec<Value> =
        (0..JOBS).map(|n| site.agent().create(&format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\""))).collect();
    let site = site.restarted(|server| {
        server.terminate();
        let status = server.ended();
        assert!(status.success(), "a drain is a clean end: {status}");
    });
    for job in &jobs {
        let job = site.agent().reaches(id(job), "completed");
        assert_eq!(site.repository.commits_ahead(branch(&job)), 1);
    }
    assert_eq!(site.repository.branches().len(), JOBS, "one branch a job");
}

#[test]
fn while_draining_a_request_is_answered_or_sent_away_but_never_lost() {
    let site = Site::with_pages(&pages(30));
    let mut accepted: Vec<Value> = Vec::new();
    for n in 0..10 {
        accepted.push(site.agent().create(&format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\"")));
    }
    site.server.terminate();
    for n in 10..30 {
        let body = json!({ "prompt": format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\"") });
        // Refused connections mean that the drain has ended.
        let Ok(response) = site.agent().request("POST", "job").json(&body).send(site.server.address()) else { break };
        match response.status {
            201 => accepted.push(response.json()),
            503 => assert!(response.header("Retry-After").is_some(), "says when to come back: {:?}", response.headers),
            other => panic!("{other} while draining: {}", response.text()),
        }
    }
    let site = site.restarted(|server| assert!(server.ended().success()));
    for job in &accepted {
        site.agent().reaches(id(job), "completed");
    }
    assert_eq!(site.repository.branches().len(), accepted.len());
}

#[test]
fn a_stream_that_is_open_at_a_sigterm_is_read_to_its_end() {
    let site = Site::start();
    let body = docent_tests::assistant::question_body("How often is a webhook retried?", &json!({}));
    let request = docent_tests::Request::post(site.assistant().path()).bearer(&site.assistant_key).json(&body);
    let stream = request.open(site.server.address()).expect("an answer");
    site.server.terminate();
    let answer = docent_tests::Answer::read(stream.finish().expect("the whole stream"));
    assert!(!answer.text().is_empty());
    assert!(site.server.ended().success());
}

#[test]
fn a_sighup_drains_too_however_often_it_comes_unless_it_was_ignored_at_the_start() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    let site = site.restarted(|server| {
        server.hang_up();
        server.hang_up();
        let status = server.ended();
        assert!(status.success(), "a drain is a clean end: {status}");
    });
    site.agent().reaches(id(&job), "completed");
    let Site { server, installation, .. } = site;
    server.terminate();
    server.ended();
    // As `nohup` starts it.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(docent_tests::binary::docent());
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(installation.data());
    let server = docent_tests::Server::start(command, &installation.root().join("server.log"));
    server.hang_up();
    assert_eq!(server.send(&docent_tests::Request::get("/healthz")).status, 200);
    server.terminate();
    assert!(server.ended().success());
}
