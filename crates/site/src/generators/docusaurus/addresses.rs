//! Where Docusaurus serves a page, and the id of a page.

use docent_markdown::{FrontMatter, file_name, regex, stem};

use crate::generators::{Root, RootKind};
use crate::layout::below;
use crate::paths::index_path;

/// Where a page is served.
pub(super) fn address(root: &Root, relative_path: &str, front: &FrontMatter) -> String {
    let path = match root.kind {
        RootKind::Docs => doc_slug(root, relative_path, front),
        RootKind::Blog => {
            front.slug().map_or_else(|| blog_path(stem(relative_path).unwrap_or(relative_path)), str::to_owned)
        }
        RootKind::Pages => front
            .slug()
            .map_or_else(|| index_path(stem(relative_path).unwrap_or(relative_path), &["index"]), str::to_owned),
    };
    below(&root.base_path, &path)
}

/// Whether the URL of a page ends in a slash if the configuration does not decide that. If so, relative links on the
/// page start inside of that URL, otherwise beside it.
pub(super) fn is_directory(root: &Root, relative_path: &str, front: &FrontMatter) -> bool {
    match (front.slug(), root.kind) {
        (Some(slug), _) => slug.ends_with('/'),
        (None, RootKind::Docs) => is_index(relative_path),
        (None, RootKind::Blog) => false,
        (None, RootKind::Pages) => relative_path.rsplit('/').next().and_then(stem) == Some("index"),
    }
}

fn doc_slug(root: &Root, relative_path: &str, front: &FrontMatter) -> String {
    let whole = id(root, relative_path, front);
    let folder = whole.rsplit_once('/').map_or("", |(folder, _)| folder);
    match front.slug() {
        Some(slug) if slug.starts_with('/') => slug.to_owned(),
        Some(slug) => docent_markdown::joined(folder, slug).unwrap_or_else(|| slug.to_owned()),
        None if is_index(relative_path) => folder.to_owned(),
        None => whole,
    }
}

/// Whether a file is the index of its folder: `index`, `README`, or the folder's own name, number prefixes included.
fn is_index(relative_path: &str) -> bool {
    let stem = stem(relative_path).unwrap_or(relative_path);
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let above = file_name(folder);
    ["index", "readme"].iter().any(|known| name.eq_ignore_ascii_case(known))
        || (!above.is_empty() && name.to_lowercase() == above.to_lowercase())
}

/// The id of a page: its path without extension and number prefixes. The front matter field `id` replaces the last
/// segment.
pub(crate) fn id(root: &Root, relative_path: &str, front: &FrontMatter) -> String {
    let stem = stem(relative_path).unwrap_or(relative_path);
    let keeps_numbers = root.options.docusaurus.keeps_numbers || front.get("parse_number_prefixes") == Some("false");
    let id = match keeps_numbers {
        true => stem.to_owned(),
        false => stem.split('/').map(without_number).collect::<Vec<_>>().join("/"),
    };
    match front.get("id") {
        Some(own) => below(id.rsplit_once('/').map_or("", |(folder, _)| folder), own),
        None => id,
    }
}

/// Strips a number prefix: `01-intro` and `1. intro` become `intro`. Dates and versions are kept.
pub(crate) fn without_number(name: &str) -> &str {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let separators = |c: char| matches!(c, '-' | '_' | '.');
    // `7.0-notes` and `2021-11-foo` are a version and a date.
    let is_other = rest.strip_prefix(separators).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let after = rest.trim_start();
    if rest.len() == name.len() || is_other || !after.starts_with(separators) {
        return name;
    }
    let unnumbered = after.trim_start_matches(separators).trim_start();
    if unnumbered.is_empty() || unnumbered.starts_with(separators) { name } else { unnumbered }
}

/// Turns `2021-08-26-welcome` into `2021/08/26/welcome`; a folder before the date moves behind it.
fn blog_path(stem: &str) -> String {
    regex!(DATED, r"^(?<folder>.*)(?<date>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(?<text>.*?)(?:/index)?$");
    match DATED.captures(stem) {
        Some(found) => format!("{}/{}{}", found["date"].replace('-', "/"), &found["folder"], &found["text"]),
        None => stem.strip_suffix("/index").unwrap_or(stem).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_order_go_and_others_stay() {
        for (name, without) in [
            ("01-intro", "intro"),
            ("1. intro", "intro"),
            ("2_a", "a"),
            ("10 - b", "b"),
            ("1--b", "b"),
            ("7.0-notes", "7.0-notes"),
            ("2021-11-foo", "2021-11-foo"),
            ("2021-11-02-foo", "2021-11-02-foo"),
            ("404", "404"),
            ("3d", "3d"),
            ("1-", "1-"),
        ] {
            assert_eq!(without_number(name), without, "{name}");
        }
    }

    #[test]
    fn blog_posts_are_served_by_their_date() {
        assert_eq!(blog_path("2021-08-26-welcome/index"), "2021/08/26/welcome");
        assert_eq!(blog_path("2021-08-26-welcome"), "2021/08/26/welcome");
        assert_eq!(blog_path("2021/8/6/welcome"), "2021/8/6/welcome");
        assert_eq!(blog_path("notes/2021-08-26-welcome"), "2021/08/26/notes/welcome");
        assert_eq!(blog_path("a/2021"), "a/2021");
        assert_eq!(blog_path("a/index"), "a");
    }
}
