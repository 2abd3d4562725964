//! The history of a turn: the budgets it has used, and whether it makes progress.

use std::collections::HashMap;

use docent_types::{ContentPart, FinishReason, Message, Usage};
use serde_json::Value;

use crate::tools::{FINISH, is_edit, is_handed_back, was_told_of_edits};
use crate::transcript::{ToolResult, TranscriptEntry, calls};
use crate::turn_settings::TurnLimits;

/// How many times the same calls may have the same results before the model is reminded, and before the turn is ended.
/// Two alternating rounds count as one.
const REPEATS_BEFORE_REMINDER: usize = 3;
const REPEATS_BEFORE_END: usize = 5;
/// Maximum number of consecutive replies that are cut off before their first call.
const MOST_CUT_REPLIES: usize = 3;

/// The history of a turn: of all entries since the last message from outside.
#[derive(Debug, Default)]
pub(crate) struct TurnHistory<'a> {
    replies: u32,
    tokens: u64,
    /// The two newest rounds of calls with their results.
    last: Option<Round<'a>>,
    before_last: Option<Round<'a>>,
    /// The number of consecutive equal rounds at the end, and the number of consecutive rounds at the end that differ
    /// from the previous one and equal the one before it.
    same: usize,
    alternating: usize,
    /// The number of consecutive replies at the end without a call, and the number of those that were cut off in a row.
    silent: usize,
    cut: usize,
    /// How many times `finish` returned problems.
    handed_back: usize,
    edits: EditCount<'a>,
    /// Why the turn must end, and the replies since then.
    pub(crate) forced_end: Option<ForcedEnd<'a>>,
}

/// The edits of a turn.
#[derive(Debug, Default)]
struct EditCount<'a> {
    any_succeeded: bool,
    /// The answer to the newest one that failed.
    failure: Option<&'a str>,
    /// Whether `finish` has told the model of failed ones.
    is_told: bool,
}

/// The edits of a turn in which none succeeded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailedEdits<'a> {
    /// The answer to the newest one.
    pub(crate) answer: &'a str,
    /// Whether `finish` has told the model of them.
    pub(crate) is_told: bool,
}

/// The state of a turn that must end.
#[derive(Debug)]
pub(crate) struct ForcedEnd<'a> {
    /// Completes "the agent was stopped before it finished: ".
    pub(crate) why: String,
    /// The model's replies since then.
    pub(crate) words: Vec<&'a Message>,
    /// Whether there is no time for another reply either.
    pub(crate) is_urgent: bool,
    /// Whether the turn failed, other than by using up what it was granted.
    pub(crate) is_failure: bool,
}

/// The calls of a reply and their results.
#[derive(Debug, PartialEq)]
struct Round<'a> {
    calls: Vec<(&'a str, &'a Value)>,
    answers: Vec<&'a str>,
}

impl<'a> TurnHistory<'a> {
    pub(crate) fn of(turn: &'a [TranscriptEntry], limits: &TurnLimits) -> Self {
        let mut history = Self::default();
        let mut reply: Option<&Message> = None;
        for entry in turn {
            if let Some(forced_end) = &mut history.forced_end {
                forced_end.add(entry);
                continue;
            }
            match entry {
                TranscriptEntry::Replied { message, reason, usage } => {
                    reply = Some(message);
                    history.replies = history.replies.saturating_add(1);
                    history.spend(*usage);
                    history.add_reply(message, *reason);
                }
                TranscriptEntry::Results { results } => {
                    if let Some(message) = reply.take() {
                        history.close(message, results);
                    }
                }
                TranscriptEntry::Compacted { usage, .. } => history.spend(*usage),
                TranscriptEntry::Said { .. }
                | TranscriptEntry::TooLong
                | TranscriptEntry::Expired { .. }
                | TranscriptEntry::Refused { .. } => {}
            }
            let end =
                |why: &str| ForcedEnd { why: why.to_owned(), words: Vec::new(), is_urgent: false, is_failure: false };
            history.forced_end = match entry {
                TranscriptEntry::Expired { why } => Some(end(why)),
                // A model that refuses is not asked for a summary.
                TranscriptEntry::Refused { why } => Some(ForcedEnd { is_urgent: true, is_failure: true, ..end(why) }),
                _ if history.repeats() >= REPEATS_BEFORE_END => {
                    Some(ForcedEnd { is_failure: true, ..end("it did the same over and over") })
                }
                _ => history.why_to_stop(limits).map(end),
            };
        }
        history
    }

