//! The methods of the protocol.

use docent_web::{HttpError, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::era::{Era, LEGACY, MODERN, greeted};
use crate::message::{INVALID_PARAMS, METHOD_NOT_FOUND, RpcCall, RpcError, result};
use crate::tool::ToolSet;

/// How long a client may keep the list of tools, in milliseconds: the settings of a site change with its docs.
const TTL_MS: u64 = 300_000;

/// Answers a call with the tools of its caller.
pub(crate) async fn answer(call: &mut RpcCall, era: Era, tools: &impl ToolSet) -> Result<Response, HttpError> {
    let mut answer = match call.method.as_str() {
        "initialize" if era == Era::Legacy => json!({
            "protocolVersion": greeted(call),
            "capabilities": {"tools": {}},
            "serverInfo": server_info(),
            "instructions": tools.instructions(),
        }),
        "ping" if era == Era::Legacy => json!({}),
        "server/discover" => cached(
            json!({
                "supportedVersions": MODERN.into_iter().chain(LEGACY).collect::<Vec<_>>(),
                "capabilities": {"tools": {}},
                "instructions": tools.instructions(),
            }),
            tools,
        ),
        "tools/list" if era == Era::Legacy => json!({"tools": tools.list()}),
        "tools/list" => cached(json!({"tools": tools.list()}), tools),
        "tools/call" => {
            let name = match call.params.remove("name") {
                Some(Value::String(name)) => name,
                _ => return Ok(invalid("`params.name` must be the name of a tool.").response(&call.id)),
            };
            let arguments = match call.params.remove("arguments") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(arguments)) => arguments,
                Some(_) => return Ok(invalid("`params.arguments` must be an object.").response(&call.id)),
            };
            match tools.call(&name, arguments).await? {
                Some(done) => done.into_json(),
                None => {
                    let shown: String = name.chars().take(80).collect();
                    return Ok(invalid(format!("Unknown tool: {shown}. Ask for tools/list.")).response(&call.id));
                }
            }
        }
        method => {
            let shown: String = method.chars().take(80).collect();
            let status = if era == Era::Modern { StatusCode::NOT_FOUND } else { StatusCode::OK };
            let message = format!("Method not found: {shown}");
            return Ok(RpcError { code: METHOD_NOT_FOUND, message, data: None, status }.response(&call.id));
        }
    };
    if era == Era::Modern {
        answer["resultType"] = json!("complete");
        answer["_meta"] = json!({"io.modelcontextprotocol/serverInfo": server_info()});
    }
    Ok(result(&call.id, &answer))
}

fn server_info() -> Value {
    json!({"name": "docent", "title": "Docent", "version": env!("CARGO_PKG_VERSION")})
}

fn cached(mut answer: Value, tools: &impl ToolSet) -> Value {
    answer["ttlMs"] = json!(TTL_MS);
    answer["cacheScope"] = json!(if tools.is_public() { "public" } else { "private" });
    answer
}

/// An error that the client's code made; a model's mistakes are results of tools.
fn invalid(message: impl Into<String>) -> RpcError {
    RpcError { status: StatusCode::OK, ..RpcError::bad_request(INVALID_PARAMS, message) }
}
