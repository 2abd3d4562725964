//! Navigation files in folders of pages: `.nav.yml` of MkDocs' plug-in `awesome-nav`, `.pages` of `awesome-pages`. Each
//! orders the content of its folder; a folder without one shows everything in it.

use docent_markdown::{Depth, FrontMatter, capitalised, file_name, text_of};

use super::{has_plugin, plugin};
use crate::generators::yaml::{self, Yaml};
use crate::glob::Globs;
use crate::groups::{self, Groups};
use crate::layout::{Layout, PageEntries, PageEntry, below};
use crate::tree::Tree;

/// Default names of navigation files.
const DEFAULT_NAMES: [&str; 2] = [".nav.yml", ".pages"];

/// Maximum nesting depth of sections and folders.
const MAX_DEPTH: usize = 32;

/// Whether this may be the name of a navigation file. The configuration can set any name, but only hidden YAML files
/// are considered.
pub(crate) fn is_file(name: &str) -> bool {
    DEFAULT_NAMES.contains(&name) || name.starts_with('.') && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderPlugin {
    /// Entries are paths in the folder, globs or links.
    AwesomeNav,
    /// Entries are names of files and folders in the folder itself, links, or `...` for the rest.
    AwesomePages,
}

/// The plug-in that orders the pages of a site by navigation files in their folders.
#[derive(Debug, Clone)]
pub(crate) struct FolderNavigation {
    pub(crate) plugin: FolderPlugin,
    /// The name of the navigation files.
    pub(crate) name: String,
}

/// A parsed navigation file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderFile {
    title: Option<String>,
    /// `None` if the file lists nothing, so that everything in the folder is shown.
    pub(crate) items: Option<Vec<FolderItem>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FolderItem {
    /// A page, a folder or a URL; `awesome-nav` treats any other name as a glob.
    Name {
        title: Option<String>,
        name: String,
    },
    Section {
        title: String,
        items: Vec<FolderItem>,
    },
    /// Everything that the file does not name and that matches a pattern.
    Rest(Remaining),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remaining {
    All,
    Glob(String),
    /// A regular expression of Python.
    Regex,
}

impl FolderNavigation {
    pub(super) fn of(config: &Yaml) -> Option<Self> {
        let name = |plugin_name: &str, default: &str| {
            let configured =
                plugin(config, plugin_name).and_then(|options| options.get("filename")).and_then(Yaml::text);
            configured.unwrap_or(default).to_owned()
        };
        if has_plugin(config, "awesome-nav") {
            return Some(Self { plugin: FolderPlugin::AwesomeNav, name: name("awesome-nav", DEFAULT_NAMES[0]) });
        }
        // `awesome-pages` ignores its files where the `nav` of `mkdocs.yml` has no `...`.
        let nav_has_rest = config.get("nav").is_none_or(|nav| has_rest(nav, Depth::of(MAX_DEPTH)));
        (has_plugin(config, "awesome-pages") && nav_has_rest)
            .then(|| Self { plugin: FolderPlugin::AwesomePages, name: name("awesome-pages", DEFAULT_NAMES[1]) })
    }

    /// Whether the `nav` of the configuration applies together with the navigation files.
    pub(crate) fn keeps_nav(&self) -> bool {
        self.plugin == FolderPlugin::AwesomePages
    }

    /// Parses a navigation file; empty if it is not valid YAML.
    pub(crate) fn read(&self, bytes: &[u8]) -> FolderFile {
        let Ok(yaml) = yaml::read(&text_of(bytes)) else { return FolderFile::default() };
        let title = yaml.text_of("title").map(str::to_owned);
        let nav = yaml.get("nav").filter(|nav| matches!(nav, Yaml::List(_)));
        let mut items = nav.map(|nav| self.items(nav, Depth::of(MAX_DEPTH)));
        match (self.plugin, &mut items) {
            (FolderPlugin::AwesomeNav, Some(items)) if yaml.text_of("append_unmatched") == Some("true") => {
                items.push(FolderItem::Rest(Remaining::All));
            }
            (FolderPlugin::AwesomePages, None) => {
                items = yaml.get("arrange").filter(|list| matches!(list, Yaml::List(_))).map(|arrange| {
                    let mut items = self.items(arrange, Depth::of(MAX_DEPTH));
                    items.push(FolderItem::Rest(Remaining::All));
                    items
                });
            }
            _ => {}
        }
        FolderFile { title, items }
    }

    fn items(&self, list: &Yaml, depth: Depth) -> Vec<FolderItem> {
        let Some(depth) = depth.inside() else { return Vec::new() };
        let item = |yaml: &Yaml| match yaml {
            Yaml::Text(name) => Some(self.item(name)),
            Yaml::Map(members) => match members.as_slice() {
                members if self.plugin == FolderPlugin::AwesomeNav && members.iter().any(|(key, _)| key == "glob") => {
                    let (_, glob) = members.iter().find(|(key, _)| key == "glob")?;
                    Some(FolderItem::Rest(Remaining::Glob(glob.text()?.to_owned())))
                }
                [(title, Yaml::Text(name))] => {
                    Some(FolderItem::Name { title: Some(title.clone()), name: name.clone() })
                }
                [(title, list @ Yaml::List(_))] => {
                    Some(FolderItem::Section { title: title.clone(), items: self.items(list, depth) })
                }
                _ => None,
            },
            _ => None,
        };
        list.list().iter().filter_map(item).collect()
    }

    fn item(&self, name: &str) -> FolderItem {
        match self.plugin {
            FolderPlugin::AwesomePages if name.starts_with("...") => {
                let mut pattern = name.trim_start_matches('.').split('|').map(str::trim);
                let pattern = pattern.rfind(|part| !part.is_empty() && *part != "flat");
                FolderItem::Rest(match pattern {
                    None => Remaining::All,
                    Some(pattern) if pattern.starts_with("regex=") => Remaining::Regex,
                    Some(pattern) => Remaining::Glob(pattern.trim_start_matches("glob=").to_owned()),
                })
            }
            FolderPlugin::AwesomeNav if name.contains(['*', '?', '[', '(', '{']) => {
                FolderItem::Rest(Remaining::Glob(name.to_owned()))
            }
            _ => FolderItem::Name { title: None, name: name.to_owned() },
        }
    }
}

impl FolderFile {
    /// All items, including those in sections.
    pub(crate) fn all(&self) -> Vec<&FolderItem> {
        let mut found: Vec<&FolderItem> = self.items.iter().flatten().collect();
        let mut at = 0;
        while at < found.len() {
            if let FolderItem::Section { items, .. } = found[at] {
                found.extend(items);
            }
            at += 1;
        }
        found
    }

    /// The entries of the folder that are shown without being named: all of them, those that match a glob, or those
    /// that match a pattern that is not supported.
    pub(crate) fn unnamed(&self) -> Unnamed {
        if self.items.is_none() {
            return Unnamed { all: true, ..Unnamed::default() };
        }
        let mut unnamed = Unnamed::default();
        let mut patterns = Vec::new();
        for item in self.all() {
            match item {
                FolderItem::Rest(Remaining::All) => unnamed.all = true,
                FolderItem::Rest(Remaining::Regex) => unnamed.unclear = true,
                FolderItem::Rest(Remaining::Glob(glob)) if glob.contains('(') => unnamed.unclear = true,
                FolderItem::Rest(Remaining::Glob(glob)) => patterns.push(glob.trim_end_matches('/')),
                _ => {}
            }
        }
        unnamed.globs = Globs::of("", patterns.into_iter());
        unnamed.unclear |= unnamed.globs.has_refused();
        unnamed
    }
}

/// The entries of a folder that a navigation file shows without naming them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unnamed {
    pub(crate) all: bool,
    pub(crate) globs: Globs,
    /// Whether there are patterns that are not supported.
    pub(crate) unclear: bool,
}

fn has_rest(nav: &Yaml, depth: Depth) -> bool {
    match nav {
        Yaml::Text(text) => text.starts_with("..."),
        Yaml::List(items) => depth.inside().is_some_and(|depth| items.iter().any(|item| has_rest(item, depth))),
        Yaml::Map(members) => {
            depth.inside().is_some_and(|depth| members.iter().any(|(_, value)| has_rest(value, depth)))
        }
        Yaml::Empty => false,
    }
}

/// Adds the pages that the navigation files name one by one, each with the sections and folder titles around it.
pub(super) fn read(
    tree: &dyn Tree,
    layout: &Layout,
    navigation: &FolderNavigation,
    entries: &mut PageEntries,
    has: &dyn Fn(&str) -> bool,
) {
    let mut reader = FolderReader { tree, layout, navigation, has, entries };
    reader.folder(&layout.options.mkdocs.docs, &Groups::default(), None, Depth::of(MAX_DEPTH));
}

struct FolderReader<'a> {
    tree: &'a dyn Tree,
    layout: &'a Layout,
    navigation: &'a FolderNavigation,
    has: &'a dyn Fn(&str) -> bool,
    entries: &'a mut PageEntries,
}

