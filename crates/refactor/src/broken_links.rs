//! Links that appear broken, and where each of them should lead.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use docent_markdown::{Link, Page, folder, joined};
use docent_site::{
    ChangedTree, Generator, LinkRequest, LinkShape, LinkSyntax, Rule, RuleEvidence, ShownPages, Site, Target, Tree,
    has_page_ending, parts, retargeted_link,
};

use super::history::{History, may_have_heading, renamed_heading};
use super::nearest::{NameIndex, Reason, Resolution, anchor};

/// Maximum number of former contents of pages that are looked at for the headings of broken anchors.
const MAX_FORMER_IN_ALL: usize = 5_000;

/// A link that appears broken.
pub(crate) struct BrokenLink<'a> {
    pub(crate) link: &'a Link,
    pub(crate) rule: Rule,
    /// Whether the link surely leads nowhere.
    pub(crate) is_understood: bool,
    /// The current path of the file that the link named, if that file moved.
    pub(crate) moved_to: Option<String>,
    missing: BrokenTarget,
}

pub(crate) enum BrokenTarget {
    /// No page at this path; `None` if it leads out of the site.
    Path { path: Option<String>, anchor: Option<String> },
    /// No such anchor on this page.
    Anchor { file: String, anchor: String },
}

pub(crate) struct LinkFixer<'a> {
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
    pub(crate) fn new(
        tree: &'a dyn Tree,
        site: &'a Site,
        pages: &'a BTreeMap<String, Page>,
        history: &'a dyn History,
    ) -> Self {
        let (shown, names) = (ShownPages::default(), NameIndex::of(site));
        Self { tree, site, pages, shown, names, history, former_contents_left: Cell::new(MAX_FORMER_IN_ALL) }
    }

    /// Every link that appears broken, by file, and the evidence of all links for the rules that the site obeys. A link
    /// to a file that moved counts as obeying its rule.
    pub(crate) fn survey(&self) -> (RuleEvidence, BTreeMap<String, Vec<BrokenLink<'a>>>) {
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
    pub(crate) fn slips(&self, broken: &BTreeMap<String, Vec<BrokenLink<'a>>>) -> Slips {
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
    pub(crate) fn sites_below(&self, is_selected: &dyn Fn(&str) -> bool) -> Vec<String> {
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
    pub(crate) fn repair(&self, from: &str, broken: &BrokenLink<'_>) -> Result<(String, Reason), String> {
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
    format!("{path}{}", fragment(anchor))
}

/// An anchor as the fragment of a link.
pub(crate) fn fragment(anchor: &str) -> String {
    let encoded = retargeted_link("#", "", "", Some(anchor));
    format!("#{}", encoded.rsplit('#').next().unwrap_or(anchor))
}

/// Links that differ from a link that resolves in their letter case, their ending or their number of `..` alone, counted by
/// that and by the shape of the link that resolves. Repaired, a slip leads to the same page under a known rule, even if
/// the site resolves the original in an unknown way. Many slips of one kind are a convention of the site.
#[derive(Default)]
pub(crate) struct Slips(BTreeMap<(Reason, LinkShape), usize>);

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

    pub(crate) fn are_few(
        &self,
        evidence: &RuleEvidence,
        broken: &BrokenLink<'_>,
        repaired: &Result<(String, Reason), String>,
    ) -> bool {
        let kind = Self::kind(broken, repaired);
        kind.is_some_and(|kind| evidence.are_slips(Rule::Link(kind.1), self.0.get(&kind).copied().unwrap_or_default()))
    }
}
