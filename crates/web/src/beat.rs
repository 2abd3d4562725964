//! A clock that all streams share, so that thousands that say a little at a time wake together.
//!
//! A server with many open streams is mostly woken and put to sleep again: for each word one turn of a task, one return from
//! the kernel, one reader that is shaken awake. Streams that may wait a moment wait for a beat instead. Until then their
//! tasks are not touched, whatever comes for them; at the beat each takes all there is and writes it at once.
//!
//! ```text
//!   words come     · ·    ·  ·   ·        ·      ··    ·
//!   beats        |         |         |         |         |
//!   writes                 █         █         █         █
//! ```
//!
//! A few streams are cheap, and each is woken at the next beat. The more there are, the more beats a stream lets pass, up to
//! a bound. Thousands of them are dealt out over the beats between, so that nothing else waits until all have had their turn:
//!
//! ```text
//!   beats        |    |    |    |    |    |    |    |    |
//!   a third      █              █              █
//!   a third           █              █              █
//!   a third                █              █              █
//! ```

use std::fmt;
use std::future::pending;
use std::mem;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use futures::task::AtomicWaker;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::strain::{self, Strain};

/// How much later streams are woken for each that there is.
const FOR_EACH: Duration = Duration::from_micros(750);
/// However many there are, none waits for longer than this, or for one beat; up to two thirds more under strain.
const LONGEST: Duration = Duration::from_millis(150);
/// A stream that is looked at as seldom as this looks for itself, if anybody relies on that. Words come about as often.
const SELDOM: Duration = Duration::from_millis(100);
/// As many are woken together: the more, the cheaper, and the longer anything else waits for its turn.
const TOGETHER: usize = 1_000;
/// When as many tasks wait for their turn at a beat, those of the beats before have not all had theirs.
const BEHIND: usize = 500;

/// A shared clock; clones are the same one. The default has no beats: nothing waits.
#[derive(Clone, Default)]
pub struct Beat(Option<Arc<Clock>>);

impl Beat {
    /// A beat every so often; none when that is zero.
    pub fn every(interval: Duration) -> Self {
        Self::promising(interval, |poll| {
            poll();
            false
        })
    }

    /// The same, with a way to tell whoever reads the sockets behind these streams that it need not wake them: a stream that
    /// waits for long is looked at every time when it is its turn, if that is relied on.
    pub fn promising(interval: Duration, promise: Promise) -> Self {
        let clock = || {
            let most_beats = LONGEST.as_micros() / interval.as_micros().max(1);
            let most_beats = u64::try_from(most_beats).unwrap_or(u64::MAX).max(1);
            Clock {
                interval,
                promise,
                most_beats,
                began: Instant::now(),
                streams: AtomicUsize::new(0),
                begun: AtomicU32::new(0),
                strain: AtomicU32::new(strain::NONE),
                waiting: Mutex::new(Waiting::for_as_many(stretched(most_beats, strain::MOST))),
                wanted: Arc::default(),
                ticks: OnceLock::new(),
            }
        };
        Self((!interval.is_zero()).then(|| Arc::new(clock())))
    }

    pub(crate) fn bell(self) -> Bell {
        let number = self.0.as_ref().map_or(0, |clock| {
            clock.streams.fetch_add(1, Ordering::Relaxed);
            clock.begun.fetch_add(1, Ordering::Relaxed)
        });
        let (state, looked) = (AtomicU8::new(DUE), AtomicU64::new(0));
        let pull = Arc::new(Pull { clock: self.0, number, state, looked, task: AtomicWaker::new() });
        Bell { waker: Waker::from(Arc::clone(&pull)), pull, starts: false }
    }
}

impl fmt::Debug for Beat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Beat").field(&self.0.as_ref().map(|clock| clock.interval)).finish()
    }
}

/// Polls with the promise to poll again before long, even if nobody wakes, and says whether anybody relies on it.
pub type Promise = fn(&mut dyn FnMut()) -> bool;

struct Clock {
    interval: Duration,
    promise: Promise,
    /// However many streams there are, each is woken at every so manieth beat, or under strain almost so.
    most_beats: u64,
    began: Instant,
    /// How many there are now.
    streams: AtomicUsize,
    /// How many there ever were; begins anew beyond four billion.
    begun: AtomicU32,
    /// By how much all wait longer than they would.
    strain: AtomicU32,
    waiting: Mutex<Waiting>,
    wanted: Arc<Notify>,
    /// Set once the task that ticks was started.
    ticks: OnceLock<()>,
}

/// Who is to be woken at which of the next beats.
struct Waiting {
    /// The number of a beat, modulo their count, is their place here.
    at: Vec<Vec<Arc<Pull>>>,
    /// The last beat that was struck.
    struck: u64,
    /// The next one that anybody waits for.
    next: Option<u64>,
}

