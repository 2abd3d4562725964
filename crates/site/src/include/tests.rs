use super::*;
use crate::sample::{as_docs_root, site};

fn expanded(tree: &[(&str, &str)], file: &str) -> (String, Vec<String>, Vec<Problem>) {
    let tree = site(tree);
    let text = String::from_utf8(tree[file].clone()).expect("text");
    let layout = Layout::read(&tree);
    let Some(expanded) = markdown::expand(&layout, file, &text, &tree) else { return (text, Vec::new(), Vec::new()) };
    (expanded.composed.text, expanded.included, expanded.problems)
}

#[test]
fn an_imported_page_stands_where_it_is_used() {
    let (text, included, problems) = expanded(
        &[
            (
                "a.mdx",
                "---\ntitle: A\n---\nimport Part from './_part.mdx'\nimport { X } from './x.jsx'\n\nBefore `<Part/>`.\n\n<Steps>\n  <Part name=\"Ann\" />\n</Steps>\n\nAfter.\n",
            ),
            ("_part.mdx", "---\nt: 1\n---\nHello {name}.\n\n- one\n"),
        ],
        "a.mdx",
    );
    assert!(text.contains("Before `<Part/>`.\n\n<Steps>\n\n  Hello Ann.\n\n  - one\n\n</Steps>\n\nAfter.\n"), "{text}");
    assert_eq!((included, problems), (vec!["_part.mdx".to_owned()], vec![]));
}

#[test]
fn every_generator_has_its_words_for_it() {
    for (name, page, piece, expected) in [
        ("snippets/s.mdx", "a <Snippet file=\"s.mdx\" /> b\n", "words", "a words b\n"),
        ("parts/s.md", "<!--@include: ./parts/s.md{2,2}-->\n", "one\ntwo\nthree\n", "\ntwo\n\n"),
        (
            "code/s.ts",
            "<<< ./code/s.ts#r\n",
            "x\n// #region r\ny\n// #endregion r\n",
            "\n```ts title=\"s.ts\"\ny\n```\n\n",
        ),
        ("includes/s.md", "--8<-- \"includes/s.md\"\n", "words\n", "\nwords\n\n"),
        ("s.py", "``` py\n--8<-- \"s.py:2:2\"\n```\n", "a = 1\nb = 2\n", "``` py\nb = 2\n```\n"),
        ("_includes/s.md", "{% include s.md %}\n", "words\n", "\nwords\n\n"),
        ("inc/s.md", "--8<--\ninc/s.md\n--8<--\nrest\n", "words\n", "\nwords\n\nrest\n"),
    ] {
        let (text, included, problems) = expanded(&[("page.mdx", page), (name, piece)], "page.mdx");
        assert_eq!(text, expected, "{page}");
        assert_eq!((included, problems), (vec![name.to_owned()], vec![]), "{page}");
    }
}

#[test]
fn circular_includes_are_cut_and_missing_ones_reported() {
    let (text, included, problems) = expanded(
        &[("a.md", "one\n<!--@include: b.md-->\n<!--@include: c.md-->\n"), ("b.md", "two\n<!--@include: a.md-->\n")],
        "a.md",
    );
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(included, ["b.md", "a.md", "c.md"]);
    let lines_and_kinds: Vec<(usize, bool)> =
        problems.iter().map(|problem| (problem.line, problem.message.contains("itself"))).collect();
    assert_eq!(lines_and_kinds, [(2, true), (3, false)]);
}

#[test]
fn pieces_that_double_and_double_stay_small() {
    let mut tree = vec![("p.md".to_owned(), "<!--@include: 0.md-->\n".to_owned())];
    for ix in 0..12 {
        let next = format!("<!--@include: {}.md-->\n", ix + 1);
        tree.push((format!("{ix}.md"), next.repeat(12)));
    }
    let tree: Vec<(&str, &str)> = tree.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (text, _, problems) = expanded(&tree, "p.md");
    assert!(text.len() < MAX_INCLUDED_BYTES * 2 && !problems.is_empty());
}

#[test]
fn a_command_within_a_line_leaves_the_rest_of_it() {
    let (text, included, _) = expanded(
        &[
            ("book.toml", ""),
            ("src/SUMMARY.md", "[A](a.md)\n"),
            ("src/a.md", "Use {{#include v.md}}\nand {{#include v.md}}, or\n\n```rs\n{{#include c.rs:x}}\n```\n"),
            ("src/v.md", "1.0\n"),
            ("src/c.rs", "a\n// ANCHOR: x\nb\n// ANCHOR_END: x\n"),
        ],
        "src/a.md",
    );
    assert_eq!(text, "Use 1.0\nand 1.0, or\n\n```rs\nb\n```\n");
    assert_eq!(included, ["src/v.md", "src/c.rs"]);
}

#[test]
fn a_file_above_the_docs_root_is_put_in() {
    let files = site(&[
        ("book.toml", ""),
        ("src/SUMMARY.md", "[A](a.md)\n"),
        ("src/a.md", "{{#include ../listings/a.rs}}\n{{#include ../../gone.rs}}\n"),
        ("listings/a.rs", "fn a() {}\n"),
    ]);
    let tree = as_docs_root("src", files);
    let expanded = markdown::expand(&Layout::read(&tree), "a.md", &tree.text("a.md").expect("text"), &tree);
    let expanded = expanded.expect("it has includes");
    assert_eq!(expanded.composed.text.trim(), "fn a() {}");
    assert_eq!(expanded.included, ["../listings/a.rs"]);
}
