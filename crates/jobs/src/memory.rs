//! The store in memory: the same promises except durability, for tests and experiments.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{AgentJob, JobId, JobStatus, ProjectId, Quota, QuotaStatus, StoreError, Timestamp};
use parking_lot::Mutex;

use crate::entry::{Entry, EntryBody};
use crate::outbox::{DeliveryAttempt, HookState, Outbox, OutboxEvent, QueuedEvent};
use crate::row::Row;
use crate::search::{FoundJob, FoundJobs, JobChoice, JobSearch, contains_folded, prompt};
use crate::state;
use crate::store::{
    Change, ClaimRequest, Decision, IdempotencyKey, JobQuery, Pruned, Pruning, Store, WriteError, WriteGuards,
    WriteOutcome,
};

/// Jobs and journals in memory, behind one mutex.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    jobs: BTreeMap<JobId, Job>,
    /// When each project was last served, as a running count of jobs claimed.
    served: HashMap<ProjectId, u64>,
    claims: u64,
    uses: HashMap<String, VecDeque<Timestamp>>,
    answers: HashMap<(String, String), StoredAnswer>,
    hooks: BTreeMap<String, HookQueue>,
}

#[derive(Debug, Default)]
struct HookQueue {
    last: Option<DeliveryAttempt>,
    /// By their ids.
    events: BTreeMap<String, QueuedEvent>,
}

#[derive(Debug)]
struct Job {
    row: Row,
    journal: Vec<Entry>,
    ended_at: Option<Timestamp>,
    /// The first instruction; deleted with the journal.
    prompt: Option<String>,
}

impl Job {
    fn prompt(&self) -> Option<&String> {
        self.prompt.as_ref().filter(|_| self.row.pruned_to == 0)
    }
}

#[derive(Debug)]
struct StoredAnswer {
    fingerprint: [u8; 32],
    job: Arc<AgentJob>,
    until: Timestamp,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }
}

impl Tables {
    /// The first answer to this key, while it is remembered.
    fn repeated_outcome(&self, guards: &WriteGuards) -> Result<Option<WriteOutcome>, WriteError> {
        let Some(key) = &guards.key else { return Ok(None) };
        match self.answers.get(&(key.scope.clone(), key.key.clone())) {
            Some(answer) if answer.until <= guards.now => Ok(None),
            Some(answer) if answer.fingerprint != key.fingerprint => Err(WriteError::KeyReused),
            Some(answer) => {
                Ok(Some(WriteOutcome { job: answer.job.clone(), row: None, repeat: true, quota_status: None }))
            }
            None => Ok(None),
        }
    }

    fn remember(&mut self, key: IdempotencyKey, now: Timestamp, job: &Arc<AgentJob>) {
        self.answers.retain(|_, answer| answer.until > now);
        let answer = StoredAnswer { fingerprint: key.fingerprint, job: Arc::clone(job), until: now.plus(key.keep) };
        self.answers.insert((key.scope, key.key), answer);
    }

    /// Refuses with the quota's status, which has the wait, if the quota is used up.
    fn admit(&self, quota: &Quota, now: Timestamp) -> Result<(), WriteError> {
        let quota_status = self.uses.get(&quota.bucket).map(|uses| status(quota, uses, now));
        let quota_status = quota_status.unwrap_or_else(|| status(quota, &VecDeque::new(), now));
        if quota_status.remaining == 0 { Err(WriteError::Limited(quota_status)) } else { Ok(()) }
    }

    fn count(&mut self, quota: &Quota, now: Timestamp) -> Result<QuotaStatus, WriteError> {
        self.admit(quota, now)?;
        let uses = self.uses.entry(quota.bucket.clone()).or_default();
        // Twice the window, so that a process whose clock is behind still counts every use in its window.
        let cutoff = now.minus(quota.window.saturating_mul(2));
        uses.retain(|at| *at > cutoff);
        let index = uses.partition_point(|at| *at <= now);
        uses.insert(index, now);
        Ok(status(quota, uses, now))
    }

    fn write(&mut self, mut row: Row, seq: u64, now: Timestamp, bodies: Vec<EntryBody>) -> Arc<AgentJob> {
        row.last_seq = seq + bodies.len() as u64;
        let job = row.job.clone();
        if let Some(event) = self.jobs.get(&row.id()).and_then(|before| OutboxEvent::of(&before.row, &row, now)) {
            for queue in self.hooks.values_mut() {
                queue.events.insert(event.id(), QueuedEvent { event: event.clone(), failed: 0, due: now });
            }
        }
        let slot = self.jobs.entry(row.id());
        let slot = slot.or_insert_with(|| Job {
            row: row.clone(),
            journal: Vec::new(),
            ended_at: None,
            prompt: prompt(&bodies),
        });
        slot.journal.extend((seq + 1..).zip(bodies).map(|(seq, body)| Entry { seq, at: now, body }));
        slot.ended_at = (job.status != JobStatus::Active).then(|| slot.ended_at.unwrap_or(now));
        slot.row = row;
        job
    }

