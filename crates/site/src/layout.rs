//! What a docs tree's own configuration says, before any page is read: which generator serves it, from which folders,
//! at which paths, in which order, in which versions and languages.
//!
//! A configuration file may be a program. What it says plainly, in literals, is read; what it computes is not guessed,
//! and a problem says so. What a layout says of a page depends on the bytes of [`Layout::files`] and on the page's
//! path alone: an index may keep both, and knows by comparing blobs when to ask again.
//!
//! Each generator fills in a [`Layout`] (see `generators`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docent_markdown::{
    AnchorStyle, Format, FrontMatter, Page, Problem, is_page, parse_adoc, parse_as, site_path, stem,
};
use serde::{Deserialize, Serialize};

pub(crate) use crate::generator::Generator;
use crate::generators::{LayoutOptions, Root, rules};
use crate::openapi::description::Cache;
use crate::openapi::operations::Operations;
pub(crate) use crate::paths::below;
use crate::paths::path_in;
use crate::variants::Declared;

/// Where a file is served, and what the navigation says of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Place {
    /// Without a leading slash, relative to where the site is served; `""` is its first page.
    pub site_path: String,
    /// What the navigation calls the page, if it has a name of its own for it.
    pub title: Option<String>,
    /// Names of the tabs, groups and folders around the page in the navigation, outermost first.
    pub groups: Vec<String>,
    /// Its position among the pages that the navigation names one by one, counted from 0.
    pub order: Option<u32>,
    pub version: Option<String>,
    pub language: Option<String>,
    /// Whether readers are meant to find the page, as far as its file's name and the configuration tell.
    pub listed: bool,
}

/// What decides how files are read, to be compared: see [`Layout::reading`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reading {
    pages: String,
    descriptions: String,
}

impl Reading {
    /// Whether a file is read as it was by another layout.
    pub fn is_same(&self, other: &Self, file: &str) -> bool {
        if is_page(file) { self.pages == other.pages } else { self.descriptions == other.descriptions }
    }
}

/// A problem and the file it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// Relative to the docs root.
    pub file: String,
    pub problem: Problem,
}

/// What a docs tree's own configuration says.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    pub(crate) generator: Generator,
    /// The folder the configuration stands in, `""` for the root.
    pub(crate) home: String,
    /// Where pages are, the deepest folder first.
    pub(crate) roots: Vec<Root>,
    /// What the navigation says, by the key of a page (see [`Root::key`]).
    pub(crate) entries: HashMap<String, Entry>,
    /// Paths of the pages that readers are meant to find, where the navigation decides that.
    pub(crate) shown: Option<HashSet<String>>,
    /// Groups of what stands below a site path, where the navigation names folders; the longest path first.
    pub(crate) folders: Vec<(String, Vec<String>)>,
    pub(crate) redirects: Vec<(String, String)>,
    pub(crate) anchors: AnchorStyle,
    /// Whether anchors are made by a program of the site's own.
    pub(crate) anchors_computed: bool,
    /// Folders from which snippets are named, besides the page's own, in order.
    pub(crate) snippets: Vec<String>,
    /// Operations of APIs that the navigation shows without a page of their own.
    pub(crate) operations: Vec<Operations>,
    /// Descriptions of APIs that the configuration names.
    pub(crate) descriptions: Vec<String>,
    pub(crate) problems: Vec<FileProblem>,
    /// Whether templates are read in the code that pages show, too.
    pub(crate) templates_in_code: bool,
    pub(crate) options: LayoutOptions,
    pub(crate) cache: Cache,
    pub(crate) declared: Declared,
}

/// What the navigation says of one page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Entry {
    pub(crate) title: Option<String>,
    pub(crate) groups: Arc<[String]>,
    pub(crate) order: u32,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}

/// Files of data that every repository may have and that describe no API.
const NO_DESCRIPTIONS: [&str; 14] = [
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "tsconfig.json",
    "composer.json",
    "mkdocs.yml",
    "mkdocs.yaml",
    "docs.json",
    "mint.json",
    "versions.json",
    "vercel.json",
    "renovate.json",
    "docker-compose.yml",
];

