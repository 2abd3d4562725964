//! What to do next: a pure function of the transcript.

use docent_llm::{Request, ToolChoice};
use docent_types::{ContentPart, FinishReason, Message, Role, TodoStatus, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prompt::SYSTEM;
use crate::todos::todos_of;
use crate::tools::specs;
use crate::transcript::{Call, Entry, ToolResult, Transcript, calls};

/// How much one turn may take. Whoever speaks up grants it anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Calls of the model.
    pub steps: u32,
    /// Tokens read and written, all calls together.
    pub tokens: u64,
    /// Files that may differ from the base.
    pub files: usize,
    /// Bytes of all those files together.
    pub bytes: usize,
    /// Tokens of one reply.
    pub reply_tokens: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 200, tokens: 4_000_000, files: 2_000, bytes: 64 << 20, reply_tokens: 16_000 }
    }
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    CallModel(Request),
    /// Run these, in this order, and append one [`Entry::Results`] with all the answers.
    RunTools(Vec<Call>),
    /// The turn is over.
    Done(Finish),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    pub outcome: Outcome,
    /// For the commit and the pull request: one line.
    pub title: String,
    /// What was done, what was left and why: Markdown.
    pub summary: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Carried out, as far as the summary says.
    Done,
    /// The agent could not carry out the instruction. Nothing it changed is meant to be kept.
    Cannot,
    /// A budget ran out, or the agent went in circles. What is changed so far may be half of what was asked.
    Stopped,
}

/// How often in a row the same calls are answered before the model is told, and before the turn is ended.
const TOLD: usize = 3;
const ENDED: usize = 5;
/// How many replies without a call are reminded of `finish`.
const REMINDERS: usize = 2;

const CUT: &str = "Your reply was cut off at its token limit. Go on in smaller steps, by calling tools.";
const UNFINISHED: &str = "You ended without calling `finish`. Go on with the tools, or call `finish` now.";
const STUCK: &str = "You have made the very same call several times and got the same answer. Do something else, or \
                     call `finish` and say what is left.";

/// The next step of a transcript.
pub fn next(transcript: &Transcript, limits: &Limits) -> Step {
    let open = transcript.unanswered();
    if !open.is_empty() {
        return Step::RunTools(open);
    }
    if let Some(input) = transcript.finished() {
        return Step::Done(finish_of(input));
    }
    let turn = transcript.since_last_word();
    let trouble = repeated(turn)
        .checked_sub(ENDED)
        .map(|_| "it made the same call over and over")
        .or_else(|| (replies(turn).count() >= limits.steps as usize).then_some("it used up its steps"))
        .or_else(|| (spent(turn) >= limits.tokens).then_some("it used up its tokens"));
    if let Some(trouble) = trouble {
        return Step::Done(stopped(transcript.newest_turn(), trouble));
    }
    let silent = trailing_silence(turn);
    if silent > REMINDERS {
        let summary = last_words(turn);
        let (title, outcome) = ("Documentation changes".to_owned(), Outcome::Done);
        return Step::Done(Finish { outcome, title, summary });
    }
    Step::CallModel(request(transcript, limits))
}

/// The request for the next call: the transcript as a model can read it.
fn request(transcript: &Transcript, limits: &Limits) -> Request {
    let mut system = SYSTEM.to_owned();
    let mut messages: Vec<Message> = Vec::new();
    let mut instructions: Vec<String> = Vec::new();
    for entry in transcript.entries() {
        match entry {
            Entry::Said { message } if message.role == Role::System => instructions.push(message.plain_text()),
            Entry::Said { message } => messages.push(message.clone()),
            Entry::Replied { message, reason, .. } => {
                messages.push(message.clone());
                if calls(message).next().is_none() {
                    let reminder = if *reason == FinishReason::Length { CUT } else { UNFINISHED };
                    messages.push(Message::text(Role::User, reminder));
                }
            }
            Entry::Results { results } => insert_results(&mut messages, results),
        }
    }
    // A reminder is for the model that still has to finish; a follow-up says what is next itself.
    let reminded = |message: &Message| [CUT, UNFINISHED].contains(&message.plain_text().as_str());
    let mut index = 0;
    while index + 1 < messages.len() {
        if reminded(&messages[index]) && messages[index + 1].role == Role::User {
            messages.remove(index);
        } else {
            index += 1;
        }
    }
    if repeated(transcript.since_last_word()) >= TOLD {
        messages.push(Message::text(Role::User, STUCK));
    }
    let before_reply = transcript.entries().iter().take_while(|entry| matches!(entry, Entry::Said { .. }));
    let mut roles = before_reply.filter_map(|entry| match entry {
        Entry::Said { message } => Some(message.role),
        _ => None,
    });
    if !roles.any(|role| role == Role::User) && !instructions.is_empty() {
        // A job made of system messages alone: they are what it is asked.
        messages.insert(0, Message::text(Role::User, instructions.join("\n\n")));
    } else if !instructions.is_empty() {
        system = format!("{system}\n\n{}", instructions.join("\n\n"));
    }
    Request { system, messages, tools: specs(), tool_choice: ToolChoice::Auto, max_tokens: limits.reply_tokens }
}

