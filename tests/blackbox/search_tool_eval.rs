//! `docent eval`: measures search with questions whose correct pages are known.

use std::fs;

use docent_tests::site::PAGES;
use docent_tests::{Finished, Installation};

const QUERIES: &str = concat!(
    "{\"id\":\"retry\",\"text\":\"how often is a webhook delivery retried\"}\n",
    "{\"id\":\"limit\",\"text\":\"requests a minute\",\"ignore\":[\"/quickstart\"],\"from\":\"support\"}\n",
    "{\"id\":\"hard\",\"text\":\"opening hours\"}\n",
    "{\"id\":\"gone\",\"text\":\"fax machine\"}\n",
    "{\"id\":\"new\",\"text\":\"not judged yet\"}\n",
);
const QRELS: &str = "retry\t/guides/webhooks\t2\nretry\treference/errors\t0\nlimit 0 guides/rate-limits.mdx 1\nhard\t/guides/cafe\t1\n\
     gone\t/guides/fax\t1\nother\t/index\t1\n";

/// The usual docs, with extra files beside them; not indexed.
struct Bench(Installation);

impl Bench {
    fn new(queries: &str, qrels: &str) -> Self {
        let installation = Installation::new();
        let repository = installation.repository("acme", PAGES);
        installation.add_project("acme", &repository);
        fs::write(installation.root().join("queries.jsonl"), queries).expect("write the questions");
        fs::write(installation.root().join("qrels.tsv"), qrels).expect("write the judgements");
        Self(installation)
    }

    fn eval(&self, more: &[&str]) -> Finished {
        let args = ["eval", "acme", "--queries", "queries.jsonl", "--qrels", "qrels.tsv"];
        self.0.run(&[&args[..], more].concat())
    }
}

#[test]
fn figures_come_first_then_the_questions_that_went_worst() {
    let bench = Bench::new(QUERIES, QRELS);
    let finished = bench.eval(&[]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let shown = &finished.stdout;
    assert!(shown.starts_with("4 questions on 7 pages\n\nnDCG@10    0."), "{shown}");
    for name in ["MRR@10     0.", "Success@1  0.", "Success@3  0.", "Recall@5   0.", "Recall@20  0.", "latency    p50 "]
    {
        assert!(shown.contains(&format!("\n{name}")), "{name}: {shown}");
    }
    assert!(shown.contains("opening hours  (hard)\n       wanted  /guides/cafe"), "{shown}");
    assert!(!shown.contains("(gone)"), "nothing could be done about it: {shown}");
    for warning in ["1 of 5 questions have no right page", "1 judged questions are not among", "count as 0: `gone`;"] {
        assert!(finished.stderr.contains(warning), "{warning}: {}", finished.stderr);
    }
}

#[test]
fn a_program_gets_one_value_and_a_run_file() {
    let bench = Bench::new(QUERIES, QRELS);
    let told = bench.eval(&["--json", "--save-run", "found.run"]).json();
    assert_eq!((&told["questions"], &told["leftOut"], &told["unknown"]), (&4.into(), &1.into(), &1.into()), "{told:#}");
    assert_eq!(told["outOfReach"], serde_json::json!(["gone"]));
    // Two of the four questions have their page in first place; the others find nothing.
    for figure in ["ndcg10", "success1", "success3", "recall20"] {
        assert_eq!(told[figure], 0.5, "{figure}: {told:#}");
    }
    assert_eq!(told["worst"][0]["id"], "hard", "{told:#}");
    assert!(told["latencyMillis"]["p99"].as_f64().is_some_and(|millis| millis > 0.0), "{told:#}");

    let run = fs::read_to_string(bench.0.root().join("found.run")).expect("the run file");
    let first: Vec<&str> = run.lines().next().expect("a line").split('\t').collect();
    assert_eq!((&first[..4], first[5]), (&["retry", "Q0", "/guides/webhooks", "1"][..], "docent"), "{run}");
    assert!(run.contains("limit\tQ0\tguides/rate-limits.mdx\t1\t"), "pages as the judgements name them: {run}");
    assert!(!run.contains("limit\tQ0\t/quickstart"), "ignored pages do not count: {run}");
}

#[test]
fn a_line_that_cannot_be_taken_is_named() {
    for (queries, qrels, said) in [
        ("{\"id\":\"a\"}", QRELS, "queries.jsonl:1: no question, missing field `text`"),
        (QUERIES, "retry\t/a\t1\nretry\t/b\tgood", "qrels.tsv:2: the grade must be a whole number"),
        (QUERIES, "nobody\t/a\t1", "no question of queries.jsonl has a right page in qrels.tsv"),
    ] {
        let finished = Bench::new(queries, qrels).eval(&[]);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{}", finished.stderr);
        assert!(finished.stderr.contains(said), "{}", finished.stderr);
    }
    let bench = Bench::new(QUERIES, QRELS);
    let finished = bench.0.run(&["eval", "acme", "--queries", "nowhere.jsonl", "--qrels", "qrels.tsv"]);
    assert!(finished.code == Some(1) && finished.stderr.contains("cannot read nowhere.jsonl"), "{}", finished.stderr);
    assert_eq!(bench.eval(&["--limit", "5"]).code, Some(2), "too few to tell Recall@20 from");
}
