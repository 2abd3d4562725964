//! What becomes of the data of a removed project, and of one that moves.

use std::sync::Arc;
use std::time::Duration;

use docent_access::Projects as _;
use docent_access::conformance::sample_project;
use docent_assistant::{
    Days, ExportQuery, NewThread, QuestionFilter, Search, Searches as _, Spend, Spends as _, TermQuery, ThreadKey,
    Threads as _, Turn,
};
use docent_forge::{NewPullRecord, PullRequestSpec, PullRequests};
use docent_jobs::conformance::sample_job;
use docent_jobs::{ClaimRequest, IdempotencyKey, Instruction, JobQuery, Row, Store as _, WriteGuards, state};
use docent_types::{Clock as _, Domain, JobStatus, Message, Project, ProjectUid, Quota, Role, ThreadId, Timestamp};
use uuid::Uuid;

use super::cluster::Database;
use crate::PostgresStore;

const THREAD: ThreadId = ThreadId::new(Uuid::from_u128(7));

/// Guards with a quota of 100 and an idempotency key.
fn guards(now: Timestamp) -> WriteGuards {
    let (scope, hour) = ("agent-jobs:acme".to_owned(), Duration::from_secs(3600));
    let quota = Quota { bucket: scope.clone(), limit: 100, window: hour };
    let key = IdempotencyKey { scope, key: "again".to_owned(), fingerprint: [1; 32], keep: hour };
    WriteGuards { now, quota: Some(quota), key: Some(key) }
}

async fn create(store: &PostgresStore, n: u128) -> docent_jobs::WriteOutcome {
    let now = store.clock().now();
    let instruction = Instruction::new(vec![Message::text(Role::User, "Fix links")]);
    let (row, entries) = state::create(sample_job(n), instruction);
    store.create(row, entries, guards(now)).await.expect("a job is created")
}

/// A project with a job, a pull request, a conversation, a search and spending.
async fn project_with_a_past(store: &PostgresStore) -> Project {
    let now = store.clock().now();
    let project = Project { domain: Domain::parse("acme-docs").expect("a name"), ..sample_project("acme") };
    store.add(project.clone()).await.expect("the project is added");
    create(store, 1).await;
    let request = PullRequestSpec {
        title: "Fix links".to_owned(),
        body: "with a \0".to_owned(),
        head: "docent/1".to_owned(),
        base: "main".to_owned(),
        draft: false,
        labels: Vec::new(),
    };
    let pull = NewPullRecord { id: Uuid::from_u128(5), project: project.id.clone(), request, created_at: now };
    store.open(pull).await.expect("the pull request is opened");
    let thread = NewThread {
        id: THREAD,
        domain: project.domain.clone(),
        fp: "ann\0".to_owned(),
        key: ThreadKey([0; 32]),
        created_at: now,
        turns: vec![Turn { answer_id: "a\0".to_owned(), question: "\0?".to_owned(), asked_at: now, ..Turn::default() }],
    };
    store.begin(thread).await.expect("the thread is begun");
    let search = Search { domain: project.domain.clone(), term: "keys\0".to_owned(), at: now, has_results: true };
    store.count(vec![search]).await.expect("the search is counted");
    let spend = Spend { tokens: 9, cost_micros: 0 };
    store.spend(&project.domain, 1, spend).await.expect("it is counted");
    project
}

/// The number of jobs, pull requests, questions, searches and tokens of a project.
async fn found(store: &PostgresStore, project: &Project) -> (usize, usize, usize, u64, i64) {
    let jobs = JobQuery { project: project.id.clone(), status: None, after: None, skip: 0, limit: 10 };
    let jobs = docent_jobs::Store::list(store, jobs).await.expect("the store answers");
    let pulls = PullRequests::list(store, &project.id, 10).await.expect("the store answers");
    let query = ExportQuery {
        domain: project.domain.clone(),
        which: QuestionFilter::default(),
        from: None,
        to: None,
        after: None,
        limit: 10,
        most_bytes: 1000,
    };
    let threads = store.export(query).await.expect("the store answers");
    let days = Days::touched(None, None);
    let terms = TermQuery { domain: project.domain.clone(), days, without_results: false, after: None, limit: 10 };
    let searches = store.terms(terms).await.expect("the store answers").counts.searches;
    let spent = store.spent(&project.domain, 1).await.expect("the store answers").tokens;
    (jobs.len(), pulls.len(), threads.turns.len(), searches, spent)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_later_project_of_the_same_name_finds_nothing_of_the_first() {
    let database = Database::new().await;
    let (one, other) = (database.node().await, database.node().await);
    let first = project_with_a_past(&one).await;
    assert_eq!(found(&other, &first).await, (1, 1, 1, 1, 9));
    other.remove(&first.id, other.clock().now()).await.expect("the project is removed");
    let second = Project { uid: ProjectUid::new(Uuid::from_u128(2)), ..first.clone() };
    other.add(second.clone()).await.expect("the name is free");
    assert_eq!(found(&one, &second).await, (0, 0, 0, 0, 0));
    assert!(one.thread(&second.domain, THREAD, 0).await.expect("the store answers").is_none());
    let made = create(&one, 2).await;
    assert!(!made.repeat, "the idempotency keys of the first are not those of the second");
    assert_eq!(made.quota_status.expect("it counts").remaining, 99, "what the first used does not count");
    let left = one.row(sample_job(1).id).await.expect("the store answers").expect("it is kept");
    assert_eq!((left.job.project.to_string(), left.job.status), (first.uid.to_string(), JobStatus::Archived));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_job_of_a_removed_project_has_stopped_when_its_worker_says_so_or_its_lease_is_over() {
    let database = Database::new().await;
    let store = database.node().await;
    let project = project_with_a_past(&store).await;
    let now = store.clock().now();
    let lease = Arc::new(move |row: &Row| state::lease(row, "node", now.plus(Duration::from_secs(3))));
    let request = ClaimRequest { now, cap_per_project: usize::MAX, limit: 1 };
    let claimed = store.claim(request, lease).await.expect("the store answers");
    store.remove(&project.id, now).await.expect("the project is removed");
    let left = async || store.jobs_not_stopped(project.uid).await.expect("the store answers");
    assert_eq!(left().await, [claimed[0].id()]);
    let over = async { while !left().await.is_empty() {} };
    tokio::time::timeout(Duration::from_secs(60), over).await.expect("the lease ends");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn the_conversations_of_a_project_go_with_it_to_another_domain() {
    let database = Database::new().await;
    let store = database.node().await;
    let project = project_with_a_past(&store).await;
    let moved = Project { domain: Domain::parse("elsewhere").expect("a name"), ..project.clone() };
    store.replace(moved.clone()).await.expect("changes");
    assert_eq!((found(&store, &moved).await, found(&store, &project).await), ((1, 1, 1, 1, 9), (1, 1, 0, 0, 0)));
}
