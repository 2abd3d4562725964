//! The next step: a pure function of the transcript and the turn's settings.
//!
//! ```text
//!   a call has no result ───────────────▶ RunTools
//!   `finish` was accepted ──────────────▶ Done
//!       every edit failed ──────────────▶ Done, failed
//!   a budget ran out ───────────────────▶ CallModel without tools, for a summary
//!       summary, or none in two tries ──▶ Done, stopped
//!   it goes in circles ─────────────────▶ the same, and Done, failed
//!   the model refused ──────────────────▶ Done, failed
//!   text without a call, three times ───▶ Done
//!       no word, calls as text, idle ───▶ Done, failed
//!   the context runs short ─────────────▶ Compact
//!       nothing is left to shorten ─────▶ Done, stopped
//!   otherwise ──────────────────────────▶ CallModel
//! ```

use docent_llm::Request;
use docent_markdown::regex;
use docent_types::{Message, TodoStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compaction::{Compaction, RequestSize, request_size};
use crate::request::{BEGIN, CUT, Reminder, STUCK, UNFINISHED, UNREADABLE, cut_at, request};
use crate::todos::todos_of;
use crate::tools::{FAILED_EDITS, FINISH, changed_nothing, holds_a_call, remaining_problems};
use crate::transcript::{AcceptedFinish, Call, Transcript, TranscriptEntry};
use crate::turn_history::{FailedEdits, ForcedEnd, TurnHistory};
use crate::turn_settings::TurnSettings;
use crate::writable::{NOT_ALLOWED, REMEDY};

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
    /// A one-line title for the commit and the pull request. Empty unless `finish` gave one.
    pub title: String,
    /// What was done, what was left and why, in Markdown, for the commit and the pull request. Unless `finish` gave one,
    /// it says why the turn ended and nothing of the changes.
    pub summary: String,
    /// What the model said instead of a summary, and its plan. Only for the message to the people who asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishOutcome {
    /// Carried out, to the extent that the summary states.
    Done,
    /// The agent could not carry out the instruction. Its changes are to be discarded.
    Cannot,
    /// A budget ran out. The changes may be incomplete.
    Stopped,
    /// Every edit failed, or the model refused, said nothing or repeated itself. The changes may be incomplete.
    Failed,
}

/// Number of replies without a call that are answered by a reminder of `finish`.
const REMINDERS: usize = 2;
/// Number of times that `finish` returns problems before it accepts them.
const MAX_FINISH_REJECTIONS: usize = 2;
/// Number of times that the model is asked for a summary of a turn that has to end.
const MAX_SUMMARY_REQUESTS: usize = 2;
/// The longest answer of a tool that a message quotes, in bytes.
const LONGEST_ANSWER: usize = 400;

const WORDLESS: &str = "The model ended without a word.";
const IDLE: &str = "Nothing was changed: the model only wrote a text.";
const SUMMARYLESS: &str = "The model ended without a summary.";
const CALLS_AS_TEXT: &str = "The model wrote its tool calls into its text, in a form that is not read. Set `text_tool_calls = \
                             true` for it in the configuration, then send the instruction again. If it is set, use a \
                             model that keeps to the form of a call.";

/// Whether the final message of a job says that its model wrote calls as text where they are not read.
pub fn says_calls_as_text(message: &str) -> bool {
    message.contains(CALLS_AS_TEXT)
}

/// The next step of a transcript.
pub fn next(transcript: &Transcript, settings: &TurnSettings) -> Step {
    let history = TurnHistory::of(transcript.since_last_user_message(), &settings.limits);
    let open = transcript.unanswered();
    if !open.is_empty() {
        return Step::RunTools(for_the_tools(open, &history));
    }
    if let Some(finish) = transcript.finished() {
        let mut end = finish_of(&finish, history.failed_edits());
        add_refusals(&mut end, transcript.since_last_user_message());
        return Step::Done(end);
    }
    if let Some(forced_end) = &history.forced_end {
        let words = forced_end.words.iter().map(|message| message.plain_text()).find(|text| !text.trim().is_empty());
        return match words {
            Some(words) => Step::Done(stopped(forced_end, words.trim())),
            None if is_hopeless(forced_end) => Step::Done(stopped(forced_end, &plan_summary(transcript))),
            None => ask(transcript, settings, &Reminder::FinalSummary(forced_end.why.clone())),
        };
    }
    if history.replies_without_calls() > REMINDERS {
        return Step::Done(without_finish(transcript.since_last_user_message(), &history));
    }
    ask(transcript, settings, if history.repeats_itself() { &Reminder::Stuck } else { &Reminder::None })
}

