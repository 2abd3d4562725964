//! A page as it is read away from its site: with links that are addresses of the site, and without tags of templates.
//!
//! A page links others as its generator wants it: by file, by address, relative to one of both. Away from the site only
//! the address means anything.

use std::ops::Range;

use docent_markdown::{AnchorStyle, Format, LinkKind, Page, joined, parse_as};
use docent_types::encoded_path;

use crate::template_tags::{referred, tags};

/// Finds the pages that addresses and files lead to.
pub(crate) trait Pages {
    /// Where the page with an address is served, percent-encoded and without a leading slash.
    fn url_of(&self, address: &str) -> Option<String>;

    /// Where the page that is made from a file is served.
    fn url_of_file(&self, file: &str) -> Option<String>;
}

/// Where a text with links stands: what its relative links are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PagePlace<'p> {
    /// The file, relative to the docs root.
    pub(crate) file: &'p str,
    /// The page's path on the site, decoded and without a leading slash.
    pub(crate) path: &'p str,
}

/// The Markdown of a page, or of a part of one, whose links to pages of the site are `base` and where the page is
/// served, and without tags of templates. Links elsewhere, to files and to anchors of the page itself stay as they are.
pub(crate) fn with_site_links(content: &str, place: PagePlace<'_>, base: &str, pages: &impl Pages) -> String {
    let untagged = without_tags(content);
    let parsed = parsed(&untagged);
    let links = parsed.links.iter().filter(|link| matches!(link.kind, LinkKind::Inline | LinkKind::Reference));
    let edits = links.filter_map(|link| {
        let (referred, target) = match referred(&link.target) {
            Some(path) => (true, path),
            None => (false, link.target.as_str()),
        };
        let (target, rest) = target.split_at(target.find(['#', '?']).unwrap_or(target.len()));
        let url = leads_to(place, target, referred, pages)?;
        Some((link.dest_span.clone(), format!("{base}/{url}{}", written(rest)?)))
    });
    edited(&untagged, edits.collect())
}

/// A text without tags of templates, but for those that make a link's destination.
fn without_tags(text: &str) -> String {
    if !text.contains("{{") && !text.contains("{%") {
        return text.to_owned();
    }
    let parsed = parsed(text);
    let mut kept: Vec<_> = parsed.code;
    kept.extend(parsed.links.into_iter().map(|link| link.dest_span));
    kept.sort_by_key(|span| span.start);
    edited(text, tags(text, &kept))
}

fn parsed(text: &str) -> Page {
    parse_as("page.md", text.as_bytes(), Format::Markdown, AnchorStyle::GitHub)
}

/// A text with these byte ranges replaced.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    // Several links share the destination of one definition.
    edits.sort_by_key(|(span, _)| span.start);
    edits.dedup_by_key(|(span, _)| span.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (span, replacement) in edits {
        let Some(before) = text.get(at..span.start) else { continue };
        out.push_str(before);
        out.push_str(&replacement);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Where the page that a target without anchor and query leads to is served. A relative one is below the folder of the
/// file or, as browsers have it, of the page; an absolute one may begin with the path of the whole site, and so may one
/// that a template `refers` to.
fn leads_to(place: PagePlace<'_>, target: &str, refers: bool, pages: &impl Pages) -> Option<String> {
    let has_scheme = target.split('/').next().is_some_and(|head| head.contains(':'));
    if target.is_empty() || target.starts_with("//") || has_scheme {
        return None;
    }
    let decoded = docent_types::decoded_path(target);
    let absolute = target.strip_prefix('/').or(refers.then_some(target));
    if let Some(absolute) = absolute {
        let below = || pages.url_of(absolute.split_once('/')?.1);
        let found = pages.url_of(absolute).or_else(below).or_else(|| of_file(decoded.trim_start_matches('/'), pages));
        if found.is_some() || !refers {
            return found;
        }
    }
    let beside = joined(folder(place.file), &decoded);
    beside.and_then(|file| of_file(&file, pages)).or_else(|| {
        let folders = [folder(place.file), folder(place.path), place.path];
        folders.into_iter().find_map(|folder| pages.url_of(&joined(folder, target)?))
    })
}

/// The page that is made from a file, whose ending may be missing.
fn of_file(file: &str, pages: &impl Pages) -> Option<String> {
    pages.url_of_file(file).or_else(|| {
        let file = file.trim_end_matches('/');
        let last = file.rsplit('/').next().unwrap_or(file);
        let endings = [".md", ".mdx"].into_iter().filter(|_| !last.contains('.'));
        endings.into_iter().find_map(|ending| pages.url_of_file(&format!("{file}{ending}")))
    })
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

    const SETUP: PagePlace<'_> = PagePlace { file: "guides/setup.md", path: "guides/setup" };

    struct Site;

    impl Pages for Site {
        fn url_of(&self, address: &str) -> Option<String> {
            let address = docent_types::decoded_path(address.trim_matches('/'));
            let stem = address.strip_suffix(".md").unwrap_or(&address);
            let stem = stem.strip_suffix("/index").unwrap_or(stem);
            let path = PATHS.into_iter().find(|path| !stem.is_empty() && *path == stem)?;
            Some(encoded_path(path).into_owned())
        }

        fn url_of_file(&self, file: &str) -> Option<String> {
            (file == "guides/01-Named.mdx").then(|| "guides/retries".to_owned())
        }
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
            ("[a](01-Named.mdx#b) [b](./01-Named)", "[a](/docs/guides/retries#b) [b](/docs/guides/retries)"),
            ("[a]({{< relref \"reference/errors.md#b\" >}})", "[a](/docs/reference/errors#b)"),
            ("[a]({{% relref \"01-Named.mdx\" %}})", "[a](/docs/guides/retries)"),
            ("{{< card link=\"retries\" title=\"A\" >}} `{{< b >}}`", "[A](/docs/guides/retries) `{{< b >}}`"),
        ] {
            let expected = if expected.is_empty() { written } else { expected };
            assert_eq!(with_site_links(written, SETUP, "/docs", &Site), expected, "{written}");
        }
        let index = PagePlace { file: "guides/index.md", path: "guides" };
        assert_eq!(
            with_site_links("[a](retries.md) [b](./retries)", index, "", &Site),
            "[a](/guides/retries) [b](/guides/retries)"
        );
    }

    proptest! {
        #[test]
        fn nothing_but_destinations_changes(text in "(\\[a\\]\\(retries.md\\)|[\\[\\]()<>#`!a\n ]|\\PC){0,60}") {
            let changed = with_site_links(&text, SETUP, "", &Site);
            let without = |text: &str| text.replace("/guides/retries", "").replace("retries.md", "").replace("retries", "");
            prop_assert_eq!(without(&changed), without(&text));
        }
    }
}
