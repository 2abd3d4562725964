//! The worker: what the job engine runs on each job.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_jobs::{Failure, Halted, Handle, Outcome, Worker};
use docent_llm::Model;
use docent_types::{Halt, Project};

use crate::ports::{Forges, Projects};
use crate::record::{Progress, Record};
use crate::repositories::Repositories;
use crate::session::Session;
use crate::stop::{Stop, failed};

/// Works on agent jobs.
pub struct Author {
    projects: Arc<dyn Projects>,
    pub(crate) repositories: Repositories,
    pub(crate) forges: Forges,
    models: BTreeMap<String, Arc<dyn Model>>,
}

impl fmt::Debug for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Author").field("repositories", &self.repositories).finish_non_exhaustive()
    }
}

impl Author {
    /// `models` by the names jobs give.
    pub fn new(
        projects: Arc<dyn Projects>,
        repositories: Repositories,
        forges: Forges,
        models: BTreeMap<String, Arc<dyn Model>>,
    ) -> Self {
        Self { projects, repositories, forges, models }
    }

    /// What a job works with, as it is now.
    async fn desk(&self, handle: &Handle) -> Result<(Project, Arc<dyn Model>), Stop> {
        let job = handle.job();
        let found = self.projects.project(&job.project).await.map_err(Halted::Store)?;
        let Some(project) = found else {
            let sentence =
                format!("The project `{}` was removed; register it again, then send a message.", job.project);
            return Err(failed(Halt::Error, sentence));
        };
        let Some(model) = self.models.get(&job.model).cloned() else {
            let sentence =
                format!("The model `{}` is not in the configuration any more; create the job again.", job.model);
            return Err(failed(Halt::Error, sentence));
        };
        Ok((project, model))
    }
}

#[async_trait]
impl Worker for Author {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        let mut progress = Progress::fold(handle.read().await?);
        handle.heard(progress.heard);
        if progress.turn.is_none() {
            hear(handle, &mut progress);
        }
        let stop = match self.desk(handle).await {
            Ok((project, model)) => Session::new(self, handle, project, model, progress).run().await,
            Err(stop) => stop,
        };
        let (last, outcome) = match stop {
            Stop::Ended(outcome) => (Record::Ended, outcome),
            Stop::Dropped { halt, message } => (Record::Dropped, Outcome::Failed { halt, message }),
            Stop::Failure(failure) => return Err(failure),
        };
        write_down(handle, &last);
        Ok(outcome)
    }
}

/// Puts unheard instructions into the transcript.
pub(crate) fn hear(handle: &mut Handle, progress: &mut Progress) {
    let Some(upto) = progress.unheard.iter().map(|(seq, _)| *seq).max() else { return };
    let heard = Record::Heard { upto };
    write_down(handle, &heard);
    progress.apply(heard);
    handle.heard(upto);
}

/// Adds a record to what the journal is to hold.
pub(crate) fn write_down(handle: &mut Handle, record: &Record) {
    // Plain data without maps keyed by anything but strings: it is always JSON.
    handle.record(record.kind(), serde_json::to_value(record).unwrap_or_default());
}
