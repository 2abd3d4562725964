//! Parses the literals of a JavaScript or TypeScript file as values.
//!
//! No code is executed. An expression that is not a literal, a name or a call (a condition, a sum) becomes
//! [`ScriptValue::Computed`], and parsing continues after it.

use docent_markdown::{Depth, token_end};

/// How deep values may nest, functions included.
const MAX_DEPTH: usize = 48;

/// In bytes: how far the end of a return type or of type arguments is looked for.
const LONGEST_TYPE: usize = 200;

/// A parsed value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ScriptValue {
    Text(String),
    /// The source text of a number, a boolean, `null` or `undefined`.
    Word(String),
    List(Vec<ScriptValue>),
    /// Members in order. A spread has the name `...`.
    Object(Vec<(String, ScriptValue)>),
    /// `...value` in a list.
    Spread(Box<ScriptValue>),
    /// The name of something defined elsewhere.
    Name(String),
    Call(String, Vec<ScriptValue>),
    /// A value that is known only by executing the program.
    Computed,
}

impl ScriptValue {
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(known) if known == word)
    }

    /// The string value of a member.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Self::text)
    }
}

/// The value that starts at byte offset `at`, and the offset of its end.
pub(crate) fn value_at(text: &str, at: usize) -> (ScriptValue, usize) {
    value_within(text, at, Depth::of(MAX_DEPTH))
}

fn value_within(text: &str, at: usize, depth: Depth) -> (ScriptValue, usize) {
    let mut reader = Reader { text, at };
    let value = reader.primary(depth).unwrap_or(ScriptValue::Computed);
    (value, reader.at)
}

/// The value of the first `return` at or after `at`, and the offset of its end.
pub(crate) fn returned_at(text: &str, at: usize) -> Option<(ScriptValue, usize)> {
    returned_within(text, at, Depth::of(MAX_DEPTH))
}

