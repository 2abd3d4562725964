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

use crate::generators::mintlify::{self, Operations};
use crate::generators::roots::Root;
use crate::generators::{
    self, ALL, antora, docfx, docusaurus, gitbook, hugo, jekyll, mdbook, mkdocs, next_config, redirects, released,
    rules, sphinx, starlight, vitepress,
};
use crate::openapi::Cache;
use crate::tree::Tree;
use crate::variants::Declared;

/// What makes a site of a docs tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Generator {
    /// None that we know: a folder of pages.
    #[default]
    Plain,
    /// `docs.json` or `mint.json`.
    Mintlify,
    Docusaurus,
    VitePress,
    MkDocs,
    MdBook,
    /// Starlight, or another Astro site with its pages in `src/content/docs`.
    Starlight,
    /// `source.config.*`, on Next.js.
    Fumadocs,
    /// A `next.config.*` that uses Nextra.
    Nextra,
    Hugo,
    /// With pages in Markdown, read by MyST.
    Sphinx,
    /// gitbook.com, or GitBook's own tool and its successor HonKit.
    GitBook,
    Docfx,
    Jekyll,
    /// With pages in AsciiDoc.
    Antora,
}

impl Generator {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "no generator",
            Self::Mintlify => "Mintlify",
            Self::Docusaurus => "Docusaurus",
            Self::VitePress => "VitePress",
            Self::MkDocs => "MkDocs",
            Self::Starlight => "Astro Starlight",
            Self::MdBook => "mdBook",
            Self::Fumadocs => "Fumadocs",
            Self::Nextra => "Nextra",
            Self::Hugo => "Hugo",
            Self::Sphinx => "Sphinx",
            Self::GitBook => "GitBook",
            Self::Docfx => "docfx",
            Self::Jekyll => "Jekyll",
            Self::Antora => "Antora",
        }
    }
}

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
#[derive(Debug, Clone)]
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
    pub(crate) vitepress: vitepress::VitePressOptions,
    pub(crate) starlight: starlight::StarlightOptions,
    /// Folders from which snippets are named, besides the page's own, in order.
    pub(crate) snippets: Vec<String>,
    /// Operations of APIs that the navigation shows without a page of their own.
    pub(crate) operations: Vec<mintlify::Operations>,
    /// Descriptions of APIs that the configuration names.
    pub(crate) descriptions: Vec<String>,
    pub(crate) problems: Vec<FileProblem>,
    /// Whether templates are read in the code that pages show, too.
    pub(crate) templates_in_code: bool,
    pub(crate) mkdocs: mkdocs::MkDocsOptions,
    pub(crate) mdbook: mdbook::MdBookOptions,
    pub(crate) sphinx: sphinx::SphinxOptions,
    pub(crate) gitbook: gitbook::GitBookOptions,
    pub(crate) docfx: docfx::DocfxOptions,
    pub(crate) antora: Arc<antora::AntoraOptions>,
    pub(crate) cache: Cache,
    pub(crate) docusaurus: docusaurus::DocusaurusSettings,
    pub(crate) next: next_config::NextSettings,
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

