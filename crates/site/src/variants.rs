//! The versions and languages of a site, and which of its pages are the same page in another of them.
//!
//! ```text
//! v1/guides/keys      Older      ┐
//! v2/guides/keys      Current    ├ one page, `guides/keys`
//! v3-beta/guides/keys Preview    ┘
//! ```
//!
//! What the site's configuration and its pages say of versions and languages goes first. Besides, sibling folders whose
//! names look like versions, or are languages, and that share enough paths are taken for what they look like; the folder
//! around them may hold the current version, or the default language, itself. All this follows from the paths of pages
//! and from what is said of them: the same pages are always told alike.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::variant_folders::{Family, Kind as FolderKind, families};
use crate::version_names::{Kind, VersionName, plain};

/// What the site's own configuration says of its versions and languages, beside which pages are in which.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// Versions that it names, the latest first.
    pub versions: Vec<(String, Stage)>,
    /// The language of what has no other.
    pub language: Option<String>,
}

impl Declared {
    /// Notes a version. What is current in one part of a site is not older in another.
    pub(crate) fn add(&mut self, name: &str, stage: Stage) {
        match self.versions.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = stage.min(*known),
            None => self.versions.push((name.to_owned(), stage)),
        }
    }
}

/// What a version is to its readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Stage {
    /// The latest that is released.
    #[default]
    Current,
    Older,
    /// Not released yet.
    Preview,
}

/// A page as far as this is concerned.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageLabels<'p> {
    /// Where it is served, without a leading slash.
    pub path: &'p str,
    /// What the page or the site says of it.
    pub version: Option<&'p str>,
    pub language: Option<&'p str>,
}

/// A version of a site, or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub name: String,
    pub stage: Stage,
    /// How far it is from the current one: first the current one, then older ones from the latest on, then previews.
    order: usize,
}

/// Which variant of itself a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Variant {
    /// An index into [`Variants::versions`].
    pub version: Option<usize>,
    /// An index into [`Variants::languages`].
    pub language: Option<usize>,
    /// An index into the groups of pages that are one page; `None` for a page of which there is no other variant.
    group: Option<usize>,
}

/// The versions and languages of a site, and its pages in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variants {
    versions: Vec<Version>,
    languages: Vec<String>,
    /// The default language, where it has a name; pages in no language are in it, too.
    language: Option<usize>,
    pages: Vec<Variant>,
    groups: Vec<Vec<u32>>,
}

impl Variants {
    /// `redirects`: source and destination, as the configuration writes them.
    pub fn of<'r>(
        pages: &[PageLabels<'_>],
        declared: &Declared,
        redirects: impl Iterator<Item = (&'r str, &'r str)>,
    ) -> Self {
        let mut reading = Reading {
            keys: pages.iter().map(|page| page.path.to_owned()).collect(),
            pages: vec![Variant::default(); pages.len()],
            variants: Self::default(),
        };
        reading.languages(pages, declared);
        let redirects: Vec<(&str, &str)> = redirects.collect();
        reading.versions(pages, declared, &redirects);
        reading.finish()
    }

    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    pub fn languages(&self) -> &[String] {
        &self.languages
    }

    pub fn default_language(&self) -> Option<usize> {
        self.language
    }

