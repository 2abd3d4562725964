//! Builds a model request from the transcript.

use std::collections::{BTreeMap, HashMap, HashSet};

use docent_llm::{Request, ToolChoice};
use docent_types::{ContentPart, FinishReason, Message, Role};

use crate::compaction::{self, summary_of};
use crate::prompt;
use crate::tools::{holds_a_call, specs};
use crate::transcript::{ToolResult, Transcript, TranscriptEntry};
use crate::turn_settings::TurnSettings;

pub(crate) const CUT: &str = "Your reply was cut off at its token limit. Go on in smaller steps, by calling tools.";
pub(crate) const UNFINISHED: &str = "You ended without calling `finish`. Go on with the tools, or call `finish` now.";
pub(crate) const BEGIN: &str = "Carry out the instruction now.";
pub(crate) const UNREADABLE: &str = "Your reply holds a call that could not be read. Make it as a tool call, or write it as \
                                    <tool_call>{\"name\": \"finish\", \"arguments\": {…}}</tool_call> with the tool's \
                                    name and arguments.";
const EXAMPLES: &str = "What follows first is how you have worked before.";

/// A message at the end of a request, in addition to the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reminder {
    None,
    /// The model repeats itself.
    Stuck,
    /// The turn must end for this reason: the model shall summarize what was done and what is left, without tools.
    FinalSummary(String),
}

pub(crate) const STUCK: &str = "You have made the very same calls several times and got the same answers. Do something else, or \
                     call `finish` and say what is left.";

impl Reminder {
    fn text(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Stuck => Some(STUCK.to_owned()),
            Self::FinalSummary(why) => Some(format!(
                "You are being stopped here: {why}. There are no more tools. For the people who review your changes, say \
                 in a few sentences or list items what was done, what is left, and what they should look at."
            )),
        }
    }
}

/// The request for the next call; `None` if there is no instruction.
pub(crate) fn request(transcript: &Transcript, settings: &TurnSettings, reminder: &Reminder) -> Option<Request> {
    let entries = transcript.entries();
    let mut system = prompt::system(settings);
    let mut messages = Messages::default();
    let mut instructions: Vec<String> = Vec::new();
    let begin = compaction::beginning(entries);
    if begin > 0 {
        for entry in &entries[..begin] {
            if let TranscriptEntry::Said { message } = entry {
                add_message(message, &mut messages, &mut instructions);
            }
        }
        messages.add_text(&compaction::INTRODUCTION.replace("{}", &summary_of(entries)));
    }
    for entry in &entries[begin..] {
        match entry {
            TranscriptEntry::Said { message } => add_message(message, &mut messages, &mut instructions),
            TranscriptEntry::Replied { message, reason, .. } => messages.reply(message, *reason),
            TranscriptEntry::Results { results } => messages.answer(results, compaction::longest_output(settings)),
            TranscriptEntry::Compacted { .. }
            | TranscriptEntry::TooLong
            | TranscriptEntry::Expired { .. }
            | TranscriptEntry::Refused { .. } => {}
        }
    }
    let instructions = instructions.join("\n\n");
    let (examples, is_asked) = before_work(entries);
    if is_asked && !instructions.is_empty() {
        system = format!("{system}\n\n{instructions}");
    } else if !instructions.is_empty() {
        // The job has only system messages, so they are the instruction.
        messages.list.insert(examples, Message::text(Role::User, instructions));
    }
    let messages = messages.finished(reminder)?;
    Some(Request {
        system,
        messages,
        tools: specs(settings),
        tool_choice: if matches!(reminder, Reminder::FinalSummary(_)) { ToolChoice::None } else { ToolChoice::Auto },
        max_tokens: compaction::reply_tokens(settings),
    })
}

/// The number of messages before the first reply, and whether one of them is the user's.
fn before_work(entries: &[TranscriptEntry]) -> (usize, bool) {
    let before_reply = entries.iter().take_while(|entry| !matches!(entry, TranscriptEntry::Replied { .. }));
    let said = before_reply.filter_map(|entry| match entry {
        TranscriptEntry::Said { message }
            if message.role != Role::System && !message.plain_text().trim().is_empty() =>
        {
            Some(message)
        }
        _ => None,
    });
    said.fold((0, false), |(count, is_asked), message| (count + 1, is_asked || message.role == Role::User))
}

