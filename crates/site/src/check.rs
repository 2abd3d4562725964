//! Checks a site: broken links and anchors, unreadable pages, missing titles, and navigation entries without a page.
//!
//! [`new_findings`] compares two trees, and its cost depends on what changed between them: it reads the changed pages,
//! and other pages only when a page, file or anchor that their text may name is gone. A finding under a rule that the
//! site does not obey is reported as a doubt and not as a finding (see `rule_evidence`).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use docent_markdown::{Page, is_page, line_of, text_of};

use crate::backlinks::{any_of, needles};
use crate::finding::{Finding, FindingKind};
use crate::link_target::{LinkSyntax, is_external, is_fragment, parts};
use crate::model::{Site, Target};
use crate::navigation::Navigation;
use crate::rule_evidence::{DoubtedFindings, LinkShape, Rule, RuleEvidence};
use crate::shown_pages::ShownPages;
use crate::site_data::SiteData;
use crate::tree::Tree;

/// Maximum number of pages that are read to learn which rules a site obeys.
const SAMPLE_SIZE: usize = 400;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// In order of file and line.
    pub findings: Vec<Finding>,
    /// Findings that could not be confirmed, grouped by rule.
    pub doubts: Vec<DoubtedFindings>,
}

impl Checked {
    /// Whether there are no doubts.
    pub fn is_certain(&self) -> bool {
        self.doubts.is_empty()
    }
}

/// Checks a whole site.
pub fn findings(tree: &dyn Tree) -> Checked {
    let mut check = Check::of(tree);
    let mut evidence = RuleEvidence::default();
    let pages: Vec<String> = check.site.files().filter(|file| check.site.is_page(file)).map(str::to_owned).collect();
    let mut found: Vec<RuleFinding> = pages.iter().flat_map(|file| check.page_findings(file, &mut evidence)).collect();
    found.extend(check.navigation_findings(&mut evidence));
    split_confirmed_and_doubted(found, |found| evidence.is_obeyed(found.rule))
}

/// Checks only these files; files that are no pages of the site are skipped.
pub fn findings_in(tree: &dyn Tree, files: &[String]) -> Checked {
    let mut check = Check::of(tree);
    let mut unused_evidence = RuleEvidence::default();
    let mut found: Vec<RuleFinding> =
        files.iter().flat_map(|file| check.page_findings(file, &mut unused_evidence)).collect();
    if files.iter().any(|file| SiteData::of(file).is_some()) {
        found.extend(check.navigation_findings(&mut unused_evidence));
    }
    let evidence = if found.is_empty() { unused_evidence } else { check.evidence() };
    split_confirmed_and_doubted(found, |found| evidence.is_obeyed(found.rule))
}

/// The findings in `after` that were not in `before`, judged by the rules that `before` obeys. `changed` names every
/// file in which the two trees differ: modified, created or deleted.
pub fn new_findings(before: &dyn Tree, after: &dyn Tree, changed: &[String]) -> Checked {
    let changed: BTreeSet<&str> = changed.iter().map(String::as_str).collect();
    let (mut old, mut new) = (Check::of(before), Check::of(after));
    let mut files: BTreeSet<String> =
        changed.iter().filter(|file| new.site.is_page(file)).map(|file| (*file).to_owned()).collect();
    files.extend(unchanged_files_affected(&mut old, &mut new, &changed));
    let mut unused_evidence = RuleEvidence::default();
    let mut known: Vec<RuleFinding> =
        files.iter().flat_map(|file| old.page_findings(file, &mut unused_evidence)).collect();
    let mut found: Vec<RuleFinding> =
        files.iter().flat_map(|file| new.page_findings(file, &mut unused_evidence)).collect();
    let lists_change = changed.iter().any(|file| is_page(file) || SiteData::of(file).is_some());
    if lists_change {
        known.extend(old.navigation_findings(&mut unused_evidence));
        found.extend(new.navigation_findings(&mut unused_evidence));
    }
    let found = without_known(found, known, &new.site);
    if found.is_empty() {
        return Checked::default();
    }
    // A link that resolved before and no longer does is broken under any rule.
    let evidence = old.evidence();
    split_confirmed_and_doubted(found, |found| old.resolves_link_of(found) || evidence.is_demonstrated(found.rule))
}

