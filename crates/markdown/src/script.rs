//! Splits JavaScript and TypeScript, with JSX in it, into tokens: the only place that knows their lexical grammar.
//!
//! Takes linear time, and never fails: what is not closed is a token, too. Code of JSX and of types is split like any
//! other. In the text of JSX, an apostrophe inside a word begins no string, and `//` in an address no comment.

use std::ops::Range;

use crate::words::has_word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Comment,
    /// A string literal in single or double quotes.
    Text,
    /// A template literal, with the code in it.
    Template,
    /// A regular expression.
    Pattern,
    /// A name, a keyword or a number; with dots inside, as in `module.exports`.
    Word,
    Open,
    Close,
    Comma,
    Colon,
    /// An operator, or any other character.
    Mark,
    /// A template or a comment that does not end: the rest of the text.
    Unclosed,
}

/// A token. Between tokens there is only whitespace, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub range: Range<usize>,
}

/// The tokens of a text, in order.
#[derive(Debug, Clone)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// The last token that is not a comment.
    last: Token,
    /// The end of a line on which a regular expression was found not to end.
    no_pattern_before: usize,
}

/// Words behind which a value begins.
const KEYWORDS: &str = "as await case default delete do else export extends from import in instanceof new of return \
    throw typeof void yield";

/// Marks of several characters. `//` is one where it begins no comment.
const MARKS: [&str; 8] = ["...", "===", "=>", "==", "?.", "++", "--", "//"];

/// Marks behind which no value begins: in JSX, `<` and `>` stand before `/` and before text.
const ENDING_MARKS: [&str; 6] = ["<", ">", ".", "++", "--", "//"];

impl<'t> Tokens<'t> {
    pub fn of(text: &'t str) -> Self {
        Self { text, at: 0, last: Token { kind: TokenKind::Comma, range: 0..0 }, no_pattern_before: 0 }
    }

