//! YAML fields whose values stay text.
//!
//! Read twice: once for the shape of each value, once for its text. Asking for text outright is the only way to keep
//! `no`, `1.10` and `012` from turning into something else, and one cannot ask for the text of a list.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Options;

use crate::front_matter::{Field, FieldValue};

/// The top-level fields of a YAML mapping, or why it cannot be read.
pub(crate) fn fields(yaml: &str) -> Result<Vec<Field>, String> {
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let options = || -> Options {
        serde_saphyr::options! {
            strict_booleans: true,
            duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::FirstWins,
            with_snippet: false,
        }
    };
    let sentence = |error: serde_saphyr::Error| error.to_string().lines().next().unwrap_or_default().to_owned();
    let Shapes(shapes) = serde_saphyr::from_str_with_options(yaml, options()).map_err(sentence)?;
    serde_saphyr::with_deserializer_from_str_with_options(yaml, options(), |deserializer| {
        deserializer.deserialize_map(Values(shapes))
    })
    .map_err(sentence)
}

/// How many fields lines may give.
const MOST_FIELDS: usize = 5_000;

/// What plain `name: value` lines say (with another sign for the colon, if so), for front matter that cannot be read.
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

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Single,
    Empty,
    /// A list of nothing but single values.
    List,
    Mapping(Vec<(String, Shape)>),
    /// A value whose contents are not needed.
    Nested,
}

struct Shapes(Vec<(String, Shape)>);

/// The name of a field: text, even if it looks like another type.
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for Shapes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Shapes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("fields")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shapes, A::Error> {
                let mut shapes = Vec::new();
                while let Some((Name(name), shape)) = map.next_entry()? {
                    shapes.push((name, shape));
                }
                Ok(Shapes(shapes))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Shape;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Shape, E> {
                Ok(Shape::Empty)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
                Ok(Shape::Single)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
                Ok(Shape::Single)
            }
            fn visit_i128<E>(self, _: i128) -> Result<Shape, E> {
                Ok(Shape::Single)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
                Ok(Shape::Single)
            }
            fn visit_u128<E>(self, _: u128) -> Result<Shape, E> {
                Ok(Shape::Single)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
                Ok(Shape::Single)
            }
            fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
                Ok(Shape::Single)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
                let mut shape = Shape::List;
                while let Some(item) = items.next_element::<Shape>()? {
                    if item != Shape::Single {
                        shape = Shape::Nested;
                    }
                }
                Ok(shape)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
                let mut shapes = Vec::new();
                while let Some(name) = map.next_key::<Name>()? {
                    shapes.push((name.0, map.next_value::<Shape>()?));
                }
                Ok(Shape::Mapping(shapes))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

struct Values(Vec<(String, Shape)>);

impl<'de> Visitor<'de> for Values {
    type Value = Vec<Field>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Field>, A::Error> {
        let mut fields = Vec::with_capacity(self.0.len());
        let mut shapes = self.0.into_iter();
        while let Some(Name(name)) = map.next_key::<Name>()? {
            let shape = shapes.next().filter(|(known, _)| *known == name).map_or(Shape::Nested, |(_, shape)| shape);
            fields.push(Field { name, value: map.next_value_seed(shape)? });
        }
        Ok(fields)
    }
}

impl<'de> DeserializeSeed<'de> for Shape {
    type Value = FieldValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FieldValue, D::Error> {
        match self {
            Self::Single => String::deserialize(deserializer).map(FieldValue::Text),
            Self::List => Vec::<String>::deserialize(deserializer).map(FieldValue::List),
            Self::Empty => IgnoredAny::deserialize(deserializer).map(|_| FieldValue::Empty),
            Self::Mapping(shapes) => deserializer.deserialize_map(Values(shapes)).map(FieldValue::Nested),
            Self::Nested => IgnoredAny::deserialize(deserializer).map(|_| FieldValue::Nested(Vec::new())),
        }
    }
}
