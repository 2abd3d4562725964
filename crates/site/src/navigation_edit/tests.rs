use proptest::prelude::*;

use super::*;
use crate::sample::{Files, site as tree};

/// The tree after the edits, and with a page moved if `moved` is given.
fn after(tree: &Files, edits: &NavigationEdits, moved: Option<(&str, &str)>) -> Files {
    let mut files = tree.clone();
    for (file, edits) in &edits.files {
        let mut text = String::from_utf8(files[file].clone()).expect("text");
        for (range, new) in edits.iter().rev() {
            text.replace_range(range.clone(), new);
        }
        files.insert(file.clone(), text.into_bytes());
    }
    if let Some((from, to)) = moved {
        let bytes = files.remove(from).expect("a page");
        files.insert(to.to_owned(), bytes);
    }
    files
}

fn renamed(tree: &Files, from: &str, to: &str) -> Files {
    let site = Site::read(tree);
    let files = NavigationFiles::of(tree, &site);
    after(tree, &files.rename(from, to), Some((from, to)))
}

fn text(tree: &Files, file: &str) -> String {
    String::from_utf8(tree[file].clone()).expect("text")
}

/// A site of each kind: its files, its navigation file, and the path of the page `a`.
fn sites() -> Vec<(Files, &'static str, &'static str)> {
    vec![
        (
            tree(&[
                ("docs.json", "{\n  \"navigation\": { \"$ref\": \"./nav/en.json\" }\n}\n"),
                (
                    "nav/en.json",
                    "{ \"groups\": [\n  { \"group\": \"G\", \"pages\": [\"index\",\n    \"guides/a\", \"guides/b\"] }\n] }\n",
                ),
                ("index.mdx", ""),
                ("guides/a.mdx", ""),
                ("guides/b.mdx", ""),
            ]),
            "nav/en.json",
            "guides/a.mdx",
        ),
        (
            tree(&[
                (
                    "mkdocs.yml",
                    "site_name: X # note\nnav:\n  - Home: index.md\n  # guides\n  - Guides:\n      - 'First': guides/a.md # keep\n      - guides/b.md\n  - Else: https://x.y\ntheme: {name: a}\n",
                ),
                ("docs/index.md", ""),
                ("docs/guides/a.md", ""),
                ("docs/guides/b.md", ""),
            ]),
            "mkdocs.yml",
            "docs/guides/a.md",
        ),
        (
            tree(&[
                (
                    "SUMMARY.md",
                    "# Summary\n\n[Start](index.md)\n\n* [A](guides/a.md)\n* [B](guides/b.md)\n  * [C](guides/c.md)\n",
                ),
                ("index.md", ""),
                ("guides/a.md", ""),
                ("guides/b.md", ""),
                ("guides/c.md", ""),
            ]),
            "SUMMARY.md",
            "guides/a.md",
        ),
        (
            tree(&[
                (
                    "toc.yml",
                    "# contents\n- name: Start\n  href: index.md\n- name: Guides\n  items:\n  - name: A\n    href: guides/a.md\n  - name: B\n    href: guides/b.md\n",
                ),
                ("index.md", ""),
                ("guides/a.md", ""),
                ("guides/b.md", ""),
            ]),
            "toc.yml",
            "guides/a.md",
        ),
        (
            tree(&[
                (
                    "guides/meta.json",
                    "{\n  \"title\": \"Guides\",\n  \"pages\": [\n    \"a\",\n    \"b\",\n    \"...\"\n  ]\n}\n",
                ),
                ("guides/a.mdx", ""),
                ("guides/b.mdx", ""),
            ]),
            "guides/meta.json",
            "guides/a.mdx",
        ),
        (
            tree(&[
                ("guides/_meta.json", "{\n  \"a\": \"First\",\n  \"b\": \"Second\"\n}\n"),
                ("guides/a.mdx", ""),
                ("guides/b.mdx", ""),
            ]),
            "guides/_meta.json",
            "guides/a.mdx",
        ),
    ]
}

fn moved_to(from: &str) -> String {
    from.replace("/a.", "/first.")
}

#[test]
fn a_page_is_named_anew_and_nothing_else_changes() {
    for (before, holder, from) in sites() {
        let to = moved_to(from);
        let now = renamed(&before, from, &to);
        let (text_before, text_now) = (text(&before, holder), text(&now, holder));
        assert_ne!(text_before, text_now, "{holder}");
        let site = Site::read(&now);
        assert_eq!(NavigationFiles::of(&now, &site).places(&to).len(), 1, "{holder}: {text_now}");
        assert!(NavigationFiles::of(&now, &site).places(from).is_empty(), "{holder}");
    }
}

