//! Parses TOML front matter, with scalar values as text.

use toml::Value;

use crate::front_matter::{Field, FieldValue};

/// The top-level fields of a TOML document, or why it cannot be parsed.
pub(crate) fn fields(text: &str) -> Result<Vec<Field>, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(fields_of(table))
}

fn fields_of(table: toml::Table) -> Vec<Field> {
    table.into_iter().map(|(name, value)| Field { name, value: field_value(value) }).collect()
}

fn field_value(value: Value) -> FieldValue {
    match value {
        Value::Table(table) => FieldValue::Nested(fields_of(table)),
        Value::Array(items) => match items.into_iter().map(text_of).collect() {
            Some(items) => FieldValue::List(items),
            None => FieldValue::Nested(Vec::new()),
        },
        single => text_of(single).map_or(FieldValue::Empty, FieldValue::Text),
    }
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Datetime(time) => Some(time.to_string()),
        Value::Array(_) | Value::Table(_) => None,
    }
}
