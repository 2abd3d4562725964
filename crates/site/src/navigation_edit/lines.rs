//! Navigation in line-based formats: YAML and Markdown lists, and Sphinx toctrees.

use std::ops::Range;

use docent_markdown::{file_name, folder, is_markdown, joined, lines_after, regex};

use super::{Contents, EditableEntry, EntryNaming, Shape, page_of};
use crate::generators::antora;
use crate::generators::mkdocs;
use crate::glob::Globs;
use crate::layout::Generator;
use crate::model::{Site, Target};
use crate::site_data::is_data_navigation;
use crate::tree::{Tree, from_config_folder, joined_in};

/// Reads the line-based navigation files of a site.
pub(super) fn read(tree: &dyn Tree, site: &Site) -> Vec<Contents> {
    let mut found = Vec::new();
    if site.generator() == Generator::MkDocs {
        let home = site.layout().home();
        let file = mkdocs::FILES
            .iter()
            .map(|name| from_config_folder(tree, home, name))
            .find(|file| tree.read(file).is_some());
        // If languages have folders, the navigation applies below the folder of each language.
        let Some(file) = file else { return super::zensical::read(tree, site) };
        let bases = site.layout().folders();
        let page =
            |base: &str, name: &str| Some((page_of(site, joined_in(tree.root(), base, name))?, EntryNaming::File));
        return bases.filter_map(|base| list(tree, site, &file, base, &["nav:"], &page)).collect();
    }
    if site.generator() == Generator::Sphinx {
        let pages = site.files().filter(|file| is_markdown(file) && site.address(file).is_some());
        return pages.filter_map(|file| toctrees(tree, site, file)).collect();
    }
    if site.generator() == Generator::Antora {
        let files = antora::navigation::read(tree, site).into_iter();
        return files
            .map(|(file, text, entries)| {
                let entry = |entry: antora::navigation::NavEntry| {
                    let antora::navigation::NavEntry { page, value, item, title } = entry;
                    EditableEntry { page, value, item, title, naming: EntryNaming::Resource }
                };
                let entries = entries.into_iter().map(entry).collect();
                Contents { base: folder(&file).to_owned(), file, text, entries, shape: Shape::Adoc }
            })
            .collect();
    }
    for file in site.all_files() {
        let name = file_name(file);
        let own = folder(file);
        if name == "SUMMARY.md" {
            found.extend(contents(tree, site, file, own, Shape::Markdown));
        } else if name == "toc.yml" || is_data_navigation(file) {
            found.extend(contents(tree, site, file, own, Shape::Yaml));
        }
    }
    found
}

/// Resolves a name of a YAML list in a folder to a page and the way it is named.
type PageNamed<'a> = dyn Fn(&str, &str) -> Option<(String, EntryNaming)> + 'a;

fn contents(tree: &dyn Tree, site: &Site, file: &str, base: &str, shape: Shape) -> Option<Contents> {
    let text = tree.text(file)?;
    let mut contents = Contents { file: file.to_owned(), text, base: base.to_owned(), entries: Vec::new(), shape };
    let lines = lines(&contents.text, 0..contents.text.len());
    for at in 0..lines.len() {
        let entry = match shape {
            Shape::Markdown => markdown_entry(tree, site, &contents, &lines, at),
            _ => yaml_entry(tree, site, &contents, &lines, at, None),
        };
        contents.entries.extend(entry);
    }
    Some(contents)
}

/// The entries of the list under the first of these keys that a YAML file has, if the list is in block style.
pub(super) fn list(
    tree: &dyn Tree,
    site: &Site,
    file: &str,
    base: &str,
    keys: &[&str],
    page: &PageNamed<'_>,
) -> Option<Contents> {
    let text = tree.text(file)?;
    let range = keys.iter().find_map(|key| section(&text, key))?;
    let (file, base) = (file.to_owned(), base.to_owned());
    let mut contents = Contents { file, text, base, entries: Vec::new(), shape: Shape::Yaml };
    let lines = lines(&contents.text, range);
    for at in 0..lines.len() {
        contents.entries.extend(yaml_entry(tree, site, &contents, &lines, at, Some(page)));
    }
    Some(contents)
}

/// The indentation of a list's items and the end of its last line; `None` if it has no items.
pub(super) fn end_of_list(text: &str, section: Range<usize>) -> Option<(usize, usize)> {
    let lines = lines(text, section);
    let first = lines.iter().find(|line| !line.is_blank())?;
    let last = lines.iter().rfind(|line| !line.is_blank())?;
    first.is_item().then(|| (first.indent, last.end()))
}

