//! A cache of keys and projects, valid for as long as the storage reports no change.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use docent_types::{Domain, Project, ProjectId, StoreError, Timestamp};
use parking_lot::RwLock;

use crate::key::KeyHash;
use crate::ports::{Keys, Projects};
use crate::record::KeyRecord;

/// Entries of one kind; as many again for lookups that found nothing.
const MOST: usize = 4096;

/// Cached keys and projects.
#[derive(Debug)]
pub(crate) struct AccessCache {
    keys: Arc<dyn Keys>,
    projects: Arc<dyn Projects>,
    pages: RwLock<Pages>,
}

/// The storage's change number right before a read, if it was available.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
pub(crate) struct ReadVersion(Option<u64>);

/// The project or domain a path names. It may be invalid.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Destination<'a> {
    Project(&'a str),
    Domain(&'a str),
}

/// A key's record and a project, each if it exists.
type Both = (Option<Arc<KeyRecord>>, Option<Arc<Project>>);

#[derive(Debug, Default)]
struct Pages {
    stamp: ReadVersion,
    // The lookup key is a digest already, so a fast hash with a random seed is enough against chosen collisions.
    keys: Page<KeyHash, KeyRecord, foldhash::fast::RandomState>,
    by_id: Page<ProjectId, Project>,
    by_domain: Page<Domain, Project>,
}

/// Anybody can ask for names that do not exist, so misses are cached apart from hits and cannot evict them.
#[derive(Debug)]
struct Page<K, V, S = RandomState> {
    there: HashMap<K, Arc<V>, S>,
    missing: HashMap<K, (), S>,
}

impl<K, V, S: Default> Default for Page<K, V, S> {
    fn default() -> Self {
        Self { there: HashMap::default(), missing: HashMap::default() }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Page<K, V, S> {
    /// `None` when it is not cached.
    fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<Option<Arc<V>>>
    where
        K: Borrow<Q>,
    {
        match self.there.get(key) {
            Some(found) => Some(Some(Arc::clone(found))),
            None => self.missing.contains_key(key).then_some(None),
        }
    }

    fn keep(&mut self, key: K, found: Option<&Arc<V>>) {
        // A full map is cleared: rare, and cheaper than tracking the order of use.
        match found {
            Some(found) => {
                if self.there.len() >= MOST {
                    self.there.clear();
                }
                self.there.insert(key, Arc::clone(found));
            }
            None => {
                if self.missing.len() >= MOST {
                    self.missing.clear();
                }
                self.missing.insert(key, ());
            }
        }
    }
}

impl AccessCache {
    pub(crate) fn new(keys: Arc<dyn Keys>, projects: Arc<dyn Projects>) -> Self {
        Self { keys, projects, pages: RwLock::default() }
    }

    /// Stores when a key was last used.
    pub(crate) async fn used(&self, key: &KeyRecord, at: Timestamp) -> Result<(), StoreError> {
        self.keys.used(&key.id, at).await
    }

    /// A stamp taken before a read: a later change makes entries with this stamp invalid.
    pub(crate) fn stamp(&self) -> ReadVersion {
        ReadVersion(self.keys.changes())
    }

    /// A key and the project a path names, with one lookup.
    pub(crate) async fn both(
        &self,
        stamp: ReadVersion,
        hash: &KeyHash,
        place: Destination<'_>,
    ) -> Result<Both, StoreError> {
        let known = self.get(stamp, |pages| {
            let project = match place {
                Destination::Project(id) => pages.by_id.get(id),
                Destination::Domain(domain) => pages.by_domain.get(domain),
            };
            pages.keys.get(hash).zip(project)
        });
        match known {
            Some(known) => Ok(known),
            // Rare.
            None => Box::pin(self.looked_up(stamp, hash, place)).await,
        }
    }

    async fn looked_up(&self, stamp: ReadVersion, hash: &KeyHash, place: Destination<'_>) -> Result<Both, StoreError> {
        let key = self.key(stamp, hash).await?;
        let project = match place {
            Destination::Project(id) => self.project(stamp, id).await?,
            Destination::Domain(domain) => self.domain(stamp, domain).await?,
        };
        Ok((key, project))
    }

    pub(crate) async fn key(&self, stamp: ReadVersion, hash: &KeyHash) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        if let Some(known) = self.get(stamp, |pages| pages.keys.get(hash)) {
            return Ok(known);
        }
        let found = self.keys.by_hash(hash).await?.map(Arc::new);
        self.keep(stamp, |pages| pages.keys.keep(*hash, found.as_ref()));
        Ok(found)
    }

    /// `id` may be invalid.
    async fn project(&self, stamp: ReadVersion, id: &str) -> Result<Option<Arc<Project>>, StoreError> {
        if let Some(known) = self.get(stamp, |pages| pages.by_id.get(id)) {
            return Ok(known);
        }
        let Ok(id) = ProjectId::parse(id) else { return Ok(None) };
        let found = self.projects.by_id(&id).await?.map(Arc::new);
        self.keep(stamp, |pages| pages.by_id.keep(id, found.as_ref()));
        Ok(found)
    }

    /// `domain` may be invalid.
    async fn domain(&self, stamp: ReadVersion, domain: &str) -> Result<Option<Arc<Project>>, StoreError> {
        if let Some(known) = self.get(stamp, |pages| pages.by_domain.get(domain)) {
            return Ok(known);
        }
        let Ok(domain) = Domain::parse(domain) else { return Ok(None) };
        let found = self.projects.by_domain(&domain).await?.map(Arc::new);
        self.keep(stamp, |pages| pages.by_domain.keep(domain, found.as_ref()));
        Ok(found)
    }

    fn get<V>(&self, stamp: ReadVersion, known: impl FnOnce(&Pages) -> Option<V>) -> Option<V> {
        stamp.0?;
        let pages = self.pages.read();
        if pages.stamp == stamp { known(&pages) } else { None }
    }

    fn keep(&self, stamp: ReadVersion, keep: impl FnOnce(&mut Pages)) {
        if stamp.0.is_none() {
            return;
        }
        let mut pages = self.pages.write();
        // Change numbers only grow: an earlier read does not overwrite a later one.
        if pages.stamp < stamp {
            *pages = Pages { stamp, ..Pages::default() };
        }
        if pages.stamp == stamp {
            keep(&mut pages);
        }
    }
}

#[cfg(test)]
mod tests;
