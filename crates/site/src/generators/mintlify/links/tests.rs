use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::layout::Generator;
use crate::link_target::LinkSyntax;
use crate::sample::site as tree;
use crate::tree::Tree;

fn sample() -> BTreeMap<String, Vec<u8>> {
    tree(&[
        (
            "docs.json",
            r#"{"$schema": "https://mintlify.com/docs.json",
                "navigation": {"languages": [{"language": "en", "$ref": "./navigation/en.json"}]},
                "redirects": {"$ref": "redirects.json"}}"#,
        ),
        ("navigation/en.json", r#"{"tabs": [{"tab": "Guides", "groups": [{"$ref": "group.json", "icon": "x"}]}]}"#),
        (
            "navigation/group.json",
            r#"{"group": "Start", "pages": ["index", "guides/index", "guides/a", {"group": "API", "openapi": {"source": "openapi.json", "directory": "rest"}}]}"#,
        ),
        (
            "redirects.json",
            r#"[{"source": "/old", "destination": "/guides/a"}, {"source": "/gone", "destination": "/nowhere"},
                {"source": "/v1/:slug*", "destination": "/guides/:slug*"}]"#,
        ),
        ("openapi.json", "{}"),
        ("index.mdx", "---\nslug: other\n---\n"),
        ("guides/index.mdx", ""),
        ("guides/a.mdx", ""),
        ("guides/v1.2.md", ""),
        ("guides.with/x y.mdx", ""),
        ("both.mdx", ""),
        ("both/index.mdx", ""),
        ("README.md", ""),
        ("drafts/d.mdx", ""),
        (".mintignore", "drafts/\n"),
        ("images/a.png", ""),
        ("snippets/s.mdx", ""),
    ])
}

fn page(file: &str) -> Target {
    Target::Page { file: file.into(), anchor: None }
}

