use proptest::prelude::*;

use super::*;
use crate::sample::{Files, after, site, text, touched};

fn everywhere(tree: &Files, find: &str, replace: &str) -> (Files, Refactored) {
    within(tree, find, replace, &[])
}

fn within(tree: &Files, find: &str, replace: &str, patterns: &[&str]) -> (Files, Refactored) {
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let refactored = replace_text(tree, find, replace, &patterns).expect("a refactor");
    (after(tree, &refactored), refactored)
}

/// One page with `Acme` replaced by `Zenith` everywhere.
fn page(before: &str) -> String {
    let (tree, _) = everywhere(&site(&[("a.mdx", before)]), "Acme", "Zenith");
    text(&tree, "a.mdx")
}

#[test]
fn prose_code_and_front_matter_change_alike() {
    for (before, expected) in [
        ("Acme, **Acme** and `the Acme`.\n", "Zenith, **Zenith** and `the Acme`.\n"),
        ("# Acme\n\n- Acme\n\n> Acme\n", "# Zenith\n\n- Zenith\n\n> Zenith\n"),
        (
            "```js\nnew Acme(\"Acme\") // of Acme\nsay(\"Hello from Acme\")\n```\n",
            "```js\nnew Acme(\"Acme\") // of Zenith\nsay(\"Hello from Zenith\")\n```\n",
        ),
        ("| Acme |\n|---|\n| Acme |\n", "| Zenith |\n|---|\n| Zenith |\n"),
        ("---\ntitle: Acme guide\n---\nx\n", "---\ntitle: Zenith guide\n---\nx\n"),
        (
            "---\ntitle: \"Acme\" # Acme\ntags:\n  - Acme\n---\n",
            "---\ntitle: \"Zenith\" # Zenith\ntags:\n  - Zenith\n---\n",
        ),
        ("<Card title=\"Acme\">Acme</Card>\n", "<Card title=\"Zenith\">Zenith</Card>\n"),
        ("[Acme](/x) ![Acme](/y.png)\n", "[Zenith](/x) ![Zenith](/y.png)\n"),
    ] {
        assert_eq!(page(before), expected, "{before:?}");
    }
}

#[test]
fn structure_links_and_urls_are_left_alone() {
    for before in [
        "[x](/Acme) ![x](Acme.png) <https://Acme.com>\n",
        "[x][r]\n\n[r]: /Acme \n",
        "Visit https://example.com/Acme?q=Acme now, or www.Acme.com, or mail me@Acme.com.\n",
        "```sh\ncurl https://example.com/Acme/v1\n```\n",
        "```Acme\nx\n```\n",
        "<Acme>x</Acme>\n",
        "<Card href=\"/Acme\" icon=\"Acme\">x</Card>\n",
        "<Acme title=\"x\" />\n",
        "<Card Acme=\"x\" />\n",
        "Costs {Acme.price} and {`${Acme}`}.\n\n<Card price={Acme} />\n",
        "export const f = () => Acme\n\nx\n",
        "import Acme from '/snippets/Acme.mdx';\n\nx\n",
        "---\nAcme: x\nslug: /Acme\nicon: Acme\n---\nx\n",
        "Acmes, myAcme and Acme_x.\n",
        "Costs {{ Acme.price }} at {% include Acme.html %} {{< ref \"Acme\" >}} {{% Acme %}}.\n",
        "`Acme` `npm i Acme` `@Acme/sdk` `Acme.get()` `my-Acme`\n",
        "```sh\nacme --to Acme\nexport ACME=Acme\n```\n",
        "See docs.Acme.com/start and Acme.io.\n",
        ":::Acme\nx\n:::\n",
        "::: package.Acme\n    options:\n      members: false\n",
    ] {
        assert_eq!(page(before), before, "{before:?}");
    }
}

