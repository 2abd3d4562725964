use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::*;

const SIDEBARS: &str = "// @ts-check\nmodule.exports = {\n  docs: [\n    'intro', // the first\n    { type: 'category', label: 'Guides', items: ['a', 'b'] },\n    { type: 'doc', id: 'c' },\n  ],\n  api: require('./api')['list'],\n};\n";

const STARLIGHT: &str = "import a from 'a/b';\nexport default defineConfig({\n  integrations: [\n    starlight({\n      plugins: [a('x/y')],\n      customCss: ['./a.css'],\n      sidebar: [\n        'one',\n        { label: 'Two', items: ['two/a', { label: 'B', slug: 'two/b' }] },\n        { label: 'Three', link: '/three/' },\n      ],\n    }),\n  ],\n});\n";

const META: &str = "export default {\n  index: 'Home',\n  // more\n  'a-b': { title: 'A', href: f() },\n  c: 'C'\n}\n";

fn judged(file: &str, before: &str, edits: &[(&str, &str)]) -> Option<&'static str> {
    let edited = edits.iter().fold(before.to_owned(), |text, (old, new)| {
        let after = text.replacen(old, new, 1);
        assert_ne!(after, text, "{old}");
        after
    });
    NavigationScript::of(file).expect("a script of navigation").more_than_navigation(before, &edited)
}

#[test]
fn pages_are_renamed_removed_and_added() {
    for edits in [
        [("'intro'", "'start/intro'")].as_slice(),
        &[("    'intro', // the first\n", "    // the first\n")],
        &[("'a', 'b'", "'b'")],
        &[("'a', 'b'", "'a'")],
        &[("'a', 'b'", "'a', 'new', 'b'")],
        &[("'a', 'b'", "\n      'b',\n      'a',\n    ")],
        &[("id: 'c'", "id: 'd'"), ("'a'", "'c'")],
        &[("id: 'c' },\n", "id: 'c' },\n    'last',\n")],
        &[("    { type: 'doc', id: 'c' },\n", "")],
        &[("'b'", "'b', { type: 'doc', id: 'd', label: 'D & \"E\"' }")],
        &[("label: 'Guides'", "label: 'How to'")],
        &[("    { type: 'doc', id: 'c' },\n", ""), ("'a'", "{ type: 'doc', id: 'c' }, 'a'")],
    ] {
        assert_eq!(judged("website/sidebars.js", SIDEBARS, edits), None, "{edits:?}");
    }
    for edits in [
        [("'one'", "'1/one'")].as_slice(),
        &[("'two/a', ", "")],
        &[("slug: 'two/b'", "slug: 'b'"), ("'/three/'", "'/3/'")],
        &[("'one',\n", "'one',\n        'four',\n")],
        &[("'one'", "{ label: 'One', link: '/one/' }")],
        &[(", { label: 'B', slug: 'two/b' }", "")],
        &[("        { label: 'Three', link: '/three/' },\n", "")],
        &[("label: 'B'", "label: 'C'"), ("label: 'Two'", "label: 'Both'")],
    ] {
        assert_eq!(judged("astro.config.mjs", STARLIGHT, edits), None, "{edits:?}");
    }
    for edits in [
        [("index: 'Home',\n", "")].as_slice(),
        &[("  c: 'C'\n", "  c: 'C',\n  d: 'D: next'\n")],
        &[("'a-b'", "'a-c'")],
        &[("'C'", "\"It's\""), ("title: 'A'", "title: 'Array<T>'")],
    ] {
        assert_eq!(judged("pages/_meta.ts", META, edits), None, "{edits:?}");
    }
}