fn returned_within(text: &str, at: usize, depth: Depth) -> Option<(ScriptValue, usize)> {
    let mut from = at;
    loop {
        let found = from + text.get(from..)?.find("return")?;
        let end = found + "return".len();
        let is_boundary = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let bytes = text.as_bytes();
        if is_boundary(found.checked_sub(1).and_then(|before| bytes.get(before))) && is_boundary(bytes.get(end)) {
            return Some(value_within(text, end, depth));
        }
        from = end;
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// How far away a mark is that has to be near.
    fn near(&self, mark: &str) -> Option<usize> {
        let rest = self.rest();
        rest[..rest.floor_char_boundary(LONGEST_TYPE)].find(mark)
    }

    fn consume(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let after = rest.trim_start();
            let space = rest.len() - after.len();
            let comment = if after.starts_with("//") {
                after.find('\n').unwrap_or(after.len())
            } else if after.starts_with("/*") {
                after.find("*/").map_or(after.len(), |length| length + 2)
            } else {
                0
            };
            self.at += space + comment;
            if comment == 0 {
                return;
            }
        }
    }

    /// A value inside of a list, an object or a call, up to the delimiter that ends it.
    fn value(&mut self, depth: Depth) -> Option<ScriptValue> {
        let value = self.primary(depth)?;
        self.skip_space();
        if self.at_end_of_value() {
            return Some(value);
        }
        let is_typed = ["as ", "satisfies "].iter().any(|word| self.rest().starts_with(word));
        self.skip_expression()?;
        Some(if is_typed { value } else { ScriptValue::Computed })
    }

    fn at_end_of_value(&self) -> bool {
        matches!(self.peek(), None | Some(b',' | b']' | b'}' | b')' | b';'))
    }

    fn primary(&mut self, depth: Depth) -> Option<ScriptValue> {
        self.skip_space();
        match self.peek()? {
            quote @ (b'"' | b'\'') => self.string(quote),
            b'`' => self.template(),
            b'[' => self.list(b']', depth).map(ScriptValue::List),
            b'{' => self.object(depth),
            b'(' => self.parenthesised(depth),
            byte if byte.is_ascii_digit() || byte == b'-' || byte == b'.' => Some(ScriptValue::Word(self.word())),
            byte if is_name_start(byte) => self.name_or_call(depth),
            _ => {
                self.skip_expression()?;
                Some(ScriptValue::Computed)
            }
        }
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_$.-+".contains(c))).unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end.max(1);
        word
    }

    fn string(&mut self, quote: u8) -> Option<ScriptValue> {
        let mut text = String::new();
        let mut chars = self.rest()[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\n' => return None,
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    other => text.push(other),
                },
                c if c as u32 == u32::from(quote) => {
                    self.at += at + 2;
                    return Some(ScriptValue::Text(text));
                }
                c => text.push(c),
            }
        }
        None
    }

    fn template(&mut self) -> Option<ScriptValue> {
        let end = token_end(self.text.as_bytes(), self.at, self.text.len())?;
        let content = self.text.get(self.at + 1..end.checked_sub(1)?)?;
        self.at = end;
        Some(if content.contains("${") {
            ScriptValue::Computed
        } else {
            ScriptValue::Text(content.replace("\\`", "`"))
        })
    }

    fn list(&mut self, close: u8, depth: Depth) -> Option<Vec<ScriptValue>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.consume(close) {
                return Some(items);
            }
            if self.consume(b',') {
                continue;
            }
            if self.rest().starts_with("...") {
                self.at += 3;
                items.push(ScriptValue::Spread(Box::new(self.value(depth.inside()?)?)));
            } else {
                items.push(self.value(depth.inside()?)?);
            }
            self.skip_space();
            if !self.consume(b',') && self.peek() != Some(close) {
                return None;
            }
        }
    }

    fn object(&mut self, depth: Depth) -> Option<ScriptValue> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip_space();
            if self.consume(b'}') {
                return Some(ScriptValue::Object(members));
            }
            if self.consume(b',') {
                continue;
            }
            if self.rest().starts_with("...") {
                self.at += 3;
                members.push(("...".to_owned(), self.value(depth.inside()?)?));
            } else {
                members.push(self.member(depth)?);
            }
            self.skip_space();
            if !self.consume(b',') && self.peek() != Some(b'}') {
                return None;
            }
        }
    }

    fn member(&mut self, depth: Depth) -> Option<(String, ScriptValue)> {
        let name = match self.peek()? {
            quote @ (b'"' | b'\'') => match self.string(quote)? {
                ScriptValue::Text(text) => text,
                _ => return None,
            },
            byte if is_name_start(byte) || byte.is_ascii_digit() => self.word(),
            _ => String::new(),
        };
        self.skip_space();
        if !name.is_empty() && self.consume(b':') {
            return Some((name, self.value(depth.inside()?)?));
        }
        if !name.is_empty() && matches!(self.peek(), Some(b',' | b'}')) {
            return Some((name.clone(), ScriptValue::Name(name)));
        }
        // A method or a computed key.
        self.skip_expression()?;
        Some((name, ScriptValue::Computed))
    }

    /// `(value)`, or the parameters of an arrow function.
    fn parenthesised(&mut self, depth: Depth) -> Option<ScriptValue> {
        let start = self.at;
        let parameters = self.list(b')', depth);
        let end = match parameters {
            Some(_) => self.at,
            None => balanced_end(self.text, start)?,
        };
        self.at = end;
        self.skip_space();
        // The return type of an arrow function.
        if self.peek() == Some(b':')
            && let Some(arrow) = self.near("=>")
        {
            self.at += arrow;
        }
        if self.rest().starts_with("=>") {
            self.at += 2;
            return self.body(depth);
        }
        match parameters?.as_slice() {
            [value] => Some(value.clone()),
            _ => Some(ScriptValue::Computed),
        }
    }

    /// The return value of a function: the expression that is the body of an arrow function, or the value of the first
    /// `return`.
    fn body(&mut self, depth: Depth) -> Option<ScriptValue> {
        self.skip_space();
        if self.peek() != Some(b'{') {
            return self.primary(depth.inside()?);
        }
        let start = self.at;
        let end = balanced_end(self.text, start)?;
        self.at = end;
        let returned = depth.inside().and_then(|depth| returned_within(&self.text[..end], start, depth));
        Some(returned.map_or(ScriptValue::Computed, |(value, _)| value))
    }

    fn name_or_call(&mut self, depth: Depth) -> Option<ScriptValue> {
        let name = self.word();
        match name.as_str() {
            "true" | "false" | "null" | "undefined" => return Some(ScriptValue::Word(name)),
            "async" => return self.primary(depth.inside()?),
            "function" => {
                let open = self.rest().find('(').map(|length| self.at + length)?;
                self.at = balanced_end(self.text, open)?;
                let brace = self.rest().find('{').map(|length| self.at + length)?;
                self.at = brace;
                return self.body(depth);
            }
            "new" | "await" | "typeof" | "void" => {
                self.skip_expression()?;
                return Some(ScriptValue::Computed);
            }
            _ => {}
        }
        self.skip_space();
        if self.peek() == Some(b'<')
            && let Some(length) = self.near(">(")
        {
            self.at += length + 1;
        }
        if self.rest().starts_with("=>") {
            self.at += 2;
            return self.body(depth);
        }
        match self.peek() {
            Some(b'(') => self.list(b')', depth).map(|arguments| ScriptValue::Call(name, arguments)),
            Some(b'`' | b'[') => {
                self.skip_expression()?;
                Some(ScriptValue::Computed)
            }
            _ => Some(ScriptValue::Name(name)),
        }
    }

    /// Skips to the delimiter that ends the current value.
    fn skip_expression(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => return Some(()),
                b')' | b']' | b'}' => depth -= 1,
                b',' | b';' if depth == 0 => return Some(()),
                _ => {
                    self.at = token_end(bytes, self.at, bytes.len())?;
                    continue;
                }
            }
            self.at += 1;
        }
        (depth == 0).then_some(())
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