#[test]
fn links_change_where_an_address_is_replaced() {
    let tree = site(&[
        ("a.mdx", "[x](https://acme.com/start) https://acme.com <Card href=\"/old/x\" /> [z](/nowhere/x)\n"),
        ("b.mdx", "[x](https://acme.com) acme.com, my-acme.com\n"),
        ("old/x.mdx", ""),
    ]);
    let (after, refactored) = everywhere(&tree, "https://acme.com", "https://zenith.com");
    assert_eq!(touched(&refactored), ["a.mdx", "b.mdx"]);
    assert!(text(&after, "a.mdx").starts_with("[x](https://zenith.com/start) https://zenith.com <Card"));
    assert_eq!(text(&after, "b.mdx"), "[x](https://zenith.com) acme.com, my-acme.com\n");
    // `/old/x` leads to a page and `/new/x` would lead nowhere.
    let (after, _) = within(&tree, "/old", "/new", &["a.mdx"]);
    assert!(text(&after, "a.mdx").contains("<Card href=\"/old/x\" />"));
    let (after, refactored) = within(&tree, "acme", "zenith", &["b.mdx"]);
    assert_eq!(after, tree);
    assert_eq!(refactored.left.len(), 1);
}

#[test]
fn names_in_code_change_where_they_are_quoted_as_code() {
    let tree = site(&[("a.md", "Acme has `Acme` and `AcmeX`.\n\n```js\nnew Acme()\n```\n")]);
    let (after, _) = everywhere(&tree, "`Acme`", "`Zenith`");
    assert_eq!(text(&after, "a.md"), "Acme has `Zenith` and `AcmeX`.\n\n```js\nnew Zenith()\n```\n");
    let (after, refactored) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(text(&after, "a.md"), "Zenith has `Acme` and `AcmeX`.\n\n```js\nnew Acme()\n```\n");
    assert_eq!(
        refactored.left,
        ["2 places in code, as names to a program; to change those, put the text between backquotes"]
    );
    let tree = site(&[("a.md", "Use 1.2, not 1.24 or `1.2.3`. `pip install acme==1.2`\n")]);
    let (after, _) = everywhere(&tree, "1.2", "1.3");
    assert_eq!(text(&after, "a.md"), "Use 1.3, not 1.24 or `1.2.3`. `pip install acme==1.3`\n");
}

#[test]
fn links_to_a_renamed_heading_follow() {
    let tree = site(&[
        ("a.mdx", "# Acme setup\n\n[top](#acme-setup)\n\n## Other\n"),
        ("b.mdx", "[x](/a#acme-setup) [y](a.mdx#other) [z](/c#acme-setup)\n"),
        ("c.mdx", "## ACME setup\n"),
    ]);
    let (tree, refactored) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(text(&tree, "a.mdx"), "# Zenith setup\n\n[top](#zenith-setup)\n\n## Other\n");
    assert_eq!(text(&tree, "b.mdx"), "[x](/a#zenith-setup) [y](a.mdx#other) [z](/c#acme-setup)\n");
    assert_eq!(
        refactored.summary,
        "Replaced “Acme” with “Zenith” in 1 place, 1 file; 2 links to renamed headings followed"
    );
}

#[test]
fn links_of_a_generators_own_follow_a_renamed_heading() {
    let tree = site(&[
        ("hugo.toml", ""),
        ("content/a.md", "## Acme setup\n"),
        ("content/b.md", "[x]({{< relref \"a.md#acme-setup\" >}})\n"),
    ]);
    let (tree, _) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(text(&tree, "content/b.md"), "[x]({{< relref \"a.md#zenith-setup\" >}})\n");
}

#[test]
fn labels_of_the_navigation_change_and_its_paths_do_not() {
    let json = r#"{"name": "Acme", "navigation": [{"group": "Acme guides", "pages": ["Acme", "x"]}], "url": "https://Acme.com"}"#;
    let tree = site(&[("docs.json", json), ("Acme.mdx", "x"), ("x.mdx", "Acme")]);
    let (tree, _) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(
        text(&tree, "docs.json"),
        r#"{"name": "Zenith", "navigation": [{"group": "Zenith guides", "pages": ["Acme", "x"]}], "url": "https://Acme.com"}"#
    );
}

#[test]
fn new_words_are_quoted_where_yaml_needs_it() {
    let tree = site(&[("a.mdx", "---\ntitle: Acme guide\nicon: key\n---\nAcme\n")]);
    let (tree, _) = everywhere(&tree, "Acme", "Zenith: the \"new\" #1");
    assert_eq!(
        text(&tree, "a.mdx"),
        "---\ntitle: \"Zenith: the \\\"new\\\" #1 guide\"\nicon: key\n---\nZenith: the \"new\" #1\n"
    );
}

