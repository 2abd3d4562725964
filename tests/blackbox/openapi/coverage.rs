//! Whether every answer that is described was seen.

use std::collections::BTreeSet;
use std::fs;

use docent_tests::api_description::{SEEN, api_description, operations};

/// Statuses of any operation that no black-box test waits for, and why.
const UNSEEN: [(u16, &str); 2] =
    [(408, "a body may take a minute"), (503, "nodes:: stops the database, and asks for each")];

/// Holds what the tests before it have seen, in the file that `$DOCENT_SEEN` names, against the description.
#[test]
#[ignore = "needs what a run of all black-box tests has seen: cargo xtask test --only tests"]
fn every_answer_that_is_described_was_seen() {
    let file = std::env::var_os(SEEN).unwrap_or_else(|| panic!("${SEEN} names what was seen"));
    let text = fs::read_to_string(file).expect("read what was seen");
    let seen: BTreeSet<&str> = text.lines().collect();
    let described: Vec<String> = operations(api_description())
        .flat_map(|operation| {
            operation.statuses().into_iter().map(move |status| format!("{} {status}", operation.name()))
        })
        .collect();
    let excused = |answer: &str| UNSEEN.iter().any(|(status, _)| answer.ends_with(&format!(" {status}")));
    let missing: Vec<_> =
        described.iter().filter(|answer| !seen.contains(answer.as_str()) && !excused(answer)).collect();
    assert!(missing.is_empty(), "answers that are described and were not seen: {missing:#?}");
}