#[test]
fn a_page_is_taken_out() {
    let expected = [
        "{ \"groups\": [\n  { \"group\": \"G\", \"pages\": [\"index\",\n    \"guides/b\"] }\n] }\n",
        "site_name: X # note\nnav:\n  - Home: index.md\n  # guides\n  - Guides:\n      - guides/b.md\n  - Else: https://x.y\ntheme: {name: a}\n",
        "# Summary\n\n[Start](index.md)\n\n* [B](guides/b.md)\n  * [C](guides/c.md)\n",
        "# contents\n- name: Start\n  href: index.md\n- name: Guides\n  items:\n  - name: B\n    href: guides/b.md\n",
        "{\n  \"title\": \"Guides\",\n  \"pages\": [\n    \"b\",\n    \"...\"\n  ]\n}\n",
        "{\n  \"b\": \"Second\"\n}\n",
    ];
    for ((before, holder, file), expected) in sites().into_iter().zip(expected) {
        let site = Site::read(&before);
        let removed = NavigationFiles::of(&before, &site).remove(file);
        assert_eq!(text(&after(&before, &removed, None), holder), expected, "{holder}");
        assert_eq!(removed.manual_steps, Vec::<String>::new());
    }
}

#[test]
fn a_page_is_added_behind_its_siblings() {
    let added = [
        ("\"guides/b\"", "\"guides/b\", \"guides/z\""),
        ("      - guides/b.md\n", "      - guides/b.md\n      - guides/z.md\n"),
        ("  * [C](guides/c.md)\n", "  * [C](guides/c.md)\n  * [Last: one](guides/z.md)\n"),
        ("    href: guides/b.md\n", "    href: guides/b.md\n  - name: \"Last: one\"\n    href: guides/z.md\n"),
        ("    \"b\",\n", "    \"b\",\n    \"z\",\n"),
        ("  \"b\": \"Second\"\n", "  \"b\": \"Second\",\n  \"z\": \"Last: one\"\n"),
    ];
    for ((before, holder, file), (old, new)) in sites().into_iter().zip(added) {
        let site = Site::read(&before);
        let edits = NavigationFiles::of(&before, &site).add(&file.replace("/a.", "/z."), "Last: one");
        assert_eq!(text(&after(&before, &edits, None), holder), text(&before, holder).replace(old, new), "{holder}");
    }
}

#[test]
fn removals_that_empty_a_section_are_left_to_a_person() {
    let before = tree(&[
        ("mkdocs.yml", "nav:\n  - Home: index.md\n  - Guides:\n      - guides/a.md\n  - More: x.md\n"),
        ("docs/index.md", ""),
        ("docs/guides/a.md", ""),
        ("docs/x.md", ""),
    ]);
    let site = Site::read(&before);
    let removed = NavigationFiles::of(&before, &site).remove("docs/guides/a.md");
    assert_eq!((removed.is_empty(), removed.manual_steps), (true, vec!["mkdocs.yml:4 still names it".to_owned()]));
}

#[test]
fn the_nav_of_zensical_is_edited_as_that_of_mkdocs() {
    let nav = "[project]\nsite_name = \"x\"\nnav = [\n  \"index.md\",\n  { \"First\" = \"guides/a.md\" },\n  { G = [\"guides/b.md\"] },\n]\n";
    let before = tree(&[
        ("zensical.toml", nav),
        ("docs/index.md", ""),
        ("docs/guides/a.md", ""),
        ("docs/guides/b.md", ""),
        ("docs/guides/c.md", ""),
    ]);
    let site = Site::read(&before);
    assert_eq!(site.address("docs/guides/a.md"), Some("guides/a"));
    let moved = renamed(&before, "docs/guides/b.md", "docs/deep/b.md");
    assert_eq!(text(&moved, "zensical.toml"), nav.replace("guides/b.md", "deep/b.md"));
    let files = NavigationFiles::of(&before, &site);
    let removed = files.remove("docs/guides/a.md");
    let without = nav.replace("  { \"First\" = \"guides/a.md\" },\n", "");
    assert_eq!(text(&after(&before, &removed, None), "zensical.toml"), without);
    let added = text(&after(&before, &files.add("docs/guides/c.md", "C"), None), "zensical.toml");
    assert!(added.contains("\"guides/c.md\"") && added.parse::<toml::Table>().is_ok(), "{added}");
}

