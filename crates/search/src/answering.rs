//! How much of a question a page answers: the score readers see.
//!
//! A score says which share of the question a page meets, each word weighed by how much it tells: 0.5 is half of what was
//! asked, in a site of fifty pages as in one of five thousand. A word that no page holds tells the most of all, so a
//! question about something else scores low however well its other words fit.
//!
//! Pages are ranked by more than that, so a page may meet more than one that ranks above it. A score never rises with the
//! rank: where it would, pages next to each other share the mean of what they meet. That is the falling row that is
//! nearest to what each page meets.

use crate::ranking::Candidate;

/// Beyond these many pages a score is that of the last one at most.
const DEPTH: usize = 50;

/// Makes what ranked pages meet fall from the first to the last.
pub(crate) fn meets(ranked: &mut [Candidate<'_>]) {
    let depth = ranked.len().min(DEPTH);
    let met: Vec<f32> = ranked[..depth].iter().map(|candidate| candidate.meets.clamp(0.0, 1.0)).collect();
    let falling = falling(&met);
    let last = falling.last().copied().unwrap_or_default();
    for (candidate, met) in ranked.iter_mut().zip(&falling) {
        candidate.meets = *met;
    }
    ranked[depth..].iter_mut().for_each(|candidate| candidate.meets = candidate.meets.clamp(0.0, last));
    let mut least = last;
    for candidate in &mut ranked[depth..] {
        least = least.min(candidate.meets);
        candidate.meets = least;
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
