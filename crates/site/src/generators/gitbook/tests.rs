use proptest::prelude::*;

use super::*;
use crate::ShownPages;
use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::sample::{as_docs_root, assert_link_leads, asset, built_site, missing, page, site};

#[test]
fn pages_are_what_the_summary_names_and_two_more() {
    let site = Site::read(&built_site("gitbook"));
    let served: Vec<_> = site.served().into_iter().collect();
    assert_eq!(
        served,
        [
            ("", "docs/README.md"),
            ("GLOSSARY", "docs/GLOSSARY.md"),
            ("a page", "docs/a page.md"),
            ("guide", "docs/guide/README.md"),
            ("guide/deep", "docs/guide/deep/README.md"),
            ("guide/start", "docs/guide/start.md"),
            ("other", "docs/other/index.md"),
            ("other/notes", "docs/other/notes.markdown"),
            // Only `README` in upper case is an index.
            ("other/readme", "docs/other/readme.md"),
            ("other/v1.2", "docs/other/v1.2.md"),
        ]
    );
    let place = site.layout().place("docs/guide/start.md");
    assert_eq!((place.title.as_deref(), place.order), (Some("Start"), Some(0)));
}

#[test]
fn links_lead_where_the_built_pages_have_them() {
    let site = Site::read(&built_site("gitbook"));
    let (readme, start) = ("docs/README.md", "docs/guide/start.md");
    for (from, target, expected) in [
        (readme, "guide/start.md", page(start)),
        (readme, "/guide/start.md", page(start)),
        (readme, "guide/start.html", page(start)),
        (readme, "guide/", page("docs/guide/README.md")),
        (readme, "guide", page("docs/guide/README.md")),
        (readme, "index.html", page(readme)),
        (readme, "guide/START.md", missing("docs/guide/START.md")),
        (readme, "guide/secret.md", missing("docs/guide/secret.md")),
        (readme, "gone.md", missing("docs/gone.md")),
        (readme, "SUMMARY.md", missing("docs/SUMMARY.md")),
        (readme, "GLOSSARY.md", page("docs/GLOSSARY.md")),
        // No chapter, so the file is copied unchanged.
        (readme, "orphan.md", asset("docs/orphan.md")),
        // The tool looks up a link without decoding it; the browser decodes it and finds the built page.
        (readme, "a%20page.md", missing("docs/a page.md")),
        (readme, "a%20page.html", page("docs/a page.md")),
        (readme, "../book.json", Target::NotUnderstood),
        (readme, "../CONTRIBUTING.md", Target::Missing { path: None, anchor: None }),
        (start, "../README.md", page(readme)),
        (start, "/README.md", page(readme)),
        (start, "./", page("docs/guide/README.md")),
        (start, "../", page(readme)),
        (start, "/img/a.png", asset("docs/img/a.png")),
        (start, "../img/a.png", asset("docs/img/a.png")),
        (start, "{{ book.url }}", Target::NotUnderstood),
        ("docs/parts/shared.md", "gone.md", Target::NotUnderstood),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn headings_have_the_ids_of_the_built_page() {
    let files = built_site("gitbook");
    let site = Site::read(&files);
    let anchors: Vec<String> = site
        .parse("docs/guide/start.md", &files["docs/guide/start.md"])
        .headings
        .into_iter()
        .map(|heading| heading.anchor)
        .collect();
    let expected = [
        "start-here",
        "again",
        "again",
        "custom",
        "whats-new-in-v12-andmore",
        "快速-开始：一",
        "über-uns--söhne",
        "a----b--c",
        "bold-and-tags-and-a-link",
        "flag-first",
        "two--spaces",
        "underlined",
        "emoji-tada-🚀-go",
        "dots-and-commas-quotes-single",
        "by-hand",
        "in-a-list",
        "in-a-quote",
        "1-numbered",
    ];
    assert_eq!(anchors, expected);
    let readme = &files["docs/README.md"];
    let page = site.parse("docs/README.md", readme);
    assert_eq!(page.headings[0].anchor, "", "a template is in it");
    assert_eq!(ShownPages::default().has_anchor(&site, &files, &page, "handbook-of-handbook"), None);
}

#[test]
fn each_language_is_a_book_of_its_own() {
    let tree = site(&[
        ("book.json", "{}"),
        ("LANGS.md", "# Languages\n\n* [English](en/)\n* [Deutsch](./de)\n"),
        ("README.md", ""),
        ("img/a.png", ""),
        ("en/SUMMARY.md", "* [A](guide/a.md)\n"),
        ("en/README.md", ""),
        ("en/guide/a.md", ""),
        ("de/SUMMARY.md", "* [B](b.md)\n* [Start](README.md)\n"),
        ("de/README.md", ""),
        ("de/b.md", ""),
    ]);
    let site = Site::read(&tree);
    let served: Vec<_> = site.served().into_iter().collect();
    assert_eq!(
        served,
        [("de", "de/README.md"), ("de/b", "de/b.md"), ("en", "en/README.md"), ("en/guide/a", "en/guide/a.md")]
    );
    assert_eq!(site.layout().place("de/b.md").language.as_deref(), Some("de"));
    for (from, target, expected) in [
        ("en/README.md", "/guide/a.md", page("en/guide/a.md")),
        ("en/guide/a.md", "../README.md", page("en/README.md")),
        // Each language is a book of its own: pages of another one can only be linked to as built files.
        ("en/README.md", "../de/README.md", missing("de/README.md")),
        ("en/README.md", "../de/b.html", page("de/b.md")),
        ("en/README.md", "/de/b.md", missing("en/de/b.md")),
        ("de/README.md", "../en/", page("en/README.md")),
        ("en/README.md", "../img/a.png", asset("img/a.png")),
        ("en/README.md", "/img/a.png", missing("en/img/a.png")),
        ("en/guide/a.md", "../../README.md", asset("README.md")),
        ("en/README.md", "../", Target::NotUnderstood),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
    let link = |to, like| {
        site.link(&LinkRequest { from: "en/README.md", to, anchor: None, like, syntax: LinkSyntax::Markdown })
    };
    assert_eq!([link("de/b.md", "x.md"), link("en/guide/a.md", "x.md")], ["../de/b.html", "guide/a.md"]);
}

/// The rules of gitbook.com are taken from its documentation, not from a build.
#[test]
fn a_hosted_book_reads_links_as_a_forge_does() {
    let tree = site(&[
        (
            ".gitbook.yaml",
            "root: ./docs/\nstructure:\n  readme: intro.md\n  summary: SUMMARY.md\nredirects:\n  help: guide/a.md#x\n",
        ),
        (
            "docs/SUMMARY.md",
            "# Contents\n\n* [Intro](intro.md)\n\n## Part\n\n* [A](guide/a.md \"a\")\n* [Guide](<guide/README.md>)\n* [S](s%20t.md)\n",
        ),
        ("docs/intro.md", "# Setup\n\n# Setup\n"),
        ("docs/guide/a.md", ""),
        ("docs/guide/README.md", ""),
        ("docs/guide/orphan.md", ""),
        ("docs/s t.md", ""),
        ("docs/.gitbook/assets/a.png", ""),
        ("README.md", ""),
    ]);
    for (site, base) in [(Site::read(&tree), "docs/"), (Site::read(&as_docs_root("docs", tree)), "")] {
        assert_eq!(site.generator(), Generator::GitBook);
        let file = |file: &str| format!("{base}{file}");
        let served: Vec<String> = site.served().into_keys().map(str::to_owned).collect();
        assert_eq!(served, ["", "guide", "guide/a", "s t"]);
        assert!(!site.layout().knows_anchors());
        for (from, target, expected) in [
            ("guide/a.md", "../intro.md", page(&file("intro.md"))),
            ("guide/a.md", "../", page(&file("intro.md"))),
            ("guide/a.md", "./", page(&file("guide/README.md"))),
            ("intro.md", "guide/", page(&file("guide/README.md"))),
            ("intro.md", "s%20t.md", page(&file("s t.md"))),
            ("intro.md", "guide/orphan.md", Target::NotUnderstood),
            ("intro.md", "gone.md", missing(&file("gone.md"))),
            ("intro.md", "broken-reference", missing(&file("broken-reference"))),
            ("intro.md", "/guide/gone.md", Target::NotUnderstood),
            ("intro.md", "help", Target::Redirect { destination: "/guide/a#x".to_owned() }),
            ("intro.md", "some/where", Target::NotUnderstood),
            ("intro.md", "../README.md", Target::NotUnderstood),
            ("intro.md", ".gitbook/assets/a.png", asset(&file(".gitbook/assets/a.png"))),
        ] {
            assert_eq!(site.resolve(&file(from), target), expected, "{target} in {from}");
        }
    }
}

#[test]
fn books_are_told_by_their_files() {
    let generator = |files: &[(&str, &str)]| Site::read(&site(files)).generator();
    let summary = ("SUMMARY.md", "* [Home](README.md)\n* [A](a.md)\n");
    for (files, expected) in [
        (vec![summary, ("README.md", ""), ("a.md", "")], Generator::GitBook),
        (vec![("docs/SUMMARY.md", "* [Home](./README.md)\n"), ("docs/README.md", "")], Generator::GitBook),
        (vec![("SUMMARY.md", "Nothing but words."), ("README.md", "")], Generator::Plain),
        (vec![("book.json", "{\"a\": 1}"), ("README.md", "")], Generator::Plain),
        (
            vec![("book.js", "module.exports = { root: './d' };"), ("d/SUMMARY.md", ""), ("d/README.md", "")],
            Generator::GitBook,
        ),
        (vec![(".gitbook.yaml", "root: ./d\n"), ("d/a.md", "")], Generator::GitBook),
        (
            vec![("book.toml", ""), ("src/SUMMARY.md", "[A](a.md)"), ("src/a.md", ""), ("README.md", "")],
            Generator::MdBook,
        ),
        (
            vec![("mkdocs.yml", ""), ("docs/SUMMARY.md", "* [Home](README.md)\n"), ("docs/README.md", "")],
            Generator::MkDocs,
        ),
    ] {
        assert_eq!(generator(&files), expected, "{files:?}");
    }
    // A summary under another name is not read, so any file may be a page.
    let named = [
        ("book.json", r#"{"structure": {"summary": "README.md", "readme": "index.md"}}"#),
        ("README.md", ""),
        ("index.md", ""),
        ("a.md", ""),
    ];
    let site = Site::read(&site(&named));
    assert_eq!(site.served().into_keys().collect::<Vec<_>>(), ["", "a"]);
}

proptest! {
    #[test]
    fn a_link_that_is_written_leads_to_its_page(
        from in 0..7_usize,
        to in 0..9_usize,
        like in prop::sample::select(vec!["", "x.md", "./x.md#y", "../x/", "x.html", "/x.html", "/x.md", "x?q=1"]),
        starts_in_source in any::<bool>(),
        hosted in any::<bool>(),
    ) {
        let files = [
            "README.md", "guide/README.md", "guide/start.md", "guide/deep/README.md", "a page.md", "other/v1.2.md",
            "other/readme.md", "other/notes.markdown", "img/a.png",
        ];
        let mut tree = built_site("gitbook");
        if hosted {
            tree.insert(".gitbook.yaml".to_owned(), b"root: ./docs\n".to_vec());
        }
        let name = |file: &str| if starts_in_source { file.to_owned() } else { format!("docs/{file}") };
        let site = match starts_in_source {
            true => Site::read(&as_docs_root("docs", tree)),
            false => Site::read(&tree),
        };
        let (from, to) = (name(files[from]), name(files[to]));
        assert_link_leads(&site, &from, &to, like, LinkSyntax::Markdown);
    }
}
