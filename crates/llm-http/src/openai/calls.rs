//! Assembles tool calls from the pieces that servers stream.
//!
//! By the specification, a piece has the index of its call and a part of the arguments; the first piece also has id and
//! name. Servers also send complete calls, omit the index or repeat it for every call, repeat id and name in each
//! piece, omit the id, or send the arguments as an object.

use docent_llm::MOST_CALLS;
use serde_json_borrow::Value;

use crate::input;

/// A call being received.
#[derive(Debug, Default)]
pub(super) struct Call {
    index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    arguments: String,
}

impl Call {
    pub(super) fn input(&self) -> serde_json::Value {
        input::read(&self.arguments)
    }

    fn is_whole(&self) -> bool {
        matches!(input::parse(&self.arguments), Some(serde_json::Value::Object(_)))
    }

    fn add(&mut self, arguments: &Value<'_>) {
        match arguments {
            Value::Null => {}
            Value::Str(piece) => self.arguments.push_str(piece),
            whole => self.arguments = whole.to_string(),
        }
    }
}

/// Adds a piece to its call, or begins a new call unless there are too many.
pub(super) fn add(calls: &mut Vec<Call>, piece: &Value<'_>) {
    add_to(calls, piece.get("index").as_u64(), piece.get("id"), piece.get("function"));
}

/// Adds a part of the call with this index and id.
pub(super) fn add_to(calls: &mut Vec<Call>, index: Option<u64>, id: &Value<'_>, function: &Value<'_>) {
    let text = |value: &Value<'_>| value.as_str().unwrap_or_default().to_owned();
    let (id, name) = (text(id), text(function.get("name")));
    let at = match call_index(calls, index, &id, &name) {
        Some(at) => at,
        None if calls.len() > MOST_CALLS => return,
        None => {
            calls.push(Call { index, ..Call::default() });
            calls.len() - 1
        }
    };
    let call = &mut calls[at];
    if call.id.is_empty() {
        call.id = id;
    }
    if call.name.is_empty() {
        call.name = name;
    }
    call.add(function.get("arguments"));
}

/// Index of the call that a piece belongs to; `None` when the piece begins a new one.
fn call_index(calls: &[Call], index: Option<u64>, id: &str, name: &str) -> Option<usize> {
    let at = match index {
        Some(_) => calls.iter().rposition(|call| call.index == index)?,
        None if !id.is_empty() => return calls.iter().rposition(|call| call.id == id),
        None => calls.len().checked_sub(1)?,
    };
    let call = &calls[at];
    // Only a piece with a name begins a call: some servers generate a new id for each piece.
    let begins = !name.is_empty()
        && !call.name.is_empty()
        && (name != call.name || (!id.is_empty() && id != call.id) || (id.is_empty() && call.is_whole()));
    (!begins).then_some(at)
}
