//! Nodes as `deploy/` and its docs start them: with the variables of `compose.yml`, and as the systemd unit says.

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
fn nodes_run_as_the_unit_and_the_docs_of_several_say() {
    let unit = deployed("deploy/docent.service");
    let value = |name: &str| unit.lines().find_map(|line| line.strip_prefix(name)).expect("a setting of the unit");
    assert_eq!(value("ExecStart=").split_once(' ').map(|(_, arguments)| arguments), Some("serve"));
    let postgres = Postgres::start();
    let docs = deployed("docs/DEPLOY.md");
    let several = docs.split_once("## Several nodes").expect("a section on several nodes").1;
    let toml = several.split_once("```toml\n").expect("a configuration").1.split_once("```").expect("its end").0;
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

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn nodes_run_with_the_variables_of_the_compose_file() {
    let compose = deployed("deploy/compose.yml");
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
    work_together(&Nodes::start_with(postgres, 3, &env));
    // Each service that is a node has a volume of its own, and HAProxy sends to as many.
    let services = compose.lines().filter(|line| line.contains("<<: *node")).count();
    let servers =
        deployed("deploy/haproxy.cfg").lines().filter(|line| line.trim_start().starts_with("server ")).count();
    assert_eq!((services, servers), (3, 3));
}