/// Puts results right behind the calls they answer, even when somebody spoke in between.
fn insert_results(messages: &mut Vec<Message>, results: &[ToolResult]) {
    let answers = |message: &Message| calls(message).any(|call| results.iter().any(|result| result.call_id == call.id));
    let parts: Vec<ContentPart> = results
        .iter()
        .map(|result| ContentPart::ToolResult {
            call_id: result.call_id.clone(),
            output: result.output.clone(),
            is_error: result.is_error,
        })
        .collect();
    let message = Message { role: Role::User, parts };
    match messages.iter().rposition(answers) {
        Some(index) => messages.insert(index + 1, message),
        None => messages.push(message),
    }
}

fn finish_of(input: &Value) -> Finish {
    let text = |name: &str| input[name].as_str().unwrap_or("").trim().to_owned();
    let outcome = if input["outcome"] == "cannot" { Outcome::Cannot } else { Outcome::Done };
    Finish { outcome, title: text("title"), summary: text("summary") }
}

/// The end of a turn that did not end itself: what was planned, and how far it came.
fn stopped(turn: &[Entry], trouble: &str) -> Finish {
    let todos = todos_of(turn);
    let named = |wanted: fn(TodoStatus) -> bool| {
        let lines = todos.iter().filter(|todo| wanted(todo.status)).map(|todo| format!("- {}", todo.content));
        lines.collect::<Vec<_>>().join("\n")
    };
    let done = named(|status| status == TodoStatus::Completed);
    let open = named(|status| matches!(status, TodoStatus::Pending | TodoStatus::InProgress));
    let mut summary = format!("The agent was stopped before it finished: {trouble}.");
    if !done.is_empty() {
        summary.push_str(&format!("\n\nDone so far:\n\n{done}"));
    }
    if !open.is_empty() {
        summary.push_str(&format!("\n\nNot done:\n\n{open}"));
    }
    Finish { outcome: Outcome::Stopped, title: "Unfinished documentation changes".to_owned(), summary }
}

fn replies(turn: &[Entry]) -> impl DoubleEndedIterator<Item = &Message> {
    turn.iter().filter_map(|entry| match entry {
        Entry::Replied { message, .. } => Some(message),
        _ => None,
    })
}

fn spent(turn: &[Entry]) -> u64 {
    let mut total = Usage::default();
    for entry in turn {
        if let Entry::Replied { usage, .. } = entry {
            total += *usage;
        }
    }
    total.input_tokens + total.output_tokens
}

/// How many replies at the end of the turn made the very same calls.
fn repeated(turn: &[Entry]) -> usize {
    let asked = |message: &Message| calls(message).map(|call| (call.name, call.input)).collect::<Vec<_>>();
    let Some(last) = replies(turn).next_back().map(asked).filter(|calls| !calls.is_empty()) else { return 0 };
    replies(turn).rev().take_while(|message| asked(message) == last).count()
}

/// How many replies at the end of the turn made no call, nobody having spoken since.
fn trailing_silence(turn: &[Entry]) -> usize {
    let trailing = turn
        .iter()
        .rev()
        .take_while(|entry| matches!(entry, Entry::Replied { message, .. } if calls(message).next().is_none()));
    trailing.count()
}

fn last_words(turn: &[Entry]) -> String {
    let words = replies(turn).rev().map(Message::plain_text).find(|text| !text.trim().is_empty());
    words.unwrap_or_else(|| "The agent ended without a word.".to_owned())
}

#[cfg(test)]
#[path = "next_tests.rs"]
mod tests;
