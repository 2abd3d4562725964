//! Work on the files of a job, marked, so that a step that ends the process is not carried out again and again.
//!
//! Only work of our own is marked, not what is waited for: models, git and forges. A step is named by the job, its last
//! instruction and the length of its transcript, which are the same when the job is taken up again at the same point.

use docent_quarantine::Subject;
use docent_types::Halt;

use crate::session::Session;
use crate::turn_exit::{TurnExit, failed};

impl Session<'_> {
    /// This step of the job. `doing` completes “the server ended while …”.
    ///
    /// # Errors
    /// The process ended during this step too often.
    pub(crate) fn marked_step(&self, doing: &str) -> Result<Subject, TurnExit> {
        let (job, upto) = (self.handle.job(), self.progress.read_upto);
        let entries = self.progress.transcript.entries().len();
        let key = format!("job {}: {doing} (instruction {upto}, entry {entries})", job.id);
        let subject = Subject::step(self.project.id.as_str(), doing, key);
        match self.author.config.quarantine.set_aside(&subject.key) {
            None => Ok(subject),
            Some(record) => {
                let sentence = format!(
                    "Gave up: the server ended {} times while {doing} of this job, so this is not tried again. Ask for \
                     it in other words, or for less at a time; the server's log has the reason.",
                    record.ends
                );
                Err(failed(Halt::Error, sentence))
            }
        }
    }

    /// Runs work on files on a blocking thread, marked as this step. The inner result is that of the work.
    pub(crate) async fn run_step<T: Send + 'static, E: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<Result<T, E>, TurnExit> {
        let (step, quarantine) = (self.marked_step(doing)?, self.author.config.quarantine.clone());
        Ok(self.author.run_blocking(move || quarantine.run(&step, |_| work())).await)
    }
}
