//! Classifies sections: those that explain, those that link to other pages, and those about something deprecated.
//!
//! Cards, *Next steps* and tables of contents contain the words of many pages and answer nothing. A section about
//! something deprecated contains the words of its replacement. Within a page such sections rank after those that
//! explain, and a page that contains the words nowhere else ranks after pages that do. A list of links without an
//! announcing heading does not lower its page: such lists are what index pages are for.

use docent_markdown::{Link, LinkKind, Section};

use crate::index::page_kind::AskedKind;
use crate::rank::settings::Settings;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionKind {
    Explains,
    /// Links and little more: cards, a table of contents.
    Lists,
    /// Below a heading that announces other pages.
    Leads,
    /// About something deprecated.
    Outdated,
}

/// Minimum number of links in a list.
const FEWEST: usize = 2;
/// Maximum number of words per link of a list, on average; as many more may introduce the list.
const WORDS_OF_A_LINK: usize = 25;
/// Attributes that hold a link to a page.
const LEADING: [&str; 5] = ["href", "to", "link", "url", "entry"];

impl SectionKind {
    /// `links` are the links of the page, in order, and `source` is its text.
    pub(crate) fn of(section: &Section, links: &[Link], source: &str) -> Self {
        let heading = section.headings.last().map_or("", AsRef::as_ref);
        if is_outdated(heading) {
            return Self::Outdated;
        }
        if !section.code.is_empty() {
            return Self::Explains;
        }
        let span = &section.markdown_span;
        let begin = links.partition_point(|link| link.span.start < span.start);
        let own = links[begin..].iter().take_while(|link| link.span.start < span.end);
        let items = own.filter(|link| stands_first(link, source)).count();
        if items > 0 && announces_pages(heading) {
            return Self::Leads;
        }
        let words = section.text.split_whitespace().count();
        if items >= FEWEST && words <= WORDS_OF_A_LINK * (items + 1) { Self::Lists } else { Self::Explains }
    }

    /// By their stored values, from 1; the default kind has none.
    const MARKED: [(u64, Self); 3] = [(1, Self::Lists), (2, Self::Leads), (3, Self::Outdated)];

    /// The stored value of the kind.
    pub(crate) fn mark(self) -> Option<u64> {
        Self::MARKED.iter().find(|(_, kind)| *kind == self).map(|(mark, _)| *mark)
    }

    pub(crate) fn of_mark(mark: Option<u64>) -> Self {
        Self::MARKED.iter().find(|(known, _)| Some(*known) == mark).map_or(Self::Explains, |(_, kind)| *kind)
    }

    /// Whether sections of the page that explain rank before a section of this kind.
    pub(crate) fn comes_after(self, asks: &AskedKind) -> bool {
        match self {
            Self::Explains => false,
            Self::Lists | Self::Leads => true,
            Self::Outdated => !asks.outdated,
        }
    }

    /// Score factor of a page that contains the question's words only in sections of this kind.
    pub(crate) fn counts(self, asks: &AskedKind, settings: &Settings) -> f32 {
        match self {
            Self::Leads => settings.leads,
            Self::Outdated if !asks.outdated => settings.outdated,
            _ => 1.0,
        }
    }
}

/// Whether a link is the subject of its item, line or card, and not part of a sentence.
fn stands_first(link: &Link, source: &str) -> bool {
    match &link.kind {
        LinkKind::Image => false,
        LinkKind::Attribute { element, .. } if element == "a" => begins_line(link, source),
        LinkKind::Attribute { attribute, .. } => LEADING.contains(&attribute.as_str()),
        _ => begins_line(link, source),
    }
}

fn begins_line(link: &Link, source: &str) -> bool {
    let before = source.get(..link.span.start).unwrap_or_default();
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "-*+.)|#>_`[".contains(c);
    // Backwards, and only to the first letter: a line may have many links.
    before.chars().rev().find(|c| *c == '\n' || !is_mark(*c)).is_none_or(|c| c == '\n')
}

/// Whether a heading announces other pages.
fn announces_pages(heading: &str) -> bool {
    const HEADINGS: [&str; 14] = [
        "next steps", "see also", "related", "further reading", "learn more", "more resources", "additional resources",
        "what's next", "what’s next", "read more", "where to go", "in this section", "on this page",
        "table of contents",
    ];
    let heading = heading.to_lowercase();
    HEADINGS.iter().any(|known| heading.starts_with(known))
}

/// Whether a heading or a title announces something deprecated.
pub(crate) fn is_outdated(heading: &str) -> bool {
    heading.split(|c: char| !c.is_alphanumeric()).any(|word| {
        ["deprecated", "deprecation", "deprecations", "legacy", "obsolete"]
            .iter()
            .any(|one| one.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(file: &str, text: &str) -> SectionKind {
        let page = docent_markdown::parse(file, text.as_bytes());
        SectionKind::of(page.sections.last().expect("a section"), &page.links, text)
    }

    #[test]
    fn a_section_explains_lists_leads_or_is_outdated() {
        for (text, expected) in [
            ("## Rotate\n\nTurn the key, see [keys](/keys) and [locks](/locks).\n", SectionKind::Explains),
            ("## Rotate\n\n- Turn the [key](/keys).\n- See [locks](/locks).\n", SectionKind::Explains),
            ("## Keys\n\n- [Rotate](/keys): how to.\n- [Locks](/locks)\n", SectionKind::Lists),
            ("## Keys\n\n1. [Rotate](#rotate)\n2. [Locks](#locks)\n", SectionKind::Lists),
            ("## Keys\n\n[Rotate](/keys)\n\n[Locks](/locks)\n\n```sh\nturn\n```\n", SectionKind::Explains),
            (
                "## Keys\n\n<Card title=\"Rotate\" href=\"/keys\">How to.</Card>\n<Card title=\"Locks\" href=\"/locks\" />\n",
                SectionKind::Lists,
            ),
            ("## Next steps\n\n<Card title=\"Rotate\" href=\"/keys\">How to.</Card>\n", SectionKind::Leads),
            ("## See also\n\n- [Rotate](/keys)\n", SectionKind::Leads),
            ("## Related work\n\nThe key was turned by hand before.\n", SectionKind::Explains),
            ("## Agents (deprecated)\n\nAn agent turned the key.\n", SectionKind::Outdated),
            ("## Legacy keys\n\n- [Rotate](/keys)\n- [Locks](/locks)\n", SectionKind::Outdated),
        ] {
            assert_eq!(kind("a.mdx", text), expected, "{text}");
        }
        let contents = "Keys\n====\n\n.. toctree::\n\n   rotate\n   locks\n";
        assert_eq!(kind("a.rst", contents), SectionKind::Lists);
    }

    #[test]
    fn a_kind_is_read_as_it_is_written_down() {
        for kind in [SectionKind::Explains, SectionKind::Lists, SectionKind::Leads, SectionKind::Outdated] {
            assert_eq!(SectionKind::of_mark(kind.mark()), kind);
        }
    }
}
