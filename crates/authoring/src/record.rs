//! What authoring writes into a job's journal, and what can be known from it.
//!
//! Each [`Record`] is one journal entry. [`Progress::fold`] reads them in order and knows where the job stands: the
//! transcript, the turn that is under way, and the instructions not yet heard. Nothing else is remembered between two
//! steps, so a job can be taken up by any process at any point.

use docent_agent::{self as agent, ToolResult, Transcript};
use docent_jobs::{Entry, EntryBody, Instruction};
use docent_types::{ContentPart, FinishReason, Message, Timestamp, Usage};
use serde::{Deserialize, Serialize};

/// One thing done for a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Record {
    /// The instructions up to this sequence number are in the transcript.
    Heard {
        /// Of the journal.
        upto: u64,
    },
    /// A turn began on this commit. `remote` is the tip of the job's branch on the remote, `None` when there is none.
    /// `at` is the date of the commit to be.
    Prepared { base: String, remote: Option<String>, at: Timestamp },
    /// The model's reply, before its tools run.
    Replied { message: Message, reason: FinishReason, usage: Usage },
    /// The answers to the tool calls of the last reply. `digest` stands for the overlay after them.
    Ran { results: Vec<ToolResult>, digest: String },
    /// The turn starts over on a fresh base, because of this.
    Restarted { why: String },
    /// The mirror holds the turn's commit.
    Committed { commit: String },
    /// The commit is on the job's branch. `part` is what the pull request is to say about it.
    Pushed { commit: String, part: Part },
    /// The turn changed nothing, but what an earlier one pushed has no pull request yet.
    Unchanged,
    /// All that was pushed is in this pull request.
    PullRequest { url: String },
    /// The turn is over.
    Ended,
    /// The turn is over and failed. Unless it was pushed, what it did is nowhere.
    Dropped,
}

/// One turn as the pull request tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The instructions, as they were given.
    pub asked: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub summary: String,
}

impl Record {
    /// The journal entry's kind: the tag of the record.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Heard { .. } => "heard",
            Self::Prepared { .. } => "prepared",
            Self::Replied { .. } => "replied",
            Self::Ran { .. } => "ran",
            Self::Restarted { .. } => "restarted",
            Self::Committed { .. } => "committed",
            Self::Pushed { .. } => "pushed",
            Self::Unchanged => "unchanged",
            Self::PullRequest { .. } => "pull_request",
            Self::Ended => "ended",
            Self::Dropped => "dropped",
        }
    }
}

/// A turn under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The commit it works on, in hex.
    pub base: String,
    /// The tip of the job's branch on the remote, in hex; `None` when there is none.
    pub remote: Option<String>,
    /// The date of the commit to be.
    pub at: Timestamp,
    /// Where in the transcript the work on this base begins.
    pub from: usize,
    /// The overlay's digest after the last tools that ran.
    pub digest: Option<String>,
    /// The commit made of it, in hex.
    pub committed: Option<String>,
    /// Whether all of it is on the job's branch.
    pub pushed: bool,
    /// Where its pull request is looked at.
    pub pull_request: Option<String>,
}

/// The pull request that a job has opened, and what it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Where a person looks at it.
    pub url: String,
    /// Oldest first.
    pub parts: Vec<Part>,
}

/// Where a job stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// What was said and done, of all turns.
    pub transcript: Transcript,
    /// Instructions that are not in the transcript yet, with their sequence numbers.
    pub unheard: Vec<(u64, Instruction)>,
    /// The newest instruction that is in the transcript; 0 for none.
    pub heard: u64,
    /// The turn under way; `None` between two, and when it is to start over.
    pub turn: Option<Turn>,
    /// Times this turn started over.
    pub restarts: u32,
    /// Why it did the last time.
    pub restarted: Option<String>,
    /// How much of the transcript belongs to turns that have ended.
    pub answered: usize,
    /// What was pushed and is in no pull request yet.
    pub waiting: Vec<Part>,
    /// The newest pull request.
    pub pull_request: Option<Opened>,
}

impl Progress {
    /// Reads a journal from its start.
    pub fn fold(entries: Vec<Entry>) -> Self {
        let mut progress = Self::default();
        for entry in entries {
            progress.read(entry);
        }
        progress
    }

