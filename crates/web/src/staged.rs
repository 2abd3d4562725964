//! A task with a part that is asked far more often than the rest of it.
//!
//! What an `async` function waits for is reached through all that surrounds it, each time the task is woken. Where thousands
//! of tasks take turns, nothing of that is at hand, and the way there takes longer than what is done at its end. So the part
//! that takes long is handed to the task for as long as it goes on, and the function waits.
//!
//! ```text
//!   task ──asks──▶ script     until it hands over an act
//!        ──asks──▶ act        until that has ended; then the script again
//! ```

use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use futures::future::BoxFuture;

/// Where a script hands its acts over.
pub(crate) struct Stage<A: Future>(Mutex<State<A>>);

enum State<A: Future> {
    Empty,
    Begins(Box<A>),
    Ended(Box<A>, A::Output),
}

/// A script and its acts.
pub(crate) struct Staged<A: Future> {
    act: Option<Box<A>>,
    script: BoxFuture<'static, ()>,
    stage: Arc<Stage<A>>,
}

impl<A: Future + Unpin> Staged<A> {
    pub(crate) fn new<S: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Arc<Stage<A>>) -> S) -> Self {
        let stage = Arc::new(Stage(Mutex::new(State::Empty)));
        let script = Box::pin(script(Arc::clone(&stage)));
        Self { act: None, script, stage }
    }
}

impl<A: Future> Stage<A> {
    /// Waits for an act that the task asks meanwhile, and gives it back. The script must not wait for anything beside it.
    pub(crate) async fn plays(&self, act: A) -> (Box<A>, A::Output) {
        *self.state() = State::Begins(Box::new(act));
        poll_fn(|_| {
            let mut state = self.state();
            match mem::replace(&mut *state, State::Empty) {
                State::Ended(act, output) => Poll::Ready((act, output)),
                // The task takes it next.
                other => {
                    *state = other;
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn begins(&self) -> Option<Box<A>> {
        let mut state = self.state();
        match mem::replace(&mut *state, State::Empty) {
            State::Begins(act) => Some(act),
            other => {
                *state = other;
                None
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Future + Unpin> Future for Staged<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            if let Some(act) = &mut this.act {
                let output = ready!(Pin::new(&mut **act).poll(context));
                if let Some(act) = this.act.take() {
                    *this.stage.state() = State::Ended(act, output);
                }
            }
            if this.script.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            match this.stage.begins() {
                None => return Poll::Pending,
                act => this.act = act,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;
    use tokio::sync::{mpsc, oneshot};
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn acts_follow_each_other_and_the_script_is_not_asked_while_one_goes_on() {
        let (wake, woken) = mpsc::unbounded_channel();
        let woken = Arc::new(tokio::sync::Mutex::new(woken));
        let (tell, mut told) = mpsc::unbounded_channel();
        let asked = Arc::new(AtomicUsize::new(0));
        let of_script = Arc::clone(&asked);
        let script = move |stage: Arc<Stage<BoxFuture<'static, u32>>>| {
            let mut acts = Box::pin(async move {
                for _ in 0..2 {
                    let woken = Arc::clone(&woken);
                    let sum = async move {
                        let mut woken = woken.lock().await;
                        woken.recv().await.unwrap_or(0) + woken.recv().await.unwrap_or(0)
                    };
                    tell.send(stage.plays(sum.boxed()).await.1).unwrap();
                }
            });
            poll_fn(move |context| {
                of_script.fetch_add(1, Ordering::Relaxed);
                acts.poll_unpin(context)
            })
        };
        let task = tokio::spawn(Staged::new(script));
        for n in 1..=4 {
            wake.send(n).unwrap();
            yield_now().await;
        }
        task.await.unwrap();
        assert_eq!([told.recv().await, told.recv().await], [Some(3), Some(7)]);
        assert_eq!(asked.load(Ordering::Relaxed), 3, "at the beginning and after each act");
    }

    #[tokio::test]
    async fn who_is_dropped_drops_what_is_played() {
        let (held, dropped) = oneshot::channel::<()>();
        let mut staged = Staged::new(|stage| async move {
            let holding = async move {
                let _held = held;
                std::future::pending::<()>().await;
            };
            drop(stage.plays(holding.boxed()).await);
        });
        assert!(futures::poll!(&mut staged).is_pending());
        drop(staged);
        assert!(dropped.await.is_err());
    }
}
