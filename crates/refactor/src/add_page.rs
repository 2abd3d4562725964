//! Adds a page with a title and an outline.

use std::borrow::Cow;
use std::collections::HashMap;

use docent_markdown::{Format, file_name, folder, on_one_line};
use docent_site::{ChangedTree, NavigationFiles, Site, Tree};

use super::edit::Change;
use super::navigation::follow_navigation;
use super::selection::page_path;
use super::{RefactorError, Refactored, counted};

/// A heading of the new page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineHeading {
    /// 2 to 6.
    pub level: u8,
    pub text: String,
}

/// Adds a page that consists of this title and these headings, and an entry for it in the navigation.
pub fn add_page(
    tree: &dyn Tree,
    path: &str,
    title: &str,
    outline: &[OutlineHeading],
) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let path = new_page_path(&site, path);
    let like = format!("index.{}", usual_ending(&site, &path).unwrap_or("mdx"));
    let file = page_path(&site, &path, &like)?;
    let title = on_one_line(title);
    let text = match Format::of(&file) {
        Format::Notebook => {
            return Err(RefactorError::BadPath { path: file, why: "a notebook is made by the program that runs it" });
        }
        Format::Rst => in_rst(&title, outline),
        Format::Adoc => in_adoc(&title, outline),
        Format::Markdown | Format::Mdx => in_markdown(&file, &title, outline),
    };
    let mut added = Refactored {
        changes: vec![Change::Create { path: file.clone(), bytes: text.into_bytes() }],
        ..Refactored::default()
    };
    let navigation = NavigationFiles::of(tree, &site).add(&file, &title);
    // Some generators serve the pages that the navigation names, and no others.
    if !site.layout().holds_pages(&file) {
        let mut whole = added.clone();
        follow_navigation(&mut whole, navigation.clone());
        let mut after = ChangedTree::new(tree);
        whole.make(&mut after);
        if !Site::read(&after).layout().holds_pages(&file) {
            return Err(RefactorError::BadPath { path: file, why: "the site serves no pages from there" });
        }
    }
    let headings = match outline.len() {
        0 => String::new(),
        count => format!(" with {}", counted(count, "heading", "headings")),
    };
    added.summary = if navigation.is_shown {
        format!("Added `{file}`, “{title}”{headings}, to the site; the navigation shows it")
    } else if navigation.is_empty() {
        added.left.push("no navigation file that can be edited lists pages, so the page is in none".to_owned());
        format!("Added `{file}`, “{title}”{headings}")
    } else {
        let under = navigation.under.as_ref().map_or(String::new(), |group| format!(" under “{group}”"));
        format!("Added `{file}`, “{title}”{headings}, to the site and the navigation{under}")
    };
    follow_navigation(&mut added, navigation);
    Ok(added)
}

fn in_markdown(file: &str, title: &str, outline: &[OutlineHeading]) -> String {
    let mut text = format!("---\ntitle: {}\n---\n", serde_json::Value::from(title));
    for heading in outline {
        let level = usize::from(heading.level.clamp(2, 6));
        text.push_str(&format!("\n{} {}\n", "#".repeat(level), escaped(&on_one_line(&heading.text), file)));
    }
    text
}

/// Titles are underlined, with another character for each level. Non-ASCII characters count as two columns, so that the
/// underline is long enough for wide letters.
fn in_rst(title: &str, outline: &[OutlineHeading]) -> String {
    let titled = |level: u8, words: &str| {
        let sign = ["=", "-", "~", "^", "\"", "'"][usize::from(level.clamp(1, 6)) - 1];
        let words = words
            .replace('\\', "\\\\")
            .replace('*', "\\*")
            .replace('|', "\\|")
            .replace("_ ", "\\_ ")
            .replace('`', "``");
        let width: usize = words.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
        format!("{words}\n{}\n", sign.repeat(width.max(4)))
    };
    let mut text = titled(1, title);
    for heading in outline {
        text.push_str(&format!("\n{}", titled(heading.level.max(2), &on_one_line(&heading.text))));
    }
    text
}

