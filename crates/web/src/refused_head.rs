//! The answer to a request head that hyper refuses: too large, or not HTTP.
//!
//! hyper answers such a head itself, with a status and no body, and has no hook for it. The socket recognises that answer
//! and sends this one in its place. HTTP/2 has nothing of the kind: there the stream or the connection is reset.

use docent_types::Ids;
use serde_json::json;

use crate::request_id::RequestId;

/// What hyper's answers of this kind say about their body.
const NO_BODY: &str = "content-length: 0\r\n";

/// hyper's answer, with a request id and a JSON body that says what was wrong. `None` for anything else.
pub(crate) fn with_reason(hypers: &[u8], ids: &dyn Ids) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(hypers).ok()?.strip_suffix("\r\n\r\n")?;
    let sentence = match head.strip_prefix("HTTP/1.1 ").or_else(|| head.strip_prefix("HTTP/1.0 "))?.get(..3)? {
        "414" => "The path and query of the request are too long. Send what is long in the body.",
        "431" => "The head of the request is too large. Send fewer or shorter headers, or a shorter path.",
        status if status.starts_with('4') => {
            "The head of the request is not valid HTTP. Correct its first line and headers, and send it again."
        }
        _ => return None,
    };
    let (before, after) = head.split_once(NO_BODY)?;
    let id = RequestId::generate(ids);
    let body = json!({ "error": sentence }).to_string();
    let length = body.len();
    Some(
        format!(
            "{before}content-type: application/json\r\ncontent-length: {length}\r\n{}: {id}\r\n\
             x-content-type-options: nosniff\r\n{after}\r\n\r\n{body}",
            RequestId::HEADER
        )
        .into_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use docent_types::FixedIds;

    use super::*;

    #[test]
    fn only_an_answer_of_hyper_is_replaced() {
        let hypers = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        let told = String::from_utf8(with_reason(hypers, &FixedIds::default()).expect("replaced")).expect("text");
        let (head, body) = told.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"), "{head}");
        assert!(head.ends_with("\r\ndate: now") && !head.contains("content-length: 0"), "{head}");
        assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{told}");
        for other in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
            b"HTTP/1.1",
            b"\0\0\x12\x04\0\0\0\0\0",
            b"",
        ] {
            assert_eq!(with_reason(other, &FixedIds::default()), None);
        }
    }
}
