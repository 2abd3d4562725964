//! The ports to storage of keys and projects.

use std::fmt;

use async_trait::async_trait;
use docent_types::{Domain, Project, ProjectId, StoreError, Timestamp};
use thiserror::Error;

use crate::key::KeyHash;
use crate::record::{KeyId, KeyRecord};

/// Storage of key records. Writes return when they would survive a loss of power; the next read of every other process
/// sees them.
#[async_trait]
pub trait Keys: Send + Sync + fmt::Debug + 'static {
    /// Adds a key. The project must exist and the key must be new; otherwise an error says which condition failed.
    async fn insert(&self, record: KeyRecord) -> Result<(), StoreError>;

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StoreError>;

    /// The keys of a project, or of all, oldest first; revoked and expired ones too.
    async fn keys(&self, project: Option<&ProjectId>) -> Result<Vec<KeyRecord>, StoreError>;

    /// Revokes a key for good and gives its record, or `None` when there is no such key. A key that was revoked before
    /// keeps the moment of the first time.
    async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<Option<KeyRecord>, StoreError>;

    /// Stores when a key was last used. It does not wait for the disk, and [`changes`](Self::changes) does not move.
    async fn used(&self, id: &KeyId, at: Timestamp) -> Result<(), StoreError>;

    /// A number that moves when a key or a project may have changed: with each write through this storage before it
    /// returns, and within 200 milliseconds when another process has written. `None` when that is unknown at the moment:
    /// cached values are then invalid. Does not block.
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

/// Storage of projects, the one that their keys are in, with the same promises.
#[async_trait]
pub trait Projects: Send + Sync + fmt::Debug + 'static {
    /// Adds a project whose id and domain nobody has.
    async fn add(&self, project: Project) -> Result<(), AddError>;

    /// Replaces the project of the same id and uid and returns the old one, or `None` when there is none. Its keys stay.
    async fn replace(&self, project: Project) -> Result<Option<Project>, AddError>;

    /// Removes a project and returns it, or `None` when there is none. Its keys are revoked with it, and do not work for a
    /// later project of the same name.
    async fn remove(&self, id: &ProjectId, now: Timestamp) -> Result<Option<Project>, StoreError>;

    /// All projects, by id.
    async fn projects(&self) -> Result<Vec<Project>, StoreError>;

    async fn by_id(&self, id: &ProjectId) -> Result<Option<Project>, StoreError>;

    async fn by_domain(&self, domain: &Domain) -> Result<Option<Project>, StoreError>;
}
