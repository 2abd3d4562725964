//! The claims of a provider about a person.

use std::collections::HashMap;

use openidconnect::{AdditionalClaims, EndUserEmail, EndUserName, EndUserUsername, LocalizedClaim};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The claims that the specification does not name.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub(crate) struct OtherClaims(HashMap<String, Value>);

impl AdditionalClaims for OtherClaims {}

impl OtherClaims {
    /// The groups in a claim, a list of texts or one text; `None` where there is no such claim.
    pub(crate) fn groups(&self, claim: &str) -> Option<Vec<String>> {
        match self.0.get(claim)? {
            Value::String(group) => Some(vec![group.clone()]),
            Value::Array(groups) => Some(groups.iter().filter_map(|group| group.as_str().map(str::to_owned)).collect()),
            _ => Some(Vec::new()),
        }
    }
}

/// A person's names, in order of preference.
pub(crate) fn names(
    username: Option<&EndUserUsername>,
    email: Option<&EndUserEmail>,
    name: Option<&LocalizedClaim<EndUserName>>,
) -> Vec<String> {
    let name = name.and_then(|names| names.iter().next()).map(|(_, name)| name.as_str());
    let called = [username.map(|name| name.as_str()), email.map(|email| email.as_str()), name];
    called.into_iter().flatten().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_are_a_list_of_texts_or_one_text() {
        let claims = |value| OtherClaims(HashMap::from([("groups".to_owned(), value)]));
        for (value, groups) in [
            (json!(["a", "b"]), &["a", "b"][..]),
            (json!("a b"), &["a b"]),
            (json!(["a", 1, null, ["b"]]), &["a"]),
            (json!({ "owner": true }), &[]),
            (json!(null), &[]),
        ] {
            assert_eq!(claims(value.clone()).groups("groups").expect("the claim is there"), groups, "{value}");
        }
        assert_eq!(claims(json!(["a"])).groups("roles"), None);
    }
}
