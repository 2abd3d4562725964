//! A model that answers from what it is shown: the same transcript gives the same reply, in any process.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_types::{FinishReason, Role, Usage};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

type Meanwhile = Box<dyn FnOnce() + Send>;

/// Carries out a plan, one tool call a reply. It counts its own replies in the transcript to know how far it is.
pub(super) struct Planned {
    plan: Vec<(&'static str, Value)>,
    /// What happens outside while the reply with this number is on its way, once.
    meanwhile: Mutex<Vec<(usize, Meanwhile)>>,
    asked: Mutex<usize>,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planned").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Planned {
    pub(super) fn new(plan: Vec<(&'static str, Value)>) -> Self {
        Self { plan, meanwhile: Mutex::default(), asked: Mutex::default() }
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

    /// While the reply with this number, counted from 1, is on its way, this happens.
    pub(super) fn meanwhile(&self, reply: usize, happens: impl FnOnce() + Send + 'static) {
        self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner).push((reply, Box::new(happens)));
    }

    /// How often it was asked.
    pub(super) fn asked(&self) -> usize {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn finish(title: &str, summary: &str) -> (&'static str, Value) {
    ("finish", json!({ "outcome": "done", "title": title, "summary": summary }))
}

#[async_trait]
impl Model for Planned {
    fn describe(&self) -> Description {
        Description::new("planned", "planned")
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let number = request.messages.iter().filter(|message| message.role == Role::Assistant).count() + 1;
        let mut meanwhile = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = meanwhile.iter().position(|(reply, _)| *reply == number) {
            meanwhile.remove(index).1();
        }
        let (name, input) = self.plan.get(number - 1).cloned().expect("the plan goes on");
        let call = Event::ToolCall { id: format!("call-{number}"), name: name.to_owned(), input };
        let done = Event::Done { reason: FinishReason::ToolCalls, usage: Usage::default() };
        Ok(stream::iter([Ok(call), Ok(done)]).boxed())
    }
}