    /// Whether no page is in a version or a language.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty() && self.languages.is_empty()
    }

    /// Which variant a page is, by its place in the list of pages.
    pub fn page(&self, page: u32) -> Variant {
        self.pages.get(page as usize).copied().unwrap_or_default()
    }

    /// What a page's version is called.
    pub fn version_of(&self, page: u32) -> Option<&Version> {
        self.versions.get(self.page(page).version?)
    }

    pub fn language_of(&self, page: u32) -> Option<&str> {
        self.languages.get(self.page(page).language?).map(String::as_str)
    }

    /// The pages that are this page in some version and language, itself too, and the number of their group; `None` when
    /// there is no other.
    pub fn group_of(&self, page: u32) -> Option<(usize, &[u32])> {
        let group = self.page(page).group?;
        Some((group, self.groups.get(group)?))
    }

    /// By which of two variants a reader is served sooner who asked for none: the lesser one is the better.
    pub fn rank(&self, variant: Variant) -> (usize, usize) {
        (self.language_rank(variant), self.version_rank(variant))
    }

    /// 0 for the default language, or none.
    pub fn language_rank(&self, variant: Variant) -> usize {
        match variant.language {
            None => 0,
            own if own == self.language => 0,
            Some(other) => 1 + other,
        }
    }

    /// 0 for no version and for the current one.
    pub fn version_rank(&self, variant: Variant) -> usize {
        variant.version.and_then(|version| self.versions.get(version)).map_or(0, |version| version.order)
    }

    /// The versions that a name means, however it is spelled; for a patch of a version that version. A number that has no
    /// dot and no `v` is none by itself.
    pub fn named(&self, name: &str) -> Vec<usize> {
        let name = plain(name);
        let with = |wanted: &str| -> Vec<usize> {
            (0..self.versions.len()).filter(|at| plain(&self.versions[*at].name) == wanted).collect()
        };
        let mut rest = name.as_str();
        loop {
            let found = with(rest);
            match rest.rsplit_once('.') {
                Some((shorter, _)) if found.is_empty() && shorter.contains('.') => rest = shorter,
                _ => return found,
            }
        }
    }
}

struct Reading {
    /// The path of each page, without what tells its version and language.
    keys: Vec<String>,
    pages: Vec<Variant>,
    variants: Variants,
}

