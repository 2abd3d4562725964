//! `todo_write`: replaces the plan.

use serde_json::json;

use super::{OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, reads};
use crate::todos::WrittenTodos;
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "todo_write",
    offered: OfferedTo::Always,
    description: "Writes down your plan, all of it, in the place of the one before. People see it while you work. Keep \
                  one todo in progress.",
    schema: || {
        let todo = object(
            json!({
                "content": text("What is to be done, in a few words."),
                "status": { "type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"] },
                "priority": { "type": "string", "enum": ["high", "medium", "low"] },
            }),
            &["content", "status"],
        );
        object(json!({ "todos": { "type": "array", "items": todo, "maxItems": MOST } }), &["todos"])
    },
    begin: |given| reads(given, run),
};

const MOST: usize = 200;

fn run(WrittenTodos { todos }: WrittenTodos, _workbench: &Workbench<'_>) -> CallResult {
    if todos.len() > MOST {
        return Err(format!("a plan has at most {MOST} todos, and this has {}", todos.len()));
    }
    if todos.iter().any(|todo| todo.content.trim().is_empty()) {
        return Err("a todo has no `content`".to_owned());
    }
    Ok("Noted.".to_owned())
}
