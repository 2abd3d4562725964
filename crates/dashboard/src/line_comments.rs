//! Comments at lines. A comment that begins with a file and a line of it in code, such as `` `guides/webhooks.mdx:12` ``, alone on
//! its first line, stands at that line; the number of a line that the change removes has a minus. What the line says follows as a
//! quote, by which it is found again after further commits.

use std::fmt;

use docent_forge::PullComment;
use docent_types::Timestamp;
use maud::{Markup, html};

use crate::text::{Untrusted, relative_time, shortened};
use crate::words::{Place, words};

/// The longest path of a line, in bytes.
const MAX_PATH_BYTES: usize = 500;
/// Characters of a line that are quoted.
const MAX_QUOTED_CHARS: usize = 200;
/// Characters of a comment that are shown at its line; the list of comments has all of it.
const MAX_CHARS_AT_LINE: usize = 600;

/// A line of a file, as it is after a change or, where the change removes it, before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineOf {
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) is_removed: bool,
}

impl LineOf {
    /// Reads `path:12`, or `path:-12` of a removed line.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (path, number) = text.rsplit_once(':')?;
        let is_path = !path.is_empty() && path.len() <= MAX_PATH_BYTES && !path.contains(['`', '\n', '\r']);
        let number: i32 = number.parse().ok().filter(|number| *number != 0 && is_path)?;
        Some(Self { path: path.to_owned(), number: number.unsigned_abs() as usize, is_removed: number < 0 })
    }

    /// A comment that is about this line, which says `quoted`.
    pub(crate) fn written(&self, quoted: &str, comment: &str) -> String {
        let quoted = quoted_part(quoted);
        let quote = if quoted.is_empty() { String::new() } else { format!("> {quoted}\n") };
        format!("`{self}`\n{quote}\n{comment}")
    }

    pub(crate) fn html(&self) -> Markup {
        html! { code { (Untrusted(&self.path)) ":" (self.number) } @if self.is_removed { " " span.soft { "removed" } } }
    }
}

impl fmt::Display for LineOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}{}", self.path, if self.is_removed { "-" } else { "" }, self.number)
    }
}

/// The part of a line that a comment quotes.
pub(crate) fn quoted_part(line: &str) -> String {
    line.lines()
        .next()
        .unwrap_or_default()
        .trim()
        .chars()
        .take(MAX_QUOTED_CHARS)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// A comment that is about a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineComment<'c> {
    pub(crate) line: LineOf,
    /// What the line said; empty where that is not known.
    pub(crate) quoted: &'c str,
    pub(crate) text: &'c str,
}

impl<'c> LineComment<'c> {
    pub(crate) fn parse(comment: &'c str) -> Option<Self> {
        let (first, rest) = comment.split_once('\n')?;
        let line = LineOf::read(first.trim().strip_prefix('`')?.strip_suffix('`')?)?;
        let quote = rest.strip_prefix("> ").map(|quote| quote.split_once('\n').unwrap_or((quote, "")));
        let (quoted, text) = quote.unwrap_or(("", rest));
        Some(Self { line, quoted: quoted.trim(), text: text.trim() })
    }
}

/// A comment as it is shown at its line.
#[derive(Debug)]
pub(crate) struct ShownComment {
    pub(crate) line: LineOf,
    pub(crate) quoted: String,
    pub(crate) markup: Markup,
}

/// The comments that are about lines, oldest first. `here` is the address of the page with the list of comments.
pub(crate) fn line_comments(
    comments: &[PullComment],
    now: Timestamp,
    here: &str,
    place: Place<'_>,
) -> Vec<ShownComment> {
    let at_lines = comments.iter().filter_map(|comment| Some((comment, LineComment::parse(&comment.text)?)));
    let shown = at_lines.map(|(comment, LineComment { line, quoted, text })| ShownComment {
        line,
        quoted: quoted.to_owned(),
        markup: html! {
            p { (crate::icon::Icon::Conversations) " " strong { (Untrusted(&comment.author)) } " " (relative_time(comment.at, now)) " " a href=(format_args!("{here}#comments")) { "All comments" } }
            (words(&shortened(text, MAX_CHARS_AT_LINE), place))
        },
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_its_line_or_is_about_the_whole() {
        for is_removed in [false, true] {
            let line = LineOf { path: "a b/c:d.md".to_owned(), number: 12, is_removed };
            for quoted in ["", "> a `quote`"] {
                let written = line.written(&format!("  {quoted} \nmore"), "> Why?\n\nSo.");
                let parsed = LineComment { line: line.clone(), quoted, text: "> Why?\n\nSo." };
                assert_eq!(LineComment::parse(&written), Some(parsed), "{written}");
            }
            assert_eq!(LineOf::read(if is_removed { "a b/c:d.md:-12" } else { "a b/c:d.md:12" }), Some(line));
        }
        for text in ["Why?", "`a.md`\nx", "`a.md:0`\nx", "`:1`\nx", "see `a.md:1`\nx", "`a.md:1`"] {
            assert_eq!(LineComment::parse(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_some_comment(text in "\\PC{0,80}", line in "\\PC{0,300}") {
            let _ = (LineComment::parse(&text), LineOf::read(&text));
            let quoted = quoted_part(&line);
            proptest::prop_assert_eq!(quoted_part(&quoted), quoted);
        }
    }
}
