use proptest::prelude::*;

use super::TokenKind::*;
use super::*;

fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
    Tokens::of(text).map(|token| (token.kind, &text[token.range])).collect()
}

#[test]
fn scripts_are_split() {
    let text = "export default { 'a-b': `c`, // d\n ...e.f, g: [1.5, -1] /* h */ } satisfies I";
    let expected = [
        (Word, "export"),
        (Word, "default"),
        (Open, "{"),
        (Text, "'a-b'"),
        (Colon, ":"),
        (Template, "`c`"),
        (Comma, ","),
        (Comment, "// d"),
        (Mark, "..."),
        (Word, "e.f"),
        (Comma, ","),
        (Word, "g"),
        (Colon, ":"),
        (Open, "["),
        (Word, "1.5"),
        (Comma, ","),
        (Mark, "-"),
        (Word, "1"),
        (Close, "]"),
        (Comment, "/* h */"),
        (Close, "}"),
        (Word, "satisfies"),
        (Word, "I"),
    ];
    assert_eq!(tokens(text), expected);
}

#[test]
fn what_a_token_is_follows_from_what_stands_before_it() {
    for (text, kind, token) in [
        ("x = /a'[/\"]\\//g", Pattern, "/a'[/\"]\\//g"),
        ("f(/'/, 'b')", Pattern, "/'/"),
        ("return /`/", Pattern, "/`/"),
        ("a / b / 'c'", Text, "'c'"),
        ("a[0] / 2 / 'c'", Text, "'c'"),
        ("i++ / 2 / 'c'", Text, "'c'"),
        ("x = /[/ 'b'", Text, "'b'"),
        ("return'a'", Text, "'a'"),
        ("<p>don't</p> {'a'}", Text, "'a'"),
        ("<br/> 'a' </b>", Text, "'a'"),
        ("<p>a: / {b}</p> 'c'", Text, "'c'"),
        ("<a>https://a.b/c</a> 'd'", Text, "'d'"),
        ("a ? b : // c 'd'\n 'e'", Text, "'e'"),
        ("'a\\\nb'", Text, "'a\\\nb'"),
        ("'a\n\"b\"", Text, "\"b\""),
        ("`a${`b${'`}'}` + /}`/ + /* } */ {}}c` d", Template, "`a${`b${'`}'}` + /}`/ + /* } */ {}}c`"),
        ("`a\\`${b}$` d", Template, "`a\\`${b}$`"),
        ("a `b${", Unclosed, "`b${"),
        ("a /* b", Unclosed, "/* b"),
    ] {
        let found = tokens(text).into_iter().find(|(found, _)| *found == kind);
        assert_eq!(found, Some((kind, token)), "{text}");
    }
}

proptest! {
    /// Tokens lie on character boundaries, in order, with only whitespace between.
    #[test]
    fn any_text_is_split(text in "([ab'\"`\\[\\]{}(),:;.=>$/*+<é\u{2028} \n\\\\-]|\\$\\{|//|/\\*|\\*/|return ){0,60}") {
        let mut read = 0;
        for token in Tokens::of(&text) {
            prop_assert!(text[read..token.range.start].trim().is_empty());
            prop_assert!(!text[token.range.clone()].is_empty());
            read = token.range.end;
        }
        prop_assert!(text[read..].trim().is_empty());
    }

    #[test]
    fn quotes_and_brackets_in_a_template_are_text(code in "[ab'\"{}()/* ]{0,20}") {
        let text = format!("`{code}` + `${{[{code}]}}`");
        prop_assert_eq!(&tokens(&text)[0].1, &format!("`{code}`"));
    }
}
