//! Watching a job while it runs: its journal as it grows, and events that are only sent live.
//!
//! The journal in the store is what is true; the signals here only say when to look. Whoever misses one, or watches a
//! job that another process works on, finds the same entries a little later. Live events reach whoever watches at
//! that moment in the process that works on the job, and by nobody else.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use docent_types::{JobEvent, JobId, JobStatus, StoreError};
use tokio::sync::Notify;

use crate::entry::Entry;
use crate::store::Store;

/// How often it is asked whether others write, when nobody here says that there is something new.
const LOOK: Duration = Duration::from_secs(1);
/// Of so many times the job itself is looked at once, whoever wrote: a caller that went away in the middle of its write
/// has told nobody of it. Who only waits for the end of a job hears of that when the time to wait is over.
const LOOKS: u32 = 5;
/// How often a store is asked that cannot say at once whether others write, and how long it has to find out.
const TRIES: u32 = 5;
const FIND_OUT: Duration = Duration::from_millis(40);
/// Entries read at once: as many as a listener that is slower than the job holds in memory.
const PAGE: u32 = 64;
/// Signals kept for a listener that is slower than the job. What it misses of them it finds in the journal.
const KEPT: usize = 1024;

/// An update of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobUpdate {
    /// The next entry of the journal.
    Entry(Entry),
    /// Sent live: not in the journal, and not sent again.
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

/// Which signals a subscriber wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    /// That the job was written.
    Writes,
    /// Live events, too.
    Everything,
}

/// The listeners of one process.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<Listeners>);

#[derive(Debug, Default)]
struct Listeners {
    of: HashMap<JobId, Vec<Arc<Subscriber>>>,
    /// Those who only wait.
    waiting: usize,
    /// Whether a clock runs for them.
    clock: bool,
}

impl Watchers {
    /// The journal of a job has grown.
    pub(crate) fn wrote(&self, id: JobId) {
        for subscriber in self.listeners().of.get(&id).into_iter().flatten() {
            subscriber.deliver(Signal::Wrote);
        }
    }

    /// A live event after this entry. `event` is made only if somebody listens.
    pub(crate) fn live(&self, id: JobId, after: u64, event: impl FnOnce() -> JobEvent) {
        let listeners = self.listeners();
        let mut subscribers = listeners
            .of
            .get(&id)
            .into_iter()
            .flatten()
            .filter(|subscriber| subscriber.interest == Interest::Everything)
            .peekable();
        if subscribers.peek().is_some() {
            let event = event();
            subscribers.for_each(|subscriber| subscriber.deliver(Signal::Live { after, event: event.clone() }));
        }
    }

    fn join(&self, id: JobId, interest: Interest) -> Arc<Subscriber> {
        let subscriber = Arc::new(Subscriber { interest, inbox: Mutex::default(), arrived: Notify::new() });
        let mut listeners = self.listeners();
        listeners.waiting += usize::from(interest == Interest::Writes);
        // Most jobs have one.
        let subscribers = listeners.of.entry(id).or_insert_with(|| Vec::with_capacity(1));
        subscribers.push(Arc::clone(&subscriber));
        subscriber
    }

    fn leave(&self, id: JobId, subscriber: &Arc<Subscriber>) {
        let mut listeners = self.listeners();
        listeners.waiting -= usize::from(subscriber.interest == Interest::Writes);
        let Some(subscribers) = listeners.of.get_mut(&id) else { return };
        if let Some(place) = subscribers.iter().position(|other| Arc::ptr_eq(other, subscriber)) {
            subscribers.swap_remove(place);
        }
        if subscribers.is_empty() {
            listeners.of.remove(&id);
        }
    }

    /// Sends all who only wait to the store.
    fn look_again(&self) {
        let listeners = self.listeners();
        let waiting = listeners.of.values().flatten().filter(|subscriber| subscriber.interest == Interest::Writes);
        waiting.for_each(|subscriber| subscriber.deliver(Signal::Wrote));
    }

    /// Whether a clock is to be started for those who wait; there is one then.
    fn wants_clock(&self) -> bool {
        !std::mem::replace(&mut self.listeners().clock, true)
    }

    /// Whether anybody waits still. When nobody does, there is no clock any more.
    fn keeps_clock(&self) -> bool {
        let mut listeners = self.listeners();
        listeners.clock = listeners.waiting > 0;
        listeners.clock
    }

