//! The queue: selects the jobs that a claim leases.
//!
//! Claims of all nodes take turns, by a lock that each holds until it is committed. So the order of projects, the limit of
//! each and the rule of one lease a key are decided as if there were one node. A node has one claim under way at a time and
//! leases as many jobs with it as it has room for, so the lock is no bottleneck. A job that another transaction changes at
//! that moment is passed over with those of its branch, and not waited for.

use std::collections::{HashMap, HashSet, VecDeque};

use docent_jobs::{ClaimRequest, Decision, Row};
use docent_types::{BoxError, JobStatus, StoreError, Timestamp};
use futures::future::{join, join3};
use uuid::Uuid;

use crate::error::Abort;
use crate::params::params;
use crate::rows::{self, RowWrite};
use crate::transaction::Transaction;

/// Most jobs leased by one claim. Turns are numbered within it, so it is below the increment of the sequence.
const MAX_JOBS: usize = 1000;

/// The leases: whose, whether unexpired, and whether the job could be leased again.
const LEASES: &str =
    "SELECT job, project, key, lease_until > $1, is_active AND not_before <= $1 FROM queue WHERE is_leased";
/// The projects with a job that waits or whose lease has expired, in the order of their turns. From each waiting project the
/// index leads to the next one, past its jobs.
const PROJECTS: &str = "
    WITH RECURSIVE waiting AS (
        (SELECT project FROM queue WHERE is_active AND NOT is_leased ORDER BY project LIMIT 1)
        UNION ALL
        SELECT (SELECT queue.project FROM queue
                WHERE is_active AND NOT is_leased AND queue.project > waiting.project ORDER BY queue.project LIMIT 1)
        FROM waiting WHERE waiting.project IS NOT NULL
    ), projects AS (
        SELECT project FROM waiting WHERE project IS NOT NULL
        UNION
        SELECT project FROM queue WHERE is_leased AND is_active AND lease_until <= $1
    )
    SELECT projects.project FROM projects LEFT JOIN project_turns USING (project)
    ORDER BY coalesce(project_turns.served, 0), projects.project";
/// A page of the waiting jobs of each project, behind a job, that are due and whose key is free.
const WAITING: &str = "
    SELECT asked.project, found.job, found.key FROM unnest($1, $2) AS asked (project, behind)
    CROSS JOIN LATERAL (
        SELECT job, key FROM queue
        WHERE is_active AND NOT is_leased AND project = asked.project AND job > asked.behind AND not_before <= $3
          AND key <> ALL ($4)
        ORDER BY job LIMIT $5
    ) AS found
    ORDER BY found.job";
/// The number of a turn is drawn once, and each project adds its place in it.
const SERVE: &str = "
    INSERT INTO project_turns (project, served)
    SELECT project, turn.number + place
    FROM (SELECT nextval('turn_numbers') AS number) AS turn, unnest($1) WITH ORDINALITY AS served (project, place)
    ON CONFLICT (project) DO UPDATE SET served = excluded.served";

/// Leases jobs; returns them as written, in the order in which they were claimed.
pub(crate) async fn claim(
    transaction: &Transaction,
    request: ClaimRequest,
    decide: Decision,
) -> Result<Vec<Row>, Abort<StoreError>> {
    let mut round = Round::begin(transaction, request).await?;
    let mut claimed = Vec::new();
    loop {
        let chosen = round.choose(transaction, request.limit.min(MAX_JOBS) - claimed.len()).await?;
        if chosen.is_empty() {
            break;
        }
        let mut rows = rows::lock_free(transaction, chosen.iter().map(|chosen| chosen.job).collect()).await?;
        for chosen in chosen {
            match rows.remove(&chosen.job) {
                Some(row) if is_claimable(&row, request.now) => claimed.push(row),
                // It was changed between the look and the lock.
                Some(_) => round.pass_over(&chosen, true),
                // Another transaction has locked it. Until that has ended, it comes before the others of its branch.
                None => round.pass_over(&chosen, false),
            }
        }
    }
    lease(transaction, request.now, &decide, &claimed).await
}

/// Writes the leases, and whose turn it was.
async fn lease(
    transaction: &Transaction,
    now: Timestamp,
    decide: &Decision,
    rows: &[Row],
) -> Result<Vec<Row>, Abort<StoreError>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let write = |row| Ok(RowWrite { row, change: decide(row)?, now });
    let writes = rows.iter().map(write).collect::<Result<_, BoxError>>()?;
    let mut served: Vec<&str> = Vec::new();
    for row in rows {
        let project = row.job.project.as_str();
        served.retain(|other| *other != project);
        served.push(project);
    }
    let params = params![served];
    let (leased, served) = join(rows::apply_all(transaction, writes), transaction.execute(SERVE, params)).await;
    served?;
    Ok(leased?)
}

fn is_claimable(row: &Row, now: Timestamp) -> bool {
    row.job.status == JobStatus::Active
        && row.attempt.not_before <= now
        && row.lease.as_ref().is_none_or(|lease| lease.until <= now)
}

/// A job that is to be leased.
#[derive(Debug)]
struct Chosen {
    job: Uuid,
    key: i64,
    project: String,
}