impl Waiting {
    fn for_as_many(beats: u64) -> Self {
        Self { at: (0..beats).map(|_| Vec::new()).collect(), struck: 0, next: None }
    }

    fn at(&mut self, beat: u64) -> &mut Vec<Arc<Pull>> {
        let count = self.at.len() as u64;
        &mut self.at[(beat % count) as usize]
    }
}

impl Clock {
    /// Microseconds since it began.
    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// The number of the last beat.
    fn beats(&self) -> u64 {
        let beats = self.began.elapsed().as_nanos() / self.interval.as_nanos();
        u64::try_from(beats).unwrap_or(u64::MAX)
    }

    /// So many beats after the last time a stream is woken.
    fn stride(&self, streams: usize) -> u64 {
        let stride = (streams as u128 * FOR_EACH.as_nanos()).div_ceil(self.interval.as_nanos());
        let stride = u64::try_from(stride).unwrap_or(u64::MAX).clamp(1, self.most_beats);
        stretched(stride, self.strain.load(Ordering::Relaxed))
    }

    /// The beat after this one at which a stream is woken, by the number that it has among all.
    fn next(&self, stream: u64, beat: u64) -> u64 {
        let streams = self.streams.load(Ordering::Relaxed);
        let stride = self.stride(streams);
        let groups = ((streams / TOGETHER) as u64).clamp(1, stride);
        let turn = stream % groups * stride / groups;
        let next = beat + 1;
        next + (turn + stride - next % stride) % stride
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From any thread, a runtime's or not.
    fn at_its_turn(&self, pull: Arc<Pull>) {
        let mut waiting = self.waiting();
        // Not one that is struck already.
        let beat = self.next(pull.number.into(), self.beats().max(waiting.struck));
        waiting.at(beat).push(pull);
        let is_sooner = waiting.next.is_none_or(|next| beat < next);
        if is_sooner {
            waiting.next = Some(beat);
        }
        drop(waiting);
        if is_sooner {
            self.wanted.notify_one();
        }
    }

    /// Starts ticking, on the runtime of whoever asks first. Nothing ticks while nobody waits.
    fn start(self: &Arc<Self>) {
        if self.ticks.get().is_none()
            && let Ok(handle) = Handle::try_current()
            && self.ticks.set(()).is_ok()
        {
            handle.spawn(tick(Arc::downgrade(self), Arc::clone(&self.wanted)));
        }
    }

    /// All beats that have come since the last time. Gives when the next is that anybody waits for.
    fn strike(&self, pulled: &mut Vec<Arc<Pull>>) -> Option<Instant> {
        let now = self.beats();
        let mut waiting = self.waiting();
        let all = waiting.at.len() as u64;
        for beat in (waiting.struck + 1).max((now + 1).saturating_sub(all))..=now {
            if pulled.is_empty() {
                // The lists take turns, so that none grows again at each beat.
                mem::swap(waiting.at(beat), pulled);
            } else {
                pulled.append(waiting.at(beat));
            }
        }
        let struck = waiting.struck.max(now);
        let next = (struck + 1..=struck + all).find(|beat| !waiting.at(*beat).is_empty());
        (waiting.struck, waiting.next) = (struck, next);
        drop(waiting);
        pulled.drain(..).for_each(|pull| pull.strike());
        next.map(|beat| self.moment(beat))
    }

    /// Whether there was time for the beats before one that strikes so late, while so many tasks wait for their turn.
    fn is_in_time(&self, late: Duration, waiting: usize) -> bool {
        late < self.interval && waiting < BEHIND
    }

    /// When a beat is due.
    fn moment(&self, beat: u64) -> Instant {
        let nanos = self.interval.as_nanos().saturating_mul(beat.into());
        self.began + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.wanted.notify_one();
    }
}

/// So many beats under so much strain.
fn stretched(beats: u64, thirds: u32) -> u64 {
    beats.saturating_mul(thirds.into()) / u64::from(strain::NONE)
}

async fn tick(clock: Weak<Clock>, wanted: Arc<Notify>) {
    let mut pulled = Vec::new();
    let mut strain = Strain::new();
    let mut next = None;
    loop {
        let beat = async {
            match next {
                Some(next) => sleep_until(next).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = beat => {}
            // Somebody waits for an earlier one.
            () = wanted.notified() => {}
        }
        let Some(clock) = clock.upgrade() else { return };
        if let Some(late) = next.and_then(|next| Instant::now().checked_duration_since(next)) {
            let waiting = Handle::current().metrics().global_queue_depth();
            clock.strain.store(strain.after(clock.is_in_time(late, waiting)), Ordering::Relaxed);
        }
        next = clock.strike(&mut pulled);
    }
}

/// Nothing has come.
const QUIET: u8 = 0;
/// Something has come, and waits for the beat.
const PULLED: u8 = 1;
/// It is time to look.
const DUE: u8 = 2;
/// Whatever comes is looked at at once.
const OPEN: u8 = 3;

/// What stands between what comes for a stream and the task that writes it. Looked at each time, and no larger than what is
/// fetched from memory at once.
struct Pull {
    clock: Option<Arc<Clock>>,
    /// Which of all streams it is for.
    number: u32,
    state: AtomicU8,
    /// When the task last looked, in microseconds after the clock began.
    looked: AtomicU64,
    task: AtomicWaker,
}

impl Pull {
    /// Whether what comes was most likely held up by what was there before it. A sender that hands over piece by piece, and
    /// waits each time until the last one is taken, would else be heard of once a beat.
    fn flows(&self, clock: &Clock) -> bool {
        let since = clock.micros().saturating_sub(self.looked.load(Ordering::Relaxed));
        Duration::from_micros(since) < clock.interval / 4
    }

    /// The beat has come.
    fn strike(&self) {
        if self.state.compare_exchange(PULLED, DUE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.task.wake();
        }
    }
}

impl Wake for Pull {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let to = match (state, &self.clock) {
                (QUIET, Some(clock)) if !self.flows(clock) => PULLED,
                (QUIET | OPEN, _) => DUE,
                // It is known.
                _ => return,
            };
            match self.state.compare_exchange(state, to, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) if to == DUE => return self.task.wake(),
                Ok(_) => {
                    if let Some(clock) = &self.clock {
                        clock.at_its_turn(Arc::clone(self));
                    }
                    return;
                }
                // Whoever looks has another pace by now.
                Err(now) => state = now,
            }
        }
    }
}

