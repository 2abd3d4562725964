use proptest::prelude::*;

use super::*;
use crate::navigation_script::literals;

fn names(text: &str) -> Vec<(String, String)> {
    let script = Script::of(text);
    let open = script.exported_object().expect("an object");
    let members = script.members(open).0.into_iter();
    members.map(|member| (text[member.name].to_owned(), text[member.value].to_owned())).collect()
}

#[test]
fn members_are_found_behind_what_looks_like_quotes_and_brackets() {
    for (text, expected) in [
        ("const a = /'[{]/; export default { a: 'b' }", [("a", "'b'")].as_slice()),
        (
            "const a = `${`'${'`}'}`}`; module.exports = { a: 'b', 'c-d': f({ e: 1 }) }",
            &[("a", "'b'"), ("c-d", "f({ e: 1 })")],
        ),
        ("const a = <p>don't :( {1}</p>\nexport default { // it's\n a: /* { */ 'b' /* } */ }", &[("a", "'b'")]),
        (
            "export default { a: [1, 2] as const, b: x satisfies A, ...c }",
            &[("a", "[1, 2] as const"), ("b", "x satisfies A")],
        ),
    ] {
        let expected: Vec<_> = expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(names(text), expected, "{text}");
    }
}

#[test]
fn names_are_defined_and_imported() {
    let script = Script::of(
        "// const a = 1\nimport b, { c, d as e } from './f'\nimport type { g } from 'h'\nimport * as i from 'j'\n\
         function k() { const l = 1 }\nexport const l: Record<string, M> = 2, n = 3\nlet o\nconst p = import('q')\n",
    );
    let defined: Vec<_> = script.definitions().map(|(name, at)| (name, script.words(at))).collect();
    assert_eq!(defined, [("k", "function"), ("l", "2"), ("p", "import"), ("l", "1")]);
    let imported: Vec<_> =
        script.imports().into_iter().map(|import| (import.local, import.exported, import.path)).collect();
    let expected = [("b", "default", "./f"), ("c", "c", "./f"), ("e", "d", "./f"), ("g", "g", "h"), ("i", "*", "j")];
    assert_eq!(imported, expected);
}

proptest! {
    /// Brackets nest, and what is derived from a script lies within it.
    #[test]
    fn any_script_is_a_tree(
        text in "([ab'\"`\\[\\]{}(),:;.=>$/*+<é \n\\\\-]|\\$\\{|=>|//|/\\*|\\*/|'a'|return |import |from |const |export default ){0,60}",
    ) {
        let script = Script::of(&*text);
        for (index, token) in script.tokens.iter().enumerate() {
            prop_assert!(text.get(token.range.clone()).is_some());
            if let Some(pair) = token.pair {
                prop_assert_eq!(script.tokens[pair].pair, Some(index));
            }
            if let Some(open) = token.within {
                prop_assert!(open < index && script.tokens[open].kind == TokenKind::Open);
                prop_assert!(script.tokens[open].pair.is_none_or(|close| index < close));
            }
            if token.kind == TokenKind::Open {
                for member in script.members(index).0 {
                    prop_assert!(token.range.end <= member.start && member.name.end < member.value.start);
                    prop_assert!(text.get(member.value).is_some());
                }
                prop_assert!(script.items(index).all(|item| script.tokens[item].within == Some(index)));
            }
        }
        literals(&script);
        script.definitions().count();
        script.imports();
    }
}
