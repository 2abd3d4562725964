//! The readers of a segment that every question uses, opened once: opening them for each word of each question would
//! take longer than reading.

use std::fmt;
use std::io;
use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::TermInfo;
use tantivy::schema::Field;
use tantivy::{InvertedIndexReader, SegmentReader};

use crate::index::schema::Fields;

/// The readers of one segment.
pub(crate) struct Readers {
    /// By field id; `None` for fields whose words are not looked up.
    texts: Vec<Option<Text>>,
    /// Of a section: its near-duplicate fingerprint.
    pub(crate) fingerprint: Column<u64>,
    /// Of a section: its index in the page.
    pub(crate) section: Column<u64>,
    /// Of a section: its kind.
    pub(crate) section_kind: Column<u64>,
}

/// The words of one field, and the number of words per document.
pub(crate) struct Text {
    /// Shared with the other fields, whose words it also holds.
    pub(crate) index: Arc<InvertedIndexReader>,
    pub(crate) norms: FieldNormReader,
    mark: u8,
}

impl Text {
    /// The posting list of a word; `None` when no document contains the word.
    pub(crate) fn find(&self, stem: &mut Stem) -> io::Result<Option<TermInfo>> {
        self.index.terms().get(stem.marked(self.mark))
    }
}

/// A stem to look up in several fields: its bytes and, last, the mark of the field.
pub(crate) struct Stem(Vec<u8>);

impl Stem {
    pub(crate) fn of(stem: &str) -> Self {
        Self([stem.as_bytes(), &[0]].concat())
    }

    fn marked(&mut self, mark: u8) -> &[u8] {
        if let Some(last) = self.0.last_mut() {
            *last = mark;
        }
        &self.0
    }
}

impl Readers {
    pub(crate) fn open(reader: &SegmentReader, fields: &Fields) -> tantivy::Result<Self> {
        let mut texts: Vec<Option<Text>> = Vec::new();
        let index = reader.inverted_index(fields.terms)?;
        for field in fields.counted() {
            let place = field.field_id() as usize;
            if texts.len() <= place {
                texts.resize_with(place + 1, || None);
            }
            let (index, norms) = (Arc::clone(&index), reader.get_fieldnorms_reader(field)?);
            texts[place] = Some(Text { index, norms, mark: fields.mark(field) });
        }
        let column = |field| reader.fast_fields().u64(fields.name(field));
        Ok(Self {
            texts,
            fingerprint: column(fields.fingerprint)?,
            section: column(fields.section)?,
            section_kind: column(fields.section_kind)?,
        })
    }

    /// `None` for a field whose words are not looked up.
    pub(crate) fn text(&self, field: Field) -> Option<&Text> {
        self.texts.get(field.field_id() as usize)?.as_ref()
    }
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers").finish_non_exhaustive()
    }
}
