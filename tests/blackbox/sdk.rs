//! The real SDK clients, in node, against the built server.

use std::process::Command;

use docent_tests::{Site, binary};

/// Needs node and the packages of `tests/sdk`, which `cargo xtask test` brings; `$DOCENT_NODE` names another node.
#[test]
#[ignore = "needs node and the packages of tests/sdk: cargo xtask test --only sdk"]
fn the_real_sdk_clients_read_the_assistant_and_the_agent() {
    let site = Site::start();
    let node = std::env::var("DOCENT_NODE").unwrap_or_else(|_| "node".to_owned());
    let status = Command::new(node)
        .arg("clients.mjs")
        .arg(site.server.url())
        .arg(docent_tests::site::PROJECT)
        .current_dir(binary::source_root().join("tests/sdk"))
        .env("DOCENT_KEY", &site.assistant_key)
        .env("DOCENT_ADMIN_KEY", &site.admin_key)
        .status()
        .expect("start node");
    assert!(status.success(), "the clients found fault: {status}");
}
