//! What words say of a page and what its vectors say, as one order.
//!
//! The two are not on one scale: how well words fit depends on how many there are and how rare they are, how alike vectors
//! are on the model. So each is measured by how far a page stands out among those that were looked at for this very
//! question, in standard deviations, and the two are added. Ranks would forget by how much the first is better than the
//! second, which is what tells a certain answer from a guess.
//!
//! Looked at are the best pages by words and the most alike ones. A page that shares no word with the question comes in by
//! what it means, and scores by that alone.
//!
//! That is done twice. A question is a few words, and much may be like it by chance; the section that answers it best says at
//! length what it is about. So the second time likeness is that to the question and to this section together: what else
//! answers the question is about the same. How likely a page is to answer is not changed by it.

use crate::index::manifest::SectionId;
use crate::index::schema::SECTION;
use crate::rank::allowed::Allowed;
use crate::rank::lookup::documents_of;
use crate::rank::ranking::{Candidate, Candidates, Search};
use crate::rank::score_accumulator::ScoreAccumulator;
use crate::vectors::alike::Alike;

/// How many of the pages that words have found are put in order by words and likeness together.
const TOGETHER: usize = 50;
/// How many pages come in because they are alike, and how much they have to be: some page is always the nearest, also of
/// those that have nothing to do with the question.
const MOST_NEAREST: usize = 50;
const LEAST_ALIKE: f32 = 0.2;
/// A question of so many telling words is one that words and vectors are asked about alike.
const USUAL_WORDS: f32 = 5.0;

impl<'s> Search<'s> {
    /// Adds the pages that are most alike, whatever their words.
    pub(crate) fn add_nearest(
        &self,
        candidates: &mut Candidates,
        alike: &Alike,
        sections: &ScoreAccumulator,
        allowed: &mut Allowed<'_>,
    ) -> tantivy::Result<()> {
        for page in alike.nearest(MOST_NEAREST, LEAST_ALIKE, |page| allowed.is_allowed(page)) {
            let Some(candidate) = candidates.of(page) else { continue };
            candidate.is_near = true;
            if candidate.sections.is_empty() {
                candidate.sections = self.documents_of(candidate, alike)?;
                candidate.sections.iter_mut().for_each(|(score, number)| *score = sections.score(*number));
                candidate.sections.sort_by(|a, b| b.0.total_cmp(&a.0));
            }
        }
        Ok(())
    }

    /// Words and likeness as one score, for the pages that either says most for. The others stay behind these.
    pub(crate) fn fuse(&self, ranked: Vec<Candidate>, alike: &Alike) -> tantivy::Result<Vec<Candidate>> {
        let share = self.share_of_likeness();
        let asks = self.asks();
        let (mut fused, mut rest) = (Vec::new(), Vec::new());
        for (rank, candidate) in ranked.into_iter().enumerate() {
            if rank < TOGETHER || candidate.is_near { fused.push(candidate) } else { rest.push(candidate) }
        }
        let likeness: Vec<_> = fused.iter().map(|candidate| alike.of_page(candidate.number)).collect();
        let words: Vec<_> = fused.iter().map(|candidate| Some(candidate.score)).collect();
        let gain = |page: u32| self.lookup.settings.alike_linked * self.linked(page);
        let words = standing_out(&words);
        let words: Vec<f32> = words.iter().zip(&fused).map(|(words, page)| words + gain(page.number)).collect();
        score(&mut fused, &words, &likeness, share);
        for (candidate, likeness) in fused.iter_mut().zip(&likeness) {
            if let Some(likeness) = likeness {
                let beyond_chance = ((likeness - LEAST_ALIKE) / (1.0 - LEAST_ALIKE)).clamp(0.0, 1.0);
                candidate.answers += (1.0 - candidate.answers) * share * beyond_chance;
            }
            self.order_sections(candidate, alike, share)?;
        }
        if let Some(best) = self.best_section(&fused)? {
            let pages: Vec<u32> = fused.iter().map(|candidate| candidate.number).collect();
            let likeness = alike.also_to(best, self.lookup.settings.alike_best, &pages);
            if likeness.iter().any(Option::is_some) {
                score(&mut fused, &words, &likeness, share);
            }
        }
        // The best section may be a list of links: it is like what it leads to. What is shown explains.
        for candidate in &mut fused {
            candidate.sections.sort_by_key(|(_, number)| self.kind_of_section(*number).comes_after(&asks));
        }
        fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
        fused.append(&mut rest);
        Ok(fused)
    }