/// The entries of the toctrees on a page that MyST reads: `path` and `Title <path>`. A path is relative to the page's
/// folder, or to the folder of the docs if absolute, and has no extension.
fn toctrees(tree: &dyn Tree, site: &Site, file: &str) -> Option<Contents> {
    let text = tree.text(file)?;
    let home = &site.layout().root(file)?.folder;
    let base = folder(file).to_owned();
    let mut entries = Vec::new();
    let mut fence: Option<String> = None;
    let mut is_options = false;
    for line in lines(&text, 0..text.len()) {
        let words = line.text.trim();
        let Some(open) = &fence else {
            let marks = words.len() - words.trim_start_matches(['`', ':']).len();
            if marks >= 3 && words[marks..].starts_with("{toctree}") {
                fence = Some(words[..marks].to_owned());
            }
            continue;
        };
        if words.starts_with(open.as_str()) {
            fence = None;
            continue;
        }
        if words == "---" {
            is_options = !is_options;
            continue;
        }
        if is_options || words.is_empty() || words.starts_with([':', '#']) {
            continue;
        }
        let start = line.start + line.text.len() - line.text.trim_start().len();
        let (title, path) = match words.strip_suffix('>').and_then(|words| words.rsplit_once('<')) {
            Some((title, path)) => (Some(start..start + title.trim_end().len()), path),
            None => (None, words),
        };
        let value = start + words.rfind(path)?..start + words.rfind(path)? + path.len();
        let (from, inside) = path.strip_prefix('/').map_or((base.as_str(), path), |inside| (home.as_str(), inside));
        let page = joined(from, inside)
            .into_iter()
            .flat_map(|stem| ["", ".md", ".rst"].map(|ending| format!("{stem}{ending}")));
        if let Some(page) = page.into_iter().find(|page| site.address(page).is_some()) {
            entries.push(EditableEntry {
                page,
                value,
                item: Some(line.start..line.end()),
                title,
                naming: EntryNaming::Document,
            });
        }
    }
    let contents = Contents { file: file.to_owned(), text, base, entries, shape: Shape::Toctree };
    Some(contents).filter(|contents| !contents.entries.is_empty())
}

/// The glob patterns of Sphinx toctrees (`:glob:`), which match page paths without extension, by the page of the
/// toctree.
pub(super) fn patterns(tree: &dyn Tree, site: &Site) -> Vec<(String, Globs)> {
    regex!(PATTERN, r"(?m)^[ \t]*(?:[^<>\n]*<)?([\w./?\[\]-]*\*[\w./?\[\]*-]*)>?[ \t]*\r?$");
    if site.generator() != Generator::Sphinx {
        return Vec::new();
    }
    let mut found = Vec::new();
    for file in site.files().filter(|file| site.address(file).is_some()) {
        let text = tree.text(file).unwrap_or_default();
        if !text.contains(":glob:") {
            continue;
        }
        let home = site.layout().root(file).map_or("", |root| &root.folder);
        let written = PATTERN.captures_iter(&text).filter_map(|found| Some(found.get(1)?.as_str()));
        let whole = written.filter_map(|path| joined(if path.starts_with('/') { home } else { folder(file) }, path));
        let whole: Vec<String> = whole.collect();
        found.push((file.to_owned(), Globs::of(file, whole.iter().map(String::as_str))));
    }
    found
}

/// A line with its line ending.
struct Line<'t> {
    text: &'t str,
    start: usize,
    indent: usize,
}

impl Line<'_> {
    fn is_blank(&self) -> bool {
        let text = self.text.trim();
        text.is_empty() || text.starts_with('#')
    }

    fn is_item(&self) -> bool {
        let text = self.text.trim_start();
        text.starts_with("- ") || text.trim_end() == "-"
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

fn lines(text: &str, range: Range<usize>) -> Vec<Line<'_>> {
    let lines = lines_after(&text[..range.end], range.start);
    lines.map(|(start, text)| Line { text, start, indent: text.len() - text.trim_start_matches(' ').len() }).collect()
}

/// The range of the lines below a top-level key.
pub(super) fn section(text: &str, key: &str) -> Option<Range<usize>> {
    let mut lines = lines_after(text, 0);
    let (at, line) = lines.find(|(_, line)| line.trim_end() == key)?;
    let next = lines.find(|(_, line)| !line.starts_with([' ', '-', '#', '\n', '\r']));
    Some(at + line.len()..next.map_or(text.len(), |(at, _)| at))
}