/// A heading begins with one `=` per level. Text with AsciiDoc markup is wrapped in `pass:c[…]`; if it contains a `]`,
/// markup characters are removed instead.
fn in_adoc(title: &str, outline: &[OutlineHeading]) -> String {
    let escaped = |words: &str| match words.contains(['*', '_', '`', '#', '{', '<', '[', '+', '\\', '^', '~']) {
        true if words.contains("]") => words.replace(['`', '*', '{', '[', ']', '<'], ""),
        true => format!("pass:c[{words}]"),
        false => words.to_owned(),
    };
    let mut text = format!("= {}\n", escaped(title));
    for heading in outline {
        let level = usize::from(heading.level.clamp(2, 6));
        text.push_str(&format!("\n{} {}\n", "=".repeat(level), escaped(&on_one_line(&heading.text))));
    }
    text
}

/// Endings of pages in Markdown.
const MARKDOWN: [&str; 3] = ["md", "mdx", "markdown"];

/// The path of a page to be made, with the ending that the site's pages have: where a path has none, and where it has one
/// of Markdown that no page of the site has. Any other path stays as it is.
pub fn new_page_path<'p>(site: &Site, path: &'p str) -> Cow<'p, str> {
    let Some(usual) = usual_ending(site, path) else { return Cow::Borrowed(path) };
    let name = file_name(path);
    match name.rsplit_once('.') {
        None if !name.is_empty() => Cow::Owned(format!("{path}.{usual}")),
        Some((_, ending)) if MARKDOWN.contains(&ending) && MARKDOWN.contains(&usual) && !has_pages(site, ending) => {
            Cow::Owned(format!("{}{usual}", &path[..path.len() - ending.len()]))
        }
        _ => Cow::Borrowed(path),
    }
}

fn has_pages(site: &Site, ending: &str) -> bool {
    site.files().any(|file| site.is_page(file) && file.rsplit_once('.').is_some_and(|(_, other)| other == ending))
}

/// The most common extension of pages: in the same folder, else in the site.
fn usual_ending<'s>(site: &'s Site, path: &str) -> Option<&'s str> {
    let beside = folder(path.trim_start_matches('/'));
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    let is_written = |file: &&str| site.is_page(file) && Format::of(file) != Format::Notebook;
    for file in site.files().filter(is_written) {
        let ending = file.rsplit_once('.').map_or("mdx", |(_, ending)| ending);
        let count = counts.entry(ending).or_default();
        count.0 += usize::from(folder(file) == beside);
        count.1 += 1;
    }
    counts.into_iter().max_by_key(|(ending, count)| (*count, *ending)).map(|(ending, _)| ending)
}

