//! The journal: what was decided and done for a job, in order.

use docent_types::{Halt, JobStatus, Message, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One journal entry. `seq` begins at 1 and has no gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub seq: u64,
    pub at: Timestamp,
    pub body: EntryBody,
}

/// What an entry records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum EntryBody {
    /// A new job's request or a follow-up.
    Instruction(Instruction),
    /// The job changed its status.
    Transition {
        to: JobStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        halt: Option<Halt>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A lease was granted, or an expired one taken over (`rescued`).
    Leased { token: u64, holder: String, rescued: bool },
    /// An attempt ended and will be tried again.
    Retry { why: String, not_before: Timestamp },
    /// What the worker did. The worker defines `kind` and the shape of `data`.
    Work { kind: String, data: Value },
}

/// What a caller asks the agent to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    pub messages: Vec<Message>,
    /// Whether the branch that changes go to is merged into the job's branch before the work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub updates_branch: bool,
}

impl Instruction {
    pub const fn new(messages: Vec<Message>) -> Self {
        Self { messages, updates_branch: false }
    }
}
