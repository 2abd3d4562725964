//! Repairs broken links whose intended target can be determined, and lists the rest.
//!
//! A link is repaired only under a rule that the site obeys (see [`RuleEvidence`]): if many links of one shape look
//! broken, it is unknown how the site resolves them, and they are left unchanged. Two kinds of links need no such rule:
//! those whose target the history shows, and [slips](Slips).

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use docent_markdown::{Link, Page, folder, joined, line_of};
use docent_site::{
    ChangedTree, DoubtedFindings, Finding, FindingKind, Generator, LinkRequest, LinkShape, LinkSyntax, Rule,
    RuleEvidence, ShownPages, Site, Target, Tree, has_page_ending, parts, retargeted_link,
};

use super::edit::{Change, TextEdit, in_order};
use super::history::{History, may_have_heading, renamed_heading};
use super::nearest::{NameIndex, Reason, Resolution, anchor};
use super::selection::Selection;
use super::{RefactorError, Refactored, counted};

/// Maximum number of unrepaired links that are listed individually.
const MAX_LISTED_LINKS: usize = 50;
/// Maximum number of former contents of pages that are looked at for the headings of broken anchors.
const MAX_FORMER_CONTENTS: usize = 5_000;

/// Fixes broken links and anchors on the selected pages.
pub fn fix_links(tree: &dyn Tree, within: &[String], history: &dyn History) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let selection = Selection::of(&site, within)?;
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for file in site.files().filter(|file| site.is_page(file)) {
        if let Some(bytes) = tree.read(file) {
            pages.insert(file.to_owned(), site.parse(file, &bytes));
        }
    }
    let (shown, names) = (ShownPages::default(), NameIndex::of(&site));
    let former_contents_left = Cell::new(MAX_FORMER_CONTENTS);
    let fixer = LinkFixer { tree, site: &site, pages: &pages, shown, names, history, former_contents_left };
    let (evidence, broken) = fixer.survey();
    let slips = fixer.slips(&broken);
    let mut result = Outcome::default();
    let is_selected = |file: &str| selection.has(file) || !selection.is_narrowed();
    for (file, broken) in broken.iter().filter(|(file, _)| is_selected(file)) {
        let text = tree.text(file).unwrap_or_default();
        let mut edits: Vec<TextEdit> = Vec::new();
        let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
        for broken in broken {
            let Range { start, end } = broken.link.dest_span;
            let line = line_of(&text, broken.link.span.start);
            let target = &broken.link.target;
            let repaired = fixer.repair(file, broken);
            let is_known = broken.moved_to.is_some()
                || matches!(repaired, Ok((_, Reason::Renamed)))
                || broken.is_understood && evidence.is_obeyed(broken.rule);
            if !is_known && !slips.are_few(&evidence, broken, &repaired) {
                if broken.is_understood {
                    result.doubt(file, line, broken);
                }
                continue;
            }
            match repaired {
                // Reference links share one destination, which is edited once.
                Ok(_) if !seen.insert((start, end)) => {}
                Ok((new_target, why)) => {
                    result.fixed(format!("{file}:{line} `{target}` is now `{new_target}` ({why})"), why);
                    edits.push(TextEdit::new(start..end, new_target));
                }
                Err(why) => result.left.push(format!("{file}:{line} `{target}`: {why}")),
            }
        }
        let edits = in_order(edits);
        if !edits.is_empty() {
            result.changes.push(Change::Edit { path: file.clone(), edits });
        }
    }
    result.sites_below = fixer.sites_below(&is_selected);
    Ok(result.into_refactored())
}

/// Links that differ from a link that resolves in their letter case, their ending or their number of `..` alone, counted by
/// that and by the shape of the link that resolves. Repaired, a slip leads to the same page under a known rule, even if
/// the site resolves the original in an unknown way. Many slips of one kind are a convention of the site.
#[derive(Default)]
struct Slips(BTreeMap<(Reason, LinkShape), usize>);

impl Slips {
    fn kind(broken: &BrokenLink<'_>, repaired: &Result<(String, Reason), String>) -> Option<(Reason, LinkShape)> {
        let (Rule::Link(shape), Ok((new_target, why))) = (broken.rule, repaired) else { return None };
        let (old, new) = (parts(&broken.link.target).0, parts(new_target).0);
        let is_slip = match why {
            Reason::LetterCase => is_same_but_for_case(old, new),
            // What a build makes of a page may be what is meant.
            Reason::Ending => broken.is_understood || !old.ends_with(".html"),
            // What is served at a path from the root may be another site.
            Reason::Depth => broken.is_understood || !shape.is_absolute,
            _ => false,
        };
        let ending = LinkShape::of(new_target).ending;
        is_slip.then_some((*why, LinkShape { ending, ..shape }))
    }

