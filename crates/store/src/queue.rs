//! The queue: selects the jobs that a claim leases.
//!
//! `schema/4.sql` documents what each queue state means, and why the cost of a claim depends on the
//! jobs that it leases and not on the jobs that wait.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use docent_jobs::{ClaimRequest, Row};
use docent_types::{BoxError, JobId, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use crate::error::Abort;
use crate::queue_state::QueueState;
use crate::write_connection::{Job, WriteConnection};
use crate::{concurrency_key, journal, rows};

/// Jobs promoted in one query when many fall due at once.
const PROMOTION_BATCH: u32 = 512;
/// Projects read from the table of queues in one query.
const QUEUES_PER_READ: u32 = 64;

// `place` is a `QueueState` (0 ready, 1 blocked, 2 delayed, 3 leased), `lane` the concurrency key.
const KEY_IS_TAKEN: &str = "SELECT EXISTS (SELECT 1 FROM jobs WHERE lane = ?1 AND place < 4 AND place = 3) OR EXISTS (SELECT 1 FROM jobs WHERE lane = ?1 AND place < 4 AND place = 0 AND project = ?2 AND id < ?3)";
const NEXT_BLOCKED: &str = "SELECT n, project FROM jobs WHERE lane = ?1 AND place < 4 AND place = 1 AND project > ?2 ORDER BY project, id LIMIT 1";
const EXPIRED_LEASES: &str = "SELECT n, body FROM jobs WHERE place = 3 AND lease_until <= ?1 LIMIT ?2";
const DUE_JOBS: &str = "SELECT n, project FROM jobs WHERE place = 2 AND not_before <= ?1 LIMIT ?2";
const LAST_TURN: &str = "SELECT max(last) FROM (SELECT max(served) AS last FROM queues WHERE waiting = 0 UNION ALL SELECT max(served) FROM queues WHERE waiting = 1)";
const WAITING_QUEUES: &str = "SELECT served, project FROM queues WHERE waiting = 1 AND (served, project) > (?1, ?2) AND served <= ?3 ORDER BY served, project LIMIT ?4";
const LEASED_PROJECTS: &str = "SELECT project FROM jobs WHERE lease_until > ?1";
const NEXT_READY: &str =
    "SELECT n, id, not_before, lease_until FROM jobs WHERE place = 0 AND project = ?1 AND id > ?2 ORDER BY id LIMIT 1";
const KEY_IS_HELD: &str = "SELECT EXISTS (SELECT 1 FROM jobs WHERE lane = ?1 AND place < 4 AND place = 3 AND lease_until > ?2) OR EXISTS (SELECT 1 FROM jobs WHERE lane = ?1 AND place < 4 AND place = 0 AND lease_until > ?2)";

/// The queries of a claim, for a test that each is answered by an index.
#[cfg(test)]
pub(crate) const QUERIES: &[&str] = &[
    KEY_IS_TAKEN, NEXT_BLOCKED, EXPIRED_LEASES, DUE_JOBS, LAST_TURN, WAITING_QUEUES, LEASED_PROJECTS, NEXT_READY,
    KEY_IS_HELD,
];

/// The queue state of a new job. If its concurrency key is taken, it is queued behind the key's holder, so that it does
/// not slow down claims. The key of a job on the branch named after it is not checked: another job can hardly have
/// requested that branch before this job existed; if one did, a claim notices.
pub(crate) fn initial_state(connection: &WriteConnection, row: &Row, now: Timestamp) -> Result<QueueState, BoxError> {
    let state = QueueState::of(row, now);
    let Some(key) = concurrency_key::stored(row).filter(|_| state == QueueState::Ready) else { return Ok(state) };
    let project = row.job.project.as_str();
    let is_taken = connection
        .prepare_cached(KEY_IS_TAKEN)?
        .query_row((key, project, row.id().uuid().into_bytes()), |row| row.get(0))?;
    let is_first = |owner: &Job| owner.row.job.project == row.job.project && owner.id() < row.id();
    let is_blocked = is_taken
        || concurrency_key::owner(connection, row)?.is_some_and(|owner| match QueueState::of(&owner.row, now) {
            QueueState::Leased => true,
            QueueState::Ready => is_first(&owner),
            _ => false,
        });
    Ok(if is_blocked { QueueState::Blocked } else { QueueState::Ready })
}

/// Updates the queue after a write to a row that now has this state.
pub(crate) fn update(connection: &WriteConnection, row: &Row, state: QueueState) -> Result<(), BoxError> {
    if state == QueueState::Ready {
        mark_waiting(connection, row.job.project.as_str())?;
    }
    if state != QueueState::Leased {
        unblock(connection, row)?;
    }
    Ok(())
}

/// Marks a project as one that may have a job to lease.
pub(crate) fn mark_waiting(connection: &WriteConnection, project: &str) -> rusqlite::Result<()> {
    if connection.set_waiting(project) {
        connection
            .prepare_cached(
                "INSERT INTO queues (project, waiting, served) VALUES (?1, 1, 0)
             ON CONFLICT (project) DO UPDATE SET waiting = 1 WHERE NOT waiting",
            )?
            .execute([project])?;
    }
    Ok(())
}

/// Updates the queue when the concurrency key of this job is free, or may be: in each project, the oldest job
/// that waits for it becomes ready.
fn unblock(connection: &WriteConnection, row: &Row) -> Result<(), BoxError> {
    let (key, mut last_unblocked) = (concurrency_key::name(row), String::new());
    loop {
        let next: Option<(i64, String)> = connection
            .prepare_cached(NEXT_BLOCKED)?
            .query_row((&key, &last_unblocked), |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((n, project)) = next else { break };
        set_state(connection, n, QueueState::Ready)?;
        mark_waiting(connection, &project)?;
        last_unblocked = project;
    }
    if let Some(owner) = concurrency_key::owner(connection, row)? {
        let unblocked =
            connection.prepare_cached("UPDATE jobs SET place = 0 WHERE n = ?1 AND place = 1")?.execute([owner.n])?;
        if unblocked > 0 {
            mark_waiting(connection, owner.row.job.project.as_str())?;
        }
    }
    Ok(())
}

fn set_state(connection: &Connection, n: i64, state: QueueState) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE jobs SET place = ?2 WHERE n = ?1")?.execute((n, state))?;
    Ok(())
}

/// Leases jobs. `write` writes the next state of a job, and returns the job as written.
pub(crate) fn claim(
    connection: &WriteConnection,
    request: ClaimRequest,
    mut write: impl FnMut(&Job) -> Result<Arc<Job>, Abort<StoreError>>,
) -> Result<Vec<Arc<Job>>, Abort<StoreError>> {
    let mut claimed = Vec::new();
    let mut more = true;
    while more && claimed.len() < request.limit {
        more = promote(connection, request.now)?;
        let mut round = Round::begin(connection, request)?;
        while claimed.len() < request.limit {
            let Some(project) = round.next_project(connection)? else { break };
            let Some(job) = round.next_job(connection, request, &project)? else { continue };
            claimed.push(write(&job)?);
            round.record_served(project);
        }
        round.finish(connection)?;
    }
    Ok(claimed)
}

/// Makes jobs ready whose lease has expired or that have fallen due. Returns whether there may be more.
fn promote(connection: &WriteConnection, now: Timestamp) -> Result<bool, BoxError> {
    let mut expired = connection.prepare_cached(EXPIRED_LEASES)?;
    let expired = expired.query_map((now.millis(), PROMOTION_BATCH), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let expired = expired.collect::<Result<Vec<(i64, String)>, _>>()?;
    for (n, body) in &expired {
        let row: Row = serde_json::from_str(body)?;
        set_state(connection, *n, QueueState::Ready)?;
        mark_waiting(connection, row.job.project.as_str())?;
        unblock(connection, &row)?;
    }
    let mut due = connection.prepare_cached(DUE_JOBS)?;
    let due = due.query_map((now.millis(), PROMOTION_BATCH), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let due = due.collect::<Result<Vec<(i64, String)>, _>>()?;
    for (n, project) in &due {
        set_state(connection, *n, QueueState::Ready)?;
        mark_waiting(connection, project)?;
    }
    Ok(expired.len().max(due.len()) >= PROMOTION_BATCH as usize)
}

/// One round of turns: first the waiting projects, by when they were last served, then those served in this round
/// again.
struct Round {
    turn: u64,
    begun: u64,
    next: VecDeque<String>,
    /// The last queue read; `None` at the end of the list.
    last_queue: Option<(i64, String)>,
    again: VecDeque<String>,
    /// The turn in which each project was last served, in this round.
    served: HashMap<String, u64>,
    /// Unexpired leases by project.
    running: HashMap<String, usize>,
}

impl Round {
    fn begin(connection: &Connection, request: ClaimRequest) -> rusqlite::Result<Self> {
        let turn: Option<u64> = connection.prepare_cached(LAST_TURN)?.query_row([], |row| row.get(0))?;
        let turn = turn.unwrap_or_default();
        let mut running = HashMap::new();
        if request.cap_per_project < usize::MAX {
            let mut select = connection.prepare_cached(LEASED_PROJECTS)?;
            let mut rows = select.query([request.now.millis()])?;
            while let Some(row) = rows.next()? {
                let project = row.get_ref(0)?.as_str()?;
                match running.get_mut(project) {
                    Some(count) => *count += 1,
                    None => drop(running.insert(project.to_owned(), 1)),
                }
            }
        }
        let (next, again, served) = Default::default();
        Ok(Self { turn, begun: turn, next, last_queue: Some((-1, String::new())), again, served, running })
    }

    fn next_project(&mut self, connection: &Connection) -> rusqlite::Result<Option<String>> {
        if self.next.is_empty()
            && let Some(last) = self.last_queue.take()
        {
            let mut select = connection.prepare_cached(WAITING_QUEUES)?;
            let page = select
                .query_map((last.0, last.1, self.begun, QUEUES_PER_READ), |row| Ok((row.get(0)?, row.get(1)?)))?;
            let page = page.collect::<Result<Vec<(i64, String)>, _>>()?;
            self.last_queue = page.last().filter(|_| page.len() == QUEUES_PER_READ as usize).cloned();
            self.next.extend(page.into_iter().map(|(_, project)| project));
        }
        Ok(self.next.pop_front().or_else(|| self.again.pop_front()))
    }

    /// The oldest job of a project that may be leased.
    fn next_job(
        &mut self,
        connection: &WriteConnection,
        request: ClaimRequest,
        project: &str,
    ) -> Result<Option<Arc<Job>>, Abort<StoreError>> {
        let running = self.running.get(project).copied().unwrap_or_default();
        if running >= request.cap_per_project {
            return Ok(None);
        }
        let found = first_unblocked(connection, request.now, project)?;
        if found.is_some() {
            self.running.insert(project.to_owned(), running + 1);
        }
        Ok(found)
    }

    fn record_served(&mut self, project: String) {
        self.turn += 1;
        self.served.insert(project.clone(), self.turn);
        self.again.push_back(project);
    }

    fn finish(&self, connection: &Connection) -> rusqlite::Result<()> {
        for (project, turn) in &self.served {
            connection.prepare_cached("UPDATE queues SET served = ?2 WHERE project = ?1")?.execute((project, turn))?;
        }
        Ok(())
    }
}

/// The first ready job of a project whose concurrency key is free. Jobs in front of it whose key is held become
/// blocked.
fn first_unblocked(connection: &WriteConnection, now: Timestamp, project: &str) -> Result<Option<Arc<Job>>, BoxError> {
    let mut last_passed = None;
    loop {
        let ready = connection
            .prepare_cached(NEXT_READY)?
            .query_row((project, last_passed.unwrap_or_default()), |row| {
                Ok((row.get(0)?, row.get::<_, [u8; 16]>(1)?, row.get::<_, i64>(2)?, row.get::<_, Option<i64>>(3)?))
            })
            .optional()?;
        let Some((n, id, not_before, lease_until)) = ready else {
            if last_passed.is_none() {
                let mut rest = connection.prepare_cached("UPDATE queues SET waiting = 0 WHERE project = ?1")?;
                rest.execute([project])?;
                connection.clear_waiting(project);
            }
            return Ok(None);
        };
        if lease_until.is_some_and(|until| until > now.millis()) {
            // Made ready by a process whose clock is ahead. By this clock, its lease has not expired.
            set_state(connection, n, QueueState::Leased)?;
        } else if not_before > now.millis() {
            last_passed = Some(id);
        } else {
            let Some(job) = with_journal(connection, JobId::new(Uuid::from_bytes(id)))? else { return Ok(None) };
            if !is_held(connection, &job.row, now)? {
                return Ok(Some(job));
            }
            set_state(connection, n, QueueState::Blocked)?;
        }
    }
}

/// A job with its journal, which its worker will read first.
fn with_journal(connection: &WriteConnection, id: JobId) -> Result<Option<Arc<Job>>, BoxError> {
    let Some(job) = rows::find(connection, id)? else { return Ok(None) };
    if job.journal.is_some() || job.row.pruned_to > 0 {
        return Ok(Some(job));
    }
    let journal = journal::short(connection, id, job.row.last_seq)?;
    Ok(Some(Arc::new(Job { n: job.n, row: job.row.clone(), journal })))
}

fn is_held(connection: &WriteConnection, row: &Row, now: Timestamp) -> Result<bool, BoxError> {
    let has_live_lease = |owner: Arc<Job>| owner.row.lease.as_ref().is_some_and(|lease| lease.until > now);
    let held = connection
        .prepare_cached(KEY_IS_HELD)?
        .query_row((concurrency_key::name(row), now.millis()), |row| row.get(0))?;
    Ok(held || concurrency_key::owner(connection, row)?.is_some_and(has_live_lease))
}
