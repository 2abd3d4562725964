//! The replies of the scripted model, as a test describes them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};

use crate::wait::PATIENCE;

/// One reply to one request: text and tool calls in order, or an error instead of them.
///
/// ```
/// # use docent_tests::model_server::Reply;
/// # use serde_json::json;
/// let reply = Reply::text("I will look.").call("read", &json!({ "path": "index.mdx" }));
/// let cut = Reply::text("I will").cut();
/// let busy = Reply::rate_limited("2");
/// # drop((reply, cut, busy));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub(super) refusal: Option<Refusal>,
    pub(super) beats: Vec<ReplyStep>,
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Option<(u64, u64)>,
}

/// One step of a reply.
#[derive(Debug, Clone)]
pub(super) enum ReplyStep {
    Text(String),
    /// A tool and its input as sent on the wire, which may be invalid JSON.
    Call(String, String),
    Pause(Duration),
    Gate(Gate),
    /// Raw bytes that are not a frame.
    Garbage(Vec<u8>),
    /// A complete frame whose data is not valid JSON.
    BadFrame,
    /// The connection breaks.
    Cut,
    /// The connection breaks within the next frame.
    CutInFrame,
    /// The body ends normally, but without the final event of a reply.
    Truncated,
    /// Nothing more is sent, and the connection stays open.
    Silent,
    /// The provider's error event, of this type.
    Error(String),
}

/// Why a reply ended, if its content does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The token limit was reached.
    Length,
    /// The provider refused to continue.
    Refused,
}

/// An error instead of a reply.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) retry_after: Option<String>,
    pub(super) why: ErrorBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ErrorBody {
    /// The usual body for the status.
    Usual,
    TooLong,
    /// An HTML page of a proxy before the provider.
    Proxy,
}

