//! The agent's plan, folded from the transcript.

use docent_types::{Todo, TodoPriority, TodoStatus};
use serde::Deserialize;

use crate::tools::TODO_WRITE;
use crate::transcript::{Entry, Transcript};

/// One todo as a model writes it.
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

/// The plan as it stands: what the last answered `todo_write` said. Ids count from 1.
pub fn todos(transcript: &Transcript) -> Vec<Todo> {
    todos_of(transcript.entries())
}

pub(crate) fn todos_of(entries: &[Entry]) -> Vec<Todo> {
    let transcript = Transcript::from(entries.to_vec());
    let answered = transcript.answered();
    let written = answered.iter().rev().find(|(call, result)| call.name == TODO_WRITE && !result.is_error);
    let todos = written.and_then(|(call, _)| WrittenTodos::deserialize(&call.input).ok());
    let todos = todos.map(|written| written.todos).unwrap_or_default();
    todos
        .into_iter()
        .enumerate()
        .map(|(index, todo)| Todo {
            id: (index + 1).to_string(),
            content: todo.content,
            status: todo.status,
            priority: todo.priority,
        })
        .collect()
}
