//! Parses YAML front matter, keeping scalar values as text.
//!
//! The block is parsed twice: once for the shape of each value, once for its text. Only a request for a string keeps
//! `no`, `1.10` and `012` from being converted, and a list cannot be requested as a string.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::front_matter::{Field, FieldValue};
use crate::yaml::{self, Yaml};

/// The top-level fields of a YAML mapping, or why it cannot be read.
pub(crate) fn fields(yaml: &str) -> Result<Vec<Field>, String> {
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let shapes = match yaml::read(yaml)? {
        Yaml::Map(shapes) => shapes,
        // The second pass rejects anything but a mapping.
        _ => Vec::new(),
    };
    serde_saphyr::with_deserializer_from_str_with_options(yaml, yaml::options(), |deserializer| {
        deserializer.deserialize_map(Values(shapes))
    })
    .map_err(|error| yaml::sentence(&error))
}

/// Most fields that [`fields_by_line`] returns.
const MOST_FIELDS: usize = 5_000;

/// The fields of plain `name: value` lines, for front matter that does not parse. `sign` separates name and value.
pub(crate) fn fields_by_line(text: &str, sign: char) -> Vec<Field> {
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.split_once(sign)?;
            let name = if sign == ':' { name } else { name.trim() };
            let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
            plain.then_some(())?;
            let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
            let value = if value.is_empty() { FieldValue::Empty } else { FieldValue::Text(value.to_owned()) };
            Some(Field { name: name.to_owned(), value })
        })
        .take(MOST_FIELDS)
        .collect()
}

/// Visits a mapping for the text of its values; holds their shapes from the first pass.
struct Values(Vec<(String, Yaml)>);

impl<'de> Visitor<'de> for Values {
    type Value = Vec<Field>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Field>, A::Error> {
        let mut fields = Vec::with_capacity(self.0.len());
        let mut shapes = self.0.into_iter();
        while let Some(name) = map.next_key::<String>()? {
            let shape = shapes.next().filter(|(known, _)| *known == name).map(|(_, shape)| shape);
            fields.push(Field { name, value: map.next_value_seed(Shape(shape))? });
        }
        Ok(fields)
    }
}

/// The shape of a value from the first pass, if known.
struct Shape(Option<Yaml>);

impl<'de> DeserializeSeed<'de> for Shape {
    type Value = FieldValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FieldValue, D::Error> {
        match self.0 {
            Some(Yaml::Text(_)) => String::deserialize(deserializer).map(FieldValue::Text),
            Some(Yaml::List(items)) if items.iter().all(|item| item.text().is_some()) => {
                Vec::<String>::deserialize(deserializer).map(FieldValue::List)
            }
            Some(Yaml::Empty) => IgnoredAny::deserialize(deserializer).map(|_| FieldValue::Empty),
            Some(Yaml::Map(shapes)) => deserializer.deserialize_map(Values(shapes)).map(FieldValue::Nested),
            Some(Yaml::List(_)) | None => IgnoredAny::deserialize(deserializer).map(|_| FieldValue::Nested(Vec::new())),
        }
    }
}
