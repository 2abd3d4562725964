//! One line of the file: one write that happened.

use std::sync::Arc;
use std::time::Duration;

use docent_jobs::memory::MemoryStore;
use docent_jobs::{Change, Decision, EntryBody, IdempotencyKey, Pruning, Row, Store, WriteError, WriteGuards};
use docent_types::{JobId, Quota, Timestamp};
use serde::{Deserialize, Serialize};

/// A write, with everything that is needed to do it again: the decision's outcome, not the decision.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Create { row: Row, entries: Vec<EntryBody>, gate: GateLine },
    Change { id: JobId, next: Row, entries: Vec<EntryBody>, gate: GateLine },
    Hold { id: JobId, next: Row, entries: Vec<EntryBody>, now: Timestamp },
    Prune { now: Timestamp, journals_before: Option<Timestamp>, jobs_before: Option<Timestamp>, limit: usize },
}

/// A [`WriteGuards`], written down.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GateLine {
    now: Timestamp,
    quota: Option<Quota>,
    key: Option<KeyLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeyLine {
    scope: String,
    key: String,
    fingerprint: [u8; 32],
    keep: Duration,
}

impl Line {
    /// Does the write again. It went through once, on a store in the same state, so it goes through again.
    pub(crate) async fn replay(self, memory: &MemoryStore) -> Result<(), WriteError> {
        match self {
            Self::Create { row, entries, gate } => drop(memory.create(row, entries, gate.into()).await?),
            Self::Change { id, next, entries, gate } => {
                drop(memory.change(id, gate.into(), decided(next, entries)).await?);
            }
            Self::Hold { id, next, entries, now } => drop(memory.hold(id, now, decided(next, entries)).await?),
            Self::Prune { now, journals_before, jobs_before, limit } => {
                memory.prune(Pruning { now, journals_before, jobs_before, limit }).await?;
            }
        }
        Ok(())
    }
}

/// The decision whose outcome this was.
fn decided(next: Row, entries: Vec<EntryBody>) -> Decision {
    let change = Change { next, entries };
    Arc::new(move |_| Ok(change.clone()))
}

impl From<WriteGuards> for GateLine {
    fn from(gate: WriteGuards) -> Self {
        let key = gate.key.map(|key| {
            let IdempotencyKey { scope, key, fingerprint, keep } = key;
            KeyLine { scope, key, fingerprint, keep }
        });
        Self { now: gate.now, quota: gate.quota, key }
    }
}

impl From<GateLine> for WriteGuards {
    fn from(line: GateLine) -> Self {
        let key = line.key.map(|key| {
            let KeyLine { scope, key, fingerprint, keep } = key;
            IdempotencyKey { scope, key, fingerprint, keep }
        });
        Self { now: line.now, quota: line.quota, key }
    }
}
