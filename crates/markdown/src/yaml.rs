//! Parses YAML into untyped values.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Options;

/// A YAML value. Scalars are text; plain numbers and booleans are formatted anew, so `1.10` is `1.1`.
#[derive(Debug, Clone, PartialEq)]
pub enum Yaml {
    Text(String),
    Empty,
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Merges another value into this one: mappings are merged recursively, all else is replaced.
    pub fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Map(members), Self::Map(more)) => {
                let mut places: HashMap<String, usize> = HashMap::with_capacity(members.len());
                for (at, (key, _)) in members.iter().enumerate() {
                    places.entry(key.clone()).or_insert(at);
                }
                for (key, value) in more {
                    match places.get(&key) {
                        Some(at) => members[*at].1.merge(value),
                        None => {
                            places.insert(key.clone(), members.len());
                            members.push((key, value));
                        }
                    }
                }
            }
            (known, other) => *known = other,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The text, or the texts of a list.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self).chain(self.list()).filter_map(Self::text)
    }

    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Map(members) => members,
            _ => &[],
        }
    }

    /// The text of a member.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// The items of a member that is a list.
    pub fn list_of(&self, name: &str) -> &[Self] {
        self.get(name).map_or(&[], Self::list)
    }

    /// The members of a member that is a mapping.
    pub fn members_of(&self, name: &str) -> &[(String, Self)] {
        self.get(name).map_or(&[], Self::members)
    }
}

/// Parses a document (JSON, too), or says why it cannot be parsed. The parser limits depth, size and aliases.
pub fn read(text: &str) -> Result<Yaml, String> {
    read_as(text)
}

/// Like [`read`], into a type of the caller's choice.
pub fn read_as<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| sentence(&error))
}

pub(crate) fn options() -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::FirstWins,
        with_snippet: false,
    }
}

pub(crate) fn sentence(error: &serde_saphyr::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

macro_rules! visit_as_text {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E>(self, value: $type) -> Result<Yaml, E> {
            Ok(Yaml::Text(value.to_string()))
        })*
    };
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Yaml;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Yaml, E> {
                Ok(Yaml::Empty)
            }
            visit_as_text! {
                visit_bool: bool, visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128, visit_f64: f64,
                visit_str: &str
            }
            fn visit_string<E>(self, value: String) -> Result<Yaml, E> {
                Ok(Yaml::Text(value))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Yaml::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Yaml, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Yaml::Map(members))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