fn add_message(message: &Message, messages: &mut Messages, instructions: &mut Vec<String>) {
    let text = message.plain_text();
    match message.role {
        _ if text.trim().is_empty() => {}
        Role::System => instructions.push(text),
        role => messages.list.push(Message::text(role, text)),
    }
}

/// Messages while the request is assembled: every call once, and every result directly after its call.
#[derive(Debug, Default)]
struct Messages {
    list: Vec<Message>,
    /// The calls so far, by id.
    known: HashSet<String>,
    /// The positions of calls without a result.
    waiting: HashMap<String, usize>,
    /// Whether the newest reply was cut off, and therefore probably its last call too.
    is_cut: bool,
}

impl Messages {
    fn add_text(&mut self, text: &str) {
        self.list.push(Message::text(Role::User, text));
    }

    fn reply(&mut self, message: &Message, reason: FinishReason) {
        let mut parts = Vec::with_capacity(message.parts.len());
        let mut is_silent = true;
        for part in &message.parts {
            match part {
                ContentPart::Text { text } if !text.trim().is_empty() => parts.push(part.clone()),
                ContentPart::ToolCall { id, .. } if self.known.insert(id.clone()) => {
                    is_silent = false;
                    self.waiting.insert(id.clone(), self.list.len());
                    parts.push(part.clone());
                }
                _ => {}
            }
        }
        if !parts.is_empty() {
            self.list.push(Message { role: Role::Assistant, parts });
        }
        self.is_cut = reason == FinishReason::Length;
        if is_silent {
            let reminder = match message {
                _ if self.is_cut => CUT,
                message if holds_a_call(&message.plain_text()) => UNREADABLE,
                _ => UNFINISHED,
            };
            self.add_text(reminder);
        }
    }

    /// Inserts results directly after their calls, even if a message from outside came in between.
    fn answer(&mut self, results: &[ToolResult], longest: usize) {
        let mut behind: BTreeMap<usize, Vec<ContentPart>> = BTreeMap::new();
        for result in results {
            let Some(index) = self.waiting.remove(&result.call_id) else { continue };
            let output = cut(&result.output, longest);
            let (call_id, is_error) = (result.call_id.clone(), result.is_error);
            behind.entry(index).or_default().push(ContentPart::ToolResult { call_id, output, is_error });
        }
        for (index, parts) in behind.into_iter().rev() {
            match self.list.get_mut(index + 1) {
                // The message already has other results of the same reply.
                Some(message) if message.parts.iter().any(|part| matches!(part, ContentPart::ToolResult { .. })) => {
                    message.parts.extend(parts);
                }
                _ => {
                    self.list.insert(index + 1, Message { role: Role::User, parts });
                    self.waiting.values_mut().filter(|at| **at > index).for_each(|at| *at += 1);
                }
            }
        }
        if std::mem::take(&mut self.is_cut) {
            self.add_text(CUT);
        }
    }

    /// The complete messages, which begin and end with a user message.
    fn finished(mut self, reminder: &Reminder) -> Option<Vec<Message>> {
        // A reminder is for a model that still has to finish; a follow-up replaces it with a new instruction.
        let reminded = |message: &Message| {
            message.role == Role::User && [CUT, UNFINISHED, UNREADABLE].contains(&message.plain_text().as_str())
        };
        let next_is_user: Vec<bool> = self.list.iter().skip(1).map(|message| message.role == Role::User).collect();
        let is_final_summary = matches!(reminder, Reminder::FinalSummary(_));
        let mut index = 0;
        self.list.retain(|message| {
            let followed = next_is_user.get(index).copied().unwrap_or(is_final_summary);
            index += 1;
            !(reminded(message) && followed)
        });
        let first = self.list.first()?.role;
        if first != Role::User {
            self.list.insert(0, Message::text(Role::User, EXAMPLES));
        }
        if let Some(text) = reminder.text() {
            self.add_text(&text);
        }
        if self.list.last()?.role != Role::User {
            self.add_text(BEGIN);
        }
        Some(self.list)
    }
}

/// A text cut at this many bytes, with a note that says so.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    let kept = cut_at(text, longest);
    match text.len() - kept.len() {
        0 => text.to_owned(),
        left => format!("{kept}\n… {left} more bytes; ask for less at a time"),
    }
}

/// At most this many bytes of a text, from its beginning.
pub(crate) fn cut_at(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}
