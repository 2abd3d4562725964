//! A database that is full, slow, or does not answer for a while, and git that is slow.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use docent_tests::agent::{branch, id};
use docent_tests::forge_server::{Kind, NAME};
use docent_tests::git_server::Behaviour;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Wire};
use docent_tests::site::PAGES;
use docent_tests::{Agent, ForgeServer, GitServer, Installation, Request, eventually};
use serde_json::json;

use super::{Nodes, writes_and_waits};
use crate::git_transport::https::authority;

/// How long a request may take while the database does not answer.
const PATIENCE: Duration = Duration::from_secs(40);

fn is_answered_soon(nodes: &Nodes, node: usize) -> u16 {
    let begun = Instant::now();
    let answer = nodes.agent(node).try_create(&json!({ "prompt": "Add another page" }));
    println!("{} after {:.1?}", answer.status, begun.elapsed());
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    answer.status
}

fn is_refused(nodes: &Nodes, node: usize) {
    let refused = nodes.agent(node).try_create(&json!({ "prompt": "Add another page" }));
    assert_eq!((refused.status, refused.header("Retry-After")), (503, Some("5")), "{}", refused.text());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn while_the_database_is_full_work_waits_and_then_goes_on() {
    let gate = Gate::new();
    let nodes = Nodes::on_model(2, &writes_and_waits(&gate));
    let job = nodes.agent(0).create("Add a page");
    gate.holds(1);
    // What a server says whose disk has no room. Each transaction leaves a mark.
    nodes.postgres.query(
        "CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$",
    );
    nodes.postgres.query("CREATE TRIGGER is_full BEFORE INSERT ON commits EXECUTE FUNCTION is_full()");
    for node in 0..2 {
        eventually("the node to say that it is not ready", || (!nodes.is_ready(node)).then_some(()));
        is_refused(&nodes, node);
        assert_eq!(nodes.nodes[node].server.send(&Request::get("/healthz")).status, 200);
        assert_eq!(nodes.agent(node).job(id(&job))["status"], "active", "what is there can be read");
    }
    gate.open();
    thread::sleep(Duration::from_secs(3));
    assert_eq!(nodes.agent(1).job(id(&job))["status"], "active", "nothing ends that cannot be written");
    nodes.postgres.query("DROP TRIGGER is_full ON commits");
    nodes.are_ready_again();
    nodes.ended_once(0, &job);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn while_the_database_does_not_answer_nobody_waits_for_long() {
    let gate = Gate::new();
    let env = [
        writes_and_waits(&gate).configures(Wire::Anthropic),
        vec![("DOCENT_STORE_CONNECTIONS".to_owned(), "2".to_owned())],
    ];
    let nodes = Nodes::start(2, &env.concat());
    let job = nodes.agent(0).create("Add a page");
    gate.holds(1);
    nodes.postgres.freeze();
    let statuses: Vec<u16> = thread::scope(|scope| {
        // More than there are connections.
        let asked: Vec<_> = (0..20).map(|n| (n % 2, &nodes)).collect();
        let asked: Vec<_> =
            asked.into_iter().map(|(node, nodes)| scope.spawn(move || is_answered_soon(nodes, node))).collect();
        let (nodes, begun, path) = (&nodes, Instant::now(), format!("job/{}", id(&job)));
        let reads = scope.spawn(move || {
            let answer = nodes.nodes[1].server.send(&nodes.agent(1).request("GET", &path));
            (answer.status, begun.elapsed())
        });
        assert_eq!(nodes.nodes[0].server.send(&Request::get("/healthz")).status, 200);
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        eventually("the node to say that it is not ready", || (!nodes.is_ready(0)).then_some(()));
        let (status, took) = reads.join().expect("an answer");
        assert!(status == 503 && took < PATIENCE, "a job is not read: {status} after {took:?}");
        asked.into_iter().map(|request| request.join().expect("an answer")).collect()
    });
    assert!(statuses.iter().all(|status| *status == 503), "{statuses:?}");
    nodes.postgres.thaw();
    gate.open();
    nodes.are_ready_again();
    nodes.ended_once(1, &job);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn nothing_is_acknowledged_that_the_standby_lacks() {
    let nodes = Nodes::start(1, &[]);
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    nodes.postgres.query("ALTER SYSTEM SET synchronous_standby_names = 'gone'");
    nodes.postgres.query("SELECT pg_reload_conf()");
    thread::scope(|scope| {
        let created = scope.spawn(|| nodes.agent(0).try_create(&json!({ "prompt": "Add a page" })));
        eventually("the commit to wait for the standby", || {
            (nodes.postgres.query(&format!("SELECT count(*) {waiting}")) != "0").then_some(())
        });
        // It takes place, but for the standby. Whoever is asked now sees it.
        nodes.postgres.query(&format!("SELECT pg_terminate_backend(pid) {waiting}"));
        eventually("the job to be there", || (nodes.postgres.query("SELECT count(*) FROM jobs") == "1").then_some(()));
        thread::sleep(Duration::from_secs(3));
        assert!(!created.is_finished(), "{:?}", created.join().map(|answer| answer.status));
        nodes.postgres.query("ALTER SYSTEM RESET synchronous_standby_names");
        nodes.postgres.query("SELECT pg_reload_conf()");
        assert_eq!(created.join().expect("an answer").status, 201);
    });
    assert_eq!(nodes.postgres.query("SELECT count(*) FROM jobs"), "1");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn on_a_slow_database_all_goes_on() {
    let gate = Gate::new();
    gate.open();
    let nodes = Nodes::on_model(2, &writes_and_waits(&gate));
    nodes.postgres.query(
        "CREATE FUNCTION is_slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END$$",
    );
    nodes.postgres.query("CREATE TRIGGER is_slow BEFORE INSERT ON commits FOR EACH ROW EXECUTE FUNCTION is_slow()");
    let job = nodes.agent(0).create("Add a page");
    nodes.agent(1).ends(id(&job));
    assert!(nodes.is_ready(0) && nodes.is_ready(1), "slow is not away");
    nodes.ended_once(1, &job);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn no_transaction_is_open_while_git_is_waited_for() {
    let nodes = Nodes::start(2, &[("DOCS_TOKEN".to_owned(), "t0ken".to_owned())]);
    let home = Installation::new();
    let repository = home.repository("slow", PAGES);
    let host = GitServer::start(home.root());
    host.give("t0ken");
    nodes.nodes[0].installation.must(&[
        "project",
        "add",
        "slow",
        "--repo",
        &host.url("slow.git"),
        "--token-env",
        "DOCS_TOKEN",
        "--no-check",
    ]);
    let key = nodes.nodes[0].installation.mint("slow", KeyKind::Admin, &[]);
    let agent = Agent::new(&nodes.nodes[0].server, "slow", &key);
    host.behave(Behaviour::Slow(Duration::from_secs(3)));
    host.forget();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    eventually("git to be asked", || (!host.seen().is_empty()).then_some(()));
    nodes.has_no_open_transaction();
    assert_eq!(agent.job(id(&job))["status"], "active", "git is still waited for");
    host.behave(Behaviour::Normal);
    let job = agent.reaches(id(&job), "completed");
    assert_eq!(repository.commits_ahead(branch(&job)), 1, "{job:#}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn no_transaction_is_open_while_a_forge_is_waited_for() {
    let home = Installation::new();
    fs::create_dir(home.root().join("acme")).expect("make a folder");
    let repository = home.repository(NAME, PAGES);
    let (authority, handshake) = authority();
    let certificate = home.root().join("authority.pem");
    fs::write(&certificate, authority).expect("write the certificate");
    let host = GitServer::start_with_handshake(home.root(), "https", handshake);
    host.behave(Behaviour::Open);
    let forge = ForgeServer::start(Kind::Github, &repository);
    forge.give("t0ken");
    let trusts = ("SSL_CERT_FILE".to_owned(), certificate.display().to_string());
    let nodes = Nodes::start(2, &[("DOCS_TOKEN".to_owned(), "t0ken".to_owned()), trusts]);
    let (url, installation) = (host.url(&format!("{NAME}.git")), &nodes.nodes[0].installation);
    let add = ["project", "add", "slow", "--repo", &url, "--token-env", "DOCS_TOKEN", "--no-check"];
    installation.must(&[&add[..], &["--forge", "github", "--base-url", &forge.url()]].concat());
    let key = installation.mint("slow", KeyKind::Admin, &[]);
    let agent = Agent::new(&nodes.nodes[0].server, "slow", &key);
    forge.takes(Duration::from_secs(5));
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    eventually("the forge to be asked", || (!forge.seen().is_empty()).then_some(()));
    nodes.has_no_open_transaction();
    assert_eq!(agent.job(id(&job))["status"], "active", "the forge is still waited for");
    forge.takes(Duration::ZERO);
    let job = agent.reaches(id(&job), "completed");
    assert_eq!(repository.commits_ahead(branch(&job)), 1, "{job:#}");
    assert_eq!(forge.pulls().len(), 1);
}
