//! Pages of a list that do not shift while entries are added to it.

use std::collections::BTreeSet;

/// The position of a page in a list. The list is sorted by key, greatest (newest) first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListPage<K> {
    #[default]
    Newest,
    /// The entries right after this key in the list.
    OlderThan(K),
    /// The entries right before this key in the list.
    NewerThan(K),
}

/// Chooses the keys of a page from all keys of a list, which may come in any order.
#[derive(Debug)]
pub struct PageChoice<K> {
    page: ListPage<K>,
    limit: usize,
    chosen: BTreeSet<K>,
    has_newer: bool,
    has_older: bool,
}

/// The keys of a page, greatest first, and whether there are more on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenPage<K> {
    pub keys: Vec<K>,
    pub has_newer: bool,
    pub has_older: bool,
}

impl<K: Ord> PageChoice<K> {
    pub fn new(page: ListPage<K>, limit: usize) -> Self {
        Self { page, limit, chosen: BTreeSet::new(), has_newer: false, has_older: false }
    }

    pub fn examine(&mut self, key: K) {
        match &self.page {
            ListPage::OlderThan(cursor) if key >= *cursor => self.has_newer = true,
            ListPage::NewerThan(cursor) if key <= *cursor => self.has_older = true,
            ListPage::NewerThan(_) => {
                self.chosen.insert(key);
                if self.chosen.len() > self.limit {
                    self.chosen.pop_last();
                    self.has_newer = true;
                }
            }
            ListPage::Newest | ListPage::OlderThan(_) => {
                self.chosen.insert(key);
                if self.chosen.len() > self.limit {
                    self.chosen.pop_first();
                    self.has_older = true;
                }
            }
        }
    }

    pub fn page(self) -> ChosenPage<K> {
        let Self { chosen, has_newer, has_older, .. } = self;
        ChosenPage { keys: chosen.into_iter().rev().collect(), has_newer, has_older }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(page: ListPage<u8>, limit: usize, keys: &[u8]) -> ChosenPage<u8> {
        let mut choice = PageChoice::new(page, limit);
        keys.iter().for_each(|key| choice.examine(*key));
        choice.page()
    }

    proptest! {
        #[test]
        fn all_keys_are_on_some_page_once_in_either_direction(keys: BTreeSet<u8>, limit in 1_usize..9) {
            let shuffled: Vec<u8> = keys.iter().copied().filter(|key| key % 2 == 0).chain(
                keys.iter().rev().copied().filter(|key| key % 2 == 1)).collect();
            let newest_first: Vec<u8> = keys.into_iter().rev().collect();
            let mut seen: Vec<u8> = Vec::new();
            let mut next = page(ListPage::Newest, limit, &shuffled);
            prop_assert!(!next.has_newer);
            loop {
                seen.extend(&next.keys);
                let Some(last) = next.keys.last().copied().filter(|_| next.has_older) else { break };
                next = page(ListPage::OlderThan(last), limit, &shuffled);
                prop_assert!(next.has_newer && !next.keys.is_empty());
            }
            prop_assert_eq!(&seen, &newest_first);
            if let Some(oldest) = newest_first.last() {
                let mut back = vec![*oldest];
                let mut next = page(ListPage::NewerThan(*oldest), limit, &shuffled);
                loop {
                    prop_assert!(next.has_older);
                    back.extend(next.keys.iter().rev());
                    let Some(first) = next.keys.first().copied().filter(|_| next.has_newer) else { break };
                    next = page(ListPage::NewerThan(first), limit, &shuffled);
                }
                back.reverse();
                prop_assert_eq!(back, newest_first);
            }
        }
    }
}
