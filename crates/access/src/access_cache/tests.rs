//! Cached values are invalidated in time, and are not read twice.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use docent_types::Timestamp;

use super::*;
use crate::conformance::{sample_key, sample_project};
use crate::memory::MemoryAccess;
use crate::ports::AddError;
use crate::record::KeyId;

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

/// Counts the reads of a storage, and can report an unknown change number.
#[derive(Debug, Default)]
struct Counted {
    storage: MemoryAccess,
    reads: AtomicU64,
    blind: AtomicBool,
}

impl Counted {
    fn reads(&self) -> u64 {
        self.reads.swap(0, Ordering::SeqCst)
    }

    fn read(&self) -> &MemoryAccess {
        self.reads.fetch_add(1, Ordering::SeqCst);
        &self.storage
    }

    fn tell(&self) -> Option<u64> {
        (!self.blind.load(Ordering::SeqCst)).then(|| self.storage.changes()).flatten()
    }
}

#[async_trait]
impl Keys for Counted {
    async fn insert(&self, record: KeyRecord) -> Result<(), StoreError> {
        self.storage.insert(record).await
    }

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StoreError> {
        self.read().by_hash(hash).await
    }

    async fn keys(&self, project: Option<&ProjectId>) -> Result<Vec<KeyRecord>, StoreError> {
        self.read().keys(project).await
    }

    async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<Option<KeyRecord>, StoreError> {
        self.storage.revoke(id, now).await
    }

    async fn used(&self, id: &KeyId, at: Timestamp) -> Result<(), StoreError> {
        self.storage.used(id, at).await
    }

    fn changes(&self) -> Option<u64> {
        self.tell()
    }
}

#[async_trait]
impl Projects for Counted {
    async fn add(&self, project: Project) -> Result<(), AddError> {
        self.storage.add(project).await
    }

    async fn replace(&self, project: Project) -> Result<Option<Project>, AddError> {
        self.storage.replace(project).await
    }

    async fn remove(&self, id: &ProjectId, now: Timestamp) -> Result<Option<Project>, StoreError> {
        self.storage.remove(id, now).await
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.read().projects().await
    }

    async fn by_id(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        self.read().by_id(id).await
    }

    async fn by_domain(&self, domain: &Domain) -> Result<Option<Project>, StoreError> {
        self.read().by_domain(domain).await
    }
}

fn known() -> (Arc<Counted>, AccessCache) {
    let storage = Arc::new(Counted::default());
    (Arc::clone(&storage), AccessCache::new(Arc::clone(&storage) as _, storage as _))
}

#[tokio::test]
async fn known_and_unknown_keys_are_read_once() {
    let (storage, known) = known();
    let project = sample_project("acme");
    storage.add(project.clone()).await.expect("the project is added");
    let (_, record) = sample_key("acme", 1);
    storage.insert(record.clone()).await.expect("the key is added");
    let (_, stranger) = sample_key("acme", 2);
    for _ in 0..3 {
        assert_eq!(known.key(known.version(), &record.hash).await.expect("reads").as_deref(), Some(&record));
        assert_eq!(known.key(known.version(), &stranger.hash).await.expect("reads"), None);
        assert_eq!(
            known.project(known.version(), project.id.as_str()).await.expect("reads").as_deref(),
            Some(&project)
        );
        assert_eq!(
            known.domain(known.version(), project.domain.as_str()).await.expect("reads").as_deref(),
            Some(&project)
        );
    }
    assert_eq!(storage.reads(), 4);
}

#[tokio::test]
async fn a_change_is_seen_at_once() {
    let (storage, known) = known();
    let project = sample_project("acme");
    assert_eq!(known.project(known.version(), project.id.as_str()).await.expect("reads"), None);
    storage.add(project.clone()).await.expect("the project is added");
    assert!(
        known.project(known.version(), project.id.as_str()).await.expect("reads").is_some(),
        "what was missing is there now"
    );
    let (_, record) = sample_key("acme", 1);
    storage.insert(record.clone()).await.expect("the key is added");
    assert!(known.key(known.version(), &record.hash).await.expect("reads").is_some_and(|key| key.revoked_at.is_none()));
    storage.revoke(&record.id, NOW).await.expect("revokes");
    assert!(known.key(known.version(), &record.hash).await.expect("reads").is_some_and(|key| key.revoked_at.is_some()));
    storage.remove(&project.id, NOW).await.expect("removes");
    assert_eq!(known.project(known.version(), project.id.as_str()).await.expect("reads"), None);
}

#[tokio::test]
async fn nothing_is_kept_while_nobody_knows_whether_it_still_holds() {
    let (storage, known) = known();
    let (_, record) = sample_key("acme", 1);
    for blind in [true, true, false, true] {
        storage.blind.store(blind, Ordering::SeqCst);
        assert_eq!(known.key(known.version(), &record.hash).await.expect("reads"), None);
    }
    assert_eq!(storage.reads(), 4);
    storage.blind.store(false, Ordering::SeqCst);
    assert_eq!(known.key(known.version(), &record.hash).await.expect("reads"), None);
    assert_eq!(storage.reads(), 0, "nothing has changed since it was read");
}

#[tokio::test]
async fn strangers_do_not_crowd_out_who_is_known() {
    let (storage, known) = known();
    storage.add(sample_project("acme")).await.expect("the project is added");
    let (_, record) = sample_key("acme", 1);
    storage.insert(record.clone()).await.expect("the key is added");
    known.key(known.version(), &record.hash).await.expect("reads");
    for n in 0..2 * CAPACITY {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&n.to_le_bytes());
        assert_eq!(known.key(known.version(), &KeyHash::from_bytes(hash)).await.expect("reads"), None);
    }
    let missing = known.entries.read().keys.misses.len();
    assert!(missing <= CAPACITY, "{missing}");
    storage.reads();
    assert!(known.key(known.version(), &record.hash).await.expect("reads").is_some());
    assert_eq!(storage.reads(), 0);
}
