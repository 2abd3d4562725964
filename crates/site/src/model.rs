//! A docs tree as one model: which file is served where, and what a link leads to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use docent_markdown::{
    Format, FrontMatter, Lines, Link, Page, folder, is_for_editors, is_page, read_front_matter, site_path, stem,
    text_of,
};

use crate::follow::{LinkSyntax, Wanted, Written, is_external};
use crate::generators::{Rules, rules};
use crate::layout::{Generator, Layout, below};
use crate::tree::Tree;

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Something outside of the site: another host, a mail address.
    External,
    /// A page, this one included, and the anchor on it.
    Page { file: String, anchor: Option<String> },
    /// A file that is no page.
    Asset { file: String },
    /// A path that the site's configuration redirects elsewhere.
    Redirect { destination: String },
    /// Nothing in this site. The path as read, relative to the docs root where it names a file and an address where it names
    /// one; `None` when it leads out of either.
    Missing { path: Option<String>, anchor: Option<String> },
    /// What only the running site or its build knows, such as an expression, or what these rules do not cover.
    NotUnderstood,
}

impl Target {
    pub(crate) fn page(file: impl Into<String>, anchor: Option<&str>) -> Self {
        Self::Page { file: file.into(), anchor: anchor.map(str::to_owned) }
    }
}

impl Written<'_> {
    pub(crate) fn page(&self, file: impl Into<String>) -> Target {
        Target::page(file, self.anchor.as_deref())
    }

    pub(crate) fn missing(&self, path: Option<String>) -> Target {
        Target::Missing { path, anchor: self.anchor.clone() }
    }
}

/// A docs tree as a site.
#[derive(Debug, Clone, Default)]
pub struct Site {
    layout: Layout,
    pub(crate) files: BTreeSet<String>,
    /// Files of the repository outside of the docs root, which begin with `../`.
    pub(crate) outside: BTreeSet<String>,
    /// The docs root in its repository.
    root: String,
    /// Addresses of pages outside of the docs root.
    served_outside: BTreeSet<String>,
    /// Pages whose own URL ends in a slash where that is left to them.
    directories: BTreeSet<String>,
    /// A page's file to the address it is served at.
    addresses: HashMap<String, String>,
    /// The other way round.
    pub(crate) served: HashMap<String, String>,
    /// A page's own path without its ending to its file: how pages that lie beside each other name each other, whatever
    /// the address.
    named: HashMap<String, String>,
    /// The names of places that pages may refer to from anywhere: file and anchor, or nothing where several have the name.
    labels: HashMap<String, Option<(String, String)>>,
    /// Source and destination, without leading slash.
    redirects: Vec<(String, String)>,
    /// Files by their paths in small letters, for generators that do not mind the case.
    lower_case: OnceLock<HashMap<String, String>>,
}