    /// The job to claim next.
    fn next(&self, request: ClaimRequest) -> Option<&Row> {
        let now = request.now;
        let leased = || self.jobs.values().map(|job| &job.row).filter(|row| is_leased(row, now));
        let leased_keys: HashSet<_> = leased().map(Row::concurrency_key).collect();
        let mut running = HashMap::<_, usize>::new();
        leased().for_each(|row| *running.entry(&row.job.project).or_default() += 1);
        let free = self.jobs.values().map(|job| &job.row).filter(|row| {
            row.job.status == JobStatus::Active
                && row.attempt.not_before <= now
                && !leased_keys.contains(&row.concurrency_key())
                && running.get(&row.job.project).copied().unwrap_or(0) < request.cap_per_project
        });
        free.min_by_key(|row| (self.served.get(&row.job.project), &row.job.project, row.id()))
    }

    /// Ended jobs, in the order in which they ended.
    fn ended(&self, before: Option<Timestamp>) -> Vec<JobId> {
        let Some(before) = before else { return Vec::new() };
        let ended = self.jobs.iter().filter_map(|(id, job)| Some((job.ended_at.filter(|at| *at < before)?, *id)));
        let mut ended: Vec<_> = ended.collect();
        ended.sort_unstable();
        ended.into_iter().map(|(_, id)| id).collect()
    }
}

/// The quota's status. `uses` are sorted, oldest first.
fn status(quota: &Quota, uses: &VecDeque<Timestamp>, now: Timestamp) -> QuotaStatus {
    let start = now.minus(quota.window);
    let first = uses.partition_point(|at| *at <= start);
    let (used, limit) = (uses.len() - first, quota.limit as usize);
    let remaining = u32::try_from(limit.saturating_sub(used)).unwrap_or(u32::MAX);
    let retry_after = match used.checked_sub(limit) {
        None => Duration::ZERO,
        Some(over) => {
            let free_at = uses.get(first + over).map(|at| at.plus(quota.window));
            // A use written by a process whose clock is ahead would yield a longer wait than the window.
            free_at.map_or(quota.window, |at| at.since(now).min(quota.window))
        }
    };
    QuotaStatus { limit: quota.limit, window: quota.window, remaining, retry_after }
}

