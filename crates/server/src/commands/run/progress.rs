//! Prints the agent's tool calls, one line each, on a terminal.

use std::io::{IsTerminal, Write as _};

use anstyle::Style;
use docent_types::{JobEvent, TodoStatus, printable};
use serde_json::Value;

const DIM: Style = Style::new().dimmed();
/// Maximum length of a line, in characters.
const WIDTH: usize = 140;
/// Tools whose calls are not listed, because their result is printed: the plan, and the final message.
const TOLD_OTHERWISE: [&str; 2] = ["todo_write", "finish"];
/// Maximum length of one argument of a tool, in characters.
const ARGUMENT: usize = 50;

/// Prints lines on stderr, if that is a terminal.
#[derive(Debug)]
pub(super) enum Progress {
    Shown,
    Hidden,
}

impl Progress {
    pub(super) fn on_a_terminal() -> Self {
        if std::io::stderr().is_terminal() { Self::Shown } else { Self::Hidden }
    }

    pub(super) fn apply(&mut self, event: &JobEvent) {
        if let (Self::Shown, Some(line)) = (&self, line(event)) {
            // A closed stderr is not an error.
            let _ = writeln!(anstream::stderr(), "{DIM}{line}{DIM:#}");
        }
    }
}

/// The line of an event; `None` for events that are shown at the end, or do not concern the user.
fn line(event: &JobEvent) -> Option<String> {
    let text = match event {
        JobEvent::Said { text } => text.clone(),
        JobEvent::Called { name, .. } if TOLD_OTHERWISE.contains(&name.as_str()) => return None,
        JobEvent::Called { name, input, .. } => format!("  {}{}", verb(name, input), arguments(input)),
        JobEvent::Answered { output, is_error: true, .. } => format!("    ! {}", first_line(output)),
        JobEvent::Planned { todos } => {
            let done = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
            let now = todos.iter().find(|todo| todo.status == TodoStatus::InProgress);
            let now = now.map(|todo| format!(": {}", todo.content)).unwrap_or_default();
            format!("  plan: {done} of {} done{now}", todos.len())
        }
        JobEvent::StartedOver { why } => format!("starting over: {why}"),
        JobEvent::Waiting { why, until } => format!("waiting until {until}: {why}"),
        JobEvent::Pushed { .. } => "  the branch is in the repository".to_owned(),
        JobEvent::Status { .. }
        | JobEvent::Asked { .. }
        | JobEvent::Delta { .. }
        | JobEvent::Replied { .. }
        | JobEvent::Answered { is_error: false, .. }
        | JobEvent::PullRequest { .. } => return None,
    };
    Some(shortened(&text, WIDTH)).filter(|line| !line.trim().is_empty())
}

/// The command of a call: some tools combine several commands.
fn verb<'a>(name: &'a str, input: &'a Value) -> &'a str {
    input["command"].as_str().unwrap_or(name)
}

/// The scalar arguments of a call, each shortened.
fn arguments(input: &Value) -> String {
    let Some(members) = input.as_object() else { return String::new() };
    let mut text = String::new();
    for (_, value) in members.iter().filter(|(name, _)| *name != "command") {
        let value = match value {
            Value::String(value) => shortened(first_line(value), ARGUMENT),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => continue,
        };
        text.push(' ');
        text.push_str(&value);
    }
    text
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

/// The text on one line, cut to this many characters, without terminal control characters.
fn shortened(text: &str, limit: usize) -> String {
    let line = printable(text).replace(['\n', '\t'], " ");
    if line.chars().count() <= limit {
        return line;
    }
    let mut short: String = line.chars().take(limit - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use docent_types::{FinishReason, Todo, TodoPriority, Usage, is_unprintable};
    use serde_json::json;

    use super::*;

    #[test]
    fn each_step_is_one_line() {
        let called = |name: &str, input| JobEvent::Called { id: "1".into(), name: name.into(), input };
        let todo = |content: &str, status| Todo {
            id: content.into(),
            content: content.into(),
            status,
            priority: TodoPriority::High,
        };
        let answered = |output: &str, is_error| JobEvent::Answered { id: "1".into(), output: output.into(), is_error };
        for (event, expected) in [
            (JobEvent::Said { text: "I look\nat it.".into() }, Some("I look at it.")),
            (called("read", json!({ "lines": 20, "path": "a.md", "within": [1] })), Some("  read 20 a.md")),
            (called("write", json!({ "path": "a.md", "text": "# A\n\nlong" })), Some("  write a.md # A")),
            (called("editor", json!({ "command": "view", "path": "a.md" })), Some("  view a.md")),
            (called("odd", json!("no object")), Some("  odd")),
            (called("finish", json!({ "title": "Done" })), None),
            (answered("there is no a.md\nmore", true), Some("    ! there is no a.md")),
            (answered("# A", false), None),
            (
                JobEvent::Planned {
                    todos: vec![todo("look", TodoStatus::Completed), todo("write", TodoStatus::InProgress)],
                },
                Some("  plan: 1 of 2 done: write"),
            ),
            (JobEvent::Replied { reason: FinishReason::Stop, usage: Usage::default() }, None),
            (JobEvent::Said { text: " \n".into() }, None),
        ] {
            assert_eq!(line(&event).as_deref(), expected, "{event:?}");
        }
    }

    #[test]
    fn control_characters_are_removed_and_long_lines_cut() {
        let said = JobEvent::Said { text: format!("\u{1b}[2J\u{202e}\u{7}{}", "ü".repeat(500)) };
        let line = line(&said).expect("a line");
        assert!(!line.contains(is_unprintable));
        assert_eq!(line.chars().count(), WIDTH);
    }
}
