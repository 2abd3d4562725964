//! Watching a job while it runs: its journal as it grows, and events that are only sent live.
//!
//! The journal in the store is authoritative; the signals here only say when to read it. A watcher that misses one, or
//! that watches a job another process works on, reads the same entries a little later. Live events reach only those who
//! watch at that moment in the process that works on the job.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use docent_types::{JobEvent, JobId, JobStatus, StoreError};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::entry::{Entry, EntryBody};
use crate::store::Store;

/// Without a signal, how often to check whether other processes have written. While somebody
/// [follows](Watchers::follow) what they write, only that a number cannot be had counts.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// After so many checks a job is read even if no other process has written: a caller that was dropped in the middle of
/// its write has sent no signal. More seldom where somebody follows other processes, each of which would ask as often. A
/// [`Waiter`] does not; its caller reads the job when the wait is over.
const CHECKS_PER_READ: u32 = 5;
const CHECKS_PER_READ_OF_MANY: u32 = 30;
/// Maximum number of attempts when the store cannot say at once whether other processes have written, and the pause
/// between them.
const ATTEMPTS: u32 = 5;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(40);
/// Entries read at once, and so the most that a slow listener keeps in memory.
const PAGE: u32 = 64;
/// Signals queued for a slow listener. Those beyond it are dropped; the journal has the entries.
const MAX_QUEUED_SIGNALS: usize = 1024;

/// An update of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobUpdate {
    /// The next entry of the journal.
    Entry(Entry),
    /// Sent live only: not in the journal. Who begins to watch in the middle of a text gets all of it so far.
    Live(JobEvent),
}

#[derive(Debug, Clone)]
enum Signal {
    Written,
    /// `after` is the newest entry at that time.
    Live {
        after: u64,
        event: JobEvent,
    },
}

/// The signals that a subscriber wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Only that the job was written.
    Writes,
    /// Live events, too.
    Everything,
}

/// The listeners of one process.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<Listeners>);

#[derive(Debug, Default)]
struct Listeners {
    by_job: HashMap<JobId, Vec<Arc<Subscriber>>>,
    /// What the agents of this process are writing.
    texts: HashMap<JobId, TextSoFar>,
    /// The number of waiters.
    waiting: usize,
    /// Whether the task that polls for them runs.
    polling: bool,
    /// Writes of this process to any job.
    writes: u64,
    /// The number of those who pass on which jobs other processes write.
    followers: usize,
}

/// The text of a reply so far.
#[derive(Debug)]
struct TextSoFar {
    /// The newest entry when it began.
    after: u64,
    text: String,
}

/// Somebody passes on which jobs other processes write, until this is dropped.
pub(crate) struct Follower<'a>(&'a Watchers);

impl Follower<'_> {
    /// Signals that the journals of these jobs may have grown by writes of other processes; `None` for all.
    pub(crate) fn notify_written(&self, ids: Option<&[JobId]>) {
        let mut listeners = self.0.0.lock();
        ids.into_iter().flatten().for_each(|id| drop(listeners.texts.remove(id)));
        let all = ids.is_none().then(|| listeners.by_job.values()).into_iter().flatten();
        let some = ids.into_iter().flatten().filter_map(|id| listeners.by_job.get(id));
        all.chain(some).flatten().for_each(|subscriber| subscriber.deliver(Signal::Written));
    }
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        self.0.0.lock().followers -= 1;
        self.notify_written(None);
    }
}

impl Watchers {
    /// Signals that the journal of a job has grown.
    pub(crate) fn notify_written(&self, id: JobId) {
        let mut listeners = self.0.lock();
        listeners.writes += 1;
        listeners.texts.remove(&id);
        for subscriber in listeners.by_job.get(&id).into_iter().flatten() {
            subscriber.deliver(Signal::Written);
        }
    }