#[test]
fn links_are_read_as_mint_does() {
    let site = Site::read(&sample());
    assert_eq!(site.generator(), Generator::Mintlify);
    let missing = |path: &str| Target::Missing { path: Some(path.into()), anchor: None };
    for (from, target, expected) in [
        ("guides/a.mdx", "/guides/a", page("guides/a.mdx")),
        ("guides/a.mdx", "guides/index", page("guides/index.mdx")),
        ("guides/a.mdx", "/guides/", page("guides/index.mdx")),
        ("guides/a.mdx", "/guides/a.md", page("guides/a.mdx")),
        ("guides/a.mdx", "/guides/a.html", Target::NotUnderstood),
        ("guides/a.mdx", "./index", page("guides/index.mdx")),
        ("guides/a.mdx", "../index.mdx", page("index.mdx")),
        ("guides/a.mdx", "/", page("index.mdx")),
        ("guides/a.mdx", "/guides/v1.2", page("guides/v1.2.md")),
        ("guides/a.mdx", "/guides.with/x%20y", page("guides.with/x y.mdx")),
        // Without a leading dot, a path is relative to the folder of the configuration.
        ("guides/a.mdx", "a", missing("a")),
        ("guides/a.mdx", "../../x", Target::Missing { path: None, anchor: None }),
        ("guides/a.mdx", "/both", page("both.mdx")),
        ("guides/a.mdx", "/guides.with", Target::NotUnderstood),
        ("guides/a.mdx", "/images/a.png", Target::Asset { file: "images/a.png".into() }),
        ("guides/a.mdx", "/images/a", Target::NotUnderstood),
        ("guides/a.mdx", "/README", missing("README")),
        ("guides/a.mdx", "/drafts/d", missing("drafts/d")),
        ("guides/a.mdx", "/snippets/s", missing("snippets/s")),
        ("guides/a.mdx", "/guides/v1", missing("guides/v1")),
        ("guides/a.mdx", "/other", missing("other")),
        ("guides/a.mdx", "/old", Target::Redirect { destination: "/guides/a".into() }),
        ("guides/a.mdx", "/gone", missing("gone")),
        ("guides/a.mdx", "/v1/a", Target::Redirect { destination: "/guides/:slug*".into() }),
        ("guides/a.mdx", "/api-reference/users/list", Target::NotUnderstood),
        ("guides/a.mdx", "/rest/list-users", Target::NotUnderstood),
        ("snippets/s.mdx", "./nowhere", Target::NotUnderstood),
        (
            "index.mdx",
            // `mint` finds `whats-new` with it, a browser does not.
            "/guides/a#what's-%F0%9F%9A%80new",
            Target::Page { file: "guides/a.mdx".into(), anchor: Some("what's-🚀new".into()) },
        ),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn the_navigation_is_read_through_its_references() {
    let layout = Site::read(&sample()).layout().clone();
    assert_eq!(layout.skipped("snippets/s.mdx"), Some(crate::SkipReason::Partial));
    let place = layout.place("guides/a.mdx");
    assert_eq!(
        (place.site_path.as_str(), place.groups.as_slice()),
        ("guides/a", &["Guides".into(), "Start".into()][..])
    );
    assert_eq!((place.language.as_deref(), place.order, place.listed), (Some("en"), Some(2), true));
    assert_eq!(layout.place("guides/index.mdx").order, Some(1));
    assert!(!layout.place("both.mdx").listed);
    assert_eq!(layout.problems(), []);
    let circle =
        tree(&[("docs.json", r#"{"navigation": {"$ref": "a.json"}}"#), ("a.json", r#"{"$ref": "docs.json"}"#)]);
    assert_eq!(Site::read(&circle).layout().problems().len(), 1);
}

#[test]
fn a_site_is_found_below_the_root_and_above_it() {
    let below: BTreeMap<String, Vec<u8>> =
        sample().into_iter().map(|(path, bytes)| (format!("docs/{path}"), bytes)).collect();
    let site = Site::read(&below);
    assert_eq!(site.generator(), Generator::Mintlify);
    assert_eq!(site.address("docs/guides/a.mdx"), Some("guides/a"));
    assert_eq!(site.resolve("docs/guides/a.mdx", "/guides/"), page("docs/guides/index.mdx"));
    assert_eq!(
        site.resolve("docs/guides/a.mdx", "../nowhere"),
        Target::Missing { path: Some("docs/nowhere".into()), anchor: None }
    );
    let wanted = LinkRequest {
        from: "docs/index.mdx",
        to: "docs/guides/a.mdx",
        anchor: None,
        like: "",
        syntax: LinkSyntax::Markdown,
    };
    assert_eq!(site.link(&wanted), "/guides/a");

    struct Narrowed(BTreeMap<String, Vec<u8>>);
    impl Tree for Narrowed {
        fn paths(&self) -> Vec<String> {
            self.0.keys().filter(|path| !path.starts_with("../")).cloned().collect()
        }
        fn read(&self, path: &str) -> Option<Vec<u8>> {
            self.0.get(path).cloned()
        }
        fn root(&self) -> &str {
            "docs/guides"
        }
        fn paths_outside(&self) -> Vec<String> {
            self.0.keys().filter(|path| path.starts_with("../")).cloned().collect()
        }
    }
    let narrowed = below.iter().map(|(path, bytes)| (crate::from_root("docs/guides", path), bytes.clone())).collect();
    let site = Site::read(&Narrowed(narrowed));
    assert_eq!(site.address("a.mdx"), Some("guides/a"));
    assert_eq!(site.resolve("a.mdx", "/guides/"), page("index.mdx"));
    assert_eq!(site.resolve("a.mdx", "./v1.2"), page("v1.2.md"));
    assert_eq!(site.resolve("a.mdx", "../both"), Target::Asset { file: "../both.mdx".into() });
    assert_eq!(site.resolve("a.mdx", "/nowhere"), Target::Missing { path: Some("../nowhere".into()), anchor: None });
    let wanted =
        LinkRequest { from: "index.mdx", to: "a.mdx", anchor: Some("x"), like: "/b", syntax: LinkSyntax::Markdown };
    assert_eq!(site.link(&wanted), "/guides/a#x");
}

proptest! {
    #[test]
    fn written_links_lead_to_their_page(
        from in prop::sample::select(vec!["index.mdx", "guides/a.mdx", "guides/index.mdx", "both/index.mdx", "guides.with/x y.mdx"]),
        to in prop::sample::select(vec![
            "index.mdx", "guides/a.mdx", "guides/index.mdx", "guides/v1.2.md", "guides.with/x y.mdx", "both.mdx", "both/index.mdx",
        ]),
        like in prop::sample::select(vec!["", "/x", "x", "./x", "../x", "/x.mdx", "x.md", "./x.mdx", "/x/", "./x/", "/x?q=1#y", "#y"]),
        anchor in prop::option::of(Just("z")),
    ) {
        let site = Site::read(&sample());
        let link = site.link(&LinkRequest { from, to, anchor, like, syntax: LinkSyntax::Markdown });
        let Target::Page { file, anchor: found } = site.resolve(from, &link) else {
            return Err(TestCaseError::fail(format!("{link} in {from} leads to {:?}", site.resolve(from, &link))));
        };
        prop_assert_eq!(file, to, "{}", &link);
        prop_assert_eq!(found.as_deref(), anchor.or(like.split_once('#').map(|(_, anchor)| anchor)), "{}", &link);
    }
}