/// Splits findings into those that are reported and, by rule, those that are doubted. Missing titles are dropped
/// instead of doubted.
fn split_confirmed_and_doubted(found: Vec<RuleFinding>, mut is_confirmed: impl FnMut(&RuleFinding) -> bool) -> Checked {
    let mut checked = Checked::default();
    let mut doubts: BTreeMap<Rule, Vec<Finding>> = BTreeMap::new();
    for found in found {
        match (is_confirmed(&found), found.rule) {
            (true, _) => checked.findings.push(found.finding),
            (false, Rule::Title) => {}
            (false, rule) => doubts.entry(rule).or_default().push(found.finding),
        }
    }
    checked.findings.sort();
    checked.doubts = doubts
        .into_iter()
        .map(|(rule, mut findings)| {
            findings.sort();
            DoubtedFindings { rule, findings }
        })
        .collect();
    checked
}

/// Unchanged files that may be affected: their text may name a page, file, anchor or redirect that is gone.
fn unchanged_files_affected(old: &mut Check<'_>, new: &mut Check<'_>, changed: &BTreeSet<&str>) -> Vec<String> {
    let mut gone: Vec<String> = Vec::new();
    for file in changed {
        if !old.site.has_file(file) {
            continue;
        }
        let page = is_page(file).then(|| old.page(file)).flatten();
        let slug_before = page.as_ref().and_then(|read| read.page.front_matter.slug().map(str::to_owned));
        if !new.site.has_file(file) {
            gone.extend(needles(file, slug_before.as_deref()));
        } else if let (Some(before), Some(after)) = (page, new.page(file)) {
            let (before, after) = (&before.page, &after.page);
            gone.extend(before.anchors().filter(|anchor| !after.has_anchor(anchor)).map(|anchor| format!("#{anchor}")));
            if let Some(slug) = slug_before.filter(|slug| after.front_matter.slug() != Some(slug.as_str())) {
                gone.extend(needles(file, Some(&slug)));
            }
        }
    }
    let sources_after: HashSet<&str> = new.site.redirect_sources().collect();
    let gone_sources = old.site.redirect_sources().filter(|source| !sources_after.contains(source));
    gone.extend(
        gone_sources.map(|source| source.trim_end_matches(['*', '/']).rsplit('/').next().unwrap_or("").to_owned()),
    );
    if gone.is_empty() {
        return Vec::new();
    }
    gone.sort();
    gone.dedup();
    let pattern = any_of(gone.iter().map(String::as_str));
    let files = new.site.files().filter(|file| new.site.is_page(file) && !changed.contains(file));
    let may_name = |file: &&str| match (&pattern, new.tree.read(file)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(pattern), Some(bytes)) => pattern.is_match(bytes.as_slice()),
    };
    files.filter(may_name).map(str::to_owned).collect()
}

/// A finding, with the parts of it that survive a move of its page or of its target.
struct RuleFinding {
    finding: Finding,
    /// The rule that the finding violates.
    rule: Rule,
    /// The text of the link and its anchor; empty if the finding is not about a link.
    gist: String,
    syntax: LinkSyntax,
}

impl RuleFinding {
    /// A finding that is not about a link.
    fn of(rule: Rule, finding: Finding) -> Self {
        Self { finding, rule, gist: String::new(), syntax: LinkSyntax::Markdown }
    }
}

