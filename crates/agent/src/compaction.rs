//! Compaction: shortening the transcript when the model's context runs out.
//!
//! When a request would fill most of the context, the model is first asked for notes on the beginning of the
//! transcript. From then on a request has all messages from outside in full, then those notes, then the entries that
//! the notes do not cover:
//!
//! ```text
//!   transcript   Said  Replied  Results  Said  Replied  Results │ Replied  Results  Compacted
//!                 │                       │                   upto   │        │         │
//!   request      Said ─────────────────  Said ── notes ─────────── Replied  Results ◀───┘
//! ```
//!
//! The transcript itself stays complete: a replay runs all of its tool calls.

use docent_llm::{Request, ToolChoice};
use docent_types::{ContentPart, Message, Role};

use crate::call::ModelReply;
use crate::prompt::NOTES;
use crate::request::cut;
use crate::transcript::{Transcript, TranscriptEntry};
use crate::turn_settings::TurnSettings;

/// A call that asks for notes on the beginning of the transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    pub request: Request,
    /// The number of entries, from the beginning of the transcript, that the notes replace.
    pub upto: usize,
}

/// The entry made from the reply to a [`Compaction`].
pub fn compacted(reply: &ModelReply, upto: usize) -> TranscriptEntry {
    TranscriptEntry::Compacted { summary: reply.message.plain_text().trim().to_owned(), upto, usage: reply.usage }
}

/// The text that precedes the notes in a request.
pub(crate) const INTRODUCTION: &str = "The beginning of your work does not fit your context any more. These are your \
                                       own notes on it; the files hold all the changes you made:\n\n{}";

/// Whether a request fits the context.
pub(crate) enum RequestSize {
    Fits,
    /// Too large until compacted.
    Compact(Compaction),
    /// It does not fit, and nothing can be shortened. Its approximate size in tokens, and the limit.
    TooLarge {
        needed: u64,
        available: u64,
    },
}

/// Maximum number of tokens of the notes.
const NOTES_TOKENS: u32 = 4_000;
/// Maximum number of times in a row that a model may refuse a request as too long.
const REFUSALS: u32 = 3;
/// Limits in bytes for one tool output in a request for notes; the largest with which the request fits is used.
const OUTPUTS: [usize; 4] = [4_000, 1_500, 500, 150];
/// Maximum number of bytes of an instruction in a request for notes.
const INSTRUCTION: usize = 4_000;

/// Maximum number of tokens of a reply.
pub(crate) fn reply_tokens(settings: &TurnSettings) -> u32 {
    settings.limits.reply_tokens.min(settings.context_tokens / 4).max(1)
}

/// Maximum number of bytes of one tool output in a request: a quarter of the context, if that is less than a tool's own
/// limit.
pub(crate) fn longest_output(settings: &TurnSettings) -> usize {
    bytes(available(settings) / 4).max(1_000)
}

/// Number of tokens available for a request.
fn available(settings: &TurnSettings) -> u64 {
    u64::from(settings.context_tokens - reply_tokens(settings).min(settings.context_tokens))
}

/// Approximate number of tokens of a text of this many bytes.
const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).saturating_mul(2) / 7
}

/// Approximate number of bytes of this many tokens.
fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(7) / 2).unwrap_or(usize::MAX)
}

/// The index of the first entry that a request contains itself.
pub(crate) fn beginning(entries: &[TranscriptEntry]) -> usize {
    newest(entries).map_or(0, |(_, upto, _)| upto)
}

/// The newest compaction: its position, the number of entries it covers, and its notes.
fn newest(entries: &[TranscriptEntry]) -> Option<(usize, usize, &str)> {
    entries.iter().enumerate().rev().find_map(|(at, entry)| match entry {
        TranscriptEntry::Compacted { summary, upto, .. } => Some((at, (*upto).min(at), summary.as_str())),
        _ => None,
    })
}

/// The notes that replace the beginning; if the model wrote none, a list of the tools that it called.
pub(crate) fn summary_of(entries: &[TranscriptEntry]) -> String {
    match newest(entries) {
        Some((_, upto, summary)) if summary.trim().is_empty() => Log::of(&entries[..upto]).written(60, 0, 8_000),
        Some((_, _, summary)) => summary.to_owned(),
        None => String::new(),
    }
}

