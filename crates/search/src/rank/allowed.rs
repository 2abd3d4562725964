//! Which pages a question may be answered from.

use std::collections::HashMap;

use docent_site::{Variant, is_same_language};

use crate::index::manifest::ManifestPage;
use crate::index::snapshot::Snapshot;
use crate::query::Filter;
use crate::rank::corpus_stats::NO_PAGE;
use crate::rank::variants::{WantedVariant, best_of, is_same};

/// The pages that take part in a search: those that pass the filter and, of a page in several versions and languages,
/// the wanted variant. Each page is decided once.
pub(crate) struct Allowed<'f> {
    snapshot: &'f Snapshot,
    filter: Option<&'f Filter>,
    /// `None` where all variants take part.
    wanted: Option<&'f WantedVariant>,
    known: HashMap<u32, bool>,
    /// By group of pages: the variant that takes part.
    best: HashMap<usize, Variant>,
}

impl<'f> Allowed<'f> {
    pub(crate) fn new(snapshot: &'f Snapshot, filter: &'f Filter, wanted: Option<&'f WantedVariant>) -> Self {
        let filter = Some(filter).filter(|filter| **filter != Filter::default());
        let wanted = wanted.filter(|_| !snapshot.tables.usual.is_empty());
        Self { snapshot, filter, wanted, known: HashMap::new(), best: HashMap::new() }
    }

    /// Whether every page takes part.
    pub(crate) fn is_open(&self) -> bool {
        self.filter.is_none() && self.wanted.is_none()
    }

    pub(crate) fn is_allowed(&mut self, page: u32) -> bool {
        if self.filter.is_none() && self.wanted.is_none_or(WantedVariant::is_usual) {
            let usual = &self.snapshot.tables.usual;
            return page != NO_PAGE && (self.wanted.is_none() || usual.get(page as usize).is_none_or(|usual| *usual));
        }
        if let Some(known) = self.known.get(&page) {
            return *known;
        }
        let allowed = self.lets_through(page) && self.is_wanted(page);
        self.known.insert(page, allowed);
        allowed
    }

    fn lets_through(&self, number: u32) -> bool {
        let Some(page) = self.snapshot.page_numbered(number) else { return false };
        let variants = &self.snapshot.tables.variants;
        let version = variants.version_of(number).map(|version| version.name.as_str());
        self.filter.is_none_or(|filter| lets_through(filter, page, version, variants.language_of(number)))
    }

    fn is_wanted(&mut self, page: u32) -> bool {
        let variants = &self.snapshot.tables.variants;
        let Some((wanted, (number, group))) = self.wanted.zip(variants.group_of(page)) else { return true };
        let best = match self.best.get(&number) {
            Some(best) => *best,
            None => {
                let best = best_of(variants, wanted, group.iter().copied().filter(|page| self.lets_through(*page)));
                self.best.insert(number, best);
                best
            }
        };
        let own = variants.page(page);
        is_same(best, own)
    }
}

/// Whether a page passes a filter, given its version and language. A page without a version or a language is not
/// excluded for it, and neither is a page open to all for its groups.
fn lets_through(filter: &Filter, page: &ManifestPage, version: Option<&str>, language: Option<&str>) -> bool {
    let fits = |wanted: &Option<String>, own: Option<&str>, is_same: fn(&str, &str) -> bool| match (wanted, own) {
        (Some(wanted), Some(own)) => is_same(wanted, own),
        _ => true,
    };
    let open = filter.groups.is_empty()
        || page.groups.is_empty()
        || page.groups.iter().any(|group| filter.groups.contains(group));
    fits(&filter.version, version, |wanted, own| wanted == own)
        && fits(&filter.language, language, is_same_language)
        && open
        && filter.tag.as_ref().is_none_or(|tag| page.tags.contains(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_a_field_pass_its_filter() {
        let some = |text: &str| Some(text.to_owned());
        let page = ManifestPage { groups: vec!["staff".to_owned()], ..ManifestPage::default() };
        for (filter, passes) in [
            (Filter::default(), true),
            (Filter { version: some("v2"), ..Filter::default() }, true),
            (Filter { version: some("v1"), ..Filter::default() }, false),
            (Filter { language: some("de"), ..Filter::default() }, true),
            (Filter { groups: vec!["staff".to_owned(), "guest".to_owned()], ..Filter::default() }, true),
            (Filter { groups: vec!["guest".to_owned()], ..Filter::default() }, false),
            (Filter { tag: some("new"), ..Filter::default() }, false),
        ] {
            assert_eq!(lets_through(&filter, &page, Some("v2"), None), passes, "{filter:?}");
        }
        for (wanted, passes) in [("pt-br", true), ("PT_BR", true), ("pt", false), ("", false)] {
            let filter = Filter { language: some(wanted), ..Filter::default() };
            assert_eq!(lets_through(&filter, &page, None, Some("pt-BR")), passes, "{wanted}");
        }
    }
}
