//! Navigations whose entries are texts in quotes: `meta.json`, sidebars in JSON, JavaScript and TypeScript.

use docent_markdown::{folder, stem, text_of};

use super::{Contents, Entry, Names, Shape};
use crate::follow::{LinkSyntax, Wanted, is_external, parts};
use crate::generators::{docusaurus, starlight};
use crate::layout::{Generator, below};
use crate::model::{Site, Target, front_matter};
use crate::navigation_json::{self, Value};
use crate::navigation_script::{Literal, NavigationScript, PlainEntry, literals};
use crate::script_pieces::Pieces;
use crate::tree::{Tree, at_home};

/// The files of this kind that a site has.
pub(super) fn read(tree: &dyn Tree, site: &Site) -> Vec<Contents> {
    let mut found = Vec::new();
    let text = |file: &str| tree.read(file).map(|bytes| text_of(&bytes).into_owned());
    for file in site.files() {
        let name = file.rsplit('/').next().unwrap_or(file);
        if matches!(name, "_meta.json" | "meta.json")
            && let Some(text) = text(file)
        {
            found.extend(meta(site, file, text));
        } else if NavigationScript::of(file) == Some(NavigationScript::Members)
            && let Some(text) = text(file)
        {
            found.push(meta_script(site, file, text));
        }
    }
    let mut names = NavigationScript::files_of(site.generator());
    if site.generator() == Generator::Docusaurus {
        names.push("sidebars.json".to_owned());
    }
    let home = site.layout().home();
    let folders = [home.to_owned()].into_iter().chain(site.layout().roots.iter().map(|root| root.folder.clone()));
    let mut files: Vec<String> =
        folders.flat_map(|folder| names.iter().map(move |name| at_home(tree, &folder, name))).collect();
    files.sort();
    files.dedup();
    for file in files {
        let Some(text) = text(&file) else { continue };
        let shape = if file.ends_with(".json") { Shape::Json } else { Shape::Script };
        let entries = match site.generator() {
            Generator::Docusaurus => named_by_id(tree, site, &text),
            _ => linked(site, &file, &text),
        };
        found.push(Contents { base: folder(&file).to_owned(), file, text, entries, shape });
    }
    found
}

/// The page of a name in the folder of a file.
fn sibling(site: &Site, base: &str, name: &str) -> Option<String> {
    let names = ["mdx", "md"].map(|ending| below(base, &format!("{name}.{ending}")));
    names.into_iter().find(|file| site.has_file(file))
}

/// The members of what a script exports: names of pages in the folder of the file.
fn meta_script(site: &Site, file: &str, text: String) -> Contents {
    let base = folder(file).to_owned();
    let mut entries = Vec::new();
    let pieces = Pieces::of(&text);
    let members = pieces.exported_object().map(|open| pieces.members(open).0);
    for member in members.unwrap_or_default() {
        let Some(page) = sibling(site, &base, &text[member.name.clone()]) else { continue };
        let is_text = text[member.value.clone()].starts_with(['"', '\'']);
        entries.push(Entry {
            page,
            item: Some(member.start..member.value.end),
            value: member.name,
            title: is_text.then_some(member.value),
            names: Names::Sibling,
        });
    }
    Contents { file: file.to_owned(), text, base, entries, shape: Shape::Script }
}

/// Names of pages in the folder of the file: the items of `pages`, or the names of members.
fn meta(site: &Site, file: &str, text: String) -> Option<Contents> {
    let base = folder(file).to_owned();
    let root = navigation_json::read(&text).ok()?;
    let mut contents = Contents { file: file.to_owned(), text, base, entries: Vec::new(), shape: Shape::Json };
    let page = |name: &str| sibling(site, &contents.base, name);
    let mut entries = Vec::new();
    if let Some(pages) = root.get("pages") {
        for item in pages.list() {
            if let Some(page) = item.text().and_then(page) {
                let value = item.span.start + 1..item.span.end - 1;
                entries.push(Entry { page, value, item: Some(item.span.clone()), title: None, names: Names::Sibling });
            }
        }
    } else if let Value::Object(members) = &root.value {
        let mut at = root.span.start;
        for (name, value) in members {
            let key = format!("\"{name}\"");
            let start = contents.text[at..value.span.start].find(&key).map(|found| at + found);
            at = value.span.end;
            if let (Some(start), Some(page)) = (start, page(name)) {
                let inner = start + 1..start + key.len() - 1;
                let title = value.text().map(|_| value.span.clone());
                entries.push(Entry {
                    page,
                    value: inner,
                    item: Some(start..value.span.end),
                    title,
                    names: Names::Sibling,
                });
            }
        }
    }
    contents.entries = entries;
    Some(contents)
}

/// Pages named by their ids: items of lists, and `id`.
fn named_by_id(tree: &dyn Tree, site: &Site, text: &str) -> Vec<Entry> {
    let pages: Vec<(String, &str)> = site
        .files()
        .filter(|file| site.address(file).is_some())
        .filter_map(|file| Some((id(tree, site, file, file)?, file)))
        .collect();
    entries(NavigationScript::Sidebars, text, Names::Id, |literal| {
        let is_name = literal.member.is_none_or(|member| member == "id");
        let (_, page) = pages.iter().find(|(id, _)| is_name && *id == text[literal.value.clone()])?;
        Some((*page).to_owned())
    })
}