    /// Takes in one journal entry.
    pub fn read(&mut self, entry: Entry) {
        match entry.body {
            EntryBody::Instruction(instruction) => self.unheard.push((entry.seq, instruction)),
            EntryBody::Work { data, .. } => {
                // An entry this version cannot read was written by a newer one; what it says is not needed to go on
                // safely, because effects outside are looked up before they are repeated.
                if let Ok(record) = serde_json::from_value::<Record>(data) {
                    self.apply(record);
                }
            }
            // The engine gave up on a turn that did not end itself.
            EntryBody::Transition { halt: Some(_), .. } => self.drop_turn(),
            EntryBody::Transition { .. } | EntryBody::Leased { .. } | EntryBody::Retry { .. } => {}
        }
    }

    /// Takes in what was just done.
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Heard { upto } => self.hear(upto),
            Record::Prepared { base, remote, at } => {
                let from = self.transcript.entries().len();
                let (digest, committed, pull_request) = (None, None, None);
                self.turn = Some(Turn { base, remote, at, from, digest, committed, pushed: false, pull_request });
            }
            Record::Replied { message, reason, usage } => {
                self.transcript.push(agent::Entry::Replied { message, reason, usage });
            }
            Record::Ran { results, digest } => {
                self.transcript.push(agent::Entry::Results { results });
                self.in_turn(|turn| turn.digest = Some(digest));
            }
            Record::Restarted { why } => {
                self.forget_work();
                self.restarts += 1;
                self.restarted = Some(why);
            }
            Record::Committed { commit } => self.in_turn(|turn| turn.committed = Some(commit)),
            Record::Pushed { part, .. } => {
                self.waiting.push(part);
                self.in_turn(|turn| turn.pushed = true);
            }
            Record::Unchanged => self.in_turn(|turn| turn.pushed = true),
            Record::PullRequest { url } => {
                let new = std::mem::take(&mut self.waiting);
                match &mut self.pull_request {
                    Some(known) if known.url == url => known.parts.extend(new),
                    known => *known = Some(Opened { url: url.clone(), parts: new }),
                }
                self.in_turn(|turn| turn.pull_request = Some(url));
            }
            Record::Ended => self.end(),
            Record::Dropped => self.drop_turn(),
        }
    }

    fn in_turn(&mut self, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = &mut self.turn {
            change(turn);
        }
    }

    fn hear(&mut self, upto: u64) {
        self.heard = self.heard.max(upto);
        let (heard, unheard) = std::mem::take(&mut self.unheard).into_iter().partition(|(seq, _)| *seq <= upto);
        self.unheard = unheard;
        let heard: Vec<(u64, Instruction)> = heard;
        for message in heard.into_iter().flat_map(|(_, instruction)| instruction.messages) {
            self.transcript.push(heard_as(message));
        }
    }

    /// Begins the turn anew: what was done is forgotten, what was asked is kept.
    fn forget_work(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let said =
            |(index, entry): &(usize, agent::Entry)| *index < turn.from || matches!(entry, agent::Entry::Said { .. });
        let kept = self.transcript.entries().iter().cloned().enumerate().filter(said).map(|(_, entry)| entry);
        self.transcript = kept.collect::<Vec<_>>().into();
    }

    /// Ends a turn that failed. Had its work stayed in the transcript, the next turn would believe that it was done.
    fn drop_turn(&mut self) {
        if self.turn.as_ref().is_some_and(|turn| turn.pushed) {
            return self.end();
        }
        self.forget_work();
        (self.restarts, self.restarted) = (0, None);
    }

    fn end(&mut self) {
        // A reply whose tools never ran must not stand before the next instruction: every call has an answer.
        let entries = self.transcript.entries();
        if let Some((agent::Entry::Replied { message, .. }, before)) = entries.split_last()
            && has_calls(message)
        {
            self.transcript = before.to_vec().into();
        }
        self.turn = None;
        (self.restarts, self.restarted) = (0, None);
        self.answered = self.transcript.entries().len();
    }
}

/// Words of the assistant's role that a caller gives are an example, not a reply of the model.
fn heard_as(message: Message) -> agent::Entry {
    agent::Entry::Said { message }
}

fn has_calls(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, ContentPart::ToolCall { .. }))
}