#[test]
fn fields_of_docusaurus_that_name_a_page_by_id_follow() {
    let before = tree(&[
        ("docusaurus.config.js", "module.exports = {}\n"),
        ("docs/a.md", "# A\n"),
        ("docs/index.md", "---\npagination_next: a # next\npagination_prev: other\n---\npagination_next: a\n"),
        ("docs/g/_category_.json", "{\"label\": \"a\", \"link\": {\"type\": \"doc\", \"id\": \"a\"}}\n"),
        ("docs/h/_category_.yml", "label: a\nlink:\n  type: doc\n  id: a\n"),
    ]);
    let now = renamed(&before, "docs/a.md", "docs/g/b.md");
    assert_eq!(
        text(&now, "docs/index.md"),
        "---\npagination_next: g/b # next\npagination_prev: other\n---\npagination_next: a\n"
    );
    assert_eq!(
        text(&now, "docs/g/_category_.json"),
        "{\"label\": \"a\", \"link\": {\"type\": \"doc\", \"id\": \"g/b\"}}\n"
    );
    assert_eq!(text(&now, "docs/h/_category_.yml"), "label: a\nlink:\n  type: doc\n  id: g/b\n");
}

#[test]
fn a_sidebar_in_a_script_is_edited_where_it_is_plain() {
    let script = "export default {\n  themeConfig: { sidebar: [\n    // { text: 'Old', link: '/guides/a' },\n    { text: 'A', link: '/guides/a' },\n    { text: `T`, link: `/guides/${x}` },\n  ] },\n}\n";
    let before = tree(&[(".vitepress/config.ts", script), ("guides/a.md", ""), ("index.md", "")]);
    let now = renamed(&before, "guides/a.md", "guides/first.md");
    assert_eq!(
        text(&now, ".vitepress/config.ts"),
        script.replace("'A', link: '/guides/a'", "'A', link: '/guides/first'")
    );
    let site = Site::read(&before);
    let removed = NavigationFiles::of(&before, &site).remove("guides/a.md");
    let without = script.replace("    { text: 'A', link: '/guides/a' },\n", "");
    assert_eq!(text(&after(&before, &removed, None), ".vitepress/config.ts"), without);
    let added = NavigationFiles::of(&before, &site).add("guides/b.md", "B");
    assert!(
        text(&after(&before, &added, None), ".vitepress/config.ts")
            .contains("link: '/guides/a' },\n    { text: \"B\", link: '/guides/b' },\n")
    );
    let more = script.replace("{ text: 'A',", "{ text: 'A', icon: f(),");
    let before = tree(&[(".vitepress/config.ts", &more), ("guides/a.md", ""), ("index.md", "")]);
    let removed = NavigationFiles::of(&before, &Site::read(&before)).remove("guides/a.md");
    assert_eq!(
        (removed.is_empty(), removed.manual_steps),
        (true, vec![".vitepress/config.ts:4 still names it".to_owned()])
    );
}

#[test]
fn the_sidebar_of_vitepress_may_be_in_a_folder_of_scripts() {
    let english = "export const english = { themeConfig: { sidebar: [\n  { text: 'A', link: '/guides/a.html' },\n  { text: 'B', link: '/b' },\n] } }\n";
    let before = tree(&[
        (
            ".vitepress/config/index.ts",
            "import { english } from './en'\nexport default { locales: { root: english } }\n",
        ),
        (".vitepress/config/en.ts", english),
        ("guides/a.md", ""),
        ("b.md", ""),
        ("index.md", ""),
    ]);
    let moved = renamed(&before, "guides/a.md", "guides/deep/a.md");
    assert_eq!(text(&moved, ".vitepress/config/en.ts"), english.replace("/guides/a.html", "/guides/deep/a.html"));
    let removed = NavigationFiles::of(&before, &Site::read(&before)).remove("guides/a.md");
    assert_eq!(removed.manual_steps, Vec::<String>::new());
    let without = english.replace("  { text: 'A', link: '/guides/a.html' },\n", "");
    assert_eq!(text(&after(&before, &removed, None), ".vitepress/config/en.ts"), without);
}

