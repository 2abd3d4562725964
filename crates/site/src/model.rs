//! The model of a site: which file is served where, and where links lead.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use docent_markdown::{
    Format, FrontMatter, Lines, Link, Page, folder, is_for_editors, is_page, joined, read_front_matter, site_path,
    stem, text_of,
};

use crate::generators::{Rules, front_links, rules};
use crate::layout::{Generator, Layout, below};
use crate::link_target::{LinkRequest, LinkSyntax, ParsedLink, has_page_ending, is_external};
use crate::paths::path_in;
use crate::sites::configured_by;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};

/// The destination of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A destination outside the site: another host, a mail address.
    External,
    /// A page, possibly the linking page itself, and an anchor on it.
    Page { file: String, anchor: Option<String> },
    /// A file that is not a page.
    Asset { file: String },
    /// A path that the site's configuration redirects elsewhere.
    Redirect { destination: String },
    /// Nothing in this site. `path` is relative to the docs root if the link names a file, or an address if it names
    /// one; `None` when it leads out of either.
    Missing { path: Option<String>, anchor: Option<String> },
    /// Known only to the running site or its build, such as an expression, or not covered by the rules of this crate.
    NotUnderstood,
}

impl Target {
    pub(crate) fn page(file: impl Into<String>, anchor: Option<&str>) -> Self {
        Self::Page { file: file.into(), anchor: anchor.map(str::to_owned) }
    }
}

impl ParsedLink<'_> {
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
    /// Files of the repository outside the docs root; their paths begin with `../`.
    pub(crate) outside: BTreeSet<String>,
    /// The path of the docs root in its repository.
    root: String,
    /// Addresses of pages outside of the docs root.
    served_outside: BTreeSet<String>,
    /// Pages whose own URL ends in a slash, for generators that decide this per page.
    directories: BTreeSet<String>,
    /// A page's file to the address it is served at.
    addresses: HashMap<String, String>,
    /// The inverse: from address to file.
    pub(crate) served: HashMap<String, String>,
    /// From a page's own path without extension to its file: neighbouring pages link each other by that path, whatever
    /// their addresses.
    named: HashMap<String, String>,
    /// Labels that pages may refer to from anywhere: file and anchor, or `None` if several places have the label.
    labels: HashMap<String, Option<(String, String)>>,
    /// Redirects, source and destination; sources have no leading slash.
    redirects: Vec<(String, String)>,
    /// Files by lowercase path, for case-insensitive generators.
    lower_case: OnceLock<HashMap<String, String>>,
    /// Symbolic links and submodules.
    unread: BTreeSet<String>,
    /// Files by their paths through symbolic links, if the generator follows links.
    linked: BTreeSet<String>,
    /// The folders with the configuration of a generator.
    site_folders: OnceLock<BTreeSet<String>>,
}

