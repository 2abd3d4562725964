//! The next step: a pure function of the transcript and the turn's settings.
//!
//! ```text
//!   a call has no result ───────────────▶ RunTools
//!   `finish` was accepted ──────────────▶ Done
//!   a budget ran out, or it is stuck ───▶ CallModel without tools, for a summary
//!       summary, or none in two tries ──▶ Done, stopped
//!   text without a call, three times ───▶ Done, with that text
//!   the context runs short ─────────────▶ Compact
//!       nothing is left to shorten ─────▶ Done, stopped
//!   otherwise ──────────────────────────▶ CallModel
//! ```

use docent_llm::Request;
use docent_types::{Message, TodoStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compaction::{Compaction, RequestSize, request_size};
use crate::request::{Reminder, request};
use crate::todos::todos_of;
use crate::tools::{FINISH, remaining_problems};
use crate::transcript::{AcceptedFinish, Call, Transcript, TranscriptEntry};
use crate::turn_history::{ForcedEnd, TurnHistory};
use crate::turn_settings::TurnSettings;
use crate::writable::{NOT_ALLOWED, TO_MODEL};

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    CallModel(Request),
    /// Run these and append one [`TranscriptEntry::Results`] with all results.
    RunTools(Vec<Call>),
    /// Ask for notes, and append the result of [`crate::compacted`] for the reply.
    Compact(Compaction),
    /// The turn is over.
    Done(Finish),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    pub outcome: FinishOutcome,
    /// A one-line title for the commit and the pull request.
    pub title: String,
    /// What was done, what was left and why, in Markdown.
    pub summary: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishOutcome {
    /// Carried out, to the extent that the summary states.
    Done,
    /// The agent could not carry out the instruction. Its changes are to be discarded.
    Cannot,
    /// A budget ran out, or the agent repeated itself. The changes may be incomplete.
    Stopped,
}

/// Number of replies without a call that are answered by a reminder of `finish`.
const REMINDERS: usize = 2;
/// Number of times that `finish` returns problems before it accepts them.
const MAX_FINISH_REJECTIONS: usize = 2;
/// Number of times that the model is asked for a summary of a turn that has to end.
const MAX_SUMMARY_REQUESTS: usize = 2;

const WORDLESS: &str = "The agent ended without a word.";

/// The next step of a transcript.
pub fn next(transcript: &Transcript, settings: &TurnSettings) -> Step {
    let history = TurnHistory::of(transcript.since_last_user_message(), &settings.limits);
    let open = transcript.unanswered();
    if !open.is_empty() {
        let must_accept = history.handed_back() >= MAX_FINISH_REJECTIONS;
        return Step::RunTools(if must_accept { with_known_problems(open) } else { open });
    }
    if let Some(finish) = transcript.finished() {
        let mut end = finish_of(&finish);
        add_refusals(&mut end, transcript.since_last_user_message());
        return Step::Done(end);
    }
    if let Some(forced_end) = &history.forced_end {
        let words = forced_end.words.iter().map(|message| message.plain_text()).find(|text| !text.trim().is_empty());
        return match words {
            Some(words) => Step::Done(stopped(&forced_end.why, words.trim())),
            None if is_hopeless(forced_end) => Step::Done(stopped(&forced_end.why, &plan_summary(transcript))),
            None => ask(transcript, settings, &Reminder::FinalSummary(forced_end.why.clone())),
        };
    }
    if history.replies_without_calls() > REMINDERS {
        let summary = last_words(transcript.since_last_user_message());
        return Step::Done(Finish { outcome: FinishOutcome::Done, title: "Documentation changes".to_owned(), summary });
    }
    ask(transcript, settings, if history.repeats_itself() { &Reminder::Stuck } else { &Reminder::None })
}

/// A model call, if its request fits.
fn ask(transcript: &Transcript, settings: &TurnSettings, reminder: &Reminder) -> Step {
    let Some(request) = request(transcript, settings, reminder) else {
        let summary = "There is no instruction to carry out.".to_owned();
        return Step::Done(Finish { outcome: FinishOutcome::Cannot, title: "Nothing done".to_owned(), summary });
    };
    match request_size(transcript, settings, &request) {
        RequestSize::Fits => Step::CallModel(request),
        RequestSize::Compact(compaction) => Step::Compact(compaction),
        RequestSize::TooLarge { needed, available } => {
            let why = format!(
                "the instruction, with all that the agent needs to know, has about {needed} tokens, and the model takes \
                 about {available}; ask for less at a time, or configure a model with a larger context"
            );
            Step::Done(stopped(&why, &plan_summary(transcript)))
        }
    }
}

/// The same calls, with `known_problems` set in those of `finish`.
fn with_known_problems(mut calls: Vec<Call>) -> Vec<Call> {
    for call in calls.iter_mut().filter(|call| call.name == FINISH) {
        if let Value::Object(input) = &mut call.input {
            input.insert("known_problems".to_owned(), Value::Bool(true));
        }
    }
    calls
}

/// Whether asking for a summary again is useless.
fn is_hopeless(forced_end: &ForcedEnd<'_>) -> bool {
    forced_end.is_urgent || forced_end.words.len() >= MAX_SUMMARY_REQUESTS
}

fn finish_of(finish: &AcceptedFinish<'_>) -> Finish {
    let input = crate::parsed_call::input::<Value>(finish.input).unwrap_or_default();
    let text = |name: &str| input[name].as_str().unwrap_or("").trim().to_owned();
    let outcome = if input["outcome"] == "cannot" { FinishOutcome::Cannot } else { FinishOutcome::Done };
    let mut summary = text("summary");
    if summary.is_empty() {
        summary = WORDLESS.to_owned();
    }
    let more = remaining_problems(finish.output);
    if !more.is_empty() {
        summary.push_str("\n\n");
        summary.push_str(more);
    }
    Finish { outcome, title: text("title"), summary }
}

/// Adds the places that an agent may not write, and what would allow them, to a summary that does not tell of them.
/// A file that was written after it was refused is not told of.
fn add_refusals(finish: &mut Finish, turn: &[TranscriptEntry]) {
    let mut left: Vec<&str> = Vec::new();
    for result in turn.iter().flat_map(|entry| match entry {
        TranscriptEntry::Results { results, .. } => results.as_slice(),
        _ => &[],
    }) {
        let (done, refused) = result.output.split_once(NOT_ALLOWED).unwrap_or((&result.output, ""));
        if !result.is_error {
            left.retain(|line| line.split('`').nth(1).is_none_or(|path| !done.contains(&format!("`{path}`"))));
        }
        left.extend(refused.lines().map(str::trim).filter(|line| !line.is_empty()));
    }
    left.retain(|line| !finish.summary.contains(line));
    if left.iter().any(|line| line.starts_with("- ")) {
        let mut lines: Vec<&str> = Vec::new();
        for line in left.into_iter().map(|line| line.strip_prefix(TO_MODEL).unwrap_or(line)) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        finish.summary.push_str(&format!("\n\n{NOT_ALLOWED}\n\n{}", lines.join("\n")));
    }
}

/// The end of a turn that the model did not end.
fn stopped(why: &str, rest: &str) -> Finish {
    let mut summary = format!("The agent was stopped before it finished: {}.", why.trim_end_matches('.'));
    if !rest.is_empty() {
        summary.push_str("\n\n");
        summary.push_str(rest);
    }
    Finish { outcome: FinishOutcome::Stopped, title: "Unfinished documentation changes".to_owned(), summary }
}

/// The plan, and which of its todos are done.
fn plan_summary(transcript: &Transcript) -> String {
    let todos = todos_of(transcript.newest_turn());
    let named = |heading: &str, wanted: fn(TodoStatus) -> bool| {
        let lines = todos.iter().filter(|todo| wanted(todo.status)).map(|todo| format!("- {}", todo.content));
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| format!("{heading}:\n\n{}", lines.join("\n")))
    };
    let done = named("Done so far", |status| status == TodoStatus::Completed);
    let open = named("Not done", |status| matches!(status, TodoStatus::Pending | TodoStatus::InProgress));
    [done, open].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn last_words(turn: &[TranscriptEntry]) -> String {
    let replies = turn.iter().rev().filter_map(|entry| match entry {
        TranscriptEntry::Replied { message, .. } => Some(message),
        _ => None,
    });
    let words = replies.map(Message::plain_text).find(|text| !text.trim().is_empty());
    words.unwrap_or_else(|| WORDLESS.to_owned())
}

#[cfg(test)]
pub(crate) mod tests;
