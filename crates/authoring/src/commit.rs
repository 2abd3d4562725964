//! The end of the agent's work: what it leaves is judged and committed.

use docent_agent::{self as agent, Finish, Step, TurnSettings};
use docent_jobs::{Outcome, crash};
use docent_types::Halt;
use docent_workspace::{CommitId, GitError};

use crate::files::Draft;
use crate::progress::AgentTurn;
use crate::record::Record;
use crate::session::Session;
use crate::stop::{Stop, failed};
use crate::wording;

impl Session<'_> {
    /// The agent is done: judge what it leaves, and commit it.
    pub(crate) async fn settle(&mut self, turn: &AgentTurn, finish: Finish) -> Result<(), Stop> {
        let Some(draft) = self.draft(turn).await? else { return Ok(()) };
        let is_unchanged = draft.overlay().is_unchanged();
        match finish.outcome {
            agent::Outcome::Stopped if !is_unchanged => {}
            agent::Outcome::Cannot | agent::Outcome::Stopped => {
                let message = self.told(&finish);
                return Err(Stop::Ended(Outcome::Failed { halt: Halt::Error, message }));
            }
            agent::Outcome::Done if !is_unchanged => {}
            agent::Outcome::Done if self.progress.waiting.is_empty() || self.is_on_base() => {
                return Err(Stop::Ended(Outcome::Completed { message: self.told(&finish) }));
            }
            agent::Outcome::Done => {
                self.record(Record::Unchanged { finish: Some(finish) });
                return Ok(());
            }
        }
        if let Some(looks_like) = wording::secret_in(&self.part(&finish, None)) {
            let sentence = format!(
                "Nothing was committed: the instruction or the summary holds what looks like {looks_like}, and both stand \
                 in the commit and the pull request. Create the job again without it, or with a placeholder."
            );
            return Err(failed(Halt::Error, sentence));
        }
        // `finish` is accepted after a check, and the summary lists what it leaves.
        let entries = self.progress.transcript.entries();
        let is_checked =
            finish.outcome == agent::Outcome::Done && matches!(entries.last(), Some(agent::Entry::Results { .. }));
        let (draft, problems, doubts) = self.check(draft).await?;
        let problems = if is_checked { Vec::new() } else { problems };
        let made = self.commit(turn, draft, &finish).await?;
        let (commit, finish, problems) = (made.to_string(), Some(finish), Some(problems));
        self.record(Record::Committed { commit, finish, problems, doubts });
        Ok(())
    }

    /// What the checks of the docs find that was not there before, and what they cannot tell.
    async fn check(&self, draft: Draft) -> Result<(Draft, Vec<String>, Vec<String>), Stop> {
        let checked = self.author.works(move || {
            let mut draft = draft;
            let checked = draft.checked();
            draft.check()?;
            Ok::<_, GitError>((draft, wording::problems(&checked.findings), wording::problems(&checked.doubts)))
        });
        checked.await.map_err(Stop::from)
    }

    /// Writes the commit into the mirror. The same turn gives the same commit, every time.
    async fn commit(&mut self, turn: &AgentTurn, draft: Draft, finish: &Finish) -> Result<CommitId, Stop> {
        let mirror = self.mirror().await?;
        let message = wording::commit_message(&finish.title, &finish.summary);
        // Ties the commit to its job.
        let trailer = format!("Docent-Job: {}", self.handle.job().id);
        let (seconds, signing) = (turn.at.seconds(), turn.signing.clone());
        let allowed = self.project.settings.allow_paths.clone();
        let commits = move || {
            if let Some(why) = draft.unfit(&allowed) {
                return Err(failed(Halt::Error, why));
            }
            crash::point("checked");
            let overlay = draft.into_overlay();
            let meta = signing.meta(seconds, &message, vec![trailer], vec![overlay.commit()]);
            Ok(mirror.commit(&overlay, &meta)?)
        };
        self.author.works(commits).await
    }

    /// Makes the commit again when the mirror lost it, with the power or with the whole mirror. `false`: it could not
    /// be made again, and the turn starts over.
    pub(crate) async fn keep_commit(&mut self, turn: &AgentTurn, made: CommitId) -> Result<bool, Stop> {
        match self.mirror().await?.base(made) {
            Err(GitError::NoSuchCommit { .. }) => {}
            held => return held.map(|_| true).map_err(Stop::from),
        }
        let Some(draft) = self.draft(turn).await? else { return Ok(false) };
        if self.commit(turn, draft, &self.finish(turn)).await? == made {
            return Ok(true);
        }
        self.restart("the commit was lost")?;
        Ok(false)
    }

    /// How the agent ended a turn that is settled.
    pub(crate) fn finish(&self, turn: &AgentTurn) -> Finish {
        if let Some(finish) = &turn.finish {
            return finish.clone();
        }
        // A journal of before does not say; its turns ended under the usual limits.
        match agent::next(&self.progress.transcript, &TurnSettings::default()) {
            Step::Done(finish) => finish,
            Step::CallModel(_) | Step::RunTools(_) | Step::Compact(_) => {
                Finish { outcome: agent::Outcome::Stopped, title: String::new(), summary: String::new() }
            }
        }
    }
}
