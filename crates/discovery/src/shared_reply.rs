//! One reply and all who read it.
//!
//! ```text
//!                      ┌─▶ reader at the end of the log ──polls──▶ the reply being made
//!   log: all it said ──┤                                               │
//!        ▲             └─▶ reader behind: reads the log                │
//!        └──────────────────────── each event, once ◀──────────────────┘
//! ```
//!
//! Nothing runs by itself: the reply comes on when a reader asks for more and has read all there is. So a slow reader
//! that is alone slows the model, and what is kept is never more than the reply. When the reply wakes, all who wait for it
//! are woken, for any one of them may be gone or busy.

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use docent_types::{StreamEvent, ThreadId};
use futures::{Stream, StreamExt};

use crate::live::Live;
use crate::log::{Cursor, Log};

/// How many events a reply that nobody reads may have in one go, before others get their turn.
const AT_A_TIME: usize = 64;

/// A reply that may have several readers, one after the other or at once.
pub(crate) struct SharedReply {
    pub(crate) thread: ThreadId,
    state: Mutex<State>,
    waiting: Arc<WakeList>,
    /// Wakes all who wait.
    waker: Waker,
}

struct State {
    /// `None` once it came to its end, or was cancelled.
    live: Option<Live>,
    log: Log,
    readers: usize,
    /// How many readers there ever were.
    visits: u64,
    /// Nobody can come any more.
    abandoned: bool,
}

/// A moment without readers. It is over when one comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Absence(u64);

impl SharedReply {
    /// The reply, with the log that is to be kept of it, and its first reader.
    pub(crate) fn begin(live: Live, thread: ThreadId, log: Log) -> (Arc<Self>, Reader) {
        let state = State { live: Some(live), log, readers: 0, visits: 0, abandoned: false };
        let waiting = Arc::new(WakeList::default());
        let waker = Waker::from(Arc::clone(&waiting));
        let reply = Arc::new(Self { thread, state: Mutex::new(state), waiting, waker });
        let reader = reply.join();
        (reply, reader)
    }

    /// One more reader, who begins at the beginning.
    pub(crate) fn join(self: &Arc<Self>) -> Reader {
        let mut state = self.state();
        state.readers += 1;
        state.visits += 1;
        let number = state.visits;
        drop(state);
        self.waiting.wake_all();
        Reader { reply: Arc::clone(self), cursor: Cursor::default(), number, left: false }
    }

    /// Whether nobody came since, and somebody still can.
    pub(crate) fn is_still(&self, absence: Absence) -> bool {
        self.state().absence() == Some(absence)
    }

    /// Nobody new can come. [Abandons](Self::abandon) it when nobody reads it either.
    pub(crate) fn abandon_if_deserted(self: &Arc<Self>) {
        let is_deserted = self.state().absence().is_some();
        if is_deserted {
            self.abandon();
        }
    }

