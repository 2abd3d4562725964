//! Finds the strings of a JSON text with their byte ranges, for edits that keep its formatting.

use std::ops::Range;

/// One string of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonString {
    /// Quotes included.
    pub(super) span: Range<usize>,
    pub(super) value: String,
    /// The name of the member that has this value; for an array item, of the member whose value is the array.
    pub(super) member: Option<String>,
}

/// The string values of a JSON text in order, without member names. For invalid JSON, the values before the error.
pub(super) fn values(text: &str) -> Vec<JsonString> {
    /// An open container, and the member name that its strings are reported with.
    struct Open {
        is_object: bool,
        member: Option<String>,
        /// In an object: the name of the member whose value comes next.
        name: Option<String>,
    }
    let mut open: Vec<Open> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let inherited = open.last().and_then(|top| if top.is_object { top.name.clone() } else { top.member.clone() });
        match bytes[at] {
            b'"' => {
                let Some((value, end)) = string(text, at) else { return found };
                let is_name = open.last().is_some_and(|top| top.is_object && top.name.is_none());
                if is_name {
                    if let Some(top) = open.last_mut() {
                        top.name = Some(value);
                    }
                } else {
                    found.push(JsonString { span: at..end, value, member: inherited });
                }
                at = end;
                continue;
            }
            b'{' => open.push(Open { is_object: true, member: inherited, name: None }),
            b'[' => open.push(Open { is_object: false, member: inherited, name: None }),
            b'}' | b']' => {
                open.pop();
            }
            b',' => {
                if let Some(top) = open.last_mut() {
                    top.name = None;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The string that begins at a quote: its value, and the end of it.
fn string(text: &str, start: usize) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    let end = at + 1;
    let value = serde_json::from_str(text.get(start..end)?).ok()?;
    Some((value, end))
}

/// A text as a JSON string, quotes included.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strings_are_found_with_the_member_they_belong_to() {
        let text = r#"{"a": "x", "b": ["y", {"c": "z\"\u00e9"}, "w"], "d": {"e": 1, "f": "v"}}"#;
        let found: Vec<(String, String)> =
            values(text).into_iter().map(|string| (string.member.unwrap_or_default(), string.value)).collect();
        let expected = [("a", "x"), ("b", "y"), ("c", "z\"é"), ("b", "w"), ("f", "v")];
        assert_eq!(found, expected.map(|(member, value)| (member.to_owned(), value.to_owned())));
        assert_eq!(&text[values(text)[0].span.clone()], "\"x\"");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,80}") {
            values(&text);
        }
    }
}
