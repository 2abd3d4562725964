//! Making room when the model's context runs short.
//!
//! When a request would fill most of the context, the model is first asked for notes on the beginning of the
//! transcript. From then on a request holds what was said from outside, word by word, then those notes, then the
//! entries they do not cover:
//!
//! ```text
//!   transcript   Said  Replied  Results  Said  Replied  Results │ Replied  Results  Compacted
//!                 │                       │                   upto   │        │         │
//!   request      Said ─────────────────  Said ── notes ─────────── Replied  Results ◀───┘
//! ```
//!
//! The transcript itself stays whole: what the tools did is repeated from all of it.

use docent_llm::{Request, ToolChoice};
use docent_types::{ContentPart, Message, Role};

use crate::call::Reply;
use crate::prompt::NOTES;
use crate::request::cut;
use crate::transcript::{Entry, Transcript};
use crate::turn_settings::TurnSettings;

/// A call that asks for notes on the transcript's beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    pub request: Request,
    /// How many entries of the transcript, counted from the first, the answer will stand for.
    pub upto: usize,
}

/// The entry that the answer to a [`Compaction`] makes.
pub fn compacted(reply: &Reply, upto: usize) -> Entry {
    Entry::Compacted { summary: reply.message.plain_text().trim().to_owned(), upto, usage: reply.usage }
}

/// What stands before the notes.
pub(crate) const INTRODUCTION: &str = "The beginning of your work does not fit your context any more. These are your \
                                       own notes on it; the files hold all the changes you made:\n\n{}";

/// What a request comes to.
pub(crate) enum RequestSize {
    Enough,
    /// Make room first.
    Compact(Compaction),
    /// It does not fit, and there is nothing left to make shorter. About how many tokens it has, and how many fit.
    TooLittle {
        wanted: u64,
        there: u64,
    },
}

/// Tokens of the notes.
const NOTES_TOKENS: u32 = 4_000;
/// How often in a row a model may say that a request is too long.
const REFUSALS: u32 = 3;
/// The most bytes of one output in what the model is asked to take notes of; the largest that fits is taken.
const OUTPUTS: [usize; 4] = [4_000, 1_500, 500, 150];
/// The most bytes of an instruction there.
const INSTRUCTION: usize = 4_000;

/// The most tokens of a reply.
pub(crate) fn reply_tokens(settings: &TurnSettings) -> u32 {
    settings.limits.reply_tokens.min(settings.context_tokens / 4).max(1)
}

/// The most bytes of one tool's output in a request: a quarter of the context, where that is less than tools give.
pub(crate) fn longest_output(settings: &TurnSettings) -> usize {
    bytes(there(settings) / 4).max(1_000)
}

/// Tokens that a request may have.
fn there(settings: &TurnSettings) -> u64 {
    u64::from(settings.context_tokens - reply_tokens(settings).min(settings.context_tokens))
}

/// About how many tokens this many bytes of text are.
const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).saturating_mul(2) / 7
}

/// About how many bytes of text this many tokens are.
fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(7) / 2).unwrap_or(usize::MAX)
}

/// Where the entries begin that a request shows one by one.
pub(crate) fn beginning(entries: &[Entry]) -> usize {
    newest(entries).map_or(0, |(_, upto, _)| upto)
}

/// The newest compaction: where it stands, what it covers, and its notes.
fn newest(entries: &[Entry]) -> Option<(usize, usize, &str)> {
    entries.iter().enumerate().rev().find_map(|(at, entry)| match entry {
        Entry::Compacted { summary, upto, .. } => Some((at, (*upto).min(at), summary.as_str())),
        _ => None,
    })
}

/// The notes that stand for the beginning. Where the model gave none: what it called.
pub(crate) fn summary_of(entries: &[Entry]) -> String {
    match newest(entries) {
        Some((_, upto, summary)) if summary.trim().is_empty() => Log::of(&entries[..upto]).written(60, 0, 8_000),
        Some((_, _, summary)) => summary.to_owned(),
        None => String::new(),
    }
}