impl Reading {
    fn languages(&mut self, pages: &[PageLabels<'_>], declared: &Declared) {
        let mut of_pages: Vec<Option<String>> = vec![None; pages.len()];
        for (at, page) in pages.iter().enumerate() {
            if let Some(language) = page.language {
                of_pages[at] = Some(language.to_owned());
                let is_it = |part: &str| same_language(part, language);
                self.keys[at] = without_part(&self.keys[at], is_it);
            }
        }
        let open: Vec<bool> = of_pages.iter().map(Option::is_none).collect();
        for family in families(&self.keys, &open, FolderKind::Language) {
            for (page, label, key) in family.pages {
                of_pages[page] = label.map(|label| family.labels[label].clone());
                self.keys[page] = key;
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        of_pages.iter().flatten().for_each(|language| *counts.entry(language).or_default() += 1);
        let names: BTreeMap<String, usize> = counts.keys().map(|language| (*language).to_owned()).zip(0..).collect();
        // Those that stand where no language is named are in the default one.
        let unnamed: HashSet<&str> =
            (0..pages.len()).filter(|at| of_pages[*at].is_none()).map(|at| self.keys[at].as_str()).collect();
        let has_unnamed = (0..pages.len()).any(|at| of_pages[at].is_some() && unnamed.contains(self.keys[at].as_str()));
        let usual = || {
            let most = counts
                .iter()
                .max_by(|a, b| (same_language(a.0, "en"), a.1, b.0).cmp(&(same_language(b.0, "en"), b.1, a.0)));
            most.map(|(language, _)| (*language).to_owned())
        };
        let default = declared.language.clone().or_else(|| if has_unnamed { None } else { usual() });
        self.variants.language = default.and_then(|default| names.get(&default).copied());
        for (page, language) in self.pages.iter_mut().zip(&of_pages) {
            page.language = language.as_ref().and_then(|language| names.get(language).copied());
        }
        self.variants.languages = names.into_keys().collect();
    }

    fn versions(&mut self, pages: &[PageLabels<'_>], declared: &Declared, redirects: &[(&str, &str)]) {
        let open: Vec<bool> = pages.iter().map(|page| page.version.is_none()).collect();
        self.said_versions(pages, declared);
        for family in families(&self.keys, &open, FolderKind::Version) {
            let names: Vec<(String, VersionName)> = family
                .labels
                .iter()
                .map(|label| {
                    (label.clone(), VersionName::of_folder(label).unwrap_or_else(|| VersionName::of_label(label)))
                })
                .collect();
            let current = current_of(&family, &names, declared, redirects);
            let numbers = self.add_versions(&names, current, declared);
            for (page, label, key) in family.pages {
                self.pages[page].version = label.map(|label| numbers[label]);
                self.keys[page] = key;
            }
        }
    }

    /// The versions that pages or the navigation name.
    fn said_versions(&mut self, pages: &[PageLabels<'_>], declared: &Declared) {
        let labels: BTreeSet<&str> = pages.iter().filter_map(|page| page.version).collect();
        if labels.is_empty() {
            return;
        }
        let mut of_label: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, page) in pages.iter().enumerate() {
            if let Some(version) = page.version {
                of_label.entry(version).or_default().push(at);
            }
        }
        for (label, of) in &of_label {
            let wanted = plain(label);
            let named = of.iter().filter(|at| has_part(&self.keys[**at], |part| plain(part) == wanted)).count();
            // A label may be called otherwise than its folder.
            let folder = if 2 * named < of.len() { own_folder(&self.keys, of) } else { None };
            for at in of {
                let key = &mut self.keys[*at];
                *key = without_part(key, |part| match &folder {
                    Some(folder) => part == folder,
                    None => plain(part) == wanted,
                });
            }
        }
        let mut others: HashMap<(&str, Option<usize>), BTreeSet<Option<&str>>> = HashMap::new();
        for (at, page) in pages.iter().enumerate() {
            others.entry((&self.keys[at], self.pages[at].language)).or_default().insert(page.version);
        }
        let shared = others.values().filter(|versions| versions.len() > 1);
        // Where the configuration or front matter names versions, one page in several of them is evidence enough.
        let is_related = !declared.versions.is_empty() || shared.clone().next().is_some();
        let has_unnamed = shared.filter(|versions| versions.contains(&None)).count() >= FEWEST_SHARED;
        let names: Vec<(String, VersionName)> =
            labels.iter().map(|label| ((*label).to_owned(), VersionName::of_label(label))).collect();
        let said = |label: &str| declared.versions.iter().find(|(name, _)| name == label).map(|(_, stage)| *stage);
        let current = match labels.iter().position(|label| said(label) == Some(Stage::Current)) {
            _ if !is_related => Current::All,
            Some(at) => Current::One(at),
            None if has_unnamed => Current::Unnamed,
            None => latest(&names),
        };
        let numbers = self.add_versions(&names, current, declared);
        for (at, label) in labels.iter().enumerate() {
            of_label[label].iter().for_each(|page| self.pages[*page].version = Some(numbers[at]));
        }
    }

    /// Adds the versions of a part of the site, and says which numbers they get.
    fn add_versions(&mut self, names: &[(String, VersionName)], current: Current, declared: &Declared) -> Vec<usize> {
        let said =
            |name: &str| declared.versions.iter().position(|(known, _)| known == name || plain(known) == plain(name));
        let stage = |at: usize| {
            let (label, name) = &names[at];
            match current {
                Current::All => Stage::Current,
                Current::One(one) if one == at => Stage::Current,
                _ => match said(label).map(|known| declared.versions[known].1).filter(|stage| *stage != Stage::Current)
                {
                    Some(stage) => stage,
                    None if name.kind == Kind::Unreleased => Stage::Preview,
                    None => match current {
                        Current::One(one)
                            if !names[one].1.numbers.is_empty() && names[one].1.numbers < name.numbers =>
                        {
                            Stage::Preview
                        }
                        _ => Stage::Older,
                    },
                },
            }
        };
        let stages: Vec<Stage> = (0..names.len()).map(stage).collect();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|a, b| {
            let later = match (said(&names[*a].0), said(&names[*b].0)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => names[*b].1.later(&names[*a].1),
            };
            let later = if stages[*a] == Stage::Preview { later.reverse() } else { later };
            stages[*a].cmp(&stages[*b]).then(later).then_with(|| names[*a].0.cmp(&names[*b].0))
        });
        let first = self.variants.versions.len();
        for (at, (name, _)) in names.iter().enumerate() {
            let place = order.iter().position(|known| *known == at).unwrap_or_default();
            let order = if stages[at] == Stage::Current { 0 } else { 1 + place };
            self.variants.versions.push(Version { name: name.clone(), stage: stages[at], order });
        }
        (first..first + names.len()).collect()
    }

    fn finish(self) -> Variants {
        let Self { keys, mut pages, mut variants } = self;
        let is_variant = |page: &Variant| page.version.is_some() || page.language.is_some();
        let mut by_key: HashMap<&str, Vec<u32>> = HashMap::new();
        if pages.iter().any(is_variant) {
            for (at, key) in (0..).zip(&keys) {
                by_key.entry(key).or_default().push(at);
            }
        }
        let mut groups: Vec<Vec<u32>> = by_key.into_values().filter(|pages| pages.len() > 1).collect();
        // Pages that are alike in both are two pages, whatever their paths.
        groups.retain(|group| {
            let first = pages[group[0] as usize];
            group.iter().any(|page| {
                let page = pages[*page as usize];
                (page.version, page.language) != (first.version, first.language)
            })
        });
        groups.sort_unstable();
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|page| pages[*page as usize].group = Some(number));
        }
        variants.pages = pages;
        variants.groups = groups;
        variants
    }
}

/// How many pages several versions have to share, to be versions of one thing.
const FEWEST_SHARED: usize = 2;

/// Which of several versions is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Current {
    One(usize),
    /// What has no version.
    Unnamed,
    /// They have nothing to do with each other.
    All,
}

