//! A segment of the index in the making.
//!
//! The engine's own writer takes texts, and looks every word of every field up in a table of its own. Here words come as
//! numbers, found once for all fields, and a field is a row of them, document after document. In the end each row is dealt
//! out by word, in the order of the words' texts, and that is what the engine writes down:
//!
//! ```text
//! row of a field     7 3 7 | 3 9 |          documents 0 and 1
//! dealt out          3: 0@1 1@0   7: 0@0 0@2   9: 1@1
//! ```

use std::collections::BTreeMap;

use tantivy::directory::RamDirectory;
use tantivy::fastfield::FastFieldsWriter;
use tantivy::fieldnorm::{FieldNormsSerializer, FieldNormsWriter};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::store::StoreWriter;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, TantivyDocument};

use crate::engine::{Made, files_of, settings};
use crate::page_words::PageWords;
use crate::schema::Fields;
use crate::vocabulary::{Number, Vocabulary, Word};

/// Makes one segment, in memory. Numbers of words are those of one vocabulary throughout.
pub(crate) struct SegmentWriter {
    fields: Fields,
    ram: RamDirectory,
    segment: Segment,
    lengths: FieldNormsWriter,
    columns: FastFieldsWriter,
    store: StoreWriter,
    /// By number of field.
    rows: Vec<Row>,
    /// The documents of pages, and those of kinds and languages, by field and term.
    marks: BTreeMap<Field, BTreeMap<Vec<u8>, Vec<u32>>>,
    /// What the page at hand says.
    gathered: PageWords,
    /// How many documents there are; the last is the one at hand.
    documents: u32,
    stored: usize,
}

/// What a field says, document after document.
#[derive(Debug, Default)]
struct Row {
    /// Nothing where there is a place without a word.
    words: Vec<Option<Number>>,
    /// Of a field that has each word once in a document: how often it stands there. Of others nothing.
    often: Vec<u32>,
    /// Documents that have the field, in order, each with where its words end.
    documents: Vec<(u32, u32)>,
    /// How many words there are.
    known: u64,
}

impl SegmentWriter {
    pub(crate) fn new(fields: &Fields) -> tantivy::Result<Self> {
        let ram = RamDirectory::default();
        let settings = settings();
        let (compression, block) = (settings.docstore_compression, settings.docstore_blocksize);
        let index = Index::create(ram.clone(), fields.schema.clone(), settings)?;
        let segment = index.new_segment();
        let store = StoreWriter::new(segment.open_write(SegmentComponent::Store)?, compression, block, false)?;
        let columns = FastFieldsWriter::from_schema_and_tokenizer_manager(&fields.schema, TokenizerManager::default())?;
        Ok(Self {
            fields: fields.clone(),
            ram,
            lengths: FieldNormsWriter::for_schema(&fields.schema),
            columns,
            store,
            rows: fields.schema.fields().map(|_| Row::default()).collect(),
            marks: BTreeMap::new(),
            gathered: PageWords::default(),
            documents: 0,
            stored: 0,
            segment,
        })
    }

    /// Says a text of the document at hand: its words, in order. A field has one text in a document.
    pub(crate) fn say(&mut self, field: Field, words: impl Iterator<Item = Option<Number>>) {
        let row = &mut self.rows[field.field_id() as usize];
        let before = row.words.len();
        row.words.extend(words);
        let known = row.words[before..].iter().flatten().count();
        row.known += known as u64;
        row.documents.push((self.documents, row.words.len() as u32));
        self.lengths.record(self.documents, field, known as u32);
    }

    /// Marks the document at hand, to be found by a whole value.
    pub(crate) fn mark(&mut self, field: Field, value: &[u8]) {
        let marks = self.marks.entry(field).or_default();
        // Most documents are of the same page or kind as the one before.
        match marks.last_entry().filter(|last| last.key() == value) {
            Some(mut last) => last.get_mut().push(self.documents),
            None => match marks.get_mut(value) {
                Some(documents) => documents.push(self.documents),
                None => drop(marks.insert(value.to_vec(), vec![self.documents])),
            },
        }
    }

    /// Takes note of words that the page at hand says somewhere.
    pub(crate) fn gather(&mut self, words: &[Word]) {
        self.gathered.add(words);
    }

    /// Says of the document at hand, that of a page, all that was gathered. The next page begins with nothing.
    pub(crate) fn say_gathered(&mut self) {
        let (spelled, stems) = self.gathered.take();
        for (field, words) in [(self.fields.spelled, spelled), (self.fields.whole, stems)] {
            let row = &mut self.rows[field.field_id() as usize];
            row.words.extend(words.iter().map(|(word, _)| Some(*word)));
            row.often.extend(words.iter().map(|(_, often)| *often));
            let known: u32 = words.iter().map(|(_, often)| *often).sum();
            row.known += u64::from(known);
            row.documents.push((self.documents, row.words.len() as u32));
            self.lengths.record(self.documents, field, known);
        }
    }

