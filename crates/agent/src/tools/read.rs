//! `read`: a file's lines, with their numbers.

use serde::Deserialize;

use super::{Tool, number, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "read",
    description: "Reads a text file. Each line comes with its number and a tab, which are not part of the file. Long \
                  files come in parts: say which lines.",
    edits: false,
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "from_line": number("The first line wanted, counted from 1."),
            "to_line": number("The last line wanted."),
        });
        object(properties, &["path"])
    },
    run,
};

/// How many lines come when nobody says which.
const LINES: usize = 500;
/// The most characters of one line.
const WIDTH: usize = 2_000;

#[derive(Deserialize)]
struct Input {
    path: String,
    from_line: Option<usize>,
    to_line: Option<usize>,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { path, from_line, to_line } = input(given)?;
    let (path, text) = desk.text(&path)?;
    let total = text.lines().count();
    let from = from_line.unwrap_or(1).max(1);
    let to = to_line.unwrap_or(from + LINES - 1).min(total);
    if total == 0 {
        return Ok(format!("`{path}` is empty"));
    }
    if from > total || to < from {
        return Err(format!("`{path}` has {total} lines; there are none from {from} to {to}"));
    }
    let mut out = String::new();
    for (index, line) in text.lines().enumerate().skip(from - 1).take(to - from + 1) {
        let cut = line.char_indices().nth(WIDTH).map(|(at, _)| at);
        let (line, more) = cut.map_or((line, ""), |at| (&line[..at], "…"));
        out.push_str(&format!("{}\t{line}{more}\n", index + 1));
    }
    if to < total {
        out.push_str(&format!("… {} more lines; go on with `from_line`: {}", total - to, to + 1));
    }
    Ok(out)
}
