//! Search with an embedding server, while it answers and while it does not.

use std::time::Duration;

use docent_tests::embedding_server::EmbeddingServer;
use docent_tests::{Request, Site, eventually};
use serde_json::json;

const PAGES: &[(&str, &str)] = &[
    ("keys.md", "# Keys\n\n## Expiry\n\nKeys expire after ninety days.\n"),
    ("hooks.md", "# Hooks\n\nHooks tell of deliveries.\n"),
];

/// All words for "expired" have the same vector.
fn meaning(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let is_over = ["expir", "outdated", "bygone", "stale"].iter().any(|word| text.contains(word));
    if is_over { vec![1.0, 0.0, 0.0] } else { vec![0.0, 1.0, 0.0] }
}

/// The value of the counter of question vectors with this outcome, from `/metrics`.
fn counted(site: &Site, outcome: &str) -> u64 {
    let text = site.server.send(&Request::get("/metrics")).text().to_owned();
    let name = format!("docent_question_vectors_total{{outcome=\"{outcome}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(name.as_str()));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {name}in:\n{text}"))
}

fn found(site: &Site, query: &str) -> Vec<String> {
    let response = site.assistant().search(&json!({ "query": query }));
    assert_eq!(response.status, 200, "{}", response.text());
    let found = response.json();
    found.as_array().expect("passages").iter().filter_map(|hit| hit["path"].as_str().map(str::to_owned)).collect()
}

/// A site whose sections have vectors.
fn embedded_site(embedder: &EmbeddingServer, more: &[(&str, &str)]) -> Site {
    let configured = embedder.configures();
    let own = configured.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let site = Site::with_env(PAGES, &own.chain(more.iter().copied()).collect::<Vec<_>>());
    eventually("sections to have vectors", || (found(&site, "bygone") == ["keys"]).then_some(()));
    site
}

/// The number of log lines which say that words alone answered.
fn told_of_words_alone(site: &Site) -> usize {
    let log = std::fs::read_to_string(site.installation.root().join("server.log")).expect("a log");
    log.matches("by words alone").count()
}

#[test]
fn a_question_does_not_wait_for_a_slow_embedder_and_is_served_the_next_time() {
    let embedder = EmbeddingServer::start(meaning);
    let site = embedded_site(&embedder, &[]);
    let embedded = counted(&site, "embedded");
    assert!(embedded > 0);
    assert_eq!(found(&site, "bygone"), ["keys"]);
    assert_eq!((counted(&site, "embedded"), embedder.times_asked("bygone")), (embedded, 1), "it was known");

    let (late, cached) = (counted(&site, "late"), counted(&site, "cached"));
    embedder.hold();
    assert!(found(&site, "outdated").is_empty(), "words alone find nothing");
    assert!(found(&site, "stale").is_empty());
    assert_eq!(found(&site, "deliveries"), ["hooks"], "and what they find is found");
    assert_eq!((counted(&site, "late"), counted(&site, "cached")), (late + 3, cached));
    assert_eq!(told_of_words_alone(&site), 1);

    embedder.release();
    // The pending embedding request completes after the search, and its vector is cached.
    eventually("the vector of the question", || (found(&site, "outdated") == ["keys"]).then_some(()));
    assert_eq!(found(&site, "outdated"), ["keys"]);
    assert!(counted(&site, "cached") > cached);
    assert_eq!(embedder.times_asked("outdated"), 1);
}

#[test]
fn the_assistant_waits_for_a_hosted_embedder_where_the_search_endpoint_does_not() {
    let embedder = EmbeddingServer::start(meaning);
    // Longer than the default, for a machine that is busy with other tests.
    let site = embedded_site(&embedder, &[("DOCENT_SEARCH__ASSISTANT_WAIT_MS", "10000")]);
    embedder.delay(Duration::from_millis(400));
    let (late, embedded) = (counted(&site, "late"), counted(&site, "embedded"));
    assert!(found(&site, "outdated").is_empty(), "the endpoint waits for 300 ms");
    assert_eq!((counted(&site, "late"), counted(&site, "embedded")), (late + 1, embedded));
    let answer = site.assistant().ask("stale");
    assert_eq!((counted(&site, "late"), counted(&site, "embedded")), (late + 1, embedded + 1), "{}", answer.text());
    // The vectors of both questions are cached from here on.
    eventually("the vector of the question", || (found(&site, "outdated") == ["keys"]).then_some(()));
    assert_eq!(found(&site, "stale"), ["keys"]);
    assert_eq!((embedder.times_asked("outdated"), embedder.times_asked("stale")), (1, 1));
}

#[test]
fn the_assistant_answers_by_words_when_the_embedder_takes_two_seconds() {
    let embedder = EmbeddingServer::start(meaning);
    let site = embedded_site(&embedder, &[]);
    embedder.delay(Duration::from_secs(2));
    let late = counted(&site, "late");
    let answer = site.assistant().ask("what tells of deliveries?");
    assert!(answer.text().contains("Hooks tell of deliveries"), "{}", answer.text());
    assert_eq!((counted(&site, "late"), told_of_words_alone(&site)), (late + 1, 1));
}

#[test]
fn words_answer_at_once_where_the_embedder_fails() {
    let embedder = EmbeddingServer::start(meaning);
    let site = embedded_site(&embedder, &[]);
    embedder.fail();
    let failed = counted(&site, "failed");
    assert_eq!(found(&site, "deliveries"), ["hooks"]);
    assert!(found(&site, "outdated").is_empty());
    assert_eq!((counted(&site, "failed"), told_of_words_alone(&site)), (failed + 2, 1));
    embedder.release();
    assert_eq!(found(&site, "outdated"), ["keys"], "a failure is not remembered");
}