impl FolderReader<'_> {
    /// Reads the navigation file of a folder. `outer_groups` are the groups around the folder, `entry_title` is the
    /// title in the entry that names it; `None` for the docs folder, which no entry names.
    fn folder(&mut self, folder: &str, outer_groups: &Groups, entry_title: Option<Option<&str>>, depth: Depth) {
        let path = below(folder, &self.navigation.name);
        let Some(depth) = depth.inside().filter(|_| (self.has)(&path)) else { return };
        let file = self.navigation.read(&self.tree.read(&path).unwrap_or_default());
        let title = entry_title.map(|title| {
            let folder_title = || title_of(file_name(folder));
            title.map(str::to_owned).or_else(|| file.title.clone()).unwrap_or_else(folder_title)
        });
        let groups = groups::inside(outer_groups, title.as_deref());
        self.items(folder, file.items.as_deref().unwrap_or_default(), &groups, depth);
    }

    fn items(&mut self, folder: &str, items: &[FolderItem], groups: &Groups, depth: Depth) {
        let Some(depth) = depth.inside() else { return };
        for item in items {
            match item {
                FolderItem::Rest(_) => {}
                FolderItem::Section { title, items } => {
                    let inner_groups = groups::inside(groups, [title.as_str()]);
                    self.items(folder, items, &inner_groups, depth);
                }
                FolderItem::Name { name, .. } if name.split('/').any(|part| part == "..") => {}
                FolderItem::Name { title, name } => {
                    let path = below(folder, name);
                    let root = self.layout.root(&path).filter(|root| root.is_page(&path));
                    match root {
                        Some(root) => {
                            let key = root.path(&path, &FrontMatter::default());
                            let entry = PageEntry::named(title.clone(), groups);
                            self.entries.add(key, entry);
                        }
                        None => self.folder(&path, groups, Some(title.as_deref()), depth),
                    }
                }
            }
        }
    }
}

/// The title that MkDocs makes of a folder name.
fn title_of(name: &str) -> String {
    let title = name.replace(['-', '_'], " ");
    if title.to_lowercase() == title { capitalised(&title) } else { title }
}