    fn are_few(
        &self,
        evidence: &RuleEvidence,
        broken: &BrokenLink<'_>,
        repaired: &Result<(String, Reason), String>,
    ) -> bool {
        let kind = Self::kind(broken, repaired);
        kind.is_some_and(|kind| evidence.are_slips(Rule::Link(kind.1), self.0.get(&kind).copied().unwrap_or_default()))
    }
}

#[derive(Default)]
struct Outcome {
    changes: Vec<Change>,
    details: Vec<String>,
    reasons: BTreeMap<Reason, usize>,
    left: Vec<String>,
    doubted: BTreeMap<Rule, Vec<Finding>>,
    /// A line for each site below the docs root whose links were not checked.
    sites_below: Vec<String>,
}

impl Outcome {
    fn fixed(&mut self, line: String, why: Reason) {
        self.details.push(line);
        *self.reasons.entry(why).or_default() += 1;
    }

    fn doubt(&mut self, file: &str, line: usize, broken: &BrokenLink<'_>) {
        let kind = match broken.rule {
            Rule::Anchor => FindingKind::BrokenAnchor,
            _ => FindingKind::BrokenLink,
        };
        let target = broken.link.target.clone();
        let message = format!("`{target}` is not understood");
        let finding = Finding { path: file.to_owned(), line, kind, message, target };
        self.doubted.entry(broken.rule).or_default().push(finding);
    }

    fn into_refactored(self) -> Refactored {
        let (fixed, left) = (self.details.len(), self.left.len());
        let doubted: usize = self.doubted.values().map(Vec::len).sum();
        let mut summary = match (fixed, left, doubted) {
            (0, 0, 0) if self.sites_below.is_empty() => "No link is broken".to_owned(),
            (0, 0, _) => "Fixed no link".to_owned(),
            (0, left, _) => format!("Fixed none of {}", counted(left, "broken link", "broken links")),
            _ => {
                let links = counted(fixed, "broken link", "broken links");
                let pages = counted(self.changes.len(), "page", "pages");
                let reasons: Vec<String> = self.reasons.iter().map(|(why, count)| format!("{count} × {why}")).collect();
                let left = if left == 0 { String::new() } else { format!("; {left} left") };
                format!("Fixed {links} on {pages} ({}){left}", reasons.join(", "))
            }
        };
        if doubted > 0 {
            let links = counted(doubted, "link looks broken and stays", "links look broken and stay");
            summary.push_str(&format!("; {links}, as it is not understood how this site follows such links"));
        }
        let doubts = self.doubted.into_iter().map(|(rule, findings)| DoubtedFindings { rule, findings }.to_string());
        let mut lines: Vec<String> = self.sites_below.into_iter().chain(doubts).collect();
        lines.extend(self.left.into_iter().take(MAX_LISTED_LINKS));
        if left > MAX_LISTED_LINKS {
            lines.push(format!("… and {} more", left - MAX_LISTED_LINKS));
        }
        Refactored { changes: self.changes, summary, details: self.details, left: lines }
    }
}

/// A link that appears broken.
struct BrokenLink<'a> {
    link: &'a Link,
    rule: Rule,
    /// Whether the link surely leads nowhere.
    is_understood: bool,
    /// The current path of the file that the link named, if that file moved.
    moved_to: Option<String>,
    missing: BrokenTarget,
}

enum BrokenTarget {
    /// No page at this path; `None` if it leads out of the site.
    Path { path: Option<String>, anchor: Option<String> },
    /// No such anchor on this page.
    Anchor { file: String, anchor: String },
}

struct LinkFixer<'a> {
    tree: &'a dyn Tree,
    site: &'a Site,
    pages: &'a BTreeMap<String, Page>,
    shown: ShownPages,
    names: NameIndex<'a>,
    history: &'a dyn History,
    /// How many more former contents of pages are looked at.
    former_contents_left: Cell<usize>,
}

