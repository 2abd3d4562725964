//! `edit`: one exact text in the place of another.

use serde::Deserialize;

use super::{Tool, flag, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "edit",
    description: "Replaces an exact text in one file. `old` has to occur exactly once: take enough of the lines \
                  around it, as they are in the file, without line numbers. With `all` every occurrence is replaced.",
    edits: true,
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "old": text("The text to replace, exactly as it is in the file."),
            "new": text("The text to put in its place."),
            "all": flag("Whether to replace every occurrence."),
        });
        object(properties, &["path", "old", "new"])
    },
    run,
};

#[derive(Deserialize)]
struct Input {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { path, mut old, mut new, all } = input(given)?;
    let (path, before) = desk.text(&path)?;
    if old.is_empty() {
        return Err("`old` is empty; use `insert` to add text, or `write` to replace the file".to_owned());
    }
    if before.contains("\r\n") && !old.contains("\r\n") && !before.contains(&old) {
        // The file's line ends are not the model's.
        (old, new) = (old.replace('\n', "\r\n"), new.replace("\r\n", "\n").replace('\n', "\r\n"));
    }
    if old == new {
        return Err("`old` and `new` are the same".to_owned());
    }
    let lines: Vec<usize> = before
        .match_indices(&old)
        .map(|(at, _)| before[..at].bytes().filter(|byte| *byte == b'\n').count() + 1)
        .collect();
    match lines.as_slice() {
        [] => Err(format!("`old` does not occur in `{path}`; read the file again and copy it exactly")),
        [line] => {
            desk.write(&path, before.replacen(&old, &new, 1).into_bytes())?;
            Ok(format!("Edited `{path}` at line {line}."))
        }
        many if all => {
            desk.write(&path, before.replace(&old, &new).into_bytes())?;
            Ok(format!("Edited `{path}` in {} places.", many.len()))
        }
        many => {
            let lines: Vec<String> = many.iter().take(10).map(usize::to_string).collect();
            Err(format!(
                "`old` occurs {} times in `{path}`, at lines {}; add lines around it until it is unique, or set `all`",
                many.len(),
                lines.join(", ")
            ))
        }
    }
}
