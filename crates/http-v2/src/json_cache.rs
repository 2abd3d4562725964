//! A cache of the JSON of recently requested jobs.
//!
//! A client that polls a job mostly gets the same answer. Serializing it and computing its entity tag costs more than
//! the rest of such a request.

use std::num::NonZeroUsize;
use std::sync::Arc;

use docent_types::{AgentJob, JobId};
use docent_web::{HttpError, TaggedJson};
use lru::LruCache;
use parking_lot::Mutex;

use crate::job::JobBody;

/// Capacity, in jobs.
const JOBS: NonZeroUsize = NonZeroUsize::new(2048).unwrap();
/// Longer JSON, in bytes, is not cached.
const LONGEST: usize = 4 * 1024;

#[derive(Debug)]
pub(crate) struct JsonCache(Mutex<LruCache<JobId, (Arc<AgentJob>, TaggedJson)>>);

impl Default for JsonCache {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(JOBS)))
    }
}

impl JsonCache {
    /// The JSON of a job's current state.
    ///
    /// # Errors
    /// None, as long as a job can be serialized.
    pub(crate) fn json(&self, job: Arc<AgentJob>) -> Result<TaggedJson, HttpError> {
        if let Some(json) = self.known(&job) {
            return Ok(json);
        }
        let json = TaggedJson::of(&JobBody::from(&*job))?;
        if json.bytes().len() <= LONGEST {
            let mut known = self.0.lock();
            known.put(job.id, (job, json.clone()));
        }
        Ok(json)
    }

    fn known(&self, job: &Arc<AgentJob>) -> Option<TaggedJson> {
        let mut known = self.0.lock();
        let (before, json) = known.get(&job.id)?;
        // Mostly it is the same allocation.
        (before == job).then(|| json.clone())
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

    fn count(cache: &JsonCache) -> usize {
        cache.0.lock().len()
    }

    #[test]
    fn a_job_is_shown_as_it_is_and_not_as_it_was() {
        let cache = JsonCache::default();
        let active = job(1);
        let mut ended = job(1);
        Arc::make_mut(&mut ended).status = JobStatus::Completed;
        for job in [&active, &active, &ended, &ended, &active] {
            let written = serde_json::to_vec(&JobBody::from(&**job)).unwrap();
            assert_eq!(cache.json(Arc::clone(job)).unwrap().bytes(), &written);
        }
        assert_eq!(count(&cache), 1);
    }

    #[test]
    fn the_newest_are_kept_and_none_that_is_long() {
        let cache = JsonCache::default();
        for n in 0..5 * JOBS.get() {
            cache.json(job(n)).unwrap();
        }
        assert_eq!(count(&cache), JOBS.get());
        assert!(cache.known(&job(5 * JOBS.get() - 1)).is_some());
        let before = count(&cache);
        let mut long = job(0);
        Arc::make_mut(&mut long).message = Some("a".repeat(LONGEST));
        cache.json(long).unwrap();
        assert_eq!(count(&cache), before);
    }
}
