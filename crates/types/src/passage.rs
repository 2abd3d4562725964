//! A piece of a page, found for a question.

use serde::{Deserialize, Serialize};

use crate::json_text::json_text;

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

impl Passage {
    /// As JSON: what its serializer writes, in one go.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(self.content.len() + self.content.len() / 16 + 512);
        let text = |name: &str, text: &str, out: &mut String| {
            out.push_str(name);
            out.push('"');
            json_text(text, |piece| out.push_str(piece));
            out.push('"');
        };
        text("{\"path\":", &self.path, &mut out);
        text(",\"href\":", &self.href, &mut out);
        text(",\"title\":", &self.title, &mut out);
        out.push_str(",\"headings\":[");
        for (at, heading) in self.headings.iter().enumerate() {
            text(if at > 0 { "," } else { "" }, heading, &mut out);
        }
        text("],\"content\":", &self.content, &mut out);
        out.push_str(",\"score\":");
        // A number fails at nothing, and one that is none becomes `null`.
        out.push_str(&serde_json::to_string(&self.score).unwrap_or_default());
        for (name, known) in [(",\"version\":", &self.version), (",\"language\":", &self.language)] {
            if let Some(known) = known {
                text(name, known, &mut out);
            }
        }
        out.push('}');
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_json_it_is_what_its_serializer_writes(
            texts in proptest::array::uniform4("(\\PC|[\"\n]){0,12}"),
            headings in proptest::collection::vec("\\PC{0,6}", 0..4),
            score in proptest::num::f32::ANY,
            known in proptest::array::uniform2(proptest::option::of("[a-z]{0,3}")),
        ) {
            let ([path, href, title, content], [version, language]) = (texts, known);
            let passage = Passage { path, href, title, headings, content, score, version, language };
            prop_assert_eq!(passage.to_json(), serde_json::to_string(&passage).unwrap());
        }
    }
}
