//! Rows and journals: what was written is read back, complete and in order.

use std::sync::Arc;

use docent_types::{AgentJob, JobStatus, ProjectId, RefusalKind};

use super::{
    NOW, append, change, claim, create, created, follow_up, id, journal, open, refuse, row, sample_job, say, work,
};
use crate::entry::EntryBody;
use crate::row::Row;
use crate::state::{self};
use crate::store::{JobQuery, Store, WriteError};

pub(super) async fn a_job_is_read_back_as_it_was_written(store: Arc<dyn Store>) {
    assert_eq!(store.row(id(1)).await.expect("the store answers"), None);
    let mut job = sample_job(1);
    job.message = Some("Ünï \u{1F980} \"quoted\"".to_owned());
    let (expected, entries) = state::create(job.clone(), say("Fix broken links"));
    let written = store.create(expected.clone(), entries.clone(), open()).await.expect("a job is created");
    assert_eq!((&*written.job, written.repeat, written.quota_status), (&job, false, None));
    assert_eq!(row(&store, 1).await, expected);
    let bodies: Vec<_> = journal(&store, 1).await.into_iter().map(|entry| (entry.at, entry.body)).collect();
    assert_eq!(bodies, entries.into_iter().map(|body| (NOW, body)).collect::<Vec<_>>());
    assert!(matches!(create(&store, job, open()).await, Err(WriteError::Store(_))), "an id is given once");
}

pub(super) async fn entries_are_numbered_without_gaps(store: Arc<dyn Store>) {
    created(&store, 1).await;
    created(&store, 2).await;
    let token = claim(&store, NOW).await.expect("a job is due").last_token;
    let writers: Vec<_> = (0..50)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.change(id(1), open(), append(token, vec![work(n), work(n)])).await })
        })
        .collect();
    for writer in writers {
        writer.await.expect("no panic").expect("the change is written");
    }
    let journal = journal(&store, 1).await;
    let seqs: Vec<_> = journal.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (1..=103).collect::<Vec<_>>(), "two of the creation, one of the lease, a hundred of the work");
    assert_eq!(row(&store, 1).await.last_seq, 103);
    for pair in journal[3..].chunks(2) {
        assert_eq!(pair[0].body, pair[1].body, "the entries of one write stay together");
    }
    assert_eq!(row(&store, 2).await.last_seq, 2, "each job counts for itself");
}

pub(super) async fn entries_come_in_pages(store: Arc<dyn Store>) {
    created(&store, 1).await;
    let token = claim(&store, NOW).await.expect("a job is due").last_token;
    change(&store, 1, append(token, (0..7).map(work).collect())).await;
    let page = async |after, limit| -> Vec<u64> {
        let page = store.entries(id(1), after, limit).await.expect("the store answers");
        page.iter().map(|entry| entry.seq).collect()
    };
    assert_eq!(page(0, 4).await, [1, 2, 3, 4]);
    assert_eq!(page(4, 4).await, [5, 6, 7, 8]);
    assert_eq!(page(8, 4).await, [9, 10]);
    assert!(page(10, 4).await.is_empty());
    assert!(page(u64::MAX, 4).await.is_empty());
    assert!(page(0, 0).await.is_empty());
    assert!(store.entries(id(2), 0, 4).await.expect("the store answers").is_empty());
}

pub(super) async fn a_decision_is_applied_whole_or_not_at_all(store: Arc<dyn Store>) {
    let before = created(&store, 1).await;
    let written = change(&store, 1, follow_up("and add titles")).await;
    assert_eq!((written.job.status, written.repeat), (JobStatus::Active, false));
    let after = row(&store, 1).await;
    assert_eq!((after.last_seq, after.last_instruction), (3, 3));
    assert_eq!(journal(&store, 1).await[2].body, EntryBody::Instruction(say("and add titles")));
    let refused = store.change(id(1), open(), refuse()).await;
    assert!(matches!(refused, Err(WriteError::Refused(refusal)) if refusal.kind == RefusalKind::Conflict));
    assert_eq!(row(&store, 1).await, after, "a refused change leaves no trace");
    assert_eq!(journal(&store, 1).await.len(), 3);
    let missing = store.change(id(2), open(), follow_up("hello")).await;
    assert!(matches!(missing, Err(WriteError::NotFound)));
    let archived = change(&store, 1, Arc::new(|row: &Row| state::archive(row, NOW))).await;
    assert_eq!((archived.job.status, archived.job.archived_at), (JobStatus::Archived, Some(NOW)));
    assert_eq!(archived.job, row(&store, 1).await.job);
    assert_eq!(archived.job.created_at, before.job.created_at);
}

pub(super) async fn jobs_are_listed_newest_first(store: Arc<dyn Store>) {
    for n in [2, 5, 1, 4, 3] {
        created(&store, n).await;
    }
    let other = AgentJob { project: ProjectId::parse("other").expect("a name"), ..sample_job(6) };
    create(&store, other, open()).await.expect("a job is created");
    for n in [2, 4] {
        change(&store, n, Arc::new(|row: &Row| state::archive(row, NOW))).await;
    }
    let all = JobQuery { project: sample_job(1).project, status: None, after: None, skip: 0, limit: 100 };
    let list = async |query: JobQuery| -> Vec<u128> {
        let jobs = store.list(query).await.expect("the store answers");
        jobs.iter().map(|job| job.id.uuid().as_u128()).collect()
    };
    assert_eq!(list(all.clone()).await, [5, 4, 3, 2, 1]);
    assert_eq!(list(JobQuery { limit: 2, ..all.clone() }).await, [5, 4]);
    assert_eq!(list(JobQuery { limit: 2, after: Some(id(4)), ..all.clone() }).await, [3, 2]);
    assert_eq!(list(JobQuery { limit: 2, skip: 3, ..all.clone() }).await, [2, 1]);
    assert_eq!(list(JobQuery { status: Some(JobStatus::Archived), ..all.clone() }).await, [4, 2]);
    assert_eq!(list(JobQuery { status: Some(JobStatus::Active), after: Some(id(5)), ..all.clone() }).await, [3, 1]);
    assert!(list(JobQuery { limit: 0, ..all.clone() }).await.is_empty());
    assert!(list(JobQuery { status: Some(JobStatus::Failed), ..all.clone() }).await.is_empty());
    let archived = store.list(JobQuery { after: Some(id(5)), limit: 1, ..all }).await.expect("the store answers");
    assert_eq!(archived[0], *row(&store, 4).await.job, "a list shows the jobs as they are now");
}
