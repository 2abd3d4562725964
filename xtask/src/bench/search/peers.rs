//! What other search engines reach on the same sets, and the targets of ours.

use std::fmt::Write as _;

use crate::bench::search::measures::Measures;

/// The sets with known figures.
const SETS: [&str; 6] = ["crdb-link", "ps-link", "astro-link", "ghdocs-link", "scifact", "cranfield"];

/// Target nDCG@10 by words and with vectors, in the order of the sets.
const WANTED: [(f64, f64); 6] = [(0.67, 0.69), (0.70, 0.73), (0.80, 0.87), (0.59, 0.66), (0.70, 0.72), (0.37, 0.42)];

/// A peer at its better of two set-ups, and its nDCG@10 in the order of the sets; 0 where it was not measured.
const PEERS: [(&str, [f64; 6]); 14] = [
    ("SQLite FTS5, sections", [0.599, 0.587, 0.716, 0.543, 0.711, 0.364]),
    ("bm25s, sections with headings", [0.617, 0.574, 0.729, 0.542, 0.704, 0.375]),
    ("tantivy, fields weighted", [0.635, 0.671, 0.789, 0.552, 0.608, 0.357]),
    ("MiniSearch", [0.596, 0.636, 0.738, 0.510, 0.616, 0.329]),
    ("MiniSearch as VitePress sets it", [0.595, 0.594, 0.733, 0.0, 0.622, 0.330]),
    ("FlexSearch", [0.560, 0.541, 0.645, 0.424, 0.439, 0.268]),
    ("Pagefind, any word", [0.0, 0.0, 0.675, 0.0, 0.0, 0.0]),
    ("lunr", [0.0, 0.0, 0.716, 0.0, 0.0, 0.0]),
    ("Orama", [0.0, 0.0, 0.546, 0.0, 0.0, 0.0]),
    ("WordLlama 256 alone (vectors)", [0.517, 0.0, 0.616, 0.481, 0.503, 0.284]),
    ("all-MiniLM-L6-v2 alone (vectors)", [0.575, 0.0, 0.738, 0.537, 0.623, 0.377]),
    ("tantivy + WordLlama (vectors)", [0.643, 0.0, 0.831, 0.581, 0.630, 0.361]),
    ("bm25s + MiniLM (vectors)", [0.658, 0.0, 0.824, 0.631, 0.716, 0.416]),
    ("tantivy + MiniLM (vectors)", [0.670, 0.0, 0.0, 0.612, 0.0, 0.0]),
];

/// Selects one of the measures.
type Figure = fn(&Measures) -> f64;

/// The target nDCG@10 of a set, by words and with vectors; `None` for a set without figures of peers.
pub(super) fn wanted(set: &str) -> Option<(f64, f64)> {
    WANTED.get(position(set)?).copied()
}

fn position(set: &str) -> Option<usize> {
    SETS.iter().position(|known| *known == set)
}

/// A table of nDCG@10 with one column per set: ours first, then the peers; our other measures below.
pub(super) fn table(ours: &[(String, Measures, Option<Measures>)]) -> String {
    let mut text = format!("{:<34}", "nDCG@10");
    for (set, ..) in ours {
        let _ = write!(text, "{set:>13}");
    }
    let mut row = |name: &str, figures: Vec<Option<f64>>| {
        if figures.iter().any(Option::is_some) {
            let _ = write!(text, "\n{name:<34}");
            for figure in figures {
                let _ = write!(text, "{:>13}", figure.map_or_else(String::new, |figure| format!("{figure:.3}")));
            }
        }
    };
    row("docent, by words", ours.iter().map(|(_, words, _)| Some(words.ndcg_10)).collect());
    row("docent, with vectors", ours.iter().map(|(.., vectors)| vectors.map(|vectors| vectors.ndcg_10)).collect());
    for (name, figures) in PEERS {
        let of = |set: &str| position(set).map(|at| figures[at]).filter(|figure| *figure > 0.0);
        row(name, ours.iter().map(|(set, ..)| of(set)).collect());
    }
    let others: [(&str, Figure); 3] = [
        ("MRR@10", |measures| measures.mrr_10),
        ("Recall@5", |measures| measures.recall_5),
        ("Recall@20", |measures| measures.recall_20),
    ];
    for (name, of) in others {
        row(&format!("{name}, by words"), ours.iter().map(|(_, words, _)| Some(of(words))).collect());
        let with = ours.iter().map(|(.., vectors)| vectors.as_ref().map(of));
        row(&format!("{name}, with vectors"), with.collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_stands_above_the_peers_that_know_the_set() {
        let ours = Measures { ndcg_10: 0.8, ..Measures::default() };
        let table = table(&[("astro-link".to_owned(), ours, None), ("own".to_owned(), ours, Some(ours))]);
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[1].starts_with("docent, by words") && lines[1].ends_with("0.800        0.800"), "{table}");
        assert!(lines.iter().any(|line| line.starts_with("lunr") && line.contains("0.716")), "{table}");
        assert!(!super::table(&[("own".to_owned(), ours, None)]).contains("lunr"));
        assert_eq!((wanted("cranfield"), wanted("own")), (Some((0.37, 0.42)), None));
    }
}
