//! Builds a segment of the index in memory.
//!
//! tantivy's own writer takes texts, and looks up every word of every field in its own table. Here tokens arrive as
//! word numbers, looked up once for all fields, and a field is a row of them, document by document. At the end each row
//! is inverted, in the order of the words' texts, and tantivy's serializer writes the result:
//!
//! ```text
//! row of a field     7 3 7 | 3 9 |          documents 0 and 1
//! inverted           3: 0@1 1@0   7: 0@0 0@2   9: 1@1
//! ```
//!
//! All words of a page are in the rows of other fields already: of the page as a whole, only their number is written.

use std::collections::BTreeMap;

use tantivy::fastfield::FastFieldsWriter;
use tantivy::fieldnorm::{FieldNormsSerializer, FieldNormsWriter};
use tantivy::index::SegmentComponent;
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Document, Field};
use tantivy::store::StoreWriter;
use tantivy::tokenizer::TokenizerManager;

use crate::index::engine::{SegmentInMemory, WrittenSegment, settings};
use crate::index::schema::Fields;
use crate::index::segment_rows::{InvertedRow, PostingDetail, Row, position_deltas};
use crate::text::vocabulary::{Number, Vocabulary, Word};

/// Builds one segment. All word numbers must come from the same vocabulary.
pub(crate) struct SegmentWriter {
    fields: Fields,
    segment: SegmentInMemory,
    lengths: FieldNormsWriter,
    columns: FastFieldsWriter,
    store: StoreWriter,
    /// By field id.
    rows: Vec<Row>,
    /// Document ids by field and exact value, for pages, kinds and languages.
    exact: BTreeMap<Field, BTreeMap<Vec<u8>, Vec<u32>>>,
    /// Words of the current page whose spelling differs from their stem.
    spellings: Vec<Number>,
    /// Number of words of the current page.
    page_length: u32,
    /// Number of finished documents.
    documents: u32,
}

impl SegmentWriter {
    pub(crate) fn new(fields: &Fields) -> tantivy::Result<Self> {
        let segment = SegmentInMemory::begin(fields)?;
        let settings = settings();
        let (compression, block) = (settings.docstore_compression, settings.docstore_blocksize);
        let store = StoreWriter::new(segment.inner.open_write(SegmentComponent::Store)?, compression, block, false)?;
        let columns = FastFieldsWriter::from_schema_and_tokenizer_manager(&fields.schema, TokenizerManager::default())?;
        Ok(Self {
            fields: fields.clone(),
            segment,
            lengths: FieldNormsWriter::for_schema(&fields.schema),
            columns,
            store,
            rows: fields.schema.fields().map(|_| Row::default()).collect(),
            exact: BTreeMap::new(),
            spellings: Vec::new(),
            page_length: 0,
            documents: 0,
        })
    }

    /// Adds the tokens of a field of the current document, in order. A field is added at most once per document.
    pub(crate) fn add_tokens(&mut self, field: Field, words: impl ExactSizeIterator<Item = Option<Number>>) {
        let document = self.documents;
        let known = self.rows[field.field_id() as usize].add_tokens(document, words);
        self.lengths.record(document, field, known);
    }

    /// Indexes an exact value for the current document.
    pub(crate) fn add_exact(&mut self, field: Field, value: &[u8]) {
        let document = self.documents;
        self.exact.entry(field).or_default().entry(value.to_vec()).or_default().push(document);
    }

    /// Adds words to the length and the spellings of the current page.
    pub(crate) fn add_to_page(&mut self, words: &[Word]) {
        self.page_length += words.iter().flatten().count() as u32;
        let otherwise = words.iter().flatten().filter(|word| word.spelled != word.stem);
        self.spellings.extend(otherwise.map(|word| word.spelled));
    }

    /// Writes the accumulated length and spellings to the current document, which is that of a page, and resets them.
    pub(crate) fn write_page_totals(&mut self) {
        let document = self.documents;
        self.lengths.record(document, self.fields.whole, std::mem::take(&mut self.page_length));
        // A page repeats most of its words.
        self.spellings.sort_unstable();
        self.spellings.dedup();
        let spellings = self.spellings.drain(..).map(Some);
        self.rows[self.fields.spelled.field_id() as usize].add_tokens(document, spellings);
    }