#[test]
fn a_page_that_would_not_be_read_any_more_stays() {
    let tree = site(&[("a.mdx", "Acme\n"), ("b.md", "Acme\n")]);
    let (tree, refactored) = everywhere(&tree, "Acme", "{oops");
    assert_eq!(text(&tree, "a.mdx"), "Acme\n");
    assert_eq!(text(&tree, "b.md"), "{oops\n");
    assert_eq!(refactored.left.len(), 1);
}

#[test]
fn a_place_narrows_and_other_files_can_be_named() {
    let tree = site(&[("a.md", "Acme"), ("g/b.md", "Acme"), ("api.yaml", "x: Acme"), ("b.bin", "Acme\0")]);
    let (_, refactored) = within(&tree, "Acme", "Zenith", &["g/**", "api.yaml", "b.bin"]);
    assert_eq!(touched(&refactored), ["api.yaml", "g/b.md"]);
    let (_, refactored) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(touched(&refactored), ["a.md", "g/b.md"]);
    assert_eq!(refactored.summary, "Replaced “Acme” with “Zenith” in 2 places, 2 files");
    let (_, refactored) = everywhere(&tree, "Nobody", "x");
    assert_eq!(refactored.changes, []);
    assert_eq!(replace_text(&tree, " ", "x", &[]), Err(RefactorError::EmptyText));
}

