//! Edits `docs.json` and `mint.json`, and the files that they reference.

use std::cmp::Reverse;
use std::ops::Range;

use docent_markdown::{is_markdown_page, line_start, site_path};

use super::{FileEdit, NavigationPlace, quoted, shared_folders};
use crate::model::{Site, Target};
use crate::navigation::{Navigation, PageList};
use crate::tree::Tree;

/// A navigation with the texts of its files.
pub(super) struct MintlifyFiles {
    pub(super) navigation: Navigation,
    pub(super) texts: Vec<String>,
}

impl MintlifyFiles {
    /// The navigation of a site, if each of its files can be edited: JSON without comments.
    pub(super) fn of(tree: &dyn Tree, home: &str) -> Option<Self> {
        let navigation = Navigation::read(tree, home)?;
        let texts: Vec<String> = navigation.files.iter().map(|file| tree.text(file).unwrap_or_default()).collect();
        let is_json = |text: &String| serde_json::from_str::<serde_json::Value>(text).is_ok();
        let readable = navigation.object_span.is_some() && texts.iter().all(is_json);
        readable.then_some(Self { navigation, texts })
    }

    fn edit(&self, file: usize, range: Range<usize>, text: impl Into<String>) -> FileEdit {
        FileEdit { file: self.navigation.files[file].clone(), range, text: text.into() }
    }

