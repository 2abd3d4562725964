//! Finds the pages that link to a file, without parsing pages whose text cannot contain such a link.

use aho_corasick::AhoCorasick;
use docent_markdown::{Link, Page, file_name, folder, is_markup, is_page, line_of, parse, site_path, text_of};
use percent_encoding::{AsciiSet, utf8_percent_encode};

use crate::generators::{Reference, rules};
use crate::imports::imports;
use crate::link_target::{is_external, parts};
use crate::model::{Site, Target};
use crate::tree::{Tree, joined_in};

/// A page and its links to a file.
#[derive(Debug)]
pub struct Linking {
    pub page: Page,
    pub bytes: Vec<u8>,
    pub links: Vec<Link>,
    /// Links that resemble the file's name and cannot be resolved.
    pub unclear: Vec<Link>,
}

/// A matcher for any of these texts, in any letter case, percent-encoded or not; `None` when one of them is empty, as
/// it would match everywhere.
pub fn any_of<'a>(needles: impl IntoIterator<Item = &'a str>) -> Option<AhoCorasick> {
    const SPACE: &AsciiSet = &AsciiSet::EMPTY.add(b' ');
    let mut patterns = Vec::new();
    for needle in needles {
        if needle.is_empty() {
            return None;
        }
        if needle.contains(' ') || !needle.is_ascii() {
            patterns.push(needle.replace(' ', "%20"));
            patterns.push(utf8_percent_encode(needle, SPACE).to_string());
            patterns.push(needle.to_lowercase());
            patterns.push(needle.to_uppercase());
        }
        patterns.push(needle.to_owned());
    }
    AhoCorasick::builder().ascii_case_insensitive(true).build(&patterns).ok()
}

/// The texts of which a link to a file must contain one: the last segment of its own path, of its site path and of its
/// slug.
pub(crate) fn needles(file: &str, slug: Option<&str>) -> Vec<String> {
    let last = |path: &str| path.trim_matches('/').rsplit('/').next().unwrap_or("").to_owned();
    let stem = |path: &str| {
        let name = last(path);
        if is_page(path) { name.rsplit_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned()) } else { name }
    };
    let mut needles = vec![stem(file), last(&site_path(file))];
    needles.extend(slug.map(last));
    needles.sort();
    needles.dedup();
    needles
}

/// The other files that link to a file, in order. They include files that are no pages of the site, as their links have
/// to stay valid, too.
pub fn linking_to(tree: &dyn Tree, site: &Site, file: &str, slug: Option<&str>) -> Vec<Linking> {
    let mut needles = needles(file, slug);
    let address = site.address(file);
    needles.extend(address.map(|address| file_name(address).to_owned()));
    let labels = labels_of(&tree.read(file).unwrap_or_default());
    needles.extend(labels.iter().cloned());
    needles.extend(site.labels_of(file).map(str::to_owned));
    // The index page of a folder may be linked as the folder, with `..` or `./`, so pages cannot be filtered by its
    // name.
    let is_first = address.is_some_and(|address| folder(file).ends_with(address)) || site_path(file) == folder(file);
    let pattern = if is_first { None } else { any_of(needles.iter().map(String::as_str)) };
    let distinctive_needles: Vec<&str> = needles.iter().map(String::as_str).filter(|needle| needle.len() > 3).collect();
    let mut found = Vec::new();
    for from in site.files().filter(|from| is_markup(from) && *from != file) {
        let Some(bytes) = tree.read(from) else { continue };
        if pattern.as_ref().is_some_and(|pattern| !pattern.is_match(bytes.as_slice())) {
            continue;
        }
        let page = site.parse(from, &bytes);
        let (mut links, mut unclear) = (Vec::new(), Vec::new());
        for link in &page.links {
            match site.resolve_link(from, link) {
                Target::Page { file: to, .. } if to == file => links.push(link.clone()),
                Target::NotUnderstood if labels.iter().any(|label| link.target.trim_start_matches('#') == label) => {
                    unclear.push(link.clone());
                }
                Target::NotUnderstood if distinctive_needles.iter().any(|needle| names(&link.target, needle)) => {
                    unclear.push(link.clone());
                }
                _ => {}
            }
        }
        let is_imported = || imports(site, &page, &bytes).iter().any(|import| import.file.as_deref() == Some(file));
        if !links.is_empty() || !unclear.is_empty() || is_imported() {
            found.push(Linking { page, bytes, links, unclear });
        }
    }
    found
}

/// Labels of MyST: `(name)=` on a line of its own.
fn labels_of(bytes: &[u8]) -> Vec<String> {
    let text = text_of(bytes);
    let labels = text.lines().filter_map(|line| line.trim().strip_prefix('(')?.strip_suffix(")="));
    labels.map(str::to_owned).collect()
}

/// Whether a segment of a link's path is this name, with or without an extension.
fn names(target: &str, name: &str) -> bool {
    let path = target.split(['#', '?']).next().unwrap_or("");
    path.split(['/', '"', '\'', '`', ' ', '\\', '(', ')', '<', '>'])
        .any(|part| part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// Links outside the docs root that name a file by its path: the file, the line and the target of each.
pub fn named_outside(tree: &dyn Tree, file: &str) -> Vec<(String, usize, String)> {
    let Some(pattern) = any_of([file_name(file)]) else { return Vec::new() };
    let mut found = Vec::new();
    for from in tree.paths_outside().into_iter().filter(|from| is_markup(from.trim_start_matches("../"))) {
        let Some(bytes) = tree.read(&from).filter(|bytes| pattern.is_match(bytes.as_slice())) else { continue };
        let text = text_of(&bytes);
        for link in parse(&from, &bytes).links {
            let path = parts(&link.target).0;
            let leads_here =
                !path.starts_with('/') && joined_in(tree.root(), folder(&from), path).as_deref() == Some(file);
            if !is_external(&link.target) && leads_here {
                found.push((from.clone(), line_of(&text, link.span.start), link.target));
            }
        }
    }
    found.sort();
    found
}

/// References, by name, to objects that only this page documents; the generator resolves them from anywhere.
pub fn referring_by_name(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    rules(site.generator()).references_to_page(tree, site, file)
}

/// References to a page or one of its labels in source code whose docstrings the generator renders; each holds the role
/// verbatim.
pub fn named_in_sources(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    rules(site.generator()).named_in_sources(tree, site, file)
}
