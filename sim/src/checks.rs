//! The invariants that hold at the end of every run.

use std::collections::{BTreeMap, BTreeSet};

use docent_agent as agent;
use docent_authoring::progress::JobState;
use docent_authoring::record::Record;
use docent_forge::PullState;
use docent_jobs::{Entry, EntryBody, Row};
use docent_types::{ContentPart, JobId, JobStatus, Project};
use docent_workspace::{CommitId, Mirror};

use crate::git::records;
use crate::model::{mark, tasks};
use crate::store::short;
use crate::world::World;

/// Compares the final state with the guarantees.
pub(crate) fn check(world: &World) {
    let rows = world.disk.rows();
    for (id, asked) in &world.ledger().accepted {
        if !rows.iter().any(|row| row.id() == *id) {
            world.violated(format_args!("{}, which asked for `{asked}`, was accepted and is gone", short(*id)));
        }
    }
    each_request_counts_once(world, &rows);
    the_quota_is_kept(world, &rows);
    for row in &rows {
        let journal = world.disk.journal(row.id());
        the_journal_is_whole(world, row, &journal);
        it_ends_once(world, row, &journal);
    }
    let journals: BTreeMap<JobId, Vec<Entry>> =
        rows.iter().map(|row| (row.id(), world.disk.journal(row.id()))).collect();
    for project in &world.projects {
        let repository = Repository::look(world, project);
        let rows: Vec<&Row> = rows.iter().filter(|row| row.job.project == project.id).collect();
        repository.holds_what_the_journals_say(&rows, &journals);
        for row in rows {
            repository.holds_what_was_done(row, &journals[&row.id()]);
        }
    }
    pull_requests_are_single(world);
}

fn each_request_counts_once(world: &World, rows: &[Row]) {
    let mut said: BTreeMap<String, Vec<JobId>> = BTreeMap::new();
    for row in rows {
        for text in instructions(&world.disk.journal(row.id())) {
            said.entry(text).or_default().push(row.id());
        }
    }
    let ledger = world.ledger();
    for (text, jobs) in &said {
        if jobs.len() > 1 {
            let jobs: Vec<String> = jobs.iter().map(|id| short(*id)).collect();
            world.violated(format_args!("`{text}` was asked for once and is in {}", jobs.join(", ")));
        }
    }
    for (id, text) in ledger
        .accepted
        .iter()
        .map(|(id, text)| (*id, text))
        .chain(ledger.instructed.iter().map(|(id, text)| (*id, text)))
    {
        if said.get(text).is_none_or(|jobs| !jobs.contains(&id)) {
            world.violated(format_args!("`{text}` was accepted, and the journal of {} does not hold it", short(id)));
        }
    }
}

/// The messages of callers, in order.
fn instructions(journal: &[Entry]) -> impl Iterator<Item = String> {
    journal.iter().filter_map(|entry| match &entry.body {
        EntryBody::Instruction(said) => Some(said.messages.iter().map(|m| m.plain_text()).collect::<Vec<_>>().concat()),
        _ => None,
    })
}

/// Checks the quota of each project. A run is shorter than the hour over which the quota counts.
fn the_quota_is_kept(world: &World, rows: &[Row]) {
    for project in &world.projects {
        let jobs = rows.iter().filter(|row| row.job.project == project.id).count();
        if jobs > world.plan.quota as usize && !world.ledger().clock_jumped {
            world.violated(format_args!("{} has {jobs} jobs, and {} are allowed", project.id, world.plan.quota));
        }
    }
}

fn the_journal_is_whole(world: &World, row: &Row, journal: &[Entry]) {
    let id = short(row.id());
    if !journal.iter().map(|entry| entry.seq).eq(1..=row.last_seq) {
        world.violated(format_args!("the journal of {id} has a gap"));
    }
    let ledger = world.ledger();
    for (seq, told) in ledger.told.get(&row.id()).into_iter().flatten() {
        if journal.iter().find(|entry| entry.seq == *seq).is_none_or(|entry| entry.body != *told) {
            world.violated(format_args!("a watcher of {id} received an entry {seq} that is another now: {told:?}"));
        }
    }
    if row.lease.is_some() {
        world.violated(format_args!("{id} is leased, and nobody works"));
    }
}

