//! Parses marker lines of generators: admonitions, tabs and containers.
//!
//! Without regular expressions: a page may consist of markers alone, and a pattern with groups takes longer per marker
//! than parsing its content.

use crate::parse_lines::columns;
use crate::words::{capitalised, has_word};

/// Kinds of admonitions whose default title is their kind.
const KINDS: &str = "note tip info warning danger caution important details success question abstract failure bug \
    example quote hint attention error secondary summary tldr seealso";

/// Blocks of Python Markdown that are no admonitions.
const BLOCKS: &str = "admonition caption define definition figure-caption html tab table-caption";

/// `!!! kind words "Title"`, or with `???` or `???+`; its content is indented below it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Indented<'l> {
    pub(crate) indent: &'l str,
    pub(crate) kind: &'l str,
    pub(crate) title: Option<&'l str>,
}

pub(crate) fn indented(line: &str) -> Option<Indented<'_>> {
    let (indent, rest) = blanks(line);
    let rest = match rest.strip_prefix("???") {
        Some(rest) => rest.strip_prefix('+').unwrap_or(rest),
        None => rest.strip_prefix("!!!")?,
    };
    let (kind, mut rest) = word(behind_blanks(rest)?)?;
    loop {
        let behind = match behind_blanks(rest) {
            Some(behind) if !behind.is_empty() => behind,
            _ if rest.trim_start_matches(BLANK).is_empty() => return Some(Indented { indent, kind, title: None }),
            _ => return None,
        };
        match word(behind) {
            Some((_, behind)) => rest = behind,
            None => return Some(Indented { indent, kind, title: Some(quoted(behind)?) }),
        }
    }
}

/// The indentation and the title of `=== "Title"`, or with `===!` or `===+`; its content is indented below it.
pub(crate) fn tab(line: &str) -> Option<(&str, &str)> {
    let (indent, rest) = blanks(line);
    let rest = rest.strip_prefix("===")?;
    let rest = rest.strip_prefix(['!', '+']).unwrap_or(rest);
    Some((indent, quoted(behind_blanks(rest)?)?))
}

/// `:::kind[Title]{attributes} Title`; its content ends at a line of colons.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Container<'l> {
    /// The indentation, including block quote markers (`>`).
    pub(crate) indent: &'l str,
    pub(crate) kind: &'l str,
    pub(crate) label: Option<&'l str>,
    pub(crate) attributes: Option<&'l str>,
    pub(crate) title: &'l str,
}

pub(crate) fn container(line: &str) -> Option<Container<'_>> {
    let (indent, rest) = colons(line)?;
    let (kind, rest) = word(rest.trim_start_matches(BLANK))?;
    let (label, rest) = bracketed(rest, '[', ']');
    let (attributes, rest) = bracketed(rest, '{', '}');
    Some(Container { indent, kind, label, attributes, title: rest.trim_matches(BLANK) })
}

/// The indentation and the inside of a block of docfx on one line: `:::kind name="value":::`. What has braces is a
/// container of Pandoc.
pub(crate) fn on_one_line(line: &str) -> Option<(&str, &str)> {
    let (indent, rest) = colons(line)?;
    let inside = rest.trim_end().strip_suffix(":::")?.trim_end_matches(':');
    let is_block = !inside.is_empty() && (!inside.contains(' ') || inside.contains("=\""));
    (is_block && !inside.contains(['{', '}']) && !inside.contains(":::")).then_some((indent, inside))
}

/// Whether a line has only colons, which end a container.
pub(crate) fn ends_container(line: &str) -> bool {
    colons(line).is_some_and(|(_, rest)| rest.trim_start_matches(BLANK).is_empty())
}

/// The default title of a container.
pub(crate) fn usual_title(kind: &str) -> String {
    let kind = kind.to_lowercase();
    if has_word(KINDS, &kind) { capitalised(&kind) } else { String::new() }
}

/// The indentation, the kind and the title of `/// kind | Title`; the kind is empty in the line that ends the block. What
/// `html` has behind the bar is a selector. Without a bar the kind must be a known one: Rust, C# and Swift begin comments
/// with `///`.
pub(crate) fn block(line: &str) -> Option<(&str, &str, Option<&str>)> {
    let (indent, marks) = blanks(line);
    let rest = marks.trim_start_matches('/');
    (marks.len() - rest.len() >= 3).then_some(())?;
    let rest = rest.trim_matches(BLANK);
    if rest.is_empty() {
        return Some((indent, "", None));
    }
    let (kind, rest) = word(rest)?;
    match rest.trim_start_matches(BLANK).strip_prefix('|') {
        Some(title) => Some((indent, kind, (kind != "html").then(|| title.trim_matches(BLANK)))),
        None => (rest.is_empty() && (has_word(KINDS, kind) || has_word(BLOCKS, kind))).then_some((indent, kind, None)),
    }
}

/// For a line that is an option of a block (`name: value`), or continues one: the least column of the options, which was
/// `least` before.
pub(crate) fn option(line: &str, least: usize) -> Option<usize> {
    let column = columns(line, 4);
    let named = word(line.trim_start_matches(BLANK)).and_then(|(_, rest)| rest.strip_prefix(':'));
    let is_named = named.is_some_and(|value| value.is_empty() || value.starts_with(char::is_whitespace));
    (column >= 4 && (column > least || is_named)).then(|| column.min(least))
}

/// The indentation and the name in `::: package.module`, which documents source code.
pub(crate) fn documented(line: &str) -> Option<(&str, &str)> {
    let (indent, marks) = blanks(line);
    let name = marks.strip_prefix(":::")?.trim_matches(BLANK);
    let is_name = |part: &str| part.chars().all(|c| c.is_alphanumeric() || c == '_') && !part.is_empty();
    name.split('.').all(is_name).then_some((indent, name))
}