#[test]
fn a_group_of_vitepress_may_have_a_base() {
    let script = "export default {\n  base: '/docs/',\n  themeConfig: { sidebar: { '/guides/': { base: '/guides/', items: [\n    { text: 'A', link: 'a' },\n    { text: 'B', link: '/b.html' },\n    { base: '/', text: 'C', link: 'c' },\n  ] } } },\n}\n";
    let before = tree(&[
        (".vitepress/config.ts", script),
        ("guides/a.md", ""),
        ("guides/b.md", ""),
        ("c.md", ""),
        ("index.md", ""),
    ]);
    for (from, to, was, is) in [
        ("guides/a.md", "guides/deep/a.md", "'a'", "'deep/a'"),
        ("guides/b.md", "guides/deep/b.md", "'/b.html'", "'/deep/b.html'"),
        ("c.md", "deep/c.md", "'c'", "'deep/c'"),
    ] {
        assert_eq!(text(&renamed(&before, from, to), ".vitepress/config.ts"), script.replace(was, is));
    }
    let files = |before| NavigationFiles::of(before, &Site::read(before)).rename("guides/a.md", "a.md").manual_steps;
    assert_eq!(files(&before), [".vitepress/config.ts:4 names it; what it is called there now is yours to write"]);
    let removed = NavigationFiles::of(&before, &Site::read(&before)).remove("guides/b.md");
    assert!(!text(&after(&before, &removed, None), ".vitepress/config.ts").contains("b.html"));
}

#[test]
fn a_page_named_twice_goes_twice() {
    let script = "module.exports = {\n  a: ['x', 'guides/a'],\n  b: [{ type: 'doc', id: 'guides/a' }, 'x'],\n  c: ['guides/a', 'guides/a', 'x'],\n};\n";
    let before = tree(&[
        ("docusaurus.config.js", "export default {\n  presets: [['classic', {}]],\n};\n"),
        ("sidebars.js", script),
        ("docs/guides/a.md", ""),
        ("docs/x.md", ""),
    ]);
    let removed = NavigationFiles::of(&before, &Site::read(&before)).remove("docs/guides/a.md");
    let now = text(&after(&before, &removed, None), "sidebars.js");
    assert_eq!(now, "module.exports = {\n  a: ['x'],\n  b: ['x'],\n  c: ['x'],\n};\n");
    assert_eq!(removed.manual_steps, Vec::<String>::new());
}

#[test]
fn an_entry_of_several_languages_follows_when_the_last_page_of_them_does() {
    let mkdocs = "plugins:\n  - i18n:\n      docs_structure: folder\n      languages:\n        - {locale: en, default: true}\n        - {locale: fr}\n  - redirects:\n      redirect_maps:\n        'old.md': 'en/index.md'\nnav:\n  - Home: index.md\n  - A: a.md\n";
    let pages = [("docs/en/index.md", ""), ("docs/en/a.md", ""), ("docs/fr/index.md", ""), ("docs/fr/a.md", "")];
    let mut before = tree(&[("mkdocs.yml", mkdocs)]);
    before.extend(tree(&pages));
    let site = Site::read(&before);
    assert_eq!(site.layout().place("docs/fr/a.md").title.as_deref(), Some("A"));
    assert_eq!(site.redirect("old"), Some("/en"), "where nothing is served");
    let files = NavigationFiles::of(&before, &site);
    let expected_step = "mkdocs.yml:12 names it in all languages; what becomes of it is yours to decide";
    for edits in [files.rename("docs/fr/a.md", "docs/fr/in/a.md"), files.remove("docs/en/a.md")] {
        assert_eq!((edits.is_empty(), edits.manual_steps), (true, vec![expected_step.to_owned()]));
    }
    let redirect = files.redirect("docs/fr/a.md", "docs/fr/in/a.md");
    assert!(text(&after(&before, &redirect, None), "mkdocs.yml").contains("        'fr/a.md': 'fr/in/a.md'\n"));
    let redirect = files.redirect("docs/en/a.md", "docs/en/in/a.md");
    assert_eq!((redirect.is_empty(), redirect.manual_steps.len()), (true, 1));
    before.remove("docs/en/a.md");
    let site = Site::read(&before);
    let renamed = NavigationFiles::of(&before, &site).rename("docs/fr/a.md", "docs/fr/in/a.md");
    assert_eq!(text(&after(&before, &renamed, None), "mkdocs.yml"), mkdocs.replace("a.md", "in/a.md"));
}