    /// From here on the caller passes on what other processes write.
    pub(crate) fn follow(&self) -> Follower<'_> {
        self.0.lock().followers += 1;
        Follower(self)
    }

    fn checks_per_read(&self) -> u32 {
        if self.0.lock().followers == 0 { CHECKS_PER_READ } else { CHECKS_PER_READ_OF_MANY }
    }

    /// Whether a job may have been written without a signal, by what [`Store::changes`] said at two checks.
    fn may_have_missed(&self, before: Option<u64>, now: Option<u64>) -> bool {
        now.is_none() || (before != now && self.0.lock().followers == 0)
    }

    /// The number of writes of this process to any job.
    pub(crate) fn writes(&self) -> u64 {
        self.0.lock().writes
    }

    /// Sends a live event after the entry `after`.
    pub(crate) fn live(&self, id: JobId, after: u64, event: &JobEvent) {
        let mut listeners = self.0.lock();
        if let JobEvent::Delta { at, text } = event {
            listeners.add_text(id, after, *at, text);
        }
        for subscriber in listeners.by_job.get(&id).into_iter().flatten() {
            if subscriber.interest == Interest::Everything {
                subscriber.deliver(Signal::Live { after, event: event.clone() });
            }
        }
    }

    /// Nobody writes on at a text of which no more is heard.
    pub(crate) fn forget_text(&self, id: JobId) {
        self.0.lock().texts.remove(&id);
    }

    fn join(&self, id: JobId, interest: Interest) -> Arc<Subscriber> {
        let subscriber = Arc::new(Subscriber { interest, inbox: Mutex::default(), arrived: Notify::new() });
        let mut listeners = self.0.lock();
        listeners.waiting += usize::from(interest == Interest::Writes);
        listeners.by_job.entry(id).or_default().push(Arc::clone(&subscriber));
        if let Some(TextSoFar { after, text }) = listeners.texts.get(&id).filter(|_| interest == Interest::Everything) {
            let event = JobEvent::Delta { at: 0, text: text.clone() };
            subscriber.deliver(Signal::Live { after: *after, event });
        }
        subscriber
    }

    fn leave(&self, id: JobId, subscriber: &Arc<Subscriber>) {
        let mut listeners = self.0.lock();
        listeners.waiting -= usize::from(subscriber.interest == Interest::Writes);
        let Some(subscribers) = listeners.by_job.get_mut(&id) else { return };
        if let Some(place) = subscribers.iter().position(|other| Arc::ptr_eq(other, subscriber)) {
            subscribers.swap_remove(place);
        }
        if subscribers.is_empty() {
            listeners.by_job.remove(&id);
        }
    }

    /// Makes all waiters read the store.
    fn wake_waiters(&self) {
        let listeners = self.0.lock();
        let waiting = listeners.by_job.values().flatten().filter(|subscriber| subscriber.interest == Interest::Writes);
        waiting.for_each(|subscriber| subscriber.deliver(Signal::Written));
    }

    /// Claims the polling task: `true` if there is none yet and the caller must spawn it.
    fn start_polling(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().polling, true)
    }

    /// Whether there are still waiters. If not, the polling task counts as ended.
    fn keep_polling(&self) -> bool {
        let mut listeners = self.0.lock();
        listeners.polling = listeners.waiting > 0;
        listeners.polling
    }

    /// The number of jobs with a listener.
    #[cfg(test)]
    pub(crate) fn watched(&self) -> usize {
        self.0.lock().by_job.len()
    }
}

impl Listeners {
    fn add_text(&mut self, id: JobId, after: u64, at: usize, piece: &str) {
        match self.texts.get_mut(&id) {
            Some(live) if live.text.len() == at => live.text.push_str(piece),
            _ if at == 0 => drop(self.texts.insert(id, TextSoFar { after, text: piece.to_owned() })),
            // Its beginning was forgotten when something else was written.
            _ => {}
        }
    }
}

