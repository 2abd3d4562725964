use super::*;
use crate::sample::{Files, as_docs_root, site};

fn skip_of(tree: &dyn Tree, file: &str) -> Option<(SkipReason, Option<String>)> {
    let skip = Layout::read(tree).skip(tree, file, &tree.read(file).unwrap_or_default())?;
    let rule = skip.rule.map(|rule| match rule.line {
        Some(line) => format!("{}:{line}", rule.file),
        None => rule.file,
    });
    Some((skip.reason, rule))
}

fn skips(tree: &Files) -> Vec<(&str, SkipReason, Option<String>)> {
    tree.keys().filter_map(|file| skip_of(tree, file).map(|(reason, rule)| (file.as_str(), reason, rule))).collect()
}

fn at(rule: &str) -> Option<String> {
    Some(rule.to_owned())
}

#[test]
fn a_plain_folder_skips_what_is_no_page_and_says_why() {
    let tree = site(&[
        ("a.md", "# A"),
        ("draft.md", "---\ntitle: D\ndraft: true\n---\n"),
        ("_part.md", "x"),
        ("AGENTS.md", "x"),
        ("CONTRIBUTING.md", "x"),
        (".github/issue.md", "x"),
        ("old.textile", "h1. Old"),
        ("data.json", "{}"),
        ("node_modules/x/README.md", "x"),
    ]);
    assert_eq!(
        skips(&tree),
        [
            (".github/issue.md", SkipReason::ForEditors, None),
            ("AGENTS.md", SkipReason::ForEditors, None),
            ("CONTRIBUTING.md", SkipReason::ForEditors, None),
            ("_part.md", SkipReason::Partial, None),
            ("draft.md", SkipReason::Hidden, at("draft.md:3")),
            ("node_modules/x/README.md", SkipReason::Excluded, None),
            ("old.textile", SkipReason::Unsupported, None),
        ]
    );
}

#[test]
fn the_line_is_named_that_leaves_a_page_out() {
    let mkdocs = site(&[
        ("mkdocs.yml", "site_name: x\nnav:\n  - drafts/a.md\nexclude_docs: |\n  other/\n  drafts/\n"),
        ("docs/index.md", ""),
        ("docs/drafts/a.md", ""),
        ("docs/b.mdx", ""),
        ("README.md", ""),
    ]);
    assert_eq!(
        skips(&mkdocs),
        [
            ("README.md", SkipReason::Outside, at("mkdocs.yml")),
            ("docs/b.mdx", SkipReason::Unsupported, None),
            ("docs/drafts/a.md", SkipReason::Excluded, at("mkdocs.yml:6")),
        ]
    );
    let inside = as_docs_root("docs", mkdocs);
    assert_eq!(skip_of(&inside, "drafts/a.md"), Some((SkipReason::Excluded, at("../mkdocs.yml:6"))));

    let sphinx = site(&[
        ("docs/conf.py", "project = 'x'\nexclude_patterns = [\n    '_build',\n    'old/*',\n]\n"),
        ("docs/index.rst", ""),
        ("docs/old/a.rst", ""),
        ("docs/b.md", ""),
    ]);
    assert_eq!(
        skips(&sphinx),
        [("docs/b.md", SkipReason::Unsupported, None), ("docs/old/a.rst", SkipReason::Excluded, at("docs/conf.py:4")),]
    );
    let mintlify = site(&[
        ("docs.json", r#"{"navigation": {"pages": ["a"]}}"#),
        (".mintignore", "# none\ndrafts\n"),
        ("a.mdx", ""),
        ("b.mdx", ""),
        ("drafts/c.mdx", ""),
        ("d.mdx", "---\nhidden: true\n---\n"),
    ]);
    assert_eq!(
        skips(&mintlify),
        [
            ("b.mdx", SkipReason::NotInNavigation, at("docs.json")),
            ("d.mdx", SkipReason::Hidden, at("d.mdx:2")),
            ("drafts/c.mdx", SkipReason::Excluded, at(".mintignore:2")),
        ]
    );
}

#[test]
fn a_table_of_contents_is_no_page_of_a_book() {
    for (configuration, text, folder) in
        [("book.toml", "", "src/"), ("book.json", "{}", ""), (".gitbook.yaml", "root: ./\n", "")]
    {
        let (summary, readme, other) =
            (format!("{folder}SUMMARY.md"), format!("{folder}README.md"), format!("{folder}other.md"));
        let tree = site(&[
            (configuration, text),
            (&summary, "# Summary\n\n* [Home](README.md)\n"),
            (&readme, "# Home"),
            (&other, "# Other"),
        ]);
        let layout = Layout::read(&tree);
        assert_eq!(
            skips(&tree),
            [
                (summary.as_str(), SkipReason::Configuration, None),
                (other.as_str(), SkipReason::NotInNavigation, Some(summary.clone())),
            ],
            "{configuration}"
        );
        assert!(read_file(&layout, &summary, b"# Summary", &tree).pages.is_empty(), "{configuration}");
    }
    // The summary file may have another name.
    let named = site(&[
        (".gitbook.yaml", "structure:\n  summary: docs/toc.md\n"),
        ("README.md", ""),
        ("docs/toc.md", "* [Home](../README.md)\n"),
    ]);
    assert_eq!(skip_of(&named, "docs/toc.md").map(|(reason, _)| reason), Some(SkipReason::Configuration));
}

#[test]
fn bytes_that_are_no_text_are_told_and_a_few_odd_ones_are_read() {
    let tree = site(&[("a.md", "")]);
    let layout = Layout::read(&tree);
    let utf16: Vec<u8> = "\u{feff}# Title of it".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_file(&layout, "a.md", &utf16, &tree).skipped, Some(SkipReason::NotUtf8));
    let latin = b"# Caf\xe9\n\nMany words are read all the same.\n";
    let read = read_file(&layout, "a.md", latin, &tree);
    assert_eq!((read.skipped, read.problems.len()), (None, 1));
}
