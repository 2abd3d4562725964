//! The effects of a site's configuration, and of files other than pages, on the index.

use super::{Docs, Site, question};
use crate::{Index, SearchError};

#[test]
fn a_page_is_read_again_when_what_it_includes_changes() {
    let mut docs = Docs::of(&[
        ("a.mdx", "import Shared from '/snippets/shared.mdx'\n\n# Alpha\n\n<Shared />\n"),
        ("b.mdx", "# Beta\n\nNothing else.\n"),
        ("snippets/shared.mdx", "The zebra is shared.\n"),
    ]);
    let site = Site::of(&docs);
    assert_eq!(site.paths("zebra"), ["a"]);
    docs.were_read();
    docs.write("snippets/shared.mdx", "The giraffe is shared.\n");
    let summary = site.update(&docs);
    assert_eq!(site.paths("giraffe"), ["a"]);
    assert_eq!(site.paths("zebra"), Vec::<String>::new());
    assert!(!docs.were_read().contains(&"b.mdx".to_owned()));
    assert!(summary.changed > 0 && summary.added == 0);

    docs.remove("snippets/shared.mdx");
    site.update(&docs);
    assert_eq!(site.paths("giraffe"), Vec::<String>::new());
    docs.write("snippets/shared.mdx", "The giraffe is back.\n");
    site.update(&docs);
    assert_eq!(site.paths("giraffe"), ["a"]);
}

