//! Links of a page as addresses of its site.
//!
//! A page links others as its generator wants it: by file, by address, relative to one of both. Away from the site only
//! the address means anything.

use docent_markdown::{AnchorStyle, Format, LinkKind, joined, parse_as};
use docent_search::PageContent;
use docent_types::encoded_path;

/// The Markdown of a page whose links to pages of the site are `base` and the page's path. Links elsewhere, to files and
/// to anchors of the page itself stay as they are. `path_of` finds the path of the page that is served at an address.
pub(crate) fn with_site_links<'d>(page: &PageContent, base: &str, path_of: impl Fn(&str) -> Option<&'d str>) -> String {
    let parsed = parse_as("page.md", page.content.as_bytes(), Format::Markdown, AnchorStyle::GitHub);
    let links = parsed.links.iter().filter(|link| matches!(link.kind, LinkKind::Inline | LinkKind::Reference));
    let mut edits: Vec<_> = links
        .filter_map(|link| {
            let end = link.target.find(['#', '?']).unwrap_or(link.target.len());
            let (target, rest) = link.target.split_at(end);
            let path = candidates(page, target).iter().find_map(|candidate| path_of(candidate))?;
            Some((link.dest_span.clone(), format!("{base}/{}{}", encoded_path(path), written(rest)?)))
        })
        .collect();
    // Several links share the destination of one definition.
    edits.sort_by_key(|(span, _)| span.start);
    edits.dedup_by_key(|(span, _)| span.start);
    let (mut text, mut at) = (String::with_capacity(page.content.len()), 0);
    for (span, destination) in edits {
        let Some(before) = page.content.get(at..span.start) else { continue };
        text.push_str(before);
        text.push_str(&destination);
        at = span.end;
    }
    text.push_str(page.content.get(at..).unwrap_or_default());
    text
}

/// The addresses that a target without anchor and query may mean, the likeliest first. A relative one is below the
/// folder of the file or, as browsers have it, of the page; an absolute one may begin with the path of the whole site.
fn candidates(page: &PageContent, target: &str) -> Vec<String> {
    let has_scheme = target.split('/').next().is_some_and(|head| head.contains(':'));
    if target.is_empty() || target.starts_with("//") || has_scheme {
        return Vec::new();
    }
    let found = match target.strip_prefix('/') {
        Some(absolute) => {
            let below = absolute.split_once('/').map(|(_, below)| below.to_owned());
            [Some(absolute.to_owned()), below, None]
        }
        None => [joined(folder(&page.file), target), joined(folder(&page.path), target), joined(&page.path, target)],
    };
    found.into_iter().flatten().collect()
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A query and an anchor as they are written in a link; `None` when they would end it.
fn written(rest: &str) -> Option<String> {
    let (query, anchor) = rest.split_once('#').map_or((rest, None), |(query, anchor)| (query, Some(anchor)));
    if query.contains(|c: char| !c.is_ascii_graphic() || "()<>\\".contains(c)) {
        return None;
    }
    // What is encoded already stays as it is.
    let anchor = anchor.map(|anchor| anchor.split('%').map(encoded_path).collect::<Vec<_>>().join("%"));
    Some(anchor.map_or_else(|| query.to_owned(), |anchor| format!("{query}#{anchor}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATHS: [&str; 5] = ["", "guides", "guides/retries", "guides/first steps (v2)", "reference/errors"];

    fn page(file: &str, path: &str, content: &str) -> PageContent {
        let (file, path, content) = (file.to_owned(), path.to_owned(), content.to_owned());
        PageContent { file, path, content, title: String::new(), groups: Vec::new() }
    }

    fn path_of(address: &str) -> Option<&'static str> {
        let address = docent_types::decoded_path(address.trim_matches('/'));
        let stem = address.strip_suffix(".md").unwrap_or(&address);
        PATHS.into_iter().find(|path| !stem.is_empty() && *path == stem.strip_suffix("/index").unwrap_or(stem))
    }

    #[test]
    fn links_to_pages_are_addresses_and_all_others_stay() {
        for (written, expected) in [
            ("[a](retries.md#backoff)", "[a](/docs/guides/retries#backoff)"),
            ("[a](../reference/errors.md \"All\")", "[a](/docs/reference/errors \"All\")"),
            ("[a](/guides/retries?tab=go)", "[a](/docs/guides/retries?tab=go)"),
            ("[a](/base/guides/retries)", "[a](/docs/guides/retries)"),
            ("[a](<first steps (v2).md>)", "[a](</docs/guides/first%20steps%20%28v2%29>)"),
            ("[a](first%20steps%20%28v2%29.md)", "[a](/docs/guides/first%20steps%20%28v2%29)"),
            ("[a][1] [b][1]\n\n[1]: retries.md", "[a][1] [b][1]\n\n[1]: /docs/guides/retries"),
            ("[a](#here) [b](https://a.test/guides) [c](mailto:a@b.c)", ""),
            ("![a](retries.md) `[a](retries.md)` [a](missing.md) [b](//retries.md)", ""),
            ("[a](../../retries.md)", ""),
        ] {
            let page = page("guides/setup.md", "guides/setup", written);
            let expected = if expected.is_empty() { written } else { expected };
            assert_eq!(with_site_links(&page, "/docs", path_of), expected, "{written}");
        }
        let index = page("guides/index.md", "guides", "[a](retries.md) [b](./retries)");
        assert_eq!(with_site_links(&index, "", path_of), "[a](/guides/retries) [b](/guides/retries)");
    }

    proptest! {
        #[test]
        fn nothing_but_destinations_changes(text in "(\\[a\\]\\(retries.md\\)|[\\[\\]()<>#`!a\n ]|\\PC){0,60}") {
            let changed = with_site_links(&page("guides/setup.md", "guides/setup", &text), "", path_of);
            let without = |text: &str| text.replace("/guides/retries", "").replace("retries.md", "").replace("retries", "");
            prop_assert_eq!(without(&changed), without(&text));
        }
    }
}
