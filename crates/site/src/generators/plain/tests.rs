use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::sample::{asset, missing, page, site};
use crate::tree::{Tree, from_root};

/// A repository with its docs in a subfolder.
struct Repository {
    files: BTreeMap<String, Vec<u8>>,
    root: &'static str,
}

impl Repository {
    fn seen_from(root: &'static str) -> Self {
        let files = [
            "README.md", "src/main.rs", "docs/README.md", "docs/a.md", "docs/in/b.md", "docs/in/v1.2/c.md",
            "docs/img/x y.png", "docs/in/README.md",
        ];
        let text = b"---\nslug: elsewhere\n---\n".to_vec();
        Self { files: files.map(|file| (from_root(root, file), text.clone())).into(), root }
    }
}

impl Tree for Repository {
    fn paths(&self) -> Vec<String> {
        self.files.keys().filter(|file| !file.starts_with("../")).cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }

    fn root(&self) -> &str {
        self.root
    }

    fn paths_outside(&self) -> Vec<String> {
        self.files.keys().filter(|file| file.starts_with("../")).cloned().collect()
    }
}

#[test]
fn links_are_read_as_a_forge_reads_them() {
    let site = Site::read(&Repository::seen_from("docs"));
    assert_eq!(site.address("a.md"), Some("a"));
    for (from, target, expected) in [
        ("a.md", "in/b.md", page("in/b.md")),
        ("a.md", "in/b", page("in/b.md")),
        ("a.md", "in", page("in/README.md")),
        ("a.md", "./in/v1.2", asset("in/v1.2")),
        ("a.md", "img", asset("img")),
        ("a.md", "img/x%20y.png", asset("img/x y.png")),
        ("a.md", "/docs/in/b.md", page("in/b.md")),
        ("a.md", "/in/b.md", missing("../in/b.md")),
        ("a.md", "/src/main.rs", asset("../src/main.rs")),
        ("a.md", "../README.md", asset("../README.md")),
        ("a.md", "../src", asset("../src")),
        ("a.md", "../gone.md", missing("../gone.md")),
        ("a.md", "../../issues", Target::NotUnderstood),
        ("a.md", "gone.png", missing("gone.png")),
        ("a.md", "gone", Target::NotUnderstood),
        ("a.md", "v1.3", Target::NotUnderstood),
        ("in/b.md", "a.md", missing("in/a.md")),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
    let whole = Site::read(&Repository::seen_from(""));
    assert_eq!(whole.resolve("docs/a.md", "../README.md"), page("README.md"));
    assert_eq!(whole.resolve("docs/a.md", "/docs/in/b.md"), page("docs/in/b.md"));
}

proptest! {
    #[test]
    fn written_links_lead_to_their_page(
        root in prop::sample::select(vec!["", "docs"]),
        from in 0..8_usize, to in 0..8_usize,
        like in prop::sample::select(vec!["", "x", "x/", "/x", "./x", "../x", "x.md", "/x.md", "./x.md", "../x.md?y", "x.md#y"]),
    ) {
        let site = Site::read(&Repository::seen_from(root));
        let files: Vec<String> = site.served().into_values().map(str::to_owned).collect();
        let (from, to) = (&files[from % files.len()], &files[to % files.len()]);
        let spelled = site.link(&LinkRequest { from, to, anchor: Some("z"), like, syntax: LinkSyntax::Markdown });
        prop_assert_eq!(
            site.resolve(from, &spelled),
            Target::Page { file: to.clone(), anchor: Some("z".to_owned()) },
            "{} in {}", spelled, from
        );
    }
}

#[test]
fn files_for_editors_are_no_pages_of_a_plain_folder() {
    let pages = |configuration: &[(&str, &str)]| {
        let mut files = site(&[("contributing.md", ""), ("SECURITY.md", ""), ("AGENTS.md", ""), ("a.md", "")]);
        files.extend(site(configuration));
        let site = Site::read(&files);
        let pages: Vec<String> = site.files().filter(|file| site.is_page(file)).map(str::to_owned).collect();
        assert!(pages.iter().all(|page| site.address(page).is_some()), "{pages:?}");
        (pages, site.resolve("a.md", "contributing.md"))
    };
    let contributing = "contributing.md".to_owned();
    assert_eq!(pages(&[]), (vec!["a.md".to_owned()], Target::Asset { file: contributing.clone() }));
    // A generator serves these files as pages.
    let (found, target) = pages(&[(".vitepress/config.js", "export default {}")]);
    assert_eq!(found, ["SECURITY.md", "a.md", "contributing.md"]);
    assert_eq!(target, Target::Page { file: contributing, anchor: None });
}

#[test]
fn asciidoc_is_read_as_a_forge_shows_it() {
    let files = site(&[
        ("README.adoc", "= Read me\n"),
        ("docs/README.adoc", "= Docs\n"),
        ("docs/a.adoc", "= A\n\n== Two words\n\n== Two words\n"),
        ("docs/b.md", "# B\n"),
        ("docs/img/x.png", ""),
    ]);
    let site = Site::read(&files);
    for (target, expected) in [
        ("a.adoc", page("docs/a.adoc")),
        ("a.adoc#", page("docs/a.adoc")),
        ("a.adoc#_x", Target::Page { file: "docs/a.adoc".to_owned(), anchor: Some("_x".to_owned()) }),
        ("../README.adoc", page("README.adoc")),
        ("b.md", page("docs/b.md")),
        ("img/x.png", Target::Asset { file: "docs/img/x.png".to_owned() }),
        ("c.adoc", Target::Missing { path: Some("docs/c.adoc".to_owned()), anchor: None }),
        ("module:a.adoc", Target::NotUnderstood),
        ("{name}.adoc", Target::NotUnderstood),
        ("mailto:a@b.c", Target::External),
        ("https://a.b/c.adoc", Target::External),
    ] {
        assert_eq!(site.resolve("docs/README.adoc", target), expected, "{target}");
    }
    assert_eq!(site.resolve("README.adoc", "docs"), page("docs/README.adoc"));
    assert_eq!(site.address("docs/README.adoc"), Some("docs"));
    let parsed = site.parse("docs/a.adoc", &files["docs/a.adoc"]);
    let anchors: Vec<_> = parsed.anchors().collect();
    assert_eq!(anchors, ["a", "two-words", "two-words-2"]);
    let wanted = LinkRequest {
        from: "docs/README.adoc",
        to: "docs/in/c.adoc",
        anchor: None,
        like: "a.adoc#",
        syntax: LinkSyntax::Markdown,
    };
    assert_eq!(site.link(&wanted), "in/c.adoc#");
}
