//! A language model that carries out the tasks in its instructions step by step, and reads its progress from the
//! transcript.
//!
//! A task is written `[task 7 3]` in an instruction: task 7, in three steps. Each step writes a page of its own. Two
//! calls for the same step give different replies: a reply counts once it is in the journal.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_authoring::record::Record;
use docent_builtin::Builtin;
use docent_llm::{Description, Event, EventStream, Model, ModelError, ModelErrorKind, Request};
use docent_types::{ContentPart, FinishReason, Role, Usage};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use crate::git::records;
use crate::process::{Process, RequestKind};

/// The text of an instruction with one task.
pub(crate) fn task(number: u32, steps: u64) -> String {
    format!("Do [task {number} {steps}] please.")
}

/// The text of a step's page, which is in no instruction.
pub(crate) fn mark(number: u32, step: u64) -> String {
    format!("mark-{number}-{step};")
}

/// The tasks in a text, with their steps.
pub(crate) fn tasks(text: &str) -> Vec<(u32, u64)> {
    let parts = text.split("[task ").skip(1).filter_map(|rest| rest.split_once(']'));
    parts
        .filter_map(|(inside, _)| inside.split_once(' ').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))))
        .collect()
}

/// The language model as a process sees it.
#[derive(Debug)]
pub(crate) struct Writer(pub(crate) Arc<Process>);

impl Writer {
    fn fails(&self, request: &Request) -> Option<ModelError> {
        let (world, odds) = (&self.0.world, &self.0.world.plan.odds);
        if !request.tools.is_empty()
            && request.messages.len() > 3
            && world.goes_wrong("model is full", odds.model_is_full)
        {
            return Some(ModelError::new(ModelErrorKind::ContextTooLong, "the request was too long"));
        }
        if !world.goes_wrong("model fails", odds.model_fails) {
            return None;
        }
        let wait = world.chance().happens(0.5).then_some(Duration::from_secs(20));
        let kinds = [
            ModelErrorKind::RateLimited { retry_after: wait },
            ModelErrorKind::Overloaded { retry_after: wait },
            ModelErrorKind::Unreachable,
        ];
        let kind = kinds[world.chance().place(kinds.len())];
        Some(ModelError::new(kind, "the model has no time"))
    }

    /// Checks that the replies before this call are flushed, so that no paid call is repeated.
    fn must_be_written_down(&self, request: &Request, asked: &[(u32, u64)]) {
        let world = &self.0.world;
        let rows = world.disk.rows();
        let asks = |id| {
            let said = serde_json::to_string(&world.disk.journal(id)).unwrap_or_default();
            tasks(&said).iter().any(|task| asked.contains(task))
        };
        let Some(row) = rows.iter().find(|row| asks(row.id())) else { return };
        let shown = parts(request).filter(|part| matches!(part, ContentPart::ToolResult { .. })).count();
        let journal = world.disk.lasting_journal(row.id());
        let written: usize = records(journal.iter().map(|entry| &entry.body))
            .map(|record| if let Record::Ran { results, .. } = record { results.len() } else { 0 })
            .sum();
        if shown > written {
            world.violated(format_args!(
                "the model is shown {shown} results, and the journal on the disk holds {written}"
            ));
        }
    }

    fn reply(&self, request: &Request, asked: &[(u32, u64)]) -> Vec<Event> {
        let is_done = |number: u32, step: u64| {
            let mark = mark(number, step);
            parts(request).any(|part| match part {
                ContentPart::Text { text } => text.contains(&mark),
                ContentPart::ToolCall { input, .. } => input.to_string().contains(&mark),
                ContentPart::ToolResult { .. } => false,
            })
        };
        let steps = asked.iter().flat_map(|(number, steps)| (1..=*steps).map(|step| (*number, step)));
        let (done, left): (Vec<_>, Vec<_>) = steps.partition(|(number, step)| is_done(*number, *step));
        if request.tools.is_empty() {
            let marks: Vec<String> = done.iter().map(|(number, step)| mark(*number, *step)).collect();
            return vec![Event::TextDelta(format!("Done so far: {}", marks.join(" ")))];
        }
        let at_once = 1 + self.0.world.chance().place(2);
        let nonce = self.0.world.chance().number();
        let mut calls: Vec<(&str, Value)> = Vec::new();
        for (number, step) in left.into_iter().take(at_once) {
            let words = format!("---\ntitle: Page {number} {step}\n---\n\n{} {nonce:016x}\n", mark(number, step));
            calls.push(("write", json!({ "path": format!("page-{number}-{step}.md"), "content": words })));
        }
        if calls.is_empty() {
            let told = json!({ "outcome": "done", "title": "Do the tasks", "summary": "The tasks are done." });
            calls.push(("finish", told));
        }
        let call = |(index, (name, input)): (usize, (&str, Value))| Event::ToolCall {
            id: format!("call-{nonce:016x}-{index}"),
            name: name.to_owned(),
            input,
        };
        calls.into_iter().enumerate().map(call).collect()
    }
}

fn parts(request: &Request) -> impl Iterator<Item = &ContentPart> {
    request.messages.iter().flat_map(|message| &message.parts)
}

/// The tasks in a request.
fn asked(request: &Request) -> Vec<(u32, u64)> {
    let said = request.messages.iter().filter(|message| message.role == Role::User);
    let mut asked: Vec<_> = said.flat_map(|message| tasks(&message.plain_text())).collect();
    asked.dedup();
    asked
}

#[async_trait]
impl Model for Writer {
    fn describe(&self) -> Description {
        Description::new("sim", "writer")
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let (process, world) = (&self.0, &self.0.world);
        process.sends(RequestKind::Model).await;
        let asked = asked(&request);
        self.must_be_written_down(&request, &asked);
        if let Some(error) = self.fails(&request) {
            return Err(error);
        }
        let mut events: Vec<_> = self.reply(&request, &asked).into_iter().map(Ok).collect();
        if world.goes_wrong("model breaks off", world.plan.odds.model_breaks_off) {
            events.push(Err(ModelError::new(ModelErrorKind::Interrupted, "the reply broke off")));
        } else {
            let reason = if request.tools.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
            // Sometimes the model reports that its context is nearly full.
            let input_tokens = if world.chance().happens(0.05) { 120_000 } else { 0 };
            events.push(Ok(Event::Done { reason, usage: Usage { input_tokens, ..Usage::default() } }));
        }
        process.receives(RequestKind::Model).await;
        let listener = Arc::clone(process);
        let told = stream::iter(events).then(move |event| {
            let listener = Arc::clone(&listener);
            async move {
                listener.sends(RequestKind::Word).await;
                listener.runs();
                event
            }
        });
        Ok(told.boxed())
    }
}

/// The builtin model in its process.
#[derive(Debug)]
pub(crate) struct Local(pub(crate) Arc<Process>);

#[async_trait]
impl Model for Local {
    fn describe(&self) -> Description {
        Builtin.describe()
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        self.0.moves().await;
        let told = Builtin.stream(request).await;
        self.0.receives(RequestKind::Model).await;
        told
    }
}
