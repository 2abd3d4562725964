//! Outbound webhooks: the end of every job turn is delivered to receivers, signed, at least once, despite server
//! crashes.

use std::fs;

use docent_tests::agent::{id, pull_request};
use docent_tests::hook_receiver::Delivery;
use docent_tests::site::PAGES;
use docent_tests::{HookReceiver, Installation, Person, Request, Server, Site, eventually};
use http::HeaderMap;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PROMPT: &str = "Replace \"warehouses\" with \"depots\"";

/// The environment variables of these hooks, and `more`.
fn hooks(urls: &[&str], more: &[(&str, &str)]) -> Vec<(String, String)> {
    let of = |(n, url): (usize, &&str)| {
        [("URL", *url), ("SECRET_ENV", "ACME_HOOK_SECRET")]
            .map(|(key, value)| (format!("DOCENT_HOOKS__{n}__{key}"), value.to_owned()))
    };
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let secret = ("ACME_HOOK_SECRET".to_owned(), SECRET.to_owned());
    urls.iter().enumerate().flat_map(of).chain([secret]).chain(more).collect()
}

fn borrowed(env: &[(String, String)]) -> Vec<(&str, &str)> {
    env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn site(urls: &[&str], more: &[(&str, &str)]) -> Site {
    Site::with_env(PAGES, &borrowed(&hooks(urls, more)))
}

/// The body of an event whose signature has been verified.
fn verified(delivery: &Delivery) -> Value {
    let header = |(name, value): (&String, &String)| {
        (name.parse::<http::HeaderName>().expect("a name"), value.parse().expect("a value"))
    };
    let headers: HeaderMap = delivery.headers.iter().map(header).collect();
    let receiver = Webhook::new(SECRET).expect("a secret");
    receiver.verify(&delivery.body, &headers).unwrap_or_else(|error| panic!("{error}: {delivery:?}"));
    serde_json::from_slice(&delivery.body).expect("JSON")
}

fn log(site: &Site) -> String {
    fs::read_to_string(site.installation.root().join("server.log")).expect("read the log")
}

fn metric(server: &Server, line: &str) -> bool {
    server.send(&Request::get("/metrics")).text().contains(line)
}

#[test]
fn each_end_of_a_job_is_told_with_the_job_as_the_api_shows_it_and_a_signature() {
    let receiver = HookReceiver::start();
    let site = site(&[&receiver.url()], &[("DOCENT_LOG", "debug")]);
    let agent = site.agent();
    let job = agent.create(PROMPT);
    let id = id(&job);
    let job = agent.reaches(id, "completed");
    let first = receiver.receives(1).remove(0);
    assert_eq!(first.target, "/docent?key=s3cret-4711");
    assert_eq!(first.headers["content-type"], "application/json");
    let mut shown = job.clone();
    shown["projectId"] = json!("acme");
    let event = verified(&first);
    assert_eq!((&event["type"], &event["data"]), (&json!("job.completed"), &shown));
    assert!(!pull_request(&event["data"]).is_empty());
    assert!(event["timestamp"].as_str() > event["data"]["createdAt"].as_str(), "{event:#}");
    assert_eq!(event.as_object().expect("an object").len(), 3);

    // A follow-up that cannot be carried out ends the next turn; archiving is an end too.
    assert_eq!(agent.message(id, "Replace \"no such words\" with \"others\"").status, 200);
    let again = agent.ends(id);
    let second = receiver.receives(2).remove(1);
    let status = |job: &Value| format!("job.{}", job["status"].as_str().expect("a status"));
    assert_eq!(verified(&second)["type"], status(&again).as_str());
    assert_eq!(agent.archive(id).status, 200);
    let third = receiver.receives(3).remove(2);
    assert_eq!(verified(&third)["type"], "job.archived");
    let mut numbers = Vec::new();
    for delivery in [&first, &second, &third] {
        let number = delivery.id().strip_prefix(&format!("{id}-")).expect("begins with the job's id");
        numbers.push(number.parse::<u64>().expect("ends with a number"));
    }
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");

    eventually("all to be recorded", || metric(&site.server, "\ndocent_webhook_events_queued 0\n").then_some(()));
    assert!(metric(&site.server, "\ndocent_webhook_deliveries_total{outcome=\"delivered\"} 3\n"));
    let mut owner = Person::joins(&site.server, &site.installation, "owner", "owner");
    let page = owner.gets("/dashboard/-/settings").text().to_owned();
    for said in ["hooks.0.url", "variable DOCENT_HOOKS__0__URL", "the variable ACME_HOOK_SECRET", "200", "0 events"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    for secret in ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "s3cret-4711"] {
        assert!(!log(&site).contains(secret) && !page.contains(secret), "{secret}");
    }
}

#[test]
fn a_receiver_that_failed_hears_the_same_event_again() {
    let receiver = HookReceiver::start();
    receiver.answers(500);
    let site = site(&[&receiver.url()], &[]);
    let job = site.agent().create(PROMPT);
    site.agent().ends(id(&job));
    let told = receiver.receives(2);
    assert_eq!((told[0].id(), &told[0].body), (told[1].id(), &told[1].body));
    told.iter().for_each(|delivery| drop(verified(delivery)));
    eventually("the answers to be counted", || {
        let failed = metric(&site.server, "\ndocent_webhook_deliveries_total{outcome=\"failed\"} 1\n");
        (failed && metric(&site.server, "{outcome=\"delivered\"} 1\n")).then_some(())
    });
}

#[test]
fn an_event_is_told_after_a_kill_between_the_end_and_its_delivery() {
    let receiver = HookReceiver::start();
    let crashes = [("DOCENT_CRASH_AT", "completed")];
    // Killed right after the end is durable, and during the delivery to the receiver.
    for crash in [&crashes[..], &[]] {
        receiver.is_silent(true);
        let before = receiver.deliveries().len();
        let site = site(&[&receiver.url()], crash);
        let job = site.agent().create(PROMPT);
        let Site { server, installation, .. } = site;
        if crash.is_empty() {
            receiver.receives(before + 1);
            server.kill();
        } else {
            assert!(!server.ended().success(), "the server was to crash");
        }
        receiver.is_silent(false);
        let begun = receiver.deliveries().len();
        let server = installation.serve_with(&borrowed(&hooks(&[&receiver.url()], &[])));
        let told = receiver.receives(begun + 1).split_off(before);
        assert!(told.len() <= 2, "{told:?}");
        for delivery in &told {
            assert_eq!(verified(delivery)["data"]["id"], job["id"]);
            assert_eq!(delivery.id(), told[0].id());
        }
        // A recorded delivery is not repeated after the next start.
        eventually("it to be recorded", || metric(&server, "\ndocent_webhook_events_queued 0\n").then_some(()));
        server.kill();
        let server = installation.serve_with(&borrowed(&hooks(&[&receiver.url()], &[])));
        assert!(metric(&server, "\ndocent_webhook_events_queued 0\n"));
    }
}

#[test]
fn a_dead_and_a_silent_hook_delay_neither_a_good_one_nor_the_end() {
    let (silent, good) = (HookReceiver::start(), HookReceiver::start());
    silent.is_silent(true);
    let dead = "http://127.0.0.1:1/docent";
    let urls = [&silent.url(), dead, &good.url()];
    let site = site(&urls, &[]);
    let job = site.agent().create(PROMPT);
    site.agent().ends(id(&job));
    assert_eq!(verified(&good.receives(1)[0])["data"]["id"], job["id"]);
    silent.receives(1);
    let failed = eventually("the log to tell of it", || {
        let log = log(&site);
        log.lines().find(|line| line.contains("webhook not delivered")).map(str::to_owned)
    });
    assert!(failed.contains("hooks.1") && failed.contains("could not connect to 127.0.0.1:1"), "{failed}");
    site.server.terminate();
    let Site { server, installation, .. } = site;
    assert!(server.ended().success(), "a drain is a clean end");
    silent.is_silent(false);
    let _server = installation.serve_with(&borrowed(&hooks(&urls, &[])));
    let told = silent.receives(2);
    assert_eq!(told[0].id(), told[1].id());
    assert_eq!(good.deliveries().len(), 1, "it was told");
}

#[test]
fn a_new_hook_is_told_what_ends_from_now_on() {
    let (first, second) = (HookReceiver::start(), HookReceiver::start());
    let site = site(&[&first.url()], &[]);
    let before = site.agent().create(PROMPT);
    site.agent().ends(id(&before));
    first.receives(1);
    let Site { server, repository: _repository, admin_key, installation, .. } = site;
    // A delivery that is not recorded yet would be repeated.
    eventually("it to be recorded", || metric(&server, "\ndocent_webhook_events_queued 0\n").then_some(()));
    server.kill();
    let server = installation.serve_with(&borrowed(&hooks(&[&second.url(), &first.url()], &[])));
    let agent = docent_tests::Agent::new(&server, "acme", &admin_key);
    let after = agent.create("Replace \"parcels\" with \"boxes\"");
    assert_eq!(verified(&second.receives(1)[0])["data"]["id"], after["id"]);
    assert_eq!(verified(&first.receives(2)[1])["data"]["id"], after["id"]);
    assert_eq!(second.deliveries().len(), 1, "not what ended before");
}

#[test]
fn a_hook_without_a_good_secret_is_refused_at_the_start_and_found_by_the_doctor() {
    let (installation, receiver) = (Installation::new(), HookReceiver::start());
    let (there, dead) = (receiver.url(), "http://127.0.0.1:1/docent".to_owned());
    let run = |args: &[&str], url: &str, secret: Option<&str>| {
        let mut command = installation.command(args);
        command.arg("--data").arg(installation.data());
        command.envs([("DOCENT_HOOKS__0__URL", url), ("DOCENT_HOOKS__0__SECRET_ENV", "ACME_HOOK_SECRET")]);
        command.envs(secret.map(|secret| ("ACME_HOOK_SECRET", secret)));
        docent_tests::Finished::from(command.output().expect("start docent"))
    };
    for (secret, named) in [
        (None, "`hooks.0.secret_env`: the variable ACME_HOOK_SECRET is not set; make one with"),
        (Some("hunter2-4711"), "the variable ACME_HOOK_SECRET holds no secret: a signing secret is `whsec_`"),
        (Some("whsec_aHVudGVyMg=="), "24 to 64 bytes"),
    ] {
        for args in [&["serve", "--listen", "127.0.0.1:0"][..], &["doctor"]] {
            let finished = run(args, &there, secret);
            let said = format!("{}{}", finished.stdout, finished.stderr);
            assert_eq!(finished.code, Some(1), "{said}");
            assert!(said.contains(named), "{said}");
            assert!(!said.contains("hunter2") && !said.contains("aHVudGVyMg"), "{said}");
        }
    }
    let listed = run(&["project", "list"], &there, None);
    assert_eq!(listed.code, Some(0), "other commands need no secret: {}", listed.stderr);
    let found = |url: &str| {
        let report = run(&["doctor", "--json"], url, Some(SECRET)).json();
        let findings = report["findings"].as_array().expect("a list").clone();
        findings.into_iter().find(|finding| finding["check"] == "webhook").expect("a finding")
    };
    assert_eq!(found(&there)["state"], "ok");
    let bad = found(&dead);
    assert_eq!(bad["state"], "bad");
    assert!(bad["what"].as_str().is_some_and(|what| what.contains("could not connect to 127.0.0.1:1")), "{bad}");
    assert!(receiver.deliveries().is_empty(), "the doctor sends no event");
}
