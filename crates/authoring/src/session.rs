//! One turn of one job: where it stands, and its next step. Preparing, the agent's steps and the commit are here; what
//! shows outside is in [`crate::publish`].

use std::sync::Arc;

use docent_agent::{self as agent, Finish, Limits, Step, ToolContext, Transcript};
use docent_jobs::{EntryBody, Halted, Handle, Outcome, Shown, crash};
use docent_llm::Model;
use docent_types::{Halt, Project};
use docent_workspace::{CommitId, GitError, Mirror};
use tracing::info;

use crate::author::{Author, hear, write_down};
use crate::files::Draft;
use crate::record::{Progress, Record, Turn};
use crate::repositories::{blocking, signed};
use crate::stop::{Stop, failed};
use crate::words;

/// Times a turn may start over because its branch moved.
const RESTARTS: u32 = 3;

/// One turn of one job in the hands of one process. All of it can be thrown away and made again from the journal.
pub(crate) struct Session<'a> {
    pub(crate) author: &'a Author,
    pub(crate) handle: &'a mut Handle,
    pub(crate) project: Project,
    model: Arc<dyn Model>,
    pub(crate) progress: Progress,
    mirror: Option<Mirror>,
    draft: Option<Draft>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        author: &'a Author,
        handle: &'a mut Handle,
        project: Project,
        model: Arc<dyn Model>,
        progress: Progress,
    ) -> Self {
        Self { author, handle, project, model, progress, mirror: None, draft: None }
    }

    /// Steps until something stops it.
    pub(crate) async fn run(mut self) -> Stop {
        loop {
            let went = match self.handle.may_go_on() {
                Ok(()) => self.step().await,
                Err(halted) => self.halt(halted).await,
            };
            if let Err(stop) = went {
                return stop;
            }
        }
    }

    /// What was paid for is kept for the process that goes on.
    async fn halt(&mut self, halted: Halted) -> Result<(), Stop> {
        if matches!(halted, Halted::Draining) {
            self.handle.sync().await?;
        }
        Err(halted.into())
    }

    async fn step(&mut self) -> Result<(), Stop> {
        let Some(turn) = self.progress.turn.clone() else { return self.prepare().await };
        if turn.pull_request.is_some() || (turn.pushed && self.is_on_base()) {
            Err(self.end())
        } else if turn.pushed {
            self.open_pull_request(&turn).await
        } else if let Some(made) = &turn.committed {
            self.push(&turn, parse(made)?).await
        } else {
            self.agent(&turn).await
        }
    }

    pub(crate) fn record(&mut self, did: Record) {
        let point = match did {
            Record::Prepared { .. } => "prepared",
            Record::Replied { .. } => "model-replied",
            Record::Ran { .. } => "tools-ran",
            Record::Committed { .. } => "committed",
            Record::Pushed { .. } => "pushed",
            Record::PullRequest { .. } => "pull-request-opened",
            _ => "recorded",
        };
        write_down(self.handle, &did);
        self.progress.apply(did);
        crash::point(point);
    }

    /// Whether the job's branch is the one its pull request would go to: then there is none to open.
    pub(crate) fn is_on_base(&self) -> bool {
        self.handle.job().source.branch == self.project.branch
    }

    pub(crate) async fn fetch(&mut self) -> Result<Mirror, Stop> {
        let mirror = self.author.repositories.fetch(&self.project).await?;
        self.mirror = Some(mirror.clone());
        Ok(mirror)
    }

    /// The mirror as the turn left it; fetched when this process has not done so.
    pub(crate) async fn mirror(&mut self) -> Result<Mirror, Stop> {
        match &self.mirror {
            Some(mirror) => Ok(mirror.clone()),
            None => self.fetch().await,
        }
    }

    async fn prepare(&mut self) -> Result<(), Stop> {
        let mirror = self.fetch().await?;
        let remote = mirror.find_branch(&self.handle.job().source.branch)?;
        // Looked up even when the job's branch is there: the pull request goes to it.
        let base = mirror.branch(&self.project.branch)?;
        hear(self.handle, &mut self.progress);
        let (base, remote) = (remote.unwrap_or(base).to_string(), remote.map(|tip| tip.to_string()));
        let at = self.handle.now();
        self.record(Record::Prepared { base, remote, at });
        Ok(())
    }
}

