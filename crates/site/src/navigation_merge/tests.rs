use proptest::prelude::*;

use super::*;

fn merge(path: &str, texts: [&str; 3]) -> NavigationMerge {
    merge_navigation(path, texts.map(str::as_bytes))
}

fn merged(path: &str, texts: [&str; 3]) -> String {
    match merge(path, texts) {
        NavigationMerge::Merged(bytes) => String::from_utf8(bytes).expect("text"),
        other => panic!("{other:?}"),
    }
}

const DOCS: &str = r#"{
  "name": "Docs",
  "navigation": [
    {
      "group": "Start",
      "pages": ["index"]
    },
    {
      "group": "Guides",
      "pages": [
        "guides/a",
        "guides/b"
      ]
    }
  ],
  "colors": { "primary": "black" }
}
"#;

#[test]
fn pages_added_at_one_place_are_all_there_in_the_order_they_came() {
    let with = |pages: &[&str]| {
        let added: String = pages.iter().map(|page| format!(",\n        \"guides/{page}\"")).collect();
        DOCS.replace("\"guides/b\"", &format!("\"guides/b\"{added}"))
    };
    let mut now = DOCS.to_owned();
    for page in ["c", "d", "e"] {
        now = merged("docs/docs.json", [DOCS, &now, &with(&[page])]);
    }
    assert_eq!(now, with(&["c", "d", "e"]));
}

#[test]
fn each_side_changes_what_the_other_left_alone() {
    let ours = DOCS
        .replace("\"guides/a\",\n        ", "")
        .replace("[\"index\"]", "[\"index\", \"install\"]")
        .replace("  \"colors\"", "  \"redirects\": [{ \"source\": \"/a\", \"destination\": \"/b\" }],\n  \"colors\"");
    let theirs = DOCS
        .replace("[\"index\"]", "[\"welcome\", \"index\"]")
        .replace("black", "white")
        .replace("\n}\n", ",\n  \"redirects\": [{ \"source\": \"/c\", \"destination\": \"/d\" }]\n}\n")
        .replace("      ]\n    }\n  ]", "      ]\n    },\n    { \"group\": \"API\", \"pages\": [\"api/x\"] }\n  ]");
    let text = merged("docs.json", [DOCS, &ours, &theirs]);
    let expected = ours
        .replace("[\"index\", \"install\"]", "[\"welcome\", \"index\", \"install\"]")
        .replace("black", "white")
        .replace("\"/b\" }]", "\"/b\" }, { \"source\": \"/c\", \"destination\": \"/d\" }]")
        .replace("      ]\n    }\n  ]", "      ]\n    },\n    { \"group\": \"API\", \"pages\": [\"api/x\"] }\n  ]");
    assert_eq!(text, expected);
}

#[test]
fn uncertain_merges_are_conflicts() {
    for (ours, theirs) in [
        // Different values on each side.
        (DOCS.replace("black", "red"), DOCS.replace("black", "blue")),
        // A group that one side removed and the other extended.
        (
            DOCS.replace("    {\n      \"group\": \"Start\",\n      \"pages\": [\"index\"]\n    },\n", ""),
            DOCS.replace("[\"index\"]", "[\"index\", \"x\"]"),
        ),
        // Reordered items.
        (
            DOCS.replace("\"guides/b\"", "\"guides/b\", \"guides/c\""),
            DOCS.replace("\"guides/a\",\n        \"guides/b\"", "\"guides/b\",\n        \"guides/a\""),
        ),
        // A duplicate name.
        (DOCS.replace("[\"index\"]", "[\"index\", \"x\"]"), DOCS.replace("[\"index\"]", "[\"index\", \"index\"]")),
        // A comment that would be lost.
        (DOCS.replace("[\"index\"]", "[\"index\", /* x */ \"x\"]"), DOCS.replace("[\"index\"]", "[\"index\", \"y\"]")),
    ] {
        assert_eq!(merge("docs.json", [DOCS, &ours, &theirs]), NavigationMerge::Conflict, "{ours}\n{theirs}");
    }
    for path in ["page.md", "package.json", "docs.json"] {
        assert_eq!(merge(path, ["{", "{}", "{ }"]), NavigationMerge::NotUnderstood, "{path}");
    }
}

#[test]
fn the_nav_of_mkdocs_is_merged_by_entries() {
    let base = "site_name: Docs\nnav:\n  - Home: index.md\n  - Guides:\n      - A: a.md\n  # The API.\n  - api.md\n\n\
                plugins:\n  - search\n";
    let with = |entries: &str| base.replace("- A: a.md\n", &format!("- A: a.md\n{entries}"));
    let (ours, theirs) =
        (with("      - B: b.md\n"), with("      - C: c.md\n").replace("- search", "- search\n  - tags"));
    let both = with("      - B: b.md\n      - C: c.md\n").replace("- search", "- search\n  - tags");
    assert_eq!(merged("mkdocs.yml", [base, &ours, &theirs]), both);
    let moved = base.replace("- Home: index.md", "- Start: index.md");
    assert_eq!(
        merged("mkdocs.yml", [base, &ours, &moved]),
        ours.replace("- Home: index.md", "- Start: index.md"),
        "another title"
    );
    let gone = base.replace("  - Guides:\n      - A: a.md\n", "");
    assert_eq!(merge("mkdocs.yml", [base, &ours, &gone]), NavigationMerge::Conflict);
    for odd in ["nav: !include nav.yml\n", "nav:\n  - A: >\n      a.md\n", "site_name: x\n"] {
        assert_eq!(merge("mkdocs.yml", [base, odd, &theirs]), NavigationMerge::NotUnderstood, "{odd}");
    }
}