/// A stream's own bell: it is told when something comes, and tells its task at once or at the next beat.
pub(crate) struct Bell {
    pull: Arc<Pull>,
    /// Pulls.
    waker: Waker,
    /// Whether the clock was asked to tick.
    starts: bool,
}

/// Whether what comes next may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    AtOnce,
    AtTheBeat,
}

impl Bell {
    /// Whether it is time to look for what has come; if not, the task is woken when it is.
    pub(crate) fn is_due(&mut self, context: &Context<'_>) -> bool {
        // At each look, and before the state is read: who strikes says so first and wakes then, and may use up a word that was
        // left in between, which is the one that the next strike would need.
        self.pull.task.register(context.waker());
        if !mem::replace(&mut self.starts, true)
            && let Some(clock) = &self.pull.clock
        {
            clock.start();
        }
        self.pull.state.load(Ordering::Acquire) == DUE
    }

    /// Before looking: what comes from now on is told at this pace.
    pub(crate) fn listens(&self, pace: Pace) {
        if let Some(clock) = &self.pull.clock {
            self.pull.looked.store(clock.micros(), Ordering::Relaxed);
        }
        self.pull.state.store(self.state(pace), Ordering::Release);
    }

    /// After looking, until nothing was left: what comes now may be of another pace than what came before.
    pub(crate) fn turns_to(&self, pace: Pace) {
        let (state, to) = (&self.pull.state, self.state(pace));
        let from = if to == OPEN { QUIET } else { OPEN };
        let turned = state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        // What has come in the meantime need not wait any longer.
        if to == OPEN && turned == Err(PULLED) {
            self.look_again();
        }
    }

    /// How to look with the promise to look again at the next beat but for some. Only where looking seldom is cheaper than
    /// being told of every word.
    pub(crate) fn promise(&self) -> Option<Promise> {
        let clock = self.pull.clock.as_ref().filter(|clock| clock.ticks.get().is_some())?;
        let waits = clock.interval.as_nanos() * u128::from(clock.stride(clock.streams.load(Ordering::Relaxed)));
        (waits >= SELDOM.as_nanos()).then_some(clock.promise)
    }

    /// After looking with a promise that somebody relies on: it is kept.
    pub(crate) fn comes_again(&self) {
        let comes = |state| (state == QUIET || state == OPEN).then_some(PULLED);
        // Else something has come already.
        if self.pull.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, comes).is_ok()
            && let Some(clock) = &self.pull.clock
        {
            clock.at_its_turn(Arc::clone(&self.pull));
        }
    }

    /// There is more to look at, at once.
    pub(crate) fn look_again(&self) {
        self.pull.state.store(DUE, Ordering::Release);
        self.pull.task.wake();
    }

    /// There is more to look at for whoever asks next.
    pub(crate) fn stays_due(&self) {
        self.pull.state.store(DUE, Ordering::Release);
    }

    /// Wakes by the bell.
    pub(crate) const fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Where nothing ticks, nothing may wait for it.
    fn state(&self, pace: Pace) -> u8 {
        let ticks = self.pull.clock.as_ref().is_some_and(|clock| clock.ticks.get().is_some());
        if pace == Pace::AtTheBeat && ticks { QUIET } else { OPEN }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if let Some(clock) = &self.pull.clock {
            clock.streams.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[path = "beat_tests.rs"]
mod tests;
