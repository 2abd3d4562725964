//! The report of an evaluation: figures, problems in the files, and the questions with the worst results.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::judged::{EvaluatedQuestion, Measures, percentile};

/// Maximum number of worst questions that are listed.
const WORST: usize = 10;
/// Number of pages listed for each of them.
const SHOWN: usize = 3;
/// Number of questions that a warning names.
const NAMED: usize = 3;

/// The complete results of an evaluation.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) domain: String,
    pub(super) commit: String,
    pub(super) pages: usize,
    /// The number of questions, judged or not.
    pub(super) questions: usize,
    /// The number of judged questions that are missing from the file of questions.
    pub(super) unknown: usize,
    pub(super) judged: Vec<EvaluatedQuestion>,
}

impl Report {
    /// As text.
    pub(super) fn text(&self) -> String {
        let Measures { ndcg_10, mrr_10, success_1, success_3, recall_5, recall_20 } = Measures::mean(&self.judged);
        let mut text = format!("{} questions on {} pages\n\n", self.judged.len(), self.pages);
        for (name, figure) in [
            ("nDCG@10", ndcg_10),
            ("MRR@10", mrr_10),
            ("Success@1", success_1),
            ("Success@3", success_3),
            ("Recall@5", recall_5),
            ("Recall@20", recall_20),
        ] {
            let _ = writeln!(text, "{name:<10} {figure:.4}");
        }
        let at = |share| millis(percentile(&self.judged, share));
        let _ = writeln!(text, "{:<10} p50 {:.2} ms, p99 {:.2} ms", "latency", at(0.5), at(0.99));
        let worst = self.worst();
        if !worst.is_empty() {
            let _ = writeln!(text, "\nThe worst {}, by nDCG@10", worst.len());
        }
        for judged in worst {
            let _ = writeln!(text, "\n{:.3}  {}  ({})", judged.measures.ndcg_10, judged.text.trim(), judged.id);
            let _ = writeln!(text, "       wanted  {}", listed(judged.right.iter().map(|right| wanted(judged, right))));
            let _ =
                writeln!(text, "       found   {}", listed(judged.found.iter().map(|(path, _)| format!("/{path}"))));
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// Problems in the two input files, in relation to the pages of this site.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let left_out = self.questions - self.judged.len();
        if left_out > 0 {
            warnings.push(format!("{left_out} of {} questions have no right page and are left out", self.questions));
        }
        if self.unknown > 0 {
            warnings.push(format!("{} judged questions are not among the queries and are left out", self.unknown));
        }
        let out_of_reach: Vec<&str> = self.out_of_reach().map(|judged| judged.id.as_str()).collect();
        if !out_of_reach.is_empty() {
            let named: Vec<String> = out_of_reach.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
            let more = out_of_reach.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            warnings.push(format!(
                "{} of {} questions want pages that this index does not have, so they count as 0: {}{more}; pages are \
                 named by their path on the site",
                out_of_reach.len(),
                self.judged.len(),
                named.join(", ")
            ));
        }
        warnings
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        let mean = Measures::mean(&self.judged);
        let latency =
            json!({ "p50": millis(percentile(&self.judged, 0.5)), "p99": millis(percentile(&self.judged, 0.99)) });
        json!({
            "domain": self.domain,
            "commit": self.commit,
            "pages": self.pages,
            "questions": self.judged.len(),
            "leftOut": self.questions - self.judged.len(),
            "unknown": self.unknown,
            "ndcg10": mean.ndcg_10,
            "mrr10": mean.mrr_10,
            "success1": mean.success_1,
            "success3": mean.success_3,
            "recall5": mean.recall_5,
            "recall20": mean.recall_20,
            "latencyMillis": latency,
            "outOfReach": self.out_of_reach().map(|judged| &judged.id).collect::<Vec<_>>(),
            "worst": self.worst().into_iter().map(as_json).collect::<Vec<_>>(),
        })
    }

    fn out_of_reach(&self) -> impl Iterator<Item = &EvaluatedQuestion> {
        self.judged.iter().filter(|judged| judged.is_out_of_reach())
    }

    /// The questions without a perfect result, the worst first. Questions whose right pages are not in the index do not
    /// measure the ranking and are reported elsewhere.
    fn worst(&self) -> Vec<&EvaluatedQuestion> {
        let mut worst: Vec<&EvaluatedQuestion> =
            self.judged.iter().filter(|judged| !judged.is_out_of_reach() && judged.measures.ndcg_10 < 0.9999).collect();
        worst.sort_by(|a, b| a.measures.ndcg_10.total_cmp(&b.measures.ndcg_10));
        worst.truncate(WORST);
        worst
    }
}

fn wanted(judged: &EvaluatedQuestion, right: &super::judged::RelevantPage) -> String {
    match (judged.place(right), &right.path) {
        (Some(place), Some(path)) => format!("/{path} (at {place})"),
        (None, Some(path)) => format!("/{path} (not found)"),
        (_, None) => format!("{} (not indexed)", right.written),
    }
}

/// The first few items, and the number of others.
fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return "nothing".to_owned();
    }
    let more = items.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    items[..items.len().min(SHOWN)].join(", ") + &more
}

fn as_json(judged: &EvaluatedQuestion) -> Value {
    let wanted = judged.right.iter().map(|right| {
        json!({
            "page": right.written,
            "grade": right.grade,
            "indexed": right.path.is_some(),
            "place": judged.place(right),
        })
    });
    let found = judged.found.iter().take(WORST).map(|(path, score)| json!({ "path": path, "score": score }));
    json!({
        "id": judged.id,
        "text": judged.text,
        "ndcg10": judged.measures.ndcg_10,
        "wanted": wanted.collect::<Vec<_>>(),
        "found": found.collect::<Vec<_>>(),
    })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::super::judged::tests::judged;
    use super::*;

    fn report() -> Report {
        let judged = vec![
            judged("well", &[("x", true, 1)], &["x"]),
            judged("badly", &[("x", true, 2), ("w", true, 1)], &["a", "b", "c", "x"]),
            judged("gone", &[("old", false, 1)], &["a"]),
        ];
        let (domain, commit) = ("acme".to_owned(), "c1".to_owned());
        Report { domain, commit, pages: 9, questions: 4, unknown: 2, judged }
    }

    #[test]
    fn the_worst_are_told_with_what_was_found_instead() {
        let text = report().text();
        assert!(text.starts_with("3 questions on 9 pages\n\nnDCG@10    0."), "{text}");
        assert!(text.contains("latency    p50 1.00 ms, p99 1.00 ms\n\nThe worst 1, by nDCG@10\n"), "{text}");
        let worst = "  What is badly?  (badly)\n       wanted  /x (at 4), /w (not found)\n       found   /a, /b, /c, and 1 more";
        assert!(text.ends_with(worst), "{text}");
        let told = report().json();
        assert_eq!(told["worst"][0]["wanted"][0], json!({ "page": "/x", "grade": 2, "indexed": true, "place": 4 }));
        assert_eq!(told["outOfReach"], json!(["gone"]));
    }

    #[test]
    fn what_is_wrong_with_the_files_is_said() {
        let warnings = report().warnings();
        assert_eq!(warnings[0], "1 of 4 questions have no right page and are left out");
        assert_eq!(warnings[1], "2 judged questions are not among the queries and are left out");
        assert!(warnings[2].starts_with("1 of 3 questions want pages that this index does not have"), "{warnings:?}");
        assert!(warnings[2].contains(": `gone`; "), "{warnings:?}");
    }
}