#[test]
fn pages_are_read_again_when_what_decides_how_they_are_read_changed() {
    let mut docs =
        Docs::of(&[("a.mdx", "# Alpha\n\n## Part\n\nzebra\n\n## Part\n\ngiraffe\n"), ("b.mdx", "# Beta\n\nokapi\n")]);
    let site = Site::of(&docs);
    let href = |site: &Site| site.index.snapshot().search(&question("giraffe"))[0].href.clone();
    let before = href(&site);
    let navigation = |pages: &str| format!(r#"{{"navigation": [{{"group": "", "pages": [{pages}]}}]}}"#);
    docs.write("docs.json", r#"{"navigation": [], "seo": {"indexing": "all"}}"#);
    site.update(&docs);
    assert_ne!(href(&site), before, "another generator makes other anchors of headings that say the same");
    assert_eq!(href(&site), href(&Site::of(&docs)));

    docs.write("docs.json", &navigation(r#""a", "b""#));
    site.update(&docs);
    docs.were_read();
    docs.write("docs.json", &navigation(r#""a", "b", "c""#));
    site.update(&docs);
    assert!(docs.were_read().iter().all(|file| file == "docs.json"), "no page is read again for another's place");
}

#[test]
fn a_page_that_has_a_say_in_its_place_is_read_again_with_the_navigation() {
    let mut docs = Docs::of(&[
        (
            "docusaurus.config.js",
            "module.exports = {title: 'T', presets: [['classic', {docs: {routeBasePath: '/'}}]]};",
        ),
        ("docs/a.md", "---\nid: alpha\n---\n# Alpha\n\nzebra\n"),
        ("docs/b.md", "# Beta\n\nokapi\n"),
    ]);
    let sidebar = |group: &str| {
        format!("module.exports = {{docs: [{{type: 'category', label: '{group}', items: ['alpha', 'b']}}]}};")
    };
    docs.write("sidebars.js", &sidebar("One"));
    let site = Site::of(&docs);
    let groups =
        |site: &Site| -> Vec<String> { site.index.snapshot().pages().flat_map(|page| page.breadcrumb).collect() };
    assert_eq!(groups(&site), ["One", "One"]);
    docs.write("sidebars.js", &sidebar("Two"));
    site.update(&docs);
    assert_eq!(groups(&site), ["Two", "Two"]);
}

#[test]
fn operations_follow_the_navigation() {
    let api = r#"{"openapi": "3.0.0", "info": {"title": "T", "version": "1"}, "paths": {
        "/zebras": {"get": {"summary": "List zebras"}}, "/okapis": {"get": {"summary": "List okapis"}}}}"#;
    let mut docs = Docs::of(&[("a.mdx", "# Alpha"), ("api.json", api)]);
    let navigation = |operation: &str| {
        format!(
            r#"{{"navigation": {{"groups": [{{"group": "API", "openapi": "api.json", "pages": ["a", "{operation}"]}}]}}}}"#
        )
    };
    docs.write("docs.json", &navigation("GET /zebras"));
    let site = Site::of(&docs);
    let found = |site: &Site| (site.paths("zebras").len(), site.paths("okapis").len());
    assert_eq!(found(&site), (1, 0));
    docs.write("docs.json", &navigation("GET /okapis"));
    site.update(&docs);
    assert_eq!(found(&site), (0, 1));
}

#[test]
fn paths_that_moved_lead_to_where_the_page_is_now() {
    let mut docs = Docs::of(&[("new/place.md", "# Place\n\nHere."), ("guides/a.md", "# A\n\nThere.")]);
    let redirects = |to: &str| {
        format!(
            r#"{{"navigation": {{"groups": [{{"group": "Start here", "pages": ["new/place", "guides/a"]}}]}},
            "redirects": [{{"source": "/old", "destination": "{to}"}}, {{"source": "/g/:page", "destination": "/guides/:page"}}]}}"#
        )
    };
    docs.write("docs.json", &redirects("/new/place"));
    let site = Site::of(&docs);
    let snapshot = site.index.snapshot();
    assert_eq!(snapshot.page("/old").map(|page| page.path).as_deref(), Some("new/place"));
    assert_eq!(snapshot.page("g/a#part").map(|page| page.path).as_deref(), Some("guides/a"));
    assert!(snapshot.has_page("old/") && !snapshot.has_page("g/b"));
    let of_navigation: Vec<_> =
        snapshot.pages().map(|page| (page.path, page.breadcrumb.join("/"), page.order)).collect();
    assert_eq!(
        of_navigation,
        [
            ("guides/a".to_owned(), "Start here".to_owned(), Some(1)),
            ("new/place".to_owned(), "Start here".to_owned(), Some(0))
        ]
    );

    docs.were_read();
    docs.write("docs.json", &redirects("/guides/a"));
    site.update(&docs);
    assert_eq!(site.index.snapshot().page("/old").map(|page| page.path).as_deref(), Some("guides/a"));
    assert!(docs.were_read().iter().all(|file| file == "docs.json"), "no page is read again for a redirect");
}

#[test]
fn malformed_pages_are_indexed_and_reported() {
    let long = format!("# Long\n\nneedle\n\n{}\n\nhaystack\n", "word ".repeat(20_000));
    let mut docs = Docs::of(&[
        ("a.md", "---\ntitle: [broken\n---\n\n# Alpha\n\nzebra\n"),
        ("b.mdx", "# Beta\n\n<Open>\n\ngiraffe {unclosed\n"),
        ("long.md", &long),
    ]);
    let site = Site::new();
    let summary = site.update(&docs);
    for (word, path) in [("zebra", "a"), ("giraffe", "b"), ("needle", "long")] {
        assert_eq!(site.paths(word), [path], "{word}");
    }
    assert_eq!(site.paths("haystack"), Vec::<String>::new(), "what lies beyond is not read");
    let odd = |file: &str| summary.odd.iter().filter(|odd| odd.file == file).count();
    assert!(odd("a.md") > 0 && odd("b.mdx") > 0, "{:?}", summary.odd);
    assert!(summary.odd.iter().any(|odd| odd.file == "long.md" && odd.message.contains("bytes")), "{:?}", summary.odd);
    assert_eq!(summary.odd_in_all, summary.odd.len());
    assert!(summary.odd.is_sorted_by(|a, b| (&a.file, a.line) <= (&b.file, b.line)), "{:?}", summary.odd);

    docs.write("c.md", "# Gamma");
    let later = site.update(&docs);
    assert_eq!(later.odd, summary.odd, "it is said of the docs, not of the files of this update");
    docs.write("a.md", "# Alpha\n\nzebra\n");
    assert!(site.update(&docs).odd.iter().all(|odd| odd.file != "a.md"));
}

#[test]
fn of_much_that_is_odd_the_first_hundred_are_told() {
    let mut docs = Docs::default();
    for page in 0..150 {
        docs.write(&format!("{page:03}.md"), "---\ntitle: [broken\n---\n\ntext\n");
    }
    let summary = Site::new().update(&docs);
    assert_eq!(summary.odd.len(), 100);
    assert!(summary.odd_in_all >= 150);
    assert_eq!(summary.odd[0].file, "000.md");
}

#[test]
fn synonyms_come_from_the_repository_or_from_the_docs() {
    let mut docs = Docs::of(&[("a.md", "# Alpha"), ("synonyms.txt", "k8s, kubernetes")]);
    let site = Site::of(&docs);
    let synonyms = || site.index.snapshot().manifest().site.synonyms.clone();
    assert_eq!(synonyms(), "k8s, kubernetes");
    docs.write("synonyms.txt", "db, database");
    assert!(site.update(&docs).published);
    assert_eq!(synonyms(), "db, database");
    docs.beside.insert(".docent/synonyms.txt".to_owned(), "auth, login".to_owned());
    assert!(site.update(&docs).published);
    assert_eq!(synonyms(), "auth, login");
    assert!(!site.update(&docs).published);
}

#[test]
fn an_update_that_nobody_wants_any_more_leaves_the_index_as_it_was() {
    let mut docs = Docs::of(&[("a.md", "# Alpha\n\nword")]);
    let site = Site::of(&docs);
    for page in 0..60 {
        docs.write(&format!("{page}.md"), &format!("# More {page}\n\nword"));
    }
    docs.were_read();
    docs.patience = Some(20);
    let error = site.index.update(&docs, &mut |_| {}).expect_err("it is not wanted");
    assert!(matches!(error, SearchError::Unwanted), "{error}");
    assert_eq!(site.paths("word"), ["a"]);
    assert_eq!(Index::open(site.dir.path()).expect("an index").snapshot().page_count(), 1);
    docs.patience = None;
    site.update(&docs);
    assert_eq!(site.index.snapshot().search(&super::Query { limit: 100, ..question("word") }).len(), 61);
}

#[test]
fn an_update_without_changes_opens_no_snapshot() {
    let docs = Docs::of(&[("a.md", "# Alpha\n\nword")]);
    let site = Site::of(&docs);
    let again = Index::open(site.dir.path()).expect("an index");
    let summary = again.update(&docs, &mut |_| {}).expect("an update");
    assert_eq!((summary.pages, summary.added, summary.published), (1, 0, false));
    assert!(!again.is_opened());
    assert_eq!(again.snapshot().page_count(), 1);
}

#[test]
fn pages_in_other_languages_than_markdown_are_found_by_their_words() {
    let docs = Docs::of(&[
        ("docs/antora.yml", "name: tool\nversion: ~\n"),
        (
            "docs/modules/ROOT/pages/start.adoc",
            "= Start\n\nA zebra, see xref:other.adoc[there].\n\ninclude::partial$shared.adoc[]\n\n== With an `okapi`\n\nWords.\n",
        ),
        ("docs/modules/ROOT/partials/shared.adoc", "The giraffe is shared.\n"),
    ]);
    let site = Site::of(&docs);
    assert_eq!(site.paths("zebra"), ["tool/start"]);
    assert_eq!(site.paths("okapi"), ["tool/start"]);
    assert_eq!(site.paths("giraffe"), ["tool/start"], "what a page includes is read with it");
    let docs = Docs::of(&[
        ("conf.py", "project = 'x'\n"),
        ("guide/start.rst", "Start\n=====\n\nA zebra.\n\nMore\n----\n\nAn ``okapi``.\n"),
    ]);
    let site = Site::of(&docs);
    assert_eq!(site.paths("zebra"), ["guide/start"]);
    assert_eq!(site.paths("okapi"), ["guide/start"]);
}
