//! The events of a job as the reply of a chat: a state machine from job events to stream events.
//!
//! ```text
//!   Start  (StepStart  text*  ToolCall*  ToolResult*  StepFinish)*  Finish          one step per reply of the model
//!          └── Data anywhere between: status, todos, pull request ──┘
//! ```
//!
//! A step is open from the first text or call of a reply until all its calls have results. Text is sent as it streams
//! from the model; when the journal entry arrives, only the text not sent yet is added. An open part is closed before
//! another event, so the output is always well-formed.

use std::collections::HashSet;
use std::sync::Arc;

use docent_types::{AgentJob, FinishReason, Halt, JobEvent, JobStatus, MessageId, StreamEvent, ToolOutput, Usage};
use serde_json::{Value, json};

use crate::session::hault_reason;

/// Maximum number of characters that are sent of a tool's output.
const LONGEST_OUTPUT: usize = 2_000;

/// The events of one job for one client.
#[derive(Debug)]
pub(crate) struct JobChat {
    message: MessageId,
    session: String,
    branch: String,
    step: Option<Step>,
    /// The text of the newest reply.
    last_text: String,
    /// Whether the newest status has details that no longer apply once the job continues.
    has_details: bool,
    steps: usize,
    texts: usize,
    calls: HashSet<String>,
    usage: Usage,
    reason: FinishReason,
}

/// A reply of the model and the results of its calls.
#[derive(Debug, Default)]
struct Step {
    text: Option<Text>,
    calls: Vec<Call>,
    /// Set when the reply is complete.
    replied: Option<(FinishReason, Usage)>,
}

/// An open text.
#[derive(Debug)]
struct Text {
    id: Arc<str>,
    sent: String,
}

/// A call without a result.
#[derive(Debug)]
struct Call {
    id: String,
    /// The call's id in the stream, which is unique there: models reuse their ids.
    stream_id: String,
}

impl JobChat {
    pub(crate) fn new(job: &AgentJob) -> Self {
        Self {
            // The same job always has the same message id.
            message: MessageId::new(job.id.uuid()),
            session: job.id.to_string(),
            branch: job.source.branch.clone(),
            step: None,
            last_text: String::new(),
            has_details: false,
            steps: 0,
            texts: 0,
            calls: HashSet::new(),
            usage: Usage::default(),
            reason: FinishReason::Other,
        }
    }

    /// The events before all others.
    pub(crate) fn begin(&self) -> StreamEvent {
        StreamEvent::Start { message_id: self.message, thread_id: None }
    }

