//! The claims of a provider about a person.

use serde_json::{Map, Value};

/// Claims of any types, of an ID token or of the user info.
#[derive(Debug, Clone)]
pub(crate) struct Claims(Map<String, Value>);

impl Claims {
    /// `None` for what is not a JSON object.
    pub(crate) fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok().map(Self)
    }

    /// Whether there is a claim of this name; `null` is none.
    pub(crate) fn has(&self, claim: &str) -> bool {
        self.0.get(claim).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn text(&self, claim: &str) -> Option<&str> {
        self.0.get(claim)?.as_str()
    }

    /// A number, with or without a fraction.
    pub(crate) fn number(&self, claim: &str) -> Option<f64> {
        self.0.get(claim)?.as_f64()
    }

    pub(crate) fn audiences(&self) -> Vec<&str> {
        match self.0.get("aud") {
            Some(Value::String(audience)) => vec![audience],
            Some(Value::Array(audiences)) => audiences.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The person's identifier, which is not empty.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.text("sub").filter(|subject| !subject.trim().is_empty())
    }

    /// The groups in a claim: a list of texts, one text, or an object whose members are the groups, each with an object
    /// that says more about it. `None` where there is no such claim.
    pub(crate) fn groups(&self, claim: &str) -> Option<Vec<String>> {
        match self.0.get(claim)? {
            Value::Null => None,
            Value::String(group) => Some(vec![group.clone()]),
            Value::Array(groups) => Some(groups.iter().filter_map(|group| group.as_str().map(str::to_owned)).collect()),
            Value::Object(groups) => {
                let is_held = |(group, about): (&String, &Value)| {
                    about.as_object().is_some_and(|about| !about.is_empty()).then(|| group.clone())
                };
                Some(groups.iter().filter_map(is_held).collect())
            }
            Value::Bool(_) | Value::Number(_) => Some(Vec::new()),
        }
    }

    /// The person's names, in order of preference.
    pub(crate) fn names(&self) -> Vec<String> {
        let translated = || self.0.keys().find(|claim| claim.starts_with("name#")).and_then(|claim| self.text(claim));
        let names = [self.text("preferred_username"), self.text("email"), self.text("name").or_else(translated)];
        names.into_iter().flatten().filter(|name| !name.trim().is_empty()).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn claims(value: &Value) -> Claims {
        Claims::parse(value.to_string().as_bytes()).expect("an object")
    }

    #[test]
    fn groups_are_texts_or_the_members_of_an_object() {
        for (value, groups) in [
            (json!(["a", "b"]), &["a", "b"][..]),
            (json!("a b"), &["a b"]),
            (json!(["a", 1, null, ["b"]]), &["a"]),
            (json!({ "a": { "123": "x.example" }, "b": {}, "c": null }), &["a"]),
            (json!({ "owner": true }), &[]),
            (json!(7), &[]),
        ] {
            let found = claims(&json!({ "groups": value })).groups("groups");
            assert_eq!(found.expect("the claim is there"), groups, "{value}");
        }
        assert_eq!(claims(&json!({ "groups": ["a"] })).groups("roles"), None);
        assert_eq!(claims(&json!({ "groups": null })).groups("groups"), None);
    }

    #[test]
    fn names_are_those_that_are_texts() {
        for (value, names) in [
            (json!({ "name": "Ada", "email": "a@b.c", "preferred_username": "ada" }), &["ada", "a@b.c", "Ada"][..]),
            (json!({ "name": null, "email": ["a@b.c"], "preferred_username": " ", "name#ja": "エイダ" }), &["エイダ"]),
            (json!({}), &[]),
        ] {
            assert_eq!(claims(&value).names(), names, "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_claims_or_none(bytes: Vec<u8>, text in "[{}\\[\\]\",:a-z0-9]{0,60}") {
            for bytes in [&bytes[..], text.as_bytes()] {
                if let Some(claims) = Claims::parse(bytes) {
                    let _ = (claims.names(), claims.groups("a"), claims.audiences().len(), claims.subject());
                }
            }
        }
    }
}
