//! Edits the redirects of a site: a `_redirects` file, the redirects plug-in of MkDocs, and mdBook's configuration.

use std::ops::Range;

use docent_markdown::{lines_after, regex};

use super::book::BookRedirects;
use super::{FileEdit, NavigationEdits, NavigationPlace, relative_file_path};
use crate::generators::redirects::plain;
use crate::layout::{Generator, below};
use crate::link_target::parts;
use crate::model::Site;
use crate::tree::{Tree, from_config_folder};

/// Whether the site has redirects that can be edited here.
pub(super) fn are_editable(tree: &dyn Tree, site: &Site) -> bool {
    plain_file(tree, site).is_some() || mkdocs(tree, site).is_some() || BookRedirects::of(tree, site).is_some()
}

/// Redirects `from` to `to`.
pub(super) fn redirect(tree: &dyn Tree, site: &Site, from: &str, to: &str) -> NavigationEdits {
    if let Some(map) = mkdocs(tree, site) {
        // The plug-in derives addresses from file names, but pages of the default language are served outside that
        // language's folder.
        let is_by_name = |file: &str| {
            let root = site.layout().root(file)?;
            Some(below(&root.base_path, root.relative_path(file)?) == relative_file_path(&map.base, file))
        };
        if [from, to].iter().any(|file| is_by_name(file) == Some(false)) {
            let message = manual_redirect_message(
                site,
                from,
                to,
                &map.file,
                "redirects",
                "which do not lead to the default language",
            );
            return NavigationEdits::of(Vec::new(), message.into_iter().collect());
        }
        return NavigationEdits::of(map.redirect(from, to), Vec::new());
    }
    if let Some(book) = BookRedirects::of(tree, site) {
        let (edits, manual_steps) = book.redirect(site, from, to);
        return NavigationEdits::of(edits, manual_steps);
    }
    if let Some((file, text)) = plain_file(tree, site) {
        return NavigationEdits::of(in_lines(site, &file, &text, from, to), Vec::new());
    }
    NavigationEdits { manual_steps: plugin_redirect_messages(tree, site, from, to), ..NavigationEdits::default() }
}

/// The redirects that lead to a page: the place and the source of each.
pub(super) fn leading_to(tree: &dyn Tree, site: &Site, file: &str) -> Vec<(NavigationPlace, String)> {
    let mut found = Vec::new();
    if let Some(map) = mkdocs(tree, site) {
        found.extend(map.leading_to(file));
    }
    if let Some(book) = BookRedirects::of(tree, site) {
        found.extend(book.leading_to(site, file));
    }
    if let (Some((file, text)), Some(address)) = (plain_file(tree, site), site.address(file)) {
        for (at, line) in text.lines().enumerate() {
            let leads = |to: &str| parts(to).0.trim_matches('/') == address && to.starts_with('/');
            let sources = plain(line).into_iter().filter(|(_, to)| leads(to)).map(|(source, _)| source);
            found.extend(sources.map(|source| (NavigationPlace { file: file.clone(), line: at + 1 }, source)));
        }
    }
    found
}

/// Messages about redirects that the user has to add, because a plug-in manages them and its configuration is not
/// edited here.
fn plugin_redirect_messages(tree: &dyn Tree, site: &Site, from: &str, to: &str) -> Vec<String> {
    let home = site.layout().home();
    let names = |file: &str, plugin: &str| {
        tree.read(file).is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains(plugin))
    };
    let endings = ["ts", "js", "mjs", "cjs", "mts"].map(|ending| format!("docusaurus.config.{ending}"));
    let programs = endings.iter().map(|name| (name.as_str(), "@docusaurus/plugin-client-redirects"));
    programs
        .chain([("_config.yml", "jekyll-redirect-from"), ("conf.py", "rediraffe"), ("conf.py", "sphinx_reredirects")])
        .map(|(name, plugin)| (from_config_folder(tree, home, name), plugin))
        .filter(|(file, plugin)| names(file, plugin))
        .filter_map(|(file, plugin)| manual_redirect_message(site, from, to, &file, plugin, "which are not edited"))
        .collect()
}

/// The message that a redirect is left to the user, and why.
fn manual_redirect_message(site: &Site, from: &str, to: &str, file: &str, plugin: &str, why: &str) -> Option<String> {
    let (source, destination) = (address_of(site, from)?, address_of(site, to)?);
    Some(format!("{file} has redirects by `{plugin}`, {why}: one from `/{source}` to `/{destination}` is yours to add"))
}

/// The address of a page, which may not exist yet.
fn address_of(site: &Site, file: &str) -> Option<String> {
    site.address(file).map(str::to_owned).or_else(|| {
        let root = site.layout().root(file)?;
        Some(root.path(file, &docent_markdown::FrontMatter::default()))
    })
}

fn plain_file(tree: &dyn Tree, site: &Site) -> Option<(String, String)> {
    let home = site.layout().home();
    let names = ["static/_redirects", "public/_redirects", "_redirects", "docs/public/_redirects"];
    let files = names.iter().map(|name| from_config_folder(tree, home, name)).chain(["_redirects".to_owned()]);
    files.into_iter().find_map(|file| Some((file.clone(), tree.text(&file)?)))
}