/// The offset after the bracket that closes the one at `at`.
fn balanced_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut ix = at;
    while ix < bytes.len() {
        match bytes[ix] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(ix + 1);
                }
            }
            _ => {
                ix = token_end(bytes, ix, bytes.len())?;
                continue;
            }
        }
        ix += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> ScriptValue {
        ScriptValue::Text(text.to_owned())
    }

    #[test]
    fn literals_are_values() {
        let source = r#"{
  // where
  base: '/a/', "cleanUrls": true, n: 12, t: `plain`,
  items: [{ text: "It\'s", link: '/x' }, , ] as const,
  nested: ({ a: null }), f() { return 1 }, shorthand,
}"#;
        let (read, end) = value_at(source, 0);
        assert_eq!(end, source.len());
        assert_eq!(read.text_of("base"), Some("/a/"));
        assert!(read.get("cleanUrls").is_some_and(|flag| flag.is("true")));
        assert_eq!(read.text_of("t"), Some("plain"));
        assert_eq!(read.get("items").map(|items| items.list()[0].text_of("text")), Some(Some("It's")));
        assert!(read.get("nested").and_then(|nested| nested.get("a")).is_some_and(|a| a.is("null")));
        assert_eq!(read.get("f"), Some(&ScriptValue::Computed));
        assert_eq!(read.get("shorthand"), Some(&ScriptValue::Name("shorthand".to_owned())));
    }

    #[test]
    fn computed_values_are_told_from_literals() {
        let (read, _) =
            value_at("[a ? 'x' : 'y', 'a' + b, `${c}`, items.map((x) => x), 'z', ...rest, call({ k: 1 })]", 0);
        let ScriptValue::List(items) = read else { panic!("no list") };
        assert_eq!(items[0], ScriptValue::Computed);
        assert_eq!(items[1], ScriptValue::Computed);
        assert_eq!(items[2], ScriptValue::Computed);
        assert!(matches!(&items[3], ScriptValue::Call(name, _) if name == "items.map"));
        assert_eq!(items[4], text("z"));
        assert_eq!(items[5], ScriptValue::Spread(Box::new(ScriptValue::Name("rest".to_owned()))));
        assert!(matches!(&items[6], ScriptValue::Call(name, _) if name == "call"));
    }

    #[test]
    fn too_deep_values_count_as_computed() {
        for (open, close) in [
            ("()=>{return ", "}"),
            ("async()=>{return ", "}"),
            ("function f(){return ", "}"),
            ("{a:()=>{return ", "}}"),
            ("{a: function(){return ", "}}"),
            ("{a(){return ", "}}"),
            ("(()=>{return ", "})()"),
            ("()=>(", ")"),
            ("()=>", ""),
            ("async ", ""),
            ("define(", ")"),
            ("a<b>(", ")"),
            ("[{items:", "}]"),
            ("[...", "]"),
            ("(a):b=>{return ", "}"),
        ] {
            for depth in [100, 50_000] {
                let source = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                let _ = value_at(&source, 0);
                let _ = returned_at(&format!("return {source}"), 0);
            }
            let (read, _) = value_at(&format!("{}1{}", open.repeat(4), close.repeat(4)), 0);
            assert!(read != ScriptValue::Computed || open.starts_with("(()"), "{open}: {read:?}");
        }
        let shallow = format!("{}'x'{}", "()=>{return ".repeat(20), "}".repeat(20));
        assert_eq!(value_at(&shallow, 0).0, text("x"));
    }

    #[test]
    fn a_function_is_what_it_returns() {
        for source in [
            "() => ['a']",
            "async () => (['a'])",
            "(x: number): string[] => { const y = 1; return ['a'] }",
            "function name(x) { return [ 'a' ] }",
        ] {
            assert_eq!(value_at(source, 0).0, ScriptValue::List(vec![text("a")]), "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_script_is_read(source in "[a-c'\"`\\[\\]{}(),:;.=>$/* \n]{0,80}") {
            let (_, end) = value_at(&source, 0);
            prop_assert!(end <= source.len() + 1);
        }
    }

    #[test]
    fn deep_scripts_are_read() {
        for unit in ["[", "{a:", "(", "a(", "...", "()=>", "`${", "function("] {
            value_at(&unit.repeat(100_000), 0);
        }
    }
}
