//! The texts of a version 1 message: in `content`, in `parts`, or in both.

use std::fmt;

use docent_discovery::{MessagePart, texts};
use docent_types::Refusal;
use docent_web::Object;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// The `content` of a message: a text, or parts of which some are texts.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Object<MessagePart>>),
}

/// The texts of a message. Clients that send both fields repeat the text, so `content` is used unless it is empty.
///
/// # Errors
/// 400 for a text part without a text; `place` is the path of the message in the body.
pub(crate) fn texts_of<'a>(
    content: Option<&'a Content>,
    parts: Option<&'a [Object<MessagePart>]>,
    place: &str,
) -> Result<Vec<&'a str>, Refusal> {
    match (content, parts) {
        (Some(Content::Text(text)), _) if !text.is_empty() => Ok(vec![text]),
        (Some(Content::Parts(parts)), _) if !parts.is_empty() => texts(parts, &format!("{place}.content")),
        (_, Some(parts)) => texts(parts, &format!("{place}.parts")),
        (_, None) => Ok(Vec::new()),
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
    }
}
