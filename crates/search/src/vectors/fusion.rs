//! Fuses the ranking by words with the similarity of vectors.
//!
//! Word scores and similarities have different scales: a word score depends on how many words a question has and how
//! rare they are, a similarity on the model. So each is standardized, as the number of standard deviations from the
//! mean of the pages considered for this very question, and the two are added. Ranks would lose by how much the first
//! page is better than the second, which is what tells a certain answer from a guess.
//!
//! Considered are the best pages by words and the most similar ones. A page that shares no word with the question
//! enters by its similarity, and earns its score by that alone.
//!
//! Scoring is done twice. A question is a few words, and much may resemble it by chance; the section that answers it
//! best describes its subject at length. So in the second pass the similarity is to the question and to this section
//! together: other answers to the question are about the same subject. The second pass does not change how likely a
//! page is to answer.

use crate::index::manifest::SectionId;
use crate::index::schema::SECTION;
use crate::rank::allowed::Allowed;
use crate::rank::lookup::documents_of;
use crate::rank::ranking::{Candidate, Candidates, Search};
use crate::rank::score_accumulator::ScoreAccumulator;
use crate::vectors::similarity::Similarities;

/// How many of the pages found by words are ranked by words and similarity together.
const TOGETHER: usize = 50;
/// Maximum number of pages added for their similarity, and their minimum similarity: some page is always the nearest,
/// even when none has to do with the question.
const MOST_NEAREST: usize = 50;
const LEAST_SIMILARITY: f32 = 0.2;
/// Number of words in a question for which similarity weighs exactly `Settings::alike`.
const USUAL_WORDS: f32 = 5.0;

impl<'s> Search<'s> {
    /// Adds the most similar pages, whatever their words.
    pub(crate) fn add_nearest(
        &self,
        candidates: &mut Candidates,
        similarity: &Similarities,
        sections: &ScoreAccumulator,
        allowed: &mut Allowed<'_>,
    ) -> tantivy::Result<()> {
        for page in similarity.nearest(MOST_NEAREST, LEAST_SIMILARITY, |page| allowed.is_allowed(page)) {
            let Some(candidate) = candidates.of(page) else { continue };
            candidate.is_near = true;
            if candidate.sections.is_empty() {
                candidate.sections = self.documents_of(candidate, similarity)?;
                candidate.sections.iter_mut().for_each(|(score, number)| *score = sections.score(*number));
                candidate.sections.sort_by(|a, b| b.0.total_cmp(&a.0));
            }
        }
        Ok(())
    }

    /// Combines word scores and similarities, for the best pages by either. The other pages rank after these.
    pub(crate) fn fuse(&self, ranked: Vec<Candidate>, similarity: &Similarities) -> tantivy::Result<Vec<Candidate>> {
        let share = self.share_of_likeness();
        let asks = self.asks();
        let (mut fused, mut rest) = (Vec::new(), Vec::new());
        for (rank, candidate) in ranked.into_iter().enumerate() {
            if rank < TOGETHER || candidate.is_near { fused.push(candidate) } else { rest.push(candidate) }
        }
        let likeness: Vec<_> = fused.iter().map(|candidate| similarity.of_page(candidate.number)).collect();
        let words: Vec<_> = fused.iter().map(|candidate| Some(candidate.score)).collect();
        let gain = |page: u32| self.lookup.settings.similarity_linked * self.linked(page);
        let words = standard_scores(&words);
        let words: Vec<f32> = words.iter().zip(&fused).map(|(words, page)| words + gain(page.number)).collect();
        score(&mut fused, &words, &likeness, share);
        for (candidate, likeness) in fused.iter_mut().zip(&likeness) {
            if let Some(likeness) = likeness {
                let beyond_chance = ((likeness - LEAST_SIMILARITY) / (1.0 - LEAST_SIMILARITY)).clamp(0.0, 1.0);
                candidate.answers += (1.0 - candidate.answers) * share * beyond_chance;
            }
            self.order_sections(candidate, similarity, share)?;
        }
        if let Some(best) = self.best_section(&fused)? {
            let pages: Vec<u32> = fused.iter().map(|candidate| candidate.number).collect();
            let likeness = similarity.with_feedback(best, self.lookup.settings.similarity_best, &pages);
            if likeness.iter().any(Option::is_some) {
                score(&mut fused, &words, &likeness, share);
            }
        }
        // The best section may be a list of links, which resembles the pages it links to. The section shown should
        // explain.
        for candidate in &mut fused {
            candidate.sections.sort_by_key(|(_, number)| self.kind_of_section(*number).comes_after(&asks));
        }
        fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
        fused.append(&mut rest);
        Ok(fused)
    }

