//! What this process knows without asking the database: the jobs it wrote, and whether anybody else has written since.
//!
//! Only the writer can tell the commits of others from its own: on its own connection, `PRAGMA data_version` moves with
//! the former alone. It looks as each of its transactions begins, and between two of them when it is asked to. What was
//! looked at is good for a moment; nobody waits for the next look, who finds it too old reads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use docent_types::JobId;
use lru::LruCache;
use rusqlite::Connection;

use crate::write_connection::Job;

/// How old a look may be that is relied on. With the time that a look takes, changes are noticed within 200 ms.
const FRESH: Duration = Duration::from_millis(150);
/// How old the last look is when another is asked for.
const AGING: Duration = Duration::from_millis(50);

/// Jobs that are known at a time.
const KNOWN: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

#[derive(Debug)]
pub(crate) struct ChangeTracker {
    opened: Instant,
    /// When the writer last looked, in milliseconds after `opened`, and one more; 0 before the first time.
    looked: AtomicU64,
    /// Whether a look was asked for that was not taken yet.
    asked: AtomicBool,
    /// How often others were found to have written.
    others: AtomicU64,
    /// How often this process has written to keys or projects.
    access: AtomicU64,
    jobs: Mutex<LruCache<JobId, Arc<Job>>>,
}

impl ChangeTracker {
    pub(crate) fn new() -> Self {
        let (looked, others, access) = Default::default();
        Self {
            opened: Instant::now(),
            looked,
            asked: AtomicBool::new(false),
            others,
            access,
            jobs: Mutex::new(LruCache::new(KNOWN)),
        }
    }

    /// Whether somebody else has written since the last time. For the writer, on its own connection.
    pub(crate) fn look(&self, connection: &Connection, version: &mut Option<i64>) -> rusqlite::Result<bool> {
        let now = self.now();
        let found = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let changed = version.replace(found).is_some_and(|before| before != found);
        if changed {
            self.jobs().clear();
            self.others.fetch_add(1, Ordering::SeqCst);
        }
        self.looked.store(now, Ordering::SeqCst);
        self.asked.store(false, Ordering::SeqCst);
        Ok(changed)
    }

    /// Nobody looks any more, so nothing is known from here on.
    pub(crate) fn close(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.looked.store(0, Ordering::SeqCst);
        self.jobs().clear();
    }

    /// How often others have written, when that is known at the moment. `ask` is called when it is time for a look.
    pub(crate) fn others(&self, ask: impl FnOnce()) -> Option<u64> {
        let age = match self.looked.load(Ordering::SeqCst) {
            0 => Duration::MAX,
            looked => Duration::from_millis(self.now().saturating_sub(looked)),
        };
        if age > AGING && !self.asked.swap(true, Ordering::SeqCst) {
            ask();
        }
        (age <= FRESH).then(|| self.others.load(Ordering::SeqCst))
    }

    /// How often this process has written to keys or projects.
    pub(crate) fn access(&self) -> u64 {
        self.access.load(Ordering::SeqCst)
    }

    /// This process has written to keys or projects.
    pub(crate) fn changed_access(&self) {
        self.access.fetch_add(1, Ordering::SeqCst);
    }

    /// These were committed. For the writer, in the order of the commits.
    pub(crate) fn wrote(&self, jobs: &[Arc<Job>]) {
        let mut known = self.jobs();
        for job in jobs {
            if job.is_small() {
                known.put(job.id(), Arc::clone(job));
            } else {
                known.pop(&job.id());
            }
        }
    }

    /// These were changed or deleted, in a way that is not worth to know.
    pub(crate) fn forget(&self, ids: &[JobId]) {
        let mut known = self.jobs();
        for id in ids {
            known.pop(id);
        }
    }

    /// A job, if it is known.
    pub(crate) fn job(&self, id: JobId) -> Option<Arc<Job>> {
        self.jobs().get(&id).cloned()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    fn jobs(&self) -> MutexGuard<'_, LruCache<JobId, Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
