//! A model that speaks at a pace.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_types::{FinishReason, Usage};
use futures::{Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep_until};

/// Times in deltas begin again at this.
const ROUND: u128 = 100_000;

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
    /// The same moment on the clock that others can read.
    stamp: u128,
    said: u32,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Words {
    pub(crate) fn of(pace: Paced) -> Self {
        let begun = Instant::now();
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let timer = (!pace.every.is_zero()).then(|| Box::pin(sleep_until(begun)));
        Self { pace, begun, stamp, said: 0, timer }
    }
}

impl Stream for Words {
    type Item = Option<Event>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.said > this.pace.deltas {
            return Poll::Ready(None);
        }
        if let Some(timer) = &mut this.timer {
            ready!(timer.as_mut().poll(context));
            timer.as_mut().reset(this.begun + this.pace.every * (this.said + 1));
        }
        let due = this.stamp + (this.pace.every * this.said).as_millis();
        this.said += 1;
        let is_last = this.said > this.pace.deltas;
        Poll::Ready(Some((!is_last).then(|| Event::TextDelta(format!("t{:05} ", due % ROUND)))))
    }
}
