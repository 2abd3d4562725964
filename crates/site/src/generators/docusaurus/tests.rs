//! Expectations are what Docusaurus 3.10 did with the site in `tests/sites/docusaurus`, and with a few pages beside it.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use crate::layout::{Generator, Layout};
use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::sample::{assert_places, asset, messages, missing, page, site};
use crate::tree::Tree;

/// The sample site in `tests/sites/docusaurus`, seen from a docs root in it.
struct Odd {
    root: &'static str,
    inside: BTreeMap<String, Vec<u8>>,
    outside: BTreeMap<String, Vec<u8>>,
}

impl Odd {
    fn seen_from(root: &'static str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sites/docusaurus");
        let mut odd = Self { root, inside: BTreeMap::new(), outside: BTreeMap::new() };
        let mut folders = vec![folder.clone()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).expect("the site is part of the repository") {
                let path = entry.expect("the folder can be read").path();
                if path.is_dir() {
                    // Installed packages are not part of the site.
                    if !path.ends_with("node_modules") {
                        folders.push(path);
                    }
                    continue;
                }
                let bytes = std::fs::read(&path).expect("the file can be read");
                let name = path.strip_prefix(&folder).expect("it is inside").to_str().expect("it is UTF-8");
                let seen = crate::tree::from_root(root, name);
                let files = if seen.starts_with("../") { &mut odd.outside } else { &mut odd.inside };
                files.insert(seen, bytes);
            }
        }
        odd
    }
}

impl Tree for Odd {
    fn paths(&self) -> Vec<String> {
        self.inside.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.inside.get(path).or_else(|| self.outside.get(path)).cloned()
    }

    fn root(&self) -> &str {
        self.root
    }

    fn paths_outside(&self) -> Vec<String> {
        self.outside.keys().cloned().collect()
    }
}

fn anchored(file: &str, anchor: &str) -> Target {
    Target::Page { file: file.to_owned(), anchor: Some(anchor.to_owned()) }
}

#[test]
fn pages_are_served_where_docusaurus_serves_them() {
    let site = Site::read(&Odd::seen_from(""));
    for (file, address) in [
        ("docs/welcome.mdx", Some("guide")),
        ("docs/01-start/02-first.md", Some("guide/start/first")),
        ("docs/01-start/chosen_name.md", Some("guide/start/chosen")),
        ("docs/01-start/slugged.mdx", Some("guide/other/place")),
        // A page named like its folder is the index of the folder, whatever its id.
        ("docs/tools/tools.md", Some("guide/tools")),
        ("docs/02-deep/README.md", Some("guide/deep")),
        ("docs/02-deep/03-deeper/03-deeper.md", Some("guide/deep/deeper")),
        ("docs/02-deep/03-deeper/page.md", Some("guide/02-deep/03-deeper/page")),
        ("docs/02-deep/03-deeper/7.0-notes.md", Some("guide/deep/deeper/7.0-notes")),
        ("docs/unlisted.md", Some("guide/unlisted")),
        ("docs/draft.md", None),
        ("docs/_shared/_note.mdx", None),
        ("api/01-list.md", Some("reference/01-list")),
        ("versioned_docs/version-1.0/sub/page.md", Some("guide/1.0/sub/page")),
        ("i18n/fr/docusaurus-plugin-content-docs/current/tools/tools.md", Some("fr/guide/tools")),
        ("blog/2024-03-05-hello.md", Some("news/2024/03/05/hello")),
        ("blog/2024-04-01-other/index.md", Some("news/2024/04/01/other")),
        ("blog/notes/2024-05-06-dated.md", Some("news/2024/05/06/notes/dated")),
        ("blog/notes/undated.md", Some("news/chosen/slug")),
        ("src/pages/about.md", Some("about")),
        ("src/pages/more/index.mdx", Some("more")),
        ("src/pages/_hidden.md", None),
    ] {
        assert_eq!(site.address(file), address, "{file}");
    }
}