fn current_of(
    family: &Family,
    names: &[(String, VersionName)],
    declared: &Declared,
    redirects: &[(&str, &str)],
) -> Current {
    if family.has_own {
        return Current::Unnamed;
    }
    let said = |label: &str| {
        let is_it = |(known, stage): &(String, Stage)| *stage == Stage::Current && plain(known) == plain(label);
        declared.versions.iter().any(is_it)
    };
    // Of lines that are each said to have a current version (`v1/1.76`, `v2/2.20`) the latest.
    let current = (0..names.len()).filter(|at| said(&names[*at].0)).max_by(|a, b| names[*a].1.later(&names[*b].1));
    if let Some(at) = current {
        return Current::One(at);
    }
    // `docs/latest` leads to `docs/v2`, say.
    let led_to = redirects.iter().find_map(|(source, destination)| {
        let below = |path: &str| path.trim_matches('/').strip_prefix(family.parent.as_str()).map(str::to_owned);
        let (source, destination) = (below(source)?, below(destination)?);
        let first = |path: &str| path.split('/').next().map(str::to_owned);
        let name = VersionName::of_folder(&first(&source)?)?;
        let destination = first(&destination)?;
        (name.kind == Kind::Latest).then(|| names.iter().position(|(label, _)| *label == destination))?
    });
    led_to.map_or_else(|| latest(names), Current::One)
}

/// The latest of several versions that is released.
fn latest(names: &[(String, VersionName)]) -> Current {
    let released = |at: &usize| names[*at].1.kind != Kind::Unreleased;
    let rank = |at: usize| (names[at].1.kind == Kind::Latest, &names[at].1);
    let later = |a: &usize, b: &usize| {
        let ((a_latest, a), (b_latest, b)) = (rank(*a), rank(*b));
        a_latest.cmp(&b_latest).then_with(|| a.later(b))
    };
    match (0..names.len()).filter(released).max_by(later) {
        Some(at) => Current::One(at),
        None => Current::All,
    }
}

/// Whether a folder is named after a language.
fn same_language(folder: &str, language: &str) -> bool {
    let plain = |tag: &str| tag.to_ascii_lowercase().replace('_', "-");
    plain(folder) == plain(language)
}

fn has_part(path: &str, is_it: impl Fn(&str) -> bool) -> bool {
    path.split('/').any(is_it)
}

/// A path without the first of its parts that is meant.
fn without_part(path: &str, is_it: impl Fn(&str) -> bool) -> String {
    let Some(at) = path.split('/').position(is_it) else { return path.to_owned() };
    let parts = path.split('/').enumerate().filter(|(part, _)| *part != at).map(|(_, part)| part);
    parts.collect::<Vec<_>>().join("/")
}

/// The folder that nearly all of some pages are in and no other page is.
fn own_folder(keys: &[String], of: &[usize]) -> Option<String> {
    const DEEPEST: usize = 4;
    let own: HashSet<usize> = of.iter().copied().collect();
    for depth in 0..DEEPEST {
        let part = |at: usize| {
            let path = &keys[at];
            let mut parts = path.split('/');
            parts.nth(depth).filter(|_| path.split('/').count() > depth)
        };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        of.iter().filter_map(|at| part(*at)).for_each(|part| *counts.entry(part).or_default() += 1);
        let (most, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        if 5 * count >= 4 * of.len() && of.len() > 1 {
            let is_shared = (0..keys.len()).any(|at| !own.contains(&at) && part(at) == Some(most));
            if !is_shared {
                return Some(most.to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
