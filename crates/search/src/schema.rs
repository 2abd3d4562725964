//! The fields of the index.
//!
//! There are three kinds of documents. A page document holds what is said of a page once: its title, path, description
//! and headings, and the words of the whole page. A section document holds what stands under one heading, and names what
//! it stands below. A link document holds the words one page uses in its links to another. Words are looked up in each
//! kind on its own, so that a long page does not count its title as often as it has sections.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    /// The page's number in the manifest.
    pub(crate) page: Field,
    /// Of a section: which of its page it is, counted from 0.
    pub(crate) section: Field,
    /// Of a section: what tells it from a section that says the same ([`crate::copies`]).
    pub(crate) print: Field,
    /// Of a link: the keys of the paths it may lead to, the likeliest first.
    pub(crate) target: Field,
    /// `page`, `section` or `link`.
    pub(crate) kind: Field,
    /// Of a page: the code of the language its words are stemmed by.
    pub(crate) stemming: Field,

    pub(crate) title: Field,
    pub(crate) path: Field,
    pub(crate) description: Field,
    pub(crate) headings: Field,
    /// Everything a page says, its title and its code too.
    pub(crate) whole: Field,
    /// Everything a page says as it is spelled: what words there are.
    pub(crate) spelled: Field,
    /// The words of one page's links to another.
    pub(crate) link: Field,

    pub(crate) heading: Field,
    /// What a section says, with the title of the page and the headings it stands below: a question is seldom answered
    /// without their words.
    pub(crate) body: Field,
    pub(crate) code: Field,

    /// Of a page: its outline as Markdown, without what its sections say. Of a section: its Markdown.
    pub(crate) content: Field,
    /// The headings above a section, one a line.
    pub(crate) trail: Field,
    pub(crate) anchor: Field,
}

impl Fields {
    pub(crate) fn new() -> Self {
        let mut schema = Schema::builder();
        // Words are made before they get to the engine: it is never handed a text.
        let mut text = |name: &str, option: IndexRecordOption| {
            let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_index_option(option);
            schema.add_text_field(name, TextOptions::default().set_indexing_options(indexing))
        };
        let mut stemmed = |name: &str| text(name, IndexRecordOption::WithFreqs);
        let title = stemmed("title");
        let path = stemmed("path");
        let description = stemmed("description");
        let headings = stemmed("headings");
        let whole = stemmed("whole");
        let link = stemmed("link");
        let heading = stemmed("heading");
        let mut placed = |name: &str| text(name, IndexRecordOption::WithFreqsAndPositions);
        let body = placed("body");
        let code = placed("code");
        let spelled = text("spelled", IndexRecordOption::Basic);
        Self {
            page: schema.add_u64_field("page", INDEXED | FAST),
            section: schema.add_u64_field("section", FAST),
            print: schema.add_u64_field("print", FAST),
            target: schema.add_u64_field("target", FAST),
            kind: schema.add_text_field("kind", STRING),
            stemming: schema.add_text_field("stemming", STRING),
            content: schema.add_text_field("content", STORED),
            trail: schema.add_text_field("trail", STORED),
            anchor: schema.add_text_field("anchor", STORED),
            schema: schema.build(),
            title,
            path,
            description,
            headings,
            whole,
            spelled,
            link,
            heading,
            body,
            code,
        }
    }

    /// The fields whose length counts.
    pub(crate) fn counted(&self) -> [Field; 9] {
        [
            self.title,
            self.path,
            self.description,
            self.headings,
            self.whole,
            self.link,
            self.heading,
            self.body,
            self.code,
        ]
    }

    /// What is kept of the places where a field's words stand.
    pub(crate) fn has_places(&self, field: Field) -> IndexRecordOption {
        self.schema.get_field_entry(field).field_type().index_record_option().unwrap_or_default()
    }

    pub(crate) fn name(&self, field: Field) -> &str {
        self.schema.get_field_name(field)
    }

    /// Stands for the fields and how they are filled: an index that was made otherwise cannot serve.
    pub(crate) fn checksum(&self) -> u32 {
        let schema = serde_json::to_vec(&self.schema).unwrap_or_default();
        crc32fast::hash(&[schema.as_slice(), &FILLED.to_le_bytes()].concat())
    }
}

/// Goes up when documents are made otherwise though the fields are the same.
const FILLED: u32 = 4;

/// The kinds of documents.
pub(crate) const PAGE: &str = "page";
pub(crate) const SECTION: &str = "section";
pub(crate) const LINK: &str = "link";
