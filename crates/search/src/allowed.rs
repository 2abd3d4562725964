//! Which pages a question may be answered from.

use std::collections::HashMap;

use crate::ground::NOWHERE;
use crate::manifest::ManifestPage;
use crate::query::Filter;
use crate::snapshot::Snapshot;

/// Which pages a filter lets through, asked once for each.
pub(crate) struct Allowed<'f> {
    snapshot: &'f Snapshot,
    filter: Option<&'f Filter>,
    known: HashMap<u32, bool>,
}

impl<'f> Allowed<'f> {
    pub(crate) fn new(snapshot: &'f Snapshot, filter: &'f Filter) -> Self {
        Self { snapshot, filter: Some(filter).filter(|filter| **filter != Filter::default()), known: HashMap::new() }
    }

    /// Whether every page is.
    pub(crate) fn is_open(&self) -> bool {
        self.filter.is_none()
    }

    pub(crate) fn is_allowed(&mut self, page: u32) -> bool {
        let Some(filter) = self.filter else { return page != NOWHERE };
        let snapshot = self.snapshot;
        *self
            .known
            .entry(page)
            .or_insert_with(|| snapshot.page_numbered(page).is_some_and(|page| lets_through(filter, page)))
    }
}

/// Whether a filter lets a page through. A page without a version or a language passes, and so does one that is open to
/// all.
fn lets_through(filter: &Filter, page: &ManifestPage) -> bool {
    let fits = |wanted: &Option<String>, own: &Option<String>| match (wanted, own) {
        (Some(wanted), Some(own)) => wanted == own,
        _ => true,
    };
    let open = filter.groups.is_empty()
        || page.groups.is_empty()
        || page.groups.iter().any(|group| filter.groups.contains(group));
    fits(&filter.version, &page.version)
        && fits(&filter.language, &page.language)
        && open
        && filter.tag.as_ref().is_none_or(|tag| page.tags.contains(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_does_not_say_does_not_keep_it_out() {
        let some = |text: &str| Some(text.to_owned());
        let page = ManifestPage { version: some("v2"), groups: vec!["staff".to_owned()], ..ManifestPage::default() };
        for (filter, passes) in [
            (Filter::default(), true),
            (Filter { version: some("v2"), ..Filter::default() }, true),
            (Filter { version: some("v1"), ..Filter::default() }, false),
            (Filter { language: some("de"), ..Filter::default() }, true),
            (Filter { groups: vec!["staff".to_owned(), "guest".to_owned()], ..Filter::default() }, true),
            (Filter { groups: vec!["guest".to_owned()], ..Filter::default() }, false),
            (Filter { tag: some("new"), ..Filter::default() }, false),
        ] {
            assert_eq!(lets_through(&filter, &page), passes, "{filter:?}");
        }
    }
}
