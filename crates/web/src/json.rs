//! JSON request bodies: every invalid body is a 4xx with a sentence that names the place.

use bytes::Bytes;
use docent_types::Refusal;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;

use crate::error::HttpError;
use crate::object::{AN_OBJECT, Object};
use crate::request::Request;
use crate::wording::{complaint, syntax_complaint};

/// How much of the caller's text an error sentence may repeat, in bytes.
const ECHO_LIMIT: usize = 400;

/// A body that is declared as JSON and within its limit, but not parsed yet. Lone surrogates in it are U+FFFD.
#[derive(Debug, Clone)]
pub struct JsonBody(Bytes);

impl Request {
    /// Reads a JSON body of at most `limit` bytes. A missing content type is accepted.
    ///
    /// # Errors
    /// 415 for another content type or a compressed body, and those of [`Request::body`].
    pub async fn json(&mut self, limit: usize) -> Result<JsonBody, HttpError> {
        self.check_content()?;
        Ok(JsonBody(self.buffered(limit).await?.whole_json()))
    }

    fn check_content(&self) -> Result<(), HttpError> {
        let headers = self.headers();
        if let Some(given) = headers.get(CONTENT_TYPE) {
            let given = String::from_utf8_lossy(given.as_bytes());
            if !is_json(&given) {
                let shown = shortened(&given, 100);
                return Err(HttpError::UnsupportedMediaType(format!(
                    "The body is `{shown}`. Send JSON, with `Content-Type: application/json`."
                )));
            }
        }
        let plain = headers.get_all(CONTENT_ENCODING).iter().all(|coding| coding.as_bytes() == b"identity");
        if plain {
            Ok(())
        } else {
            Err(HttpError::UnsupportedMediaType(
                "The body is compressed. Send it as it is, without `Content-Encoding`.".to_owned(),
            ))
        }
    }
}

/// `application/json`, `text/json` and `…+json`, whatever their parameters.
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = essence.split_once('/').map(|(_, subtype)| subtype);
    matches!(essence.as_str(), "application/json" | "text/json") || subtype.is_some_and(|name| name.ends_with("+json"))
}

impl JsonBody {
    /// The unparsed bytes.
    pub const fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// Reads the body, a JSON object, as a `T`. Nested bodies must be objects too where `T` has an [`Object`] for them.
    ///
    /// # Errors
    /// 400, with the place and what is wrong there.
    pub fn parse<'de, T: Deserialize<'de>>(&'de self) -> Result<T, HttpError> {
        // Some shells write a byte order mark first.
        let bytes = self.0.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.0);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(Refusal::invalid("The body is empty. Send a JSON object.").into());
        }
        // Most bodies are valid, so the path of a mistake is tracked only on a second parse.
        if let Ok(Object(value)) = serde_json::from_slice(bytes) {
            return Ok(value);
        }
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let Object(value) = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let path = error.path().to_string();
            refused(&path, &error.into_inner(), bytes)
        })?;
        deserializer.end().map_err(|error| refused(".", &error, bytes))?;
        Ok(value)
    }
}

fn refused(path: &str, error: &serde_json::Error, bytes: &[u8]) -> HttpError {
    let place = format!("line {}, column {}", error.line(), error.column());
    // serde_json also classifies a number instead of a string, and excessive nesting, as syntax errors.
    let is_json = error.classify() == Category::Data || serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    let what = if is_json { complaint(error) } else { syntax_complaint(error) };
    let what = shortened(&what, ECHO_LIMIT);
    let sentence = match (is_json, path) {
        (false, _) => format!("The body is not valid JSON: {what} ({place}). Send one JSON object."),
        (true, ".") => match what.strip_prefix("expected ").and_then(|rest| rest.strip_prefix(AN_OBJECT)) {
            Some(not) => format!("The body must be a JSON object{not}. Correct it and send it again."),
            None => format!("The body does not fit: {what} ({place}). Correct it and send it again."),
        },
        (true, path) => {
            let path = shortened(path, ECHO_LIMIT);
            format!("The body does not fit at `{path}`: {what} ({place}). Correct it and send it again.")
        }
    };
    Refusal::invalid(sentence).into()
}

fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit { text.to_owned() } else { format!("{}…", &text[..text.floor_char_boundary(limit)]) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::request::tests::{request, request_with};

    #[derive(Debug, Deserialize, PartialEq)]
    struct Conversation {
        messages: Vec<Object<Turn>>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Turn {
        role: Speaker,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Speaker {
        User,
        Assistant,
    }

    fn parse(bytes: &[u8]) -> Result<Conversation, HttpError> {
        JsonBody(Bytes::copy_from_slice(bytes)).parse()
    }

    fn sentence(bytes: &[u8]) -> String {
        let error = parse(bytes).unwrap_err();
        assert_eq!(error.status(), 400);
        error.to_string()
    }

    #[test]
    fn unknown_fields_are_skipped() {
        let expected = Conversation { messages: vec![Object(Turn { role: Speaker::User })] };
        for text in [
            r#"{"messages":[{"role":"user","metadata":{"a":null}}],"trigger":"submit"}"#,
            "\u{feff}{\"messages\":[{\"role\":\"user\"}]}\n",
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap(), expected);
        }
    }

    #[test]
    fn a_sentence_says_where_and_what() {
        for (text, wanted) in [
            (r#"{"messages":[{"role":"user"},{"role":7}]}"#, &["messages[1].role", "line 1"][..]),
            (r#"{"messages":[{"role":"robot"}]}"#, &["messages[0].role", "`robot`", "`user`", "`assistant`"]),
            (r#"{"messages":[{}]}"#, &["messages[0]", "missing field `role`"]),
            ("{}", &["missing field `messages`"]),
            (r#"{"messages":[],"messages":[]}"#, &["duplicate field `messages`"]),
            (r#"{"messages":[]} {}"#, &["not valid JSON", "trailing"]),
            (r#"{"messages":["#, &["not valid JSON: it ends in the middle of a list"]),
            (r#"{"messages":nul}"#, &["not valid JSON: expected `true`, `false` or `null`"]),
            (r#"{"messages":}"#, &["not valid JSON: expected value (line 1, column 13)"]),
            (r#"{"messages":[["user"]]}"#, &["at `messages[0]`", "expected an object, not an array"]),
            ("[1]", &["must be a JSON object, not an array"]),
            (r#"[[{"role":"user"}]]"#, &["must be a JSON object, not an array"]),
            ("null", &["must be a JSON object, not null"]),
            (" ", &["empty"]),
            ("", &["empty"]),
        ] {
            let told = sentence(text.as_bytes());
            assert!(wanted.iter().all(|part| told.contains(part)), "{text}: {told}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_and_nesting_without_end_are_refused() {
        sentence(b"{\"messages\":[{\"role\":\"\xff\"}]}");
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!("{}1{}", open.repeat(200_000), close.repeat(200_000));
            let skipped = format!(r#"{{"messages":[],"x":{deep}}}"#);
            assert!(parse(skipped.as_bytes()).is_ok(), "a field nobody reads is skipped, however deep");
            let body = JsonBody(deep.into());
            assert_eq!(body.parse::<Value>().unwrap_err().status(), 400);
        }
    }

    #[tokio::test]
    async fn a_text_that_was_cut_inside_a_character_is_read() {
        let halves = r#"{"text":"a\ud83d","b":["\ude00","\\ud83d","\ud83d\ude00"]}"#;
        let padded = format!("{halves}{}", " ".repeat(100_000));
        for (text, piece) in [(halves, 1000), (halves, 3), (&padded, 1000)] {
            let pieces: Vec<Result<_, std::io::Error>> = text
                .as_bytes()
                .chunks(piece)
                .map(|piece| Ok(http_body::Frame::data(Bytes::copy_from_slice(piece))))
                .collect();
            let body = http_body_util::StreamBody::new(futures::stream::iter(pieces));
            let value: Value = request_with(http::Request::new(body)).json(200_000).await.unwrap().parse().unwrap();
            assert_eq!(value, serde_json::json!({ "text": "a\u{fffd}", "b": ["\u{fffd}", "\\ud83d", "😀"] }));
        }
    }

    #[test]
    fn a_sentence_does_not_repeat_a_whole_body() {
        let long = format!(r#"{{"messages":[{{"role":"{}"}}]}}"#, "é".repeat(100_000));
        assert!(sentence(long.as_bytes()).len() < 1000);
    }

    #[tokio::test]
    async fn only_json_is_taken() {
        for (content_type, status) in [
            (None, 200),
            (Some("application/json"), 200),
            (Some("Application/JSON; charset=utf-8"), 200),
            (Some("application/vnd.api+json"), 200),
            (Some("text/plain"), 415),
            (Some("application/x-www-form-urlencoded"), 415),
            (Some("application/jsonx"), 415),
            (Some(""), 415),
        ] {
            let mut builder = http::Request::builder();
            if let Some(content_type) = content_type {
                builder = builder.header("content-type", content_type);
            }
            let answer = request(builder, "{}").json(10).await;
            assert_eq!(answer.map_or_else(|error| error.status().as_u16(), |_| 200), status, "{content_type:?}");
        }
        let packed = http::Request::builder().header("content-encoding", "gzip");
        assert_eq!(request(packed, "{}").json(10).await.unwrap_err().status(), 415);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_a_value_or_a_400(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Err(error) = parse(&bytes) {
                prop_assert_eq!(error.status(), 400);
            }
        }

        #[test]
        fn near_misses_are_a_value_or_a_400(cut in 0usize..60, byte in any::<u8>()) {
            let mut bytes = br#"{"messages":[{"role":"user"},{"role":"assistant","id":"a"}]}"#.to_vec();
            bytes[cut] = byte;
            if let Err(error) = parse(&bytes) {
                prop_assert_eq!(error.status(), 400);
            }
        }
    }
}