proptest! {
    #[test]
    fn untouched_bytes_stay(
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..120),
            proptest::collection::vec(
                prop::sample::select(vec![
                    "Acme", "---\n", "title: ", "\n", "# ", "`", "```\n", "[", "](", ")", "<Card ", "a=\"", ">", "/>",
                    "{", "}", "é", "import ", "\r\n", " ", "- ", "https://", "|", "\u{feff}",
                ]),
                0..40,
            ).prop_map(|parts| parts.concat().into_bytes()),
        ]
    ) {
        let tree: Files = [("a.mdx".to_owned(), bytes.clone())].into();
        let refactored = replace_text(&tree, "Acme", "Zenith", &[]).expect("a refactor");
        for change in &refactored.changes {
            let Change::Edit { edits, .. } = change else { panic!("only edits") };
            let mut at = 0;
            for edit in edits {
                prop_assert!(edit.range.start >= at && edit.range.end <= bytes.len());
                at = edit.range.end;
            }
            let after = change.bytes_after(&tree).expect("bytes");
            let back = String::from_utf8_lossy(&after).replace("Zenith", "Acme").replace("zenith", "acme");
            prop_assert_eq!(back, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

#[test]
fn files_for_editors_and_snippets_change_though_they_are_no_pages() {
    let tree = site(&[
        ("AGENTS.md", "# Acme docs\n\nSay Acme, see [the style](/style).\n"),
        ("snippets/note.mdx", "Acme\n"),
        ("style.md", "---\ntitle: Style\ndescription: How\n---\nAcme\n"),
    ]);
    let (tree, refactored) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(touched(&refactored), ["AGENTS.md", "snippets/note.mdx", "style.md"]);
    assert_eq!(text(&tree, "AGENTS.md"), "# Zenith docs\n\nSay Zenith, see [the style](/style).\n");
    let titles = crate::add_titles(&tree, &[]).expect("titles");
    let descriptions = crate::add_descriptions(&tree, &[]).expect("descriptions");
    assert_eq!((touched(&titles), touched(&descriptions)), (vec![], vec![]));
    assert_eq!(docent_site::findings(&tree), docent_site::Checked::default());
    let moved = crate::sample::move_page(&tree, "style", "guides/style").expect("moved");
    assert!(text(&after(&tree, &moved), "AGENTS.md").contains("[the style](/guides/style)"));
}

#[test]
fn words_are_escaped_where_they_land() {
    let replaced = |before: &str, replace: &str| {
        let (tree, _) = everywhere(&site(&[("a.md", before)]), "Acme", replace);
        text(&tree, "a.md")
    };
    for (before, replace, expected) in [
        (
            "| a | b |\n|---|---|\n| Acme | `Acme 1` |\n\nAcme\n",
            "A|B",
            "| a | b |\n|---|---|\n| A\\|B | `Acme 1` |\n\nA|B\n",
        ),
        ("[Acme](b.md) and Acme\n", "[A]", "[\\[A\\]](b.md) and [A]\n"),
        ("```md\n| a |\n|---|\n| the Acme |\n```\n", "A|B", "```md\n| a |\n|---|\n| the Acme |\n```\n"),
        (
            "---\ntitle: Acme guide\n---\n\nThe Acme word.\n",
            "Foo: Bar",
            "---\ntitle: \"Foo: Bar guide\"\n---\n\nThe Foo: Bar word.\n",
        ),
    ] {
        assert_eq!(replaced(before, replace), expected, "{before:?}");
    }
}

#[test]
fn names_of_emoji_and_icons_stay() {
    let before = ":Acme: Acme :material-Acme: at 10:Acme:30, (:Acme:)\n";
    assert_eq!(page(before), ":Acme: Zenith :material-Acme: at 10:Zenith:30, (:Acme:)\n");
}

#[test]
fn labels_of_other_navigations_change_or_are_told_of() {
    let yaml = "site_name: Acme\nnav:\n  - Acme start: Acme.md\n  - 'Acme guides':\n      - Using Acme: a.md # Acme\nextra: Acme\n";
    let tree = site(&[("mkdocs.yml", yaml), ("docs/Acme.md", "# Acme\n"), ("docs/a.md", "# A\n")]);
    let (tree, refactored) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(
        text(&tree, "mkdocs.yml"),
        "site_name: Acme\nnav:\n  - Zenith start: Acme.md\n  - 'Zenith guides':\n      - Using Zenith: a.md # Acme\nextra: Acme\n"
    );
    assert_eq!(refactored.left, ["`mkdocs.yml`: 4 places that may be more than words, which are yours to change"]);

    let tree = site(&[
        ("docusaurus.config.js", "module.exports = {}\n"),
        ("sidebars.js", "module.exports = { docs: [{ type: 'category', label: 'Acme', items: ['Acme'] }] };\n"),
        ("docs/_category_.json", "{\"label\": \"Acme things\"}\n"),
        ("docs/a.md", "# Acme\n"),
        ("docs/Acme.md", "# A\n"),
    ]);
    let (tree, refactored) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(touched(&refactored), ["docs/_category_.json", "docs/a.md", "sidebars.js"]);
    assert_eq!(text(&tree, "docs/_category_.json"), "{\"label\": \"Zenith things\"}\n");
    assert!(text(&tree, "sidebars.js").contains("label: 'Zenith', items: ['Acme']"));
    assert!(refactored.left[0].starts_with("`sidebars.js`: 1 place"), "{:?}", refactored.left);

    let toml = "[project]\nsite_name = \"Acme\"\nnav = [{ Acme = \"Acme.md\" }, { \"Acme start\" = [\"a.md\"] }]\n";
    let tree = site(&[("zensical.toml", toml), ("docs/Acme.md", "# A\n"), ("docs/a.md", "# A\n")]);
    let (after, _) = everywhere(&tree, "Acme", "Zenith");
    let expected = toml.replace("{ Acme", "{ Zenith").replace("Acme start", "Zenith start");
    assert_eq!(text(&after, "zensical.toml"), expected);
    // A key of two words needs quotes.
    let (after, refactored) = everywhere(&tree, "Acme", "Big Co");
    assert_eq!(text(&after, "zensical.toml"), toml.replace("Acme start", "Big Co start"));
    assert!(refactored.left[0].starts_with("`zensical.toml`: 3 places"), "{:?}", refactored.left);
}

/// The docs root `docs` of a repository.
struct Docs(Files);

impl Tree for Docs {
    fn paths(&self) -> Vec<String> {
        self.0.keys().filter_map(|path| path.strip_prefix("docs/")).map(str::to_owned).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let inside = || self.0.get(&format!("docs/{path}"));
        path.strip_prefix("../").map_or_else(inside, |outside| self.0.get(outside)).cloned()
    }

    fn root(&self) -> &str {
        "docs"
    }

    fn paths_outside(&self) -> Vec<String> {
        self.0.keys().filter(|path| !path.starts_with("docs/")).map(|path| format!("../{path}")).collect()
    }
}

#[test]
fn labels_above_the_docs_root_change_and_what_is_no_label_is_told_of() {
    let replaced = |files: &[(&str, &str)]| {
        let tree = Docs(site(files));
        let refactored = replace_text(&tree, "Acme", "Zenith", &[]).expect("a refactor");
        let changed = touched(&refactored).into_iter().map(str::to_owned).collect::<Vec<_>>();
        (changed, refactored.left)
    };
    let yaml = "site_name: Acme\nnav:\n  - Acme start: index.md\n";
    let (changed, left) = replaced(&[
        ("mkdocs.yml", yaml),
        ("docs/index.md", "# Acme\n"),
        ("README.md", "Acme\n"),
        ("other/mkdocs.yml", yaml),
    ]);
    assert_eq!(changed, ["../mkdocs.yml", "index.md"]);
    assert_eq!(left, ["`../mkdocs.yml`: 1 place that may be more than words, which are yours to change"]);
    let json = "{\"name\": \"Acme\", \"description\": \"Acme: payments\", \"seo\": {\"metatags\": {\"og:site\": \"Acme\"}}, \"navigation\": [\"docs/a\"]}";
    let (changed, left) = replaced(&[("docs.json", json), ("docs/a.mdx", "Acme\n")]);
    assert_eq!(changed, ["../docs.json", "a.mdx"]);
    assert_eq!(left, ["`../docs.json`: 1 place that may be more than words, which are yours to change"]);
    let (_, refactored) =
        everywhere(&site(&[("docs.json", "{\"name\": \"Acme\""), ("a.mdx", "x\n")]), "Acme", "Zenith");
    assert_eq!(refactored.left, ["`docs.json` holds it, and is not JSON that can be read"]);
}

#[test]
fn an_address_changes_in_no_navigation_that_names_pages_in_its_own_way() {
    let sidebars = "{\"docs\": [{\"type\": \"link\", \"label\": \"/old\", \"href\": \"/old/x\"}, \"/old/x\"]}\n";
    let tree = site(&[
        ("docusaurus.config.js", "module.exports = {}\n"),
        ("sidebars.json", sidebars),
        ("docs/a.md", "/old\n"),
    ]);
    let (tree, _) = everywhere(&tree, "/old", "/new");
    assert_eq!(text(&tree, "sidebars.json"), sidebars.replace("\"label\": \"/old\"", "\"label\": \"/new\""));
}

#[test]
fn the_text_of_a_reference_ends_before_its_destination() {
    let before = "[a]: b.md\n\n[Acme][a] and Acme\n\n[Acme][c] and Acme\n\n[c]: d.md\n";
    let (tree, _) = everywhere(&site(&[("a.md", before)]), "Acme", "A]");
    let after = text(&tree, "a.md");
    assert!(after.contains("] and A]\n\n") && !after.contains("and A\\]"), "{after}");
}

#[test]
fn labels_of_a_toctree_are_text() {
    let toctree = |word: &str| {
        format!("# {word}\n\n```{{toctree}}\n:caption: {word} guides\n:maxdepth: 1\n\nUsing {word} <Acme>\nAcme\n```\n")
    };
    let tree =
        site(&[("conf.py", "extensions = ['myst_parser']\n"), ("index.md", &toctree("Acme")), ("Acme.md", "# A\n")]);
    assert_eq!(text(&everywhere(&tree, "Acme", "Zenith").0, "index.md"), toctree("Zenith"));
}

#[test]
fn prose_of_restructured_text_and_asciidoc_changes() {
    let rst = |word: &str, rule: &str| {
        format!(
            "{rule}\n{word} guide\n{rule}\n\nUse {word}, ``Acme``, `Acme`_ and :doc:`{word} <Acme>`.\n\n.. code-block:: sh\n\n   Acme\n\n\
             .. note:: {word}\n\n.. _Acme: b.html\n\n+------+\n| Acme |\n+------+\n"
        )
    };
    let adoc = |word: &str| {
        format!("= {word} guide\n:name: Acme\n\nUse {word} and `Acme`, xref:Acme.adoc[{word}].\n\n----\nAcme\n----\n")
    };
    let tree = site(&[
        ("conf.py", "project = 'x'\n"),
        ("a.rst", &rst("Acme", "==========")),
        ("Acme.rst", "A\n=\n"),
        ("a.adoc", &adoc("Acme")),
    ]);
    let (tree, replaced) = everywhere(&tree, "Acme", "Zenith");
    assert_eq!(text(&tree, "a.rst"), rst("Zenith", "============"));
    assert_eq!(text(&tree, "a.adoc"), adoc("Zenith"));
    assert!(replaced.left.iter().any(|left| left.contains("a.rst:16 is in a table")), "{:?}", replaced.left);
}
