//! The transcript: all messages, replies and tool results in order, which is the whole state of an agent.

use std::collections::{HashMap, HashSet};

use docent_types::{ContentPart, FinishReason, Message, Role, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One event of a transcript, in the form that the journal stores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TranscriptEntry {
    /// A message from outside: a prompt, a follow-up, a system message, an example.
    Said { message: Message },
    /// The model replied.
    Replied { message: Message, reason: FinishReason, usage: Usage },
    /// The results of the previous reply's calls.
    Results { results: Vec<ToolResult> },
    /// For the model, this summary replaces the first `upto` entries, except messages from outside, which it still gets
    /// in full.
    Compacted {
        summary: String,
        /// The number of entries that the summary covers, from the first one.
        upto: usize,
        #[serde(default)]
        usage: Usage,
    },
    /// The model refused the last request as too long.
    TooLong,
    /// The time of the turn is over, or it can't continue for another reason. `why` completes "the agent was stopped:
    /// ", for example `its 60 minutes are over`. If a turn that has to end is already asked for its summary, this ends
    /// it.
    Expired { why: String },
    /// The model refused to answer, which ends the turn. `why` completes "the agent was stopped: ".
    Refused { why: String },
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Unique in the transcript.
    pub id: String,
    pub name: String,
    pub input: Value,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: String,
    /// Text for the model.
    pub output: String,
    pub is_error: bool,
}

/// All entries, oldest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transcript {
    entries: Vec<TranscriptEntry>,
}

impl Transcript {
    pub fn new() -> Self {
        Self::default()
    }

    /// A transcript that begins with a prompt.
    pub fn of_prompt(prompt: impl Into<String>) -> Self {
        let mut transcript = Self::new();
        transcript.say(prompt);
        transcript
    }

    pub fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    pub fn push(&mut self, entry: TranscriptEntry) {
        self.entries.push(entry);
    }

    /// Appends a message of the user.
    pub fn say(&mut self, text: impl Into<String>) {
        self.push(TranscriptEntry::Said { message: Message::text(Role::User, text) });
    }

    /// The entries of the newest turn: those after the results of the last accepted `finish`, or from a message that
    /// arrived before those results.
    pub(crate) fn newest_turn(&self) -> &[TranscriptEntry] {
        let finish = (0..self.entries.len()).rev().find_map(|index| Some((index, self.finish_answered_at(index)?)));
        let Some((results, finish)) = finish else { return &self.entries };
        let said = (finish.reply..results).find(|&index| self.is_said_by_user(index));
        &self.entries[said.unwrap_or(results + 1)..]
    }

    /// The entries since the last message from outside, which the turn's budgets count.
    pub(crate) fn since_last_user_message(&self) -> &[TranscriptEntry] {
        let said = (0..self.entries.len()).rev().find(|&index| self.is_said_by_user(index));
        &self.entries[said.unwrap_or(0)..]
    }

    /// The accepted `finish` that ends the transcript, unless a message from outside arrived after its call.
    pub(crate) fn finished(&self) -> Option<AcceptedFinish<'_>> {
        // Later entries without a message from outside do not count.
        let last = self
            .entries
            .iter()
            .rposition(|entry| matches!(entry, TranscriptEntry::Results { .. } | TranscriptEntry::Said { .. }))?;
        let finish = self.finish_answered_at(last)?;
        (!(finish.reply..last).any(|index| self.is_said_by_user(index))).then_some(finish)
    }

    fn is_said_by_user(&self, index: usize) -> bool {
        matches!(&self.entries[index], TranscriptEntry::Said { message } if message.role == Role::User)
    }

    /// The accepted `finish` whose results are at this index.
    fn finish_answered_at(&self, index: usize) -> Option<AcceptedFinish<'_>> {
        let TranscriptEntry::Results { results } = self.entries.get(index)? else { return None };
        let (reply, message) = self.entries[..index].iter().enumerate().rev().find_map(|(at, entry)| match entry {
            TranscriptEntry::Replied { message, .. } => Some((at, message)),
            _ => None,
        })?;
        message.parts.iter().find_map(|part| match part {
            ContentPart::ToolCall { id, name, input } if name == crate::tools::FINISH => {
                let accepted = results.iter().find(|result| result.call_id == *id && !result.is_error)?;
                Some(AcceptedFinish { reply, input, output: &accepted.output })
            }
            _ => None,
        })
    }

    /// The calls without a result, in order.
    pub(crate) fn unanswered(&self) -> Vec<Call> {
        let mut open: Vec<(&str, &ContentPart)> = Vec::new();
        for entry in &self.entries {
            match entry {
                TranscriptEntry::Replied { message, .. } => {
                    open.extend(message.parts.iter().filter_map(|part| match part {
                        ContentPart::ToolCall { id, .. } => Some((id.as_str(), part)),
                        _ => None,
                    }));
                }
                TranscriptEntry::Results { results } => {
                    let answered: HashSet<&str> = results.iter().map(|result| result.call_id.as_str()).collect();
                    open.retain(|(id, _)| !answered.contains(id));
                }
                _ => {}
            }
        }
        open.into_iter().filter_map(|(_, part)| call_in(part)).collect()
    }

    /// All calls that have a result, with it, in order.
    pub(crate) fn answered(&self) -> Vec<(Call, &ToolResult)> {
        let mut calls_by_id: HashMap<String, Call> = HashMap::new();
        let mut answered = Vec::new();
        for entry in &self.entries {
            match entry {
                TranscriptEntry::Replied { message, .. } => {
                    calls_by_id.extend(calls(message).map(|call| (call.id.clone(), call)));
                }
                TranscriptEntry::Results { results } => {
                    let known =
                        results.iter().filter_map(|result| Some((calls_by_id.remove(&result.call_id)?, result)));
                    answered.extend(known);
                }
                _ => {}
            }
        }
        answered
    }
}

/// An accepted call of `finish`.
pub(crate) struct AcceptedFinish<'a> {
    /// The index of the entry with the call.
    reply: usize,
    pub(crate) input: &'a Value,
    /// The output of the call's result.
    pub(crate) output: &'a str,
}

impl From<Vec<TranscriptEntry>> for Transcript {
    fn from(entries: Vec<TranscriptEntry>) -> Self {
        Self { entries }
    }
}

/// The tool calls of a message.
pub(crate) fn calls(message: &Message) -> impl Iterator<Item = Call> {
    message.parts.iter().filter_map(call_in)
}

fn call_in(part: &ContentPart) -> Option<Call> {
    match part {
        ContentPart::ToolCall { id, name, input } => {
            Some(Call { id: id.clone(), name: name.clone(), input: input.clone() })
        }
        _ => None,
    }
}
