//! What this process knows without reading the database: the jobs it wrote, and whether another process has written
//! since.
//!
//! Only the writer can tell commits of other processes from its own: on its connection, `PRAGMA data_version` changes
//! with theirs only. It checks at the beginning of each transaction, and between two when asked to. A check is valid
//! for [`FRESH`]; a caller that finds it older reads the database instead of waiting for the next.

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
const FRESH: Duration = Duration::from_millis(150);
/// Age of the last check from which a caller requests the next.
const AGING: Duration = Duration::from_millis(50);

/// Capacity of the job cache.
const CACHED_JOBS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

#[derive(Debug)]
pub(crate) struct ChangeTracker {
    opened: Instant,
    /// When the writer last checked, in milliseconds after `opened` plus one; 0 before the first check.
    checked_at: AtomicU64,
    /// Whether a check was requested that has not begun yet.
    check_requested: AtomicBool,
    /// How many times other processes were found to have written.
    others: AtomicU64,
    /// How many times this process has written to keys or projects.
    access: AtomicU64,
    jobs: Mutex<LruCache<JobId, Arc<Job>>>,
}

impl ChangeTracker {
    pub(crate) fn new() -> Self {
        let (checked_at, others, access) = Default::default();
        Self {
            opened: Instant::now(),
            checked_at,
            check_requested: AtomicBool::new(false),
            others,
            access,
            jobs: Mutex::new(LruCache::new(CACHED_JOBS)),
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
            self.others.fetch_add(1, Ordering::SeqCst);
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

    /// How many times other processes were found to have written, if the last check is recent. `ask` is called when a
    /// new check is due.
    pub(crate) fn others(&self, ask: impl FnOnce()) -> Option<u64> {
        let age = match self.checked_at.load(Ordering::SeqCst) {
            0 => Duration::MAX,
            checked_at => Duration::from_millis(self.now().saturating_sub(checked_at)),
        };
        if age > AGING && !self.check_requested.swap(true, Ordering::SeqCst) {
            ask();
        }
        (age <= FRESH).then(|| self.others.load(Ordering::SeqCst))
    }

    /// How many times this process has written to keys or projects.
    pub(crate) fn access(&self) -> u64 {
        self.access.load(Ordering::SeqCst)
    }

    /// Counts a write of this process to keys or projects.
    pub(crate) fn changed_access(&self) {
        self.access.fetch_add(1, Ordering::SeqCst);
    }

    /// Caches committed jobs. For the writer, in the order of the commits.
    pub(crate) fn wrote(&self, jobs: &[Arc<Job>]) {
        let mut known = self.jobs.lock();
        for job in jobs {
            if job.is_small() {
                known.put(job.id(), Arc::clone(job));
            } else {
                known.pop(&job.id());
            }
        }
    }

    /// Drops jobs from the cache that were changed or deleted without their new state at hand.
    pub(crate) fn forget(&self, ids: &[JobId]) {
        let mut known = self.jobs.lock();
        for id in ids {
            known.pop(id);
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
