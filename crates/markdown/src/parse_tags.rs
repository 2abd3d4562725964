//! Parses one HTML or JSX tag, with the byte range of everything in it.

use std::ops::Range;

use crate::parse_script::expression_end;

/// Longest tag, in bytes. A longer one is text.
pub(crate) const LONGEST_TAG: usize = 64 * 1024;

/// The syntax in which a tag is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Html,
    Jsx,
}

/// Whether a tag opens an element, closes one, or is self-closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagKind {
    Open,
    Close,
    /// `<br/>`
    Whole,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub span: Range<usize>,
    /// Empty for a fragment (`<>`).
    pub name: String,
    pub kind: TagKind,
    pub attributes: Vec<Attribute>,
    /// The expressions in the tag, braces included: the values of attributes, and those in place of attributes
    /// (`{...props}`).
    pub expressions: Vec<Range<usize>>,
}

/// An attribute. Only a literal value is recorded; without a value or with a computed one, `value` is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    pub name: String,
    /// The byte range of the value, without its quotes.
    pub value: Option<Range<usize>>,
}

impl Tag {
    /// Whether this is a component: its name starts with a capital or contains a dot.
    pub fn is_component(&self) -> bool {
        self.name.chars().next().is_some_and(char::is_uppercase) || self.name.contains('.')
    }

    pub fn value<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        let attribute = self.attributes.iter().find(|attribute| attribute.name == name)?;
        text.get(attribute.value.clone()?)
    }
}

/// Parses the tag that starts with the `<` at `at`; `None` if there is no tag.
pub fn scan_tag(text: &str, at: usize, dialect: Dialect) -> Option<Tag> {
    let end = text.floor_char_boundary(text.len().min(at + LONGEST_TAG));
    let mut scan = TagScan { text: text.get(..end)?, at, dialect, expressions: Vec::new() };
    scan.eat('<').then_some(())?;
    let closing = scan.eat('/');
    let name = scan.name();
    match (scan.peek(), dialect) {
        (Some('>'), Dialect::Jsx) if name.is_empty() => {}
        (Some('>' | '/'), _) if !name.is_empty() => {}
        (Some(c), _) if !name.is_empty() && c.is_whitespace() => {}
        (Some('{'), Dialect::Jsx) if !name.is_empty() => {}
        _ => return None,
    }
    let mut attributes = Vec::new();
    let mut kind = if closing { TagKind::Close } else { TagKind::Open };
    loop {
        scan.skip_space();
        match scan.peek()? {
            '>' => {
                scan.at += 1;
                return Some(Tag { span: at..scan.at, name, kind, attributes, expressions: scan.expressions });
            }
            '/' => {
                scan.at += 1;
                scan.skip_space();
                if scan.peek()? == '>' {
                    if !closing {
                        kind = TagKind::Whole;
                    }
                } else if dialect == Dialect::Jsx {
                    return None;
                }
            }
            '{' if dialect == Dialect::Jsx => {
                scan.expression()?;
            }
            _ => attributes.push(scan.attribute()?),
        }
    }
}

struct TagScan<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
    expressions: Vec<Range<usize>>,
}

