//! Recognizes JavaScript expressions that are literals, and so have no effect.
//!
//! Only printable ASCII and line feeds are read, and no comment but one that is the whole expression: what ends a line or a
//! comment differs between parsers.

/// Maximum nesting depth of arrays and objects.
const DEEPEST: usize = 32;

/// Whether an expression is a literal: a string, a number, a keyword such as `true`, an array or an object of such, a
/// template without interpolation, or only a comment between `/*` and `*/`.
pub(crate) fn is_literal(text: &str) -> bool {
    let comment = text.trim().strip_prefix("/*").and_then(|rest| rest.strip_suffix("*/"));
    if comment.is_some_and(|words| !words.contains("*/")) || text.trim().is_empty() {
        return true;
    }
    let mut rest = Rest(text);
    text.bytes().all(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\t'))
        && rest.value(0).is_some()
        && {
            rest.skip();
            rest.0.is_empty()
        }
}

struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn skip(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn eat(&mut self, sign: char) -> bool {
        self.skip();
        let rest = self.0.strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn word(&mut self) -> &'t str {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
        let end = self.0.find(|c| !is_part(c)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        (depth < DEEPEST).then_some(())?;
        self.skip();
        match self.0.chars().next()? {
            quote @ ('"' | '\'' | '`') => self.string(quote),
            '[' => self.items(']', |rest| rest.value(depth + 1)),
            '{' => self.items('}', |rest| rest.member(depth)),
            '-' | '+' => {
                self.0 = &self.0[1..];
                self.number()
            }
            '0'..='9' | '.' => self.number(),
            _ => ["true", "false", "null", "undefined"].contains(&self.word()).then_some(()),
        }
    }

    fn number(&mut self) -> Option<()> {
        let word = self.word();
        let is_number = word.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit())
            && !word.starts_with("..")
            && word.chars().all(|c| c.is_ascii_hexdigit() || "xXoOnN_.".contains(c));
        is_number.then_some(())
    }

    fn items(&mut self, close: char, item: impl Fn(&mut Self) -> Option<()>) -> Option<()> {
        self.0 = &self.0[1..];
        while !self.eat(close) {
            item(self)?;
            if !self.eat(',') {
                return self.eat(close).then_some(());
            }
        }
        Some(())
    }

    fn member(&mut self, depth: usize) -> Option<()> {
        self.skip();
        match self.0.chars().next()? {
            quote @ ('"' | '\'') => self.string(quote)?,
            _ => {
                let name = self.word();
                // The value of `__html` is put into a page unescaped.
                (!name.is_empty() && name != "__html" && !name.contains('.')).then_some(())?;
            }
        }
        self.eat(':').then_some(())?;
        self.value(depth + 1)
    }

    fn string(&mut self, quote: char) -> Option<()> {
        let mut chars = self.0.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '$' if quote == '`' && self.0[at..].starts_with("${") => return None,
                '\n' if quote != '`' => return None,
                c if c == quote => {
                    self.0 = &self.0[at + 1..];
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_says_something_is_a_literal_and_what_does_something_is_none() {
        for literal in [
            "",
            " /* note */ ",
            "\"a\"",
            "'it\\'s'",
            "`two\nlines`",
            "1",
            "-1.5e3",
            "0xff",
            "true",
            "null",
            "[]",
            "[1, 'a', [true],]",
            "{ a: 1, 'b-c': [2], }",
        ] {
            assert!(is_literal(literal), "{literal}");
        }
        for code in [
            "a",
            "a.b",
            "f()",
            "`${a}`",
            "'a' + f()",
            "1 + 1",
            "() => 1",
            "{ a }",
            "{ a: b }",
            "{ [a]: 1 }",
            "{ ...a }",
            "...a",
            "[a]",
            "{ get a() { return 1 } }",
            "'a'.constructor",
            "\"a\" /* ",
            "`a`.b",
            "f`a`",
            "{ __html: '<b>' }",
            "new A",
            "1..constructor",
            "'a' 'b'",
            "<A />",
            "/a/.test('a')",
            "'a",
            "1,f()",
            "// note\n1",
            "1 /* note */",
            "/* a */ f() /* b */",
            "//\u{2028}f()\n",
            "'\u{e9}'",
        ] {
            assert!(!is_literal(code), "{code}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged_and_names_are_never_literals(text in "[\\[\\]{}\"'`,:0-9ab/*$ \n\\\\-]{0,40}", name in "[c-e]{1,3}") {
            is_literal(&text);
            prop_assert!(!is_literal(&name));
        }
    }
}
