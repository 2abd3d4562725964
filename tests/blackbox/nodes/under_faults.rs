//! Nodes under faults, while jobs are made through all of them.
//!
//! Faults come one after another, in an order that follows from `$DOCENT_SEED`, each when so many more jobs have ended.
//! `$DOCENT_JOBS` says how many jobs a run has, and with `$DOCENT_POOLED` the nodes reach the database by way of PgBouncer.
//!
//! What must hold whatever happened is checked at the end (`promises.rs`).

mod chance;
mod faults;
mod fleet;
mod promises;
mod traffic;

use std::net::SocketAddr;
use std::thread;
use std::time::Instant;

use docent_tests::model_server::{ModelRequest, Reply, Wire};
use docent_tests::{DatabaseProxy, HookReceiver, Installation, ModelServer, Pooler, Postgres};
use serde_json::json;

use self::chance::Chance;
use self::faults::{Stage, plan};
use self::fleet::Fleet;
use self::promises::Run;
use self::traffic::{Docs, Doors, THINKING, Traffic, page_of};

const NODES: usize = 3;
/// Jobs of a run, and the most of a project in an hour.
const JOBS: usize = 60;
const JOBS_PER_PROJECT: usize = 100;

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("${variable} is no number: {text}")))
}

/// A model that writes the page that it is asked for, and takes some time for each reply.
fn writes_its_page() -> ModelServer {
    let model = ModelServer::start();
    model.forgets().replies_with(|asked: &ModelRequest| {
        let Some(page) = asked.said().iter().find_map(|said| page_of(said)) else { return Reply::fails(400) };
        let content = format!("---\ntitle: {page}\n---\n\nNew.\n");
        match asked.answers().is_empty() {
            true => {
                Reply::text("I add it.").pause(THINKING).call("write", &json!({ "path": page, "content": content }))
            }
            false => Reply::text("I added it.").pause(THINKING).finish(&format!("Add {page}")),
        }
    });
    model
}

fn variables(database: &Postgres, entrance: SocketAddr, hook: &HookReceiver, limit: usize) -> Vec<(String, String)> {
    let mut env = writes_its_page().configures(Wire::Anthropic);
    env.extend(database.env_at(entrance));
    let more = [
        ("DOCENT_STORE_CONNECTIONS", "8".to_owned()),
        ("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", limit.to_string()),
        ("DOCENT_HOOKS__0__URL", hook.url()),
        ("DOCENT_HOOKS__0__SECRET_ENV", "HOOK_SECRET".to_owned()),
        ("HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()),
    ];
    env.extend(more.map(|(name, value)| (name.to_owned(), value)));
    env
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn under_faults_each_job_ends_once_and_nothing_is_lost_or_doubled() {
    let jobs = number("DOCENT_JOBS").unwrap_or(JOBS);
    let seed = number("DOCENT_SEED").unwrap_or_else(Chance::new_seed);
    println!("DOCENT_SEED={seed} DOCENT_JOBS={jobs}");
    let mut chance = Chance::of(seed);
    let projects = jobs.div_ceil(JOBS_PER_PROJECT).max(2);
    let limit = jobs / projects;

    let primary = Postgres::start();
    let (proxy, hook) = (DatabaseProxy::before(primary.address()), HookReceiver::start());
    // The cuts are behind the pooler, so that it loses its connections as the nodes would.
    let pooler = Pooler::if_wanted_before(proxy.address());
    let entrance = pooler.as_ref().map_or(proxy.address(), Pooler::address);
    let env = variables(&primary, entrance, &hook, limit);
    let home = Installation::with_variables(env.clone());
    let docs: Vec<Docs> = (0..projects).map(|n| Docs::add(&home, n)).collect();
    let standby = primary.with_standby();
    let doors = Doors::default();
    let fleet = Fleet::start(NODES, env, &doors);
    let mut stage = Stage::new(fleet, proxy, primary, standby, jobs);
    let traffic = Traffic::new(&docs, &doors, limit, &mut chance);

    let begun = Instant::now();
    let plan = plan(jobs, &mut chance);
    thread::scope(|scope| {
        for client in 0..traffic::CLIENTS {
            let (traffic, chance) = (&traffic, chance.fork(client));
            scope.spawn(move || traffic.carry_out(chance));
        }
        for (n, fault) in plan.iter().enumerate() {
            traffic.has_ended(n * limit * projects / plan.len());
            println!("{:>7.1?} {:>4} ended: {fault:?}", begun.elapsed(), traffic.ended());
            stage.strike(*fault, &mut chance);
            assert!(!fault.is_of_the_database() || traffic.ended() < limit * projects, "{fault:?} came after all jobs");
        }
        stage.thaw();
        traffic.has_ended(limit * projects);
    });
    println!("{:>7.1?} all ended; {}", begun.elapsed(), traffic.figures());
    let run = Run {
        docs: &docs,
        orders: traffic.told_again(),
        limit,
        hook,
        database: stage.database(),
        fleet: stage.fleet(),
    };
    let broken = run.broken_promises();
    println!("{:>7.1?} {}", begun.elapsed(), run.figures());
    assert!(broken.is_empty(), "{} promises are broken:\n{}", broken.len(), broken.join("\n"));
}
