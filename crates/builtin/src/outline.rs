//! Lists in a prompt: the markers of their items, and the outline below `Add a page`.

use crate::chore::OutlineItem;
use crate::cursor::{Cursor, is_space};

/// The length of a list marker: `- `, `* `, `1. `, `- [ ] `.
pub(crate) fn list_mark(rest: &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = if digits > 0 {
        rest[digits..].starts_with(['.', ')']).then_some(digits + 1)?
    } else {
        rest.chars().next().filter(|c| "-*+•–".contains(*c))?.len_utf8()
    };
    let after = &rest[mark..];
    let space = after.chars().next().filter(|c| is_space(*c) && *c != '\n')?.len_utf8();
    let boxed = if after[space..].starts_with("[ ]") { 3 } else { 0 };
    Some(mark + space + boxed)
}

/// The list below an instruction. If the instruction is itself an item of a list, only items with more indentation
/// belong to it.
pub(crate) fn outline(instruction: &Cursor<'_>, cursor: &mut Cursor<'_>) -> Vec<OutlineItem> {
    let own = instruction.text[..instruction.at].rsplit('\n').next().unwrap_or("");
    let own_indent = width(own);
    let is_item = list_mark(own.trim_start_matches(is_space)).is_some();
    let mut items = Vec::new();
    let mut indents: Vec<usize> = Vec::new();
    let Some(mut rest) = cursor.rest().strip_prefix('\n') else { return items };
    while !rest.is_empty() {
        let (line, following) = rest.split_once('\n').unwrap_or((rest, ""));
        let indent = width(line);
        let content = line.trim_matches(is_space);
        if content.is_empty() {
            rest = following;
            continue;
        }
        let belongs = list_mark(content).filter(|_| !is_item || indent > own_indent);
        let Some(text) = belongs.map(|mark| content[mark..].trim()).filter(|text| !text.is_empty()) else { break };
        while indents.last().is_some_and(|last| *last >= indent) {
            indents.pop();
        }
        indents.push(indent);
        let level = u8::try_from(indents.len() + 1).unwrap_or(6).min(6);
        items.push(OutlineItem { level, text: text.to_owned() });
        rest = following;
        cursor.at = cursor.text.len() - rest.len();
    }
    items
}

/// The indentation of a line, in columns; a tab is four.
fn width(line: &str) -> usize {
    line.chars().take_while(|c| is_space(*c)).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}
