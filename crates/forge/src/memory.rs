//! The store in memory, for tests.

use std::collections::HashMap;

use async_trait::async_trait;
use docent_types::{ProjectId, StoreError, Timestamp};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::pull_request::{
    CommitRange, FoundPulls, MOST_COMMENTS, NewPullRecord, PullChoice, PullComment, PullRecord, PullRequestSpec,
    PullRequests, PullSearch, PullState,
};

/// Pull requests in memory.
#[derive(Debug, Default)]
pub struct MemoryPullRequests {
    records: Mutex<Vec<PullRecord>>,
    comments: Mutex<HashMap<Uuid, Vec<PullComment>>>,
}

impl MemoryPullRequests {
    fn change(&self, project: &ProjectId, id: Uuid, change: impl FnOnce(&mut PullRecord)) -> Option<PullRecord> {
        let mut records = self.records.lock();
        let found = records.iter_mut().find(|r| r.id == id && r.project == *project && r.state == PullState::Open)?;
        change(found);
        Some(found.clone())
    }
}

#[async_trait]
impl PullRequests for MemoryPullRequests {
    async fn open(&self, new: NewPullRecord) -> Result<PullRecord, StoreError> {
        let mut records = self.records.lock();
        let same = |r: &&PullRecord| {
            r.project == new.project
                && r.head == new.request.head
                && r.base == new.request.base
                && r.state == PullState::Open
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
            state: PullState::Open,
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
        state: PullState,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError> {
        Ok(self.change(project, id, |record| {
            record.state = state;
            record.ended = ending;
            record.ended_at = Some(at);
        }))
    }

    async fn reopen(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        let mut records = self.records.lock();
        let closed = records.iter().position(|r| r.id == id && r.project == *project && r.state == PullState::Closed);
        let Some(place) = closed else { return Ok(None) };
        let (head, base) = (&records[place].head, &records[place].base);
        let same = |r: &PullRecord| r.project == *project && r.head == *head && r.base == *base;
        if records.iter().any(|r| same(r) && r.state == PullState::Open) {
            return Ok(None);
        }
        let record = &mut records[place];
        (record.state, record.ended_at, record.ended) = (PullState::Open, None, None);
        Ok(Some(record.clone()))
    }

    async fn comment(&self, project: &ProjectId, id: Uuid, comment: PullComment) -> Result<bool, StoreError> {
        if self.get(project, id).await?.is_none() {
            return Ok(false);
        }
        let mut comments = self.comments.lock();
        let comments = comments.entry(id).or_default();
        let has_room = comments.len() < MOST_COMMENTS;
        if has_room {
            comments.push(comment);
        }
        Ok(has_room)
    }

    async fn comments(&self, project: &ProjectId, id: Uuid) -> Result<Vec<PullComment>, StoreError> {
        let found = self.get(project, id).await?;
        Ok(found.and_then(|record| self.comments.lock().get(&record.id).cloned()).unwrap_or_default())
    }

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        Ok(self.records.lock().iter().find(|r| r.id == id && r.project == *project).cloned())
    }

    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError> {
        Ok(self.records.lock().iter().rev().find(|r| r.head == head && r.project == *project).cloned())
    }

    async fn search(&self, search: PullSearch) -> Result<FoundPulls, StoreError> {
        let records = self.records.lock();
        let mut choice = PullChoice::new(&search);
        for record in records.iter().filter(|record| search.projects.contains(&record.project)) {
            choice.examine(record.key(), record.state, [&record.title, &record.body, &record.head]);
        }
        choice.page(|id| Ok(records.iter().find(|record| record.id == id).cloned()))
    }

    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError> {
        let records = self.records.lock();
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
