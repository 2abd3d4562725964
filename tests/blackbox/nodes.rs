//! Several servers ("nodes") on one PostgreSQL database, as one server for whoever uses them.

mod balanced;
mod deployed;
mod encrypted;
mod in_trouble;
mod shared;
mod under_faults;
mod versions;

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use docent_tests::agent::{Event, branch, id, pull_request};
use docent_tests::api_description::{api_description, operations};
use docent_tests::assistant::question_body;
use docent_tests::http::Streaming;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{
    Agent, Assistant, Installation, ModelServer, Person, Pooler, Postgres, Repository, Request, Server, eventually,
};
use serde_json::{Value, json};

/// How long a lease lasts without a renewal.
const LEASE: Duration = Duration::from_secs(30);
const QUESTION: &str = "How often is a webhook delivery retried?";

/// A node: a server with a data folder of its own.
#[derive(Debug)]
struct Node {
    // Field order is drop order: the server before the folder it works on.
    server: Server,
    installation: Installation,
}

/// Nodes on one database, with one project.
struct Nodes {
    nodes: Vec<Node>,
    repository: Repository,
    /// Where the repository is: on none of the nodes.
    _home: Installation,
    admin_key: String,
    assistant_key: String,
    _pooler: Option<Pooler>,
    postgres: Postgres,
}

impl Nodes {
    /// So many nodes, each with these variables.
    fn start(count: usize, env: &[(String, String)]) -> Self {
        let postgres = Postgres::start();
        let pooler = Pooler::if_wanted_before(postgres.address());
        Self::start_on(postgres, pooler, count, env)
    }

    fn start_on(postgres: Postgres, pooler: Option<Pooler>, count: usize, env: &[(String, String)]) -> Self {
        let entrance = pooler.as_ref().map_or(postgres.address(), Pooler::address);
        let env: Vec<_> = postgres.env_at(entrance).into_iter().chain(env.iter().cloned()).collect();
        Self { _pooler: pooler, ..Self::start_with(postgres, count, &env) }
    }

    /// So many nodes with these variables, which say where the database is.
    fn start_with(postgres: Postgres, count: usize, env: &[(String, String)]) -> Self {
        let installations: Vec<Installation> =
            (0..count).map(|_| Installation::with_variables(env.iter().cloned())).collect();
        let (first, home) = (&installations[0], Installation::new());
        let repository = home.repository(PROJECT, PAGES);
        first.add_project(PROJECT, &repository);
        let admin_key = first.mint(PROJECT, KeyKind::Admin, &[]);
        let assistant_key = first.mint(PROJECT, KeyKind::Assistant, &[]);
        let serve = |installation: Installation| Node { server: installation.serve(), installation };
        let nodes = installations.into_iter().map(serve).collect();
        Self { nodes, repository, _home: home, admin_key, assistant_key, _pooler: None, postgres }
    }

    /// So many nodes on this model.
    fn on_model(count: usize, model: &ModelServer) -> Self {
        Self::start(count, &model.configures(Wire::Anthropic))
    }