    /// Finishes the current document with its stored and fast field values.
    pub(crate) fn end(&mut self, stored: &impl Document) -> tantivy::Result<()> {
        self.store.store(stored, &self.fields.schema)?;
        self.columns.add_document(stored)?;
        self.documents += 1;
        Ok(())
    }

    /// Memory in bytes, including what the inversion will take.
    pub(crate) fn memory(&self) -> usize {
        self.rows.iter().map(Row::memory).sum::<usize>() + self.columns.mem_usage() + self.segment.memory()
    }

    /// `None` when nothing was added.
    pub(crate) fn finish(mut self, vocabulary: &Vocabulary) -> tantivy::Result<Option<WrittenSegment>> {
        let documents = self.documents;
        if documents == 0 {
            return Ok(None);
        }
        self.store.close()?;
        self.lengths.fill_up_to_max_doc(documents);
        let lengths = FieldNormsSerializer::from_write(self.segment.inner.open_write(SegmentComponent::FieldNorms)?)?;
        self.lengths.serialize(lengths, None)?;
        let mut columns = self.segment.inner.open_write(SegmentComponent::FastFields)?;
        self.columns.serialize(&mut columns, None)?;
        tantivy::directory::TerminatingWrite::terminate(columns)?;
        let mut lists = InvertedIndexSerializer::open(&self.segment.inner)?;
        let fields: Vec<Field> = self.fields.schema.fields().map(|(field, _)| field).collect();
        for field in fields {
            if field == self.fields.terms {
                write_terms(&self.fields, &mut self.rows, vocabulary, &mut lists)?;
            } else if let Some(exact) = self.exact.get(&field) {
                write_exact(field, exact, documents, &mut lists)?;
            }
        }
        lists.close()?;
        self.segment.end(documents).map(Some)
    }
}

/// Writes the terms of all logical fields that share one tantivy field: word by word, and for each word field by field.
/// Leaves the rows empty.
fn write_terms(
    fields: &Fields,
    rows: &mut [Row],
    vocabulary: &Vocabulary,
    lists: &mut InvertedIndexSerializer,
) -> tantivy::Result<()> {
    let words = rows.iter().map(|row| row.known).sum();
    let order = vocabulary.in_order_of_text();
    // For each word, a bit for each field that contains it.
    let mut containing = vec![0; order.len()];
    let mut offsets = Vec::new();
    let mut inverted: Vec<(u8, InvertedRow)> = Vec::new();
    for field in fields.term_fields() {
        let detail = match field {
            field if field == fields.body || field == fields.code => PostingDetail::Positions,
            field if field == fields.spelled => PostingDetail::DocumentsOnly,
            _ => PostingDetail::Frequencies,
        };
        let row = std::mem::take(&mut rows[field.field_id() as usize]);
        let bit = 1 << inverted.len();
        inverted.push((fields.mark(field), row.invert(detail, &order, &mut offsets, bit, &mut containing)));
    }
    let mut list = lists.new_field(fields.terms, words, None)?;
    let (mut term, mut deltas) = (Vec::new(), Vec::new());
    for (word, containing) in order.iter().zip(containing) {
        term.clear();
        term.extend_from_slice(vocabulary.text(*word).as_bytes());
        for (_, (mark, inverted)) in (0..).zip(&mut inverted).filter(|(at, _)| containing >> at & 1 == 1) {
            term.push(*mark);
            // tantivy needs the document frequency only for fields with fieldnorms.
            list.new_term(&term, 0, true)?;
            let detail = inverted.detail;
            for of_document in inverted.next().chunk_by(|one, next| one.0 == next.0) {
                position_deltas(of_document, detail, &mut deltas);
                list.write_doc(of_document[0].0, deltas.len() as u32, &deltas);
            }
            list.close_term()?;
            term.pop();
        }
    }
    list.close()?;
    Ok(())
}