/// Pages named by links: `link` and `slug`, and items of lists.
fn linked(site: &Site, file: &str, text: &str) -> Vec<Entry> {
    entries(NavigationScript::Configuration, text, Names::Link, |Literal { value, member, list, .. }| {
        let written = &text[value.clone()];
        // A slug, and an item of a list, is an address without a slash before it. One word may be something else, unless
        // it stands where Starlight has its slugs.
        let is_starlight = site.generator() == Generator::Starlight;
        let is_named = member.is_some() || list.is_some_and(|list| ["items", "sidebar"].contains(&list));
        match member {
            Some(member) if !["link", "slug"].contains(member) => None,
            _ if is_starlight && is_named => starlight::page_of_entry(site, written).map(str::to_owned),
            Some("link") => match site.resolve(file, written) {
                Target::Page { file, anchor: None } if written.starts_with('/') => Some(file),
                _ => None,
            },
            _ => site.file_at(written).filter(|_| written.contains('/')).map(str::to_owned),
        }
    })
}

/// The texts that name a page, each with the item of a list that it is, or that holds nothing but it and its label.
fn entries(
    kind: NavigationScript,
    text: &str,
    names: Names,
    page: impl Fn(&Literal<'_>) -> Option<String>,
) -> Vec<Entry> {
    let pieces = Pieces::of(text);
    let named = literals(&pieces).into_iter().filter_map(|literal| Some((page(&literal)?, literal)));
    let entry = |(page, literal): (String, Literal<'_>)| {
        let around = literal.within.and_then(|open| PlainEntry::at(&pieces, open));
        let own = (literal.member.is_none() && kind.names(&literal))
            .then_some(literal.value.start - 1..literal.value.end + 1);
        let item = around.as_ref().map(|entry| entry.range.clone()).or(own);
        Entry { page, value: literal.value, item, title: around.and_then(|entry| entry.label(text)), names }
    };
    named.map(entry).collect()
}

/// Where the configuration of Docusaurus, which is not edited, names a page, in its bars for one: file and byte, and its text.
pub(super) fn named_by_configuration(tree: &dyn Tree, site: &Site, page: &str) -> Vec<(String, String, usize)> {
    let mut found = Vec::new();
    if site.generator() != Generator::Docusaurus {
        return found;
    }
    let page_id = id(tree, site, page, page);
    for ending in ["ts", "js", "mjs", "cjs", "mts"] {
        let file = at_home(tree, site.layout().home(), &format!("docusaurus.config.{ending}"));
        let Some(text) = tree.read(&file).map(|bytes| text_of(&bytes).into_owned()) else { continue };
        let names = |written: &str, member: &str| match member {
            "docId" => page_id.as_deref() == Some(written),
            "to" | "href" if !is_external(written) => {
                let path = parts(written).0.trim_matches('/').to_owned();
                !path.is_empty() && site.file_at(&path) == Some(page)
            }
            _ => false,
        };
        let literals = literals(&Pieces::of(&text)).into_iter();
        let naming =
            literals.filter(|literal| literal.member.is_some_and(|member| names(&text[literal.value.clone()], member)));
        found.extend(naming.map(|literal| (file.clone(), text.clone(), literal.value.start)));
    }
    found
}

/// The id of a page once it is at the path `to`.
pub(super) fn id(tree: &dyn Tree, site: &Site, file: &str, to: &str) -> Option<String> {
    let root = site.layout().root(to)?;
    stem(to)?;
    Some(docusaurus::id(root, root.inside(to)?, &front_matter(&tree.read(file)?)))
}

/// A tree in which one file has another path.
struct Moved<'t> {
    tree: &'t dyn Tree,
    from: &'t str,
    to: &'t str,
}

impl Tree for Moved<'_> {
    fn paths(&self) -> Vec<String> {
        let paths = self.tree.paths().into_iter();
        paths.map(|path| if path == self.from { self.to.to_owned() } else { path }).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        match path {
            path if path == self.to => self.tree.read(self.from),
            path if path == self.from => None,
            path => self.tree.read(path),
        }
    }

    fn root(&self) -> &str {
        self.tree.root()
    }

    fn paths_outside(&self) -> Vec<String> {
        self.tree.paths_outside()
    }
}

/// A link to a page at its new place, in the style of the one before; `None` when it would lead elsewhere.
pub(super) fn link(tree: &dyn Tree, site: &Site, holder: &str, from: &str, to: &str, written: &str) -> Option<String> {
    let after = Site::read(&Moved { tree, from, to });
    if site.generator() == Generator::Starlight {
        return starlight::entry_of_page(&after, to, written);
    }
    let is_address = !written.starts_with(['/', '.']) && site.file_at(written) == Some(from);
    let name = match is_address {
        true => after.address(to)?.to_owned(),
        false => after.link(&Wanted { from: holder, to, anchor: None, like: written, syntax: LinkSyntax::Markdown }),
    };
    let leads = match is_address {
        true => after.file_at(&name) == Some(to),
        false => matches!(after.resolve(holder, &name), Target::Page { file, .. } if file == to),
    };
    (leads && !name.contains(['"', '\'', '\\', '\n'])).then_some(name)
}