/// A page named twice by the navigation counts where a reader meets it first.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) by_key: HashMap<String, Entry>,
    pub(crate) next: u32,
}

impl Entries {
    pub(crate) fn add(&mut self, key: String, entry: Entry) {
        let order = self.next;
        self.by_key.entry(key).or_insert_with(|| {
            self.next += 1;
            Entry { order, ..entry }
        });
    }
}

impl Layout {
    /// Of a folder of pages that no generator is known to build.
    pub fn plain() -> Self {
        Self::of(Generator::Plain, "", vec![Root::default()])
    }

    pub(crate) fn of(generator: Generator, home: &str, roots: Vec<Root>) -> Self {
        Self { generator, home: home.to_owned(), roots, ..Self::default() }
    }

    pub fn generator(&self) -> Generator {
        self.generator
    }

    /// Of a page's file: where it is served and what the navigation says of it. A path that the page chooses itself
    /// (a `slug`) is known to [`crate::read_file()`] only.
    pub fn place(&self, file: &str) -> Place {
        self.place_of(file, &FrontMatter::default())
    }

    /// Where a page is served, with what its front matter says of that.
    pub fn place_of(&self, file: &str, front: &FrontMatter) -> Place {
        let Some(root) = self.root(file) else {
            return Place { site_path: site_path(file), ..Place::default() };
        };
        let path = root.path(file, front);
        let key = root.key(file, front, &path);
        let entry = key.and_then(|key| self.entries.get(&key));
        let groups = match entry {
            Some(entry) => entry.groups.to_vec(),
            None => self.groups_of_folder(root, file, &path),
        };
        let label = front.sidebar_title().map(|title| title.trim().to_owned());
        let own = |value: Option<&str>| value.map(str::to_owned);
        Place {
            title: label.or_else(|| entry.and_then(|entry| entry.title.clone())),
            groups,
            order: entry.map(|entry| entry.order),
            version: own(front.version())
                .or_else(|| entry.and_then(|entry| entry.version.clone()))
                .or_else(|| root.version.clone()),
            language: own(front.language())
                .or_else(|| entry.and_then(|entry| entry.language.clone()))
                .or_else(|| root.language_of(file)),
            listed: !(rules(root.generator).is_part)(file)
                && root.keeps(file)
                && self.is_shown(file, &path)
                && !front.hides(),
            site_path: path,
        }
    }

    /// The front matter that a page's address is made of, where not all front matter is read.
    pub(crate) fn front_matter_of(&self, file: &str, bytes: &dyn Fn() -> Vec<u8>) -> Option<FrontMatter> {
        let root = self.root(file)?;
        (rules(root.generator).read_front_matter)(root, root.inside(file)?, bytes)
    }

    /// Whether the navigation lets readers find a page, where it decides that. A page may be named by its file, by what it is
    /// served at, and by the index that it is.
    pub(crate) fn is_shown(&self, file: &str, path: &str) -> bool {
        let Some(shown) = &self.shown else { return true };
        shown.contains(path) || stem(file).is_some_and(|stem| shown.contains(stem))
    }

    fn groups_of_folder(&self, root: &Root, file: &str, path: &str) -> Vec<String> {
        match self.folders.iter().find(|(folder, _)| path_in(folder, path).is_some()) {
            Some((_, groups)) => groups.clone(),
            None => root.categories(file),
        }
    }

    /// The folder of pages a file is in.
    pub(crate) fn root(&self, file: &str) -> Option<&Root> {
        self.roots.iter().find(|root| root.holds(file))
    }