    /// The best section of the best page so far.
    fn best_section(&self, fused: &[Candidate]) -> tantivy::Result<Option<SectionId>> {
        let best = fused.iter().max_by(|a, b| a.score.total_cmp(&b.score).then(b.number.cmp(&a.number)));
        let Some((page, section)) = best.and_then(|best| Some((best.number, best.sections.first()?.1))) else {
            return Ok(None);
        };
        Ok(Some(SectionId { page: self.page_id(page), section: self.ordinal(section)? }))
    }

    /// The weight of similarity for this question, which grows with its number of words. A word or two name something,
    /// and pages that contain the name are meant; a sentence is seldom repeated in the same words.
    fn share_of_likeness(&self) -> f32 {
        let settings = self.lookup.settings;
        let words = self.asked.count_ones().max(1) as f32;
        (settings.similarity + settings.similarity_slope * (words / USUAL_WORDS).ln()).clamp(0.0, 1.0)
    }

    /// Sorts the sections by word score and similarity together, best first.
    fn order_sections(&self, candidate: &mut Candidate, similarity: &Similarities, share: f32) -> tantivy::Result<()> {
        for (_, number) in self.documents_of(candidate, similarity)? {
            if candidate.sections.iter().all(|(_, known)| *known != number) {
                candidate.sections.push((0.0, number));
            }
        }
        let best = candidate.sections.iter().map(|(score, _)| *score).fold(f32::MIN_POSITIVE, f32::max);
        let mut worth = Vec::with_capacity(candidate.sections.len());
        for (score, number) in &candidate.sections {
            let section = SectionId { page: self.page_id(candidate.number), section: self.ordinal(*number)? };
            let similarity = similarity.of(section).unwrap_or_default();
            worth.push(((1.0 - share) * score / best + share * similarity, (*score, *number)));
        }
        worth.sort_by(|a, b| b.0.total_cmp(&a.0));
        candidate.sections = worth.into_iter().map(|(_, section)| section).collect();
        Ok(())
    }

    fn page_id(&self, number: u32) -> u64 {
        self.snapshot.stats.pages[number as usize]
    }

    /// The most similar sections of a page: their similarities and document numbers.
    fn documents_of(&self, candidate: &Candidate, similarity: &Similarities) -> tantivy::Result<Vec<(f32, usize)>> {
        let all = documents_of(self.lookup.searcher, &self.snapshot.fields, self.page_id(candidate.number), SECTION)?;
        let number = |section: SectionId| Some(self.snapshot.stats.document(*all.get(section.section as usize)?));
        Ok(similarity
            .best(candidate.number)
            .filter_map(|(similarity, section)| Some((similarity, number(section)?)))
            .collect())
    }
}

/// Scores pages by standardized word scores and similarities.
fn score(pages: &mut [Candidate], words: &[f32], likeness: &[Option<f32>], share: f32) {
    for ((candidate, words), likeness) in pages.iter_mut().zip(words).zip(standard_scores(likeness)) {
        candidate.score = (1.0 - share) * words + share * likeness;
    }
}

/// Standard scores: by how many standard deviations each score is above the mean, and 0 for a missing score.
pub(crate) fn standard_scores(scores: &[Option<f32>]) -> Vec<f32> {
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
    fn outstanding_scores_weigh_more_and_missing_ones_as_the_mean() {
        let out = standard_scores(&[Some(0.9), Some(0.5), None, Some(0.4)]);
        assert!(out[0] > 1.0 && out[1] < 0.0 && out[3] < out[1], "{out:?}");
        assert!(out[2].abs() < f32::EPSILON);
        assert_eq!(standard_scores(&[Some(0.5), Some(0.5)]), [0.0, 0.0]);
        assert!(standard_scores(&[]).is_empty());
    }
}