/// The queued signals of one subscriber. Nothing is allocated before the first.
#[derive(Debug)]
struct Subscriber {
    interest: Interest,
    inbox: Mutex<Inbox>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Inbox {
    signals: VecDeque<Signal>,
    /// Whether signals were dropped because the queue was full.
    missed: bool,
}

impl Subscriber {
    fn deliver(&self, signal: Signal) {
        let mut inbox = self.inbox.lock();
        // Consecutive write signals are merged into one.
        if !matches!((&signal, inbox.signals.back()), (Signal::Written, Some(Signal::Written))) {
            if inbox.signals.len() == MAX_QUEUED_SIGNALS {
                inbox.signals.pop_front();
                inbox.missed = true;
            }
            inbox.signals.push_back(signal);
        }
        drop(inbox);
        self.arrived.notify_one();
    }

    /// The next signal. Cancel-safe.
    async fn next(&self) -> Signal {
        loop {
            if let Some(signal) = self.inbox.lock().take() {
                return signal;
            }
            self.arrived.notified().await;
        }
    }
}

impl Inbox {
    fn take(&mut self) -> Option<Signal> {
        if std::mem::take(&mut self.missed) {
            return Some(Signal::Written);
        }
        let signal = self.signals.pop_front();
        if self.signals.is_empty() {
            // Gives back the memory of a long queue.
            self.signals.shrink_to(4);
        }
        signal
    }
}

/// A subscription of a caller that only waits for a job to be written.
///
/// There can be thousands, mostly idle, so one task polls the store for all of them.
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
    /// Signals are queued from here on, so read the current state after this call.
    pub(crate) fn new(watchers: &Arc<Watchers>, store: &Arc<dyn Store>, id: JobId) -> Self {
        let store = Arc::downgrade(store);
        Self::with_changes(watchers, id, move || Some(Weak::upgrade(&store)?.changes()))
    }

    /// `changes` returns [`Store::changes`], or `None` once the store is gone.
    fn with_changes(
        watchers: &Arc<Watchers>,
        id: JobId,
        changes: impl Fn() -> Option<Option<u64>> + Send + 'static,
    ) -> Self {
        let subscriber = watchers.join(id, Interest::Writes);
        if watchers.start_polling() {
            tokio::spawn(poll_for_waiters(Arc::clone(watchers), changes));
        }
        Self { watchers: Arc::clone(watchers), id, subscriber }
    }

    /// Waits until the job may have been written.
    pub(crate) async fn written(&self) {
        self.subscriber.next().await;
    }
}

/// Polls the store for all waiters, as long as there are any.
async fn poll_for_waiters(watchers: Arc<Watchers>, changes: impl Fn() -> Option<Option<u64>>) {
    let mut seen = changes().flatten();
    while watchers.keep_polling() {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let mut now = changes().flatten();
        for _ in 1..ATTEMPTS {
            if now.is_none() {
                tokio::time::sleep(ATTEMPT_PAUSE).await;
                now = changes().flatten();
            }
        }
        if watchers.may_have_missed(seen, now) {
            watchers.wake_waiters();
        }
        seen = now;
    }
}

/// A listener's subscription to a job.
pub(crate) struct Listener {
    watchers: Arc<Watchers>,
    id: JobId,
    subscriber: Arc<Subscriber>,
    /// [`Store::changes`] at the last check, and the number of checks since the last read.
    changes: Option<u64>,
    quiet: u32,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.watchers.leave(self.id, &self.subscriber);
    }
}

impl Listener {
    /// Signals are queued from here on, so read the current state after this call.
    pub(crate) fn new(watchers: Arc<Watchers>, changes: Option<u64>, id: JobId) -> Self {
        let subscriber = watchers.join(id, Interest::Everything);
        Self { watchers, id, subscriber, changes, quiet: 0 }
    }

