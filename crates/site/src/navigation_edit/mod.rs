//! Finds the entries of a page in the navigation of its site, and computes the edits that add, rename and remove them.
//! Edits are byte ranges of the navigation files, so that comments and formatting of the rest are kept.
//!
//! | files | renamed | removed | added |
//! |---|---|---|---|
//! | `docs.json`, `mint.json` and the files they reference | yes | yes | yes |
//! | `mkdocs.yml`, `SUMMARY.md`, `toc.yml`, `_data/*nav*.yml` | yes | if it has no nested entries | in the form of its neighbour |
//! | `.nav.yml`, `.pages` of MkDocs plug-ins | within the folder | if it has no nested entries | if no pattern shows the page |
//! | `_meta.json`, `meta.json`, `sidebars.json`, and as scripts | yes | if it is a string, or an object with only a label besides | beside its siblings |
//! | `toctree` on pages in Markdown | yes | yes | beside its siblings |
//! | `nav.adoc` of Antora, and `start_page` | yes | if it has no nested entries | in the form of its neighbour |
//! | configurations of VitePress and Starlight | yes | if it is a string, or an object with only a label besides | beside its siblings |
//!
//! A redirect is added if the site already has redirects. Entries that are not edited here are reported and left to the
//! user.

mod book;
mod folders;
mod lines;
mod literals;
mod mintlify;
mod redirects;
mod zensical;

use std::collections::BTreeMap;
use std::ops::Range;

use docent_markdown::{FrontMatter, folder, is_page, line_of, line_start};

use crate::glob::Globs;
use crate::layout::below;
use crate::link_target::{LinkRequest, LinkSyntax, has_page_ending, relative_file_path};
use crate::model::Site;
use crate::tree::Tree;
use book::BookRedirects;
use folders::{FolderFiles, NeededEntry};
use mintlify::MintlifyFiles;

const SHARED_BY_LANGUAGES: &str = "names it in all languages; what becomes of it is yours to decide";

/// Replaces a byte range of a file with new text. An empty range is an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileEdit {
    file: String,
    range: Range<usize>,
    text: String,
}

/// The edits that a change of the navigation requires.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NavigationEdits {
    /// The edits of each file in order, without overlaps.
    pub files: BTreeMap<String, Vec<(Range<usize>, String)>>,
    /// The name of the group that a page was added to.
    pub under: Option<String>,
    /// Whether the navigation shows the added page without an entry for it.
    pub is_shown: bool,
    /// What is left to the user and why, a sentence each without its full stop.
    pub manual_steps: Vec<String>,
}

impl NavigationEdits {
    fn of(mut edits: Vec<FileEdit>, manual_steps: Vec<String>) -> Self {
        edits.sort_by(|a, b| (&a.file, a.range.start, a.range.end).cmp(&(&b.file, b.range.start, b.range.end)));
        edits.dedup();
        let mut files: BTreeMap<String, Vec<(Range<usize>, String)>> = BTreeMap::new();
        for edit in edits {
            let edits = files.entry(edit.file).or_default();
            if edits.last().is_none_or(|(range, _)| edit.range.start >= range.end) {
                edits.push((edit.range, edit.text));
            }
        }
        Self { files, manual_steps, ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Combines these edits with others; where two touch the same bytes, the first is kept.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let flat = |edits: BTreeMap<String, Vec<(Range<usize>, String)>>| {
            let files = edits.into_iter();
            files.flat_map(|(file, edits)| {
                edits.into_iter().map(move |(range, text)| FileEdit { file: file.clone(), range, text })
            })
        };
        let edits = flat(self.files).chain(flat(other.files)).collect();
        let manual_steps = self.manual_steps.into_iter().chain(other.manual_steps).collect();
        Self { under: self.under.or(other.under), ..Self::of(edits, manual_steps) }
    }
}

/// A place where the navigation names a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NavigationPlace {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
}

impl NavigationPlace {
    /// The line of a byte of a file.
    fn of(file: &str, text: &str, at: usize) -> Self {
        Self { file: file.to_owned(), line: line_of(text, at) }
    }
}