    /// The folders that pages are taken from, `""` for all of the tree.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|root| root.folder.as_str())
    }

    /// Paths that moved, source and destination, as the configuration writes them.
    pub fn redirects(&self) -> impl Iterator<Item = (&str, &str)> {
        self.redirects.iter().map(|(source, destination)| (source.as_str(), destination.as_str()))
    }

    /// What the configuration says of the site's versions and languages as a whole.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// What of the configuration could not be read as it was meant.
    pub fn problems(&self) -> &[FileProblem] {
        &self.problems
    }

    /// Whether [`crate::read_file()`] may make pages of this file: a page of the site, or a file that could describe an
    /// API.
    pub fn holds_pages(&self, file: &str) -> bool {
        match is_page(file) {
            true => self.root(file).is_some_and(|root| root.keeps(file)),
            false => self.may_describe_api(file),
        }
    }

    /// The folder the configuration stands in, `""` for the root.
    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// The site path that pages made of a file are below.
    pub(crate) fn path_below(&self, file: &str) -> String {
        let (stem, _) = file.rsplit_once('.').unwrap_or((file, ""));
        match self.root(file) {
            Some(root) => root.path_of_stem(stem),
            None => stem.strip_prefix(self.home.as_str()).unwrap_or(stem).trim_matches('/').to_owned(),
        }
    }

    /// The version and the language of a folder of pages.
    pub(crate) fn version_and_language(&self, file: &str) -> (Option<String>, Option<String>) {
        self.root(file).map_or((None, None), |root| (root.version.clone(), root.language_of(file)))
    }

    /// Reads a page with what the site says of anchors and attributes. `root` is the docs root in its repository.
    pub(crate) fn parse(&self, root: &str, file: &str, bytes: &[u8], format: Format) -> Page {
        let attributes = || (rules(self.generator).attributes)(self, root, file);
        match (format == Format::Adoc).then(attributes).flatten() {
            Some(attributes) => parse_adoc(file, bytes, self.anchors, &attributes),
            None => parse_as(file, bytes, format, self.anchors_of(file)),
        }
    }

    /// What decides how files are read, beside their contents and where they are served. A file whose part of it and whose
    /// [`Layout::place`] are as they were makes the same pages as before, but for pages that have a say in their place.
    pub fn reading(&self) -> Reading {
        let Self { generator, home, anchors, snippets, descriptions, operations, .. } = self;
        let of_pages = (generator, home, anchors, (rules(*generator).reading)(self), snippets, descriptions);
        let of_descriptions = (generator, anchors, operations);
        Reading { pages: format!("{of_pages:?}"), descriptions: format!("{of_descriptions:?}") }
    }

    /// How the headings of a file get theirs.
    pub(crate) fn anchors_of(&self, file: &str) -> AnchorStyle {
        let of_notebooks = || (rules(self.generator).notebook_anchors)(self);
        (Format::of(file) == Format::Notebook).then(of_notebooks).flatten().unwrap_or(self.anchors)
    }

    /// Whether the anchors of headings are those that [`crate::Site::parse`] makes. They are not where a site's own program
    /// makes them.
    pub fn knows_anchors(&self) -> bool {
        !self.anchors_computed
    }

    /// Whether a file may be the description of an API, by its name and place.
    fn may_describe_api(&self, file: &str) -> bool {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let is_data = name
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ["json", "yaml", "yml"].iter().any(|known| ending.eq_ignore_ascii_case(known)));
        let is_other = file.split('/').any(|part| part.starts_with(['.', '_']) || part == "node_modules")
            || NO_DESCRIPTIONS.contains(&name)
            || name.contains("sidebars");
        let beside = ["static", "public", "openapi", "api", "specs", "schemas", "reference"];
        let is_inside = self.root(file).is_some_and(|root| root.keeps(file))
            || folder == self.home
            || beside.iter().any(|beside| path_in(&below(&self.home, beside), folder).is_some());
        is_data && is_inside && !is_other
    }

    pub(crate) fn problem(&mut self, file: &str, message: impl Into<String>) {
        let problem = Problem { line: 1, message: message.into() };
        self.problems.push(FileProblem { file: file.to_owned(), problem });
    }
}

#[cfg(test)]
mod tests;
