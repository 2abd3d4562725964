//! The store's twin in memory: the same promises except survival, for tests and for trying things out.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{AgentJob, JobId, JobStatus, Quota, Standing, StoreError, Timestamp};

use crate::entry::{Entry, EntryBody};
use crate::row::Row;
use crate::store::{Change, Decide, Gate, IdempotencyKey, JobQuery, Store, WriteError, Written};

/// Jobs and journals in memory, behind one mutex.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    jobs: BTreeMap<JobId, (Row, Vec<Entry>)>,
    uses: HashMap<String, VecDeque<Timestamp>>,
    answers: HashMap<(String, String), Answer>,
}

#[derive(Debug)]
struct Answer {
    fingerprint: [u8; 32],
    job: AgentJob,
    until: Timestamp,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The first answer given to this key, while it is remembered.
    fn answered(&self, gate: &Gate) -> Result<Option<Written>, WriteError> {
        let Some(key) = &gate.key else { return Ok(None) };
        match self.answers.get(&(key.scope.clone(), key.key.clone())) {
            Some(answer) if answer.until <= gate.now => Ok(None),
            Some(answer) if answer.fingerprint != key.fingerprint => Err(WriteError::KeyReused),
            Some(answer) => Ok(Some(Written { job: answer.job.clone(), repeat: true, standing: None })),
            None => Ok(None),
        }
    }

    fn remember(&mut self, key: IdempotencyKey, now: Timestamp, job: &AgentJob) {
        self.answers.retain(|_, answer| answer.until > now);
        let answer = Answer { fingerprint: key.fingerprint, job: job.clone(), until: now.plus(key.keep) };
        self.answers.insert((key.scope, key.key), answer);
    }

    /// Counts one use, or says how long until there is one.
    fn count(&mut self, quota: &Quota, now: Timestamp) -> Result<Standing, WriteError> {
        let uses = self.uses.entry(quota.bucket.clone()).or_default();
        let start = now.minus(quota.window);
        uses.retain(|at| *at > start);
        let limit = quota.limit as usize;
        if uses.len() >= limit {
            return Err(WriteError::Limited(stand(quota, uses, now)));
        }
        let place = uses.partition_point(|at| *at <= now);
        uses.insert(place, now);
        Ok(stand(quota, uses, now))
    }

    fn write(&mut self, mut row: Row, seq: u64, now: Timestamp, bodies: Vec<EntryBody>) -> AgentJob {
        row.last_seq = seq + bodies.len() as u64;
        let job = row.job.clone();
        let slot = self.jobs.entry(row.id()).or_insert_with(|| (row.clone(), Vec::new()));
        slot.1.extend((seq + 1..).zip(bodies).map(|(seq, body)| Entry { seq, at: now, body }));
        slot.0 = row;
        job
    }
}

/// `uses` are those inside the window, oldest first.
fn stand(quota: &Quota, uses: &VecDeque<Timestamp>, now: Timestamp) -> Standing {
    let limit = quota.limit as usize;
    let remaining = u32::try_from(limit.saturating_sub(uses.len())).unwrap_or(u32::MAX);
    let retry_after = match uses.len().checked_sub(limit) {
        None => Duration::ZERO,
        Some(over) => uses.get(over).map_or(quota.window, |at| at.plus(quota.window).since(now)),
    };
    Standing { limit: quota.limit, window: quota.window, remaining, retry_after }
}

fn is_living(row: &Row, now: Timestamp) -> bool {
    row.lease.as_ref().is_some_and(|lease| lease.until > now)
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, gate: Gate) -> Result<Written, WriteError> {
        let mut state = self.state();
        if let Some(written) = state.answered(&gate)? {
            return Ok(written);
        }
        if state.jobs.contains_key(&row.id()) {
            return Err(StoreError::new("create the job", format!("the id {} is taken", row.id())).into());
        }
        let standing = gate.quota.as_ref().map(|quota| state.count(quota, gate.now)).transpose()?;
        let job = state.write(row, 0, gate.now, entries);
        if let Some(key) = gate.key {
            state.remember(key, gate.now, &job);
        }
        Ok(Written { job, repeat: false, standing })
    }

    async fn change(&self, id: JobId, gate: Gate, decide: Decide) -> Result<Written, WriteError> {
        let mut state = self.state();
        if let Some(written) = state.answered(&gate)? {
            return Ok(written);
        }
        let (row, _) = state.jobs.get(&id).ok_or(WriteError::NotFound)?;
        let seq = row.last_seq;
        let Change { next, entries } = decide(row).map_err(WriteError::Refused)?;
        let standing = gate.quota.as_ref().map(|quota| state.count(quota, gate.now)).transpose()?;
        let job = state.write(next, seq, gate.now, entries);
        if let Some(key) = gate.key {
            state.remember(key, gate.now, &job);
        }
        Ok(Written { job, repeat: false, standing })
    }

    async fn claim(&self, now: Timestamp, decide: Decide) -> Result<Option<Row>, StoreError> {
        let mut state = self.state();
        let rows = || state.jobs.values().map(|(row, _)| row);
        let held: HashSet<_> = rows().filter(|row| is_living(row, now)).map(Row::lane).collect();
        let free = rows().find(|row| {
            row.job.status == JobStatus::Active && row.attempt.not_before <= now && !held.contains(&row.lane())
        });
        let Some(row) = free else { return Ok(None) };
        let (id, seq) = (row.id(), row.last_seq);
        let Change { next, entries } = decide(row).map_err(|refusal| StoreError::new("lease a job", refusal))?;
        state.write(next, seq, now, entries);
        Ok(state.jobs.get(&id).map(|(row, _)| row.clone()))
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        Ok(self.state().jobs.get(&id).map(|(row, _)| row.clone()))
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let state = self.state();
        let journal = state.jobs.get(&id).map_or(&[][..], |(_, journal)| journal);
        Ok(journal.iter().filter(|entry| entry.seq > after).take(limit as usize).cloned().collect())
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        let state = self.state();
        let fits = |job: &&AgentJob| {
            job.project == query.project
                && query.status.is_none_or(|status| job.status == status)
                && query.after.is_none_or(|after| job.id < after)
        };
        let newest_first = state.jobs.values().rev().map(|(row, _)| &row.job).filter(fits);
        Ok(newest_first.skip(query.skip as usize).take(query.limit as usize).cloned().collect())
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let state = self.state();
        let active = state.jobs.values().map(|(row, _)| row).filter(|row| row.job.status == JobStatus::Active);
        let due = active.map(|row| match &row.lease {
            Some(lease) if lease.until > now => lease.until,
            _ => row.attempt.not_before,
        });
        Ok(due.filter(|moment| *moment > now).min())
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        let state = self.state();
        Ok(state.jobs.values().map(|(row, _)| row).filter(|row| row.lease.is_some()).map(Row::id).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conformance;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn keeps_the_promises_of_a_store() {
        conformance::run(|| async { Arc::new(MemoryStore::new()) as Arc<dyn Store> }).await;
    }
}