#[test]
fn links_are_followed_as_docusaurus_and_a_browser_read_them() {
    let site = Site::read(&Odd::seen_from(""));
    let french = |file: &str| format!("i18n/fr/docusaurus-plugin-content-docs/current/{file}");
    let first = || page("docs/01-start/02-first.md");
    for (from, target, expected) in [
        // Files are looked for beside the page, in the folder of the plug-in, and in that of the site.
        ("docs/welcome.mdx", "./01-start/02-first.md", first()),
        ("docs/welcome.mdx", "01-start/02-first.md#step-one", anchored("docs/01-start/02-first.md", "step-one")),
        ("docs/welcome.mdx", "/01-start/02-first.md", first()),
        ("docs/welcome.mdx", "/docs/01-start/02-first.md", first()),
        ("docs/welcome.mdx", "@site/docs/01-start/02-first.md", first()),
        ("docs/01-start/02-first.md", "tools/saw.md", page("docs/tools/saw.md")),
        ("docs/01-start/02-first.md", "./tools/saw.md", missing("docs/01-start/tools/saw.md")),
        ("docs/_shared/_note.mdx", "../01-start/02-first.md", first()),
        ("docs/welcome.mdx", "./a%20space.md", page("docs/a space.md")),
        ("docs/welcome.mdx", "./nowhere.md", missing("docs/nowhere.md")),
        ("docs/welcome.mdx", "./draft.md", Target::NotUnderstood),
        // URLs, with or without the base path, or relative to that of the page.
        ("docs/welcome.mdx", "/guide/start/first", first()),
        ("docs/welcome.mdx", "/odd/guide/start/first", first()),
        ("docs/welcome.mdx", "start/first", first()),
        ("docs/01-start/02-first.md", "chosen", page("docs/01-start/chosen_name.md")),
        ("docs/01-start/02-first.md", "../tools", page("docs/tools/tools.md")),
        ("docs/01-start/02-first.md", "..", page("docs/welcome.mdx")),
        ("docs/01-start/slugged.mdx", "place2", missing("guide/other/place2")),
        ("docs/02-deep/README.md", "deeper/page", missing("guide/deep/deeper/page")),
        ("docs/tools/tools.md", "saw", page("docs/tools/saw.md")),
        ("docs/tools/saw.md", "tools", missing("guide/tools/tools")),
        ("docs/_shared/_note.mdx", "start/first", Target::NotUnderstood),
        ("docs/welcome.mdx", "/guide/nowhere", missing("guide/nowhere")),
        // Links from one plug-in to another, and to addresses without a page.
        ("docs/welcome.mdx", "/reference/01-list", page("api/01-list.md")),
        ("docs/welcome.mdx", "../api/01-list.md", missing("api/01-list.md")),
        ("api/01-list.md", "docs/tools/saw.md", missing("api/docs/tools/saw.md")),
        ("docs/welcome.mdx", "/guide/begin", Target::NotUnderstood),
        ("docs/welcome.mdx", "/guide/category/tools", Target::NotUnderstood),
        ("docs/welcome.mdx", "/news/tags", Target::NotUnderstood),
        ("docs/welcome.mdx", "/img/dot.svg", asset("static/img/dot.svg")),
        ("docs/welcome.mdx", "pathname:///img/dot.svg", Target::External),
        ("src/pages/about.md", "/", asset("src/pages/index.js")),
        ("src/pages/more/index.mdx", "./about", missing("more/about")),
        ("blog/2024-03-05-hello.md", "../../04/01/other", page("blog/2024-04-01-other/index.md")),
        ("blog/2024-04-01-other/index.md", "/notes/2024-05-06-dated.md", page("blog/notes/2024-05-06-dated.md")),
        // All versions belong to one plug-in, each with its own folder.
        (
            "versioned_docs/version-1.0/sub/page.md",
            "../welcome.md#old",
            anchored("versioned_docs/version-1.0/welcome.md", "old"),
        ),
        ("versioned_docs/version-1.0/sub/page.md", "/welcome.md", page("versioned_docs/version-1.0/welcome.md")),
        ("versioned_docs/version-1.0/welcome.md", "/docs/welcome.mdx", page("docs/welcome.mdx")),
        // Languages: a link leads to the translation, or else to the untranslated page.
        (&french("welcome.mdx"), "tools/tools.md", page(&french("tools/tools.md"))),
        (&french("welcome.mdx"), "tools/saw.md", page("docs/tools/saw.md")),
        (&french("welcome.mdx"), "./tools/saw.md", missing(&french("tools/saw.md"))),
        (&french("welcome.mdx"), "/guide/tools", page(&french("tools/tools.md"))),
        (&french("welcome.mdx"), "/guide/start/first", first()),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn anchors_that_keep_their_case_are_not_known() {
    for (option, known) in
        [("anchors: { maintainCase: true }", false), ("anchors: { maintainCase: false }", true), ("", true)]
    {
        let config = format!("export default {{ presets: [['classic', {{}}]], markdown: {{ {option} }} }};");
        let site = Site::read(&crate::sample::site(&[("docusaurus.config.js", &config), ("docs/a.md", "# A\n")]));
        assert_eq!(site.layout().knows_anchors(), known, "{option}");
    }
}

#[test]
fn files_outside_the_docs_root_are_not_called_missing() {
    let site = Site::read(&Odd::seen_from("docs"));
    for (target, expected) in [
        ("./01-start/02-first.md", page("01-start/02-first.md")),
        ("/docs/01-start/02-first.md", page("01-start/02-first.md")),
        ("/odd/guide/start/first", page("01-start/02-first.md")),
        ("/img/dot.svg", asset("../static/img/dot.svg")),
        ("/reference/01-list", Target::NotUnderstood),
        ("/about", Target::NotUnderstood),
        ("/guide/1.0/", Target::NotUnderstood),
        ("/guide/nowhere", missing("guide/nowhere")),
    ] {
        assert_eq!(site.resolve("welcome.mdx", target), expected, "{target}");
    }
}

#[test]
fn links_are_written_in_the_form_of_the_one_before() {
    let site = Site::read(&Odd::seen_from(""));
    for (from, to, like, expected) in [
        ("docs/welcome.mdx", "docs/tools/saw.md", "", "./tools/saw.md"),
        ("docs/welcome.mdx", "docs/tools/saw.md", "x.md#y", "tools/saw.md#y"),
        ("docs/welcome.mdx", "docs/tools/saw.md", "/x.md", "/tools/saw.md"),
        ("docs/welcome.mdx", "docs/tools/saw.md", "@site/docs/x.md", "@site/docs/tools/saw.md"),
        ("docs/welcome.mdx", "docs/01-start/02-first.md", "/guide/x", "/guide/start/first"),
        ("docs/welcome.mdx", "docs/01-start/02-first.md", "/odd/guide/x/", "/odd/guide/start/first/"),
        ("docs/01-start/02-first.md", "docs/tools/tools.md", "chosen", "../tools"),
        // No link by file leads from one plug-in to another.
        ("docs/welcome.mdx", "api/01-list.md", "./x.md", "/reference/01-list"),
        ("docs/welcome.mdx", "static/img/dot.svg", "/img/x.svg", "/img/dot.svg"),
    ] {
        assert_eq!(
            site.link(&LinkRequest { from, to, anchor: None, like, syntax: LinkSyntax::Markdown }),
            expected,
            "{like} from {from} to {to}"
        );
    }
}

proptest! {
    #[test]
    fn a_link_that_was_written_leads_to_its_page(
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        like in prop::sample::select(vec![
            "", "x", "./x", "../x/", "x.md", "./x.mdx?q=1", "/x", "/x/#y", "/odd/x", "/x.md", "@site/x.md", "#y",
        ]),
    ) {
        thread_local! {
            static SITE: Site = Site::read(&Odd::seen_from(""));
        }
        SITE.with(|site| {
            let served = site.served();
            let pages: Vec<&str> = served.values().copied().collect();
            let (from, to) = (*from.get(&pages), *to.get(&pages));
            // Each language is a site of its own.
            let is_translated = |file: &str| file.starts_with("i18n/");
            prop_assume!(is_translated(from) == is_translated(to));
            let link = site.link(&LinkRequest { from, to, anchor: None, like, syntax: LinkSyntax::Markdown });
            let leads_to = match site.resolve(from, &link) {
                Target::Page { file, .. } => Some(file),
                _ => None,
            };
            prop_assert_eq!(leads_to.as_deref(), Some(to), "{} from {}", link, from);
            Ok(())
        })?;
    }

    #[test]
    fn any_target_is_read_without_a_panic(target in "\\PC{0,24}") {
        thread_local! {
            static SITE: Site = Site::read(&Odd::seen_from("docs"));
        }
        SITE.with(|site| {
            site.resolve("welcome.mdx", &target);
            site.link(&LinkRequest { from: "welcome.mdx", to: "tools/saw.md", anchor: Some("x"), like: &target, syntax: LinkSyntax::Markdown });
        });
    }
}

#[test]
fn a_configuration_that_covers_no_page_leaves_the_site_to_the_next() {
    let files = [
        (".gitbook.yaml", "structure:\n  readme: README.md\n  summary: docs/README.md\n"),
        ("README.md", "# R\n"),
        ("docs/README.md", "# Docs\n"),
        ("docs/a.md", "# A\n"),
        (
            "website/docusaurus.config.js",
            "module.exports = { presets: [['classic', { docs: { path: '../docs' } }]] }\n",
        ),
    ];
    let whole = Site::read(&crate::sample::site(&files));
    assert_eq!((whole.generator(), whole.address("docs/a.md")), (Generator::Docusaurus, Some("docs/a")));
    let docs = Site::read(&crate::sample::as_docs_root("docs", crate::sample::site(&files)));
    assert_eq!((docs.generator(), docs.address("a.md")), (Generator::Docusaurus, Some("docs/a")));
}

#[test]
fn a_docs_root_is_read_as_the_site_beside_it_reads_it() {
    let tree = crate::sample::as_docs_root(
        "docs",
        crate::sample::site(&[
            ("docs/a.md", "# A\n"),
            ("docs/b.md", "---\nslug: bee\n---\n"),
            (
                "website/docusaurus.config.js",
                "module.exports = { baseUrl: '/', presets: [['classic', { docs: { path: '../docs' } }]] }\n",
            ),
        ]),
    );
    let read = Site::read(&tree);
    let page = Target::Page { file: "b.md".into(), anchor: None };
    assert_eq!((read.resolve("a.md", "/docs/bee"), read.resolve("a.md", "./b.md")), (page.clone(), page));
    assert!(matches!(read.resolve("a.md", "/docs/nope"), Target::Missing { .. }));
}

const DOCUSAURUS: &str = "
import {themes} from 'prism-react-renderer';
/** @type {import('@docusaurus/types').Config} */
const config = {
  title: 'T', url: process.env.URL, baseUrl: '/base/',
  i18n: { defaultLocale: 'en', locales: ['en', 'fr'] },
  presets: [['classic', /** @type {Options} */ ({
    docs: { routeBasePath: '/', sidebarPath: require.resolve('./sidebars.js') },
    blog: {},
  })]],
  plugins: [
    ['@docusaurus/plugin-content-docs', { id: 'community', path: 'community', routeBasePath: 'community', sidebarPath: false }],
    ['@docusaurus/plugin-client-redirects', { redirects: [{ from: ['/a', '/b'], to: '/c' }] }],
  ],
};
export default config;
";

#[test]
fn docusaurus_serves_by_its_rules() {
    let tree = site(&[
        ("docusaurus.config.js", DOCUSAURUS),
        (
            "sidebars.js",
            "module.exports = { docs: ['intro', { type: 'category', label: 'Guides', link: {type: 'doc', id: 'guides/index'}, items: [{type: 'doc', id: 'guides/custom', label: 'Own'}, 'guides/first'] }, { Short: ['short'] }, {type: 'autogenerated', dirName: 'api'}] };",
        ),
        ("versions.json", "[\"2.0\", \"1.0\"]"),
        (
            "versioned_sidebars/version-1.0-sidebars.json",
            r#"{"docs": [{"type": "category", "label": "Old", "items": ["intro"]}]}"#,
        ),
        ("docs/01-intro.md", ""),
        ("docs/02-guides/index.md", ""),
        ("docs/02-guides/01-first.md", ""),
        ("docs/02-guides/second.md", "---\nid: custom\n---\n"),
        ("docs/02-guides/slugged.md", "---\nslug: ./other\n---\n"),
        ("docs/02-guides/top.md", "---\nslug: /top\nsidebar_label: Label\n---\n"),
        ("docs/api/_category_.json", "{\"label\": \"The API\"}"),
        ("docs/api/api.md", ""),
        ("docs/api/_part.md", ""),
        ("docs/short.md", ""),
        ("versioned_docs/version-2.0/intro.md", ""),
        ("versioned_docs/version-1.0/intro.md", ""),
        ("i18n/fr/docusaurus-plugin-content-docs/current/intro.md", ""),
        ("community/team.md", ""),
        ("blog/2021-08-26-welcome/index.md", ""),
        ("blog/2021-08-27-named.md", "---\nslug: named\n---\n"),
        ("src/pages/about.md", ""),
        ("README.md", ""),
    ]);
    let layout = Layout::read(&tree);
    assert_eq!(layout.generator(), Generator::Docusaurus);
    assert_eq!(messages(&layout), [] as [&str; 0]);
    assert_places(
        &tree,
        &[
            ("docs/01-intro.md", "next/intro", "", None),
            ("docs/02-guides/index.md", "next/guides", "", Some("Guides")),
            ("docs/02-guides/01-first.md", "next/guides/first", "Guides", None),
            ("docs/02-guides/second.md", "next/guides/custom", "Guides", Some("Own")),
            ("docs/02-guides/slugged.md", "next/guides/other", "guides", None),
            ("docs/02-guides/top.md", "next/top", "guides", Some("Label")),
            ("docs/api/api.md", "next/api", "The API", None),
            ("docs/short.md", "next/short", "Short", None),
            ("versioned_docs/version-2.0/intro.md", "intro", "", None),
            ("versioned_docs/version-1.0/intro.md", "1.0/intro", "Old", None),
            ("i18n/fr/docusaurus-plugin-content-docs/current/intro.md", "fr/next/intro", "", None),
            ("community/team.md", "community/team", "", None),
            ("blog/2021-08-26-welcome/index.md", "blog/2021/08/26/welcome", "", None),
            ("blog/2021-08-27-named.md", "blog/named", "", None),
            ("src/pages/about.md", "about", "", None),
        ],
    );
    assert!(!layout.holds_pages("README.md") && !layout.place("docs/api/_part.md").listed);
    let old = layout.place("versioned_docs/version-1.0/intro.md");
    assert_eq!((old.version.as_deref(), old.language.as_deref()), (Some("1.0"), Some("en")));
    assert_eq!(layout.place("docs/01-intro.md").version.as_deref(), Some("Next"));
    assert_eq!(layout.place("i18n/fr/docusaurus-plugin-content-docs/current/intro.md").language.as_deref(), Some("fr"));
    assert_eq!(layout.redirects().collect::<Vec<_>>(), [("/a", "/c"), ("/b", "/c")]);
}

#[test]
fn a_configuration_that_is_computed_is_taken_to_be_as_usual_and_told() {
    let tree = site(&[
        (
            "website/docusaurus.config.ts",
            "export default async function config() { const x = await y(); return { presets: x.map(z) } }",
        ),
        ("website/docs/a.md", ""),
    ]);
    let layout = Layout::read(&tree);
    assert_eq!(messages(&layout).len(), 1);
    assert_places(&tree, &[("website/docs/a.md", "docs/a", "", None)]);
}

#[test]
fn pages_of_docusaurus_are_known_without_their_configuration() {
    let tree = site(&[("01-a/_category_.yml", "label: First\n"), ("01-a/02-b.md", ""), ("03-c.md", "")]);
    assert_places(&tree, &[("01-a/02-b.md", "a/b", "First", None), ("03-c.md", "c", "", None)]);
}

#[test]
fn a_layout_follows_from_its_files_alone() {
    let tree = site(&[
        ("website/docusaurus.config.js", DOCUSAURUS),
        ("website/sidebars.js", "module.exports = {}"),
        ("website/docs/a/_category_.json", "{}"),
        ("website/static/_redirects", "/x /y"),
        ("website/package.json", "{}"),
        ("website/docs/a/b.md", ""),
        ("website/src/theme/x.js", ""),
        ("src/main.js", ""),
    ]);
    let files = Layout::files(tree.keys().map(String::as_str));
    assert_eq!(
        files,
        [
            "website/docs/a/_category_.json",
            "website/docusaurus.config.js",
            "website/sidebars.js",
            "website/static/_redirects"
        ]
    );
    assert_eq!(Layout::read(&tree).redirects().last(), Some(("/x", "/y")));
}

#[test]
fn an_explicit_id_is_read_after_the_markup_of_its_heading() {
    let text = "### The box {#Box.__init__}\n\n### `code` {#my_id}\n\n### A {#b\\_c}\n";
    let tree = site(&[("docusaurus.config.js", "module.exports = {};\n"), ("docs/a.md", text)]);
    let site = Site::read(&tree);
    let page = site.parse("docs/a.md", text.as_bytes());
    let anchors: Vec<&str> = page.headings.iter().map(|heading| heading.anchor.as_str()).collect();
    assert_eq!(anchors, ["Box.init", "my_id", "b_c"]);
    assert_eq!(crate::ShownPages::default().has_anchor(&site, &tree, &page, "Box.__init__"), Some(false));
}