/// `- path` or `- Title: path`, resolved by `listed` if it is given; otherwise a member such as `href: path` of a list
/// item.
fn yaml_entry(
    tree: &dyn Tree,
    site: &Site,
    contents: &Contents,
    lines: &[Line<'_>],
    at: usize,
    listed: Option<&PageNamed<'_>>,
) -> Option<EditableEntry> {
    regex!(
        LINE,
        r#"^\s*(?:-\s+)*(?:(?<key>"[^"\n]*"|'[^'\n]*'|[^\s'"\[{#&*!|>%@`-][^:#\n]*?)\s*:\s+)?(?:"(?<double>[^"\\\n]+)"|'(?<single>[^'\n]+)'|(?<plain>[^\s'"\[{#&*!|>%@`:-][^:#\n]*?))\s*(?:\s#.*)?$"#
    );
    let line = &lines[at];
    let found = LINE.captures(line.text.trim_end_matches(['\n', '\r']))?;
    let value = ["double", "single", "plain"].iter().find_map(|name| found.name(name))?;
    let key = found.name("key");
    let is_list = listed.is_some();
    let (page, naming) = if let Some(page) = listed {
        line.is_item().then_some(())?;
        page(&contents.base, value.as_str())?
    } else {
        let key = key?.as_str();
        if !["href", "url", "link", "page", "path", "topicHref"].contains(&key) {
            return None;
        }
        match page_of(site, joined_in(tree.root(), &contents.base, value.as_str())) {
            Some(page) if contents.file.ends_with("toc.yml") => (page, EntryNaming::File),
            _ => match site.resolve(&contents.file, value.as_str()) {
                Target::Page { file, .. } => (file, EntryNaming::Link),
                _ => return None,
            },
        }
    };
    // The item begins on the line with its dash, and ends before the next line that is not indented deeper.
    let first = (0..=at).rev().find(|first| {
        let begins = &lines[*first];
        begins.is_item() && (*first == at || begins.indent < line.indent)
    })?;
    let dash = &lines[first];
    let mut last = at;
    let mut next = first + 1;
    let mut holds_items = dash.text.trim_start().trim_start_matches("- ").starts_with("- ");
    while next < lines.len() && (lines[next].is_blank() || lines[next].indent > dash.indent) {
        if !lines[next].is_blank() {
            last = last.max(next);
            holds_items |= lines[next].is_item();
        }
        next += 1;
    }
    let item = dash.start..lines[last].end();
    let before = lines[..first].iter().rev().find(|line| !line.is_blank());
    let after = lines[last + 1..].iter().find(|line| !line.is_blank());
    let opens = before.is_some_and(|line| line.text.trim_end().ends_with(':')) || before.is_none();
    let is_only = opens && after.is_none_or(|line| line.indent < dash.indent || !line.is_item());
    let title = match is_list {
        true => key.map(|key| line.start + key.start()..line.start + key.end()),
        false => lines[first..=last].iter().find_map(name_in),
    };
    let is_whole = is_list || (last - first) == 1 && title.is_some();
    let is_removable = !holds_items && !is_only && is_whole;
    Some(EditableEntry {
        page,
        value: line.start + value.start()..line.start + value.end(),
        item: is_removable.then_some(item),
        title,
        naming,
    })
}

/// The value of `name:`, `title:`, `text:` or `label:`.
fn name_in(line: &Line<'_>) -> Option<Range<usize>> {
    regex!(NAME, r"^\s*(?:-\s+)?(?:name|title|text|label):\s+(\S.*?)\s*$");
    let name = NAME.captures(line.text.trim_end_matches(['\n', '\r']))?.get(1)?;
    Some(line.start + name.start()..line.start + name.end())
}

/// `- [Title](path)`, and `[Title](path)` outside of a list.
fn markdown_entry(
    tree: &dyn Tree,
    site: &Site,
    contents: &Contents,
    lines: &[Line<'_>],
    at: usize,
) -> Option<EditableEntry> {
    regex!(
        LINE,
        r#"^[ \t]*(?:[-*+][ \t]+)?\[((?:\\.|\[[^\[\]\n]*\]|[^\[\]\\\n])*)\]\(<?([^()\s<>#]+)(?:#[^()\s]*)?>?(?:\s+"[^"\n]*")?\)\s*$"#
    );
    let line = &lines[at];
    let found = LINE.captures(line.text.trim_end_matches(['\n', '\r']))?;
    let (title, value) = (found.get(1)?, found.get(2)?);
    let written = value.as_str().replace("%20", " ");
    let page = page_of(site, joined_in(tree.root(), &contents.base, &written))?;
    let next = lines[at + 1..].iter().find(|line| !line.text.trim().is_empty());
    let holds_items =
        next.is_some_and(|next| next.indent > line.indent && next.text.trim_start().starts_with(['-', '*', '+']));
    Some(EditableEntry {
        page,
        value: line.start + value.start()..line.start + value.end(),
        item: (!holds_items).then(|| line.start..line.end()),
        title: Some(line.start + title.start()..line.start + title.end()),
        naming: EntryNaming::File,
    })
}
