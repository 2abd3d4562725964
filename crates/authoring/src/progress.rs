//! The state of a job, derived from its journal.
//!
//! [`JobState::fold`] reads the journal in order: the transcript, the turn in progress, the instructions not read yet.
//! No other state exists between two steps, so any process can continue a job at any point.

use docent_agent::{self as agent, Finish, Transcript};
use docent_jobs::{Entry, EntryBody, Instruction};
use docent_types::{ContentPart, Message, Todo};
use serde::Deserialize;

use crate::record::{BranchState, PullRequestEnd, Record, TurnStart, TurnSummary};
use crate::time_budget::TimeUsed;

/// A turn in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTurn {
    pub start: TurnStart,
    /// The index in the transcript at which the work on this base begins.
    pub from: usize,
    /// The overlay's digest after the last tools that ran.
    pub digest: Option<String>,
    /// How many times the branch was deleted after the push.
    pub deleted: u32,
    pub stage: TurnStage,
}

/// How far a turn has come.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnStage {
    /// The agent works.
    Working,
    /// The mirror has the turn's commit.
    Committed(TurnCommit),
    /// The commit is on the job's branch.
    Pushed(TurnCommit),
    /// Nothing was changed, and commits of earlier turns have no pull request yet.
    Unchanged { finish: Option<Finish> },
    /// No more is to be done for what was pushed.
    Proposed { finish: Option<Finish>, proposal: Proposal },
}

/// A turn's commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnCommit {
    /// Its id, in hex.
    pub id: String,
    /// How the agent ended the turn.
    pub finish: Option<Finish>,
    /// New problems that the checks found; `None` when no check ran.
    pub problems: Option<Vec<String>>,
    /// What the checks could not decide.
    pub undecided: Vec<String>,
}

impl AgentTurn {
    /// How the agent ended the turn, if the journal says so.
    pub fn finish(&self) -> Option<&Finish> {
        match &self.stage {
            TurnStage::Working => None,
            TurnStage::Committed(commit) | TurnStage::Pushed(commit) => commit.finish.as_ref(),
            TurnStage::Unchanged { finish } | TurnStage::Proposed { finish, .. } => finish.as_ref(),
        }
    }

    /// Whether everything of the turn is on the job's branch.
    pub fn is_pushed(&self) -> bool {
        matches!(self.stage, TurnStage::Pushed(_) | TurnStage::Unchanged { .. } | TurnStage::Proposed { .. })
    }

    /// Takes the turn's commit out of its stage, if it has one.
    fn take_commit(&mut self) -> Option<TurnCommit> {
        match std::mem::replace(&mut self.stage, TurnStage::Working) {
            TurnStage::Committed(commit) | TurnStage::Pushed(commit) => Some(commit),
            other => {
                self.stage = other;
                None
            }
        }
    }

    fn propose(&mut self, proposal: Proposal) {
        self.stage = TurnStage::Proposed { finish: self.finish().cloned(), proposal };
    }
}

/// The result of proposing a turn's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// The changes are in a pull request. `before` is the ended one that it follows, if any.
    PullRequest { before: Option<PullRequestEnd> },
    /// The base has the changes already.
    Included,
}

/// The pull request that a job has opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedPullRequest {
    /// Its web address.
    pub url: String,
    /// The turns in it, oldest first.
    pub parts: Vec<TurnSummary>,
}

/// The state of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobState {
    /// The transcript of all turns.
    pub transcript: Transcript,
    /// The plan after the last tools that ran.
    pub todos: Vec<Todo>,
    /// Instructions that are not in the transcript yet, with their sequence numbers.
    pub unread_instructions: Vec<(u64, Instruction)>,
    /// Sequence number of the newest instruction in the transcript; 0 for none.
    pub read_upto: u64,
    /// Whether an instruction asks for a turn that begins with an update of the branch.
    pub updates_branch: bool,
    /// The time used since that instruction.
    pub time_used: TimeUsed,
    /// The turn in progress; `None` between two turns, and when it is to start over.
    pub turn: Option<AgentTurn>,
    /// How many times this turn started over.
    pub restarts: u32,
    /// The reason of the last restart.
    pub restarted: Option<String>,
    /// How many transcript entries belong to turns that have ended.
    pub answered: usize,
    /// Turns that were pushed and are in no pull request yet.
    pub waiting: Vec<TurnSummary>,
    /// The newest commit that was pushed, in hex.
    pub pushed: Option<String>,
    /// The newest pull request.
    pub pull_request: Option<OpenedPullRequest>,
    /// Whether the previous turn failed with nothing kept of its changes, and the transcript says so.
    pub changes_discarded: bool,
    /// The failure of the previous turn, if it was not reported because another instruction was waiting.
    pub unreported_failure: Option<String>,
}

