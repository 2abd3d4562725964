//! Finds the end of an expression or of module statements in MDX.

use std::ops::Range;

use crate::script::{TokenKind, Tokens};

/// Longest `{…}`, in bytes. A longer one is text.
pub(crate) const LONGEST_EXPRESSION: usize = 256 * 1024;

/// The end of the expression that starts with the `{` at `at`, its `}` included.
pub(crate) fn expression_end(text: &str, at: usize) -> Option<usize> {
    let text = &text[at..];
    let text = &text[..text.floor_char_boundary(LONGEST_EXPRESSION)];
    let mut depth = 0_usize;
    for token in Tokens::of(text) {
        match &text[token.range.clone()] {
            "{" => depth += 1,
            "}" if depth == 1 => return Some(at + token.range.end),
            "}" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The end of the module statements (`import`, `export`) that start at `at`: the first blank line outside all brackets,
/// or the end of the text. `None` if a bracket, template or comment in them is never closed.
pub(crate) fn module_end(text: &str, at: usize) -> Option<usize> {
    let (mut depth, mut read) = (0_usize, at);
    for token in Tokens::of(&text[at..]) {
        let start = at + token.range.start;
        if let Some(end) = blank_line(text, read..start).filter(|_| depth == 0) {
            return Some(end);
        }
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Unclosed => return None,
            _ => {}
        }
        read = at + token.range.end;
    }
    (depth == 0).then(|| paragraph_end(text, read))
}

/// The first blank line after `at`, or the end of the text.
pub(crate) fn paragraph_end(text: &str, at: usize) -> usize {
    blank_line(text, at..text.len()).unwrap_or(text.len())
}

/// The start of the first blank line behind a line feed in `range`. The end of the text counts as one.
fn blank_line(text: &str, range: Range<usize>) -> Option<usize> {
    let is_blank = |at: &usize| {
        let rest = text[*at..].trim_start_matches([' ', '\t', '\r']);
        rest.is_empty() || rest.starts_with('\n')
    };
    text[range.clone()].match_indices('\n').map(|(at, _)| range.start + at + 1).find(is_blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_ends_at_its_own_brace() {
        for text in [
            "{1+1}",
            "{}",
            "{/* } */}",
            "{'}'}",
            "{\"}\"}",
            "{`}${`}${1}`}`}",
            "{{a: {b: 1}}}",
            "{// }\n}",
            "{a && <p>don't</p>}",
            "{x ? 'a' : \"b\"}",
            "{<a href=\"https://x/\">}</a>}",
        ] {
            let with_more = format!("{text} more }}");
            let expected = if text.contains("\">}") { text.len() - "</a>}".len() } else { text.len() };
            assert_eq!(expression_end(&with_more, 0), Some(expected), "{text}");
        }
        for text in ["{", "{{}", "{`}", "{/*}", "{\\"] {
            assert_eq!(expression_end(text, 0), None, "{text}");
        }
    }

    #[test]
    fn module_statements_end_at_a_blank_line_outside_brackets() {
        for (text, expected) in [
            ("import a from 'b'\n\ntext", 18),
            ("import a from 'b'", 17),
            ("export const a = {\n\n  b: 1\n}\n\ntext", 29),
            ("import a\nimport b\n\n{", 18),
        ] {
            assert_eq!(module_end(text, 0), Some(expected), "{text:?}");
        }
        assert_eq!(module_end("export const a = {\n\ntext", 0), None);
        assert_eq!(paragraph_end("export const a = {\n\ntext", 0), 19);
    }
}
