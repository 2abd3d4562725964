//! A cache of keys and projects, valid until the storage reports a change.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use docent_types::{Domain, Project, ProjectId, StoreError, Timestamp};
use parking_lot::RwLock;

use crate::key::KeyHash;
use crate::ports::{Keys, Projects};
use crate::record::KeyRecord;

/// Maximum number of entries of one kind; as many again for lookups that found nothing.
const CAPACITY: usize = 4096;

/// Cached keys and projects.
#[derive(Debug)]
pub(crate) struct AccessCache {
    keys: Arc<dyn Keys>,
    projects: Arc<dyn Projects>,
    entries: RwLock<Entries>,
}

/// The storage's change number right before a read, if it was available.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
pub(crate) struct ReadVersion(Option<u64>);

#[derive(Debug, Default)]
struct Entries {
    version: ReadVersion,
    keys: Lookups<KeyHash, KeyRecord>,
    by_id: Lookups<ProjectId, Project>,
    by_domain: Lookups<Domain, Project>,
}

/// The results of lookups. Anyone can request names that do not exist, so misses are cached separately from hits and
/// cannot evict them.
#[derive(Debug)]
struct Lookups<K, V> {
    hits: HashMap<K, Arc<V>>,
    misses: HashMap<K, ()>,
}

impl<K, V> Default for Lookups<K, V> {
    fn default() -> Self {
        Self { hits: HashMap::new(), misses: HashMap::new() }
    }
}

impl<K: Eq + Hash, V> Lookups<K, V> {
    /// The cached result; the outer `None` means that nothing is cached.
    fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<Option<Arc<V>>>
    where
        K: Borrow<Q>,
    {
        match self.hits.get(key) {
            Some(found) => Some(Some(Arc::clone(found))),
            None => self.misses.contains_key(key).then_some(None),
        }
    }

    fn insert(&mut self, key: K, found: Option<&Arc<V>>) {
        match found {
            Some(found) => insert_bounded(&mut self.hits, key, Arc::clone(found)),
            None => insert_bounded(&mut self.misses, key, ()),
        }
    }
}

/// Inserts into a bounded map. A full map is cleared: that is rare, and cheaper than tracking the order of use.
fn insert_bounded<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= CAPACITY {
        map.clear();
    }
    map.insert(key, value);
}

impl AccessCache {
    pub(crate) fn new(keys: Arc<dyn Keys>, projects: Arc<dyn Projects>) -> Self {
        Self { keys, projects, entries: RwLock::default() }
    }

    /// Stores when a key was last used.
    pub(crate) async fn used(&self, key: &KeyRecord, at: Timestamp) -> Result<(), StoreError> {
        self.keys.used(&key.id, at).await
    }

    /// The version to pass to the lookups of one request: a change after this call makes their cache entries invalid.
    pub(crate) fn version(&self) -> ReadVersion {
        ReadVersion(self.keys.changes())
    }

    pub(crate) async fn key(&self, version: ReadVersion, hash: &KeyHash) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        if let Some(cached) = self.get(version, |entries| entries.keys.get(hash)) {
            return Ok(cached);
        }
        let found = self.keys.by_hash(hash).await?.map(Arc::new);
        self.insert(version, |entries| entries.keys.insert(*hash, found.as_ref()));
        Ok(found)
    }

    /// `id` may be invalid.
    pub(crate) async fn project(&self, version: ReadVersion, id: &str) -> Result<Option<Arc<Project>>, StoreError> {
        if let Some(cached) = self.get(version, |entries| entries.by_id.get(id)) {
            return Ok(cached);
        }
        let Ok(id) = ProjectId::parse(id) else { return Ok(None) };
        let found = self.projects.by_id(&id).await?.map(Arc::new);
        self.insert(version, |entries| entries.by_id.insert(id, found.as_ref()));
        Ok(found)
    }

    /// `domain` may be invalid.
    pub(crate) async fn domain(&self, version: ReadVersion, domain: &str) -> Result<Option<Arc<Project>>, StoreError> {
        if let Some(cached) = self.get(version, |entries| entries.by_domain.get(domain)) {
            return Ok(cached);
        }
        let Ok(domain) = Domain::parse(domain) else { return Ok(None) };
        let found = self.projects.by_domain(&domain).await?.map(Arc::new);
        self.insert(version, |entries| entries.by_domain.insert(domain, found.as_ref()));
        Ok(found)
    }

    fn get<V>(&self, version: ReadVersion, get: impl FnOnce(&Entries) -> Option<V>) -> Option<V> {
        version.0?;
        let entries = self.entries.read();
        if entries.version == version { get(&entries) } else { None }
    }

    fn insert(&self, version: ReadVersion, insert: impl FnOnce(&mut Entries)) {
        if version.0.is_none() {
            return;
        }
        let mut entries = self.entries.write();
        // Change numbers only increase: an earlier read must not overwrite a later one.
        if entries.version < version {
            *entries = Entries { version, ..Entries::default() };
        }
        if entries.version == version {
            insert(&mut entries);
        }
    }
}

#[cfg(test)]
mod tests;
