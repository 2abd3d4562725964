//! What kind of page a page is, by what its headings are made of.
//!
//! A question in a reader's words is answered by a page that explains. Reference and lists of changes hold the same words, often
//! more of them: they come after, unless an identifier, the reference or a change is what is asked for.

use docent_markdown::{FrontMatter, Heading};
use serde::{Deserialize, Serialize};

use crate::rank::settings::Settings;

/// Fewer headings of one kind tell nothing.
const FEWEST: usize = 2;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PageKind {
    #[default]
    Prose,
    /// Its headings are identifiers: functions, options, settings; or it is made of the description of an API.
    Reference,
    /// Its headings are versions and dates.
    Changes,
}

impl PageKind {
    pub(crate) fn of(front: &FrontMatter, headings: &[Heading]) -> Self {
        if ["openapi", "api"].iter().any(|name| front.get(name).is_some()) {
            return Self::Reference;
        }
        let below: Vec<&Heading> = headings.iter().filter(|heading| heading.level > 1).collect();
        let is_most = |of: &[&Heading], is_one: fn(&str) -> bool| {
            let count = of.iter().filter(|heading| is_one(&heading.text)).count();
            count >= FEWEST && 2 * count > of.len()
        };
        let highest = below.iter().map(|heading| heading.level).min();
        let outer: Vec<&Heading> = below.iter().copied().filter(|heading| Some(heading.level) == highest).collect();
        if is_most(&outer, is_release) {
            Self::Changes
        } else if is_most(&below, is_identifier) {
            Self::Reference
        } else {
            Self::Prose
        }
    }

    /// What a page of this kind counts for a question.
    pub(crate) fn counts(self, asks: &AskedKind, settings: &Settings) -> f32 {
        match self {
            Self::Reference if !asks.reference => settings.reference,
            Self::Changes if !asks.changes => settings.changes,
            _ => 1.0,
        }
    }
}

/// What a question asks for beside an explanation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AskedKind {
    reference: bool,
    changes: bool,
}

impl AskedKind {
    pub(crate) fn of(text: &str) -> Self {
        let is_any = |words: &[&str]| {
            text.split(|c: char| !c.is_alphanumeric())
                .any(|word| words.iter().any(|one| one.eq_ignore_ascii_case(word)))
        };
        Self {
            reference: text.split_whitespace().any(is_identifier) || is_any(&["api", "reference"]),
            changes: text.split_whitespace().any(is_release)
                || is_any(&["changelog", "changes", "changed", "release", "releases", "released", "new", "version"]),
        }
    }
}

/// Whether a text is a name in a program: one word with joints in it, or written in `camelCase`.
fn is_identifier(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['?', ',', '.', ':', '!', ';']);
    if text.contains(char::is_whitespace) && !text.contains('(') {
        return false;
    }
    let name = text.split(['(', ' ']).next().unwrap_or_default();
    let joints = name.chars().zip(name.chars().skip(1)).any(|(one, next)| {
        one.is_lowercase() && next.is_uppercase() || matches!(one, '_' | '.' | ':') && next.is_alphanumeric()
    });
    joints
        || name.len() > 1 && name.starts_with(['-', '@', '$'])
        || text.len() > name.len() && text.as_bytes()[name.len()] == b'('
}

/// Whether a text begins with a version or a date: `v1.2.3`, `Version 0.4`, `2024-05-01`.
fn is_release(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let words = text.split_whitespace().take(3);
    words.into_iter().any(|word| {
        let number = word.trim_start_matches(['v', 'V', '[', '(']);
        let parts = number.split(['.', '-']).take_while(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        let parts = parts.count();
        parts > 2 || parts > 1 && number.len() < word.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> PageKind {
        let page = docent_markdown::parse("a.md", text.as_bytes());
        PageKind::of(&page.front_matter, &page.headings)
    }

    #[test]
    fn headings_tell_what_kind_of_page_it_is() {
        for (text, expected) in [
            ("# Retries\n\n## How often\n\n## When to stop\n", PageKind::Prose),
            ("# Retries\n\n## `max_retries`\n", PageKind::Prose),
            ("# flows\n\n## `get_flow`\n\n## `Flow.run(name)`\n\n## Classes\n", PageKind::Reference),
            ("# Options\n\n### testTimeout\n\n### hook.timeout\n", PageKind::Reference),
            ("---\nopenapi: GET /keys\n---\n\nA key.\n", PageKind::Reference),
            (
                "# Changes\n\n## 0.4.1 (2024-05-01)\n\n### Fixes\n\n### Docs\n\n## v0.4\n\n### Fixes\n",
                PageKind::Changes,
            ),
            ("# Setup\n\n## 2.1 Install\n\n## 2.2 Run\n\n## 3 steps more\n", PageKind::Prose),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn a_question_may_ask_for_more_than_an_explanation() {
        let asks = |text: &str| {
            let asks = AskedKind::of(text);
            (asks.reference, asks.changes)
        };
        for (text, expected) in [
            ("How do I retry a task?", (false, false)),
            ("what does max_retries do", (true, false)),
            ("testTimeout", (true, false)),
            ("get_flow()", (true, false)),
            ("the retry API", (true, false)),
            ("What changed in 2.4.1?", (true, true)),
            ("is it in the last release", (false, true)),
        ] {
            assert_eq!(asks(text), expected, "{text}");
        }
    }
}
