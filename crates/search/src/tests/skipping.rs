//! Files that are not indexed, and how they are reported.

use std::collections::BTreeMap;

use docent_site::SkipReason;

use super::{Docs, Site};
use crate::{Skipped, WhyNot};

fn counted(skipped: &[Skipped]) -> Vec<(SkipReason, usize, String)> {
    skipped.iter().map(|skipped| (skipped.reason, skipped.count, skipped.examples.join(" "))).collect()
}

#[test]
fn skipped_files_are_counted_by_reason_after_any_update() {
    let mut docs = Docs::of(&[
        ("a.md", "# A\n\nWords."),
        ("b.md", "---\ndraft: true\n---\n\nWords."),
        ("_part.md", "Words."),
        ("CONTRIBUTING.md", "Words."),
        ("old.textile", "h1. Words"),
        ("huge.md", &"words ".repeat(60_000)),
        ("picture.png", "words"),
    ]);
    let expected = [
        (SkipReason::Hidden, 1, "b.md".to_owned()),
        (SkipReason::Partial, 1, "_part.md".to_owned()),
        (SkipReason::ForEditors, 1, "CONTRIBUTING.md".to_owned()),
        (SkipReason::Unsupported, 1, "old.textile".to_owned()),
        (SkipReason::TooLarge, 1, "huge.md".to_owned()),
    ];
    let site = Site::of(&docs);
    let summary = site.update(&docs);
    assert_eq!((summary.pages, summary.published), (1, false));
    assert_eq!(counted(&summary.skipped), expected);
    assert_eq!(counted(&site.index.snapshot().skipped()), expected);
    assert_eq!((summary.generator, summary.folders), ("no generator", vec![String::new()]));

    docs.write("b.md", "# B\n\nWords.");
    docs.write("older.textile", "h1. Words");
    docs.remove("huge.md");
    docs.were_read();
    let summary = site.update(&docs);
    assert_eq!(docs.were_read(), ["b.md"]);
    let left: Vec<_> = summary.skipped.iter().map(|skipped| (skipped.reason, skipped.count)).collect();
    assert_eq!(left, [(SkipReason::Partial, 1), (SkipReason::ForEditors, 1), (SkipReason::Unsupported, 2)]);
    assert_eq!(counted(&Site::of(&docs).update(&docs).skipped), counted(&summary.skipped));

    docs.write("docs.json", r#"{"navigation": {"pages": ["a"]}}"#);
    let summary = site.update(&docs);
    assert!(summary.skipped.iter().any(|skipped| skipped.reason == SkipReason::NotInNavigation), "{summary:?}");
    assert_eq!(counted(&Site::of(&docs).update(&docs).skipped), counted(&summary.skipped));
}

#[test]
fn pages_are_counted_alike_before_there_is_an_index() {
    for files in [
        vec![
            ("docs.json", r#"{"navigation": {"pages": ["a", "d"]}}"#),
            ("a.mdx", "# A"),
            ("b.mdx", "# B"),
            ("d.mdx", "---\nhidden: true\n---\n"),
            ("snippets/s.mdx", "S"),
            ("old.org", "* Old"),
        ],
        vec![
            ("book.toml", "[book]\ntitle = \"A\"\n"),
            ("src/SUMMARY.md", "# Summary\n\n- [A](a.md)\n"),
            ("src/a.md", "# A"),
            ("src/b.md", "# B"),
        ],
        vec![
            ("CONTRIBUTING.md", "Words."),
            ("a.md", "# A"),
            ("draft.md", "---\ndraft: true\n---\n"),
            (
                "api.yaml",
                "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths:\n  /a: {get: {responses: {}}}\n  /b: {get: {responses: {}}}\n",
            ),
        ],
    ] {
        let docs = Docs::of(&files);
        let summary = Site::of(&docs).update(&docs);
        let tree: BTreeMap<String, Vec<u8>> =
            files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        let (pages, skipped) = docent_site::Site::read(&tree).count_pages(&tree);
        let indexed: BTreeMap<SkipReason, usize> =
            summary.skipped.iter().map(|skipped| (skipped.reason, skipped.count)).collect();
        assert_eq!((pages, skipped), (summary.pages, indexed), "{files:?}");
    }
}

#[test]
fn one_file_or_address_says_why_it_is_not_found() {
    let mut docs = Docs::of(&[
        ("docs.json", r#"{"navigation": {"pages": ["guides/a", "guides/new", "d"]}}"#),
        ("guides/a.mdx", "# Alpha\n\nWords.\n\n## More\n\nWords."),
        ("guides/b.mdx", "# B\n\nWords."),
        ("d.mdx", "---\nhidden: true\n---\n\nWords."),
        ("huge.md", &"words ".repeat(60_000)),
        ("data.csv", "a,b"),
    ]);
    let site = Site::of(&docs);
    docs.write("guides/new.mdx", "# New");
    let snapshot = site.index.snapshot();
    let why = |asked: &str| snapshot.why_not(&docs, asked).expect("an answer");
    for asked in ["guides/a.mdx", "/guides/a", "https://docs.example.com/guides/a/#more", "./guides/a.mdx"] {
        let WhyNot::Indexed(found) = why(asked) else { panic!("{asked}: {:?}", why(asked)) };
        assert_eq!((found.file.as_str(), found.title.as_str(), found.sections), ("guides/a.mdx", "Alpha", 2));
    }
    let rule = |asked: &str| match why(asked) {
        WhyNot::Skipped { file, skip } => (file, skip.reason, skip.rule.map(|rule| (rule.file, rule.line))),
        other => panic!("{asked}: {other:?}"),
    };
    let navigation = Some(("docs.json".to_owned(), None));
    for asked in ["guides/b.mdx", "/guides/b"] {
        assert_eq!(rule(asked), ("guides/b.mdx".to_owned(), SkipReason::NotInNavigation, navigation.clone()));
    }
    assert_eq!(rule("d"), ("d.mdx".to_owned(), SkipReason::Hidden, Some(("d.mdx".to_owned(), Some(2)))));
    assert_eq!(rule("huge.md").1, SkipReason::TooLarge);
    assert_eq!(why("guides/new.mdx"), WhyNot::NotYet { file: "guides/new.mdx".to_owned() });
    assert_eq!(why("data.csv"), WhyNot::NoPage { file: "data.csv".to_owned() });
    assert_eq!(why("elsewhere/B.html"), WhyNot::Unknown { near: vec!["guides/b.mdx".to_owned()] });
}
