//! `str_replace_based_edit_tool`: reads and edits with one tool, which some models were trained on.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::edit::{Occurrences, replace};
use super::insert::insert;
use super::list::{ListRequest, listed};
use super::read::{LineRange, read};
use super::write::write;
use super::{OfferedTo, Tool, number, object, text};
use crate::parsed_call::{CallResult, ParsedCall, Patterns, input, whole};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "str_replace_based_edit_tool",
    offered: OfferedTo::TextEditor,
    description: "Views, creates and edits files.\n- `view` shows a text file with line numbers, which are not part of \
                  it, or what is in a folder, two levels deep. `view_range` takes the first and the last line wanted; \
                  -1 is the end.\n- `str_replace` replaces `old_str`, which has to occur exactly once in the file, as \
                  it is there, by `new_str`.\n- `create` writes a whole file with `file_text`, in the place of the old \
                  one if there is one. A new page is better made with `add_page`, which also names it in the \
                  navigation.\n- `insert` puts `insert_text` after the line `insert_line`; 0 is the top.",
    schema: || {
        let properties = json!({
            "command": { "type": "string", "enum": ["view", "str_replace", "create", "insert"] },
            "path": text("The file, relative to the docs root; for `view` also a folder."),
            "view_range": {
                "type": "array",
                "items": { "type": "integer" },
                "minItems": 2,
                "maxItems": 2,
                "description": "For `view`: the first and the last line.",
            },
            "old_str": text("For `str_replace`: the text to replace, exactly as it is in the file."),
            "new_str": text("For `str_replace`: the text to put in its place; nothing when absent."),
            "file_text": text("For `create`: all of the file's text."),
            "insert_line": number("For `insert`: the line to insert after, counted from 1."),
            "insert_text": text("For `insert`: the lines to insert."),
        });
        object(properties, &["command", "path"])
    },
    begin,
};

/// Number of folder levels that are listed.
const LEVELS: usize = 2;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Command {
    View,
    StrReplace,
    Create,
    Insert,
}

#[derive(Deserialize)]
struct TextEditorArguments {
    command: Command,
    #[serde(alias = "file_path")]
    path: String,
    #[serde(default, deserialize_with = "range")]
    view_range: Option<(usize, Option<usize>)>,
    old_str: Option<String>,
    #[serde(alias = "insert_text")]
    new_str: Option<String>,
    #[serde(alias = "content")]
    file_text: Option<String>,
    #[serde(default, deserialize_with = "whole")]
    insert_line: Option<usize>,
}

fn begin(given: &Value) -> Result<ParsedCall, String> {
    let TextEditorArguments { command, path, view_range, old_str, new_str, file_text, insert_line } = input(given)?;
    let missing = |field: &str| format!("the input is not what this command takes: missing field `{field}`");
    Ok(match command {
        Command::View => ParsedCall::Reads(Box::new(move |workbench| view(workbench, &path, view_range))),
        Command::StrReplace => {
            let (old, new) = (old_str.ok_or_else(|| missing("old_str"))?, new_str.unwrap_or_default());
            ParsedCall::Edits(Box::new(move |workbench| {
                replace(workbench, &path, &old, &new, Occurrences::One { or: "" })
            }))
        }
        Command::Create => {
            let content = file_text.ok_or_else(|| missing("file_text"))?;
            ParsedCall::Edits(Box::new(move |workbench| write(workbench, &path, content)))
        }
        Command::Insert => {
            let line = insert_line.ok_or_else(|| missing("insert_line"))?;
            let text = new_str.ok_or_else(|| missing("insert_text"))?;
            ParsedCall::Edits(Box::new(move |workbench| insert(workbench, &path, line, &text)))
        }
    })
}

fn view(workbench: &Workbench<'_>, path: &str, range: Option<(usize, Option<usize>)>) -> CallResult {
    if workbench.is_folder(path) {
        let name = path.trim_end_matches('/');
        // The name is literal: its special characters are escaped.
        let literal = name.replace('[', "[[]").replace('{', "[{]").replace('*', "[*]").replace('?', "[?]");
        let depth = (literal == name).then_some(LEVELS);
        let within = Patterns(if workbench.is_root(path) { Vec::new() } else { vec![format!("{literal}/**")] });
        return listed(workbench, &ListRequest { within, depth, from: 0 });
    }
    let (from, to) = range.unwrap_or((1, None));
    read(workbench, path, &LineRange { from, to, more: |next| format!("go on with `view_range`: [{next}, -1]") })
}

/// The first and the last line; -1 is the end.
fn range<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(usize, Option<usize>)>, D::Error> {
    let wrong = || D::Error::custom("expected `view_range` to be the first and the last line, such as [1, 40]");
    let Some(value) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    let value = match value {
        Value::String(text) => serde_json::from_str(&text).map_err(|_| wrong())?,
        value => value,
    };
    let [from, to] = <[i64; 2]>::deserialize(value).map_err(|_| wrong())?;
    let from = usize::try_from(from).map_err(|_| wrong())?;
    Ok(Some((from, if to == -1 { None } else { Some(usize::try_from(to).map_err(|_| wrong())?) })))
}
