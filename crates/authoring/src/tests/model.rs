//! A model whose reply depends on the request alone: the same transcript gives the same reply, in any process.

use std::fmt;

use async_trait::async_trait;
use docent_llm::{Description, Editor, Event, EventStream, Model, ModelError, Request};
use docent_types::{ContentPart, FinishReason, Usage};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::{Value, json};

type Meanwhile = Box<dyn FnOnce() + Send>;

/// The calls of one reply.
type Calls = Vec<(&'static str, Value)>;

/// Follows a plan, reply by reply. It counts its own calls in the transcript to find its position, and after a
/// compaction those in its notes.
pub(super) struct Planned {
    plan: Vec<Calls>,
    description: Description,
    notes_taken: Mutex<usize>,
    /// What happens outside, once, while the reply with this number is in progress.
    meanwhile: Mutex<Vec<(usize, Meanwhile)>>,
    asked: Mutex<usize>,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planned").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Planned {
    /// One call a reply.
    pub(super) fn new(plan: Calls) -> Self {
        Self::in_rounds(plan.into_iter().map(|call| vec![call]).collect())
    }

    fn in_rounds(plan: Vec<Calls>) -> Self {
        let description = Description::new("planned", "planned");
        let (meanwhile, asked, notes_taken) = Default::default();
        Self { plan, description, notes_taken, meanwhile, asked }
    }

    /// Reads, plans, changes two pages and finishes: six replies.
    pub(super) fn six_steps() -> Self {
        let todo = |status: &str| json!({ "todos": [{ "content": "Rename it", "status": status }] });
        let edit = |path: &str| json!({ "path": path, "old": "Widget", "new": "Gadget" });
        Self::new(vec![
            ("read", json!({ "path": "index.md" })),
            ("todo_write", todo("in_progress")),
            ("edit", edit("index.md")),
            ("edit", edit("setup.md")),
            ("todo_write", todo("completed")),
            finish("Rename the Widget", "The Widget is a Gadget now."),
        ])
    }

    /// Twelve replies, some with several calls, one of them refused, with so little context that the transcript must be
    /// compacted.
    pub(super) fn twelve_steps(editor: Editor) -> Self {
        let todo = |status: &str| ("todo_write", json!({ "todos": [{ "content": "Rename it", "status": status }] }));
        let edit = |path: &str, old: &str, new: &str| match editor {
            Editor::Separate => ("edit", json!({ "path": path, "old": old, "new": new })),
            Editor::TextEditor => {
                (TEXT_EDITOR, json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": new }))
            }
        };
        let read = |path: &str| match editor {
            Editor::Separate => ("read", json!({ "path": path })),
            Editor::TextEditor => (TEXT_EDITOR, json!({ "command": "view", "path": path })),
        };
        let write = |path: &str, text: &str| match editor {
            Editor::Separate => ("write", json!({ "path": path, "content": text })),
            Editor::TextEditor => (TEXT_EDITOR, json!({ "command": "create", "path": path, "file_text": text })),
        };
        let plan = vec![
            vec![("list", json!({})), read("index.md")],
            vec![todo("in_progress")],
            vec![read("long.md")],
            vec![edit("setup.md", "Gizmo", "Gadget")],
            vec![edit("index.md", "Widget", "Gadget"), edit("setup.md", "Widget", "Gadget")],
            vec![read("long.md"), read("setup.md")],
            vec![("search_text", json!({ "pattern": "Widget" }))],
            vec![read("other.md"), read("long.md")],
            vec![write("new.md", "---\ntitle: New\n---\n\nThe Gadget is new.\n")],
            vec![edit("other.md", "Nothing of note", "Much to see"), read("new.md")],
            vec![todo("completed")],
            vec![finish("Rename the Widget", "The Widget is a Gadget now.")],
        ];
        let mut planned = Self::in_rounds(plan);
        planned.description.editor = editor;
        planned.description.context_tokens = 24_000;
        planned
    }

    /// Moves pages to impossible places, all in one reply, changes another page and finishes.
    pub(super) fn moves_in_vain(places: &[&str]) -> Self {
        let moves = |to: &&str| {
            [("move", json!({ "from": "index.md", "to": to })), ("move_page", json!({ "from": "index.md", "to": to }))]
        };
        Self::in_rounds(vec![
            places.iter().flat_map(moves).collect(),
            vec![("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" }))],
            vec![finish("Rename the Widget", "The Widget is a Gadget now.")],
        ])
    }

    /// The number of compactions.
    pub(super) fn notes_taken(&self) -> usize {
        *self.notes_taken.lock()
    }

    /// Runs `happens` while the reply with this number, counted from 1, is in progress.
    pub(super) fn meanwhile(&self, reply: usize, happens: impl FnOnce() + Send + 'static) {
        self.meanwhile.lock().push((reply, Box::new(happens)));
    }

    /// The number of requests.
    pub(super) fn asked(&self) -> usize {
        *self.asked.lock()
    }
}

pub(super) fn finish(title: &str, summary: &str) -> (&'static str, Value) {
    ("finish", json!({ "outcome": "done", "title": title, "summary": summary }))
}

const TEXT_EDITOR: &str = "str_replace_based_edit_tool";
const NOTES: &str = "Calls made: ";

/// The number of calls in a request.
fn calls_in(request: &Request) -> usize {
    let noted = |text: &str| text.rsplit_once(NOTES).and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let count = |part: &ContentPart| match part {
        ContentPart::ToolCall { .. } => 1,
        // The text to be summarized has a line for each call.
        ContentPart::Text { text } => {
            noted(text).unwrap_or(0)
                + text.lines().filter(|line| line.starts_with("- `") && line.contains("` {")).count()
        }
        ContentPart::ToolResult { .. } => 0,
    };
    parts.map(count).sum()
}

#[async_trait]
impl Model for Planned {
    fn describe(&self) -> Description {
        self.description.clone()
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let made = calls_in(&request);
        let usage = Usage::default();
        if request.tools.is_empty() {
            *self.notes_taken.lock() += 1;
            let notes = Event::TextDelta(format!("{NOTES}{made} so far"));
            let done = Event::Done { reason: FinishReason::Stop, usage };
            return Ok(stream::iter([Ok(notes), Ok(done)]).boxed());
        }
        *self.asked.lock() += 1;
        let mut before = 0;
        let round = self.plan.iter().position(|calls| {
            let is_next = before == made;
            before += calls.len();
            is_next
        });
        let round = round.unwrap_or_else(|| panic!("no reply of the plan follows {made} calls"));
        let mut meanwhile = self.meanwhile.lock();
        if let Some(index) = meanwhile.iter().position(|(reply, _)| *reply == round + 1) {
            meanwhile.remove(index).1();
        }
        let calls = self.plan[round].iter().enumerate().map(|(index, (name, input))| {
            let id = format!("call-{}", made + index + 1);
            Ok(Event::ToolCall { id, name: (*name).to_owned(), input: input.clone() })
        });
        let done = Event::Done { reason: FinishReason::ToolCalls, usage };
        Ok(stream::iter(calls.chain([Ok(done)]).collect::<Vec<_>>()).boxed())
    }
}