/// Whether there is room for a request.
pub(crate) fn judge(transcript: &Transcript, settings: &TurnSettings, request: &Request) -> RequestSize {
    let entries = transcript.entries();
    let refusals = refusals(entries);
    if refusals == 0 && settings.context_tokens == u32::MAX {
        return RequestSize::Enough;
    }
    let longest = longest_output(settings);
    let wanted = estimate(entries, request, longest);
    let mut there = there(settings);
    if refusals > 0 {
        // The model knows better than the configuration how much it reads.
        there = there.min(wanted) / 4 * 3;
        there >>= refusals - 1;
    }
    let notes = NOTES_TOKENS.min(reply_tokens(settings));
    let fixed = fixed(entries, request) + u64::from(notes);
    // Notes are taken while there still is room to work in, unless what never goes takes that much by itself.
    let soon = if fixed < there / 5 * 4 { there / 5 * 4 } else { there };
    if wanted <= soon {
        return RequestSize::Enough;
    }
    // Half of what is left stays free, so that the next notes are not due at once.
    let kept = (there / 4).min(soon.saturating_sub(fixed) / 2);
    let compaction = (refusals <= REFUSALS)
        .then(|| compaction(entries, &Cut { notes, kept: bytes(kept), longest, room: bytes(there / 5 * 3) }));
    match compaction.flatten() {
        Some(compaction) => RequestSize::Compact(compaction),
        None if wanted <= there => RequestSize::Enough,
        None => RequestSize::TooLittle { wanted, there },
    }
}

/// How often the model has said, since it last replied, that it was asked too much.
fn refusals(entries: &[Entry]) -> u32 {
    let since = entries
        .iter()
        .rev()
        .take_while(|entry| !matches!(entry, Entry::Replied { .. } | Entry::Compacted { .. } | Entry::Said { .. }));
    since.filter(|entry| matches!(entry, Entry::TooLong)).count() as u32
}

/// About how many tokens a request has: what the model counted the last time and what came after, or, where it did not
/// count, all of it by its bytes.
fn estimate(entries: &[Entry], request: &Request, longest: usize) -> u64 {
    let by_bytes = tokens(standing(request) + request.messages.iter().map(weight).sum::<usize>());
    let counted = entries.iter().enumerate().rev().find_map(|(at, entry)| match entry {
        Entry::Replied { usage, .. } => Some((at, usage.input_tokens.saturating_add(usage.output_tokens))),
        // What was counted before is no measure of what is sent now.
        Entry::Compacted { .. } => Some((at, 0)),
        _ => None,
    });
    match counted {
        // Some servers report nothing, or only what they had not seen before.
        Some((at, counted)) if counted >= by_bytes / 3 => {
            counted.saturating_add(tokens(entries[at + 1..].iter().map(|entry| entry_weight(entry, longest)).sum()))
        }
        _ => by_bytes,
    }
}

/// About how many tokens of a request stay, whatever notes are taken.
fn fixed(entries: &[Entry], request: &Request) -> u64 {
    let said = entries.iter().filter(|entry| matches!(entry, Entry::Said { .. }));
    tokens(standing(request) + said.map(|entry| entry_weight(entry, 0)).sum::<usize>())
}

/// The bytes of the system prompt and the tools.
fn standing(request: &Request) -> usize {
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.schema.to_string().len());
    request.system.len() + tools.sum::<usize>()
}

/// About how many bytes a message takes in a request.
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

/// About how many bytes an entry takes in a request that shows at most `longest` bytes of one output.
fn entry_weight(entry: &Entry, longest: usize) -> usize {
    match entry {
        Entry::Said { message } | Entry::Replied { message, .. } => weight(message),
        Entry::Results { results } => results.iter().map(|result| 30 + result.output.len().min(longest)).sum(),
        Entry::Compacted { .. } | Entry::TooLong | Entry::Expired { .. } => 0,
    }
}

