//! JSON values that must be objects, and whole numbers in any JSON notation.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};

/// What the error of an [`Object`] says it expected.
pub(crate) const AN_OBJECT: &str = "an object";

/// A `T` that must be a JSON object.
///
/// serde alone also accepts an array for a struct, and assigns its items to the fields in declaration order; no client
/// means that. Wrap every nested body; [`crate::JsonBody::parse`] wraps the outermost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(AN_OBJECT)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// A whole number from 0 up, in the notation `5` or, as some languages write it, `5.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeNumber(pub u64);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(WholeNumberVisitor)
    }
}

struct WholeNumberVisitor;

impl Visitor<'_> for WholeNumberVisitor {
    type Value = WholeNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 up")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<WholeNumber, E> {
        Ok(WholeNumber(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<WholeNumber, E> {
        u64::try_from(number).map(WholeNumber).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<WholeNumber, E> {
        /// From here on, adjacent whole numbers are the same `f64`.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && (0.0..EXACT).contains(&number) {
            return Ok(WholeNumber(number as u64));
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Pair {
        a: u8,
        b: Option<u8>,
    }

    #[test]
    fn an_array_is_no_object() {
        let read = serde_json::from_str::<Object<Pair>>;
        assert_eq!(read(r#"{"a":1,"c":[]}"#).unwrap(), Object(Pair { a: 1, b: None }));
        for text in ["[1,2]", "[]", "null", "1", r#""a""#, "{}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_float() {
        let read = |text| serde_json::from_str::<WholeNumber>(text).map(|WholeNumber(number)| number).ok();
        for (text, number) in [
            ("5", Some(5)),
            ("5.0", Some(5)),
            ("5e1", Some(50)),
            ("-0.0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("5.5", None),
            ("-1", None),
            ("-1.0", None),
            ("1e300", None),
            (r#""5""#, None),
            ("null", None),
            ("[5]", None),
        ] {
            assert_eq!(read(text), number, "{text}");
        }
    }
}
