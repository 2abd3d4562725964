//! `read`: shows the lines of a file with their numbers.

use serde::Deserialize;

use super::{OfferedTo, Tool, number, object, text};
use crate::file_kind::described;
use crate::parsed_call::{CallResult, reads, whole};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "read",
    offered: OfferedTo::Separately,
    description: "Reads a text file. Each line comes with its number and a tab, which are not part of the file. Long \
                  files come in parts: say which lines. Files that are no text are described.",
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "from_line": number("The first line wanted, counted from 1."),
            "to_line": number("The last line wanted."),
        });
        object(properties, &["path"])
    },
    begin: |given| reads(given, run),
};

/// Number of lines in one result if no range is given.
const LINES: usize = 500;
/// Maximum number of characters of one line.
const WIDTH: usize = 2_000;
/// Maximum number of bytes in one result.
const BYTES: usize = 28_000;

#[derive(Deserialize)]
struct ReadArguments {
    #[serde(alias = "file_path")]
    path: String,
    #[serde(default, alias = "start_line", deserialize_with = "whole")]
    from_line: Option<usize>,
    #[serde(default, alias = "end_line", deserialize_with = "whole")]
    to_line: Option<usize>,
}

fn run(ReadArguments { path, from_line, to_line }: ReadArguments, workbench: &Workbench<'_>) -> CallResult {
    let lines = LineRange {
        from: from_line.unwrap_or(1),
        to: to_line.or_else(|| from_line.map(|from| from.saturating_add(LINES - 1))),
        more: |next| format!("go on with `from_line`: {next}"),
    };
    read(workbench, &path, &lines)
}

/// The requested lines of a file, counted from 1.
pub(super) struct LineRange {
    pub(super) from: usize,
    /// The last line; `None` for as many as one result has.
    pub(super) to: Option<usize>,
    /// Tells the model how to continue at a line.
    pub(super) more: fn(usize) -> String,
}

/// The lines of a text file with their numbers, or a description of another file.
pub(super) fn read(workbench: &Workbench<'_>, path: &str, lines: &LineRange) -> CallResult {
    let (path, bytes) = workbench.open(path)?;
    let text = match described(&path, &bytes) {
        Some(kind) => return Ok(format!("`{path}` is not text: {kind}.")),
        None => String::from_utf8_lossy(&bytes),
    };
    let total = text.lines().count();
    let from = lines.from.max(1);
    let to = lines.to.unwrap_or_else(|| from.saturating_add(LINES - 1)).min(total);
    if total == 0 {
        return Ok(format!("`{path}` is empty"));
    }
    if from > total || to < from {
        return Err(format!("`{path}` has {total} lines; there are none from {from} to {to}"));
    }
    let mut out = String::new();
    let mut next = from;
    for line in text.lines().skip(from - 1).take(to - from + 1) {
        let cut = line.char_indices().nth(WIDTH).map(|(at, _)| at);
        let (line, more) = cut.map_or((line, ""), |at| (&line[..at], "…"));
        if out.len() + line.len() > BYTES {
            break;
        }
        out.push_str(&format!("{next}\t{line}{more}\n"));
        next += 1;
    }
    if next <= total {
        out.push_str(&format!("… {} more lines; {}", total + 1 - next, (lines.more)(next)));
    }
    Ok(out)
}
