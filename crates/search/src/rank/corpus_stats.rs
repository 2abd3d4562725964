//! Statistics of an index that every question needs, computed once when the index is opened.
//!
//! Pages are numbered, and every document has the number of the page it is about: a page and its sections that of the
//! page itself, a link that of its target. The target depends on which pages exist, so it is resolved here and not when
//! the link is indexed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::Field;
use tantivy::{DocAddress, DocId, Searcher, SegmentReader};

use crate::index::generations::Segment;
use crate::index::readers::Readers;
use crate::index::schema::Fields;
use crate::rank::score_accumulator::Tables;
use crate::text::languages::Language;

/// The page number of a document that is about no page: a deleted one, or a link that is unresolved or leads to its own
/// page.
pub(crate) const NO_PAGE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct CorpusStats {
    pub(crate) segments: Vec<SegmentStats>,
    /// The ids of the pages, by number.
    pub(crate) pages: Vec<u64>,
    /// The numbers of the pages, by id.
    pub(crate) numbers: HashMap<u64, u32>,
    /// How many other pages link to a page, by number.
    pub(crate) linked_from: Vec<u32>,
    /// How many words the links to a page have, by number.
    pub(crate) link_words: Vec<u32>,
    /// The length of each page as a field norm id, and its number of sections, by page number.
    pub(crate) lengths: Vec<u8>,
    pub(crate) sections_of: Vec<u32>,
    /// The highest value of `linked_from`.
    pub(crate) most_linked: u32,
    /// Total number of words in each field, by field id.
    words: Vec<u64>,
    /// The languages that words are stemmed by, in order.
    pub(crate) languages: Vec<Language>,
    /// Number of documents in all segments, deleted ones included.
    pub(crate) documents: usize,
    /// Number of sections, deleted ones not included.
    pub(crate) sections: usize,
    /// Pools of the tables that scores are accumulated in, for sections and for pages. Consecutive snapshots share
    /// them.
    pub(crate) section_tables: Arc<Tables>,
    pub(crate) page_tables: Arc<Tables>,
}

#[derive(Debug)]
pub(crate) struct SegmentStats {
    /// The number of the segment's first document. Documents are numbered across all segments.
    pub(crate) first: usize,
    /// By document: the number of the page it is about.
    pub(crate) page: Arc<Vec<u32>>,
    pub(crate) readers: Arc<Readers>,
}

impl CorpusStats {
    /// `pages`: the ids of the pages in the index, in order of number. `keys`: the numbers of pages, by the keys of the
    /// paths that lead to them.
    pub(crate) fn of(
        searcher: &Searcher,
        fields: &Fields,
        pages: Vec<u64>,
        keys: &HashMap<u64, u32>,
    ) -> tantivy::Result<Self> {
        let mut stats = Self {
            numbers: pages.iter().copied().zip(0..NO_PAGE).collect(),
            linked_from: vec![0; pages.len()],
            link_words: vec![0; pages.len()],
            lengths: vec![0; pages.len()],
            sections_of: vec![0; pages.len()],
            pages,
            ..Self::default()
        };
        for reader in searcher.segment_readers() {
            stats.read(reader, fields, keys)?;
        }
        stats.finish(searcher, fields)?;
        Ok(stats)
    }

    /// Computes what depends on all segments: the languages, and the most links to a page.
    fn finish(&mut self, searcher: &Searcher, fields: &Fields) -> tantivy::Result<()> {
        let mut languages = BTreeSet::new();
        for reader in searcher.segment_readers() {
            let index = reader.inverted_index(fields.stemming)?;
            let mut codes = index.terms().stream()?;
            while codes.advance() {
                languages.extend(std::str::from_utf8(codes.key()).ok().and_then(Language::of_tag));
            }
        }
        self.languages = languages.into_iter().collect();
        self.most_linked = self.linked_from.iter().copied().max().unwrap_or_default();
        Ok(())
    }

