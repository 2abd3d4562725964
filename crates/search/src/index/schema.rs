//! The fields of the index.
//!
//! There are three kinds of documents. A page document holds what is said of a page once: its title, path, description
//! and headings, and the words of the whole page. A section document holds what stands under one heading, and names what
//! it stands below. A link document holds the words one page uses in its links to another. Words are looked up in each
//! kind on its own, so that a long page does not count its title as often as it has sections.
//!
//! To the engine all these words are of one field, each with a mark behind it for the field of ours it stands in. Most words
//! stand in several, and to write each down once for each field is what making an index would take longest for.

use tantivy::Term;
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
    /// Of a section: what tells it from a section that says the same ([`crate::text::near_duplicates`]).
    pub(crate) print: Field,
    /// Of a section: its kind, where it is not the usual one ([`crate::index::section_kind`]).
    pub(crate) section_kind: Field,
    /// Of a link: the keys of the paths it may lead to, the likeliest first.
    pub(crate) target: Field,
    /// `page`, `section` or `link`.
    pub(crate) kind: Field,
    /// Of a page: the code of the language its words are stemmed by.
    pub(crate) stemming: Field,

    /// The words of all fields below up to `spelled`: see [`Fields::marked`]. Of those fields the engine knows how many
    /// words a document has in them, and nothing else.
    pub(crate) said: Field,

    pub(crate) title: Field,
    pub(crate) path: Field,
    pub(crate) description: Field,
    pub(crate) headings: Field,
    /// Everything a page says, its title and its code too. Only how many words that is stands in the index: which they are
    /// is added up from the other fields when they are looked for ([`crate::rank::lookup_whole`]).
    pub(crate) whole: Field,
    /// The words of one page's links to another.
    pub(crate) link: Field,

    pub(crate) heading: Field,
    /// What a section says, with the title of the page and the headings it stands below: a question is seldom answered
    /// without their words.
    pub(crate) body: Field,
    pub(crate) code: Field,
    /// What a page says that is spelled otherwise than its stem, as it is spelled. With the stems, that is what words there
    /// are.
    pub(crate) spelled: Field,

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
        let mut text = |name: &str, option: IndexRecordOption, has_lengths: bool| {
            let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_index_option(option);
            let indexing = indexing.set_fieldnorms(has_lengths);
            schema.add_text_field(name, TextOptions::default().set_indexing_options(indexing))
        };
        let said = text("said", IndexRecordOption::WithFreqsAndPositions, false);
        let mut counted = |name: &str| text(name, IndexRecordOption::Basic, true);
        let title = counted("title");
        let path = counted("path");
        let description = counted("description");
        let headings = counted("headings");
        let whole = counted("whole");
        let link = counted("link");
        let heading = counted("heading");
        let body = counted("body");
        let code = counted("code");
        Self {
            spelled: schema.add_text_field("spelled", TextOptions::default()),
            page: schema.add_u64_field("page", INDEXED | FAST),
            section: schema.add_u64_field("section", FAST),
            print: schema.add_u64_field("print", FAST),
            section_kind: schema.add_u64_field("section_kind", FAST),
            target: schema.add_u64_field("target", FAST),
            kind: schema.add_text_field("kind", STRING),
            stemming: schema.add_text_field("stemming", STRING),
            content: schema.add_text_field("content", STORED),
            trail: schema.add_text_field("trail", STORED),
            anchor: schema.add_text_field("anchor", STORED),
            schema: schema.build(),
            said,
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

    /// The fields of what a page says.
    pub(crate) fn of_page(&self) -> [Field; 6] {
        [self.body, self.code, self.heading, self.title, self.description, self.headings]
    }

    /// The fields whose words are one field to the engine, in order of their marks.
    pub(crate) fn all_said(&self) -> impl Iterator<Item = Field> + use<> {
        self.counted().into_iter().chain([self.spelled])
    }

    /// What stands behind the words of a field of ours among all words. None of them comes in a word, and each comes before
    /// every letter: a word and those that begin with it stay in order.
    pub(crate) fn mark(&self, field: Field) -> u8 {
        let place = self.all_said().position(|known| known == field);
        1 + place.unwrap_or_default() as u8
    }

    /// A word as the engine knows it in a field of ours.
    pub(crate) fn marked(&self, field: Field, stem: &str) -> Term {
        Term::from_field_text(self.said, &format!("{stem}{}", char::from(self.mark(field))))
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
const FILLED: u32 = 9;

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
        let mut marks: Vec<u8> = fields.all_said().map(|field| fields.mark(field)).collect();
        assert!(marks.iter().all(|mark| (1..b' ').contains(mark)), "{marks:?}");
        marks.dedup();
        assert_eq!(marks.len(), fields.all_said().count());
        assert!(fields.marked(fields.spelled, "key") < fields.marked(fields.title, "keys"));
    }
}
