//! Adds missing titles and descriptions, from the text of the pages.

use docent_markdown::{Page, capitalised, is_markdown, on_one_line, parse, text_of};
use docent_site::{Site, Tree, is_fragment};

use super::edit::Change;
use super::field::{self, FieldContent, FrontMatterUse, is_read_elsewhere};
use super::selection::Selection;
use super::{RefactorError, Refactored, counted};

/// Maximum length of a description, in characters: what search engines show.
const DESCRIPTION: usize = 160;
/// Maximum length of a title taken from a first sentence, in characters.
const TITLE: usize = 60;

/// Adds a `title` to every selected page without one: its first heading of level one, else its first heading, else its
/// first words, else its file's name.
pub fn add_titles(tree: &dyn Tree, within: &[String]) -> Result<Refactored, RefactorError> {
    // A page with a title for the navigation shows another one, or none, on purpose.
    let has = |page: &Page| page.front_matter.title().or_else(|| page.front_matter.sidebar_title()).is_some();
    let title = |page: &Page, raw: &str| {
        let mut headings = page.headings.iter().filter(|heading| heading.level == 1).chain(page.headings.first());
        let heading = headings
            .find_map(|heading| Some(on_one_line(&heading.text)).filter(|text| !text.is_empty() && is_text(text)));
        heading.or_else(|| first_words(page, raw, TITLE)).or_else(|| Some(from_name(&page.path)))
    };
    add(tree, within, "title", has, title)
}

/// Adds a `description` to every selected page without one: its first words.
pub fn add_descriptions(tree: &dyn Tree, within: &[String]) -> Result<Refactored, RefactorError> {
    let has = |page: &Page| page.front_matter.description().is_some();
    add(tree, within, "description", has, |page, raw| first_words(page, raw, DESCRIPTION))
}

fn add(
    tree: &dyn Tree,
    within: &[String],
    name: &str,
    has: impl Fn(&Page) -> bool,
    find: impl Fn(&Page, &str) -> Option<String>,
) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let selection = Selection::of(&site, within)?;
    let allowed = FrontMatterUse::of(tree, &site);
    let mut added = Refactored::default();
    let mut as_text = 0;
    let is_meant = |file: &&str| site.is_page(file) && is_markdown(file) && selection.has(file) && !is_fragment(file);
    for file in site.files().filter(is_meant) {
        let Some(bytes) = tree.read(file) else { continue };
        let page = parse(file, &bytes);
        if has(&page) || is_read_elsewhere(file) {
            continue;
        }
        if !allowed.allows(&site, &page) {
            as_text += 1;
            continue;
        }
        let Some(value) = find(&page, &text_of(&bytes)) else {
            added.left.push(format!("{file} has no words to take a {name} from"));
            continue;
        };
        match field::set(&page, &bytes, name, &FieldContent::Text(value.clone())) {
            Ok(Some(edit)) => {
                added.details.push(format!("{file}: “{value}”"));
                added.changes.push(Change::Edit { path: file.to_owned(), edits: vec![edit] });
            }
            Ok(None) => {}
            Err(why) => added.left.push(format!("{file}: {why}")),
        }
    }
    if as_text > 0 {
        let pages =
            counted(as_text, "page has no front matter, and readers", "pages have no front matter, and readers");
        added.left.push(format!("{pages} would see it as text"));
    }
    let many = format!("{name}s");
    added.summary = match (added.changes.len(), added.left.len()) {
        (0, 0) => format!("No page lacks a {name}"),
        (0, left) => format!("Added no {name}; {} without", counted(left, "page is left", "pages are left")),
        (count, 0) => format!("Added {}", counted(count, name, &many)),
        (count, left) => {
            format!(
                "Added {}; {} without",
                counted(count, name, &many),
                counted(left, "page is left", "pages are left")
            )
        }
    };
    Ok(added)
}