/// One entry of a navigation file in a line-based format or with string literals.
#[derive(Debug, Clone)]
struct EditableEntry {
    /// The file of the page that the entry names.
    page: String,
    /// The range that names the page, without quotes.
    value: Range<usize>,
    /// The range of the whole entry, with the ending of its last line; `None` if it cannot be removed by itself.
    item: Option<Range<usize>>,
    /// The range of its displayed name, quotes included.
    title: Option<Range<usize>>,
    naming: EntryNaming,
}

/// How an entry names its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryNaming {
    /// A path relative to the folder of the navigation file, or to the folder of pages.
    File,
    /// A link to the page.
    Link,
    /// The name, without extension, of a page in the folder of the navigation file.
    Sibling,
    /// The name of a folder beside the navigation file; the page is the only one in it.
    Folder,
    /// A path relative to the folder of the navigation file, to a page or to a folder with only this page.
    Below,
    /// The name of a page in the folder of the navigation file, or of a subfolder with only this page.
    Child,
    /// A path relative to the folder of pages, without extension.
    Id,
    /// A path relative to the folder of the file, or an absolute one from the folder of pages, usually without
    /// extension.
    Document,
    /// The resource ID of an Antora page.
    Resource,
}

/// A navigation file with its entries.
#[derive(Debug, Clone)]
struct Contents {
    file: String,
    text: String,
    /// The folder that paths are relative to.
    base: String,
    entries: Vec<EditableEntry>,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Yaml,
    Markdown,
    Json,
    Script,
    Toctree,
    Adoc,
}

impl Shape {
    /// Whether entries are separated by commas.
    fn has_commas(self) -> bool {
        matches!(self, Self::Json | Self::Script)
    }
}

/// The navigation files of a site.
pub struct NavigationFiles<'s> {
    site: &'s Site,
    tree: &'s dyn Tree,
    mintlify: Option<MintlifyFiles>,
    contents: Vec<Contents>,
    folders: Option<FolderFiles>,
    /// The glob patterns of toctrees, by the page that contains the toctree.
    patterns: Vec<(String, Globs)>,
}

impl std::fmt::Debug for NavigationFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NavigationFiles").field("contents", &self.contents).finish_non_exhaustive()
    }
}

impl<'s> NavigationFiles<'s> {
    pub fn of(tree: &'s dyn Tree, site: &'s Site) -> Self {
        let mintlify = MintlifyFiles::of(tree, site.layout().home());
        let mut contents = if mintlify.is_some() {
            Vec::new()
        } else {
            lines::read(tree, site).into_iter().chain(literals::read(tree, site)).collect()
        };
        let folders = FolderFiles::read(tree, site);
        contents.extend(folders.iter().flat_map(|folders| folders.contents(tree, site)));
        Self { site, tree, mintlify, contents, folders, patterns: lines::patterns(tree, site) }
    }

    /// Whether the site has neither an editable navigation that names pages nor editable redirects.
    pub fn is_empty(&self) -> bool {
        self.mintlify.is_none()
            && self.folders.is_none()
            && self.contents.iter().all(|contents| contents.entries.is_empty())
            && !redirects::are_editable(self.tree, self.site)
    }

    /// Every place where the navigation names a page.
    pub fn places(&self, file: &str) -> Vec<NavigationPlace> {
        let mut places = Vec::new();
        if let Some(mintlify) = &self.mintlify {
            for index in mintlify.entries_of(self.site, file) {
                let entry = &mintlify.navigation.entries[index];
                places.push(mintlify.place(entry.file, &entry.span));
            }
        }
        for contents in &self.contents {
            let own = contents.entries.iter().filter(|entry| entry.page == file);
            places.extend(own.map(|entry| NavigationPlace::of(&contents.file, &contents.text, entry.value.start)));
        }
        places
    }