    /// Adds the statistics of one more segment.
    fn read(&mut self, reader: &SegmentReader, fields: &Fields, keys: &HashMap<u64, u32>) -> tantivy::Result<()> {
        let columns = Columns::of(reader, fields)?;
        let mut page = vec![NO_PAGE; reader.max_doc() as usize];
        // Most documents are of the same page as the one before.
        let mut before = (None, None);
        for document in (0..reader.max_doc()).filter(|document| !reader.is_deleted(*document)) {
            let id = columns.page.first(document);
            if id != before.0 {
                before = (id, id.and_then(|id| self.numbers.get(&id)).copied());
            }
            let Some(own) = before.1 else { continue };
            self.count_words(&columns, document, 1);
            let spoken_of = match columns.kind(document) {
                Kind::Link => {
                    let mut targets = columns.target.values_for_doc(document);
                    targets.find_map(|key| keys.get(&key)).copied().filter(|target| *target != own)
                }
                Kind::Page | Kind::Section => Some(own),
            };
            let Some(spoken_of) = spoken_of else { continue };
            page[document as usize] = spoken_of;
            self.count(&columns, document, spoken_of, 1);
        }
        self.add(Arc::new(page), Arc::new(Readers::open(reader, fields)?));
        Ok(())
    }

    fn add(&mut self, page: Arc<Vec<u32>>, readers: Arc<Readers>) {
        let first = self.documents;
        self.documents += page.len();
        self.segments.push(SegmentStats { first, page, readers });
    }

    /// Adds the words of a document to the totals, or subtracts them when `by` is -1. Unresolved links count too, for
    /// the average length of link texts.
    fn count_words(&mut self, columns: &Columns, document: DocId, by: i64) {
        for (field, lengths) in &columns.lengths {
            if self.words.len() <= *field {
                self.words.resize(field + 1, 0);
            }
            let words = &mut self.words[*field];
            *words = words.saturating_add_signed(by * i64::from(length(lengths, document)));
        }
    }

    /// Adds a document about a page to the counts, or subtracts it when `by` is -1.
    fn count(&mut self, columns: &Columns, document: DocId, page: u32, by: i32) {
        match columns.kind(document) {
            Kind::Page => {
                if let Some(length) = self.lengths.get_mut(page as usize).filter(|_| by > 0) {
                    *length = columns.whole.fieldnorm_id(document);
                }
            }
            Kind::Section => {
                self.sections = self.sections.saturating_add_signed(by as isize);
                if let Some(sections) = self.sections_of.get_mut(page as usize) {
                    *sections = sections.saturating_add_signed(by);
                }
            }
            Kind::Link => {
                let words = columns.link_words.fieldnorm(document) as i32;
                for (counts, by) in [(&mut self.linked_from, by), (&mut self.link_words, by * words)] {
                    if let Some(count) = counts.get_mut(page as usize) {
                        *count = count.saturating_add_signed(by);
                    }
                }
            }
        }
    }

    /// The address of a document by its number.
    pub(crate) fn address(&self, document: usize) -> DocAddress {
        let segment = self.segments.partition_point(|segment| segment.first <= document).saturating_sub(1);
        let first = self.segments.get(segment).map_or(0, |segment| segment.first);
        DocAddress::new(segment as u32, (document - first) as u32)
    }

    /// The number of a document by its address.
    pub(crate) fn document(&self, address: DocAddress) -> usize {
        self.segments.get(address.segment_ord as usize).map_or(0, |segment| segment.first) + address.doc_id as usize
    }

    /// The number of the page a document is about.
    pub(crate) fn page_of(&self, document: usize) -> u32 {
        let address = self.address(document);
        self.segments.get(address.segment_ord as usize).map_or(NO_PAGE, |segment| segment.page[address.doc_id as usize])
    }

    /// The average number of words in a field, over `of` documents.
    pub(crate) fn average_length(&self, field: Field, of: usize) -> f32 {
        let words = self.words.get(field.field_id() as usize).copied().unwrap_or_default();
        (words as f32 / of.max(1) as f32).max(1.0)
    }
}

/// A page that was read again: its number, and its id before and now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Renewed {
    pub(crate) number: u32,
    pub(crate) before: u64,
    pub(crate) now: u64,
}

/// Segments, as opened by the engine and as listed in the state.
#[derive(Clone, Copy)]
pub(crate) struct Opened<'s> {
    pub(crate) searcher: &'s Searcher,
    pub(crate) segments: &'s [Segment],
}

