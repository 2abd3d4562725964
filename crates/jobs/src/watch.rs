//! Hearing of a job while it runs: its journal as it grows, and what is only said live.
//!
//! The journal in the store is what is true; the signals here only say when to look. Whoever misses one, or watches a
//! job that another process works on, finds the same entries a little later. What is live is heard by whoever listens at
//! that moment in the process that works on the job, and by nobody else.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docent_types::{JobEvent, JobId, JobStatus, StoreError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::entry::Entry;
use crate::store::Store;

/// How often it is asked whether others write, when nobody here says that there is something new.
const LOOK: Duration = Duration::from_secs(1);
/// Of so many times the job itself is looked at once, whoever wrote: a caller that went away in the middle of its write
/// has told nobody of it.
const LOOKS: u32 = 5;
/// Entries read at once: as many as a listener that is slower than the job holds in memory.
const PAGE: u32 = 64;
/// Signals kept for a listener that is slower than the job. What it misses of them it finds in the journal.
const KEPT: usize = 1024;

/// What there is to hear of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// The next entry of the journal.
    Entry(Entry),
    /// Said live: not in the journal, and not said again.
    Live(JobEvent),
}

#[derive(Debug, Clone)]
enum Signal {
    Wrote,
    /// `after` is the newest entry at the time.
    Live {
        after: u64,
        event: JobEvent,
    },
}

/// The listeners of one process, by job.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<HashMap<JobId, Sender<Signal>>>);

impl Watchers {
    /// The journal of a job has grown.
    pub(crate) fn wrote(&self, id: JobId) {
        self.send(id, || Signal::Wrote);
    }

    /// Something to be heard now or never, said after this entry. `event` is made only if somebody listens.
    pub(crate) fn live(&self, id: JobId, after: u64, event: impl FnOnce() -> JobEvent) {
        self.send(id, || Signal::Live { after, event: event() });
    }

    fn send(&self, id: JobId, signal: impl FnOnce() -> Signal) {
        if let Some(sender) = self.listeners().get(&id) {
            // Nobody left is no fault: the last listener takes its sender away.
            let _ = sender.send(signal());
        }
    }

    fn subscribe(&self, id: JobId) -> Receiver<Signal> {
        self.listeners().entry(id).or_insert_with(|| broadcast::channel(KEPT).0).subscribe()
    }

    /// Called by a listener that goes, while its receiver still counts.
    fn leave(&self, id: JobId) {
        let mut listeners = self.listeners();
        if listeners.get(&id).is_some_and(|sender| sender.receiver_count() <= 1) {
            listeners.remove(&id);
        }
    }

    fn listeners(&self) -> std::sync::MutexGuard<'_, HashMap<JobId, Sender<Signal>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody's place among the listeners of a job.
pub(crate) struct Listener {
    watchers: Arc<Watchers>,
    id: JobId,
    signals: Receiver<Signal>,
    /// What the store said of others when this listener last looked, and how often it has not looked since.
    changes: Option<u64>,
    quiet: u32,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.watchers.leave(self.id);
    }
}

impl Listener {
    /// From here on nothing is missed, so what is there already is read after this.
    pub(crate) fn new(watchers: Arc<Watchers>, store: &dyn Store, id: JobId) -> Self {
        let signals = watchers.subscribe(id);
        Self { watchers, id, signals, changes: store.changes(), quiet: 0 }
    }

    /// The next thing that is said live; `None` when it is time to look into the store.
    pub(crate) async fn next(&mut self, store: &dyn Store) -> Option<(u64, JobEvent)> {
        loop {
            match tokio::time::timeout(LOOK, self.signals.recv()).await {
                Ok(Ok(Signal::Live { after, event })) => return Some((after, event)),
                Ok(Ok(Signal::Wrote) | Err(RecvError::Lagged(_))) => return None,
                Ok(Err(RecvError::Closed)) => self.signals = self.watchers.subscribe(self.id),
                Err(_) => {
                    let before = std::mem::replace(&mut self.changes, store.changes());
                    self.quiet += 1;
                    if before.is_none() || before != self.changes || self.quiet >= LOOKS {
                        self.quiet = 0;
                        return None;
                    }
                }
            }
        }
    }
}

/// One listener of one job.
pub struct Watch {
    store: Arc<dyn Store>,
    listener: Listener,
    /// Sequence number of the newest entry that was given.
    given: u64,
    ready: VecDeque<Entry>,
    /// Whether the store may hold entries that were not read.
    stale: bool,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("id", &self.listener.id).field("given", &self.given).finish_non_exhaustive()
    }
}

impl Watch {
    pub(crate) fn new(store: Arc<dyn Store>, watchers: Arc<Watchers>, id: JobId, after: u64) -> Self {
        let listener = Listener::new(watchers, &*store, id);
        Self { store, listener, given: after, ready: VecDeque::new(), stale: true }
    }

    /// The next thing to hear; `None` once the job is not active and all of its journal was given. Nothing is lost when
    /// the future is dropped.
    pub async fn next(&mut self) -> Result<Option<News>, StoreError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                self.given = entry.seq;
                return Ok(Some(News::Entry(entry)));
            }
            if self.stale {
                if self.look().await? {
                    return Ok(None);
                }
                continue;
            }
            match self.listener.next(&*self.store).await {
                // What was said before an entry that was already given is over.
                Some((after, _)) if after < self.given => {}
                Some((_, event)) => return Ok(Some(News::Live(event))),
                None => self.stale = true,
            }
        }
    }

    /// Reads what is new. `true`: nothing is, and nothing will be unless somebody speaks up.
    async fn look(&mut self) -> Result<bool, StoreError> {
        // The state is read first: an entry written after that is found by the next look.
        let ended = self.store.row(self.listener.id).await?.is_none_or(|row| row.job.status != JobStatus::Active);
        let page = self.store.entries(self.listener.id, self.given, PAGE).await?;
        // Nobody speaks up after the end, so whoever has heard it looks once more at once.
        self.stale = ended || page.len() == PAGE as usize;
        self.ready.extend(page);
        Ok(ended && self.ready.is_empty())
    }
}
