//! What was read of keys and projects, kept in memory for as long as the storage says that nothing has changed.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use docent_types::{Domain, Project, ProjectId, StoreError};

use crate::key::KeyHash;
use crate::ports::{Keys, Projects};
use crate::record::KeyRecord;

/// Things kept of one kind; as many again that were found not to be there.
const MOST: usize = 4096;

/// Keys and projects, read once.
#[derive(Debug)]
pub(crate) struct Known {
    keys: Arc<dyn Keys>,
    projects: Arc<dyn Projects>,
    pages: RwLock<Pages>,
}

/// When something was read: what both storages said of changes right before.
type Stamp = (u64, u64);

#[derive(Debug, Default)]
struct Pages {
    stamp: Option<Stamp>,
    keys: Page<KeyHash, KeyRecord>,
    by_id: Page<ProjectId, Project>,
    by_domain: Page<Domain, Project>,
}

/// Strangers can ask for whatever is not there, so that what is not there must not crowd out what is.
#[derive(Debug)]
struct Page<K, V> {
    there: HashMap<K, Arc<V>>,
    missing: HashMap<K, ()>,
}

impl<K, V> Default for Page<K, V> {
    fn default() -> Self {
        Self { there: HashMap::new(), missing: HashMap::new() }
    }
}

impl<K: Eq + Hash + Clone, V> Page<K, V> {
    /// `None` when nothing is known.
    fn get(&self, key: &K) -> Option<Option<Arc<V>>> {
        match self.there.get(key) {
            Some(found) => Some(Some(Arc::clone(found))),
            None => self.missing.contains_key(key).then_some(None),
        }
    }

    fn keep(&mut self, key: &K, found: Option<&Arc<V>>) {
        // A page that is full is begun anew: rare, and cheaper than to keep an order.
        match found {
            Some(found) => {
                if self.there.len() >= MOST {
                    self.there.clear();
                }
                self.there.insert(key.clone(), Arc::clone(found));
            }
            None => {
                if self.missing.len() >= MOST {
                    self.missing.clear();
                }
                self.missing.insert(key.clone(), ());
            }
        }
    }
}

impl Known {
    pub(crate) fn new(keys: Arc<dyn Keys>, projects: Arc<dyn Projects>) -> Self {
        Self { keys, projects, pages: RwLock::default() }
    }

    pub(crate) async fn key(&self, hash: &KeyHash) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        self.look_up(|pages| &pages.keys, |pages| &mut pages.keys, hash, async || self.keys.by_hash(hash).await).await
    }

    pub(crate) async fn project(&self, id: &ProjectId) -> Result<Option<Arc<Project>>, StoreError> {
        self.look_up(|pages| &pages.by_id, |pages| &mut pages.by_id, id, async || self.projects.by_id(id).await).await
    }

    pub(crate) async fn domain(&self, domain: &Domain) -> Result<Option<Arc<Project>>, StoreError> {
        let read = async || self.projects.by_domain(domain).await;
        self.look_up(|pages| &pages.by_domain, |pages| &mut pages.by_domain, domain, read).await
    }

    async fn look_up<K: Eq + Hash + Clone, V>(
        &self,
        page: impl FnOnce(&Pages) -> &Page<K, V>,
        page_mut: impl FnOnce(&mut Pages) -> &mut Page<K, V>,
        key: &K,
        read: impl AsyncFnOnce() -> Result<Option<V>, StoreError>,
    ) -> Result<Option<Arc<V>>, StoreError> {
        // Before anything is read, so that what changes meanwhile is noticed the next time.
        let stamp = self.keys.changes().zip(self.projects.changes());
        if stamp.is_some() {
            let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
            if pages.stamp == stamp
                && let Some(known) = page(&pages).get(key)
            {
                return Ok(known);
            }
        }
        let found = read().await?.map(Arc::new);
        if stamp.is_some() {
            let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
            // Numbers only grow: whoever read earlier does not undo what was read later.
            if pages.stamp < stamp {
                *pages = Pages { stamp, ..Pages::default() };
            }
            if pages.stamp == stamp {
                page_mut(&mut pages).keep(key, found.as_ref());
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
