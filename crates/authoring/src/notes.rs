//! Notes on a turn beyond its summary, for the model and for people.

use docent_types::AgentJob;

use crate::progress::{AgentTurn, JobState, Proposal, TurnStage};
use crate::record::{BranchState, PullRequestEnd};

/// What the model must know of a turn beyond its transcript. One paragraph each. `base` is the branch that changes go to.
pub(crate) fn for_the_model(turn: &AgentTurn, progress: &JobState, job: &AgentJob, base: &str) -> Vec<String> {
    let mut notes = Vec::new();
    let branch = &job.source.branch;
    if let Some(conflicts) =
        turn.start.update.as_ref().map(|update| &update.conflicts).filter(|files| !files.is_empty())
    {
        let files: Vec<String> = conflicts.iter().map(|path| format!("- `{path}`\n")).collect();
        notes.push(format!(
            "The branch `{base}` was merged into the branch `{branch}`. Both had changed the same in these files, which now \
             hold what `{base}` says:\n\n{}\nMake the change of `{branch}` in them again so that it fits.",
            files.concat()
        ));
    }
    match turn.start.found {
        BranchState::AsLeft | BranchState::Merged => {}
        BranchState::Deleted => notes.push(format!(
            "The branch `{branch}` was deleted since you worked on it. What you changed before may not be in the files: \
             look before you build on it."
        )),
        BranchState::BuiltOn => notes.push(format!(
            "Others have changed the branch `{branch}` since you worked on it: read a file again before you edit it."
        )),
        BranchState::Rewritten => notes.push(format!(
            "The branch `{branch}` was rewritten since you worked on it. What you changed before may not be in the files: \
             look before you build on it."
        )),
    }
    if progress.changes_discarded {
        notes.push(
            "Your last turn ended without success, and nothing that you changed in it was kept: the files are as they were \
             before it."
                .to_owned(),
        );
    }
    for name in turn.start.missing.keys() {
        notes.push(format!(
            "The context repository `{name}` could not be fetched and cannot be read: go on without it, and say in the \
             summary what that leaves open."
        ));
    }
    notes
}

/// What people must know of a turn beyond its summary. One sentence each.
pub(crate) fn for_people(turn: Option<&AgentTurn>, progress: &JobState, job: &AgentJob, base: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = &progress.restarted {
        notes.push(format!("The work was started over: {why}."));
    }
    let Some(turn) = turn else { return notes };
    let branch = &job.source.branch;
    match turn.start.found {
        BranchState::AsLeft | BranchState::Merged | BranchState::BuiltOn => {}
        BranchState::Deleted => {
            notes.push(format!("The branch `{branch}` was deleted meanwhile, so this begins from `{base}` again."));
        }
        BranchState::Rewritten => {
            notes.push(format!("The branch `{branch}` was rewritten meanwhile; this builds on what it holds now."));
        }
    }
    if turn.deleted > 0 {
        notes.push(format!("The branch `{branch}` was deleted before its pull request was opened, and pushed again."));
    }
    if turn.start.update.as_ref().is_some_and(|update| update.is_merge) && turn.is_pushed() {
        notes.push(format!("`{base}` is merged into the branch `{branch}`."));
    }
    if let Some(why) = &turn.start.no_docs {
        notes.push(format!("There were no docs to work on: {why}."));
    }
    for (name, why) in &turn.start.missing {
        notes.push(format!("The context repository `{name}` could not be read, so this was done without it: {why}."));
    }
    let TurnStage::Proposed { proposal, .. } = &turn.stage else { return notes };
    match proposal {
        Proposal::PullRequest { before: Some(PullRequestEnd::Merged { url }) } => {
            notes.push(format!("The pull request before, {url}, was merged meanwhile: this is in a new one."));
        }
        Proposal::PullRequest { before: Some(PullRequestEnd::Closed { url }) } => {
            notes.push(format!("The pull request before, {url}, was closed by somebody: this is in a new one."));
        }
        Proposal::Included => {
            notes.push(format!("`{base}` holds these changes already, so there is no pull request for them."));
        }
        Proposal::PullRequest { before: None } => {}
    }
    notes
}
