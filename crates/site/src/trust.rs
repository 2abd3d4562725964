//! Measures whether a site obeys the link rules that this crate assumes.
//!
//! A site that people read has few broken links. If many links of one shape look broken, or none of them resolves, the
//! assumed rule is more likely wrong than the authors are. Findings under such a rule are doubted: they are neither
//! reported as broken nor repaired.

use std::collections::BTreeMap;
use std::fmt;

use docent_markdown::{Link, LinkKind};

use crate::check::Finding;
use crate::follow::{has_page_ending, parts};

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
        let name = path.rsplit('/').next().unwrap_or("");
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
    const SLIPS: usize = 5;
    /// Percentage of broken links that a large site may have by mistake.
    const SHARE: usize = 4;
    /// From this number of broken links on, a majority of broken ones shows that the rule does not apply to the site.
    const SEVERAL: usize = 3;
    /// A site with fewer links than this has not shown how it writes them.
    const FEW: usize = 5;

    fn is_obeyed(self) -> bool {
        let allowed = Self::SLIPS.max((self.obeyed + self.broken) * Self::SHARE / 100);
        self.broken <= allowed && (self.broken < Self::SEVERAL || self.broken <= self.obeyed)
    }
}

/// Evidence from the pages of a site about the rules it obeys.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    tallies: BTreeMap<Rule, Tally>,
}

impl Trust {
    /// Counts one observation, from a place on a page or a whole page, for or against a rule.
    pub fn note(&mut self, rule: Rule, is_obeyed: bool) {
        let tally = self.tallies.entry(rule).or_default();
        if is_obeyed { tally.obeyed += 1 } else { tally.broken += 1 }
    }

    /// Whether the site obeys a rule, so that a violation is a mistake of the site. Never true of [`Rule::Followable`].
    pub fn holds(&self, rule: Rule) -> bool {
        if rule == Rule::Followable {
            return false;
        }
        self.tallies.get(&rule).copied().unwrap_or_default().is_obeyed()
    }

    /// Whether the site obeys a rule and has at least one example of that, so that the first violation is a mistake. A
    /// site with few links cannot have shown much, and counts as obeying.
    pub fn is_shown(&self, rule: Rule) -> bool {
        let obeyed = self.tallies.get(&rule).is_some_and(|tally| tally.obeyed > 0);
        self.holds(rule) && (obeyed || self.links() < Tally::FEW)
    }

    /// Whether the violations of one rule are rare enough to count as mistakes under another rule that the site
    /// demonstrably obeys.
    pub fn are_slips_of(&self, broken: Rule, other: Rule) -> bool {
        let of = |rule| self.tallies.get(&rule).copied().unwrap_or_default();
        let (slips, known) = (of(broken).broken, of(other));
        known.obeyed >= Tally::FEW && Tally { broken: known.broken + slips, ..known }.is_obeyed()
    }

    fn links(&self) -> usize {
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
pub struct Doubt {
    pub rule: Rule,
    /// Not empty.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.findings.len();
        let many = if count == 1 { "" } else { "s" };
        match self.rule {
            Rule::Link(shape) => {
                let place = if shape.is_served { "" } else { " in files that are no pages" };
                write!(f, "{count} {shape}{many}{place}")?;
            }
            Rule::Anchor => write!(f, "{count} anchor{many}")?,
            Rule::Readable => write!(f, "{count} place{many} that could not be read")?,
            Rule::Title => write!(f, "{count} title{many}")?,
            Rule::Followable => write!(f, "{count} link{many} of the site's build")?,
            Rule::Navigation => write!(f, "{count} entr{} of the navigation", if count == 1 { "y" } else { "ies" })?,
        }
        f.write_str(" could not be checked, as it is not understood how this site reads them")?;
        self.findings.first().map_or(Ok(()), |first| write!(f, " (for one, {}:{})", first.path, first.line))
    }
}

impl fmt::Display for LinkShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.is_absolute { "absolute" } else { "relative" };
        let kind = match self.ending {
            LinkEnding::Page => " `.md`",
            LinkEnding::Html => " `.html`",
            LinkEnding::Slash => " trailing-slash",
            LinkEnding::None => "",
            LinkEnding::Other => " file",
        };
        let place = if self.is_attribute { " HTML" } else { "" };
        write!(f, "{way}{kind}{place} link")
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
        let trust = |obeyed: usize, broken: usize| {
            let mut trust = Trust::default();
            (0..obeyed).for_each(|_| trust.note(rule, true));
            (0..broken).for_each(|_| trust.note(rule, false));
            trust
        };
        for (obeyed, broken, holds) in [
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
            assert_eq!(trust(obeyed, broken).holds(rule), holds, "{obeyed} and {broken}");
        }
    }

    #[test]
    fn a_few_that_lack_an_ending_are_slips_of_the_rule_that_has_it() {
        let (bare, named) = (Rule::Link(LinkShape::of("a")), Rule::Link(LinkShape::of("a.md")));
        for (obeyed, broken, expected) in [(4, 3, false), (5, 3, true), (20, 6, false), (200, 6, true)] {
            let mut trust = Trust::default();
            (0..obeyed).for_each(|_| trust.note(named, true));
            (0..broken).for_each(|_| trust.note(bare, false));
            assert!(!trust.holds(bare));
            assert_eq!(trust.are_slips_of(bare, named), expected, "{broken} beside {obeyed}");
        }
    }

    #[test]
    fn what_a_site_has_never_done_is_no_rule_of_it() {
        let (known, other) = (Rule::Link(LinkShape::of("a.md")), Rule::Link(LinkShape::of("/a")));
        let mut trust = Trust::default();
        assert!(trust.is_shown(other), "an empty site is taken at its word");
        (0..20).for_each(|_| trust.note(known, true));
        assert!(trust.is_shown(known) && !trust.is_shown(other));
    }
}