impl Session<'_> {
    async fn agent(&mut self, turn: &Turn) -> Result<(), Stop> {
        if self.handle.has_news() {
            let news = self.handle.read().await?.into_iter();
            // Our own entries come back as well, and are known.
            news.filter(|entry| matches!(entry.body, EntryBody::Instruction(_))).for_each(|e| self.progress.read(e));
            hear(self.handle, &mut self.progress);
        }
        let step = agent::next(&self.progress.transcript, &Limits::default());
        // A call costs money and time: what led to it is not lost. The builtin model costs neither.
        if !matches!(step, Step::Done(_)) && !self.model.describe().is_builtin() {
            self.handle.sync().await?;
        }
        match step {
            Step::CallModel(request) => {
                let reply = agent::call_model(self.model.as_ref(), request, |_| ()).await?;
                self.record(Record::Replied { message: reply.message, reason: reply.reason, usage: reply.usage });
                Ok(())
            }
            Step::RunTools(calls) => {
                let Some(mut draft) = self.draft(turn).await? else { return Ok(()) };
                let context = self.context();
                let (draft, results) = blocking(move || {
                    let results = agent::run_tools(&calls, &mut draft, &context);
                    draft.check()?;
                    Ok::<_, GitError>((draft, results))
                })
                .await?;
                let digest = draft.digest();
                self.draft = Some(draft);
                self.record(Record::Ran { results, digest });
                self.handle.show(Shown { todos: Some(agent::todos(&self.progress.transcript)), pr_link: None });
                Ok(())
            }
            Step::Done(finish) => self.settle(turn, finish).await,
        }
    }

    fn context(&self) -> ToolContext {
        ToolContext { limits: Limits::default(), docs_root: self.project.docs_root.clone() }
    }

    /// The overlay as the transcript leaves it: what this process holds, or the turn's edits made again. `None`: they
    /// could not be, and the turn starts over.
    async fn draft(&mut self, turn: &Turn) -> Result<Option<Draft>, Stop> {
        if let Some(draft) = self.draft.take() {
            return Ok(Some(draft));
        }
        let mirror = self.mirror().await?;
        let base = parse(&turn.base)?;
        let overlay = match mirror.overlay(base) {
            // A mirror made anew does not have what the remote threw away.
            Err(GitError::NoSuchCommit { .. }) => {
                self.restart("the commit it was done on is gone from the repository")?;
                return Ok(None);
            }
            overlay => overlay?,
        };
        let root = self.project.docs_root.clone();
        let done = Transcript::from(self.progress.transcript.entries()[turn.from..].to_vec());
        let context = self.context();
        let (draft, replayed) = blocking(move || {
            let mut draft = Draft::new(overlay, &root)?;
            let replayed = agent::replay(&done, &mut draft, &context);
            draft.check()?;
            Ok::<_, GitError>((draft, replayed))
        })
        .await?;
        if replayed.is_ok() && turn.digest.as_ref().is_none_or(|digest| *digest == draft.digest()) {
            return Ok(Some(draft));
        }
        // Another version of the tools ran before. Starting over is safe: nothing of this turn is outside yet.
        self.restart("the edits made before could not be made again in the same way")?;
        Ok(None)
    }

    /// Throws the turn away and begins it again on what the repository is now.
    pub(crate) fn restart(&mut self, why: &str) -> Result<(), Stop> {
        if self.progress.restarts >= RESTARTS {
            let sentence = format!("Gave up after starting over {RESTARTS} times: {why}. Send the instruction again.");
            return Err(failed(Halt::GitMisconfigured, sentence));
        }
        info!(job = %self.handle.job().id, why, "the turn starts over");
        self.draft = None;
        self.mirror = None;
        self.record(Record::Restarted { why: why.to_owned() });
        Ok(())
    }

    /// The agent is done: judge what it leaves, and commit it.
    async fn settle(&mut self, turn: &Turn, finish: Finish) -> Result<(), Stop> {
        let Some(draft) = self.draft(turn).await? else { return Ok(()) };
        let is_unchanged = draft.overlay().is_unchanged();
        match finish.outcome {
            agent::Outcome::Stopped if !is_unchanged => {}
            agent::Outcome::Cannot | agent::Outcome::Stopped => {
                return Err(Stop::Ended(Outcome::Failed { halt: Halt::Error, message: finish.summary }));
            }
            agent::Outcome::Done if !is_unchanged => {}
            agent::Outcome::Done if self.progress.waiting.is_empty() || self.is_on_base() => {
                return Err(Stop::Ended(Outcome::Completed { message: finish.summary }));
            }
            agent::Outcome::Done => {
                self.record(Record::Unchanged);
                return Ok(());
            }
        }
        if let Some(looks_like) = words::secret_in(&self.part()) {
            let sentence = format!(
                "Nothing was committed: the instruction or the summary holds what looks like {looks_like}, and both stand \
                 in the commit and the pull request. Create the job again without it, or with a placeholder."
            );
            return Err(failed(Halt::Error, sentence));
        }
        let made = self.commit(turn, draft, &finish).await?;
        self.record(Record::Committed { commit: made.to_string() });
        Ok(())
    }

    /// Writes the commit into the mirror. The same turn gives the same commit, every time.
    async fn commit(&mut self, turn: &Turn, draft: Draft, finish: &Finish) -> Result<CommitId, Stop> {
        let mirror = self.mirror().await?;
        let message = words::commit_message(&finish.title, &finish.summary, self.handle.job().id);
        let seconds = turn.at.seconds();
        blocking(move || {
            if let Some(why) = draft.unfit() {
                return Err(failed(Halt::Error, why));
            }
            crash::point("checked");
            let overlay = draft.into_overlay();
            Ok(mirror.commit(&overlay, &signed(seconds, message, vec![overlay.commit()]))?)
        })
        .await
    }

    /// Makes the commit again when the mirror lost it, with the power or with the whole mirror. `false`: it could not
    /// be made again, and the turn starts over.
    pub(crate) async fn keep_commit(&mut self, turn: &Turn, made: CommitId) -> Result<bool, Stop> {
        match self.mirror().await?.base(made) {
            Err(GitError::NoSuchCommit { .. }) => {}
            held => return held.map(|_| true).map_err(Stop::from),
        }
        let Some(draft) = self.draft(turn).await? else { return Ok(false) };
        if self.commit(turn, draft, &self.finish()).await? == made {
            return Ok(true);
        }
        self.restart("the commit was lost")?;
        Ok(false)
    }

    /// How the agent ended the turn. Empty only for a transcript cut by hand: a turn that was committed has finished.
    pub(crate) fn finish(&self) -> Finish {
        match agent::next(&self.progress.transcript, &Limits::default()) {
            Step::Done(finish) => finish,
            Step::CallModel(_) | Step::RunTools(_) => {
                Finish { outcome: agent::Outcome::Stopped, title: String::new(), summary: String::new() }
            }
        }
    }
}

/// A commit id from the journal.
pub(crate) fn parse(hex: &str) -> Result<CommitId, Stop> {
    hex.parse().map_err(|_| failed(Halt::Error, format!("The job's journal holds `{hex}`, which is no commit id.")))
}