impl TagScan<'_> {
    /// Reads the expression that begins here; the range between its braces.
    fn expression(&mut self) -> Option<Range<usize>> {
        let span = self.at..expression_end(self.text, self.at)?;
        self.at = span.end;
        self.expressions.push(span.clone());
        Some(span.start + 1..span.end - 1)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn skip_space(&mut self) {
        while let Some(c) = self.peek().filter(|c| c.is_whitespace()) {
            self.at += c.len_utf8();
        }
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Range<usize> {
        let start = self.at;
        while let Some(c) = self.peek().filter(|c| wanted(*c)) {
            self.at += c.len_utf8();
        }
        start..self.at
    }

    fn name(&mut self) -> String {
        let starts = self.peek().is_some_and(|c| match self.dialect {
            Dialect::Html => c.is_ascii_alphabetic(),
            Dialect::Jsx => c.is_alphabetic() || c == '_' || c == '$',
        });
        if !starts {
            return String::new();
        }
        let range = match self.dialect {
            Dialect::Html => self.take(|c| c.is_ascii_alphanumeric() || c == '-' || c == ':'),
            Dialect::Jsx => self.take(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.' | ':')),
        };
        self.text[range].to_owned()
    }

    fn attribute(&mut self) -> Option<Attribute> {
        let range = match self.dialect {
            Dialect::Html => self.take(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>' | '/' | '=')),
            Dialect::Jsx => self.take(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | ':' | '.' | '@')),
        };
        if range.is_empty() {
            return None;
        }
        let name = self.text[range.clone()].to_owned();
        self.skip_space();
        if !self.eat('=') {
            return Some(Attribute { name, value: None });
        }
        self.skip_space();
        let value = match self.peek()? {
            quote @ ('"' | '\'') => {
                self.at += 1;
                let value = self.take(|c| c != quote);
                self.eat(quote).then_some(())?;
                Some(value)
            }
            '{' if self.dialect == Dialect::Jsx => {
                let inside = self.expression()?;
                literal(self.text, inside)
            }
            _ if self.dialect == Dialect::Html => {
                let value = self.take(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '<' | '>' | '=' | '`'));
                (!value.is_empty()).then_some(())?;
                Some(value)
            }
            _ => return None,
        };
        Some(Attribute { name, value })
    }
}

/// The content of an expression that is a single string literal, without escapes and interpolation.
pub(crate) fn literal(text: &str, inside: Range<usize>) -> Option<Range<usize>> {
    let raw = &text[inside.clone()];
    let start = inside.start + (raw.len() - raw.trim_start().len());
    let trimmed = raw.trim();
    let quote = trimmed.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let content = trimmed[1..].strip_suffix(quote)?;
    let plain = !content.contains(quote) && !content.contains("${") && !content.contains('\\');
    plain.then(|| start + 1..start + 1 + content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Attributes = Vec<(String, Option<String>)>;

    fn read(text: &str, dialect: Dialect) -> Option<(String, TagKind, Attributes)> {
        let tag = scan_tag(text, 0, dialect)?;
        assert_eq!(tag.span, 0..text.len());
        let attributes = tag
            .attributes
            .iter()
            .map(|attribute| (attribute.name.clone(), attribute.value.clone().map(|range| text[range].to_owned())))
            .collect();
        Some((tag.name, tag.kind, attributes))
    }

    #[test]
    fn tags_are_read_with_their_attributes() {
        use TagKind::{Close, Open, Whole};
        type Row = (&'static str, &'static str, TagKind, &'static [(&'static str, Option<&'static str>)]);
        let table: [Row; 9] = [
            ("<Note>", "Note", Open, &[]),
            ("</Note >", "Note", Close, &[]),
            ("<br/>", "br", Whole, &[]),
            ("<>", "", Open, &[]),
            ("<Card title=\"a > b\" href='/x' />", "Card", Whole, &[("title", Some("a > b")), ("href", Some("/x"))]),
            ("<Card href={\"/x\"} a={1} b>", "Card", Open, &[("href", Some("/x")), ("a", None), ("b", None)]),
            ("<A {...props} href={`/y`}>", "A", Open, &[("href", Some("/y"))]),
            ("<A href={`/y/${z}`}>", "A", Open, &[("href", None)]),
            ("<Tabs.Item\n  value=\"é\"\n>", "Tabs.Item", Open, &[("value", Some("é"))]),
        ];
        for (text, name, kind, attributes) in table {
            let (read_name, read_kind, read_attributes) = read(text, Dialect::Jsx).expect(text);
            assert_eq!((read_name.as_str(), read_kind), (name, kind), "{text}");
            let expected: Vec<_> = attributes.iter().map(|(n, v)| (n.to_string(), v.map(str::to_owned))).collect();
            assert_eq!(read_attributes, expected, "{text}");
        }
    }

    #[test]
    fn html_is_more_forgiving() {
        let (name, kind, attributes) = read("<a href=/x target=_blank disabled>", Dialect::Html).expect("a tag");
        assert_eq!((name.as_str(), kind), ("a", TagKind::Open));
        assert_eq!(attributes[0], ("href".to_owned(), Some("/x".to_owned())));
        assert_eq!(attributes.len(), 3);
        assert!(scan_tag("<a x=foo>", 0, Dialect::Jsx).is_none());
    }

    #[test]
    fn other_angle_brackets_are_no_tags() {
        for text in ["<", "< a>", "<5", "<a", "<a b=\"", "<a {", "<=", "<-", "<é>x"] {
            assert!(scan_tag(text, 0, Dialect::Html).is_none(), "{text}");
        }
    }
}