/// The findings without the known ones; each known finding removes one match. Matched in this order: the identical
/// finding; on the same page, one with the same link text and anchor, whose target may have followed a page that moved;
/// then findings of deleted pages, which may have been moved to this page.
fn without_known(found: Vec<RuleFinding>, known: Vec<RuleFinding>, site: &Site) -> Vec<RuleFinding> {
    type Key = (Option<String>, FindingKind, String);
    let same =
        |found: &RuleFinding| (Some(found.finding.path.clone()), found.finding.kind, found.finding.message.clone());
    let alike = |found: &RuleFinding| (Some(found.finding.path.clone()), found.finding.kind, found.gist.clone());
    let moved = |found: &RuleFinding| (None, found.finding.kind, found.finding.message.clone());
    let moved_alike = |found: &RuleFinding| (None, found.finding.kind, found.gist.clone());
    let (mut known, gone): (Vec<RuleFinding>, Vec<RuleFinding>) =
        known.into_iter().partition(|known| site.has_file(&known.finding.path));
    let mut remaining = found;
    let mut remove_matches = |known: &mut Vec<RuleFinding>, key: &dyn Fn(&RuleFinding) -> Key| {
        let mut counts: HashMap<Key, usize> = HashMap::new();
        for found in known.iter() {
            *counts.entry(key(found)).or_default() += 1;
        }
        let mut used: HashMap<Key, usize> = HashMap::new();
        remaining.retain(|found| match counts.get_mut(&key(found)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                *used.entry(key(found)).or_default() += 1;
                false
            }
            _ => true,
        });
        known.retain(|found| match used.get_mut(&key(found)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
    };
    remove_matches(&mut known, &same);
    // A target that is missing cannot have moved: another one in its place was written, and is new.
    known.retain(|found| !found.gist.is_empty() && found.finding.kind != FindingKind::BrokenLink);
    remove_matches(&mut known, &alike);
    let mut gone = gone;
    remove_matches(&mut gone, &moved);
    gone.retain(|found| !found.gist.is_empty());
    remove_matches(&mut gone, &moved_alike);
    remaining
}

/// A tree under check. Each page is read lazily and once.
struct Check<'a> {
    tree: &'a dyn Tree,
    site: Site,
    pages: HashMap<String, Option<Rc<PageAndBytes>>>,
    shown: ShownPages,
}

/// A page with its file's bytes.
struct PageAndBytes {
    page: Page,
    bytes: Vec<u8>,
}

impl<'a> Check<'a> {
    fn of(tree: &'a dyn Tree) -> Self {
        Self { tree, site: Site::read(tree), pages: HashMap::new(), shown: ShownPages::default() }
    }

    fn page(&mut self, file: &str) -> Option<Rc<PageAndBytes>> {
        if let Some(page) = self.pages.get(file) {
            return page.clone();
        }
        let page =
            self.tree.read(file).map(|bytes| Rc::new(PageAndBytes { page: self.site.parse(file, &bytes), bytes }));
        self.pages.insert(file.to_owned(), page.clone());
        page
    }

    /// Learns which rules the site obeys from an evenly spaced sample of its pages.
    fn evidence(&mut self) -> RuleEvidence {
        let mut evidence = RuleEvidence::default();
        let pages: Vec<String> = self.site.files().filter(|file| self.site.is_page(file)).map(str::to_owned).collect();
        let step = pages.len().div_ceil(SAMPLE_SIZE).max(1);
        for file in pages.iter().step_by(step) {
            self.page_findings(file, &mut evidence);
        }
        self.navigation_findings(&mut evidence);
        evidence
    }

