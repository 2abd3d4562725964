use proptest::prelude::*;

use super::*;
use crate::layout::Generator;
use crate::sample::{Files, as_docs_root, assert_link_leads, site};

fn docs() -> Files {
    site(&[
        (
            "docs/antora.yml",
            "name: tool\nversion: '2.0'\ntitle: Tool\nnav:\n- modules/ROOT/nav.adoc\nasciidoc:\n  attributes:\n    dir: sub\n    soft: a@\nstart_page: ROOT:start.adoc\n",
        ),
        ("docs/modules/ROOT/nav.adoc", "* xref:start.adoc[]\n** xref:guide:index.adoc[]\n"),
        (
            "docs/modules/ROOT/pages/start.adoc",
            "= Start\n:page-aliases: old.adoc, guide:older.adoc\n\n== {dir} words\n",
        ),
        ("docs/modules/ROOT/pages/sub/deep.adoc", "= Deep\n"),
        ("docs/modules/ROOT/pages/_hidden.adoc", "x\n"),
        ("docs/modules/ROOT/partials/part.adoc", "words\n"),
        ("docs/modules/ROOT/images/a.png", ""),
        ("docs/modules/ROOT/attachments/a.zip", ""),
        ("docs/modules/guide/pages/index.adoc", "= Guide\n"),
        ("docs/modules/guide/pages/other page.adoc", "= Other\n"),
        ("other/antora.yml", "name: other\nversion: ~\n"),
        ("other/modules/ROOT/pages/index.adoc", "= Other component\n"),
        ("README.adoc", "= Read me\n"),
    ])
}

#[test]
fn pages_are_served_by_component_version_and_module() {
    let site = Site::read(&docs());
    assert_eq!(site.generator(), Generator::Antora);
    let served: Vec<_> = site.served().into_iter().collect();
    assert_eq!(
        served,
        [
            ("other", "other/modules/ROOT/pages/index.adoc"),
            ("tool/2.0/guide", "docs/modules/guide/pages/index.adoc"),
            ("tool/2.0/guide/other page", "docs/modules/guide/pages/other page.adoc"),
            ("tool/2.0/start", "docs/modules/ROOT/pages/start.adoc"),
            ("tool/2.0/sub/deep", "docs/modules/ROOT/pages/sub/deep.adoc"),
        ]
    );
    let file = "docs/modules/ROOT/pages/start.adoc";
    let page = site.parse(file, &docs()[file]);
    assert_eq!(page.headings[1].anchor, "_sub_words", "attributes of the component are put in");
}

#[test]
fn a_playbook_says_how_urls_look() {
    let mut files = docs();
    files.insert(
        "antora-playbook.yml".to_owned(),
        b"site:\n  title: x\nurls:\n  html_extension_style: indexify\n  latest_version_segment: ''\nasciidoc:\n  attributes:\n    idprefix: ''\n    idseparator: '-'\n".to_vec(),
    );
    let site = Site::read(&files);
    assert_eq!(site.address("docs/modules/ROOT/pages/start.adoc"), Some("tool/start"));
    assert!(site.is_directory("docs/modules/ROOT/pages/start.adoc"));
    let file = "docs/modules/ROOT/pages/start.adoc";
    assert_eq!(site.parse(file, &files[file]).headings[1].anchor, "sub-words");
}

#[test]
fn a_component_in_any_folder_is_the_site_unless_there_is_another() {
    let component = [("manual/antora.yml", "name: tool\nversion: ~\n"), ("manual/modules/ROOT/pages/a.adoc", "= A\n")];
    assert_eq!(Site::read(&site(&component)).address("manual/modules/ROOT/pages/a.adoc"), Some("tool/a"));
    let others: Vec<_> = component.into_iter().chain([("docs/a.md", ""), ("docs/b.md", "")]).collect();
    assert_eq!(Site::read(&site(&others)).generator(), Generator::Plain);
    let book: Vec<_> =
        component.into_iter().chain([("docs/mkdocs.yml", "site_name: x\n"), ("docs/docs/a.md", "")]).collect();
    assert_eq!(Site::read(&site(&book)).generator(), Generator::MkDocs);
}