    /// Converts one job event to stream events.
    pub(crate) fn events_of(&mut self, event: JobEvent) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        let is_about_job = matches!(
            event,
            JobEvent::Status { .. } | JobEvent::Asked { .. } | JobEvent::StartedOver { .. } | JobEvent::Waiting { .. }
        );
        if !is_about_job && std::mem::take(&mut self.has_details) {
            out.push(self.status(JobStatus::Active, &json!({})));
        }
        match event {
            JobEvent::Status { status, halt, message } => {
                self.change_status(status, halt, message.as_deref(), &mut out);
            }
            JobEvent::Delta { at, text } => self.add_live_text(at, &text, &mut out),
            JobEvent::Said { text } => self.add_text(text, &mut out),
            JobEvent::Called { id, name, input } => self.calls(id, name, input, &mut out),
            JobEvent::Replied { reason, usage } => self.replied(reason, usage, &mut out),
            JobEvent::Answered { id, output, is_error } => self.answered(&id, output, is_error, &mut out),
            JobEvent::Planned { todos } => out.push(data("todos", json!({ "todos": todos }))),
            JobEvent::PullRequest { url } => out.push(data("pull-request", json!({ "url": url }))),
            JobEvent::StartedOver { why } => {
                self.close("Discarded: the turn starts over.", &mut out);
                out.push(self.status(JobStatus::Active, &json!({ "startedOver": why })));
                self.has_details = true;
            }
            JobEvent::Waiting { why, until } => {
                out.push(self.status(JobStatus::Active, &json!({ "waiting": { "why": why, "until": until } })));
                self.has_details = true;
            }
            JobEvent::Asked { .. } | JobEvent::Pushed { .. } => {}
        }
        out
    }

    /// The events after all others.
    pub(crate) fn end(&mut self) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        self.close("Not answered: the job ended.", &mut out);
        if self.steps == 0 {
            // A reply has at least one step.
            self.open(&mut out);
            self.close("", &mut out);
        }
        out.push(StreamEvent::Finish { reason: self.reason, usage: self.usage, thread_id: None });
        out
    }

    fn change_status(
        &mut self,
        status: JobStatus,
        halt: Option<Halt>,
        message: Option<&str>,
        out: &mut Vec<StreamEvent>,
    ) {
        self.has_details = false;
        if status == JobStatus::Active {
            self.last_text.clear();
            out.push(self.status(status, &json!({})));
            return;
        }
        self.close("Not answered: the job ended.", out);
        let halt = halt.unwrap_or(Halt::Error);
        self.reason = if halt == Halt::Completed { FinishReason::Stop } else { FinishReason::Error };
        out.push(self.status(status, &json!({ "haultReason": hault_reason(halt) })));
        // The agent's last text is often also the final message.
        if let Some(message) = message.filter(|message| !self.last_text.contains(message.trim())) {
            self.add_text(message.to_owned(), out);
            self.close("", out);
        }
    }

    fn add_live_text(&mut self, at: usize, text: &str, out: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        let step = self.reply(out);
        match &mut step.text {
            Some(open) if open.sent.len() == at => {
                open.sent.push_str(text);
                out.push(StreamEvent::TextDelta { id: Arc::clone(&open.id), text: text.to_owned() });
            }
            // The beginning of the reply, or of its repetition after a retry.
            _ if at == 0 => {
                self.end_text(out);
                self.begin_text(text.to_owned(), out);
            }
            // A piece is missing. The journal's entry will contain the whole text.
            _ => {}
        }
    }

    fn add_text(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        self.last_text.clone_from(&text);
        let step = self.reply(out);
        let rest =
            step.text.as_ref().and_then(|open| Some((Arc::clone(&open.id), text.strip_prefix(&open.sent)?.to_owned())));
        if let Some((id, rest)) = rest {
            if !rest.is_empty() {
                out.push(StreamEvent::TextDelta { id, text: rest });
            }
        } else {
            self.end_text(out);
            self.begin_text(text, out);
        }
        self.end_text(out);
    }

    fn calls(&mut self, id: String, name: String, input: Value, out: &mut Vec<StreamEvent>) {
        self.reply(out);
        self.end_text(out);
        let mut stream_id = id.clone();
        for count in 2_u32.. {
            if self.calls.insert(stream_id.clone()) {
                break;
            }
            stream_id = format!("{id}-{count}");
        }
        self.reply(out).calls.push(Call { id, stream_id: stream_id.clone() });
        out.push(StreamEvent::ToolCall { id: stream_id, name, input });
    }

    fn replied(&mut self, reason: FinishReason, usage: Usage, out: &mut Vec<StreamEvent>) {
        self.usage += usage;
        self.end_text(out);
        if let Some(step) = &mut self.step {
            step.replied = Some((reason, usage));
            self.close_if_done(out);
        }
    }

    fn answered(&mut self, id: &str, output: String, is_error: bool, out: &mut Vec<StreamEvent>) {
        let Some(step) = &mut self.step else { return };
        let Some(place) = step.calls.iter().position(|call| call.id == id) else { return };
        let call = step.calls.remove(place);
        let output = shortened(output);
        let output = if is_error { ToolOutput::Error(output) } else { ToolOutput::Json(output.into()) };
        out.push(StreamEvent::ToolResult { id: call.stream_id, output });
        self.close_if_done(out);
    }

    /// The step of the current reply; opens a new one, closing the previous, if necessary.
    fn reply(&mut self, out: &mut Vec<StreamEvent>) -> &mut Step {
        if self.step.as_ref().is_some_and(|step| step.replied.is_some()) {
            self.close("Not answered: the agent went on without it.", out);
        }
        self.open(out)
    }

    fn open(&mut self, out: &mut Vec<StreamEvent>) -> &mut Step {
        self.step.get_or_insert_with(|| {
            self.steps += 1;
            out.push(StreamEvent::StepStart);
            Step::default()
        })
    }

    fn close_if_done(&mut self, out: &mut Vec<StreamEvent>) {
        if self.step.as_ref().is_some_and(|step| step.replied.is_some() && step.calls.is_empty()) {
            self.close("", out);
        }
    }

    /// Closes the open step, even if calls have no result.
    fn close(&mut self, unanswered: &str, out: &mut Vec<StreamEvent>) {
        self.end_text(out);
        let Some(step) = self.step.take() else { return };
        let left = step.calls.into_iter();
        out.extend(left.map(|call| StreamEvent::ToolResult {
            id: call.stream_id,
            output: ToolOutput::Error(unanswered.to_owned()),
        }));
        let (reason, usage) = step.replied.unwrap_or((FinishReason::Other, Usage::default()));
        out.push(StreamEvent::StepFinish { reason, usage });
    }

    fn begin_text(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        self.texts += 1;
        let id: Arc<str> = format!("text-{}", self.texts).into();
        out.push(StreamEvent::TextStart { id: Arc::clone(&id) });
        out.push(StreamEvent::TextDelta { id: Arc::clone(&id), text: text.clone() });
        self.open(out).text = Some(Text { id, sent: text });
    }

    fn end_text(&mut self, out: &mut Vec<StreamEvent>) {
        if let Some(text) = self.step.as_mut().and_then(|step| step.text.take()) {
            out.push(StreamEvent::TextEnd { id: text.id });
        }
    }

    /// The status of the job, with `more` data.
    fn status(&self, status: JobStatus, more: &Value) -> StreamEvent {
        let mut value = json!({ "sessionId": self.session, "status": status.as_str(), "branch": self.branch });
        for (name, more) in more.as_object().into_iter().flatten() {
            value[name] = more.clone();
        }
        data("status", value)
    }
}

/// Data that replaces earlier data of this name.
fn data(name: &'static str, value: Value) -> StreamEvent {
    StreamEvent::Data { name, id: Some(name.to_owned()), value }
}

fn shortened(mut output: String) -> String {
    if let Some((end, _)) = output.char_indices().nth(LONGEST_OUTPUT) {
        output.truncate(end);
        output.push('…');
    }
    output
}

#[cfg(test)]
mod tests;
