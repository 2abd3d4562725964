//! The frames of a streamed reply, and what happens between them.

use std::time::Duration;

use serde_json::Value;

use super::asked::Wire;
use super::reply::{Gate, ReplyStep};

/// Number of characters of a tool call's input per frame.
const FRAGMENT: usize = 14;

/// One action of a streamed reply.
#[derive(Debug, Clone)]
pub(super) enum Frame {
    Bytes(Vec<u8>),
    Pause(Duration),
    Gate(Gate),
    Cut,
    Silent,
    End,
}

#[derive(Debug)]
pub(super) struct Frames {
    wire: Wire,
    pub(super) list: Vec<Frame>,
}

impl Frames {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, list: Vec::new() }
    }

    pub(super) fn push(&mut self, frame: Frame) {
        self.list.push(frame);
    }

    /// An event with a name, which is also the `type` in its data.
    pub(super) fn event(&mut self, name: &str, data: &Value) {
        let mut whole = serde_json::Map::from_iter([("type".to_owned(), Value::from(name))]);
        whole.extend(data.as_object().cloned().unwrap_or_default());
        let data = Value::Object(whole);
        self.push(Frame::Bytes(format!("event: {name}\ndata: {data}\n\n").into_bytes()));
    }

    /// An event without a name.
    pub(super) fn data(&mut self, data: &str) {
        self.push(Frame::Bytes(format!("data: {data}\n\n").into_bytes()));
    }

    /// The data of the frames, for clients that do not stream.
    pub(super) fn sent(&self) -> impl Iterator<Item = Value> {
        self.list.iter().filter_map(|frame| match frame {
            Frame::Bytes(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let data = text.lines().find_map(|line| line.strip_prefix("data: "))?;
                serde_json::from_str(data).ok()
            }
            _ => None,
        })
    }

    /// Adds the steps that are the same in every protocol.
    pub(super) fn other(&mut self, beat: &ReplyStep) {
        match beat {
            ReplyStep::Pause(pause) => self.push(Frame::Pause(*pause)),
            ReplyStep::Gate(gate) => self.push(Frame::Gate(gate.clone())),
            ReplyStep::Garbage(bytes) => self.push(Frame::Bytes(bytes.clone())),
            ReplyStep::BadFrame => match self.wire {
                Wire::Anthropic => self.push(Frame::Bytes(
                    b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\n\n".to_vec(),
                )),
                Wire::OpenAi => self.data("{\"id\":\"chatcmpl-"),
            },
            ReplyStep::Cut => self.push(Frame::Cut),
            ReplyStep::CutInFrame => {
                self.push(Frame::Bytes(
                    b"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"ty".to_vec(),
                ));
                self.push(Frame::Cut);
            }
            ReplyStep::Truncated => self.push(Frame::End),
            ReplyStep::Silent => self.push(Frame::Silent),
            ReplyStep::Text(_) | ReplyStep::Call(..) | ReplyStep::Error(_) => {}
        }
    }
}

/// The words of a text, with their spaces.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// A text in pieces of [`FRAGMENT`] characters.
pub(super) fn fragments(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = rest.char_indices().nth(FRAGMENT).map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(at);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}