#[test]
fn names_lead_to_resources() {
    let site = Site::read(&docs());
    let page = |file: &str, anchor: Option<&str>| Target::Page {
        file: format!("docs/modules/{file}"),
        anchor: anchor.map(str::to_owned),
    };
    let asset = |file: &str| Target::Asset { file: format!("docs/modules/{file}") };
    let missing = |file: &str| Target::Missing { path: Some(format!("docs/modules/{file}")), anchor: None };
    for (target, expected) in [
        ("start.adoc#x", page("ROOT/pages/start.adoc", Some("x"))),
        ("#x", page("ROOT/pages/sub/deep.adoc", Some("x"))),
        ("./deep.adoc", page("ROOT/pages/sub/deep.adoc", None)),
        ("./../start.adoc", page("ROOT/pages/start.adoc", None)),
        ("guide:index.adoc", page("guide/pages/index.adoc", None)),
        ("tool:guide:other page.adoc", page("guide/pages/other page.adoc", None)),
        ("2.0@guide:index.adoc", page("guide/pages/index.adoc", None)),
        ("2.0@tool::start.adoc", page("ROOT/pages/start.adoc", None)),
        ("tool::page$start.adoc", page("ROOT/pages/start.adoc", None)),
        ("other::index.adoc", Target::Page { file: "other/modules/ROOT/pages/index.adoc".to_owned(), anchor: None }),
        ("old.adoc", Target::Redirect { destination: "/tool/2.0/start".to_owned() }),
        ("guide:older.adoc", Target::Redirect { destination: "/tool/2.0/start".to_owned() }),
        ("index.adoc", Target::Redirect { destination: "/tool/2.0/start".to_owned() }),
        ("a.png", asset("ROOT/images/a.png")),
        ("attachment$a.zip", asset("ROOT/attachments/a.zip")),
        ("partial$part.adoc", asset("ROOT/partials/part.adoc")),
        ("deep.adoc", missing("ROOT/pages/deep.adoc")),
        ("_hidden.adoc", missing("ROOT/pages/_hidden.adoc")),
        ("guide:b.adoc", missing("guide/pages/b.adoc")),
        ("b.png", missing("ROOT/images/b.png")),
        ("#guide:index", missing("guide/pages/index.adoc")),
        ("#sub/deep", missing("ROOT/pages/sub/deep.adoc")),
        ("#guide:none", page("ROOT/pages/sub/deep.adoc", Some("guide:none"))),
        ("elsewhere:start.adoc", Target::NotUnderstood),
        ("nobody::start.adoc", Target::NotUnderstood),
        ("1.0@start.adoc", Target::NotUnderstood),
        ("other-folder/start.adoc", Target::NotUnderstood),
        ("{unknown}.adoc", Target::NotUnderstood),
        ("https://a.b", Target::External),
        ("mailto:a@b.c", Target::External),
    ] {
        assert_eq!(site.resolve("docs/modules/ROOT/pages/sub/deep.adoc", target), expected, "{target}");
    }
    for (target, expected) in [
        ("../start.html#x", page("ROOT/pages/start.adoc", Some("x"))),
        ("../guide/", page("guide/pages/index.adoc", None)),
        ("../_attachments/a.zip", Target::NotUnderstood),
        ("/elsewhere.html", Target::NotUnderstood),
    ] {
        assert_eq!(
            site.resolve_in("docs/modules/ROOT/pages/sub/deep.adoc", target, LinkSyntax::Html),
            expected,
            "{target}"
        );
    }
    let wanted = LinkRequest {
        from: "docs/modules/ROOT/pages/start.adoc",
        to: "docs/modules/guide/pages/index.adoc",
        anchor: None,
        like: "sub/deep.adoc#",
        syntax: LinkSyntax::Markdown,
    };
    assert_eq!(site.link(&wanted), "guide:index.adoc#", "only by its sign does `<<>>` name a page");
    let without_ending = LinkRequest { like: "#guide:index", ..wanted };
    assert_eq!(site.link(&without_ending), "guide:index.adoc", "the name of a page is no anchor on it");
    assert_eq!(site.resolve("docs/modules/ROOT/nav.adoc", "guide:index.adoc"), page("guide/pages/index.adoc", None));
    let include = |target| site.resolve_in("docs/modules/ROOT/pages/sub/deep.adoc", target, LinkSyntax::Component);
    assert_eq!(include("../start.adoc"), page("ROOT/pages/start.adoc", None));
    assert_eq!(include("../_hidden.adoc"), asset("ROOT/pages/_hidden.adoc"));
    assert_eq!(include("page$_hidden.adoc"), asset("ROOT/pages/_hidden.adoc"));
}

proptest! {
    #[test]
    fn a_link_that_is_written_leads_to_its_page(
        from in 0..6_usize,
        to in 0..7_usize,
        like in prop::sample::select(vec![
            "", "x.adoc", "x.adoc#y", "./x.adoc", "guide:x.adoc", "tool:guide:x.adoc", "2.0@tool::x.adoc", "2.0@x.adoc", "page$x.adoc", "1.0@old:x.adoc",
        ]),
        root in prop::sample::select(vec!["", "docs", "docs/modules/ROOT/pages"]),
        syntax in prop::sample::select(vec![LinkSyntax::Markdown, LinkSyntax::Component]),
    ) {
        let files = [
            "docs/modules/ROOT/pages/start.adoc",
            "docs/modules/ROOT/pages/sub/deep.adoc",
            "docs/modules/guide/pages/index.adoc",
            "docs/modules/guide/pages/other page.adoc",
            "docs/modules/ROOT/nav.adoc",
            "other/modules/ROOT/pages/index.adoc",
            "docs/modules/ROOT/images/a.png",
        ];
        prop_assume!(to != 4);
        let tree = as_docs_root(root, docs());
        let site = Site::read(&tree);
        let name = |file: &str| crate::tree::from_root(root, file);
        let (from, to) = (name(files[from]), name(files[to]));
        assert_link_leads(&site, &from, &to, like, syntax);
    }

    #[test]
    fn any_name_is_read_without_a_panic(target in "[a.:@$#/{}é -]{0,24}", from in prop::sample::select(vec!["docs/modules/ROOT/pages/start.adoc", "docs/x.adoc", "x.adoc"])) {
        let site = Site::read(&docs());
        for syntax in [LinkSyntax::Markdown, LinkSyntax::Html, LinkSyntax::Component] {
            site.resolve_in(from, &target, syntax);
            site.link(&LinkRequest { from, to: "docs/modules/guide/pages/index.adoc", anchor: None, like: &target, syntax });
        }
    }
}