impl Site {
    /// Reads the configuration of a tree and, where front matter may choose an address, that of every page.
    pub fn read(tree: &dyn Tree) -> Self {
        let paths = tree.paths();
        let layout = Layout::read_paths(tree, &paths);
        let reads_front_matter = rules(layout.generator()).reads_front_matter;
        let files: BTreeSet<String> = paths.into_iter().collect();
        let outside: BTreeSet<String> = tree.paths_outside().into_iter().collect();
        let has_any = |path: &str| files.contains(path) || outside.contains(path);
        let bytes_of = |file: &str| tree.read(file).unwrap_or_default();
        let front_of = |file: &str| match reads_front_matter {
            true => front_matter(&bytes_of(file)),
            false => layout.front_matter_of(file, &|| bytes_of(file)).unwrap_or_default(),
        };
        let is_served = |file: &&String| {
            is_page(file.trim_start_matches("../")) && layout.root(file).is_some_and(|root| root.keeps(file))
        };
        let served_outside =
            outside.iter().filter(is_served).map(|file| layout.place_of(file, &front_of(file)).site_path).collect();
        // MkDocs leaves out a `README.md` beside an `index.md`, and writes the index of a folder over the page beside the
        // folder that has its name.
        let is_mkdocs = layout.generator() == Generator::MkDocs;
        let mut directories = BTreeSet::new();
        let (mut addresses, mut served, mut named) = (HashMap::new(), HashMap::<String, String>::new(), HashMap::new());
        let mut aliases = Vec::new();
        for file in files.iter().filter(|file| is_page(file)) {
            named.entry(site_path(file)).or_insert_with(|| file.clone());
            if !layout.holds_pages(file) {
                continue;
            }
            let front = front_of(file);
            if let Some((root, inside)) = layout.root(file).and_then(|root| Some((root, root.inside(file)?))) {
                let rules = rules(layout.generator());
                if !(rules.builds)(root, inside, &front, &has_any) {
                    continue;
                }
                if (rules.is_directory)(root, inside, &front) {
                    directories.insert(file.clone());
                }
            }
            let address = layout.place_of(file, &front).site_path;
            if let Some(root) = layout.root(file) {
                let found = (rules(root.generator).aliases)(root, file, &front, &address);
                aliases.extend(found.into_iter().map(|alias| (alias, format!("/{address}"))));
            }
            // Of an index and a README in one folder, the index is what is served.
            let is_beside = |taken: &str| stem(taken) == Some(folder(file));
            match served.get(&address) {
                Some(taken) if is_mkdocs && is_beside(taken) => {
                    served.insert(address.clone(), file.clone());
                }
                Some(taken) if !is_readme(taken) || is_readme(file) => {}
                _ => drop(served.insert(address.clone(), file.clone())),
            }
            addresses.insert(file.clone(), address);
        }
        if is_mkdocs {
            addresses.retain(|file, address| !is_readme(file) || served.get(address) == Some(file));
        }
        let labels = labels(tree, rules(layout.generator()), addresses.keys());
        let redirects = layout.redirects();
        let redirects = redirects.map(|(source, destination)| (trimmed(source).to_owned(), destination.to_owned()));
        let redirects = redirects.chain(aliases).collect();
        let root = tree.root().to_owned();
        Self {
            layout,
            files,
            outside,
            root,
            served_outside,
            directories,
            addresses,
            served,
            named,
            labels,
            redirects,
            lower_case: OnceLock::new(),
        }
    }

