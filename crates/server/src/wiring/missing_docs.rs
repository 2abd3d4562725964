//! Docs that cannot be read until the project or the repository changes: the repository, its branch or access to it is
//! missing.
//!
//! A question about them gets no advice to retry, unlike one about docs that are still being indexed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_discovery::Docs;
use docent_search::{Indexes, Snapshot};
use docent_types::{Project, ProjectUid, Refusal};
use parking_lot::RwLock;
use tokio::time::{Instant, sleep};

use crate::wiring::index_states::IndexStates;

/// The projects whose docs cannot be read. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(crate) struct MissingDocs(Arc<RwLock<HashSet<ProjectUid>>>);

impl MissingDocs {
    pub(crate) fn note(&self, project: ProjectUid, is_missing: bool) {
        let mut missing = self.0.write();
        if is_missing {
            missing.insert(project)
        } else {
            missing.remove(&project)
        };
    }

    fn has(&self, project: ProjectUid) -> bool {
        self.0.read().contains(&project)
    }
}

/// How long a question waits for docs that are being indexed, and how often they are looked for meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The indexed docs of a project, or the reason why there are none. A question about a project that this node has no index of has one
/// made, and waits a little for it.
#[derive(Debug)]
pub(crate) struct IndexedDocs {
    pub(crate) indexes: Arc<Indexes>,
    pub(crate) states: IndexStates,
    pub(crate) missing: MissingDocs,
}

#[async_trait]
impl Docs for IndexedDocs {
    async fn snapshot(&self, project: &Project) -> Result<Arc<Snapshot>, Refusal> {
        let deadline = Instant::now() + PATIENCE;
        let mut is_wanted = false;
        loop {
            let found = Docs::snapshot(self.indexes.as_ref(), project).await;
            if found.is_ok() {
                return found;
            }
            if self.missing.has(project.uid) {
                return Err(Refusal::not_found(format!(
                    "there are no docs of `{}` to read: their repository, branch or credentials are not as configured; \
                     whoever runs this server sees with `docent doctor` what to change",
                    project.domain
                )));
            }
            if Instant::now() > deadline {
                return found;
            }
            if !std::mem::replace(&mut is_wanted, true) {
                self.states.want_made(project.uid);
            }
            sleep(CHECK_INTERVAL).await;
        }
    }
}
