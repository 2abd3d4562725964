//! A job's journal as events for its watchers.

use docent_jobs::{Entry, EntryBody, Instruction, LiveEvents};
use docent_llm::Event;
use docent_types::{ContentPart, JobEvent, Message, Role, Usage};
use serde::Deserialize;

use crate::record::Record;

/// The events of a journal entry, in order: none for an entry that only the next process needs.
///
/// A function of the entry alone, so a watcher who joins late or returns gets the same events.
pub fn job_events(entry: &Entry) -> Vec<JobEvent> {
    match &entry.body {
        EntryBody::Instruction(instruction) => instruction_events(instruction),
        EntryBody::Transition { to, halt, message } => {
            vec![JobEvent::Status { status: *to, halt: *halt, message: message.clone() }]
        }
        EntryBody::Retry { why, not_before } => vec![JobEvent::Waiting { why: why.clone(), until: *not_before }],
        // An entry of a newer version that cannot be parsed has no events.
        EntryBody::Work { data, .. } => Record::deserialize(data).map(record_events).unwrap_or_default(),
        EntryBody::Leased { .. } => Vec::new(),
    }
}

/// A step of the agent, as an entry records it when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentStep {
    /// A call of the model, and its tokens.
    Model(Usage),
    /// The tool calls of one reply.
    Tools,
}

/// The agent's step that a journal entry records, if it records one.
pub fn step_of(entry: &Entry) -> Option<AgentStep> {
    let EntryBody::Work { data, .. } = &entry.body else { return None };
    // Reads single fields instead of the whole record, which may be large.
    match data.get("did")?.as_str()? {
        "replied" | "compacted" => Usage::deserialize(data.get("usage")?).ok().map(AgentStep::Model),
        "ran" => Some(AgentStep::Tools),
        _ => None,
    }
}

/// The user's messages; if there are only system messages, those.
fn instruction_events(instruction: &Instruction) -> Vec<JobEvent> {
    let by = |role: Role| {
        let messages = instruction.messages.iter().filter(move |message| message.role == role);
        messages.map(|message| JobEvent::Asked { text: message.plain_text() })
    };
    let users: Vec<JobEvent> = by(Role::User).collect();
    if users.is_empty() { by(Role::System).collect() } else { users }
}

fn record_events(record: Record) -> Vec<JobEvent> {
    match record {
        Record::Replied { message, reason, usage } => {
            let text = reply_text(&message);
            let text_event = (!text.trim().is_empty()).then_some(JobEvent::Said { text });
            let called = message.parts.into_iter().filter_map(|part| match part {
                ContentPart::ToolCall { id, name, input } => Some(JobEvent::Called { id, name, input }),
                _ => None,
            });
            text_event.into_iter().chain(called).chain([JobEvent::Replied { reason, usage }]).collect()
        }
        Record::Ran { results, todos, .. } => {
            let answered = results.into_iter().map(|result| JobEvent::Answered {
                id: result.call_id,
                output: result.output,
                is_error: result.is_error,
            });
            answered.chain(todos.map(|todos| JobEvent::Planned { todos })).collect()
        }
        Record::Restarted { why } => vec![JobEvent::StartedOver { why }],
        Record::Pushed { commit, .. } => vec![JobEvent::Pushed { commit }],
        Record::PullRequest { url, .. } => vec![JobEvent::PullRequest { url }],
        Record::InstructionsRead { .. }
        | Record::Prepared(_)
        | Record::Compacted { .. }
        | Record::TooLong
        | Record::Expired { .. }
        | Record::Refused { .. }
        | Record::Committed { .. }
        | Record::Deleted
        | Record::Unchanged { .. }
        | Record::Included
        | Record::Ended { .. }
        | Record::Dropped { .. } => Vec::new(),
    }
}

/// The text of a reply as it streams, each piece with its offset in the text that the journal will hold.
pub(crate) struct LiveText {
    live_events: LiveEvents,
    at: usize,
    /// A tool call came since the last text.
    is_interrupted: bool,
}

impl LiveText {
    pub(crate) fn new(live_events: LiveEvents) -> Self {
        Self { live_events, at: 0, is_interrupted: false }
    }

    pub(crate) fn receive(&mut self, event: &Event) {
        match event {
            Event::TextDelta(delta) if !delta.is_empty() => {
                let before = if self.is_interrupted && self.at > 0 { TEXT_SEPARATOR } else { "" };
                let at = self.at;
                self.live_events.send(&JobEvent::Delta { at, text: format!("{before}{delta}") });
                self.at += before.len() + delta.len();
                self.is_interrupted = false;
            }
            Event::ToolCall { .. } => self.is_interrupted = true,
            Event::TextDelta(_) | Event::Done { .. } => {}
        }
    }
}

/// Separator of two texts of one reply with a tool call between them.
const TEXT_SEPARATOR: &str = "\n\n";

/// The text of a reply.
fn reply_text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        ContentPart::Text { text } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(TEXT_SEPARATOR)
}

#[cfg(test)]
mod tests {
    use docent_agent::ToolResult;
    use docent_types::{FinishReason, Halt, JobStatus, Timestamp, Todo, TodoPriority, TodoStatus, Usage};
    use serde_json::json;

    use super::*;
    use crate::record::TurnSummary;

    fn events_of(body: EntryBody) -> Vec<JobEvent> {
        job_events(&Entry { seq: 1, at: Timestamp::default(), body })
    }

