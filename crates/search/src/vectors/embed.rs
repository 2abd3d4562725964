//! Embeds every section.
//!
//! The embedded text of a section is its page's title, the headings above it and its own text: a section alone often
//! does not name its subject. Sections are read from a snapshot, so embedding may go on while newer states are
//! published; their new sections are embedded the next time.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use futures::executor::block_on;
use tantivy::columnar::Column;
use tantivy::schema::Value;
use tantivy::{DocAddress, TantivyDocument};

use crate::embedder::{Embedder, Role};
use crate::error::SearchError;
use crate::index::manifest::SectionId;
use crate::index::manifest::{ManifestFile, ManifestPage};
use crate::index::snapshot::Snapshot;
use crate::source::{Progress, Stage};
use crate::vectors::files::{Embedded, Head, MOST_DIMENSIONS, QuantizedI8, Vectors, text_key};
use crate::vectors::store::{Embedding, VectorStore};

/// Number of sections handed to the embedder at a time, and the step of the progress.
const AT_A_TIME: usize = 256;
/// Number of vectors after which a file is written, so that finished work is not lost.
const AT_ONCE: usize = 4096;
/// Maximum length of an embedded text, in bytes: no model reads more of a section.
const MOST_TEXT: usize = 16_000;

/// Incremented when the embedded text of a section is built differently: all vectors are then made again.
const TEXTS: u64 = 1;

/// The result of embedding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbedSummary {
    /// Sections that have a vector now.
    pub sections: usize,
    /// Texts that were embedded in this run.
    pub embedded: usize,
    /// Whether another process or thread is embedding, so that nothing was done.
    pub is_embedding_elsewhere: bool,
}

/// A section without a vector.
struct Missing {
    section: SectionId,
    stamp: u64,
    address: DocAddress,
}

/// Embeds the sections of a snapshot that have no vector yet.
pub(crate) fn embed(
    store: &VectorStore,
    snapshot: &Snapshot,
    wanted: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<EmbedSummary, SearchError> {
    let Some(embedder) = &store.embedder else { return Ok(EmbedSummary::default()) };
    let Some(turn) = store.embedding()? else {
        return Ok(EmbedSummary { is_embedding_elsewhere: true, ..EmbedSummary::default() });
    };
    store.refresh()?;
    let stamps = stamps(snapshot);
    let mut work = Work { store, turn: &turn, embedder: &**embedder, made: Vec::new(), embedded: 0 };
    let missing = missing(snapshot, &stamps, &store.vectors(), &store.dir)?;
    let total = missing.len();
    for (done, some) in (0..).step_by(AT_A_TIME).zip(missing.chunks(AT_A_TIME)) {
        if !wanted() {
            break;
        }
        progress(Progress { stage: Stage::Embedding, done, total });
        if let Err(error) = work.embed(snapshot, some) {
            // Vectors already paid for are kept; the next run continues from there.
            work.keep()?;
            return Err(error);
        }
    }
    work.keep()?;
    let embedded = work.embedded;
    let counts = |head: &Head| stamps.get(&head.section.page) == Some(&head.stamp);
    let vectors = store.vectors();
    let sections: HashSet<SectionId> = vectors.heads().filter(|head| counts(head)).map(|head| head.section).collect();
    if store.is_untidy(sections.len()) {
        store.replace(&turn, embedder.id(), &vectors.kept(counts))?;
    }
    if total > 0 && wanted() {
        progress(Progress { stage: Stage::Embedding, done: total, total });
    }
    Ok(EmbedSummary { sections: sections.len(), embedded, is_embedding_elsewhere: false })
}

struct Work<'w> {
    store: &'w VectorStore,
    turn: &'w Embedding,
    embedder: &'w dyn Embedder,
    made: Vec<Embedded>,
    embedded: usize,
}

impl Work<'_> {
    /// Makes vectors for some sections. Vectors of texts that were embedded before are reused.
    fn embed(&mut self, snapshot: &Snapshot, some: &[Missing]) -> Result<(), SearchError> {
        let vectors = self.store.vectors();
        let known = vectors.by_key();
        let mut texts: Vec<String> = Vec::new();
        let mut places: HashMap<u128, usize> = HashMap::new();
        let mut heads = Vec::with_capacity(some.len());
        for missing in some {
            let text = text(snapshot, missing).unwrap_or_default();
            let key = text_key(&text);
            heads.push(Head { section: missing.section, stamp: missing.stamp, key });
            if !known.contains_key(&key) {
                places.entry(key).or_insert_with(|| {
                    texts.push(text);
                    texts.len() - 1
                });
            }
        }
        let new = self.ask(&texts)?;
        self.embedded += texts.len();
        self.made.extend(heads.into_iter().map(|head| {
            let vector = match places.get(&head.key) {
                Some(place) => new[*place].clone(),
                None => vectors.vector(known[&head.key]),
            };
            Embedded { head, vector }
        }));
        if self.made.len() >= AT_ONCE { self.keep() } else { Ok(()) }
    }

    /// A vector for each text, all of the same length.
    fn ask(&self, texts: &[String]) -> Result<Vec<QuantizedI8>, SearchError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let failed = |source| SearchError::Embedder { source };
        let vectors = block_on(self.embedder.embed(&texts, Role::Passage)).map_err(failed)?;
        let length = self.made.first().map(|made| made.vector.numbers.len()).or_else(|| vectors.first().map(Vec::len));
        let fit = vectors.len() == texts.len()
            && vectors
                .iter()
                .all(|vector| Some(vector.len()) == length && (1..=MOST_DIMENSIONS).contains(&vector.len()));
        if !fit {
            return Err(failed("it gave vectors of different lengths, or not one a text".into()));
        }
        Ok(vectors.iter().map(|vector| QuantizedI8::of(vector)).collect())
    }

    fn keep(&mut self) -> Result<(), SearchError> {
        self.store.add(self.turn, self.embedder.id(), &std::mem::take(&mut self.made))
    }
}

