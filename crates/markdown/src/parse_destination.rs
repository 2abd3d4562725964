//! Finds the byte range of the destination in a link.

use std::collections::HashMap;
use std::ops::Range;

use crate::parse_blocks::label;
use crate::parse_lines::line_end;
use crate::regex;

/// The destination of `[words](destination "title")`: `from` is after the link text, `end` is the end of the link.
pub(crate) fn inline_destination(text: &str, from: usize, end: usize) -> Option<Range<usize>> {
    // The link text may end in a multi-byte character.
    let last = text.floor_char_boundary(from.saturating_sub(1));
    let open = last + text.get(last..end)?.find("](")?;
    destination(text, open + 2, end)
}

/// The destination of `[label]: destination "title"`.
pub(crate) fn definition_destination(text: &str, span: Range<usize>) -> Range<usize> {
    let start = span.start;
    let found = text[span.clone()].find("]:").and_then(|at| destination(text, start + at + 2, span.end));
    found.unwrap_or(start..start)
}

/// If a label is defined more than once, CommonMark uses the first definition and Python-Markdown the last. `firsts`
/// maps each label to the byte offset of the destination in its first definition; the result maps that offset to the
/// destination in the last one. Lines in `code` define nothing.
pub(crate) fn last_definitions(
    text: &str,
    firsts: &HashMap<&str, usize>,
    code: &[Range<usize>],
) -> HashMap<usize, Range<usize>> {
    let mut last = HashMap::new();
    if firsts.is_empty() {
        return last;
    }
    for (label, whole) in definition_lines(text, 0..text.len(), code) {
        let Some(first) = firsts.get(label.as_str()) else { continue };
        let span = definition_destination(text, whole);
        if span.start == *first {
            last.remove(first);
        } else {
            last.insert(*first, span);
        }
    }
    last
}

/// The label and the lines of each definition in a part of a text, those of a label that was defined before included.
pub(crate) fn definition_lines<'t>(
    text: &'t str,
    part: Range<usize>,
    code: &'t [Range<usize>],
) -> impl Iterator<Item = (String, Range<usize>)> + 't {
    regex!(DEFINITION, r"(?m)^[ \t]*\[([^\[\]\n]+)\]:[ \t]*\n?[ \t]*\S");
    let is_code =
        |at: usize| code.get(code.partition_point(|code| code.end <= at)).is_some_and(|code| code.start <= at);
    DEFINITION.captures_iter(&text[part.clone()]).filter_map(move |found| {
        let whole = found.get(0)?.range();
        let (start, end) = (part.start + whole.start, part.start + whole.end);
        let lines = text[start..line_end(text, end)].trim_end();
        (!is_code(end - 1)).then(|| (label(&found[1]), start..start + lines.len()))
    })
}

fn destination(text: &str, from: usize, end: usize) -> Option<Range<usize>> {
    let rest = text.get(from..end)?;
    let start = from + (rest.len() - rest.trim_start().len());
    let rest = &text[start..end];
    if let Some(inside) = rest.strip_prefix('<') {
        let mut escaped = false;
        for (at, c) in inside.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '>' => return Some(start + 1..start + 1 + at),
                _ => {}
            }
        }
        return None;
    }
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' if depth == 0 => return Some(start..start + at),
            ')' => depth -= 1,
            c if c.is_ascii_whitespace() || c.is_ascii_control() => return Some(start..start + at),
            _ => {}
        }
    }
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_found_to_the_byte() {
        for (text, inner_end, expected) in [
            ("[a](b)", 2, "b"),
            ("[a]( b \"t\")", 2, "b"),
            ("[a](<b c> 't')", 2, "b c"),
            ("[a](b(c)d)", 2, "b(c)d"),
            ("[a](b\\)c)", 2, "b\\)c"),
            ("[](é)", 1, "é"),
            ("[é](b)", 3, "b"),
            ("[設定](b)", 7, "b"),
            ("[![x](y)](z)", 8, "z"),
            ("[a]()", 2, ""),
            ("[`a](b`](c)", 7, "c"),
        ] {
            let span = inline_destination(text, inner_end, text.len()).expect(text);
            assert_eq!(&text[span], expected, "{text}");
        }
        let text = "[a]:\n  <b c>\n  'title'";
        assert_eq!(&text[definition_destination(text, 0..text.len())], "b c");
    }
}