    /// The findings on one page. `evidence` counts how the page obeys each rule.
    fn page_findings(&mut self, file: &str, evidence: &mut RuleEvidence) -> Vec<RuleFinding> {
        if !self.site.is_page(file) {
            return Vec::new();
        }
        let Some(read) = self.page(file) else { return Vec::new() };
        let (page, text) = (&read.page, text_of(&read.bytes));
        let finding = |line, kind, message| {
            let (path, target) = (file.to_owned(), String::new());
            Finding { path, line, kind, message, target }
        };
        evidence.note(Rule::Readable, page.problems.is_empty());
        let mut found: Vec<RuleFinding> = page
            .problems
            .iter()
            .map(|problem| {
                RuleFinding::of(Rule::Readable, finding(problem.line, FindingKind::Unreadable, problem.message.clone()))
            })
            .collect();
        let is_served = self.site.address(file).is_some();
        if is_served && !is_fragment(file) && page.format.is_markdown() {
            evidence.note(Rule::Title, page.front_matter.title().is_some());
            if page.front_matter.title().is_none() {
                let message = "the front matter has no `title`".to_owned();
                found.push(RuleFinding::of(Rule::Title, finding(1, FindingKind::MissingTitle, message)));
            }
        }
        for link in &page.links {
            let shape = LinkShape::of_link(link, is_served);
            let (kind, message, rule) = match self.site.resolve_link(file, link) {
                Target::External => continue,
                Target::NotUnderstood => (
                    FindingKind::NotUnderstood,
                    format!("where `{}` leads is not understood", link.target),
                    Rule::Followable,
                ),
                Target::Missing { .. } => {
                    (FindingKind::BrokenLink, format!("`{}` leads nowhere", link.target), Rule::Link(shape))
                }
                target => {
                    if !parts(&link.target).0.is_empty() {
                        evidence.note(Rule::Link(shape), true);
                    }
                    match (self.finds_anchor(&target), target) {
                        (Some(false), Target::Page { .. }) if !self.site.layout().knows_anchors() => (
                            FindingKind::NotUnderstood,
                            format!("only the site's build knows whether the anchor of `{}` exists", link.target),
                            Rule::Followable,
                        ),
                        (Some(false), Target::Page { file, .. }) => (
                            FindingKind::BrokenAnchor,
                            format!("`{}` names an anchor that `{file}` does not have", link.target),
                            Rule::Anchor,
                        ),
                        (known, _) => {
                            if known.is_some() {
                                evidence.note(Rule::Anchor, true);
                            }
                            continue;
                        }
                    }
                }
            };
            evidence.note(rule, false);
            let anchor = link.target.split_once('#').map_or("", |(_, anchor)| anchor);
            let finding = finding(line_of(&text, link.span.start), kind, message);
            found.push(RuleFinding {
                finding: Finding { target: link.target.clone(), ..finding },
                rule,
                gist: format!("{}#{anchor}", link.text),
                syntax: LinkSyntax::of(&link.kind),
            });
        }
        found
    }

    /// Whether the page that a link leads to has the anchor by the rules of its generator; `None` if the link has no anchor
    /// or what the page includes cannot be known.
    fn finds_anchor(&mut self, target: &Target) -> Option<bool> {
        let Target::Page { file, anchor: Some(anchor) } = target else { return None };
        let read = self.page(file)?;
        self.shown.finds_anchor(&self.site, self.tree, &read.page, anchor)
    }

    /// Whether the link of a finding was sound in this tree: the same target on the same page resolved.
    fn resolves_link_of(&mut self, found: &RuleFinding) -> bool {
        let Finding { path: from, target, .. } = &found.finding;
        if target.is_empty() || !(self.site.has_file(from) || target.starts_with('/')) {
            return false;
        }
        match self.site.resolve_in(from, target, found.syntax) {
            Target::External | Target::NotUnderstood | Target::Missing { .. } => false,
            target => {
                let knows_anchors = self.site.layout().knows_anchors();
                let known = self.finds_anchor(&target).filter(|is_there| *is_there || knows_anchors);
                known.unwrap_or(found.finding.kind == FindingKind::BrokenLink)
            }
        }
    }

    fn navigation_findings(&mut self, evidence: &mut RuleEvidence) -> Vec<RuleFinding> {
        let Some(navigation) = Navigation::read(self.tree, self.site.layout().home()) else { return Vec::new() };
        let texts: Vec<Vec<u8>> =
            navigation.files.iter().map(|file| self.tree.read(file).unwrap_or_default()).collect();
        let finding = |path: &str, line, kind, message| {
            let (path, target) = (path.to_owned(), String::new());
            RuleFinding::of(Rule::Navigation, Finding { path, line, kind, message, target })
        };
        // The pages say nothing about whether the navigation file can be read, so problems are not counted for or
        // against the rule.
        let mut found: Vec<RuleFinding> = navigation
            .problems
            .iter()
            .map(|problem| finding(&navigation.path, problem.line, FindingKind::Unreadable, problem.message.clone()))
            .collect();
        for entry in &navigation.entries {
            // An operation (`GET /users`) is an entry of an API description and not a file.
            if is_external(&entry.page) || entry.page.contains(' ') {
                continue;
            }
            let is_there = self.site.page_named(&entry.page).is_some() || self.site.has_file(&entry.page);
            evidence.note(Rule::Navigation, is_there);
            if !is_there {
                let message = format!("the navigation names `{}`, and there is no such page", entry.page);
                let line = line_of(&text_of(&texts[entry.file]), entry.span.start);
                let path = &navigation.files[entry.file];
                found.push(finding(path, line, FindingKind::DeadNavigation, message));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