    /// Drops what is being made, and with it the model call, and what was said: nobody reads it or will. Whoever waits for
    /// a reader need not any longer.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.abandoned = true;
        let gone = (state.live.take(), mem::take(&mut state.log));
        drop(state);
        drop(gone);
        self.waiting.wake_all();
    }

    /// Lets the reply come on although nobody reads it. Gives whether it came to its end before somebody did.
    pub(crate) async fn goes_on_alone(&self, absence: Absence) -> bool {
        poll_fn(|cx| {
            for _ in 0..AT_A_TIME {
                let mut state = self.state();
                if state.absence() != Some(absence) {
                    return Poll::Ready(false);
                }
                match self.advance(&mut state, 0, cx) {
                    Poll::Ready(Some(_)) => {}
                    Poll::Ready(None) => return Poll::Ready(true),
                    Poll::Pending => return Poll::Pending,
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }

    /// Waits until somebody reads it again, or nobody can.
    pub(crate) async fn is_visited(&self, absence: Absence) {
        poll_fn(|cx| {
            let seen = self.waiting.wakings();
            if !self.is_still(absence) {
                return Poll::Ready(());
            }
            self.waiting.wait(0, seen, cx.waker());
            Poll::Pending
        })
        .await;
    }

    /// The next event of what is being made, which is in the log then. Ready with nothing when there is no more.
    fn advance(&self, state: &mut State, waiter: u64, cx: &Context<'_>) -> Poll<Option<StreamEvent>> {
        let seen = self.waiting.wakings();
        // Taken out, so that it is gone should it panic.
        let Some(mut live) = state.live.take() else { return Poll::Ready(None) };
        let polled = live.poll_next_unpin(&mut Context::from_waker(&self.waker));
        match &polled {
            Poll::Ready(Some(event)) => {
                state.log.push(event);
                if !is_last(event) {
                    state.live = Some(live);
                }
            }
            Poll::Ready(None) => {}
            Poll::Pending => {
                state.live = Some(live);
                self.waiting.wait(waiter, seen, cx.waker());
            }
        }
        polled
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl State {
    fn absence(&self) -> Option<Absence> {
        (self.readers == 0 && !self.abandoned).then_some(Absence(self.visits))
    }
}

/// Whether nothing can come after an event.
pub(crate) const fn is_last(event: &StreamEvent) -> bool {
    matches!(event, StreamEvent::Finish { .. } | StreamEvent::Error { .. })
}

/// One who reads a reply, from its beginning to its end.
pub(crate) struct Reader {
    reply: Arc<SharedReply>,
    cursor: Cursor,
    /// Never 0.
    number: u64,
    left: bool,
}

impl Reader {
    pub(crate) const fn reply(&self) -> &Arc<SharedReply> {
        &self.reply
    }

    /// Reads no more. Gives the absence that begins when this was the last one.
    pub(crate) fn leave(&mut self) -> Option<Absence> {
        if mem::replace(&mut self.left, true) {
            return None;
        }
        self.reply.waiting.forget(self.number);
        let mut state = self.reply.state();
        state.readers -= 1;
        let (absence, others) = (state.absence(), state.readers > 0);
        drop(state);
        // They may have waited for this one to ask.
        if others {
            self.reply.waiting.wake_all();
        }
        absence
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Stream for Reader {
    type Item = StreamEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let this = self.get_mut();
        let mut state = this.reply.state();
        if let Some(event) = state.log.next(&mut this.cursor) {
            return Poll::Ready(Some(event));
        }
        let polled = this.reply.advance(&mut state, this.number, cx);
        if polled.is_ready() {
            this.cursor = state.log.end();
            let others = state.readers > 1;
            drop(state);
            if others {
                this.reply.waiting.wake_all();
            }
        }
        polled
    }
}

/// Who waits for a reply to come on.
#[derive(Default)]
struct WakeList {
    wakers: Mutex<Wakers>,
    /// How often all were woken.
    wakings: AtomicU64,
}

/// Whom to wake, by their numbers.
#[derive(Default)]
struct Wakers {
    /// Mostly there is one, and its place is at hand.
    one: Option<(u64, Waker)>,
    others: Vec<(u64, Waker)>,
}

impl WakeList {
    fn wakings(&self) -> u64 {
        self.wakings.load(Ordering::Acquire)
    }

    /// Wakes this one the next time, or at once when all were woken since it saw so many wakings.
    fn wait(&self, waiter: u64, seen: u64, waker: &Waker) {
        let mut wakers = self.wakers();
        if self.wakings() != seen {
            drop(wakers);
            waker.wake_by_ref();
            return;
        }
        let Wakers { one, others } = &mut *wakers;
        match one {
            None => *one = Some((waiter, waker.clone())),
            Some((known, woken)) if *known == waiter => woken.clone_from(waker),
            Some(_) => match others.iter_mut().find(|(known, _)| *known == waiter) {
                Some((_, woken)) => woken.clone_from(waker),
                None => others.push((waiter, waker.clone())),
            },
        }
    }

    fn forget(&self, waiter: u64) {
        let mut wakers = self.wakers();
        wakers.one.take_if(|(known, _)| *known == waiter);
        wakers.others.retain(|(known, _)| *known != waiter);
    }

    fn wake_all(&self) {
        // Counted under the lock: who is about to wait has either seen it, or is woken by it.
        let mut wakers = self.wakers();
        self.wakings.fetch_add(1, Ordering::Release);
        let Wakers { one, others } = mem::take(&mut *wakers);
        drop(wakers);
        for (_, waker) in one.into_iter().chain(others) {
            waker.wake();
        }
    }

    fn wakers(&self) -> MutexGuard<'_, Wakers> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for WakeList {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_all();
    }
}

#[cfg(test)]
#[path = "shared_reply_tests.rs"]
mod tests;
