//! A worker that acts on a test's commands, for the tests of code that presents jobs.

use std::sync::Arc;

use async_trait::async_trait;
use docent_types::JobEvent;
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::engine::{Engine, EngineConfig};
use crate::entry::{Entry, EntryBody};
use crate::jobs::Jobs;
use crate::state::Outcome;
use crate::worker::{Failure, Handle, Worker};

/// Works on one job at a time, by commands sent while it works.
#[derive(Debug, Clone)]
pub struct Scripted {
    commands: UnboundedSender<Command>,
    script: Arc<Mutex<UnboundedReceiver<Command>>>,
}

#[derive(Debug)]
enum Command {
    Write(Vec<JobEvent>),
    Say(JobEvent),
    End(Result<Outcome, Failure>),
}

impl Scripted {
    /// Starts a worker on the jobs of `jobs`, for the life of the runtime.
    pub fn start(jobs: &Jobs) -> Self {
        let (commands, script) = unbounded_channel();
        let scripted = Self { commands, script: Arc::new(Mutex::new(script)) };
        let config = EngineConfig { workers: 1, ..EngineConfig::new("scripted".to_owned()) };
        let engine = Engine::new(jobs.clone(), Arc::new(scripted.clone()), config);
        tokio::spawn(engine.run(tokio_util::sync::CancellationToken::new()));
        scripted
    }

    /// Writes one journal entry, which [`events_of`] turns back into these events.
    pub fn writes(&self, events: impl Into<Vec<JobEvent>>) {
        self.send(Command::Write(events.into()));
    }

    /// Sends a live event.
    pub fn says(&self, event: JobEvent) {
        self.send(Command::Say(event));
    }

    pub fn ends(&self, outcome: Outcome) {
        self.send(Command::End(Ok(outcome)));
    }

    pub fn fails(&self, failure: Failure) {
        self.send(Command::End(Err(failure)));
    }

    fn send(&self, command: Command) {
        // The receiver belongs to this worker's own task.
        let _ = self.commands.send(command);
    }
}

#[async_trait]
impl Worker for Scripted {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        loop {
            for entry in handle.read().await? {
                if matches!(entry.body, EntryBody::Instruction(_)) {
                    handle.acknowledge(entry.seq);
                }
            }
            let command = self.script.lock().await.recv().await;
            match command {
                Some(Command::Write(events)) => {
                    handle.record("scripted", serde_json::to_value(events).unwrap_or_default());
                    handle.sync().await?;
                }
                Some(Command::Say(event)) => handle.live_events().send(&event),
                Some(Command::End(end)) => return end,
                None => std::future::pending().await,
            }
        }
    }
}

/// The events of an entry that [`Scripted`] or the engine wrote.
pub fn events_of(entry: &Entry) -> Vec<JobEvent> {
    match &entry.body {
        EntryBody::Instruction(instruction) => {
            instruction.messages.iter().map(|message| JobEvent::Asked { text: message.plain_text() }).collect()
        }
        EntryBody::Transition { to, halt, message } => {
            vec![JobEvent::Status { status: *to, halt: *halt, message: message.clone() }]
        }
        EntryBody::Retry { why, not_before } => vec![JobEvent::Waiting { why: why.clone(), until: *not_before }],
        EntryBody::Work { data, .. } => Vec::deserialize(data).unwrap_or_default(),
        EntryBody::Leased { .. } => Vec::new(),
    }
}