    /// Changes the entries of `from` to name `to`.
    pub fn rename(&self, from: &str, to: &str) -> NavigationEdits {
        let unmatched = self.patterns.iter().filter(|(_, set)| is_named(set, from) && !is_named(set, to));
        let mut manual_steps: Vec<String> = unmatched
            .map(|(file, _)| {
                format!("`{to}` does not match the pattern by which the table of contents on {file} names pages")
            })
            .collect();
        manual_steps.extend(literals::named_elsewhere(self.tree, self.site, from));
        let mut edits = self.mintlify.as_ref().map_or_else(Vec::new, |mintlify| mintlify.rename(self.site, from, to));
        // The title of a removed entry, and whether another entry still names the page.
        let (mut title, mut is_named) = (None, false);
        for contents in &self.contents {
            for entry in contents.entries.iter().filter(|entry| entry.page == from) {
                let written = &contents.text[entry.value.clone()];
                let name = self.renamed(contents, entry, written, to);
                is_named |= name.is_some();
                match name {
                    Some(name) if name == written => {}
                    Some(_) if self.is_shared(contents, entry) => {
                        manual_steps.push(contents.message_about(entry, SHARED_BY_LANGUAGES));
                    }
                    Some(name) => edits.push(contents.edit(entry.value.clone(), name)),
                    None if self.folders.is_some() && entry.naming != EntryNaming::File => {
                        let own = entry.title.clone().map(|range| &contents.text[range]);
                        title = title
                            .or(own.map(|own| (own, contents.message_about(entry, &format!("called it `{own}`")))));
                        match contents.cut(entry) {
                            Some(range) => edits.push(contents.edit(range, String::new())),
                            None => manual_steps.push(contents.message_about(entry, "still names it")),
                        }
                    }
                    // The entry can only name pages of its own folder, and some generators fail on a dangling one, so
                    // it is removed.
                    None if entry.naming == EntryNaming::Folder
                        || entry.naming == EntryNaming::Sibling && folder(to) != contents.base =>
                    {
                        edits.extend(contents.cut(entry).map(|range| contents.edit(range, String::new())));
                        manual_steps.push(
                            contents.message_about(entry, "named it; where its new folder names it is yours to write"),
                        );
                    }
                    None => manual_steps
                        .push(contents.message_about(entry, "names it; what it is called there now is yours to write")),
                }
            }
        }
        if let Some(folders) = &self.folders {
            manual_steps.extend(folders.unedited(self.site, &self.contents, from));
            let was_shown = !self.places(from).is_empty() || folders.shows(from);
            match folders.show(self.site, to, Some(from), title.as_ref().map(|(title, _)| *title)) {
                _ if !was_shown || is_named => {}
                NeededEntry::Added(edit) => edits.push(edit),
                NeededEntry::NotPossible(why) => manual_steps.push(why),
                NeededEntry::None => {
                    manual_steps
                        .extend(title.map(|(_, message)| format!("{message}, and it is shown without that title now")));
                }
            }
        }
        NavigationEdits::of(edits, manual_steps)
    }

    /// Whether an entry names pages in several languages.
    fn is_shared(&self, contents: &Contents, entry: &EditableEntry) -> bool {
        let of_same_file = self.contents.iter().filter(|other| other.file == contents.file);
        of_same_file
            .flat_map(|other| &other.entries)
            .any(|other| other.value == entry.value && other.page != entry.page)
    }

    /// The edits of the toctrees on a page that moves, whose paths are relative to the page.
    pub fn own_entries(&self, from: &str, to: &str) -> Vec<(Range<usize>, String)> {
        let mut edits = Vec::new();
        for contents in self.tables_on(from) {
            let moved = Contents { base: folder(to).to_owned(), ..contents.clone() };
            for entry in &contents.entries {
                let written = &contents.text[entry.value.clone()];
                let page = if entry.page == from { to } else { &entry.page };
                let name = self.renamed(&moved, entry, written, page).filter(|name| name != written);
                edits.extend(name.map(|name| (entry.value.clone(), name)));
            }
        }
        edits
    }

    /// The pages that the toctrees on a page list, by path or by pattern.
    pub fn listed_on(&self, file: &str) -> Vec<String> {
        let named = self.tables_on(file).flat_map(|contents| contents.entries.iter().map(|entry| entry.page.clone()));
        let sets = self.patterns.iter().filter(|(on, _)| on == file);
        let matching = sets.flat_map(|(_, set)| {
            self.site.files().filter(|page| self.site.address(page).is_some() && is_named(set, page) && *page != file)
        });
        named.chain(matching.map(str::to_owned)).collect()
    }

