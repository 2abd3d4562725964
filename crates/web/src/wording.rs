//! Rewords serde's errors about a mismatched value in terms of the value's notation, instead of Rust's types.

/// The notation of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    Json,
    Toml,
}

/// serde's error about a value, in plain words.
///
/// serde gives its errors as text alone, so this is the one place that parses that text.
pub fn in_plain_words(complaint: &str, notation: Notation) -> String {
    let mismatch = complaint
        .strip_prefix("invalid type: ")
        .or_else(|| complaint.strip_prefix("invalid value: "))
        // The expected type comes last and is a text of this project; the found value may contain any text.
        .and_then(|mismatch| mismatch.rsplit_once(", expected "));
    if let Some((found, wanted)) = mismatch {
        return format!("expected {}, not {}", wanted_in(notation, wanted), found_in(notation, found));
    }
    if let Some(rest) = complaint.strip_prefix("unknown variant ") {
        return format!("unknown value {rest}");
    }
    if let Some(rest) = complaint.strip_prefix("unknown field ").filter(|_| notation == Notation::Toml) {
        return format!("unknown key {rest}");
    }
    complaint.to_owned()
}

/// The mismatch in a body that is valid JSON.
pub(crate) fn complaint(error: &serde_json::Error) -> String {
    match without_place(error).as_str() {
        // serde_json reports this for any other value instead of a unit variant's name.
        "expected value" => "expected a string".to_owned(),
        text => in_plain_words(text, Notation::Json),
    }
}

/// The reason why a text is not JSON.
pub(crate) fn syntax_complaint(error: &serde_json::Error) -> String {
    let text = without_place(error);
    match text.as_str() {
        "expected ident" => "expected `true`, `false` or `null`".to_owned(),
        "recursion limit exceeded" => "it is nested too deep".to_owned(),
        _ => match text.strip_prefix("EOF while parsing ") {
            Some(inside) => format!("it ends in the middle of {inside}"),
            None => text,
        },
    }
}

/// The error text without line and column.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

const fn object_in(notation: Notation) -> &'static str {
    match notation {
        Notation::Json => "an object",
        Notation::Toml => "a table",
    }
}

fn wanted_in(notation: Notation, wanted: &str) -> &str {
    match wanted {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 up",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "a nonzero u64" | "a nonzero usize" => "a whole number from 1 up",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a sequence" => "an array",
        "a map" => object_in(notation),
        "unit" => "null",
        "path string" => "a path",
        "variant identifier" | "string or map" | "a borrowed string" => "a string",
        wanted if wanted.starts_with("struct ") => object_in(notation),
        wanted if wanted.starts_with("tuple ") => "an array",
        wanted if wanted.starts_with("enum ") => "a string",
        wanted => wanted,
    }
}

fn found_in(notation: Notation, found: &str) -> String {
    match found {
        "sequence" | "tuple" => "an array".to_owned(),
        "map" => object_in(notation).to_owned(),
        "unit value" => "null".to_owned(),
        found => {
            let number = found.strip_prefix("integer ").or_else(|| found.strip_prefix("floating point "));
            number
                .map(|number| format!("the number {number}"))
                .or_else(|| found.strip_prefix("string ").map(|text| format!("the string {text}")))
                .or_else(|| found.strip_prefix("boolean ").map(str::to_owned))
                .unwrap_or_else(|| found.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::object::{Object, WholeNumber};

    #[derive(Debug, Deserialize)]
    struct Fields {
        #[expect(dead_code, reason = "only read")]
        a: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Up,
        Down,
    }

    fn complaint_of<T: DeserializeOwned>(text: &str) -> String {
        complaint(&serde_json::from_str::<T>(text).err().expect("it does not fit"))
    }

    #[test]
    fn no_complaint_speaks_rust() {
        for (text, expected) in [
            (complaint_of::<String>("5"), "expected a string, not the number `5`"),
            (complaint_of::<String>("2.5"), "expected a string, not the number `2.5`"),
            (complaint_of::<String>("true"), "expected a string, not `true`"),
            (complaint_of::<String>("null"), "expected a string, not null"),
            (complaint_of::<String>("[]"), "expected a string, not an array"),
            (
                complaint_of::<u64>(r#""a, expected b""#),
                r#"expected a whole number from 0 up, not the string "a, expected b""#,
            ),
            (complaint_of::<u64>("-1"), "expected a whole number from 0 up, not the number `-1`"),
            (complaint_of::<WholeNumber>("2.5"), "expected a whole number from 0 up, not the number `2.5`"),
            (complaint_of::<f32>(r#""x""#), r#"expected a number, not the string "x""#),
            (complaint_of::<bool>("1"), "expected `true` or `false`, not the number `1`"),
            (complaint_of::<Vec<u8>>("{}"), "expected an array, not an object"),
            (complaint_of::<HashMap<String, u8>>("[]"), "expected an object, not an array"),
            (complaint_of::<Object<Fields>>("[5]"), "expected an object, not an array"),
            (complaint_of::<Fields>("1"), "expected an object, not the number `1`"),
            (complaint_of::<Fields>("{}"), "missing field `a`"),
            (complaint_of::<Word>("7"), "expected a string"),
            (complaint_of::<Word>(r#""odd""#), "unknown value `odd`, expected `up` or `down`"),
        ] {
            assert_eq!(text, expected);
        }
        let toml = |text| in_plain_words(text, Notation::Toml);
        assert_eq!(
            toml("invalid value: integer `0`, expected a nonzero usize"),
            "expected a whole number from 1 up, not the number `0`"
        );
        assert_eq!(toml("invalid type: map, expected a sequence"), "expected an array, not a table");
        assert_eq!(toml("unknown field `a`, expected `b`"), "unknown key `a`, expected `b`");
        assert!(matches!(serde_json::from_str(r#""up""#), Ok(Word::Up)));
        assert!(matches!(serde_json::from_str(r#""down""#), Ok(Word::Down)));
    }
}
