use crate::layout::{Generator, Layout};
use crate::sample::{assert_places, site};

#[test]
fn docs_json_names_groups_versions_and_languages() {
    let tree = site(&[
        (
            "docs.json",
            r#"{"navigation": {"languages": [{"language": "en", "tabs": [{"tab": "T", "groups": [{"group": "G", "pages": ["b", "a"]}]}]}]}, "redirects": [{"source": "/x", "destination": "/a"}]}"#,
        ),
        ("a.mdx", ""),
        ("b.mdx", ""),
        ("c.mdx", ""),
    ]);
    let layout = Layout::read(&tree);
    assert_eq!(layout.generator(), Generator::Mintlify);
    assert_eq!([("a.mdx"), ("b.mdx"), ("c.mdx")].map(|file| layout.place(file).order), [Some(1), Some(0), None]);
    assert_eq!(layout.place("a.mdx").language.as_deref(), Some("en"));
    assert_places(&tree, &[("a.mdx", "a", "T/G", None), ("c.mdx", "c", "", None)]);
    assert_eq!(layout.redirects().collect::<Vec<_>>(), [("/x", "/a")]);
}

#[test]
fn docs_json_hides_what_it_does_not_name() {
    let pages = ["a.mdx", "b.mdx", "c.mdx", "d.mdx", "e.mdx", "x/index.mdx"];
    let shown = |seo: &str| {
        let groups = r#"[{"group": "A", "root": "b", "pages": ["/a", "x/index"]}, {"group": "C", "hidden": true, "pages": ["c"]},
            {"group": "D", "hidden": true, "searchable": true, "pages": ["d"]}]"#;
        let configuration = format!("{{{seo} \"navigation\": {{\"groups\": {groups}}}}}");
        let mut files = vec![("docs.json", configuration.as_str())];
        files.extend(pages.iter().map(|page| (*page, "")));
        let layout = Layout::read(&site(&files));
        pages.map(|page| layout.place(page).listed)
    };
    assert_eq!(shown(""), [true, true, false, true, false, true]);
    assert_eq!(shown(r#""seo": {"indexing": "navigable"},"#), [true, true, false, true, false, true]);
    assert_eq!(shown(r#""seo": {"indexing": "all"},"#), [true; 6]);
}
