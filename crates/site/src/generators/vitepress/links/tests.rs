use proptest::prelude::*;

use super::*;
use crate::sample::{Files, asset, missing, page, site};

const CONFIG: &str = "
export default {
  base: '/odd/',
  srcDir: './src',
  srcExclude: ['**/README.md', 'fr/drafts/**'],
  rewrites: { 'packages/:name/docs/:page': 'packages/:name/:page', 'en-only.md': 'guide/english.md' },
  locales: { root: { lang: 'en' }, fr: { lang: 'fr' } },
}
";

/// A site configured in the folder `home` of the docs root.
fn odd(home: &str, more: &str) -> Files {
    let config = CONFIG.replace("base:", &format!("{more} base:"));
    let mut files = site(&[
        (".vitepress/config.mjs", config.as_str()),
        ("src/index.md", ""),
        ("src/README.md", ""),
        ("src/both.md", ""),
        ("src/both/index.md", ""),
        ("src/en-only.md", ""),
        ("src/guide/index.md", ""),
        ("src/guide/start.md", ""),
        ("src/guide/config.js.md", ""),
        ("src/guide/a picture.png", ""),
        ("src/guide/50% more? #1.md", ""),
        ("src/packages/core/docs/usage.md", ""),
        ("src/items/[name].md", ""),
        ("src/fr/index.md", ""),
        ("src/fr/drafts/plan.md", ""),
        ("src/public/logo.svg", ""),
        ("src/public/old.html", ""),
    ]);
    if !home.is_empty() {
        files = files.into_iter().map(|(path, bytes)| (format!("{home}/{path}"), bytes)).collect();
    }
    files
}

