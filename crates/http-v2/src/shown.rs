//! Jobs as they were shown last.
//!
//! Whoever waits for a job asks for it again and again, and mostly it is as it was. Then it is not written anew: to write it as
//! JSON and to name what was written costs more than all else that is done for such a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use docent_types::{AgentJob, JobId};
use docent_web::{HttpError, TaggedJson};
// Nobody but us makes ids of jobs.
use foldhash::fast::RandomState;

use crate::job::JobBody;

/// Jobs kept, between this many and twice as many.
const JOBS: usize = 1024;
/// What is longer than this, in bytes, is written each time.
const LONGEST: usize = 4 * 1024;

/// What jobs were shown as, the newest so many.
#[derive(Debug, Default)]
pub struct Shown(Mutex<Kept>);

/// Those of `old` go when `young` is full.
#[derive(Debug, Default)]
struct Kept {
    young: HashMap<JobId, Showing, RandomState>,
    old: HashMap<JobId, Showing, RandomState>,
}

#[derive(Debug)]
struct Showing {
    job: Arc<AgentJob>,
    json: TaggedJson,
}

impl Shown {
    /// A job as it is to be shown.
    ///
    /// # Errors
    /// None, as long as a job can be written.
    pub(crate) fn of(&self, job: Arc<AgentJob>) -> Result<TaggedJson, HttpError> {
        if let Some(json) = self.kept(&job) {
            return Ok(json);
        }
        let json = TaggedJson::of(&JobBody::from(&*job))?;
        if json.bytes().len() <= LONGEST {
            self.keep(job, json.clone());
        }
        Ok(json)
    }

    fn kept(&self, job: &Arc<AgentJob>) -> Option<TaggedJson> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let showing = kept.young.get(&job.id).or_else(|| kept.old.get(&job.id))?;
        // Mostly it is the very same.
        (showing.job == *job).then(|| showing.json.clone())
    }

    fn keep(&self, job: Arc<AgentJob>, json: TaggedJson) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.young.len() >= JOBS {
            kept.old = std::mem::take(&mut kept.young);
        }
        kept.young.insert(job.id, Showing { job, json });
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{Domain, JobStatus, ProjectId, Source, Timestamp};

    use super::*;

    fn job(n: usize) -> Arc<AgentJob> {
        Arc::new(AgentJob {
            id: JobId::parse(&format!("00000000-0000-0000-0000-{n:012}")).unwrap(),
            project: ProjectId::parse("acme").unwrap(),
            domain: Domain::parse("acme").unwrap(),
            status: JobStatus::Active,
            source: Source { repository: "/srv/git/acme.git".into(), branch: "docent/7".into() },
            model: "sonnet".into(),
            as_draft: false,
            pr_link: None,
            message: None,
            halt: None,
            todos: Vec::new(),
            created_at: Timestamp::from_millis(0),
            archived_at: None,
        })
    }

    fn kept(shown: &Shown) -> usize {
        let kept = shown.0.lock().unwrap();
        kept.young.len() + kept.old.len()
    }

    #[test]
    fn a_job_is_shown_as_it_is_and_not_as_it_was() {
        let shown = Shown::default();
        let active = job(1);
        let mut ended = job(1);
        Arc::make_mut(&mut ended).status = JobStatus::Completed;
        for job in [&active, &active, &ended, &ended, &active] {
            let written = serde_json::to_vec(&JobBody::from(&**job)).unwrap();
            assert_eq!(shown.of(Arc::clone(job)).unwrap().bytes(), &written);
        }
        assert_eq!(kept(&shown), 1);
    }

    #[test]
    fn the_newest_are_kept_and_none_that_is_long() {
        let shown = Shown::default();
        for n in 0..5 * JOBS {
            shown.of(job(n)).unwrap();
        }
        assert!((JOBS..=2 * JOBS).contains(&kept(&shown)), "{}", kept(&shown));
        assert!(shown.kept(&job(5 * JOBS - 1)).is_some());
        let before = kept(&shown);
        let mut long = job(0);
        Arc::make_mut(&mut long).message = Some("a".repeat(LONGEST));
        shown.of(long).unwrap();
        assert_eq!(kept(&shown), before);
    }
}
