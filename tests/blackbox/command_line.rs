//! The command line: safe beside a running server, plain about what went wrong.

use std::thread;

use docent_tests::installation::KeyKind;
use docent_tests::{Agent, Installation, Request, Site, eventually};

#[test]
fn what_the_command_line_changes_is_seen_by_a_running_server() {
    let site = Site::start();
    let other = site.installation.repository("other", &[("index.md", "# Other\n\nA zebra crossing.\n")]);
    site.installation.add_project("other", &other);
    let key = site.installation.mint("other", KeyKind::Admin, &[]);
    let agent = Agent::new(&site.server, "other", &key);
    let job = agent.create("Replace \"zebra\" with \"pelican\"");
    agent.reaches(docent_tests::agent::id(&job), "completed");
    assert_eq!(other.branches().len(), 1);

    site.installation.must(&["project", "remove", "other"]);
    // What a server has read is good for a fifth of a second.
    let list = agent.request("GET", "jobs");
    let refused = eventually("the key of the removed project to be refused", || {
        let response = site.server.send(&list);
        (response.status != 200).then_some(response)
    });
    assert!(matches!(refused.status, 401 | 403), "{} {}", refused.status, refused.text());
}

#[test]
fn two_commands_at_once_beside_a_busy_server_both_succeed() {
    let site = Site::start();
    let keys: Vec<String> = thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for _ in 0..30 {
                site.agent().create("Replace \"no-such-term\" with \"another\"");
            }
        });
        let commands: Vec<_> =
            (0..4).map(|_| scope.spawn(|| site.installation.mint("acme", KeyKind::Admin, &[]))).collect();
        let keys = commands.into_iter().map(|command| command.join().expect("a key")).collect();
        busy.join().expect("the server stayed busy");
        keys
    });
    for key in keys {
        let response = site.server.send(&Request::get("/v2/agent/acme/job/x").bearer(&key));
        assert_eq!(response.status, 404, "a good key, no such job: {}", response.text());
    }
}

#[test]
fn a_project_is_listed_and_removed() {
    let installation = Installation::new();
    let repository = installation.repository("acme", docent_tests::site::PAGES);
    installation.add_project("acme", &repository);
    assert!(installation.must(&["project", "list"]).stdout.contains("acme"));
    let listed = installation.must(&["project", "list", "--json"]).json();
    assert!(listed.to_string().contains("acme.git"), "{listed:#}");
    let again = installation.run(&["project", "add", "acme", "--repo", &repository.path().display().to_string()]);
    assert_eq!(again.code, Some(1), "an id is taken once: {}", again.stderr);
    installation.must(&["project", "remove", "acme"]);
    assert!(!installation.must(&["project", "list"]).stdout.contains("acme"));
    assert_eq!(installation.run(&["project", "remove", "acme"]).code, Some(1));
}

#[test]
fn a_wrong_command_is_a_usage_error_and_says_what_is_right() {
    let installation = Installation::new();
    for args in [&["frobnicate"][..], &["project", "add"], &["key", "create", "--project", "a", "--kind", "root"]] {
        let finished = installation.run(args);
        assert_eq!(finished.code, Some(2), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("--help"), "{args:?}: {}", finished.stderr);
    }
    let bad_name = installation.run(&["project", "add", "../etc", "--repo", "/tmp"]);
    assert!(matches!(bad_name.code, Some(1 | 2)), "{}", bad_name.stderr);
    assert!(bad_name.stderr.contains("../etc"), "{}", bad_name.stderr);
}

#[test]
fn a_key_the_configuration_does_not_know_is_named() {
    let installation = Installation::new();
    let config = installation.root().join("docent.toml");
    std::fs::write(&config, "listen = \"127.0.0.1:0\"\n\n[agent]\nworkerz = 3\n").expect("write the configuration");
    let config = config.display().to_string();
    let finished = installation.run(&["serve", "--config", &config]);
    assert!(matches!(finished.code, Some(1 | 2)), "{:?} {}", finished.code, finished.stderr);
    assert!(finished.stderr.contains("workerz"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

#[test]
fn the_doctor_says_what_is_well_and_what_is_not() {
    let site = Site::start();
    let healthy = site.installation.must(&["doctor"]);
    assert!(healthy.stdout.contains("git"), "{}", healthy.stdout);
    std::fs::remove_dir_all(site.repository.path()).expect("remove the repository");
    let sick = site.installation.run(&["doctor"]);
    assert_eq!(sick.code, Some(1), "{}", sick.stdout);
    assert!(format!("{}{}", sick.stdout, sick.stderr).contains("acme"), "{}", sick.stdout);
}

#[test]
fn indexing_says_what_it_read() {
    let site = Site::start();
    let finished = site.installation.must(&["index", "acme"]);
    assert!(format!("{}{}", finished.stdout, finished.stderr).contains('7'), "seven pages: {}", finished.stdout);
    assert_eq!(site.installation.run(&["index", "nowhere"]).code, Some(1));
}
