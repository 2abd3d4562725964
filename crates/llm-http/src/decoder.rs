//! Bytes to events, in chunks of any size; without IO.
//!
//! ```text
//!  bytes ─▶ frames (sse) ─▶ JSON ─▶ one wire's reply ─▶ events
//!  bytes ─────────────────▶ JSON ─▶ the same, whole        a server that does not stream
//! ```
//!
//! A reply is over when its wire says so, and then exactly one `Done` has been given. Whatever comes later is not looked
//! at. An end before that is [`Broken`], and so is anything that is neither.

use docent_llm::Event;
use serde_json::Value;

use crate::call_failure::FailureReply;
use crate::sse::{Frame, FrameReader, FrameTooLong};

/// The most bytes of a reply.
const REPLY_LIMIT: usize = 32 << 20;

/// One reply in one wire format.
pub(crate) trait Reply: Send + Unpin + 'static {
    /// Reads the JSON of one frame, and adds the events that are complete with it.
    fn read(&mut self, frame: &Value, events: &mut Vec<Event>) -> Result<(), Broken>;

    /// Reads `[DONE]`, which ends the streams of some servers.
    fn done(&mut self, events: &mut Vec<Event>) -> Result<(), Broken>;

    /// The bytes have ended: adds the last events, if the reply is whole all the same.
    fn end(&mut self, events: &mut Vec<Event>) -> Result<(), Broken>;

    /// Reads a reply that came in one piece.
    fn whole(&mut self, body: &Value, events: &mut Vec<Event>) -> Result<(), Broken>;

    /// Whether the last event has been given.
    fn is_over(&self) -> bool;
}

/// Why a reply cannot be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The server said that something went wrong.
    Reported(FailureReply),
    /// The model, or a filter, declines to go on.
    Refused,
    /// What came is not what this wire speaks.
    Garbled,
    /// A whole answer that is none of a model.
    Foreign,
    /// It ended before its end.
    Cut,
    /// It does not end.
    Endless,
}

/// How a server sends its reply.
#[derive(Debug)]
enum Form {
    Frames(FrameReader),
    Whole(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct Decoder<R> {
    form: Form,
    reply: R,
    seen: usize,
}

impl<R: Reply> Decoder<R> {
    pub(crate) fn of_stream(reply: R) -> Self {
        Self { form: Form::Frames(FrameReader::default()), reply, seen: 0 }
    }

    pub(crate) fn of_whole(reply: R) -> Self {
        Self { form: Form::Whole(Vec::new()), reply, seen: 0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.reply.is_over()
    }

    /// Takes the next bytes and adds the events that are complete with them; those before a failure too.
    pub(crate) fn feed(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), Broken> {
        if self.is_over() {
            return Ok(());
        }
        self.seen += bytes.len();
        if self.seen > REPLY_LIMIT {
            return Err(Broken::Endless);
        }
        match &mut self.form {
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Frames(reader) => {
                let fed = reader.feed(bytes, |frame| read(&mut self.reply, frame, events));
                if self.is_over() { Ok(()) } else { fed }
            }
        }
    }

    /// The bytes have ended, well or not: a reply may be whole without an end of its own.
    pub(crate) fn end(&mut self, events: &mut Vec<Event>) -> Result<(), Broken> {
        if self.is_over() {
            return Ok(());
        }
        match &mut self.form {
            Form::Whole(body) => {
                let body = serde_json::from_slice(&std::mem::take(body));
                let body = body.map_err(|e| if e.is_eof() { Broken::Cut } else { Broken::Foreign })?;
                match FailureReply::of(&body) {
                    Some(reported) => Err(Broken::Reported(reported)),
                    None => self.reply.whole(&body, events),
                }
            }
            Form::Frames(reader) => {
                let ended = reader.end(|frame| read(&mut self.reply, frame, events));
                // Half a frame at the end is a cut and no garbage.
                ended.map_err(|e| if e == Broken::Garbled { Broken::Cut } else { e })?;
                if self.is_over() { Ok(()) } else { self.reply.end(events) }
            }
        }
    }
}

fn read<R: Reply>(reply: &mut R, frame: Frame<'_>, events: &mut Vec<Event>) -> Result<(), Broken> {
    let data = frame.data.trim();
    if reply.is_over() || data.is_empty() {
        return Ok(());
    }
    if data == "[DONE]" {
        return reply.done(events);
    }
    let is_error = frame.event == "error";
    let value: Value = serde_json::from_str(data).map_err(|_| Broken::Garbled)?;
    match FailureReply::of(&value) {
        Some(reported) => Err(Broken::Reported(reported)),
        None if is_error => Err(Broken::Reported(FailureReply::default())),
        None => reply.read(&value, events),
    }
}

impl From<FrameTooLong> for Broken {
    fn from(FrameTooLong: FrameTooLong) -> Self {
        Self::Endless
    }
}
