//! Nodes as the systemd unit starts them, with the configuration of `examples/three_nodes/docent.toml`.

use std::fs;
use std::path::Path;

use docent_tests::agent::{branch, id};
use docent_tests::{Postgres, Request};

use super::Nodes;

fn deployed(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    fs::read_to_string(file).expect("read a file that says how to deploy")
}

/// Nodes start, and a job that is given to one of them is read at another, under the address that all are told.
fn work_together(nodes: &Nodes) {
    for node in &nodes.nodes {
        assert_eq!(node.server.send(&Request::get("/readyz")).status, 200);
    }
    let job = nodes.agent(0).create("Replace \"sign in\" with \"log in\"");
    let job = nodes.agent(1).reaches(id(&job), "completed");
    let link = job["prLink"].as_str().expect("a pull request");
    assert!(link.starts_with("https://docent.example.com/"), "{link}");
    assert_eq!(nodes.repository.commits_ahead(branch(&job)), 1, "{job:#}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn nodes_run_as_the_unit_and_the_example_of_three_say() {
    let unit = deployed("deploy/docent.service");
    let value = |name: &str| unit.lines().find_map(|line| line.strip_prefix(name)).expect("a setting of the unit");
    assert_eq!(value("ExecStart=").split_once(' ').map(|(_, arguments)| arguments), Some("serve"));
    let postgres = Postgres::start();
    let toml = deployed("examples/three_nodes/docent.toml");
    // What is elsewhere on this machine. The folder of the data is each node's own.
    let configuration = toml
        .replace("database.internal/", &format!("{}/", postgres.address()))
        .replace("/run/credentials/docent.service/key_database", &postgres.password_file().display().to_string());
    assert!(configuration.contains(&postgres.address().to_string()), "{configuration}");
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let file = folder.path().join("docent.toml");
    fs::write(&file, configuration).expect("write the configuration");
    let variables = value("Environment=").split(' ').filter_map(|one| one.split_once('='));
    let env: Vec<(String, String)> = variables
        .filter(|(name, _)| *name != "DOCENT_DATA")
        .map(|(name, value)| (name.to_owned(), value.replace("/etc/docent/docent.toml", &file.display().to_string())))
        .collect();
    assert_eq!(env.len(), 1, "{env:?}");
    work_together(&Nodes::start_with(postgres, 3, &env));
}
