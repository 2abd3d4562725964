//! The JSON of a job event.

use bytes::{BufMut, BytesMut};
use docent_jobs::Entry;
use docent_types::{FinishReason, JobEvent, Timestamp, Todo, Usage};
use serde::Serialize;
use serde_json::Value;

/// One event; all fields of a variant are always present.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum EventBody<'a> {
    Status { status: &'static str, message: Option<&'a str> },
    Asked { text: &'a str },
    Delta { at: usize, text: &'a str },
    Said { text: &'a str },
    Called { id: &'a str, name: &'a str, input: &'a Value },
    Replied { reason: FinishReason, usage: UsageBody },
    Answered { id: &'a str, output: &'a str, is_error: bool },
    Planned { todos: &'a [Todo] },
    StartedOver { why: &'a str },
    Waiting { why: &'a str, until: Timestamp },
    Pushed { commit: &'a str },
    PullRequest { url: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageBody {
    input_tokens: u64,
    output_tokens: u64,
    cached_input_tokens: u64,
}

/// The common fields of all journal events.
#[derive(Debug, Serialize)]
struct JournalEvent<'a> {
    #[serde(flatten)]
    event: &'a EventBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Timestamp>,
}

impl<'a> From<&'a JobEvent> for EventBody<'a> {
    fn from(event: &'a JobEvent) -> Self {
        match event {
            JobEvent::Status { status, halt: _, message } => {
                Self::Status { status: status.as_str(), message: message.as_deref() }
            }
            JobEvent::Asked { text } => Self::Asked { text },
            JobEvent::Delta { at, text } => Self::Delta { at: *at, text },
            JobEvent::Said { text } => Self::Said { text },
            JobEvent::Called { id, name, input } => Self::Called { id, name, input },
            JobEvent::Replied { reason, usage } => Self::Replied { reason: *reason, usage: (*usage).into() },
            JobEvent::Answered { id, output, is_error } => Self::Answered { id, output, is_error: *is_error },
            JobEvent::Planned { todos } => Self::Planned { todos },
            JobEvent::StartedOver { why } => Self::StartedOver { why },
            JobEvent::Waiting { why, until } => Self::Waiting { why, until: *until },
            JobEvent::Pushed { commit } => Self::Pushed { commit },
            JobEvent::PullRequest { url } => Self::PullRequest { url },
        }
    }
}

impl From<Usage> for UsageBody {
    fn from(usage: Usage) -> Self {
        let Usage { input_tokens, output_tokens, cached_input_tokens } = usage;
        Self { input_tokens, output_tokens, cached_input_tokens }
    }
}

impl EventBody<'_> {
    /// The event name for clients; the same as `type` in the data.
    const fn name(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Asked { .. } => "asked",
            Self::Delta { .. } => "delta",
            Self::Said { .. } => "said",
            Self::Called { .. } => "called",
            Self::Replied { .. } => "replied",
            Self::Answered { .. } => "answered",
            Self::Planned { .. } => "planned",
            Self::StartedOver { .. } => "startedOver",
            Self::Waiting { .. } => "waiting",
            Self::Pushed { .. } => "pushed",
            Self::PullRequest { .. } => "pullRequest",
        }
    }
}

/// Appends one server-sent event. `entry` is its journal entry, and `is_last` whether it is the entry's last event.
pub(crate) fn write_event(event: &EventBody<'_>, entry: Option<&Entry>, is_last: bool, out: &mut BytesMut) {
    if let Some(entry) = entry.filter(|_| is_last) {
        out.extend_from_slice(format!("id: {}\n", entry.seq).as_bytes());
    }
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(event.name().as_bytes());
    out.extend_from_slice(b"\ndata: ");
    let placed = JournalEvent { event, seq: entry.map(|entry| entry.seq), time: entry.map(|entry| entry.at) };
    // JSON escapes line breaks, so the value is one line; and a growing buffer accepts every write.
    let written = serde_json::to_writer(out.writer(), &placed);
    debug_assert!(written.is_ok(), "an event always serialises");
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use docent_jobs::EntryBody;
    use docent_types::{JobStatus, TodoPriority, TodoStatus};
    use serde_json::json;

    use super::*;

    fn written(event: &JobEvent, is_last: bool) -> String {
        let body = EntryBody::Leased { token: 1, holder: "node".into(), rescued: false };
        let entry = Entry { seq: 7, at: Timestamp::from_millis(0), body };
        let live = matches!(event, JobEvent::Delta { .. });
        let mut out = BytesMut::new();
        write_event(&EventBody::from(event), Some(&entry).filter(|_| !live), is_last, &mut out);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn every_event_is_one_frame_under_its_own_name() {
        let todo = Todo {
            id: "1".into(),
            content: "Look".into(),
            status: TodoStatus::InProgress,
            priority: TodoPriority::High,
        };
        let text = "a\n\"b\"".to_owned();
        for (event, name, fields) in [
            (
                JobEvent::Status { status: JobStatus::Active, halt: None, message: None },
                "status",
                json!({"status": "active", "message": null}),
            ),
            (JobEvent::Asked { text: text.clone() }, "asked", json!({ "text": text })),
            (JobEvent::Delta { at: 3, text: text.clone() }, "delta", json!({"at": 3, "text": text})),
            (JobEvent::Said { text: text.clone() }, "said", json!({ "text": text })),
            (
                JobEvent::Called { id: "c".into(), name: "read".into(), input: json!({"path": "a.md"}) },
                "called",
                json!({"id": "c", "name": "read", "input": {"path": "a.md"}}),
            ),
            (
                JobEvent::Replied { reason: FinishReason::ToolCalls, usage: Usage::of(1, 2) },
                "replied",
                json!({
                    "reason": "tool-calls",
                    "usage": {"inputTokens": 1, "outputTokens": 2, "cachedInputTokens": 0}
                }),
            ),
            (
                JobEvent::Answered { id: "c".into(), output: text.clone(), is_error: true },
                "answered",
                json!({"id": "c", "output": text, "isError": true}),
            ),
            (
                JobEvent::Planned { todos: vec![todo] },
                "planned",
                json!({"todos": [{"id": "1", "content": "Look", "status": "in_progress", "priority": "high"}]}),
            ),
            (JobEvent::StartedOver { why: "w".into() }, "startedOver", json!({"why": "w"})),
            (
                JobEvent::Waiting { why: "w".into(), until: Timestamp::from_millis(1) },
                "waiting",
                json!({"why": "w", "until": "1970-01-01T00:00:00.001Z"}),
            ),
            (JobEvent::Pushed { commit: "c0ffee".into() }, "pushed", json!({"commit": "c0ffee"})),
            (JobEvent::PullRequest { url: "http://a/1".into() }, "pullRequest", json!({"url": "http://a/1"})),
        ] {
            let frame = written(&event, false);
            let data = frame.strip_prefix(&format!("event: {name}\ndata: ")).unwrap_or_else(|| panic!("{frame}"));
            let data = data.strip_suffix("\n\n").expect("a blank line ends it");
            assert!(!data.contains('\n'), "{data}");
            let mut expected = fields;
            expected["type"] = json!(name);
            if name != "delta" {
                expected["seq"] = json!(7);
                expected["time"] = json!("1970-01-01T00:00:00.000Z");
            }
            assert_eq!(serde_json::from_str::<Value>(data).unwrap(), expected);
        }
    }

    #[test]
    fn the_last_event_of_an_entry_carries_its_id() {
        let event = JobEvent::Pushed { commit: "c0ffee".into() };
        assert!(written(&event, true).starts_with("id: 7\nevent: pushed\n"));
        assert!(!written(&event, false).contains("id: "));
    }
}