/// `/from /to 301`, a line each. The new line copies the trailing slash and status of the last line without
/// placeholders.
fn in_lines(site: &Site, file: &str, text: &str, from: &str, to: &str) -> Vec<FileEdit> {
    let (Some(source), Some(destination)) = (address_of(site, from), address_of(site, to)) else { return Vec::new() };
    let (source, destination) = (format!("/{source}"), format!("/{destination}"));
    let same = |a: &str, b: &str| a.trim_end_matches('/') == b.trim_end_matches('/');
    let mut edits = Vec::new();
    let mut example: Option<(bool, &str)> = None;
    for (start, line) in lines_after(text, 0) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [own, target, rest @ ..] = words.as_slice()
            && own.starts_with('/')
        {
            let at = start + line.find(target).unwrap_or(0);
            let target_at = start + line[own.len()..].find(target).map_or(at - start, |found| found + own.len());
            if same(own, &source) {
                // The address is redirected already, and the existing redirect is kept.
                return Vec::new();
            }
            if same(own, &destination) {
                edits.push(edit(file, start..start + line.len(), String::new()));
            } else if same(target, &source) {
                let slash = if target.ends_with('/') { "/" } else { "" };
                edits.push(edit(file, target_at..target_at + target.len(), format!("{destination}{slash}")));
            }
            if !own.contains(['*', ':']) && rest.len() <= 1 {
                example = Some((target.ends_with('/'), rest.first().copied().unwrap_or("")));
            }
        }
    }
    let (slashed, status) = example.unwrap_or((false, ""));
    let slash = if slashed { "/" } else { "" };
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let line = format!("{source}{slash} {destination}{slash} {status}");
    edits.push(edit(file, text.len()..text.len(), format!("{newline}{}\n", line.trim_end())));
    edits
}

fn edit(file: &str, range: Range<usize>, text: String) -> FileEdit {
    FileEdit { file: file.to_owned(), range, text }
}

/// `redirect_maps` of the plug-in in block style: file names relative to the folder of pages.
struct RedirectMaps {
    file: String,
    base: String,
    /// The ranges of the key, the value and the line of each entry.
    entries: Vec<(Range<usize>, Range<usize>, Range<usize>)>,
    text: String,
}

fn mkdocs(tree: &dyn Tree, site: &Site) -> Option<RedirectMaps> {
    regex!(
        ENTRY,
        r#"^[ \t]+["']?(?<key>[^\s"':#][^"':#\n]*?)["']?[ \t]*:[ \t]+["']?(?<value>[^\s"'#][^"'\s]*)["']?[ \t]*(?:[ \t]#.*)?$"#
    );
    (site.generator() == Generator::MkDocs).then_some(())?;
    let home = site.layout().home();
    let files = crate::generators::mkdocs::FILES.map(|name| from_config_folder(tree, home, name));
    let (file, text) = files.into_iter().find_map(|file| Some((file.clone(), tree.text(&file)?)))?;
    let mut entries = Vec::new();
    let mut indent = None;
    for (at, line) in lines_after(&text, 0) {
        let own = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line.trim().is_empty() || line.trim_start().starts_with('#');
        if line.trim() == "redirect_maps:" {
            indent = Some(own);
        } else if let Some(outer) = indent
            && !is_blank
        {
            if own <= outer {
                break;
            }
            let found = ENTRY.captures(line.trim_end_matches(['\n', '\r']))?;
            let range = |name: &str| found.name(name).map(|part| at + part.start()..at + part.end());
            entries.push((range("key")?, range("value")?, at..at + line.len()));
        }
    }
    let base = site.layout().roots.iter().map(|root| root.folder.clone()).min_by_key(String::len)?;
    // Without an entry there is no model for a new one.
    (!entries.is_empty()).then_some(RedirectMaps { file, base, entries, text })
}

impl RedirectMaps {
    fn leading_to(&self, file: &str) -> Vec<(NavigationPlace, String)> {
        let destination = relative_file_path(&self.base, file);
        let leading = self
            .entries
            .iter()
            .filter(|(_, value, _)| self.text[value.clone()].split('#').next() == Some(&destination));
        let place = |at| NavigationPlace::of(&self.file, &self.text, at);
        leading.map(|(key, _, line)| (place(line.start), self.text[key.clone()].to_owned())).collect()
    }

    fn redirect(&self, from: &str, to: &str) -> Vec<FileEdit> {
        let (source, destination) = (relative_file_path(&self.base, from), relative_file_path(&self.base, to));
        let is_plain = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
        if !is_plain(&source) || !is_plain(&destination) || source.starts_with("..") || destination.starts_with("..") {
            return Vec::new();
        }
        let mut edits = Vec::new();
        let mut is_there = false;
        for (key, value, line) in &self.entries {
            let (own, target) = (&self.text[key.clone()], &self.text[value.clone()]);
            let (path, anchor) = target.split_at(target.find('#').unwrap_or(target.len()));
            if own == source {
                is_there = true;
                edits.push(edit(&self.file, value.clone(), destination.clone()));
            } else if own == destination {
                edits.push(edit(&self.file, line.clone(), String::new()));
            } else if path == source {
                edits.push(edit(&self.file, value.clone(), format!("{destination}{anchor}")));
            }
        }
        if let Some((key, value, line)) = self.entries.last()
            && !is_there
        {
            let part = |range: Range<usize>| &self.text[range];
            let end = part(value.end..line.end);
            // The comment of the copied line is left out.
            let end = end.split('#').next().unwrap_or("").trim_end();
            let newline = if part(line.clone()).ends_with('\n') { "" } else { "\n" };
            let text = format!(
                "{newline}{}{source}{}{destination}{end}\n",
                part(line.start..key.start),
                part(key.end..value.start)
            );
            edits.push(edit(&self.file, line.end..line.end, text));
        }
        edits
    }
}
