//! Resolves links by file name and page address, where no rule of a generator applies.

use docent_markdown::{folder, is_markdown_page, joined, site_path};

use crate::link_target::{LinkRequest, ParsedLink, has_markdown_ending, is_fragment, parts, retargeted_link};
use crate::model::{Site, Target};

/// Resolves a link without generator-specific rules: absolute paths from the docs root, relative ones from the file's
/// folder, with or without extension, matched against file names and page addresses.
pub(crate) fn resolve_by_name(site: &Site, link: &ParsedLink<'_>) -> Target {
    if is_fragment(link.from) && !link.is_absolute() {
        // Relative links of a fragment start from the pages that include it.
        return Target::NotUnderstood;
    }
    let mut first_try = None;
    for base in bases(link.from) {
        let joined = joined(if link.is_absolute() { "" } else { &base }, &link.path);
        if let Some(found) = joined.as_deref().and_then(|path| find(site, path, link.anchor.as_deref())) {
            return found;
        }
        first_try.get_or_insert(joined);
        if link.is_absolute() {
            break;
        }
    }
    link.missing(first_try.flatten())
}

/// Like [`resolve_by_name()`], for a file that is included or that the generator does not build: a link that leads nowhere
/// may start from the pages that include the file.
pub(crate) fn resolve_by_name_if_there(site: &Site, link: &ParsedLink<'_>) -> Target {
    match resolve_by_name(site, link) {
        Target::Missing { .. } => Target::NotUnderstood,
        target => target,
    }
}

pub(crate) fn find(site: &Site, path: &str, anchor: Option<&str>) -> Option<Target> {
    if site.has_file(path) {
        return Some(if is_markdown_page(path) {
            Target::page(path, anchor)
        } else {
            Target::Asset { file: path.to_owned() }
        });
    }
    let index = matches!(path.rsplit('/').next(), Some("index" | "README")).then(|| site_path(path));
    if let Some(file) = site.file_at_or_named(path).or_else(|| site.file_at_or_named(&index?)) {
        return Some(Target::page(file, anchor));
    }
    // Sites serve these folders from the root.
    let mut assets = ["public", "static"].iter().map(|folder| format!("{folder}/{path}"));
    if let Some(file) = assets.find(|file| site.has_file(file)) {
        return Some(Target::Asset { file });
    }
    Some(Target::Redirect { destination: site.redirect(path)?.to_owned() })
}

/// Like [`retargeted_link()`], but writes the page's address where `like` is an absolute link without extension.
pub(crate) fn retargeted_link_by_name(site: &Site, wanted: &LinkRequest<'_>) -> String {
    let LinkRequest { from, to, anchor, like, .. } = *wanted;
    let (written, _) = parts(like);
    match site.address(to) {
        Some(path) if like.starts_with('/') && !has_markdown_ending(written) && path != site_path(to) => {
            retargeted_link(like, "", &format!("{path}.md"), anchor)
        }
        _ => retargeted_link(like, from, to, anchor),
    }
}

/// Candidate base folders for the relative links of a file: its own folder and, for a folder's index, also the parent
/// folder, from which a browser resolves them if the folder's URL has no trailing slash.
fn bases(from: &str) -> Vec<String> {
    let folder = folder(from).to_owned();
    let is_index = site_path(from) == folder && !folder.is_empty();
    let above = is_index.then(|| docent_markdown::folder(&folder).to_owned());
    std::iter::once(folder).chain(above).collect()
}