/// The first sentences of a page's text, up to `limit` characters.
fn first_words(page: &Page, raw: &str, limit: usize) -> Option<String> {
    let paragraphs = page.sections.iter().flat_map(|section| section.text.split("\n\n"));
    let mut paragraphs = paragraphs.map(on_one_line).filter_map(|text| {
        let text = whole_sentences(text.trim_start_matches(['-', '*', '>', '•', ' ']))?;
        let is_long_enough = text.chars().filter(|c| c.is_alphabetic()).count() >= 3;
        (is_long_enough && is_text(text) && !is_date(text) && !begins_with_kind(text, raw)).then(|| text.to_owned())
    });
    Some(shortened(&paragraphs.next()?, limit))
}

/// A text without a last sentence that only introduces what follows, such as a list or code.
fn whole_sentences(text: &str) -> Option<&str> {
    if !text.ends_with(':') {
        return Some(text);
    }
    let end = [". ", "! ", "? "].iter().filter_map(|end| text.rfind(end)).max()?;
    Some(&text[..=end])
}

/// `April 20, 2023`: a text with digits in which no word begins in lowercase.
fn is_date(text: &str) -> bool {
    let is_small =
        |word: &str| word.starts_with(|c: char| c.is_lowercase() || (c.is_alphabetic() && !c.is_uppercase()));
    text.contains(|c: char| c.is_ascii_digit()) && !text.split_whitespace().any(is_small)
}

/// Whether a paragraph is the content of an admonition, whose kind was parsed as its first word.
fn begins_with_kind(text: &str, raw: &str) -> bool {
    let kind = text.split_whitespace().next().unwrap_or("");
    let marks = ["!!! ", "???", "???+ ", ":::", "::: "];
    kind.chars().all(|c| c.is_ascii_lowercase()) && marks.iter().any(|mark| raw.contains(&format!("{mark}{kind}")))
}