impl CorpusStats {
    /// The statistics after an update that left every page at its path. All other documents are still about the same
    /// pages, so only new and deleted ones are read.
    pub(crate) fn after(
        &self,
        renewed: &[Renewed],
        fields: &Fields,
        keys: &HashMap<u64, u32>,
        old: Opened<'_>,
        new: Opened<'_>,
    ) -> tantivy::Result<Self> {
        let mut stats = Self {
            pages: self.pages.clone(),
            numbers: self.numbers.clone(),
            linked_from: self.linked_from.clone(),
            link_words: self.link_words.clone(),
            lengths: self.lengths.clone(),
            sections_of: self.sections_of.clone(),
            sections: self.sections,
            words: self.words.clone(),
            section_tables: Arc::clone(&self.section_tables),
            page_tables: Arc::clone(&self.page_tables),
            ..Self::default()
        };
        let readers = old.searcher.segment_readers().iter();
        for ((reader, before), known) in readers.zip(old.segments).zip(&self.segments) {
            let columns = Columns::of(reader, fields)?;
            let mut gone = |document: DocId| {
                stats.count_words(&columns, document, -1);
                let page = known.page[document as usize];
                if page != NO_PAGE {
                    stats.count(&columns, document, page, -1);
                }
            };
            match new.segments.iter().find(|now| now.id == before.id) {
                Some(now) => now.deleted_since(before).for_each(gone),
                None => (0..reader.max_doc()).for_each(&mut gone),
            }
        }
        for renewed in renewed {
            stats.numbers.remove(&renewed.before);
            stats.numbers.insert(renewed.now, renewed.number);
            stats.pages[renewed.number as usize] = renewed.now;
        }
        for (reader, now) in new.searcher.segment_readers().iter().zip(new.segments) {
            let Some(at) = old.segments.iter().position(|before| before.id == now.id) else {
                stats.read(reader, fields, keys)?;
                continue;
            };
            let known = &self.segments[at];
            let mut page = Arc::clone(&known.page);
            let deleted: Vec<DocId> = now.deleted_since(&old.segments[at]).collect();
            if !deleted.is_empty() {
                let page = Arc::make_mut(&mut page);
                deleted.iter().for_each(|document| page[*document as usize] = NO_PAGE);
            }
            stats.add(page, Arc::clone(&known.readers));
        }
        stats.finish(new.searcher, fields)?;
        Ok(stats)
    }
}

/// The approximate number of words in a field of a document. For long texts the index only stores a range of lengths,
/// of which this is the middle.
fn length(lengths: &FieldNormReader, document: DocId) -> u32 {
    let id = lengths.fieldnorm_id(document);
    let least = FieldNormReader::id_to_fieldnorm(id);
    let next = id.checked_add(1).map_or(least + 1, FieldNormReader::id_to_fieldnorm);
    least + (next - least - 1) / 2
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Page,
    Section,
    Link,
}

struct Columns {
    page: Column<u64>,
    target: Column<u64>,
    section: Column<u64>,
    link_words: FieldNormReader,
    whole: FieldNormReader,
    /// The field lengths, with the field ids. A document has a length of 0 in the fields of other kinds.
    lengths: Vec<(usize, FieldNormReader)>,
}

impl Columns {
    fn of(reader: &SegmentReader, fields: &Fields) -> tantivy::Result<Self> {
        let column = |field| reader.fast_fields().u64(fields.name(field));
        let lengths = |field: Field| Ok((field.field_id() as usize, reader.get_fieldnorms_reader(field)?));
        Ok(Self {
            lengths: fields.counted().into_iter().map(lengths).collect::<tantivy::Result<_>>()?,
            page: column(fields.page)?,
            target: column(fields.target)?,
            section: column(fields.section)?,
            link_words: reader.get_fieldnorms_reader(fields.link)?,
            whole: reader.get_fieldnorms_reader(fields.whole)?,
        })
    }

    fn kind(&self, document: DocId) -> Kind {
        if self.section.first(document).is_some() {
            Kind::Section
        } else if self.target.first(document).is_some() {
            Kind::Link
        } else {
            Kind::Page
        }
    }
}