fn is_leased(row: &Row, now: Timestamp) -> bool {
    row.lease.as_ref().is_some_and(|lease| lease.until > now)
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, guards: WriteGuards) -> Result<WriteOutcome, WriteError> {
        let mut tables = self.tables.lock();
        if let Some(written) = tables.repeated_outcome(&guards)? {
            return Ok(written);
        }
        if let Some(quota) = &guards.quota {
            tables.admit(quota, guards.now)?;
        }
        if tables.jobs.contains_key(&row.id()) {
            return Err(StoreError::new("create the job", format!("the id {} is taken", row.id())).into());
        }
        let quota_status = guards.quota.as_ref().map(|quota| tables.count(quota, guards.now)).transpose()?;
        let job = tables.write(row, 0, guards.now, entries);
        if let Some(key) = guards.key {
            tables.remember(key, guards.now, &job);
        }
        let row = tables.jobs.get(&job.id).map(|job| job.row.clone());
        Ok(WriteOutcome { job, row, repeat: false, quota_status })
    }

    async fn change(&self, id: JobId, guards: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError> {
        let mut tables = self.tables.lock();
        if let Some(written) = tables.repeated_outcome(&guards)? {
            return Ok(written);
        }
        let row = &tables.jobs.get(&id).ok_or(WriteError::NotFound)?.row;
        let seq = row.last_seq;
        let Change { next, entries } = decide(row).map_err(WriteError::Refused)?;
        let quota_status = guards.quota.as_ref().map(|quota| tables.count(quota, guards.now)).transpose()?;
        let job = tables.write(next, seq, guards.now, entries);
        if let Some(key) = guards.key {
            tables.remember(key, guards.now, &job);
        }
        let row = tables.jobs.get(&job.id).map(|job| job.row.clone());
        Ok(WriteOutcome { job, row, repeat: false, quota_status })
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        let mut tables = self.tables.lock();
        let row = tables.jobs.get(&id).map(|job| job.row.clone()).ok_or(WriteError::NotFound)?;
        let Change { next, entries } = decide(&row).map_err(WriteError::Refused)?;
        tables.write(next, row.last_seq, now, entries);
        tables.jobs.get(&id).map(|job| job.row.clone()).ok_or(WriteError::NotFound)
    }

    async fn claim(&self, request: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        let mut tables = self.tables.lock();
        let mut claimed = Vec::new();
        while claimed.len() < request.limit {
            let Some(row) = tables.next(request).cloned() else { break };
            let Change { next, entries } = decide(&row).map_err(|refusal| StoreError::new("lease a job", refusal))?;
            tables.write(next, row.last_seq, request.now, entries);
            tables.claims += 1;
            let claims = tables.claims;
            tables.served.insert(row.job.project.clone(), claims);
            claimed.extend(tables.jobs.get(&row.id()).map(|job| job.row.clone()));
        }
        Ok(claimed)
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        Ok(self.tables.lock().jobs.get(&id).map(|job| job.row.clone()))
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let tables = self.tables.lock();
        let journal = tables.jobs.get(&id).map_or(&[][..], |job| &job.journal);
        Ok(journal.iter().filter(|entry| entry.seq > after).take(limit as usize).cloned().collect())
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        let tables = self.tables.lock();
        let fits = |job: &&AgentJob| {
            job.project == query.project
                && query.status.is_none_or(|status| job.status == status)
                && query.after.is_none_or(|after| job.id < after)
        };
        let newest_first = tables.jobs.values().rev().map(|job| &*job.row.job).filter(fits);
        Ok(newest_first.skip(query.skip as usize).take(query.limit as usize).cloned().collect())
    }

    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError> {
        let tables = self.tables.lock();
        let folded = search.text.to_lowercase();
        let mut choice = JobChoice::new(&search);
        for (id, job) in &tables.jobs {
            if search.projects.contains(&job.row.job.project)
                && search.from.is_none_or(|from| *id >= from)
                && search.to.is_none_or(|to| *id < to)
                && (folded.is_empty() || job.prompt().is_some_and(|prompt| contains_folded(prompt, &folded)))
            {
                choice.examine(*id, job.row.job.status);
            }
        }
        choice.page(|id| {
            let found = |job: &Job| FoundJob { job: (*job.row.job).clone(), prompt: job.prompt().cloned() };
            Ok(tables.jobs.get(&id).map(found))
        })
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let tables = self.tables.lock();
        let active = tables.jobs.values().map(|job| &job.row).filter(|row| row.job.status == JobStatus::Active);
        let due = active.map(|row| match &row.lease {
            Some(lease) if lease.until > now => lease.until,
            _ => row.attempt.not_before,
        });
        Ok(due.filter(|moment| *moment > now).min())
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        let tables = self.tables.lock();
        Ok(tables.jobs.values().map(|job| &job.row).filter(|row| row.lease.is_some()).map(Row::id).collect())
    }

    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError> {
        let mut tables = self.tables.lock();
        let mut pruned = Pruned::default();
        let mut remaining = pruning.limit;
        for id in tables.ended(pruning.journals_before.max(pruning.jobs_before)) {
            let Some(job) = tables.jobs.get_mut(&id) else { continue };
            let pruned_count = job.journal.len().saturating_sub(1).min(remaining);
            let upto = job.row.pruned_to + pruned_count as u64;
            job.row = state::prune(&job.row, upto).map_err(|refusal| StoreError::new("prune a journal", refusal))?;
            job.journal.drain(..pruned_count);
            pruned.entries += pruned_count;
            remaining -= pruned_count;
            pruned.more |= job.journal.len() > 1;
        }
        for id in tables.ended(pruning.jobs_before) {
            let has_entries = tables.jobs.get(&id).is_some_and(|job| job.journal.len() > 1);
            if remaining == 0 || has_entries {
                pruned.more = true;
                break;
            }
            tables.jobs.remove(&id);
            pruned.jobs += 1;
            remaining -= 1;
        }
        Ok(pruned)
    }

    fn changes(&self) -> Option<u64> {
        Some(0)
    }
}

#[async_trait]
impl Outbox for MemoryStore {
    async fn set_hooks(&self, hooks: Vec<String>) -> Result<(), StoreError> {
        let mut tables = self.tables.lock();
        tables.hooks.retain(|hook, _| hooks.contains(hook));
        for hook in hooks {
            tables.hooks.entry(hook).or_default();
        }
        Ok(())
    }

    async fn queued(&self, hook: &str, limit: u32) -> Result<Vec<QueuedEvent>, StoreError> {
        let tables = self.tables.lock();
        let mut events: Vec<_> = tables.hooks.get(hook).into_iter().flat_map(|queue| &queue.events).collect();
        events.sort_by_key(|(id, queued)| (queued.due, *id));
        Ok(events.into_iter().take(limit as usize).map(|(_, queued)| queued.clone()).collect())
    }

    async fn attempted(
        &self,
        hook: &str,
        event: String,
        attempt: DeliveryAttempt,
        retry_at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let mut tables = self.tables.lock();
        let Some(queue) = tables.hooks.get_mut(hook) else { return Ok(()) };
        queue.last = Some(attempt);
        match retry_at {
            None => drop(queue.events.remove(&event)),
            Some(retry_at) => {
                if let Some(queued) = queue.events.get_mut(&event) {
                    queued.failed += 1;
                    queued.due = retry_at;
                }
            }
        }
        Ok(())
    }

    async fn hook_states(&self) -> Result<Vec<HookState>, StoreError> {
        let state = |(hook, queue): (&String, &HookQueue)| HookState {
            hook: hook.clone(),
            queued: queue.events.len() as u64,
            last: queue.last.clone(),
        };
        Ok(self.tables.lock().hooks.iter().map(state).collect())
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
        conformance::outbox(|| async { Arc::new(MemoryStore::new()) }).await;
    }
}
