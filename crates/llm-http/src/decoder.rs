//! Decodes bytes to events, in chunks of any size; without IO.
//!
//! ```text
//!  bytes ─▶ frames (sse) ─▶ JSON ─▶ parser of the protocol ─▶ events
//!  bytes ─────────────────▶ JSON ─▶ the same parser           a server that does not stream
//! ```
//!
//! The protocol defines when a reply is over; then exactly one `Done` has been emitted, and later bytes are ignored. A
//! body that ends earlier, or cannot be parsed, is a [`ReplyError`].
//!
//! A lone surrogate becomes U+FFFD, also when a server cut a character between two deltas: each half becomes one.

use docent_llm::Event;
use docent_types::replace_lone_surrogates;
use serde_json_borrow::Value;

use crate::call_failure::FailureReply;
use crate::sse::{Frame, FrameReader, FrameTooLong};

/// Maximum size of a reply, in bytes.
const REPLY_LIMIT: usize = 32 << 20;

/// Parses one reply in one protocol.
pub(crate) trait ReplyParser: Send + Unpin + 'static {
    /// Parses the JSON of one frame and appends the events that it completes.
    fn read(&mut self, frame: &Value<'_>, events: &mut Vec<Event>) -> Result<(), ReplyError>;

    /// Handles `[DONE]`, which ends the streams of some servers.
    fn done(&mut self, events: &mut Vec<Event>) -> Result<(), ReplyError>;

    /// Handles the end of the body: appends the last events if the reply is complete.
    fn end(&mut self, events: &mut Vec<Event>) -> Result<(), ReplyError>;

    /// Parses a reply that was not streamed.
    fn whole(&mut self, body: &Value<'_>, events: &mut Vec<Event>) -> Result<(), ReplyError>;

    /// Whether the last event was emitted.
    fn is_over(&self) -> bool;
}

/// Why a reply could not be parsed to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplyError {
    /// The server reported an error.
    Reported(FailureReply),
    /// The model or a filter refuses to continue.
    Refused,
    /// A frame is not JSON.
    Garbled,
    /// The answer is not a reply of a model.
    Foreign,
    /// The body ended before the reply did.
    Cut,
    /// The reply exceeds its size limit.
    TooLong,
}

/// The framing of the server's reply.
#[derive(Debug)]
enum Framing {
    Frames(FrameReader),
    Whole(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct Decoder<P> {
    framing: Framing,
    parser: P,
    received: usize,
}

impl<P: ReplyParser> Decoder<P> {
    pub(crate) fn of_stream(parser: P) -> Self {
        Self { framing: Framing::Frames(FrameReader::default()), parser, received: 0 }
    }

    pub(crate) fn of_whole(parser: P) -> Self {
        Self { framing: Framing::Whole(Vec::new()), parser, received: 0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.parser.is_over()
    }

    /// Decodes the next bytes and appends the events that they complete, up to the first error.
    pub(crate) fn feed(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), ReplyError> {
        if self.is_over() {
            return Ok(());
        }
        self.received += bytes.len();
        if self.received > REPLY_LIMIT {
            return Err(ReplyError::TooLong);
        }
        match &mut self.framing {
            Framing::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Framing::Frames(reader) => {
                let fed = reader.feed(bytes, |frame| read(&mut self.parser, frame, events));
                if self.is_over() { Ok(()) } else { fed }
            }
        }
    }

    /// Handles the end of the body, whether regular or not: a reply may be complete without an explicit end.
    pub(crate) fn end(&mut self, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        if self.is_over() {
            return Ok(());
        }
        match &mut self.framing {
            Framing::Whole(body) => {
                let mut bytes = std::mem::take(body);
                replace_lone_surrogates(&mut bytes);
                let body: Value<'_> = serde_json::from_slice(&bytes)
                    .map_err(|e| if e.is_eof() { ReplyError::Cut } else { ReplyError::Foreign })?;
                match FailureReply::of(&body) {
                    Some(reported) => Err(ReplyError::Reported(reported)),
                    None => self.parser.whole(&body, events),
                }
            }
            Framing::Frames(reader) => {
                let ended = reader.end(|frame| read(&mut self.parser, frame, events));
                // An incomplete frame at the end means that the body was cut.
                ended.map_err(|e| if e == ReplyError::Garbled { ReplyError::Cut } else { e })?;
                if self.is_over() { Ok(()) } else { self.parser.end(events) }
            }
        }
    }
}

fn read<P: ReplyParser>(parser: &mut P, frame: Frame<'_>, events: &mut Vec<Event>) -> Result<(), ReplyError> {
    let data = frame.data.trim();
    if parser.is_over() || data.is_empty() {
        return Ok(());
    }
    if data == "[DONE]" {
        return parser.done(events);
    }
    let is_error = frame.event == "error";
    let mut replaced = Vec::new();
    let value: Value<'_> = serde_json::from_str(data)
        .or_else(|error| {
            replaced = data.as_bytes().to_vec();
            if replace_lone_surrogates(&mut replaced) { serde_json::from_slice(&replaced) } else { Err(error) }
        })
        .map_err(|_| ReplyError::Garbled)?;
    match FailureReply::of(&value) {
        Some(reported) => Err(ReplyError::Reported(reported)),
        None if is_error => Err(ReplyError::Reported(FailureReply::default())),
        None => parser.read(&value, events),
    }
}

impl From<FrameTooLong> for ReplyError {
    fn from(FrameTooLong: FrameTooLong) -> Self {
        Self::TooLong
    }
}
