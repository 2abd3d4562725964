use super::*;
use crate::sample::{Files, site};

fn read_in(tree: &Files, file: &str) -> FileRead {
    read_file(&Layout::read(tree), file, &tree[file], tree)
}

#[test]
fn a_page_without_a_generator_is_where_its_file_is() {
    let tree = site(&[
        ("guides/a.md", "---\nslug: b\nsidebar_label: Short\naliases: [/old]\n---\nText"),
        ("guides/rate-limits.md", "Text"),
        ("guides/draft.md", "---\ndraft: true\n---\nText"),
        ("snippets/x.md", "Text"),
    ]);
    let page = |file: &str| read_in(&tree, file).pages.remove(0);
    let a = page("guides/a.md");
    assert_eq!((a.place.site_path.as_str(), a.place.title.as_deref()), ("guides/a", Some("Short")));
    assert_eq!((a.page.title.as_deref(), a.aliases.as_slice()), (Some("Short"), &["/old".to_owned()][..]));
    assert_eq!(page("guides/rate-limits.md").page.title.as_deref(), Some("Rate limits"));
    assert!(a.place.listed && !page("guides/draft.md").place.listed && !page("snippets/x.md").place.listed);
}

#[test]
fn a_page_that_the_navigation_forgot_is_told_of() {
    let tree = site(&[
        ("docs.json", r#"{"navigation": {"pages": ["a"]}}"#),
        ("a.mdx", "Text"),
        ("forgotten.mdx", "Text"),
        ("hidden.mdx", "---\nhidden: true\n---\nText"),
        ("snippets/x.mdx", "Text"),
    ]);
    let problem_count = |file: &str| read_in(&tree, file).problems.len();
    assert_eq!(["a.mdx", "forgotten.mdx", "hidden.mdx", "snippets/x.mdx"].map(problem_count), [0, 1, 0, 0]);
    assert!(!read_in(&tree, "forgotten.mdx").pages[0].place.listed);
}

#[test]
fn problems_name_the_line_of_the_file() {
    let tree = site(&[
        ("a.mdx", "---\ntitle: A\n---\nimport P from './_p.mdx'\n\n<P />\n\n:::note\nx\n:::\n\n<Open>\n"),
        ("_p.mdx", "one\n\ntwo\n\nthree\n"),
    ]);
    let read = read_in(&tree, "a.mdx");
    assert_eq!(read.problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [12]);
    let [page] = read.pages.as_slice() else { panic!("one page") };
    assert_eq!(page.page.sections[0].text, "one\n\ntwo\n\nthree\n\nNote\n\nx");
}

#[test]
fn headings_have_the_anchors_their_generator_makes() {
    let page = "# A\n\n## What's new?\n\n## What's new?\n\n## Named { #own }\n";
    for (configuration, text, anchors) in [
        ("mkdocs.yml", "site_name: x\n", ["a", "whats-new", "whats-new_1", "own"]),
        (".vitepress/config.ts", "export default { srcDir: 'docs' }", ["a", "what-s-new", "what-s-new-1", "own"]),
        ("docusaurus.config.js", "module.exports = {}", ["", "whats-new", "whats-new-1", "own"]),
    ] {
        let tree = site(&[(configuration, text), ("docs/a.md", page)]);
        let read = read_in(&tree, "docs/a.md");
        let headings = &read.pages[0].page.headings;
        let found: Vec<&str> = headings.iter().map(|heading| heading.anchor.as_str()).collect();
        assert_eq!(found, anchors, "{configuration}");
        assert_eq!(headings[3].text, "Named");
    }
}

#[test]
fn words_that_scripts_write_out_are_read() {
    let tree = site(&[(
        "a.mdx",
        "A {\"plain\"} word{' '}and {`more`}, not {count} or {`${x}`}.\n\n{\"alone\"}\n\n<Card title={\"T\"}>x</Card>\n",
    )]);
    let read = read_in(&tree, "a.mdx");
    let section = &read.pages[0].page.sections[0];
    assert_eq!(section.text, "A plain word and more, not or .\n\nalone\n\nT\n\nx");
    assert!(section.markdown.starts_with("A plain word and more, not or .\n\nalone"), "{}", section.markdown);
}

#[test]
fn markup_of_templates_does_not_reach_readers() {
    let hugo = "{{< tab \"A\" >}}\nOne [b](b.md).\n{{< /tab >}}\n\n```\n{{< tab >}}\n```\n";
    let gitbook = "{% hint style=\"info\" %}\nOne [b](b.md).\n{% endhint %}\n\n```\n{% hint %}\n```\n";
    let python = "/// note | A\n\nOne [b](b.md).\n///\n\n```\n/// note\n```\n";
    for (configuration, text, page, title, code) in [
        ("hugo.toml", "baseURL = 'https://a.org'\n", hugo, "A", "{{< tab >}}"),
        (".gitbook.yaml", "root: ./\n", gitbook, "Info", "{% hint %}"),
        ("_config.yml", "title: x\n", gitbook, "Info", "{% hint %}"),
        ("mkdocs.yml", "site_name: x\n", python, "A", "/// note"),
        ("zensical.toml", "[project]\nsite_name = \"x\"\n", python, "A", "/// note"),
    ] {
        let folder = match configuration {
            "hugo.toml" => "content/",
            "mkdocs.yml" | "zensical.toml" => "docs/",
            _ => "",
        };
        let file = format!("{folder}a.md");
        let tree = site(&[(configuration, text), (&file, &format!("---\ntitle: T\n---\n\n{page}"))]);
        let read = read_in(&tree, &file);
        let section = &read.pages[0].page.sections[0];
        assert_eq!(section.markdown, format!("**{title}**\n\nOne [b](b.md).\n\n```\n{code}\n```"), "{configuration}");
        assert_eq!(read.pages[0].page.links.len(), 1);
    }
    // Elsewhere, these are words.
    let tree =
        site(&[("docusaurus.config.js", "module.exports = {}"), ("docs/a.md", "/// note\n\n{% hint %} {{< a >}}\n")]);
    assert_eq!(read_in(&tree, "docs/a.md").pages[0].page.sections[0].markdown, "/// note\n\n{% hint %} {{< a >}}");
}
