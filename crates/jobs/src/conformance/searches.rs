//! Tests of job searches.

use std::sync::Arc;

use docent_types::{AgentJob, JobId, JobStatus, ListPage, Message, ProjectId, Role, Timestamp};

use super::{NOW, change, id, open, sample_job};
use crate::entry::Instruction;
use crate::row::Row;
use crate::search::{FoundJobs, JobSearch};
use crate::state;
use crate::store::{Pruning, Store};

fn acme() -> JobSearch {
    JobSearch { projects: vec![sample_job(1).project], limit: 100, ..JobSearch::default() }
}

async fn create(store: &Arc<dyn Store>, job: AgentJob, prompt: &str) {
    let messages = vec![Message::text(Role::System, "Be brief."), Message::text(Role::User, prompt)];
    let (row, entries) = state::create(job, Instruction::new(messages));
    store.create(row, entries, open()).await.expect("a job is created");
}

async fn archive(store: &Arc<dyn Store>, n: u128) {
    change(store, n, Arc::new(|row: &Row| state::archive(row, NOW))).await;
}

async fn search(store: &Arc<dyn Store>, search: JobSearch) -> FoundJobs {
    store.search(search).await.expect("the store answers")
}

fn numbers(found: &FoundJobs) -> Vec<u128> {
    found.jobs.iter().map(|found| found.job.id.uuid().as_u128()).collect()
}

fn count(found: &FoundJobs, status: JobStatus) -> u64 {
    found.counts[JobStatus::ALL.iter().position(|known| *known == status).expect("a status")]
}

pub(super) async fn jobs_are_found_by_state_text_and_time(store: Arc<dyn Store>) {
    for (n, prompt) in [(1, "Fix broken links"), (2, "MEND the Übersicht"), (3, "Fix titles"), (4, "100% of _titles_")]
    {
        create(&store, sample_job(n), prompt).await;
    }
    create(&store, AgentJob { project: ProjectId::parse("other").expect("a name"), ..sample_job(5) }, "Fix it").await;
    archive(&store, 3).await;
    let all = search(&store, acme()).await;
    assert_eq!(numbers(&all), [4, 3, 2, 1]);
    assert_eq!((count(&all, JobStatus::Active), count(&all, JobStatus::Archived)), (3, 1));
    assert_eq!(all.jobs[3].prompt.as_deref(), Some("Fix broken links"), "what a user said");
    assert_eq!((all.has_newer, all.has_older), (false, false));
    let saying = async |text: &str| numbers(&search(&store, JobSearch { text: text.to_owned(), ..acme() }).await);
    assert_eq!(saying("fix").await, [3, 1]);
    assert_eq!(saying("übersicht").await, [2], "whatever the case");
    assert_eq!(saying("ÜBERSICHT").await, [2]);
    assert_eq!(saying("0% of _t").await, [4], "no sign has another meaning");
    assert_eq!(saying("brief").await, [0; 0], "the system said that");
    let archived = search(&store, JobSearch { status: Some(JobStatus::Archived), text: "fix".into(), ..acme() }).await;
    assert_eq!(numbers(&archived), [3]);
    assert_eq!(count(&archived, JobStatus::Active), 1, "other states are counted");
    let between = search(&store, JobSearch { from: Some(id(2)), to: Some(id(4)), ..acme() }).await;
    assert_eq!(numbers(&between), [3, 2]);
    let projects = [acme().projects, vec![ProjectId::parse("other").expect("a name")]].concat();
    assert_eq!(numbers(&search(&store, JobSearch { projects, text: "fix".into(), ..acme() }).await), [5, 3, 1]);
    assert!(search(&store, JobSearch::default()).await.jobs.is_empty(), "no project, no job");
    let day = Timestamp::from_millis(1_764_000_000_000);
    let made = JobId::first_at(day).uuid().as_u128() + 1;
    create(&store, sample_job(made), "Later").await;
    let on = async |from, to| {
        let found =
            search(&store, JobSearch { from: Some(JobId::first_at(from)), to: Some(JobId::first_at(to)), ..acme() });
        numbers(&found.await)
    };
    let next = Timestamp::from_millis(day.millis() + 1);
    assert_eq!(on(day, next).await, [made]);
    assert_eq!((on(Timestamp::default(), day).await.len(), on(next, NOW).await.len()), (4, 0));
}

pub(super) async fn pages_stay_where_they_are_while_jobs_come_in(store: Arc<dyn Store>) {
    for n in 1..=7 {
        create(&store, sample_job(n * 10), "Fix links").await;
    }
    let page = async |page: ListPage<JobId>| {
        let found = search(&store, JobSearch { page, limit: 3, ..acme() }).await;
        (numbers(&found), found.has_newer, found.has_older)
    };
    assert_eq!(page(ListPage::Newest).await, (vec![70, 60, 50], false, true));
    create(&store, sample_job(80), "Fix links").await;
    assert_eq!(page(ListPage::OlderThan(id(50))).await, (vec![40, 30, 20], true, true));
    assert_eq!(page(ListPage::OlderThan(id(20))).await, (vec![10], true, false));
    assert_eq!(page(ListPage::NewerThan(id(40))).await, (vec![70, 60, 50], true, true));
    assert_eq!(page(ListPage::NewerThan(id(60))).await, (vec![80, 70], false, true));
    // The cursor may be of a job that is gone.
    assert_eq!(page(ListPage::OlderThan(id(35))).await, (vec![30, 20, 10], true, false));
    archive(&store, 30).await;
    let archived =
        JobSearch { status: Some(JobStatus::Archived), page: ListPage::NewerThan(id(10)), limit: 3, ..acme() };
    let archived = search(&store, archived).await;
    assert_eq!((numbers(&archived), archived.has_newer, archived.has_older), (vec![30], false, false));
    assert!(search(&store, JobSearch { limit: 0, ..acme() }).await.jobs.is_empty());
}

pub(super) async fn a_prompt_goes_with_its_journal(store: Arc<dyn Store>) {
    create(&store, sample_job(1), "Fix links").await;
    archive(&store, 1).await;
    let later = Timestamp::from_millis(NOW.millis() + 1);
    let pruning = Pruning { now: later, journals_before: Some(later), jobs_before: None, limit: 100 };
    store.prune(pruning).await.expect("the store answers");
    let found = search(&store, acme()).await;
    assert_eq!((numbers(&found), found.jobs[0].prompt.as_ref()), (vec![1], None));
    assert!(search(&store, JobSearch { text: "fix".into(), ..acme() }).await.jobs.is_empty());
}
