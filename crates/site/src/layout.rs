//! Reads the configuration of a docs tree, before any page is read: which generator builds it, from which folders, at
//! which paths, in which order, in which versions and languages.
//!
//! A configuration file may be a program. Its literals are read; computed values are not guessed but reported as a
//! problem. The layout of a page depends only on the bytes of [`Layout::files`] and on the page's path, so an index may
//! cache both and compare blobs to detect a change.
//!
//! Each generator fills in a [`Layout`] (see `generators`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docent_markdown::{
    AnchorStyle, Format, FrontMatter, Page, Problem, file_name, has_word, is_page, parse_adoc, parse_as, site_path,
    stem,
};
use serde::{Deserialize, Serialize};

use crate::api_description::Cache;
pub(crate) use crate::generator::Generator;
use crate::generators::{Facts, LayoutOptions, Root, is_index, rules};
pub(crate) use crate::paths::below;
use crate::paths::path_in;
use crate::variants::Declared;

/// Where a file is served, and its entry in the navigation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Place {
    /// Site path without a leading slash, relative to the base path; `""` is the home page.
    pub site_path: String,
    /// Whether the page is served as a file, so that its URL is the site path with `.html` behind it.
    pub has_html_url: bool,
    /// The title of the page in the navigation, from its front matter or its navigation entry, if either sets one.
    pub title: Option<String>,
    /// Names of the tabs, groups and folders around the page in the navigation, outermost first.
    pub groups: Vec<String>,
    /// The position of the page among those that the navigation names individually, counted from 0.
    pub order: Option<u32>,
    pub version: Option<String>,
    pub language: Option<String>,
    /// Whether the page is meant for readers, as far as its file name, the configuration and, where it is read, its
    /// front matter tell.
    pub listed: bool,
}

/// A comparable fingerprint of the options that affect how files are read: see [`Layout::read_fingerprint`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadFingerprint {
    pages: String,
    descriptions: String,
}

impl ReadFingerprint {
    /// Whether both layouts read this file in the same way.
    pub fn is_same(&self, other: &Self, file: &str) -> bool {
        if is_page(file) { self.pages == other.pages } else { self.descriptions == other.descriptions }
    }
}

/// A problem and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// Relative to the docs root.
    pub file: String,
    pub problem: Problem,
}

/// The configuration of a docs tree.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    pub(crate) generator: Generator,
    /// The folder of the configuration, `""` for the root.
    pub(crate) home: String,
    /// The folders of pages, the deepest first.
    pub(crate) roots: Vec<Root>,
    /// Whether the docs root is inside of a folder of pages, so that pages of the site are outside of it.
    pub(crate) is_narrowed: bool,
    /// Navigation entries by page key (see [`Root::key`]).
    pub(crate) entries: HashMap<String, PageEntry>,
    /// Paths of the pages that are shown to readers, if the navigation decides that.
    pub(crate) shown: Option<HashSet<String>>,
    /// The file that lists the pages, if that is not the configuration.
    pub(crate) summary: Option<String>,
    /// Groups of the pages below a site path, for navigations that name folders; the longest path first.
    pub(crate) folders: Vec<(String, Vec<String>)>,
    pub(crate) redirects: Vec<(String, String)>,
    pub(crate) anchors: AnchorStyle,
    /// The anchors of notebooks, if they are not those of other pages.
    pub(crate) notebook_anchors: Option<AnchorStyle>,
    /// Whether the site's own code generates the anchors.
    pub(crate) anchors_computed: bool,
    /// Folders that snippet paths are relative to, besides the page's own folder, in order.
    pub(crate) snippets: Vec<String>,
    /// API operations that the navigation shows without a page file of their own.
    pub(crate) operations: Vec<Operations>,
    /// API descriptions that the configuration names.
    pub(crate) descriptions: Vec<String>,
    pub(crate) problems: Vec<FileProblem>,
    /// Whether templates are also expanded inside the code blocks of pages.
    pub(crate) templates_in_code: bool,
    pub(crate) options: LayoutOptions,
    pub(crate) cache: Cache,
    pub(crate) declared: Declared,
}

/// The navigation entry of one page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PageEntry {
    pub(crate) title: Option<String>,
    pub(crate) groups: Arc<[String]>,
    pub(crate) order: u32,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}