/// Checks that a job ends once for each time it is made active; later entries make it active again or archive it.
fn it_ends_once(world: &World, row: &Row, journal: &[Entry]) {
    let id = short(row.id());
    let mut state = None;
    for entry in journal {
        let next = match &entry.body {
            EntryBody::Transition { to, .. } => Some(*to),
            _ => None,
        };
        let is_fine = match (state, next) {
            (None, next) => next == Some(JobStatus::Active),
            (Some(JobStatus::Active), next) => next != Some(JobStatus::Active),
            (Some(JobStatus::Completed | JobStatus::Failed), next) => {
                matches!(next, Some(JobStatus::Active | JobStatus::Archived))
            }
            (Some(JobStatus::Archived), _) => false,
        };
        if !is_fine {
            world.violated(format_args!("{id} is {state:?}, and then comes {:?}", entry.body));
        }
        state = next.or(state);
    }
    if state == Some(JobStatus::Active) || state != Some(row.job.status) {
        world.violated(format_args!("{id} is {} in the end, and its journal says {state:?}", row.job.status.as_str()));
    }
    if world.ledger().archived.contains(&row.id()) && row.job.status != JobStatus::Archived {
        world.violated(format_args!("{id} was archived, and is {}", row.job.status.as_str()));
    }
}

/// A project's repository at the end.
struct Repository<'a> {
    world: &'a World,
    project: &'a Project,
    mirror: Mirror,
    /// All commits, by the branch they are part of.
    branches: BTreeMap<String, Commits>,
}

struct Commits {
    tip: CommitId,
    /// Their messages, and whether a job made them.
    all: BTreeMap<String, (String, bool)>,
}

impl<'a> Repository<'a> {
    fn look(world: &'a World, project: &'a Project) -> Self {
        let mirror = world.look(project);
        let branches = mirror.branches().expect("branches can be read").into_iter().map(|(name, tip)| {
            let commits = mirror.commits(tip, None, usize::MAX).expect("a history can be read");
            let of = |c: docent_workspace::CommitSummary| (c.id.to_string(), (c.message, c.author == "Docent"));
            (name, Commits { tip, all: commits.into_iter().map(of).collect() })
        });
        let branches = branches.collect();
        Self { world, project, mirror, branches }
    }

    /// Whether a commit is part of a branch, or of the one that pull requests go to.
    fn has(&self, branch: &str, commit: &str) -> bool {
        [branch, &self.project.branch]
            .iter()
            .filter_map(|name| self.branches.get(*name))
            .any(|commits| commits.all.contains_key(commit))
    }

    fn has_more_than_the_base(&self, branch: &str) -> bool {
        let base = self.branches.get(&self.project.branch);
        let has = |commit: &String| base.is_some_and(|base| base.all.contains_key(commit));
        self.branches.get(branch).is_some_and(|commits| !commits.all.keys().all(has))
    }

    fn is_deleted(&self, branch: &str) -> bool {
        self.world.ledger().deleted.contains(&(self.project.repository.clone(), branch.to_owned()))
    }

    fn holds_what_the_journals_say(&self, rows: &[&Row], journals: &BTreeMap<JobId, Vec<Entry>>) {
        let world = self.world;
        let work = |id: &JobId| records(journals[id].iter().map(|entry| &entry.body)).collect::<Vec<_>>();
        let committed: BTreeSet<String> = rows
            .iter()
            .flat_map(|row| work(&row.id()))
            .filter_map(|record| if let Record::Committed { commit, .. } = record { Some(commit) } else { None })
            .collect();
        for (name, commits) in &self.branches {
            for (commit, _) in commits.all.iter().filter(|(_, (_, is_ours))| *is_ours) {
                if !committed.contains(commit) {
                    world.violated(format_args!("{name} holds {commit}, and no journal does"));
                }
            }
        }
        let foreign = world.ledger().foreign.clone();
        for ((_, branch), commits) in foreign.iter().filter(|((at, _), _)| *at == self.project.repository) {
            for commit in commits.iter().filter(|commit| !self.has(branch, &commit.to_string())) {
                if !self.is_deleted(branch) {
                    world.violated(format_args!("{branch} has lost {commit}, which somebody else pushed"));
                }
            }
        }
        for row in rows {
            self.holds_the_commits_of(row, &journals[&row.id()], &work(&row.id()));
        }
    }

