//! Which version of the protocol a request speaks.
//!
//! Until 2025-11-25 a client says its version once, with `initialize`, and then in a header. Since 2026-07-28 every request
//! says it in its body, and headers mirror what the body says, so that nobody on the way reads something else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use docent_web::Request;
use http::StatusCode;
use serde_json::{Value, json};

use crate::message::{INVALID_PARAMS, RpcCall, RpcError};

/// The versions in which every request says everything, newest first.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];
/// The versions that begin with `initialize`, newest first.
pub(crate) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

const VERSION_HEADER: &str = "mcp-protocol-version";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// The headers that mirror a body.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Mirrored<'a> {
    version: Option<&'a str>,
    method: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> Mirrored<'a> {
    pub(crate) fn of(request: &'a Request) -> Self {
        let header = |name| request.header(name).map(str::trim);
        Self { version: header(VERSION_HEADER), method: header("mcp-method"), name: header("mcp-name") }
    }
}

impl Era {
    /// The era of a call.
    ///
    /// # Errors
    /// A version that this server does not speak, and headers that do not say what the body says.
    pub(crate) fn of(call: &RpcCall, headers: Mirrored<'_>) -> Result<Self, RpcError> {
        let meta = call.params.get("_meta");
        let said = meta.and_then(|meta| meta.get(VERSION_KEY));
        // Some clients greet in the old way after they have discovered the new one, with its header.
        if call.method == "initialize" && said.is_none() {
            return Ok(Self::Legacy);
        }
        let is_modern = said.is_some()
            || call.method == "server/discover"
            || headers.version.is_some_and(|version| MODERN.contains(&version));
        if !is_modern {
            return match headers.version {
                Some(version) if !LEGACY.contains(&version) => Err(unsupported(version)),
                _ => Ok(Self::Legacy),
            };
        }
        let Some(said) = said.and_then(Value::as_str) else {
            return Err(RpcError::bad_request(
                INVALID_PARAMS,
                format!("`params._meta` must have `{VERSION_KEY}`, a string."),
            ));
        };
        mirrors("MCP-Protocol-Version", headers.version, said)?;
        if !MODERN.contains(&said) {
            return Err(unsupported(said));
        }
        mirrors("Mcp-Method", headers.method, &call.method)?;
        if call.method == "tools/call"
            && let Some(name) = call.params.get("name").and_then(Value::as_str)
        {
            mirrors("Mcp-Name", headers.name.map(decoded).as_deref(), name)?;
        }
        if !meta.and_then(|meta| meta.get(CAPABILITIES_KEY)).is_some_and(Value::is_object) {
            let sentence = format!("`params._meta` must have `{CAPABILITIES_KEY}`, an object.");
            return Err(RpcError::bad_request(INVALID_PARAMS, sentence));
        }
        Ok(Self::Modern)
    }
}

/// The version for a client that greets with `initialize`: the one it asks for, or the newest of that era.
pub(crate) fn greeted(call: &RpcCall) -> &'static str {
    let asked = call.params.get("protocolVersion").and_then(Value::as_str);
    LEGACY.into_iter().find(|version| Some(*version) == asked).unwrap_or(LEGACY[0])
}

fn mirrors(name: &str, header: Option<&str>, body: &str) -> Result<(), RpcError> {
    let sentence = match header {
        Some(header) if header == body => return Ok(()),
        Some(_) => format!("The header `{name}` does not say what the body says. Send the same in both."),
        None => format!("The header `{name}` is missing. Send what the body says there too."),
    };
    Err(RpcError::bad_request(HEADER_MISMATCH, sentence))
}

fn unsupported(version: &str) -> RpcError {
    let requested: String = version.chars().take(80).collect();
    let supported: Vec<_> = MODERN.into_iter().chain(LEGACY).collect();
    RpcError {
        code: UNSUPPORTED_VERSION,
        message: "Unsupported protocol version".to_owned(),
        data: Some(json!({"supported": supported, "requested": requested})),
        status: StatusCode::BAD_REQUEST,
    }
}