    fn agent(&self, node: usize) -> Agent<'_> {
        Agent::new(&self.nodes[node].server, PROJECT, &self.admin_key)
    }

    fn assistant(&self, node: usize) -> Assistant<'_> {
        Assistant::new(&self.nodes[node].server, PROJECT, &self.assistant_key)
    }

    /// The node that works on the only job, as soon as one does.
    fn worker(&self) -> usize {
        eventually("a node to work on the job", || {
            let holder = self.postgres.query("SELECT lease_holder FROM queue WHERE is_leased");
            let pid = holder.split('-').next()?.parse::<u32>().ok()?;
            self.nodes.iter().position(|node| node.server.pid() == pid)
        })
    }

    /// Asserts that each operation that takes a key answers that the database is away.
    fn says_to_all_that_the_database_is_away(&self, node: usize) {
        let server = &self.nodes[node].server;
        thread::scope(|scope| {
            for operation in operations(api_description()).filter(|operation| operation.statuses().contains(&503)) {
                let keys = [("adminKey", &self.admin_key), ("assistantKey", &self.assistant_key)];
                let Some((_, key)) = keys.iter().find(|(kind, _)| operation.takes(kind)) else { continue };
                let name =
                    |name: &str| if matches!(name, "projectId" | "domain") { PROJECT } else { "none" }.to_owned();
                let request = operation.request(name).bearer(key);
                // For a second a node trusts what it knows of a key, and may need no database to refuse a request.
                scope.spawn(move || {
                    eventually(&format!("{} to be answered with 503", operation.name()), || {
                        (server.send(&request).status == 503).then_some(())
                    });
                });
            }
        });
    }

    /// Asserts that no node keeps a transaction open.
    fn has_no_open_transaction(&self) {
        let open = "SELECT string_agg(query, '; ') FROM pg_stat_activity WHERE datname = current_database()
                    AND pid <> pg_backend_pid() AND now() - xact_start > interval '1 second'";
        thread::sleep(Duration::from_millis(1200));
        assert_eq!(self.postgres.query(open), "");
    }

    fn are_ready_again(&self) {
        for node in 0..self.nodes.len() {
            eventually("the node to be ready again", || self.is_ready(node).then_some(()));
        }
    }

    fn is_ready(&self, node: usize) -> bool {
        self.nodes[node].server.send(&Request::get("/readyz")).status == 200
    }

    /// Asserts that the job ended as with one undisturbed server: one commit, one pull request.
    fn ended_once(&self, node: usize, job: &Value) {
        let job = self.agent(node).reaches(id(job), "completed");
        assert_eq!(self.repository.commits_ahead(branch(&job)), 1, "{job:#}");
        assert_eq!(self.repository.branches(), [branch(&job)], "no branch besides");
        assert_eq!(self.postgres.query("SELECT count(*) FROM pulls"), "1");
        let mut person = Person::joins(&self.nodes[node].server, &self.nodes[node].installation, "ann", "editor");
        assert!([200, 303].contains(&person.gets(&pull_request(&job)).status), "the pull request is shown");
    }
}

/// A model whose second reply ends the job and waits at the gate; its first writes a page.
fn writes_and_waits(gate: &Gate) -> ModelServer {
    let model = ModelServer::start();
    let page = json!({ "path": "added.mdx", "content": "---\ntitle: Added\n---\n\nNew.\n" });
    let held = gate.clone();
    model.replies_with(move |request| match request.answers().is_empty() {
        true => Reply::calls("write", &page),
        false => Reply::text("I added a page.").finish("Add a page").held_by(&held),
    });
    model
}

/// The events of a stream as they come.
struct Follower {
    stream: Streaming,
    body: Vec<u8>,
}

impl Follower {
    fn of(agent: &Agent<'_>, server: &Server, job: &str) -> Self {
        let stream = agent.events(job, None).open(server.address()).expect("an answer");
        assert_eq!(stream.status, 200);
        Self { stream, body: Vec::new() }
    }

    /// Reads until there is an event of this kind.
    fn until(&mut self, kind: &str) {
        while !Event::read(&self.body).iter().any(|event| event.kind == kind) {
            let piece = self.stream.piece().expect("more").expect("the event comes before the end");
            self.body.extend_from_slice(&piece);
        }
    }

