//! One turn of one job: its state, and its next step.
//!
//! The beginning of a turn is in [`crate::prepare`], the model calls in [`crate::model_calls`], the commit in
//! [`crate::commit`], effects outside in [`crate::publish`].

use std::sync::Arc;

use docent_agent::{self as agent, Allowances, Call, Finish, Step, ToolContext, ToolResult, Transcript, TurnSettings};
use docent_jobs::{EntryBody, Handle, Interrupted, JobProgress, crash};
use docent_llm::Model;
use docent_site::site_profile;
use docent_types::{Halt, Project};
use docent_workspace::{Base, CommitId, GitError, Mirror, Overlay};
use tracing::info;

use crate::author::{Author, append_instructions, push_record};
use crate::context_repositories::{Trees, guidance, open_context};
use crate::files::{Draft, OriginalDocs};
use crate::notes;
use crate::progress::{AgentTurn, JobState, TurnStage};
use crate::record::Record;
use crate::turn_exit::{TurnExit, failed};

/// How many times a turn may start over because its branch moved.
const MAX_RESTARTS: u32 = 3;

/// One turn of one job in one process. Can be discarded and rebuilt from the journal at any time.
pub(crate) struct Session<'a> {
    pub(crate) author: &'a Author,
    pub(crate) handle: &'a mut Handle,
    pub(crate) project: Project,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) progress: JobState,
    mirror: Option<Mirror>,
    draft: Option<Draft>,
    settings: Option<TurnSettings>,
    context_trees: Option<Trees>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        author: &'a Author,
        handle: &'a mut Handle,
        project: Project,
        model: Arc<dyn Model>,
        progress: JobState,
    ) -> Self {
        let (mirror, draft, settings, context_trees) = (None, None, None, None);
        Self { author, handle, project, model, progress, mirror, draft, settings, context_trees }
    }

    /// Takes steps until one stops the turn.
    pub(crate) async fn run(mut self) -> TurnExit {
        loop {
            let stepped = match self.handle.check_interrupted() {
                Ok(()) => self.step().await,
                Err(halted) => self.halt(halted).await,
            };
            if let Err(exit) = stepped {
                return exit;
            }
        }
    }

    /// When the process drains, syncs the recorded entries, which cost money, for the process that continues.
    async fn halt(&mut self, halted: Interrupted) -> Result<(), TurnExit> {
        if matches!(halted, Interrupted::Draining) {
            self.handle.sync().await?;
        }
        Err(halted.into())
    }

    async fn step(&mut self) -> Result<(), TurnExit> {
        let Some(turn) = self.progress.turn.clone() else { return self.prepare().await };
        match &turn.stage {
            TurnStage::Working => self.agent(&turn).await,
            TurnStage::Committed(commit) => self.push(&turn, commit).await,
            TurnStage::Proposed { .. } => Err(self.end(&turn)),
            TurnStage::Pushed(_) | TurnStage::Unchanged { .. } if self.is_on_base() => Err(self.end(&turn)),
            TurnStage::Pushed(_) | TurnStage::Unchanged { .. } => self.open_pull_request(&turn).await,
        }
    }

    pub(crate) fn record(&mut self, record: Record) {
        let point = match record {
            Record::Prepared(_) => "prepared",
            Record::Replied { .. } => "model-replied",
            Record::Ran { .. } => "tools-ran",
            Record::Compacted { .. } => "compacted",
            Record::Committed { .. } => "committed",
            Record::Pushed { .. } => "pushed",
            Record::PullRequest { .. } => "pull-request-opened",
            _ => "recorded",
        };
        push_record(self.handle, &record);
        self.progress.apply(record);
        crash::point(point);
    }

    /// Whether the job's branch is the base branch itself: then no pull request is opened.
    pub(crate) fn is_on_base(&self) -> bool {
        self.handle.job().source.branch == self.project.branch
    }

    /// Whether model calls cost enough that their results are synced at once.
    pub(crate) fn costs(&self) -> bool {
        self.model.describe().costs
    }

    pub(crate) async fn fetch(&mut self) -> Result<Mirror, TurnExit> {
        let mirror = self.author.repositories.fetch(&self.project).await?;
        self.mirror = Some(mirror.clone());
        Ok(mirror)
    }

    /// The turn's mirror; fetched if this process has not done so yet.
    pub(crate) async fn mirror(&mut self) -> Result<Mirror, TurnExit> {
        match &self.mirror {
            Some(mirror) => Ok(mirror.clone()),
            None => self.fetch().await,
        }
    }

    /// Discards the turn and restarts it on the current repository.
    pub(crate) fn restart(&mut self, why: &str) -> Result<(), TurnExit> {
        if self.progress.restarts >= MAX_RESTARTS {
            let sentence =
                format!("Gave up after starting over {MAX_RESTARTS} times: {why}. Send the instruction again.");
            return Err(failed(Halt::GitMisconfigured, sentence));
        }
        info!(why, "the turn starts over");
        (self.draft, self.mirror, self.settings, self.context_trees) = (None, None, None, None);
        self.record(Record::Restarted { why: why.to_owned() });
        Ok(())
    }

    /// The job's message at the turn's end.
    pub(crate) fn end_message(&self, finish: &Finish) -> String {
        let turn = self.progress.turn.as_ref();
        let notes = notes::for_people(turn, &self.progress, self.handle.job(), &self.project.branch);
        let parts = [finish.summary.clone(), finish.words.clone()].into_iter().chain(notes);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

impl Session<'_> {
    async fn agent(&mut self, turn: &AgentTurn) -> Result<(), TurnExit> {
        if self.handle.has_new_instruction() {
            let entries = self.handle.read().await?.into_iter();
            // Our own entries are returned too, and are applied already.
            entries.filter(|entry| matches!(entry.body, EntryBody::Instruction(_))).for_each(|e| self.progress.read(e));
            append_instructions(self.handle, &mut self.progress);
        }
        if self.progress.updates_branch && turn.start.update.is_none() {
            return self.restart("the branch is to be updated first");
        }
        let Some(settings) = self.settings(turn).await? else { return Ok(()) };
        let step = agent::next(&self.progress.transcript, &settings);
        self.settings = Some(settings);
        if matches!(step, Step::CallModel(_) | Step::Compact(_)) && self.is_out_of_time() {
            self.expire();
            return Ok(());
        }
        // A call costs money and time: what precedes it is synced first.
        if !matches!(step, Step::Done(_)) && self.costs() {
            self.handle.sync().await?;
        }
        match step {
            Step::CallModel(request) => self.ask(turn, request).await,
            Step::Compact(compaction) => self.compact(compaction).await,
            Step::RunTools(calls) => self.run_tools(turn, calls).await,
            Step::Done(finish) => self.check_and_commit(turn, finish).await,
        }
    }

    async fn run_tools(&mut self, turn: &AgentTurn, calls: Vec<Call>) -> Result<(), TurnExit> {
        let Some(mut draft) = self.draft(turn).await? else { return Ok(()) };
        let context = self.context(turn).await;
        let (draft, results) = self
            .run_step("running the tools", move || {
                let results = agent::run_tools(&calls, &mut draft, &context);
                draft.check_mirror()?;
                Ok::<_, GitError>((draft, results))
            })
            .await??;
        let digest = draft.digest();
        self.draft = Some(draft);
        self.ran(results, digest);
        Ok(())
    }

    fn ran(&mut self, results: Vec<ToolResult>, digest: String) {
        let reply = self.progress.transcript.entries().iter().rev().find_map(|entry| match entry {
            agent::TranscriptEntry::Replied { message, .. } => Some(message),
            _ => None,
        });
        let todos = reply.and_then(|reply| agent::planned(reply, &results));
        let todos = todos.filter(|todos| *todos != self.progress.todos);
        self.handle.update_progress(JobProgress { todos: todos.clone(), ..JobProgress::default() });
        self.record(Record::Ran { results, digest, todos });
    }

    /// The turn's settings. `None`: its base is gone, and the turn starts over.
    async fn settings(&mut self, turn: &AgentTurn) -> Result<Option<TurnSettings>, TurnExit> {
        if let Some(settings) = self.settings.take() {
            return Ok(Some(settings));
        }
        // Only approved content is guidance: an agent could have written the rest in the turn before.
        let target_tip = parse(turn.start.target_tip.as_ref().unwrap_or(&turn.start.base))?;
        let (mirror, root) = (self.mirror().await?, self.project.docs_root.clone());
        let quarantine = self.author.config.quarantine.clone();
        let read = move || {
            let base = mirror.base(target_tip)?;
            Ok::<_, GitError>((guidance(&base, &root)?, site_profile(&OriginalDocs::new(base, &root, &quarantine)?)))
        };
        let (guidance, site) = match self.run_step("reading the site", read).await? {
            Err(GitError::NoSuchCommit { .. }) => {
                self.restart("the commit it began from is gone from the repository")?;
                return Ok(None);
            }
            read => read?,
        };
        let model = self.model.describe();
        Ok(Some(TurnSettings {
            limits: self.author.config.limits,
            editor: model.editor,
            context_tokens: model.context_tokens,
            guidance,
            site,
            context: turn.start.context.keys().cloned().collect(),
            search: self.search().is_some(),
        }))
    }

    fn search(&self) -> Option<Arc<dyn agent::DocsSearch>> {
        self.author.config.search.as_ref().and_then(|search| search(&self.project))
    }

    /// The context of the tools. Built for each use: its large parts are shared or in the mirrors.
    async fn context(&mut self, turn: &AgentTurn) -> ToolContext {
        let context_trees = match self.context_trees.take() {
            Some(context_trees) => context_trees,
            None => open_context(&self.author.repositories, &self.project, &turn.start.context).await,
        };
        self.context_trees = Some(context_trees.clone());
        ToolContext {
            limits: self.author.config.limits,
            docs_root: self.project.docs_root.clone(),
            context: context_trees,
            allowances: self.allowances(),
            search: self.search(),
        }
    }

    /// What the owner allows, and the command that allows more.
    pub(crate) fn allowances(&self) -> Allowances {
        let settings = &self.project.settings;
        let command = self.author.config.allow_command.as_ref().map(|command| command(&self.project));
        Allowances {
            paths: settings.allow_paths.clone(),
            code: settings.allow_code.clone(),
            command: command.unwrap_or_else(|| format!("docent project set {}", self.project.id)),
        }
    }

    /// The turn's base without changes, and the tip of the target branch if that is another commit. `None`: one of them
    /// is gone, and the turn starts over.
    async fn bases(&mut self, turn: &AgentTurn) -> Result<Option<(Overlay, Option<Base>)>, TurnExit> {
        let base = parse(&turn.start.base)?;
        let approved = turn.start.target_tip.as_deref().filter(|target_tip| *target_tip != turn.start.base);
        let origin = approved.map(parse).transpose()?;
        let mirror = self.mirror().await?;
        let read = || Ok((mirror.overlay(base)?, origin.map(|origin| mirror.base(origin)).transpose()?));
        match read() {
            // A recreated mirror lacks commits that the remote has garbage-collected.
            Err(GitError::NoSuchCommit { .. }) => {
                self.restart("the commit it was done on is gone from the repository")?;
                Ok(None)
            }
            bases => Ok(Some(bases?)),
        }
    }

    /// The overlay after the transcript: the one this process has, or the replayed edits. `None`: the replay failed,
    /// and the turn starts over.
    pub(crate) async fn draft(&mut self, turn: &AgentTurn) -> Result<Option<Draft>, TurnExit> {
        if let Some(draft) = self.draft.take() {
            return Ok(Some(draft));
        }
        let Some((overlay, origin)) = self.bases(turn).await? else { return Ok(None) };
        let root = self.project.docs_root.clone();
        let done = Transcript::from(self.progress.transcript.entries()[turn.from..].to_vec());
        let (context, quarantine) = (self.context(turn).await, self.author.config.quarantine.clone());
        let (draft, replayed) = self
            .run_step("making the edits", move || {
                let mut draft = Draft::new(overlay, origin, &root, &quarantine)?;
                let replayed = agent::replay(&done, &mut draft, &context);
                draft.check_mirror()?;
                Ok::<_, GitError>((draft, replayed))
            })
            .await??;
        if replayed.is_ok() && turn.digest.as_ref().is_none_or(|digest| *digest == draft.digest()) {
            return Ok(Some(draft));
        }
        // An earlier version of the tools ran. Starting over is safe: this turn has no effects outside yet.
        self.restart("the edits made before could not be made again in the same way")?;
        Ok(None)
    }
}

/// Parses a commit id of the journal.
pub(crate) fn parse(hex: &str) -> Result<CommitId, TurnExit> {
    hex.parse().map_err(|_| failed(Halt::Error, format!("The job's journal holds `{hex}`, which is not a commit id.")))
}
