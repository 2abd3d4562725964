//! `list`: lists the files of the docs.

use std::collections::BTreeMap;

use docent_refactor::Selection;
use docent_site::Site;
use serde::Deserialize;

use super::{OfferedTo, Tool, number, object, within};
use crate::file_kind::size;
use crate::parsed_call::{CallResult, Patterns, reads, whole};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "list",
    offered: OfferedTo::Always,
    description: "Lists the files of the docs with their sizes, in order. Narrow it with `in`, for example to a folder \
                  or to `guides/**/*.mdx`; with `depth`, folders further down are only counted. Go on with `from` when \
                  there are more.",
    schema: || {
        let properties = serde_json::json!({
            "in": within(),
            "depth": number("How many levels are listed, counted from the folder that `in` names; 1 for its own files."),
            "from": number("How many lines to skip."),
        });
        object(properties, &[])
    },
    begin: |given| reads(given, run),
};

/// Number of lines in one result.
const PAGE: usize = 300;

#[derive(Deserialize)]
struct ListArguments {
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob", alias = "pattern")]
    within: Patterns,
    #[serde(default, deserialize_with = "whole")]
    depth: Option<usize>,
    #[serde(default, deserialize_with = "whole")]
    from: Option<usize>,
}

fn run(ListArguments { within, depth, from }: ListArguments, workbench: &Workbench<'_>) -> CallResult {
    listed(workbench, &ListRequest { within, depth, from: from.unwrap_or(0) })
}

/// The selection of files to list.
pub(super) struct ListRequest {
    pub(super) within: Patterns,
    /// Levels below the common folder of the patterns.
    pub(super) depth: Option<usize>,
    /// Number of lines to skip.
    pub(super) from: usize,
}

/// A line of a listing.
#[derive(Debug, PartialEq, Eq)]
enum ListEntry<'a> {
    File(&'a str),
    /// A folder whose files are not listed, and the number of its files.
    Folder(&'a str, usize),
}

pub(super) fn listed(workbench: &Workbench<'_>, wanted: &ListRequest) -> CallResult {
    let view = workbench.select(&wanted.within)?;
    let tree = view.tree;
    let site = Site::read(tree);
    let selection = Selection::of(&site, &view.patterns).map_err(|why| why.to_string())?;
    let files: Vec<&str> = site.files().filter(|file| !selection.is_narrowed() || selection.has(file)).collect();
    let lines = lines(&files, &folder_of(&view.patterns, &files), wanted.depth.unwrap_or(usize::MAX));
    let shown = lines.iter().skip(wanted.from).take(PAGE).map(|line| match line {
        ListEntry::File(file) => match tree.read(file) {
            Some(bytes) => format!("{}{file}  {}", view.prefix, size(bytes.len())),
            None => format!("{}{file}", view.prefix),
        },
        ListEntry::Folder(folder, count) => format!("{}{folder}/  {count} files", view.prefix),
    });
    let shown: Vec<String> = shown.collect();
    let end = wanted.from + shown.len();
    let mut text = shown.join("\n");
    if end < lines.len() {
        text.push_str(&format!(
            "\n… {} more; narrow it with `in` or `depth`, or go on with `from`: {end}",
            lines.len() - end
        ));
    }
    Ok(if text.is_empty() { "there are no files".to_owned() } else { text })
}

/// The lines of a listing: files deeper than `depth` levels below `folder` are counted at the deepest listed folder
/// above them.
fn lines<'a>(files: &[&'a str], folder: &str, depth: usize) -> Vec<ListEntry<'a>> {
    let mut lines: BTreeMap<&'a str, ListEntry<'a>> = BTreeMap::new();
    for file in files {
        let below = if file.starts_with(folder) { folder.len() } else { 0 };
        let mut slashes = file[below..].match_indices('/').map(|(at, _)| below + at);
        match slashes.nth(depth.max(1) - 1) {
            None => {
                lines.insert(file, ListEntry::File(file));
            }
            Some(end) => {
                let name = &file[..end];
                match lines.entry(name).or_insert(ListEntry::Folder(name, 0)) {
                    ListEntry::Folder(_, count) => *count += 1,
                    ListEntry::File(_) => {}
                }
            }
        }
    }
    lines.into_values().collect()
}

/// The folder that the only pattern names or begins with, with a trailing slash; `""` if there is none.
fn folder_of(patterns: &[String], files: &[&str]) -> String {
    let [pattern] = patterns else { return String::new() };
    let plain = pattern.split(['*', '?', '[', '{']).next().unwrap_or("");
    let named = format!("{}/", plain.trim_end_matches('/'));
    if plain == pattern && files.iter().any(|file| file.starts_with(&named)) {
        return named;
    }
    plain.rfind('/').map(|slash| plain[..=slash].to_owned()).unwrap_or_default()
}
