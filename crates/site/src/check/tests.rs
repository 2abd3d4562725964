use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;
use crate::sample::Files;

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}

fn titled(body: &str) -> String {
    format!("---\ntitle: T\n---\n{body}\n")
}

fn pages(pages: &[(&str, &str)]) -> Files {
    pages.iter().map(|(path, body)| ((*path).to_owned(), titled(body).into_bytes())).collect()
}

/// A tree that counts how often each file is read.
struct Counting {
    files: Files,
    read: RefCell<BTreeMap<String, usize>>,
}

impl Counting {
    fn of(files: Files) -> Self {
        Self { files, read: RefCell::default() }
    }

    fn files_read(&self) -> usize {
        self.read.borrow().len()
    }
}

impl Tree for Counting {
    fn paths(&self) -> Vec<String> {
        self.files.paths()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let bytes = self.files.read(path)?;
        *self.read.borrow_mut().entry(path.to_owned()).or_default() += 1;
        Some(bytes)
    }
}

#[test]
fn everything_that_is_wrong_is_found() {
    let mut tree = pages(&[
        ("a.mdx", "[x](/nowhere) [y](b#gone) [z](b#there) [e](https://x.y) [i](missing.png) [self](#no)\n\n{oops"),
        ("b.mdx", "## There"),
        ("c.mdx", "<Accordion title=\"How to do it\">x</Accordion>"),
        ("d.mdx", "[x](/c#how-to-do-it) [y](/e)"),
    ]);
    tree.insert("e.md".into(), b"# No title\n".to_vec());
    tree.insert("snippets/s.mdx".into(), b"[relative](./wherever)\n".to_vec());
    tree.insert("docs.json".into(), b"{\"navigation\": [{\"group\": \"G\", \"pages\": [\n\"a\",\n\"zz\"]}]}".to_vec());
    let found = findings(&tree).findings;
    let unreadable: Vec<&Finding> = found.iter().filter(|finding| finding.kind == FindingKind::Unreadable).collect();
    assert_eq!(unreadable.len(), 1, "{found:?}");
    let rest: Vec<Finding> = found.iter().filter(|finding| finding.kind != FindingKind::Unreadable).cloned().collect();
    assert_eq!(
        messages(&rest),
        [
            "a.mdx:4 `/nowhere` leads nowhere",
            "a.mdx:4 `missing.png` leads nowhere",
            "a.mdx:4 `#no` names an anchor that `a.mdx` does not have",
            "a.mdx:4 `b#gone` names an anchor that `b.mdx` does not have",
            "docs.json:3 the navigation names `zz`, and there is no such page",
            "e.md:1 the front matter has no `title`",
        ]
    );
    assert_eq!(findings_in(&tree, &["b.mdx".to_owned()]), Checked::default());
}

#[test]
fn only_what_is_new_is_told() {
    let before =
        pages(&[("a.mdx", "[x](/nowhere)"), ("b.mdx", "## One\n\n## Two"), ("c.mdx", "[x](/b#one) [y](/b#two)")]);
    let mut after = before.clone();
    after.insert("a.mdx".into(), titled("new line\n\n[x](/nowhere) [y](/nothing.md)").into_bytes());
    after.insert("b.mdx".into(), titled("## One\n\n## 2").into_bytes());
    let changed = ["a.mdx".to_owned(), "b.mdx".to_owned()];
    assert_eq!(
        messages(&new_findings(&before, &after, &changed).findings),
        ["a.mdx:6 `/nothing.md` leads nowhere", "c.mdx:4 `/b#two` names an anchor that `b.mdx` does not have"]
    );
    assert_eq!(new_findings(&before, &before, &changed), Checked::default());
}

#[test]
fn a_broken_link_in_the_place_of_another_is_new() {
    let before = pages(&[("a.mdx", "[x](/nowhere.md)"), ("b.mdx", "x")]);
    let mut after = before.clone();
    after.insert("a.mdx".into(), titled("[x](/nothing.md)").into_bytes());
    assert_eq!(
        messages(&new_findings(&before, &after, &["a.mdx".to_owned()]).findings),
        ["a.mdx:4 `/nothing.md` leads nowhere"]
    );
}

