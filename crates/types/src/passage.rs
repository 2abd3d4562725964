//! A piece of a page, found for a question.

use serde::{Deserialize, Serialize};

/// A passage of a docs page: what a search result shows and an answer cites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// The page's path on the site, without a leading slash, for example `guides/retries`.
    pub path: String,
    /// Where a reader finds it: the site's path with the section's anchor, for example `/guides/retries#backoff`.
    pub href: String,
    /// The page's title.
    pub title: String,
    /// The headings above the passage, outermost first, without the title. Empty at the top of a page.
    pub headings: Vec<String>,
    /// The passage itself as Markdown: at most 2,000 characters.
    pub content: String,
    /// How well it fits, 0 to 1, highest first.
    pub score: f32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub language: Option<String>,
}
