//! Lookup tables for the pages of a state: by id, number, path and former path.

use std::collections::HashMap;
use std::sync::Arc;

use docent_site::Variants;

use crate::index::links::path_key;
use crate::index::manifest::{Manifest, ManifestFile, PagePosition};
use crate::index::redirects::Redirects;
use crate::rank::asked_language::PagesByLanguage;
use crate::rank::corpus_stats::Renewed;
use crate::rank::variants;
use crate::text::synonyms::Synonyms;

/// Lookup tables of pages. The states before and after an update share the tables that it leaves unchanged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    pub(crate) by_id: HashMap<u64, PagePosition>,
    /// By page number: pages are numbered in order of file.
    pub(crate) by_number: Arc<Vec<PagePosition>>,
    /// By the path a page is served at, and by its former paths.
    pub(crate) by_path: Arc<HashMap<String, PagePosition>>,
    /// Page numbers by the keys of all paths that lead to the page.
    pub(crate) keys: Arc<HashMap<u64, u32>>,
    pub(crate) redirects: Arc<Redirects>,
    /// The synonyms that the site's authors define.
    pub(crate) synonyms: Arc<Synonyms>,
    /// Which pages are versions or translations of one page, by page number.
    pub(crate) variants: Arc<Variants>,
    /// By page number: whether the page is the variant shown when no version or language is asked for. Empty when every
    /// page is.
    pub(crate) usual: Arc<Vec<bool>>,
    /// How many pages there are in each language of the variants.
    pub(crate) languages: Arc<PagesByLanguage>,
}

impl Tables {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let written = manifest.site.redirects.iter().map(|(source, to)| (source.as_str(), to.as_str()));
        let redirects = Redirects::of(written);
        let pages = manifest.listed().count();
        let mut by_id = HashMap::with_capacity(pages);
        let mut by_path = HashMap::with_capacity(pages);
        let mut keys = HashMap::with_capacity(pages);
        let variants = variants::of_manifest(manifest);
        let mut usual = variants::usual(&variants, pages);
        for (position, page) in manifest.positions() {
            by_id.insert(page.id, position);
        }
        // Of several versions at one path, the variant shown by default wins.
        for wanted in [true, false] {
            let pages = (0..).zip(manifest.positions()).zip(&usual).filter(|(_, usual)| **usual == wanted);
            for ((number, (position, page)), _) in pages {
                keys.entry(path_key(&page.path)).or_insert(number);
                if wanted || !by_path.contains_key(&page.path) {
                    by_path.insert(page.path.clone(), position);
                }
            }
        }
        // A current path takes precedence over a former path.
        for (number, (position, page)) in (0..).zip(manifest.positions()) {
            for alias in &page.aliases {
                by_path.entry(alias.clone()).or_insert(position);
                keys.entry(path_key(alias)).or_insert(number);
            }
        }
        for source in redirects.sources() {
            let number = redirects.follow(source).and_then(|path| keys.get(&path_key(&path)).copied());
            if let Some(number) = number {
                keys.entry(path_key(source)).or_insert(number);
            }
        }
        if !usual.contains(&false) {
            usual = Vec::new();
        }
        Self {
            by_id,
            by_number: Arc::new(manifest.positions().map(|(position, _)| position).collect()),
            by_path: Arc::new(by_path),
            keys: Arc::new(keys),
            redirects: Arc::new(redirects),
            synonyms: Arc::new(Synonyms::parse(&manifest.site.synonyms)),
            languages: Arc::new(PagesByLanguage::of(&variants, pages)),
            variants: Arc::new(variants),
            usual: Arc::new(usual),
        }
    }

    /// The tables after an update in which pages were read again but kept their paths.
    pub(crate) fn after(&self, renewed: &[(PagePosition, Renewed)]) -> Self {
        let mut next = self.clone();
        for (position, renewed) in renewed {
            next.by_id.remove(&renewed.before);
            next.by_id.insert(renewed.now, *position);
        }
        next
    }
}

/// The pages that were read again between two manifests; `None` when any page was added, removed, moved or put into
/// another version or language, or the site's own configuration changed.
pub(crate) fn renewed(before: &Manifest, now: &Manifest) -> Option<Vec<(PagePosition, Renewed)>> {
    let same_site = Arc::ptr_eq(&before.site, &now.site) || before.site == now.site;
    if !same_site || before.files.len() != now.files.len() {
        return None;
    }
    let mut found = Vec::new();
    let mut first = 0;
    for (at, (before, now)) in (0..).zip(before.files.iter().zip(&now.files)) {
        if !Arc::ptr_eq(before, now) {
            renewed_in(at, first, before, now, &mut found)?;
        }
        first += u32::try_from(now.pages.iter().filter(|page| page.listed).count()).ok()?;
    }
    Some(found)
}

fn renewed_in(
    at: u32,
    first: u32,
    before: &ManifestFile,
    now: &ManifestFile,
    found: &mut Vec<(PagePosition, Renewed)>,
) -> Option<()> {
    if before.path != now.path || before.pages.len() != now.pages.len() {
        return None;
    }
    let mut number = first;
    for (page_at, (before, now)) in (0..).zip(before.pages.iter().zip(&now.pages)) {
        let is_there = (&before.path, &before.aliases, before.listed) == (&now.path, &now.aliases, now.listed);
        if !is_there || (&before.version, &before.language) != (&now.version, &now.language) {
            return None;
        }
        if now.listed {
            found.push(((at, page_at), Renewed { number, before: before.id, now: now.id }));
            number += 1;
        }
    }
    Some(())
}
