//! The events of a job while it runs, independent of any client's protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::job::{Halt, JobStatus, Todo};
use crate::stream::{FinishReason, Usage};

/// One event of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEvent {
    /// The job's new status. `halt` and `message` come at the end of a turn.
    Status { status: JobStatus, halt: Option<Halt>, message: Option<String> },
    /// An instruction: the job's prompt or a follow-up.
    Asked { text: String },
    /// A piece of the text that the agent is about to have [said](Self::Said), as the model streams it. Only sent live.
    /// `at` is the number of bytes before it in the same reply: 0 again means that the reply was cut off and is
    /// repeated.
    Delta { at: usize, text: String },
    /// The agent's text of one complete reply.
    Said { text: String },
    /// The agent calls a tool.
    Called { id: String, name: String, input: Value },
    /// One reply of the model is over; its calls, if any, run now.
    Replied { reason: FinishReason, usage: Usage },
    /// The result of a tool call: text for the model.
    Answered { id: String, output: String, is_error: bool },
    /// The complete plan.
    Planned { todos: Vec<Todo> },
    /// The work of this turn was discarded, for this reason.
    StartedOver { why: String },
    /// A failure outside; the job continues at `until`.
    Waiting { why: String, until: Timestamp },
    /// The commit, in hex, is on the job's branch.
    Pushed { commit: String },
    /// Everything pushed is in this pull request.
    PullRequest { url: String },
}
