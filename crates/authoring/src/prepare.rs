//! The beginning of a turn: the current repository, and the state of the job's branch.

use std::collections::BTreeMap;

use docent_jobs::{JobProgress, NAME_IN_THE_WAY, own_branch_beside};
use docent_types::{Halt, Timestamp};
use docent_workspace::{CommitId, GitError, MergeError, Mirror, Update};

use crate::author::append_instructions;
use crate::context_repositories::find_context_commits;
use crate::pulls::merged_file;
use crate::record::{BranchState, BranchUpdate, Record, TurnStart};
use crate::session::{Session, parse};
use crate::signing::Signing;
use crate::turn_exit::{TurnExit, failed, one_line};

/// The commits that a turn begins from.
struct Start {
    base: CommitId,
    /// The tip of the job's branch on the remote.
    remote: Option<CommitId>,
    /// The tip of the branch that pull requests go to.
    target_tip: CommitId,
    found: BranchState,
}

impl Session<'_> {
    pub(crate) async fn prepare(&mut self) -> Result<(), TurnExit> {
        let mirror = self.fetch().await?;
        let (branch, target) = (self.handle.job().source.branch.clone(), self.project.branch.clone());
        let pushed = self.progress.pushed.as_deref().map(parse).transpose()?;
        let root = self.project.docs_root.clone();
        let beside = own_branch_beside(&branch).filter(|_| pushed.is_none());
        let look_up = move || {
            // A branch `docent/<id>` cannot be beside one called `docent`.
            let in_the_way = mirror.find_branch(NAME_IN_THE_WAY)?.is_some();
            let beside = beside.filter(|_| in_the_way);
            let branch = beside.clone().unwrap_or(branch);
            let start = find_start(&mirror, &branch, &target, pushed)?;
            // The first page of a site creates its folder, so a missing one is a note and not a failure.
            match mirror.check_folder(start.base, &root) {
                Err(missing @ GitError::NoSuchFolder { .. }) => Ok((start, beside, Some(one_line(&missing)))),
                checked => checked.map(|()| (start, beside, None)),
            }
        };
        let (start, branch, no_docs) = self.author.run_blocking(look_up).await?;
        if branch.is_some() {
            self.handle.update_progress(JobProgress { branch, ..JobProgress::default() });
            self.handle.sync().await?;
        }
        // The builtin model does not read context repositories.
        let (context, missing) = if self.costs() {
            find_context_commits(&self.author.repositories, &self.project).await
        } else {
            (BTreeMap::new(), BTreeMap::new())
        };
        append_instructions(self.handle, &mut self.progress);
        let at = self.handle.now();
        let (base, update) = match self.progress.updates_branch {
            true => self.update_branch(&start, at).await?,
            false => (start.base, None),
        };
        self.record(Record::Prepared(TurnStart {
            base: base.to_string(),
            remote: start.remote.map(|tip| tip.to_string()),
            target_tip: Some(start.target_tip.to_string()),
            at,
            found: start.found,
            context,
            missing,
            no_docs,
            signing: Signing::of(&self.project),
            update,
        }));
        Ok(())
    }

    /// Merges the target branch into the job's branch. Returns the commit to work on: the merge, or where there is none to
    /// make, the newer one of the two.
    async fn update_branch(
        &mut self,
        start: &Start,
        at: Timestamp,
    ) -> Result<(CommitId, Option<BranchUpdate>), TurnExit> {
        let message = format!("Merge branch `{}` into `{}`\n", self.project.branch, self.handle.job().source.branch);
        let trailer = format!("Docent-Job: {}", self.handle.job().id);
        let meta = Signing::of(&self.project).meta(at.seconds(), &message, vec![trailer], Vec::new());
        let (mirror, branch, target) = (self.mirror().await?, start.base, start.target_tip);
        let merge = move || match mirror.update(branch, target, &meta, &merged_file) {
            Err(MergeError::Git(error)) => Err(TurnExit::from(error)),
            Err(error) => Err(failed(Halt::GitMisconfigured, format!("The branch could not be updated: {error}."))),
            Ok(Some(Update { commit, conflicts })) => Ok((commit, BranchUpdate { is_merge: true, conflicts })),
            Ok(None) if contains_commit(&mirror, target, branch)? => Ok((target, BranchUpdate::default())),
            Ok(None) => Ok((branch, BranchUpdate::default())),
        };
        let (base, update) = self.author.run_blocking(merge).await?;
        Ok((base, Some(update)))
    }
}

fn find_start(mirror: &Mirror, branch: &str, target: &str, pushed: Option<CommitId>) -> Result<Start, GitError> {
    let remote = mirror.find_branch(branch)?;
    // Looked up even when the job's branch exists: the pull request needs it.
    let target_tip = mirror.branch(target)?;
    let found = match (pushed, remote) {
        (None, _) => BranchState::AsLeft,
        (Some(pushed), Some(tip)) if pushed == tip => BranchState::AsLeft,
        (Some(pushed), Some(tip)) if contains_commit(mirror, tip, pushed)? => BranchState::BuiltOn,
        (Some(_), Some(_)) => BranchState::Rewritten,
        (Some(pushed), None) if contains_commit(mirror, target_tip, pushed)? => BranchState::Merged,
        (Some(_), None) => BranchState::Deleted,
    };
    Ok(Start { base: remote.unwrap_or(target_tip), remote, target_tip, found })
}

/// Whether a commit is an ancestor of this tip, or the tip itself.
pub(crate) fn contains_commit(mirror: &Mirror, tip: CommitId, commit: CommitId) -> Result<bool, GitError> {
    match mirror.is_ancestor(commit, tip) {
        // Not in the mirror, so certainly not in a fetched branch.
        Err(GitError::NoSuchCommit { .. }) => Ok(false),
        result => result,
    }
}
