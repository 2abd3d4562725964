//! What a later project of the same name sees of a removed project.

use docent_access::conformance::sample_project;
use docent_assistant::{
    Days, ExportQuery, NewThread, QuestionFilter, Search, Searches, TermQuery, ThreadKey, Threads, Turn,
};
use docent_forge::{NewPullRecord, PullRequestSpec, PullRequests};
use docent_jobs::JobQuery;
use docent_types::{Domain, JobStatus, Project, ProjectUid, ThreadId};
use uuid::Uuid;

use super::*;

const THREAD: ThreadId = ThreadId::new(Uuid::from_u128(7));

fn key() -> WriteGuards {
    let scope = "agent-jobs:acme".to_owned();
    let key = IdempotencyKey { scope, key: "again".to_owned(), fingerprint: [1; 32], keep: Duration::from_secs(3600) };
    WriteGuards { key: Some(key), ..limited_gate() }
}

/// A project with a job, a pull request and a conversation.
async fn project_with_a_past(store: &SqliteStore) -> Project {
    let project = Project { domain: Domain::parse("acme-docs").expect("a name"), ..sample_project("acme") };
    store.add(project.clone()).await.expect("the project is added");
    create(store, sample_job(1), key()).await.expect("a job is created");
    let request = PullRequestSpec {
        title: "Fix links".to_owned(),
        body: String::new(),
        head: "docent/1".to_owned(),
        base: "main".to_owned(),
        draft: false,
        labels: Vec::new(),
    };
    let pull = NewPullRecord { id: Uuid::from_u128(5), project: project.id.clone(), request, created_at: NOW };
    store.open(pull).await.expect("the pull request is opened");
    let thread = NewThread {
        id: THREAD,
        domain: project.domain.clone(),
        fp: "ann".to_owned(),
        key: ThreadKey([0; 32]),
        created_at: NOW,
        turns: vec![Turn { answer_id: "a1".to_owned(), asked_at: NOW, ..Turn::default() }],
    };
    store.begin(thread).await.expect("the thread is begun");
    let search = Search { domain: project.domain.clone(), term: "keys".to_owned(), at: NOW, has_results: true };
    store.count(vec![search]).await.expect("the search is counted");
    project
}

/// The number of jobs, pull requests, questions and searches of a project.
async fn found(store: &SqliteStore, project: &Project) -> (usize, usize, usize, u64) {
    let jobs = JobQuery { project: project.id.clone(), status: None, after: None, skip: 0, limit: 10 };
    let jobs = Store::list(store, jobs).await.expect("the store answers");
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
    (jobs.len(), pulls.len(), threads.turns.len(), searches)
}

#[tokio::test]
async fn a_later_project_of_the_same_name_finds_nothing_of_the_first() {
    let database = TemporaryDatabase::new();
    // The command line removes the project from another process, while the server has the job in its cache.
    for (server, command_line) in [(database.open(), database.open())] {
        let first = project_with_a_past(&server).await;
        assert_eq!(found(&server, &first).await, (1, 1, 1, 1));
        command_line.remove(&first.id, NOW).await.expect("the project is removed");
        let second = Project { uid: ProjectUid::new(Uuid::from_u128(2)), ..first.clone() };
        command_line.add(second.clone()).await.expect("the name is free");
        assert_eq!(found(&server, &second).await, (0, 0, 0, 0));
        assert!(server.thread(&second.domain, THREAD, 0).await.expect("the store answers").is_none());
        let made = create(&server, sample_job(2), key()).await.expect("a job is created");
        assert!(!made.repeat, "the idempotency keys of the first are not those of the second");
        let quota_status = made.quota_status.expect("it counts");
        assert_eq!(quota_status.remaining, 99, "what the first used does not count");
        let left = server.row(sample_job(1).id).await.expect("the store answers").expect("it is kept");
        assert_eq!(left.job.project.as_str(), first.uid.to_string());
        assert_eq!(left.job.status, JobStatus::Archived, "nobody works on it any more");
        let owners: Vec<_> = claim(&server, 2).await.iter().map(|row| row.job.project.to_string()).collect();
        assert_eq!(owners, ["acme"]);
    }
}

#[tokio::test]
async fn the_process_that_removes_a_project_knows_its_jobs_under_the_uid_too() {
    let store = TemporaryDatabase::new();
    let store = store.open();
    let first = project_with_a_past(&store).await;
    store.remove(&first.id, NOW).await.expect("the project is removed");
    let left = store.row(sample_job(1).id).await.expect("the store answers").expect("it is kept");
    assert_eq!(left.job.project.as_str(), first.uid.to_string());
    assert!(store.cached(sample_job(1).id).is_none_or(|job| job.row.job.project.as_str() != "acme"));
}

#[tokio::test]
async fn the_jobs_of_a_removed_project_end_and_their_workers_say_when_they_have_stopped() {
    let database = TemporaryDatabase::new();
    let (server, command_line) = (database.open(), database.open());
    let project = project_with_a_past(&server).await;
    create(&server, sample_job(2), open_gate()).await.expect("a job is created");
    let row = claim(&server, 1).await.remove(0);
    command_line.remove(&project.id, NOW).await.expect("the project is removed");
    assert_eq!(command_line.jobs_not_stopped(project.uid).await.expect("the store answers"), [row.id()]);
    append(&server, &row, 1).await.expect_err("its lease is lost");
    let token = row.last_token;
    let release = Arc::new(move |row: &Row| state::release(row, token));
    server.hold(row.id(), NOW, release).await.expect("it says that it stopped");
    assert_eq!(command_line.jobs_not_stopped(project.uid).await.expect("the store answers"), []);
    for n in 1..=2 {
        let left = server.row(sample_job(n).id).await.expect("the store answers").expect("it is kept");
        let entries = server.entries(left.id(), 0, 100).await.expect("the store answers");
        let ended = entries.iter().filter(|entry| {
            matches!(entry.body, EntryBody::Transition { to: JobStatus::Archived, .. }) && entry.seq == left.last_seq
        });
        assert_eq!((left.job.status, ended.count()), (JobStatus::Archived, 1), "{n}: {entries:?}");
    }
    assert!(claim(&server, 2).await.is_empty());
}

#[tokio::test]
async fn the_conversations_of_a_project_go_with_it_to_another_domain() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let project = project_with_a_past(&store).await;
    let moved = Project { domain: Domain::parse("elsewhere").expect("a name"), ..project.clone() };
    store.replace(moved.clone()).await.expect("changes");
    assert_eq!((found(&store, &moved).await, found(&store, &project).await), ((1, 1, 1, 1), (1, 1, 0, 0)));
}