/// A project's jobs that may be leased.
#[derive(Debug)]
struct Queue {
    project: String,
    /// The number of its unexpired leases, those of this round included.
    running: usize,
    /// The next waiting jobs and their keys, the oldest first, and the job behind which more may wait.
    waiting: VecDeque<(Uuid, i64)>,
    behind: Option<Uuid>,
    /// The jobs whose lease has expired, the oldest first.
    expired: VecDeque<(Uuid, i64)>,
}

impl Queue {
    /// Whether more of its jobs must be read before the oldest is known.
    fn is_to_be_read(&self) -> bool {
        self.waiting.is_empty() && self.behind.is_some()
    }

    /// The oldest job.
    fn pop(&mut self) -> Option<(Uuid, i64)> {
        let is_expired_older = match (self.waiting.front(), self.expired.front()) {
            (Some((waiting, _)), Some((expired, _))) => expired < waiting,
            (waiting, _) => waiting.is_none(),
        };
        if is_expired_older { self.expired.pop_front() } else { self.waiting.pop_front() }
    }
}

/// The projects, in the order of their turns: a project that was served is served again after all others.
#[derive(Debug)]
struct Round {
    request: ClaimRequest,
    queues: VecDeque<Queue>,
    /// The keys of unexpired leases, those of this round included.
    held: HashSet<i64>,
}

impl Round {
    async fn begin(transaction: &Transaction, request: ClaimRequest) -> Result<Self, BoxError> {
        let now = request.now.millis();
        let params = params![now];
        // In one round trip. The other statements begin, and look, when the lock is held.
        let lock = transaction.lock("claims", "");
        let (locked, leases, projects) =
            join3(lock, transaction.query(LEASES, params), transaction.query(PROJECTS, params)).await;
        locked?;
        let (mut running, mut expired) = (HashMap::<String, usize>::new(), HashMap::<String, Vec<(Uuid, i64)>>::new());
        let mut held = HashSet::new();
        for lease in leases? {
            let (job, project, key): (Uuid, String, i64) = (lease.get(0), lease.get(1), lease.get(2));
            if lease.get(3) {
                *running.entry(project).or_default() += 1;
                held.insert(key);
            } else if lease.get(4) {
                expired.entry(project).or_default().push((job, key));
            }
        }
        let queue = |project: String| {
            let mut expired = expired.remove(&project).unwrap_or_default();
            expired.sort_unstable();
            let running = running.get(&project).copied().unwrap_or_default();
            Queue { project, running, waiting: VecDeque::new(), behind: Some(Uuid::nil()), expired: expired.into() }
        };
        let queues = projects?.iter().map(|record| record.get(0)).map(queue).collect();
        let mut round = Self { request, queues, held };
        round.queues.retain(|queue| queue.running < request.cap_per_project);
        round.fetch(transaction, request.limit).await?;
        Ok(round)
    }

    /// Reads a page of waiting jobs for the first projects that have none left, so many that together they have `jobs`.
    async fn fetch(&mut self, transaction: &Transaction, jobs: usize) -> Result<(), BoxError> {
        let held: Vec<i64> = self.held.iter().copied().collect();
        let first = self.queues.iter_mut().take(jobs);
        let mut empty: Vec<&mut Queue> = first.filter(|queue| queue.is_to_be_read()).collect();
        if empty.is_empty() {
            return Ok(());
        }
        let page = jobs.div_ceil(empty.len()) + 1;
        let (projects, behind): (Vec<&str>, Vec<Uuid>) =
            empty.iter().map(|queue| (&*queue.project, queue.behind.unwrap_or(Uuid::max()))).unzip();
        let (now, limit) = (self.request.now.millis(), i64::try_from(page)?);
        let found = transaction.query(WAITING, params![projects, behind, now, held, limit]).await?;
        let mut pages = HashMap::<String, VecDeque<(Uuid, i64)>>::new();
        for record in &found {
            pages.entry(record.get(0)).or_default().push_back((record.get(1), record.get(2)));
        }
        for queue in &mut empty {
            let waiting = pages.remove(&queue.project).unwrap_or_default();
            queue.behind = waiting.back().map(|(job, _)| *job).filter(|_| waiting.len() == page);
            queue.waiting = waiting;
        }
        Ok(())
    }

    /// The next jobs, at most `limit`.
    async fn choose(&mut self, transaction: &Transaction, limit: usize) -> Result<Vec<Chosen>, BoxError> {
        let mut chosen = Vec::new();
        while chosen.len() < limit
            && let Some(first) = self.queues.front()
        {
            if first.is_to_be_read() {
                self.fetch(transaction, limit - chosen.len()).await?;
            }
            let Some(mut queue) = self.queues.pop_front() else { break };
            if queue.running >= self.request.cap_per_project {
                continue;
            }
            match queue.pop() {
                Some((_, key)) if self.held.contains(&key) => self.queues.push_front(queue),
                Some((job, key)) => {
                    self.held.insert(key);
                    queue.running += 1;
                    chosen.push(Chosen { job, key, project: queue.project.clone() });
                    self.queues.push_back(queue);
                }
                None => {}
            }
        }
        Ok(chosen)
    }

    /// Takes back the choice of a job, and of its key, too, if the jobs behind it may have it.
    fn pass_over(&mut self, chosen: &Chosen, frees_key: bool) {
        if frees_key {
            self.held.remove(&chosen.key);
        }
        if let Some(queue) = self.queues.iter_mut().find(|queue| queue.project == chosen.project) {
            queue.running -= 1;
        }
    }
}
