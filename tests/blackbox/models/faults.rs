//! A model that fails: transient faults are retried without duplicating anything; permanent faults end the job with a
//! message.

use std::collections::HashMap;
use std::time::Duration;

use docent_tests::agent::{branch, id};
use docent_tests::model_server::brain::read_edit_finish;
use docent_tests::model_server::{Edit, KEY, ModelRequest, Reply, StopReason, Wire};
use docent_tests::site::PROJECT;
use docent_tests::{ModelServer, Request, Site};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{PROMPT, change, completes, finish, site_on};

const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

/// A page for each fault, so that the jobs do not edit the same file.
const PAGES: [&str; 7] = [
    "index.mdx", "quickstart.mdx", "guides/webhooks.mdx", "guides/rate-limits.mdx", "guides/cafe.mdx",
    "reference/errors.mdx", "reference/cli.mdx",
];

fn edit(n: usize) -> Edit {
    Edit::new(PAGES[n], "description: ", &format!("description: {n} "))
}

/// Runs jobs concurrently, each of which meets one fault, once, at its second step.
fn survives(wire: Wire, idle_seconds: &str, faults: &[(&'static str, Reply)]) {
    let model = ModelServer::start();
    let site = site_on(&model, wire, &[("DOCENT_MODELS__SONNET__IDLE_SECONDS", idle_seconds)]);
    let faulty = faults.to_vec();
    let tried: Mutex<HashMap<usize, usize>> = Mutex::default();
    model.replies_with(move |asked| {
        let n = (0..faulty.len()).find(|n| is_about(asked, &edit(*n))).expect("one of the jobs");
        if asked.replies_since_the_user() == 1 {
            let mut tried = tried.lock();
            let times = tried.entry(n).or_default();
            *times += 1;
            if *times == 1 {
                return faulty[n].1.clone();
            }
        }
        read_edit_finish(asked)
    });
    let agent = site.agent();
    let jobs: Vec<Value> = (0..faults.len()).map(|n| agent.create(&edit(n).prompt())).collect();
    for (n, (job, (what, _))) in jobs.iter().zip(faults).enumerate() {
        let job = agent.ends(id(job));
        assert_eq!(job["status"], "completed", "{wire:?}, {what}: {job:#}");
        has(&site, &job, &edit(n), what);
        let asked: Vec<ModelRequest> = model.requests().into_iter().filter(|asked| is_about(asked, &edit(n))).collect();
        assert_eq!(asked.len(), 4, "{wire:?}, {what}: three steps, one of them twice");
        assert_eq!(asked[1].body, asked[2].body, "{wire:?}, {what}: word by word the same");
    }
    assert_eq!(model.faults(), Vec::<String>::new());
}

fn is_about(asked: &ModelRequest, edit: &Edit) -> bool {
    asked.said().iter().any(|text| text.contains(&edit.prompt()))
}

fn has(site: &Site, job: &Value, edit: &Edit, what: &str) {
    let branch = branch(job);
    assert_eq!(site.repository.commits_ahead(branch), 1, "{what}: one commit");
    assert_eq!(site.repository.changed_files(branch), [edit.path.as_str()], "{what}");
    let page = site.repository.file(branch, &edit.path);
    assert_eq!(page.matches(&edit.new).count(), 1, "{what}: the edit was made once: {page}");
    assert!(job["prLink"].is_string(), "{what}: {job:#}");
}

fn words() -> Reply {
    Reply::text("Now I will change it")
}

/// Text and a destructive call, which must not be carried out because the reply is cut.
fn half() -> Reply {
    words().raw_call("delete", "{\"path\":\"index.mdx\"}")
}

#[test]
fn a_reply_that_breaks_is_asked_for_again_and_leaves_nothing_behind() {
    for wire in WIRES {
        survives(
            wire,
            "30",
            &[
                ("cut within the words", words().cut()),
                ("cut within a call", half().cut()),
                ("cut within a frame", half().cut_in_frame()),
                ("ended without an end", half().truncated()),
                ("a frame that is no JSON", half().bad_frame().truncated()),
                ("bytes that are no frames", words().garbage(b"\xff\xfe\x00garbage\n\n{\"a\":").cut()),
                ("an error within the stream", half().breaks_with("overloaded_error")),
            ],
        );
    }
}

#[test]
fn a_model_that_is_busy_is_tried_again() {
    for wire in WIRES {
        survives(
            wire,
            "30",
            &[
                ("overloaded", Reply::overloaded()),
                ("an error of the server", Reply::fails(500)),
                ("a proxy's page", Reply::proxy(502)),
                ("too many requests", Reply::rate_limited("1")),
                ("no time to answer", Reply::fails(504)),
            ],
        );
    }
}

#[test]
fn a_model_that_falls_silent_is_given_up_and_asked_again() {
    for wire in WIRES {
        survives(
            wire,
            "2",
            &[
                ("silent from the start", Reply::silence()),
                ("silent within the words", words().silent()),
                ("silent within a call", half().silent()),
            ],
        );
    }
}

#[test]
fn a_model_is_not_asked_again_before_the_time_it_told() {
    let model = ModelServer::start();
    let edit = edit(2);
    model.replies(Reply::rate_limited("3")).replies_with(read_edit_finish);
    let site = site_on(&model, Wire::Anthropic, &[]);
    let job = site.agent().create(&edit.prompt());
    let job = site.agent().reaches(id(&job), "completed");
    has(&site, &job, &edit, "rate limited");
    let requests = model.requests();
    let waited = requests[1].at.duration_since(requests[0].at);
    assert!(waited >= Duration::from_millis(2_950), "asked again after {waited:?}");
}

/// Runs a job that ends as `failed` after one request, and returns the message.
fn fails_at_once(wire: Wire, reply: Reply) -> String {
    let model = ModelServer::start();
    model.replies(reply);
    let site = site_on(&model, wire, &[]);
    let job = site.agent().create(PROMPT);
    let job = site.agent().reaches(id(&job), "failed");
    assert_eq!(model.served(), 1, "what fails in the same way again is not tried again");
    assert_eq!(job["prLink"], Value::Null);
    assert!(site.repository.branches().is_empty());
    let session = Request::get(format!("/v1/agent/{PROJECT}/job/{}", id(&job))).bearer(&site.admin_key);
    let session = site.server.send(&session).json();
    assert_eq!((&session["haulted"], &session["haultReason"]), (&json!(true), &json!("error")), "{session:#}");
    assert_eq!(session["messageToUser"], job["message"]);
    job["message"].as_str().expect("a job that failed says why").to_owned()
}

#[test]
fn a_key_that_is_not_accepted_fails_the_job_and_names_where_it_is_kept() {
    for wire in WIRES {
        let message = fails_at_once(wire, Reply::fails(401));
        assert!(message.contains("MODEL_KEY") && !message.contains(KEY), "{wire:?}: {message}");
    }
}

#[test]
fn a_model_that_does_not_exist_fails_the_job_and_is_named() {
    for wire in WIRES {
        let message = fails_at_once(wire, Reply::fails(404));
        assert!(message.contains("scripted-1"), "{wire:?}: {message}");
    }
}

#[test]
fn a_model_that_refuses_fails_the_job_and_nothing_is_kept() {
    for wire in WIRES {
        let message = fails_at_once(wire, Reply::text("I can not help with").stopping(StopReason::Refused));
        assert!(message.contains("refuses"), "{wire:?}: {message}");
    }
}

#[test]
fn a_call_that_ran_out_of_tokens_is_not_taken_for_a_whole_one() {
    for wire in WIRES {
        let model = ModelServer::start();
        let (tool, input) = change(wire);
        let text = input.to_string();
        model.replies(Reply::text("I begin.").raw_call(tool, &text[..text.len() / 2]).stopping(StopReason::Length));
        model.replies(Reply::calls(tool, &input));
        model.replies(Reply::calls("finish", &finish()));
        let site = site_on(&model, wire, &[]);
        completes(&site, PROMPT);
        assert_eq!(model.faults(), Vec::<String>::new(), "{wire:?}");
    }
}
