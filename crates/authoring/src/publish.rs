//! The steps with effects outside: the push and the pull request.

use docent_agent::{self as agent, Finish, FinishOutcome};
use docent_forge::{ForgeError, PullRequest, PullRequestSpec, PullState};
use docent_jobs::{JobProgress, Outcome};
use docent_types::{Halt, Role};
use docent_workspace::{CommitId, GitError, PushError};

use crate::prepare::contains_commit;
use crate::progress::{AgentTurn, TurnCommit, TurnStage};
use crate::record::{PullRequestEnd, Record, TurnSummary};
use crate::session::{Session, parse};
use crate::turn_exit::{TurnExit, failed, retryable};
use crate::wording;

/// How many times a deleted branch is pushed again.
const MAX_REPEATED_PUSHES: u32 = 1;

impl Session<'_> {
    pub(crate) async fn push(&mut self, turn: &AgentTurn, committed: &TurnCommit) -> Result<(), TurnExit> {
        let commit = parse(&committed.id)?;
        // Everything before an effect outside must be on the disk first.
        self.handle.sync().await?;
        if !self.ensure_commit(turn, commit).await? {
            return Ok(());
        }
        let mirror = self.mirror().await?;
        let branch = self.handle.job().source.branch.clone();
        let expected = turn.start.remote.as_deref().map(parse).transpose()?;
        let effect = self.handle.begin_effect().await?;
        let pushed = self.author.repositories.push(&self.project, mirror, branch, commit, expected).await;
        drop(effect);
        match pushed {
            Ok(_) => {}
            Err(PushError::Moved { .. }) if self.was_pushed(commit).await? => {}
            Err(PushError::Moved { .. }) => {
                return self.restart("the branch moved on the remote while the agent worked");
            }
            Err(error) => return Err(error.into()),
        }
        let mut part = self.part(&self.finish(turn), committed.problems.clone());
        part.undecided.clone_from(&committed.undecided);
        self.record(Record::Pushed { commit: commit.to_string(), part });
        if self.is_on_base() {
            self.author.repositories.announce_change();
        }
        Ok(())
    }

    /// Whether the commit is part of one of these branches on the remote.
    async fn is_part_of(&mut self, commit: CommitId, branches: &[&str]) -> Result<bool, TurnExit> {
        let mirror = self.fetch().await?;
        let tips = branches.iter().map(|branch| mirror.find_branch(branch)).collect::<Result<Vec<_>, _>>()?;
        self.author
            .run_blocking(move || {
                for tip in tips.into_iter().flatten() {
                    if contains_commit(&mirror, tip, commit)? {
                        return Ok(true);
                    }
                }
                Ok::<_, GitError>(false)
            })
            .await
            .map_err(TurnExit::from)
    }

    /// Whether an earlier attempt pushed the commit, and it was built upon or merged since.
    async fn was_pushed(&mut self, commit: CommitId) -> Result<bool, TurnExit> {
        let (branch, base) = (self.handle.job().source.branch.clone(), self.project.branch.clone());
        self.is_part_of(commit, &[&branch, &base]).await
    }

    async fn is_merged(&mut self, turn: &AgentTurn) -> Result<bool, TurnExit> {
        let TurnStage::Pushed(commit) = &turn.stage else { return Ok(false) };
        let base = self.project.branch.clone();
        self.is_part_of(parse(&commit.id)?, &[&base]).await
    }

    /// This turn's part of the pull request.
    pub(crate) fn part(&self, finish: &Finish, problems: Option<Vec<String>>) -> TurnSummary {
        let texts_by = |role: Role| {
            let entries = self.progress.transcript.entries()[self.progress.answered..].iter();
            let texts = entries.filter_map(move |entry| match entry {
                agent::TranscriptEntry::Said { message } if message.role == role => Some(message.plain_text()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n\n")
        };
        // A job may have system messages only, which are then its instruction.
        let instructions = Some(texts_by(Role::User))
            .filter(|instructions| !instructions.is_empty())
            .unwrap_or_else(|| texts_by(Role::System));
        let (title, summary) = (finish.title.clone(), finish.summary.clone());
        TurnSummary { instructions, title, summary, problems, undecided: Vec::new() }
    }

    pub(crate) async fn open_pull_request(&mut self, turn: &AgentTurn) -> Result<(), TurnExit> {
        let forge = (self.author.forges)(&self.project);
        let head = self.handle.job().source.branch.clone();
        let found = forge.find(&head).await?;
        let mut before = None;
        let effect = self.handle.begin_effect().await?;
        let pull = match found {
            Some(open) if open.state == PullState::Open => forge.update(&open, &self.request(Some(&open))).await,
            // Opened by an attempt that died before recording it, and merged since.
            Some(ended) if self.is_merged(turn).await? => Ok(ended),
            ended => {
                before = ended.and_then(|ended| self.ended(&ended));
                forge.open(&self.request(None)).await
            }
        };
        drop(effect);
        match pull {
            Ok(PullRequest { url, .. }) => {
                self.handle.update_progress(JobProgress { pr_link: Some(url.clone()), ..JobProgress::default() });
                self.record(Record::PullRequest { url, before });
                Ok(())
            }
            Err(ForgeError::NoChanges { .. }) => {
                self.record(Record::Included);
                Ok(())
            }
            Err(error @ ForgeError::HeadMissing { .. }) => self.handle_missing_branch(turn, &error).await,
            Err(error) => Err(error.into()),
        }
    }

    /// How this job's pull request was ended by a person.
    fn ended(&self, ended: &PullRequest) -> Option<PullRequestEnd> {
        let known = self.progress.pull_request.as_ref().filter(|known| known.url == ended.url)?;
        let url = known.url.clone();
        match ended.state {
            PullState::Merged => Some(PullRequestEnd::Merged { url }),
            PullState::Closed => Some(PullRequestEnd::Closed { url }),
            PullState::Open => None,
        }
    }

    /// The forge does not have the pushed branch: it lags behind the repository, or the branch was deleted.
    async fn handle_missing_branch(&mut self, turn: &AgentTurn, error: &ForgeError) -> Result<(), TurnExit> {
        let branch = self.handle.job().source.branch.clone();
        if self.fetch().await?.find_branch(&branch)?.is_some() {
            return Err(retryable(error, Halt::GitMisconfigured));
        }
        if matches!(turn.stage, TurnStage::Pushed(_)) && turn.deleted < MAX_REPEATED_PUSHES {
            self.record(Record::Deleted);
            return Ok(());
        }
        let sentence = format!(
            "The branch `{branch}` was deleted before its pull request could be opened. Send the instruction again, and \
             keep the branch until then."
        );
        Err(failed(Halt::GitMisconfigured, sentence))
    }

    /// `open` is the open pull request that gets the changes.
    fn request(&self, open: Option<&PullRequest>) -> PullRequestSpec {
        let job = self.handle.job();
        let config = &self.author.config;
        let before = self.progress.pull_request.as_ref().filter(|known| open.is_some_and(|open| open.url == known.url));
        let before = before.map_or(&[][..], |known| &known.parts);
        let parts: Vec<&TurnSummary> = before.iter().chain(&self.progress.waiting).collect();
        PullRequestSpec {
            title: wording::title(parts.first().map_or("", |part| &part.title)),
            body: wording::pull_request_body(&parts, job.id),
            head: job.source.branch.clone(),
            base: self.project.branch.clone(),
            draft: job.as_draft,
            labels: config.labels.clone(),
        }
    }

    /// The turn's end, when all effects are done.
    pub(crate) fn end(&self, turn: &AgentTurn) -> TurnExit {
        let finish = self.finish(turn);
        let message = self.end_message(&finish);
        TurnExit::Ended(match finish.outcome {
            FinishOutcome::Failed => Outcome::Failed { halt: Halt::Error, message },
            FinishOutcome::Done | FinishOutcome::Cannot | FinishOutcome::Stopped => Outcome::Completed { message },
        })
    }
}
