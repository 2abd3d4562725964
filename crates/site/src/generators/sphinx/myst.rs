//! Finds the links that MyST adds to Markdown: roles, links in the content of directives, and cards that link to
//! documents.

use std::ops::Range;
use std::sync::LazyLock;

use docent_markdown::{AnchorStyle, Format, Link, LinkKind, Page, has_word, parse_as, regex, text_of};
use regex::Regex;

/// Directives whose content is Markdown.
const CONTENT_DIRECTIVES: &str = "note tip hint important warning caution attention danger error seealso admonition \
    todo versionadded versionchanged deprecated topic sidebar margin div container epigraph dropdown card \
    card-carousel grid grid-item grid-item-card tab-set tab-item tabs tab figure";

/// Parses a page. The content of directives is parsed as Markdown, as MyST does, and roles that name documents or
/// labels become links.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Page {
    let text = text_of(bytes);
    if !text.contains('{') {
        return parse_as(file, bytes, Format::Markdown, AnchorStyle::Docutils);
    }
    let unfenced = without_fences(&text);
    let mut page = parse_as(file, unfenced.as_bytes(), Format::Markdown, AnchorStyle::Docutils);
    let links: Vec<Link> = roles(&unfenced, &page).chain(cards(&unfenced)).collect();
    page.links.extend(links);
    page.links.sort_by_key(|link| link.span.start);
    page
}

/// Replaces the fences of directives with Markdown content by spaces, so that byte offsets do not change.
fn without_fences(text: &str) -> String {
    regex!(FENCE, r"^[ \t]*(`{3,}|~{3,}|:{3,})[ \t]*(?:\{([\w-]+)\})?");
    let mut out = String::with_capacity(text.len());
    let mut open_fences: Vec<(&str, bool)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_verbatim = open_fences.last().is_some_and(|(_, holds_markdown)| !holds_markdown);
        let blank =
            || line.chars().map(|c| if c == '\n' || c == '\r' { c.to_string() } else { " ".repeat(c.len_utf8()) });
        let Some(found) = FENCE.captures(line) else {
            out.push_str(line);
            continue;
        };
        let marks = found.get(1).map_or("", |marks| marks.as_str());
        let is_closing = line.trim() == marks && open_fences.last().is_some_and(|(fence, _)| marks.starts_with(fence));
        if is_closing {
            match open_fences.pop() {
                Some((_, true)) => out.extend(blank()),
                _ => out.push_str(line),
            }
        } else if is_verbatim || marks.starts_with(':') {
            // Colon fences are plain text in Markdown, so their content is parsed anyway.
            out.push_str(line);
        } else {
            let holds_markdown = found.get(2).is_some_and(|name| has_word(CONTENT_DIRECTIVES, name.as_str()));
            open_fences.push((marks, holds_markdown));
            if holds_markdown { out.extend(blank()) } else { out.push_str(line) }
        }
    }
    out
}

/// `` {doc}`path` ``, `` {ref}`label` `` and `` {any}`either` ``; the link target is the whole role, because its name decides how it
/// resolves.
fn roles<'t>(text: &'t str, page: &'t Page) -> impl Iterator<Item = Link> + 't {
    regex!(ROLE, r"\{(?:any|doc|ref)\}`[^`\n]+(?:\n[^`\n]+)?`");
    let found = ROLE.find_iter(text).filter(|found| !page.code.iter().any(|code| code.contains(&found.start())));
    found.map(|found| link(found.as_str(), found.range()))
}

/// `:link:` with `:link-type: doc`, the options of a card.
fn cards(text: &str) -> impl Iterator<Item = Link> + '_ {
    static CARD: LazyLock<Regex> = LazyLock::new(|| {
        let option = r"[ \t]*:[\w-]+:[^\n]*\n";
        let pattern = format!(
            r"(?m)^[ \t]*:link:[ \t]+(?<before>\S+)[ \t]*\r?\n(?:{option})*?[ \t]*:link-type:[ \t]+doc[ \t]*\r?$|^[ \t]*:link-type:[ \t]+doc[ \t]*\r?\n(?:{option})*?[ \t]*:link:[ \t]+(?<after>\S+)"
        );
        Regex::new(&pattern).expect("written out above")
    });
    let paths = CARD.captures_iter(text).filter_map(|found| found.name("before").or_else(|| found.name("after")));
    paths.map(|path| link(path.as_str(), path.range()))
}

fn link(target: &str, span: Range<usize>) -> Link {
    Link::of(target.to_owned(), span, LinkKind::Reference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Site, Target};
    use crate::sample::site;

    #[test]
    fn roles_directives_and_cards_lead_elsewhere() {
        let text = "# T\n\n```{note}\n{doc}`./b` and [x](b.md), `{doc}`\n```\n\n````{grid-item-card} C\n:link: b\n:link-type: doc\n\n{ref}`words <lab>`\n```python\n{doc}`no`\n```\n````\n\n```{code-block}\n[y](b.md)\n```\n{doc}`gone`\n";
        let tree = site(&[("conf.py", "extensions = ['myst_parser']"), ("index.md", text), ("b.md", "(lab)=\n# B\n")]);
        let site = Site::read(&tree);
        let page = site.parse("index.md", text.as_bytes());
        let found: Vec<_> = page
            .links
            .iter()
            .map(|link| (&text[link.dest_span.clone()], site.resolve_link("index.md", link)))
            .collect();
        let to = |anchor: Option<&str>| Target::Page { file: "b.md".to_owned(), anchor: anchor.map(str::to_owned) };
        assert_eq!(
            found,
            [
                ("{doc}`./b`", to(None)),
                ("b.md", to(None)),
                ("b", to(None)),
                ("{ref}`words <lab>`", to(Some("lab"))),
                ("{doc}`gone`", Target::Missing { path: Some("gone".to_owned()), anchor: None }),
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn all_else_keeps_its_place(text in "([`:~]{2,4}(\\{note\\}|\\{code\\})?|é|\r?\n| |a){0,30}") {
            proptest::prop_assert_eq!(without_fences(&text).len(), text.len());
        }
    }
}
