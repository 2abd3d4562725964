//! What authoring writes into a job's journal.
//!
//! Each [`Record`] is one journal entry. [`Progress`](crate::progress::Progress) reads them in order and knows where the
//! job stands. A field that came later has a default, so that the journals of before are still read.

use std::collections::BTreeMap;

use docent_agent::{self as agent, ToolResult};
use docent_types::{FinishReason, Message, Timestamp, Todo, Usage};
use serde::{Deserialize, Serialize};

use crate::signing::Signing;

/// One thing done for a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Record {
    /// The instructions up to this sequence number are in the transcript.
    Heard {
        /// Of the journal.
        upto: u64,
    },
    /// A turn began on this commit.
    Prepared {
        base: String,
        /// The tip of the job's branch on the remote, `None` when there is none.
        remote: Option<String>,
        /// The tip of the branch that pull requests go to: what is there, people have agreed to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agreed: Option<String>,
        /// The date of the commit to be.
        at: Timestamp,
        /// What has become of what the turns before pushed.
        #[serde(default, skip_serializing_if = "BranchState::is_as_left")]
        found: BranchState,
        /// The repositories that may be read beside the docs: the commit of each, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        context: BTreeMap<String, String>,
        /// Those that could not be fetched, and why.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        missing: BTreeMap<String, String>,
        /// Why the docs root is not there, when it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        no_docs: Option<String>,
        /// Whom the commit to be is by.
        #[serde(default, skip_serializing_if = "Signing::is_default")]
        signing: Signing,
    },
    /// The model's reply, before its tools run.
    Replied { message: Message, reason: FinishReason, usage: Usage },
    /// The answers to the tool calls of the last reply.
    Ran {
        results: Vec<ToolResult>,
        /// Stands for the overlay after them.
        digest: String,
        /// The plan, if they changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        todos: Option<Vec<Todo>>,
    },
    /// For the model, the summary stands for the first `upto` entries of the transcript from now on.
    Compacted { summary: String, upto: usize, usage: Usage },
    /// The model would not take the last request, as it was too long.
    TooLong,
    /// The turn's time is over.
    Expired { why: String },
    /// The turn starts over on a fresh base, because of this.
    Restarted { why: String },
    /// The mirror holds the turn's commit.
    Committed {
        commit: String,
        /// How the agent ended the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish: Option<agent::Finish>,
        /// What the checks of the docs found that was not there before, beyond what the summary tells of it; `None` when
        /// nobody looked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problems: Option<Vec<String>>,
        /// What could not be checked, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        doubts: Vec<String>,
    },
    /// The commit is on the job's branch. `part` is what the pull request is to say about it.
    Pushed { commit: String, part: TurnSummary },
    /// The branch was deleted on the remote before a pull request was opened: the commit is to be pushed again.
    Deleted,
    /// The turn changed nothing, but what an earlier one pushed has no pull request yet.
    Unchanged {
        /// How the agent ended the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish: Option<agent::Finish>,
    },
    /// All that was pushed is in this pull request.
    PullRequest {
        url: String,
        /// What has become of the one before, if this is another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<PullRequestEnd>,
    },
    /// The forge finds nothing in the branch that its base does not have: no pull request is needed.
    Included,
    /// The turn is over.
    Ended {
        /// What it failed with, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
    /// The turn is over and failed. Unless it was pushed, what it did is nowhere.
    Dropped {
        /// What it failed with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
}

/// What has become of a job's branch since the job pushed to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchState {
    /// It is where we left it, or we have not pushed yet.
    #[default]
    AsLeft,
    /// It is gone, and all of it is in the base.
    Merged,
    /// It is gone, and what was on it is not in the base, at least not as it was.
    Deleted,
    /// Somebody has added to it.
    BuiltOn,
    /// It does not hold any more what we pushed.
    Rewritten,
}

impl BranchState {
    // The signature is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_as_left(&self) -> bool {
        *self == Self::AsLeft
    }
}

/// How a pull request ended, by somebody's hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum PullRequestEnd {
    Merged { url: String },
    Closed { url: String },
}

/// One turn as the pull request tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSummary {
    /// The instructions, as they were given.
    pub asked: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub summary: String,
    /// What the checks of the docs found that was not there before, beyond what the summary tells of it; `None` when
    /// nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<String>>,
    /// What could not be checked, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

impl Record {
    /// The journal entry's kind: the tag of the record.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Heard { .. } => "heard",
            Self::Prepared { .. } => "prepared",
            Self::Replied { .. } => "replied",
            Self::Ran { .. } => "ran",
            Self::Compacted { .. } => "compacted",
            Self::TooLong => "too_long",
            Self::Expired { .. } => "expired",
            Self::Restarted { .. } => "restarted",
            Self::Committed { .. } => "committed",
            Self::Pushed { .. } => "pushed",
            Self::Deleted => "deleted",
            Self::Unchanged { .. } => "unchanged",
            Self::PullRequest { .. } => "pull_request",
            Self::Included => "included",
            Self::Ended { .. } => "ended",
            Self::Dropped { .. } => "dropped",
        }
    }
}