    /// Reads the token at `at`, which is neither whitespace nor a template.
    fn token(&mut self, at: usize) -> Token {
        let rest = &self.text[at..];
        let char_length = |at: usize| rest[at..].chars().next().map_or(0, char::len_utf8);
        let mark =
            || MARKS.iter().find(|mark| rest.starts_with(**mark)).map_or_else(|| char_length(0), |mark| mark.len());
        let (kind, length) = match rest.as_bytes()[0] {
            b'"' | b'\'' => self.string(at).map_or((TokenKind::Mark, 1), |length| (TokenKind::Text, length)),
            b'/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(length) => (TokenKind::Comment, length + 4),
                None => (TokenKind::Unclosed, rest.len()),
            },
            b'/' if rest.starts_with("//") && !self.is_in_address(at) => {
                (TokenKind::Comment, rest.find('\n').unwrap_or(rest.len()))
            }
            b'/' => self.pattern(at).map_or_else(|| (TokenKind::Mark, mark()), |length| (TokenKind::Pattern, length)),
            b'(' | b'[' | b'{' => (TokenKind::Open, 1),
            b')' | b']' | b'}' => (TokenKind::Close, 1),
            b',' => (TokenKind::Comma, 1),
            b':' => (TokenKind::Colon, 1),
            b'\\' => (TokenKind::Mark, 1 + char_length(1)),
            _ => match word_length(rest) {
                0 => (TokenKind::Mark, mark()),
                length => (TokenKind::Word, length),
            },
        };
        let token = Token { kind, range: at..at + length };
        if kind != TokenKind::Comment {
            self.last = token.clone();
        }
        token
    }

    /// The template that begins at `start`. Templates nest in the code of templates, which is read without recursion.
    fn template(&mut self, start: usize) -> Token {
        let bytes = self.text.as_bytes();
        // The braces that are open in each `${` around.
        let mut braces: Vec<usize> = Vec::new();
        let (mut at, mut is_code) = (start + 1, false);
        while let Some(byte) = bytes.get(at) {
            match (byte, is_code) {
                (b'`', false) if braces.is_empty() => {
                    self.last = Token { kind: TokenKind::Template, range: start..at + 1 };
                    return self.last.clone();
                }
                (b'`', false) => {
                    self.last.kind = TokenKind::Template;
                    is_code = true;
                }
                (b'\\', false) => at += 1,
                (b'$', false) if bytes.get(at + 1) == Some(&b'{') => {
                    braces.push(0);
                    self.last.kind = TokenKind::Open;
                    (at, is_code) = (at + 1, true);
                }
                (_, false) => {}
                (b'`', true) => is_code = false,
                (b'}', true) if braces.last() == Some(&0) => {
                    braces.pop();
                    is_code = false;
                }
                (b' ' | b'\t' | b'\r' | b'\n', true) => {}
                (_, true) => {
                    at = self.token(at).range.end;
                    match (byte, braces.last_mut()) {
                        (b'{', Some(open)) => *open += 1,
                        (b'}', Some(open)) => *open -= 1,
                        _ => {}
                    }
                    continue;
                }
            }
            at += 1;
        }
        Token { kind: TokenKind::Unclosed, range: start..self.text.len() }
    }

    /// The length of a string, which ends on its line unless the end of the line is escaped.
    fn string(&self, at: usize) -> Option<usize> {
        let bytes = &self.text.as_bytes()[at..];
        let is_in_word = self.last.range.end == at && self.last.kind == TokenKind::Word && !self.expects_value();
        if bytes[0] == b'\'' && is_in_word {
            return None;
        }
        let mut end = 1;
        loop {
            match bytes.get(end)? {
                b'\n' => return None,
                b'\\' => end += 1,
                byte if *byte == bytes[0] => return Some(end + 1),
                _ => {}
            }
            end += 1;
        }
    }

    /// The length of the regular expression that the slash begins, with its flags.
    fn pattern(&mut self, at: usize) -> Option<usize> {
        if !self.expects_value() || at < self.no_pattern_before {
            return None;
        }
        let bytes = &self.text.as_bytes()[at..];
        let (mut end, mut is_in_class) = (1, false);
        loop {
            match bytes.get(end) {
                None | Some(b'\n') => {
                    self.no_pattern_before = at + end;
                    return None;
                }
                Some(b'\\') => end += 1,
                Some(b'[') => is_in_class = true,
                Some(b']') => is_in_class = false,
                Some(b'/') if !is_in_class => break,
                _ => {}
            }
            end += 1;
        }
        let flags = bytes[end + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        // `</a>` and `<a/>` are tags.
        (bytes.get(end + 1 + flags) != Some(&b'>')).then_some(end + 1 + flags)
    }

    /// Whether a value may begin here, and a slash does not divide.
    fn expects_value(&self) -> bool {
        let words = &self.text[self.last.range.clone()];
        match self.last.kind {
            TokenKind::Open | TokenKind::Comma | TokenKind::Colon => true,
            TokenKind::Word => has_word(KEYWORDS, words),
            TokenKind::Mark => !ENDING_MARKS.contains(&words),
            _ => false,
        }
    }

    /// Whether two slashes stand in an address, as in `https://example.com`.
    fn is_in_address(&self, at: usize) -> bool {
        let before = self.text[..at].strip_suffix(':');
        before.is_some_and(|scheme| scheme.ends_with(|c: char| c.is_ascii_alphanumeric()))
            && self.text[at + 2..].starts_with(|c: char| !c.is_whitespace())
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        // A byte order mark is whitespace in scripts.
        let rest = self.text[self.at..].trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let start = self.text.len() - rest.len();
        let token = match rest.as_bytes().first()? {
            b'`' => self.template(start),
            _ => self.token(start),
        };
        self.at = token.range.end;
        Some(token)
    }
}

fn word_length(rest: &str) -> usize {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut length = 0;
    loop {
        let rest = &rest[length..];
        match rest.find(|c| !is_of_word(c)) {
            None => return length + rest.len(),
            // A member.
            Some(end) if end > 0 && rest[end..].starts_with('.') && rest[end + 1..].starts_with(is_of_word) => {
                length += end + 1;
            }
            Some(end) => return length + end,
        }
    }
}

#[cfg(test)]
mod tests;