#[test]
fn nothing_else_may_differ() {
    for (file, before, edits) in [
        ("sidebars.js", SIDEBARS, [("require('./api')", "require('./evil')")].as_slice()),
        ("sidebars.js", SIDEBARS, &[("['list']", "['constructor']")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "f()")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "'b', f()")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "`${f()}`")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "'b'.concat(f())")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "'//example.com'")]),
        ("sidebars.js", SIDEBARS, &[("id: 'c'", "id: 'javascript:f'")]),
        ("sidebars.js", SIDEBARS, &[("label: 'Guides'", "label: '<b>'")]),
        ("sidebars.js", SIDEBARS, &[("label: 'Guides'", "label: 'Guides'.concat(f())")]),
        ("sidebars.js", SIDEBARS, &[("label: 'Guides'", "label: f()")]),
        ("sidebars.js", SIDEBARS, &[("type: 'category'", "type: 'html'")]),
        ("sidebars.js", "module.exports = [f({ label: 'a' })];\n", &[("'a'", "'b'")]),
        (
            ".vitepress/config.ts",
            "export default { head: [['script', {}, dev ? text : 'a()']] };\n",
            &[("'a()'", "'b()'")],
        ),
        (".vitepress/config.ts", "export default { nav: [{ text: dev ? label : 'a' }] };\n", &[("'a'", "'b'")]),
        ("sidebars.js", SIDEBARS, &[("// the first", "// the last")]),
        ("sidebars.js", SIDEBARS, &[("// the first\n", "// the first ")]),
        ("sidebars.js", SIDEBARS, &[("{ type: 'category', label: 'Guides', items: ['a', 'b'] },\n", "")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "{ type: 'html', id: 'b' }")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "{ type: 'doc', id: f() }")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "{ type: 'doc', id: 'b' + f() }")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "{ type: 'doc', id: 'b', [f()]: 'c' }")]),
        ("sidebars.js", SIDEBARS, &[("'b'", "{ id: 'b' }[f()]")]),
        ("sidebars.js", SIDEBARS, &[("['list']", "[{ id: 'list' }]")]),
        ("sidebars.js", "", &[("", "module.exports = {}")]),
        ("astro.config.ts", STARLIGHT, &[("'a/b'", "'c/d'")]),
        ("astro.config.ts", STARLIGHT, &[("a('x/y')", "a('x/z')")]),
        ("astro.config.ts", STARLIGHT, &[("'./a.css'", "'./b.css'")]),
        ("astro.config.ts", STARLIGHT, &[("'one'", "{ link: 'https://example.com' }")]),
        ("astro.config.ts", STARLIGHT, &[("'one'", "{ label: '<img src=x onerror=f()>', link: '/x' }")]),
        ("astro.config.ts", STARLIGHT, &[("'one'", "{ label: 'A', link: '/x', badge: 'B' }")]),
        ("astro.config.ts", STARLIGHT, &[("a('x/y')", "{ label: 'A', link: '/x' }")]),
        ("astro.config.ts", STARLIGHT, &[("label: 'Two'", "label: `${f()}`")]),
        ("astro.config.ts", STARLIGHT, &[("'/three/'", "'https://example.com'")]),
        (".vitepress/config.mts", STARLIGHT, &[("'/three/'", "'/three/', head: f()")]),
        ("_meta.js", META, &[("f()", "g()")]),
        ("_meta.js", META, &[("'C'", "f()")]),
        ("_meta.js", META, &[("'C'\n", "'C',\n  [f()]: 'D'\n")]),
        ("_meta.js", META, &[("'C'", "`${f()}`")]),
        ("_meta.js", META, &[("}\n", "};\nf()\n"), ("};\nf()", "}\nf()")]),
    ] {
        assert!(judged(file, before, edits).is_some(), "{edits:?}");
    }
}

/// Comments, templates and string literals.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?s)//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"#));
/// An object of string literals only, after each literal was replaced by one quote.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\s*(?:(?:\w+|')\s*:\s*'\s*(?:,\s*)?)+\}"));
/// A member whose value is a string literal.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:[\w$]+|')\s*:\s*'"));
/// The name of a member.
static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:[\w$]+|')\s*:"));

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is written out above")
}

proptest! {
    /// An accepted edit leaves the code the same, except for whitespace, commas, comments and string literals.
    #[test]
    fn an_edit_that_is_accepted_brings_no_code(
        at in 0usize..300,
        gone in 0usize..12,
        new in r#"([a-z'"`/\[\]{}(),:;$*#.=-]| |\n|//|/\*|\*/|\$\{|'x'|"y",){0,8}"#,
        script in 0usize..3,
    ) {
        let (file, before) = [("sidebars.js", SIDEBARS), ("astro.config.mjs", STARLIGHT), ("_meta.js", META)][script];
        let at = at.min(before.len());
        let end = (at + gone).min(before.len());
        let after = format!("{}{new}{}", &before[..at], &before[end..]);
        let meta = file == "_meta.js";
        let code = |text: &str| -> String {
            let mut text = QUOTED.replace_all(text, |found: &regex::Captures<'_>| match found[0].as_bytes()[0] {
                b'/' => String::new(),
                b'`' => found[0].to_owned(),
                _ => "'".to_owned(),
            }).into_owned();
            let entries = if meta { &MEMBER } else { &ENTRY };
            while let Some(shorter) = Some(entries.replace_all(&text, "").into_owned()).filter(|other| *other != text) {
                text = shorter;
            }
            let names = if meta { NAME.replace_all(&text, ":").into_owned() } else { text };
            names.chars().filter(|c| !c.is_whitespace() && *c != ',' && *c != '\'').collect()
        };
        if NavigationScript::of(file).expect("a script of navigation").more_than_navigation(before, &after).is_none() {
            prop_assert_eq!(code(before), code(&after));
        }
    }
}
