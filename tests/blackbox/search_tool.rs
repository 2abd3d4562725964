//! `docent search`: passages in the terminal, with the reasons why they were found.

use docent_tests::site::PAGES;
use docent_tests::{Installation, Site};
use serde_json::{Value, json};

/// A project `acme` with these docs, and no server.
fn docs<P: AsRef<str>, C: AsRef<[u8]>>(pages: &[(P, C)]) -> Installation {
    let installation = Installation::new();
    let repository = installation.repository("acme", pages);
    installation.add_project("acme", &repository);
    installation
}

#[test]
fn passages_are_shown_with_where_they_stand() {
    let installation = docs(PAGES);
    let first = installation.must(&["search", "acme", "webhook retries backoff"]);
    let lines: Vec<&str> = first.stdout.lines().collect();
    assert!(lines[0].starts_with("1. Webhooks  "), "{}", first.stdout);
    assert_eq!(lines[1], "   Guides › Webhooks › Retries", "{}", first.stdout);
    assert_eq!(lines[2], "   /guides/webhooks#retries", "{}", first.stdout);
    assert!(lines[3].contains("retried five times"), "{}", first.stdout);
    assert!(!first.stdout.contains('\u{1b}'), "no colours where there is no terminal: {}", first.stdout);
    assert!(first.stderr.contains("never indexed"), "why it took a while: {}", first.stderr);
    let one = installation.must(&["search", "acme", "acme parcel", "--limit", "1"]);
    assert!(one.stdout.starts_with("1. ") && !one.stdout.contains("\n2. "), "{}", one.stdout);
}

#[test]
fn words_that_were_met_are_bold_where_colours_are_wanted() {
    let installation = docs(PAGES);
    let mut command = installation.command(["search", "acme", "retry a webhook", "--data"]);
    command.arg(installation.data()).env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    let shown = String::from_utf8(command.output().expect("docent search").stdout).expect("text");
    assert!(shown.contains("\u{1b}[1mretried\u{1b}[0m"), "its other form too: {shown:?}");
    assert!(!shown.contains("\u{1b}[1ma\u{1b}[0m"), "no filler: {shown:?}");
}

#[test]
fn why_a_passage_was_found_is_told_by_place_and_word() {
    let installation = docs(PAGES);
    let shown = installation.must(&["search", "acme", "webhook retries", "--why"]).stdout;
    let reason = |place: &str| shown.lines().find(|line| line.trim_start().starts_with(place)).map(str::to_owned);
    assert!(reason("title  ").is_some_and(|line| line.contains("webhook ")), "{shown}");
    assert!(reason("section  ").is_some_and(|line| line.contains("retries ")), "{shown}");

    let told = installation.must(&["search", "acme", "webhook retries", "--why", "--json"]).json();
    let matches = told["passages"][0]["why"]["matches"].as_array().expect("what counted").clone();
    let weights: Vec<f64> = matches.iter().filter_map(|found| found["weight"].as_f64()).collect();
    assert!(weights.len() == matches.len() && weights.windows(2).all(|two| two[0] >= two[1]), "{told:#}");
    assert!(installation.must(&["search", "acme", "webhook", "--json"]).json()["passages"][0]["why"].is_null());
}

#[test]
fn the_tool_and_the_endpoint_find_the_same() {
    let site = Site::start();
    let over_http = site.assistant().search(&json!({ "query": "parcel warehouse", "pageSize": 5 })).json();
    let told = site.installation.must(&["search", "acme", "parcel warehouse", "--limit", "5", "--json"]).json();
    let of = |found: &Value| -> Vec<(Value, Value)> {
        let found = found.as_array().expect("passages");
        found.iter().map(|passage| (passage["path"].clone(), passage["content"].clone())).collect()
    };
    assert_eq!(of(&told["passages"]), of(&over_http));
    assert_eq!(told["domain"], "acme");
}

#[test]
fn a_filter_narrows() {
    let page = |head: &str| format!("---\ntitle: Install\n{head}---\n\nInstall the engine with {head:?}.\n");
    let installation = docs(&[
        ("v1/install.mdx", page("version: v1\n")),
        ("v2/install.mdx", page("version: v2\ntag: NEW\n")),
        ("de/install.mdx", page("language: de\n")),
    ]);
    let paths = |more: &[&str]| -> Vec<String> {
        let told = installation.must(&[&["search", "acme", "install engine", "--json"], more].concat()).json();
        let found = told["passages"].as_array().expect("passages");
        let mut paths: Vec<String> = found.iter().filter_map(|hit| hit["path"].as_str().map(str::to_owned)).collect();
        paths.sort_unstable();
        paths
    };
    assert_eq!(paths(&["--version", "v2"]), ["v2/install"]);
    assert_eq!(paths(&["--language", "de"]), ["de/install"], "one page, in the language that is asked for");
    assert_eq!(paths(&["--version", "v2", "--language", "en"]), ["v2/install"]);
    assert_eq!(paths(&["--tag", "NEW"]), ["v2/install"]);
}

#[test]
fn nothing_found_is_no_failure_and_a_mistake_is_told() {
    let installation = docs(PAGES);
    let nothing = installation.must(&["search", "acme", "quibblefrotz"]);
    assert_eq!(nothing.stdout, "");
    assert!(nothing.stderr.contains("nothing found on 7 pages"), "{}", nothing.stderr);
    assert_eq!(installation.must(&["search", "acme", "quibblefrotz", "--json"]).json()["passages"], json!([]));
    for (args, code, said) in [
        (&["search", "nowhere", "x"][..], 1, "no project has the domain `nowhere`; see `docent project list`"),
        (&["search", "acme", " "], 2, "give words to look for"),
        (&["search", "acme", "x", "--limit", "0"], 2, "--limit"),
        (&["search", "acme"], 2, "--help"),
    ] {
        let finished = installation.run(args);
        assert_eq!(finished.code, Some(code), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{args:?}: {}", finished.stderr);
    }
}