impl Reply {
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().say(text)
    }

    /// A reply that is one tool call.
    pub fn calls(tool: &str, input: &Value) -> Self {
        Self::default().call(tool, input)
    }

    /// An error with this status and the provider's usual body for it.
    pub fn fails(status: u16) -> Self {
        Self { refusal: Some(Refusal { status, retry_after: None, why: ErrorBody::Usual }), ..Self::default() }
    }

    /// 429 with this `Retry-After`.
    pub fn rate_limited(retry_after: &str) -> Self {
        Self::fails(429).retry_after(retry_after)
    }

    /// The provider is overloaded: 529 for Anthropic, 503 for others.
    pub fn overloaded() -> Self {
        Self::fails(529)
    }

    /// The request exceeds the model's context window.
    pub fn too_long() -> Self {
        Self { refusal: Some(Refusal { status: 400, retry_after: None, why: ErrorBody::TooLong }), ..Self::default() }
    }

    /// An HTML page with this status, as from a proxy.
    pub fn proxy(status: u16) -> Self {
        Self { refusal: Some(Refusal { status, retry_after: None, why: ErrorBody::Proxy }), ..Self::default() }
    }

    /// The provider refuses to continue in the middle of a reply.
    pub fn refused(text: &str) -> Self {
        Self::text(text).stopping(StopReason::Refused)
    }

    /// Nothing is sent, and the connection stays open.
    pub fn silence() -> Self {
        Self::default().with(ReplyStep::Silent)
    }

    #[must_use]
    pub fn retry_after(mut self, value: &str) -> Self {
        if let Some(refusal) = &mut self.refusal {
            refusal.retry_after = Some(value.to_owned());
        }
        self
    }

    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.with(ReplyStep::Text(text.into()))
    }

    #[must_use]
    pub fn call(self, tool: &str, input: &Value) -> Self {
        self.raw_call(tool, &input.to_string())
    }

    /// A tool call with this raw input, which may be invalid JSON.
    #[must_use]
    pub fn raw_call(self, tool: &str, input: &str) -> Self {
        self.with(ReplyStep::Call(tool.to_owned(), input.to_owned()))
    }

    /// The call that ends a turn of Docent's agent.
    #[must_use]
    pub fn finish(self, title: &str) -> Self {
        self.call("finish", &json!({ "outcome": "done", "title": title, "summary": "As it was asked." }))
    }

    /// A pause before what follows.
    #[must_use]
    pub fn pause(self, pause: Duration) -> Self {
        self.with(ReplyStep::Pause(pause))
    }

    /// What follows waits until the gate is opened.
    #[must_use]
    pub fn waits_at(self, gate: &Gate) -> Self {
        self.with(ReplyStep::Gate(gate.clone()))
    }

    /// The whole reply waits until the gate is opened.
    #[must_use]
    pub fn held_by(mut self, gate: &Gate) -> Self {
        self.beats.insert(0, ReplyStep::Gate(gate.clone()));
        self
    }

    /// Adds bytes that are not a frame.
    #[must_use]
    pub fn garbage(self, bytes: &[u8]) -> Self {
        self.with(ReplyStep::Garbage(bytes.to_vec()))
    }

    /// Adds a frame whose data is not valid JSON.
    #[must_use]
    pub fn bad_frame(self) -> Self {
        self.with(ReplyStep::BadFrame)
    }

    /// The connection breaks here.
    #[must_use]
    pub fn cut(self) -> Self {
        self.with(ReplyStep::Cut)
    }

    /// The connection breaks here, in the middle of a frame.
    #[must_use]
    pub fn cut_in_frame(self) -> Self {
        self.with(ReplyStep::CutInFrame)
    }

    /// The body ends here normally, but without the final event of a reply.
    #[must_use]
    pub fn truncated(self) -> Self {
        self.with(ReplyStep::Truncated)
    }

    /// From now on nothing is sent, and the connection stays open.
    #[must_use]
    pub fn silent(self) -> Self {
        self.with(ReplyStep::Silent)
    }

    /// The provider ends the reply with an error event of this type, such as `overloaded_error`.
    #[must_use]
    pub fn breaks_with(self, kind: &str) -> Self {
        self.with(ReplyStep::Error(kind.to_owned()))
    }

    #[must_use]
    pub fn stopping(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// The token counts that the provider reports; by default they are estimated from the bytes.
    #[must_use]
    pub fn counted(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    pub(super) fn has_calls(&self) -> bool {
        self.beats.iter().any(|beat| matches!(beat, ReplyStep::Call(..)))
    }

    /// The approximate number of tokens of the reply.
    pub(super) fn tokens(&self) -> u64 {
        let bytes = |beat: &ReplyStep| match beat {
            ReplyStep::Text(text) => text.len(),
            ReplyStep::Call(tool, input) => tool.len() + input.len() + 16,
            _ => 0,
        };
        (self.beats.iter().map(bytes).sum::<usize>() as u64).div_ceil(4).max(1)
    }

    fn with(mut self, beat: ReplyStep) -> Self {
        self.beats.push(beat);
        self
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A gate at which replies wait until a test opens it. Clones share the gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    shared: Arc<Door>,
}

#[derive(Debug, Default)]
struct Door {
    waiting: Mutex<Waiting>,
    opened: Condvar,
    counted: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    is_open: bool,
    count: usize,
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets all replies through, now and later.
    pub fn open(&self) {
        self.shared.waiting.lock().is_open = true;
        self.shared.opened.notify_all();
    }

    /// Waits until this many requests wait at the gate.
    ///
    /// # Panics
    /// When they do not arrive in time.
    pub fn holds(&self, count: usize) {
        let start = Instant::now();
        let mut waiting = self.shared.waiting.lock();
        while waiting.count < count {
            let left = PATIENCE.checked_sub(start.elapsed());
            let left = left.unwrap_or_else(|| panic!("only {} of {count} replies wait at the gate", waiting.count));
            self.shared.counted.wait_for(&mut waiting, left);
        }
    }

    /// Waits until the gate opens or the client disconnects. Returns whether the gate opened.
    pub(super) fn passed(&self, mut is_gone: impl FnMut() -> bool) -> bool {
        const LOOK: Duration = Duration::from_millis(100);
        let mut waiting = self.shared.waiting.lock();
        waiting.count += 1;
        self.shared.counted.notify_all();
        while !waiting.is_open {
            self.shared.opened.wait_for(&mut waiting, LOOK);
            if !waiting.is_open && is_gone() {
                break;
            }
        }
        waiting.count -= 1;
        waiting.is_open
    }
}