#[cfg(test)]
mod tests {
    use docent_types::{Halt, JobStatus, Role};

    use super::*;

    fn entry(seq: u64, body: EntryBody) -> Entry {
        Entry { seq, at: Timestamp::default(), body }
    }

    fn did(seq: u64, record: &Record) -> Entry {
        let data = serde_json::to_value(record).expect("records are JSON");
        entry(seq, EntryBody::Work { kind: record.kind().to_owned(), data })
    }

    fn asked(seq: u64, text: &str) -> Entry {
        entry(seq, EntryBody::Instruction(Instruction { messages: vec![Message::text(Role::User, text)] }))
    }

    fn reply(text: &str) -> Record {
        replied(Message::text(Role::Assistant, text))
    }

    fn replied(message: Message) -> Record {
        Record::Replied { message, reason: FinishReason::Stop, usage: Usage::default() }
    }

    fn prepared() -> Record {
        Record::Prepared { base: "b".into(), remote: None, at: Timestamp::default() }
    }

    fn texts(progress: &Progress) -> Vec<String> {
        let text = |entry: &agent::Entry| match entry {
            agent::Entry::Said { message } | agent::Entry::Replied { message, .. } => message.plain_text(),
            agent::Entry::Results { .. } => String::new(),
        };
        progress.transcript.entries().iter().map(text).collect()
    }

    #[test]
    fn an_instruction_is_in_the_transcript_where_it_was_heard() {
        let entries = [
            asked(1, "one"),
            did(2, &Record::Heard { upto: 1 }),
            did(3, &prepared()),
            asked(4, "two"),
            did(5, &reply("working")),
            did(6, &Record::Heard { upto: 4 }),
        ];
        let progress = Progress::fold(entries.to_vec());
        assert_eq!((texts(&progress), progress.heard), (vec!["one".into(), "working".into(), "two".into()], 4));
        assert_eq!(Progress::fold(entries[..5].to_vec()).unheard.len(), 1);
    }

    #[test]
    fn starting_over_forgets_what_was_done_and_keeps_what_was_asked() {
        let entries = [
            asked(1, "one"),
            did(2, &Record::Heard { upto: 1 }),
            did(3, &prepared()),
            did(4, &reply("working")),
            asked(5, "two"),
            did(6, &Record::Heard { upto: 5 }),
            did(7, &reply("still working")),
            did(8, &Record::Restarted { why: "the branch moved".into() }),
        ];
        let progress = Progress::fold(entries.to_vec());
        assert_eq!(texts(&progress), ["one", "two"]);
        assert_eq!((progress.turn, progress.restarts), (None, 1));
    }

    #[test]
    fn a_turn_the_engine_gave_up_on_is_forgotten_unless_it_was_pushed() {
        let part = Part { asked: "one".into(), title: "One".into(), summary: "Did one.".into() };
        let pushed = Record::Pushed { commit: "c".into(), part: part.clone() };
        let given_up = EntryBody::Transition { to: JobStatus::Failed, halt: Some(Halt::Error), message: None };
        let begun = [asked(1, "one"), did(2, &Record::Heard { upto: 1 }), did(3, &prepared()), did(4, &reply("done"))];
        let fold = |more: &[Entry]| Progress::fold(begun.iter().chain(more).cloned().collect());

        let lost = fold(&[entry(5, given_up.clone())]);
        assert_eq!((texts(&lost), lost.answered, lost.turn), (vec!["one".to_owned()], 0, None));
        let kept = fold(&[did(5, &pushed), entry(6, given_up)]);
        assert_eq!((texts(&kept).len(), kept.answered, kept.waiting), (2, 2, vec![part]));
    }

    #[test]
    fn a_call_without_an_answer_does_not_outlive_its_turn() {
        let call = ContentPart::ToolCall { id: "1".into(), name: "list".into(), input: serde_json::json!({}) };
        let reply = replied(Message { role: Role::Assistant, parts: vec![call] });
        let entries = [asked(1, "one"), did(2, &Record::Heard { upto: 1 }), did(3, &prepared()), did(4, &reply)];
        let mut progress = Progress::fold(entries.to_vec());
        assert_eq!(progress.transcript.entries().len(), 2);
        progress.apply(Record::Ended);
        assert_eq!(texts(&progress), ["one"]);
    }
}
