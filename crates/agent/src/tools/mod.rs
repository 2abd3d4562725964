//! The tools, one small file each: what it is called, what a model is told about it, what it takes and what it does.
//!
//! A tool is a function of the files and its input, and nothing else: no clock, no randomness, no network. So the
//! calls of a transcript, run again, give the same files.

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
mod search_text;
mod set_front_matter;
mod todo_write;
mod write;

use docent_llm::ToolSpec;
use serde_json::{Value, json};
use thiserror::Error;

use crate::desk::{Answer, Desk, ToolContext};
use crate::files::Files;
use crate::transcript::{Call, ToolResult, Transcript};

pub(crate) const FINISH: &str = finish::TOOL.name;
pub(crate) const TODO_WRITE: &str = todo_write::TOOL.name;

/// A tool.
struct Tool {
    name: &'static str,
    /// For the model: what it does and when to use it.
    description: &'static str,
    /// Whether it may change files.
    edits: bool,
    /// The JSON Schema of its input.
    schema: fn() -> Value,
    run: fn(&Value, &mut Desk<'_>) -> Answer,
}

const TOOLS: [&Tool; 19] = [
    &list::TOOL,
    &read::TOOL,
    &search_text::TOOL,
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

fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

/// The tools as a model is offered them.
pub fn specs() -> Vec<ToolSpec> {
    let spec = |tool: &&Tool| ToolSpec {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        schema: (tool.schema)(),
    };
    TOOLS.iter().map(spec).collect()
}

/// Runs calls in order and answers each of them. What a call got wrong is its answer, never an error here.
pub fn run_tools(calls: &[Call], files: &mut dyn Files, context: &ToolContext) -> Vec<ToolResult> {
    calls.iter().map(|call| run(call, files, context)).collect()
}

fn run(call: &Call, files: &mut dyn Files, context: &ToolContext) -> ToolResult {
    let answer = match find(&call.name) {
        Some(tool) => (tool.run)(&call.input, &mut Desk { files, context })
            .map_err(|why| format!("{why}{}", hint(tool, &call.input))),
        None => {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            Err(format!("there is no tool `{}`; there are {}", call.name, names.join(", ")))
        }
    };
    let is_error = answer.is_err();
    let output = crate::desk::cut(answer.unwrap_or_else(|why| why));
    tracing::debug!(tool = call.name, is_error, "ran a tool");
    ToolResult { call_id: call.id.clone(), output, is_error }
}

/// For an input that is no object, what it should look like.
fn hint(tool: &Tool, input: &Value) -> String {
    if input.is_object() { String::new() } else { format!("; its schema is {}", (tool.schema)()) }
}

/// Replaying a transcript gave something else than the first time: the base is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("could not repeat the call `{call_id}` of `{tool}`: {why}")]
pub struct Diverged {
    pub call_id: String,
    pub tool: String,
    pub why: String,
}

/// Does again what the answered calls of a transcript did to the files, which have to be as they were before the first
/// of them.
pub fn replay(transcript: &Transcript, files: &mut dyn Files, context: &ToolContext) -> Result<(), Diverged> {
    for (call, result) in transcript.answered() {
        let edits = find(&call.name).is_some_and(|tool| tool.edits);
        if !edits || result.is_error {
            continue;
        }
        let again = run(&call, files, context);
        if again.is_error {
            return Err(Diverged { call_id: call.id, tool: call.name, why: again.output });
        }
    }
    Ok(())
}

/// The schema of an object with these members; `required` names those that may not be missing.
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

/// `in`: the pages a tool is narrowed to.
fn within() -> Value {
    json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Pages, files, folders or globs (`guides/**`) to narrow it to, relative to the docs root. \
                        Everything when absent.",
    })
}

#[cfg(test)]
#[path = "../tools_tests.rs"]
mod tests;
