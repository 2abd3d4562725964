//! Finds the versions and languages of a site, and the pages that are the same page in another of them.
//!
//! ```text
//! v1/guides/keys      Older      ┐
//! v2/guides/keys      Current    ├ one page, `guides/keys`
//! v3-beta/guides/keys Preview    ┘
//! ```
//!
//! Declarations in the site's configuration and pages take precedence. In addition, sibling folders are taken for
//! versions or languages if their names look like them and they share enough paths; their parent folder may itself hold
//! the current version or the default language. The result depends only on the paths of the pages and on the
//! declarations, so the same pages always give the same result.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::variant_folders::{Family, FolderKind, families};
use crate::version_names::{NameKind, VersionName, plain};

/// What the site's configuration declares about its versions and languages as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// Declared versions, the latest first.
    pub versions: Vec<(String, Stage)>,
    /// The language of pages without a language of their own.
    pub language: Option<String>,
}

impl Declared {
    /// Adds a version. A version that is current in one part of a site is not older in another.
    pub(crate) fn add(&mut self, name: &str, stage: Stage) {
        match self.versions.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = stage.min(*known),
            None => self.versions.push((name.to_owned(), stage)),
        }
    }
}

/// The release stage of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Stage {
    /// The latest released version.
    #[default]
    Current,
    Older,
    /// Not released yet.
    Preview,
}

/// The attributes of a page that are relevant here.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageLabels<'p> {
    /// Site path without a leading slash.
    pub path: &'p str,
    /// The version that the page or the configuration declares.
    pub version: Option<&'p str>,
    pub language: Option<&'p str>,
}

/// A version of a site, or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub name: String,
    pub stage: Stage,
    /// Distance from the current version: the current one first, then older ones from the latest on, then previews.
    order: usize,
}

/// The version and language of a page, and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Variant {
    /// Index into [`Variants::versions`].
    pub version: Option<usize>,
    /// Index into [`Variants::languages`].
    pub language: Option<usize>,
    /// Index of the group of pages that are the same page; `None` for a page without other variants.
    group: Option<usize>,
}

/// The versions and languages of a site, and the variant of each page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variants {
    versions: Vec<Version>,
    languages: Vec<String>,
    /// The default language, if it has a name; pages without a language are in it, too.
    language: Option<usize>,
    pages: Vec<Variant>,
    groups: Vec<Vec<u32>>,
}

