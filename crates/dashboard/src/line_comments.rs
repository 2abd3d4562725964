//! Comments at lines. A comment that begins with a file and a line of it in code, such as `` `guides/webhooks.mdx:12` ``, alone on
//! its first line, stands at that line.

use std::collections::HashMap;

use docent_forge::PullComment;
use docent_types::Timestamp;
use maud::{Markup, html};

use crate::text::{Untrusted, relative_time, shortened};
use crate::words::{Place, words};

/// The longest path of a line, in bytes.
const MAX_PATH_BYTES: usize = 500;
/// Characters of a comment that are shown at its line; the list of comments has all of it.
const MAX_CHARS_AT_LINE: usize = 600;

/// A line of a file as it is after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineOf {
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) number: usize,
}

impl LineOf {
    /// Reads `path:12`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (path, number) = text.rsplit_once(':')?;
        let is_path = !path.is_empty() && path.len() <= MAX_PATH_BYTES && !path.contains(['`', '\n', '\r']);
        let number = number.parse().ok().filter(|number| *number > 0)?;
        is_path.then(|| Self { path: path.to_owned(), number })
    }

    /// The line that a comment is about, and the comment without it.
    pub(crate) fn parse(comment: &str) -> Option<(Self, &str)> {
        let (first, rest) = comment.split_once('\n')?;
        let line = Self::read(first.trim().strip_prefix('`')?.strip_suffix('`')?)?;
        Some((line, rest.trim()))
    }

    /// A comment that is about this line.
    pub(crate) fn written(&self, comment: &str) -> String {
        format!("`{}:{}`\n\n{comment}", self.path, self.number)
    }
}

/// Comments by the lines that they are about.
#[derive(Debug, Default)]
pub(crate) struct LineComments(HashMap<(String, usize), Vec<Markup>>);

impl LineComments {
    /// `here` is the address of the page with the list of comments.
    pub(crate) fn of(comments: &[PullComment], now: Timestamp, here: &str, place: Place<'_>) -> Self {
        let mut found: HashMap<(String, usize), Vec<Markup>> = HashMap::new();
        for comment in comments {
            let Some((line, rest)) = LineOf::parse(&comment.text) else { continue };
            let shown = html! {
                p { (crate::icon::Icon::Conversations) " " strong { (Untrusted(&comment.author)) } " " (relative_time(comment.at, now)) " " a href=(format_args!("{here}#comments")) { "All comments" } }
                (words(&shortened(rest, MAX_CHARS_AT_LINE), place))
            };
            found.entry((line.path, line.number)).or_default().push(shown);
        }
        Self(found)
    }

    pub(crate) fn at(&self, path: &str, number: Option<usize>) -> &[Markup] {
        let found = number.and_then(|number| self.0.get(&(path.to_owned(), number)));
        found.map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_its_line_or_is_about_the_whole() {
        let line = LineOf { path: "a b/c:d.md".to_owned(), number: 12 };
        assert_eq!(LineOf::parse(&line.written("Why?")), Some((line.clone(), "Why?")));
        assert_eq!(LineOf::read("a b/c:d.md:12"), Some(line));
        for text in ["Why?", "`a.md`\nx", "`a.md:0`\nx", "`:1`\nx", "see `a.md:1`\nx", "`a.md:1`"] {
            assert_eq!(LineOf::parse(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_some_comment(text in "\\PC{0,80}") {
            let _ = (LineOf::parse(&text), LineOf::read(&text));
        }
    }
}
