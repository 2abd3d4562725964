//! A model that speaks at a pace.
//!
//! What is measured is the server, so its model costs little: all its replies wait for one clock.

use std::mem;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_types::{FinishReason, Usage};
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Times in deltas begin again at this.
const ROUND: u64 = 100_000;

/// So many deltas, one every so often; as fast as it can where that is zero. A delta is `t` and when it was due, in milliseconds
/// modulo 100,000.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paced {
    pub(crate) deltas: u32,
    pub(crate) every: Duration,
}

#[async_trait]
impl Model for Paced {
    fn describe(&self) -> Description {
        Description::new("paced", "paced-1")
    }

    async fn stream(&self, _request: Request) -> Result<EventStream, ModelError> {
        Ok(Words::of(*self).map(|word| Ok(word.unwrap_or_else(done))).boxed())
    }
}

fn done() -> Event {
    Event::Done { reason: FinishReason::Stop, usage: Usage::of(900, 200) }
}

/// The words of one reply, and `None` at its end.
pub(crate) struct Words {
    pace: Paced,
    begun: Instant,
    /// The same moment on the clock that others can read, in milliseconds.
    stamp: u64,
    said: u32,
    /// Who is woken at which tick.
    waits: Option<(usize, Waker)>,
}

impl Words {
    pub(crate) fn of(pace: Paced) -> Self {
        let begun = Instant::now();
        let stamp = millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        Self { pace, begun, stamp, said: 0, waits: None }
    }

    /// Leaves word with the clock.
    fn wait_until(&mut self, due: Instant, waker: &Waker) {
        let clock = Clock::ticking();
        let tick = clock.tick_at(due);
        if self.waits.as_ref().is_none_or(|(known, woken)| *known != tick || !woken.will_wake(waker)) {
            self.waits = Some((clock.wake_at(tick, waker.clone()), waker.clone()));
        }
    }
}

impl Stream for Words {
    type Item = Option<Event>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.said > this.pace.deltas {
            return Poll::Ready(None);
        }
        let due = this.begun + this.pace.every * this.said;
        if !this.pace.every.is_zero() && Instant::now() < due {
            this.wait_until(due, context.waker());
            return Poll::Pending;
        }
        let due = this.stamp + millis(this.pace.every * this.said);
        this.said += 1;
        let is_last = this.said > this.pace.deltas;
        Poll::Ready(Some((!is_last).then(|| Event::TextDelta(word(due % ROUND)))))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// `t`, five digits and a blank. By hand: to have it formatted costs as much as a third of what the server does with it.
fn word(due: u64) -> String {
    let mut word = String::with_capacity(7);
    word.push('t');
    for place in [10_000, 1_000, 100, 10, 1] {
        word.push(char::from(b'0' + (due / place % 10) as u8));
    }
    word.push(' ');
    word
}

/// Words come at most so much later than they are due.
const TICK: Duration = Duration::from_millis(5);
/// Who waits for longer is woken too early, and waits again.
const TICKS: usize = 1_024;

/// Ticks for all.
struct Clock {
    began: Instant,
    waiting: Mutex<Waiting>,
}

struct Waiting {
    /// The number of a tick, modulo their count, is its place.
    at: Vec<Vec<Waker>>,
    /// The tick that comes next.
    next: usize,
}

impl Clock {
    /// The one there is. Whoever asks first starts it.
    fn ticking() -> &'static Self {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        CLOCK.get_or_init(|| {
            tokio::spawn(async {
                let mut ticks = interval(TICK);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
                loop {
                    ticks.tick().await;
                    Self::ticking().strike();
                }
            });
            Self { began: Instant::now(), waiting: Mutex::new(Waiting { at: vec![Vec::new(); TICKS], next: 0 }) }
        })
    }

    /// The first that is not before this moment.
    fn tick_at(&self, moment: Instant) -> usize {
        let since = moment.saturating_duration_since(self.began);
        since.as_nanos().div_ceil(TICK.as_nanos()) as usize
    }

    /// Gives the tick that it is.
    fn wake_at(&self, tick: usize, waker: Waker) -> usize {
        let mut waiting = self.waiting.lock();
        let tick = tick.clamp(waiting.next, waiting.next + TICKS - 1);
        waiting.at[tick % TICKS].push(waker);
        tick
    }

    fn strike(&self) {
        let now = (self.began.elapsed().as_nanos() / TICK.as_nanos()) as usize;
        let mut waiting = self.waiting.lock();
        let from = waiting.next;
        waiting.next = from.max(now + 1);
        let mut woken = Vec::new();
        for tick in from..waiting.next.min(from + TICKS) {
            let at = &mut waiting.at[tick % TICKS];
            if woken.is_empty() { woken = mem::take(at) } else { woken.append(at) }
        }
        drop(waiting);
        woken.into_iter().for_each(Waker::wake);
    }
}
