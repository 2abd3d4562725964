//! How generators resolve the same link in Markdown and in HTML.

use docent_markdown::LinkKind;
use proptest::prelude::*;

use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::sample::{Files, site};

const DOCUSAURUS: &[(&str, &str)] = &[
    (
        "docusaurus.config.js",
        "export default { baseUrl: '/odd/', presets: [['classic', { docs: { routeBasePath: '/' } }]] };",
    ),
    ("docs/index.md", ""),
    ("docs/guide/start.md", ""),
    ("docs/guide/dot.png", ""),
];

const VITEPRESS: &[(&str, &str)] = &[
    (".vitepress/config.js", "export default { base: '/odd/' }"),
    ("index.md", ""),
    ("guide/start.md", ""),
    ("guide/dot.png", ""),
];

const MKDOCS: &[(&str, &str)] = &[
    ("mkdocs.yml", "site_name: x\nsite_url: https://example.com/odd/\n"),
    ("docs/index.md", ""),
    ("docs/guide/start.md", ""),
    ("docs/guide/dot.png", ""),
];

fn read(files: &[(&str, &str)]) -> Site {
    let files: Files = site(files);
    Site::read(&files)
}

/// The destination of a link in both syntaxes: a file, `nothing`, or the other target for debugging.
fn both(site: &Site, from: &str, target: &str) -> [String; 2] {
    [LinkSyntax::Markdown, LinkSyntax::Html].map(|syntax| match site.resolve_in(from, target, syntax) {
        Target::Page { file, .. } | Target::Asset { file } => file,
        Target::Missing { .. } => "nothing".to_owned(),
        other => format!("{other:?}"),
    })
}

#[test]
fn names_of_files_are_read_in_markdown_only() {
    let start = "docs/guide/start.md";
    for (files, from, target, expected) in [
        (DOCUSAURUS, "docs/index.md", "./guide/start.md", [start, "nothing"]),
        (DOCUSAURUS, "docs/index.md", "/guide/start", [start, "NotUnderstood"]),
        (DOCUSAURUS, "docs/index.md", "/odd/guide/start", [start, start]),
        (DOCUSAURUS, start, "./dot.png", ["docs/guide/dot.png", "nothing"]),
        (VITEPRESS, "index.md", "./guide/start.md", ["guide/start.md", "nothing"]),
        (VITEPRESS, "index.md", "./guide/start.html", ["guide/start.md", "guide/start.md"]),
        (VITEPRESS, "index.md", "/guide/start", ["guide/start.md", "NotUnderstood"]),
        (VITEPRESS, "index.md", "/odd/guide/start", ["guide/start.md", "guide/start.md"]),
        // The bundler resolves it relative to the file.
        (VITEPRESS, "guide/start.md", "./dot.png", ["guide/dot.png", "guide/dot.png"]),
        (MKDOCS, "docs/index.md", "guide/start.md", [start, "nothing"]),
        (MKDOCS, start, "../index.md", ["docs/index.md", "nothing"]),
        (MKDOCS, start, "../../", ["docs/index.md", "docs/index.md"]),
        (MKDOCS, start, "dot.png", ["docs/guide/dot.png", "nothing"]),
        (MKDOCS, start, "../dot.png", ["docs/guide/dot.png", "docs/guide/dot.png"]),
    ] {
        assert_eq!(both(&read(files), from, target), expected, "{target} in {from}");
    }
}

#[test]
fn links_of_components_are_not_understood() {
    for (files, from, target) in
        [(DOCUSAURUS, "docs/index.md", "./guide/start.md"), (VITEPRESS, "index.md", "./guide/start.md")]
    {
        assert_eq!(read(files).resolve_in(from, target, LinkSyntax::Component), Target::NotUnderstood, "{target}");
    }
}

#[test]
fn components_are_told_by_their_name() {
    let of = |element: &str| {
        let (element, attribute) = (element.to_owned(), "href".to_owned());
        LinkSyntax::of(&LinkKind::Attribute { element, attribute })
    };
    assert_eq!(
        ["a", "Card", "Cards.Card", "my-card"].map(of),
        [LinkSyntax::Html, LinkSyntax::Component, LinkSyntax::Component, LinkSyntax::Component]
    );
    assert_eq!(LinkSyntax::of(&LinkKind::Reference), LinkSyntax::Markdown);
}

proptest! {
    #[test]
    fn a_link_written_in_html_leads_to_its_page(
        files in prop::sample::select(vec![DOCUSAURUS, VITEPRESS, MKDOCS]),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        like in prop::sample::select(vec!["", "x", "./x", "../x/", "x.md", "/odd/x", "/odd/x/#y", "x.html"]),
    ) {
        let site = read(files);
        let served = site.served();
        let pages: Vec<&str> = served.values().copied().collect();
        let (from, to) = (*from.get(&pages), *to.get(&pages));
        let link = site.link(&LinkRequest { from, to, anchor: None, like, syntax: LinkSyntax::Html });
        let leads_to = match site.resolve_in(from, &link, LinkSyntax::Html) {
            Target::Page { file, .. } => Some(file),
            _ => None,
        };
        prop_assert_eq!(leads_to.as_deref(), Some(to), "{} from {}", link, from);
    }
}