    /// The section that answers best as far as is known.
    fn best_section(&self, fused: &[Candidate]) -> tantivy::Result<Option<SectionId>> {
        let best = fused.iter().max_by(|a, b| a.score.total_cmp(&b.score).then(b.number.cmp(&a.number)));
        let Some((page, section)) = best.and_then(|best| Some((best.number, best.sections.first()?.1))) else {
            return Ok(None);
        };
        Ok(Some(SectionId { page: self.page_id(page), section: self.ordinal(section)? }))
    }

    /// What likeness counts for this question: more the more words it has. A word or two name something, and pages that
    /// have that name are meant; a sentence is seldom said twice in the same words.
    fn share_of_likeness(&self) -> f32 {
        let settings = self.lookup.settings;
        let words = self.asked.count_ones().max(1) as f32;
        (settings.alike + settings.alike_slope * (words / USUAL_WORDS).ln()).clamp(0.0, 1.0)
    }

    /// Puts the sections first that words and likeness together say most for.
    fn order_sections(&self, candidate: &mut Candidate, alike: &Alike, share: f32) -> tantivy::Result<()> {
        for (_, number) in self.documents_of(candidate, alike)? {
            if candidate.sections.iter().all(|(_, known)| *known != number) {
                candidate.sections.push((0.0, number));
            }
        }
        let best = candidate.sections.iter().map(|(score, _)| *score).fold(f32::MIN_POSITIVE, f32::max);
        let mut worth = Vec::with_capacity(candidate.sections.len());
        for (score, number) in &candidate.sections {
            let section = SectionId { page: self.page_id(candidate.number), section: self.ordinal(*number)? };
            let alike = alike.of(section).unwrap_or_default();
            worth.push(((1.0 - share) * score / best + share * alike, (*score, *number)));
        }
        worth.sort_by(|a, b| b.0.total_cmp(&a.0));
        candidate.sections = worth.into_iter().map(|(_, section)| section).collect();
        Ok(())
    }

    fn page_id(&self, number: u32) -> u64 {
        self.snapshot.stats.pages[number as usize]
    }

    /// The sections of a page that are most alike: how much, and their numbers.
    fn documents_of(&self, candidate: &Candidate, alike: &Alike) -> tantivy::Result<Vec<(f32, usize)>> {
        let all = documents_of(self.lookup.searcher, &self.snapshot.fields, self.page_id(candidate.number), SECTION)?;
        let number = |section: SectionId| Some(self.snapshot.stats.document(*all.get(section.section as usize)?));
        Ok(alike.best(candidate.number).filter_map(|(alike, section)| Some((alike, number(section)?))).collect())
    }
}

/// Scores pages by how their words and their likeness stand out.
fn score(pages: &mut [Candidate], words: &[f32], likeness: &[Option<f32>], share: f32) {
    for ((candidate, words), likeness) in pages.iter_mut().zip(words).zip(standing_out(likeness)) {
        candidate.score = (1.0 - share) * words + share * likeness;
    }
}

/// By how many standard deviations each is above the mean.
pub(crate) fn standing_out(scores: &[Option<f32>]) -> Vec<f32> {
    let known: Vec<f32> = scores.iter().copied().flatten().collect();
    let count = known.len().max(1) as f32;
    let mean = known.iter().sum::<f32>() / count;
    let deviation = (known.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / count).sqrt();
    let deviation = if deviation > 1e-6 { deviation } else { 1.0 };
    scores.iter().map(|score| score.map_or(0.0, |score| (score - mean) / deviation)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_out_more_counts_more_and_what_is_unknown_counts_as_usual() {
        let out = standing_out(&[Some(0.9), Some(0.5), None, Some(0.4)]);
        assert!(out[0] > 1.0 && out[1] < 0.0 && out[3] < out[1], "{out:?}");
        assert!(out[2].abs() < f32::EPSILON);
        assert_eq!(standing_out(&[Some(0.5), Some(0.5)]), [0.0, 0.0]);
        assert!(standing_out(&[]).is_empty());
    }
}
