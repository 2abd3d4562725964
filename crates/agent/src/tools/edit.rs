//! `edit`: replaces an exact text by another.

use std::borrow::Cow;

use serde::Deserialize;

use super::{OfferedTo, Tool, flag, object, text};
use crate::parsed_call::{CallResult, edits, lenient_bool};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "edit",
    offered: OfferedTo::Separately,
    description: "Replaces an exact text in one file. `old` has to occur exactly once: take enough of the lines \
                  around it, as they are in the file, without line numbers. With `all` every occurrence is replaced.",
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "old": text("The text to replace, exactly as it is in the file."),
            "new": text("The text to put in its place."),
            "all": flag("Whether to replace every occurrence."),
        });
        object(properties, &["path", "old", "new"])
    },
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct EditArguments {
    #[serde(alias = "file_path")]
    path: String,
    #[serde(alias = "old_str", alias = "old_string", alias = "old_text")]
    old: String,
    #[serde(alias = "new_str", alias = "new_string", alias = "new_text")]
    new: String,
    #[serde(default, alias = "replace_all", deserialize_with = "lenient_bool")]
    all: bool,
}

fn run(EditArguments { path, old, new, all }: EditArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let wanted = if all { Occurrences::All } else { Occurrences::One { or: ", or set `all`" } };
    replace(workbench, &path, &old, &new, wanted)
}

/// Which occurrences of a text to replace.
pub(super) enum Occurrences {
    All,
    /// The only occurrence; if there are several, none is replaced, and `or` names the alternative.
    One {
        or: &'static str,
    },
}

/// Replaces an exact text by another, with the line ends of the file.
pub(super) fn replace(
    workbench: &mut Workbench<'_>,
    path: &str,
    old: &str,
    new: &str,
    wanted: Occurrences,
) -> CallResult {
    let (path, before) = workbench.text(path)?;
    if old.is_empty() {
        return Err("the text to replace is empty; insert text after a line, or write the whole file".to_owned());
    }
    let (mut old, mut new) = (Cow::Borrowed(old), Cow::Borrowed(new));
    if before.contains("\r\n") && !old.contains("\r\n") && !before.contains(&*old) {
        // The model's line ends may differ from the file's.
        old = old.replace('\n', "\r\n").into();
        new = new.replace("\r\n", "\n").replace('\n', "\r\n").into();
    }
    if old == new {
        return Err("the text to replace and the new one are the same".to_owned());
    }
    let lines: Vec<usize> = before.match_indices(&*old).map(|(at, _)| line_at(&before, at)).collect();
    match (lines.as_slice(), wanted) {
        ([], _) => Err(format!(
            "the text to replace does not occur in `{path}`; {}",
            near(&before, &old).unwrap_or_else(|| "read the file again and copy it exactly".to_owned())
        )),
        ([line], _) => {
            workbench.write(&path, before.replacen(&*old, &new, 1).into_bytes())?;
            Ok(format!("Edited `{path}` at line {line}."))
        }
        (many, Occurrences::All) => {
            workbench.write(&path, before.replace(&*old, &new).into_bytes())?;
            Ok(format!("Edited `{path}` in {} places.", many.len()))
        }
        (many, Occurrences::One { or }) => {
            let lines: Vec<String> = many.iter().take(10).map(usize::to_string).collect();
            let more = if many.len() > lines.len() { " and others" } else { "" };
            Err(format!(
                "the text to replace occurs {} times in `{path}`, at lines {}{more}; add lines around it until it is \
                 unique{or}",
                many.len(),
                lines.join(", ")
            ))
        }
    }
}

fn line_at(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// The likely mistake in copying a text, if it can be recognised.
fn near(text: &str, old: &str) -> Option<String> {
    let first = old.lines().find(|line| !line.trim().is_empty())?;
    if let Some((number, rest)) = first.split_once('\t')
        && number.trim().parse::<usize>().is_ok()
        && text.lines().any(|line| line == rest)
    {
        return Some("leave out the line numbers".to_owned());
    }
    let at = text.lines().position(|line| line.trim() == first.trim())?;
    Some(format!("its first line is like line {}, so white space or a later line differs: copy it exactly", at + 1))
}
