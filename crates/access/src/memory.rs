//! The ports implemented in memory, for tests and experiments.

use std::collections::BTreeMap;

use async_trait::async_trait;
use docent_types::{Domain, Project, ProjectId, StoreError, Timestamp};
use parking_lot::{Mutex, MutexGuard};

use crate::key::KeyHash;
use crate::ports::{AddError, Keys, Projects};
use crate::record::{KeyId, KeyRecord};

/// Keys and projects in memory, behind one mutex.
#[derive(Debug, Default)]
pub struct MemoryAccess {
    records: Mutex<Records>,
}

#[derive(Debug, Default)]
struct Records {
    changes: u64,
    projects: BTreeMap<ProjectId, Project>,
    keys: Vec<KeyRecord>,
}

impl MemoryAccess {
    pub fn new() -> Self {
        Self::default()
    }

    fn changed(&self) -> MutexGuard<'_, Records> {
        let mut records = self.records.lock();
        records.changes += 1;
        records
    }
}

#[async_trait]
impl Keys for MemoryAccess {
    async fn insert(&self, record: KeyRecord) -> Result<(), StoreError> {
        let mut records = self.changed();
        let project = &record.grant.project;
        if !records.projects.contains_key(project) {
            return Err(StoreError::new("add the key", format!("there is no project `{project}`")));
        }
        if records.keys.iter().any(|known| known.id == record.id) {
            return Err(StoreError::new("add the key", format!("the key `{}` exists already", record.id)));
        }
        records.keys.push(record);
        Ok(())
    }

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StoreError> {
        Ok(self.records.lock().keys.iter().find(|record| record.hash == *hash).cloned())
    }

    async fn keys(&self, project: Option<&ProjectId>) -> Result<Vec<KeyRecord>, StoreError> {
        let records = self.records.lock();
        let of_project = |record: &&KeyRecord| project.is_none_or(|project| record.grant.project == *project);
        Ok(records.keys.iter().filter(of_project).cloned().collect())
    }

    async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<Option<KeyRecord>, StoreError> {
        let mut records = self.changed();
        let record = records.keys.iter_mut().find(|record| record.id == *id);
        Ok(record.map(|record| {
            record.revoked_at.get_or_insert(now);
            record.clone()
        }))
    }

    async fn used(&self, id: &KeyId, at: Timestamp) -> Result<(), StoreError> {
        if let Some(record) = self.records.lock().keys.iter_mut().find(|record| record.id == *id) {
            record.used_at = record.used_at.max(Some(at));
        }
        Ok(())
    }

    fn changes(&self) -> Option<u64> {
        Some(self.records.lock().changes)
    }
}

#[async_trait]
impl Projects for MemoryAccess {
    async fn add(&self, project: Project) -> Result<(), AddError> {
        let mut records = self.changed();
        if records.projects.contains_key(&project.id) {
            return Err(AddError::IdTaken(project.id));
        }
        if let Some(other) = records.projects.values().find(|other| other.domain == project.domain) {
            return Err(AddError::DomainTaken { domain: project.domain, project: other.id.clone() });
        }
        records.projects.insert(project.id.clone(), project);
        Ok(())
    }

    async fn replace(&self, project: Project) -> Result<Option<Project>, AddError> {
        let mut records = self.changed();
        let is_taken = |other: &&Project| other.id != project.id && other.domain == project.domain;
        if let Some(other) = records.projects.values().find(is_taken) {
            return Err(AddError::DomainTaken { domain: project.domain, project: other.id.clone() });
        }
        let kept = records.projects.get_mut(&project.id).filter(|kept| kept.uid == project.uid);
        Ok(kept.map(|kept| std::mem::replace(kept, project)))
    }

    async fn remove(&self, id: &ProjectId, now: Timestamp) -> Result<Option<Project>, StoreError> {
        let mut records = self.changed();
        for record in records.keys.iter_mut().filter(|record| record.grant.project == *id) {
            record.revoked_at.get_or_insert(now);
        }
        Ok(records.projects.remove(id))
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        Ok(self.records.lock().projects.values().cloned().collect())
    }

    async fn by_id(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        Ok(self.records.lock().projects.get(id).cloned())
    }

    async fn by_domain(&self, domain: &Domain) -> Result<Option<Project>, StoreError> {
        Ok(self.records.lock().projects.values().find(|project| project.domain == *domain).cloned())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conformance;
    use crate::throttle::MemoryThrottle;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn keeps_the_promises_of_the_ports() {
        conformance::run(|| async { Arc::new(MemoryAccess::new()) }).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn keeps_the_promises_of_a_throttle() {
        conformance::run_throttle(|| async { Arc::new(MemoryThrottle::new()) }).await;
    }
}
