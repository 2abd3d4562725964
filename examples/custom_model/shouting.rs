//! The model: what it is shown, and what it says to that.
//!
//! It keeps nothing between two calls. What it does next follows from the transcript alone, so a job that was cut
//! between two steps goes on in any process.

use async_trait::async_trait;
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request, ToolChoice};
use docent_types::{ContentPart, FinishReason, Message, Usage};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

/// Writes headings in capitals.
#[derive(Debug)]
pub(crate) struct Shouting;

#[async_trait]
impl Model for Shouting {
    fn describe(&self) -> Description {
        Description::new("example", "shouting")
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let reply = reply(&request);
        let reason = if reply.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        // A model over the network would send these as they come; ours has them all at once. The id of a call only has
        // to be unique in the transcript, so we count on from the calls made before.
        let words = reply.text.split_inclusive(' ').map(|word| Event::TextDelta(word.to_owned())).collect::<Vec<_>>();
        let before = answered(&request.messages).len();
        let calls = reply.calls.into_iter().enumerate().map(move |(n, (name, input))| Event::ToolCall {
            id: format!("call-{}", before + n + 1),
            name: name.to_owned(),
            input,
        });
        let done = Event::Done { reason, usage: Usage::default() };
        Ok(stream::iter(words.into_iter().chain(calls).chain([done]).map(Ok)).boxed())
    }
}

/// What to say, and which tools to call.
struct Reply {
    text: String,
    calls: Vec<(&'static str, Value)>,
}

fn reply(request: &Request) -> Reply {
    // Whoever offers no tools wants words: so does the assistant, which may run on this model too.
    if request.tools.is_empty() || request.tool_choice == ToolChoice::None {
        let said = request.messages.last().map(Message::plain_text).unwrap_or_default();
        return Reply { text: said.to_uppercase(), calls: Vec::new() };
    }
    // A follow-up begins a new turn, behind the `finish` that ended the one before.
    let all = answered(&request.messages);
    let turn = all.rsplit(|answer| answer.name == "finish" && !answer.is_error).next().unwrap_or_default();
    match turn {
        [] => {
            let call = ("search_text", json!({ "pattern": "^#{1,6} " }));
            Reply { text: "I look for headings.".to_owned(), calls: vec![call] }
        }
        [search] => match edits(search.output) {
            edits if edits.is_empty() => finish("There are no headings that are not in capitals."),
            edits => Reply { text: format!("I shout {} headings.", edits.len()), calls: edits },
        },
        // The docs are checked when we finish. We have no better idea about what the check finds than to say so.
        [.., last] if last.name == "finish" && last.is_error => cannot(last.output),
        // An edit that was refused came back as an error, with the reason. Nobody hides that.
        [_, edits @ ..] => {
            match edits.iter().filter(|edit| edit.is_error).map(|edit| edit.output).collect::<Vec<_>>() {
                refused if refused.is_empty() => finish(&format!("{} headings are in capitals now.", edits.len())),
                refused => finish(&format!("Some headings were left as they are:\n\n{}", refused.join("\n"))),
            }
        }
    }
}

fn finish(summary: &str) -> Reply {
    let input = json!({ "outcome": "done", "title": "Write headings in capitals", "summary": summary });
    Reply { text: "That was it.".to_owned(), calls: vec![("finish", input)] }
}

fn cannot(why: &str) -> Reply {
    let input = json!({ "outcome": "cannot", "title": "", "summary": format!("Capitals broke the docs:\n\n{why}") });
    Reply { text: "I give up.".to_owned(), calls: vec![("finish", input)] }
}

/// One `edit` for each heading in the output of `search_text`, whose lines are `file:line: text`.
fn edits(found: &str) -> Vec<(&'static str, Value)> {
    let hits = found.lines().filter_map(|line| {
        let (place, text) = line.split_once(": ")?;
        Some((place.rsplit_once(':')?.0, text))
    });
    // A comment in a shell snippet looks like a heading. Ours begin with a capital letter.
    let headings = hits.filter(|(_, text)| text.trim_start_matches('#').trim().starts_with(char::is_uppercase));
    let quiet = headings.filter(|(_, text)| text.to_uppercase() != *text);
    quiet.map(|(path, text)| ("edit", json!({ "path": path, "old": text, "new": text.to_uppercase() }))).collect()
}

/// A tool call that was answered.
struct Answered<'a> {
    name: &'a str,
    output: &'a str,
    is_error: bool,
}

/// The answered calls, in the order of their answers: a result names its call by the id we gave it.
fn answered(messages: &[Message]) -> Vec<Answered<'_>> {
    let parts = || messages.iter().flat_map(|message| &message.parts);
    let name_of = |wanted: &str| {
        parts().find_map(|part| match part {
            ContentPart::ToolCall { id, name, .. } if id == wanted => Some(name.as_str()),
            _ => None,
        })
    };
    let answers = parts().filter_map(|part| match part {
        ContentPart::ToolResult { call_id, output, is_error } => {
            Some(Answered { name: name_of(call_id)?, output, is_error: *is_error })
        }
        _ => None,
    });
    answers.collect()
}
