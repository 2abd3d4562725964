//! The fields of the index, and what each is worth.
//!
//! There are two kinds of documents. A page document holds what is said of a page once: its title, path, description
//! and headings, and the words of the whole page. A section document holds what stands under one heading. Words are looked up in each kind on its own,
//! so that a long page does not count its title as often as it has sections.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use crate::words;

/// A text field and the analyzers it is indexed by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    pub(crate) stemmed: Field,
    pub(crate) exact: Field,
    /// How much a word found here counts, against one in the body.
    pub(crate) weight: f32,
}

#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    /// The page's number in the manifest.
    pub(crate) page: Field,
    /// `page` or `section`.
    pub(crate) kind: Field,
    pub(crate) version: Field,
    pub(crate) language: Field,
    pub(crate) group: Field,
    pub(crate) tag: Field,

    pub(crate) title: Text,
    pub(crate) path: Text,
    pub(crate) description: Text,
    pub(crate) headings: Text,
    /// Everything a page says, code too.
    pub(crate) whole: Text,

    pub(crate) heading: Text,
    pub(crate) body: Text,
    pub(crate) code: Text,

    /// Of a page: the whole of it as Markdown. Of a section: its Markdown.
    pub(crate) content: Field,
    /// The headings above a section, one a line.
    pub(crate) trail: Field,
    pub(crate) anchor: Field,
}

/// How much a word counts that stands there just as it was asked for, on top of its stem.
pub(crate) const EXACT_SHARE: f32 = 0.25;

impl Fields {
    pub(crate) fn new() -> Self {
        let mut schema = Schema::builder();
        let analyzed = |tokenizer: &str| {
            TextOptions::default().set_indexing_options(
                TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(IndexRecordOption::WithFreqs),
            )
        };
        let mut text = |name: &str, weight: f32| Text {
            stemmed: schema.add_text_field(name, analyzed(words::STEMMED)),
            exact: schema.add_text_field(&format!("{name}_exact"), analyzed(words::EXACT)),
            weight,
        };
        // A word in a title or a path was chosen to say what the page is about. Headings are short, so that one word in
        // them already scores high; and what code mentions is seldom what its section is about.
        let title = text("title", 3.0);
        let path = text("path", 3.0);
        let description = text("description", 1.5);
        let headings = text("headings", 0.5);
        let whole = text("whole", 1.0);
        let heading = text("heading", 0.4);
        let body = text("body", 1.0);
        let code = text("code", 0.1);
        Self {
            page: schema.add_u64_field("page", INDEXED | FAST),
            kind: schema.add_text_field("kind", STRING),
            version: schema.add_text_field("version", STRING),
            language: schema.add_text_field("language", STRING),
            group: schema.add_text_field("group", STRING),
            tag: schema.add_text_field("tag", STRING),
            content: schema.add_text_field("content", STORED),
            trail: schema.add_text_field("trail", STORED),
            anchor: schema.add_text_field("anchor", STORED),
            schema: schema.build(),
            title,
            path,
            description,
            headings,
            whole,
            heading,
            body,
            code,
        }
    }

    /// What is looked up in page documents.
    pub(crate) fn of_pages(&self) -> [Text; 5] {
        [self.title, self.path, self.description, self.headings, self.whole]
    }

    /// What is looked up in section documents.
    pub(crate) fn of_sections(&self) -> [Text; 3] {
        [self.heading, self.body, self.code]
    }
}

/// The kinds of documents.
pub(crate) const PAGE: &str = "page";
pub(crate) const SECTION: &str = "section";
/// Stands for a version, language or group a page does not have.
pub(crate) const NONE: &str = "";