impl JobState {
    /// Reads a journal from its start.
    pub fn fold(entries: Vec<Entry>) -> Self {
        let mut progress = Self::default();
        for entry in entries {
            progress.read(entry);
        }
        progress
    }

    /// Applies one journal entry.
    pub fn read(&mut self, entry: Entry) {
        self.time_used.apply(&entry);
        match entry.body {
            EntryBody::Instruction(instruction) => self.unread_instructions.push((entry.seq, instruction)),
            EntryBody::Work { data, .. } => {
                // An entry that cannot be parsed was written by a newer version. It may be skipped, because effects
                // outside are looked up before they are repeated.
                if let Ok(record) = Record::deserialize(data) {
                    self.apply(record);
                }
            }
            EntryBody::Transition { halt: Some(_), .. } => {
                // The engine gave up on a turn that had not ended.
                self.drop_turn();
                self.unreported_failure = None;
            }
            EntryBody::Transition { .. } | EntryBody::Leased { .. } | EntryBody::Retry { .. } => {}
        }
    }

    /// Applies what was just done.
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::InstructionsRead { upto } => self.add_instructions(upto),
            Record::Prepared(start) => {
                self.forget_lost_commits(start.found);
                let from = self.transcript.entries().len();
                self.turn = Some(AgentTurn { start, from, digest: None, deleted: 0, stage: TurnStage::Working });
            }
            Record::Replied { message, reason, usage } => {
                self.transcript.push(agent::TranscriptEntry::Replied { message, reason, usage });
            }
            Record::Ran { results, digest, todos } => {
                self.transcript.push(agent::TranscriptEntry::Results { results });
                if let Some(todos) = todos {
                    self.todos = todos;
                }
                self.in_turn(|turn| turn.digest = Some(digest));
            }
            Record::Compacted { summary, upto, usage } => {
                self.transcript.push(agent::TranscriptEntry::Compacted { summary, upto, usage });
            }
            Record::TooLong => self.transcript.push(agent::TranscriptEntry::TooLong),
            Record::Expired { why } => self.transcript.push(agent::TranscriptEntry::Expired { why }),
            Record::Refused { why } => self.transcript.push(agent::TranscriptEntry::Refused { why }),
            Record::Restarted { why } => {
                self.forget_work();
                self.restarts += 1;
                self.restarted = Some(why);
            }
            Record::Committed { commit: id, finish, problems, undecided } => {
                self.in_turn(|turn| turn.stage = TurnStage::Committed(TurnCommit { id, finish, problems, undecided }));
            }
            Record::Pushed { commit, part } => {
                self.waiting.push(part);
                self.pushed = Some(commit.clone());
                self.in_turn(|turn| {
                    // A newer version may have written the commit in a way that could not be read.
                    let unread = || TurnCommit { id: commit, ..TurnCommit::default() };
                    turn.stage = TurnStage::Pushed(turn.take_commit().unwrap_or_else(unread));
                });
            }
            Record::Deleted => {
                self.waiting.pop();
                self.in_turn(|turn| {
                    if let Some(commit) = turn.take_commit() {
                        turn.stage = TurnStage::Committed(commit);
                    }
                    turn.start.remote = None;
                    turn.deleted += 1;
                });
            }
            Record::Unchanged { finish } => self.in_turn(|turn| turn.stage = TurnStage::Unchanged { finish }),
            Record::PullRequest { url, before } => {
                let new = std::mem::take(&mut self.waiting);
                match &mut self.pull_request {
                    Some(known) if known.url == url => known.parts.extend(new),
                    known => *known = Some(OpenedPullRequest { url, parts: new }),
                }
                self.in_turn(|turn| turn.propose(Proposal::PullRequest { before }));
            }
            Record::Included => {
                self.waiting.clear();
                self.in_turn(|turn| turn.propose(Proposal::Included));
            }
            Record::Ended { failed } => {
                self.changes_discarded = failed.is_some() && self.turn.as_ref().is_none_or(|turn| !turn.is_pushed());
                // An update whose turn failed is made by the next one.
                let updates_branch = self.updates_branch && self.changes_discarded;
                self.end();
                self.updates_branch = updates_branch;
                self.unreported_failure = failed;
            }
            Record::Dropped { failed } => {
                self.drop_turn();
                self.unreported_failure = failed;
            }
        }
    }

    fn in_turn(&mut self, change: impl FnOnce(&mut AgentTurn)) {
        if let Some(turn) = &mut self.turn {
            change(turn);
        }
    }

    /// Commits that were pushed and are gone no longer wait for a pull request.
    fn forget_lost_commits(&mut self, found: BranchState) {
        if matches!(found, BranchState::Deleted | BranchState::Merged) {
            self.waiting.clear();
            self.pushed = None;
            if let Some(known) = &mut self.pull_request {
                known.parts.clear();
            }
        }
    }

    fn add_instructions(&mut self, upto: u64) {
        self.read_upto = self.read_upto.max(upto);
        self.time_used.restart();
        let (read, unread_instructions) =
            std::mem::take(&mut self.unread_instructions).into_iter().partition(|(seq, _)| *seq <= upto);
        self.unread_instructions = unread_instructions;
        let read: Vec<(u64, Instruction)> = read;
        self.updates_branch |= read.iter().any(|(_, instruction)| instruction.updates_branch);
        for message in read.into_iter().flat_map(|(_, instruction)| instruction.messages) {
            self.transcript.push(instruction_entry(message));
        }
    }

    /// Restarts the turn: its work is forgotten, its instructions are kept.
    fn forget_work(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let is_remaining = |(index, entry): &(usize, agent::TranscriptEntry)| {
            *index < turn.from || matches!(entry, agent::TranscriptEntry::Said { .. })
        };
        let remaining =
            self.transcript.entries().iter().cloned().enumerate().filter(is_remaining).map(|(_, entry)| entry);
        self.transcript = remaining.collect::<Vec<_>>().into();
    }

    /// Ends a failed turn. If its work stayed in the transcript, the next turn would believe that it was done.
    fn drop_turn(&mut self) {
        if self.turn.as_ref().is_some_and(AgentTurn::is_pushed) {
            return self.end();
        }
        self.forget_work();
        (self.restarts, self.restarted) = (0, None);
    }

    fn end(&mut self) {
        // A reply whose tools never ran must not precede the next instruction: every call needs a result.
        let entries = self.transcript.entries();
        if let Some((agent::TranscriptEntry::Replied { message, .. }, before)) = entries.split_last()
            && has_calls(message)
        {
            self.transcript = before.to_vec().into();
        }
        self.turn = None;
        self.updates_branch = false;
        (self.restarts, self.restarted) = (0, None);
        self.answered = self.transcript.entries().len();
    }
}

