//! Measures whether a site obeys the link rules that this crate assumes.
//!
//! A site that people read has few broken links. If many links of one shape look broken, or none of them resolves, the
//! assumed rule is more likely wrong than the authors are. Findings under such a rule are doubted: they are neither
//! reported as broken nor repaired.

use std::collections::BTreeMap;
use std::fmt;

use docent_markdown::{Link, LinkKind, file_name};

use crate::finding::Finding;
use crate::link_target::{has_page_ending, parts};

/// The ending of the last segment of a link's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkEnding {
    /// The extension of a page's file, such as `.md`.
    Page,
    Html,
    Slash,
    None,
    /// Another extension, such as that of an image.
    Other,
}

/// The properties of a link that decide how it is resolved. Links of one shape are trusted or doubted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkShape {
    /// Whether the link is on a page that the site serves, and not in another file.
    pub is_served: bool,
    /// Whether the link is an attribute of an element, which many generators leave to the browser.
    pub is_attribute: bool,
    pub is_absolute: bool,
    pub ending: LinkEnding,
}

impl LinkShape {
    /// The shape of a link, on a page that the site serves or in another file.
    pub fn of_link(link: &Link, is_served: bool) -> Self {
        let is_attribute = matches!(link.kind, LinkKind::Attribute { .. });
        Self { is_served, is_attribute, ..Self::of(&link.target) }
    }

    /// The shape of a Markdown link on a page that is served.
    pub fn of(target: &str) -> Self {
        let (path, _) = parts(target);
        let name = file_name(path);
        let ending = match name.rsplit_once('.') {
            _ if path.ends_with('/') || matches!(name, "." | "..") => LinkEnding::Slash,
            _ if has_page_ending(name) => LinkEnding::Page,
            Some((_, ending)) if ["html", "htm"].iter().any(|known| ending.eq_ignore_ascii_case(known)) => {
                LinkEnding::Html
            }
            // `v1.2` and `setup.linux-x64` are names without an extension.
            Some((stem, ending))
                if !stem.is_empty()
                    && (1..=5).contains(&ending.len())
                    && ending.starts_with(|c: char| c.is_ascii_alphabetic())
                    && ending.chars().all(|c| c.is_ascii_alphanumeric()) =>
            {
                LinkEnding::Other
            }
            _ => LinkEnding::None,
        };
        Self { is_served: true, is_attribute: false, is_absolute: path.starts_with('/'), ending }
    }
}

/// A rule that a site may obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A link of this shape resolves.
    Link(LinkShape),
    /// The anchor of a link exists on the page it leads to.
    Anchor,
    /// A page can be parsed.
    Readable,
    /// A page has a title.
    Title,
    /// The navigation names pages that exist.
    Navigation,
    /// A link can be resolved without the site's build: it is not an expression and requires no unknown rule.
    Followable,
}

/// How often a rule is obeyed, and how often it appears broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Tally {
    obeyed: usize,
    broken: usize,
}

impl Tally {
    /// Number of broken links that even a small site may have by mistake.
    const ALLOWED_MISTAKES: usize = 5;
    /// Percentage of broken links that a large site may have by mistake.
    const ALLOWED_MISTAKES_PERCENT: usize = 4;
    /// From this number of broken links on, a majority of broken ones shows that the rule does not apply to the site.
    const MIN_BROKEN_FOR_MAJORITY: usize = 3;
    /// A site with fewer links than this has not shown how it writes them.
    const MIN_LINKS: usize = 5;

    fn is_obeyed(self) -> bool {
        let allowed = Self::ALLOWED_MISTAKES.max((self.obeyed + self.broken) * Self::ALLOWED_MISTAKES_PERCENT / 100);
        self.broken <= allowed && (self.broken < Self::MIN_BROKEN_FOR_MAJORITY || self.broken <= self.obeyed)
    }
}

/// Evidence from the pages of a site about the rules it obeys.
#[derive(Debug, Clone, Default)]
pub struct RuleEvidence {
    tallies: BTreeMap<Rule, Tally>,
}

impl RuleEvidence {
    /// Counts one observation, from a place on a page or a whole page, for or against a rule.
    pub fn note(&mut self, rule: Rule, is_obeyed: bool) {
        let tally = self.tallies.entry(rule).or_default();
        if is_obeyed { tally.obeyed += 1 } else { tally.broken += 1 }
    }

    /// Whether the site obeys a rule, so that a violation is a mistake of the site. Never true of [`Rule::Followable`].
    pub fn is_obeyed(&self, rule: Rule) -> bool {
        if rule == Rule::Followable {
            return false;
        }
        self.tallies.get(&rule).copied().unwrap_or_default().is_obeyed()
    }

    /// Whether the site obeys a rule and has at least one example of that, so that the first violation is a mistake. A
    /// site with few links cannot have shown much, and counts as obeying.
    pub fn is_demonstrated(&self, rule: Rule) -> bool {
        let has_example = self.tallies.get(&rule).is_some_and(|tally| tally.obeyed > 0);
        self.is_obeyed(rule) && (has_example || self.link_count() < Tally::MIN_LINKS)
    }

    /// Whether so many links are rare enough to count as mistakes under a rule that the site demonstrably obeys.
    pub fn are_slips(&self, rule: Rule, slips: usize) -> bool {
        let obeyed = self.tallies.get(&rule).map_or(0, |tally| tally.obeyed);
        obeyed >= Tally::MIN_LINKS && Tally { obeyed, broken: slips }.is_obeyed()
    }

