//! The interface of a protocol's encoder.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};
use docent_types::{Passage, StreamEvent};
use serde::Serialize;

/// Encodes one reply in one protocol. Create a new one for every reply.
pub trait Encoder: Send + Unpin + 'static {
    /// The answer's content type.
    const CONTENT_TYPE: &'static str;
    /// The header by which clients and proxies recognise the protocol, in lower case, and its value.
    const PROTOCOL_HEADER: (&'static str, &'static str);
    /// Keep-alive bytes, which every client of the protocol must ignore.
    const KEEP_ALIVE: &'static [u8];

    /// Appends the frames of one event to `out`: whole frames only, possibly none.
    fn encode(&mut self, event: &StreamEvent, out: &mut BytesMut);

    /// Whether the reply is over: the body must end now, and further events write nothing.
    fn ended(&self) -> bool;
}

/// Appends one JSON value. JSON escapes line breaks, so a value is always one line.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T, out: &mut BytesMut) {
    // This cannot fail: a growing buffer accepts every write, and none of the values has a map with keys other than
    // strings, or a `Serialize` implementation that fails.
    let written = serde_json::to_writer(out.writer(), value);
    debug_assert!(written.is_ok(), "a frame always serialises");
}

/// Metadata of a passage that a search found.
#[derive(Clone, Default, Serialize)]
pub(crate) struct PassageMetadata<'a> {
    title: &'a str,
    href: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

impl<'a> PassageMetadata<'a> {
    pub(crate) fn of(passage: &'a Passage) -> Self {
        Self { title: &passage.title, href: &passage.href, score: finite(passage.score) }
    }
}

/// Properties of a source for which the protocols have no field.
#[derive(Serialize)]
pub(crate) struct ProviderMetadata<'a> {
    docent: SourceMetadata<'a>,
}

#[derive(Serialize)]
struct SourceMetadata<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

impl<'a> ProviderMetadata<'a> {
    pub(crate) fn of(passage: &'a Passage) -> Self {
        Self { docent: SourceMetadata { path: passage.encoded_path(), score: finite(passage.score) } }
    }
}

/// The title of a source, if it has one.
pub(crate) fn title(passage: &Passage) -> Option<&str> {
    Some(passage.title.as_str()).filter(|title| !title.is_empty())
}

/// The score, if it can be written: JSON has no NaN, which would become `null`, and clients refuse that.
fn finite(score: f32) -> Option<f32> {
    Some(score).filter(|score| score.is_finite())
}
