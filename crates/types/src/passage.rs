//! A section of a page, found for a question.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::address::encoded_path;

/// A passage of a docs page: what a search result shows and an answer cites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// The page's path on the site, without a leading slash, for example `guides/retries`.
    pub path: String,
    /// Its address for a reader: the site's path with the section's anchor, for example `/guides/retries#backoff`, both
    /// percent-encoded.
    pub href: String,
    /// The page's title.
    pub title: String,
    /// The headings above the passage, outermost first, without the title. Empty at the top of a page.
    pub headings: Vec<String>,
    /// The passage itself as Markdown, without the headings above it.
    pub content: String,
    /// Relevance from 0 to 1.
    pub score: f32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub language: Option<String>,
}

/// Most characters of a passage, headings included.
pub const LONGEST_PASSAGE: usize = 2_000;
/// Most characters of its headings.
const LONGEST_HEADINGS: usize = 400;

impl Passage {
    /// The page's path as it is written in an address.
    pub fn encoded_path(&self) -> Cow<'_, str> {
        encoded_path(&self.path)
    }

    /// The page's title and the headings above the passage, as Markdown, one per line. If they are too long, only the
    /// last.
    pub fn heading_lines(&self) -> String {
        let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let headings: Vec<String> = std::iter::once(&self.title)
            .chain(&self.headings)
            .map(words)
            .filter(|heading| !heading.is_empty())
            .collect();
        let mut lines = Vec::new();
        let mut length = 0;
        for (level, heading) in headings.iter().enumerate().rev() {
            let line = format!("{} {heading}\n", "#".repeat((level + 1).min(6)));
            length += line.chars().count();
            if length > LONGEST_HEADINGS {
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        lines.concat()
    }

    /// The passage with its headings, at most 2,000 characters of Markdown.
    pub fn under_headings(&self) -> String {
        let headings = self.heading_lines();
        let shown = match (headings.is_empty(), self.content.trim() == self.title.trim()) {
            (true, _) => self.content.clone(),
            // Some pages have only a title.
            (false, true) => headings.trim_end().to_owned(),
            (false, false) => format!("{headings}\n{}", self.content),
        };
        match shown.char_indices().nth(LONGEST_PASSAGE) {
            Some((end, _)) => shown[..end].trim_end().to_owned(),
            None => shown,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passage(title: &str, headings: &[&str], content: &str) -> Passage {
        Passage {
            path: "guides/retries".to_owned(),
            href: "/guides/retries".to_owned(),
            title: title.to_owned(),
            headings: headings.iter().map(|heading| (*heading).to_owned()).collect(),
            content: content.to_owned(),
            score: 0.5,
            version: None,
            language: None,
        }
    }

    #[test]
    fn a_passage_is_shown_below_its_headings() {
        let shown = |title, headings: &[&str], content| passage(title, headings, content).under_headings();
        assert_eq!(
            shown("Retries", &["Backoff", "Jit\nter"], "It waits."),
            "# Retries\n## Backoff\n### Jit ter\n\nIt waits."
        );
        assert_eq!(shown("Retries", &[], "It waits."), "# Retries\n\nIt waits.");
        assert_eq!(shown("Retries", &[], "Retries"), "# Retries");
        assert_eq!(shown("", &[], "It waits."), "It waits.");
        let long = "x".repeat(390);
        assert_eq!(shown(&long, &["Backoff"], "It waits."), "## Backoff\n\nIt waits.");
    }

    proptest! {
        #[test]
        fn no_passage_is_shown_longer_than_it_may_be(
            title in "\\PC{0,500}", headings in proptest::collection::vec("\\PC{0,300}", 0..9), content in "\\PC{0,2100}",
        ) {
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            let shown = passage(&title, &headings, &content).under_headings();
            prop_assert!(shown.chars().count() <= LONGEST_PASSAGE);
        }
    }
}
