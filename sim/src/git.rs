//! Git as a process sees it: real mirrors and real repositories, and a connection between them that fails at random.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use docent_authoring::record::Record;
use docent_authoring::{BlockingWork, Transport};
use docent_jobs::EntryBody;
use docent_workspace::{CommitId, GitError, Mirror, Mirrors, PushError, PushOutcome, PushRefusal, Remote};
use serde::Deserialize;

use crate::process::{Process, RequestKind};
use crate::world::World;

/// The mirrors of a process.
#[derive(Debug)]
pub(crate) struct NodeGit {
    pub(crate) process: Arc<Process>,
    pub(crate) mirrors: Mirrors,
}

/// One push.
struct Push {
    mirror: Mirror,
    remote: Remote,
    branch: String,
    commit: CommitId,
    expected: Option<CommitId>,
}

impl Push {
    fn arrives(&self, from: &Process) -> Result<PushOutcome, PushError> {
        must_be_written_down(&from.world, self);
        let pushed = self.mirror.push(&self.remote, &self.branch, self.commit, self.expected);
        let came = match &pushed {
            Ok(PushOutcome::Moved) => "moves",
            Ok(PushOutcome::AlreadyThere) => "finds",
            Err(PushError::Moved { .. }) => "is too late for",
            Err(_) => "fails on",
        };
        from.world.note(format_args!("a push of {} {came} {} with {}", from.name, self.branch, shorter(self.commit)));
        pushed
    }
}

/// A short form of a commit's id.
pub(crate) fn shorter(commit: CommitId) -> String {
    commit.to_string().split_at(8).0.to_owned()
}

/// Checks that a commit is pushed only when its job's flushed journal records it.
fn must_be_written_down(world: &World, push: &Push) {
    let key = (push.remote.url.as_str(), push.branch.as_str());
    let commit = push.commit.to_string();
    let is_written = world.disk.rows().iter().filter(|row| row.concurrency_key() == key).any(|row| {
        let journal = world.disk.lasting_journal(row.id());
        records(journal.iter().map(|entry| &entry.body))
            .any(|record| matches!(record, Record::Committed { commit: written, .. } if written == commit))
    });
    if !is_written {
        world.violated(format_args!("{commit} is pushed, and no journal on the disk holds it"));
    }
}

/// The entries of authoring in a journal.
pub(crate) fn records<'a>(bodies: impl Iterator<Item = &'a EntryBody>) -> impl Iterator<Item = Record> {
    bodies.filter_map(|body| match body {
        EntryBody::Work { data, .. } => Record::deserialize(data).ok(),
        _ => None,
    })
}

fn unreachable(why: &str) -> GitError {
    GitError::unreachable("the repository", None, why)
}

#[async_trait]
impl Transport for NodeGit {
    async fn fetch(&self, remote: &Remote) -> Result<Mirror, GitError> {
        let process = &self.process;
        process.sends(RequestKind::Fetch).await;
        if process.world.goes_wrong("fetch fails", process.world.plan.odds.fetch_fails) {
            return Err(unreachable("nobody answers"));
        }
        let fetched = self.mirrors.fetch_blocking(remote);
        process.receives(RequestKind::Fetch).await;
        fetched
    }

    fn fetched(&self, remote: &Remote) -> Option<Mirror> {
        self.mirrors.open_existing(remote)
    }

    async fn push(
        &self,
        mirror: Mirror,
        remote: Remote,
        branch: String,
        commit: CommitId,
        expected: Option<CommitId>,
    ) -> Result<PushOutcome, PushError> {
        let (process, world) = (&self.process, &self.process.world);
        let odds = &world.plan.odds;
        process.sends(RequestKind::Push).await;
        let push = Push { mirror, remote, branch, commit, expected };
        if world.goes_wrong("push fails", odds.push_fails) {
            return Err(unreachable("the connection was refused").into());
        }
        if world.goes_wrong("push is refused", odds.push_refused) {
            return Err(PushError::Rejected { reason: "not today".to_owned(), refusal: PushRefusal::Rule });
        }
        if world.goes_wrong("push is late", odds.push_late) {
            let (from, wait) = (Arc::clone(process), world.chance().millis(100..=60_000));
            tokio::spawn(async move {
                tokio::time::sleep(wait).await;
                // Its result reaches no caller.
                let _ = push.arrives(&from);
            });
            return Err(unreachable("no answer came in time").into());
        }
        let pushed = push.arrives(process);
        process.receives(RequestKind::Push).await;
        if pushed.is_ok() && world.goes_wrong("push is unconfirmed", odds.push_unconfirmed) {
            return Err(unreachable("the connection broke off").into());
        }
        pushed
    }

    async fn run_blocking(&self, work: BlockingWork) {
        self.process.moves().await;
        self.process.runs();
        work();
        self.process.receives(RequestKind::Objects).await;
    }
}

/// Deletes a mirror, or one of its packs, as a power failure may.
pub(crate) fn loses_mirrors(world: &World, mirrors: &Path) {
    let is_whole = world.chance().happens(0.5);
    world.note(format_args!("{} of a mirror is lost", if is_whole { "all" } else { "a part" }));
    if is_whole {
        let _ = std::fs::remove_dir_all(mirrors);
        return;
    }
    let below = |folder: &Path| {
        let mut found: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        found.sort();
        found
    };
    let packs = below(mirrors).into_iter().flat_map(|mirror| below(&mirror.join("objects").join("pack")));
    let packs: Vec<_> = packs.filter(|path| path.extension().is_some_and(|end| end == "pack")).collect();
    if packs.is_empty() {
        return;
    }
    let lost = &packs[world.chance().place(packs.len())];
    for end in ["pack", "idx"] {
        let _ = std::fs::remove_file(lost.with_extension(end));
    }
}

impl fmt::Debug for Push {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Push").field("branch", &self.branch).field("commit", &self.commit).finish_non_exhaustive()
    }
}