impl Variants {
    /// `redirects` are pairs of source and destination, verbatim from the configuration.
    pub fn of<'r>(
        pages: &[PageLabels<'_>],
        declared: &Declared,
        redirects: impl Iterator<Item = (&'r str, &'r str)>,
    ) -> Self {
        let mut builder = VariantsBuilder {
            keys: pages.iter().map(|page| page.path.to_owned()).collect(),
            pages: vec![Variant::default(); pages.len()],
            variants: Self::default(),
        };
        builder.languages(pages, declared);
        let redirects: Vec<(&str, &str)> = redirects.collect();
        builder.versions(pages, declared, &redirects);
        builder.finish()
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

    /// The variant of a page, by its index in the list of pages.
    pub fn page(&self, page: u32) -> Variant {
        self.pages.get(page as usize).copied().unwrap_or_default()
    }

    /// The version of a page.
    pub fn version_of(&self, page: u32) -> Option<&Version> {
        self.versions.get(self.page(page).version?)
    }

    pub fn language_of(&self, page: u32) -> Option<&str> {
        self.languages.get(self.page(page).language?).map(String::as_str)
    }

    /// The pages that are this page in any version and language, itself included, and the index of their group; `None`
    /// if there is no other.
    pub fn group_of(&self, page: u32) -> Option<(usize, &[u32])> {
        let group = self.page(page).group?;
        Some((group, self.groups.get(group)?))
    }

    /// Sort key of a variant for readers who asked for no particular one: lower is better.
    pub fn rank(&self, variant: Variant) -> (usize, usize) {
        (self.language_rank(variant), self.version_rank(variant))
    }

    /// 0 for the default language and for no language.
    pub fn language_rank(&self, variant: Variant) -> usize {
        match variant.language {
            None => 0,
            own if own == self.language => 0,
            Some(other) => 1 + other,
        }
    }

    /// 0 for the current version and for no version.
    pub fn version_rank(&self, variant: Variant) -> usize {
        variant.version.and_then(|version| self.versions.get(version)).map_or(0, |version| version.order)
    }

    /// The versions that a name means, in any spelling. While none matches, the last of three or more numbers is
    /// dropped: `1.9.3` means `1.9`, but `1.9` never means `1`.
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

struct VariantsBuilder {
    /// The path of each page without the segments that denote its version and language.
    keys: Vec<String>,
    pages: Vec<Variant>,
    variants: Variants,
}

impl VariantsBuilder {
    fn languages(&mut self, pages: &[PageLabels<'_>], declared: &Declared) {
        let mut of_pages: Vec<Option<String>> = vec![None; pages.len()];
        for (at, page) in pages.iter().enumerate() {
            if let Some(language) = page.language {
                of_pages[at] = Some(language.to_owned());
                let is_it = |part: &str| is_same_language(part, language);
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
        // By plain tag: how many pages are in the language, by spelling.
        let mut counts: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
        for language in of_pages.iter().flatten() {
            *counts.entry(plain_tag(language)).or_default().entry(language).or_default() += 1;
        }
        let names: BTreeMap<&str, usize> = counts.keys().map(String::as_str).zip(0..).collect();
        let number = |language: &String| names.get(plain_tag(language).as_str()).copied();
        // If a page with a language also exists without one, pages without a language are in the default language,
        // which then has no name unless it is declared.
        let unnamed: HashSet<&str> =
            (0..pages.len()).filter(|at| of_pages[*at].is_none()).map(|at| self.keys[at].as_str()).collect();
        let has_unnamed = (0..pages.len()).any(|at| of_pages[at].is_some() && unnamed.contains(self.keys[at].as_str()));
        let usual = || {
            let pages = counts.iter().map(|(tag, spellings)| (tag, spellings.values().sum::<usize>()));
            let most = pages.max_by(|a, b| (a.0 == "en", a.1, b.0).cmp(&(b.0 == "en", b.1, a.0)));
            most.map(|(tag, _)| tag.clone())
        };
        let default = declared.language.clone().or_else(|| if has_unnamed { None } else { usual() });
        self.variants.language = default.as_ref().and_then(number);
        for (page, language) in self.pages.iter_mut().zip(&of_pages) {
            page.language = language.as_ref().and_then(number);
        }
        let usual_spelling = |spellings: &BTreeMap<&str, usize>| {
            let most = spellings.iter().max_by_key(|(_, pages)| **pages);
            most.map_or_else(String::new, |(spelling, _)| (*spelling).to_owned())
        };
        self.variants.languages = counts.values().map(usual_spelling).collect();
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

    /// Adds the versions that pages or the navigation declare.
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
            // A label may differ from the name of its folder.
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
        // Versions belong together if the configuration declares them or one page exists in several of them.
        let is_related = !declared.versions.is_empty() || shared.clone().next().is_some();
        let has_unnamed = shared.filter(|versions| versions.contains(&None)).count() >= MIN_SHARED_PAGES;
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

    /// Adds the versions of a part of the site and returns their indexes.
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
                    None if name.kind == NameKind::Unreleased => Stage::Preview,
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
        // Pages with equal keys in the same version and language are different pages.
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

/// Minimum number of pages that have to exist both with and without a version for the pages without one to be current.
const MIN_SHARED_PAGES: usize = 2;

/// Which of several versions is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Current {
    One(usize),
    /// The pages without a version.
    Unnamed,
    /// The versions are unrelated, so each is current.
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
    // If several release lines declare a current version (`v1/1.76`, `v2/2.20`), the latest of them.
    let current = (0..names.len()).filter(|at| said(&names[*at].0)).max_by(|a, b| names[*a].1.later(&names[*b].1));
    if let Some(at) = current {
        return Current::One(at);
    }
    // For example, a redirect from `docs/latest` to `docs/v2`.
    let led_to = redirects.iter().find_map(|(source, destination)| {
        let below = |path: &str| path.trim_matches('/').strip_prefix(family.parent.as_str()).map(str::to_owned);
        let (source, destination) = (below(source)?, below(destination)?);
        let first = |path: &str| path.split('/').next().map(str::to_owned);
        let name = VersionName::of_folder(&first(&source)?)?;
        let destination = first(&destination)?;
        (name.kind == NameKind::Latest).then(|| names.iter().position(|(label, _)| *label == destination))?
    });
    led_to.map_or_else(|| latest(names), Current::One)
}

/// The latest released version of several.
fn latest(names: &[(String, VersionName)]) -> Current {
    let released = |at: &usize| names[*at].1.kind != NameKind::Unreleased;
    let rank = |at: usize| (names[at].1.kind == NameKind::Latest, &names[at].1);
    let later = |a: &usize, b: &usize| {
        let ((a_latest, a), (b_latest, b)) = (rank(*a), rank(*b));
        a_latest.cmp(&b_latest).then_with(|| a.later(b))
    };
    match (0..names.len()).filter(released).max_by(later) {
        Some(at) => Current::One(at),
        None => Current::All,
    }
}

/// Whether two tags name the same language, ignoring case and `_` versus `-`.
pub fn is_same_language(one: &str, other: &str) -> bool {
    plain_tag(one) == plain_tag(other)
}

fn plain_tag(tag: &str) -> String {
    tag.to_ascii_lowercase().replace('_', "-")
}

fn has_part(path: &str, is_it: impl Fn(&str) -> bool) -> bool {
    path.split('/').any(is_it)
}

/// A path without its first segment that matches.
fn without_part(path: &str, is_it: impl Fn(&str) -> bool) -> String {
    let Some(at) = path.split('/').position(is_it) else { return path.to_owned() };
    let parts = path.split('/').enumerate().filter(|(part, _)| *part != at).map(|(_, part)| part);
    parts.collect::<Vec<_>>().join("/")
}

/// The folder that at least 80 % of the given pages are in, and no other page.
fn own_folder(keys: &[String], of: &[usize]) -> Option<String> {
    const MAX_DEPTH: usize = 4;
    let own: HashSet<usize> = of.iter().copied().collect();
    for depth in 0..MAX_DEPTH {
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
