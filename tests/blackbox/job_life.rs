//! The life of a job after it first ends: follow-ups and archiving.

use docent_tests::Site;
use docent_tests::agent::{branch, id, pull_request};
use serde_json::Value;

#[test]
fn a_follow_up_continues_the_same_branch_and_pull_request() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let first = agent.reaches(id(&job), "completed");

    let response = agent.message(id(&job), "Replace \"parcel\" with \"package\" in quickstart.mdx");
    assert_eq!(response.status, 200, "{}", response.text());
    let taken_up = response.json();
    assert_eq!(taken_up["id"], job["id"]);
    assert_eq!(taken_up["status"], "active", "a completed job is active again");

    let second = agent.reaches(id(&job), "completed");
    assert_eq!(branch(&second), branch(&first));
    assert_eq!(pull_request(&second), pull_request(&first));
    assert_eq!(site.repository.branches(), [branch(&first)]);
    assert_eq!(site.repository.commits_ahead(branch(&first)), 2, "one commit a turn");
    let page = site.repository.file(branch(&first), "quickstart.mdx");
    assert!(page.contains("gadget") && page.contains("package"), "both turns are in the page: {page}");
}

#[test]
fn a_repository_is_named_by_a_full_url_without_credentials() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    assert_eq!(job["source"]["repository"], format!("file://{}", site.repository.path().display()));
}

#[test]
fn a_failed_job_is_taken_up_again_by_a_follow_up() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Make everything better, please");
    agent.reaches(id(&job), "failed");
    assert_eq!(agent.message(id(&job), "Replace \"widget\" with \"gadget\"").status, 200);
    let job = agent.reaches(id(&job), "completed");
    assert_eq!(site.repository.commits_ahead(branch(&job)), 1);
}

#[test]
fn a_follow_up_to_an_active_job_is_carried_out_too() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    // Whether the follow-up arrives in time or finds the job completed, both instructions must be carried out.
    assert_eq!(agent.message(id(&job), "Replace \"parcel\" with \"package\"").status, 200);
    let job = agent.reaches(id(&job), "completed");
    let page = site.repository.file(branch(&job), "quickstart.mdx");
    assert!(page.contains("gadget") && page.contains("package"), "{page}");
    assert_eq!(site.repository.branches().len(), 1);
}

#[test]
fn an_archived_job_is_final() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let completed = agent.reaches(id(&job), "completed");
    assert_eq!(completed["archivedAt"], Value::Null);

    let response = agent.archive(id(&job));
    assert_eq!(response.status, 200, "{}", response.text());
    let archived = response.json();
    assert_eq!(archived["status"], "archived");
    assert!(archived["archivedAt"].is_string(), "{archived:#}");
    assert_eq!(archived["prLink"], completed["prLink"], "the pull request stays");

    let refused = agent.message(id(&job), "Replace \"gadget\" with \"widget\"");
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert!(!refused.error().is_empty());
    assert_eq!(agent.job(id(&job))["status"], "archived");
}

#[test]
fn archiving_an_active_job_stops_it() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let archived = agent.archive(id(&job));
    assert_eq!(archived.status, 200, "{}", archived.text());
    assert_eq!(archived.json()["status"], "archived");
    let later = agent.create("Replace \"warehouse\" with \"depot\"");
    agent.reaches(id(&later), "completed");
    assert_eq!(agent.job(id(&job))["status"], "archived", "nothing brings it back");
}

#[test]
fn a_job_and_its_pull_request_outlive_the_server() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    let before = site.agent().reaches(id(&job), "completed");
    let site = site.killed_and_restarted();
    let after = site.agent().job(id(&job));
    assert_eq!(after["status"], "completed");
    assert_eq!(pull_request(&after), pull_request(&before));
    let page = docent_tests::Person::follows(&site, &pull_request(&after));
    assert_eq!(page.status, 200);
    assert!(page.text().contains("gadget"), "the diff is still shown");
}