#[test]
fn links_lead_where_the_built_pages_lead() {
    let site = Site::read(&odd("", ""));
    for (from, target, expected) in [
        ("src/index.md", "./guide/start.md", page("src/guide/start.md")),
        ("src/index.md", "./guide/start.html", page("src/guide/start.md")),
        ("src/index.md", "guide/start", page("src/guide/start.md")),
        ("src/index.md", "/guide/start?a=b", page("src/guide/start.md")),
        ("src/index.md", "/guide/", page("src/guide/index.md")),
        ("src/index.md", "/guide/index", page("src/guide/index.md")),
        // Without the trailing slash, the build fails as for any dead link.
        ("src/index.md", "/guide", missing("guide")),
        ("src/index.md", "/guide/start/", missing("guide/start")),
        ("src/index.md", "/odd/guide/start", page("src/guide/start.md")),
        ("src/index.md", "/odd/", page("src/index.md")),
        ("src/index.md", "/packages/core/usage", page("src/packages/core/docs/usage.md")),
        ("src/index.md", "/packages/core/docs/usage", missing("packages/core/docs/usage")),
        ("src/index.md", "guide/english.md", page("src/en-only.md")),
        ("src/index.md", "./en-only.md", missing("en-only")),
        ("src/index.md", "/both", page("src/both.md")),
        ("src/index.md", "/both/", page("src/both/index.md")),
        ("src/index.md", "/items/first", Target::NotUnderstood),
        ("src/index.md", "/items/first/more", missing("items/first/more")),
        ("src/index.md", "/README.md", missing("README")),
        ("src/index.md", "../up.md", Target::Missing { path: None, anchor: None }),
        ("src/index.md", "/Guide/start", missing("Guide/start")),
        ("src/index.md", "/guide/config.js", Target::NotUnderstood),
        ("src/index.md", "/guide/config.js.md", page("src/guide/config.js.md")),
        ("src/index.md", "/logo.svg", asset("src/public/logo.svg")),
        ("src/index.md", "/odd/logo.svg", asset("src/public/logo.svg")),
        ("src/index.md", "/old", asset("src/public/old.html")),
        ("src/index.md", "/none.svg", missing("none.svg")),
        ("src/index.md", "/sitemap.xml", Target::NotUnderstood),
        ("src/guide/start.md", "./a%20picture.png", asset("src/guide/a picture.png")),
        ("src/guide/start.md", "english", page("src/en-only.md")),
        ("src/guide/start.md", "./", page("src/guide/index.md")),
        ("src/both.md", "./both/", page("src/both/index.md")),
        ("src/both/index.md", "../both", page("src/both.md")),
        // Relative links start from the rewritten path of the page.
        ("src/en-only.md", "./start.md", page("src/guide/start.md")),
        ("src/packages/core/docs/usage.md", "../../guide/", page("src/guide/index.md")),
        ("src/fr/drafts/plan.md", "../index.md", Target::NotUnderstood),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
    assert_eq!(site.layout().place("src/fr/index.md").language.as_deref(), Some("fr"));
    assert_eq!(site.layout().place("src/guide/start.md").language.as_deref(), Some("en"));
    assert_eq!(site.address("src/fr/drafts/plan.md"), None);
}

#[test]
fn a_site_that_ignores_dead_links_finds_folders_without_their_slash() {
    let site = Site::read(&odd("", "ignoreDeadLinks: true,"));
    assert_eq!(site.resolve("src/index.md", "/guide"), page("src/guide/index.md"));
    assert_eq!(site.resolve("src/index.md", "/guide/start/"), page("src/guide/start.md"));
    assert_eq!(site.resolve("src/index.md", "/nowhere"), missing("nowhere"));
}

#[test]
fn computed_rewrites_are_not_understood() {
    let tree = odd("", "");
    let computed = String::from_utf8_lossy(&tree[".vitepress/config.mjs"]).into_owned();
    let (start, end) = (computed.find("rewrites").expect("an option"), computed.find("  locales").expect("an option"));
    let computed = format!("{}rewrites: (id) => id.slice(1),{}", &computed[..start], &computed[end..]);
    let mut tree = tree;
    tree.insert(".vitepress/config.mjs".to_owned(), computed.into_bytes());
    let site = Site::read(&tree);
    assert_eq!(site.resolve("src/index.md", "./guide/start.md"), Target::NotUnderstood);
    assert_eq!(
        site.resolve("src/index.md", "#a"),
        Target::Page { file: "src/index.md".into(), anchor: Some("a".into()) }
    );
    assert_eq!(site.layout().problems().len(), 1);
}

#[test]
fn shared_configurations_are_read() {
    let shared = "export const shared = defineConfig({ base: '/b/', markdown: { anchor: { slugify } } })";
    let tree = site(&[
        (
            ".vitepress/config.ts",
            "import { shared } from './config/shared'\nexport default defineConfig({ ...shared, lang: 'en' })",
        ),
        (".vitepress/config/shared.ts", shared),
        ("index.md", ""),
        ("a.md", ""),
    ]);
    let site = Site::read(&tree);
    assert_eq!(site.resolve("index.md", "/b/a"), page("a.md"));
    assert!(!site.layout().knows_anchors(), "a program of the site's own makes them");
    let unknown = crate::sample::site(&[(".vitepress/config.ts", "export default { ...more }"), ("index.md", "")]);
    assert_eq!(Site::read(&unknown).resolve("index.md", "/b/a"), Target::NotUnderstood);
}

#[test]
fn links_are_written_in_the_style_of_others() {
    let site = Site::read(&odd("", ""));
    for (from, to, like, expected) in [
        ("src/index.md", "src/guide/start.md", "", "guide/start.md"),
        ("src/index.md", "src/guide/start.md", "/a", "/guide/start"),
        ("src/index.md", "src/guide/start.md", "/odd/a", "/odd/guide/start"),
        ("src/index.md", "src/guide/index.md", "./a", "./guide/"),
        ("src/index.md", "src/guide/index.md", "a.md", "guide/index.md"),
        ("src/guide/start.md", "src/index.md", "a#b", "../#b"),
        ("src/guide/start.md", "src/en-only.md", "a.html", "english.html"),
        ("src/en-only.md", "src/both.md", "a/", "../both"),
        ("src/index.md", "src/guide/config.js.md", "a", "guide/config.js.md"),
        ("src/guide/start.md", "src/public/logo.svg", "a.png", "/logo.svg"),
        ("src/both.md", "src/guide/a picture.png", "b.png", "guide/a%20picture.png"),
    ] {
        assert_eq!(
            site.link(&LinkRequest { from, to, anchor: None, like, syntax: LinkSyntax::Markdown }),
            expected,
            "{to} from {from}, like {like}"
        );
    }
}

proptest! {
    #[test]
    fn a_written_link_leads_back(
        from in prop::sample::select(vec![
            "src/index.md", "src/both.md", "src/both/index.md", "src/en-only.md", "src/packages/core/docs/usage.md",
            "src/fr/index.md", "src/guide/start.md",
        ]),
        to in prop::sample::select(vec![
            "src/index.md", "src/both.md", "src/both/index.md", "src/en-only.md", "src/packages/core/docs/usage.md",
            "src/fr/index.md", "src/guide/index.md", "src/guide/config.js.md", "src/guide/50% more? #1.md",
            "src/public/logo.svg", "src/guide/a picture.png",
        ]),
        like in prop::sample::select(vec![
            "", "/x", "x", "./x", "../x", "x/", "/x/", "x.md", "./x.md", "/x.md", "x.html", "/x.html", "/odd/x", "/odd",
            "./", "/", "x?a=b#c", "#c", "x.png",
        ]),
        anchor in prop::sample::select(vec![None, Some("a-é")]),
        home in prop::sample::select(vec!["", "docs"]),
    ) {
        let site = Site::read(&odd(home, ""));
        let at = |path: &str| below(home, path);
        let (from, to) = (at(from), at(to));
        let written = site.link(&LinkRequest { from: &from, to: &to, anchor, like, syntax: LinkSyntax::Markdown });
        match site.resolve(&from, &written) {
            Target::Page { file, anchor: found } => {
                prop_assert_eq!(&file, &to, "{}", written);
                prop_assert!(anchor.is_none() || found.as_deref() == Some("a-é"), "{}", written);
            }
            Target::Asset { file } => prop_assert_eq!(&file, &to, "{}", written),
            other => prop_assert!(false, "{} is {:?}", written, other),
        }
    }
}

#[test]
fn vitepress_2_makes_the_anchor_of_a_link_as_that_of_a_heading() {
    let mut tree = odd("", "");
    let first = Site::read(&tree).resolve("src/guide/start.md", "#What's");
    assert_eq!(first, Target::Page { file: "src/guide/start.md".into(), anchor: Some("What's".into()) });
    tree.insert("package.json".to_owned(), br#"{"devDependencies": {"vitepress": "^2.0.0-alpha.12"}}"#.to_vec());
    let site = Site::read(&tree);
    let anchor = |target: &str, syntax| match site.resolve_in("src/guide/start.md", target, syntax) {
        Target::Page { anchor, .. } => anchor.unwrap_or_default(),
        other => panic!("{target}: {other:?}"),
    };
    assert_eq!(anchor("./index.md#descri\u{e7}\u{e3}o", LinkSyntax::Markdown), "descricao");
    assert_eq!(anchor("#What's%20New", LinkSyntax::Markdown), "what-s-new");
    assert_eq!(anchor("#_1-first", LinkSyntax::Markdown), "_1-first");
    assert_eq!(anchor("#\u{30d9}", LinkSyntax::Markdown), "\u{30d8}\u{3099}");
    assert_eq!(anchor("#What's", LinkSyntax::Html), "What's");
    let own = Site::read(&odd("", "markdown: { anchor: { slugify } },"));
    let target = own.resolve_in("src/guide/start.md", "#Some-Words", LinkSyntax::Markdown);
    let Target::Page { anchor, .. } = target else { panic!("{target:?}") };
    assert_eq!(anchor.as_deref(), Some("Some-Words"), "what a program of the site's own makes of it is not known");
}
