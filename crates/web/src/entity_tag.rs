//! Whether a client already has the body it would be sent (RFC 9110, 8.8.3 and 13.1.2).

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::request::Request;
use crate::respond::{Response, bytes_of, empty, unwritable};

/// 200 with `value` as JSON and an `ETag`, or 304 without a body if the client's `If-None-Match` lists that tag.
pub fn json_unless_known<T: Serialize>(request: &Request, value: &T) -> Response {
    let bytes = match serde_json::to_vec(value) {
        Ok(bytes) => bytes,
        Err(error) => return unwritable(&error),
    };
    bytes_unless_known(request, "application/json", bytes)
}

/// 200 with these bytes and an `ETag`, or 304 without a body if the client has them.
pub fn bytes_unless_known(request: &Request, content_type: &'static str, bytes: impl Into<Bytes>) -> Response {
    let bytes = bytes.into();
    let tag = EntityTag::of(&bytes);
    unless_known(request, tag, || bytes_of(StatusCode::OK, content_type, bytes))
}

/// What `answer` makes with an `ETag` made from `state`, or 304 without a body if the client has the answer of that
/// state. Different bodies must have different states.
pub fn answer_unless_known(request: &Request, state: &str, answer: impl FnOnce() -> Response) -> Response {
    unless_known(request, EntityTag::of(state.as_bytes()), answer)
}

fn unless_known(request: &Request, tag: EntityTag, answer: impl FnOnce() -> Response) -> Response {
    let is_known = tag.is_known_to(request.header_values(IF_NONE_MATCH));
    let mut response = if is_known { empty(StatusCode::NOT_MODIFIED) } else { answer() };
    response.headers_mut().insert(ETAG, tag.into_value());
    response
}

/// A hash of a body: different bodies have different tags, equal bodies the same one.
///
/// It is valid for one build only. A client that sends a tag of an earlier build gets the whole body again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EntityTag(
    /// Between quotation marks.
    HeaderValue,
);

impl EntityTag {
    fn of(body: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self(HeaderValue::try_from(tag).expect("digits and quotation marks are a header's value"))
    }

    /// As the value of `ETag`.
    fn into_value(self) -> HeaderValue {
        self.0
    }

    /// Whether one of these `If-None-Match` headers lists this tag. A header that cannot be parsed matches nothing.
    fn is_known_to<'a>(&self, headers: impl IntoIterator<Item = &'a [u8]>) -> bool {
        let is_this = |tag: &[u8]| matches!(self.0.as_bytes(), [b'"', this @ .., b'"'] if this == tag);
        headers.into_iter().any(|header| is_any(header) || Tags(header).any(is_this))
    }
}

fn is_any(header: &[u8]) -> bool {
    header.trim_ascii() == b"*"
}

/// The tags of a list, weak and strong, without their quotation marks. It ends where the list is malformed.
struct Tags<'a>(&'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let list = std::mem::take(&mut self.0);
        // A list may have empty elements.
        let begin = list.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b','))?;
        let tag = &list[begin..];
        let opaque = tag.strip_prefix(b"W/").unwrap_or(tag).strip_prefix(b"\"")?;
        let end = opaque.iter().position(|byte| !matches!(byte, 0x21 | 0x23..=0x7e | 0x80..))?;
        let (opaque, rest) = opaque.split_at(end);
        let rest = rest.strip_prefix(b"\"")?.trim_ascii_start();
        if !rest.is_empty() && !rest.starts_with(b",") {
            return None;
        }
        self.0 = rest;
        Some(opaque)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_is_read_as_clients_write_it() {
        for (header, tags) in [
            (r#""a""#, &["a"][..]),
            (r#"W/"a""#, &["a"]),
            (r#""a", W/"b" ,"c""#, &["a", "b", "c"]),
            (r#", ,"a",,"b","#, &["a", "b"]),
            (r#""a,b", """#, &["a,b", ""]),
            ("\"a\"\t,\"b\"", &["a", "b"]),
            ("", &[]),
            ("a", &[]),
            (r#""a"#, &[]),
            (r#""a" "b""#, &[]),
            (r#""a", b, "c""#, &["a"]),
            (r#"w/"a""#, &[]),
            (r#""a b""#, &[]),
            ("*", &[]),
        ] {
            let found: Vec<_> = Tags(header.as_bytes()).map(|tag| std::str::from_utf8(tag).unwrap()).collect();
            assert_eq!(found, tags, "{header}");
        }
    }

    #[test]
    fn a_star_stands_for_whatever_there_is() {
        let tag = EntityTag::of(b"body");
        for (headers, known) in [(&["*"][..], true), (&[" * "], true), (&["*, \"a\""], false), (&[], false)] {
            assert_eq!(tag.is_known_to(headers.iter().map(|header| header.as_bytes())), known, "{headers:?}");
        }
    }

    #[test]
    fn another_body_has_another_tag() {
        let value = |body: &[u8]| EntityTag::of(body).into_value();
        assert_eq!(value(b"a"), value(b"a"));
        assert_ne!(value(b"a"), value(b"b"));
    }

    proptest! {
        #[test]
        fn anything_can_be_sent(header in prop::collection::vec(any::<u8>(), 0..200)) {
            let tags: Vec<_> = Tags(&header).collect();
            prop_assert!(tags.iter().map(|tag| tag.len() + 2).sum::<usize>() <= header.len());
        }

        #[test]
        fn a_tag_is_known_where_it_is_listed_and_nowhere_else(
            before in prop::collection::vec(("(W/)?", "[!#-~\u{80}-\u{ff}]{0,20}", "[ \t]{0,2},[, \t]{0,3}"), 0..5),
            weak in any::<bool>(),
            listed in any::<bool>(),
        ) {
            let tag = EntityTag::of(b"body");
            let mut header: String =
                before.iter().map(|(weak, opaque, comma)| format!("{weak}\"{opaque}\"{comma}")).collect();
            if listed {
                header.push_str(if weak { "W/" } else { "" });
                header.push_str(tag.0.to_str().expect("digits"));
            }
            prop_assert_eq!(tag.is_known_to([header.as_bytes()]), listed, "{}", header);
        }
    }
}