    fn events_of_record(record: &Record) -> Vec<JobEvent> {
        let data = serde_json::to_value(record).expect("records are JSON");
        events_of(EntryBody::Work { kind: record.kind().to_owned(), data })
    }

    fn instructed(messages: &[(Role, &str)]) -> Vec<JobEvent> {
        let messages = messages.iter().map(|(role, text)| Message::text(*role, *text)).collect();
        events_of(EntryBody::Instruction(Instruction::new(messages)))
    }

    #[test]
    fn a_reply_is_told_as_its_words_its_calls_and_its_end() {
        let text = |text: &str| ContentPart::Text { text: text.into() };
        let call = ContentPart::ToolCall { id: "1".into(), name: "read".into(), input: json!({ "path": "a.md" }) };
        let parts = vec![text("I look."), call, text("Then I write.")];
        let (reason, usage) = (FinishReason::ToolCalls, Usage::of(3, 4));
        let message = Message { role: Role::Assistant, parts };
        assert_eq!(
            events_of_record(&Record::Replied { message, reason, usage }),
            [
                JobEvent::Said { text: "I look.\n\nThen I write.".into() },
                JobEvent::Called { id: "1".into(), name: "read".into(), input: json!({ "path": "a.md" }) },
                JobEvent::Replied { reason, usage },
            ]
        );
        let silent = Message { role: Role::Assistant, parts: vec![text(" \n")] };
        let events = events_of_record(&Record::Replied { message: silent, reason, usage });
        assert_eq!(events, [JobEvent::Replied { reason, usage }]);
    }

    #[test]
    fn a_step_is_a_call_of_the_model_or_a_batch_of_tools() {
        let step = |record: &Record| {
            let data = serde_json::to_value(record).expect("records are JSON");
            step_of(&Entry { seq: 1, at: Timestamp::default(), body: EntryBody::Work { kind: String::new(), data } })
        };
        let (usage, message) = (Usage::of(3, 4), Message::text(Role::Assistant, "So."));
        assert_eq!(
            step(&Record::Replied { message, reason: FinishReason::Stop, usage }),
            Some(AgentStep::Model(usage))
        );
        let compacted = Record::Compacted { summary: "Short.".into(), upto: 4, usage };
        assert_eq!(step(&compacted), Some(AgentStep::Model(usage)));
        let ran = Record::Ran { results: Vec::new(), digest: "d".into(), todos: None };
        assert_eq!((step(&ran), step(&Record::Deleted)), (Some(AgentStep::Tools), None));
    }

    #[test]
    fn the_answers_of_the_tools_are_told_and_the_plan_when_it_changed() {
        let result = ToolResult { call_id: "1".into(), output: "no such file".into(), is_error: true };
        let answered = JobEvent::Answered { id: "1".into(), output: "no such file".into(), is_error: true };
        let todo =
            |status| Todo { id: "1".into(), content: "Rename it".into(), status, priority: TodoPriority::Medium };
        let todos = vec![todo(TodoStatus::Pending)];
        let ran = |todos| Record::Ran { results: vec![result.clone()], digest: "d".into(), todos };
        assert_eq!(events_of_record(&ran(None)), std::slice::from_ref(&answered));
        assert_eq!(events_of_record(&ran(Some(todos.clone()))), [answered.clone(), JobEvent::Planned { todos }]);
        // The format from before plans were in the journal.
        let data = json!({ "did": "ran", "results": [result], "digest": "d" });
        assert_eq!(events_of(EntryBody::Work { kind: "ran".into(), data }), [answered]);
    }

    #[test]
    fn the_prompt_of_an_event_is_the_users_messages_or_the_systems() {
        let asked = |text: &str| JobEvent::Asked { text: text.into() };
        let both = instructed(&[(Role::System, "Be brief."), (Role::User, "Do it."), (Role::Assistant, "Like so.")]);
        assert_eq!(both, [asked("Do it.")]);
        assert_eq!(instructed(&[(Role::System, "Do it.")]), [asked("Do it.")]);
    }

    #[test]
    fn pull_requests_and_outcomes_become_events() {
        let at = Timestamp::from_millis(7);
        let transition =
            EntryBody::Transition { to: JobStatus::Failed, halt: Some(Halt::Error), message: Some("No.".into()) };
        let status =
            JobEvent::Status { status: JobStatus::Failed, halt: Some(Halt::Error), message: Some("No.".into()) };
        assert_eq!(events_of(transition), [status]);
        let retry = EntryBody::Retry { why: "busy".into(), not_before: at };
        assert_eq!(events_of(retry), [JobEvent::Waiting { why: "busy".into(), until: at }]);
        let over = events_of_record(&Record::Restarted { why: "it moved".into() });
        assert_eq!(over, [JobEvent::StartedOver { why: "it moved".into() }]);
        let part = TurnSummary {
            instructions: String::new(),
            title: String::new(),
            summary: String::new(),
            problems: None,
            undecided: Vec::new(),
        };
        let pushed = events_of_record(&Record::Pushed { commit: "c".into(), part });
        assert_eq!(pushed, [JobEvent::Pushed { commit: "c".into() }]);
    }

    #[test]
    fn leases_and_ends_make_no_events() {
        let leased = EntryBody::Leased { token: 1, holder: "here".into(), rescued: false };
        let newer = EntryBody::Work { kind: "sang".into(), data: json!({ "did": "sang" }) };
        assert_eq!(
            (events_of(leased), events_of(newer), events_of_record(&Record::Ended { failed: None })),
            (vec![], vec![], vec![])
        );
    }
}
