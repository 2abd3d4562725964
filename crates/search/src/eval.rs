//! Metrics of ranking quality, against human relevance judgements.
//!
//! Pure functions over one question: `ranked` are page ids, best first, each once; the grades say which pages answer
//! the question, 0 for not at all and higher for better. All results are from 0 to 1.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// Normalized discounted cumulative gain (nDCG) of the first `depth` pages: their gain as a share of the gain of the
/// best order. A relevant page counts more the higher it ranks, and a page with grade 2 three times as much as one with
/// grade 1.
pub fn ndcg<T: Eq + Hash, S: BuildHasher>(ranked: &[T], grades: &HashMap<T, u32, S>, depth: usize) -> f64 {
    let gain = |place: usize, grade: u32| (2_f64.powi(grade.min(30) as i32) - 1.0) / (place as f64 + 2.0).log2();
    let sum = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        grades.take(depth).enumerate().map(|(place, grade)| gain(place, grade)).sum()
    };
    let mut best: Vec<u32> = grades.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = sum(&mut best.into_iter());
    let found = sum(&mut ranked.iter().map(|id| grades.get(id).copied().unwrap_or(0)));
    if ideal > 0.0 { found / ideal } else { 0.0 }
}

/// How many of the relevant pages are among the first `depth`, as a share of all relevant pages, but at most `depth` of
/// them.
pub fn recall<T: Eq + Hash, S: BuildHasher>(ranked: &[T], grades: &HashMap<T, u32, S>, depth: usize) -> f64 {
    let right = grades.values().filter(|grade| **grade > 0).count().min(depth);
    let found = ranked.iter().take(depth).filter(|id| is_right(*id, grades)).count();
    if right > 0 { found as f64 / right as f64 } else { 0.0 }
}

fn is_right<T: Eq + Hash, S: BuildHasher>(id: &T, grades: &HashMap<T, u32, S>) -> bool {
    grades.get(id).is_some_and(|grade| *grade > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grades() -> HashMap<&'static str, u32> {
        HashMap::from([("best", 2), ("good", 1), ("bad", 0)])
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn the_best_order_gains_everything() {
        close(ndcg(&["best", "good", "bad"], &grades(), 10), 1.0);
        close(ndcg(&["bad", "other"], &grades(), 10), 0.0);
        close(ndcg::<&str, _>(&[], &HashMap::new(), 10), 0.0);
    }

    #[test]
    fn lower_ranks_gain_less() {
        // (1/log2(2) + 3/log2(3)) / (3/log2(2) + 1/log2(3)).
        let swapped = (1.0 + 3.0 / 3_f64.log2()) / (3.0 + 1.0 / 3_f64.log2());
        close(ndcg(&["good", "best"], &grades(), 10), swapped);
        close(ndcg(&["good", "best"], &grades(), 1), 1.0 / 3.0);
    }

    #[test]
    fn recall_is_of_what_there_is_room_for() {
        close(recall(&["bad", "good", "best"], &grades(), 5), 1.0);
        close(recall(&["good", "bad"], &grades(), 5), 0.5);
        close(recall(&["good", "bad"], &grades(), 1), 1.0);
        close(recall(&["good"], &HashMap::from([("bad", 0)]), 5), 0.0);
    }
}