    /// What the configuration of the tree says.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn generator(&self) -> Generator {
        self.layout.generator()
    }

    /// Whether front matter is taken off a page. Where it is not, readers see it as text.
    pub fn takes_front_matter(&self) -> bool {
        rules(self.generator()).takes_front_matter
    }

    /// Reads a page, its headings anchored as this site does it.
    pub fn parse(&self, file: &str, bytes: &[u8]) -> Page {
        let mut page = match (rules(self.generator()).parse)(file, bytes) {
            Some(page) => page,
            None => self.layout.parse(&self.root, file, bytes, Format::of(file)),
        };
        (rules(self.generator()).complete)(&self.layout, &text_of(bytes), &mut page);
        page
    }

    /// Files of pages that would be served at a path, were they there; front matter may serve them elsewhere.
    pub fn files_for(&self, path: &str) -> Vec<String> {
        let path = trimmed(path);
        let mut found = Vec::new();
        for root in &self.layout.roots {
            let Some(inside) = path.strip_prefix(root.served.as_str()) else { continue };
            let inside = inside.trim_start_matches('/');
            for ending in [".md", ".mdx", "/index.md", "/index.mdx", "/README.md", "/_index.md"] {
                let file = below(&root.folder, format!("{inside}{ending}").trim_start_matches('/'));
                if is_page(&file) && root.keeps(&file) && self.layout.place(&file).site_path == path {
                    found.push(file);
                }
            }
        }
        found
    }

    /// Whether the tree holds this very file.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Whether the repository holds this very file, inside of the docs root or outside.
    pub(crate) fn has_any(&self, path: &str) -> bool {
        self.files.contains(path) || self.outside.contains(path)
    }

    /// A file of the repository whose path is the same but for the case of its letters.
    pub(crate) fn in_any_case(&self, path: &str) -> Option<&str> {
        let files = self
            .lower_case
            .get_or_init(|| self.all_files().map(|file| (file.to_lowercase(), file.to_owned())).collect());
        files.get(&path.to_lowercase()).map(String::as_str)
    }

    /// The docs root in its repository.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Whether a page outside of the docs root is served at an address.
    pub(crate) fn is_served_outside(&self, address: &str) -> bool {
        self.served_outside.contains(trimmed(address))
    }

    /// Whether a page's own URL ends in a slash where the configuration leaves that to the page.
    pub(crate) fn is_directory(&self, file: &str) -> bool {
        self.directories.contains(file)
    }

    /// Whether the repository holds a file in this folder, inside of the docs root or outside.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let holds = |files: &BTreeSet<String>| {
            files.range(folder.clone()..).next().is_some_and(|file| file.starts_with(folder.as_str()))
        };
        path.is_empty() || holds(&self.files) || holds(&self.outside)
    }

    /// Every file of the repository, in order of those inside and then those outside of the docs root.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().chain(&self.outside).map(String::as_str)
    }

    /// Every file in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Whether a file is one of the pages, served or not: not one that a plain folder keeps for those who edit it.
    pub fn is_page(&self, file: &str) -> bool {
        is_page(file) && (!is_for_editors(file) || self.addresses.contains_key(file))
    }

    /// Where a page is served, without leading slash; `None` when the file is no page of the site.
    pub fn address(&self, file: &str) -> Option<&str> {
        self.addresses.get(file).map(String::as_str)
    }

    /// The file served at an address; leading and trailing slashes do not matter.
    pub fn file_at(&self, address: &str) -> Option<&str> {
        self.served.get(trimmed(address)).map(String::as_str)
    }

    /// The file served at an address, or else the page that has this name without its ending.
    pub fn file_at_or_named(&self, name: &str) -> Option<&str> {
        self.file_at(name).or_else(|| self.named.get(trimmed(name)).map(String::as_str))
    }

    /// Every address with its file, in order.
    pub fn served(&self) -> BTreeMap<&str, &str> {
        self.served.iter().map(|(path, file)| (path.as_str(), file.as_str())).collect()
    }

    /// The file and the anchor that a label stands for, if one page alone has it.
    pub(crate) fn labelled(&self, label: &str) -> Option<(&str, &str)> {
        let (file, anchor) = self.labels.get(label)?.as_ref()?;
        Some((file, anchor))
    }

    /// The labels of a page.
    pub(crate) fn labels_of(&self, file: &str) -> impl Iterator<Item = &str> {
        let is_of = move |place: &Option<(String, String)>| place.as_ref().is_some_and(|(of, _)| of == file);
        self.labels.iter().filter(move |(_, place)| is_of(place)).map(|(label, _)| label.as_str())
    }

    /// The addresses that are redirected, without leading slash.
    pub(crate) fn redirect_sources(&self) -> impl Iterator<Item = &str> {
        self.redirects.iter().map(|(source, _)| source.as_str())
    }

    /// The field of front matter that would send readers of a page's address to another page, and what to add to it; `None`
    /// where the generator has no such field.
    pub fn alias(&self, file: &str) -> Option<(&'static str, String)> {
        let root = self.layout.root(file)?;
        (rules(root.generator).alias)(root, file, self.address(file)?)
    }

    /// Whether readers of an address are sent to a page.
    pub fn redirects_to(&self, address: &str, file: &str) -> bool {
        self.redirect(address).is_some_and(|to| self.file_at(to) == Some(file))
    }

    /// Where the configuration redirects an address to, as it writes it.
    pub(crate) fn redirect(&self, address: &str) -> Option<&str> {
        let redirect = self.redirects.iter().find(|(source, _)| redirects(source, trimmed(address)))?;
        Some(&redirect.1)
    }

    /// The file a person means by a path: with or without ending, with or without leading slash, or the path it is
    /// served at.
    pub fn page_named(&self, name: &str) -> Option<&str> {
        let name = trimmed(name.trim().trim_start_matches("./"));
        match self.files.get(name) {
            Some(file) if self.is_page(file) => Some(file),
            _ => self.file_at_or_named(name).or_else(|| self.file_at_or_named(&site_path(name))),
        }
    }

    /// What `target` leads to as a link of Markdown in `from`, a file.
    pub fn resolve(&self, from: &str, target: &str) -> Target {
        self.resolve_in(from, target, LinkSyntax::Markdown)
    }

    /// What a link of a page leads to.
    pub fn resolve_link(&self, from: &str, link: &Link) -> Target {
        self.resolve_in(from, &link.target, LinkSyntax::of(&link.kind))
    }

    /// What `target` leads to when it stands in `from`, a file, in this syntax.
    pub fn resolve_in(&self, from: &str, target: &str, syntax: LinkSyntax) -> Target {
        let target = target.trim();
        if let Some(named) = (rules(self.generator()).name)(self, from, target, syntax) {
            return named;
        }
        if is_external(target) {
            return Target::External;
        }
        if Format::of(from) == Format::Notebook && target.contains('\\') {
            // It stands in the file otherwise than it is read (see `Notebook::page`).
            return Target::NotUnderstood;
        }
        let Some(mut link) = Written::read(from, target, syntax) else {
            return (rules(self.generator()).expression)(self, from, target);
        };
        // A program of the site's own makes others of it.
        if self.layout.knows_anchors() {
            link.anchor = link.anchor.map(|anchor| (rules(self.generator()).anchor)(anchor, syntax));
        }
        if link.path.is_empty() {
            return match target.is_empty() {
                true => Target::Missing { path: None, anchor: None },
                false
                    if (rules(self.generator()).is_label)(
                        Format::of(from),
                        link.anchor.as_deref().unwrap_or_default(),
                    ) =>
                {
                    Target::NotUnderstood
                }
                false => Target::Page { file: from.to_owned(), anchor: link.anchor },
            };
        }
        (rules(self.generator()).follow)(self, &link)
    }

    /// Whether a link that is written so leads to the file it is to lead to.
    pub(crate) fn leads_there(&self, wanted: &Wanted<'_>, written: &str) -> bool {
        match self.resolve_in(wanted.from, written, wanted.syntax) {
            Target::Page { file, .. } | Target::Asset { file } => file == wanted.to,
            _ => false,
        }
    }

    /// A link from one file to another as this site writes it, in the style of `like`.
    pub fn link(&self, wanted: &Wanted<'_>) -> String {
        let written = (rules(self.generator()).write)(self, wanted);
        if Format::of(wanted.from) == Format::Notebook {
            // It goes into a string of JSON as it is.
            return written.replace('"', "%22").replace('\\', "%5C");
        }
        written
    }
}

