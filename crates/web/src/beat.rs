//! A clock that all streams share, so that thousands that say a little at a time wake together.
//!
//! A server with many open streams is mostly woken and put to sleep again: for each word one turn of a task, one return from
//! the kernel, one reader that is shaken awake. Streams that may wait a moment wait for the next beat instead, all for the
//! same one. Between two beats their tasks are not touched, whatever comes for them; at the beat each takes all there is and
//! writes it at once.
//!
//! ```text
//!   words come     · ·    ·  ·   ·        ·      ··    ·
//!   beats        |         |         |         |         |
//!   writes                 █         █         █         █
//! ```

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use futures::task::AtomicWaker;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// A shared clock; clones are the same one. The default has no beats: nothing waits.
#[derive(Clone, Default)]
pub struct Beat(Option<Arc<Clock>>);

impl Beat {
    /// A beat every so often; none when that is zero.
    pub fn every(interval: Duration) -> Self {
        let began = Instant::now();
        let clock =
            || Clock { interval, began, waiting: Mutex::default(), wanted: Arc::default(), ticks: OnceLock::new() };
        Self((!interval.is_zero()).then(|| Arc::new(clock())))
    }

    pub(crate) fn bell(self) -> Bell {
        let pull =
            Pull { clock: self.0, state: AtomicU8::new(DUE), looked: AtomicU64::new(0), task: AtomicWaker::new() };
        let pull = Arc::new(pull);
        Bell { waker: Waker::from(Arc::clone(&pull)), pull, starts: false }
    }
}

impl fmt::Debug for Beat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Beat").field(&self.0.as_ref().map(|clock| clock.interval)).finish()
    }
}

struct Clock {
    interval: Duration,
    began: Instant,
    /// Who is to be woken at the next beat.
    waiting: Mutex<Vec<Arc<Pull>>>,
    wanted: Arc<Notify>,
    /// Set once the task that ticks was started.
    ticks: OnceLock<()>,
}

impl Clock {
    /// Microseconds since it began.
    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// From any thread, a runtime's or not.
    fn at_next(&self, pull: Arc<Pull>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(pull);
        let is_first = waiting.len() == 1;
        drop(waiting);
        if is_first {
            self.wanted.notify_one();
        }
    }

    /// Starts ticking, on the runtime of whoever asks first. Nothing ticks while nobody waits.
    fn start(self: &Arc<Self>) {
        if self.ticks.get().is_none()
            && let Ok(handle) = Handle::try_current()
            && self.ticks.set(()).is_ok()
        {
            handle.spawn(tick(Arc::downgrade(self), Arc::clone(&self.wanted), self.interval));
        }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.wanted.notify_one();
    }
}

