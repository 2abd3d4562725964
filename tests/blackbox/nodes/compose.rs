//! The nodes of `deploy/compose.yml`, with the variables that it gives them.

use std::fs;
use std::path::Path;

use docent_tests::agent::{branch, id};
use docent_tests::{Postgres, Request};

use super::Nodes;

/// The variables of a node: the entries below `environment` in the part that all nodes share.
fn variables(compose: &str) -> Vec<(String, String)> {
    let shared = compose.split_once("x-node:").expect("a part that all nodes share").1;
    let entries = shared.split_once("  environment:\n").expect("variables").1.lines();
    let entries = entries.take_while(|line| line.starts_with("    ")).filter(|line| !line.trim().starts_with('#'));
    entries
        .map(|line| {
            let (name, value) = line.trim().split_once(": ").expect("a name and a value");
            (name.to_owned(), value.to_owned())
        })
        .collect()
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn nodes_run_with_the_variables_of_the_compose_file() {
    let read = |name: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(name);
        fs::read_to_string(file).expect("read a file of deploy")
    };
    let compose = read("compose.yml");
    let postgres = Postgres::start();
    let password = fs::read_to_string(postgres.password_file()).expect("read the password");
    let address = postgres.address().to_string();
    // What the file takes from outside, and the name that the network gives the database.
    let given = |(name, value): (String, String)| {
        let value =
            value.replace("${DATABASE_PASSWORD:?}", password.trim()).replace("@database/", &format!("@{address}/"));
        (name, value)
    };
    let env: Vec<_> = variables(&compose).into_iter().map(given).collect();
    assert!(env.iter().any(|(_, value)| value.contains(&address)), "{env:?}");
    let nodes = Nodes::start_with(postgres, 3, &env);
    for node in &nodes.nodes {
        assert_eq!(node.server.send(&Request::get("/readyz")).status, 200);
    }
    let job = nodes.agent(0).create("Replace \"sign in\" with \"log in\"");
    let job = nodes.agent(1).reaches(id(&job), "completed");
    let link = job["prLink"].as_str().expect("a pull request");
    assert!(link.starts_with("https://docent.example.com/"), "{link}");
    assert_eq!(nodes.repository.commits_ahead(branch(&job)), 1, "{job:#}");
    // Each service that is a node has a volume of its own, and HAProxy sends to as many.
    let services = compose.lines().filter(|line| line.contains("<<: *node")).count();
    let servers = read("haproxy.cfg").lines().filter(|line| line.trim_start().starts_with("server ")).count();
    assert_eq!((services, servers), (3, 3));
}