    fn tables_on<'f>(&'f self, file: &'f str) -> impl Iterator<Item = &'f Contents> {
        self.contents.iter().filter(move |contents| contents.file == file && contents.shape == Shape::Toctree)
    }

    fn renamed(&self, contents: &Contents, entry: &EditableEntry, written: &str, to: &str) -> Option<String> {
        // An entry for a folder stays as it is if the page remains in that folder.
        let holds = || to.strip_prefix(&below(&contents.base, written)).is_some_and(|rest| rest.starts_with('/'));
        let name = match entry.naming {
            EntryNaming::Folder | EntryNaming::Below if holds() => written.to_owned(),
            EntryNaming::File => {
                let path = relative_file_path(&contents.base, to);
                let prefix =
                    ["./", "/"].into_iter().find(|prefix| written.starts_with(prefix) && !path.starts_with("../"));
                format!("{}{path}", prefix.unwrap_or_default())
            }
            EntryNaming::Sibling | EntryNaming::Folder => {
                let name = self.child(&contents.base, &entry.page, to)?;
                docent_markdown::stem(name).unwrap_or(name).to_owned()
            }
            EntryNaming::Below => {
                Some(relative_file_path(&contents.base, to)).filter(|path| !path.starts_with("../"))?
            }
            EntryNaming::Child => self.child(&contents.base, &entry.page, to)?.to_owned(),
            EntryNaming::Id => literals::id(self.tree, self.site, &entry.page, to)?,
            EntryNaming::Document => {
                let stem = docent_markdown::stem(to)?;
                let name = if has_page_ending(written) { to } else { stem };
                match written.starts_with('/') {
                    true => format!("/{}", relative_file_path(&self.site.layout().root(to)?.folder, name)),
                    false => relative_file_path(&contents.base, name),
                }
            }
            EntryNaming::Resource => {
                let request =
                    LinkRequest { from: &contents.file, to, anchor: None, like: written, syntax: LinkSyntax::Markdown };
                self.site.link(&request)
            }
            EntryNaming::Link => literals::link_of_entry(self.tree, self.site, contents, entry, to)?,
        };
        let is_shown_now = |folders: &FolderFiles| {
            entry.naming != EntryNaming::File && folders.is_shown_now(&contents.base, written, &name)
        };
        if self.folders.as_ref().is_some_and(is_shown_now) {
            return None;
        }
        let is_identifier = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_bare = contents.shape == Shape::Script && !contents.text[..entry.value.start].ends_with(['"', '\'']);
        if is_bare && !is_identifier(&name) {
            return None;
        }
        let name = if contents.shape == Shape::Markdown { name.replace(' ', "%20") } else { name };
        // A name that would need quotes or escaping is not written.
        let is_quoted = contents.shape.has_commas() && !is_bare;
        let is_plain = name == written
            || name.chars().all(|c| {
                c.is_alphanumeric()
                    || "/._-%".contains(c)
                    || (c == ' ' && written.contains(' '))
                    || (is_quoted && "()[]".contains(c))
            });
        (is_plain || matches!(entry.naming, EntryNaming::Link | EntryNaming::Resource)).then_some(name)
    }