    fn spend(&mut self, usage: Usage) {
        let again = usage.cached_input_tokens.min(usage.input_tokens);
        let read = (usage.input_tokens - again).saturating_add(again / 10);
        self.tokens = self.tokens.saturating_add(read).saturating_add(usage.output_tokens);
    }

    fn add_reply(&mut self, message: &Message, reason: FinishReason) {
        let calls = message.parts.iter().any(|part| matches!(part, ContentPart::ToolCall { .. }));
        self.silent = if calls { 0 } else { self.silent + 1 };
        self.cut = if !calls && reason == FinishReason::Length { self.cut + 1 } else { 0 };
        if !calls {
            (self.last, self.before_last) = (None, None);
            (self.same, self.alternating) = (0, 0);
        }
    }

    /// Records the results of a round.
    fn close(&mut self, message: &'a Message, results: &'a [ToolResult]) {
        let mut round = Round { calls: Vec::new(), answers: Vec::new() };
        let edits: Vec<String> = calls(message).filter(is_edit).map(|call| call.id).collect();
        let answers: HashMap<&str, &ToolResult> =
            results.iter().map(|result| (result.call_id.as_str(), result)).collect();
        for part in &message.parts {
            let ContentPart::ToolCall { id, name, input } = part else { continue };
            let Some(result) = answers.get(id.as_str()) else { continue };
            self.handed_back += usize::from(name == FINISH && is_handed_back(result));
            self.edits.is_told |= name == FINISH && was_told_of_edits(result);
            if edits.contains(id) {
                self.edits.any_succeeded |= !result.is_error;
                self.edits.failure = result.is_error.then_some(result.output.as_str()).or(self.edits.failure);
            }
            round.calls.push((name, input));
            round.answers.push(&result.output);
        }
        if round.calls.is_empty() {
            return;
        }
        let round = Some(round);
        self.same = if self.last == round { self.same + 1 } else { 1 };
        self.alternating = if self.before_last == round && self.last != round { self.alternating + 1 } else { 0 };
        self.before_last = std::mem::replace(&mut self.last, round);
    }

    /// The number of times that the model has repeated itself.
    fn repeats(&self) -> usize {
        // The first two of several alternating rounds have no earlier round to be compared with.
        let pairs = if self.alternating > 0 { (self.alternating + 2) / 2 } else { 0 };
        self.same.max(pairs)
    }

    fn why_to_stop(&self, limits: &TurnLimits) -> Option<&'static str> {
        if self.cut >= MOST_CUT_REPLIES {
            Some("its replies were cut off before they got anywhere")
        } else if self.replies >= limits.steps {
            Some("it used up its steps")
        } else if self.tokens >= limits.tokens {
            Some("it used up its tokens")
        } else {
            None
        }
    }

    /// Whether the model must be reminded that it repeats itself.
    pub(crate) fn repeats_itself(&self) -> bool {
        self.repeats() >= REPEATS_BEFORE_REMINDER
    }

    /// The number of consecutive replies at the end without a call.
    pub(crate) fn replies_without_calls(&self) -> usize {
        self.silent
    }

    /// The edits that failed, unless one succeeded.
    pub(crate) fn failed_edits(&self) -> Option<FailedEdits<'a>> {
        let EditCount { any_succeeded, failure, is_told } = self.edits;
        failure.filter(|_| !any_succeeded).map(|answer| FailedEdits { answer, is_told })
    }

    /// Whether any edit succeeded.
    pub(crate) fn has_edited(&self) -> bool {
        self.edits.any_succeeded
    }

    /// The consecutive replies at the end of this turn without a call, oldest first.
    pub(crate) fn silent_replies(&self, turn: &'a [TranscriptEntry]) -> impl Iterator<Item = &'a Message> {
        let replies = turn.iter().filter_map(|entry| match entry {
            TranscriptEntry::Replied { message, .. } => Some(message),
            _ => None,
        });
        let replies: Vec<&Message> = replies.collect();
        replies.into_iter().rev().take(self.silent).collect::<Vec<_>>().into_iter().rev()
    }

    /// How many times `finish` returned problems.
    pub(crate) fn handed_back(&self) -> usize {
        self.handed_back
    }
}

impl<'a> ForcedEnd<'a> {
    fn add(&mut self, entry: &'a TranscriptEntry) {
        match entry {
            TranscriptEntry::Replied { message, .. } => self.words.push(message),
            TranscriptEntry::Expired { .. } | TranscriptEntry::Refused { .. } => self.is_urgent = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