/// A header's value, which is in base64 where it could not be written plainly. What cannot be decoded stays, and so
/// equals no name.
fn decoded(value: &str) -> String {
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, params: Value) -> RpcCall {
        let Value::Object(params) = params else { panic!("an object") };
        RpcCall { id: json!(1), method: method.to_owned(), params }
    }

    fn meta(version: &str) -> Value {
        json!({"name": "search", "_meta": {VERSION_KEY: version, CAPABILITIES_KEY: {}}})
    }

    #[test]
    fn a_request_is_of_the_era_that_it_speaks() {
        let new = MODERN[0];
        let mirrored = |version, method, name| Mirrored { version, method, name };
        for (method, params, headers, expected) in [
            ("initialize", json!({}), mirrored(Some(new), None, None), Ok(Era::Legacy)),
            ("initialize", meta(new), mirrored(Some(new), Some("initialize"), None), Ok(Era::Modern)),
            ("tools/list", json!({}), mirrored(None, None, None), Ok(Era::Legacy)),
            ("tools/list", json!({}), mirrored(Some("2025-06-18"), None, None), Ok(Era::Legacy)),
            ("tools/list", json!({}), mirrored(Some("1900-01-01"), None, None), Err(UNSUPPORTED_VERSION)),
            ("tools/list", json!({}), mirrored(Some(new), Some("tools/list"), None), Err(INVALID_PARAMS)),
            ("tools/list", meta(new), mirrored(Some(new), Some("tools/list"), None), Ok(Era::Modern)),
            ("tools/list", meta(new), mirrored(None, Some("tools/list"), None), Err(HEADER_MISMATCH)),
            ("tools/list", meta(new), mirrored(Some(new), None, None), Err(HEADER_MISMATCH)),
            ("tools/list", meta(new), mirrored(Some(new), Some("tools/call"), None), Err(HEADER_MISMATCH)),
            ("tools/list", meta("2030-01-01"), mirrored(Some("2030-01-01"), None, None), Err(UNSUPPORTED_VERSION)),
            ("tools/list", meta("2030-01-01"), mirrored(Some(new), None, None), Err(HEADER_MISMATCH)),
            ("tools/call", meta(new), mirrored(Some(new), Some("tools/call"), Some("search")), Ok(Era::Modern)),
            (
                "tools/call",
                meta(new),
                mirrored(Some(new), Some("tools/call"), Some("=?base64?c2VhcmNo?=")),
                Ok(Era::Modern),
            ),
            (
                "tools/call",
                meta(new),
                mirrored(Some(new), Some("tools/call"), Some("=?base64?c2VhcmN?=")),
                Err(HEADER_MISMATCH),
            ),
            ("tools/call", meta(new), mirrored(Some(new), Some("tools/call"), None), Err(HEADER_MISMATCH)),
            ("server/discover", json!({}), mirrored(None, None, None), Err(INVALID_PARAMS)),
            (
                "tools/list",
                json!({"_meta": {VERSION_KEY: new}}),
                mirrored(Some(new), Some("tools/list"), None),
                Err(INVALID_PARAMS),
            ),
        ] {
            let era = Era::of(&call(method, params.clone()), headers).map_err(|error| error.code);
            assert_eq!(era, expected, "{method} {params} {headers:?}");
        }
    }

    #[test]
    fn a_greeting_is_answered_in_its_version() {
        for (asked, version) in [
            (json!("2025-06-18"), "2025-06-18"),
            (json!("2025-11-25"), "2025-11-25"),
            (json!("2026-07-28"), "2025-11-25"),
            (json!("1.0"), "2025-11-25"),
            (json!(7), "2025-11-25"),
        ] {
            assert_eq!(greeted(&call("initialize", json!({"protocolVersion": asked}))), version);
        }
    }
}
