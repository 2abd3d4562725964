//! What a turn works under.

use docent_llm::Editor;
use serde::{Deserialize, Serialize};

/// What a turn works under. Fixed for the turn, so that the next step is a function of it and the transcript alone.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnSettings {
    pub limits: TurnLimits,
    /// The tools for editing that the model knows best.
    pub editor: Editor,
    /// The most tokens that a request and its reply may have together.
    pub context_tokens: u32,
    /// What the owners of the docs ask of everybody who works on them, the most general first.
    pub guidance: Vec<Guidance>,
    /// What the site is like to write for, as a list in Markdown; empty when nothing is known.
    pub site: String,
    /// The names of the repositories that may be read beside the docs, as [`crate::ToolContext::context`] has them.
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

/// A file of instructions that the docs repository holds for agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guidance {
    /// From the repository's root, for example `docs/AGENTS.md`.
    pub path: String,
    /// At most 32 KiB of it are used.
    pub text: String,
}

/// How much one turn may take. Whoever speaks up grants it anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TurnLimits {
    /// Calls of the model. When they are used up there is one more, without tools, to say what was done.
    pub steps: u32,
    /// Tokens read and written, all calls together. Those that the provider still had at hand count a tenth.
    pub tokens: u64,
    /// Wall time. The caller's clock decides, and appends [`crate::Entry::Expired`] when it has run out.
    pub minutes: u32,
    /// Files that may differ from the base.
    pub files: usize,
    /// Bytes of all those files together.
    pub bytes: usize,
    /// Tokens of one reply. A small context gets less: a quarter of it.
    pub reply_tokens: u32,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self { steps: 200, tokens: 4_000_000, minutes: 60, files: 2_000, bytes: 64 << 20, reply_tokens: 16_000 }
    }
}
