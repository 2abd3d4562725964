//! JSON with the byte range of every value, so that a file can be edited in place. Comments and trailing commas are
//! accepted, as people write them into such files.

use std::ops::Range;

use docent_markdown::Depth;
use docent_markdown::script::TokenKind;

use crate::script::Script;

/// Maximum nesting depth; a deeper file is rejected.
pub(crate) const MAX_DEPTH: usize = 64;

/// A value and its byte range.
#[derive(Debug, Clone, PartialEq)]
pub struct Json {
    pub span: Range<usize>,
    pub value: Value,
    /// The index of the file that contains the value, where references to other files were followed.
    pub file: usize,
}

/// A JSON value; numbers and literals keep their text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Other(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn get(&self, name: &str) -> Option<&Self> {
        match &self.value {
            Value::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The string value of a member.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// The strings inside, in order: each with the name of the member that has it or that has the list around it.
    pub fn strings(&self) -> Vec<(Option<&str>, &Self, &str)> {
        fn collect<'j>(json: &'j Json, member: Option<&'j str>, found: &mut Vec<(Option<&'j str>, &'j Json, &'j str)>) {
            match &json.value {
                Value::Text(text) => found.push((member, json, text)),
                Value::Other(_) => {}
                Value::List(items) => items.iter().for_each(|item| collect(item, member, found)),
                Value::Object(members) => members.iter().for_each(|(name, json)| collect(json, Some(name), found)),
            }
        }
        let mut found = Vec::new();
        collect(self, None, &mut found);
        found
    }
}

/// Parses a file; the error is the byte offset at which parsing failed.
pub fn read(text: &str) -> Result<Json, usize> {
    let script = Script::of(text);
    let mut reader = JsonReader { script: &script, at: 0 };
    match reader.value(Depth::of(MAX_DEPTH)).filter(|_| reader.at == script.tokens.len()) {
        Some(json) => Ok(json),
        None => Err(script.tokens.get(reader.at).map_or(text.len(), |token| token.range.start)),
    }
}

struct JsonReader<'s> {
    script: &'s Script,
    /// The index of the next token.
    at: usize,
}

impl JsonReader<'_> {
    fn consume(&mut self, words: &str) -> bool {
        let found = self.script.is(self.at, words);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: Depth) -> Option<Json> {
        let start = self.script.tokens.get(self.at)?.range.start;
        let value = match self.script.kind(self.at)? {
            TokenKind::Text => Value::Text(self.string()?),
            TokenKind::Open if self.script.is(self.at, "[") => {
                Value::List(self.items("]", depth, |reader, depth| reader.value(depth))?)
            }
            TokenKind::Open if self.script.is(self.at, "{") => {
                Value::Object(self.items("}", depth, |reader, depth| {
                    let name = reader.string()?;
                    reader.consume(":").then_some(())?;
                    Some((name, reader.value(depth)?))
                })?)
            }
            _ => {
                let is_of_literal = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                let mut end = start;
                while let Some(token) = self.script.tokens.get(self.at)
                    && token.range.start == end
                    && self.script.words(self.at).chars().all(is_of_literal)
                {
                    end = token.range.end;
                    self.at += 1;
                }
                (end > start).then_some(())?;
                Value::Other(self.script.text[start..end].to_owned())
            }
        };
        Some(Json { span: start..self.script.tokens[self.at - 1].range.end, value, file: 0 })
    }

    fn items<T>(&mut self, close: &str, depth: Depth, item: impl Fn(&mut Self, Depth) -> Option<T>) -> Option<Vec<T>> {
        let depth = depth.inside()?;
        self.at += 1;
        let mut items = Vec::new();
        while !self.consume(close) {
            items.push(item(self, depth)?);
            (self.consume(",") || self.script.is(self.at, close)).then_some(())?;
        }
        Some(items)
    }

    fn string(&mut self) -> Option<String> {
        let text =
            self.script.tokens.get(self.at).and_then(|_| serde_json::from_str(self.script.words(self.at)).ok())?;
        self.at += 1;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_are_of_the_file() {
        let text = "{ // note\n \"a\": [\"x\\\"é\", 1, ], /* b */ \"c\": true }";
        let json = read(text).expect("json");
        let list = json.get("a").expect("a");
        assert_eq!(&text[list.span.clone()], "[\"x\\\"é\", 1, ]");
        assert_eq!(list.list()[0].text(), Some("x\"é"));
        assert_eq!(json.get("c").map(|json| &text[json.span.clone()]), Some("true"));
    }

    #[test]
    fn invalid_json_is_reported_by_its_byte() {
        for (text, at) in [("", 0), ("{", 1), ("{\"a\" 1}", 5), ("[1 2]", 3), ("1 2", 2), ("{\"a\":\"\n", 5)] {
            assert_eq!(read(text), Err(at), "{text}");
        }
        assert!(read(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn strings_are_found_with_the_member_they_belong_to() {
        let text = r#"{"a": "x", "b": ["y", {"c": "z\"\u00e9"}, "w"], "d": {"e": 1, "f": "v"}}"#;
        let json = read(text).expect("json");
        let found: Vec<_> = json.strings().into_iter().map(|(member, _, text)| (member.unwrap_or(""), text)).collect();
        assert_eq!(found, [("a", "x"), ("b", "y"), ("c", "z\"é"), ("b", "w"), ("f", "v")]);
        assert_eq!(&text[json.strings()[0].1.span.clone()], "\"x\"");
    }

    proptest! {
        #[test]
        fn json_is_read_as_by_others(text in "(\\[|\\]|[{},:\"1e+.é -]|\"a\":|true|/\\*|\\PC){0,30}") {
            let json = read(&text);
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
                prop_assert_eq!(json.as_ref().map(|json| json.list().len()), Ok(value.as_array().map_or(0, Vec::len)));
            }
            for (_, string, _) in json.iter().flat_map(Json::strings) {
                prop_assert!(text[string.span.clone()].starts_with('"'));
            }
        }
    }
}
