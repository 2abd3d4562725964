//! The storage ports for keys and projects.

use std::fmt;

use async_trait::async_trait;
use docent_types::{Domain, Project, ProjectId, StoreError, Timestamp};
use thiserror::Error;

use crate::key::KeyHash;
use crate::record::{KeyId, KeyRecord};

/// Storage of key records. A write returns once it is durable; the next read of every other process sees it.
#[async_trait]
pub trait Keys: Send + Sync + fmt::Debug + 'static {
    /// Adds a key. The project must exist and the key must be new; otherwise an error says which condition failed.
    async fn insert(&self, record: KeyRecord) -> Result<(), StoreError>;

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StoreError>;

    /// The keys of a project, or of all, oldest first; revoked and expired ones too.
    async fn keys(&self, project: Option<&ProjectId>) -> Result<Vec<KeyRecord>, StoreError>;

    /// Revokes a key permanently and returns its record, or `None` if there is no such key. A key that was revoked
    /// before keeps the time of the first revocation.
    async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<Option<KeyRecord>, StoreError>;

    /// Stores the time of a key's last use. Does not wait for the disk, and does not increase
    /// [`changes`](Self::changes).
    async fn used(&self, id: &KeyId, at: Timestamp) -> Result<(), StoreError>;

    /// A number that increases when a key or a project may have changed: with each write through this storage before it
    /// returns, and when another process has written, within 200 milliseconds on one machine and 400 over a network.
    /// `None` if it is currently unknown: cached values are then invalid. Does not block.
    fn changes(&self) -> Option<u64>;
}

/// Why a project was not added or changed.
#[derive(Debug, Error)]
pub enum AddError {
    #[error("the project `{0}` exists already: choose another id, or remove that project first")]
    IdTaken(ProjectId),
    #[error("the domain `{domain}` belongs to the project `{project}`: choose another domain")]
    DomainTaken { domain: Domain, project: ProjectId },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Storage of projects. It is the same storage as that of the keys, with the same guarantees.
#[async_trait]
pub trait Projects: Send + Sync + fmt::Debug + 'static {
    /// Adds a project whose id and domain are not taken.
    async fn add(&self, project: Project) -> Result<(), AddError>;

    /// Replaces the project with the same id and uid and returns the old one, or `None` if there is none. Its keys
    /// remain valid.
    async fn replace(&self, project: Project) -> Result<Option<Project>, AddError>;

    /// Removes a project and returns it, or `None` if there is none. Its keys are revoked with it, and do not work for
    /// a later project with the same name.
    async fn remove(&self, id: &ProjectId, now: Timestamp) -> Result<Option<Project>, StoreError>;

    /// All projects, sorted by id.
    async fn projects(&self) -> Result<Vec<Project>, StoreError>;

    async fn by_id(&self, id: &ProjectId) -> Result<Option<Project>, StoreError>;

    async fn by_domain(&self, domain: &Domain) -> Result<Option<Project>, StoreError>;
}
