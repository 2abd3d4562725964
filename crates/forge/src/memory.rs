//! The store in memory, for tests.

use async_trait::async_trait;
use docent_types::{ProjectId, StoreError, Timestamp};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::pull_request::{CommitRange, NewPullRecord, PullRecord, PullRequestSpec, PullRequests, State};

/// Pull requests in memory.
#[derive(Debug, Default)]
pub struct MemoryPullRequests(Mutex<Vec<PullRecord>>);

impl MemoryPullRequests {
    fn change(&self, project: &ProjectId, id: Uuid, change: impl FnOnce(&mut PullRecord)) -> Option<PullRecord> {
        let mut records = self.0.lock();
        let found = records.iter_mut().find(|r| r.id == id && r.project == *project && r.state == State::Open)?;
        change(found);
        Some(found.clone())
    }
}

#[async_trait]
impl PullRequests for MemoryPullRequests {
    async fn open(&self, new: NewPullRecord) -> Result<PullRecord, StoreError> {
        let mut records = self.0.lock();
        let same = |r: &&PullRecord| {
            r.project == new.project
                && r.head == new.request.head
                && r.base == new.request.base
                && r.state == State::Open
        };
        if let Some(found) = records.iter().find(same) {
            return Ok(found.clone());
        }
        let number = records.iter().filter(|r| r.project == new.project).count() as u64 + 1;
        let record = PullRecord {
            id: new.id,
            project: new.project,
            number,
            title: new.request.title,
            body: new.request.body,
            head: new.request.head,
            base: new.request.base,
            draft: new.request.draft,
            labels: new.request.labels,
            state: State::Open,
            created_at: new.created_at,
            ended_at: None,
            ended: None,
        };
        records.push(record.clone());
        Ok(record)
    }

    async fn update(
        &self,
        project: &ProjectId,
        id: Uuid,
        request: &PullRequestSpec,
    ) -> Result<Option<PullRecord>, StoreError> {
        Ok(self.change(project, id, |record| {
            record.title.clone_from(&request.title);
            record.body.clone_from(&request.body);
            record.draft = request.draft;
        }))
    }

    async fn end(
        &self,
        project: &ProjectId,
        id: Uuid,
        state: State,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError> {
        Ok(self.change(project, id, |record| {
            record.state = state;
            record.ended = ending;
            record.ended_at = Some(at);
        }))
    }

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        Ok(self.0.lock().iter().find(|r| r.id == id && r.project == *project).cloned())
    }

    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError> {
        Ok(self.0.lock().iter().rev().find(|r| r.head == head && r.project == *project).cloned())
    }

    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError> {
        let records = self.0.lock();
        Ok(records.iter().rev().filter(|r| r.project == *project).take(limit as usize).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn the_twin_conforms() {
        crate::conformance::pull_requests(&super::MemoryPullRequests::default()).await;
    }
}
