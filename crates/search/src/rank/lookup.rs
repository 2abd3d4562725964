//! Looks up words in the index, and scores the documents that contain them.
//!
//! Every document that contains a word of the question is scored: with a few words and some ten thousand documents that
//! takes microseconds, and it allows a page to add up the scores of all its sections.

use std::collections::HashSet;

use tantivy::postings::{Postings, TermInfo};
use tantivy::query::{EnableScoring, PhraseQuery, Query as EngineQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, Term};

use crate::index::readers::{Stem, Text};
use crate::index::schema::Fields;
use crate::rank::bm25::{Bm25Field, Scored, weighed};
use crate::rank::corpus_stats::{CorpusStats, NO_PAGE};
use crate::rank::question::{Question, Word};
use crate::rank::score_accumulator::{NEXT_TO_NOTHING, ScoreAccumulator};
use crate::rank::settings::Settings;

/// Looks up words, and adds up the scores of sections and pages.
pub(crate) struct Lookup<'s> {
    pub(crate) searcher: &'s Searcher,
    pub(crate) fields: &'s Fields,
    pub(crate) stats: &'s CorpusStats,
    pub(crate) settings: &'s Settings,
}

/// The postings list of one form of a word in one field of one segment.
pub(crate) struct PostingsList {
    field: Field,
    pub(crate) segment: usize,
    /// The index of the form among the forms of the word.
    form: usize,
    /// The weight of the form relative to the word.
    pub(crate) share: f32,
    pub(crate) info: TermInfo,
}

/// A block of a postings list: documents that contain a word, and the frequency of the word in each.
pub(crate) struct Block<'b> {
    pub(crate) documents: &'b [u32],
    often: &'b [u32],
}

impl Block<'_> {
    /// The pages that these documents are about, each with the frequency of the word times `share`. Documents about no
    /// page are skipped. `pages`: page number by document.
    pub(crate) fn pages(&self, pages: &[u32], share: f32) -> impl Iterator<Item = (usize, f32)> {
        let each = self.documents.iter().zip(self.often);
        let each = each.map(move |(document, often)| (pages[*document as usize], share * *often as f32));
        each.filter(|(page, _)| *page != NO_PAGE).map(|(page, often)| (page as usize, often))
    }
}

/// All postings lists of a word.
pub(crate) struct Found {
    listed: Vec<PostingsList>,
    /// The certainty of the word, as [`Word::certainty`].
    certainty: f32,
}

impl Found {
    pub(crate) fn in_field(&self, field: Field) -> impl Iterator<Item = &PostingsList> {
        self.listed.iter().filter(move |listed| listed.field == field)
    }
}

/// The scores of all sections and pages that contain a word of the question.
pub(crate) struct LookupScores {
    pub(crate) sections: ScoreAccumulator,
    pub(crate) pages: ScoreAccumulator,
    /// The postings of the words, by word number.
    pub(crate) found: Vec<Found>,
}