#[test]
fn each_version_and_plug_in_has_sidebars_of_its_own() {
    let config = "export default {\n  presets: [['classic', { docs: { sidebarPath: require.resolve('./sidebars') } }]],\n  plugins: [['content-docs', { id: 'api', path: 'api', routeBasePath: 'api', sidebarPath: './sidebarsApi.ts' }]],\n};\n";
    let before = tree(&[
        ("docusaurus.config.js", config),
        ("versions.json", "[\"1.0\"]"),
        ("sidebars.js", "module.exports = { docs: ['a', 'b'] };\n"),
        ("sidebarsApi.ts", "export default { api: ['a', 'b'] };\n"),
        ("versioned_sidebars/version-1.0-sidebars.json", "{ \"docs\": [\"a\", \"b\"] }\n"),
        ("docs/a.md", ""),
        ("docs/b.md", ""),
        ("api/a.md", ""),
        ("api/b.md", ""),
        ("versioned_docs/version-1.0/a.md", ""),
        ("versioned_docs/version-1.0/b.md", ""),
    ]);
    let sidebars = ["sidebars.js", "sidebarsApi.ts", "versioned_sidebars/version-1.0-sidebars.json"];
    for (folder, own) in ["docs", "api", "versioned_docs/version-1.0"].into_iter().zip(sidebars) {
        let page = format!("{folder}/a.md");
        let moved = renamed(&before, &page, &format!("{folder}/deep/a.md"));
        let removed = after(&before, &NavigationFiles::of(&before, &Site::read(&before)).remove(&page), None);
        for file in sidebars {
            let is_own = file == own;
            assert_eq!(text(&moved, file).contains("deep/a"), is_own, "{page} is moved: {file}");
            assert_eq!(text(&removed, file) == text(&before, file), !is_own, "{page} is removed: {file}");
        }
    }
}

#[test]
fn redirects_are_added_where_they_are_kept() {
    let mkdocs = "plugins:\n  - redirects:\n      redirect_maps:\n        'old.md': 'a.md#x' # why\nnav:\n  - a.md\n";
    let before = tree(&[("mkdocs.yml", mkdocs), ("docs/a.md", "")]);
    let site = Site::read(&before);
    let edits = NavigationFiles::of(&before, &site).redirect("docs/a.md", "docs/in/a.md");
    assert_eq!(
        text(&after(&before, &edits, None), "mkdocs.yml"),
        mkdocs.replace("'a.md#x' # why\n", "'in/a.md#x' # why\n        'a.md': 'in/a.md'\n")
    );
    let before = tree(&[("_redirects", "# kept\n/old /a 302\n/* /b"), ("a.md", ""), ("b.md", "")]);
    let site = Site::read(&before);
    let edits = NavigationFiles::of(&before, &site).redirect("a.md", "in/a.md");
    assert_eq!(text(&after(&before, &edits, None), "_redirects"), "# kept\n/old /in/a 302\n/* /b\n/a /in/a 302\n");
    let before = tree(&[("a.md", "")]);
    let site = Site::read(&before);
    assert!(NavigationFiles::of(&before, &site).redirect("a.md", "in/a.md").is_empty());
}

#[test]
fn a_redirect_goes_where_the_configuration_refers_to() {
    let before = tree(&[
        ("docs.json", "{\"navigation\": [\"a\"], \"redirects\": {\"$ref\": \"redirects.json\"}}"),
        ("redirects.json", "[\n  {\n    \"source\": \"/x\",\n    \"destination\": \"/a\"\n  }\n]\n"),
        ("a.mdx", ""),
    ]);
    let site = Site::read(&before);
    let edits = NavigationFiles::of(&before, &site).redirect("a.mdx", "b.mdx");
    let now = after(&before, &edits, None);
    assert_eq!(now["docs.json"], before["docs.json"]);
    assert_eq!(
        text(&now, "redirects.json"),
        "[\n  {\n    \"source\": \"/x\",\n    \"destination\": \"/b\"\n  },\n  {\n    \"source\": \"/a\",\n    \"destination\": \"/b\"\n  }\n]\n"
    );
}

/// `docs.json` after the page `a` moved to `b`.
fn redirected(json: &str) -> String {
    let before = tree(&[("docs.json", json), ("a.mdx", "")]);
    let site = Site::read(&before);
    let edits = NavigationFiles::of(&before, &site).redirect("a.mdx", "b.mdx");
    let text = text(&after(&before, &edits, None), "docs.json");
    serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|why| panic!("{why} in {text}"));
    text
}

