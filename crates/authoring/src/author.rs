//! The worker: what the job engine runs on each job.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_jobs::{Failure, Handle, Interrupted, Outcome, Worker};
use docent_llm::Model;
use docent_types::{Halt, Project};
use tokio::sync::Semaphore;

use crate::config::AuthorConfig;
use crate::ports::{Forges, Projects};
use crate::progress::JobState;
use crate::record::Record;
use crate::repositories::Repositories;
use crate::session::Session;
use crate::turn_exit::{TurnExit, failed};

/// Works on agent jobs.
pub struct Author {
    projects: Arc<dyn Projects>,
    pub(crate) repositories: Repositories,
    pub(crate) forges: Forges,
    models: BTreeMap<String, Arc<dyn Model>>,
    pub(crate) config: AuthorConfig,
    /// Permits for work that uses a processor and memory. Hundreds of jobs may wait for their models at no cost; the
    /// work of their tools is limited to a few at a time.
    permits: Semaphore,
}

impl fmt::Debug for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Author").field("repositories", &self.repositories).finish_non_exhaustive()
    }
}

impl Author {
    /// `models` are keyed by the names that jobs use.
    pub fn new(
        projects: Arc<dyn Projects>,
        repositories: Repositories,
        forges: Forges,
        models: BTreeMap<String, Arc<dyn Model>>,
        config: AuthorConfig,
    ) -> Self {
        let permits = Semaphore::new(2 * std::thread::available_parallelism().map_or(2, usize::from));
        Self { projects, repositories, forges, models, config, permits }
    }

    /// Runs work on files on a blocking thread, once there is a permit.
    pub(crate) async fn run_blocking<T: Send + 'static, E: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        self.repositories.run_blocking(work).await
    }

    /// The project and the model of a job, as currently configured.
    async fn project_and_model(&self, handle: &Handle) -> Result<(Project, Arc<dyn Model>), TurnExit> {
        let job = handle.job();
        let found = self.projects.project(&job.project).await.map_err(Interrupted::Store)?;
        // A project that was added after the job is another one of the same name.
        let Some(project) = found.filter(|project| project.created_at <= job.created_at) else {
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
        let mut progress = JobState::fold(handle.read().await?);
        handle.acknowledge(progress.read_upto);
        if progress.turn.is_none() {
            append_instructions(handle, &mut progress);
        }
        let unreported_failure = progress.unreported_failure.clone();
        let exit = match self.project_and_model(handle).await {
            Ok((project, model)) => Session::new(self, handle, project, model, progress).run().await,
            Err(exit) => exit,
        };
        let (is_kept, outcome) = match exit {
            TurnExit::Ended(outcome) => (true, outcome),
            TurnExit::Dropped { halt, message } => (false, Outcome::Failed { halt, message }),
            TurnExit::Failure(failure) => return Err(failure),
        };
        let outcome = prepend_failure(unreported_failure, outcome);
        let failed = match &outcome {
            Outcome::Completed { .. } => None,
            Outcome::Failed { message, .. } => Some(message.clone()),
        };
        push_record(handle, &if is_kept { Record::Ended { failed } } else { Record::Dropped { failed } });
        Ok(outcome)
    }
}

/// Prepends the failure of the turn before, if another instruction came before it was reported.
fn prepend_failure(unreported_failure: Option<String>, outcome: Outcome) -> Outcome {
    let Some(unreported_failure) = unreported_failure else { return outcome };
    let with_failure = |message: String| format!("{message}\n\nThe turn before this one failed: {unreported_failure}");
    match outcome {
        Outcome::Completed { message } => Outcome::Completed { message: with_failure(message) },
        Outcome::Failed { halt, message } => Outcome::Failed { halt, message: with_failure(message) },
    }
}

/// Appends new instructions to the transcript.
pub(crate) fn append_instructions(handle: &mut Handle, progress: &mut JobState) {
    let Some(upto) = progress.unread_instructions.iter().map(|(seq, _)| *seq).max() else { return };
    let record = Record::InstructionsRead { upto };
    push_record(handle, &record);
    progress.apply(record);
    handle.acknowledge(upto);
}

/// Adds a record to the entries to be written.
pub(crate) fn push_record(handle: &mut Handle, record: &Record) {
    // Records have no maps with other keys than strings, so this never fails.
    handle.record(record.kind(), serde_json::to_value(record).unwrap_or_default());
}
