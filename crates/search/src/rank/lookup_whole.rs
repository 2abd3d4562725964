//! What pages say in all, added up from what stands in their fields.
//!
//! ```text
//! a page says   what its sections say · their code · its description · its headings · its titles
//! a body holds  the title of its page · the headings above it · what its section says
//! ```
//!
//! So a page's own words are those of its sections' bodies without what these begin with.

use tantivy::schema::Field;

use crate::rank::lookup::{Found, Lookup};
use crate::rank::score_accumulator::ScoreAccumulator;

impl Lookup<'_> {
    /// Adds how often pages say a word.
    pub(crate) fn count_whole(&self, found: &Found, scores: &mut ScoreAccumulator) -> tantivy::Result<()> {
        let fields = self.fields;
        for field in [fields.body, fields.code, fields.description, fields.headings] {
            for listed in found.in_field(field) {
                let pages = &self.stats.segments[listed.segment].page;
                self.each_block(listed, |block| scores.add_each(block.len(), block.pages(pages, listed.share)))?;
            }
        }
        self.each_page(found, fields.heading, |page, often| scores.take_off(page, often))?;
        self.each_page(found, fields.title, |page, often| {
            // A page's name in the navigation is one of its titles, and no section begins with it.
            let sections = self.stats.sections_of[page] as f32;
            let begins = often.min(scores.often(page) / sections.max(1.0));
            scores.take_off(page, sections * begins);
            scores.add(page, often);
        })
    }

    /// Gives the page of each document that has a word in a field, with how often it does.
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