    /// The next live event; `None` when it is time to read the store. `changes` is [`Store::changes`].
    pub(crate) async fn next(&mut self, changes: impl Fn() -> Option<u64>) -> Option<(u64, JobEvent)> {
        loop {
            match tokio::time::timeout(CHECK_INTERVAL, self.subscriber.next()).await {
                Ok(Signal::Live { after, event }) => return Some((after, event)),
                Ok(Signal::Written) => return None,
                Err(_) => {
                    let before = std::mem::replace(&mut self.changes, changes());
                    self.quiet += 1;
                    if self.watchers.may_have_missed(before, self.changes)
                        || self.quiet >= self.watchers.checks_per_read()
                    {
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
    /// Sequence number of the newest entry returned.
    last_returned: u64,
    ready: VecDeque<Entry>,
    /// Whether the store may hold entries that were not read yet.
    stale: bool,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("id", &self.listener.id)
            .field("last_returned", &self.last_returned)
            .finish_non_exhaustive()
    }
}

impl Watch {
    pub(crate) fn new(store: Arc<dyn Store>, watchers: Arc<Watchers>, id: JobId, after: u64) -> Self {
        let listener = Listener::new(watchers, store.changes(), id);
        Self { store, listener, last_returned: after, ready: VecDeque::new(), stale: true }
    }

    /// The next update; `None` once the job is no longer active and its whole journal was returned. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<JobUpdate>, StoreError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                self.last_returned = entry.seq;
                return Ok(Some(JobUpdate::Entry(entry)));
            }
            if self.stale {
                if self.read_new().await? {
                    return Ok(None);
                }
                continue;
            }
            match self.listener.next(|| self.store.changes()).await {
                // A live event that precedes an entry already returned is obsolete.
                Some((after, _)) if after < self.last_returned => {}
                Some((_, event)) => return Ok(Some(JobUpdate::Live(event))),
                None => self.stale = true,
            }
        }
    }

    /// Reads new entries. `true`: there are none, and none will come without a signal.
    async fn read_new(&mut self) -> Result<bool, StoreError> {
        let mut page = self.read_page().await?;
        let has_ended = page.is_empty() && self.has_ended().await?;
        if has_ended {
            // What was written before the status was read.
            page = self.read_page().await?;
        }
        // No signal follows the end, so after reading it the store is read once more at once.
        self.stale = page.len() == PAGE as usize || page.iter().any(is_end);
        self.ready.extend(page);
        Ok(has_ended && self.ready.is_empty())
    }

    async fn read_page(&self) -> Result<Vec<Entry>, StoreError> {
        self.store.entries(self.listener.id, self.last_returned, PAGE).await
    }

    async fn has_ended(&self) -> Result<bool, StoreError> {
        Ok(self.store.row(self.listener.id).await?.is_none_or(|row| row.job.status != JobStatus::Active))
    }
}

fn is_end(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::Transition { to, .. } if to != JobStatus::Active)
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

