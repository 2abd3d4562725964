//! Properties of every refactor on any bytes: no panic, edits in order and in bounds, and everything else untouched.

use docent_markdown::{file_name, folder, is_page};
use docent_site::{Checked, Finding, NavigationFiles, Tree, findings, new_findings};
use proptest::prelude::*;

use super::navigation::follow_navigation;
use super::sample::{Files, after, move_page};
use super::*;

/// Bytes that sometimes resemble pages.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec![
        "---\n",
        "---\r\n",
        "title: ",
        "title: A\n",
        "description: >\n  x\n",
        "slug: /s\n",
        "\"a\": [\n",
        "\n",
        "\r\n",
        "# ",
        "## H {#x}\n",
        "Acme ",
        "`",
        "```\n",
        "[",
        "](",
        "](b)",
        "](/b#h)",
        "](../a.md)",
        "](wrong)",
        ")",
        "![",
        "<Card ",
        "href=\"/b\"",
        "title=\"Acme\"",
        ">",
        "/>",
        "</Card>",
        "{",
        "}",
        "é設",
        "import X from './b.mdx'\n",
        " ",
        "- ",
        "https://x.y/Acme",
        "|",
        "\u{feff}",
        "<!--",
        "-->",
        "[r]: /b\n",
        "$",
        "\t",
        "\\",
        "\u{0}",
    ];
    prop_oneof![
        1 => proptest::collection::vec(any::<u8>(), 0..80),
        6 => proptest::collection::vec(prop::sample::select(pieces), 0..30).prop_map(|parts| parts.concat().into_bytes()),
    ]
}

fn any_navigation() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(br#"{"navigation": [{"group": "Acme", "pages": ["a", "b", {"group": "x", "pages": []}]}], "redirects": []}"#.to_vec()),
        1 => Just(b"{\n  \"navigation\": {\n    \"pages\": [\n      \"a\",\n      \"deep/c\"\n    ]\n  }\n}\n".to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => Just(b"{}".to_vec()),
        1 => Just(br#"{"navigation": [1, "a"], "redirects": [{"source": "/a"}, 7]}"#.to_vec()),
    ]
}

fn any_site() -> impl Strategy<Value = Files> {
    (any_bytes(), any_bytes(), any_bytes(), any_navigation()).prop_map(|(a, b, c, navigation)| {
        [("a.md", a), ("b.mdx", b), ("deep/c.mdx", c), ("docs.json", navigation)]
            .into_iter()
            .map(|(path, bytes)| (path.to_owned(), bytes))
            .collect()
    })
}

/// The results of all refactors that succeed on this site.
fn all(tree: &Files) -> Vec<Refactored> {
    let outline = [OutlineHeading { level: 2, text: "One {x} <y".into() }];
    let made = [
        replace_text(tree, "Acme", "Zenith: \"x\" #", &[]),
        replace_text(tree, "Acme", "{<", &["**".into()]),
        move_page(tree, "a", "deep/a"),
        move_page(tree, "deep/c", "c.md"),
        delete_page(tree, "b"),
        fix_links(tree, &[], &crate::history::NoHistory),
        add_titles(tree, &[]),
        add_descriptions(tree, &[]),
        add_page(tree, "deep/new", "New: \"page\"", &outline),
        set_front_matter(tree, "title", &FieldContent::Text("Z: \"z\" é".into()), &[]),
        set_front_matter(tree, "hidden", &FieldContent::Flag(true), &[]),
    ];
    made.into_iter().flatten().collect()
}

#[test]
fn a_page_cut_inside_a_character_is_read() {
    let tree: Files = [("a.mdx".to_owned(), "</Card>```\nAcme é設``}".as_bytes().to_vec())].into();
    let refactored = replace_text(&tree, "Acme", "Zenith", &[]).expect("a refactor");
    assert!(refactored.changes.len() <= 1);
}

/// A small site of each generator: its configuration and the folder of its pages.
const SITES: [(&[(&str, &str)], &str); 6] = [
    (&[], ""),
    (&[("docs.json", "{}")], ""),
    (&[("mkdocs.yml", "site_name: x\n")], "docs/"),
    (&[(".vitepress/config.mts", "export default { title: 'x' }\n")], ""),
    (&[("docusaurus.config.js", "module.exports = { title: 'x', presets: [['classic', { docs: {} }]] };\n")], "docs/"),
    (
        &[(
            "astro.config.mjs",
            "import starlight from '@astrojs/starlight';\nexport default { integrations: [starlight({ title: 'x' })] };\n",
        )],
        "src/content/docs/",
    ),
];

const PAGES: [&str; 5] =
    ["start.md", "guides/retries.md", "guides/queues.md", "guides/deep/limits.md", "api/errors.md"];

/// Each page links to all others by file path; links within a folder begin with `dots`, which is `./` or empty.
fn linked_site(configuration: &[(&str, &str)], pages: &str, dots: &str) -> Files {
    let mut files: Files =
        configuration.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    for page in PAGES {
        let mut text = "---\ntitle: Page\n---\n\n## Part\n\n".to_owned();
        for other in PAGES.iter().filter(|other| **other != page) {
            let up = page.matches('/').count();
            let folder = page.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let way = match other.strip_prefix(&folder) {
                Some(near) => format!("{dots}{near}"),
                None if page.starts_with("guides/deep/") && other.starts_with("guides/") => {
                    format!("../{}", other.trim_start_matches("guides/"))
                }
                None => format!("{}{other}", "../".repeat(up)),
            };
            text.push_str(&format!("- [to {other}]({way}#part)\n"));
        }
        files.insert(format!("{pages}{page}"), text.into_bytes());
    }
    files
}

#[test]
fn a_page_moved_there_and_back_leaves_every_byte_but_leading_dots() {
    for (configuration, pages) in SITES {
        for (page, dots) in PAGES.iter().flat_map(|page| ["", "./"].map(|dots| (page, dots))) {
            let before = linked_site(configuration, pages, dots);
            let (from, to) = (format!("{pages}{page}"), format!("{pages}other/place/{page}"));
            let there = after(&before, &move_page(&before, &from, &to).expect("moved"));
            assert!(there.contains_key(&to) && !there.contains_key(&from), "{from}");
            let back = after(&there, &move_page(&there, &to, &from).expect("moved back"));
            let expected = with_redirect(&before, &there, &from, &to);
            for (path, bytes) in &expected {
                let texts = [bytes, &back[path]].map(|bytes| String::from_utf8_lossy(bytes).replace("](./", "]("));
                assert_eq!(texts[0], texts[1], "{path}, by {from}");
            }
        }
    }
}

/// The small sites with unusual rules, with all their files.
fn built_sites() -> Vec<(String, Files)> {
    let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sites");
    let mut sites = Vec::new();
    for site in std::fs::read_dir(home).expect("the folder of sites") {
        let (site, mut files) = (site.expect("an entry").path(), Files::new());
        if !site.is_dir() {
            continue;
        }
        let mut folders = vec![site.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder of a site") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true if path.ends_with("node_modules") => {}
                    true => folders.push(path),
                    false => {
                        let inside =
                            path.strip_prefix(&site).expect("a path of the site").to_string_lossy().into_owned();
                        files.insert(inside, std::fs::read(&path).expect("a file that can be read"));
                    }
                }
            }
        }
        sites.push((site.file_name().unwrap_or_default().to_string_lossy().into_owned(), files));
    }
    sites
}

