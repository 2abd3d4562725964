use proptest::prelude::*;

use serde_json::{Value, json};

use super::*;
use crate::chore::{OutlineItem, Scope};

fn everywhere(from: &str, to: &str) -> Instruction {
    within(from, to, &[])
}

fn within(from: &str, to: &str, patterns: &[&str]) -> Instruction {
    Instruction::Chore(Chore::ReplaceText { from: from.into(), to: to.into(), scope: scope_of(patterns) })
}

fn scope_of(patterns: &[&str]) -> Scope {
    if patterns.is_empty() {
        Scope::Everywhere
    } else {
        Scope::In(patterns.iter().map(|pattern| (*pattern).to_owned()).collect())
    }
}

fn moved(from: &str, to: &str) -> Instruction {
    Instruction::Chore(Chore::MovePage { from: from.into(), to: to.into() })
}

fn deleted(page: &str) -> Instruction {
    Instruction::Chore(Chore::DeletePage { page: page.into() })
}

fn fixed(patterns: &[&str]) -> Instruction {
    Instruction::Chore(Chore::FixLinks { scope: scope_of(patterns) })
}

fn described(patterns: &[&str]) -> Instruction {
    Instruction::Chore(Chore::AddDescriptions { scope: scope_of(patterns) })
}

fn titled(patterns: &[&str]) -> Instruction {
    Instruction::Chore(Chore::AddTitles { scope: scope_of(patterns) })
}

fn added(page: &str, title: &str, outline: &[(u8, &str)]) -> Instruction {
    let outline = outline.iter().map(|(level, text)| OutlineItem { level: *level, text: (*text).to_owned() }).collect();
    Instruction::Chore(Chore::AddPage { page: page.into(), title: title.into(), outline })
}

fn set(field: &str, value: Value, patterns: &[&str]) -> Instruction {
    Instruction::Chore(Chore::SetFrontMatter { field: field.into(), value, scope: scope_of(patterns) })
}

fn left(text: &str) -> Instruction {
    Instruction::Unreadable(text.to_owned())
}

#[track_caller]
fn reads(prompt: &str, expected: &[Instruction]) {
    assert_eq!(read(prompt), expected, "{prompt:?}");
}

#[test]
fn a_text_is_replaced_however_it_is_spelled() {
    for prompt in [
        r#"Replace "Acme" with "Zenith""#,
        r#"replace "Acme" with "Zenith"."#,
        r#"REPLACE "Acme" WITH "Zenith" EVERYWHERE"#,
        "Replace 'Acme' with 'Zenith'",
        "Replace `Acme` with `Zenith`",
        "Replace “Acme” with “Zenith”.",
        "Replace ‘Acme’ with ‘Zenith’ in all pages.",
        "Replace „Acme“ with „Zenith“",
        "Replace «Acme» with «Zenith»",
        "Replace “Acme\" with `Zenith`",
        "  \t Replace   \"Acme\"\n   with\t\"Zenith\"  everywhere  \n",
        r#"Replace"Acme"with"Zenith""#,
        r#"Please replace "Acme" with "Zenith" everywhere, please."#,
        r#"please, also replace "Acme" with "Zenith"!"#,
        r#"And then replace the term "Acme" with "Zenith" in all the pages"#,
        r#"Replace all occurrences of "Acme" with "Zenith" across the docs"#,
        r#"Rename "Acme" to "Zenith""#,
        "rename the word `Acme` to `Zenith` everywhere.",
        r#"- Rename "Acme" to "Zenith" in every page"#,
        r#"1. Rename "Acme" to "Zenith""#,
        r#"* [ ] Rename "Acme" to "Zenith""#,
        r#"Hello! Could you rename "Acme" to "Zenith"? Thanks!"#,
        r#"Replace the word "Acme" by "Zenith" on all pages"#,
        r#"Replace every "Acme" with "Zenith" throughout the documentation"#,
        r#"Rename "Acme" to "Zenith" in the docs."#,
        "\u{feff}Rename\u{a0}\"Acme\" to \"Zenith\"\r\n",
    ] {
        reads(prompt, &[everywhere("Acme", "Zenith")]);
    }
}