    /// Ends the document at hand, with what is stored of it and its numbers.
    pub(crate) fn end(&mut self, kept: &TantivyDocument, bytes: usize) -> tantivy::Result<()> {
        self.store.store(kept, &self.fields.schema)?;
        self.columns.add_document(kept)?;
        self.documents += 1;
        self.stored += bytes;
        Ok(())
    }

    /// How much memory it takes, in bytes, or will when it is finished.
    pub(crate) fn memory(&self) -> usize {
        let words: usize = self.rows.iter().map(|row| row.words.len()).sum();
        let largest = self.rows.iter().map(|row| row.words.len()).max().unwrap_or_default();
        words * size_of::<Option<Number>>() + largest * size_of::<Stands>() + self.stored / 2 + self.columns.mem_usage()
    }

    /// `None` when nothing was added.
    pub(crate) fn finish(mut self, vocabulary: &Vocabulary) -> tantivy::Result<Option<Made>> {
        if self.documents == 0 {
            return Ok(None);
        }
        self.lengths.fill_up_to_max_doc(self.documents);
        let lengths = FieldNormsSerializer::from_write(self.segment.open_write(SegmentComponent::FieldNorms)?)?;
        self.lengths.serialize(lengths, None)?;
        let mut columns = self.segment.open_write(SegmentComponent::FastFields)?;
        self.columns.serialize(&mut columns, None)?;
        tantivy::directory::TerminatingWrite::terminate(columns)?;
        let mut lists = InvertedIndexSerializer::open(&self.segment)?;
        let order = vocabulary.in_order_of_text();
        let mut dealt = Vec::new();
        for (field, _) in self.fields.schema.fields() {
            let row = std::mem::take(&mut self.rows[field.field_id() as usize]);
            if row.known > 0 {
                let mut list = lists.new_field(field, row.known, None)?;
                row.write(&mut list, self.fields.has_places(field), vocabulary, &order, &mut dealt)?;
                list.close()?;
            } else {
                self.write_marks(field, &mut lists)?;
            }
        }
        lists.close()?;
        self.store.close()?;
        let meta = self.segment.clone().with_max_doc(self.documents);
        files_of(meta.meta(), &self.ram).map(Some)
    }

    fn write_marks(&self, field: Field, lists: &mut InvertedIndexSerializer) -> tantivy::Result<()> {
        let Some(marks) = self.marks.get(&field) else { return Ok(()) };
        let mut list = lists.new_field(field, u64::from(self.documents), None)?;
        for (value, documents) in marks {
            list.new_term(value, documents.len() as u32, false)?;
            documents.iter().for_each(|document| list.write_doc(*document, 0, &[]));
            list.close_term()?;
        }
        list.close()?;
        Ok(())
    }
}

/// A word stands in a document, at a place; or so often, where each is there once.
type Stands = (u32, u32);