/// The labels of all pages, where a generator has some.
fn labels<'f>(
    tree: &dyn Tree,
    rules: &Rules,
    files: impl Iterator<Item = &'f String>,
) -> HashMap<String, Option<(String, String)>> {
    let mut labels = HashMap::new();
    if !rules.reads_labels {
        return labels;
    }
    for file in files {
        for (label, anchor) in (rules.labels)(Format::of(file), &tree.text(file).unwrap_or_default()) {
            let place = Some((file.clone(), anchor));
            labels.entry(label).and_modify(|place| *place = None).or_insert(place);
        }
    }
    labels
}

/// The front matter of a page.
pub(crate) fn front_matter(bytes: &[u8]) -> FrontMatter {
    let text = text_of(bytes);
    read_front_matter(&text, &Lines::of(&text)).0
}

fn is_readme(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.to_ascii_lowercase().starts_with("readme."))
}

/// Whether a redirect's source, which may hold `:name`, `:name*` and `*`, is meant for a path.
pub(crate) fn redirects(source: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    for wanted in source.split('/') {
        if wanted == "*" || (wanted.starts_with(':') && wanted.ends_with('*')) {
            return true;
        }
        match parts.next() {
            Some(part) if wanted == part || (wanted.starts_with(':') && !part.is_empty()) => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

fn trimmed(path: &str) -> &str {
    path.trim_matches('/')
}
