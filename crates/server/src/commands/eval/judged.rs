//! Searches for the questions of an evaluation, and measures the results against the judgements.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use docent_search::eval::{ndcg, recall, reciprocal_rank};
use docent_search::{Asker, Query, Snapshot};

use super::judgements::Judgements;
use super::questions::JudgedQuestion;

/// One question and its results.
#[derive(Debug, Clone)]
pub(super) struct EvaluatedQuestion {
    pub(super) id: String,
    pub(super) text: String,
    /// The pages that answer the question, best first.
    pub(super) right: Vec<RelevantPage>,
    /// The path and score of each result, best first, without ignored pages.
    pub(super) found: Vec<(String, f32)>,
    pub(super) measures: Measures,
    pub(super) took: Duration,
}

/// A page that answers a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RelevantPage {
    /// The page's name in the judgements file.
    pub(super) written: String,
    /// The path at which the page is served; `None` if the index has no such page.
    pub(super) path: Option<String>,
    pub(super) grade: u32,
}

/// Ranking metrics of one question, or their averages over all questions. Each is from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Measures {
    pub(super) ndcg_10: f64,
    pub(super) mrr_10: f64,
    /// Whether the first result is a right page.
    pub(super) success_1: f64,
    /// Whether one of the first three results is a right page.
    pub(super) success_3: f64,
    pub(super) recall_5: f64,
    pub(super) recall_20: f64,
}

impl EvaluatedQuestion {
    /// Whether the index has none of the pages that answer the question.
    pub(super) fn is_out_of_reach(&self) -> bool {
        self.right.iter().all(|right| right.path.is_none())
    }

    /// The rank of a page in the results, counted from 1.
    pub(super) fn place(&self, right: &RelevantPage) -> Option<usize> {
        let path = right.path.as_deref()?;
        self.found.iter().position(|(found, _)| found == path).map(|at| at + 1)
    }
}

/// Searches for every question that has a right page, one after the other, with `limit` results each.
pub(super) async fn judge(
    docs: &Snapshot,
    questions: &[JudgedQuestion],
    judgements: &Judgements,
    limit: usize,
    mut progress: impl FnMut(usize),
) -> Vec<EvaluatedQuestion> {
    let mut judged = Vec::new();
    // Reads from the disk what all searches need, so that it does not count in the first measurement.
    if let Some(first) = questions.first() {
        docs.find(&query(first, limit)).await;
    }
    for (asked, question) in questions.iter().enumerate() {
        let right = judgements.get(&question.id).map(|pages| right(docs, pages)).unwrap_or_default();
        if !right.is_empty() {
            judged.push(ask(docs, question, right, limit).await);
        }
        progress(asked + 1);
    }
    judged
}

async fn ask(docs: &Snapshot, question: &JudgedQuestion, right: Vec<RelevantPage>, limit: usize) -> EvaluatedQuestion {
    let query = query(question, limit);
    let began = Instant::now();
    let passages = docs.find(&query).await;
    let took = began.elapsed();
    let ignored: Vec<&str> = question.ignore.iter().filter_map(|page| docs.path_of(page)).collect();
    let found = passages.into_iter().filter(|passage| !ignored.contains(&passage.path.as_str()));
    let found: Vec<(String, f32)> = found.take(limit).map(|passage| (passage.path, passage.score)).collect();
    let measures = Measures::of(&found, &right);
    EvaluatedQuestion { id: question.id.clone(), text: question.text.clone(), right, found, measures, took }
}

fn query(question: &JudgedQuestion, limit: usize) -> Query {
    Query {
        text: question.text.clone(),
        limit: limit + question.ignore.len(),
        asker: Asker::Operator,
        ..Query::default()
    }
}

fn right(docs: &Snapshot, pages: &BTreeMap<String, u32>) -> Vec<RelevantPage> {
    let of = |(page, grade): (&String, &u32)| RelevantPage {
        written: page.clone(),
        path: docs.path_of(page).map(str::to_owned),
        grade: *grade,
    };
    let mut right: Vec<RelevantPage> = pages.iter().filter(|(_, grade)| **grade > 0).map(of).collect();
    right.sort_by_key(|right| std::cmp::Reverse(right.grade));
    // Two names of the same page count as one page: keep the higher grade, which comes first.
    let mut known: Vec<String> = Vec::new();
    right.retain(|right| match &right.path {
        Some(path) if known.contains(path) => false,
        Some(path) => {
            known.push(path.clone());
            true
        }
        None => true,
    });
    right
}