/// The paths that a page is moved to: a folder below its own, a new name in its folder, and a folder beside its own if
/// the parent folder has pages.
fn places(site: &Site, from: &str) -> Vec<String> {
    let (inside, name) = (folder(from), file_name(from));
    let above = folder(inside);
    let mut places = vec![format!("{inside}/moved-here/{name}"), format!("{inside}/moved-here-{name}")];
    if !inside.is_empty() && site.files().any(|file| site.address(file).is_some() && folder(file) == above) {
        places.push(format!("{above}/moved-here/{name}"));
    }
    places.into_iter().map(|place| place.trim_start_matches('/').to_owned()).collect()
}

/// The tree with a redirect from the temporary path of a page, which stays after the move back.
fn with_redirect(tree: &Files, away: &Files, page: &str, from: &str) -> Files {
    let (site, moved) = (Site::read(tree), Site::read(away));
    if site.address(page) == moved.address(from) {
        return tree.clone();
    }
    let redirect = NavigationFiles::of(tree, &site).redirect(from, page);
    let mut kept = Refactored::default();
    if redirect.is_empty() {
        let alias = moved.alias(from);
        let read = site.parse(page, &tree[page]);
        let edit = alias.and_then(|(field, own)| alias::added(&read, &tree[page], field, &own).ok()?);
        kept.changes.extend(edit.map(|edit| Change::Edit { path: page.to_owned(), edits: vec![edit] }));
    }
    follow_navigation(&mut kept, redirect);
    after(tree, &kept)
}

