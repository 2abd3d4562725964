//! One state of an index, to read from.

use std::collections::HashMap;
use std::fmt;

use docent_types::Passage;
use tantivy::directory::MmapDirectory;
use tantivy::schema::Value;
use tantivy::{Index, ReloadPolicy, Searcher, TantivyDocument, TantivyError};

use crate::error::SearchError;
use crate::generations::{Generation, Generations};
use crate::lookup::page_document;
use crate::manifest::{Manifest, ManifestPage};
use crate::query::Query;
use crate::ranking;
use crate::schema::Fields;
use crate::words;

/// One state of an index. Never changes; a newer state is another snapshot.
pub struct Snapshot {
    pub(crate) fields: Fields,
    manifest: Manifest,
    open: Option<Open>,
    /// Pages by number: their file.
    by_id: HashMap<u64, String>,
    /// Pages by site path: their file.
    by_path: HashMap<String, String>,
}

struct Open {
    number: u64,
    searcher: Searcher,
}

/// What is known of a page without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEntry {
    /// The page's path on the site, without a leading slash.
    pub path: String,
    pub title: String,
    pub description: Option<String>,
    pub version: Option<String>,
    pub language: Option<String>,
    pub groups: Vec<String>,
    pub tags: Vec<String>,
}

/// A whole page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageContent {
    /// The page's path on the site, without a leading slash.
    pub path: String,
    pub title: String,
    /// The page as Markdown for reading: headings and text, without imports, tags and front matter.
    pub content: String,
}

impl Snapshot {
    /// What there is before anything was indexed.
    pub(crate) fn empty() -> Self {
        Self {
            fields: Fields::new(),
            manifest: Manifest::default(),
            open: None,
            by_id: HashMap::new(),
            by_path: HashMap::new(),
        }
    }

    pub(crate) fn open(generations: &Generations, generation: &Generation) -> Result<Self, SearchError> {
        let engine = |error: TantivyError| SearchError::Engine {
            doing: "open",
            path: generations.dir().to_owned(),
            source: error.into(),
        };
        let fields = Fields::new();
        let index = open_index(generation, &fields).map_err(engine)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(engine)?;
        let manifest = generations
            .manifest(generation)
            .ok_or_else(|| engine(TantivyError::SystemError("the manifest cannot be read".to_owned())))?;
        let listed = || manifest.pages.iter().filter(|(_, page)| page.listed);
        let by_id = listed().map(|(file, page)| (page.id, file.clone())).collect();
        let by_path = listed().map(|(file, page)| (page.path.clone(), file.clone())).collect();
        let open = Some(Open { number: generation.number, searcher: reader.searcher() });
        Ok(Self { fields, manifest, open, by_id, by_path })
    }

    pub(crate) fn generation(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.number)
    }

    pub(crate) fn searcher(&self) -> Option<&Searcher> {
        self.open.as_ref().map(|open| &open.searcher)
    }

    pub(crate) fn page_by_id(&self, id: u64) -> Option<&ManifestPage> {
        self.by_id.get(&id).and_then(|file| self.manifest.pages.get(file))
    }

    /// The best passages for a question, best first, one a page. Empty when nothing fits, nothing is indexed, or the
    /// question holds no word.
    pub fn search(&self, query: &Query) -> Vec<Passage> {
        match ranking::search(self, query) {
            Ok(passages) => passages,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "search failed");
                Vec::new()
            }
        }
    }

    /// A whole page by its path on the site. Slashes around it, an ending and an anchor do not matter.
    pub fn page(&self, path: &str) -> Option<PageContent> {
        let entry = self.lookup(path)?;
        let searcher = self.searcher()?;
        let address = page_document(searcher, &self.fields, entry.id).ok()??;
        let document: TantivyDocument = searcher.doc(address).ok()?;
        let content = document.get_first(self.fields.content).and_then(|value| value.as_str()).unwrap_or_default();
        Some(PageContent { path: entry.path.clone(), title: entry.title.clone(), content: content.to_owned() })
    }

    /// Every page a reader may find, in order of file.
    pub fn pages(&self) -> impl Iterator<Item = PageEntry> {
        self.manifest.listed().map(|page| PageEntry {
            path: page.path.clone(),
            title: page.title.clone(),
            description: page.description.clone(),
            version: page.version.clone(),
            language: page.language.clone(),
            groups: page.groups.clone(),
            tags: page.tags.clone(),
        })
    }

    /// Whether a page is served at this path. Slashes around it, an ending and an anchor do not matter.
    pub fn has_page(&self, path: &str) -> bool {
        self.lookup(path).is_some()
    }

    /// The commit this state stands for; `None` before anything was indexed.
    pub fn commit(&self) -> Option<&str> {
        self.open.as_ref().map(|_| self.manifest.commit.as_str())
    }

    /// How many pages a reader may find.
    pub fn page_count(&self) -> usize {
        self.by_id.len()
    }

    fn lookup(&self, path: &str) -> Option<&ManifestPage> {
        let path = path.split(['#', '?']).next().unwrap_or_default().trim().trim_matches('/');
        let stem = docent_pages::is_page(path).then(|| docent_pages::site_path(path));
        let file = self.by_path.get(path).or_else(|| self.by_path.get(&stem?))?;
        self.manifest.pages.get(file)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("generation", &self.generation())
            .field("commit", &self.commit())
            .field("pages", &self.page_count())
            .finish()
    }
}

/// Makes the engine's files in a new generation.
pub(crate) fn create_index(generation: &Generation, fields: &Fields) -> tantivy::Result<Index> {
    let index = Index::create_in_dir(&generation.dir, fields.schema.clone())?;
    Ok(with_words(index))
}

/// Opens the engine's files of a generation.
pub(crate) fn open_index(generation: &Generation, fields: &Fields) -> tantivy::Result<Index> {
    let index = Index::open(MmapDirectory::open(&generation.dir)?)?;
    if index.schema() != fields.schema {
        return Err(TantivyError::SchemaError("the fields are those of another version".to_owned()));
    }
    Ok(with_words(index))
}

fn with_words(index: Index) -> Index {
    index.tokenizers().register(words::STEMMED, words::stemmed());
    index.tokenizers().register(words::EXACT, words::exact());
    index
}
