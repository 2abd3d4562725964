//! Who tells what the model says, word by word.
//!
//! A reply is a script: what comes when, and why. Of what it tells, nearly all are words of the model, and each would go
//! through the whole script, which is large. So the script hands the model over for as long as it speaks:
//!
//! ```text
//!   reply ──asks──▶ script        until the model speaks: then it waits at the stage
//!         ──asks──▶ speaker       word by word
//!         ──asks──▶ script        once the model does anything else
//! ```

use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use docent_llm::{Event, EventStream, ModelError};
use docent_types::StreamEvent;
use futures::stream::{BoxStream, Stream, StreamExt};

use crate::asking::Begun;
use crate::prompt::Step;
use crate::retrieval::Retrieval;
use crate::telling::{Telling, Words};

/// What a model does next, if anything.
pub(crate) type Does = Option<Result<Event, ModelError>>;

/// The model of a reply, and what its words go through.
pub(crate) struct Speaker {
    model: EventStream,
    /// What it has done already.
    first: Option<Box<Event>>,
    /// What is left of the events of a piece of text. Most pieces have one.
    words: Option<Box<Words>>,
    pub(crate) telling: Telling,
    pub(crate) retrieval: Retrieval,
}

impl Speaker {
    /// One who has no model yet.
    pub(crate) fn new(retrieval: Retrieval) -> Box<Self> {
        let model = futures::stream::empty().boxed();
        Box::new(Self { model, first: None, words: None, telling: Telling::default(), retrieval })
    }

    pub(crate) fn begins(&mut self, begun: Begun) {
        (self.first, self.model) = (begun.first.map(Box::new), begun.rest);
    }

    /// Ends the text that is open: [`Telling::close`].
    pub(crate) fn closes(&mut self, step: &mut Step) -> Words {
        self.telling.close(&self.retrieval.targets, step)
    }

    /// The next event of the words the model says; what it does when that is no word.
    fn poll_told(&mut self, context: &mut Context<'_>) -> Poll<Result<StreamEvent, Does>> {
        loop {
            if let Some(words) = &mut self.words {
                match words.next() {
                    Some(event) => return Poll::Ready(Ok(event)),
                    None => self.words = None,
                }
            }
            let does = match self.first.take() {
                Some(event) => Some(Ok(*event)),
                None => ready!(self.model.as_mut().poll_next(context)),
            };
            let mut words = match does {
                Some(Ok(Event::TextDelta(delta))) => self.telling.take(delta, &self.retrieval.targets),
                other => return Poll::Ready(Err(other)),
            };
            let event = words.next();
            if !words.are_told() {
                self.words = Some(Box::new(words));
            }
            if let Some(event) = event {
                return Poll::Ready(Ok(event));
            }
        }
    }
}

/// Where a script waits while a model speaks.
#[derive(Default)]
pub(crate) struct Stage(Mutex<Act>);

#[derive(Default)]
enum Act {
    #[default]
    Script,
    Begins(Box<Speaker>),
    Ends(Box<Speaker>, Does),
}

impl Stage {
    /// Lets a model speak. Gives what it does when that is no word.
    pub(crate) async fn hears(&self, speaker: Box<Speaker>) -> (Box<Speaker>, Does) {
        *self.act() = Act::Begins(speaker);
        std::future::poll_fn(|_| {
            let mut act = self.act();
            match mem::take(&mut *act) {
                Act::Ends(speaker, does) => Poll::Ready((speaker, does)),
                // Whoever asks for the script takes the speaker next, and comes back.
                other => {
                    *act = other;
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn begins(&self) -> Option<Box<Speaker>> {
        let mut act = self.act();
        match mem::take(&mut *act) {
            Act::Begins(speaker) => Some(speaker),
            other => {
                *act = other;
                None
            }
        }
    }

    fn act(&self) -> MutexGuard<'_, Act> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reply by its script, with models that speak in between.
pub(crate) struct Staged {
    speaker: Option<Box<Speaker>>,
    script: BoxStream<'static, StreamEvent>,
    stage: Arc<Stage>,
}

impl Staged {
    pub(crate) fn new(script: BoxStream<'static, StreamEvent>, stage: Arc<Stage>) -> Self {
        Self { speaker: None, script, stage }
    }
}

impl Stream for Staged {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let this = &mut *self;
        loop {
            if let Some(speaker) = &mut this.speaker {
                match ready!(speaker.poll_told(context)) {
                    Ok(event) => return Poll::Ready(Some(event)),
                    Err(does) => {
                        if let Some(speaker) = this.speaker.take() {
                            *this.stage.act() = Act::Ends(speaker, does);
                        }
                    }
                }
            }
            if let Poll::Ready(event) = this.script.as_mut().poll_next(context) {
                return Poll::Ready(event);
            }
            match this.stage.begins() {
                None => return Poll::Pending,
                speaker => this.speaker = speaker,
            }
        }
    }
}
