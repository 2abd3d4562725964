//! `todo_write`: the plan.

use serde_json::json;

use super::{Tool, object, text};
use crate::desk::{Answer, Desk, input};
use crate::todos::WrittenTodos;

pub(super) const TOOL: Tool = Tool {
    name: "todo_write",
    description: "Writes down your plan, all of it, in the place of the one before. People see it while you work. Keep \
                  one todo in progress.",
    edits: false,
    schema: || {
        let todo = object(
            json!({
                "content": text("What is to be done, in a few words."),
                "status": { "enum": ["pending", "in_progress", "completed", "cancelled"] },
                "priority": { "enum": ["high", "medium", "low"] },
            }),
            &["content", "status"],
        );
        object(json!({ "todos": { "type": "array", "items": todo, "maxItems": MOST } }), &["todos"])
    },
    run,
};

const MOST: usize = 200;

fn run(given: &serde_json::Value, _desk: &mut Desk<'_>) -> Answer {
    let WrittenTodos { todos } = input(given)?;
    if todos.len() > MOST {
        return Err(format!("a plan has at most {MOST} todos, and this has {}", todos.len()));
    }
    if todos.iter().any(|todo| todo.content.trim().is_empty()) {
        return Err("a todo has no `content`".to_owned());
    }
    Ok("Noted.".to_owned())
}