impl Row {
    /// Writes for each word where it stands. `order`: the numbers of all words, in order of their texts. `dealt` is for use
    /// in between.
    fn write(
        &self,
        list: &mut FieldSerializer<'_>,
        places: IndexRecordOption,
        vocabulary: &Vocabulary,
        order: &[Number],
        dealt: &mut Vec<Stands>,
    ) -> tantivy::Result<()> {
        // How often each word stands anywhere, and then where its part of what is dealt out begins and, as that fills,
        // ends.
        let mut ends = vec![0_u32; order.len()];
        self.words.iter().flatten().for_each(|word| ends[word.get()] += 1);
        let mut end = 0;
        for word in order {
            let often = std::mem::replace(&mut ends[word.get()], end);
            end += often;
        }
        if dealt.len() < end as usize {
            dealt.resize(end as usize, (0, 0));
        }
        let is_counted = !self.often.is_empty();
        let mut from = 0;
        for (document, to) in &self.documents {
            let range = from as usize..*to as usize;
            let mut deal = |word: &Option<Number>, place| {
                if let Some(word) = word {
                    let at = &mut ends[word.get()];
                    dealt[*at as usize] = (*document, place);
                    *at += 1;
                }
            };
            match is_counted {
                true => self.words[range.clone()].iter().zip(&self.often[range]).for_each(|(word, n)| deal(word, *n)),
                false => self.words[range].iter().zip(0..).for_each(|(word, place)| deal(word, place)),
            }
            from = *to;
        }
        let mut rest = &dealt[..end as usize];
        let mut begin = 0;
        let mut steps = Vec::new();
        for word in order {
            let end = ends[word.get()];
            if end == begin {
                continue;
            }
            let (stands, others) = rest.split_at((end - begin) as usize);
            (rest, begin) = (others, end);
            let holding = match is_counted {
                true => stands.len(),
                false => 1 + stands.windows(2).filter(|two| two[0].0 != two[1].0).count(),
            };
            list.new_term(vocabulary.text(*word).as_bytes(), holding as u32, places.has_freq())?;
            if is_counted {
                stands.iter().for_each(|(document, often)| list.write_doc(*document, *often, &[]));
                list.close_term()?;
                continue;
            }
            for of_document in stands.chunk_by(|one, next| one.0 == next.0) {
                steps.clear();
                if places.has_positions() {
                    let mut before = 0;
                    steps.extend(of_document.iter().map(|(_, place)| place - std::mem::replace(&mut before, *place)));
                }
                list.write_doc(of_document[0].0, of_document.len() as u32, &steps);
            }
            list.close_term()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::postings::Postings;
    use tantivy::{DocSet, Term};

    use super::*;
    use crate::engine::searcher;
    use crate::generations::Generations;
    use crate::languages::Language;
    use crate::schema::SECTION;

    /// Where a word stands in a field: document, how often, at which places.
    fn stands(searcher: &tantivy::Searcher, field: Field, word: &str) -> Vec<(u32, u32, Vec<u32>)> {
        let index = searcher.segment_reader(0).inverted_index(field).expect("an index");
        let term = Term::from_field_text(field, word);
        let option = IndexRecordOption::WithFreqsAndPositions;
        let Some(mut postings) = index.read_postings(&term, option).expect("read") else { return Vec::new() };
        let mut found = Vec::new();
        while postings.doc() != tantivy::TERMINATED {
            let mut places = Vec::new();
            postings.positions(&mut places);
            found.push((postings.doc(), postings.term_freq(), places));
            postings.advance();
        }
        found
    }

    /// Texts as the bodies of documents, and what the engine reads of them.
    fn written(texts: &[String]) -> (Fields, tantivy::Searcher) {
        let folder = tempfile::tempdir().expect("a folder");
        let (fields, mut vocabulary) = (Fields::new(), Vocabulary::default());
        let mut writer = SegmentWriter::new(&fields).expect("a writer");
        for text in texts {
            let mut words = Vec::new();
            vocabulary.add_words(text, Language::English, &mut words);
            writer.mark(fields.kind, SECTION.as_bytes());
            writer.say(fields.body, words.iter().map(|word| word.map(|forms| forms.stem)));
            writer.gather(&words);
            writer.say_gathered();
            writer.end(&TantivyDocument::default(), 0).expect("written");
        }
        let made = writer.finish(&vocabulary).expect("finished").expect("documents");
        let generations = Generations::open(folder.path(), 1).expect("a folder");
        let segment = generations.write_segment(&made).expect("written");
        let searcher = searcher(&fields, &[segment]).expect("opened");
        (fields, searcher)
    }

    #[test]
    fn words_are_listed_with_their_documents_and_places() {
        let long = "x".repeat(61);
        let (fields, searcher) =
            written(&["retry the retries".to_owned(), format!("{long} retry"), "other".to_owned()]);
        assert_eq!(stands(&searcher, fields.body, "retri"), [(0, 2, vec![0, 2]), (1, 1, vec![1])]);
        assert_eq!(stands(&searcher, fields.whole, "retri"), [(0, 2, vec![]), (1, 1, vec![])]);
        assert_eq!(stands(&searcher, fields.kind, SECTION).len(), 3);
        let lengths = searcher.segment_reader(0).get_fieldnorms_reader(fields.body).expect("lengths");
        assert_eq!([0, 1, 2].map(|document| lengths.fieldnorm(document)), [3, 1, 1]);
        let index = searcher.segment_reader(0).inverted_index(fields.body).expect("an index");
        assert_eq!(index.total_num_tokens(), 5);
    }

    #[test]
    fn nothing_said_makes_no_segment() {
        let writer = SegmentWriter::new(&Fields::new()).expect("a writer");
        assert!(writer.finish(&Vocabulary::default()).expect("finished").is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_is_said_is_read(texts in proptest::collection::vec("[abc]( [abc]){0,9}", 1..300)) {
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
                let counts = expected.iter().map(|(document, often, _)| (*document, *often, Vec::new())).collect::<Vec<_>>();
                prop_assert_eq!(stands(&searcher, fields.whole, word), counts);
                prop_assert_eq!(stands(&searcher, fields.body, word), expected);
            }
        }
    }
}