/// Folders of a repository in which a site is configured, besides its root.
const HOMES: [&str; 18] = [
    "",
    "docs",
    "website",
    "site",
    "doc",
    "documentation",
    "www",
    "web",
    "docs-site",
    "docs/website",
    "docs/site",
    "apps/docs",
    "apps/website",
    "apps/www",
    "packages/docs",
    "packages/website",
    "docfx",
    "docfx_project",
];

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
    /// Of all paths of a tree, those whose bytes [`Layout::read`] looks at. When their blobs are the same, and pages
    /// are in the same folders, so is the layout.
    pub fn files<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
        paths.filter(|path| is_configuration(path)).collect()
    }

    /// Reads the configuration of a tree. Never fails: without one that can be read, a tree is a folder of pages.
    pub fn read(tree: &dyn Tree) -> Self {
        Self::read_paths(tree, &tree.paths())
    }

    /// The same for a caller who has the tree's paths already.
    pub(crate) fn read_paths(tree: &dyn Tree, paths: &[String]) -> Self {
        let outside = tree.paths_outside();
        let configurations = Self::files(paths.iter().chain(&outside).map(String::as_str));
        let mut layout = Self::of_configuration(tree, &configurations);
        layout.roots.sort_by_key(|root| std::cmp::Reverse(root.folder.len()));
        layout.folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        let holds_any = paths.iter().any(|path| is_page(path) && layout.holds_pages(path));
        if !holds_any && layout.generator != Generator::Plain && paths.iter().any(|path| is_page(path)) {
            // A configuration of something else: what there is to read is elsewhere.
            let problems = std::mem::take(&mut layout.problems);
            layout = Self { problems, ..Self::plain() };
        }
        redirects::read(tree, &configurations, &mut layout);
        released::read(tree, &configurations, &mut layout);
        layout
    }

    fn of_configuration(tree: &dyn Tree, configurations: &[&str]) -> Self {
        let has = |name: &str| configurations.contains(&name);
        let above = (1..=depth(tree.root())).map(|levels| ["..", "../..", "../../.."][levels - 1]);
        let homes: Vec<&str> = HOMES.into_iter().chain(above).collect();
        // A forge may build a repository with Jekyll whatever else it holds: where there is more, that is the site.
        let of_all = |home: &&str| ALL.iter().find_map(|generator| rules(*generator).read(tree, home, &has));
        let of_jekyll = |home: &&str| rules(Generator::Jekyll).read(tree, home, &has);
        homes
            .iter()
            .find_map(of_all)
            .or_else(|| generators::without_configuration(tree, configurations))
            .or_else(|| homes.iter().find_map(|home| gitbook::without_configuration(tree, home, &has)))
            .or_else(|| antora::anywhere(tree, configurations))
            .or_else(|| homes.iter().find_map(of_jekyll))
            .unwrap_or_else(Self::plain)
    }

    pub(crate) fn plain() -> Self {
        Self::of(Generator::Plain, "", vec![Root::default()])
    }

    pub(crate) fn of(generator: Generator, home: &str, roots: Vec<Root>) -> Self {
        Self {
            generator,
            home: home.to_owned(),
            roots,
            entries: HashMap::new(),
            shown: None,
            folders: Vec::new(),
            redirects: Vec::new(),
            anchors: AnchorStyle::GitHub,
            anchors_computed: false,
            vitepress: vitepress::VitePressOptions::default(),
            starlight: starlight::StarlightOptions::default(),
            snippets: Vec::new(),
            operations: Vec::new(),
            descriptions: Vec::new(),
            problems: Vec::new(),
            templates_in_code: false,
            mkdocs: mkdocs::MkDocsOptions::default(),
            mdbook: mdbook::MdBookOptions::default(),
            sphinx: sphinx::SphinxOptions::default(),
            gitbook: gitbook::GitBookOptions::default(),
            docfx: docfx::DocfxOptions::default(),
            antora: Arc::default(),
            cache: Cache::default(),
            docusaurus: docusaurus::DocusaurusSettings::default(),
            next: next_config::NextSettings::default(),
            declared: Declared::default(),
        }
    }

    pub fn generator(&self) -> Generator {
        self.generator
    }

    /// Of a page's file: where it is served and what the navigation says of it. A path that the page chooses itself
    /// (a `slug`) is known to [`crate::read_file()`] only.
    pub fn place(&self, file: &str) -> Place {
        self.place_of(file, &FrontMatter::default())
    }

    /// Where a page is served, its own wishes honoured.
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
            listed: !rules(root.generator).is_part(file)
                && root.lists(file)
                && self.is_shown(file, &path)
                && !front.hides(),
            site_path: path,
        }
    }

    /// The front matter that a page's address is made of, where not all front matter is read.
    pub(crate) fn front_matter_of(&self, file: &str, bytes: &dyn Fn() -> Vec<u8>) -> Option<FrontMatter> {
        let root = self.root(file)?;
        rules(root.generator).read_front_matter(root, root.inside(file)?, bytes)
    }

    /// Whether the navigation lets readers find a page, where it decides that. A page may be named by its file, by what it is
    /// served at, and by the index that it is.
    pub(crate) fn is_shown(&self, file: &str, path: &str) -> bool {
        let Some(shown) = &self.shown else { return true };
        shown.contains(path) || stem(file).is_some_and(|stem| shown.contains(stem))
    }

    fn groups_of_folder(&self, root: &Root, file: &str, path: &str) -> Vec<String> {
        let below = |folder: &str| {
            folder.is_empty() || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        match self.folders.iter().find(|(folder, _)| below(folder)) {
            Some((_, groups)) => groups.clone(),
            None => root.categories(file),
        }
    }

    /// The folder of pages a file is in.
    pub(crate) fn root(&self, file: &str) -> Option<&Root> {
        self.roots.iter().find(|root| root.holds(file))
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter()
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

    /// Whether templates are read in the code that pages show, too.
    pub(crate) fn has_templates_in_code(&self) -> bool {
        self.templates_in_code
    }

    /// Whether a `README.md` beside an `index.md` is no page.
    pub(crate) fn leaves_out_readmes(&self) -> bool {
        self.generator == Generator::MkDocs
    }

    /// The folder the configuration stands in, `""` for the root.
    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// Folders from which snippets are named, besides the page's own, in order.
    pub(crate) fn snippets(&self) -> &[String] {
        &self.snippets
    }

    /// Descriptions of APIs that were read already.
    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    pub(crate) fn operations(&self) -> &[Operations] {
        &self.operations
    }

    pub(crate) fn descriptions(&self) -> &[String] {
        &self.descriptions
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
        match antora::attributes(self, root, file).filter(|_| format == Format::Adoc) {
            Some(attributes) => parse_adoc(file, bytes, self.anchors, &attributes),
            None => parse_as(file, bytes, format, self.anchors_of(file)),
        }
    }

    /// What decides how files are read, beside their contents and where they are served. A file whose part of it and whose
    /// [`Layout::place`] are as they were makes the same pages as before, but for pages that have a say in their place.
    pub fn reading(&self) -> Reading {
        let Self { generator, home, anchors, sphinx, snippets, antora, descriptions, operations, .. } = self;
        let of_pages = (generator, home, anchors, sphinx.notebook_anchors, snippets, antora, descriptions);
        let of_descriptions = (generator, anchors, operations);
        Reading { pages: format!("{of_pages:?}"), descriptions: format!("{of_descriptions:?}") }
    }

    /// How headings get their anchors.
    pub(crate) fn anchors(&self) -> AnchorStyle {
        self.anchors
    }

    /// How the headings of a file get theirs.
    pub(crate) fn anchors_of(&self, file: &str) -> AnchorStyle {
        match (self.generator, Format::of(file)) {
            (Generator::Sphinx, Format::Notebook) => self.sphinx.notebook_anchors,
            _ => self.anchors,
        }
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
            || beside.iter().any(|beside| {
                let beside = below(&self.home, beside);
                folder == beside || folder.strip_prefix(beside.as_str()).is_some_and(|rest| rest.starts_with('/'))
            });
        is_data && is_inside && !is_other
    }

    pub(crate) fn problem(&mut self, file: &str, message: impl Into<String>) {
        let problem = Problem { line: 1, message: message.into() };
        self.problems.push(FileProblem { file: file.to_owned(), problem });
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::plain()
    }
}

/// How many folders above the docs root are looked at for a configuration.
fn depth(root: &str) -> usize {
    root.split('/').filter(|part| !part.is_empty()).count().min(3)
}

/// Whether a file may say how a site is laid out, by its path.
pub(crate) fn is_configuration(path: &str) -> bool {
    // Above the docs root, the folders are those of a site around it.
    let path = path.trim_start_matches("../");
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if mintlify::is_configuration(folder, name)
        || generators::is_category(name)
        || antora::is_file(path)
        || released::is_file(folder, name)
        || path.contains("_markup/render-link.")
    {
        return true;
    }
    HOMES.iter().any(|home| {
        let inside = match home.is_empty() {
            true => Some(folder),
            false => folder.strip_prefix(home).and_then(|rest| match rest.is_empty() {
                true => Some(rest),
                false => rest.strip_prefix('/'),
            }),
        };
        inside.is_some_and(|inside| {
            is_script_of_configuration(inside, name)
                || generators::is_of_application(inside, name)
                || mkdocs::is_file(name) && inside.is_empty()
                || mdbook::is_file(inside, name)
                || hugo::config::is_file(inside, name)
                || sphinx::is_file(inside, name)
                || gitbook::is_file(inside, name)
                || docfx::is_file(inside, name)
                || jekyll::config::is_file(inside, name)
                || redirects::is_file(inside, name)
        })
    })
}

/// Whether a script may belong to a configuration, by its folder in the home of one.
fn is_script_of_configuration(folder: &str, name: &str) -> bool {
    let is_script = name.rsplit_once('.').is_some_and(|(_, ending)| generators::SCRIPTS.contains(&ending));
    let is_other = ["package.json", "package-lock.json", "tsconfig.json"].contains(&name) || name.contains(".test.");
    let folder_fits = folder.is_empty()
        || ["config", "sidebars", "versioned_sidebars", ".vitepress"].contains(&folder)
        || ["config/", "sidebars/", ".vitepress/config", ".vitepress/sidebar", ".vitepress/nav", ".vitepress/locale"]
            .iter()
            .any(|start| folder.starts_with(start));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_collection = starlight::COLLECTIONS.contains(&below(folder, stem).as_str());
    is_script && !is_other && (folder_fits || is_collection)
}

/// `a` and `b` with one slash between them, either of which may be empty.
pub(crate) fn below(a: &str, b: &str) -> String {
    match (a.trim_matches('/'), b.trim_matches('/')) {
        ("", path) | (path, "") => path.to_owned(),
        (a, b) => format!("{a}/{b}"),
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