/// Whether words are plain text: no directive, no template tag, no unparsed markup.
fn is_text(words: &str) -> bool {
    let has_tag = words
        .match_indices('<')
        .any(|(at, _)| words[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!%".contains(c)));
    let begins =
        [":::", "!!!", "???", "[[", "[!", "[TOC]", "|", "---", "+++", "import ", "export ", "@", "#", "<<<", "--8<--"];
    !has_tag
        && !["{{", "{%", "{#", "{:", "{.", "{<", "](", "::"].iter().any(|mark| words.contains(mark))
        && !begins.iter().any(|mark| words.starts_with(mark))
}

/// Cuts a text after the last sentence that fits, else after the last word.
fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let end = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    let mut sentence = head.char_indices().filter(|(at, c)| {
        let after = &text[at + c.len_utf8()..];
        "。！？".contains(*c) || (".!?".contains(*c) && after.starts_with(char::is_whitespace))
    });
    if let Some((at, c)) = sentence.next_back().filter(|(at, _)| *at * 3 > end) {
        return head[..at + c.len_utf8()].to_owned();
    }
    let last = head.char_indices().next_back().map_or(0, |(at, _)| at);
    let word = head[..last].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(last);
    format!("{}…", head[..word].trim_end_matches([' ', ',', ';', ':', '–', '-']))
}

/// The title for a path: `Set up webhooks` for `guides/set_up-webhooks.mdx`; the folder's name for an index.
fn from_name(path: &str) -> String {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let mut parts = stem.rsplit('/');
    let name = match parts.next().unwrap_or(stem) {
        name @ ("index" | "README" | "readme") => parts.next().unwrap_or(name),
        name => name,
    };
    let words = on_one_line(&name.replace(['-', '_'], " "));
    if words.is_empty() { "Untitled".to_owned() } else { capitalised(&words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{after, site, text, touched};

    #[test]
    fn titles_come_from_the_page() {
        let tree = site(&[
            ("docs.json", "{}"),
            ("README.md", "# Read me\n"),
            ("side.md", "---\nsidebarTitle: Side\n---\n# S\n"),
            ("a.md", "## Sub\n\n# Main: the *best*\n"),
            ("b.md", "---\ndescription: x\n---\n\n## Only\n"),
            ("c.md", "Just a few words. And more of them that would make this too long for any title there is.\n"),
            ("my-page.md", ""),
            ("d.md", "---\ntitle: D\n---\n# Other\n"),
            ("snippets/e.md", "x\n"),
        ]);
        let added = add_titles(&tree, &[]).expect("titles");
        assert_eq!(added.summary, "Added 4 titles");
        let tree = after(&tree, &added);
        assert_eq!(text(&tree, "a.md"), "---\ntitle: \"Main: the best\"\n---\n\n## Sub\n\n# Main: the *best*\n");
        assert_eq!(text(&tree, "b.md"), "---\ntitle: Only\ndescription: x\n---\n\n## Only\n");
        assert!(
            text(&tree, "c.md")
                .starts_with("---\ntitle: Just a few words. And more of them that would make this…\n---\n\nJust"),
            "{}",
            text(&tree, "c.md")
        );
        assert_eq!(text(&tree, "my-page.md"), "---\ntitle: My page\n---\n\n");
    }

    #[test]
    fn descriptions_are_the_first_words() {
        let long = format!(
            "{} {}",
            "This is the first sentence, which is of middling length.",
            "And this one goes on and on. ".repeat(9)
        );
        let tree = site(&[
            ("a.mdx", "---\ntitle: A\n---\n\n# A\n\nA [link](/x) and\nmore: words.\n\nSecond.\n"),
            ("b.mdx", &format!("---\ntitle: B\n---\n{long}\n")),
            ("c.mdx", "---\ntitle: C\n---\n"),
            ("d.mdx", "---\ntitle: D\ndescription: there\n---\nx\n"),
        ]);
        let added = add_descriptions(&tree, &[]).expect("descriptions");
        assert_eq!(touched(&added), ["a.mdx", "b.mdx"]);
        assert_eq!(added.left, ["c.mdx has no words to take a description from"]);
        let tree = after(&tree, &added);
        assert!(text(&tree, "a.mdx").starts_with("---\ntitle: A\ndescription: \"A link and more: words.\"\n---\n"));
        let b = text(&tree, "b.mdx");
        let line = b.lines().nth(2).expect("a description");
        assert!(line.starts_with("description: This is the first sentence") && line.ends_with("on and on."), "{line}");
        assert!(line.chars().count() <= DESCRIPTION + "description: ".len());
    }

    #[test]
    fn descriptions_are_taken_from_text_only() {
        let tree = site(&[
            ("docs.json", "{}"),
            (
                "a.md",
                "---\ntitle: A\n---\n{% include note.html %} now\n\n:::tip\n\n{{< intro >}} words\n\n!!! note\n    Beside it.\n\nApril 20, 2023\n\nWords for readers. For example:\n",
            ),
            ("b.md", "# {{ page.name }}\n\nThe words here.\n"),
        ]);
        let described = after(&tree, &add_descriptions(&tree, &["a".into()]).expect("descriptions"));
        assert!(text(&described, "a.md").contains("description: Words for readers.\n"), "{}", text(&described, "a.md"));
        let titled = after(&tree, &add_titles(&tree, &["b".into()]).expect("titles"));
        assert!(text(&titled, "b.md").starts_with("---\ntitle: The words here.\n"), "{}", text(&titled, "b.md"));
        let plain = site(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
        let none = add_titles(&plain, &[]).expect("titles");
        assert_eq!(
            (none.changes.len(), none.left.as_slice()),
            (0, &["2 pages have no front matter, and readers would see it as text".to_owned()][..])
        );
    }

    #[test]
    fn a_page_that_begins_with_metadata_without_fences_is_left_alone() {
        let tree = site(&[("mkdocs.yml", "site_name: x\n"), ("docs/a.md", "Title: A\n\nWords for readers.\n")]);
        let described = add_descriptions(&tree, &["docs/a.md".into()]).expect("descriptions");
        assert_eq!(described.changes, []);
        assert!(described.left.concat().contains("reads as metadata"), "{:?}", described.left);
    }

    #[test]
    fn a_text_without_spaces_is_cut_between_characters() {
        let text = "設".repeat(200);
        assert_eq!(shortened(&text, 10).chars().count(), 10);
        assert_eq!(shortened("short", 10), "short");
    }
}
