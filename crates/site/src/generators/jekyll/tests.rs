use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::LinkSyntax;
use crate::layout::Generator;
use crate::link_target::LinkRequest;
use crate::model::{Site, Target};
use crate::sample::missing;

/// The configuration in `tests/sites/jekyll`. Expected addresses are those of its build by Jekyll 4.3.1.
const CONFIG: &str = "\
baseurl: /b
collections:
  docs: {output: true}
  notes: {output: true, permalink: '/n/:name:output_ext'}
  silent: {}
include: [_kept]
exclude: [hidden, '*.skip.md']
defaults:
  - scope: {path: tools, type: pages}
    values: {permalink: '/t/:basename.html'}
  - scope: {path: tools/dull.md}
    values: {published: false}
  - scope: {path: ''}
    values: {layout: default}
";

const GEMFILE: &str = "source 'x'\ngem \"jekyll\", \"~> 4.3\"\n# gem \"github-pages\"\n";

const FILES: [(&str, &str); 32] = [
    ("index.md", "---\n---\n"),
    ("_docs/a.md", "---\n---\n"),
    ("_docs/deep/b.md", "---\n---\n"),
    ("_docs/index.md", "---\n---\n"),
    ("_docs/Some Name.md", "---\n---\n"),
    ("_docs/2019-05-06-own.md", "---\npermalink: /own/:title/\n---\n"),
    ("_docs/bare.md", "# No front matter\n"),
    ("_docs/unpublished.md", "---\npublished: false\n---\n"),
    ("_notes/One Note.md", "---\n---\n"),
    ("_silent/s.md", "---\n---\n"),
    ("_posts/2020-01-02-first-post.md", "---\ncategories: [Big Things, more]\n---\n"),
    ("_posts/2020-02-03-second.md", "---\nslug: Slugged Here\n---\n"),
    ("_posts/2020-02-04-Third_One.md", "# No front matter\n"),
    ("_posts/undated.md", "---\n---\n"),
    ("news/_posts/2021-03-05-deep.md", "---\ncategory: misc things\ndate: 2021-03-04\n---\n"),
    ("_drafts/drafted.md", "---\n---\n"),
    ("_includes/part.md", "Included\n"),
    ("own.md", "---\npermalink: /own/\nredirect_from: [/old/, /older.html]\n---\n"),
    ("barepage.md", "---\npermalink: /bare\n---\n"),
    ("file.md", "---\npermalink: /file.html\n---\n"),
    ("guide/index.md", "---\n---\n"),
    ("guide/page.md", "---\n---\n"),
    ("guide/README.md", "---\n---\n"),
    ("guide/v1.2.md", "---\n---\n"),
    ("guide/a.skip.md", "---\n---\n"),
    ("raw.md", "# Raw\n"),
    ("about.html", "---\npermalink: /who/\n---\nAbout\n"),
    ("assets/a.png", ""),
    ("hidden/h.md", "---\n---\n"),
    ("_kept/page.md", "---\n---\n"),
    ("tools/saw.md", "---\n---\n"),
    ("tools/dull.md", "---\n---\n"),
];