impl Measures {
    fn of(found: &[(String, f32)], right: &[RelevantPage]) -> Self {
        let ranked: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        // A page that does not exist is never found; it counts as missed.
        let name = |right: &RelevantPage| right.path.clone().unwrap_or_else(|| format!("?{}", right.written));
        let names: Vec<(String, u32)> = right.iter().map(|right| (name(right), right.grade)).collect();
        let grades: HashMap<&str, u32> = names.iter().map(|(name, grade)| (name.as_str(), *grade)).collect();
        Self {
            ndcg_10: ndcg(&ranked, &grades, 10),
            mrr_10: reciprocal_rank(&ranked, &grades, 10),
            success_1: reciprocal_rank(&ranked, &grades, 1).ceil(),
            success_3: reciprocal_rank(&ranked, &grades, 3).ceil(),
            recall_5: recall(&ranked, &grades, 5),
            recall_20: recall(&ranked, &grades, 20),
        }
    }

    /// The average over all questions.
    pub(super) fn mean(judged: &[EvaluatedQuestion]) -> Self {
        let count = judged.len().max(1) as f64;
        let mean = |of: fn(&Self) -> f64| judged.iter().map(|judged| of(&judged.measures)).sum::<f64>() / count;
        Self {
            ndcg_10: mean(|of| of.ndcg_10),
            mrr_10: mean(|of| of.mrr_10),
            success_1: mean(|of| of.success_1),
            success_3: mean(|of| of.success_3),
            recall_5: mean(|of| of.recall_5),
            recall_20: mean(|of| of.recall_20),
        }
    }
}

/// The percentile of the search times; `share` is from 0 to 1.
pub(super) fn percentile(judged: &[EvaluatedQuestion], share: f64) -> Duration {
    let mut took: Vec<Duration> = judged.iter().map(|judged| judged.took).collect();
    took.sort_unstable();
    let at = (share * took.len() as f64).ceil() as usize;
    took.get(at.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn judged(id: &str, right: &[(&str, bool, u32)], found: &[&str]) -> EvaluatedQuestion {
        let right: Vec<RelevantPage> = right
            .iter()
            .map(|(page, is_there, grade)| RelevantPage {
                written: format!("/{page}"),
                path: is_there.then(|| (*page).to_owned()),
                grade: *grade,
            })
            .collect();
        let found: Vec<(String, f32)> = found.iter().map(|path| ((*path).to_owned(), 0.5)).collect();
        let measures = Measures::of(&found, &right);
        EvaluatedQuestion {
            id: id.to_owned(),
            text: format!("What is {id}?"),
            right,
            found,
            measures,
            took: Duration::from_millis(1),
        }
    }

    #[test]
    fn a_page_that_is_not_indexed_counts_as_missed() {
        let whole = judged("a", &[("x", true, 1)], &["x", "y"]);
        let best =
            Measures { ndcg_10: 1.0, mrr_10: 1.0, success_1: 1.0, success_3: 1.0, recall_5: 1.0, recall_20: 1.0 };
        assert_eq!(whole.measures, best);
        let half = judged("b", &[("x", true, 1), ("gone", false, 1)], &["x", "gone"]);
        assert!((half.measures.recall_5 - 0.5).abs() < 1e-9 && !half.is_out_of_reach());
        let none = judged("c", &[("gone", false, 1)], &["x"]);
        assert!(none.is_out_of_reach() && none.measures == Measures::default());
        assert!((Measures::mean(&[whole, none]).ndcg_10 - 0.5).abs() < 1e-9);
    }

    #[test]
    fn places_and_percentiles_are_counted_from_one() {
        let one = judged("a", &[("x", true, 1), ("z", true, 1)], &["y", "x"]);
        assert_eq!((one.place(&one.right[0]), one.place(&one.right[1])), (Some(2), None));
        assert_eq!((one.measures.success_1, one.measures.success_3), (0.0, 1.0));
        let times = |millis: &[u64]| -> Vec<EvaluatedQuestion> {
            millis.iter().map(|n| EvaluatedQuestion { took: Duration::from_millis(*n), ..one.clone() }).collect()
        };
        assert_eq!(percentile(&times(&[3, 1, 2, 4]), 0.5), Duration::from_millis(2));
        assert_eq!(percentile(&times(&[3, 1, 2, 4]), 0.99), Duration::from_millis(4));
        assert_eq!(percentile(&[], 0.5), Duration::ZERO);
    }
}
