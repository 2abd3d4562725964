//! Paging through the jobs of a project.

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::{Agent, Site};
use serde_json::Value;

use crate::errors::{all_refused, row};

const NOTHING_TO_DO: &str = "Replace \"no-such-term\" with \"another\"";

fn page(site: &Site, query: &str) -> Value {
    let response = site.server.send(&site.agent().request("GET", &format!("jobs{query}")));
    assert_eq!(response.status, 200, "{query}: {}", response.text());
    response.json()
}

fn ids(page: &Value, list: &str, key: &str) -> Vec<String> {
    let list = page[list].as_array().unwrap_or_else(|| panic!("a list: {page:#}"));
    list.iter().map(|one| one[key].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn all_jobs_are_found_page_by_page_while_others_are_made_and_across_a_restart() {
    let site = Site::start();
    let mut made: Vec<String> = Vec::new();
    for _ in 0..9 {
        made.insert(0, id(&site.agent().create(NOTHING_TO_DO)).to_owned());
    }
    let first = page(&site, "?limit=4");
    site.agent().create(NOTHING_TO_DO);
    let site = site.killed_and_restarted();
    let mut seen = ids(&first, "jobs", "id");
    let mut cursor = first["nextCursor"].clone();
    while let Some(next) = cursor.as_str() {
        let page = page(&site, &format!("?limit=4&cursor={next}"));
        seen.extend(ids(&page, "jobs", "id"));
        site.agent().create(NOTHING_TO_DO);
        cursor = page["nextCursor"].clone();
    }
    assert_eq!(seen, made);
}

#[test]
fn a_list_holds_what_each_job_says_of_itself() {
    let site = Site::start();
    let agent = site.agent();
    let done = agent.create(NOTHING_TO_DO);
    let done = agent.reaches(id(&done), "completed");
    let failed = agent.create("Make everything better, please");
    let failed = agent.reaches(id(&failed), "failed");
    let gone = agent.create(NOTHING_TO_DO);
    agent.reaches(id(&gone), "completed");
    assert_eq!(agent.archive(id(&gone)).status, 200);
    let gone = agent.job(id(&gone));
    for (query, expected) in [
        ("", vec![&gone, &failed, &done]),
        ("?status=completed", vec![&done]),
        ("?status=failed&limit=1", vec![&failed]),
        ("?status=archived", vec![&gone]),
        ("?status=active", vec![]),
    ] {
        let page = page(&site, query);
        assert_eq!(page["jobs"].as_array().expect("a list").iter().collect::<Vec<_>>(), expected, "{query}");
        assert!(page["nextCursor"].is_null(), "{query}");
    }
    let sessions = site.server.send(&agent.request_v1("GET", "jobs?skip=1&take=1")).json();
    assert_eq!(sessions["allSessions"], serde_json::json!([agent.session(id(&failed))]));
}

#[test]
fn a_project_lists_its_own_jobs_alone() {
    let site = Site::start();
    site.agent().create(NOTHING_TO_DO);
    site.installation.add_project("other", &site.repository);
    let key = site.installation.mint("other", KeyKind::Admin, &[]);
    let other = Agent::new(&site.server, "other", &key);
    let theirs = other.create(NOTHING_TO_DO);
    let listed = site.server.send(&other.request("GET", "jobs")).json();
    assert_eq!(ids(&listed, "jobs", "id"), [id(&theirs)]);
    let listed = site.server.send(&other.request_v1("GET", "jobs")).json();
    assert_eq!(ids(&listed, "allSessions", "sessionId"), [id(&theirs)]);
}

#[test]
fn a_list_that_cannot_be_is_refused() {
    let site = Site::start();
    let get = |query: &str| site.agent().request("GET", &format!("jobs?{query}"));
    all_refused(
        &site.server,
        &[
            row("an unknown status", get("status=done"), 400, &["status", "`active`", "`archived`"]),
            row("no limit", get("limit=0"), 400, &["limit", "100"]),
            row("a large limit", get("limit=101"), 400, &["limit", "100"]),
            row("a limit in words", get("limit=ten"), 400, &["limit"]),
            row("a made-up cursor", get("cursor=abc"), 400, &["cursor"]),
        ],
    );
}