#[test]
fn a_redirect_is_added_in_the_style_of_the_file() {
    assert_eq!(
        redirected("{\n  \"name\": \"Docs\"\n}\n"),
        "{\n  \"name\": \"Docs\",\n  \"redirects\": [\n    {\n      \"source\": \"/a\",\n      \"destination\": \"/b\"\n    }\n  ]\n}\n"
    );
    for (before, expected) in [
        (r#"{"redirects": []}"#, r#"{"redirects": [{ "source": "/a", "destination": "/b" }]}"#),
        (
            r#"{"redirects": [{"source": "/x", "destination": "/y"}]}"#,
            r#"{"redirects": [{"source": "/x", "destination": "/y"}, { "source": "/a", "destination": "/b" }]}"#,
        ),
        // Neither chains nor loops.
        (
            r#"{"redirects": [{"source": "/z", "destination": "/a#x"}, {"source": "/b", "destination": "/a"}]}"#,
            r#"{"redirects": [{"source": "/z", "destination": "/b#x"}, {"source": "/a", "destination": "/b"}]}"#,
        ),
        (
            r#"{"redirects": [{"source": "/a", "destination": "/b"}]}"#,
            r#"{"redirects": [{"source": "/a", "destination": "/b"}]}"#,
        ),
    ] {
        assert_eq!(redirected(before), expected);
    }
    let long = "{\n\t\"redirects\": [\n\t\t{\n\t\t\t\"source\": \"/x\",\n\t\t\t\"destination\": \"/y\"\n\t\t}\n\t]\n}";
    assert_eq!(
        redirected(long),
        long.replace(
            "\t\t}\n\t]",
            "\t\t},\n\t\t{\n\t\t\t\"source\": \"/a\",\n\t\t\t\"destination\": \"/b\"\n\t\t}\n\t]"
        )
    );
}

#[test]
fn empty_lists_stay_and_take_pages() {
    let json = "{\n  \"navigation\": [\n    { \"group\": \"G\", \"pages\": [\"a\"] },\n    { \"group\": \"H\", \"pages\": [\"in/b\", \"in/c\"] }\n  ]\n}\n";
    let before = tree(&[("docs.json", json), ("a.mdx", ""), ("in/b.mdx", ""), ("in/c.mdx", "")]);
    let site = Site::read(&before);
    let files = NavigationFiles::of(&before, &site);
    let taken_out = |page: &str| text(&after(&before, &files.remove(page), None), "docs.json");
    assert_eq!(taken_out("a.mdx"), json.replace("[\"a\"]", "[]"));
    assert_eq!(taken_out("in/b.mdx"), json.replace("\"in/b\", ", ""));
    assert_eq!(taken_out("in/c.mdx"), json.replace(", \"in/c\"", ""));
    let added = files.add("in/d.mdx", "D");
    assert_eq!(added.under.as_deref(), Some("H"));
    assert_eq!(text(&after(&before, &added, None), "docs.json"), json.replace("\"in/c\"", "\"in/c\", \"in/d\""));
    let bare = tree(&[("docs.json", r#"{"navigation": [{"group": "G", "pages": []}]}"#)]);
    let site = Site::read(&bare);
    let added = NavigationFiles::of(&bare, &site).add("x.md", "X");
    assert!(text(&after(&bare, &added, None), "docs.json").contains(r#""pages": ["x"]"#));
}

proptest! {
    #[test]
    fn there_and_back_is_where_it_was(kind in 0..6_usize, name in "[a-z][a-z0-9_-]{0,12}") {
        let (before, _, from) = sites().swap_remove(kind);
        let to = from.replace("/a.", &format!("/{name}."));
        prop_assume!(!before.contains_key(&to));
        let there = renamed(&before, from, &to);
        prop_assert_eq!(renamed(&there, &to, from), before);
    }
}

#[test]
fn tables_of_contents_of_sphinx_follow() {
    let tree = tree(&[
        ("docs/conf.py", "extensions = ['myst_parser']\n"),
        ("docs/index.md", "# Home\n\n```{toctree}\n:maxdepth: 2\n\nguide/a\nThe second </guide/b>\n```\n"),
        ("docs/guide/a.md", "# A\n"),
        ("docs/guide/b.md", "# B\n"),
    ]);
    let site = Site::read(&tree);
    let files = NavigationFiles::of(&tree, &site);
    let text = |edits: &NavigationEdits| {
        let mut text = String::from_utf8(tree.read("docs/index.md").expect("there")).expect("text");
        for (range, instead) in edits.files["docs/index.md"].iter().rev() {
            text.replace_range(range.clone(), instead);
        }
        text
    };
    assert!(text(&files.rename("docs/guide/a.md", "docs/other/a.md")).contains("\nother/a\nThe second </guide/b>\n"));
    assert!(text(&files.rename("docs/guide/b.md", "docs/other/b.md")).contains("\nguide/a\nThe second </other/b>\n"));
    assert!(text(&files.remove("docs/guide/a.md")).contains(":maxdepth: 2\n\nThe second </guide/b>\n```"));
    assert!(text(&files.add("docs/guide/c.md", "C")).contains("The second </guide/b>\nC </guide/c>\n```"));
}

#[test]
fn toctrees_know_own_pages_and_patterns() {
    let tree = tree(&[
        ("docs/conf.py", "extensions = ['myst_parser']\n"),
        ("docs/guide/index.md", "# Guide\n\n```{toctree}\n:glob:\n\n./a\n/b\nparts/*\n```\n"),
        ("docs/guide/a.md", "# A\n"),
        ("docs/b.md", "# B\n"),
        ("docs/guide/parts/c.rst", "C\n=\n"),
    ]);
    let site = Site::read(&tree);
    let files = NavigationFiles::of(&tree, &site);
    let listed: Vec<String> = files.listed_on("docs/guide/index.md");
    assert_eq!(listed, ["docs/guide/a.md", "docs/b.md", "docs/guide/parts/c.rst"]);
    let own: Vec<String> =
        files.own_entries("docs/guide/index.md", "docs/index.md").into_iter().map(|(_, name)| name).collect();
    assert_eq!(own, ["guide/a"]);
    assert_eq!(files.rename("docs/guide/parts/c.rst", "docs/guide/parts/d.rst").manual_steps, Vec::<String>::new());
    assert_eq!(
        files.rename("docs/guide/parts/c.rst", "docs/guide/c.rst").manual_steps,
        [
            "`docs/guide/c.rst` does not match the pattern by which the table of contents on docs/guide/index.md names pages"
        ]
    );
}

#[test]
fn a_configuration_that_names_a_page_is_told() {
    let config = "export default {\n  baseUrl: '/b/',\n  presets: [['classic', {}]],\n  themeConfig: { footer: [\n    { to: 'docs/a' },\n    { type: 'doc', docId: 'a' },\n    { to: '/docs/b' },\n    { href: 'https://x.y/docs/a' },\n  ] },\n};\n";
    let tree = tree(&[("docusaurus.config.js", config), ("docs/a.md", ""), ("docs/b.md", "")]);
    let site = Site::read(&tree);
    let files = NavigationFiles::of(&tree, &site);
    let expected_steps =
        ["docusaurus.config.js:5", "docusaurus.config.js:6"].map(|at| format!("{at} names it, and is yours to change"));
    assert_eq!(files.remove("docs/a.md").manual_steps, expected_steps);
    assert_eq!(files.rename("docs/a.md", "docs/c.md").manual_steps, expected_steps);
}

#[test]
fn a_slug_of_one_word_in_the_sidebar_of_starlight_follows() {
    let config = "import starlight from '@astrojs/starlight';\nexport default { integrations: [starlight({ title: 'start',\n  \
                  keywords: ['start'],\n  sidebar: ['start', { label: 'G', items: ['start', { slug: 'start' }, 'guides/a'] }],\n})] };\n";
    let tree = tree(&[
        ("astro.config.mjs", config),
        ("src/content/docs/start.md", "---\ntitle: Start\n---\n"),
        ("src/content/docs/guides/a.md", "---\ntitle: A\n---\n"),
    ]);
    let moved = renamed(&tree, "src/content/docs/start.md", "src/content/docs/guides/begin.md");
    let sidebar =
        "sidebar: ['guides/begin', { label: 'G', items: ['guides/begin', { slug: 'guides/begin' }, 'guides/a'] }]";
    let expected = config.split_once("sidebar").map(|(before, _)| format!("{before}{sidebar},\n}})] }};\n"));
    assert_eq!(Some(text(&moved, "astro.config.mjs")), expected);
    let there = renamed(&moved, "src/content/docs/guides/begin.md", "src/content/docs/start.md");
    assert_eq!(text(&there, "astro.config.mjs"), config);
    let site = Site::read(&moved);
    let added = NavigationFiles::of(&moved, &site).add("src/content/docs/guides/c.md", "C");
    let with = text(&after(&moved, &added, None), "astro.config.mjs");
    assert!(with.contains("'guides/a', 'guides/c'] }]"), "{with}");
    let removed = NavigationFiles::of(&moved, &site).remove("src/content/docs/guides/a.md");
    let without = text(&after(&moved, &removed, None), "astro.config.mjs");
    assert!(without.contains("items: ['guides/begin', { slug: 'guides/begin' }] }]"), "{without}");
}

#[test]
fn an_entry_of_starlight_names_a_page_without_its_language_and_base() {
    let config = "import starlight from '@astrojs/starlight';\nexport default { base: '/b', integrations: [starlight({\n  \
                  defaultLocale: 'en',\n  locales: { en: {}, de: {} },\n  sidebar: ['index', 'guides/a', { link: '/guides/a/' }, { \
                  slug: 'de/guides/a' }],\n})] };\n";
    let tree = tree(&[
        ("astro.config.mjs", config),
        ("src/content/docs/en/index.md", "---\ntitle: Home\n---\n"),
        ("src/content/docs/en/guides/a.md", "---\ntitle: A\n---\n"),
        ("src/content/docs/de/guides/a.md", "---\ntitle: A\n---\n"),
    ]);
    let moved = renamed(&tree, "src/content/docs/en/guides/a.md", "src/content/docs/en/b.md");
    assert_eq!(text(&moved, "astro.config.mjs"), config.replace("'guides/a'", "'b'").replace("/guides/a/", "/b/"));
    let moved = renamed(&tree, "src/content/docs/en/index.md", "src/content/docs/en/home.md");
    assert_eq!(text(&moved, "astro.config.mjs"), config.replace("'index'", "'home'"));
    let site = Site::read(&tree);
    let files = NavigationFiles::of(&tree, &site);
    assert!(files.rename("src/content/docs/de/guides/a.md", "src/content/docs/de/b.md").is_empty());
    let away = files.rename("src/content/docs/en/guides/a.md", "src/content/docs/de/b.md");
    assert!(away.is_empty() && away.manual_steps.len() == 2, "{away:?}");
}

#[test]
fn a_folder_of_nextra_is_named_as_long_as_it_has_a_page() {
    let meta = "export default {\n  index: '',\n  guide: 'Guide',\n  more: { title: 'More' },\n};\n";
    let all = "export default {\n  docs: { items: { guide: { items: { a: '' } }, index: '' } },\n};\n";
    let tree = tree(&[
        ("next.config.mjs", "import nextra from 'nextra';\nexport default nextra({})({});\n"),
        ("content/_meta.js", meta),
        ("app/_meta.global.ts", all),
        ("content/index.mdx", "# Home\n"),
        ("content/guide/a.mdx", "# A\n"),
        ("content/more/b.mdx", "# B\n"),
        ("content/more/c.mdx", "# C\n"),
    ]);
    let site = Site::read(&tree);
    let files = NavigationFiles::of(&tree, &site);
    let expected_steps = ["app/_meta.global.ts:2 may name it as `a`, and is yours to change"];
    let removed = files.remove("content/guide/a.mdx");
    assert_eq!(text(&after(&tree, &removed, None), "content/_meta.js"), meta.replace("  guide: 'Guide',\n", ""));
    assert_eq!(removed.manual_steps, expected_steps);
    let inside = files.rename("content/guide/a.mdx", "content/guide/in/b.mdx");
    assert_eq!((inside.is_empty(), inside.manual_steps), (true, expected_steps.map(str::to_owned).to_vec()));
    let away = files.rename("content/guide/a.mdx", "content/more/a.mdx");
    assert_eq!(text(&after(&tree, &away, None), "content/_meta.js"), meta.replace("  guide: 'Guide',\n", ""));
    assert_eq!(away.manual_steps.len(), 2, "{away:?}");
    assert!(files.remove("content/more/b.mdx").is_empty());
    assert_eq!(
        files.remove("content/index.mdx").manual_steps,
        ["app/_meta.global.ts:2 may name it as `index`, and is yours to change"]
    );
}

#[test]
fn the_first_page_of_a_language_of_vitepress_follows_and_is_told() {
    let config = "export default {\n  locales: {\n    root: { label: 'English' },\n    fr: { label: 'Français', link: '/fr/intro' }\n  }\n}\n";
    let tree = tree(&[(".vitepress/config.ts", config), ("index.md", ""), ("fr/intro.md", "")]);
    let moved = renamed(&tree, "fr/intro.md", "fr/guide/first.md");
    assert_eq!(text(&moved, ".vitepress/config.ts"), config.replace("/fr/intro", "/fr/guide/first"));
    let site = Site::read(&tree);
    let removed = NavigationFiles::of(&tree, &site).remove("fr/intro.md");
    assert_eq!(
        (removed.files.len(), removed.manual_steps.as_slice()),
        (0, &[".vitepress/config.ts:4 still names it".to_owned()][..])
    );
}
