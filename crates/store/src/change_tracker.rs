//! What this process knows without reading the database: the jobs it wrote, and whether another process has written
//! since.
//!
//! Only the writer can tell commits of other processes from its own: on its connection, `PRAGMA data_version` changes
//! with theirs only. It checks at the beginning of each transaction, and between two when asked to. A check is valid
//! for [`MAX_CHECK_AGE`]; a caller that finds it older reads the database instead of waiting for the next.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use docent_types::JobId;
use lru::LruCache;
use parking_lot::Mutex;
use rusqlite::Connection;

use crate::write_connection::Job;

/// How long a check is relied on. Together with the time that one takes, changes are noticed within 200 ms.
const MAX_CHECK_AGE: Duration = Duration::from_millis(150);
/// Age of the last check from which a caller requests the next.
const RECHECK_AGE: Duration = Duration::from_millis(50);

/// Capacity of the job cache.
const JOB_CACHE_CAPACITY: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

#[derive(Debug)]
pub(crate) struct ChangeTracker {
    opened: Instant,
    /// When the writer last checked, in milliseconds after `opened` plus one; 0 before the first check.
    checked_at: AtomicU64,
    /// Whether a check was requested that has not begun yet.
    check_requested: AtomicBool,
    /// How many times other processes were found to have written.
    external_writes: AtomicU64,
    /// How many times this process has written to keys or projects.
    access_writes: AtomicU64,
    jobs: Mutex<LruCache<JobId, Arc<Job>>>,
}

impl ChangeTracker {
    pub(crate) fn new() -> Self {
        let (checked_at, external_writes, access_writes) = Default::default();
        Self {
            opened: Instant::now(),
            checked_at,
            check_requested: AtomicBool::new(false),
            external_writes,
            access_writes,
            jobs: Mutex::new(LruCache::new(JOB_CACHE_CAPACITY)),
        }
    }

    /// Checks whether another process has written since the last check. For the writer, on its own connection.
    pub(crate) fn check_other_processes(
        &self,
        connection: &Connection,
        version: &mut Option<i64>,
    ) -> rusqlite::Result<bool> {
        let now = self.now();
        let found = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let changed = version.replace(found).is_some_and(|before| before != found);
        if changed {
            self.jobs.lock().clear();
            self.external_writes.fetch_add(1, Ordering::SeqCst);
        }
        self.checked_at.store(now, Ordering::SeqCst);
        self.check_requested.store(false, Ordering::SeqCst);
        Ok(changed)
    }

    /// Invalidates the last check and the cache, because no more checks are made.
    pub(crate) fn close(&self) {
        self.check_requested.store(true, Ordering::SeqCst);
        self.checked_at.store(0, Ordering::SeqCst);
        self.jobs.lock().clear();
    }

    /// How many times other processes were found to have written, if the last check is recent. `request_check` is
    /// called when a new check is due.
    pub(crate) fn external_writes(&self, request_check: impl FnOnce()) -> Option<u64> {
        let age = match self.checked_at.load(Ordering::SeqCst) {
            0 => Duration::MAX,
            checked_at => Duration::from_millis(self.now().saturating_sub(checked_at)),
        };
        if age > RECHECK_AGE && !self.check_requested.swap(true, Ordering::SeqCst) {
            request_check();
        }
        (age <= MAX_CHECK_AGE).then(|| self.external_writes.load(Ordering::SeqCst))
    }

    /// How many times this process has written to keys or projects.
    pub(crate) fn access_writes(&self) -> u64 {
        self.access_writes.load(Ordering::SeqCst)
    }

    /// Counts a write of this process to keys or projects.
    pub(crate) fn count_access_write(&self) {
        self.access_writes.fetch_add(1, Ordering::SeqCst);
    }

    /// Caches committed jobs. For the writer, in the order of the commits.
    pub(crate) fn cache_jobs(&self, jobs: &[Arc<Job>]) {
        let mut cache = self.jobs.lock();
        for job in jobs {
            if job.is_small() {
                cache.put(job.id(), Arc::clone(job));
            } else {
                cache.pop(&job.id());
            }
        }
    }

    /// Drops jobs from the cache that were changed or deleted without their new state at hand.
    pub(crate) fn forget(&self, ids: &[JobId]) {
        let mut cache = self.jobs.lock();
        for id in ids {
            cache.pop(id);
        }
    }

    /// A job, if it is cached.
    pub(crate) fn job(&self, id: JobId) -> Option<Arc<Job>> {
        self.jobs.lock().get(&id).cloned()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }
}