#[test]
fn quotes_may_hold_quotes() {
    reads(r"Replace 'don't' with 'do not'", &[everywhere("don't", "do not")]);
    reads(r#"Replace "say \"hi\"" with "wave""#, &[everywhere("say \"hi\"", "wave")]);
    reads(r#"Replace "say "hi" twice" with "wave""#, &[everywhere("say \"hi\" twice", "wave")]);
    reads(r#"Replace `"on"` with `"off"`"#, &[everywhere("\"on\"", "\"off\"")]);
    reads(r#"Replace "with" with "and then""#, &[everywhere("with", "and then")]);
    reads(r#"Replace "a. Delete page b" with "c""#, &[everywhere("a. Delete page b", "c")]);
    reads(r#"Replace " a  b " with """#, &[everywhere(" a  b ", "")]);
    reads(r#"Replace "C:\new" with "/new""#, &[everywhere("C:\\new", "/new")]);
}

#[test]
fn a_place_narrows_an_instruction() {
    for (place, patterns) in [
        ("in guides/a.mdx", &["guides/a.mdx"][..]),
        ("in guides/a.mdx.", &["guides/a.mdx"]),
        ("in `guides/**`", &["guides/**"]),
        ("in \"my page.md\"", &["my page.md"]),
        ("in guides/*.{md,mdx}, please", &["guides/*.{md,mdx}"]),
        ("in the page guides/a", &["guides/a"]),
        ("in all pages under guides/", &["guides/"]),
        ("everywhere in guides/**", &["guides/**"]),
        ("in a.mdx, b.mdx and guides/*", &["a.mdx", "b.mdx", "guides/*"]),
        ("in docs.json", &["docs.json"]),
        ("in docs", &["docs"]),
        ("on the page the/x.md", &["the/x.md"]),
        ("in /guides/a", &["/guides/a"]),
    ] {
        reads(&format!("Replace \"A\" with \"B\" {place}"), &[within("A", "B", patterns)]);
    }
}

#[test]
fn pages_are_moved_deleted_and_added() {
    for prompt in [
        "Move page guides/a to guides/b",
        "move the page guides/a to guides/b.",
        "Rename page guides/a to guides/b",
        "Rename the page “guides/a” to `guides/b`",
        "Move guides/a to guides/b everywhere",
        "Move page guides/a to guides/b in all pages.",
        "Move   page\tguides/a   to   guides/b ; ",
    ] {
        reads(prompt, &[moved("guides/a", "guides/b")]);
    }
    reads("Move page /a.mdx to b/", &[moved("/a.mdx", "b/")]);
    reads("Rename \"guides/a\" to \"guides/b\"", &[everywhere("guides/a", "guides/b")]);
    for prompt in [
        "Delete page old.md",
        "delete the page `old.md`.",
        "Delete old.md",
        "Also delete page \"old.md\"!",
        "Delete page old.md everywhere",
        "Delete page old.md in all pages.",
    ] {
        reads(prompt, &[deleted("old.md")]);
    }
    for prompt in [
        r#"Add a page guides/x titled "X y""#,
        r#"add page `guides/x` titled 'X y'."#,
        r#"Add a new page guides/x with the title “X y”:"#,
        r#"Please add the page "guides/x", titled "X y""#,
    ] {
        reads(prompt, &[added("guides/x", "X y", &[])]);
    }
}

#[test]
fn an_outline_follows_its_page() {
    reads(
        "Add a page guides/x titled \"X\" with the following outline:\n\n- Install\n  - On Linux\n  - On a Mac\n\n* Use\n\nFix broken links",
        &[added("guides/x", "X", &[(2, "Install"), (3, "On Linux"), (3, "On a Mac"), (2, "Use")]), fixed(&[])],
    );
    reads("Add a page x titled \"X\".\r\n- One\r\n- Two\r\n", &[added("x", "X", &[(2, "One"), (2, "Two")])]);
    reads("- Add a page x titled \"X\"\n  - One\n- Fix broken links", &[added("x", "X", &[(2, "One")]), fixed(&[])]);
    reads("Add a page x titled \"X\"\n\nThanks", &[added("x", "X", &[])]);
}

#[test]
fn front_matter_is_filled_in_and_set() {
    reads("Fix broken links", &[fixed(&[])]);
    reads("please fix all the broken links in guides/**.", &[fixed(&["guides/**"])]);
    reads("Add missing descriptions", &[described(&[])]);
    reads("Add the missing descriptions to all pages", &[described(&[])]);
    reads("Add missing titles in guides/*.md", &[titled(&["guides/*.md"])]);
    reads("add missing titles and descriptions in a.md", &[titled(&["a.md"]), described(&["a.md"])]);
    reads("Add missing titles and fix broken links", &[titled(&[]), fixed(&[])]);
    reads(r#"Set sidebarTitle to "Home" in index.mdx"#, &[set("sidebarTitle", json!("Home"), &["index.mdx"])]);
    reads("Set `og:title` to 'X' in guides/**.", &[set("og:title", json!("X"), &["guides/**"])]);
    reads("set the field hidden to true in drafts/**", &[set("hidden", json!(true), &["drafts/**"])]);
    reads("Set order to 12 in a.md", &[set("order", json!(12), &["a.md"])]);
    reads("Set version to \"2.0\" in all pages", &[set("version", json!("2.0"), &[])]);
}

#[test]
fn several_instructions_are_read_in_order() {
    let both = [everywhere("A", "B"), fixed(&[])];
    for prompt in [
        "Replace \"A\" with \"B\". Fix broken links.",
        "Replace \"A\" with \"B\"\nFix broken links",
        "1) Replace \"A\" with \"B\"\n2) Fix broken links",
        "Replace \"A\" with \"B\" and then fix broken links",
        "Replace \"A\" with \"B\", and fix broken links.",
        "Replace \"A\" with \"B\"; also, fix broken links",
        "First, replace \"A\" with \"B\" everywhere. Finally, please fix broken links!",
    ] {
        reads(prompt, &both);
    }
    reads(
        "Move page a.mdx to b.mdx. Delete page c.mdx. Rename \"x\" to \"y\" in d.mdx.",
        &[moved("a.mdx", "b.mdx"), deleted("c.mdx"), within("x", "y", &["d.mdx"])],
    );
}

#[test]
fn unreadable_instructions_are_reported() {
    reads("Make it nicer", &[left("Make it nicer")]);
    reads("", &[]);
    reads(" \n\t . , ", &[]);
    reads(
        "We are rebranding. Please replace \"A\" with \"B\". Keep the tone friendly.",
        &[left("We are rebranding."), everywhere("A", "B"), left("Keep the tone friendly.")],
    );
    reads("Improve the intro and then fix broken links", &[left("Improve the intro"), fixed(&[])]);
    reads("Fix broken links, and make the intro shorter", &[fixed(&[]), left("make the intro shorter")]);
    reads("Replace \"A\" with", &[left("Replace \"A\" with")]);
    reads("Replace A with B", &[left("Replace A with B")]);
    reads("Replace \"\" with \"B\"", &[left("Replace \"\" with \"B\"")]);
    reads("Delete page a in guides/**", &[left("Delete page a in guides/**")]);
    reads("Delete the section about billing", &[left("Delete the section about billing")]);
    reads("Set title to \"X\"", &[left("Set title to \"X\"")]);
}

#[test]
fn an_instruction_with_a_condition_is_left_whole() {
    for prompt in [
        "Do not replace \"A\" with \"B\"",
        "Never fix broken links and delete page a.md",
        "Replace \"A\" with \"B\" except in code",
        "Replace \"A\" with \"B\", but not in code",
        "Replace \"A\" with \"B\" and leave code alone",
        "Replace \"A\" with \"B\", \"C\" with \"D\" in guides/**",
        "Fix broken links if there are any",
        "Delete page a.md unless it is linked",
        "Should we fix broken links",
    ] {
        reads(prompt, &[left(prompt)]);
    }
}

#[test]
fn quotations_are_no_instructions() {
    for prompt in [
        "Readers ask: “How?\nReplace \"A\" with \"B\"\nand more”.",
        "Readers ask: \"How, and fix broken links?\" Document it.",
        "- \"Fix broken links. Delete page a.md\"",
        "> Hello, and fix broken links. Delete page a.md",
        "They wrote:\n> Fix broken links\n> Delete page a.md",
        "Add this:\n```\nFix broken links\n```",
        "Add this:\n  ~~~ text\nFix broken links\n\nDelete page a.md",
        "Say “hello, and fix broken links",
        "They say 'stop. Fix broken links. Delete page a.md'.",
    ] {
        let found = read(prompt);
        assert!(found.iter().all(|one| matches!(one, Instruction::Unreadable(_))), "{prompt:?}: {found:?}");
    }
    for (prompt, chore) in [
        ("They asked “how?”. Fix broken links", fixed(&[])),
        ("> Quoted.\n\nFix broken links", fixed(&[])),
        ("```\ncode\n```\nFix broken links", fixed(&[])),
        ("Don't wait. Fix broken links", fixed(&[])),
        ("A 5\" pipe, and fix broken links", fixed(&[])),
        ("The users' guide is odd, and fix broken links", fixed(&[])),
    ] {
        let found = read(prompt);
        assert!(found.contains(&chore), "{prompt:?}: {found:?}");
    }
}

#[test]
fn the_documentation_lists_every_form() {
    let documentation = include_str!("../../../../docs/CHORES.md");
    for form in FORMS {
        let form = form.split(", with").next().unwrap_or(form);
        assert!(documentation.contains(&format!("`{form}`")), "docs/CHORES.md does not list `{form}`");
    }
}

#[test]
fn a_long_prompt_is_read_in_time() {
    for unit in [
        "“",
        "“ x\n",
        "> ",
        "```\n",
        "~~~ x\n",
        "replace “",
        ", replace \"a\" ",
        "and then ",
        "- ",
        "'",
        "in a, ",
        "add a page x titled \"y\"\n- z\n",
    ] {
        let prompt: String = unit.repeat(100_000 / unit.len());
        read(&prompt);
    }
}

fn any_path() -> impl Strategy<Value = String> {
    "[a-z]{1,6}(/[a-z0-9_-]{1,8}){0,2}(\\.mdx?)?"
}

fn any_scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        Just(Scope::Everywhere),
        proptest::collection::vec(any_path().prop_map(|path| format!("{path}/**")), 1..3).prop_map(Scope::In),
    ]
}

fn any_chore() -> impl Strategy<Value = Chore> {
    let text = || "[a-zA-Z0-9é“”()., -]{0,12}[a-zA-Z0-9é]";
    prop_oneof![
        (text(), text(), any_scope()).prop_map(|(from, to, scope)| Chore::ReplaceText { from, to, scope }),
        (any_path(), any_path()).prop_map(|(from, to)| Chore::MovePage { from, to }),
        any_path().prop_map(|page| Chore::DeletePage { page }),
        any_scope().prop_map(|scope| Chore::FixLinks { scope }),
        any_scope().prop_map(|scope| Chore::AddTitles { scope }),
        any_scope().prop_map(|scope| Chore::AddDescriptions { scope }),
        (any_path(), "[A-Za-z]{1,9}( [a-z]{1,5}){0,2}").prop_map(|(page, title)| Chore::AddPage {
            page,
            title,
            outline: Vec::new()
        }),
        ("[a-z][a-zA-Z]{0,9}", text(), any_scope()).prop_map(|(field, value, scope)| Chore::SetFrontMatter {
            field,
            value: json!(value),
            scope
        }),
    ]
}

proptest! {
    #[test]
    fn any_prompt_is_read_without_a_panic(prompt in "\\PC{0,200}") {
        read(&prompt);
    }

    #[test]
    fn any_heap_of_words_is_read_without_a_panic(
        words in proptest::collection::vec(
            prop::sample::select(vec![
                "replace", "rename", "\"a\"", "“b”", "'", "with", "to", "in", "page", "x.md", "fix", "broken",
                "links", "add", "a", "titled", "\n", "- ", ", ", ".", "and", "then", "set", "missing", "titles",
                "everywhere", "move", "delete", "not", "{", "`",
            ]),
            0..40,
        )
    ) {
        read(&words.join(" "));
        read(&words.concat());
    }

    #[test]
    fn a_chore_in_its_plainest_spelling_is_read_back(chores in proptest::collection::vec(any_chore(), 1..4)) {
        // A page named like a keyword of the grammar would need quotes; such names do not occur in practice.
        let odd = ["at", "named", "called", "page", "file", "the", "a", "to", "field", "this", "our"];
        prop_assume!(!chores.iter().any(|chore| {
            let words: Vec<String> = chore.to_string().split(' ').map(str::to_owned).collect();
            words.windows(2).any(|pair| ["page", "Set", "to", "in"].contains(&pair[0].as_str()) && odd.contains(&pair[1].as_str()))
        }));
        let prompt: Vec<String> = chores.iter().map(Chore::to_string).collect();
        let expected: Vec<Instruction> = chores.iter().cloned().map(Instruction::Chore).collect();
        prop_assert_eq!(read(&prompt.join("\n")), expected);
    }
}
