//! `write`: writes a complete file.

use docent_refactor::new_page_path;
use docent_site::{Site, has_page_ending};
use serde::Deserialize;

use super::{OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "write",
    offered: OfferedTo::Separately,
    description: "Writes a whole file, new or in the place of the old one. For a small change to a file use `edit`; a \
                  new page is better made with `add_page`, which also names it in the navigation.",
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "content": text("All of its text."),
        });
        object(properties, &["path", "content"])
    },
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct WriteArguments {
    #[serde(alias = "file_path")]
    path: String,
    #[serde(alias = "file_text", alias = "text", alias = "contents")]
    content: String,
}

fn run(WriteArguments { path, content }: WriteArguments, workbench: &mut Workbench<'_>) -> CallResult {
    write(workbench, &path, content)
}

/// Writes this text as the complete content of a file.
pub(super) fn write(workbench: &mut Workbench<'_>, path: &str, content: String) -> CallResult {
    let path = workbench.path(path)?;
    let lines = content.lines().count();
    if let Some(before) = workbench.tree().read(&path) {
        workbench.write(&path, in_form_of(&before, content).into_bytes())?;
        return Ok(format!("Replaced `{path}`, {lines} lines."));
    }
    if workbench.tree().paths().contains(&path) {
        return Err(format!("`{path}` is there and cannot be read, so it stays as it is."));
    }
    let site = Site::read(workbench.tree());
    let named = new_page_path(&site, &path).into_owned();
    if !has_page_ending(&path) {
        // It may be a file that the project allows.
        let made = workbench.write(&path, content.into_bytes());
        let hint = if named == path { String::new() } else { format!("; a page there is `{named}`") };
        return made.map(|()| format!("Made `{path}`, {lines} lines.")).map_err(|why| why + &hint);
    }
    // A page of another ending than the others is one all the same, where the generator serves it.
    let (named, why) = match site.layout().holds_pages(&path) || named == path {
        true => (path, ""),
        false => (named, ": the site's pages have that ending"),
    };
    workbench.write(&named, content.into_bytes())?;
    Ok(format!("Made `{named}`, {lines} lines{why}."))
}

/// The text with the line ends and the byte order mark of what it takes the place of. Models write neither.
fn in_form_of(before: &[u8], text: String) -> String {
    let count = |end: &str| before.windows(end.len()).filter(|bytes| *bytes == end.as_bytes()).count();
    let has_crlf = count("\r\n") * 2 > count("\n");
    let text = if has_crlf && !text.contains('\r') { text.replace('\n', "\r\n") } else { text };
    let mark = if before.starts_with(b"\xef\xbb\xbf") && !text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    format!("{mark}{text}")
}