/// For each page id, a hash that tells the page from one with the same id in an earlier index.
pub(crate) fn stamps(snapshot: &Snapshot) -> HashMap<u64, u64> {
    let stamp = |file: &ManifestFile, page: &ManifestPage| {
        // The same in every process of a build; another build may at worst embed again.
        let mut hasher = DefaultHasher::new();
        (TEXTS, &file.path, &file.blob, &file.included, &page.path, &page.title).hash(&mut hasher);
        hasher.finish()
    };
    let files = snapshot.manifest().files.iter();
    files.flat_map(|file| file.pages.iter().map(move |page| (page.id, stamp(file, page)))).collect()
}

fn missing(
    snapshot: &Snapshot,
    stamps: &HashMap<u64, u64>,
    vectors: &Vectors,
    vectors_dir: &Path,
) -> Result<Vec<Missing>, SearchError> {
    let engine = |source: tantivy::TantivyError| SearchError::Engine {
        doing: "read",
        path: vectors_dir.to_owned(),
        source: source.into(),
    };
    let present: HashSet<(SectionId, u64)> = vectors.heads().map(|head| (head.section, head.stamp)).collect();
    let Some(searcher) = snapshot.searcher() else { return Ok(Vec::new()) };
    let mut missing = Vec::new();
    for (segment, reader) in (0..).zip(searcher.segment_readers()) {
        let column = |field| -> Result<Column<u64>, SearchError> {
            reader.fast_fields().u64(snapshot.fields.name(field)).map_err(engine)
        };
        let (pages, sections) = (column(snapshot.fields.page)?, column(snapshot.fields.section)?);
        for document in reader.doc_ids_alive() {
            let (Some(page), Some(section)) = (pages.first(document), sections.first(document)) else { continue };
            let section = SectionId { page, section };
            if let Some(stamp) = stamps.get(&page).filter(|stamp| !present.contains(&(section, **stamp))) {
                missing.push(Missing { section, stamp: *stamp, address: DocAddress::new(segment, document) });
            }
        }
    }
    missing.sort_by_key(|missing| missing.section);
    Ok(missing)
}

/// The text to embed for a section; `None` when the section cannot be read.
fn text(snapshot: &Snapshot, missing: &Missing) -> Option<String> {
    let page = snapshot.page_by_id(missing.section.page)?;
    let document: TantivyDocument = snapshot.searcher()?.doc(missing.address).ok()?;
    let stored = |field| document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default();
    Some(section_text(&page.title, stored(snapshot.fields.heading_path), stored(snapshot.fields.content)))
}

/// The title and the headings on one line, followed by the section's text without Markdown syntax. Code comes last:
/// models reach it only where there is little other text.
fn section_text(title: &str, heading_path: &str, markdown: &str) -> String {
    let mut text = title.to_owned();
    for heading in heading_path.lines().filter(|heading| *heading != title) {
        text.push_str(". ");
        text.push_str(heading);
    }
    text.push('.');
    let page = docent_markdown::parse("section.md", markdown.as_bytes());
    let prose = page.sections.iter().map(|section| section.text.as_str());
    let code = page.sections.iter().flat_map(|section| &section.code).map(|block| block.text.as_str());
    for part in prose.chain(code).filter(|part| !part.trim().is_empty()) {
        text.push('\n');
        text.push_str(part.trim_end());
    }
    text.truncate(text.floor_char_boundary(MOST_TEXT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_texts_begin_with_headings_and_have_no_markup() {
        let markdown = "Run `apt` and *wait*:\n\n```sh\napt install x\n```\n\nSee [more](b.md).";
        let text = section_text("Install", "Install\nOn Linux", markdown);
        assert_eq!(text, "Install. On Linux.\nRun apt and wait:\n\nSee more.\napt install x");
        assert_eq!(section_text("Install", "", ""), "Install.");
        assert!(section_text("T", "", &"ä ".repeat(MOST_TEXT)).len() <= MOST_TEXT);
    }
}
