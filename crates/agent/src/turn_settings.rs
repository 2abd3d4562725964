//! The settings of a turn.

use docent_llm::Editor;
use serde::{Deserialize, Serialize};

/// The settings of a turn. They never change during the turn, so that the next step is a function of them and the
/// transcript alone.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnSettings {
    pub limits: TurnLimits,
    /// The editing tools that the model was trained on.
    pub editor: Editor,
    /// Maximum number of tokens of a request and its reply together.
    pub context_tokens: u32,
    /// Instructions of the docs' owners for everyone who edits them, sorted from general to specific.
    pub guidance: Vec<Guidance>,
    /// Properties of the site that matter for writing, as a Markdown list; empty if nothing is known.
    pub site: String,
    /// The names of the context repositories, as in [`crate::ToolContext::context`].
    pub context: Vec<String>,
    /// Whether the published docs can be searched.
    pub search: bool,
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            limits: TurnLimits::default(),
            editor: Editor::default(),
            context_tokens: 128_000,
            guidance: Vec::new(),
            site: String::new(),
            context: Vec::new(),
            search: false,
        }
    }
}

/// A file in the docs repository with instructions for agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guidance {
    /// Path from the repository's root, for example `docs/AGENTS.md`.
    pub path: String,
    /// Only the first 32 KiB are used.
    pub text: String,
}

/// The limits of one turn. A new message from outside restarts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TurnLimits {
    /// Maximum number of model calls. After the last there is one more, without tools, for the summary.
    pub steps: u32,
    /// Maximum number of input and output tokens of all calls together. Tokens from the provider's cache count a tenth.
    pub tokens: u64,
    /// Wall time in minutes. The caller measures it, and appends [`crate::TranscriptEntry::Expired`] at its end.
    pub minutes: u32,
    /// Maximum number of files that may differ from the base.
    pub files: usize,
    /// Maximum number of bytes of all those files together.
    pub bytes: usize,
    /// Maximum number of tokens of one reply; at most a quarter of the context.
    pub reply_tokens: u32,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self { steps: 200, tokens: 4_000_000, minutes: 60, files: 2_000, bytes: 64 << 20, reply_tokens: 16_000 }
    }
}
