//! Word frequencies of whole pages, added up from the fields in the index.
//!
//! ```text
//! whole page    text of its sections · their code · its description · its headings · its titles
//! section body  title of the page · headings above the section · text of the section
//! ```
//!
//! So the text of a page's sections is that of their bodies without the title and the headings at the beginning.

use tantivy::schema::Field;

use crate::rank::lookup::{Found, Lookup};
use crate::rank::score_accumulator::ScoreAccumulator;

impl Lookup<'_> {
    /// Adds the frequency of a word on each page.
    pub(crate) fn count_whole(&self, found: &Found, scores: &mut ScoreAccumulator) -> tantivy::Result<()> {
        let fields = self.fields;
        for field in [fields.body, fields.code, fields.description, fields.headings] {
            for listed in found.in_field(field) {
                let pages = &self.stats.segments[listed.segment].page;
                self.each_block(listed, |block| scores.add(block.documents.len(), block.pages(pages, listed.share)))?;
            }
        }
        self.each_page(found, fields.heading, |page, often| scores.take_off(page, often))?;
        self.each_page(found, fields.title, |page, often| {
            // A page's name in the navigation is among its titles, but no section body begins with it.
            let sections = self.stats.sections_of[page] as f32;
            let begins = often.min(scores.often(page) / sections.max(1.0));
            scores.take_off(page, sections * begins);
            scores.add(1, [(page, often)]);
        })
    }

    /// Calls `each` with the page of each document that contains a word in a field, and the frequency of the word
    /// there.
    fn each_page(&self, found: &Found, field: Field, mut each: impl FnMut(usize, f32)) -> tantivy::Result<()> {
        for listed in found.in_field(field) {
            let pages = &self.stats.segments[listed.segment].page;
            self.each_block(listed, |block| {
                block.pages(pages, listed.share).for_each(|(page, often)| each(page, often));
            })?;
        }
        Ok(())
    }
}