/// How much is cut off.
struct Cut {
    /// Tokens of the notes.
    notes: u32,
    /// The most bytes of entries that stay as they are.
    kept: usize,
    /// The most bytes that are shown of one output among them.
    longest: usize,
    /// About how many bytes the call that asks for notes may have.
    room: usize,
}

/// The call that asks for notes; `None` when there is nothing to take notes of.
fn compaction(entries: &[Entry], &Cut { notes, kept, longest, room }: &Cut) -> Option<Compaction> {
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

/// What was asked for, at the head of what notes are taken of, in at most about `room` bytes.
fn asked(entries: &[Entry], room: usize) -> String {
    let said = entries.iter().filter_map(|entry| match entry {
        Entry::Said { message } if message.role == Role::User => Some(cut(message.plain_text().trim(), INSTRUCTION)),
        _ => None,
    });
    let said: Vec<String> = said.collect();
    format!("# What you were asked\n\n{}", cut(&said.join("\n\n"), room))
}

/// The earliest place to cut at, so that what stays has at most this many bytes: never between a call and its answer,
/// and with at least one reply before it. When even the newest step is too long, all of it goes.
fn cut_point(entries: &[Entry], begin: usize, kept: usize, longest: usize) -> Option<usize> {
    let mut open: Vec<&str> = Vec::new();
    let mut after: usize = entries[begin..].iter().map(|entry| entry_weight(entry, longest)).sum();
    let mut has_reply = false;
    for (at, entry) in entries.iter().enumerate().skip(begin) {
        if has_reply && open.is_empty() && after <= kept && !matches!(entry, Entry::Results { .. }) {
            return Some(at);
        }
        match entry {
            Entry::Replied { message, .. } => {
                has_reply = true;
                open.extend(message.parts.iter().filter_map(|part| match part {
                    ContentPart::ToolCall { id, .. } => Some(id.as_str()),
                    _ => None,
                }));
            }
            Entry::Results { results } => {
                open.retain(|id| !results.iter().any(|result| result.call_id == *id));
            }
            _ => {}
        }
        after = after.saturating_sub(entry_weight(entry, longest));
    }
    has_reply.then_some(entries.len())
}

/// What happened, line by line, for notes to be taken of.
struct Log<'a>(Vec<Line<'a>>);

enum Line<'a> {
    Words(String),
    Call { id: &'a str, name: &'a str, input: String, answer: Option<(&'a str, bool)> },
}

impl<'a> Log<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let mut lines: Vec<Line<'a>> = Vec::new();
        for entry in entries {
            match entry {
                Entry::Replied { message, .. } => lines.extend(message.parts.iter().filter_map(|part| match part {
                    ContentPart::Text { text } if !text.trim().is_empty() => Some(Line::Words(text.trim().to_owned())),
                    ContentPart::ToolCall { id, name, input } => {
                        Some(Line::Call { id, name, input: input.to_string(), answer: None })
                    }
                    _ => None,
                })),
                Entry::Results { results } => {
                    for result in results {
                        let call = lines.iter_mut().rev().find_map(|line| match line {
                            Line::Call { id, answer, .. } if *id == result.call_id => Some(answer),
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

    /// As much of it as these many bytes hold.
    fn fitted(&self, room: usize) -> String {
        let texts = OUTPUTS.iter().map(|&output| (output, self.written(output, output, usize::MAX)));
        let fits = texts.into_iter().find(|(_, text)| text.len() <= room);
        fits.map_or_else(|| self.written(150, 150, room), |(_, text)| text)
    }

    /// Each line cut: inputs and words at `words` bytes, outputs at `outputs`; the oldest left out where there is no
    /// `room` for all.
    fn written(&self, words: usize, outputs: usize, room: usize) -> String {
        let line = |line: &Line<'_>| match line {
            Line::Words(text) => format!("You said: {}", cut(text, words)),
            Line::Call { name, input, answer, .. } => {
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
#[path = "compaction_tests.rs"]
mod tests;