/// A caller's messages in the assistant's role are examples, and not replies of the model.
fn instruction_entry(message: Message) -> agent::TranscriptEntry {
    agent::TranscriptEntry::Said { message }
}

fn has_calls(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, ContentPart::ToolCall { .. }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use docent_types::{FinishReason, Halt, JobStatus, Role, Timestamp, Usage};

    use super::*;
    use crate::signing::Signing;

    fn entry(seq: u64, body: EntryBody) -> Entry {
        Entry { seq, at: Timestamp::default(), body }
    }

    fn did(seq: u64, record: &Record) -> Entry {
        let data = serde_json::to_value(record).expect("records are JSON");
        entry(seq, EntryBody::Work { kind: record.kind().to_owned(), data })
    }

    fn asked(seq: u64, text: &str) -> Entry {
        entry(seq, EntryBody::Instruction(Instruction::new(vec![Message::text(Role::User, text)])))
    }

    fn reply(text: &str) -> Record {
        replied(Message::text(Role::Assistant, text))
    }

    fn replied(message: Message) -> Record {
        Record::Replied { message, reason: FinishReason::Stop, usage: Usage::default() }
    }

    fn prepared() -> Record {
        Record::Prepared(TurnStart {
            base: "b".into(),
            remote: None,
            target_tip: None,
            at: Timestamp::default(),
            found: BranchState::AsLeft,
            context: BTreeMap::new(),
            missing: BTreeMap::new(),
            no_docs: None,
            signing: Signing::default(),
            update: None,
        })
    }

    fn texts(progress: &JobState) -> Vec<String> {
        let text = |entry: &agent::TranscriptEntry| match entry {
            agent::TranscriptEntry::Said { message } | agent::TranscriptEntry::Replied { message, .. } => {
                message.plain_text()
            }
            _ => String::new(),
        };
        progress.transcript.entries().iter().map(text).collect()
    }

    #[test]
    fn an_instruction_is_in_the_transcript_where_it_was_heard() {
        let entries = [
            asked(1, "one"),
            did(2, &Record::InstructionsRead { upto: 1 }),
            did(3, &prepared()),
            asked(4, "two"),
            did(5, &reply("working")),
            did(6, &Record::InstructionsRead { upto: 4 }),
        ];
        let progress = JobState::fold(entries.to_vec());
        assert_eq!((texts(&progress), progress.read_upto), (vec!["one".into(), "working".into(), "two".into()], 4));
        assert_eq!(JobState::fold(entries[..5].to_vec()).unread_instructions.len(), 1);
    }

    #[test]
    fn starting_over_forgets_what_was_done_and_keeps_what_was_asked() {
        let entries = [
            asked(1, "one"),
            did(2, &Record::InstructionsRead { upto: 1 }),
            did(3, &prepared()),
            did(4, &reply("working")),
            asked(5, "two"),
            did(6, &Record::InstructionsRead { upto: 5 }),
            did(7, &reply("still working")),
            did(8, &Record::Restarted { why: "the branch moved".into() }),
        ];
        let progress = JobState::fold(entries.to_vec());
        assert_eq!(texts(&progress), ["one", "two"]);
        assert_eq!((progress.turn, progress.restarts), (None, 1));
    }

    #[test]
    fn a_turn_the_engine_gave_up_on_is_forgotten_unless_it_was_pushed() {
        let part = TurnSummary {
            instructions: "one".into(),
            title: "One".into(),
            summary: "Did one.".into(),
            problems: None,
            undecided: Vec::new(),
        };
        let committed = Record::Committed { commit: "c".into(), finish: None, problems: None, undecided: Vec::new() };
        let pushed = Record::Pushed { commit: "c".into(), part: part.clone() };
        let given_up = EntryBody::Transition { to: JobStatus::Failed, halt: Some(Halt::Error), message: None };
        let begun = [
            asked(1, "one"),
            did(2, &Record::InstructionsRead { upto: 1 }),
            did(3, &prepared()),
            did(4, &reply("done")),
        ];
        let fold = |more: &[Entry]| JobState::fold(begun.iter().chain(more).cloned().collect());

        let lost = fold(&[entry(5, given_up.clone())]);
        assert_eq!((texts(&lost), lost.answered, lost.turn), (vec!["one".to_owned()], 0, None));
        let kept = fold(&[did(5, &committed), did(6, &pushed), entry(7, given_up)]);
        assert_eq!((texts(&kept).len(), kept.answered, kept.waiting), (2, 2, vec![part]));
    }

    #[test]
    fn a_call_without_an_answer_does_not_outlive_its_turn() {
        let call = ContentPart::ToolCall { id: "1".into(), name: "list".into(), input: serde_json::json!({}) };
        let reply = replied(Message { role: Role::Assistant, parts: vec![call] });
        let entries =
            [asked(1, "one"), did(2, &Record::InstructionsRead { upto: 1 }), did(3, &prepared()), did(4, &reply)];
        let mut progress = JobState::fold(entries.to_vec());
        assert_eq!(progress.transcript.entries().len(), 2);
        progress.apply(Record::Ended { failed: None });
        assert_eq!(texts(&progress), ["one"]);
    }

    #[test]
    fn a_failure_is_untold_until_the_job_says_it_itself() {
        let failed = |sentence: &str| Some(sentence.to_owned());
        let over = EntryBody::Transition { to: JobStatus::Failed, halt: Some(Halt::Error), message: None };
        let begun = [asked(1, "one"), did(2, &Record::InstructionsRead { upto: 1 }), did(3, &prepared())];
        let fold = |more: &[Entry]| JobState::fold(begun.iter().chain(more).cloned().collect());

        let swallowed = fold(&[did(4, &Record::Ended { failed: failed("No.") }), asked(5, "two")]);
        assert_eq!((swallowed.unreported_failure, swallowed.changes_discarded), (failed("No."), true));
        let dropped = fold(&[did(4, &Record::Dropped { failed: failed("Gone.") }), asked(5, "two")]);
        assert_eq!((dropped.unreported_failure, dropped.changes_discarded), (failed("Gone."), false));
        let told = fold(&[did(4, &Record::Ended { failed: failed("No.") }), entry(5, over)]);
        assert_eq!((told.unreported_failure, told.changes_discarded), (None, true));
        let mended = fold(&[did(4, &Record::Ended { failed: failed("No.") }), did(5, &Record::Ended { failed: None })]);
        assert_eq!((mended.unreported_failure, mended.changes_discarded), (None, false));
    }

    #[test]
    fn the_journals_of_before_are_read() {
        let work = |seq, data| entry(seq, EntryBody::Work { kind: "any".into(), data });
        let entries = vec![
            asked(1, "one"),
            work(2, serde_json::json!({ "did": "heard", "upto": 1 })),
            work(3, serde_json::json!({ "did": "prepared", "base": "b", "remote": null, "at": Timestamp::default() })),
            work(4, serde_json::json!({ "did": "ran", "results": [], "digest": "d" })),
            work(
                5,
                serde_json::json!({
                    "did": "committed", "commit": "c", "finish": { "outcome": "done", "title": "One", "summary": "Did." }
                }),
            ),
            work(
                6,
                serde_json::json!({
                    "did": "pushed", "commit": "c", "part": { "asked": "one", "title": "One", "summary": "Did." }
                }),
            ),
            work(7, serde_json::json!({ "did": "pull_request", "url": "u" })),
        ];
        let stage = |count: usize| JobState::fold(entries[..count].to_vec()).turn.expect("under way").stage;
        assert!(matches!(stage(5), TurnStage::Committed(TurnCommit { id, .. }) if id == "c"));
        assert!(matches!(stage(6), TurnStage::Pushed(TurnCommit { id, .. }) if id == "c"));
        let TurnStage::Proposed { finish, proposal } = stage(7) else { panic!("{:?}", stage(7)) };
        assert_eq!(finish.map(|finish| finish.summary), Some("Did.".to_owned()));
        assert_eq!(proposal, Proposal::PullRequest { before: None });
        for end in ["ended", "dropped"] {
            let over = [entries.clone(), vec![work(8, serde_json::json!({ "did": end }))]].concat();
            assert_eq!(JobState::fold(over).turn, None, "{end}");
        }
    }

    #[test]
    fn records_keep_the_names_that_journals_have() {
        let json = |record: &Record| serde_json::to_value(record).expect("records are JSON");
        let read = Record::InstructionsRead { upto: 1 };
        assert_eq!(json(&read), serde_json::json!({ "did": "heard", "upto": 1 }));
        let mut prepared = prepared();
        if let Record::Prepared(start) = &mut prepared {
            start.target_tip = Some("t".into());
        }
        assert_eq!(json(&prepared)["agreed"], "t");
        let undecided = vec!["2 links".to_owned()];
        let committed =
            Record::Committed { commit: "c".into(), finish: None, problems: None, undecided: undecided.clone() };
        assert_eq!(json(&committed), serde_json::json!({ "did": "committed", "commit": "c", "doubts": ["2 links"] }));
        let [instructions, title, summary] = ["one", "One", "Did."].map(str::to_owned);
        let part = TurnSummary { instructions, title, summary, problems: None, undecided };
        assert_eq!(
            json(&Record::Pushed { commit: "c".into(), part })["part"],
            serde_json::json!({ "asked": "one", "title": "One", "summary": "Did.", "doubts": ["2 links"] })
        );
    }

    #[test]
    fn a_commit_whose_branch_was_deleted_is_pushed_again_and_told_of_once() {
        let part = TurnSummary {
            instructions: "one".into(),
            title: "One".into(),
            summary: "Did.".into(),
            problems: None,
            undecided: Vec::new(),
        };
        let pushed = Record::Pushed { commit: "c".into(), part: part.clone() };
        let committed = Record::Committed { commit: "c".into(), finish: None, problems: None, undecided: Vec::new() };
        let mut progress = JobState::default();
        for record in [prepared(), committed, pushed.clone(), Record::Deleted] {
            progress.apply(record);
        }
        let turn = progress.turn.clone().expect("under way");
        assert!(matches!(turn.stage, TurnStage::Committed(TurnCommit { id, .. }) if id == "c"));
        assert_eq!(turn.deleted, 1);
        progress.apply(pushed);
        assert_eq!(progress.waiting, [part]);
    }
}
