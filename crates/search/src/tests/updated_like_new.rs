//! An index gives the same answers however it was built: from scratch, by updates, or by any number of threads.

use std::fmt::Write;

use proptest::prelude::*;

use super::{Docs, Site};
use crate::{Index, Query, Summary};

/// A change to the docs between two updates.
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
    /// The index is opened again, as by another process.
    Reopen,
}

const WORDS: [&str; 14] = [
    "retry", "retries", "token", "maxDelay", "max_delay", "backoff", "limits", "server", "deploy", "索引", "queue",
    "status", "login", "webhook",
];
/// Questions with whole words, prefixes of words, and typos.
fn questions() -> impl Iterator<Item = Query> {
    let words = WORDS.iter().flat_map(|word| [format!("the {word} page"), format!("{word} says")]);
    let others = ["what says l", "to re", "a quue and a stauts", "logni s", "backof to"].map(str::to_owned);
    words.chain(others).map(|text| Query { text, limit: 50, ..Query::default() })
}

const PAGES: usize = 7;

fn file(page: usize) -> String {
    let folder = ["", "guides/", "api/"][page % 3];
    format!("{folder}page{page}.mdx")
}

fn text(page: usize, words: &[usize], includes: bool) -> String {
    // Several pages share this text, so that their scores tie.
    let mut text = format!("---\ntitle: Page {page}\n---\n");
    if includes {
        text.push_str("import Shared from '/snippets/shared.mdx'\n");
    }
    let group = page % 3;
    let _ = write!(text, "\nUnlike{group} and so on.\n");
    for (section, words) in words.chunks(3).enumerate() {
        let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        let called = [&words[..1].repeat(page % 4 + 1), &words[1..]].concat().join(" ");
        let linked = file((page + section) % PAGES).replace(".mdx", "");
        let _ = write!(
            text,
            "\n## Part {section} {}\n\n{}, says {group}. [{called}](/{linked})\n",
            words[0],
            words.join(" ")
        );
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

/// Everything an index returns, in a form to compare.
fn said(index: &Index) -> Vec<String> {
    let snapshot = index.snapshot();
    let mut said: Vec<String> = snapshot.pages().map(|page| format!("{page:?}")).collect();
    said.extend(snapshot.pages().map(|page| format!("{:?}", snapshot.page(&page.path))));
    said.push(format!("old: {:?}", snapshot.page("/old").map(|page| page.path)));
    for query in questions() {
        said.push(query.text.clone());
        said.extend(snapshot.search(&query).iter().map(|passage| format!("{passage:?}")));
        said.extend(snapshot.explain(&query).iter().map(|why| format!("{why:?}")));
    }
    said
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
            prop_assert_eq!(said(&site.index), said(&new.index));
        }
    }
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let mut docs = Docs::default();
    for page in 0..70 {
        let words: Vec<usize> = (0..page % 11 + 1).map(|word| (page * 7 + word * 3) % WORDS.len()).collect();
        // All links lead to pages in `part0`, so that each of these is linked to from many pages.
        let text = text(page, &words, false).replace("](/", "](/part0/");
        docs.write(&format!("part{}/{}", page / PAGES, file(page % PAGES)), &text);
    }
    let answers = |threads: usize| {
        let site = Site::new();
        let summary = site.index.update_with(threads, &docs, &mut |_| {}).expect("an update");
        let snapshot = site.index.snapshot();
        let ids: Vec<(u64, String)> = snapshot.manifest().listed().map(|page| (page.id, page.path.clone())).collect();
        let documents: u32 = snapshot.state().expect("a state").segments.iter().map(|segment| segment.documents).sum();
        (of_the_docs(&summary), ids, documents, said(&site.index))
    };
    let one = answers(1);
    assert!(one.3.iter().any(|said| said.contains("score")));
    for threads in [1, 2, 2, 3, 8] {
        assert!(answers(threads) == one, "{threads} threads");
    }
}
