//! However an index came to be what it is, it answers alike.

use std::fmt::Write;

use proptest::prelude::*;

use docent_types::Passage;

use super::{Docs, Site};
use crate::{Index, Query, Summary};

/// What somebody does to the docs between two updates.
#[derive(Debug, Clone)]
enum Step {
    Write {
        page: usize,
        words: Vec<usize>,
        includes: bool,
    },
    Remove {
        page: usize,
    },
    Rename {
        page: usize,
        to: usize,
    },
    Navigate {
        order: Vec<usize>,
        version: usize,
    },
    Redirect {
        to: usize,
    },
    Include {
        words: Vec<usize>,
    },
    /// Another process takes over.
    Reopen,
}

const WORDS: [&str; 14] = [
    "retry",
    "retries",
    "token",
    "maxDelay",
    "max_delay",
    "backoff",
    "limits",
    "server",
    "deploy",
    "索引",
    "queue",
    "status",
    "login",
    "webhook",
];
const PAGES: usize = 7;

fn file(page: usize) -> String {
    let folder = ["", "guides/", "api/"][page % 3];
    format!("{folder}page{page}.mdx")
}

fn text(page: usize, words: &[usize], includes: bool) -> String {
    // Each page says something no other says, so that no two score the same.
    let mut text = format!("---\ntitle: Page {page}\n---\n");
    if includes {
        text.push_str("import Shared from '/snippets/shared.mdx'\n");
    }
    let _ = write!(text, "\nUnlike{page} and so on.\n");
    for (section, words) in words.chunks(3).enumerate() {
        let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        let linked = file((page + section) % PAGES).replace(".mdx", "");
        let _ =
            write!(text, "\n## Part {section} {}\n\n{}, says {page}. [More](/{linked})\n", words[0], words.join(" "));
    }
    if includes {
        text.push_str("\n<Shared />\n");
    }
    text
}

fn apply(docs: &mut Docs, step: &Step) {
    match step {
        Step::Write { page, words, includes } => docs.write(&file(*page), &text(*page, words, *includes)),
        Step::Remove { page } => docs.remove(&file(*page)),
        Step::Rename { page, to } => {
            if let Some(text) = docs.files.get(&file(*page)).cloned() {
                docs.remove(&file(*page));
                docs.write(&file(*to), &text);
            }
        }
        Step::Navigate { order, version } => {
            let pages: Vec<String> =
                order.iter().map(|page| format!("\"{}\"", file(*page).replace(".mdx", ""))).collect();
            let pages = pages.join(",");
            docs.write("docs.json", &format!(r#"{{"navigation":{{"versions":[{{"version":"v{version}","groups":[{{"group":"All","pages":[{pages}]}}]}}]}}}}"#));
        }
        Step::Redirect { to } => {
            let to = file(*to).replace(".mdx", "");
            docs.write(
                "docs.json",
                &format!(r#"{{"navigation":[],"redirects":[{{"source":"/old","destination":"/{to}"}}]}}"#),
            );
        }
        Step::Include { words } => docs.write("snippets/shared.mdx", &text(99, words, false)),
        Step::Reopen => {}
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = || proptest::collection::vec(0..WORDS.len(), 1..9);
    let step = prop_oneof![
        6 => (0..PAGES, words(), any::<bool>()).prop_map(|(page, words, includes)| Step::Write { page, words, includes }),
        2 => (0..PAGES).prop_map(|page| Step::Remove { page }),
        2 => (0..PAGES, 0..PAGES).prop_map(|(page, to)| Step::Rename { page, to }),
        1 => (proptest::collection::vec(0..PAGES, 1..5), 1_usize..3).prop_map(|(order, version)| Step::Navigate { order, version }),
        1 => (0..PAGES).prop_map(|to| Step::Redirect { to }),
        1 => words().prop_map(|words| Step::Include { words }),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..12)
}

/// Everything an index says, in a form to compare: scores apart, which are added up in another order.
fn said(index: &Index) -> (Vec<String>, Vec<f32>) {
    let snapshot = index.snapshot();
    let mut said: Vec<String> = snapshot.pages().map(|page| format!("{page:?}")).collect();
    said.extend(snapshot.pages().map(|page| format!("{:?}", snapshot.page(&page.path))));
    said.push(format!("old: {:?}", snapshot.page("/old").map(|page| page.path)));
    let mut scores = Vec::new();
    for word in WORDS {
        let query = Query { text: format!("{word} says"), limit: 50, ..Query::default() };
        let mut found = snapshot.search(&query);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        for Passage { path, href, headings, content, score, version, .. } in found {
            said.push(format!("{word}: {path} {href} {headings:?} {content} {version:?}"));
            scores.push(score);
        }
    }
    (said, scores)
}

fn of_the_docs(summary: &Summary) -> impl PartialEq + std::fmt::Debug + use<> {
    (summary.commit.clone(), summary.pages, summary.sections, summary.odd.clone(), summary.odd_in_all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn an_index_that_was_brought_up_to_date_answers_like_a_new_one(steps in steps()) {
        let mut docs = Docs::of(&[("index.md", "# Home\n\nretry the server")]);
        let mut site = Site::of(&docs);
        for step in &steps {
            apply(&mut docs, step);
            if matches!(step, Step::Reopen) {
                site.index = Index::open(site.dir.path()).expect("an index");
            }
            let updated = site.update(&docs);
            let new = Site::new();
            let built = new.update(&docs);
            prop_assert_eq!(of_the_docs(&updated), of_the_docs(&built));
            let ((kept, kept_scores), (fresh, fresh_scores)) = (said(&site.index), said(&new.index));
            prop_assert_eq!(kept, fresh);
            let close = kept_scores.iter().zip(&fresh_scores).all(|(a, b)| (a - b).abs() < 1e-3);
            prop_assert!(close, "{:?} {:?}", kept_scores, fresh_scores);
        }
    }
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let mut docs = Docs::default();
    for page in 0..70 {
        let words: Vec<usize> = (0..page % 11 + 1).map(|word| (page * 7 + word * 3) % WORDS.len()).collect();
        docs.write(&format!("part{}/{}", page % 4, file(page)), &text(page, &words, false));
    }
    let answers = |threads: usize| {
        let site = Site::new();
        let summary = site.index.update_with(threads, &docs, &mut |_| {}).expect("an update");
        let snapshot = site.index.snapshot();
        let ids: Vec<(u64, String)> = snapshot.manifest().listed().map(|page| (page.id, page.path.clone())).collect();
        let documents: Vec<u32> =
            snapshot.state().expect("a state").segments.iter().map(|segment| segment.documents).collect();
        let passages = WORDS
            .map(|word| snapshot.search(&Query { text: format!("the {word} page"), limit: 20, ..Query::default() }));
        let of_all = of_the_docs(&summary);
        (of_all, ids, documents, format!("{passages:?}"))
    };
    let one = answers(1);
    assert!(one.3.contains("score"));
    for threads in [1, 2, 3, 8] {
        assert!(answers(threads) == one, "{threads} threads");
    }
}
