//! `kill -9` at any moment: every accepted job ends, with one branch, one commit and one pull request.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;
use std::time::Duration;

use docent_tests::agent::{branch, id, pull_request};
use docent_tests::{Person, Site};
use serde_json::{Value, json};

/// The points at which a debug build can be told to crash, in the order in which a job passes them.
const POINTS: [&str; 10] = [
    "submitted", "claimed", "prepared", "model-replied", "tools-ran", "checked", "committed", "pushed",
    "pull-request-opened", "completed",
];

/// Pages with a unique word each, so that each job edits a different file.
fn pages(count: usize) -> Vec<(String, String)> {
    (0..count)
        .map(|n| {
            let title = format!("---\ntitle: Page {n}\ndescription: The page with the number {n}.\n---\n\n");
            (format!("page-{n}.mdx"), format!("{title}Here is alpha-{n:04} and nothing else.\n"))
        })
        .collect()
}

fn prompt(n: usize) -> Value {
    json!({ "prompt": format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\"") })
}

/// Submits job `n` with an idempotency key; `None` if the server died before it answered.
fn submit(site: &Site, n: usize) -> Option<String> {
    let request = site.agent().request("POST", "job").header("Idempotency-Key", format!("job-{n}")).json(&prompt(n));
    let response = request.send(site.server.address()).ok()?;
    assert_eq!(response.status, 201, "{}", response.text());
    Some(id(&response.json()).to_owned())
}

/// Asserts that the first `count` jobs ended as without a crash.
fn all_is_as_if_nothing_happened(site: &Site, count: usize) {
    let agent = site.agent();
    let mut branches = BTreeSet::new();
    let mut pull_requests = BTreeSet::new();
    for n in 0..count {
        // A job whose submission failed is submitted now; for an accepted one the idempotency key returns the first
        // response.
        let id = submit(site, n).expect("the server stays up");
        let job = agent.reaches(&id, "completed");
        let branch = branch(&job).to_owned();
        assert_eq!(site.repository.commits_ahead(&branch), 1, "one commit on {branch}: {job:#}");
        assert_eq!(site.repository.changed_files(&branch), [format!("page-{n}.mdx")]);
        assert!(site.repository.file(&branch, &format!("page-{n}.mdx")).contains(&format!("beta-{n:04}")));
        let page = Person::follows(site, &pull_request(&job));
        assert_eq!(page.status, 200, "{job:#}");
        assert!(page.text().contains(&format!("beta-{n:04}")), "the pull request shows the change of job {n}");
        assert!(pull_requests.insert(pull_request(&job)), "a pull request of its own: {job:#}");
        assert!(branches.insert(branch), "a branch of its own");
    }
    assert_eq!(site.repository.branches(), branches.into_iter().collect::<Vec<_>>(), "no branch besides");
}

/// Runs the story at each point, all at once with a server each: most of the time is spent waiting for a dead worker's
/// lease.
fn at_each<'p>(points: impl IntoIterator<Item = &'p str>, story: impl Fn(&str) + Sync) {
    thread::scope(|scope| {
        for point in points {
            let story = &story;
            scope.spawn(move || story(point));
        }
    });
}

#[test]
fn a_crash_at_each_named_point_loses_and_doubles_nothing() {
    at_each(POINTS, |point| {
        let site = Site::with_env(&pages(2), &[("DOCENT_CRASH_AT", point)]);
        submit(&site, 0);
        let site = site.restarted(|server| {
            let status = server.ended();
            assert!(!status.success(), "{point}: the server was to crash, and ended with {status}");
        });
        all_is_as_if_nothing_happened(&site, 2);
    });
}

#[test]
fn a_crash_in_a_second_job_spares_the_first() {
    at_each(["claimed", "committed", "pushed", "pull-request-opened", "completed"], |point| {
        let at = format!("{point}:2");
        let site = Site::with_env(&pages(2), &[("DOCENT_CRASH_AT", &at)]);
        let first = submit(&site, 0).expect("the first job is accepted");
        site.agent().reaches(&first, "completed");
        submit(&site, 1);
        let site = site.restarted(|server| assert!(!server.ended().success(), "{at}: the server was to crash"));
        all_is_as_if_nothing_happened(&site, 2);
    });
}

#[test]
fn a_crash_after_a_crash_is_survived_too() {
    let site = Site::with_env(&pages(1), &[("DOCENT_CRASH_AT", "submitted")]);
    submit(&site, 0);
    let Site { server, repository, admin_key, assistant_key, installation } = site;
    assert!(!server.ended().success());
    for point in ["model-replied", "committed", "pull-request-opened"] {
        let server = installation.serve_with(&[("DOCENT_CRASH_AT", point)]);
        assert!(!server.ended().success(), "the server was to crash at {point}");
    }
    let server = installation.serve();
    let site = Site { server, repository, admin_key, assistant_key, installation };
    all_is_as_if_nothing_happened(&site, 1);
}

#[test]
fn a_kill_at_any_moment_loses_and_doubles_nothing() {
    const JOBS: usize = 24;
    let mut dice = Dice::thrown();
    println!("DOCENT_TEST_SEED={}", dice.seed);
    let mut site = Site::with_pages(&pages(JOBS));
    let mut submitted = 0;
    while submitted < JOBS {
        // At most 18 kills in all: a job that dies for the 21st time is given up, and on a slow machine one may die each time.
        let batch = (2 + dice.below(3)) as usize;
        thread::scope(|scope| {
            for n in submitted..JOBS.min(submitted + batch) {
                let site = &site;
                scope.spawn(move || submit(site, n));
            }
            // The time of the kill is random by intention; this is not a wait for a condition.
            thread::sleep(Duration::from_millis(dice.below(160)));
            site.server.kill_now();
        });
        submitted += batch;
        site = site.killed_and_restarted();
    }
    for _ in 0..6 {
        thread::sleep(Duration::from_millis(dice.below(120)));
        site = site.killed_and_restarted();
    }
    all_is_as_if_nothing_happened(&site, JOBS);
}

/// Reproducible random numbers: the seed is printed, and can be set by `DOCENT_TEST_SEED`.
struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    fn thrown() -> Self {
        let given = std::env::var("DOCENT_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish()) | 1;
        Self { seed, state: seed }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % end
    }
}