    /// The indexes of the entries that name a file.
    pub(super) fn entries_of<'a>(&'a self, site: &'a Site, file: &'a str) -> impl Iterator<Item = usize> + 'a {
        let entries = self.navigation.entries.iter().enumerate();
        entries.filter(move |(_, entry)| site.page_named(&entry.page) == Some(file)).map(|(index, _)| index)
    }

    pub(super) fn place(&self, file: usize, span: &Range<usize>) -> NavigationPlace {
        NavigationPlace::of(&self.navigation.files[file], &self.texts[file], span.start)
    }

    /// The redirects that lead to a page: the place and the source of each.
    pub(super) fn redirects_to(&self, site: &Site, page: &str) -> Vec<(NavigationPlace, String)> {
        let leads = |destination: &str| match site.resolve(&self.navigation.path, destination) {
            Target::Page { file, .. } => file == page,
            _ => false,
        };
        let redirects = self.navigation.redirects.iter().filter(|redirect| leads(&redirect.destination));
        redirects.map(|redirect| (self.place(redirect.file, &redirect.span), redirect.source.clone())).collect()
    }

    fn written(&self, index: usize) -> &str {
        let entry = &self.navigation.entries[index];
        self.texts[entry.file][entry.span.clone()].trim_matches('"')
    }

    /// Changes the entries of `from` to name `to`.
    pub(super) fn rename(&self, site: &Site, from: &str, to: &str) -> Vec<FileEdit> {
        let edits = self.entries_of(site, from).map(|index| {
            let entry = &self.navigation.entries[index];
            let written = self.written(index);
            let name = if is_markdown_page(written) { inside(site, to) } else { entry_name(site, to) };
            // An index page may be named by its folder.
            let of_folder = |file: &str, name: &str| {
                stem_of_index(file).is_some_and(|folder| inside(site, folder) == name.trim_matches('/'))
            };
            let name = match stem_of_index(to) {
                Some(folder) if !folder.is_empty() && of_folder(from, written) => inside(site, folder),
                _ => name,
            };
            let slash = if written.starts_with('/') { "/" } else { "" };
            self.edit(entry.file, entry.span.clone(), quoted(&format!("{slash}{name}")))
        });
        edits.collect()
    }

    /// Removes a file from the lists that contain it. The second value counts the entries that stay, because no list of
    /// the same file contains them.
    pub(super) fn remove(&self, site: &Site, file: &str) -> (Vec<FileEdit>, usize) {
        let mut edits = Vec::new();
        let mut kept_entries = 0;
        let mut removed_spans: Vec<(usize, Range<usize>)> = Vec::new();
        for index in self.entries_of(site, file) {
            let entry = &self.navigation.entries[index];
            match entry.list {
                Some(list) if self.navigation.lists[list].file == entry.file => {
                    removed_spans.push((entry.file, entry.span.clone()));
                }
                _ => kept_entries += 1,
            }
        }
        for list in &self.navigation.lists {
            let here: Vec<Range<usize>> =
                removed_spans.iter().filter(|(file, _)| *file == list.file).map(|(_, span)| span.clone()).collect();
            edits.extend(without(&list.span, &list.items, &here).map(|range| self.edit(list.file, range, "")));
        }
        (edits, kept_entries)
    }

    /// Adds a page beside its siblings: to the list with most pages of the same folder, after the last of them, else
    /// to the end of the first list. `None` when there is no list of pages.
    pub(super) fn add(&self, site: &Site, file: &str) -> Option<(FileEdit, &PageList)> {
        let name = entry_name(site, file);
        let nearness = |page: &str| shared_folders(page, &name);
        let nearest = |index: usize| {
            let entries = self.navigation.entries.iter().filter(move |entry| entry.list == Some(index));
            let depth = entries.clone().map(|entry| nearness(&entry.page)).max()?;
            let count = entries.filter(|entry| depth > 0 && nearness(&entry.page) == depth).count();
            // The first of those that are equally near.
            Some((depth, count, Reverse(index)))
        };
        let best = (0..self.navigation.lists.len()).filter_map(nearest).max();
        let (depth, _, Reverse(index)) = best.unwrap_or((0, 0, Reverse(0)));
        let list = self.navigation.lists.get(index)?;
        let mut siblings =
            self.navigation.entries.iter().filter(|entry| entry.list == Some(index) && nearness(&entry.page) == depth);
        let last = siblings.next_back().map(|entry| entry.span.end).filter(|_| depth > 0);
        let slashed = (0..self.navigation.entries.len()).any(|index| self.written(index).starts_with('/'));
        let slash = if slashed { "/" } else { "" };
        let item = quoted(&format!("{slash}{name}"));
        let edit = match last.or_else(|| list.items.last().map(|item| item.end)) {
            Some(after) => {
                let first = list.items.first()?.start;
                let gap = &self.texts[list.file][list.span.start + 1..first];
                let gap = if gap.is_empty() { " " } else { gap };
                self.edit(list.file, after..after, format!(",{gap}{item}"))
            }
            None => self.edit(list.file, list.span.start + 1..list.span.end - 1, item),
        };
        Some((edit, list))
    }

    /// Redirects `from` to `to`. Redirects to `from` are retargeted to `to`, and a redirect away from `to` is dropped,
    /// so that there are neither chains nor loops.
    pub(super) fn redirect(&self, site: &Site, from: &str, to: &str) -> Vec<FileEdit> {
        let address = |file: &str| format!("/{}", site_path(&inside(site, file)));
        let (source, destination) = (address(from), address(to));
        let mut edits = Vec::new();
        let mut is_redirected = false;
        let mut circular = Vec::new();
        for redirect in &self.navigation.redirects {
            if same(&redirect.source, &source) {
                is_redirected = true;
                if !same(&redirect.destination, &destination) {
                    edits.push(self.edit(redirect.file, redirect.destination_span.clone(), quoted(&destination)));
                }
            } else if same(&redirect.source, &destination) {
                circular.push(redirect);
            } else if same(path_of(&redirect.destination), &source) {
                let anchor = &redirect.destination[path_of(&redirect.destination).len()..];
                edits.push(self.edit(
                    redirect.file,
                    redirect.destination_span.clone(),
                    quoted(&format!("{destination}{anchor}")),
                ));
            }
        }
        match circular.as_slice() {
            // The new redirect replaces the one that would cause a loop.
            [first, ..] if !is_redirected => {
                edits.push(self.edit(first.file, first.source_span.clone(), quoted(&source)));
                edits.push(self.edit(first.file, first.destination_span.clone(), quoted(&destination)));
            }
            _ if !is_redirected => edits.extend(self.new_redirect(&source, &destination)),
            _ => {}
        }
        edits
    }

    fn new_redirect(&self, source: &str, destination: &str) -> Option<FileEdit> {
        let file = self.navigation.redirects_span.as_ref().map_or(0, |_| self.navigation.redirects_file);
        let text = self.texts[file].as_str();
        let unit = indent_of(text);
        let (source, destination) = (quoted(source), quoted(destination));
        let short = format!("{{ \"source\": {source}, \"destination\": {destination} }}");
        let long = |indent: &str| {
            format!("{{\n{indent}{unit}\"source\": {source},\n{indent}{unit}\"destination\": {destination}\n{indent}}}")
        };
        if let Some(span) = &self.navigation.redirects_span {
            let own = self.navigation.redirects.iter().filter(|redirect| redirect.file == file);
            let own: Vec<&Range<usize>> = own.map(|redirect| &redirect.span).collect();
            if let [first, .., last] | [first @ last] = own.as_slice() {
                let item = match text[(*last).clone()].contains('\n') {
                    true => long(line_indent(text, last.start)),
                    false => short,
                };
                let gap = text.get(span.start + 1..first.start).filter(|gap| !gap.is_empty()).unwrap_or(" ");
                return Some(self.edit(file, last.end..last.end, format!(",{gap}{item}")));
            }
            if self.navigation.redirects.is_empty() && text[span.start + 1..span.end - 1].trim().is_empty() {
                let indent = line_indent(text, span.start);
                let item = match unit.is_empty() {
                    true => short,
                    false => format!("\n{indent}{unit}{}\n{indent}", long(&format!("{indent}{unit}"))),
                };
                return Some(self.edit(file, span.start + 1..span.end - 1, item));
            }
            return None;
        }
        let object = self.navigation.object_span.as_ref()?;
        let written = text[object.start + 1..object.end - 1].trim_end();
        let at = object.start + 1 + written.len();
        let comma = if written.is_empty() { "" } else { "," };
        Some(if unit.is_empty() {
            let space = if written.is_empty() { "" } else { " " };
            self.edit(file, at..at, format!("{comma}{space}\"redirects\": [{short}]"))
        } else {
            let item = long(&format!("{unit}{unit}"));
            self.edit(file, at..at, format!("{comma}\n{unit}\"redirects\": [\n{unit}{unit}{item}\n{unit}]"))
        })
    }
}

