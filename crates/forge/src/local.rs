//! The forge that needs no other service: pull requests in our own store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_types::{Clock, Ids, ProjectId};

use crate::port::{Forge, ForgeError};
use crate::pull_request::{NewPullRecord, PullRecord, PullRequest, PullRequestSpec, PullRequests};

/// The local forge of one project.
pub struct LocalForge {
    pulls: Arc<dyn PullRequests>,
    project: ProjectId,
    public_url: String,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl fmt::Debug for LocalForge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalForge").field("project", &self.project).finish_non_exhaustive()
    }
}

impl LocalForge {
    /// `public_url` is the server's public address, without a trailing slash.
    pub fn new(
        pulls: Arc<dyn PullRequests>,
        project: ProjectId,
        public_url: String,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self { pulls, project, public_url, clock, ids }
    }

    fn pull_request(&self, record: &PullRecord) -> PullRequest {
        let url = format!("{}/pulls/{}/{}", self.public_url, record.project, record.id);
        PullRequest { number: record.number, url, state: record.state, draft: record.draft }
    }
}

#[async_trait]
impl Forge for LocalForge {
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError> {
        let found = self.pulls.by_head(&self.project, head).await?;
        Ok(found.map(|record| self.pull_request(&record)))
    }

    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let new = NewPullRecord {
            id: self.ids.unguessable(),
            project: self.project.clone(),
            request: request.clone(),
            created_at: self.clock.now(),
        };
        Ok(self.pull_request(&self.pulls.open(new).await?))
    }

    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let Some(record) = self.pulls.by_head(&self.project, &request.head).await? else {
            return Err(ForgeError::Refused { sentence: format!("pull request {} is gone", found.number) });
        };
        let as_asked = (&record.title, &record.body, record.draft) == (&request.title, &request.body, request.draft);
        if as_asked {
            return Ok(self.pull_request(&record));
        }
        let updated = self.pulls.update(&self.project, record.id, request).await?;
        Ok(self.pull_request(&updated.unwrap_or(record)))
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{FixedIds, ManualClock, Timestamp};

    use super::*;
    use crate::memory::MemoryPullRequests;
    use crate::pull_request::PullState;

    #[tokio::test]
    async fn the_local_forge_conforms() {
        let (pulls, project) = (Arc::new(MemoryPullRequests::default()), ProjectId::parse("acme").expect("a name"));
        let clock = ManualClock::at(Timestamp::from_millis(5));
        let url = "http://docent.test".to_owned();
        let forge = LocalForge::new(
            Arc::clone(&pulls) as _,
            project.clone(),
            url,
            Arc::new(clock),
            Arc::new(FixedIds::default()),
        );
        crate::conformance::forge(&forge, async |number| {
            let all = pulls.list(&project, 10).await.expect("lists");
            let record = all.iter().find(|record| record.number == number).expect("is there");
            let ended = pulls.end(&project, record.id, PullState::Merged, None, Timestamp::from_millis(6)).await;
            assert!(ended.expect("ends").is_some());
        })
        .await;
    }
}
