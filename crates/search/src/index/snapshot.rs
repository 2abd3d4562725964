//! One state of an index, to read from.

use std::fmt;
use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwapOption;
use docent_types::decoded_path;
use tantivy::Searcher;

use crate::error::SearchError;
use crate::index::documents::stored_page;
use crate::index::engine;
use crate::index::generations::{Generations, State};
use crate::index::manifest::{Manifest, ManifestPage, PagePosition};
use crate::index::schema::Fields;
use crate::index::skips::Skips;
use crate::index::snapshot_tables::{Tables, renewed};
use crate::rank::corpus_stats::{CorpusStats, NO_PAGE, Opened, Renewed};
use crate::source::Skipped;
use crate::vectors::section_vectors::SectionVectors;
use crate::vectors::store::VectorStore;

/// One state of an index. Never changes; a newer state is another snapshot.
pub struct Snapshot {
    pub(crate) fields: Fields,
    pub(crate) stats: CorpusStats,
    open: Option<Open>,
    pub(crate) tables: Tables,
    pub(crate) vectors: Arc<VectorStore>,
    pub(crate) placed: ArcSwapOption<SectionVectors>,
}

struct Open {
    state: Arc<State>,
    searcher: Searcher,
}

/// Metadata of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEntry {
    /// The page's path on the site, without a leading slash.
    pub path: String,
    pub title: String,
    pub description: Option<String>,
    pub version: Option<String>,
    pub language: Option<String>,
    /// The groups that may read the page; empty for everyone.
    pub groups: Vec<String>,
    pub tags: Vec<String>,
    /// The page's title in the navigation, if the navigation defines one.
    pub nav_title: Option<String>,
    /// The names of the groups around it in the navigation, outermost first.
    pub breadcrumb: Vec<String>,
    /// Its position among the pages that the navigation names, counted from 0.
    pub order: Option<u32>,
    /// Whether it is the page shown when no version and no language is asked for: the only one, or one of its variants.
    pub is_usual: bool,
}

/// A whole page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageContent {
    /// The page's path on the site, without a leading slash.
    pub path: String,
    pub title: String,
    /// The file it is made from, relative to the docs root.
    pub file: String,
    /// The groups that may read the page; empty for everyone.
    pub groups: Vec<String>,
    /// The page as Markdown for reading: headings and text, without imports, tags and front matter. Links are as in the
    /// file.
    pub content: String,
}

impl Snapshot {
    /// An empty snapshot, before anything is indexed.
    pub(crate) fn empty(vectors: Arc<VectorStore>) -> Self {
        Self {
            fields: Fields::new(),
            stats: CorpusStats::default(),
            open: None,
            tables: Tables::default(),
            vectors,
            placed: ArcSwapOption::empty(),
        }
    }

    /// The snapshot of a state; `known` itself when it already shows that state.
    pub(crate) fn next(
        generations: &Generations,
        known: &Arc<Self>,
        state: Arc<State>,
    ) -> Result<Arc<Self>, SearchError> {
        if known.state().is_some_and(|known| known.at == state.at) {
            return Ok(Arc::clone(known));
        }
        let (fields, manifest) = (&known.fields, &state.manifest);
        let engine = |error| generations.engine("open", error);
        let searcher = engine::searcher(fields, &state.segments).map_err(engine)?;
        let now = Opened { searcher: &searcher, segments: &state.segments };
        let (stats, tables) = match known.open.as_ref().zip(renewed(known.manifest(), manifest)) {
            Some((open, renewed)) => {
                let before = Opened { searcher: &open.searcher, segments: &open.state.segments };
                let tables = known.tables.after(&renewed);
                let renewed: Vec<Renewed> = renewed.into_iter().map(|(_, renewed)| renewed).collect();
                (known.stats.after(&renewed, fields, &tables.keys, before, now).map_err(engine)?, tables)
            }
            None => {
                let tables = Tables::of(manifest);
                let pages = manifest.listed().map(|page| page.id).collect();
                (CorpusStats::of(&searcher, fields, pages, &tables.keys).map_err(engine)?, tables)
            }
        };
        let (vectors, placed) = (Arc::clone(&known.vectors), ArcSwapOption::empty());
        let (fields, open) = (fields.clone(), Some(Open { state, searcher }));
        Ok(Arc::new(Self { fields, stats, open, tables, vectors, placed }))
    }

    /// The state this is a snapshot of; `None` before anything was indexed.
    pub(crate) fn state(&self) -> Option<&Arc<State>> {
        self.open.as_ref().map(|open| &open.state)
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        static NOTHING: LazyLock<Manifest> = LazyLock::new(Manifest::default);
        self.open.as_ref().map_or(&NOTHING, |open| &open.state.manifest)
    }

    pub(crate) fn searcher(&self) -> Option<&Searcher> {
        self.open.as_ref().map(|open| &open.searcher)
    }

    /// The number of a page among the listed pages, in order of file; `NO_PAGE` for other pages.
    pub(crate) fn number_of(&self, page: &ManifestPage) -> u32 {
        self.stats.numbers.get(&page.id).copied().unwrap_or(NO_PAGE)
    }