const BLANK: [char; 2] = [' ', '\t'];

/// Splits a line after its indentation.
fn blanks(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start_matches(BLANK).len())
}

/// The text after at least one space or tab.
fn behind_blanks(text: &str) -> Option<&str> {
    let (blanks, rest) = blanks(text);
    (!blanks.is_empty()).then_some(rest)
}

/// A word that starts with an ASCII letter, and the text after it.
fn word(text: &str) -> Option<(&str, &str)> {
    text.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(())?;
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(text.len());
    Some(text.split_at(end))
}

/// The content of double quotes, after which only spaces and tabs follow.
fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.trim_end_matches(BLANK).strip_suffix('"')
}

/// The text before and after three or more colons at the beginning of a line; `>` may precede them.
fn colons(line: &str) -> Option<(&str, &str)> {
    let marks = line.trim_start_matches([' ', '\t', '>']);
    let rest = marks.trim_start_matches(':');
    (marks.len() - rest.len() >= 3).then(|| (&line[..line.len() - marks.len()], rest))
}

/// The content of brackets after optional spaces and tabs, and the text after them. Without brackets, all of the text.
fn bracketed(text: &str, open: char, close: char) -> (Option<&str>, &str) {
    let inside = text.trim_start_matches(BLANK).strip_prefix(open);
    match inside.and_then(|inside| inside.split_once(close)) {
        Some((inside, rest)) => (Some(inside), rest),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    /// The same grammar as regular expressions, which are easier to read.
    struct Patterns {
        indented: Regex,
        tab: Regex,
        container: Regex,
        end: Regex,
    }

    static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
        let pattern = |pattern: &str| Regex::new(pattern).expect("a pattern");
        Patterns {
            indented: pattern(
                r#"^([ \t]*)(?:!!!|\?\?\?\+?)[ \t]+([A-Za-z][\w-]*)((?:[ \t]+[A-Za-z][\w-]*)*)(?:[ \t]+"(.*)")?[ \t]*$"#,
            ),
            tab: pattern(r#"^([ \t]*)===[!+]?[ \t]+"(.*)"[ \t]*$"#),
            container: pattern(
                r"^([ \t]*(?:>[ \t]*)*):::+[ \t]*([A-Za-z][\w-]*)[ \t]*(?:\[([^\n]*?)\])?[ \t]*(?:\{([^}\n]*)\})?[ \t]*([^\n]*?)[ \t]*$",
            ),
            end: pattern(r"^[ \t]*(?:>[ \t]*)*:::+[ \t]*$"),
        }
    });

    #[test]
    fn marks_are_cut() {
        let mark = |indent, kind, title| Some(Indented { indent, kind, title });
        assert_eq!(indented("!!! note"), mark("", "note", None));
        assert_eq!(indented("  ???+ tip inline end \"A \"b\" c\" "), mark("  ", "tip", Some("A \"b\" c")));
        assert_eq!(indented("!!! note \"\""), mark("", "note", Some("")));
        for none in ["!!!note", "!!! \"a\"", "!!! note \"a", "!!! note a!", "?? note", "!!! note \"", ""] {
            assert_eq!(indented(none), None, "{none}");
        }
        assert_eq!(tab("\t===+ \"A\""), Some(("\t", "A")));
        assert_eq!((tab("===\"A\""), tab("=== A"), tab("=== \"")), (None, None, None));
        let container = container("> :::note[A] {title=\"B\"} C ").expect("a mark");
        assert_eq!((container.indent, container.kind, container.title), ("> ", "note", "C"));
        assert_eq!((container.label, container.attributes), (Some("A"), Some("title=\"B\"")));
        assert!(ends_container(" :::: ") && !ends_container("::") && !ends_container(":::a"));
    }

    proptest! {
        #[test]
        fn a_line_is_cut_as_by_patterns(parts in proptest::collection::vec(prop::sample::select(vec![
            " ", "\t", "!!!", "???", "+", "a", "Note", "b-1", "_", "\u{e9}", "\"", "=== ", "===!", ":::", ":", ">", "[", "]", "{", "}", "x y", "\r", "1", "\"T\"", "=", "\u{30fc}",
        ]), 0..12)) {
            let line = parts.concat();
            let patterns = &*PATTERNS;
            let group = |found: &regex::Captures<'_>, at| found.get(at).map(|group| group.as_str().to_owned());
            let own = |part: Option<&str>| part.map(str::to_owned);
            let by_pattern = patterns.indented.captures(&line).map(|found| [1, 2, 4].map(|at| group(&found, at)));
            prop_assert_eq!(indented(&line).map(|mark| [own(Some(mark.indent)), own(Some(mark.kind)), own(mark.title)]), by_pattern);
            let by_pattern = patterns.tab.captures(&line).map(|found| [1, 2].map(|at| group(&found, at)));
            prop_assert_eq!(tab(&line).map(|(indent, title)| [own(Some(indent)), own(Some(title))]), by_pattern);
            let by_pattern = patterns.container.captures(&line).map(|found| [1, 2, 3, 4, 5].map(|at| group(&found, at)));
            let cut = container(&line)
                .map(|mark| [Some(mark.indent), Some(mark.kind), mark.label, mark.attributes, Some(mark.title)].map(own));
            prop_assert_eq!(cut, by_pattern);
            prop_assert_eq!(ends_container(&line), patterns.end.is_match(&line));
        }
    }
}