impl PageEntry {
    pub(crate) fn named(title: Option<String>, groups: &Arc<[String]>) -> Self {
        Self { title, groups: Arc::clone(groups), ..Self::default() }
    }
}

/// API operations that the navigation shows without a page file of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operations {
    /// The API description; `None` for any that has the operation.
    pub(crate) file: Option<String>,
    /// `GET /users`; `None` for all operations.
    pub(crate) operation: Option<String>,
    /// The folder that their pages are served in, if the navigation sets one.
    pub(crate) directory: Option<String>,
    pub(crate) groups: Arc<[String]>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}

/// Common data files that are never API descriptions.
const NOT_DESCRIPTIONS: &str = "package.json package-lock.json pnpm-lock.yaml pnpm-workspace.yaml tsconfig.json \
    composer.json mkdocs.yml mkdocs.yaml docs.json mint.json versions.json vercel.json renovate.json \
    docker-compose.yml";

/// Collects navigation entries. A page that is named twice keeps its first entry.
#[derive(Debug, Default)]
pub(crate) struct PageEntries {
    pub(crate) by_key: HashMap<String, PageEntry>,
    pub(crate) next: u32,
}

impl PageEntries {
    pub(crate) fn add(&mut self, key: String, entry: PageEntry) {
        let order = self.next;
        self.by_key.entry(key).or_insert_with(|| {
            self.next += 1;
            PageEntry { order, ..entry }
        });
    }
}

impl Layout {
    /// The layout of a folder of pages that no known generator builds.
    pub fn plain() -> Self {
        Self::of(Generator::Plain, "", vec![Root::default()])
    }

    pub(crate) fn of(generator: Generator, home: &str, roots: Vec<Root>) -> Self {
        Self { generator, home: home.to_owned(), roots, ..Self::default() }
    }

    pub fn generator(&self) -> Generator {
        self.generator
    }

    pub(crate) fn facts(&self) -> Facts {
        rules(self.generator).facts()
    }

    /// The place of a page's file. A path that the page itself chooses (a `slug`) is known only to
    /// [`crate::read_file()`].
    pub fn place(&self, file: &str) -> Place {
        self.place_of(file, &FrontMatter::default())
    }

