//! Finds where the navigation of a component names pages: in lists in AsciiDoc files, and in `start_page` in
//! `antora.yml`.

use std::ops::Range;

use super::resources::{ResolvedResource, ResourceId};
use crate::layout::below;
use crate::model::Site;
use crate::tree::{Tree, from_root};

/// A place in the navigation that names a page, as byte ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NavEntry {
    pub(crate) page: String,
    /// The name of the page, including its anchor.
    pub(crate) value: Range<usize>,
    /// The whole line, if the entry has no nested entries and no anchor.
    pub(crate) item: Option<Range<usize>>,
    /// The title shown to readers.
    pub(crate) title: Option<Range<usize>>,
}

/// Each navigation file with its text and its entries.
pub(crate) fn read(tree: &dyn Tree, site: &Site) -> Vec<(String, String, Vec<NavEntry>)> {
    let mut navigation_files = Vec::new();
    for component in &site.layout().options.antora.components {
        let names = component.nav.iter().map(String::as_str).chain(["antora.yml"]);
        for name in names {
            let path = below(&component.start_path, name);
            let file = from_root(tree.root(), &path);
            let Some(text) = tree.text(&file) else { continue };
            let entries = match name {
                "antora.yml" => start_page_value(&text)
                    .and_then(|value| entry(site, &path, &text, value, None, None))
                    .into_iter()
                    .collect(),
                _ => list_entries(site, &path, &text),
            };
            navigation_files.push((file, text, entries));
        }
    }
    navigation_files
}

/// The entry for a page name; `None` if there is no such page.
fn entry(
    site: &Site,
    path: &str,
    text: &str,
    value: Range<usize>,
    item: Option<Range<usize>>,
    title: Option<Range<usize>>,
) -> Option<NavEntry> {
    let options = &site.layout().options.antora;
    let written = text[value.clone()].split('#').next()?;
    let from = options.resource(path)?;
    let ResolvedResource::Files(files, _) = options.resolve(site.root(), &from, &ResourceId::read(written)?, "page")
    else {
        return None;
    };
    let page = files.into_iter().find(|file| site.has_any(file))?;
    Some(NavEntry { page, value, item, title })
}

/// `start_page: name`
fn start_page_value(text: &str) -> Option<Range<usize>> {
    let start = match text.find("\nstart_page:") {
        Some(at) => at + 1,
        None => text.starts_with("start_page:").then_some(0)?,
    };
    let line = &text[start..start + text[start..].find('\n').unwrap_or(text.len() - start)];
    let value = line["start_page:".len()..].trim().trim_matches(['"', '\'']);
    let at = start + line.rfind(value).filter(|_| !value.is_empty())?;
    Some(at..at + value.len())
}

/// `* xref:name[words]`, one on each line.
fn list_entries(site: &Site, path: &str, text: &str) -> Vec<NavEntry> {
    let mut entries = Vec::new();
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let depth = depth_of(line);
        let words = line.trim_start_matches('*').trim_start();
        let Some((name, rest)) =
            words.strip_prefix("xref:").filter(|_| depth > 0).and_then(|rest| rest.split_once('['))
        else {
            continue;
        };
        let Some(title) = rest.trim_end().strip_suffix(']').filter(|title| !title.contains(']')) else { continue };
        let value = start + (line.len() - words.len()) + "xref:".len();
        let value = value..value + name.len();
        let is_alone = lines.peek().is_none_or(|next| next.trim().is_empty() || (1..=depth).contains(&depth_of(next)));
        let item = (is_alone && !name.contains('#')).then_some(start..at);
        let title = (!title.is_empty()).then(|| value.end + 1..value.end + 1 + title.len());
        entries.extend(entry(site, path, text, value, item, title));
    }
    entries
}

/// How many stars a line begins with.
fn depth_of(line: &str) -> usize {
    line.len() - line.trim_start_matches('*').len()
}
