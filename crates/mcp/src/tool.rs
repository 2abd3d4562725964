//! What a tool is, and what it returns.

use docent_web::HttpError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// What a tool returns: the same as text and as JSON.
#[derive(Debug)]
pub(crate) struct ToolResult {
    pub(crate) text: String,
    pub(crate) structured: Value,
    pub(crate) is_error: bool,
}

impl ToolResult {
    pub(crate) fn done(text: impl Into<String>, structured: Value) -> Self {
        Self { text: text.into(), structured, is_error: false }
    }

    /// A call that did not do what was asked, in a sentence for the model.
    pub(crate) fn failed(sentence: impl Into<String>) -> Self {
        let text = sentence.into();
        Self { structured: json!({"error": text}), text, is_error: true }
    }

    pub(crate) fn into_json(self) -> Value {
        json!({
            "content": [{"type": "text", "text": self.text}],
            "structuredContent": self.structured,
            "isError": self.is_error,
        })
    }
}

/// The tools of one caller.
pub(crate) trait ToolSet: Sync {
    /// How to use them, for the model.
    fn instructions(&self) -> String;

    /// Their descriptions.
    fn list(&self) -> Vec<Value>;

    /// Whether callers without a key see the same.
    fn is_public(&self) -> bool;

    /// Calls a tool. `None`: there is no such tool.
    ///
    /// # Errors
    /// What refuses the request as a whole: a limit, docs that are not indexed yet, a key without the scope, and failures.
    fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> impl Future<Output = Result<Option<ToolResult>, HttpError>> + Send;
}

/// A tool's description. `changes` tells whether calling it changes anything.
pub(crate) fn description(name: &str, about: &str, properties: &Value, required: &[&str], changes: bool) -> Value {
    json!({
        "name": name,
        "description": about,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "annotations": {"readOnlyHint": !changes, "openWorldHint": false},
    })
}

/// The arguments of a call. A mistake in them is a message to the model.
pub(crate) fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolResult> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolResult::failed(format!("The arguments do not fit: {error}. Correct them and call again.")))
}