fn write_exact(
    field: Field,
    exact: &BTreeMap<Vec<u8>, Vec<u32>>,
    of_documents: u32,
    lists: &mut InvertedIndexSerializer,
) -> tantivy::Result<()> {
    let mut list = lists.new_field(field, u64::from(of_documents), None)?;
    for (value, documents) in exact {
        list.new_term(value, documents.len() as u32, false)?;
        documents.iter().for_each(|document| list.write_doc(*document, 0, &[]));
        list.close_term()?;
    }
    list.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::postings::Postings;
    use tantivy::schema::IndexRecordOption;
    use tantivy::{DocSet, TantivyDocument, Term};

    use super::*;
    use crate::index::engine::searcher;
    use crate::index::generations::Generations;
    use crate::index::schema::SECTION;
    use crate::text::languages::Language;

    /// The postings of a word in a field: document, frequency, positions.
    fn stands(searcher: &tantivy::Searcher, term: &Term) -> Vec<(u32, u32, Vec<u32>)> {
        let index = searcher.segment_reader(0).inverted_index(term.field()).expect("an index");
        let option = IndexRecordOption::WithFreqsAndPositions;
        let Some(mut postings) = index.read_postings(term, option).expect("read") else { return Vec::new() };
        let mut found = Vec::new();
        while postings.doc() != tantivy::TERMINATED {
            let mut places = Vec::new();
            postings.positions(&mut places);
            found.push((postings.doc(), postings.term_freq(), places));
            postings.advance();
        }
        found
    }

    /// Indexes texts as the bodies of documents, and opens the segment.
    fn written(texts: &[String]) -> (Fields, tantivy::Searcher) {
        let folder = tempfile::tempdir().expect("a folder");
        let (fields, mut vocabulary) = (Fields::new(), Vocabulary::default());
        let generations = Generations::open(folder.path(), 1).expect("a folder");
        let mut writer = SegmentWriter::new(&fields).expect("a writer");
        for text in texts {
            let mut words = Vec::new();
            vocabulary.add_words(text, Language::English, &mut words);
            writer.add_exact(fields.kind, SECTION.as_bytes());
            writer.add_tokens(fields.body, words.iter().map(|word| word.map(|forms| forms.stem)));
            writer.add_to_page(&words);
            writer.write_page_totals();
            writer.end(&TantivyDocument::default()).expect("written");
        }
        let made = writer.finish(&vocabulary).expect("finished").expect("documents");
        let segment = generations.write_segment(&made).expect("written");
        let searcher = searcher(&fields, &[segment]).expect("opened");
        (fields, searcher)
    }

    #[test]
    fn words_are_listed_with_their_documents_and_places() {
        let long = "x".repeat(61);
        let (fields, searcher) =
            written(&["retry the retries".to_owned(), format!("{long} retry"), "other".to_owned()]);
        assert_eq!(stands(&searcher, &fields.marked(fields.body, "retri")), [(0, 2, vec![0, 2]), (1, 1, vec![1])]);
        assert_eq!(stands(&searcher, &Term::from_field_text(fields.kind, SECTION)).len(), 3);
        for field in [fields.body, fields.whole] {
            let lengths = searcher.segment_reader(0).get_fieldnorms_reader(field).expect("lengths");
            assert_eq!([0, 1, 2].map(|document| lengths.fieldnorm(document)), [3, 1, 1]);
        }
        assert_eq!(stands(&searcher, &fields.marked(fields.spelled, "retries")), [(0, 1, vec![0])]);
    }

    #[test]
    fn an_empty_writer_makes_no_segment() {
        let writer = SegmentWriter::new(&Fields::new()).expect("a writer");
        assert!(writer.finish(&Vocabulary::default()).expect("finished").is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn written_segments_are_read_back(texts in proptest::collection::vec("[abc]( [abc]){0,9}", 1..300)) {
            let (fields, searcher) = written(&texts);
            for word in ["a", "b", "c"] {
                let expected: Vec<(u32, u32, Vec<u32>)> = (0..)
                    .zip(&texts)
                    .map(|(document, text)| {
                        let places = (0..).zip(text.split(' ')).filter(|(_, said)| *said == word);
                        let places: Vec<u32> = places.map(|(place, _)| place).collect();
                        (document, places.len() as u32, places)
                    })
                    .filter(|(_, often, _)| *often > 0)
                    .collect();
                prop_assert_eq!(stands(&searcher, &fields.marked(fields.body, word)), expected);
            }
        }
    }
}