/// One step of indentation; empty when the file is all on one line.
fn indent_of(text: &str) -> &str {
    let Some(line) = text.trim_start().split_once('\n').map(|(_, rest)| rest) else { return "" };
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The whitespace at the beginning of the line that contains a byte offset.
fn line_indent(text: &str, at: usize) -> &str {
    let rest = &text[line_start(text, at)..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// The ranges to delete so that items disappear from a bracketed list, together with their commas.
pub(super) fn without<'l>(
    list: &'l Range<usize>,
    items: &'l [Range<usize>],
    removed_spans: &'l [Range<usize>],
) -> impl Iterator<Item = Range<usize>> + 'l {
    let mut index = 0;
    std::iter::from_fn(move || {
        while index < items.len() && !removed_spans.contains(&items[index]) {
            index += 1;
        }
        let first = index;
        while index < items.len() && removed_spans.contains(&items[index]) {
            index += 1;
        }
        match (first, index) {
            (first, end) if first == end => None,
            (0, end) if end == items.len() => Some(list.start + 1..list.end - 1),
            (first, end) if end < items.len() => Some(items[first].start..items[end].start),
            (first, end) => Some(items[first - 1].end..items[end - 1].end),
        }
    })
}

/// The path of a file relative to the folder of the configuration.
fn inside(site: &Site, file: &str) -> String {
    match site.layout().root(file) {
        Some(root) => crate::layout::below(&root.base_path, root.relative_path(file).unwrap_or(file)),
        None => file.to_owned(),
    }
}

/// The name of a page in the navigation: its path without the extension.
fn entry_name(site: &Site, file: &str) -> String {
    let name = inside(site, file);
    name.rsplit_once('.').filter(|_| is_markdown_page(file)).map_or(name.as_str(), |(stem, _)| stem).to_owned()
}

/// The folder that a file is the index of.
fn stem_of_index(file: &str) -> Option<&str> {
    let (folder, name) = file.rsplit_once('/')?;
    name.starts_with("index.").then_some(folder)
}

fn path_of(target: &str) -> &str {
    target.split(['#', '?']).next().unwrap_or(target)
}

fn same(a: &str, b: &str) -> bool {
    a.trim_matches('/') == b.trim_matches('/')
}
