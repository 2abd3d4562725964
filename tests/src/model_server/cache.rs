//! Prompt caching as Anthropic's service does it: the prefix before a `cache_control` mark is cached, and a later
//! request with the same prefix pays less for it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use super::anthropic::Counted;

/// The hashes of the cached prefixes.
#[derive(Debug, Default)]
pub(super) struct Cache {
    seen: HashSet<u64>,
}

impl Cache {
    /// The tokens of a request, estimated from its bytes: new, written to the cache, and read from the cache.
    pub(super) fn count(&mut self, body: &Value) -> Counted {
        let mut read = 0;
        let mut marked = 0;
        let mut bytes = 0;
        let mut hasher = DefaultHasher::new();
        for mut part in parts(body) {
            let is_marked = part.as_object_mut().is_some_and(|part| part.remove("cache_control").is_some());
            let text = part.to_string();
            text.hash(&mut hasher);
            bytes += text.len() as u64;
            if is_marked {
                marked = bytes;
            }
            // The service looks some blocks back for a cached prefix.
            if self.seen.contains(&hasher.finish()) {
                read = bytes;
            }
            if is_marked {
                self.seen.insert(hasher.finish());
            }
        }
        let tokens = |bytes: u64| bytes.div_ceil(4);
        let read = read.min(marked);
        Counted { fresh: tokens(bytes - marked), written: tokens(marked - read), read: tokens(read) }
    }
}

/// The parts of a request in the order in which the service reads them: tools, system, messages.
fn parts(body: &Value) -> Vec<Value> {
    let list = |value: &Value| match value {
        Value::Array(parts) => parts.clone(),
        Value::String(text) => vec![json!({ "type": "text", "text": text })],
        _ => Vec::new(),
    };
    let mut parts = list(&body["tools"]);
    parts.extend(list(&body["system"]));
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = &message["role"];
        parts.extend(list(&message["content"]).into_iter().map(|mut part| {
            part["role"] = role.clone();
            part
        }));
    }
    parts
}