    fn whole(self) -> Vec<Event> {
        let rest = self.stream.finish().expect("the rest");
        Event::read(&[self.body, rest.body].concat()).into_iter().filter(|event| event.kind != "delta").collect()
    }
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_job_that_runs_on_one_node_is_followed_on_another_entry_by_entry() {
    let gate = Gate::new();
    is_followed_elsewhere(&Nodes::on_model(2, &writes_and_waits(&gate)), &gate);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn behind_a_pooler_a_job_that_runs_on_one_node_is_followed_on_another() {
    let (postgres, gate) = (Postgres::start(), Gate::new());
    let pooler = Pooler::before(postgres.address());
    let env = writes_and_waits(&gate).configures(Wire::Anthropic);
    is_followed_elsewhere(&Nodes::start_on(postgres, Some(pooler), 2, &env), &gate);
}

fn is_followed_elsewhere(nodes: &Nodes, gate: &Gate) {
    let job = nodes.agent(0).create("Add a page");
    let other = 1 - nodes.worker();
    let agent = nodes.agent(other);
    let mut follower = Follower::of(&agent, &nodes.nodes[other].server, id(&job));
    // The job is not over: the model waits.
    follower.until("answered");
    nodes.has_no_open_transaction();
    assert_eq!(agent.job(id(&job))["status"], "active");
    gate.open();
    let followed = follower.whole();
    assert_eq!(followed.last().expect("events").data["status"], "completed");
    nodes.ended_once(other, &job);
    for node in 0..2 {
        let told = nodes.nodes[node].server.send(&nodes.agent(node).events(id(&job), None));
        assert_eq!(Event::read(&told.body), followed, "told again by node {node}");
    }
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_stream_of_the_first_version_shows_a_job_that_runs_on_another_node() {
    let gate = Gate::new();
    let mut env = writes_and_waits(&gate).configures(Wire::Anthropic);
    let workers = [("DOCENT_AGENT__WORKERS", "1"), ("DOCENT_AGENT__JOBS_AT_ONCE_PER_PROJECT", "2")];
    env.extend(workers.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let nodes = Nodes::start(2, &env);
    nodes.agent(0).create("Add a page");
    // The node whose one worker is busy.
    let busy = nodes.worker();
    let server = &nodes.nodes[busy].server;
    let agent = nodes.agent(busy);
    let mut stream = agent.create_v1("Add another page").open(server.address()).expect("an answer");
    let mut read = String::new();
    while !read.contains("added.mdx") {
        let piece = stream.piece().expect("more").expect("the change comes before the end");
        read.push_str(&String::from_utf8_lossy(&piece));
    }
    gate.holds(2);
    gate.open();
    let session = stream.headers.get("X-Session-Id").expect("names its session").to_owned();
    let rest = stream.finish().expect("the rest");
    assert!(rest.text().contains("I added a page."), "{}", rest.text());
    assert_eq!(agent.halts(&session)["haultReason"], "completed");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn the_job_of_a_killed_node_is_taken_up_by_another_within_the_lease() {
    let gate = Gate::new();
    let mut nodes = Nodes::on_model(2, &writes_and_waits(&gate));
    let job = nodes.agent(0).create("Add a page");
    gate.holds(1);
    let worker = nodes.worker();
    nodes.nodes.remove(worker).server.kill();
    gate.open();
    let killed = Instant::now();
    nodes.agent(0).ends(id(&job));
    assert!(killed.elapsed() < LEASE + Duration::from_secs(15), "{:?}", killed.elapsed());
    nodes.ended_once(0, &job);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn the_job_of_a_draining_node_is_taken_up_by_another_at_once() {
    let gate = Gate::new();
    let mut nodes = Nodes::on_model(2, &writes_and_waits(&gate));
    let job = nodes.agent(0).create("Add a page");
    gate.holds(1);
    let worker = nodes.worker();
    let draining = nodes.nodes.remove(worker).server;
    draining.terminate();
    gate.open();
    let began = Instant::now();
    nodes.agent(0).ends(id(&job));
    assert!(began.elapsed() < LEASE / 2, "{:?}", began.elapsed());
    assert!(draining.ended().success());
    nodes.ended_once(0, &job);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn what_a_frozen_node_writes_after_its_lease_is_refused() {
    let gate = Gate::new();
    let nodes = Nodes::on_model(2, &writes_and_waits(&gate));
    let job = nodes.agent(0).create("Add a page");
    gate.holds(1);
    let frozen = nodes.worker();
    let other = 1 - frozen;
    nodes.nodes[frozen].server.freeze();
    gate.open();
    nodes.ended_once(other, &job);
    let ended = nodes.agent(other).job(id(&job));
    let journal = "SELECT sum(count), max(last) FROM entries";
    let written = nodes.postgres.query(journal);
    nodes.nodes[frozen].server.thaw();
    eventually("the thawed node to see that the job is not its own", || {
        let log = nodes.nodes[frozen].server.log();
        (log.contains("taken over by another") || log.contains("job left to be rescued")).then_some(())
    });
    assert_eq!(nodes.postgres.query(journal), written, "nothing was added");
    assert_eq!(nodes.agent(frozen).job(id(&job)), ended);
    assert_eq!(nodes.repository.commits_ahead(branch(&ended)), 1);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn quotas_are_exact_over_all_nodes() {
    let limits = [("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", "20"), ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_HOUR", "30")];
    let nodes = Nodes::start(3, &limits.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let (accepted, begin) = (AtomicUsize::new(0), Barrier::new(3));
    thread::scope(|scope| {
        for node in 0..3 {
            let (nodes, accepted, begin) = (&nodes, &accepted, &begin);
            scope.spawn(move || {
                begin.wait();
                for n in 0..10 {
                    let body = json!({ "prompt": format!("Replace \"none-{node}-{n}\" with \"other\"") });
                    match nodes.agent(node).try_create(&body).status {
                        201 => accepted.fetch_add(1, Ordering::Relaxed),
                        429 => 0,
                        other => panic!("{other}"),
                    };
                }
            });
        }
    });
    assert_eq!(accepted.into_inner(), 20);
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        for node in 0..3 {
            let (nodes, answered, begin) = (&nodes, &answered, &begin);
            scope.spawn(move || {
                begin.wait();
                for _ in 0..20 {
                    let status = nodes.assistant(node).page(&json!({ "path": "/quickstart" })).status;
                    // Refused requests do not count; a node without its index answers 503 to one that does.
                    answered.fetch_add(usize::from(status != 429), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(answered.into_inner(), 30);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn attempts_to_sign_in_count_on_all_nodes_together() {
    let nodes = Nodes::start(2, &[]);
    Person::joins(&nodes.nodes[0].server, &nodes.nodes[0].installation, "ann", "owner");
    let mut statuses = Vec::new();
    for attempt in 0..14 {
        let mut person = Person::new(&nodes.nodes[attempt % 2].server);
        person.gets("/dashboard/-/sign-in");
        let form = [("name", "ann"), ("password", "a wrong password")];
        statuses.push(person.posts("/dashboard/-/sign-in", &form).status);
    }
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!(refused, 4, "ten for an account: {statuses:?}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_key_that_is_revoked_on_one_node_is_refused_on_another_within_a_second() {
    let nodes = Nodes::start(2, &[]);
    let key = nodes.nodes[0].installation.mint(PROJECT, KeyKind::Admin, &["--name", "short-lived"]);
    let listed = nodes.nodes[0].installation.must(&["key", "list", "--json"]).json();
    let keys = listed.as_array().or_else(|| listed["keys"].as_array()).expect("a list of keys").clone();
    let named = keys.iter().find(|key| key["name"] == "short-lived").expect("the key").clone();
    let agent = Agent::new(&nodes.nodes[1].server, PROJECT, &key);
    let status = || nodes.nodes[1].server.send(&agent.request("GET", "jobs")).status;
    eventually("the key to work", || (status() == 200).then_some(()));
    nodes.nodes[0].installation.must(&["key", "revoke", named["id"].as_str().expect("an id")]);
    let revoked = Instant::now();
    while status() == 200 {
        assert!(revoked.elapsed() < Duration::from_secs(1), "it still works");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(status(), 401);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn each_node_answers_questions_and_a_reply_is_resumed_on_its_own_node_alone() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    let nodes = Nodes::on_model(2, &model);
    for node in 0..2 {
        nodes.assistant(node).is_ready();
        model.replies("Five times.");
        assert_eq!(nodes.assistant(node).ask(QUESTION).text(), "Five times.");
    }
    model.replies(Reply::text("Five ").waits_at(&gate).say("times."));
    let body = question_body(QUESTION, &json!({ "id": "jBWk0bLlnyoeL6nO", "fp": "ann" }));
    let question = Request::post(nodes.assistant(0).path()).bearer(&nodes.assistant_key).json(&body);
    let running = question.open(nodes.nodes[0].server.address()).expect("an answer");
    gate.holds(1);
    let path = format!("{}/jBWk0bLlnyoeL6nO/stream", nodes.assistant(0).path());
    let resume = Request::get(path).bearer(&nodes.assistant_key);
    assert_eq!(nodes.nodes[1].server.send(&resume).status, 204, "nothing to resume here");
    let resumed = resume.open(nodes.nodes[0].server.address()).expect("an answer");
    assert_eq!(resumed.status, 200);
    gate.open();
    for stream in [running, resumed] {
        assert!(stream.finish().expect("the rest").text().contains("times."));
    }
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_thread_that_began_on_one_node_goes_on_on_another() {
    let model = ModelServer::start();
    let nodes = Nodes::on_model(2, &model);
    (0..2).for_each(|node| nodes.assistant(node).is_ready());
    // The second question is first made one that can be searched for.
    model.replies("Five times.").replies("webhook delivery parked").replies("Then it is parked.");
    let first = nodes.assistant(0).ask(QUESTION);
    let thread = first.thread();
    let more = json!({ "threadId": thread });
    nodes.assistant(1).ask_with("And after that?", &more);
    let asked = model.requests();
    let last = format!("{:?}", asked.last().expect("a request"));
    assert!(last.contains("Five times."), "the model is told what was said before: {last}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_database_that_restarts_is_seen_and_nothing_is_lost() {
    let gate = Gate::new();
    let mut nodes = Nodes::on_model(2, &writes_and_waits(&gate));
    let job = nodes.agent(0).create("Add a page");
    gate.holds(1);
    assert!(nodes.is_ready(0) && nodes.is_ready(1));
    nodes.postgres.stop();
    nodes.says_to_all_that_the_database_is_away(0);
    for node in 0..2 {
        eventually("the node to say that it is not ready", || (!nodes.is_ready(node)).then_some(()));
        let refused = nodes.agent(node).try_create(&json!({ "prompt": "Add another page" }));
        assert_eq!((refused.status, refused.header("Retry-After")), (503, Some("5")), "{}", refused.text());
        assert_eq!(nodes.nodes[node].server.send(&Request::get("/healthz")).status, 200);
    }
    gate.open();
    // A node that is started meanwhile waits for the database.
    let late = Installation::with_variables(nodes.postgres.env());
    let said = late.root().join("server.log");
    let added = thread::spawn(move || late.serve().send(&Request::get("/readyz")).status);
    eventually("it to say what it waits for", || {
        std::fs::read_to_string(&said).ok().filter(|said| said.contains("serves nobody yet"))
    });
    assert!(!added.is_finished(), "a node does not end because the database is away");
    nodes.postgres.start_again();
    nodes.are_ready_again();
    assert_eq!(added.join().expect("it starts"), 200);
    nodes.ended_once(0, &job);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn the_command_line_works_on_the_database_and_never_shows_its_password() {
    let nodes = Nodes::start(1, &[]);
    let elsewhere = Installation::with_variables(nodes.postgres.env());
    let projects = elsewhere.must(&["project", "list"]).stdout;
    assert!(projects.contains(PROJECT), "a data folder is not needed: {projects}");
    assert_eq!(elsewhere.must(&["ask", PROJECT, QUESTION]).code, Some(0));
    let doctor = elsewhere.must(&["doctor"]);
    assert!(doctor.stdout.contains("PostgreSQL 1"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("synchronous_commit"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("synchronous_standby_names"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("a failover loses the writes of the last"), "{}", doctor.stdout);
    let _standby = nodes.postgres.with_standby();
    let promise = elsewhere.must(&["doctor"]).stdout;
    assert!(promise.contains("(1 follow): a failover to one of them loses nothing"), "{promise}");
    for (args, instead) in [(["backup", "copy.db"], "pg_dump"), (["restore", "copy.db"], "pg_restore")] {
        let refused = elsewhere.run(&args);
        assert_eq!(refused.code, Some(1));
        assert!(
            refused.stderr.contains(instead) && refused.stderr.contains(&nodes.postgres.url()),
            "{}",
            refused.stderr
        );
    }
    let log = nodes.nodes[0].server.log();
    for text in [&doctor.stdout, &doctor.stderr, &log] {
        assert!(!text.contains("wörd") && !text.contains("w%C3"), "{text}");
    }
}