/// A model call, if its request fits.
fn ask(transcript: &Transcript, settings: &TurnSettings, reminder: &Reminder) -> Step {
    let Some(request) = request(transcript, settings, reminder) else {
        let summary = "There is no instruction to carry out.".to_owned();
        return Step::Done(Finish::without_title(FinishOutcome::Cannot, summary));
    };
    match request_size(transcript, settings, &request) {
        RequestSize::Fits => Step::CallModel(request),
        RequestSize::Compact(compaction) => Step::Compact(compaction),
        RequestSize::TooLarge { needed, available } => {
            let why = format!(
                "the instruction, with all that the agent needs to know, has about {needed} tokens, and the model takes \
                 about {available}; ask for less at a time, or configure a model with a larger context"
            );
            Step::Done(Finish {
                words: plan_summary(transcript),
                ..Finish::without_title(FinishOutcome::Stopped, stop(&why))
            })
        }
    }
}

/// The same calls, those of `finish` with what the history says of it.
fn for_the_tools(mut calls: Vec<Call>, history: &TurnHistory<'_>) -> Vec<Call> {
    for call in calls.iter_mut().filter(|call| call.name == FINISH) {
        let Value::Object(input) = &mut call.input else { continue };
        if history.handed_back() >= MAX_FINISH_REJECTIONS {
            input.insert("known_problems".to_owned(), Value::Bool(true));
        }
        input.remove(FAILED_EDITS);
        if let Some(failed) = history.failed_edits() {
            let value = if failed.is_told { "told" } else { "new" };
            input.insert(FAILED_EDITS.to_owned(), value.into());
        }
    }
    calls
}

/// Whether asking for a summary again is useless.
fn is_hopeless(forced_end: &ForcedEnd<'_>) -> bool {
    forced_end.is_urgent || forced_end.words.len() >= MAX_SUMMARY_REQUESTS
}

fn finish_of(finish: &AcceptedFinish<'_>, failed_edits: Option<FailedEdits<'_>>) -> Finish {
    if changed_nothing(finish.output) {
        return nothing_changed(failed_edits);
    }
    let input = crate::parsed_call::input::<Value>(finish.input).unwrap_or_default();
    let text = |name: &str| input[name].as_str().unwrap_or("").trim().to_owned();
    let outcome = if input["outcome"] == "cannot" { FinishOutcome::Cannot } else { FinishOutcome::Done };
    // A small model may repeat what it was told, or announce its call.
    let mut title = text("title");
    if is_about_the_call(&title) {
        title.clear();
    }
    let (mut summary, mut words) = (text("summary"), String::new());
    if is_about_the_call(&summary) {
        (summary, words) = (String::new(), summary);
    }
    let more = remaining_problems(finish.output);
    if !more.is_empty() {
        summary.push_str(if summary.is_empty() { "" } else { "\n\n" });
        summary.push_str(more);
    }
    if summary.is_empty() && words.is_empty() {
        summary = SUMMARYLESS.to_owned();
    }
    Finish { outcome, title, summary, words }
}

/// Whether a text speaks of the call of `finish`, or is what the model was told.
fn is_about_the_call(text: &str) -> bool {
    let text = text.to_lowercase();
    let told = [CUT, UNFINISHED, UNREADABLE, STUCK, BEGIN];
    let calls = ["call `finish`", "call finish", "calling `finish`", "calling finish", "finish tool", "`finish` tool"];
    calls.iter().any(|call| text.contains(call)) || told.iter().any(|told| text.contains(&told.to_lowercase()))
}

/// The end of a turn whose edits all failed.
fn nothing_changed(failed_edits: Option<FailedEdits<'_>>) -> Finish {
    let mut summary = "Nothing was changed: every edit that the model tried failed.".to_owned();
    if let Some(line) = failed_edits.and_then(|failed| failed.answer.lines().find(|line| !line.trim().is_empty())) {
        let line = cut_at(line.trim(), LONGEST_ANSWER);
        summary.push_str(&format!("\n\nThe last one: {}.", line.trim_end_matches('.')));
    }
    Finish::without_title(FinishOutcome::Failed, summary)
}