    /// How many jobs somebody listens to.
    #[cfg(test)]
    pub(crate) fn watched(&self) -> usize {
        self.listeners().of.len()
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The signals that one subscriber has not taken yet. Nothing is allocated before there is one.
#[derive(Debug)]
struct Subscriber {
    interest: Interest,
    inbox: Mutex<Inbox>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Inbox {
    signals: VecDeque<Signal>,
    /// Whether some were dropped, as there were too many.
    missed: bool,
}

impl Subscriber {
    fn deliver(&self, signal: Signal) {
        let mut inbox = self.inbox();
        // To be told twice in a row that there is something to read is to be told once.
        if !matches!((&signal, inbox.signals.back()), (Signal::Wrote, Some(Signal::Wrote))) {
            if inbox.signals.len() == KEPT {
                inbox.signals.pop_front();
                inbox.missed = true;
            }
            inbox.signals.push_back(signal);
        }
        drop(inbox);
        self.arrived.notify_one();
    }

    /// The next signal. Nothing is lost when the future is dropped.
    async fn next(&self) -> Signal {
        loop {
            if let Some(signal) = self.inbox().take() {
                return signal;
            }
            self.arrived.notified().await;
        }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    fn take(&mut self) -> Option<Signal> {
        if std::mem::take(&mut self.missed) {
            return Some(Signal::Wrote);
        }
        let signal = self.signals.pop_front();
        if self.signals.is_empty() {
            // What a slow time took is given back.
            self.signals.shrink_to(4);
        }
        signal
    }
}

/// Somebody's place among those who only wait for a job to be written.
///
/// There can be thousands of them, and mostly nothing happens: one clock asks for all whether others write.
pub(crate) struct Waiter {
    watchers: Arc<Watchers>,
    id: JobId,
    subscriber: Arc<Subscriber>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.watchers.leave(self.id, &self.subscriber);
    }
}

impl Waiter {
    /// From here on nothing is missed, so what is there already is read after this.
    pub(crate) fn new(watchers: &Arc<Watchers>, store: &Arc<dyn Store>, id: JobId) -> Self {
        let store = Arc::downgrade(store);
        Self::beside(watchers, id, move || Some(Weak::upgrade(&store)?.changes()))
    }

    /// `changes`: what the store says of others, while there is a store.
    fn beside(watchers: &Arc<Watchers>, id: JobId, changes: impl Fn() -> Option<Option<u64>> + Send + 'static) -> Self {
        let subscriber = watchers.join(id, Interest::Writes);
        if watchers.wants_clock() {
            tokio::spawn(look_after(Arc::clone(watchers), changes));
        }
        Self { watchers: Arc::clone(watchers), id, subscriber }
    }

    /// Waits until the job may have been written.
    pub(crate) async fn told(&self) {
        self.subscriber.next().await;
    }
}

/// The clock of all who wait, for as long as anybody does.
async fn look_after(watchers: Arc<Watchers>, changes: impl Fn() -> Option<Option<u64>>) {
    let mut seen = changes().flatten();
    while watchers.keeps_clock() {
        tokio::time::sleep(LOOK).await;
        let mut now = changes().flatten();
        for _ in 1..TRIES {
            if now.is_none() {
                tokio::time::sleep(FIND_OUT).await;
                now = changes().flatten();
            }
        }
        // A store that cannot say may hold anything.
        if now.is_none() || now != seen {
            watchers.look_again();
        }
        seen = now;
    }
}

/// Somebody's place among the listeners of a job.
pub(crate) struct Listener {
    watchers: Arc<Watchers>,
    id: JobId,
    subscriber: Arc<Subscriber>,
    /// What the store said of others when this listener last looked, and how often it has not looked since.
    changes: Option<u64>,
    quiet: u32,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.watchers.leave(self.id, &self.subscriber);
    }
}

impl Listener {
    /// From here on nothing is missed, so what is there already is read after this.
    pub(crate) fn new(watchers: Arc<Watchers>, store: &dyn Store, id: JobId) -> Self {
        let subscriber = watchers.join(id, Interest::Everything);
        Self { watchers, id, subscriber, changes: store.changes(), quiet: 0 }
    }

    /// The next thing that is said live; `None` when it is time to look into the store.
    pub(crate) async fn next(&mut self, store: &dyn Store) -> Option<(u64, JobEvent)> {
        loop {
            match tokio::time::timeout(LOOK, self.subscriber.next()).await {
                Ok(Signal::Live { after, event }) => return Some((after, event)),
                Ok(Signal::Wrote) => return None,
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
    pub async fn next(&mut self) -> Result<Option<JobUpdate>, StoreError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                self.given = entry.seq;
                return Ok(Some(JobUpdate::Entry(entry)));
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
                Some((_, event)) => return Ok(Some(JobUpdate::Live(event))),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use docent_types::JobId;
    use futures::FutureExt;
    use uuid::Uuid;

    use super::*;

    fn delta(at: usize) -> JobEvent {
        JobEvent::Delta { at, text: "word".to_owned() }
    }

    async fn heard(subscriber: &Subscriber) -> Vec<Option<u64>> {
        let mut all = Vec::new();
        while let Ok(signal) = tokio::time::timeout(Duration::ZERO, subscriber.next()).await {
            all.push(match signal {
                Signal::Wrote => None,
                Signal::Live { after, .. } => Some(after),
            });
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_hears_what_it_asked_for_in_order() {
        let (watchers, id) = (Watchers::default(), JobId::new(Uuid::from_u128(1)));
        let (all, writes) = (watchers.join(id, Interest::Everything), watchers.join(id, Interest::Writes));
        watchers.live(id, 1, || delta(0));
        watchers.wrote(id);
        watchers.wrote(id);
        watchers.live(id, 2, || delta(4));
        watchers.wrote(JobId::new(Uuid::from_u128(2)));
        assert_eq!(heard(&all).await, [Some(1), None, Some(2)]);
        assert_eq!(heard(&writes).await, [None]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_listener_is_sent_to_the_journal_and_hears_the_newest() {
        let (watchers, id) = (Watchers::default(), JobId::new(Uuid::from_u128(1)));
        let subscriber = watchers.join(id, Interest::Everything);
        let said = KEPT as u64 + 10;
        (0..said).for_each(|n| watchers.live(id, n, || delta(0)));
        let expected: Vec<_> = std::iter::once(None).chain((10..said).map(Some)).collect();
        assert_eq!(heard(&subscriber).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_sent_to_the_store_when_others_write_and_never_else() {
        let (watchers, said) = (Arc::new(Watchers::default()), Arc::new(AtomicU64::new(7)));
        let wait = |n| {
            let said = Arc::clone(&said);
            let changes = move || Some(Some(said.load(Ordering::Relaxed)).filter(|said| *said > 0));
            Waiter::beside(&watchers, JobId::new(Uuid::from_u128(n)), changes)
        };
        let waiting = [wait(1), wait(1), wait(2)];
        let told = async |within| {
            tokio::time::sleep(within).await;
            let told = waiting.each_ref().map(|waiter| waiter.told().now_or_never().is_some());
            told.iter().filter(|told| **told).count()
        };
        assert_eq!(told(100 * LOOK).await, 0);
        said.store(8, Ordering::Relaxed);
        assert_eq!(told(2 * LOOK).await, 3);
        assert_eq!(told(100 * LOOK).await, 0);
        said.store(0, Ordering::Relaxed);
        assert_eq!(told(3 * LOOK).await, 3, "a store that cannot say may hold anything");
        watchers.wrote(JobId::new(Uuid::from_u128(1)));
        said.store(8, Ordering::Relaxed);
        told(2 * LOOK).await;
        drop(waiting);
        tokio::time::sleep(3 * LOOK).await;
        assert!(watchers.wants_clock(), "nobody waits, and no clock runs");
    }

    #[test]
    fn what_is_live_is_not_made_for_nobody() {
        let (watchers, id) = (Watchers::default(), JobId::new(Uuid::from_u128(1)));
        let _waits = watchers.join(id, Interest::Writes);
        watchers.live(id, 1, || panic!("nobody listens"));
    }

    #[test]
    fn who_leaves_is_forgotten() {
        let (watchers, id) = (Watchers::default(), JobId::new(Uuid::from_u128(1)));
        let (one, other) = (watchers.join(id, Interest::Writes), watchers.join(id, Interest::Writes));
        watchers.leave(id, &one);
        assert_eq!(watchers.watched(), 1);
        watchers.leave(id, &other);
        assert_eq!(watchers.watched(), 0);
    }
}
