//! A worker that reads what it is asked for, and has done it.

use std::time::Instant;

use async_trait::async_trait;
use docent_jobs::{EntryBody, Failure, Handle, Outcome, Worker};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Tells when it begins, if anybody wants to know.
#[derive(Debug, Default)]
pub(crate) struct Noop {
    tell: Option<UnboundedSender<Instant>>,
}

/// When a worker began with one job after the other.
pub(crate) struct Begun(UnboundedReceiver<Instant>);

impl Begun {
    pub(crate) fn pair() -> (Noop, Self) {
        let (tell, begun) = unbounded_channel();
        (Noop { tell: Some(tell) }, Self(begun))
    }

    pub(crate) async fn next(&mut self) -> Option<Instant> {
        self.0.recv().await
    }
}

#[async_trait]
impl Worker for Noop {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        if let Some(tell) = &self.tell {
            // Nobody there to be told is no fault.
            let _ = tell.send(Instant::now());
        }
        read_instruction(handle).await?;
        Ok(Outcome::Completed { message: String::new() })
    }
}

pub(crate) async fn read_instruction(handle: &mut Handle) -> Result<(), Failure> {
    let journal = handle.read().await?;
    let newest = journal.iter().rev().find(|entry| matches!(entry.body, EntryBody::Instruction(_)));
    handle.acknowledge(newest.map_or(0, |entry| entry.seq));
    Ok(())
}