    /// What names a page in the folder `base` after a move to `to`: the page's name, or the name of a subfolder that
    /// holds only this page.
    fn child<'t>(&self, base: &str, page: &str, to: &'t str) -> Option<&'t str> {
        let start = if base.is_empty() { String::new() } else { format!("{base}/") };
        let inside = to.strip_prefix(&start)?;
        let Some((name, _)) = inside.split_once('/') else { return Some(inside) };
        let subfolder = format!("{start}{name}/");
        let is_only_page = !self
            .site
            .files()
            .any(|file| file.starts_with(&subfolder) && file != page && self.site.address(file).is_some());
        is_only_page.then_some(name)
    }

    /// Removes the entries of a page.
    pub fn remove(&self, file: &str) -> NavigationEdits {
        let mut manual_steps = literals::named_elsewhere(self.tree, self.site, file);
        manual_steps.extend(self.folders.iter().flat_map(|folders| folders.unedited(self.site, &self.contents, file)));
        let mut edits = Vec::new();
        if let Some(mintlify) = &self.mintlify {
            let (removals, kept_entries) = mintlify.remove(self.site, file);
            edits = removals;
            if kept_entries > 0 {
                manual_steps.push(format!("{} still names it outside of a list of pages", mintlify.navigation.path));
            }
        }
        for contents in &self.contents {
            let own = contents.entries.iter().filter(|entry| entry.page == file);
            let mut cuts: Vec<(&EditableEntry, Option<Range<usize>>)> =
                own.map(|entry| (entry, contents.cut(entry))).collect();
            // Two adjacent entries may both claim the same comma.
            for at in 1..cuts.len() {
                let overlap = matches!((&cuts[at - 1].1, &cuts[at].1), (Some(a), Some(b)) if a.end > b.start);
                if overlap {
                    cuts[at].1 = None;
                }
            }
            for (entry, cut) in cuts {
                match cut {
                    _ if self.is_shared(contents, entry) => {
                        manual_steps.push(contents.message_about(entry, SHARED_BY_LANGUAGES));
                    }
                    Some(range) => edits.push(contents.edit(range, String::new())),
                    None => manual_steps.push(contents.message_about(entry, "still names it")),
                }
            }
        }
        if let Some(book) = BookRedirects::of(self.tree, self.site) {
            let (removals, steps) = book.remove(self.site, file);
            edits.extend(removals);
            manual_steps.extend(steps);
        }
        NavigationEdits::of(edits, manual_steps)
    }

    /// The files that name pages, those that name most first.
    pub(crate) fn files(&self) -> Vec<&str> {
        let mut files: Vec<(usize, &str)> =
            self.contents.iter().map(|contents| (contents.entries.len(), contents.file.as_str())).collect();
        files.retain(|(entries, _)| *entries > 0);
        files.sort_by_key(|(entries, _)| std::cmp::Reverse(*entries));
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// Adds a page beside its siblings. Without an entry that can serve as a model, nothing is added.
    pub fn add(&self, file: &str, title: &str) -> NavigationEdits {
        if let Some(mintlify) = &self.mintlify {
            let Some((edit, list)) = mintlify.add(self.site, file) else { return NavigationEdits::default() };
            let under = list.groups.last().cloned();
            return NavigationEdits { under, ..NavigationEdits::of(vec![edit], Vec::new()) };
        }
        if let Some(folders) = &self.folders {
            return match folders.show(self.site, file, None, None) {
                NeededEntry::None => NavigationEdits { is_shown: true, ..NavigationEdits::default() },
                NeededEntry::Added(edit) => NavigationEdits::of(vec![edit], Vec::new()),
                NeededEntry::NotPossible(why) => NavigationEdits::of(Vec::new(), vec![why]),
            };
        }
        let candidates =
            self.contents.iter().flat_map(|contents| contents.entries.iter().map(move |entry| (contents, entry)));
        let usable = candidates.filter(|(_, entry)| entry.item.is_some() && entry.naming != EntryNaming::Folder);
        // The last of the entries that are nearest in the folder tree.
        let Some((contents, entry)) = usable.max_by_key(|(_, entry)| shared_folders(&entry.page, file)) else {
            return NavigationEdits::default();
        };
        let written = &contents.text[entry.value.clone()];
        let name = match entry.naming {
            EntryNaming::Id => literals::id_with(self.site, file, &FrontMatter::default()),
            _ => self.renamed(contents, entry, written, file),
        };
        let added = name.and_then(|name| contents.like(entry, &name, title));
        match added {
            Some(edit) => NavigationEdits::of(vec![edit], Vec::new()),
            None => NavigationEdits::default(),
        }
    }

    /// Redirects `from` to `to` if the site has redirects, without chains or loops.
    pub fn redirect(&self, from: &str, to: &str) -> NavigationEdits {
        match &self.mintlify {
            Some(mintlify) => NavigationEdits::of(mintlify.redirect(self.site, from, to), Vec::new()),
            None => redirects::redirect(self.tree, self.site, from, to),
        }
    }

    /// The redirects that lead to a page: the place and the source of each.
    pub fn redirects_to(&self, file: &str) -> Vec<(NavigationPlace, String)> {
        let Some(mintlify) = &self.mintlify else { return redirects::leading_to(self.tree, self.site, file) };
        mintlify.redirects_to(self.site, file)
    }
}