    /// The page with a number.
    pub(crate) fn page_numbered(&self, number: u32) -> Option<&ManifestPage> {
        self.manifest().at(*self.tables.by_number.get(number as usize)?)
    }

    pub(crate) fn page_by_id(&self, id: u64) -> Option<&ManifestPage> {
        self.manifest().at(*self.tables.by_id.get(&id)?)
    }

    /// Files in a docs format that readers cannot find, by reason.
    pub fn skipped(&self) -> Vec<Skipped> {
        Skips::of(self.manifest()).into_skipped()
    }

    /// A whole page by its address, which is read like in [`Snapshot::has_page`].
    pub fn page(&self, address: &str) -> Option<PageContent> {
        let position = self.position(address)?;
        let (file, entry) = (self.manifest().files.get(position.0 as usize)?, self.manifest().at(position)?);
        let content = stored_page(self.searcher()?, &self.fields, entry.id).ok()??;
        let (path, title) = (entry.path.clone(), entry.title.clone());
        Some(PageContent { path, title, file: file.path.clone(), groups: entry.groups.clone(), content })
    }

    /// Every page a reader may find, in order of file.
    pub fn pages(&self) -> impl Iterator<Item = PageEntry> {
        let Tables { variants, usual, .. } = &self.tables;
        (0..).zip(self.manifest().listed()).map(|(number, page)| PageEntry {
            path: page.path.clone(),
            title: page.title.clone(),
            description: page.description.clone(),
            version: variants.version_of(number).map(|version| version.name.clone()),
            language: variants.language_of(number).map(str::to_owned),
            groups: page.groups.clone(),
            tags: page.tags.clone(),
            nav_title: page.nav_title.clone(),
            breadcrumb: page.breadcrumb.clone(),
            order: page.order,
            is_usual: usual.get(number as usize).copied().unwrap_or(true),
        })
    }

    /// Whether a page is served at this address: a path, percent-encoded unless it means nothing decoded. Outer slashes,
    /// the extension of a file or `.html`, a query and an anchor are ignored.
    pub fn has_page(&self, address: &str) -> bool {
        self.lookup(address).is_some()
    }

    /// Where the page with this address is served, percent-encoded and without a leading slash: its path, with `.html`
    /// behind it on sites that serve files. The address is read like in [`Snapshot::has_page`].
    pub fn url_of(&self, address: &str) -> Option<String> {
        self.lookup(address).map(ManifestPage::url)
    }

    /// The path, decoded, of the page that is served at an address, which is read like in [`Snapshot::has_page`].
    pub fn path_of(&self, address: &str) -> Option<&str> {
        self.lookup(address).map(|page| page.path.as_str())
    }

    /// The file, relative to the docs root, that the page at an address is made from. The address is read like in
    /// [`Snapshot::has_page`].
    pub fn file_of(&self, address: &str) -> Option<&str> {
        let at = self.position(address)?;
        self.manifest().files.get(at.0 as usize).map(|file| file.path.as_str())
    }

    /// The path, decoded, of the first page that is made from a file, which is relative to the docs root.
    pub fn path_of_file(&self, file: &str) -> Option<&str> {
        self.of_file(file).map(|page| page.path.as_str())
    }

    /// Where the first page that is made from a file is served: see [`Snapshot::url_of`].
    pub fn url_of_file(&self, file: &str) -> Option<String> {
        self.of_file(file).map(ManifestPage::url)
    }

    fn of_file(&self, file: &str) -> Option<&ManifestPage> {
        let files = &self.manifest().files;
        let at = files.binary_search_by(|entry| entry.path.as_str().cmp(file)).ok()?;
        files[at].pages.iter().find(|page| page.listed)
    }

    /// The commit of this state; `None` before anything was indexed.
    pub fn commit(&self) -> Option<&str> {
        self.state().map(|state| state.manifest.commit.as_str())
    }

    /// How many pages a reader may find.
    pub fn page_count(&self) -> usize {
        self.tables.by_id.len()
    }

    pub(crate) fn lookup(&self, address: &str) -> Option<&ManifestPage> {
        self.manifest().at(self.position(address)?)
    }

    fn position(&self, address: &str) -> Option<PagePosition> {
        let written = address.split(['#', '?']).next().unwrap_or_default().trim().trim_matches('/');
        self.served_at(&decoded_path(written)).or_else(|| self.served_at(written))
    }

    /// The page that is served at a path, decoded and without outer slashes.
    fn served_at(&self, path: &str) -> Option<PagePosition> {
        let Tables { by_path, redirects, .. } = &self.tables;
        let html = path.strip_suffix(".html");
        let stem = || match html {
            Some(stem) => Some(docent_markdown::site_path(&format!("{stem}.md"))),
            None => docent_markdown::is_page(path).then(|| docent_markdown::site_path(path)),
        };
        let found = by_path.get(path).or_else(|| by_path.get(html?)).or_else(|| by_path.get(&stem()?));
        let moved =
            || redirects.follow(path).and_then(|to| by_path.get(&to).or_else(|| by_path.get(&*decoded_path(&to))));
        found.or_else(moved).copied()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("at", &self.state().map(|state| state.at))
            .field("commit", &self.commit())
            .field("pages", &self.page_count())
            .finish()
    }
}
