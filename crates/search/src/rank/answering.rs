//! How likely a page is to answer a question: the score readers see.
//!
//! ```text
//! strength   the page's score from the words that were asked for, divided by the total weight of these words
//! coverage   the share of these words that the page contains at all, by weight
//! lead       how far the score is ahead of the mean of the other best pages; weighted by coverage², so
//!            a page with half of the words gets a quarter of it
//!
//! score = 1 / (1 + e^(-SLOPE (ln strength + coverage + coverage² lead - EVEN)))
//! ```
//!
//! Words are weighted by rarity, so none of the three depends on the size of a site or on the number of words. A word
//! that no page contains weighs most of all: a question about something else has little strength, however well its
//! other words match, and a question that names something the docs never mention has less strength than without it. A
//! page with a score of 0.5 answers as often as not.
//!
//! The ranking considers more than that, so a page may be likelier to answer than one that ranks above it. Scores never
//! rise down the ranking: where they would, adjacent pages share their mean (isotonic regression, which gives the
//! nearest non-increasing sequence).

use crate::rank::ranking::Candidate;
use crate::rank::score_accumulator::sum_of;

/// Pages beyond this many are not averaged: their score is at most that of the page before.
const DEPTH: usize = 50;
/// With how many of the best pages a page is compared.
const AROUND: usize = 10;
/// The evidence at which the score is 0.5, and the steepness of the logistic curve. Chosen so that hardly one in twelve
/// of the questions that a site answers stays below 0.5.
const EVEN: f32 = 1.1;
const SLOPE: f32 = 1.5;

/// The weights of the words that were asked for.
pub(crate) struct QuestionWeights {
    /// By word number: the weight of the word on a page that contains it.
    pub(crate) met: Vec<f32>,
    /// Likewise, of the words that were only said beside the question.
    pub(crate) beside: Vec<f32>,
    /// The total weight of the words, with those that the docs do not contain.
    pub(crate) all: f32,
}

impl QuestionWeights {
    /// Sets how likely each page is to answer. `ranked` is in order of the pages' scores.
    pub(crate) fn judge(&self, ranked: &mut [Candidate]) {
        let all = self.all.max(f32::MIN_POSITIVE);
        let around = &ranked[..ranked.len().min(AROUND)];
        let count = around.len();
        let sum: f32 = around.iter().map(|candidate| candidate.score).sum();
        for (at, candidate) in ranked.iter_mut().enumerate() {
            let (others, sum) = if at < count { (count - 1, sum - candidate.score) } else { (count, sum) };
            let usual = if others > 0 { sum / others as f32 } else { 0.0 };
            let lead = (1.0 - usual / candidate.score.max(f32::MIN_POSITIVE)).max(0.0);
            let (asked, beside) = (sum_of(&self.met, candidate.met), sum_of(&self.beside, candidate.met));
            let of_asked = asked / (asked + beside).max(f32::MIN_POSITIVE);
            candidate.answers = likelihood(candidate.score * of_asked / all, (asked / all).min(1.0), lead);
        }
    }
}

fn likelihood(strength: f32, coverage: f32, lead: f32) -> f32 {
    if strength <= 0.0 {
        return 0.0;
    }
    let evidence = strength.ln() + coverage + coverage * coverage * lead;
    1.0 / (1.0 + (-SLOPE * (evidence - EVEN)).exp())
}

/// Makes the answer scores of ranked pages non-increasing.
pub(crate) fn falling_scores(ranked: &mut [Candidate]) {
    let depth = ranked.len().min(DEPTH);
    let answers: Vec<f32> = ranked[..depth].iter().map(|candidate| candidate.answers.clamp(0.0, 1.0)).collect();
    let mut least = 1.0_f32;
    for (candidate, falling) in ranked.iter_mut().zip(falling(&answers)) {
        candidate.answers = falling;
        least = falling;
    }
    for candidate in &mut ranked[depth..] {
        least = least.min(candidate.answers);
        candidate.answers = least;
    }
}

/// The non-increasing sequence nearest to `row` by least squares (pool adjacent violators).
fn falling(row: &[f32]) -> Vec<f32> {
    let mut runs: Vec<(f32, usize)> = Vec::new();
    for value in row {
        let mut run = (*value, 1);
        while let Some((mean, count)) = runs.pop_if(|(mean, _)| *mean < run.0) {
            let both = count + run.1;
            run = ((mean * count as f32 + run.0 * run.1 as f32) / both as f32, both);
        }
        runs.push(run);
    }
    runs.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn full_matches_with_a_lead_are_likelier_answers() {
        let (all, half) = (likelihood(3.0, 1.0, 0.4), likelihood(0.8, 0.4, 0.4));
        assert!(all > 0.85 && half < 0.3, "{all} {half}");
        assert!(likelihood(3.0, 1.0, 0.1) < all && likelihood(2.0, 1.0, 0.4) < all && likelihood(3.0, 0.7, 0.4) < all);
        assert_eq!(likelihood(0.0, 0.0, 1.0), 0.0);
    }

    #[test]
    fn rising_scores_are_averaged() {
        assert_eq!(falling(&[0.8, 0.4, 0.6, 0.1]), [0.8, 0.5, 0.5, 0.1]);
        assert_eq!(falling(&[0.25, 0.5, 0.75]), [0.5, 0.5, 0.5]);
        assert_eq!(falling(&[]), Vec::<f32>::new());
    }

    proptest! {
        #[test]
        fn a_row_falls_and_keeps_its_sum(row in proptest::collection::vec(0.0_f32..1.0, 0..60)) {
            let falling = falling(&row);
            prop_assert!(falling.is_sorted_by(|a, b| a >= b));
            prop_assert!((falling.iter().sum::<f32>() - row.iter().sum::<f32>()).abs() < 1e-3);
        }
    }
}
