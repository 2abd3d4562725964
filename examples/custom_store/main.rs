//! A store of your own, proved by the suite that every store of jobs must pass.
//!
//! [`LinesStore`] keeps jobs in a file of JSON lines that is only ever appended to. The program runs
//! `docent_jobs::conformance` on it, which panics at the first promise that is not kept, and then shows the one promise
//! the suite can't see from inside a process: what was accepted is there after a restart, even when the last line was
//! cut by a power failure.
//!
//! ```sh
//! cargo run -p docent-examples --example custom_store
//! ```

mod line;
mod lines_store;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use docent_jobs::{Fingerprint, JobLimits, Jobs, NewJob, Store, conformance};
use docent_types::{
    Clock, Domain, ForgeKind, Ids, Message, Project, ProjectId, ProjectSettings, ProjectUid, RandomIds, Refusal,
    RefusalKind, Role, SystemClock,
};
use tokio::io::AsyncWriteExt;

use crate::lines_store::LinesStore;

type BoxError = Box<dyn Error + Send + Sync>;

// Several threads, so that what the suite does at the same time really happens at the same time.
#[tokio::main(flavor = "multi_thread", worker_threads = 4)]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    conform(folder.path()).await;
    restart(&folder.path().join("restart.jsonl")).await?;
    println!("all as it should be");
    Ok(())
}

/// Runs the suite. It asks for an empty store as often as it has a story to tell.
async fn conform(folder: &Path) {
    let stories = AtomicUsize::new(0);
    let empty_store = || {
        let path = folder.join(format!("{}.jsonl", stories.fetch_add(1, Ordering::SeqCst)));
        async move {
            let opened = LinesStore::open(&path).await;
            Arc::new(opened.unwrap_or_else(|error| panic!("no store at {}: {error}", path.display()))) as Arc<dyn Store>
        }
    };
    conformance::run(empty_store).await;
    println!("the store keeps its promises in all {} stories", stories.load(Ordering::SeqCst));
}

/// Submits over the store, loses the process in the middle of a write, and looks what is left.
async fn restart(path: &Path) -> Result<(), BoxError> {
    let project = project()?;
    let new = |prompt: &str| NewJob {
        project: &project,
        messages: vec![Message::text(Role::User, prompt)],
        branch: None,
        as_draft: false,
        model: "builtin".to_owned(),
    };
    let key = Fingerprint { key: "request-1".to_owned(), digest: [1; 32] };

    let before = jobs(path).await?;
    let first = before.submit(new("Fix broken links"), Some(key.clone())).await?.job;
    let second = before.submit(new("Add missing titles"), None).await?.job;
    drop(before);
    // What a write that was cut leaves behind: a line without an end.
    let mut file = tokio::fs::File::options().append(true).open(path).await?;
    file.write_all(br#"{"create":{"row":{"job":{"id":"#).await?;
    file.flush().await?;

    let after = jobs(path).await?;
    for job in [&first, &second] {
        assert_eq!(after.job(&project.id, job.id).await?, *job, "the job is as it was accepted");
    }
    // The key is remembered, so the same request gives the same job and uses no quota; the quota is remembered too.
    let again = after.submit(new("Fix broken links"), Some(key)).await?;
    assert!(again.repeat && again.job == first);
    after.submit(new("Fix broken links everywhere"), None).await?;
    let refused = after.submit(new("One too many"), None).await;
    let limited = |error: &docent_types::CallError| match error {
        docent_types::CallError::Refused(Refusal { kind, .. }) => matches!(kind, RefusalKind::Limited(_)),
        docent_types::CallError::Store(_) => false,
    };
    assert!(refused.as_ref().is_err_and(limited), "{refused:?}");
    println!("after a restart the jobs, the idempotency key and the quota are as they were");
    Ok(())
}

/// Jobs on the store at `path`, three an hour.
async fn jobs(path: &Path) -> Result<Jobs, BoxError> {
    let store = Arc::new(LinesStore::open(path).await?);
    let limits = JobLimits { creates_per_hour: 3, ..JobLimits::default() };
    Ok(Jobs::new(store, Arc::new(SystemClock), Arc::new(RandomIds), limits))
}

/// A project to submit jobs for. Nobody works on them here, so its repository need not exist.
fn project() -> Result<Project, BoxError> {
    Ok(Project {
        uid: ProjectUid::new(RandomIds.unguessable()),
        id: ProjectId::parse("sample")?,
        domain: Domain::parse("sample")?,
        repository: "/srv/git/sample.git".to_owned(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at: SystemClock.now(),
    })
}
