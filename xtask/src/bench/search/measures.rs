//! Ranking metrics, computed from what the server answers.

use std::collections::HashMap;

/// Averages over all questions, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::bench) struct Measures {
    pub(in crate::bench) ndcg_10: f64,
    pub(in crate::bench) mrr_10: f64,
    pub(in crate::bench) recall_5: f64,
    pub(in crate::bench) recall_20: f64,
}

impl Measures {
    /// The metrics of one question: `found` is the ranking, best first, `grades` are those of the pages that answer it.
    pub(in crate::bench) fn of(found: &[&str], grades: &HashMap<String, u32>) -> Self {
        let grade = |page: &&str| grades.get(*page).copied().unwrap_or(0);
        let mut best: Vec<u32> = grades.values().copied().collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        let ideal = gain(best.into_iter());
        let right = grades.values().filter(|grade| **grade > 0).count();
        let recall = |depth: usize| {
            let hits = found.iter().take(depth).filter(|page| grade(page) > 0).count();
            hits as f64 / right.min(depth).max(1) as f64
        };
        let first = found.iter().take(10).position(|page| grade(page) > 0);
        Self {
            ndcg_10: if ideal > 0.0 { gain(found.iter().map(grade)) / ideal } else { 0.0 },
            mrr_10: first.map_or(0.0, |at| 1.0 / (at as f64 + 1.0)),
            recall_5: recall(5),
            recall_20: recall(20),
        }
    }

    pub(in crate::bench) fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Self {
            ndcg_10: mean(|of| of.ndcg_10),
            mrr_10: mean(|of| of.mrr_10),
            recall_5: mean(|of| of.recall_5),
            recall_20: mean(|of| of.recall_20),
        }
    }
}

/// The discounted cumulative gain of the first ten results.
fn gain(grades: impl Iterator<Item = u32>) -> f64 {
    grades.take(10).enumerate().map(|(at, grade)| (f64::from(grade).exp2() - 1.0) / (at as f64 + 2.0).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ndcg_grows_with_rank_and_grade() {
        let grades = HashMap::from([("a".to_owned(), 2), ("b".to_owned(), 1), ("c".to_owned(), 0)]);
        let best = Measures::of(&["a", "b"], &grades);
        assert!((best.ndcg_10 - 1.0).abs() < 1e-9 && (best.mrr_10 - 1.0).abs() < 1e-9);
        let worse = Measures::of(&["c", "b", "x"], &grades);
        let expected = (1.0 / 3_f64.log2()) / (3.0 + 1.0 / 3_f64.log2());
        assert!((worse.ndcg_10 - expected).abs() < 1e-9 && (worse.mrr_10 - 0.5).abs() < 1e-9, "{worse:?}");
        assert!((worse.recall_5 - 0.5).abs() < 1e-9);
        assert!((Measures::mean(&[best, Measures::default()]).mrr_10 - 0.5).abs() < 1e-9);
    }
}