/// Determines whether a request fits, must be compacted first, or is too large.
pub(crate) fn request_size(transcript: &Transcript, settings: &TurnSettings, request: &Request) -> RequestSize {
    let entries = transcript.entries();
    let refusals = refusals(entries);
    if refusals == 0 && settings.context_tokens == u32::MAX {
        return RequestSize::Fits;
    }
    let longest = longest_output(settings);
    let needed = estimate(entries, request, longest);
    let mut available = available(settings);
    if refusals > 0 {
        // The model's refusal overrides the configured context size.
        available = available.min(needed) / 4 * 3;
        available >>= refusals - 1;
    }
    let notes = NOTES_TOKENS.min(reply_tokens(settings));
    let fixed = fixed_tokens(entries, request) + u64::from(notes);
    // Compacts while there is still room to work, unless the fixed part alone takes that much.
    let soon = if fixed < available / 5 * 4 { available / 5 * 4 } else { available };
    if needed <= soon {
        return RequestSize::Fits;
    }
    // Half of the rest remains free, so that the next compaction is not due immediately.
    let kept = (available / 4).min(soon.saturating_sub(fixed) / 2);
    let compaction = (refusals <= REFUSALS)
        .then(|| compaction(entries, &Cut { notes, kept: bytes(kept), longest, room: bytes(available / 5 * 3) }));
    match compaction.flatten() {
        Some(compaction) => RequestSize::Compact(compaction),
        None if needed <= available => RequestSize::Fits,
        None => RequestSize::TooLarge { needed, available },
    }
}

/// How many requests the model has refused as too long since its last reply.
fn refusals(entries: &[TranscriptEntry]) -> u32 {
    let since = entries.iter().rev().take_while(|entry| {
        !matches!(
            entry,
            TranscriptEntry::Replied { .. } | TranscriptEntry::Compacted { .. } | TranscriptEntry::Said { .. }
        )
    });
    since.filter(|entry| matches!(entry, TranscriptEntry::TooLong)).count() as u32
}

/// The approximate size of a request in tokens: the token count that the model reported last, plus the entries since
/// then; without a report, an estimate from the bytes of all entries.
fn estimate(entries: &[TranscriptEntry], request: &Request, longest: usize) -> u64 {
    let by_bytes = tokens(standing(request) + request.messages.iter().map(weight).sum::<usize>());
    let counted = entries.iter().enumerate().rev().find_map(|(at, entry)| match entry {
        TranscriptEntry::Replied { usage, .. } => Some((at, usage.input_tokens.saturating_add(usage.output_tokens))),
        // A count from before a compaction does not apply to the requests after it.
        TranscriptEntry::Compacted { .. } => Some((at, 0)),
        _ => None,
    });
    match counted {
        // Some servers report no count, or only the part that was not cached.
        Some((at, counted)) if counted >= by_bytes / 3 => {
            counted.saturating_add(tokens(entries[at + 1..].iter().map(|entry| entry_weight(entry, longest)).sum()))
        }
        _ => by_bytes,
    }
}

/// The approximate number of tokens of a request that compaction cannot remove.
fn fixed_tokens(entries: &[TranscriptEntry], request: &Request) -> u64 {
    let said = entries.iter().filter(|entry| matches!(entry, TranscriptEntry::Said { .. }));
    tokens(standing(request) + said.map(|entry| entry_weight(entry, 0)).sum::<usize>())
}

/// The bytes of the system prompt and the tools.
fn standing(request: &Request) -> usize {
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.schema.to_string().len());
    request.system.len() + tools.sum::<usize>()
}

/// The approximate bytes of a message in a request.
fn weight(message: &Message) -> usize {
    message.parts.iter().map(|part| 30 + part_weight(part)).sum()
}

fn part_weight(part: &ContentPart) -> usize {
    match part {
        ContentPart::Text { text } => text.len(),
        ContentPart::ToolCall { name, input, .. } => name.len() + input.to_string().len(),
        ContentPart::ToolResult { output, .. } => output.len(),
    }
}

/// The approximate bytes of an entry in a request whose tool outputs are cut at `longest` bytes.
fn entry_weight(entry: &TranscriptEntry, longest: usize) -> usize {
    match entry {
        TranscriptEntry::Said { message } | TranscriptEntry::Replied { message, .. } => weight(message),
        TranscriptEntry::Results { results } => {
            results.iter().map(|result| 30 + result.output.len().min(longest)).sum()
        }
        TranscriptEntry::Compacted { .. }
        | TranscriptEntry::TooLong
        | TranscriptEntry::Expired { .. }
        | TranscriptEntry::Refused { .. } => 0,
    }
}

/// The limits of a compaction.
struct Cut {
    /// Tokens of the notes.
    notes: u32,
    /// Maximum number of bytes of the entries that remain unchanged.
    kept: usize,
    /// Maximum number of bytes of one tool output among those.
    longest: usize,
    /// Approximate limit of the request for notes, in bytes.
    room: usize,
}

/// The request for notes; `None` if there is nothing to summarize.
fn compaction(entries: &[TranscriptEntry], &Cut { notes, kept, longest, room }: &Cut) -> Option<Compaction> {
    let begin = beginning(entries);
    let upto = cut_point(entries, begin, kept, longest)?;
    let before = newest(entries).map(|_| cut(&summary_of(entries), room / 3));
    let mut text = asked(&entries[..upto], room / 3);
    if let Some(before) = &before {
        text.push_str(&format!("\n\n# Your notes until now\n\n{before}"));
    }
    let log = Log::of(&entries[begin..upto]).fitted(room.saturating_sub(text.len()));
    text.push_str(&format!("\n\n# What happened since\n\n{log}\n\nWrite the notes now."));
    let request = Request {
        system: NOTES.to_owned(),
        messages: vec![Message::text(Role::User, text)],
        tools: Vec::new(),
        tool_choice: ToolChoice::None,
        max_tokens: notes,
    };
    Some(Compaction { request, upto })
}

