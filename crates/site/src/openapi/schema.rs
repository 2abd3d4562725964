//! Renders a schema as a list of fields.

use docent_markdown::on_one_line;
use std::cell::Cell;
use std::io;

use serde_json::Value;

use crate::api_description::{Description, is_true, reference, text};

/// Maximum nesting depth of the fields shown.
const MAX_DEPTH: usize = 5;

/// Maximum number of fields shown per operation.
const MAX_FIELDS: usize = 400;

/// Maximum number of schemas visited per operation; a schema that is referenced several times counts each time.
const MAX_SCHEMA_VISITS: usize = 4_000;

/// Maximum number of enumeration values shown.
const MAX_VALUES: usize = 40;

/// Maximum length of a value shown, in bytes.
const MAX_VALUE_BYTES: usize = 200;

/// Maximum length of the description of a field or a parameter, in bytes.
const MAX_FIELD_DESCRIPTION_BYTES: usize = 2_000;

/// Renders the schemas of one operation; the limits apply to all of them together.
pub(super) struct Fields<'d> {
    description: &'d Description,
    fields_left: usize,
    /// Number of schemas that may still be visited.
    visits_left: Cell<usize>,
    /// The references being rendered, to detect recursion.
    open: Vec<&'d str>,
}

impl<'d> Fields<'d> {
    pub(super) fn of(description: &'d Description) -> Self {
        Self { description, fields_left: MAX_FIELDS, visits_left: Cell::new(MAX_SCHEMA_VISITS), open: Vec::new() }
    }

    /// Renders the fields of a schema as a list, which may be empty.
    pub(super) fn list(&mut self, schema: &'d Value) -> String {
        let mut out = String::new();
        self.fields(schema, 0, &mut out);
        out
    }

    /// The type of a schema in a few words.
    pub(super) fn kind(&self, schema: &'d Value) -> String {
        self.kind_within(schema, 0)
    }

    /// Number of schemas visited.
    pub(super) fn schemas_visited(&self) -> usize {
        MAX_SCHEMA_VISITS - self.visits_left.get()
    }

    fn may_visit(&self) -> bool {
        let left = self.visits_left.get();
        self.visits_left.set(left.saturating_sub(1));
        left > 0
    }

    fn kind_within(&self, schema: &'d Value, depth: usize) -> String {
        let named = reference(schema).and_then(|pointer| pointer.rsplit('/').next());
        let schema = self.description.resolved(schema);
        if depth > MAX_DEPTH || !self.may_visit() {
            return "…".to_owned();
        }
        let own = match schema.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
            _ => String::new(),
        };
        match own.as_str() {
            "array" => match schema.get("items") {
                Some(items) => format!("array of {}", self.kind_within(items, depth + 1)),
                None => "array".to_owned(),
            },
            "" | "object" => {
                let title = text(schema, "title").or(named);
                let choices = ["oneOf", "anyOf"].iter().find_map(|name| schema.get(name)?.as_array());
                match (title, choices) {
                    (Some(title), _) => title.to_owned(),
                    (None, Some(choices)) => {
                        let mut kinds = Vec::new();
                        for choice in choices.iter().take(MAX_VALUES) {
                            let kind = self.kind_within(choice, depth + 1);
                            if !kinds.contains(&kind) {
                                kinds.push(kind);
                            }
                        }
                        kinds.join(" or ")
                    }
                    (None, None) if own.is_empty() && schema.get("properties").is_none() => "any".to_owned(),
                    (None, None) => "object".to_owned(),
                }
            }
            _ => match text(schema, "format") {
                Some(format) => format!("{own} ({format})"),
                None => own,
            },
        }
    }

    fn fields(&mut self, schema: &'d Value, depth: usize, out: &mut String) {
        if depth > MAX_DEPTH || self.fields_left == 0 || !self.may_visit() {
            return;
        }
        let pointer = reference(schema);
        if pointer.is_some_and(|pointer| self.open.contains(&pointer)) {
            return;
        }
        self.open.extend(pointer);
        self.fields_of(self.description.resolved(schema), depth, out);
        if pointer.is_some() {
            self.open.pop();
        }
    }

    fn fields_of(&mut self, schema: &'d Value, depth: usize, out: &mut String) {
        let all = schema.get("allOf").and_then(Value::as_array);
        for part in all.into_iter().flatten().take(MAX_VALUES) {
            self.fields(part, depth, out);
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)));
        for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if self.fields_left == 0 {
                return;
            }
            self.fields_left -= 1;
            let shape = self.description.resolved(field);
            let mut words = self.kind(field);
            if is_required(name) {
                words.push_str(", required");
            }
            if is_true(shape.get("deprecated")) {
                words.push_str(", deprecated");
            }
            let indent = "  ".repeat(depth);
            out.push_str(&format!("{indent}- `{}` ({words})", name.replace('`', "'")));
            let details = description_and_values(shape);
            if !details.is_empty() {
                out.push_str(&format!(": {details}"));
            }
            out.push('\n');
            self.fields(field, depth + 1, out);
        }
        if let Some(items) = schema.get("items") {
            self.fields(items, depth, out);
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            self.fields(values, depth, out);
        }
        for name in ["oneOf", "anyOf"] {
            for choice in schema.get(name).and_then(Value::as_array).into_iter().flatten().take(MAX_VALUES) {
                self.fields(choice, depth, out);
            }
        }
    }
}

/// The description, values and default of a schema or a parameter.
pub(super) fn description_and_values(shape: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(text) = text(shape, "description") {
        parts.push(on_one_line(cut(text, MAX_FIELD_DESCRIPTION_BYTES)));
    }
    if let Some(values) = shape.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().take(MAX_VALUES).map(|value| format!("`{}`", plain(value))).collect();
        parts.push(format!("One of {}.", values.join(", ")));
    }
    if let Some(value) = shape.get("default").filter(|value| !value.is_null()) {
        parts.push(format!("Default `{}`.", plain(value)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// A value on one line.
fn plain(value: &Value) -> String {
    let text = match value.as_str() {
        Some(text) => on_one_line(cut(text, 2 * MAX_VALUE_BYTES)),
        None => on_one_line(&written(value, 2 * MAX_VALUE_BYTES, |out, value| serde_json::to_writer(out, value))),
    };
    let text = text.replace('`', "'");
    match cut(&text, MAX_VALUE_BYTES) {
        start if start.len() < text.len() => format!("{start}…"),
        whole => whole.to_owned(),
    }
}

/// The beginning of a text, at most `most` bytes.
pub(super) fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// A value as JSON, cut off after `most` + 1 bytes.
pub(super) fn written(
    value: &Value,
    most: usize,
    write: impl FnOnce(&mut Beginning, &Value) -> serde_json::Result<()>,
) -> String {
    let mut beginning = Beginning { bytes: Vec::new(), most };
    // Serialization fails once the limit is reached.
    let _ = write(&mut beginning, value);
    String::from_utf8_lossy(&beginning.bytes).into_owned()
}

/// A writer that accepts a limited number of bytes and then fails.
pub(super) struct Beginning {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() > self.most {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.len().min(self.most + 1 - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