impl<'a> LinkFixer<'a> {
    /// Every link that appears broken, by file, and the evidence of all links for the rules that the site obeys. A link
    /// to a file that moved counts as obeying its rule.
    fn survey(&self) -> (RuleEvidence, BTreeMap<String, Vec<BrokenLink<'a>>>) {
        let mut evidence = RuleEvidence::default();
        let mut found: BTreeMap<String, Vec<BrokenLink<'a>>> = BTreeMap::new();
        let mut unclear: Vec<(&str, &'a Link, Rule)> = Vec::new();
        for (file, page) in self.pages {
            for link in &page.links {
                let shape = LinkShape::of_link(link, self.site.address(file).is_some());
                let (rule, missing) = match self.site.resolve_link(file, link) {
                    Target::External => continue,
                    Target::NotUnderstood => {
                        unclear.push((file, link, Rule::Link(shape)));
                        continue;
                    }
                    Target::Missing { path, anchor } => (Rule::Link(shape), BrokenTarget::Path { path, anchor }),
                    target => {
                        if !parts(&link.target).0.is_empty() {
                            evidence.note(Rule::Link(shape), true);
                        }
                        let Target::Page { file: to, anchor: Some(anchor) } = target else { continue };
                        match self.has_anchor(&to, &anchor) {
                            Some(false) => (Rule::Anchor, BrokenTarget::Anchor { file: to, anchor }),
                            None if self.lacks_anchor_by_rule(&to, &anchor) => {
                                let missing = BrokenTarget::Anchor { file: to, anchor };
                                let rule = Rule::Anchor;
                                let broken = BrokenLink { link, rule, is_understood: false, moved_to: None, missing };
                                found.entry(file.clone()).or_default().push(broken);
                                continue;
                            }
                            known => {
                                if known.is_some() {
                                    evidence.note(Rule::Anchor, true);
                                }
                                continue;
                            }
                        }
                    }
                };
                let moved_to = match &missing {
                    BrokenTarget::Path { path: Some(path), .. } => self.names.moved_to(path, self.history),
                    _ => None,
                };
                evidence.note(rule, moved_to.is_some());
                let broken = BrokenLink { link, rule, is_understood: true, moved_to, missing };
                found.entry(file.clone()).or_default().push(broken);
            }
        }
        let moved = self.led_to_what_moved(&unclear);
        let known: BTreeSet<(&str, usize)> =
            moved.iter().map(|(file, broken)| (*file, broken.link.span.start)).collect();
        unclear.retain(|(file, link, _)| !known.contains(&(*file, link.span.start)));
        for (file, broken) in moved {
            found.entry(file.to_owned()).or_default().push(broken);
        }
        for (file, link, rule) in unclear {
            found.entry(file.to_owned()).or_default().extend(self.nearly_resolved(file, link, rule));
        }
        (evidence, found)
    }

    /// A link that cannot be resolved, as broken, if a page has nearly its path.
    fn nearly_resolved(&self, file: &str, link: &'a Link, rule: Rule) -> Option<BrokenLink<'a>> {
        let (written, anchor) = parts(&link.target);
        let mut paths = self.bases(file, written).into_iter().filter_map(|base| joined(base, written));
        let path = paths.find(|path| self.names.has_near(path)).or_else(|| {
            matches!(self.names.at_another_depth(file, written), Resolution::One(..)).then(|| written.to_owned())
        })?;
        let missing = BrokenTarget::Path { path: Some(path), anchor };
        Some(BrokenLink { link, rule, is_understood: false, moved_to: None, missing })
    }

    /// The folders that the path of a link may start from.
    fn bases<'f>(&'f self, file: &'f str, path: &str) -> Vec<&'f str> {
        let address = self.site.address(file).unwrap_or_default();
        if path.starts_with('/') { vec![""] } else { vec![folder(file), address, folder(address)] }
    }

    /// The slips among links that are not surely broken.
    fn slips(&self, broken: &BTreeMap<String, Vec<BrokenLink<'a>>>) -> Slips {
        let mut slips = Slips::default();
        for (file, broken) in broken {
            let may_be_slips = broken.iter().filter(|broken| matches!(broken.missing, BrokenTarget::Path { .. }));
            for kind in may_be_slips.filter_map(|broken| Slips::kind(broken, &self.repair(file, broken))) {
                *slips.0.entry(kind).or_default() += 1;
            }
        }
        slips
    }

    /// Of links that cannot be resolved, those that led to a file before it moved.
    fn led_to_what_moved<'f>(&self, unclear: &[(&'f str, &'a Link, Rule)]) -> Vec<(&'f str, BrokenLink<'a>)> {
        let mut moves = BTreeMap::new();
        for (file, link, _) in unclear {
            let (path, _) = parts(&link.target);
            let bases = self.bases(file, path).into_iter();
            for path in bases.filter_map(|base| joined(base, path)).collect::<BTreeSet<_>>() {
                moves.extend(self.names.moves(&path, self.history));
            }
        }
        if moves.is_empty() {
            return Vec::new();
        }
        // The moved files are added at their old paths as well.
        let mut before = ChangedTree::new(self.tree);
        before.files.extend(moves.iter().map(|(old, now)| (old.clone(), self.tree.read(now))));
        let before = Site::read(&before);
        let broken = unclear.iter().filter_map(|(file, link, rule)| {
            let Target::Page { file: old, anchor } = before.resolve_link(file, link) else { return None };
            let moved_to = Some(moves.get(&old)?.clone());
            Some((
                *file,
                BrokenLink {
                    link,
                    rule: *rule,
                    is_understood: false,
                    moved_to,
                    missing: BrokenTarget::Path { path: Some(old), anchor },
                },
            ))
        });
        broken.collect()
    }

    /// Whether a page has an anchor; `None` if that cannot be known.
    fn has_anchor(&self, file: &str, anchor: &str) -> Option<bool> {
        self.shown.has_anchor(self.site, self.tree, self.pages.get(file)?, anchor)
    }

    /// A line for each site below a docs root without a generator, if the links of its selected pages start from its root.
    fn sites_below(&self, is_selected: &dyn Fn(&str) -> bool) -> Vec<String> {
        if self.site.generator() != Generator::Plain {
            return Vec::new();
        }
        let has_absolute_link = |page: &Page| page.links.iter().any(|link| parts(&link.target).0.starts_with('/'));
        let pages = self.pages.iter().filter(|(file, page)| is_selected(file) && has_absolute_link(page));
        let sites: BTreeSet<&str> = pages.map(|(file, _)| self.site.site_folder(file)).collect();
        let line = |folder: &str| {
            format!(
                "`{folder}` is a site of its own, and the links of its pages that begin with `/` start from there: to \
                 check them, register it with `--docs-root {folder}`"
            )
        };
        sites.into_iter().filter(|folder| !folder.is_empty()).map(line).collect()
    }

    /// Whether a page lacks an anchor by the generator's rule where the site's build makes anchors by rules of its own.
    fn lacks_anchor_by_rule(&self, file: &str, anchor: &str) -> bool {
        let page = self.pages.get(file).filter(|_| !self.site.layout().knows_anchors());
        page.and_then(|page| self.shown.finds_anchor(self.site, self.tree, page, anchor)) == Some(false)
    }

    /// The repaired target and the reason for it, or why there is none.
    fn repair(&self, from: &str, broken: &BrokenLink<'_>) -> Result<(String, Reason), String> {
        let target = broken.link.target.as_str();
        let (path, wanted) = match &broken.missing {
            BrokenTarget::Anchor { file, anchor: wanted } => {
                let (anchor, why) = self.anchor(file, wanted)?;
                return Ok((with_anchor(target, &anchor), why));
            }
            BrokenTarget::Path { path: None, .. } if target.trim().is_empty() => return Err("it is empty".to_owned()),
            BrokenTarget::Path { path, anchor } => (path.as_deref(), anchor),
        };
        let (file, why) = match (&broken.moved_to, path) {
            (Some(file), _) => (file.clone(), Reason::Moved),
            (None, Some(path)) => self.resolution(path, from, target).or_why("", "nothing says which page is meant")?,
            (None, None) => {
                self.names.at_another_depth(from, parts(target).0).or_why("", "it leads out of the site")?
            }
        };
        let anchor = match wanted.as_ref().map(|wanted| (wanted, self.has_anchor(&file, wanted))) {
            None | Some((_, Some(true) | None)) => None,
            Some((wanted, Some(false))) => match self.anchor(&file, wanted) {
                Ok((anchor, _)) => Some(anchor),
                // A page of that name without that heading must be another page.
                Err(why) if broken.moved_to.is_none() => return Err(why),
                Err(_) => None,
            },
        };
        let syntax = LinkSyntax::of(&broken.link.kind);
        let mut request = LinkRequest { from, to: &file, anchor: anchor.as_deref(), like: target, syntax };
        let with_ending = self.with_forgotten_ending(&request).filter(|_| why == Reason::Ending);
        request.like = with_ending.as_deref().unwrap_or(target);
        let new_target = self.site.link(&request);
        let why = match why {
            Reason::Ending if is_same_but_for_case(parts(target).0, parts(&new_target).0) => Reason::LetterCase,
            why => why,
        };
        match self.site.resolve_in(from, &new_target, syntax) {
            Target::Page { file: to, .. } | Target::Asset { file: to } if to == file => Ok((new_target, why)),
            // As much as the link said before: the navigation may not have the page at its new path yet.
            Target::NotUnderstood if why == Reason::Moved && names_file(from, &new_target, &file) => {
                Ok((new_target, why))
            }
            _ => Err(format!("`{file}` may be meant, and it is not known how a link to it is written here")),
        }
    }

    /// The link with a file extension added, if the site's links have one and this link has none.
    fn with_forgotten_ending(&self, request: &LinkRequest<'_>) -> Option<String> {
        let usual = self.site.link(&LinkRequest { anchor: None, like: "", ..*request });
        let ending = &usual[usual.rfind('.')?..];
        let (path, _) = parts(request.like);
        let lacks_one = !path.is_empty() && !has_page_ending(path) && !path.ends_with('/') && !path.ends_with(".html");
        (lacks_one && has_page_ending(&usual)).then(|| format!("{path}{ending}{}", &request.like[path.len()..]))
    }

    /// The page that is meant by a path as the site resolves it, or else by the same path relative to the page's
    /// folder, which authors often use even if the site resolves links relative to the page's address.
    fn resolution(&self, path: &str, from: &str, target: &str) -> Resolution {
        let by_site = self.names.page(path, from, target);
        let written = parts(target).0;
        if matches!(by_site, Resolution::One(_, why) if why != Reason::OnlyOne) {
            return by_site;
        }
        let from_folder = joined(folder(from), written).filter(|_| !written.starts_with('/'));
        match from_folder.map(|path| (self.names.page(&path, from, target), path)) {
            Some((Resolution::One(file, Reason::Ending), path)) if file == path => Resolution::One(file, Reason::Depth),
            Some((Resolution::One(file, why @ (Reason::Ending | Reason::LetterCase)), _)) => Resolution::One(file, why),
            _ => match self.names.at_another_depth(from, written) {
                Resolution::Nothing => by_site,
                found => found,
            },
        }
    }

    fn anchor(&self, file: &str, wanted: &str) -> Result<(String, Reason), String> {
        let page = self.pages.get(file).ok_or_else(|| format!("`{file}` could not be read"))?;
        let found = match anchor(wanted, page) {
            Resolution::Nothing => match self.renamed(file, page, wanted) {
                Some(anchor) => Resolution::One(anchor, Reason::Renamed),
                None => Resolution::Nothing,
            },
            found => found,
        };
        found.or_why("#", &format!("no heading of `{file}` has these words"))
    }

    /// The anchor of the heading that had the wanted one in an earlier commit.
    fn renamed(&self, file: &str, page: &Page, wanted: &str) -> Option<String> {
        let parsed = |bytes: &[u8]| self.site.parse(file, bytes);
        let left = &self.former_contents_left;
        if left.get() == 0 {
            return None;
        }
        let former = self.history.former(file, &mut |bytes| {
            left.set(left.get().saturating_sub(1));
            let has_heading = |page: &Page| page.headings.iter().any(|heading| heading.anchor == wanted);
            may_have_heading(bytes, wanted) && has_heading(&parsed(bytes))
        })?;
        let bytes = self.tree.read(file)?;
        renamed_heading(wanted, (&parsed(&former), &former), (page, &bytes)).map(str::to_owned)
    }
}

fn is_same_but_for_case(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Whether a link is the path of a file, relative to the file with the link.
fn names_file(from: &str, target: &str, file: &str) -> bool {
    joined(folder(from), parts(target).0).as_deref() == Some(file)
}

fn with_anchor(target: &str, anchor: &str) -> String {
    let path = target.split('#').next().unwrap_or("");
    let encoded = retargeted_link("#", "", "", Some(anchor));
    format!("{path}#{}", encoded.rsplit('#').next().unwrap_or(anchor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::NoHistory;
    use crate::sample::{Files, after, site, text, touched};

    /// A generator that serves pages without their extension.
    const SERVED: (&str, &str) = ("docs.json", r#"{"navigation": ["index"]}"#);

    /// The history of one file.
    struct Past {
        old: &'static str,
        now: &'static str,
        former: &'static str,
    }

    impl Past {
        fn moved(old: &'static str, now: &'static str) -> Self {
            Self { old, now, former: "" }
        }
    }

    impl History for Past {
        fn moved(&self, old: &str) -> Option<String> {
            (old == self.old).then(|| self.now.to_owned())
        }

        fn former(&self, path: &str, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
            let former = self.former.as_bytes();
            (path == self.now && is_wanted(former)).then(|| former.to_vec())
        }
    }

    fn fix(tree: &Files, within: &[&str]) -> Refactored {
        let within: Vec<String> = within.iter().map(|pattern| (*pattern).to_owned()).collect();
        fix_links(tree, &within, &NoHistory).expect("fixed")
    }

    #[test]
    fn links_with_evidence_are_fixed_and_others_listed() {
        let tree = site(&[
            SERVED,
            (
                "index.mdx",
                "[a](/guides/Retries) [b](guides/Webhooks#set-up) [c](/nowhere) [ok](/guides/webhooks) [ok](/api/errors) [ok](/api/v1/list-all) [ok](/)\n\n[d](/guides/webhooks#whats_next) [e](/guides/list-all) [f](/guides/errors)\n",
            ),
            ("guides/retries.mdx", "[up](../index) [gone](webhoks) [me](#nothing) ![i](../images/logo.PNG)\n"),
            ("guides/webhooks.mdx", "## Set up\n\n## What's next\n"),
            ("api/errors.mdx", ""),
            ("api/v1/list-all.mdx", ""),
            ("api/v2/list-all.mdx", ""),
            ("images/logo.png", ""),
        ]);
        let fixed = fix(&tree, &[]);
        assert_eq!(
            fixed.summary,
            "Fixed 5 broken links on 2 pages (3 × letter case, 1 × the only page of that name, 1 × the same words as an anchor); 4 left"
        );
        assert_eq!(
            fixed.left,
            [
                "guides/retries.mdx:1 `webhoks`: nothing says which page is meant",
                "guides/retries.mdx:1 `#nothing`: no heading of `guides/retries.mdx` has these words",
                "index.mdx:1 `/nowhere`: nothing says which page is meant",
                "index.mdx:3 `/guides/list-all`: it could be `api/v1/list-all.mdx` or `api/v2/list-all.mdx`",
            ]
        );
        let tree = after(&tree, &fixed);
        assert_eq!(
            text(&tree, "index.mdx"),
            "[a](/guides/retries) [b](guides/webhooks#set-up) [c](/nowhere) [ok](/guides/webhooks) [ok](/api/errors) [ok](/api/v1/list-all) [ok](/)\n\n[d](/guides/webhooks#whats-next) [e](/guides/list-all) [f](/api/errors)\n"
        );
        assert_eq!(
            text(&tree, "guides/retries.mdx"),
            "[up](../index) [gone](webhoks) [me](#nothing) ![i](../images/logo.png)\n"
        );
    }

    #[test]
    fn a_heading_is_no_excuse_for_another_anchor_and_ids_have_letter_case() {
        let page = "## Alpha beta\n\n## Dup\n\n## Dup\n\n<a id=\"Opt-X\"></a>\n";
        let sound = "[x](a.md#alpha-beta) ".repeat(12);
        let index = "[1](a.md#alpha-beta-7) [2](a.md#dup-2) [3](a.md#alpha-beta:) [4](a.md#Alpha-Beta) [5](a.md#opt-x)\n\n\
                     [6](a.md#alpha-beta) [7](a.md#dup-1) [8](a.md#Opt-X)\n";
        let tree = site(&[
            ("docusaurus.config.js", "module.exports = {}\n"),
            ("docs/a.md", page),
            ("docs/b.md", &sound),
            ("docs/index.md", index),
        ]);
        let fixed = fix(&tree, &[]);
        let (tree, told) = (text(&after(&tree, &fixed), "docs/index.md"), fixed.left.join("\n"));
        for dead in ["#alpha-beta-7", "#dup-2", "#alpha-beta:", "#Alpha-Beta", "#opt-x"] {
            assert!(!tree.contains(&format!("{dead})")) || told.contains(dead), "{dead}: {tree}\n{told}");
        }
        assert!(tree.ends_with("[6](a.md#alpha-beta) [7](a.md#dup-1) [8](a.md#Opt-X)\n"), "{tree}");
    }

    #[test]
    fn the_only_page_of_that_name_in_another_site_is_not_meant() {
        let tree = site(&[
            ("docs/de/mkdocs.yml", "INHERIT: ../en/mkdocs.yml\n"),
            ("docs/de/docs/index.md", "[x](newsletter.md)\n"),
            ("docs/en/mkdocs.yml", "site_name: x\n"),
            ("docs/en/docs/newsletter.md", "# News\n"),
        ]);
        let fixed = fix(&tree, &[]);
        assert!(fixed.changes.is_empty() && fixed.left[0].contains("newsletter.md"), "{fixed:?}");
    }

    #[test]
    fn what_plugins_make_does_not_excuse_a_link_to_a_missing_file() {
        for (configuration, text) in [
            (
                "docusaurus.config.js",
                "module.exports = { plugins: [['@docusaurus/plugin-client-redirects', { createRedirects: () => [] }]] }\n",
            ),
            ("docs/conf.py", "extensions = ['myst_parser', 'sphinx.ext.autosummary', 'sphinxext.rediraffe']\n"),
            ("mkdocs.yml", "site_name: x\nplugins:\n  - exclude:\n      glob: 'gone/*'\n"),
        ] {
            let tree = site(&[
                (configuration, text),
                ("docs/index.md", "[x](gone/a.md) [y](b.md)\n"),
                ("docs/b.md", "# B\n"),
                ("docs/gone/b.md", "# B\n"),
            ]);
            let fixed = fix(&tree, &[]);
            assert!(fixed.left.join("\n").contains("`gone/a.md`"), "{configuration}: {fixed:?}");
        }
    }

    #[test]
    fn an_ending_that_nothing_has_gives_way_to_that_of_the_file() {
        let tree = site(&[("a.md", "[x](guides/b.html#c) [y](guides/b.md)\n"), ("guides/b.md", "## C\n")]);
        let fixed = fix(&tree, &[]);
        assert_eq!(fixed.summary, "Fixed 1 broken link on 1 page (1 × the ending)");
        assert_eq!(text(&after(&tree, &fixed), "a.md"), "[x](guides/b.md#c) [y](guides/b.md)\n");
    }

    #[test]
    fn a_redirect_makes_a_link_sound_before_history_is_asked() {
        let tree = site(&[
            (
                "docs.json",
                r#"{"navigation": ["index", "kit/lamp/a"], "redirects": [{"source": "/kit/lamp", "destination": "/kit/lamp/a"}]}"#,
            ),
            ("index.mdx", "[x](/kit/lamp)\n"),
            ("kit/lamp/a.mdx", "# A\n"),
        ]);
        let history = Past::moved("kit/lamp.mdx", "kit/lamp/a.mdx");
        assert_eq!(fix_links(&tree, &[], &history).expect("fixed").changes, []);
    }

    #[test]
    fn a_link_that_is_not_understood_led_to_what_moved() {
        let tree = site(&[
            (
                "astro.config.mjs",
                "import starlight from '@astrojs/starlight';\nimport more from 'more-pages';\nexport default { integrations: [starlight({}), more()] };",
            ),
            ("src/content/docs/a.md", "[x](/guides/queues/#limits) [y](../guides/queue/) [z](/elsewhere/)\n"),
            ("src/content/docs/reference/jobs.md", "## Limits\n"),
        ]);
        let history = Past::moved("src/content/docs/guides/queues.md", "src/content/docs/reference/jobs.md");
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(fixed.summary, "Fixed 1 broken link on 1 page (1 × the page moved)");
        assert_eq!(
            text(&after(&tree, &fixed), "src/content/docs/a.md"),
            "[x](/reference/jobs/#limits) [y](../guides/queue/) [z](/elsewhere/)\n"
        );
    }

    #[test]
    fn a_path_without_its_ending_is_read_from_the_folder_of_the_page_too() {
        let tree = site(&[
            ("mkdocs.yml", "site_name: x\n"),
            ("docs/guide/a.md", "[x](b) [y](c.md) [z](../other/b#top)\n"),
            ("docs/guide/b.md", ""),
            ("docs/guide/c.md", ""),
            ("docs/other/b.md", ""),
        ]);
        let fixed = fix(&tree, &[]);
        let tree = after(&tree, &fixed);
        assert_eq!(text(&tree, "docs/guide/a.md"), "[x](b.md) [y](c.md) [z](../other/b.md#top)\n");
    }

    #[test]
    fn a_few_endings_are_forgotten_where_most_links_have_theirs() {
        let named = "[x](b.md) [x](c.md) [x](b.md) [x](c.md) [x](b.md)\n";
        let tree = |bare: &str| {
            let index = format!("{named}{bare}\n");
            site(&[("mkdocs.yml", "site_name: x\n"), ("docs/a.md", &index), ("docs/b.md", ""), ("docs/c.md", "")])
        };
        let few = tree("[y](b) [y](c) [y](b#top) [y](nothing)");
        let fixed = fix(&few, &[]);
        let expected = format!("{named}[y](b.md) [y](c.md) [y](b.md#top) [y](nothing)\n");
        assert_eq!(text(&after(&few, &fixed), "docs/a.md"), expected);
        assert_eq!(fixed.left.len(), 1, "{:?}", fixed.left);
        // This many are a convention of the site.
        assert_eq!(touched(&fix(&tree(&"[y](b) ".repeat(6)), &[])), Vec::<&str>::new());
    }

    #[test]
    fn roles_of_restructured_text_are_mended() {
        let tree = site(&[
            ("conf.py", "project = 'x'\n"),
            ("index.rst", ":doc:`guide/Start`, :doc:`words <old>`, :doc:`guide/start`\n"),
            ("guide/start.rst", ""),
            ("guide/new.rst", ""),
        ]);
        let history = Past::moved("old.rst", "guide/new.rst");
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(
            text(&after(&tree, &fixed), "index.rst"),
            ":doc:`guide/start`, :doc:`words <guide/new>`, :doc:`guide/start`\n"
        );
    }

    #[test]
    fn a_page_that_moved_is_known_by_history() {
        let tree = site(&[
            SERVED,
            ("a.md", "[x](/guides/queues#limits) [y](guides/queues.md) [z](/guides/queue)\n"),
            ("b.md", &"[x](/guides/queues) ".repeat(30)),
            ("reference/jobs.md", "## Limits\n"),
        ]);
        let history = Past::moved("guides/queues.md", "reference/jobs.md");
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(fixed.summary, "Fixed 32 broken links on 2 pages (32 × the page moved); 1 left");
        assert_eq!(
            text(&after(&tree, &fixed), "a.md"),
            "[x](/reference/jobs#limits) [y](reference/jobs.md) [z](/guides/queue)\n"
        );
    }

    #[test]
    fn a_renamed_heading_is_known_by_history() {
        let history = Past { former: "## Set up\n\nRun it.\n\n## Limits\n\nNone.\n", ..Past::moved("", "b.md") };
        let tree = site(&[
            SERVED,
            ("a.md", "[x](/b#set-up) [y](/b#limits) [z](/b#nothing)\n"),
            ("b.md", "## Install\n\nRun it.\n\n## Limits\n\nNone.\n"),
        ]);
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(fixed.summary, "Fixed 1 broken link on 1 page (1 × the heading was renamed); 1 left");
        assert_eq!(text(&after(&tree, &fixed), "a.md"), "[x](/b#install) [y](/b#limits) [z](/b#nothing)\n");
    }

    #[test]
    fn a_slip_is_mended_where_other_addresses_may_be_served() {
        let sound = "[s](/guides/start/) [s](/guides/start) [s](../start/) ".repeat(5);
        let tree = |links: &str| {
            site(&[
                (
                    "astro.config.mjs",
                    "import starlight from '@astrojs/starlight';\nimport more from 'more-pages';\nexport default { integrations: [starlight({}), more()] };",
                ),
                ("src/content/docs/guides/start.md", ""),
                ("src/content/docs/api/clients.md", ""),
                ("src/content/docs/guides/a.md", &format!("{sound}\n{links}\n")),
            ])
        };
        let links = "[case](/guides/Start/) [end](/guides/start.mdx) [depth](../../start/) [own](/api/start/) [root](/clients/)";
        let (before, page) = (tree(links), "src/content/docs/guides/a.md");
        let fixed = fix(&before, &[]);
        let mended = text(&after(&before, &fixed), page).lines().last().map(str::to_owned).unwrap_or_default();
        assert_eq!(
            mended,
            "[case](/guides/start/) [end](/guides/start) [depth](../start/) [own](/api/start/) [root](/clients/)"
        );
        // What is written so often is a convention of the site.
        assert_eq!(touched(&fix(&tree(&"[case](/guides/Start/) ".repeat(6)), &[])), Vec::<&str>::new());
    }

    #[test]
    fn a_wrong_number_of_steps_up_leads_to_the_page_of_that_path() {
        let tree = site(&[
            ("mkdocs.yml", "site_name: x\n"),
            (
                "docs/guide/deep/a.md",
                "[x](../../setup.md) [y](../../../../guide/setup.md) [z](setup.md) [n](../../b.md)\n",
            ),
            ("docs/guide/sound.md", "[s](setup.md) [s](setup.md) [s](setup.md) [s](setup.md)\n"),
            ("docs/guide/setup.md", ""),
            ("docs/guide/deep/b.md", ""),
        ]);
        let fixed = fix(&tree, &[]);
        assert_eq!(
            text(&after(&tree, &fixed), "docs/guide/deep/a.md"),
            "[x](../setup.md) [y](../setup.md) [z](../setup.md) [n](../../b.md)\n"
        );
    }

    #[test]
    fn a_page_of_a_site_below_the_root_is_not_linked_to_by_its_file() {
        let page = "[x](/docs/configuration.mdx)\n";
        let tree = site(&[
            ("README.md", ""),
            ("ark/docs/source.config.ts", ""),
            ("ark/docs/content/docs/a.mdx", page),
            ("ark/docs/content/docs/configuration.mdx", ""),
        ]);
        let fixed = fix(&tree, &[]);
        assert_eq!(touched(&fixed), Vec::<&str>::new());
        assert!(fixed.left[0].contains("`ark/docs` is a site of its own"), "{:?}", fixed.left);
    }

    #[test]
    fn links_of_a_shape_that_is_not_understood_stay() {
        let many: String = (0..8).map(|n| format!("[x](/app/Guides/P{n}) ")).collect();
        let files: Vec<(String, String)> = (0..8).map(|n| (format!("app/guides/p{n}.md"), String::new())).collect();
        let mut tree = site(&[SERVED, ("a.md", many.as_str()), ("b.md", "[ok](a.md) [case](A.md)\n")]);
        tree.extend(files.into_iter().map(|(path, text)| (path, text.into_bytes())));
        let fixed = fix(&tree, &[]);
        assert_eq!(touched(&fixed), ["b.md"]);
        assert_eq!(
            fixed.summary,
            "Fixed 1 broken link on 1 page (1 × letter case); 8 links look broken and stay, as it is not understood how this site follows such links"
        );
        assert_eq!(
            fixed.left,
            [
                "8 absolute links could not be checked, as it is not understood how this site reads them: a.md:1 `/app/Guides/P0`, a.md:1 `/app/Guides/P1`, a.md:1 `/app/Guides/P2`, a.md:1 `/app/Guides/P3`, a.md:1 `/app/Guides/P4`, a.md:1 `/app/Guides/P5`, a.md:1 `/app/Guides/P6`, a.md:1 `/app/Guides/P7`"
            ]
        );
    }

    #[test]
    fn a_place_narrows_and_sound_links_stay() {
        let tree = site(&[
            SERVED,
            ("a.md", "[x](/BB)\n"),
            ("b.md", "[x](/AA) [y](https://x.y/z)\n"),
            ("aa.md", ""),
            ("bb.md", ""),
        ]);
        assert_eq!(touched(&fix(&tree, &["b.md"])), ["b.md"]);
        let sound = site(&[("a.md", "[x](b.md) [y](mailto:a@b.c) [z](#)\n"), ("b.md", "")]);
        let fixed = fix(&sound, &[]);
        assert_eq!((fixed.summary.as_str(), fixed.changes.len()), ("No link is broken", 0));
    }
}