/// Escapes the text of a heading for MDX.
fn escaped(words: &str, file: &str) -> String {
    if !file.to_lowercase().ends_with(".mdx") {
        return words.to_owned();
    }
    let mut code = false;
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        code ^= c == '`';
        if !code && matches!(c, '{' | '}' | '<') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{after, site, text};
    use docent_markdown::parse;

    #[test]
    fn a_page_beside_others_in_restructured_text_is_one_too() {
        let tree = site(&[("conf.py", "project = 'x'\n"), ("index.rst", ""), ("guide/a.rst", ""), ("README.md", "")]);
        let heading = |level, text: &str| OutlineHeading { level, text: text.to_owned() };
        let outline = [heading(2, "Use `it`"), heading(3, "快速"), heading(2, "2 * 3")];
        let added = add_page(&tree, "guide/b", "A  page", &outline).expect("added");
        let tree = after(&tree, &added);
        let written = text(&tree, "guide/b.rst");
        assert!(written.starts_with("A page\n======\n\nUse ``it``\n----------\n\n快速\n~~~~\n"), "{written}");
        let page = parse("guide/b.rst", written.as_bytes());
        let headings: Vec<_> = page.headings.iter().map(|heading| (heading.level, heading.text.as_str())).collect();
        assert_eq!(headings, [(1, "A page"), (2, "Use it"), (3, "快速"), (2, "2 * 3")]);
    }

    #[test]
    fn a_page_is_added_with_its_outline_and_navigation() {
        let tree = site(&[
            (
                "docs.json",
                r#"{"navigation": [{"group": "Start", "pages": ["index"]}, {"group": "Guides", "pages": ["guides/a"]}]}"#,
            ),
            ("index.mdx", ""),
            ("guides/a.md", ""),
        ]);
        let outline = [
            OutlineHeading { level: 2, text: "Install {it}".into() },
            OutlineHeading { level: 3, text: "On <Linux>, by `{x}`".into() },
        ];
        let added = add_page(&tree, "/guides/b.mdx", "B \"b\"", &outline).expect("added");
        assert_eq!(
            added.summary,
            "Added `guides/b.mdx`, “B \"b\"” with 2 headings, to the site and the navigation under “Guides”"
        );
        let tree = after(&tree, &added);
        let page = text(&tree, "guides/b.mdx");
        assert_eq!(page, "---\ntitle: \"B \\\"b\\\"\"\n---\n\n## Install \\{it\\}\n\n### On \\<Linux>, by `{x}`\n");
        let parsed = parse("guides/b.mdx", page.as_bytes());
        assert_eq!(parsed.problems, []);
        assert_eq!(parsed.title.as_deref(), Some("B \"b\""));
        assert_eq!(parsed.headings.len(), 2);
        assert!(text(&tree, "docs.json").contains(r#"["guides/a", "guides/b"]"#));
    }

    #[test]
    fn a_page_beside_others_in_asciidoc_is_one_too() {
        let tree = site(&[
            ("antora.yml", "name: tool\nversion: ~\nnav:\n- modules/ROOT/nav.adoc\n"),
            ("modules/ROOT/nav.adoc", "* xref:a.adoc[]\n* xref:m:b.adoc[B]\n"),
            ("modules/ROOT/pages/a.adoc", "= A\n"),
            ("modules/m/pages/b.adoc", "= B\n"),
        ]);
        let outline = [OutlineHeading { level: 2, text: "With `code` and {braces}".into() }];
        let added = add_page(&tree, "modules/m/pages/c", "A title", &outline).unwrap();
        let tree = after(&tree, &added);
        let written = text(&tree, "modules/m/pages/c.adoc");
        assert_eq!(written, "= A title\n\n== pass:c[With `code` and {braces}]\n");
        let page = parse("modules/m/pages/c.adoc", written.as_bytes());
        let words: Vec<_> = page.headings.iter().map(|heading| heading.text.as_str()).collect();
        assert_eq!(words, ["A title", "With `code` and {braces}"]);
        assert_eq!(
            text(&tree, "modules/ROOT/nav.adoc"),
            "* xref:a.adoc[]\n* xref:m:b.adoc[B]\n* xref:m:c.adoc[A title]\n"
        );
    }

    #[test]
    fn a_page_that_only_the_navigation_makes_one_is_added_with_its_entry() {
        let tree = site(&[
            ("book.toml", "[book]\nsrc = \"src\"\n"),
            ("src/SUMMARY.md", "# S\n- [A](a.md)\n"),
            ("src/a.md", "# A\n"),
        ]);
        let added = add_page(&tree, "src/z", "Zed", &[]).expect("added");
        let after = after(&tree, &added);
        assert_eq!(text(&after, "src/SUMMARY.md"), "# S\n- [A](a.md)\n- [Zed](z.md)\n");
        assert!(text(&after, "src/z.md").contains("Zed"));
        assert!(matches!(add_page(&tree, "other/z", "Zed", &[]), Err(RefactorError::BadPath { .. })));
    }

    #[test]
    fn a_page_of_docusaurus_is_named_by_its_own_id() {
        let tree = site(&[
            ("docusaurus.config.js", "module.exports = {}\n"),
            ("sidebars.json", "{\n  \"docs\": [\n    \"first\",\n    \"second-page\"\n  ]\n}\n"),
            ("docs/First.md", "---\nid: first\n---\n"),
            ("docs/SecondPage.md", "---\nid: second-page\n---\n"),
        ]);
        let added = add_page(&tree, "docs/Zeta", "Zeta page", &[]).expect("added");
        let sidebars = text(&after(&tree, &added), "sidebars.json");
        assert!(sidebars.contains("\"second-page\",\n    \"Zeta\"\n"), "{sidebars}");
    }

    #[test]
    fn a_page_takes_the_ending_of_its_neighbours() {
        let tree = site(&[("a.md", ""), ("b.md", ""), ("x/c.mdx", "")]);
        let ending = |path: &str| add_page(&tree, path, "T", &[]).expect("added").changes[0].path().to_owned();
        assert_eq!(ending("new"), "new.md");
        assert_eq!(ending("x/new"), "x/new.mdx");
        assert_eq!(ending("y/new"), "y/new.md");
        assert_eq!(add_page(&site(&[]), "new", "T", &[]).expect("added").changes[0].path(), "new.mdx");
        assert!(add_page(&tree, "a", "T", &[]).is_err());
    }
}
