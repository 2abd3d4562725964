//! `search_docs`: finds passages of the published docs that match some words.

use serde::Deserialize;

use super::{OfferedTo, Tool, number, object, text};
use crate::parsed_call::{CallResult, reads, whole};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "search_docs",
    offered: OfferedTo::WithSearch,
    description: "Searches the published docs for passages about something, the best first. Good for finding the pages \
                  on a topic; for exact words use `search_text`. What is published may be older than the files here: \
                  read a file before you change it.",
    schema: || {
        let properties = serde_json::json!({
            "query": text("What it is about, in a few words or as a question."),
            "limit": number("How many passages, at most 20; 8 when absent."),
        });
        object(properties, &["query"])
    },
    begin: |given| reads(given, run),
};

const USUAL: usize = 8;
const MOST: usize = 20;
/// Maximum number of characters of a passage.
const LENGTH: usize = 1_200;

#[derive(Deserialize)]
struct SearchDocsArguments {
    #[serde(alias = "words", alias = "q")]
    query: String,
    #[serde(default, deserialize_with = "whole")]
    limit: Option<usize>,
}

fn run(SearchDocsArguments { query, limit }: SearchDocsArguments, workbench: &Workbench<'_>) -> CallResult {
    let search = workbench.search().ok_or("there is no index of these docs; use `search_text`")?;
    if query.trim().is_empty() {
        return Err("the query is empty".to_owned());
    }
    let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
    let passages = search.search(&query, limit);
    if passages.is_empty() {
        return Ok("nothing published fits; try other words, or `search_text`".to_owned());
    }
    let shown = passages.iter().take(limit).map(|passage| {
        let headings: Vec<&str> =
            std::iter::once(passage.title.as_str()).chain(passage.headings.iter().map(String::as_str)).collect();
        let cut = passage.content.char_indices().nth(LENGTH).map(|(at, _)| at);
        let content = cut.map_or_else(|| passage.content.clone(), |at| format!("{}…", &passage.content[..at]));
        format!("## {} ({})\n\n{}", headings.join(" > "), passage.href, content.trim())
    });
    Ok(shown.collect::<Vec<_>>().join("\n\n"))
}