fn tree(config: &str, more: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    let config = format!("{CONFIG}{config}");
    let configuration = [("_config.yml", config.as_str())];
    let files = FILES.iter().chain(more).chain(&configuration);
    files.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// A site with a `Gemfile`, which GitHub Pages does not build.
fn site(config: &str) -> Site {
    Site::read(&tree(config, &[("Gemfile", GEMFILE)]))
}

fn page(file: &str, anchor: Option<&str>) -> Target {
    Target::Page { file: file.to_owned(), anchor: anchor.map(str::to_owned) }
}

#[test]
fn pages_are_served_where_jekyll_serves_them() {
    let site = site("permalink: pretty\n");
    assert_eq!(site.generator(), Generator::Jekyll);
    let built = [
        ("_docs/2019-05-06-own.md", "own/own"),
        ("_docs/Some Name.md", "docs/Some Name"),
        ("_docs/a.md", "docs/a"),
        ("_docs/deep/b.md", "docs/deep/b"),
        ("_docs/index.md", "docs/index"),
        ("_kept/page.md", "_kept/page"),
        ("_notes/One Note.md", "n/one-note.html"),
        ("_posts/2020-01-02-first-post.md", "big things/more/2020/01/02/first-post"),
        ("_posts/2020-02-03-second.md", "2020/02/03/Slugged-Here"),
        ("_posts/2020-02-04-Third_One.md", "2020/02/04/Third_One"),
        ("barepage.md", "bare"),
        ("file.md", "file.html"),
        ("guide/README.md", "guide/README"),
        ("guide/index.md", "guide"),
        ("guide/page.md", "guide/page"),
        ("guide/v1.2.md", "guide/v1.2"),
        ("index.md", ""),
        ("news/_posts/2021-03-05-deep.md", "news/misc things/2021/03/04/deep"),
        ("own.md", "own"),
        ("tools/dull.md", "t/dull.html"),
        ("tools/saw.md", "t/saw.html"),
    ];
    let served: Vec<(&str, &str)> = FILES.iter().filter_map(|(file, _)| Some((*file, site.address(file)?))).collect();
    let mut expected = built.to_vec();
    expected.sort_by_key(|(file, _)| FILES.iter().position(|(known, _)| known == file));
    assert_eq!(served, expected);
}

#[test]
fn each_style_of_addresses_is_jekylls() {
    let second = "_posts/2020-02-03-second.md";
    for (style, post, item, page) in [
        ("date", Some("2020/02/03/Slugged-Here.html"), "docs/a.html", "guide/page.html"),
        ("ordinal", Some("2020/034/Slugged-Here.html"), "docs/a.html", "guide/page.html"),
        ("none", Some("Slugged-Here.html"), "docs/a.html", "guide/page.html"),
        ("/:categories/:title", Some("Slugged-Here"), "docs/a", "guide/page"),
        ("/:categories/:title/", Some("Slugged-Here"), "docs/a", "guide/page"),
        ("weekdate", Some("2020/W06/Mon/Slugged-Here.html"), "docs/a", "guide/page"),
    ] {
        let site = site(&format!("permalink: {style}\n"));
        assert_eq!(site.address(second), post, "{style}");
        assert_eq!(site.address("_docs/a.md"), Some(item), "{style}");
        assert_eq!(site.address("guide/page.md"), Some(page), "{style}");
        assert_eq!(site.address("guide/index.md"), Some("guide"), "{style}");
        assert_eq!(site.is_directory("guide/page.md"), style.ends_with('/'), "{style}");
    }
}

#[test]
fn links_are_urls_and_templates_are_files() {
    let site = site("permalink: pretty\nplugins: [jekyll-redirect-from]\n");
    let a = page("_docs/a.md", None);
    for (from, target, expected) in [
        ("index.md", "docs/a/", a.clone()),
        ("index.md", "/b/docs/a/#words", page("_docs/a.md", Some("words"))),
        ("index.md", "/docs/a/", Target::NotUnderstood),
        ("index.md", "_docs/a.md", Target::NotUnderstood),
        ("index.md", "guide/page.md", Target::NotUnderstood),
        ("index.md", "gone/", missing("gone")),
        ("index.md", "who/", Target::Asset { file: "about.html".into() }),
        ("index.md", "{% link _docs/a.md %}#words", page("_docs/a.md", Some("words"))),
        ("index.md", "{% link about.html %}", Target::Asset { file: "about.html".into() }),
        ("index.md", "{% link _docs/gone.md %}", missing("_docs/gone.md")),
        ("index.md", "{% link _drafts/drafted.md %}", missing("_drafts/drafted.md")),
        ("index.md", "{{ site.baseurl }}{% link _docs/a.md %}", a.clone()),
        ("index.md", "{% post_url 2020-01-02-first-post %}", page("_posts/2020-01-02-first-post.md", None)),
        ("index.md", "{% post_url news/2021-03-05-deep %}", page("news/_posts/2021-03-05-deep.md", None)),
        ("index.md", "{% post_url 2020-01-02-gone %}", missing("2020-01-02-gone")),
        ("index.md", "{{ '/docs/a/' | relative_url }}", a.clone()),
        ("index.md", "{{ \"docs/a\" | absolute_url }}#x", page("_docs/a.md", Some("x"))),
        ("index.md", "{{ \"/nowhere\" | relative_url }}", missing("nowhere")),
        ("index.md", "{{ site.baseurl }}/n/one-note.html", page("_notes/One Note.md", None)),
        ("index.md", "{{site.url}}{{site.baseurl}}/assets/a.png", Target::Asset { file: "assets/a.png".into() }),
        ("index.md", "{{ site.url }}/docs/a/", Target::NotUnderstood),
        ("index.md", "{{ page.url }}", Target::NotUnderstood),
        ("index.md", "{% link {{ page.path }} %}", Target::NotUnderstood),
        ("index.md", "raw.md", Target::Asset { file: "raw.md".into() }),
        ("index.md", "raw/", Target::NotUnderstood),
        ("index.md", "/b/bare", page("barepage.md", None)),
        ("index.md", "/b/bare/", Target::NotUnderstood),
        ("index.md", "/b/t/saw", page("tools/saw.md", None)),
        ("index.md", "/b/drafted/", missing("drafted")),
        ("index.md", "/b/silent/s/", missing("silent/s")),
        ("index.md", "hidden/h/", missing("hidden/h")),
        ("index.md", "feed.xml", Target::NotUnderstood),
        ("index.md", "/b/old", Target::Redirect { destination: "/own".into() }),
        ("index.md", "/b/older.html", Target::Redirect { destination: "/own".into() }),
        ("_docs/a.md", "../deep/b/", page("_docs/deep/b.md", None)),
        ("_docs/a.md", "deep/b/", missing("docs/a/deep/b")),
        ("_docs/a.md", "../../", page("index.md", None)),
        ("_docs/a.md", "/b/docs/Some%20Name/", page("_docs/Some Name.md", None)),
        ("barepage.md", "own/", page("own.md", None)),
        ("_includes/part.md", "own/", Target::NotUnderstood),
        ("_includes/part.md", "/b/own/index.html", page("own.md", None)),
        // This file is not a page of the site, so its links are resolved as on a forge.
        ("raw.md", "guide/page.md", page("guide/page.md", None)),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn github_pages_reads_links_by_file_and_needs_no_front_matter() {
    let more = [("guide/deep/README.md", ""), ("guide/deep/x.md", ""), ("guide/deep/LICENSE.txt", "")];
    let github = Site::read(&tree("permalink: pretty\n", &more));
    assert_eq!(github.address("guide/deep/README.md"), Some("guide/deep"));
    assert_eq!(github.address("guide/deep/x.md"), Some("guide/deep/x"));
    assert_eq!(github.address("_docs/bare.md"), None, "items need it");
    for (from, target, expected) in [
        ("guide/deep/x.md", "../page.md#x", page("guide/page.md", Some("x"))),
        ("guide/deep/x.md", "/_docs/a.md", page("_docs/a.md", None)),
        ("guide/deep/x.md", "LICENSE.txt", Target::Asset { file: "guide/deep/LICENSE.txt".into() }),
        ("guide/deep/x.md", "gone.md", missing("guide/deep/x/gone.md")),
        ("guide/deep/x.md", "../page/", missing("guide/deep/page")),
        ("_docs/a.md", "deep/b.md", missing("docs/a/deep/b.md")),
    ] {
        assert_eq!(github.resolve(from, target), expected, "{target} in {from}");
    }
    for gemfile in [
        "gem \"github-pages\", group: :jekyll_plugins\n",
        "group :jekyll_plugins do\n  gem 'jekyll-relative-links'\nend\n",
    ] {
        let site = Site::read(&tree("", &[("Gemfile", gemfile)]));
        assert_eq!(site.resolve("guide/page.md", "README.md"), page("guide/README.md", None), "{gemfile}");
    }
    let own = Site::read(&tree("", &[("Gemfile", GEMFILE), ("_plugins/pages.rb", "")]));
    assert_eq!(own.resolve("index.md", "gone/"), Target::NotUnderstood, "a plug-in may make the page");
}

#[test]
fn a_site_around_the_docs_root_is_the_same_site() {
    struct Narrowed(BTreeMap<String, Vec<u8>>, &'static str);
    impl crate::tree::Tree for Narrowed {
        fn paths(&self) -> Vec<String> {
            self.0.keys().filter(|path| !path.starts_with("../")).cloned().collect()
        }
        fn read(&self, path: &str) -> Option<Vec<u8>> {
            self.0.get(path).cloned()
        }
        fn root(&self) -> &str {
            self.1
        }
        fn paths_outside(&self) -> Vec<String> {
            self.0.keys().filter(|path| path.starts_with("../")).cloned().collect()
        }
    }
    let all = tree("", &[("Gemfile", GEMFILE), ("guide/deep/x.md", "---\n---\n")]);
    for root in ["guide", "guide/deep", "_docs"] {
        let named = |path: &str| crate::tree::from_root(root, path);
        let narrowed = all.iter().map(|(path, bytes)| (named(path), bytes.clone())).collect();
        let (whole, site) = (Site::read(&all), Site::read(&Narrowed(narrowed, root)));
        assert_eq!(site.generator(), Generator::Jekyll, "{root}");
        let inside = |file: &str| file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
        let mut pages = 0;
        for (file, inside) in all.keys().filter_map(|file| Some((file, inside(file)?))) {
            assert_eq!(site.address(&inside), whole.address(file), "{file} in {root}");
            pages += usize::from(whole.address(file).is_some());
        }
        assert!(pages > 0, "{root}");
        let here = site.files().find(|file| site.address(file).is_some()).expect("a page").to_owned();
        assert_eq!(
            site.resolve(&here, "/b/guide/page.html"),
            match inside("guide/page.md") {
                Some(file) if root != "guide/deep" => page(&file, None),
                _ => Target::NotUnderstood,
            }
        );
        assert_eq!(site.resolve(&here, "/b/gone.html"), missing("gone.html"), "{root}");
        assert_eq!(site.resolve(&here, "{{ '/who' | relative_url }}"), Target::Asset { file: named("about.html") });
    }
}

#[test]
fn other_tools_have_a_configuration_of_that_name() {
    let with = |config: &str, more: &[(&str, &str)]| {
        let files = [("_config.yml", config), ("index.md", ""), ("docs/a.md", "")];
        let files = files.iter().chain(more);
        let tree: BTreeMap<_, _> = files.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        Site::read(&tree).generator()
    };
    assert_eq!(with("title: x\n", &[]), Generator::Jekyll);
    assert_eq!(with("title: x\n", &[("_toc.yml", "format: jb-book\n")]), Generator::Plain);
    assert_eq!(with("source_dir: source\n", &[]), Generator::Plain);
    assert_eq!(with("theme: x\n", &[("mkdocs.yml", "site_name: x\n")]), Generator::MkDocs);
    assert_eq!(
        with("theme: x\n", &[("website/docusaurus.config.js", "module.exports = {};"), ("website/docs/a.md", "")]),
        Generator::Docusaurus
    );
}

#[test]
fn a_configuration_that_cannot_be_read_is_said_to_be_so() {
    let site = Site::read(&tree("x: [\n", &[]));
    assert_eq!(site.generator(), Generator::Jekyll);
    assert_eq!(site.layout().problems().len(), 1);
}

#[test]
fn links_to_a_page_that_is_being_moved_are_written() {
    let site = site("permalink: pretty\n");
    let to = "_docs/moved/c.md";
    for (like, expected) in [
        ("/b/docs/a/", "/b/docs/moved/c/"),
        ("/b/docs/a", "/b/docs/moved/c"),
        ("../docs/a/#x", "../../docs/moved/c/#x"),
        ("{% link _docs/a.md %}#x", "{% link _docs/moved/c.md %}#x"),
        ("{{ '/docs/a/' | relative_url }}#x", "{{ '/docs/moved/c/' | relative_url }}#x"),
        ("{{ site.baseurl }}/docs/a", "{{ site.baseurl }}/docs/moved/c"),
        ("", "/b/docs/moved/c/"),
    ] {
        let wanted = LinkRequest { from: "guide/page.md", to, anchor: None, like, syntax: LinkSyntax::Markdown };
        assert_eq!(site.link(&wanted), expected, "{like}");
    }
}

proptest! {
    #[test]
    fn written_links_lead_to_their_page(
        style in prop::sample::select(vec!["date", "pretty", "none", "/:categories/:title"]),
        gemfile in prop::sample::select(vec![None, Some(GEMFILE)]),
        base in prop::sample::select(vec!["/b", "", "/b/c/"]),
        from in 0..32_usize, to in 0..32_usize,
        like in prop::sample::select(vec![
            "", "x", "x/", "/x/", "/x", "./x", "../x/", "x.md", "/x.md", "x.html", "/b/x.html", "{% link x.md %}", "{% post_url x %}",
            "{{ site.baseurl }}{% link x %}#a", "{{ '/x/' | relative_url }}", "{{ \"x\" | absolute_url }}", "{{ '/x.html#a' | relative_url }}",
            "{{ site.baseurl }}/x/", "{{ site.url }}/x", "{{ page.url }}",
        ]),
        anchor in prop::sample::select(vec![None, Some("y")]),
    ) {
        let config = format!("permalink: {style}\n");
        let mut files = tree(&config, &[]);
        let text = String::from_utf8_lossy(&files["_config.yml"]).replace("baseurl: /b", &format!("baseurl: {base}"));
        files.insert("_config.yml".into(), text.into_bytes());
        files.extend(gemfile.map(|text| ("Gemfile".to_owned(), text.as_bytes().to_vec())));
        let site = Site::read(&files);
        let pages: Vec<String> = site.served().into_values().map(str::to_owned).collect();
        let (from, to) = (&pages[from % pages.len()], &pages[to % pages.len()]);
        let spelled = site.link(&LinkRequest { from, to, anchor, like, syntax: LinkSyntax::Markdown });
        match site.resolve(from, &spelled) {
            Target::Page { file, anchor: found } => {
                prop_assert_eq!(&file, to, "{} in {}", spelled, from);
                prop_assert!(anchor.is_none() || found.as_deref() == anchor, "{}", spelled);
            }
            other => prop_assert!(false, "{} in {} leads to {:?}", spelled, from, other),
        }
    }

    #[test]
    fn any_target_is_read_without_a_panic(from in "\\PC{0,12}", target in "[{}%|'\" a-z./#:]{0,32}") {
        let site = site("");
        site.resolve(&from, &target);
        site.link(&LinkRequest { from: "index.md", to: "_docs/a.md", anchor: None, like: &target, syntax: LinkSyntax::Markdown });
    }
}