#[test]
fn a_summary_is_merged_by_entries() {
    let base = "# Summary\n\n[Start](start.md)\n\n- [A](a.md)\n  - [B](b.md)\n\n---\n\n# Reference\n\n- [X](x.md)\n";
    let ours = base.replace("  - [B](b.md)\n", "  - [B](b.md)\n  - [C](c.md)\n");
    let theirs = base.replace("  - [B](b.md)\n", "  - [B](b.md)\n  - [D](d.md)\n") + "- [Y](y.md)\n";
    let both = base.replace("  - [B](b.md)\n", "  - [B](b.md)\n  - [C](c.md)\n  - [D](d.md)\n") + "- [Y](y.md)\n";
    assert_eq!(merged("src/SUMMARY.md", [base, &ours, &theirs]), both);
    assert_eq!(merged("SUMMARY.md", ["", "-", ""]), "-", "a list without an entry");
}

proptest! {
    #[test]
    fn additions_and_removals_of_both_sides_are_merged(
        base in prop::collection::btree_set(0u8..12, 0..8),
        ours in prop::collection::vec((0u8..24, any::<prop::sample::Index>()), 0..5),
        theirs in prop::collection::vec((0u8..24, any::<prop::sample::Index>()), 0..5),
        format in 0..3,
    ) {
        let side = |edits: &[(u8, prop::sample::Index)]| {
            let mut pages: Vec<u8> = base.iter().copied().collect();
            for (page, at) in edits {
                match pages.iter().position(|known| known == page) {
                    Some(place) => drop(pages.remove(place)),
                    None => pages.insert(at.index(pages.len() + 1), *page),
                }
            }
            // An item that was removed and added again may have moved.
            pages
        };
        let [base, ours, theirs]: [Vec<u8>; 3] = [side(&[]), side(&ours), side(&theirs)];
        let (path, write): (_, fn(&[u8]) -> String) = match format {
            0 => ("docs.json", |pages| {
                let pages: Vec<String> = pages.iter().map(|page| format!("\"p{page}\"")).collect();
                format!("{{\"navigation\": [{{\"group\": \"G\", \"pages\": [{}]}}]}}", pages.join(", "))
            }),
            1 => ("mkdocs.yml", |pages| {
                let pages: String = pages.iter().map(|page| format!("  - p{page}.md\n")).collect();
                format!("nav:\n  - index.md\n{pages}theme: x\n")
            }),
            _ => ("SUMMARY.md", |pages| {
                let pages: String = pages.iter().map(|page| format!("- [P](p{page}.md)\n")).collect();
                format!("# Summary\n\n{pages}")
            }),
        };
        let texts = [&base, &ours, &theirs].map(|pages| write(pages));
        let given = texts.each_ref().map(String::as_str);
        match merge(path, given) {
            NavigationMerge::Merged(bytes) => {
                let text = String::from_utf8(bytes).expect("text");
                for page in 0..24u8 {
                    let [was, is_ours, is_theirs] = [&base, &ours, &theirs].map(|pages| pages.contains(&page));
                    let expected = if was { is_ours && is_theirs } else { is_ours || is_theirs };
                    let found = text.matches(&format!("p{page}\"")).count() + text.matches(&format!("p{page}.md")).count();
                    prop_assert_eq!(found, usize::from(expected), "p{} in {}", page, text);
                }
                if base == theirs {
                    prop_assert_eq!(&text, &texts[1]);
                }
                if format == 0 {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
                }
            }
            NavigationMerge::Conflict => {
                // Only moved items conflict.
                let kept: Vec<u8> = theirs.iter().copied().filter(|page| base.contains(page)).collect();
                prop_assert!(!kept.is_sorted(), "{:?}", texts);
            }
            NavigationMerge::NotUnderstood => prop_assert!(false, "{:?}", texts),
        }
    }

    #[test]
    fn any_text_is_merged_or_refused_without_a_panic(
        texts in prop::array::uniform3("[-#\\[\\]{}\",:a \n]{0,40}"),
        path in prop::sample::select(vec!["docs.json", "mkdocs.yml", "SUMMARY.md"]),
    ) {
        let texts = texts.each_ref().map(|text| if path == "mkdocs.yml" { format!("nav:\n{text}") } else { text.clone() });
        let given = texts.each_ref().map(String::as_str);
        if let NavigationMerge::Merged(bytes) = merge(path, [given[0], given[1], given[0]]) {
            let text = String::from_utf8(bytes).expect("text");
            prop_assert_eq!(text.trim_end(), given[1].trim_end(), "nothing changed on their side");
        }
    }
}