impl Lookup<'_> {
    /// Scores all sections and pages that contain a word of the question.
    pub(crate) fn scores_of(&self, question: &Question) -> tantivy::Result<LookupScores> {
        let found = question.words.iter().map(|word| self.find(word)).collect::<tantivy::Result<Vec<_>>>()?;
        let scores = |scored| -> tantivy::Result<ScoreAccumulator> {
            let mut scores = self.empty(scored);
            for text in &self.texts(scored) {
                for (number, found) in found.iter().enumerate() {
                    self.score(text, found, Some(number), &mut scores)?;
                }
            }
            Ok(scores)
        };
        Ok(LookupScores { sections: scores(Scored::Sections)?, pages: scores(Scored::Pages)?, found })
    }

    /// Finds the postings lists of a word.
    pub(crate) fn find(&self, word: &Word) -> tantivy::Result<Found> {
        let fields = self.fields.of_page().into_iter().chain([self.fields.path, self.fields.link]);
        let mut found = Vec::new();
        for (number, form) in word.forms.iter().enumerate() {
            let mut stem = Stem::of(&form.stem);
            for (segment, stats) in self.stats.segments.iter().enumerate() {
                for field in fields.clone() {
                    let Some(text) = stats.readers.text(field) else { continue };
                    let info = text.find(&mut stem)?;
                    found.extend(info.map(|info| PostingsList {
                        field,
                        segment,
                        form: number,
                        share: form.share,
                        info,
                    }));
                }
            }
        }
        Ok(Found { listed: found, certainty: word.certainty })
    }

    /// Whether no text of a section has the word, at most code.
    pub(crate) fn is_in_code_alone(&self, found: &Found) -> bool {
        found.in_field(self.fields.body).next().is_none()
    }

    pub(crate) fn empty(&self, scored: Scored) -> ScoreAccumulator {
        let (stats, pages) = (self.stats, self.stats.pages.len());
        let (size, of, tables) = match scored {
            Scored::Sections => (stats.documents, stats.sections, &stats.section_tables),
            Scored::Pages => (pages, pages, &stats.page_tables),
        };
        ScoreAccumulator::new(size, of, self.settings.k1, tables)
    }

    /// The fields in which sections or pages are searched. The first field determines how rare a word is.
    pub(crate) fn texts(&self, scored: Scored) -> Vec<Bm25Field> {
        weighed(self.settings, scored, self.fields, self.stats)
    }

    /// Adds the score of a word in a field to every section or page that contains it there. With a word number, the
    /// word is marked as met there; in a section by its text. A word that no text has counts in code as it would in text.
    pub(crate) fn score(
        &self,
        text: &Bm25Field,
        found: &Found,
        word: Option<usize>,
        scores: &mut ScoreAccumulator,
    ) -> tantivy::Result<()> {
        let is_at_home = text.field == self.fields.code && self.is_in_code_alone(found);
        let body = || self.texts(Scored::Sections).swap_remove(0);
        let as_text = is_at_home.then(|| Bm25Field { field: text.field, ..body() });
        let is_text = as_text.is_some() || text.field == self.fields.body || text.scored == Scored::Pages;
        let (text, word) = (as_text.as_ref().unwrap_or(text), word.filter(|_| is_text));
        let weight = text.weight * found.certainty;
        if text.field == self.fields.whole {
            self.count_whole(found, scores)?;
            let by_length = |page: usize| text.by_length[usize::from(self.stats.lengths[page])];
            scores.finish_word(weight, word, NEXT_TO_NOTHING, by_length);
            return Ok(());
        }
        // A document may contain several forms of a word, and the links to one page are in several documents: the frequencies are
        // added up before they are weighted.
        for listed in found.in_field(text.field) {
            self.count(text, listed, scores)?;
        }
        if text.field == self.fields.link {
            // The texts of all links to a page count as one text.
            let length = |page: usize| self.stats.link_words[page] as f32;
            scores.finish_word(weight, word, NEXT_TO_NOTHING, |page| text.counts(length(page)));
        } else {
            scores.finish_word(weight, word, 0.0, |_| 1.0);
        }
        Ok(())
    }

    /// Calls `each` with every block of a list.
    pub(crate) fn each_block(&self, listed: &PostingsList, mut each: impl FnMut(&Block<'_>)) -> tantivy::Result<()> {
        let Some(text) = self.stats.segments[listed.segment].readers.text(listed.field) else { return Ok(()) };
        let option = IndexRecordOption::WithFreqs;
        let mut postings = text.index.read_block_postings_from_terminfo(&listed.info, option)?;
        while postings.block_len() > 0 {
            each(&Block { documents: postings.docs(), often: postings.freqs() });
            postings.advance();
        }
        Ok(())
    }

    /// Calls `each` with the pages whose sections contain a form of a word. A page that is in several segments comes
    /// once for each.
    pub(crate) fn each_page_with(&self, found: &Found, form: usize, mut each: impl FnMut(u32)) -> tantivy::Result<()> {
        for listed in found.in_field(self.fields.body).filter(|listed| listed.form == form) {
            let pages = &self.stats.segments[listed.segment].page;
            let mut before = NO_PAGE;
            self.each_block(listed, |block| {
                for document in block.documents {
                    let page = pages[*document as usize];
                    if page != before && page != NO_PAGE {
                        each(page);
                    }
                    before = page;
                }
            })?;
        }
        Ok(())
    }

    /// Adds the weighted frequency of a word in a field, for every section or page that contains it there.
    fn count(&self, text: &Bm25Field, listed: &PostingsList, scores: &mut ScoreAccumulator) -> tantivy::Result<()> {
        let stats = &self.stats.segments[listed.segment];
        let Some(Text { norms, .. }) = stats.readers.text(text.field) else { return Ok(()) };
        self.each_block(listed, |block| {
            let counted = block.documents.iter().zip(block.often).filter_map(|(document, often)| {
                let (page, number) = (stats.page[*document as usize], stats.first + *document as usize);
                if page == NO_PAGE {
                    return None;
                }
                let share = match text.field == self.fields.link {
                    true => listed.share,
                    false => listed.share * text.by_length[usize::from(norms.fieldnorm_id(*document))],
                };
                let at = if text.scored == Scored::Sections { number } else { page as usize };
                Some((at, *often as f32 * share))
            });
            scores.add(block.documents.len(), counted);
        })
    }

    /// Adds a proximity bonus to the scores of these sections, given with their numbers, for consecutive words of the
    /// question that occur close together. Leaves the sections in order of number.
    pub(crate) fn add_proximity(
        &self,
        question: &Question,
        found: &[Found],
        rarities: &[f32],
        sections: &mut [(f32, usize)],
    ) -> tantivy::Result<()> {
        sections.sort_unstable_by_key(|(_, number)| *number);
        let words = question.words.iter().zip(found).zip(rarities.iter().copied());
        let words: Vec<(&Found, f32)> =
            words.filter(|((word, _), _)| !word.is_optional).map(|((_, found), rarity)| (found, rarity)).collect();
        let gap = self.settings.together_gap as u32;
        for (segment, stats) in self.stats.segments.iter().enumerate() {
            let from = sections.partition_point(|(_, number)| *number < stats.first);
            let to = sections.partition_point(|(_, number)| *number < stats.first + stats.page.len());
            let sections = &mut sections[from..to];
            if sections.is_empty() {
                continue;
            }
            let documents: Vec<u32> = sections.iter().map(|(_, number)| (number - stats.first) as u32).collect();
            let mut before: Option<(Vec<Vec<u32>>, f32)> = None;
            for (found, rarity) in &words {
                let places = self.places(segment, found, &documents)?;
                if let Some((before, rarity_before)) = &before {
                    let worth = self.settings.together * rarity.min(*rarity_before);
                    for ((left, right), (score, _)) in before.iter().zip(&places).zip(sections.iter_mut()) {
                        let often = beside(left, right, gap);
                        *score += worth * often / (often + 1.0);
                    }
                }
                before = Some((places, *rarity));
            }
        }
        Ok(())
    }

    /// The positions of a word in the bodies of these documents, in order.
    fn places(&self, segment: usize, found: &Found, documents: &[u32]) -> tantivy::Result<Vec<Vec<u32>>> {
        let mut places = vec![Vec::new(); documents.len()];
        let Some(text) = self.stats.segments[segment].readers.text(self.fields.body) else { return Ok(places) };
        let mut lists = 0;
        for listed in found.in_field(self.fields.body).filter(|listed| listed.segment == segment) {
            lists += 1;
            let option = IndexRecordOption::WithFreqsAndPositions;
            let mut postings = text.index.read_postings_from_terminfo(&listed.info, option)?;
            for (document, places) in documents.iter().zip(&mut places) {
                if postings.doc() < *document {
                    postings.seek(*document);
                }
                if postings.doc() == *document {
                    postings.append_positions_with_offset(0, places);
                }
            }
        }
        if lists > 1 {
            places.iter_mut().for_each(|places| places.sort_unstable());
        }
        Ok(places)
    }

    /// The numbers of the sections that contain a phrase word for word, stemmed in any of these languages.
    pub(crate) fn holding(&self, phrase: &[Vec<String>]) -> tantivy::Result<HashSet<usize>> {
        let mut found = HashSet::new();
        for stems in phrase {
            for field in [self.fields.body, self.fields.code] {
                let mut terms: Vec<Term> = stems.iter().map(|stem| self.fields.marked(field, stem)).collect();
                let query: Box<dyn EngineQuery> = match terms.len() {
                    0 => continue,
                    1 => Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::Basic)),
                    _ => Box::new(PhraseQuery::new(terms)),
                };
                let weight = query.weight(EnableScoring::disabled_from_searcher(self.searcher))?;
                for (reader, stats) in self.searcher.segment_readers().iter().zip(&self.stats.segments) {
                    weight.for_each_no_score(reader, &mut |documents| {
                        found.extend(documents.iter().map(|document| stats.first + *document as usize));
                    })?;
                }
            }
        }
        Ok(found)
    }
}