#[test]
fn references_to_removed_pages_are_reported() {
    let mut before = pages(&[("guides/a.mdx", "[own](/nowhere)"), ("b.mdx", "[x](guides/a)"), ("c.mdx", "nothing")]);
    before.insert("docs.json".into(), br#"{"navigation": [{"group": "G", "pages": ["guides/a"]}]}"#.to_vec());
    let mut after = before.clone();
    let page = after.remove("guides/a.mdx").expect("a page");
    let changed = ["guides/a.mdx".to_owned()];
    assert_eq!(
        messages(&new_findings(&before, &after, &changed).findings),
        ["b.mdx:4 `guides/a` leads nowhere", "docs.json:1 the navigation names `guides/a`, and there is no such page"]
    );
    // Moved, with a redirect: its known findings are not new under its new path.
    after.insert("z.mdx".into(), page);
    after.insert(
        "docs.json".into(),
        br#"{"navigation": [{"group": "G", "pages": ["z"]}], "redirects": [{"source": "/guides/a", "destination": "/z"}]}"#.to_vec(),
    );
    let changed = ["guides/a.mdx".to_owned(), "z.mdx".to_owned(), "docs.json".to_owned()];
    assert_eq!(new_findings(&before, &after, &changed), Checked::default());
}

#[test]
fn a_link_that_was_broken_and_followed_a_page_is_not_new() {
    let before = pages(&[("a.mdx", "[x](/b#gone) [y](/b#gone)"), ("b.mdx", "x")]);
    let mut after = before.clone();
    let page = after.remove("b.mdx").expect("a page");
    after.insert("c.mdx".into(), page);
    after.insert("a.mdx".into(), titled("[x](/c#gone) [y](/c#lost)").into_bytes());
    let changed = ["a.mdx".to_owned(), "b.mdx".to_owned(), "c.mdx".to_owned()];
    assert_eq!(
        messages(&new_findings(&before, &after, &changed).findings),
        ["a.mdx:4 `/c#lost` names an anchor that `c.mdx` does not have"]
    );
}

#[test]
fn a_small_change_costs_little() {
    let mut files: Files = (0..500).map(|n| (format!("p{n}.mdx"), titled("words [x](/p1#h)").into_bytes())).collect();
    files.insert("p1.mdx".into(), titled("## H").into_bytes());
    let mut changed_files = files.clone();
    changed_files.insert("p7.mdx".into(), titled("other words [x](/p1#h)").into_bytes());
    let (before, after) = (Counting::of(files.clone()), Counting::of(changed_files));
    assert_eq!(new_findings(&before, &after, &["p7.mdx".to_owned()]), Checked::default());
    assert_eq!((before.files_read(), after.files_read()), (2, 2));

    let mut lost = files.clone();
    lost.insert("p1.mdx".into(), titled("## Other").into_bytes());
    assert_eq!(new_findings(&files, &lost, &["p1.mdx".to_owned()]).findings.len(), 499);
}

#[test]
fn a_redirect_that_goes_leaves_links_broken() {
    let mut before = pages(&[("a.mdx", "[x](/old)"), ("b.mdx", "x")]);
    before.insert("docs.json".into(), br#"{"redirects": [{"source": "/old", "destination": "/b"}]}"#.to_vec());
    let mut after = before.clone();
    after.insert("docs.json".into(), b"{}".to_vec());
    assert_eq!(
        messages(&new_findings(&before, &after, &["docs.json".to_owned()]).findings),
        ["a.mdx:4 `/old` leads nowhere"]
    );
}

#[test]
fn a_redirect_that_goes_from_another_configuration_leaves_links_broken() {
    let config = |map: &str| format!("site_name: x\nplugins:\n  - redirects:\n      redirect_maps:\n{map}");
    let files = |map: &str| {
        let page = titled("[x](/old/)");
        crate::sample::site(&[("mkdocs.yml", &config(map)), ("docs/index.md", &page), ("docs/b.md", "# B\n")])
    };
    let (before, after) = (files("        old.md: b.md\n"), files("        other.md: b.md\n"));
    assert_eq!(new_findings(&before, &before, &["mkdocs.yml".to_owned()]), Checked::default());
    let found = new_findings(&before, &after, &["mkdocs.yml".to_owned()]);
    assert_eq!(messages(&found.findings), ["docs/index.md:4 `/old/` leads nowhere"]);
}

#[test]
fn anchors_that_are_no_headings_of_commonmark_are_not_called_broken() {
    let text = "# T\n\n=== \"One\"\n\n    ## In a tab\n\n![x](y.png){ #figure }\n\n(a-label)=\n## H\n\n::: package.module\n\n\
                <img alt=\"Set up\"><Box title=\"Open it\" href=\"shut\">\n\n## Über `the` {{ version }}\n\n```yaml\n# {{ setting }}\n```\n";
    let link = |anchor: &str| format!("---\ntitle: A\n---\n[x](b.md#{anchor})\n");
    let mkdocs = ("mkdocs.yml", "site_name: x\n");
    let sphinx = ("docs/conf.py", "extensions = ['myst_parser']\n");
    for (configuration, anchor, broken) in [
        (mkdocs, "in-a-tab", false),
        (mkdocs, "in-a-tab_1", true),
        (mkdocs, "figure", false),
        (mkdocs, "package.module.Class", false),
        (mkdocs, "in-a-box", true),
        (mkdocs, "x", true),
        (mkdocs, "open-it", false),
        (mkdocs, "uber-the-3", false),
        // What only another generator, a picture, an address or an example would make.
        (mkdocs, "a-label", true),
        (sphinx, "a-label", false),
        (sphinx, "package.module.Class", true),
        (mkdocs, "set-up", true),
        (mkdocs, "shut", true),
        (mkdocs, "setting", true),
    ] {
        let files = [configuration, ("docs/a.md", &link(anchor)), ("docs/b.md", text)];
        let found = findings_in(&crate::sample::site(&files), &["docs/a.md".to_owned()]);
        assert_eq!(found.findings.iter().any(|found| found.kind == FindingKind::BrokenAnchor), broken, "{anchor}");
    }
}

#[test]
fn an_anchor_by_the_rules_of_a_build_is_asked_about_unless_a_heading_has_it() {
    for (configuration, holds, certain) in
        [(".gitbook.yaml", "structure:\n  summary: SUMMARY.md\n", false), ("book.toml", "[book]\nsrc = \".\"\n", true)]
    {
        let before = crate::sample::site(&[
            (configuration, holds),
            ("SUMMARY.md", "* [A](a.md)\n* [B](b.md)\n"),
            ("a.md", "# A\n"),
            ("b.md", "# B\n\n## A part\n"),
        ]);
        let mut after = before.clone();
        after.insert("a.md".into(), b"# A\n\n[x](b.md#a-part) [y](b.md#no-part)\n".to_vec());
        let checked = new_findings(&before, &after, &["a.md".to_owned()]);
        let doubts = checked.doubts.iter().flat_map(|doubt| &doubt.findings);
        let (told, asked): (Vec<_>, Vec<_>) =
            (checked.findings.iter().map(|found| &found.target).collect(), doubts.map(|found| &found.target).collect());
        let expected = if certain { (1, 0) } else { (0, 1) };
        assert_eq!((told.len(), asked.len()), expected, "{told:?} {asked:?}");
        assert!(told.into_iter().chain(asked).all(|target| target == "b.md#no-part"));
    }
}

#[test]
fn an_entry_of_a_summary_may_have_no_page() {
    for (file, text) in [("book.toml", "[book]\nsrc = \".\"\n"), (".gitbook.yaml", "root: ./\n")] {
        let tree = crate::sample::site(&[
            (file, text),
            ("SUMMARY.md", "- [A](a.md)\n- [B]()\n"),
            ("a.md", "---\ntitle: A\n---\n[b]()\n"),
        ]);
        let Checked { findings, doubts } = findings(&tree);
        assert_eq!((messages(&findings), doubts), (vec!["a.md:4 `` leads nowhere".to_owned()], vec![]), "{file}");
    }
}

#[test]
fn the_text_of_an_include_has_anchors_and_no_others() {
    for (configuration, include, part) in [
        ("mkdocs.yml", "--8<-- \"docs/part.md\"", "docs/part.md"),
        (".vitepress/config.ts", "<!--@include: ./part.md-->", "docs/part.md"),
        ("book.toml", "{{#include part.md}}", "docs/part.md"),
        ("docs.json", "<Snippet file=\"part.md\" />", "snippets/part.md"),
        ("docusaurus.config.js", "import Part from './_part.md'\n\n<Part />", "docs/_part.md"),
        ("conf.py", "```{include} part.md\n```", "docs/part.md"),
    ] {
        let holds = match configuration {
            "mkdocs.yml" => "site_name: x\nmarkdown_extensions: [pymdownx.snippets]\n",
            "book.toml" => "[book]\nsrc = \"docs\"\n",
            "conf.py" => "extensions = ['myst_parser']\nmyst_heading_anchors = 3\n",
            _ => "{}",
        };
        let page = format!("# B\n\n{include}\n");
        let link = if configuration == "docs.json" { "/docs/b" } else { "b.md" };
        let links = format!("---\ntitle: A\n---\n[x]({link}#shared-part) [y]({link}#no-part)\n");
        let files = [
            (configuration, holds),
            ("docs/SUMMARY.md", "[A](a.md)\n[B](b.md)\n"),
            ("docs/a.md", links.as_str()),
            ("docs/b.md", page.as_str()),
            (part, "## Shared part\n"),
        ];
        let found = findings_in(&crate::sample::site(&files), &["docs/a.md".to_owned()]);
        let told: Vec<&str> = found.findings.iter().map(|found| found.message.as_str()).collect();
        let expected = format!("`{link}#no-part` names an anchor that `docs/b.md` does not have");
        assert_eq!(told, [expected], "{configuration}");
    }
}