    async fn received(subscriber: &Subscriber) -> Vec<Option<u64>> {
        let mut all = Vec::new();
        while let Ok(signal) = tokio::time::timeout(Duration::ZERO, subscriber.next()).await {
            all.push(match signal {
                Signal::Written => None,
                Signal::Live { after, .. } => Some(after),
            });
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_hears_what_it_asked_for_in_order() {
        let (watchers, id) = (Watchers::default(), JobId::new(Uuid::from_u128(1)));
        let (all, writes) = (watchers.join(id, Interest::Everything), watchers.join(id, Interest::Writes));
        watchers.live(id, 1, &delta(0));
        watchers.notify_written(id);
        watchers.notify_written(id);
        watchers.live(id, 2, &delta(4));
        watchers.notify_written(JobId::new(Uuid::from_u128(2)));
        assert_eq!(received(&all).await, [Some(1), None, Some(2)]);
        assert_eq!(received(&writes).await, [None]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_listener_is_sent_to_the_journal_and_hears_the_newest() {
        let (watchers, id) = (Watchers::default(), JobId::new(Uuid::from_u128(1)));
        let subscriber = watchers.join(id, Interest::Everything);
        let count = MAX_QUEUED_SIGNALS as u64 + 10;
        (0..count).for_each(|n| watchers.live(id, n, &delta(0)));
        let expected: Vec<_> = std::iter::once(None).chain((10..count).map(Some)).collect();
        assert_eq!(received(&subscriber).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_sent_to_the_store_when_others_write_and_never_else() {
        let (watchers, counter) = (Arc::new(Watchers::default()), Arc::new(AtomicU64::new(7)));
        let wait = |n| {
            let counter = Arc::clone(&counter);
            let changes = move || Some(Some(counter.load(Ordering::Relaxed)).filter(|counter| *counter > 0));
            Waiter::with_changes(&watchers, JobId::new(Uuid::from_u128(n)), changes)
        };
        let waiting = [wait(1), wait(1), wait(2)];
        let woken = async |within| {
            tokio::time::sleep(within).await;
            let woken = waiting.each_ref().map(|waiter| waiter.written().now_or_never().is_some());
            woken.iter().filter(|woken| **woken).count()
        };
        assert_eq!(woken(100 * CHECK_INTERVAL).await, 0);
        counter.store(8, Ordering::Relaxed);
        assert_eq!(woken(2 * CHECK_INTERVAL).await, 3);
        assert_eq!(woken(100 * CHECK_INTERVAL).await, 0);
        counter.store(0, Ordering::Relaxed);
        assert_eq!(woken(3 * CHECK_INTERVAL).await, 3, "a store that cannot say may hold anything");
        watchers.notify_written(JobId::new(Uuid::from_u128(1)));
        counter.store(8, Ordering::Relaxed);
        woken(2 * CHECK_INTERVAL).await;
        drop(waiting);
        tokio::time::sleep(3 * CHECK_INTERVAL).await;
        assert!(watchers.start_polling(), "nobody waits, and no task polls");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_told_which_jobs_others_write_reads_no_other() {
        let (watchers, changes) = (Arc::new(Watchers::default()), AtomicU64::new(1));
        let ids = [1, 2].map(|n| JobId::new(Uuid::from_u128(n)));
        // Other processes write all the time.
        let count = || Some(changes.fetch_add(1, Ordering::Relaxed));
        let mut listener = Listener::new(Arc::clone(&watchers), count(), ids[0]);
        let mut reads_after = async || {
            let begun = tokio::time::Instant::now();
            assert_eq!(listener.next(count).await, None);
            begun.elapsed()
        };
        assert_eq!(reads_after().await, CHECK_INTERVAL, "nobody says which");
        let follower = watchers.follow();
        follower.notify_written(Some(&ids[1..]));
        assert_eq!(reads_after().await, CHECKS_PER_READ_OF_MANY * CHECK_INTERVAL);
        for written in [Some(&ids[..]), None] {
            follower.notify_written(written);
            assert_eq!(reads_after().await, Duration::ZERO);
        }
        drop(follower);
        assert_eq!(reads_after().await, Duration::ZERO, "what was not passed on");
        assert_eq!(reads_after().await, CHECK_INTERVAL);
        let _follower = watchers.follow();
        assert_eq!(listener.next(|| None).now_or_never(), None);
        let begun = tokio::time::Instant::now();
        assert_eq!(listener.next(|| None).await, None);
        assert_eq!(begun.elapsed(), CHECK_INTERVAL, "a store that has lost sight of the others");
    }

    #[test]
    fn who_comes_in_the_middle_of_a_text_hears_its_beginning() {
        let (watchers, id) = (Watchers::default(), JobId::new(Uuid::from_u128(1)));
        let heard = || {
            let subscriber = watchers.join(id, Interest::Everything);
            let signal = subscriber.inbox.lock().take();
            watchers.leave(id, &subscriber);
            signal.map(|signal| match signal {
                Signal::Live { after, event: JobEvent::Delta { at: 0, text } } => (after, text),
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(heard(), None);
        (0..3).for_each(|n| watchers.live(id, 1, &delta(4 * n)));
        assert_eq!(heard(), Some((1, "wordwordword".to_owned())));
        watchers.live(id, 1, &delta(0));
        assert_eq!(heard(), Some((1, "word".to_owned())), "it began again");
        assert_eq!(watchers.join(id, Interest::Writes).inbox.lock().take().map(|_| ()), None);
        watchers.notify_written(id);
        assert_eq!(heard(), None, "it is in the journal");
        watchers.live(id, 2, &delta(4));
        assert_eq!(heard(), None, "its beginning is unknown");
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