/// The instructions, which precede the text to summarize, in about `room` bytes at most.
fn asked(entries: &[TranscriptEntry], room: usize) -> String {
    let said = entries.iter().filter_map(|entry| match entry {
        TranscriptEntry::Said { message } if message.role == Role::User => {
            Some(cut(message.plain_text().trim(), INSTRUCTION))
        }
        _ => None,
    });
    let said: Vec<String> = said.collect();
    format!("# What you were asked\n\n{}", cut(&said.join("\n\n"), room))
}

/// The earliest cut after which at most `kept` bytes remain: never between a call and its result, and with at least one
/// reply before it. If the newest step alone is too large, everything is summarized.
fn cut_point(entries: &[TranscriptEntry], begin: usize, kept: usize, longest: usize) -> Option<usize> {
    let mut open: Vec<&str> = Vec::new();
    let mut after: usize = entries[begin..].iter().map(|entry| entry_weight(entry, longest)).sum();
    let mut has_reply = false;
    for (at, entry) in entries.iter().enumerate().skip(begin) {
        if has_reply && open.is_empty() && after <= kept && !matches!(entry, TranscriptEntry::Results { .. }) {
            return Some(at);
        }
        match entry {
            TranscriptEntry::Replied { message, .. } => {
                has_reply = true;
                open.extend(message.parts.iter().filter_map(|part| match part {
                    ContentPart::ToolCall { id, .. } => Some(id.as_str()),
                    _ => None,
                }));
            }
            TranscriptEntry::Results { results } => {
                open.retain(|id| !results.iter().any(|result| result.call_id == *id));
            }
            _ => {}
        }
        after = after.saturating_sub(entry_weight(entry, longest));
    }
    has_reply.then_some(entries.len())
}

/// The transcript as lines of text, to be summarized.
struct Log<'a>(Vec<LogLine<'a>>);

enum LogLine<'a> {
    Words(String),
    Call { id: &'a str, name: &'a str, input: String, answer: Option<(&'a str, bool)> },
}

impl<'a> Log<'a> {
    fn of(entries: &'a [TranscriptEntry]) -> Self {
        let mut lines: Vec<LogLine<'a>> = Vec::new();
        for entry in entries {
            match entry {
                TranscriptEntry::Replied { message, .. } => {
                    lines.extend(message.parts.iter().filter_map(|part| match part {
                        ContentPart::Text { text } if !text.trim().is_empty() => {
                            Some(LogLine::Words(text.trim().to_owned()))
                        }
                        ContentPart::ToolCall { id, name, input } => {
                            Some(LogLine::Call { id, name, input: input.to_string(), answer: None })
                        }
                        _ => None,
                    }));
                }
                TranscriptEntry::Results { results } => {
                    for result in results {
                        let call = lines.iter_mut().rev().find_map(|line| match line {
                            LogLine::Call { id, answer, .. } if *id == result.call_id => Some(answer),
                            _ => None,
                        });
                        if let Some(answer @ None) = call {
                            *answer = Some((&result.output, result.is_error));
                        }
                    }
                }
                _ => {}
            }
        }
        Self(lines)
    }

    /// As many lines as fit into this many bytes.
    fn fitted(&self, room: usize) -> String {
        let texts = OUTPUTS.iter().map(|&output| (output, self.written(output, output, usize::MAX)));
        let fits = texts.into_iter().find(|(_, text)| text.len() <= room);
        fits.map_or_else(|| self.written(150, 150, room), |(_, text)| text)
    }

    /// The lines, each cut: inputs and text at `words` bytes, outputs at `outputs`; the oldest lines are dropped if
    /// there is no `room` for all.
    fn written(&self, words: usize, outputs: usize, room: usize) -> String {
        let line = |line: &LogLine<'_>| match line {
            LogLine::Words(text) => format!("You said: {}", cut(text, words)),
            LogLine::Call { name, input, answer, .. } => {
                let answer = answer.map(|(output, is_error)| {
                    let arrow = if is_error { "refused" } else { "answer" };
                    if outputs == 0 { String::new() } else { format!("\n  {arrow}: {}", cut(output, outputs)) }
                });
                format!("- `{name}` {}{}", cut(input, words), answer.unwrap_or_default())
            }
        };
        let mut lines: Vec<String> = Vec::new();
        let mut length = 0;
        for (index, text) in self.0.iter().map(line).enumerate().rev().collect::<Vec<_>>() {
            length += text.len() + 1;
            if length > room {
                lines.push(format!("({} earlier steps are left out)", index + 1));
                break;
            }
            lines.push(text);
        }
        lines.reverse();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests;
