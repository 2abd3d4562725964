//! One reply and its readers.
//!
//! ```text
//!                      ┌─▶ reader at the end of the log ──polls──▶ the reply being made
//!   log: all it said ──┤                                               │
//!        ▲             └─▶ reader behind: reads the log                │
//!        └──────────────────────── each event, once ◀──────────────────┘
//! ```
//!
//! Nothing runs by itself: the reply is polled when a reader asks for more and has read the whole log. So a slow reader
//! that is alone slows the model, and the log is never larger than the reply. When the reply wakes, all waiting readers
//! are woken, because any of them may be gone or busy.

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use docent_types::{StreamEvent, ThreadId};
use futures::{Stream, StreamExt};
use parking_lot::Mutex;

use crate::live::Live;
use crate::log::{Cursor, Log};

/// Most events polled in a row without a reader, before other tasks get a turn.
const MAX_EVENTS_IN_A_ROW: usize = 64;

/// A reply that may have several readers, in sequence or concurrently.
pub(crate) struct SharedReply {
    pub(crate) thread: ThreadId,
    state: Mutex<State>,
    waiting: Arc<WakeList>,
    /// Wakes all waiting readers.
    waker: Waker,
}

struct State {
    /// `None` after its end, or when it was cancelled.
    live: Option<Live>,
    log: Log,
    readers: usize,
    /// The number of readers that ever joined.
    joined_readers: u64,
    /// No reader can join any more.
    abandoned: bool,
}

/// A period without readers. It ends when one joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Absence(u64);

impl SharedReply {
    /// Creates the reply with the log to fill, and its first reader.
    pub(crate) fn begin(live: Live, thread: ThreadId, log: Log) -> (Arc<Self>, Reader) {
        let state = State { live: Some(live), log, readers: 0, joined_readers: 0, abandoned: false };
        let waiting = Arc::new(WakeList::default());
        let waker = Waker::from(Arc::clone(&waiting));
        let reply = Arc::new(Self { thread, state: Mutex::new(state), waiting, waker });
        let reader = reply.join();
        (reply, reader)
    }

    /// Another reader, who begins at the start.
    pub(crate) fn join(self: &Arc<Self>) -> Reader {
        let mut state = self.state.lock();
        state.readers += 1;
        state.joined_readers += 1;
        let number = state.joined_readers;
        drop(state);
        self.waiting.wake_all();
        Reader { reply: Arc::clone(self), cursor: Cursor::default(), number, has_left: false }
    }

    /// Whether no reader has joined since, and one still can.
    pub(crate) fn is_current_absence(&self, absence: Absence) -> bool {
        self.state.lock().absence() == Some(absence)
    }

    /// For a reply that no new reader can find. [Abandons](Self::abandon) it if it has no reader.
    pub(crate) fn abandon_if_deserted(self: &Arc<Self>) {
        let is_deserted = self.state.lock().absence().is_some();
        if is_deserted {
            self.abandon();
        }
    }

    /// Drops the reply in progress, with its model call, and the log: there is no reader and never will be. Wakes the
    /// tasks that wait for one.
    pub(crate) fn abandon(&self) {
        let mut state = self.state.lock();
        state.abandoned = true;
        let dropped = (state.live.take(), mem::take(&mut state.log));
        drop(state);
        drop(dropped);
        self.waiting.wake_all();
    }

    /// Polls the reply without a reader. Returns whether it completed before one joined.
    pub(crate) async fn poll_without_reader(&self, absence: Absence) -> bool {
        poll_fn(|cx| {
            for _ in 0..MAX_EVENTS_IN_A_ROW {
                let mut state = self.state.lock();
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

    /// Waits until a reader joins, or none can any more.
    pub(crate) async fn wait_for_reader(&self, absence: Absence) {
        poll_fn(|cx| {
            let seen = self.waiting.wake_count();
            if !self.is_current_absence(absence) {
                return Poll::Ready(());
            }
            self.waiting.wait(0, seen, cx.waker());
            Poll::Pending
        })
        .await;
    }

    /// The next event of the reply in progress, which is appended to the log. Ready with `None` at the end.
    fn advance(&self, state: &mut State, waiter: u64, cx: &Context<'_>) -> Poll<Option<StreamEvent>> {
        let seen = self.waiting.wake_count();
        // Taken out, so that it is dropped if polling panics.
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
}

impl fmt::Debug for SharedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl State {
    fn absence(&self) -> Option<Absence> {
        (self.readers == 0 && !self.abandoned).then_some(Absence(self.joined_readers))
    }
}

/// Whether this is always the last event.
pub(crate) const fn is_last(event: &StreamEvent) -> bool {
    matches!(event, StreamEvent::Finish { .. } | StreamEvent::Error { .. })
}

/// A reader of a reply, from its beginning to its end.
pub(crate) struct Reader {
    reply: Arc<SharedReply>,
    cursor: Cursor,
    /// Never 0.
    number: u64,
    has_left: bool,
}

impl Reader {
    pub(crate) const fn reply(&self) -> &Arc<SharedReply> {
        &self.reply
    }

    /// Leaves the reply. Returns the absence that begins if this was the last reader.
    pub(crate) fn leave(&mut self) -> Option<Absence> {
        if mem::replace(&mut self.has_left, true) {
            return None;
        }
        self.reply.waiting.forget(self.number);
        let mut state = self.reply.state.lock();
        state.readers -= 1;
        let (absence, has_others) = (state.absence(), state.readers > 0);
        drop(state);
        // The others may have waited for this reader to poll.
        if has_others {
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
        let mut state = this.reply.state.lock();
        if let Some(event) = state.log.next(&mut this.cursor) {
            return Poll::Ready(Some(event));
        }
        let polled = this.reply.advance(&mut state, this.number, cx);
        if polled.is_ready() {
            this.cursor = state.log.end();
            let has_others = state.readers > 1;
            drop(state);
            if has_others {
                this.reply.waiting.wake_all();
            }
        }
        polled
    }
}

/// The tasks that wait for the reply's next event.
#[derive(Default)]
struct WakeList {
    /// With the number of the waiter. Few: one for each reader.
    wakers: Mutex<Vec<(u64, Waker)>>,
    /// How many times all were woken.
    wake_count: AtomicU64,
}

impl WakeList {
    fn wake_count(&self) -> u64 {
        self.wake_count.load(Ordering::Acquire)
    }

    /// Registers a waker, or wakes it at once if all were woken since `seen` wakings.
    fn wait(&self, waiter: u64, seen: u64, waker: &Waker) {
        let mut wakers = self.wakers.lock();
        if self.wake_count() != seen {
            drop(wakers);
            waker.wake_by_ref();
            return;
        }
        match wakers.iter_mut().find(|(number, _)| *number == waiter) {
            Some((_, known)) => known.clone_from(waker),
            None => wakers.push((waiter, waker.clone())),
        }
    }

    fn forget(&self, waiter: u64) {
        self.wakers.lock().retain(|(number, _)| *number != waiter);
    }

    fn wake_all(&self) {
        // Counted under the lock: a task about to wait has either seen it, or is woken by it.
        let mut wakers = self.wakers.lock();
        self.wake_count.fetch_add(1, Ordering::Release);
        let woken = mem::take(&mut *wakers);
        drop(wakers);
        woken.into_iter().for_each(|(_, waker)| waker.wake());
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
mod tests;
