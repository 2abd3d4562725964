//! Recognizes JavaScript expressions that are literals, and so have no effect.
//!
//! Only printable ASCII and line feeds are read, and no comment but one that is the whole expression: what ends a line or a
//! comment differs between parsers. Brackets are not paired: what lacks one is no expression.

use std::sync::LazyLock;

use regex::Regex;

use crate::regex;

// No bracket or template stands behind a value, of which it would take a member or which it would call.
static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    let quoted = r#""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"#;
    let template = r"`(?:[^`\\$]|\\.|\$+(?:[^`\\${]|\\.))*\$*`";
    let value =
        format!(r"(?:{quoted}|{template}|[+-]?\.?[0-9][0-9a-fA-FxXoOnN_.]*|true|false|null|undefined|\{{\s*\}})");
    let key = format!(r"(?:[\w$]+|{quoted})\s*:\s*");
    let open = format!(r"(?:\[\s*|\{{\s*{key})");
    Regex::new(&format!(r"(?s)\A\s*(?:{value}|{open}+{value}?\s*(?:,\s*(?:{key})?{open}*{value}?\s*|[\]}}]\s*)*)\s*\z"))
        .expect("the pattern is put together above")
});
// The value of a member `__html` is put into a page unescaped, however its name is spelled.
regex!(HTML, r"(?s)\{.*(?:_html|\\[^'\x22`nt\\])");

/// Whether an expression is a literal: a string, a number, a keyword such as `true`, an array or an object of such, a
/// template without interpolation, or only a comment between `/*` and `*/`.
pub(crate) fn is_literal(text: &str) -> bool {
    let comment = text.trim().strip_prefix("/*").and_then(|rest| rest.strip_suffix("*/"));
    let is_printable = |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\t');
    comment.is_some_and(|words| !words.contains("*/"))
        || text.trim().is_empty()
        || (text.bytes().all(is_printable) && LITERAL.is_match(text) && !HTML.is_match(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literals_are_told_from_expressions() {
        for literal in [
            "", " /* note */ ", "\"a\"", "'it\\'s'", "`two\nlines`", "1", "-1.5e3", "0xff", "true", "null", "[]",
            "[1, 'a', [true],]", "{ a: 1, 'b-c': [2], }",
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
            "{ \"__html\": '<b>' }",
            "{ '_\\_html': '<b>' }",
            "''['constructor']",
            "[]['map']['call']`a`",
            "{a: 1}`b`",
            "a: 1",
            "{ 'a' }",
            "1, 2",
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
