//! What anyone may hear of a job while it runs, in no client's protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::job::{Halt, JobStatus, Todo};
use crate::stream::{FinishReason, Usage};

/// One thing that happened to a job, or that it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEvent {
    /// The job is in this state now. `halt` and `message` come with the end of a turn.
    Status { status: JobStatus, halt: Option<Halt>, message: Option<String> },
    /// Somebody asked for this: the job's prompt or a follow-up.
    Asked { text: String },
    /// A piece of what the agent is about to have [said](Self::Said), as it comes from the model. It is heard live or not
    /// at all. `at` counts the bytes that came before it in the same reply: 0 again means that the reply was cut and comes
    /// anew.
    Delta { at: usize, text: String },
    /// The agent's words of one reply, whole.
    Said { text: String },
    /// The agent calls a tool.
    Called { id: String, name: String, input: Value },
    /// One reply of the model is over; its calls, if any, run now.
    Replied { reason: FinishReason, usage: Usage },
    /// What a tool call came to: text for the model.
    Answered { id: String, output: String, is_error: bool },
    /// The plan, whole.
    Planned { todos: Vec<Todo> },
    /// What was done since the turn began was thrown away, because of this.
    StartedOver { why: String },
    /// Something outside failed; the job goes on at `until`.
    Waiting { why: String, until: Timestamp },
    /// The commit, in hex, is on the job's branch.
    Pushed { commit: String },
    /// All that was pushed is in this pull request.
    PullRequest { url: String },
}
