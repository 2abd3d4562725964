//! The search and page endpoints: passages and pages without a model.

use docent_tests::installation::KeyKind;
use docent_tests::{Installation, Site};
use serde_json::{Value, json};

fn results(site: &Site, body: &Value) -> Vec<Value> {
    let response = site.assistant().search(body);
    assert_eq!(response.status, 200, "{}", response.text());
    assert!(response.header("Content-Type").is_some_and(|kind| kind.starts_with("application/json")));
    response.json().as_array().expect("an array of passages").clone()
}

#[test]
fn a_search_gives_the_best_passages_first() {
    let site = Site::start();
    let found = results(&site, &json!({ "query": "webhook retries backoff" }));
    assert!(!found.is_empty() && found.len() <= 10, "ten unless told: {}", found.len());
    assert!(found[0]["path"].as_str().is_some_and(|path| path.contains("guides/webhooks")), "{:#}", found[0]);
    assert!(
        found[0]["content"].as_str().is_some_and(|content| content.contains("retried five times")),
        "{:#}",
        found[0]
    );
    for passage in &found {
        assert!(passage["metadata"].is_object(), "{passage:#}");
        assert!(passage["score"].as_f64().is_some_and(|score| (0.0..=1.0).contains(&score)), "{passage:#}");
    }
    let scores: Vec<f64> = found.iter().filter_map(|passage| passage["score"].as_f64()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "best first: {scores:?}");
}

#[test]
fn a_search_keeps_to_its_size_and_threshold() {
    let site = Site::start();
    assert_eq!(results(&site, &json!({ "query": "acme", "pageSize": 1 })).len(), 1);
    let all = results(&site, &json!({ "query": "acme parcel warehouse", "pageSize": 50 }));
    let best = all[0]["score"].as_f64().expect("a score");
    for passage in
        results(&site, &json!({ "query": "acme parcel warehouse", "pageSize": 50, "scoreThreshold": best * 0.9 }))
    {
        assert!(passage["score"].as_f64().is_some_and(|score| score >= best * 0.9), "{passage:#}");
    }
    assert!(results(&site, &json!({ "query": "quibblefrotz" })).is_empty());
}

#[test]
fn a_search_without_words_or_with_strange_ones_is_still_answered() {
    let site = Site::start();
    for query in ["?", "\"unclosed", "a AND (b OR", "title:", "*", "☕", "\u{0}", "+ - ~ ^2", &"long ".repeat(500)] {
        let response = site.assistant().search(&json!({ "query": query }));
        assert!(matches!(response.status, 200 | 400), "{query:?}: {} {}", response.status, response.text());
    }
}

#[test]
fn a_filter_narrows_and_pages_without_the_field_pass() {
    let page = |version: &str, word: &str| {
        format!("---\ntitle: Install {version}\n{version}description: How.\n---\n\nInstall the {word} engine.\n")
    };
    let site = Site::with_pages(&[
        ("v1/install.mdx", page("version: v1\n", "steam")),
        ("v2/install.mdx", page("version: v2\n", "electric")),
        ("about.mdx", page("", "any")),
    ]);
    let paths = |filter: Value| -> Vec<String> {
        let found = results(&site, &json!({ "query": "install engine", "filter": filter }));
        let mut paths: Vec<String> = found.iter().filter_map(|hit| hit["path"].as_str().map(str::to_owned)).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    };
    assert_eq!(paths(Value::Null), ["about", "v2/install"], "of a page in two versions the current one");
    let narrowed = paths(json!({ "version": "v2" }));
    assert_eq!(narrowed.len(), 2, "{narrowed:?}");
    assert!(narrowed.iter().all(|path| !path.contains("v1")), "{narrowed:?}");
}

#[test]
fn a_page_is_given_whole_under_any_of_its_names() {
    let site = Site::start();
    let found = results(&site, &json!({ "query": "webhook retries backoff" }));
    let found = found[0]["path"].as_str().expect("a passage says where it is from");
    for path in ["/guides/webhooks", "guides/webhooks", "/guides/webhooks#retries", found] {
        let response = site.assistant().page(&json!({ "path": path }));
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        let page = response.json();
        assert!(page["path"].as_str().is_some_and(|path| path.contains("guides/webhooks")), "{page:#}");
        let content = page["content"].as_str().expect("the content");
        assert!(content.contains("retried five times") && content.contains("Acme-Signature"), "{content}");
    }
}

#[test]
fn a_site_in_a_folder_of_its_repository_shows_nothing_else_of_it() {
    let installation = Installation::new();
    let files = [
        ("docs/index.md", "# Hello\n\nThe handbook of the parcel robot.\n"),
        ("secrets/plan.md", "# Plan\n\nThe robot will be painted magenta.\n"),
    ];
    let repository = installation.repository("robot", &files);
    let path = repository.path().display().to_string();
    installation.must(&["project", "add", "robot", "--repo", &path, "--docs-root", "docs", "--domain", "robot-docs"]);
    let key = installation.mint("robot", KeyKind::Assistant, &[]);
    let server = installation.serve();
    let assistant = docent_tests::Assistant::new(&server, "robot-docs", &key);
    assistant.is_ready();
    let found = assistant.search(&json!({ "query": "robot" })).json();
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found:#}");
    assert!(!found.to_string().contains("magenta"));
    assert_eq!(assistant.page(&json!({ "path": "/secrets/plan" })).status, 404);
    assert_eq!(assistant.page(&json!({ "path": "/../secrets/plan" })).status, 404);
}