    /// Checks that the branch has the commits that the job pushed, and no others.
    fn holds_the_commits_of(&self, row: &Row, journal: &[Entry], work: &[Record]) {
        let branch = &row.job.source.branch;
        if self.is_deleted(branch) {
            return;
        }
        let pushed: BTreeSet<&String> = work
            .iter()
            .filter_map(|record| if let Record::Pushed { commit, .. } = record { Some(commit) } else { None })
            .collect();
        for commit in pushed.iter().filter(|commit| !self.has(branch, commit)) {
            self.world.violated(format_args!("{} has pushed {commit}, and {branch} has lost it", short(row.id())));
        }
        // A push of a turn that ended otherwise may still have arrived.
        let is_straight = !work.iter().any(|r| matches!(r, Record::Restarted { .. } | Record::Dropped { .. }))
            && !journal.iter().any(|entry| {
                matches!(entry.body, EntryBody::Transition { to: JobStatus::Failed | JobStatus::Archived, .. })
            });
        let name = row.id().to_string();
        let ours = self.branches.get(branch).into_iter().flat_map(|commits| &commits.all);
        for (commit, _) in ours.filter(|(_, (message, is_ours))| *is_ours && message.contains(&name)) {
            if is_straight && !pushed.contains(commit) {
                self.world.violated(format_args!("{branch} holds {commit}, which {} has not pushed", short(row.id())));
            }
        }
    }

    /// Checks that a completed job has carried out its instructions, and that its pages are in the repository.
    fn holds_what_was_done(&self, row: &Row, journal: &[Entry]) {
        let (world, id, branch) = (self.world, short(row.id()), &row.job.source.branch);
        let had_failures =
            records(journal.iter().map(|entry| &entry.body)).any(|r| matches!(r, Record::Ended { failed: Some(_) }));
        if row.job.status != JobStatus::Completed || self.is_deleted(branch) {
            return;
        }
        let progress = JobState::fold(journal.to_vec());
        if !progress.unread_instructions.is_empty() {
            world.violated(format_args!("{id} is completed, and has not heard everything that was said"));
        }
        if !progress.waiting.is_empty() {
            world.violated(format_args!("{id} is completed, and what it pushed is in no pull request"));
        }
        if let Some(link) = &row.job.pr_link
            && !world.forge.pulls().iter().any(|pull| pull.url() == *link && pull.head == *branch)
        {
            world.violated(format_args!("{id} shows {link}, which is no pull request from {branch}"));
        }
        let is_proposed =
            world.forge.pulls().iter().any(|pull| pull.project == self.project.id && pull.head == *branch);
        if branch.starts_with("docent/") && !is_proposed && self.has_more_than_the_base(branch) {
            world.violated(format_args!("{id} is completed, and no pull request tells of what is on {branch}"));
        }
        let was_stopped = row.job.message.as_ref().is_some_and(|message| message.contains("stopped before"));
        if had_failures || was_stopped {
            return;
        }
        let written = written(&progress);
        let Some(Commits { tip, .. }) = self.branches.get(branch) else {
            if !written.is_empty() {
                world.violated(format_args!("{id} is completed, and {branch} does not exist"));
            }
            return;
        };
        let base = self.mirror.base(*tip).expect("a commit can be read");
        for (path, text) in &written {
            if base.read(&format!("docs/{path}")).expect("a file can be read").as_deref() != Some(text.as_bytes()) {
                world.violated(format_args!("{id} has written {path}, and {branch} does not hold it so"));
            }
        }
        for (number, steps) in instructions(journal).flat_map(|text| tasks(&text)) {
            for step in 1..=steps {
                if !written.values().any(|text| text.contains(&mark(number, step))) {
                    world.violated(format_args!("{id} is completed without step {step} of task {number}"));
                }
            }
        }
    }
}

/// The pages whose writing was confirmed to the model, with their last content.
fn written(progress: &JobState) -> BTreeMap<String, String> {
    let entries = progress.transcript.entries();
    let done: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| if let agent::TranscriptEntry::Results { results } = entry { Some(results) } else { None })
        .flatten()
        .filter(|result| !result.is_error)
        .map(|result| result.call_id.as_str())
        .collect();
    let replies = entries.iter().filter_map(|entry| match entry {
        agent::TranscriptEntry::Replied { message, .. } => Some(&message.parts),
        _ => None,
    });
    let calls = replies.flatten().filter_map(|part| match part {
        ContentPart::ToolCall { id, name, input } if name == "write" && done.contains(id.as_str()) => {
            Some((input["path"].as_str()?.to_owned(), input["content"].as_str()?.to_owned()))
        }
        _ => None,
    });
    calls.collect()
}

fn pull_requests_are_single(world: &World) {
    let mut open = BTreeMap::new();
    for pull in world.forge.pulls().into_iter().filter(|pull| pull.state == PullState::Open) {
        *open.entry((pull.project.clone(), pull.head.clone())).or_insert(0) += 1;
    }
    for ((project, head), pulls) in open.into_iter().filter(|(_, pulls)| *pulls > 1) {
        world.violated(format_args!("{head} of {project} has {pulls} open pull requests"));
    }
}
