//! `docent search DOMAIN --why-not PATH`: reports whether a file or address is indexed, and if not, by which rule.

use docent_search::{IndexedFile, Query, Snapshot, WhyNot};
use docent_site::{RuleAt, Skip};
use docent_types::Project;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

/// Number of results in which a page is searched.
const LOOKED_THROUGH: usize = 1_000;

/// The rank of a page among those found for some words.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PageRank {
    /// The rank of the page, counted from 1, and its score; `None` if it is not found.
    at: Option<(usize, f32)>,
    /// The number of pages found.
    found: usize,
}

pub(super) async fn run(
    app: &App,
    project: &Project,
    docs: &Snapshot,
    query: &Query,
    asked: &str,
    json: bool,
) -> Result<(), Failure> {
    let source = match app.repositories.fetched_docs(project) {
        Some(source) => source,
        None => app.repositories.docs(project).await?,
    };
    let why = docs.why_not(&source, asked)?;
    let rank = match &why {
        WhyNot::Indexed(found) if !query.text.trim().is_empty() => Some(page_rank(docs, query, found).await),
        _ => None,
    };
    if json {
        let mut body = as_json(&why, rank);
        body["domain"] = json!(project.domain);
        body["commit"] = json!(docs.commit());
        output::json(&body)?;
    }
    match why {
        WhyNot::Unknown { near } => Err(Failure::plain(unknown(asked, &near))),
        _ if json => Ok(()),
        why => output::line(shown(&why, rank, &query.text)),
    }
}

async fn page_rank(docs: &Snapshot, query: &Query, found: &IndexedFile) -> PageRank {
    let passages = docs.find(&Query { limit: LOOKED_THROUGH, ..query.clone() }).await;
    let at = passages.iter().position(|passage| found.paths.contains(&passage.path));
    PageRank { at: at.map(|at| (at + 1, passages[at].score)), found: passages.len() }
}

fn as_json(why: &WhyNot, rank: Option<PageRank>) -> Value {
    let mut body = match why {
        WhyNot::Indexed(IndexedFile { file, paths, title, sections }) => {
            json!({ "state": "indexed", "file": file, "paths": paths, "title": title, "sections": sections })
        }
        WhyNot::Skipped { file, skip } => {
            let rule = skip.rule.as_ref().map(|rule| json!({ "file": rule.file, "line": rule.line }));
            let reason = skip.reason;
            json!({
                "state": "skipped", "file": file, "reason": reason.as_str(), "message": reason.sentence(), "rule": rule,
            })
        }
        WhyNot::NotYet { file } => json!({ "state": "notYet", "file": file }),
        WhyNot::NoPage { file } => json!({ "state": "noPage", "file": file }),
        WhyNot::Unknown { near } => json!({ "state": "unknown", "near": near }),
    };
    if let Some(PageRank { at, found }) = rank {
        body["place"] = json!(at.map(|(place, _)| place));
        body["score"] = json!(at.map(|(_, score)| score));
        body["found"] = json!(found);
    }
    body
}

fn shown(why: &WhyNot, rank: Option<PageRank>, words: &str) -> String {
    match why {
        WhyNot::Indexed(IndexedFile { file, paths, title, sections }) => {
            let pages = match paths.as_slice() {
                [path] => format!("“{title}” at /{path}, {sections} sections"),
                paths => format!("{} pages, {sections} sections", paths.len()),
            };
            let place = rank.map(|PageRank { at, found }| match at {
                Some((place, score)) => {
                    format!("\nfor “{words}” it stands at place {place} of {found}, score {score:.2}")
                }
                None => format!("\nfor “{words}” it is not among the {found} pages that are found"),
            });
            format!("`{file}` is indexed: {pages}{}", place.unwrap_or_default())
        }
        WhyNot::Skipped { file, skip: Skip { reason, rule } } => {
            let rule = match rule {
                Some(RuleAt { file, line: Some(line) }) => format!(": {file}:{line}"),
                Some(RuleAt { file, line: None }) => format!(": {file}"),
                None => String::new(),
            };
            format!("`{file}` is not indexed ({}): it {}{rule}", reason.label(), reason.sentence())
        }
        WhyNot::NotYet { file } => {
            format!("`{file}` is not indexed yet: the index is older; `docent index` brings it in")
        }
        WhyNot::NoPage { file } => {
            format!("`{file}` is no page: it is neither written as docs are nor does it describe an API")
        }
        WhyNot::Unknown { near } => unknown("", near),
    }
}

fn unknown(asked: &str, near: &[String]) -> String {
    let near = match near {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    };
    format!("the docs have no file `{asked}`, and nothing is served at such an address{near}")
}

#[cfg(test)]
mod tests {
    use docent_site::SkipReason;

    use super::*;

    #[test]
    fn it_is_said_which_rule_it_was_and_at_which_place_a_page_stands() {
        let rule = Some(RuleAt { file: "mkdocs.yml".to_owned(), line: Some(7) });
        let skipped = WhyNot::Skipped { file: "a.md".to_owned(), skip: Skip { reason: SkipReason::Excluded, rule } };
        assert!(shown(&skipped, None, "").ends_with("its generator: mkdocs.yml:7"), "{}", shown(&skipped, None, ""));
        assert_eq!(as_json(&skipped, None)["rule"], json!({ "file": "mkdocs.yml", "line": 7 }));
        let found =
            IndexedFile { file: "a.md".to_owned(), paths: vec!["a".to_owned()], title: "A".to_owned(), sections: 2 };
        let place = Some(PageRank { at: Some((3, 0.5)), found: 12 });
        let lines = "`a.md` is indexed: “A” at /a, 2 sections\nfor “some words” it stands at place 3 of 12, score 0.50";
        assert_eq!(shown(&WhyNot::Indexed(found.clone()), place, "some words"), lines);
        let body = as_json(&WhyNot::Indexed(found), Some(PageRank { at: None, found: 12 }));
        assert_eq!((&body["place"], &body["found"]), (&Value::Null, &json!(12)));
    }
}
