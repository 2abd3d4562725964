//! Checks and commits the agent's changes at the end of its work.

use std::collections::BTreeSet;

use docent_agent::{self as agent, Finish, Step, TurnSettings};
use docent_jobs::{Outcome, crash};
use docent_types::Halt;
use docent_workspace::{CommitId, GitError};

use crate::change_text::describe;
use crate::files::Draft;
use crate::progress::AgentTurn;
use crate::record::Record;
use crate::session::Session;
use crate::turn_exit::{TurnExit, failed};
use crate::wording;

/// What became of files with a conflict that the agent did not touch: in them, the earlier change is gone.
fn unsolved(turn: &AgentTurn, draft: &Draft) -> Vec<String> {
    let conflicts = turn.start.update.iter().flat_map(|update| &update.conflicts);
    let touched: BTreeSet<&str> = draft.overlay().changed().map(|(path, _)| path).collect();
    let untouched = conflicts.filter(|path| !touched.contains(path.as_str()));
    untouched
        .map(|path| {
            format!("`{path}` conflicted and is now as on the other branch: the change to it was not made again")
        })
        .collect()
}

impl Session<'_> {
    /// Checks the agent's changes, and commits them.
    pub(crate) async fn check_and_commit(&mut self, turn: &AgentTurn, mut finish: Finish) -> Result<(), TurnExit> {
        let Some(draft) = self.draft(turn).await? else { return Ok(()) };
        let is_unchanged = draft.overlay().is_unchanged();
        let is_merge = turn.start.update.as_ref().is_some_and(|update| update.is_merge);
        match finish.outcome {
            agent::FinishOutcome::Stopped | agent::FinishOutcome::Failed if !is_unchanged => {}
            agent::FinishOutcome::Cannot | agent::FinishOutcome::Stopped | agent::FinishOutcome::Failed => {
                let message = self.end_message(&finish);
                return Err(TurnExit::Ended(Outcome::Failed { halt: Halt::Error, message }));
            }
            agent::FinishOutcome::Done if !is_unchanged || is_merge => {}
            agent::FinishOutcome::Done if self.progress.waiting.is_empty() || self.is_on_base() => {
                return Err(TurnExit::Ended(Outcome::Completed { message: self.end_message(&finish) }));
            }
            agent::FinishOutcome::Done => {
                self.record(Record::Unchanged { finish: Some(finish) });
                return Ok(());
            }
        }
        if finish.title.is_empty() || !finish.words.is_empty() {
            describe(&mut finish, &draft.page_changes());
        }
        if let Some(looks_like) = wording::secret_in(&self.part(&finish, None)) {
            let sentence = format!(
                "Nothing was committed: the instruction or the summary holds what looks like {looks_like}, and both stand \
                 in the commit and the pull request. Create the job again without it, or with a placeholder."
            );
            return Err(failed(Halt::Error, sentence));
        }
        // `finish` is accepted only after a check, and the summary lists the remaining problems.
        let entries = self.progress.transcript.entries();
        let is_checked = finish.outcome == agent::FinishOutcome::Done
            && matches!(entries.last(), Some(agent::TranscriptEntry::Results { .. }));
        let lost = unsolved(turn, &draft);
        let (draft, mut problems, undecided) = self.check(draft).await?;
        if is_checked {
            problems.clear();
        }
        problems.extend(lost);
        let commit_id = self.commit(turn, draft, &finish).await?;
        let (commit, finish, problems) = (commit_id.to_string(), Some(finish), Some(problems));
        self.record(Record::Committed { commit, finish, problems, undecided });
        Ok(())
    }

    /// New problems that the checks find, and what they could not decide.
    async fn check(&self, draft: Draft) -> Result<(Draft, Vec<String>, Vec<String>), TurnExit> {
        let checked = self.run_step("checking the changes", move || {
            let mut draft = draft;
            let checked = draft.checked();
            draft.check_mirror()?;
            Ok::<_, GitError>((draft, wording::problems(&checked.findings), wording::problems(&checked.doubts)))
        });
        Ok(checked.await??)
    }

    /// Writes the commit into the mirror. The same turn always gives the same commit.
    async fn commit(&mut self, turn: &AgentTurn, draft: Draft, finish: &Finish) -> Result<CommitId, TurnExit> {
        let mirror = self.mirror().await?;
        let message = wording::commit_message(&finish.title, &finish.summary);
        // Ties the commit to its job.
        let trailer = format!("Docent-Job: {}", self.handle.job().id);
        let (seconds, signing) = (turn.start.at.seconds(), turn.start.signing.clone());
        let allowances = self.allowances();
        let (step, quarantine) = (self.marked_step("checking the files")?, self.author.config.quarantine.clone());
        let write_commit = move || {
            if let Some(why) = quarantine.run(&step, |_| draft.refusal_reason(&allowances)) {
                return Err(failed(Halt::Error, why));
            }
            crash::point("checked");
            let overlay = draft.into_overlay();
            // The merge that the turn began with is all there is to push.
            if overlay.is_unchanged() {
                return Ok(overlay.commit());
            }
            let meta = signing.meta(seconds, &message, vec![trailer], vec![overlay.commit()]);
            Ok(mirror.commit(&overlay, &meta)?)
        };
        self.author.repositories.times().commit.measure(self.author.run_blocking(write_commit)).await
    }

    /// Recreates the commit if the mirror lost it, through a power failure or as a whole. `false`: that is impossible,
    /// and the turn starts over.
    pub(crate) async fn ensure_commit(&mut self, turn: &AgentTurn, commit: CommitId) -> Result<bool, TurnExit> {
        match self.mirror().await?.base(commit) {
            Err(GitError::NoSuchCommit { .. }) => {}
            found => return found.map(|_| true).map_err(TurnExit::from),
        }
        let Some(draft) = self.draft(turn).await? else { return Ok(false) };
        if self.commit(turn, draft, &self.finish(turn)).await? == commit {
            return Ok(true);
        }
        self.restart("the commit was lost")?;
        Ok(false)
    }

    /// How the agent ended a turn.
    pub(crate) fn finish(&self, turn: &AgentTurn) -> Finish {
        if let Some(finish) = turn.finish() {
            return finish.clone();
        }
        // Older journals do not record how a turn ended; their turns ended under the default limits.
        match agent::next(&self.progress.transcript, &TurnSettings::default()) {
            Step::Done(finish) => finish,
            Step::CallModel(_) | Step::RunTools(_) | Step::Compact(_) => {
                let (title, summary, words) = Default::default();
                Finish { outcome: agent::FinishOutcome::Stopped, title, summary, words }
            }
        }
    }
}
