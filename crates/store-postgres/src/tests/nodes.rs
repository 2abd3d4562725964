//! Several nodes on one database.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use docent_jobs::conformance::sample_job;
use docent_jobs::{
    ClaimRequest, Engine, EngineConfig, EntryBody, Failure, Handle, Instruction, JobLimits, JobProgress, JobUpdate,
    Jobs, NewJob, Outbox, Outcome, Row, Store, Worker, WriteError, WriteGuards, state,
};
use docent_types::{
    AgentJob, Clock, Domain, ForgeKind, JobId, JobStatus, Message, Project, ProjectId, ProjectSettings, ProjectUid,
    Quota, RandomIds, Role, Source, SystemClock, Timestamp,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::cluster::{Database, eventually};
use super::proxy::Proxy;
use crate::PostgresStore;

const LEASE: Duration = Duration::from_secs(30);

fn say(text: &str) -> Instruction {
    Instruction::new(vec![Message::text(Role::User, text)])
}

async fn create(store: &PostgresStore, job: AgentJob) {
    let (row, entries) = state::create(job, say("Fix links"));
    let guards = WriteGuards { now: store.clock().now(), quota: None, key: None };
    store.create(row, entries, guards).await.expect("a job is created");
}

async fn claim(store: &PostgresStore, now: Timestamp, holder: &str, limit: usize) -> Vec<Row> {
    let (holder, until) = (holder.to_owned(), now.plus(LEASE));
    let request = ClaimRequest { now, cap_per_project: usize::MAX, limit };
    let lease = Arc::new(move |row: &Row| state::lease(row, &holder, until));
    store.claim(request, lease).await.expect("the store answers")
}

async fn append(store: &PostgresStore, id: JobId, token: u64, n: usize) -> Result<(), WriteError> {
    let guards = WriteGuards { now: store.clock().now(), quota: None, key: None };
    let work = vec![EntryBody::Work { kind: "step".to_owned(), data: json!({ "n": n }) }];
    let decide = Arc::new(move |row: &Row| state::append(row, token, work.clone(), JobProgress::default()));
    store.change(id, guards, decide).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn nodes_that_claim_at_once_get_each_job_once_and_one_a_branch() {
    let database = Database::new().await;
    let nodes = [database.node().await, database.node().await, database.node().await];
    for n in 1..=60 {
        let branch = if n % 3 == 0 { "shared".to_owned() } else { format!("docent/{n}") };
        let source = Source { repository: "/srv/git/docs.git".to_owned(), branch };
        create(&nodes[0], AgentJob { source, ..sample_job(n) }).await;
    }
    let now = nodes[0].clock().now();
    let claims = (0..30).map(|turn| {
        let node = Arc::clone(&nodes[turn % 3]);
        tokio::spawn(async move { claim(&node, now, &format!("node {}", turn % 3), 2).await })
    });
    let mut claimed = Vec::new();
    for claimed_at_once in claims.collect::<Vec<_>>() {
        claimed.extend(claimed_at_once.await.expect("no panic"));
    }
    let ids: BTreeSet<_> = claimed.iter().map(Row::id).collect();
    assert_eq!((claimed.len(), ids.len()), (41, 41), "40 on branches of their own, and one of 20 on the shared one");
    let shared = claimed.iter().filter(|row| row.job.source.branch == "shared").count();
    assert_eq!(shared, 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_job_that_is_locked_keeps_its_place_on_its_branch() {
    let database = Database::new().await;
    let (store, mut client) = (database.node().await, database.client().await);
    for (n, branch) in [(1, "shared"), (2, "shared"), (3, "docent/3")] {
        let source = Source { repository: "/srv/git/docs.git".to_owned(), branch: branch.to_owned() };
        create(&store, AgentJob { source, ..sample_job(n) }).await;
    }
    let claimed = async |limit| {
        let rows = claim(&store, store.clock().now(), "node", limit).await;
        rows.iter().map(Row::id).collect::<Vec<_>>()
    };
    let holding = client.transaction().await.expect("a transaction");
    let lock = "SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE";
    holding.query_one(lock, &[&sample_job(1).id.uuid()]).await.expect("a lock");
    assert_eq!(claimed(1).await, [sample_job(3).id], "the younger one of the branch waits for the older");
    assert_eq!(claimed(9).await, []);
    holding.commit().await.expect("it ends");
    assert_eq!(claimed(9).await, [sample_job(1).id]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn projects_take_turns_over_all_nodes() {
    let database = Database::new().await;
    let nodes = [database.node().await, database.node().await];
    let of = |project: &str, n: u128| AgentJob {
        project: ProjectId::parse(project).expect("a name"),
        source: Source { repository: format!("/srv/git/{project}.git"), branch: format!("docent/{n}") },
        ..sample_job(n)
    };
    for n in 1..=40 {
        create(&nodes[0], of("busy", n)).await;
    }
    for n in 41..=42 {
        create(&nodes[1], of("quiet", n)).await;
    }
    let mut order = Vec::new();
    for turn in 0..4 {
        let now = nodes[0].clock().now();
        let claimed = claim(&nodes[turn % 2], now, &format!("node {}", turn % 2), 1).await;
        order.push(claimed[0].job.project.to_string());
    }
    order.sort();
    assert_eq!(order, ["busy", "busy", "quiet", "quiet"], "two turns each, whichever node takes them");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_claim_that_finds_nothing_commits_nothing() {
    let database = Database::new().await;
    let (node, client) = (database.node().await, database.client().await);
    create(&node, sample_job(1)).await;
    let commits =
        async || -> i64 { client.query_one("SELECT count(*) FROM commits", &[]).await.expect("a count").get(0) };
    let now = node.clock().now();
    assert_eq!(claim(&node, now, "node", 9).await.len(), 1);
    let before = commits().await;
    assert_eq!((before, claim(&node, now, "node", 9).await), (2, vec![]));
    assert_eq!(commits().await, before);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_node_that_comes_back_after_its_lease_is_refused() {
    let database = Database::new().await;
    let (slow, quick) = (database.node().await, database.node().await);
    create(&slow, sample_job(1)).await;
    let now = slow.clock().now();
    let old = claim(&slow, now, "slow", 1).await.remove(0);
    append(&slow, old.id(), old.last_token, 1).await.expect("the lease is held");
    let rescued = claim(&quick, now.plus(LEASE), "quick", 1).await.remove(0);
    assert_eq!(rescued.last_token, old.last_token + 1);
    let late = append(&slow, old.id(), old.last_token, 2).await;
    assert!(matches!(late, Err(WriteError::Refused(_))), "{late:?}");
    append(&quick, old.id(), rescued.last_token, 3).await.expect("the lease is held");
    let journal = slow.entries(old.id(), 0, 100).await.expect("the store answers");
    let steps: Vec<_> = journal
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::Work { data, .. } => data["n"].as_u64(),
            _ => None,
        })
        .collect();
    assert_eq!(steps, [1, 3]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn many_writes_are_told_of_by_few_signals() {
    let database = Database::new().await;
    let (node, heard) = (database.node().await, database.heard("docent_commits").await);
    let begun = std::time::Instant::now();
    for n in 1..=200 {
        create(&node, sample_job(n)).await;
    }
    let took = begun.elapsed();
    eventually("the other nodes to be told", async || heard.load(Ordering::Relaxed) > 0).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    // One for every 50 ms, and one at each end.
    let most = took.as_millis() / 50 + 2;
    let heard = u128::from(heard.load(Ordering::Relaxed));
    assert!(heard <= most && heard < 200, "{heard} signals in {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_node_knows_how_many_replies_run_on_the_others() {
    let database = Database::new().await;
    let nodes = [database.node().await, database.node().await, database.node().await];
    let projects = [1, 2].map(|n| ProjectUid::new(uuid::Uuid::from_u128(n)));
    let share = async |node: usize, counts: [usize; 2]| {
        let running = projects.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect();
        let elsewhere = nodes[node].share_running_replies(running).await.expect("the store answers");
        projects.map(|project| elsewhere.get(&project).copied().unwrap_or(0))
    };
    assert_eq!(share(0, [3, 1]).await, [0, 0]);
    assert_eq!(share(1, [2, 0]).await, [3, 1]);
    assert_eq!(share(2, [0, 0]).await, [5, 1]);
    assert_eq!(share(0, [0, 1]).await, [2, 0]);
    assert_eq!(share(2, [0, 0]).await, [2, 1]);
    let client = database.client().await;
    client.execute("UPDATE running_replies SET until = until - 6000", &[]).await.expect("time passes");
    assert_eq!(share(2, [0, 0]).await, [0, 0], "nodes that have said nothing for longer are gone");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_quota_is_exact_over_all_nodes() {
    let database = Database::new().await;
    let nodes = [database.node().await, database.node().await];
    let quota = Quota { bucket: "agent-jobs:acme".to_owned(), limit: 40, window: Duration::from_secs(3600) };
    let tries = (1..=100).map(|n| {
        let (store, quota) = (Arc::clone(&nodes[usize::try_from(n % 2).expect("few")]), quota.clone());
        tokio::spawn(async move {
            let (row, entries) = state::create(sample_job(n), say("Fix links"));
            let guards = WriteGuards { now: store.clock().now(), quota: Some(quota), key: None };
            store.create(row, entries, guards).await.map(|written| written.quota_status.expect("counted").remaining)
        })
    });
    let mut remaining = Vec::new();
    for attempt in tries.collect::<Vec<_>>() {
        match attempt.await.expect("no panic") {
            Ok(left) => remaining.push(left),
            Err(WriteError::Limited(status)) => assert_eq!(status.remaining, 0),
            Err(error) => panic!("{error}"),
        }
    }
    remaining.sort_unstable();
    assert_eq!(remaining, (0..40).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn one_node_at_a_time_delivers_to_a_hook() {
    let database = Database::new().await;
    let (a, b) = (database.node().await, database.node().await);
    let hook = "https://hooks.example/one";
    a.set_hooks(vec![hook.to_owned()]).await.expect("the hooks are set");
    let now = a.clock().now();
    let hold = async |store: &PostgresStore, now: Timestamp| {
        store.take_deliveries(hook, now, now.plus(LEASE)).await.expect("the store answers")
    };
    assert!(hold(&a, now).await);
    assert!(!hold(&b, now).await, "the other has it");
    assert!(hold(&a, now.plus(LEASE / 2)).await, "it goes on");
    assert!(!hold(&b, now.plus(LEASE)).await, "it was renewed");
    assert!(hold(&b, now.plus(2 * LEASE)).await, "it is gone");
    assert!(!hold(&a, now.plus(2 * LEASE)).await);
}

/// A worker that writes some entries and is done.
#[derive(Debug)]
struct Steps(usize);

#[async_trait]
impl Worker for Steps {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        for entry in handle.read().await? {
            if matches!(entry.body, EntryBody::Instruction(_)) {
                handle.acknowledge(entry.seq);
            }
        }
        for n in 0..self.0 {
            handle.record("step", json!({ "n": n }));
            handle.sync().await?;
        }
        Ok(Outcome::Completed { message: "done".to_owned() })
    }
}

fn project() -> Project {
    let name = |text| ProjectId::parse(text).expect("a name");
    Project {
        id: name("acme"),
        uid: ProjectUid::new(uuid::Uuid::from_u128(1)),
        domain: Domain::parse("acme-docs").expect("a name"),
        repository: "/srv/git/docs.git".to_owned(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: std::collections::BTreeMap::default(),
        settings: ProjectSettings::default(),
        created_at: Timestamp::from_millis(0),
    }
}

/// The jobs of a node, which follows the others.
fn jobs(store: &Arc<PostgresStore>) -> Jobs {
    let limits = JobLimits { creates_per_hour: 10_000, messages_per_hour: 10_000 };
    let jobs = Jobs::new(Arc::clone(store) as Arc<dyn Store>, Arc::new(store.clock()), Arc::new(RandomIds), limits);
    let following = jobs.clone();
    tokio::spawn(async move { following.follow_other_processes().await });
    jobs
}

fn start_engine(jobs: &Jobs, holder: &str, steps: usize) -> CancellationToken {
    let drain = CancellationToken::new();
    // Looks of its own are far apart, so what is quick comes from the other nodes' news.
    let config = EngineConfig { idle: Duration::from_secs(60), ..EngineConfig::new(holder) };
    tokio::spawn(Engine::new(jobs.clone(), Arc::new(Steps(steps)), config).run(drain.clone()));
    drain
}

async fn submit(jobs: &Jobs) -> Arc<AgentJob> {
    let project = project();
    let messages = vec![Message::text(Role::User, "Fix links")];
    let new = NewJob { project: &project, messages, branch: None, as_draft: false, model: "builtin".to_owned() };
    jobs.submit(new, None).await.expect("accepted").job
}

/// Follows a job to its end on one node while another works on it; returns the numbers of the entries.
async fn followed(jobs: &Jobs, id: JobId) -> Vec<u64> {
    let mut watch = jobs.watch(&project().id, id, 0).await.expect("the job is there");
    let mut numbers = Vec::new();
    while let Some(update) = watch.next().await.expect("the store answers") {
        if let JobUpdate::Entry(entry) = update {
            numbers.push(entry.seq);
        }
    }
    numbers
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_stream_of_one_node_shows_a_job_that_runs_on_another_entry_by_entry() {
    let database = Database::new().await;
    let (here, there) = (jobs(&database.node().await), jobs(&database.node().await));
    let _drain = start_engine(&there, "there", 5);
    let begun = std::time::Instant::now();
    let id = submit(&here).await.id;
    assert_eq!(followed(&here, id).await, (1..=9).collect::<Vec<_>>());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn without_notifications_the_other_node_is_followed_all_the_same() {
    let database = Database::new().await;
    let proxy = Proxy::before(database.address()).await;
    proxy.keep_deaf();
    let deaf = PostgresStore::connect(&database.url_at(proxy.address()), 4).await.expect("the database opens");
    let (deaf, other) = (jobs(&Arc::new(deaf)), jobs(&database.node().await));
    let _drain = start_engine(&deaf, "deaf", 5);
    for _ in 0..3 {
        let id = submit(&other).await.id;
        assert_eq!(followed(&deaf, id).await, (1..=9).collect::<Vec<_>>());
        assert_eq!(followed(&other, id).await, (1..=9).collect::<Vec<_>>());
        proxy.cut();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn jobs_end_once_on_nodes_whose_connections_are_cut() {
    const COUNT: usize = 60;
    let database = Database::new().await;
    let proxy = Proxy::before(database.address()).await;
    let cut = PostgresStore::connect(&database.url_at(proxy.address()), 6).await.expect("the database opens");
    let (cut, other) = (Arc::new(cut), database.node().await);
    let hook = "https://hooks.example/one";
    other.set_hooks(vec![hook.to_owned()]).await.expect("the hooks are set");
    let nodes = [jobs(&cut), jobs(&other)];
    for (number, node) in nodes.iter().enumerate() {
        let config = EngineConfig { lease: Duration::from_secs(3), ..EngineConfig::new(format!("node {number}")) };
        tokio::spawn(Engine::new(node.clone(), Arc::new(Steps(3)), config).run(CancellationToken::new()));
    }
    let mut ids = Vec::new();
    for _ in 0..COUNT {
        ids.push(submit(&nodes[1]).await.id);
        if ids.len() % 6 == 0 {
            proxy.cut();
        }
    }
    let status = async |id| other.row(id).await.expect("the store answers").expect("the job is there").job.status;
    for id in &ids {
        eventually("the job ends", async || status(*id).await == JobStatus::Completed).await;
        let journal = other.entries(*id, 0, 1000).await.expect("the store answers");
        assert!(journal.iter().map(|entry| entry.seq).eq(1..=journal.len() as u64), "no gap and nothing twice");
        let ends = journal.iter().filter(|entry| {
            matches!(entry.body, EntryBody::Transition { to: JobStatus::Completed | JobStatus::Failed, .. })
        });
        assert_eq!(ends.count(), 1);
    }
    assert_eq!(other.queued(hook, 1000).await.expect("the store answers").len(), COUNT);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_machine_whose_clock_is_five_minutes_off_changes_nothing() {
    let database = Database::new().await;
    // The database's clock is ahead of the clock of all nodes, or theirs is behind.
    let ahead = "CREATE SCHEMA ahead;
        CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql
        AS $$ SELECT pg_catalog.clock_timestamp() + interval '5 minutes' $$;";
    let client = database.client().await;
    client.batch_execute(ahead).await.expect("a function");
    let path = format!("ALTER DATABASE {} SET search_path = ahead, pg_catalog, public", database.name());
    client.batch_execute(&path).await.expect("a setting");
    let (off, agreed) = (database.node().await, database.node().await);
    let distance = off.clock().now().since(SystemClock.now());
    assert!(distance > Duration::from_secs(299) && distance < Duration::from_secs(301), "{distance:?}");
    let (job, now) = (submit(&jobs(&agreed)).await, off.clock().now());
    assert!(now.since(job.created_at) < Duration::from_secs(2), "{:?} {now:?}", job.created_at);
    let leased = claim(&off, now.plus(Duration::from_secs(1)), "off", 1).await;
    assert_eq!(leased.len(), 1, "the job of the other is due");
    let later = agreed.clock().now();
    assert!(claim(&agreed, later, "agreed", 1).await.is_empty(), "and its lease holds");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn what_commits_late_is_seen_and_seen_once() {
    let database = Database::new().await;
    let (reader, writer) = (database.node().await, database.node().await);
    eventually("the first look is made", async || reader.changes().is_some()).await;
    let seen = async || {
        let mut all = BTreeSet::new();
        while let Ok(written) = tokio::time::timeout(Duration::from_millis(700), reader.written_elsewhere()).await {
            all.extend(written.unwrap_or_default());
        }
        all
    };
    seen().await;
    let mut early = database.client().await;
    let open = early.transaction().await.expect("a transaction");
    let mark = "INSERT INTO commits (mark, node, jobs, access) VALUES ($1, $2, $3, false)";
    let late = sample_job(1).id;
    let (ids, jobs) = ([uuid::Uuid::now_v7(), uuid::Uuid::new_v4()], vec![late.uuid()]);
    open.execute(mark, &[&ids[0], &ids[1], &jobs]).await.expect("a mark");
    for n in 2..=4 {
        create(&writer, sample_job(n)).await;
    }
    assert_eq!(seen().await, (2..=4).map(|n| sample_job(n).id).collect(), "those that committed first");
    create(&writer, sample_job(5)).await;
    assert_eq!(seen().await, BTreeSet::from([sample_job(5).id]), "an open transaction holds nothing up");
    open.commit().await.expect("it commits");
    assert_eq!(seen().await, BTreeSet::from([late]), "and is seen when it commits, after younger ones");
    assert_eq!(seen().await, BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn an_entry_number_that_comes_twice_is_shown_once() {
    let database = Database::new().await;
    let store = database.node().await;
    let jobs = jobs(&store);
    let id = submit(&jobs).await.id;
    let token = claim(&store, store.clock().now(), "node", 1).await.remove(0).last_token;
    append(&store, id, token, 1).await.expect("the lease is held");
    let mut watch = jobs.watch(&project().id, id, 0).await.expect("the job is there");
    let mut shown = Vec::new();
    let mut next = async |count: usize| {
        for _ in 0..count {
            match watch.next().await.expect("the store answers") {
                Some(JobUpdate::Entry(entry)) => shown.push(entry),
                other => panic!("{other:?} is no entry"),
            }
        }
        shown.clone()
    };
    assert_eq!(next(4).await.len(), 4);
    // What a failover to a standby that lacks the last commit leaves.
    let lose = "DELETE FROM entries WHERE last = 4; UPDATE queue SET last_seq = 3";
    database.client().await.batch_execute(lose).await.expect("the last entry is lost");
    append(&store, id, token, 2).await.expect("the lease is held");
    append(&store, id, token, 3).await.expect("the lease is held");
    let shown = next(1).await;
    assert!(shown.iter().map(|entry| entry.seq).eq(1..=5));
    let step = |entry: &docent_jobs::Entry| match &entry.body {
        EntryBody::Work { data, .. } => data["n"].as_u64(),
        _ => None,
    };
    assert_eq!(shown.iter().filter_map(step).collect::<Vec<_>>(), [1, 3]);
    let lasting = store.entries(id, 0, 100).await.expect("the store answers");
    assert_eq!(lasting.iter().filter_map(step).collect::<Vec<_>>(), [2, 3]);
}
