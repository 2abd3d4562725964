//! Classifies pages by kind, mostly from their headings.
//!
//! A question in a reader's words is answered by a page that explains. Reference pages, changelogs and pages about
//! deprecated features contain the same words, often more of them: they rank lower, unless the question asks for them.

use docent_markdown::{FrontMatter, Heading};
use serde::{Deserialize, Serialize};

use crate::index::section_kind::is_outdated;
use crate::rank::settings::Settings;

/// Headings that group the entries of a reference without being entries themselves.
const GROUPS: [&str; 14] = [
    "arguments", "attributes", "classes", "constants", "enums", "exceptions", "functions", "interfaces", "methods",
    "modules", "options", "parameters", "properties", "types",
];
/// Minimum number of headings of one kind needed to classify a page.
const FEWEST: usize = 2;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PageKind {
    #[default]
    Prose,
    /// Its headings are identifiers (functions, options, settings), or it is made from an API description.
    Reference,
    /// Its headings are versions or dates.
    Changes,
    /// It is about something deprecated.
    Outdated,
}

impl PageKind {
    pub(crate) fn of(front: &FrontMatter, title: &str, headings: &[Heading]) -> Self {
        if is_outdated(title) || front.get("deprecated") == Some("true") {
            return Self::Outdated;
        }
        if ["openapi", "api"].iter().any(|name| front.get(name).is_some()) {
            return Self::Reference;
        }
        // A title that is an identifier counts as the first entry.
        let is_entry = |heading: &&Heading| match heading.level {
            1 => is_identifier(&heading.text),
            _ => !GROUPS.iter().any(|group| heading.text.eq_ignore_ascii_case(group)),
        };
        let entries: Vec<&Heading> = headings.iter().filter(is_entry).collect();
        let below: Vec<&Heading> = entries.iter().copied().filter(|heading| heading.level > 1).collect();
        let is_most = |of: &[&Heading], is_one: fn(&str) -> bool| {
            let count = of.iter().filter(|heading| is_one(&heading.text)).count();
            count >= FEWEST && 2 * count > of.len()
        };
        let highest = below.iter().map(|heading| heading.level).min();
        let outer: Vec<&Heading> = below.iter().copied().filter(|heading| Some(heading.level) == highest).collect();
        if is_most(&outer, is_release) {
            Self::Changes
        } else if is_most(&entries, is_identifier) {
            Self::Reference
        } else {
            Self::Prose
        }
    }

    /// Score factor of a page of this kind for a question.
    pub(crate) fn counts(self, asks: &AskedKind, settings: &Settings) -> f32 {
        match self {
            Self::Reference if !asks.reference => settings.reference,
            Self::Changes if !asks.changes => settings.changes,
            Self::Outdated if !asks.outdated => settings.outdated,
            _ => 1.0,
        }
    }
}

/// What a question asks for besides an explanation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AskedKind {
    reference: bool,
    changes: bool,
    pub(crate) outdated: bool,
}

impl AskedKind {
    pub(crate) fn of(text: &str) -> Self {
        let is_any = |words: &[&str]| {
            text.split(|c: char| !c.is_alphanumeric())
                .any(|word| words.iter().any(|one| one.eq_ignore_ascii_case(word)))
        };
        let lower = text.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        Self {
            // `API` alone does not ask for a reference: many questions are about API keys or API calls.
            reference: text.split_whitespace().any(is_identifier) || is_any(&["reference"]),
            changes: text.split_whitespace().any(is_release)
                || is_any(&["changelog", "changes", "release", "releases", "released"])
                || says(&["what changed", "what has changed", "what's new", "what’s new", "what is new", "new in"]),
            outdated: is_any(&["deprecated", "deprecation", "legacy", "obsolete", "old", "older", "outdated"]),
        }
    }
}

/// Whether a text is a program identifier: one word in `camelCase`, with an inner `_`, `.`, `:` or `-`, beginning with
/// `-`, `@` or `$`, or followed by `(`.
fn is_identifier(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['?', ',', '.', ':', '!', ';']);
    if text.contains(char::is_whitespace) && !text.contains('(') {
        return false;
    }
    let name = text.split(['(', ' ']).next().unwrap_or_default();
    let joints = name.chars().zip(name.chars().skip(1)).any(|(one, next)| {
        one.is_lowercase() && next.is_uppercase() || matches!(one, '_' | '.' | ':') && next.is_alphanumeric()
    });
    // A hyphen before a capital: `Get-Process`, `Content-Type`.
    let hyphens = || {
        name.as_bytes()
            .windows(3)
            .any(|three| matches!(three, [one, b'-', next] if one.is_ascii_lowercase() && next.is_ascii_uppercase()))
    };
    joints
        || hyphens()
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
        PageKind::of(&page.front_matter, page.title.as_deref().unwrap_or_default(), &page.headings)
    }

    #[test]
    fn headings_tell_what_kind_of_page_it_is() {
        for (text, expected) in [
            ("# Retries\n\n## How often\n\n## When to stop\n", PageKind::Prose),
            ("# Retries\n\n## `max_retries`\n", PageKind::Prose),
            ("# flows\n\n## `get_flow`\n\n## `Flow.run(name)`\n\n## Classes\n", PageKind::Reference),
            ("# Options\n\n### testTimeout\n\n### hook.timeout\n", PageKind::Reference),
            ("# `slack.messages`\n\n## Functions\n\n### `send_message`\n", PageKind::Reference),
            ("# Cmdlets\n\n## Get-Process\n\n## Stop-Process\n", PageKind::Reference),
            ("# The old way (Legacy)\n\n## Install\n", PageKind::Outdated),
            ("---\ntitle: Agents\ndeprecated: true\n---\n\nAn agent.\n", PageKind::Outdated),
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
            (asks.reference, asks.changes, asks.outdated)
        };
        for (text, expected) in [
            ("How do I retry a task?", (false, false, false)),
            ("what does max_retries do", (true, false, false)),
            ("testTimeout", (true, false, false)),
            ("get_flow()", (true, false, false)),
            ("Stop-Process", (true, false, false)),
            ("the reference of tasks", (true, false, false)),
            ("where do I put API keys", (false, false, false)),
            ("create a new key when the inputs have not changed", (false, false, false)),
            ("What changed in 2.4.1?", (true, true, false)),
            ("What's new in retries?", (false, true, false)),
            ("is it in the last release", (false, true, false)),
            ("how did the old agents work", (false, false, true)),
        ] {
            assert_eq!(asks(text), expected, "{text}");
        }
    }
}
