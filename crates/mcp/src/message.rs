//! A message of JSON-RPC 2.0.

use docent_web::{JsonBody, Response, respond};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a client sent.
#[derive(Debug, PartialEq)]
pub(crate) enum RpcMessage {
    Call(RpcCall),
    /// A notification, or an answer to something that this server never asks: nothing is answered.
    Notice,
}

/// A request that wants an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct RpcCall {
    /// A string or a number.
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// An error of the protocol, with the status of the answer.
#[derive(Debug, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    pub(crate) status: StatusCode,
}

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

impl RpcError {
    /// An error that is answered with status 400.
    pub(crate) fn bad_request(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status: StatusCode::BAD_REQUEST }
    }

    /// The answer. `id` is null when it could not be read.
    pub(crate) fn response(self, id: &Value) -> Response {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        respond::json(self.status, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }
}

/// An error about a message, with its id as far as it could be read.
#[derive(Debug, PartialEq)]
pub(crate) struct Unreadable {
    pub(crate) id: Value,
    pub(crate) error: RpcError,
}

impl Unreadable {
    fn new(id: &Value, code: i64, sentence: impl Into<String>) -> Box<Self> {
        Box::new(Self { id: id.clone(), error: RpcError::bad_request(code, sentence) })
    }
}

/// The answer to a call.
pub(crate) fn result(id: &Value, result: &impl Serialize) -> Response {
    #[derive(Serialize)]
    struct Answer<'a, R> {
        jsonrpc: &'static str,
        id: &'a Value,
        result: &'a R,
    }
    respond::json(StatusCode::OK, &Answer { jsonrpc: "2.0", id, result })
}

impl RpcMessage {
    /// Reads a body.
    pub(crate) fn read(body: &JsonBody) -> Result<Self, Box<Unreadable>> {
        let bytes = body.bytes().strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body.bytes());
        let value: Value = serde_json::from_slice(bytes).map_err(|error| {
            let sentence = format!("The body is not JSON: {error}. Send one JSON-RPC message.");
            Unreadable::new(&Value::Null, PARSE_ERROR, sentence)
        })?;
        Self::of(value)
    }

    fn of(value: Value) -> Result<Self, Box<Unreadable>> {
        let invalid = |id: &Value, sentence: &str| Err(Unreadable::new(id, INVALID_REQUEST, sentence));
        let Value::Object(mut message) = value else {
            return invalid(
                &Value::Null,
                "The body must be one JSON-RPC message, a JSON object. Send batches one by one.",
            );
        };
        let id = message.remove("id");
        let known = id.clone().filter(is_id).unwrap_or_default();
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid(&known, "`jsonrpc` must be \"2.0\".");
        }
        let method = match message.remove("method") {
            Some(Value::String(method)) => method,
            None if message.contains_key("result") || message.contains_key("error") => return Ok(Self::Notice),
            _ => return invalid(&known, "`method` must be a string."),
        };
        let params = match message.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return invalid(&known, "`params` must be a JSON object."),
        };
        match id {
            None => Ok(Self::Notice),
            Some(_) if known.is_null() => invalid(&known, "`id` must be a string or a whole number."),
            Some(id) => Ok(Self::Call(RpcCall { id, method, params })),
        }
    }
}

/// Whether a value may be an id: some clients write whole numbers with a point. Larger ones would come back as others.
fn is_id(value: &Value) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let is_whole = |number: f64| number.fract() == 0.0 && number.abs() <= LARGEST;
    value.is_string() || value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_is_a_call_a_notice_or_an_error_with_its_id() {
        for (message, expected) in [
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), Ok(true)),
            (json!({"jsonrpc": "2.0", "id": 1.0, "method": "ping"}), Ok(true)),
            (json!({"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {"x": 1}}), Ok(true)),
            (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), Ok(false)),
            (json!({"jsonrpc": "2.0", "id": 3, "result": {}}), Ok(false)),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), Err(Value::Null)),
            (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), Err(Value::Null)),
            (json!({"jsonrpc": "2.0", "id": 1e20, "method": "ping"}), Err(Value::Null)),
            (json!({"jsonrpc": "2.0", "id": 4}), Err(json!(4))),
            (json!({"jsonrpc": "1.0", "id": 5, "method": "ping"}), Err(json!(5))),
            (json!({"jsonrpc": "2.0", "id": 6, "method": "ping", "params": [1]}), Err(json!(6))),
            (json!([{"jsonrpc": "2.0", "id": 7, "method": "ping"}]), Err(Value::Null)),
            (json!("ping"), Err(Value::Null)),
        ] {
            let read = RpcMessage::of(message.clone())
                .map(|message| message != RpcMessage::Notice)
                .map_err(|unreadable| unreadable.id);
            assert_eq!(read, expected, "{message}");
        }
    }

    /// Values as bodies have them, the words of the protocol among them.
    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "2\\.0|tools/call|initialize|ping|\\PC{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let keys = "jsonrpc|id|method|params|result|error|\\PC{0,5}";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(keys, inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_message_is_read(value in value()) {
            match RpcMessage::of(value) {
                Ok(RpcMessage::Call(call)) => prop_assert!(is_id(&call.id)),
                Ok(RpcMessage::Notice) => {}
                Err(unreadable) => prop_assert!(unreadable.id.is_null() || is_id(&unreadable.id)),
            }
        }
    }
}
