use docent_llm::Retry;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn upstream() -> Upstream {
    let endpoint = Endpoint {
        key: Some(Secret::parse("sk-0123456789").expect("a key")),
        key_source: Some("MODEL_KEY".to_owned()),
        ..Endpoint::new("model-1")
    };
    Upstream::new("openai", Base::parse("https://api.example.com/v1", &[]).expect("a base"), &endpoint)
}

fn reported(body: &Value) -> Option<FailureReply> {
    FailureReply::of(&serde_json::from_str(&body.to_string()).expect("JSON"))
}

fn sorted(status: u16, body: &Value) -> CallFailure {
    reported(body).unwrap_or_default().classify((status > 0).then(|| StatusCode::from_u16(status).expect("a status")))
}

#[test]
fn a_status_has_its_meaning() {
    for (status, failure) in [
        (400, CallFailure::Rejected),
        (401, CallFailure::Key),
        (402, CallFailure::Quota),
        (403, CallFailure::Forbidden),
        (404, CallFailure::NoModel),
        (408, CallFailure::Overloaded),
        (413, CallFailure::ContextTooLong),
        (418, CallFailure::Rejected),
        (422, CallFailure::Rejected),
        (429, CallFailure::RateLimited),
        (500, CallFailure::Overloaded),
        (501, CallFailure::Rejected),
        (503, CallFailure::Overloaded),
        (524, CallFailure::Overloaded),
        (529, CallFailure::Overloaded),
    ] {
        assert_eq!(sorted(status, &Value::Null), failure, "{status}");
    }
}

#[test]
fn error_bodies_are_read_in_every_shape() {
    for (status, body, failure) in [
        (
            529,
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
            CallFailure::Overloaded,
        ),
        (
            0,
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
            CallFailure::Overloaded,
        ),
        (0, json!({ "error": { "type": "rate_limit_error" } }), CallFailure::RateLimited),
        (0, json!({ "error": { "message": "Provider returned error", "code": 429 } }), CallFailure::RateLimited),
        (0, json!({ "error": { "message": "boom", "code": "502" } }), CallFailure::Overloaded),
        (0, json!({ "error": "the runner has stopped" }), CallFailure::Interrupted),
        (0, json!({ "error": { "type": "invalid_request_error", "message": "no" } }), CallFailure::Rejected),
        (
            400,
            json!({ "error": { "type": "invalid_request_error", "message": "prompt is too long: 205000 tokens > 200000 maximum" } }),
            CallFailure::ContextTooLong,
        ),
        (400, json!({ "error": { "code": "context_length_exceeded", "message": "…" } }), CallFailure::ContextTooLong),
        (
            400,
            json!({ "error": { "code": 400, "type": "exceed_context_size_error", "message": "…" } }),
            CallFailure::ContextTooLong,
        ),
        (
            400,
            json!({ "object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400 }),
            CallFailure::ContextTooLong,
        ),
        (
            429,
            json!({ "error": { "code": "rate_limit_exceeded", "message": "Request too large for gpt on tokens per min" } }),
            CallFailure::ContextTooLong,
        ),
        (
            400,
            json!({ "error": { "message": "max_tokens is too large: 99999", "param": "max_tokens" } }),
            CallFailure::Rejected,
        ),
        (
            429,
            json!({ "error": { "code": "insufficient_quota", "message": "You exceeded your current quota" } }),
            CallFailure::Quota,
        ),
        (
            400,
            json!({ "error": { "type": "invalid_request_error", "message": "Your credit balance is too low" } }),
            CallFailure::Quota,
        ),
        (
            400,
            json!({ "error": { "code": "content_filter", "message": "The response was filtered" } }),
            CallFailure::Refused,
        ),
        (404, json!({ "error": { "type": "api_error", "message": "model 'x' not found" } }), CallFailure::NoModel),
        (
            422,
            json!({ "detail": [{ "loc": ["body", "tools"], "msg": "no tools here", "input": "…" }] }),
            CallFailure::Rejected,
        ),
        (
            503,
            json!({ "error": { "code": 503, "message": "Loading model", "type": "unavailable_error" } }),
            CallFailure::Overloaded,
        ),
    ] {
        assert_eq!(sorted(status, &body), failure, "{status} {body}");
    }
    assert_eq!(reported(&json!({ "choices": [], "error": null })), None);
    let reported =
        reported(&json!({ "detail": [{ "loc": ["body", "stream_options"], "msg": "extra", "input": "my prompt" }] }));
    let reported = reported.expect("an error");
    assert!(reported.rejects("stream_options") && !reported.rejects("max_tokens"));
    assert_eq!(reported.message, "extra");
}

#[test]
fn a_sentence_says_what_to_do_and_never_the_key() {
    let upstream = upstream();
    let reported = FailureReply {
        message: format!("Bad key sk-0123456789\nor sk-01***89{}", " and so on".repeat(90)),
        ..FailureReply::default()
    };
    for (failure, kind, says) in [
        (CallFailure::Key, ModelErrorKind::Auth, "check MODEL_KEY"),
        (CallFailure::Forbidden, ModelErrorKind::Auth, "the permissions of MODEL_KEY"),
        (CallFailure::Quota, ModelErrorKind::Auth, "no credit or quota left"),
        (CallFailure::NoModel, ModelErrorKind::Fatal, "https://api.example.com/v1 has no model model-1"),
        (CallFailure::ContextTooLong, ModelErrorKind::ContextTooLong, "too long for openai model-1"),
        (CallFailure::Refused, ModelErrorKind::Refused, "refuses"),
        (CallFailure::Interrupted, ModelErrorKind::Interrupted, "broke off"),
        (CallFailure::Rejected, ModelErrorKind::Fatal, "does not accept this request"),
    ] {
        let error = upstream.error(failure, None, &reported);
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert_eq!(error.kind, kind);
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.to_string().contains("0123") && !source.contains("sk-01"), "{error}: {source}");
        assert!(source.chars().count() <= 241 && !source.contains('\n'), "{source}");
    }
    let wait = Duration::from_secs(3);
    for failure in [CallFailure::RateLimited, CallFailure::Overloaded] {
        assert_eq!(upstream.error(failure, Some(wait), &reported).kind.retry(), Retry::After(wait));
    }
    let keyless = Upstream { key: None, key_source: None, ..upstream };
    assert!(
        keyless.error(CallFailure::Key, None, &reported).to_string().contains("none is configured"),
        "a missing key is reported as missing"
    );
}

proptest! {
    #[test]
    fn any_error_is_sorted_and_told_in_one_short_line(message in "\\PC{0,400}", mark in "[a-z_]{0,12}", status in 400_u16..600) {
        let body = json!({ "error": { "message": format!("{message} sk-0123456789"), "type": mark, "code": status } });
        let reported = reported(&body).expect("an error");
        let error = upstream().error(reported.classify(None), None, &reported);
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        prop_assert!(source.chars().count() <= 241 && !source.contains("0123456789"));
    }
}
