//! JSON with the byte range of every value, so that a file can be edited in place. Comments and trailing commas are
//! accepted, as people write them into such files.

use std::ops::Range;

use docent_markdown::Depth;

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
}

/// Parses a file; the error is the byte offset at which parsing failed.
pub(crate) fn read(text: &str) -> Result<Json, usize> {
    let mut reader = Reader { text, at: 0 };
    reader.at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let value = reader.value(Depth::of(MAX_DEPTH)).ok_or(reader.at)?;
    reader.skip_space();
    if reader.at < text.len() { Err(reader.at) } else { Ok(value) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let after = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - after.len();
            let length = if after.starts_with("//") {
                after.find('\n').unwrap_or(after.len())
            } else if after.starts_with("/*") {
                after.find("*/").map_or(after.len(), |length| length + 2)
            } else {
                return;
            };
            self.at += length;
        }
    }

    fn value(&mut self, depth: Depth) -> Option<Json> {
        self.skip_space();
        let start = self.at;
        let value = match self.peek()? {
            b'"' => Value::Text(self.string()?),
            b'[' => {
                let depth = depth.inside()?;
                self.at += 1;
                let mut items = Vec::new();
                loop {
                    self.skip_space();
                    if self.eat(b']') {
                        break Value::List(items);
                    }
                    items.push(self.value(depth)?);
                    self.comma(b']')?;
                }
            }
            b'{' => {
                let depth = depth.inside()?;
                self.at += 1;
                let mut members = Vec::new();
                loop {
                    self.skip_space();
                    if self.eat(b'}') {
                        break Value::Object(members);
                    }
                    let name = self.string()?;
                    self.skip_space();
                    self.eat(b':').then_some(())?;
                    members.push((name, self.value(depth)?));
                    self.comma(b'}')?;
                }
            }
            _ => {
                let rest = &self.text[start..];
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
                (end > 0).then_some(())?;
                self.at += end;
                Value::Other(rest[..end].to_owned())
            }
        };
        Some(Json { span: start..self.at, value, file: 0 })
    }

    fn comma(&mut self, close: u8) -> Option<()> {
        self.skip_space();
        (self.eat(b',') || self.peek() == Some(close)).then_some(())
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        (self.peek() == Some(b'"')).then_some(())?;
        let mut end = start + 1;
        loop {
            match self.text.as_bytes().get(end)? {
                b'\\' => end += 2,
                b'"' => break,
                _ => end += 1,
            }
        }
        let read = serde_json::from_str(&self.text[start..=end]).ok()?;
        self.at = end + 1;
        Some(read)
    }
}

#[cfg(test)]
mod tests {
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
}