#[test]
fn each_page_of_the_small_sites_moves_there_and_back() {
    let mut moves = 0;
    for (name, before) in built_sites() {
        let site = Site::read(&before);
        for from in site.files().filter(|file| is_page(file) && site.address(file).is_some()) {
            for to in places(&site, from) {
                let Ok(there) = move_page(&before, from, &to) else { continue };
                let away = after(&before, &there);
                let Ok(back) = crate::move_page(&away, &before, &to, from) else { continue };
                moves += 1;
                let now = after(&away, &back);
                if now == before {
                    continue;
                }
                let expected = with_redirect(&before, &away, from, &to);
                assert!(now.keys().eq(before.keys()), "{name}: {from}");
                for (path, bytes) in &expected {
                    let texts = [bytes, &now[path]].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                    assert_eq!(texts[0], texts[1], "{name}: {path}, by {from} to {to}");
                }
            }
        }
    }
    assert!(moves > 300, "{moves}");
}

proptest! {
    // Each case runs every refactor, so a few cases cover a lot.
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(48), ..ProptestConfig::default() })]

    #[test]
    fn edits_are_in_order_in_bounds_and_leave_the_rest(tree in any_site()) {
        for refactored in all(&tree) {
            let mut paths: Vec<&str> = refactored.changes.iter().map(Change::path).collect();
            paths.sort_unstable();
            paths.dedup();
            prop_assert_eq!(paths.len(), refactored.changes.len(), "one change a file: {:?}", &refactored);
            for change in &refactored.changes {
                let Change::Edit { path, edits } = change else { continue };
                let before = tree.read(path).expect("an edit is of a file that is there");
                let bytes_after = change.bytes_after(&tree).expect("an edit leaves a file");
                // Walks both texts: between edits they are equal.
                let (mut at, mut now) = (0, 0);
                for edit in edits {
                    prop_assert!(edit.range.start >= at && edit.range.end <= before.len(), "{:?}", edits);
                    let same = edit.range.start - at;
                    prop_assert_eq!(&before[at..edit.range.start], &bytes_after[now..now + same]);
                    now += same + edit.text.len();
                    at = edit.range.end;
                }
                prop_assert_eq!(&before[at..], &bytes_after[now..]);
            }
        }
    }

    #[test]
    fn a_navigation_that_was_json_stays_json(tree in any_site()) {
        let is_json = |files: &Files| serde_json::from_slice::<serde_json::Value>(&files["docs.json"]).is_ok();
        prop_assume!(is_json(&tree));
        for refactored in all(&tree) {
            prop_assert!(is_json(&after(&tree, &refactored)), "{:?}", refactored);
        }
    }

    #[test]
    fn new_problems_are_among_all_problems(tree in any_site()) {
        for refactored in all(&tree) {
            let now = after(&tree, &refactored);
            let changed: Vec<String> = refactored.changes.iter().map(|change| change.path().to_owned()).collect();
            let everything_in = |checked: Checked| {
                let doubted = checked.doubts.into_iter().flat_map(|doubt| doubt.findings);
                checked.findings.into_iter().chain(doubted).collect::<Vec<Finding>>()
            };
            let wrong = everything_in(findings(&now));
            let new = new_findings(&tree, &now, &changed);
            prop_assert!(everything_in(new.clone()).iter().all(|finding| wrong.contains(finding)), "{:?} in {:?}", new, wrong);
            prop_assert_eq!(new_findings(&now, &now, &changed), Checked::default());
            // Looking at the changed paths alone misses nothing that looking at everything finds.
            let everything: Vec<String> = now.keys().chain(tree.keys()).cloned().collect();
            prop_assert_eq!(new, new_findings(&tree, &now, &everything));
        }
    }

    #[test]
    fn a_page_moved_there_and_back_is_as_before(tree in any_site()) {
        for (from, to) in [("a.md", "deep/er/a.md"), ("b.mdx", "deep/b.mdx"), ("deep/c.mdx", "c.mdx")] {
            let Ok(there) = move_page(&tree, from, to) else { continue };
            let away = after(&tree, &there);
            let back = crate::move_page(&away, &tree, to, from).expect("moved back");
            let now = after(&away, &back);
            let expected = with_redirect(&tree, &away, from, to);
            for path in ["a.md", "b.mdx", "deep/c.mdx"] {
                prop_assert_eq!(String::from_utf8_lossy(&now[path]), String::from_utf8_lossy(&expected[path]), "{}", path);
            }
        }
    }

    #[test]
    fn a_moved_page_leaves_no_link_broken(tree in any_site()) {
        let Ok(moved) = move_page(&tree, "a", "deep/er/a") else { return Ok(()) };
        let now = after(&tree, &moved);
        let changed: Vec<String> = moved.changes.iter().map(|change| change.path().to_owned()).collect();
        prop_assert_eq!(new_findings(&tree, &now, &changed), Checked::default());
    }
}