impl Site {
    /// Reads the configuration of a tree and, if front matter may choose an address, the front matter of every page.
    pub fn read(tree: &dyn Tree) -> Self {
        let paths = tree.paths();
        let layout = Layout::read_paths(tree, &paths);
        let reads_front_matter = layout.facts().reads_front_matter;
        let files: BTreeSet<String> = paths.into_iter().collect();
        let outside: BTreeSet<String> = tree.paths_outside().into_iter().collect();
        let has_any = |path: &str| files.contains(path) || outside.contains(path);
        let bytes_of = |file: &str| tree.read(file).unwrap_or_default();
        let front_of = |file: &str| match reads_front_matter {
            true => front_matter(&bytes_of(file)),
            false => layout.front_matter_of(file, &|| bytes_of(file)).unwrap_or_default(),
        };
        let is_served = |file: &&String| {
            is_page(file.trim_start_matches("../")) && layout.root(file).is_some_and(|root| root.is_page(file))
        };
        let served_outside =
            outside.iter().filter(is_served).map(|file| layout.place_of(file, &front_of(file)).site_path).collect();
        let index_replaces_page = layout.facts().index_replaces_page;
        let mut directories = BTreeSet::new();
        let (mut addresses, mut served, mut named) = (HashMap::new(), HashMap::<String, String>::new(), HashMap::new());
        let mut aliases = Vec::new();
        for file in files.iter().filter(|file| is_page(file)) {
            named.entry(site_path(file)).or_insert_with(|| file.clone());
            if !layout.holds_pages(file) {
                continue;
            }
            let front = front_of(file);
            if let Some((root, inside)) = layout.root(file).and_then(|root| Some((root, root.source_path(file)?))) {
                let rules = rules(layout.generator());
                if !rules.is_published(root, &inside, &front, &has_any) {
                    continue;
                }
                if rules.is_directory(root, &inside, &front) {
                    directories.insert(file.clone());
                }
            }
            let address = layout.place_of(file, &front).site_path;
            if let Some(root) = layout.root(file) {
                let found = rules(root.generator).aliases(root, file, &front, &address);
                aliases.extend(found.into_iter().map(|alias| (alias, format!("/{address}"))));
            }
            // If a folder has both an index and a README, the index is served.
            let is_beside = |taken: &str| stem(taken) == Some(folder(file));
            match served.get(&address) {
                Some(taken) if index_replaces_page && is_beside(taken) => {
                    served.insert(address.clone(), file.clone());
                }
                Some(taken) if !is_readme(taken) || is_readme(file) => {}
                _ => drop(served.insert(address.clone(), file.clone())),
            }
            addresses.insert(file.clone(), address);
        }
        if index_replaces_page {
            addresses.retain(|file, address| !is_readme(file) || served.get(address) == Some(file));
        }
        let labels = labels(tree, rules(layout.generator()), addresses.keys());
        let redirects = layout.redirects();
        let redirects = redirects.map(|(source, destination)| (trimmed(source).to_owned(), destination.to_owned()));
        let redirects = redirects.chain(aliases).collect();
        let root = tree.root().to_owned();
        let linked = if layout.facts().follows_links { tree.linked() } else { Vec::new() }.into_iter().collect();
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
            unread: tree.unread().into_iter().collect(),
            linked,
            site_folders: OnceLock::new(),
        }
    }

    /// The configuration of the tree.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn generator(&self) -> Generator {
        self.layout.generator()
    }

    /// Whether front matter is stripped from a page. If not, readers see it as text.
    pub fn takes_front_matter(&self) -> bool {
        !self.layout.facts().shows_front_matter
    }

    /// Parses a page; its headings get the anchors that this site generates.
    pub fn parse(&self, file: &str, bytes: &[u8]) -> Page {
        let mut page = match rules(self.generator()).parse(file, bytes) {
            Some(page) => page,
            None => self.layout.parse(&self.root, file, bytes, Format::of(file)),
        };
        let text = text_of(bytes);
        if self.layout.facts().shows_front_links {
            front_links::add(&text, &mut page);
        }
        rules(self.generator()).post_process(&self.layout, &text, &mut page);
        page
    }

    /// The files that would be served at a path if they existed; front matter may serve them elsewhere.
    pub fn files_for(&self, path: &str) -> Vec<String> {
        let path = trimmed(path);
        let mut found = Vec::new();
        for root in &self.layout.roots {
            let Some(inside) = path.strip_prefix(root.base_path.as_str()) else { continue };
            let inside = inside.trim_start_matches('/');
            for ending in [".md", ".mdx", "/index.md", "/index.mdx", "/README.md", "/_index.md"] {
                let file = below(&root.folder, format!("{inside}{ending}").trim_start_matches('/'));
                if is_page(&file) && root.is_page(&file) && self.layout.place(&file).site_path == path {
                    found.push(file);
                }
            }
        }
        found
    }

    /// Whether the docs root holds this exact file.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Whether the repository holds this exact file, inside or outside the docs root.
    pub(crate) fn has_any(&self, path: &str) -> bool {
        self.files.contains(path) || self.outside.contains(path)
    }

    /// A file of the repository whose path matches case-insensitively.
    pub(crate) fn in_any_case(&self, path: &str) -> Option<&str> {
        let files = self
            .lower_case
            .get_or_init(|| self.all_files().map(|file| (file.to_lowercase(), file.to_owned())).collect());
        files.get(&path.to_lowercase()).map(String::as_str)
    }

    /// The innermost folder above a file that has the configuration of a generator, `""` if none has: what is outside of
    /// it belongs to another site.
    pub fn site_folder<'f>(&self, file: &'f str) -> &'f str {
        let folders = self
            .site_folders
            .get_or_init(|| self.files.iter().filter_map(|file| Some(configured_by(file)?.0.to_owned())).collect());
        let mut above = folder(file);
        while !above.is_empty() && !folders.contains(above) {
            above = folder(above);
        }
        above
    }

    /// The path of the docs root in its repository.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Whether a page outside of the docs root is served at an address.
    pub(crate) fn is_served_outside(&self, address: &str) -> bool {
        self.served_outside.contains(trimmed(address))
    }

    /// Whether a page's own URL ends in a slash, for generators that decide this per page.
    pub(crate) fn is_directory(&self, file: &str) -> bool {
        self.directories.contains(file)
    }

    /// Whether the repository holds a file in this folder, inside or outside the docs root.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let holds = |files: &BTreeSet<String>| {
            files.range(folder.clone()..).next().is_some_and(|file| file.starts_with(folder.as_str()))
        };
        path.is_empty() || holds(&self.files) || holds(&self.outside)
    }

    /// Every file of the repository: first those inside the docs root in order, then those outside.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().chain(&self.outside).map(String::as_str)
    }

    /// The number of pages that readers can find, and of the files in docs formats that make none, by reason. Reads the front
    /// matter of every page.
    pub fn count_pages(&self, tree: &dyn Tree) -> (usize, BTreeMap<SkipReason, usize>) {
        let (mut pages, mut skipped) = (0, BTreeMap::new());
        for outcome in self.files.iter().filter_map(|file| self.layout.listed_pages(tree, file)) {
            match outcome {
                Ok(listed) => pages += listed,
                Err(reason) => *skipped.entry(reason).or_default() += 1,
            }
        }
        (pages, skipped)
    }

    /// The files outside of the docs root in the folder of the site's configuration.
    pub fn files_above<'t>(&'t self, tree: &'t dyn Tree) -> impl Iterator<Item = &'t str> {
        self.outside.iter().map(String::as_str).filter(|file| {
            let name = file.rsplit('/').next().unwrap_or_default();
            from_config_folder(tree, self.layout.home(), name) == **file
        })
    }

    /// Every file of the docs root, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Whether a file is a page, served or not. A file for editors (such as `CONTRIBUTING.md`) is a page only if it is
    /// served.
    pub fn is_page(&self, file: &str) -> bool {
        is_page(file) && (!is_for_editors(file) || self.addresses.contains_key(file))
    }

    /// Where a page is served, without leading slash; `None` when the file is no page of the site.
    pub fn address(&self, file: &str) -> Option<&str> {
        self.addresses.get(file).map(String::as_str)
    }

    /// Where a page is served, as it is written in a URL but for its encoding: the address, with `.html` behind it on
    /// sites that serve files, without leading slash.
    pub fn url(&self, file: &str) -> Option<String> {
        let address = self.address(file)?;
        let has_ending = self.layout.root(file).is_some_and(|root| self.layout.has_html_url(root, file, address));
        Some(format!("{address}{}", if has_ending { ".html" } else { "" }))
    }

    /// The file served at an address; leading and trailing slashes do not matter.
    pub fn file_at(&self, address: &str) -> Option<&str> {
        self.served.get(trimmed(address)).map(String::as_str)
    }

    /// The file served at an address, or else the page with this path, without extension.
    pub fn file_at_or_named(&self, name: &str) -> Option<&str> {
        self.file_at(name).or_else(|| self.named.get(trimmed(name)).map(String::as_str))
    }

    /// Every address with its file, in order.
    pub fn served(&self) -> BTreeMap<&str, &str> {
        self.served.iter().map(|(path, file)| (path.as_str(), file.as_str())).collect()
    }

    /// The file and the anchor of a label, if it is unambiguous.
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

    /// The frontmatter field that redirects from a page's address to another page, and the value to add to it; `None`
    /// if the generator has no such field.
    pub fn alias(&self, file: &str) -> Option<(&'static str, String)> {
        let root = self.layout.root(file)?;
        rules(root.generator).alias(root, file, self.address(file)?)
    }

    /// Whether an address redirects to a page.
    pub fn redirects_to(&self, address: &str, file: &str) -> bool {
        self.redirect(address).is_some_and(|to| self.file_at(to) == Some(file))
    }

    /// The destination to which the configuration redirects an address, verbatim.
    pub(crate) fn redirect(&self, address: &str) -> Option<&str> {
        let redirect = self.redirects.iter().find(|(source, _)| redirects(source, trimmed(address)))?;
        Some(&redirect.1)
    }

    /// The page that a user means by a path: with or without extension, with or without leading slash, or the site
    /// path.
    pub fn page_named(&self, name: &str) -> Option<&str> {
        let name = trimmed(name.trim().trim_start_matches("./"));
        match self.files.get(name) {
            Some(file) if self.is_page(file) => Some(file),
            _ => self.file_at_or_named(name).or_else(|| self.file_at_or_named(&site_path(name))),
        }
    }

    /// The destination of `target` as a Markdown link in the file `from`.
    pub fn resolve(&self, from: &str, target: &str) -> Target {
        self.resolve_in(from, target, LinkSyntax::Markdown)
    }

    /// The destination of a link of a page.
    pub fn resolve_link(&self, from: &str, link: &Link) -> Target {
        self.resolve_in(from, &link.target, LinkSyntax::of(&link.kind))
    }

    /// The destination of `target` in the file `from`, in this link syntax.
    pub fn resolve_in(&self, from: &str, target: &str, syntax: LinkSyntax) -> Target {
        let target = target.trim();
        if let Some(named) = rules(self.generator()).resolve_name(self, from, target, syntax) {
            return named;
        }
        if is_external(target) {
            return Target::External;
        }
        if Format::of(from) == Format::Notebook && target.contains('\\') {
            // The target contains JSON escapes and is not the decoded destination (see `Notebook::page`).
            return Target::NotUnderstood;
        }
        let Some(mut link) = ParsedLink::read(from, target, syntax) else {
            return match rules(self.generator()).resolve_template(self, from, target) {
                Target::Missing { .. } if self.layout.is_narrowed => Target::NotUnderstood,
                Target::Missing { path: Some(path), anchor } if self.may_be_unread(from, "", Some(&path)) => {
                    self.through_link(path, anchor).unwrap_or(Target::NotUnderstood)
                }
                resolved => resolved,
            };
        };
        // If the site's own code generates the anchors, the generator's rule does not apply.
        if self.layout.knows_anchors() {
            link.anchor = link.anchor.map(|anchor| rules(self.generator()).anchor(&self.layout, anchor, syntax));
        }
        if link.path.is_empty() {
            return match target.is_empty() {
                // A chapter that is still to be written, or a heading.
                true if self.layout.summary.as_deref() == Some(from) => Target::External,
                true => Target::Missing { path: None, anchor: None },
                false
                    if rules(self.generator())
                        .is_label(Format::of(from), link.anchor.as_deref().unwrap_or_default()) =>
                {
                    Target::NotUnderstood
                }
                false => Target::Page { file: from.to_owned(), anchor: link.anchor },
            };
        }
        match rules(self.generator()).resolve(self, &link) {
            Target::Missing { path, .. }
                if self.may_be_unread(from, &link.path, path.as_deref()) || self.leads_out(&link, path.as_deref()) =>
            {
                path.and_then(|path| self.through_link(path, link.anchor)).unwrap_or(Target::NotUnderstood)
            }
            target => target,
        }
    }

    /// What a path through a symbolic link leads to. The anchors there are not known, since a page is read by its own path.
    fn through_link(&self, path: String, anchor: Option<String>) -> Option<Target> {
        let endings = ["", ".md", ".rst"].into_iter();
        let found = endings.map(|ending| format!("{path}{ending}")).find(|file| self.linked.contains(file));
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        // In a folder that is linked, and not behind another link there.
        let is_in_linked_folder = above.clone().all(|folder| !self.linked.contains(folder))
            && above.find(|folder| self.unread.contains(*folder)).is_some_and(|link| {
                let below = format!("{link}/");
                self.linked.range(below.clone()..).next().is_some_and(|file| file.starts_with(&below))
            });
        match found {
            Some(file) => Some(Target::Asset { file }),
            None if has_page_ending(&path) && is_in_linked_folder => Some(Target::Missing { path: Some(path), anchor }),
            None => None,
        }
    }

    /// Whether a link that leads to no file may lead to or through a symbolic link or a submodule. `path` is where it leads.
    fn may_be_unread(&self, from: &str, written: &str, path: Option<&str>) -> bool {
        let is_unread = |path: &str| {
            let mut above = path;
            loop {
                let stem = stem(above).unwrap_or(above);
                let forms = [above, stem].into_iter().map(str::to_owned);
                let forms = forms.chain([".md", ".mdx", ".rst"].map(|ending| format!("{stem}{ending}")));
                if forms.into_iter().any(|form| self.unread.contains(&form)) {
                    return true;
                }
                above = folder(above);
                if above.is_empty() {
                    return false;
                }
            }
        };
        if self.unread.is_empty() {
            return false;
        }
        let bases = ["", folder(from)].into_iter().chain(self.layout.folders());
        let written = bases.filter_map(|base| joined(base, written.trim_start_matches('/')));
        path.map(str::to_owned).into_iter().chain(written).any(|path| is_unread(&path))
    }

    /// Whether a link may lead out of a docs root that is inside of the site's folder of pages, to pages that are not read.
    /// `path` is where it leads.
    fn leads_out(&self, link: &ParsedLink<'_>, path: Option<&str>) -> bool {
        let Some(root) = self.layout.root(link.from).filter(|_| self.layout.is_narrowed) else { return false };
        let is_outside = |path: &str| {
            path_in(&below(&root.base_path, &root.narrowed_to), path).is_none() || self.is_served_outside(path)
        };
        match link.is_absolute() {
            true => is_outside(link.path.trim_matches('/')),
            false => joined(folder(link.from), &link.path).is_none() || path.is_some_and(is_outside),
        }
    }

    /// A path relative to the folder of the site's configuration as one relative to the docs root.
    pub(crate) fn file_of_home(&self, path: &str) -> String {
        joined_in(&self.root, self.layout.home(), path).unwrap_or_else(|| path.to_owned())
    }

    /// Whether a link with this target leads to the requested file.
    pub(crate) fn leads_there(&self, request: &LinkRequest<'_>, target: &str) -> bool {
        match self.resolve_in(request.from, target, request.syntax) {
            Target::Page { file, .. } | Target::Asset { file } => file == request.to,
            _ => false,
        }
    }

    /// A link from one file to another in the form this site uses and in the style of `like`.
    pub fn link(&self, request: &LinkRequest<'_>) -> String {
        let target = rules(self.generator()).write(self, request);
        if Format::of(request.from) == Format::Notebook {
            // The link is put into a JSON string verbatim.
            return target.replace('"', "%22").replace('\\', "%5C");
        }
        target
    }
}

/// The labels of all pages, for generators that have labels.
fn labels<'f>(
    tree: &dyn Tree,
    rules: &dyn Rules,
    files: impl Iterator<Item = &'f String>,
) -> HashMap<String, Option<(String, String)>> {
    let mut labels = HashMap::new();
    for file in files {
        for (label, anchor) in rules.labels(Format::of(file), &|| tree.text(file).unwrap_or_default()) {
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

/// Whether a redirect's source, which may contain `:name`, `:name*` and `*`, matches a path.
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