    fn link_count(&self) -> usize {
        let links = self.tallies.iter().filter(|(rule, _)| matches!(rule, Rule::Link(_)));
        links.map(|(_, tally)| tally.obeyed + tally.broken).sum()
    }

    /// How often a rule is obeyed and how often it appears broken.
    pub fn counts(&self, rule: Rule) -> (usize, usize) {
        let tally = self.tallies.get(&rule).copied().unwrap_or_default();
        (tally.obeyed, tally.broken)
    }
}

/// A rule that the site does not seem to obey, and the findings under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubtedFindings {
    pub rule: Rule,
    /// Not empty.
    pub findings: Vec<Finding>,
}

/// Maximum number of findings that are named.
const MOST_NAMED: usize = 20;

impl fmt::Display for DoubtedFindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.findings.len();
        let plural = if count == 1 { "" } else { "s" };
        match self.rule {
            Rule::Link(shape) => {
                let place = if shape.is_served { "" } else { " in files that are no pages" };
                write!(f, "{count} {shape}{plural}{place}")?;
            }
            Rule::Anchor => write!(f, "{count} anchor{plural}")?,
            Rule::Readable => write!(f, "{count} place{plural} that could not be read")?,
            Rule::Title => write!(f, "{count} title{plural}")?,
            Rule::Followable => write!(f, "{count} link{plural} of the site's build")?,
            Rule::Navigation => write!(f, "{count} entr{} of the navigation", if count == 1 { "y" } else { "ies" })?,
        }
        f.write_str(" could not be checked, as it is not understood how this site reads them")?;
        for (number, Finding { path, line, message, target, .. }) in self.findings.iter().take(MOST_NAMED).enumerate() {
            write!(f, "{} {path}:{line}", if number == 0 { ":" } else { "," })?;
            // The link, as it is written, or the entry of the navigation.
            let written = if target.is_empty() { message.split('`').nth(1).unwrap_or_default() } else { target };
            if !written.is_empty() {
                write!(f, " `{written}`")?;
            }
        }
        let more = count.saturating_sub(MOST_NAMED);
        if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
    }
}

impl fmt::Display for LinkShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = if self.is_absolute { "absolute" } else { "relative" };
        let kind = match self.ending {
            LinkEnding::Page => " `.md`",
            LinkEnding::Html => " `.html`",
            LinkEnding::Slash => " trailing-slash",
            LinkEnding::None => "",
            LinkEnding::Other => " file",
        };
        let place = if self.is_attribute { " HTML" } else { "" };
        write!(f, "{form}{kind}{place} link")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_sorted_by_what_they_rely_on() {
        for (target, is_absolute, ending) in [
            ("/a/b.md#x", true, LinkEnding::Page),
            ("../b.MDX?y=1", false, LinkEnding::Page),
            ("/a.html", true, LinkEnding::Html),
            ("/a/#b.md", true, LinkEnding::Slash),
            ("..", false, LinkEnding::Slash),
            ("/", true, LinkEnding::Slash),
            ("b", false, LinkEnding::None),
            ("/release/v1.2", true, LinkEnding::None),
            ("img/a.png", false, LinkEnding::Other),
        ] {
            let shape = LinkShape::of(target);
            assert_eq!((shape.is_absolute, shape.ending), (is_absolute, ending), "{target}");
        }
    }

    #[test]
    fn a_few_slips_are_mistakes_and_many_are_a_rule_that_is_not_known() {
        let rule = Rule::Anchor;
        let evidence = |obeyed: usize, broken: usize| {
            let mut evidence = RuleEvidence::default();
            (0..obeyed).for_each(|_| evidence.note(rule, true));
            (0..broken).for_each(|_| evidence.note(rule, false));
            evidence
        };
        for (obeyed, broken, expected) in [
            (0, 0, true),
            (0, 1, true),
            (0, 2, true),
            (0, 3, false),
            (3, 3, true),
            (4, 5, false),
            (50, 5, true),
            (50, 6, false),
            (1000, 41, true),
            (1000, 43, false),
        ] {
            assert_eq!(evidence(obeyed, broken).is_obeyed(rule), expected, "{obeyed} and {broken}");
        }
    }

    #[test]
    fn a_few_are_slips_beside_the_links_that_obey_a_rule() {
        let named = Rule::Link(LinkShape::of("a.md"));
        for (obeyed, broken, expected) in [(4, 3, false), (5, 3, true), (20, 6, false), (200, 6, true)] {
            let mut evidence = RuleEvidence::default();
            (0..obeyed).for_each(|_| evidence.note(named, true));
            assert_eq!(evidence.are_slips(named, broken), expected, "{broken} beside {obeyed}");
        }
    }

    #[test]
    fn rules_need_an_example_on_the_site() {
        let (known, other) = (Rule::Link(LinkShape::of("a.md")), Rule::Link(LinkShape::of("/a")));
        let mut evidence = RuleEvidence::default();
        assert!(evidence.is_demonstrated(other), "an empty site is taken at its word");
        (0..20).for_each(|_| evidence.note(known, true));
        assert!(evidence.is_demonstrated(known) && !evidence.is_demonstrated(other));
    }
}
