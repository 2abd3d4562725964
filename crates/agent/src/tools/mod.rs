//! The tools, one small file each: name, description for the model, input schema, and effect.
//!
//! A tool that edits is a function of the files and its input: no clock, no randomness, no network. So replaying the
//! calls of a transcript gives the same files.

mod add_descriptions;
mod add_page;
mod add_titles;
mod check_docs;
mod delete;
mod delete_page;
mod edit;
mod finish;
mod fix_links;
mod insert;
mod list;
mod move_file;
mod move_page;
mod read;
mod replace_text;
mod search_docs;
mod search_text;
mod set_front_matter;
mod text_editor;
mod todo_write;
mod write;

use docent_llm::{Editor, MOST_CALLS, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::files::EditableTree;
use crate::parallel::run_in_parallel;
use crate::parsed_call::{CallResult, ParsedCall, Patterns, shape};
use crate::transcript::{Call, ToolResult, Transcript};
use crate::turn_settings::TurnSettings;
use crate::workbench::{ToolContext, Workbench, cut};

pub(crate) use finish::{FAILED_EDITS, changed_nothing, is_handed_back, remaining_problems, was_told_of_edits};

pub(crate) const FINISH: &str = finish::TOOL.name;
pub(crate) const TODO_WRITE: &str = todo_write::TOOL.name;

/// A tool.
struct Tool {
    name: &'static str,
    offered: OfferedTo,
    /// For the model: what the tool does and when to use it.
    description: &'static str,
    /// The JSON Schema of its input, an object.
    schema: fn() -> Value,
    /// Parses an input. An error says what is wrong with it.
    begin: fn(&Value) -> Result<ParsedCall, String>,
}

/// Which models a tool is offered to. Calls of every tool are accepted from all models, because a turn may continue
/// with a different model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfferedTo {
    Always,
    /// Models that were trained on separate editing tools.
    Separately,
    /// Models that were trained on one combined editing tool.
    TextEditor,
    /// Turns with an index of the published docs.
    WithSearch,
}

const TOOLS: [&Tool; 21] = [
    &list::TOOL,
    &read::TOOL,
    &search_text::TOOL,
    &search_docs::TOOL,
    &text_editor::TOOL,
    &edit::TOOL,
    &insert::TOOL,
    &write::TOOL,
    &move_file::TOOL,
    &delete::TOOL,
    &replace_text::TOOL,
    &move_page::TOOL,
    &delete_page::TOOL,
    &add_page::TOOL,
    &set_front_matter::TOOL,
    &add_titles::TOOL,
    &add_descriptions::TOOL,
    &fix_links::TOOL,
    &check_docs::TOOL,
    &todo_write::TOOL,
    &finish::TOOL,
];

/// The names of all tools.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}

fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

/// The tools offered to a model: the same throughout a turn, in the same order.
pub fn specs(settings: &TurnSettings) -> Vec<ToolSpec> {
    let is_offered = |tool: &&Tool| match tool.offered {
        OfferedTo::Always => true,
        OfferedTo::Separately => settings.editor == Editor::Separate,
        OfferedTo::TextEditor => settings.editor == Editor::TextEditor,
        OfferedTo::WithSearch => settings.search,
    };
    let spec = |tool: &Tool| ToolSpec {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        schema: (tool.schema)(),
    };
    TOOLS.into_iter().filter(is_offered).map(spec).collect()
}

/// Runs calls. Consecutive reading calls run in parallel; an edit runs alone. The result is the same as if the calls
/// ran one after the other, with `finish` last wherever it stands. Every call gets a result, in order: a call that cannot
/// be parsed, is refused or fails gets the reason, and so does one beyond the limit of a reply.
pub fn run_tools(calls: &[Call], files: &mut dyn EditableTree, context: &ToolContext) -> Vec<ToolResult> {
    let mut workbench = Workbench { files, context };
    let mut results = Vec::with_capacity(calls.len());
    let mut reads = PendingReads::default();
    let mut edit_failed = false;
    let mut endings = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let work = if index < MOST_CALLS { begin(call) } else { Err(TOO_MANY.to_owned()) };
        edit_failed |= work.is_err() && (index >= MOST_CALLS || is_edit(call));
        match work {
            Ok(ParsedCall::Reads(work)) => reads.add(call, work),
            Ok(ParsedCall::Edits(work)) => {
                reads.run(&workbench, &mut results);
                let answer = work(&mut workbench);
                edit_failed |= answer.is_err();
                results.push(answered(call, answer));
            }
            Ok(ParsedCall::Ends(work)) => {
                reads.run(&workbench, &mut results);
                endings.push((results.len(), call, work));
                // Holds the place of the answer.
                results.push(answered(call, Err(OVER.to_owned())));
            }
            Err(why) => reads.add(call, Box::new(move |_| Err(why))),
        }
    }
    reads.run(&workbench, &mut results);
    for (place, call, work) in endings {
        let answer = if edit_failed { Err(UNSEEN.to_owned()) } else { work(&workbench) };
        results[place] = answered(call, answer);
        if !results[place].is_error {
            break;
        }
    }
    shorten(&mut results);
    results
}

