use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::layout::Generator;
use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::sample::missing;

fn tree(config: &str, more: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    let files = [
        ("hugo.toml", config),
        ("content/_index.md", ""),
        ("content/docs/_index.md", ""),
        ("content/docs/one.md", "---\nslug: Uno Dos\naliases: [old, /older/x]\n---\n"),
        ("content/docs/leaf/index.md", ""),
        ("content/docs/leaf/inner.md", ""),
        ("content/docs/leaf/a.png", ""),
        ("content/guide/deep/two.md", "---\nurl: /else/where\n---\n"),
        ("content/guide/three.md", "---\nurl: page.html\n---\n"),
        ("content/guide/four.md", "---\ndraft: true\n---\n"),
        ("content/guide/README.md", ""),
        ("content/guide/Big File's (x)  Name_v1.2.md", ""),
        ("content/post/new.md", "---\ntitle: It's New\ndate: 2024-03-05\n---\n"),
        ("static/logo.svg", ""),
        ("README.md", ""),
    ];
    let files = files.iter().chain(more);
    files.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

fn page(file: &str, anchor: Option<&str>) -> Target {
    Target::Page { file: file.to_owned(), anchor: anchor.map(str::to_owned) }
}

const ONE: &str = "baseURL = \"https://example.org/\"\n";

#[test]
fn pages_are_served_where_hugo_serves_them() {
    let site = Site::read(&tree(ONE, &[]));
    assert_eq!(site.generator(), Generator::Hugo);
    for (file, address) in [
        ("content/_index.md", Some("")),
        ("content/docs/_index.md", Some("docs")),
        ("content/docs/one.md", Some("docs/uno-dos")),
        ("content/docs/leaf/index.md", Some("docs/leaf")),
        ("content/docs/leaf/inner.md", None),
        ("content/guide/deep/two.md", Some("else/where")),
        ("content/guide/three.md", Some("page.html")),
        ("content/guide/four.md", None),
        ("content/guide/README.md", Some("guide/readme")),
        ("content/guide/Big File's (x)  Name_v1.2.md", Some("guide/big-files-x--name_v1.2")),
        ("README.md", None),
    ] {
        assert_eq!(site.address(file), address, "{file}");
    }
    let dated = format!("{ONE}[permalinks]\npost = \"/:year/:month/:day/:slug/\"\n[uglyURLs]\npost = true\n");
    assert_eq!(Site::read(&tree(&dated, &[])).address("content/post/new.md"), Some("2024/03/05/its-new.html"));
}

#[test]
fn what_hugo_makes_no_page_of_is_none() {
    let never = "---\ncascade:\n  build:\n    list: never\n    render: never\n---\n";
    let for_some = "---\ncascade:\n  target: {kind: section}\n  build: {render: never}\n---\n";
    let tree = tree(
        ONE,
        &[
            ("content/_common/_index.md", never),
            ("content/_common/part.md", "Part."),
            ("content/_common/deep/part.md", "Part."),
            ("content/some/_index.md", for_some),
            ("content/some/part.md", "Part."),
            ("content/guide/five.md", "---\nbuild: {render: never}\n---\n"),
            ("content/guide/six.md", "---\n_build:\n  render: link\n---\n"),
            ("content/guide/seven.md", "---\nbuild: {render: always}\n---\n"),
        ],
    );
    let site = Site::read(&tree);
    for (file, is_page) in [
        ("content/_common/_index.md", false),
        ("content/_common/part.md", false),
        ("content/_common/deep/part.md", false),
        ("content/some/part.md", true),
        ("content/guide/five.md", false),
        ("content/guide/six.md", false),
        ("content/guide/seven.md", true),
    ] {
        assert_eq!(site.address(file).is_some(), is_page, "{file}");
        let listed = site.layout().listed_pages(&tree, file);
        assert_eq!(matches!(listed, Some(Ok(1))), is_page, "{file}: {listed:?}");
    }
}

#[test]
fn content_alone_is_read_as_hugo_reads_it() {
    let tree = |section: &str| -> BTreeMap<String, Vec<u8>> {
        let files = [
            ("k6/_index.md", section),
            ("k6/next/_index.md", "---\ntitle: Next\naliases: [/k6/newest]\n---\n"),
            ("k6/next/one.md", "---\nslug: uno\n---\n[two](../two/)\n"),
            ("k6/next/two/index.md", ""),
            ("k6/next/two/part.md", ""),
            ("k6/next/four.md", "---\ndraft: true\n---\n"),
        ];
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    };
    let site = Site::read(&tree("---\ntitle: k6\n---\n"));
    assert_eq!(site.generator(), Generator::Hugo);
    for (file, address) in [
        ("k6/_index.md", Some("k6")),
        ("k6/next/_index.md", Some("k6/next")),
        ("k6/next/one.md", Some("k6/next/uno")),
        ("k6/next/two/index.md", Some("k6/next/two")),
        ("k6/next/two/part.md", None),
        ("k6/next/four.md", None),
    ] {
        assert_eq!(site.address(file), address, "{file}");
    }
    // The render hook of the site, which is in another repository, may change any link.
    assert_eq!(site.resolve("k6/next/one.md", "../two/"), Target::NotUnderstood);
    let piece = BTreeMap::from([("parts/_index.md".to_owned(), b"A piece.\n".to_vec()), ("a.md".to_owned(), vec![])]);
    assert_eq!(Site::read(&piece).generator(), Generator::Plain);
    let deep = BTreeMap::from([("a/b/c/d/_index.md".to_owned(), b"---\n---\n".to_vec())]);
    assert_eq!(Site::read(&deep).generator(), Generator::Plain);
}

#[test]
fn links_are_urls_and_references_are_files() {
    let site = Site::read(&tree(ONE, &[]));
    for (from, target, expected) in [
        ("content/docs/_index.md", "uno-dos", page("content/docs/one.md", None)),
        ("content/docs/one.md", "../leaf/#x", page("content/docs/leaf/index.md", Some("x"))),
        ("content/docs/one.md", "leaf.md", missing("docs/uno-dos/leaf.md")),
        ("content/docs/one.md", "/docs/leaf/index.html", page("content/docs/leaf/index.md", None)),
        ("content/docs/leaf/index.md", "a.png", Target::Asset { file: "content/docs/leaf/a.png".into() }),
        ("content/guide/three.md", "docs/leaf", page("content/docs/leaf/index.md", None)),
        ("content/docs/one.md", "/logo.svg", Target::Asset { file: "static/logo.svg".into() }),
        ("content/docs/one.md", "/docs/old/", Target::Redirect { destination: "/docs/uno-dos".into() }),
        ("content/docs/one.md", "/older/x", Target::Redirect { destination: "/docs/uno-dos".into() }),
        ("content/docs/one.md", "/guide/", Target::NotUnderstood),
        ("content/docs/one.md", "/tags/x/", Target::NotUnderstood),
        ("content/docs/one.md", "/guide/four/", missing("guide/four")),
        ("content/_index.md", "{{< relref \"one.md\" >}}", page("content/docs/one.md", None)),
        ("content/_index.md", "{{% ref \"/docs/leaf\" %}}", page("content/docs/leaf/index.md", None)),
        ("content/docs/one.md", "{{< relref \"leaf\" >}}", page("content/docs/leaf/index.md", None)),
        (
            "content/docs/one.md",
            "{{< relref \"../guide/deep/two.md#q\" >}}",
            page("content/guide/deep/two.md", Some("q")),
        ),
        ("content/docs/one.md", "{{< ref \"two\" >}}", page("content/guide/deep/two.md", None)),
        ("content/docs/one.md", "{{< ref path=\"leaf/index.md\" >}}", page("content/docs/leaf/index.md", None)),
        ("content/docs/one.md", "{{< relref \"#own\" >}}", page("content/docs/one.md", Some("own"))),
        ("content/docs/one.md", "{{< relref \"nowhere.md\" >}}", missing("docs/nowhere.md")),
        ("content/docs/one.md", "{{< param x >}}", Target::NotUnderstood),
        ("README.md", "content/docs/one.md", page("content/docs/one.md", None)),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn sites_in_several_languages_look_for_pages_first() {
    let config = format!("{ONE}[languages.en]\nweight = 1\n[languages.fr]\nweight = 2\n");
    let french = [
        ("content/docs/one.fr.md", ""),
        ("content/docs/deux.fr.md", "---\nurl: /abs/x\naliases: [rel, /abs2]\n---\n"),
        ("content/docs/trois.fr.md", "---\nurl: rel/x\n---\n"),
    ];
    let site = Site::read(&tree(&config, &french));
    assert_eq!(site.address("content/docs/one.fr.md"), Some("fr/docs/one"));
    assert_eq!(site.address("content/docs/deux.fr.md"), Some("abs/x"));
    assert_eq!(site.address("content/docs/trois.fr.md"), Some("fr/rel/x"));
    let here = "content/docs/one.fr.md";
    for (target, expected) in [
        ("one.md", page(here, None)),
        ("./deux.md#x", page("content/docs/deux.fr.md", Some("x"))),
        ("/docs/one?q#f", page(here, Some("f"))),
        ("nope", Target::Missing { path: Some("fr/docs/one/nope".into()), anchor: None }),
        ("Deux", page("content/docs/deux.fr.md", None)),
        ("/docs/uno-dos/", page("content/docs/one.md", None)),
        ("/fr/abs2", Target::Redirect { destination: "/abs/x".into() }),
    ] {
        assert_eq!(site.resolve(here, target), expected, "{target}");
    }
}

#[test]
fn a_hook_that_is_not_known_leaves_links_alone() {
    let hook = "layouts/_markup/render-link.html";
    let here = "content/docs/one.md";
    for (template, expected) in [
        ("<a href=\"{{ .Destination | safeURL }}\">{{ .Text }}</a>", page("content/docs/leaf/index.md", None)),
        ("<a href=\"{{ partial \"x\" .Destination }}\">{{ .Text }}</a>", Target::NotUnderstood),
    ] {
        let site = Site::read(&tree(ONE, &[(hook, template)]));
        assert_eq!(site.resolve(here, "../leaf/"), expected, "{template}");
        assert_eq!(site.resolve(here, "{{< ref \"leaf\" >}}"), page("content/docs/leaf/index.md", None));
    }
    let elsewhere = Site::read(&tree(&format!("{ONE}theme = \"other\"\n"), &[]));
    assert_eq!(elsewhere.resolve(here, "../leaf/"), Target::NotUnderstood);
    assert_eq!(elsewhere.resolve(here, "/docs/leaf/#x"), page("content/docs/leaf/index.md", Some("x")));
    assert_eq!(elsewhere.resolve(here, "/docs/nowhere/"), Target::NotUnderstood);
    let themes = format!("{ONE}theme = [\"mine\", \"other\"]\n");
    let template = "{{ $to := .Destination }}<a href=\"{{ $to | safeURL }}\">{{ .Text }}</a>";
    for (theme, expected) in [("mine", page("content/docs/leaf/index.md", None)), ("other", Target::NotUnderstood)] {
        let site = Site::read(&tree(&themes, &[(&format!("themes/{theme}/{hook}"), template)]));
        assert_eq!(site.resolve(here, "../leaf/"), expected, "{theme}");
    }
}

#[test]
fn one_language_that_is_configured_turns_the_hook_on() {
    let here = "content/docs/one.md";
    for (languages, expected) in [
        ("", page("content/docs/_index.md", None)),
        ("[languages.en]\nlabel = \"English\"\n", page("content/_index.md", None)),
        ("[languages.en]\nbaseURL = \"https://en.example.org/\"\n", page("content/docs/_index.md", None)),
        ("[languages.en]\n[markup.goldmark]\nduplicateResourceFiles = true\n", page("content/docs/_index.md", None)),
    ] {
        let site = Site::read(&tree(&format!("{ONE}{languages}"), &[]));
        assert_eq!(site.resolve(here, "../"), expected, "{languages}");
    }
}

#[test]
fn the_base_path_belongs_to_absolute_links() {
    let site = Site::read(&tree("baseURL = \"https://example.org/sub/\"\n", &[]));
    assert_eq!(site.resolve("content/docs/one.md", "/sub/docs/leaf/"), page("content/docs/leaf/index.md", None));
    assert_eq!(site.resolve("content/docs/one.md", "/docs/leaf/"), Target::NotUnderstood);
}

#[test]
fn links_to_a_page_that_is_being_moved_are_written() {
    let site = Site::read(&tree(ONE, &[]));
    let to = "content/guide/leaf/index.md";
    for (like, expected) in [
        ("/docs/leaf/", "/guide/leaf/"),
        ("../leaf/#x", "../../guide/leaf/#x"),
        ("{{< ref \"leaf\" >}}", "{{< ref \"../guide/leaf/index\" >}}"),
    ] {
        let wanted = LinkRequest { from: "content/docs/one.md", to, anchor: None, like, syntax: LinkSyntax::Markdown };
        assert_eq!(site.link(&wanted), expected, "{like}");
    }
}

proptest! {
    #[test]
    fn written_links_lead_to_their_page(
        config in prop::sample::select(vec!["", "theme = \"x\"\n", "uglyURLs = true\n", "[languages.en]\n[languages.fr]\n", "canonifyURLs = true\n"]),
        base in prop::sample::select(vec!["baseURL = \"/\"\n", "baseURL = \"https://a.b/c/\"\n"]),
        from in 0..8_usize, to in 0..8_usize,
        like in prop::sample::select(vec![
            "", "x", "x/", "/x/", "/x", "./x", "../x/", "x.md", "/x.md", "{{< relref \"x\" >}}", "{{% ref \"/x.md\" %}}", "{{< ref `x.md` >}}",
        ]),
        anchor in prop::sample::select(vec![None, Some("y")]),
    ) {
        let site = Site::read(&tree(&format!("{base}{config}"), &[]));
        let files: Vec<String> = site.served().into_values().map(str::to_owned).collect();
        let (from, to) = (&files[from % files.len()], &files[to % files.len()]);
        let spelled = site.link(&LinkRequest { from, to, anchor, like, syntax: LinkSyntax::Markdown });
        prop_assert_eq!(site.resolve(from, &spelled), page(to, anchor), "{} in {}", spelled, from);
    }
}
