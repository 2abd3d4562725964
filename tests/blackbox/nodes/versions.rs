//! The build before this one, which `$DOCENT_BIN_BEFORE` names: beside this one on one database, and on a data folder before it.

use std::path::PathBuf;

use docent_tests::agent::{branch, id};
use docent_tests::binary::docent;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Wire};
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{Agent, Installation, Postgres};

use super::{Follower, writes_and_waits};

fn build_before() -> PathBuf {
    std::env::var_os("DOCENT_BIN_BEFORE").expect("$DOCENT_BIN_BEFORE names the docent of the build before").into()
}

#[test]
#[ignore = "needs a build: DOCENT_BIN_BEFORE=… cargo xtask test --only postgres"]
fn a_data_folder_of_the_build_before_is_taken_up_with_its_running_job() {
    let gate = Gate::new();
    let model = writes_and_waits(&gate);
    let env = model.configures(Wire::Anthropic);
    let old = Installation::of(build_before()).with(env.clone());
    let home = Installation::new();
    let repository = home.repository(PROJECT, PAGES);
    old.add_project(PROJECT, &repository);
    let key = old.mint(PROJECT, KeyKind::Admin, &[]);
    let server = old.serve();
    let job = Agent::new(&server, PROJECT, &key).create("Add a page");
    gate.holds(1);
    server.kill();
    gate.open();
    let new = old.with_binary(docent().to_owned());
    let server = new.serve();
    let ended = Agent::new(&server, PROJECT, &key).reaches(id(&job), "completed");
    assert_eq!(repository.commits_ahead(branch(&ended)), 1, "{ended:#}");
}

#[test]
#[ignore = "needs PostgreSQL and a build: DOCENT_BIN_BEFORE=… cargo xtask test --only postgres"]
fn a_node_of_the_build_before_works_beside_one_of_this_build() {
    let before = build_before();
    let (postgres, gate) = (Postgres::start(), Gate::new());
    let mut env = writes_and_waits(&gate).configures(Wire::Anthropic);
    env.extend(postgres.env());
    // So that each node has one of two jobs.
    let workers = [("DOCENT_AGENT__WORKERS", "1"), ("DOCENT_AGENT__JOBS_AT_ONCE_PER_PROJECT", "2")];
    env.extend(workers.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let builds = [before, docent().to_owned()];
    let installations = builds.map(|build| Installation::of(build).with(env.clone()));
    let home = Installation::new();
    installations[0].add_project(PROJECT, &home.repository(PROJECT, PAGES));
    let key = installations[0].mint(PROJECT, KeyKind::Admin, &[]);
    // The build before makes the tables, and this one brings them up to date below it.
    let [old, new] = installations.each_ref().map(Installation::serve);
    let agents = [&old, &new].map(|server| Agent::new(server, PROJECT, &key));
    let jobs = agents.each_ref().map(|agent| agent.create("Add a page"));
    gate.holds(2);
    assert_eq!(postgres.query("SELECT count(DISTINCT lease_holder) FROM queue WHERE is_leased"), "2", "each has one");
    let followers = [(0, &new), (1, &old)].map(|(job, server)| {
        let mut follower = Follower::of(&agents[1 - job], server, id(&jobs[job]));
        follower.until("answered");
        follower
    });
    gate.open();
    let followed = followers.map(Follower::whole);
    let ended = [0, 1].map(|job| agents[job].reaches(id(&jobs[job]), "completed"));
    for events in &followed {
        assert_eq!(events.last().expect("events").data["status"], "completed");
    }
    old.terminate();
    assert!(old.ended().success(), "it drains");
    // As one does that goes back.
    let again = installations[0].serve();
    let agent = Agent::new(&again, PROJECT, &key);
    for job in &ended {
        assert_eq!(agent.job(id(job)), *job);
    }
}
