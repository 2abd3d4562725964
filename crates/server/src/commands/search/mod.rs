//! `docent search`: prints the search results of a site, and the reasons for their ranks.
//!
//! It runs the search of the endpoint and the assistant on the data folder, with or without a running server. The
//! existing index is used; a site without one is indexed first.

mod piece;
mod shown;
mod why_not;

use std::collections::HashMap;

use docent_search::{Asker, Explanation, Filter, PageEntry, Query, Snapshot};
use docent_types::Passage;
use serde_json::{Value, json};

use crate::cli::SearchArgs;
use crate::commands::index;
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

/// Minimum number of pages to rank by words alone: a page that vectors ranked high may be far down by words.
const EXPLAINED: usize = 100;

/// A search result with its context.
#[derive(Debug)]
struct Hit {
    passage: Passage,
    /// The navigation groups around the page, outermost first.
    groups: Vec<String>,
    why: Option<RankReason>,
}

/// Why a passage has its rank.
#[derive(Debug)]
struct RankReason {
    explanation: Explanation,
    /// The rank of the page by words alone, counted from 1; only with vectors.
    by_words: Option<usize>,
}

pub(crate) async fn run(app: &App, args: &SearchArgs, json: bool) -> Result<(), Failure> {
    let words = args.words.clone().unwrap_or_default();
    if args.why_not.is_none() && words.trim().is_empty() {
        return Err(Failure::usage("give words to look for, for example `docent search docs \"retry limit\"`"));
    }
    let project = index::project_of(app, &args.domain).await?;
    let docs = index::indexed(app, &project).await?;
    let filter = Filter {
        version: args.version.clone(),
        language: args.language.clone(),
        groups: Vec::new(),
        tag: args.tag.clone(),
    };
    let query =
        Query { text: words.clone(), limit: args.limit.into(), filter, asker: Asker::Operator, ..Query::default() };
    if let Some(asked) = &args.why_not {
        return why_not::run(app, &project, &docs, &query, asked, json).await;
    }
    let mut hits = hits(&docs, docs.find(&query).await);
    if args.why {
        explain(&docs, &query, app.embedder.is_some(), &mut hits);
    }
    let never = docs.never_mentioned(&words);
    if json {
        let passages: Vec<Value> = hits.iter().map(as_json).collect();
        return output::json(
            &json!({ "domain": project.domain, "commit": docs.commit(), "neverMentioned": never, "passages": passages }),
        );
    }
    if !never.is_empty() {
        let words: Vec<String> = never.iter().map(|word| format!("`{word}`")).collect();
        output::print_note(format_args!("the docs never mention {}", words.join(", ")));
    }
    if hits.is_empty() {
        output::print_note(format_args!("nothing found on {} pages", docs.page_count()));
        return Ok(());
    }
    output::coloured(shown::hits(&hits, &docs.highlighter(&words)))
}

fn hits(docs: &Snapshot, passages: Vec<Passage>) -> Vec<Hit> {
    let wanted = |page: &PageEntry| passages.iter().any(|passage| passage.path == page.path);
    let mut groups: HashMap<String, Vec<String>> =
        docs.pages().filter(wanted).map(|page| (page.path, page.breadcrumb)).collect();
    let hit = |passage: Passage| Hit { groups: groups.remove(&passage.path).unwrap_or_default(), passage, why: None };
    passages.into_iter().map(hit).collect()
}

fn explain(docs: &Snapshot, query: &Query, has_vectors: bool, hits: &mut [Hit]) {
    let more = Query { limit: query.limit.max(EXPLAINED), ..query.clone() };
    for (at, explanation) in docs.explain(&more).into_iter().enumerate() {
        if let Some(hit) = hits.iter_mut().find(|hit| hit.passage.path == explanation.path) {
            hit.why = Some(RankReason { explanation, by_words: has_vectors.then_some(at + 1) });
        }
    }
}

fn as_json(hit: &Hit) -> Value {
    let Passage { path, href, title, headings, score, version, language, .. } = &hit.passage;
    let mut body = json!({
        "title": title,
        "groups": hit.groups,
        "headings": headings,
        "path": path,
        "href": href,
        "score": score,
        "content": hit.passage.under_headings(),
    });
    for (name, value) in [("version", version), ("language", language)] {
        if let Some(value) = value {
            body[name] = json!(value);
        }
    }
    if let Some(RankReason { explanation, by_words }) = &hit.why {
        let matches = explanation.matches.iter().map(|found| {
            json!({ "word": found.word, "instead": found.instead, "place": found.place, "weight": found.weight })
        });
        body["why"] = json!({ "matches": matches.collect::<Vec<_>>(), "linkedFrom": explanation.linked_from });
        if let Some(place) = by_words {
            body["why"]["placeByWords"] = json!(place);
        }
    }
    body
}
