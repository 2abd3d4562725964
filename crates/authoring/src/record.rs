//! The journal entries that authoring writes.
//!
//! Each [`Record`] is one journal entry. [`JobState`](crate::progress::JobState) folds them in order. A field that was
//! added later has a default, so that older journals can still be read.

use std::collections::BTreeMap;

use docent_agent::{self as agent, ToolResult};
use docent_types::{FinishReason, Message, Timestamp, Todo, Usage};
use serde::{Deserialize, Serialize};

use crate::signing::Signing;

/// One action for a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Record {
    /// The instructions up to this sequence number are in the transcript.
    #[serde(rename = "heard")]
    InstructionsRead {
        /// Sequence number in the journal.
        upto: u64,
    },
    /// A turn began.
    Prepared(TurnStart),
    /// The model's reply, before its tools run.
    Replied { message: Message, reason: FinishReason, usage: Usage },
    /// The results of the last reply's tool calls.
    Ran {
        results: Vec<ToolResult>,
        /// Digest of the overlay after the calls.
        digest: String,
        /// The plan, if the calls changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        todos: Option<Vec<Todo>>,
    },
    /// For the model, the summary replaces the first `upto` entries of the transcript from now on.
    Compacted { summary: String, upto: usize, usage: Usage },
    /// The model refused the last request as too long.
    TooLong,
    /// The turn's time is over.
    Expired { why: String },
    /// The model refused to answer.
    Refused { why: String },
    /// The turn starts over on a new base, for this reason.
    Restarted { why: String },
    /// The mirror holds the turn's commit.
    Committed {
        commit: String,
        /// How the agent ended the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish: Option<agent::Finish>,
        /// New problems that the checks found, beyond those in the summary; `None` when no check ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problems: Option<Vec<String>>,
        /// What the checks could not decide, and why.
        #[serde(rename = "doubts", default, skip_serializing_if = "Vec::is_empty")]
        undecided: Vec<String>,
    },
    /// The commit is on the job's branch. `part` is its part of the pull request.
    Pushed { commit: String, part: TurnSummary },
    /// The branch was deleted on the remote before a pull request was opened: the commit must be pushed again.
    Deleted,
    /// The turn changed nothing, but commits of an earlier one have no pull request yet.
    Unchanged {
        /// How the agent ended the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finish: Option<agent::Finish>,
    },
    /// Everything pushed is in this pull request.
    PullRequest {
        url: String,
        /// How the previous pull request ended, if this is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<PullRequestEnd>,
    },
    /// The branch has no commit that its base lacks: no pull request is needed.
    Included,
    /// The turn is over.
    Ended {
        /// Its failure, if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
    /// The turn failed. Unless it was pushed, its work is discarded.
    Dropped {
        /// Its failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
}

/// What a turn begins from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnStart {
    /// The commit it works on, in hex.
    pub base: String,
    /// The tip of the job's branch on the remote, in hex; `None` when there is none.
    pub remote: Option<String>,
    /// The tip of the branch that pull requests go to, in hex: its content has been approved. `None` in journals that did
    /// not keep it.
    #[serde(rename = "agreed", default, skip_serializing_if = "Option::is_none")]
    pub target_tip: Option<String>,
    /// The date of its commit.
    pub at: Timestamp,
    /// The state of the branch that earlier turns pushed.
    #[serde(default, skip_serializing_if = "BranchState::is_as_left")]
    pub found: BranchState,
    /// The commits of the context repositories, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context: BTreeMap<String, String>,
    /// Context repositories that could not be fetched, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// Why the docs root does not exist, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_docs: Option<String>,
    /// The author of its commit.
    #[serde(default, skip_serializing_if = "Signing::is_default")]
    pub signing: Signing,
    /// How the target branch was merged into the job's branch, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<BranchUpdate>,
}

/// The merge of the target branch into the job's branch, with which a turn begins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BranchUpdate {
    /// Whether there was anything to merge. If so, the turn's base is the merge commit, which is pushed with the turn's own.
    pub is_merge: bool,
    /// The files in which both branches changed the same, by their paths in the repository: they are as on the target branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

/// The state of a job's branch since the job's last push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchState {
    /// The branch is at the commit that we pushed, or we have not pushed yet.
    #[default]
    AsLeft,
    /// The branch is gone, and the base has all of its commits.
    Merged,
    /// The branch is gone, and the base does not have its commits, at least not unchanged.
    Deleted,
    /// The branch has further commits by others.
    BuiltOn,
    /// The branch no longer contains the commit that we pushed.
    Rewritten,
}

impl BranchState {
    // serde prescribes the signature.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_as_left(&self) -> bool {
        *self == Self::AsLeft
    }
}

/// How a pull request was ended by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum PullRequestEnd {
    Merged { url: String },
    Closed { url: String },
}

/// A turn's part of the pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSummary {
    /// The instructions in full.
    #[serde(rename = "asked")]
    pub instructions: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub summary: String,
    /// New problems that the checks found, beyond those in the summary; `None` when no check ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<String>>,
    /// What the checks could not decide, and why.
    #[serde(rename = "doubts", default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
}

impl Record {
    /// The journal entry's kind: the tag of the record.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::InstructionsRead { .. } => "heard",
            Self::Prepared(_) => "prepared",
            Self::Replied { .. } => "replied",
            Self::Ran { .. } => "ran",
            Self::Compacted { .. } => "compacted",
            Self::TooLong => "too_long",
            Self::Expired { .. } => "expired",
            Self::Refused { .. } => "refused",
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