/// How often a position on the right follows one on the left within `gap`: each counts 1 over the distance, so 1 when
/// adjacent.
fn beside(left: &[u32], right: &[u32], gap: u32) -> f32 {
    let mut often = 0.0;
    let mut next = 0;
    for place in left {
        while next < right.len() && right[next] <= *place {
            next += 1;
        }
        let Some(distance) = right.get(next).map(|after| after - place) else { break };
        if distance <= gap {
            often += 1.0 / distance as f32;
        }
    }
    often
}

/// The documents of a page of one kind, in the order they were written in.
pub(crate) fn documents_of(
    searcher: &Searcher,
    fields: &Fields,
    id: u64,
    kind: &str,
) -> tantivy::Result<Vec<DocAddress>> {
    let mut found = Vec::new();
    let (page, kind) = (Term::from_field_u64(fields.page, id), Term::from_field_text(fields.kind, kind));
    for (segment, reader) in searcher.segment_readers().iter().enumerate() {
        let of_page = reader.inverted_index(fields.page)?.read_postings(&page, IndexRecordOption::Basic)?;
        let of_kind = reader.inverted_index(fields.kind)?.read_postings(&kind, IndexRecordOption::Basic)?;
        let Some((mut of_page, mut of_kind)) = of_page.zip(of_kind) else { continue };
        while of_page.doc() != TERMINATED {
            let document = of_page.doc();
            let is_of_kind =
                of_kind.doc() == document || of_kind.doc() < document && of_kind.seek(document) == document;
            if is_of_kind && !reader.is_deleted(document) {
                found.push(DocAddress::new(segment as u32, document));
            }
            of_page.advance();
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_each_other_count_by_how_close_they_are() {
        for (left, right, often) in [
            (&[1_u32, 10][..], &[2_u32, 12][..], 1.5),
            (&[1], &[5], 0.0),
            (&[5], &[1], 0.0),
            (&[], &[1], 0.0),
            (&[3], &[3], 0.0),
        ] {
            assert!((beside(left, right, 3) - often).abs() < 1e-6, "{left:?} {right:?}");
        }
    }
}