    /// The place of a page, its front matter taken into account.
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
        let owned = |value: Option<&str>| value.map(str::to_owned);
        Place {
            title: label.or_else(|| entry.and_then(|entry| entry.title.clone())),
            groups,
            order: entry.map(|entry| entry.order),
            version: owned(front.version())
                .or_else(|| entry.and_then(|entry| entry.version.clone()))
                .or_else(|| root.version.clone()),
            language: owned(front.language())
                .or_else(|| entry.and_then(|entry| entry.language.clone()))
                .or_else(|| root.language_of(file)),
            listed: !root.is_partial(file)
                && root.is_page(file)
                && self.is_shown(file, &path)
                && !front.is_excluded_from_listings(),
            has_html_url: self.has_html_url(root, file, &path),
            site_path: path,
        }
    }

    /// Whether the URL of the page that a file is served as ends in `.html`. That of a folder's index does not.
    pub(crate) fn has_html_url(&self, root: &Root, file: &str, site_path: &str) -> bool {
        let named = root.rewritten(&root.source_path(file).unwrap_or_else(|| file.to_owned()));
        // Not every generator takes a `README` for one.
        let is_index = is_index(&named) && stem(file_name(&named)) != Some(file_name(site_path));
        rules(root.generator).has_html_urls(self) && !site_path.is_empty() && !is_index
    }

    /// The front matter that determines a page's address, for generators that do not read all front matter.
    pub(crate) fn front_matter_of(&self, file: &str, bytes: &dyn Fn() -> Vec<u8>) -> Option<FrontMatter> {
        let root = self.root(file)?;
        rules(root.generator).read_front_matter(root, &root.source_path(file)?, bytes)
    }

    /// Whether the navigation shows a page to readers; true if it does not decide that. The navigation may name a page
    /// by its site path or by its file's path without extension, such as `guide/index`.
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

    /// Redirects, source and destination, verbatim from the configuration.
    pub fn redirects(&self) -> impl Iterator<Item = (&str, &str)> {
        self.redirects.iter().map(|(source, destination)| (source.as_str(), destination.as_str()))
    }

    /// The versions and languages that the configuration declares for the whole site.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Problems found in the configuration.
    pub fn problems(&self) -> &[FileProblem] {
        &self.problems
    }

    /// Whether [`crate::read_file()`] may make pages of this file: it is a page of the site or may be an API
    /// description.
    pub fn holds_pages(&self, file: &str) -> bool {
        if is_page(file) { self.root(file).is_some_and(|root| root.is_page(file)) } else { self.may_describe_api(file) }
    }

    /// The folder of the configuration, `""` for the root.
    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// The site path below which the pages made from a file are served.
    pub(crate) fn path_below(&self, file: &str) -> String {
        let (stem, _) = file.rsplit_once('.').unwrap_or((file, ""));
        match self.root(file) {
            Some(root) => root.path_of_stem(stem),
            None => stem.strip_prefix(self.home.as_str()).unwrap_or(stem).trim_matches('/').to_owned(),
        }
    }

    /// The version and the language of the folder of pages that a file is in.
    pub(crate) fn version_and_language(&self, file: &str) -> (Option<String>, Option<String>) {
        self.root(file).map_or((None, None), |root| (root.version.clone(), root.language_of(file)))
    }

    /// Parses a page with the anchors and attributes of the site. `root` is the path of the docs root in its
    /// repository.
    pub(crate) fn parse(&self, root: &str, file: &str, bytes: &[u8], format: Format) -> Page {
        let attributes = || rules(self.generator).attributes(self, root, file);
        match (format == Format::Adoc).then(attributes).flatten() {
            Some(attributes) => parse_adoc(file, bytes, self.anchors, &attributes),
            None => parse_as(file, bytes, format, self.anchors_of(file)),
        }
    }

    /// The options that determine how files are read, besides their contents and site paths. A file makes the same
    /// pages as before if its part of the result ([`ReadFingerprint::is_same`]) and its [`Layout::place`] are
    /// unchanged, except for pages whose front matter influences their place.
    pub fn read_fingerprint(&self) -> ReadFingerprint {
        let Self { generator, home, anchors, snippets, descriptions, operations, .. } = self;
        let of_pages = (generator, home, anchors, rules(*generator).parse_options_key(self), snippets, descriptions);
        let of_descriptions = (generator, anchors, operations);
        ReadFingerprint { pages: format!("{of_pages:?}"), descriptions: format!("{of_descriptions:?}") }
    }

    /// How anchors are generated for the headings of a file.
    pub(crate) fn anchors_of(&self, file: &str) -> AnchorStyle {
        self.notebook_anchors.filter(|_| Format::of(file) == Format::Notebook).unwrap_or(self.anchors)
    }

    /// Whether the anchors of headings are those that [`crate::Site::parse`] generates. They are not if the site's own
    /// code generates them.
    pub fn knows_anchors(&self) -> bool {
        !self.anchors_computed
    }

    /// Whether a page has an anchor.
    pub fn has_anchor(&self, page: &Page, anchor: &str) -> bool {
        let has_case = page.format.is_markdown() && !self.facts().ids_in_any_case;
        if has_case { page.anchors().any(|known| known == anchor) } else { page.has_anchor(anchor) }
    }

    /// Whether a file may be an API description, by its name and location.
    fn may_describe_api(&self, file: &str) -> bool {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let is_data = name
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ["json", "yaml", "yml"].iter().any(|known| ending.eq_ignore_ascii_case(known)));
        let is_excluded = file.split('/').any(|part| part.starts_with(['.', '_']) || part == "node_modules")
            || has_word(NOT_DESCRIPTIONS, name)
            || name.contains("sidebars");
        let description_folders = ["static", "public", "openapi", "api", "specs", "schemas", "reference"];
        let is_inside = self.root(file).is_some_and(|root| root.is_page(file))
            || folder == self.home
            || description_folders.iter().any(|known| path_in(&below(&self.home, known), folder).is_some());
        is_data && is_inside && !is_excluded
    }

    pub(crate) fn problem(&mut self, file: &str, message: impl Into<String>) {
        let problem = Problem { line: 1, message: message.into() };
        self.problems.push(FileProblem { file: file.to_owned(), problem });
    }
}

#[cfg(test)]
mod tests;
