//! `/metrics` after a job and a question: every duration has been counted, and so has what is kept. What `deploy/` draws and
//! alerts on is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use docent_tests::agent::id;
use docent_tests::{Request, Server, Site, eventually};

fn metrics(server: &Server) -> String {
    server.send(&Request::get("/metrics")).text().to_owned()
}

/// The value of the series that begins with this name and these labels.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in {text}")).parse().expect("a number")
}

/// A site that has carried out a job and answered a question, the id of the job, and the metrics then.
fn busy_site() -> (Site, String, String) {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().reaches(id(&job), "completed");
    site.assistant().ask("How often is a webhook retried?");
    let text = eventually("the end of the job to be counted", || {
        let text = metrics(&site.server);
        (value(&text, "docent_job_duration_seconds_count{status=\"completed\"}") > 0.0).then_some(text)
    });
    (site, id(&job).to_owned(), text)
}

#[test]
fn a_job_and_a_question_are_timed_from_end_to_end() {
    let (site, job, text) = busy_site();
    for series in [
        "docent_http_request_duration_seconds_count{route=\"/v2/agent\",status=\"2xx\"}",
        "docent_reply_first_token_seconds_count",
        "docent_model_call_duration_seconds_count{model=\"builtin\",outcome=\"done\"}",
        "docent_job_wait_seconds_count",
        "docent_git_duration_seconds_count{operation=\"fetch\",outcome=\"done\"}",
        "docent_git_duration_seconds_count{operation=\"commit\",outcome=\"done\"}",
        "docent_git_duration_seconds_count{operation=\"push\",outcome=\"done\"}",
        "docent_store_commit_duration_seconds_count{outcome=\"done\"}",
        "docent_index_updated_timestamp_seconds{domain=\"acme\"}",
        "docent_data_bytes{part=\"database\"}",
        "docent_disk_free_bytes",
        "docent_disk_size_bytes",
    ] {
        assert!(value(&text, series) >= 1.0, "{series} in {text}");
    }
    let git = value(&text, "docent_git_duration_seconds_sum{operation=\"push\",outcome=\"done\"}");
    assert!(git > 0.0 && git < 60.0, "a duration is in seconds: {git}");
    site.agent().message(&job, "Replace \"parcel\" with \"package\" in quickstart.mdx");
    site.agent().reaches(&job, "completed");
    let ended = value(&metrics(&site.server), "docent_job_duration_seconds_count{status=\"completed\"}");
    assert!((ended - 1.0).abs() < 0.5, "the pause before a follow-up is not part of a job's duration: {ended}");
}

#[test]
fn the_dashboard_and_the_alerts_name_metrics_that_there_are() {
    let (_site, _, text) = busy_site();
    let shown: BTreeSet<&str> = text.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    for file in ["grafana.json", "alerts.yml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(file);
        let read = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let words = read.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named: BTreeSet<&str> =
            words.filter(|word| word.starts_with("docent_") || word.starts_with("process_")).collect();
        assert!(named.len() > 5, "{file} names {named:?}");
        let unknown: Vec<_> = named.difference(&shown).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}, which no server shows");
    }
}
