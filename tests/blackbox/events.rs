//! The events of a job: streamed as they occur, and resumed after any interruption.

use std::thread;

use docent_tests::Site;
use docent_tests::agent::{Event, id};

use crate::errors::{all_refused, row};

fn pages(count: usize) -> Vec<(String, String)> {
    (0..count).map(|n| (format!("page-{n}.md"), format!("# Page {n}\n\nHere is alpha-{n:04}.\n"))).collect()
}

fn prompt(n: usize) -> String {
    format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\"")
}

/// All events of a job that has ended.
fn whole(site: &Site, job: &str) -> Vec<Event> {
    let response = site.server.send(&site.agent().events(job, None));
    assert_eq!(response.status, 200, "{}", response.text());
    Event::read(&response.body)
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

#[test]
fn a_job_is_heard_from_its_creation_to_its_end() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    let response = site.server.send(&site.agent().events(id(&job), None));
    assert_eq!(response.header("Content-Type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(response.header("Cache-Control"), Some("no-cache"));
    let events: Vec<Event> = Event::read(&response.body).into_iter().filter(|event| event.kind != "delta").collect();
    let heard = kinds(&events);
    assert_eq!(heard[..2], ["status", "asked"]);
    for kind in ["called", "answered", "replied", "pushed", "pullRequest"] {
        assert!(heard.contains(&kind), "{kind}: {heard:?}");
    }
    let ended = site.agent().ends(id(&job));
    let last = events.last().expect("events");
    assert_eq!((&last.data["status"], &last.data["message"]), (&ended["status"], &ended["message"]));
    let link = events.iter().find(|event| event.kind == "pullRequest").expect("a pull request");
    assert_eq!(link.data["url"], ended["prLink"]);
    assert_eq!(whole(&site, id(&job)), events, "told again the same");

    let heard_it_all = site.server.send(&site.agent().events(id(&job), last.id));
    assert_eq!(heard_it_all.status, 204, "nothing to come back for");
}

#[test]
fn a_client_goes_on_after_any_event_it_has() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().reaches(id(&job), "completed");
    let all = whole(&site, id(&job));
    for cut in 0..all.len() {
        let (kept, last) = Event::kept(all[..cut].to_vec());
        let rest = site.server.send(&site.agent().events(id(&job), last));
        assert_eq!([kept, Event::read(&rest.body)].concat(), all, "cut after {cut}");
    }
}

#[test]
fn a_follow_up_is_heard_by_whoever_comes_back() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    agent.reaches(id(&job), "completed");
    let last = whole(&site, id(&job)).last().and_then(|event| event.id);
    assert_eq!(agent.message(id(&job), "Replace \"parcel\" with \"package\"").status, 200);
    let events = Event::read(&site.server.send(&agent.events(id(&job), last)).body);
    assert_eq!(kinds(&events)[..2], ["status", "asked"]);
    assert_eq!(events.last().expect("an end").data["status"], "completed");
}

#[test]
fn a_killed_server_costs_its_listeners_nothing() {
    let points = ["claimed", "prepared", "committed", "pushed", "pull-request-opened", "completed"];
    thread::scope(|scope| {
        for point in points {
            scope.spawn(move || {
                let site = Site::with_env(&pages(1), &[("DOCENT_CRASH_AT", point)]);
                let job = site.agent().try_create(&serde_json::json!({ "prompt": prompt(0) })).json();
                let mut heard = Vec::new();
                // The server may have died before the client connects.
                if let Ok(mut stream) = site.agent().events(id(&job), None).open(site.server.address()) {
                    while let Ok(Some(piece)) = stream.piece() {
                        heard.extend(piece);
                    }
                }
                let (mut kept, last) = Event::kept(Event::read(&heard));
                let site = site.restarted(|server| assert!(!server.ended().success(), "{point}: it was to crash"));
                let rest = site.server.send(&site.agent().events(id(&job), last));
                kept.extend(Event::read(&rest.body));
                site.agent().reaches(id(&job), "completed");
                let live = |event: &Event| event.kind == "delta";
                kept.retain(|event| !live(event));
                assert_eq!(kept, whole(&site, id(&job)), "{point}: no event lost, none doubled");
            });
        }
    });
}

#[test]
fn listeners_of_a_server_that_stops_come_back_and_miss_nothing() {
    const JOBS: usize = 10;
    let site = Site::with_pages(&pages(JOBS));
    let jobs: Vec<_> = (0..JOBS).map(|n| site.agent().create(&prompt(n))).collect();
    let streams: Vec<_> = jobs
        .iter()
        .map(|job| site.agent().events(id(job), None).open(site.server.address()).expect("an answer"))
        .collect();
    site.server.terminate();
    let heard: Vec<_> = streams.into_iter().map(|stream| stream.finish().expect("a whole body").body).collect();
    let site = site.restarted(|server| assert!(server.ended().success()));
    for (job, heard) in jobs.iter().zip(heard) {
        let (mut kept, last) = Event::kept(Event::read(&heard));
        let rest = site.server.send(&site.agent().events(id(job), last));
        kept.extend(Event::read(&rest.body));
        kept.retain(|event| event.kind != "delta");
        site.agent().reaches(id(job), "completed");
        assert_eq!(kept, whole(&site, id(job)));
    }
}

#[test]
fn malformed_events_are_refused() {
    let site = Site::start();
    let job = site.agent().create("Replace \"no-such-term\" with \"another\"");
    site.agent().ends(id(&job));
    let events = |query: &str| site.agent().request("GET", &format!("job/{}/events{query}", id(&job)));
    all_refused(
        &site.server,
        &[
            row("garbage", events("").header("Last-Event-ID", "garbage"), 400, &["Last-Event-ID"]),
            row("garbage in the query", events("?lastEventId=-1"), 400, &["lastEventId"]),
            row("beyond the journal", events("?lastEventId=9999"), 400, &[]),
            row("no job", site.agent().request("GET", "job/nonsense/events"), 404, &[]),
            row("no key", docent_tests::Request::get(format!("/v2/agent/acme/job/{}/events", id(&job))), 401, &[]),
            row("another method", site.agent().request("POST", &format!("job/{}/events", id(&job))), 405, &[]),
        ],
    );
}
