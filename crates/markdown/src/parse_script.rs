//! Scans JavaScript just enough to find the end of an expression, a module statement or a token.

/// Longest `{…}`, in bytes. A longer one is text.
pub(crate) const LONGEST_EXPRESSION: usize = 256 * 1024;

/// The end of the expression that starts with the `{` at `at`, its `}` included.
pub(crate) fn expression_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    debug_assert_eq!(bytes.get(at), Some(&b'{'));
    let limit = bytes.len().min(at + LONGEST_EXPRESSION);
    let mut depth = 0_usize;
    let mut ix = at;
    while ix < limit {
        match bytes[ix] {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(ix + 1);
                }
            }
            _ => {
                ix = token_end(bytes, ix, limit)?;
                continue;
            }
        }
        ix += 1;
    }
    None
}

/// The end of the module statements (`import`, `export`) that start at `at`: the first blank line outside all brackets,
/// or the end of the text. `None` if a bracket, template or comment in them is never closed.
pub(crate) fn module_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut ix = at;
    while ix < bytes.len() {
        match bytes[ix] {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 && blank_line_at(bytes, ix + 1) => return Some(ix + 1),
            _ => {
                ix = token_end(bytes, ix, bytes.len())?;
                continue;
            }
        }
        ix += 1;
    }
    (depth == 0).then_some(bytes.len())
}

/// The first blank line after `at`, or the end of the text.
pub(crate) fn paragraph_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    (at..bytes.len()).find(|ix| bytes[*ix] == b'\n' && blank_line_at(bytes, ix + 1)).map_or(bytes.len(), |ix| ix + 1)
}

fn blank_line_at(bytes: &[u8], mut ix: usize) -> bool {
    while ix < bytes.len() && matches!(bytes[ix], b' ' | b'\t' | b'\r') {
        ix += 1;
    }
    ix >= bytes.len() || bytes[ix] == b'\n'
}

/// The end of the token at `ix`: a string, a template, a comment, or one byte. `None` when a template or a
/// comment does not close before `limit`.
pub fn token_end(bytes: &[u8], ix: usize, limit: usize) -> Option<usize> {
    match bytes[ix] {
        quote @ (b'"' | b'\'') => Some(string_end(bytes, ix, limit, quote)),
        b'`' => template_end(bytes, ix, limit),
        b'/' if bytes.get(ix + 1) == Some(&b'*') => {
            let mut end = ix + 2;
            while end + 1 < limit {
                if &bytes[end..end + 2] == b"*/" {
                    return Some(end + 2);
                }
                end += 1;
            }
            None
        }
        // `//` inside a URL (`https://…`) in JSX text is not a comment.
        b'/' if bytes.get(ix + 1) == Some(&b'/') && (ix == 0 || bytes[ix - 1] != b':') => {
            let rest = &bytes[ix..limit];
            Some(rest.iter().position(|byte| *byte == b'\n').map_or(limit, |length| ix + length))
        }
        b'\\' => Some(limit.min(ix + 2)),
        _ => Some(ix + 1),
    }
}

/// The end of a string, which is on the same line. An unclosed quote, or an apostrophe inside a word of JSX text, is a
/// token of one byte.
fn string_end(bytes: &[u8], ix: usize, limit: usize, quote: u8) -> usize {
    if quote == b'\'' && ix > 0 && bytes[ix - 1].is_ascii_alphanumeric() {
        return ix + 1;
    }
    let mut end = ix + 1;
    while end < limit && bytes[end] != b'\n' {
        match bytes[end] {
            b'\\' => end += 2,
            byte if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    ix + 1
}

fn template_end(bytes: &[u8], ix: usize, limit: usize) -> Option<usize> {
    // Templates nest in `${…}`: one entry per open template, the number of braces open inside its current `${`.
    let mut open: Vec<usize> = vec![0];
    let mut end = ix + 1;
    while end < limit {
        let depth = open.last_mut()?;
        match bytes[end] {
            b'\\' => end += 1,
            b'`' if *depth == 0 => {
                open.pop();
                if open.is_empty() {
                    return Some(end + 1);
                }
            }
            b'`' => open.push(0),
            b'$' if *depth == 0 && bytes.get(end + 1) == Some(&b'{') => {
                *depth = 1;
                end += 1;
            }
            b'{' if *depth > 0 => *depth += 1,
            b'}' if *depth > 0 => *depth -= 1,
            _ => {}
        }
        end += 1;
    }
    None
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
