//! A future that waits beside a busy one.
//!
//! Both belong to one task, and the busy one wakes it thousands of times. Asking the other each time would cost more than
//! what the busy one does: it waits for things that all connections share.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::task::AtomicWaker;

/// Polls `F` only when it was `F` that woke the task.
pub(crate) struct Aside<F: ?Sized> {
    future: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// Whom the bell is known to wake.
    task: Option<Waker>,
}

struct Bell {
    rung: AtomicBool,
    task: AtomicWaker,
}

impl<F: Future + ?Sized> Aside<F> {
    pub(crate) fn new(future: Pin<Box<F>>) -> Self {
        let bell = Bell { rung: AtomicBool::new(true), task: AtomicWaker::new() };
        Self { future, bell: Arc::new(bell), task: None }
    }
}

impl<F: Future + ?Sized> Future for Aside<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        // First leave word, then look: a ring in between is heard either way.
        let known = this.task.as_ref().is_some_and(|task| task.will_wake(context.waker()));
        if !known || this.bell.rung.load(Ordering::Acquire) {
            this.bell.task.register(context.waker());
        }
        if !this.bell.rung.swap(false, Ordering::AcqRel) {
            if !known {
                this.task = Some(context.waker().clone());
            }
            return Poll::Pending;
        }
        // A ring uses up the word that was left; whether before or after we left it again is not known.
        this.task = None;
        let waker = Waker::from(Arc::clone(&this.bell));
        this.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn it_is_asked_once_until_it_rings_itself_and_then_it_answers() {
        let asked = Cell::new(0);
        let (ring, mut rung) = oneshot::channel();
        let mut aside = Aside::new(Box::pin(poll_fn(|context| {
            asked.set(asked.get() + 1);
            Pin::new(&mut rung).poll(context)
        })));
        for _ in 0..5 {
            assert!(futures::poll!(&mut aside).is_pending());
        }
        assert_eq!(asked.get(), 1);
        ring.send("now").unwrap();
        assert_eq!(aside.await.unwrap(), "now");
        assert_eq!(asked.get(), 2);
    }

    #[tokio::test]
    async fn every_ring_is_heard() {
        let (rings, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let ringing = tokio::spawn(async move {
            for n in 0..500 {
                rings.send(n).unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut count = 0;
        let all = poll_fn(move |context| {
            while let Poll::Ready(ring) = heard.poll_recv(context) {
                if ring.is_none() {
                    return Poll::Ready(count);
                }
                count += 1;
            }
            Poll::Pending
        });
        assert_eq!(Aside::new(Box::pin(all)).await, 500);
        ringing.await.unwrap();
    }
}
