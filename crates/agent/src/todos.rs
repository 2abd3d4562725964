//! The agent's plan, derived from the transcript.

use std::collections::HashSet;

use docent_types::{ContentPart, Message, Todo, TodoPriority, TodoStatus};
use serde::Deserialize;

use crate::tools::TODO_WRITE;
use crate::transcript::{ToolResult, Transcript, TranscriptEntry};

/// One todo in the form the model writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct WrittenTodo {
    pub(crate) content: String,
    pub(crate) status: TodoStatus,
    #[serde(default = "medium")]
    pub(crate) priority: TodoPriority,
}

fn medium() -> TodoPriority {
    TodoPriority::Medium
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct WrittenTodos {
    pub(crate) todos: Vec<WrittenTodo>,
}

/// The current plan: that of the last accepted `todo_write`. Ids count from 1.
pub fn todos(transcript: &Transcript) -> Vec<Todo> {
    todos_of(transcript.entries())
}

/// The plan that the calls of one reply wrote, given their results; `None` if they wrote none.
pub fn planned(reply: &Message, results: &[ToolResult]) -> Option<Vec<Todo>> {
    let good = results.iter().filter(|result| !result.is_error);
    let accepted: HashSet<&str> = good.map(|result| result.call_id.as_str()).collect();
    written(reply, |id| accepted.contains(id))
}

/// The plan after these entries.
pub(crate) fn todos_of(entries: &[TranscriptEntry]) -> Vec<Todo> {
    let mut accepted: HashSet<&str> = HashSet::new();
    for entry in entries.iter().rev() {
        match entry {
            TranscriptEntry::Results { results } => {
                let good = results.iter().filter(|result| !result.is_error);
                accepted.extend(good.map(|result| result.call_id.as_str()));
            }
            TranscriptEntry::Replied { message, .. } => {
                if let Some(todos) = written(message, |id| accepted.contains(id)) {
                    return todos;
                }
            }
            _ => {}
        }
    }
    Vec::new()
}

/// The plan of the last accepted `todo_write` of a reply.
fn written(reply: &Message, is_accepted: impl Fn(&str) -> bool) -> Option<Vec<Todo>> {
    let written: WrittenTodos = reply.parts.iter().rev().find_map(|part| match part {
        ContentPart::ToolCall { id, name, input } if name == TODO_WRITE && is_accepted(id) => {
            crate::parsed_call::input(input).ok()
        }
        _ => None,
    })?;
    let todos = written.todos.into_iter().enumerate();
    let numbered = todos.map(|(index, todo)| Todo {
        id: (index + 1).to_string(),
        content: todo.content,
        status: todo.status,
        priority: todo.priority,
    });
    Some(numbered.collect())
}