impl Contents {
    fn edit(&self, range: Range<usize>, text: String) -> FileEdit {
        FileEdit { file: self.file.clone(), range, text }
    }

    fn message_about(&self, entry: &EditableEntry, what: &str) -> String {
        format!("{}:{} {what}", self.file, line_of(&self.text, entry.value.start))
    }

    /// The range to delete when an entry is removed, with its comma; `None` if the entry has to stay.
    fn cut(&self, entry: &EditableEntry) -> Option<Range<usize>> {
        let item = entry.item.clone()?;
        if !self.shape.has_commas() {
            return Some(item);
        }
        let (before, after) = (&self.text[..item.start], &self.text[item.end..]);
        let gap = after.len() - after.trim_start().len();
        if after.trim_start().starts_with(',') {
            let rest = &after[gap + 1..];
            return Some(item.start..item.end + gap + 1 + (rest.len() - rest.trim_start().len()));
        }
        let before = before.trim_end();
        // A category without items is an error.
        if entry.naming == EntryNaming::Id && before.ends_with('[') {
            return None;
        }
        Some(before.strip_suffix(',').map_or(item.start, str::len)..item.end)
    }

    /// Adds an entry in the form of this one, after it.
    fn like(&self, entry: &EditableEntry, name: &str, title: &str) -> Option<FileEdit> {
        let item = entry.item.clone()?;
        let title = match self.shape {
            Shape::Yaml
                if title.chars().all(|c| c.is_alphanumeric() || " -_.".contains(c))
                    && title.starts_with(char::is_alphabetic) =>
            {
                title.to_owned()
            }
            Shape::Markdown => title.replace('[', "\\[").replace(']', "\\]"),
            Shape::Toctree => title.replace(['<', '>'], ""),
            Shape::Adoc => title.replace(']', "\\]"),
            // Some themes render the title as HTML.
            Shape::Script => quoted(&title.replace(['<', '>'], "")),
            _ => quoted(title),
        };
        let mut parts = vec![(entry.value.clone(), name.to_owned())];
        parts.extend(entry.title.clone().map(|range| (range, title)));
        parts.sort_by_key(|(range, _)| range.start);
        let (mut text, mut at) = (String::new(), item.start);
        for (range, part) in parts {
            text.push_str(self.text.get(at..range.start)?);
            text.push_str(&part);
            at = range.end;
        }
        text.push_str(self.text.get(at..item.end)?);
        if self.shape.has_commas() {
            let indent = &self.text[line_start(&self.text, item.start)..item.start];
            let gap = if indent.trim().is_empty() { format!("\n{indent}") } else { " ".to_owned() };
            return Some(self.edit(item.end..item.end, format!(",{gap}{text}")));
        }
        let text = if text.ends_with('\n') { text } else { format!("\n{text}") };
        Some(self.edit(item.end..item.end, text))
    }
}

/// Whether a pattern matches a page, by its path without extension.
fn is_named(set: &Globs, page: &str) -> bool {
    docent_markdown::stem(page).is_some_and(|stem| set.is_match(stem))
}

/// Quotes a text as a JSON string, which is also valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The path, if it is a page of the repository.
fn page_of(site: &Site, file: Option<String>) -> Option<String> {
    file.filter(|file| is_page(file) && site.has_any(file))
}

/// How many folders around a new page are also around another page.
fn shared_folders(page: &str, new: &str) -> usize {
    let shared = page.split('/').zip(new.split('/')).take_while(|(a, b)| a == b).count();
    shared.min(new.split('/').count() - 1)
}

#[cfg(test)]
mod tests;
