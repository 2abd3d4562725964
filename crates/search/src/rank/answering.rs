//! How likely a page is to answer a question: the score readers see.
//!
//! ```text
//! strength   what a page scores by the words that were asked for, against what these words weigh
//! coverage   the share of these words that it holds at all, by weight
//! lead       by how much it is ahead of the pages around it; of a page that holds half of the words a quarter counts
//!
//! score = 1 / (1 + e^(-SLOPE (ln strength + coverage + coverage² lead - EVEN)))
//! ```
//!
//! Words weigh by how rare they are, so none of the three depends on how large a site is or how many words are asked for. A
//! word that no page holds weighs most of all: a question about something else has little strength, however well its other
//! words fit, and one that names what the docs never mention has less. At 0.5 a page answers as often as not.
//!
//! Pages are ranked by more than that, so a page may be likelier to answer than one that ranks above it. A score never rises
//! with the rank: where it would, pages next to each other share the mean. That is the falling row that is nearest.

use crate::rank::ranking::Candidate;
use crate::rank::score_accumulator::sum_of;

/// Beyond these many pages a score is that of the last one at most.
const DEPTH: usize = 50;
/// With how many of the best pages a page is compared.
const AROUND: usize = 10;
/// Where a page answers as often as not, and how soon it is certain above that. Chosen so that of questions that a site
/// answers hardly one in twelve stays below 0.5.
const EVEN: f32 = 1.1;
const SLOPE: f32 = 1.5;

/// What the words that were asked for weigh.
pub(crate) struct QuestionWeights {
    /// By the number of a word: what it weighs where it is met.
    pub(crate) met: Vec<f32>,
    /// What all of them weigh, with what the docs do not know.
    pub(crate) all: f32,
}

impl QuestionWeights {
    /// Says of each page how likely it is to answer. `ranked` is in order of what the pages score.
    pub(crate) fn judge(&self, ranked: &mut [Candidate]) {
        let all = self.all.max(f32::MIN_POSITIVE);
        let around = &ranked[..ranked.len().min(AROUND)];
        let count = around.len();
        let sum: f32 = around.iter().map(|candidate| candidate.score).sum();
        for (at, candidate) in ranked.iter_mut().enumerate() {
            let (others, sum) = if at < count { (count - 1, sum - candidate.score) } else { (count, sum) };
            let usual = if others > 0 { sum / others as f32 } else { 0.0 };
            let lead = (1.0 - usual / candidate.score.max(f32::MIN_POSITIVE)).max(0.0);
            let coverage = (sum_of(&self.met, candidate.met) / all).min(1.0);
            candidate.answers = likelihood(candidate.score / all, coverage, lead);
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

/// Makes the scores of ranked pages fall from the first to the last.
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

/// The falling row that is nearest to a row, by the squares of the differences.
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
    fn what_is_met_in_full_and_ahead_of_others_is_likelier_to_answer() {
        let (all, half) = (likelihood(3.0, 1.0, 0.4), likelihood(0.8, 0.4, 0.4));
        assert!(all > 0.85 && half < 0.3, "{all} {half}");
        assert!(likelihood(3.0, 1.0, 0.1) < all && likelihood(2.0, 1.0, 0.4) < all && likelihood(3.0, 0.7, 0.4) < all);
        assert_eq!(likelihood(0.0, 0.0, 1.0), 0.0);
    }

    #[test]
    fn what_would_rise_is_shared() {
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