async fn tick(clock: Weak<Clock>, wanted: Arc<Notify>, interval: Duration) {
    let began = Instant::now();
    let mut pulled = Vec::new();
    loop {
        wanted.notified().await;
        let now = Instant::now();
        let into = (now - began).as_nanos() % interval.as_nanos();
        sleep_until(now + interval.saturating_sub(Duration::from_nanos(into.try_into().unwrap_or(0)))).await;
        let Some(clock) = clock.upgrade() else { return };
        // The two lists take turns, so that neither grows again at each beat.
        mem::swap(&mut *clock.waiting.lock().unwrap_or_else(PoisonError::into_inner), &mut pulled);
        drop(clock);
        pulled.drain(..).for_each(|pull: Arc<Pull>| pull.strike());
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

/// What stands between what comes for a stream and the task that writes it.
struct Pull {
    clock: Option<Arc<Clock>>,
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
        Duration::from_micros(since) < clock.interval / 2
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
                        clock.at_next(Arc::clone(self));
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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;
    use std::thread;

    use bytes::Bytes;
    use futures::{Stream, StreamExt};
    use tokio::sync::mpsc;
    use tokio::time::sleep;

    use super::*;
    use crate::framed::{Next, framed_at};

    const BEAT: Duration = Duration::from_millis(10);

    /// Words that leave at the beat, but for `!`, which is followed by what may not wait.
    fn spoken(beat: &Beat) -> (mpsc::UnboundedSender<&'static str>, impl Stream<Item = Bytes> + Send + Unpin + use<>) {
        let (says, heard) = mpsc::unbounded_channel();
        let words = futures::stream::unfold(heard, |mut heard| async { Some((heard.recv().await?, heard)) });
        let stream = framed_at(beat.clone(), words, |word: Option<&str>, out| {
            out.extend_from_slice(word.unwrap_or(".").as_bytes());
            if word == Some("!") { Next::AtOnce } else { Next::AtTheBeat }
        });
        (says, Box::pin(stream))
    }

    /// What comes is told in two steps, and a look may fall between them.
    #[test]
    fn a_look_in_the_middle_of_a_strike_loses_none_that_follow() {
        let (waker, woken) = a_task();
        let context = Context::from_waker(&waker);
        let mut bell = Beat::default().bell();
        bell.pull.state.store(QUIET, Ordering::Release);
        assert!(!bell.is_due(&context));
        bell.pull.state.store(DUE, Ordering::Release);
        assert!(bell.is_due(&context));
        bell.pull.task.wake();
        bell.listens(Pace::AtOnce);
        assert!(!bell.is_due(&context), "nothing has come since");
        let before = woken.load(Ordering::Relaxed);
        bell.waker().wake_by_ref();
        assert_eq!(woken.load(Ordering::Relaxed), before + 1);
        assert!(bell.is_due(&context));
    }

    /// A task that counts how often it is woken.
    fn a_task() -> (Waker, Arc<AtomicU64>) {
        struct Task(Arc<AtomicU64>);
        impl Wake for Task {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let woken = Arc::new(AtomicU64::new(0));
        (Waker::from(Arc::new(Task(Arc::clone(&woken)))), woken)
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_word_leaves_at_once_and_what_follows_together_at_the_beat() {
        let (says, mut stream) = spoken(&Beat::every(BEAT));
        let start = Instant::now();
        says.send("a").unwrap();
        assert_eq!(stream.next().await.unwrap(), "a");
        assert_eq!(start.elapsed(), Duration::ZERO);
        let speaking = tokio::spawn(async move {
            for (after, word) in [(6, "b"), (1, "c"), (2, "d")] {
                sleep(Duration::from_millis(after)).await;
                says.send(word).unwrap();
            }
            says
        });
        assert_eq!(stream.next().await.unwrap(), "bcd");
        assert_eq!(start.elapsed(), BEAT);
        sleep(Duration::from_millis(7)).await;
        drop(speaking.await.unwrap());
        assert_eq!(stream.next().await.unwrap(), ".");
        assert_eq!((start.elapsed(), stream.next().await), (BEAT * 2, None));
    }

    #[tokio::test(start_paused = true)]
    async fn all_streams_wait_for_the_same_beat() {
        let beat = Beat::every(BEAT);
        let start = Instant::now();
        let reading = [5, 7, 9].map(|after| {
            let (says, mut stream) = spoken(&beat);
            tokio::spawn(async move {
                says.send("a").unwrap();
                stream.next().await;
                sleep(Duration::from_millis(after)).await;
                says.send("b").unwrap();
                (stream.next().await, Instant::now())
            })
        });
        for reading in reading {
            let (word, then) = reading.await.unwrap();
            assert_eq!((word.unwrap(), then - start), (Bytes::from("b"), BEAT));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn behind_what_may_not_wait_nothing_does() {
        let (says, mut stream) = spoken(&Beat::every(BEAT));
        says.send("a").unwrap();
        stream.next().await;
        says.send("!").unwrap();
        assert_eq!(stream.next().await.unwrap(), "!");
        let then = Instant::now();
        let next = tokio::spawn(async move { stream.next().await });
        tokio::task::yield_now().await;
        says.send("b").unwrap();
        assert_eq!(next.await.unwrap().unwrap(), "b");
        assert_eq!(then.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn more_than_fits_into_a_write_waits_for_no_further_beat() {
        let (says, mut stream) = spoken(&Beat::every(BEAT));
        let large: &'static str = "x".repeat(50_000).leak();
        says.send("a").unwrap();
        stream.next().await;
        says.send(large).unwrap();
        let (mut read, mut first) = (0, None);
        while read < large.len() {
            read += stream.next().await.unwrap().len();
            first.get_or_insert_with(Instant::now);
        }
        assert_eq!(first.unwrap().elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_hands_over_piece_by_piece_is_heard_to_the_end() {
        let (says, heard) = mpsc::channel(1);
        let words = futures::stream::unfold(heard, |mut heard| async { Some((heard.recv().await?, heard)) });
        let mut stream = Box::pin(framed_at(Beat::every(BEAT), words, |word: Option<&str>, out| {
            out.extend_from_slice(word.unwrap_or(".").as_bytes());
            Next::AtTheBeat
        }));
        tokio::spawn(async move {
            for _ in 0..1_000 {
                says.send("a").await.unwrap();
            }
        });
        let (start, mut read) = (Instant::now(), 0);
        while let Some(bytes) = stream.next().await {
            read += bytes.len();
        }
        assert_eq!(read, 1_001);
        assert!(start.elapsed() <= BEAT, "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_beat_nothing_waits() {
        let (says, mut stream) = spoken(&Beat::default());
        let start = Instant::now();
        for word in ["a", "b", "c"] {
            says.send(word).unwrap();
            assert_eq!(stream.next().await.unwrap(), word);
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    fn without_a_runtime<T>(future: impl Future<Output = T>) -> T {
        struct Unpark(thread::Thread);

        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }

        let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(thread::current()))));
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
            thread::park();
        }
    }

    #[test]
    fn where_nothing_ticks_nothing_waits() {
        let (says, mut stream) = spoken(&Beat::every(Duration::from_secs(3600)));
        let speaking = thread::spawn(move || ["a", "b"].map(|word| says.send(word).unwrap()));
        let mut all = Bytes::new();
        while !all.ends_with(b".") {
            all = [all, without_a_runtime(stream.next()).unwrap()].concat().into();
        }
        speaking.join().unwrap();
        assert_eq!(all, "ab.");
    }

    #[tokio::test]
    async fn whatever_is_said_whenever_from_wherever_is_heard() {
        let beat = Beat::every(Duration::from_millis(1));
        let reading: Vec<_> = (0..20)
            .map(|_| {
                let (says, stream) = spoken(&beat);
                let speaking = thread::spawn(move || {
                    for n in 0..500 {
                        says.send(if n % 7 == 0 { "!" } else { "a" }).unwrap();
                        thread::yield_now();
                    }
                });
                tokio::spawn(async move {
                    let mut stream = pin!(stream);
                    let mut heard = 0;
                    while let Some(bytes) = stream.next().await {
                        heard += bytes.len();
                    }
                    speaking.join().unwrap();
                    heard
                })
            })
            .collect();
        for reading in reading {
            assert_eq!(reading.await.unwrap(), 501);
        }
    }
}
