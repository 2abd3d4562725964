//! Queries on the commit history.

use gix::ObjectId;

use super::local_error;
use crate::error::GitError;
use crate::id::CommitId;

const DOING: &str = "walk the history";

/// The best common ancestor, `None` when the two share no history.
pub(crate) fn merge_base(repo: &gix::Repository, a: CommitId, b: CommitId) -> Result<Option<CommitId>, GitError> {
    if a == b {
        return Ok(Some(a));
    }
    for commit in [a, b] {
        super::commit_tree(repo, commit)?;
    }
    let base = repo.merge_base(a.object(), b.object()).map_err(|error| local_error(DOING, &error))?;
    Ok(base.map(|id| id.detach().into()))
}

/// The first parent of a commit. `None` for a root commit, and where a shallow history ends.
pub(crate) fn first_parent(repo: &gix::Repository, commit: CommitId) -> Result<Option<CommitId>, GitError> {
    let commit = repo.find_commit(commit.object()).map_err(|error| local_error(DOING, &error))?;
    let parent = commit.parent_ids().next().map(gix::Id::detach);
    Ok(parent.filter(|parent| repo.has_object(parent)).map(Into::into))
}

/// A commit as shown in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSummary {
    pub id: CommitId,
    /// The author's name and email address.
    pub author: String,
    pub email: String,
    /// When it was committed, in seconds since the Unix epoch.
    pub seconds: i64,
    /// The whole message.
    pub message: String,
}

/// The commits reachable from `tip` but not from `hidden`, newest first, at most `limit`.
pub(crate) fn commits(
    repo: &gix::Repository,
    tip: CommitId,
    hidden: Option<CommitId>,
    limit: usize,
) -> Result<Vec<CommitSummary>, GitError> {
    super::commit_tree(repo, tip)?;
    let walk = repo
        .rev_walk([tip.object()])
        .with_hidden(hidden.map(CommitId::object))
        .sorting(gix::revision::walk::Sorting::ByCommitTime(Default::default()))
        .all()
        .map_err(|error| local_error(DOING, &error))?;
    walk.take(limit)
        .map(|info| {
            let info = info.map_err(|error| local_error(DOING, &error))?;
            summary(repo, info.id)
        })
        .collect()
}

fn summary(repo: &gix::Repository, id: ObjectId) -> Result<CommitSummary, GitError> {
    let commit = repo.find_commit(id).map_err(|error| local_error(DOING, &error))?;
    let decoded = commit.decode().map_err(|error| local_error(DOING, &error))?;
    let author = decoded.author().map_err(|error| local_error(DOING, &error))?;
    let committer = decoded.committer().map_err(|error| local_error(DOING, &error))?;
    Ok(CommitSummary {
        id: id.into(),
        author: author.name.to_string(),
        email: author.email.to_string(),
        seconds: committer.seconds(),
        message: decoded.message.to_string(),
    })
}