/// The end of a turn whose model does not call `finish`.
fn without_finish(turn: &[TranscriptEntry], history: &TurnHistory<'_>) -> Finish {
    // The replies after the first one answer reminders.
    let words = history.silent_replies(turn).map(Message::plain_text).find(|text| !text.trim().is_empty());
    let Some(words) = words else { return Finish::without_title(FinishOutcome::Failed, WORDLESS.to_owned()) };
    let words = words.trim().to_owned();
    if history.silent_replies(turn).any(|reply| holds_a_call(&reply.plain_text())) {
        return Finish { words, ..Finish::without_title(FinishOutcome::Failed, CALLS_AS_TEXT.to_owned()) };
    }
    if history.failed_edits().is_some() {
        return Finish { words, ..nothing_changed(history.failed_edits()) };
    }
    // An answer to a question is one after the docs were looked at, and speaks of something else than its call.
    let has_looked = turn.iter().any(|entry| matches!(entry, TranscriptEntry::Results { .. }));
    if !history.has_edited() && (!has_looked || is_about_the_call(&words)) {
        return Finish { words, ..Finish::without_title(FinishOutcome::Failed, IDLE.to_owned()) };
    }
    Finish { words, ..Finish::without_title(FinishOutcome::Done, String::new()) }
}

impl Finish {
    fn without_title(outcome: FinishOutcome, summary: String) -> Self {
        Self { outcome, title: String::new(), summary, words: String::new() }
    }
}

/// Adds the places that an agent may not write to a summary that does not tell of them, and the one command that would
/// allow them all. A file that was written after it was refused is not told of.
fn add_refusals(finish: &mut Finish, turn: &[TranscriptEntry]) {
    // The places of each answer, and the command that it names.
    let mut refusals: Vec<(Vec<&str>, Option<&str>)> = Vec::new();
    for result in turn.iter().flat_map(|entry| match entry {
        TranscriptEntry::Results { results, .. } => results.as_slice(),
        _ => &[],
    }) {
        let (done, refused) = result.output.split_once(NOT_ALLOWED).unwrap_or((&result.output, ""));
        if !result.is_error {
            let is_left = |line: &&str| line.split('`').nth(1).is_none_or(|path| !done.contains(&format!("`{path}`")));
            refusals.iter_mut().for_each(|(places, _)| places.retain(is_left));
        }
        let (places, command) = refused.split_once(REMEDY).unwrap_or((refused, ""));
        let command = command.strip_prefix('`').and_then(|rest| rest.rsplit_once('`'));
        let places = places.lines().filter(|line| line.starts_with("- ")).collect();
        refusals.push((places, command.map(|(command, _)| command)));
    }
    refusals.retain(|(places, _)| !places.is_empty());
    let mut left: Vec<&str> = Vec::new();
    for place in refusals.iter().flat_map(|(places, _)| places) {
        if !left.contains(place) && !finish.summary.contains(place) {
            left.push(place);
        }
    }
    if !left.is_empty() {
        finish.summary.push_str(&format!("\n\n{NOT_ALLOWED}\n\n{}", left.join("\n")));
    }
    let commands: Vec<&str> = refusals.iter().filter_map(|(_, command)| *command).collect();
    if let Some(command) = merged(&commands).filter(|command| !finish.summary.contains(command)) {
        finish.summary.push_str(&format!("\n\n{REMEDY}`{command}`"));
    }
}

/// One command with the options of all: each names the files of one answer, and an option that is given again replaces
/// what it was given before.
fn merged(commands: &[&str]) -> Option<String> {
    regex!(OPTIONS, r"(?: --allow-(?:path|code) '(?:[^']|'\\'')*')+\z");
    regex!(OPTION, r" --allow-(?:path|code) '(?:[^']|'\\'')*'");
    let mut options: Vec<&str> = Vec::new();
    for found in commands.iter().filter_map(|command| OPTIONS.find(command)) {
        for option in OPTION.find_iter(found.as_str()).map(|option| option.as_str()) {
            if !options.contains(&option) {
                options.push(option);
            }
        }
    }
    options.sort_by_key(|option| option.starts_with(" --allow-code"));
    let first = commands.first()?;
    Some(format!("{}{}", OPTIONS.replace(first, ""), options.concat()))
}

/// The end of a turn that the model did not end.
fn stopped(end: &ForcedEnd<'_>, words: &str) -> Finish {
    let outcome = if end.is_failure { FinishOutcome::Failed } else { FinishOutcome::Stopped };
    Finish { words: words.to_owned(), ..Finish::without_title(outcome, stop(&end.why)) }
}

fn stop(why: &str) -> String {
    format!("The agent was stopped before it finished: {}.", why.trim_end_matches('.'))
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

#[cfg(test)]
pub(crate) mod tests;