/// Cuts long results if all together are too large. The effects of the calls remain.
fn shorten(results: &mut [ToolResult]) {
    let mut left = LONGEST_TOGETHER;
    for result in results {
        if result.output.len() > left.max(SHORT) {
            result.output = "too long: the answers to one reply are cut when they come to 2 MB; ask again".to_owned();
        }
        left = left.saturating_sub(result.output.len());
    }
}

/// Maximum number of bytes of the results of one reply together, not counting short ones.
const LONGEST_TOGETHER: usize = 2_000_000;
/// Results up to this many bytes are never cut.
const SHORT: usize = 1_000;

const TOO_MANY: &str = "not done: a reply may make 256 calls; make this one, and those behind it that were left out, in \
                        your next replies";
const OVER: &str = "not done: the call of `finish` before it ended the turn";
const UNSEEN: &str = "a change in the same reply failed; look at its answer first, then finish";

type ReadOnly = Box<dyn FnOnce(&Workbench<'_>) -> CallResult + Send>;

/// Reading calls that have not run yet.
#[derive(Default)]
struct PendingReads<'a>(Vec<(&'a Call, ReadOnly)>);

impl<'a> PendingReads<'a> {
    fn add(&mut self, call: &'a Call, work: ReadOnly) {
        self.0.push((call, work));
    }

    fn run(&mut self, workbench: &Workbench<'_>, results: &mut Vec<ToolResult>) {
        let work = std::mem::take(&mut self.0).into_iter().map(|(call, work)| move || answered(call, work(workbench)));
        results.extend(run_in_parallel(work.collect()));
    }
}

fn answered(call: &Call, answer: CallResult) -> ToolResult {
    let is_error = answer.is_err();
    let output = cut(answer.unwrap_or_else(|why| why));
    tracing::debug!(tool = call.name, is_error, "ran a tool");
    ToolResult { call_id: call.id.clone(), output, is_error }
}

/// Parses a call. An error names the mistake and the remedy.
fn begin(call: &Call) -> Result<ParsedCall, String> {
    let Some(tool) = find(&call.name) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(format!("there is no tool `{}`; there are {}", call.name, names.join(", ")));
    };
    (tool.begin)(&call.input).map_err(|why| format!("{why}; `{}` takes {}", tool.name, shape(&(tool.schema)())))
}

/// Whether a call means to change files. A call that cannot be parsed counts by its tool.
pub(crate) fn is_edit(call: &Call) -> bool {
    match begin(call) {
        Ok(work) => matches!(work, ParsedCall::Edits(_)),
        Err(_) => find(&call.name).is_some_and(|tool| !READING.contains(&tool.name)) && call.input["command"] != "view",
    }
}

/// Whether a text seems to hold a call of a tool: its name where the usual forms of a call in a text have it.
pub(crate) fn holds_a_call(text: &str) -> bool {
    let names_tool = |rest: &str| {
        let name = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ':' | '=' | '>'));
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        find(&name[..end]).is_some()
    };
    CALL_MARKS.iter().any(|mark| text.match_indices(mark).any(|(at, _)| names_tool(&text[at + mark.len()..])))
}

/// What stands before the name of a tool in a call that is written as text.
const CALL_MARKS: [&str; 6] = ["\"name\"", "\"tool\"", "\"function\"", "<function=", "<invoke name=", "<tool_call>"];

/// The tools that change no file.
const READING: [&str; 7] = [
    list::TOOL.name,
    read::TOOL.name,
    search_text::TOOL.name,
    search_docs::TOOL.name,
    check_docs::TOOL.name,
    TODO_WRITE,
    FINISH,
];

/// A call had a different result during replay: the base is not the same as before.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("could not repeat the call `{call_id}` of `{tool}`: {why}")]
pub struct Diverged {
    pub call_id: String,
    pub tool: String,
    pub why: String,
}

/// Repeats the effects of a transcript's calls on the files, which must be in the state before the first call.
pub fn replay(transcript: &Transcript, files: &mut dyn EditableTree, context: &ToolContext) -> Result<(), Diverged> {
    for (call, result) in transcript.answered() {
        if result.is_error {
            continue;
        }
        let Ok(ParsedCall::Edits(work)) = begin(&call) else { continue };
        work(&mut Workbench { files: &mut *files, context }).map_err(|why| Diverged {
            call_id: call.id,
            tool: call.name,
            why,
        })?;
    }
    Ok(())
}

/// The arguments of a tool that only takes a selection of pages.
#[derive(Deserialize)]
struct SelectionArguments {
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob")]
    within: Patterns,
}

/// The arguments of a tool that moves something.
#[derive(Deserialize)]
struct MoveArguments {
    #[serde(alias = "old_path", alias = "source")]
    from: String,
    #[serde(alias = "new_path", alias = "destination")]
    to: String,
}

/// The schema of an object with these properties; `required` names the mandatory ones.
fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "required": required, "additionalProperties": false });
    schema["properties"] = properties;
    schema
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn number(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// The schema of `in`: the pages that a tool is limited to.
fn within() -> Value {
    json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Pages, files, folders or globs (`guides/**`) to narrow it to, relative to the docs root. \
                        Everything when absent.",
    })
}

#[cfg(test)]
mod tests;
