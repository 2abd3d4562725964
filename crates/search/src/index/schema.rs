//! The fields of the index.
//!
//! There are three kinds of documents. A page document holds what occurs once per page: its title, path, description
//! and headings, and the length of the whole page. A section document holds the text under one heading and the headings
//! above it. A link document holds the texts of one page's links to another. Each kind is searched on its own, so that
//! a long page does not count its title once per section.
//!
//! In tantivy all these words belong to a single field, and each term ends with a mark byte for the logical field it
//! occurs in. Most words occur in several fields, and writing each word separately for each field would take most of
//! the indexing time.

use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    /// The page's id in the manifest.
    pub(crate) page: Field,
    /// Of a section: its index in the page, counted from 0.
    pub(crate) section: Field,
    /// Of a section: its near-duplicate fingerprint ([`crate::text::near_duplicates`]).
    pub(crate) fingerprint: Field,
    /// Of a section: its kind, unless it is the default one ([`crate::index::section_kind`]).
    pub(crate) section_kind: Field,
    /// Of a link: the keys of the paths it may lead to, the likeliest first.
    pub(crate) target: Field,
    /// `page`, `section` or `link`.
    pub(crate) kind: Field,
    /// Of a page: the code of the language its words are stemmed by.
    pub(crate) stemming: Field,

    /// The words of all fields below up to `spelled`, with field marks: see [`Fields::marked`]. For those fields
    /// themselves tantivy stores only the number of words per document, and nothing for `spelled`.
    pub(crate) terms: Field,

    pub(crate) title: Field,
    pub(crate) path: Field,
    pub(crate) description: Field,
    pub(crate) headings: Field,
    /// All text of a page, title and code included. Only its length is stored; occurrences are summed up from the other
    /// fields at query time ([`crate::rank::lookup_whole`]).
    pub(crate) whole: Field,
    /// The texts of one page's links to another.
    pub(crate) link: Field,

    pub(crate) heading: Field,
    /// The text of a section, preceded by the page title and the headings above it: few questions are answered without
    /// their words.
    pub(crate) body: Field,
    pub(crate) code: Field,
    /// Words of a page as spelled (in lower case), where that differs from the stem. With the stems, these are all
    /// known words.
    pub(crate) spelled: Field,

    /// Of a page: its outline as Markdown, without the text of its sections. Of a section: its Markdown.
    pub(crate) content: Field,
    /// The headings above a section, one a line.
    pub(crate) heading_path: Field,
    pub(crate) anchor: Field,
}

impl Fields {
    pub(crate) fn new() -> Self {
        let mut schema = Schema::builder();
        // Texts are tokenized before they reach tantivy, which receives only terms.
        let mut text = |name: &str, option: IndexRecordOption, has_lengths: bool| {
            let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_index_option(option);
            let indexing = indexing.set_fieldnorms(has_lengths);
            schema.add_text_field(name, TextOptions::default().set_indexing_options(indexing))
        };
        let terms = text("terms", IndexRecordOption::WithFreqsAndPositions, false);
        let counted = |name: &str| text(name, IndexRecordOption::Basic, true);
        let [title, path, description, headings, whole, link, heading, body, code] =
            ["title", "path", "description", "headings", "whole", "link", "heading", "body", "code"].map(counted);
        Self {
            spelled: schema.add_text_field("spelled", TextOptions::default()),
            page: schema.add_u64_field("page", INDEXED | FAST),
            section: schema.add_u64_field("section", FAST),
            fingerprint: schema.add_u64_field("fingerprint", FAST),
            section_kind: schema.add_u64_field("section_kind", FAST),
            target: schema.add_u64_field("target", FAST),
            kind: schema.add_text_field("kind", STRING),
            stemming: schema.add_text_field("stemming", STRING),
            content: schema.add_text_field("content", STORED),
            heading_path: schema.add_text_field("heading_path", STORED),
            anchor: schema.add_text_field("anchor", STORED),
            schema: schema.build(),
            terms,
            title,
            path,
            description,
            headings,
            whole,
            link,
            heading,
            body,
            code,
        }
    }

    /// The fields with a stored length.
    pub(crate) fn counted(&self) -> [Field; 9] {
        [
            self.title, self.path, self.description, self.headings, self.whole, self.link, self.heading, self.body,
            self.code,
        ]
    }

    /// The fields that hold the text of a page.
    pub(crate) fn of_page(&self) -> [Field; 6] {
        [self.body, self.code, self.heading, self.title, self.description, self.headings]
    }

    /// The logical fields that share one tantivy field, in order of their marks.
    pub(crate) fn term_fields(&self) -> impl Iterator<Item = Field> + use<> {
        self.counted().into_iter().chain([self.spelled])
    }

    /// The byte that ends every term of a logical field. No mark occurs in a word, and each sorts before every letter,
    /// so that a word and the words it is a prefix of stay in order.
    pub(crate) fn mark(&self, field: Field) -> u8 {
        let place = self.term_fields().position(|known| known == field);
        1 + place.unwrap_or_default() as u8
    }

    /// The tantivy term for a word in a logical field.
    pub(crate) fn marked(&self, field: Field, stem: &str) -> Term {
        Term::from_field_text(self.terms, &format!("{stem}{}", char::from(self.mark(field))))
    }

    pub(crate) fn name(&self, field: Field) -> &str {
        self.schema.get_field_name(field)
    }

    /// Checksum of the fields and of how they are filled: an index with another checksum is unusable.
    pub(crate) fn checksum(&self) -> u32 {
        let schema = serde_json::to_vec(&self.schema).unwrap_or_default();
        crc32fast::hash(&[schema.as_slice(), &CONTENT_VERSION.to_le_bytes()].concat())
    }
}

/// Incremented when documents are built differently while the fields stay the same.
const CONTENT_VERSION: u32 = 18;

/// The kinds of documents.
pub(crate) const PAGE: &str = "page";
pub(crate) const SECTION: &str = "section";
pub(crate) const LINK: &str = "link";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_has_a_mark_of_its_own_that_comes_before_every_letter() {
        let fields = Fields::new();
        let mut marks: Vec<u8> = fields.term_fields().map(|field| fields.mark(field)).collect();
        assert!(marks.iter().all(|mark| (1..b' ').contains(mark)), "{marks:?}");
        marks.dedup();
        assert_eq!(marks.len(), fields.term_fields().count());
        assert!(fields.marked(fields.spelled, "key") < fields.marked(fields.title, "keys"));
    }
}
