//! The port to jobs and journals.

use std::sync::Arc;

use async_trait::async_trait;
use docent_jobs::{
    Change, ClaimRequest, Decision, Entry, EntryBody, FoundJobs, JobQuery, JobSearch, Pruned, Pruning, Row, Store,
    WriteError, WriteGuards, WriteOutcome,
};
use docent_types::{AgentJob, BoxError, JobId, JobStatus, StoreError, Timestamp};
use rusqlite::{Connection, ToSql};
use uuid::Uuid;

use crate::error::Abort;
use crate::queue_state::QueueState;
use crate::rows::PreparedJob;
use crate::sqlite::SqliteStore;
use crate::transaction::{Decides, Durability};
use crate::write_connection::{Job, WriteConnection};
use crate::{job_search, journal, prune, queue, rows, write_guards};

#[async_trait]
impl Store for SqliteStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, guards: WriteGuards) -> Result<WriteOutcome, WriteError> {
        let doing = "create the job";
        let new = PreparedJob::of(row, entries, guards.now).map_err(|error| StoreError::new(doing, error))?;
        let (written, _) = self
            .write_jobs(doing, (Durability::Flushed, Decides::BeforeWriting), move |connection| {
                guarded(connection, &guards, || Ok(()), |()| rows::insert(connection, new))
            })
            .await?;
        Ok(written)
    }

    async fn change(&self, id: JobId, guards: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError> {
        let (written, _) = self
            .write_jobs("change the job", (Durability::Flushed, Decides::BeforeWriting), move |connection| {
                let decide = || decided(connection, id, &decide);
                guarded(connection, &guards, decide, |(job, change)| rows::apply(connection, &job, change, guards.now))
            })
            .await?;
        Ok(written)
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        let ((), jobs) = self
            .write_jobs("change who holds the job", (Durability::Ordered, Decides::BeforeWriting), move |connection| {
                let (job, change) = decided(connection, id, &decide)?;
                Ok(((), vec![rows::apply(connection, &job, change, now)?]))
            })
            .await?;
        jobs.first().map(|job| job.row.clone()).ok_or(WriteError::NotFound)
    }

    async fn claim(&self, request: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        let ((), jobs) = self
            .write_jobs("lease jobs", (Durability::Ordered, Decides::WhileWriting), move |connection| {
                let lease =
                    |job: &Job| rows::apply(connection, job, decide(&job.row).map_err(BoxError::from)?, request.now);
                Ok(((), queue::claim(connection, request, lease)?))
            })
            .await?;
        Ok(jobs.iter().map(|job| job.row.clone()).collect())
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        if let Some(row) = self.cached(id).map(|job| job.row.clone()) {
            return Ok(Some(row));
        }
        self.read("read the job", move |connection| Ok(rows::read(connection, id)?.map(|(_, row)| row))).await
    }

    fn cached(&self, id: JobId) -> Option<Arc<AgentJob>> {
        self.cached(id).map(|job| Arc::clone(&job.row.job))
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let doing = "read the journal";
        if let Some(journal) = self.cached(id).as_ref().and_then(|job| job.journal.as_ref()) {
            return Ok(journal.entries(after, limit));
        }
        self.read(doing, move |connection| journal::read(connection, id, after, limit)).await
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        self.read("list the jobs", move |connection| list(connection, &query)).await
    }

    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError> {
        self.read("look for jobs", move |connection| job_search::search(connection, &search)).await
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.read("look for what falls due", move |connection| {
            let due: Option<i64> = connection
                .prepare_cached(
                    "SELECT min(due) FROM (
                       SELECT min(lease_until) AS due FROM jobs WHERE place = 3 AND lease_until > ?1
                       UNION ALL SELECT min(not_before) FROM jobs WHERE place = 2 AND not_before > ?1
                     )",
                )?
                .query_row([now.millis()], |row| row.get(0))?;
            Ok(due.map(Timestamp::from_millis))
        })
        .await
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        self.read("list the leased jobs", move |connection| {
            let mut statement = connection.prepare_cached("SELECT id FROM jobs WHERE lease_until IS NOT NULL")?;
            let ids = statement.query_map([], |row| row.get::<_, [u8; 16]>(0))?;
            ids.map(|id| Ok(JobId::new(Uuid::from_bytes(id?)))).collect()
        })
        .await
    }

    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError> {
        let changes = Arc::clone(self.changes());
        let forget = move |(_, touched): &(Pruned, Vec<JobId>)| changes.forget(touched);
        let step = move |connection: &WriteConnection| prune::step(connection, pruning);
        let mode = (Durability::Ordered, Decides::WhileWriting);
        Ok(self.write_then("prune the journals", mode, step, forget).await?.0)
    }

    fn changes(&self) -> Option<u64> {
        self.external_writes()
    }
}

/// Checks the idempotency key, then the decision, then the quota; nothing is written before all three pass.
fn guarded<D>(
    connection: &WriteConnection,
    guards: &WriteGuards,
    decide: impl FnOnce() -> Result<D, Abort<WriteError>>,
    write: impl FnOnce(D) -> Result<Arc<Job>, Abort<WriteError>>,
) -> Result<(WriteOutcome, Vec<Arc<Job>>), Abort<WriteError>> {
    if let Some(written) = write_guards::stored_answer(connection, guards)? {
        return Ok((written, Vec::new()));
    }
    let decided = decide()?;
    let usage =
        guards.quota.as_ref().map(|quota| write_guards::check_quota(connection, quota, guards.now)).transpose()?;
    let written = write(decided)?;
    let job = written.row.job.clone();
    let quota_status = usage.map(|usage| usage.count(connection)).transpose()?;
    if let Some(key) = &guards.key {
        write_guards::store_answer(connection, key, guards.now, &job)?;
    }
    let row = Some(written.row.clone());
    Ok((WriteOutcome { job, row, repeat: false, quota_status }, vec![written]))
}

/// A job, and the change decided for it.
fn decided(
    connection: &WriteConnection,
    id: JobId,
    decide: &Decision,
) -> Result<(Arc<Job>, Change), Abort<WriteError>> {
    let job = rows::find(connection, id)?.ok_or(Abort::Refused(WriteError::NotFound))?;
    let change = decide(&job.row).map_err(|refusal| Abort::Refused(WriteError::Refused(refusal)))?;
    Ok((job, change))
}

/// Each combination of filters is a statement of its own. Within a queue state an index yields the jobs in order, so
/// the parts are merged rather than sorted.
fn list(connection: &Connection, query: &JobQuery) -> Result<Vec<AgentJob>, BoxError> {
    let (project, after) = (query.project.as_str(), query.after.map(|id| id.uuid().into_bytes()));
    let mut values: Vec<(&str, &dyn ToSql)> =
        vec![(":project", &project), (":limit", &query.limit), (":skip", &query.skip)];
    let mut older = "";
    if let Some(after) = &after {
        older = " AND id < :after";
        values.push((":after", after));
    }
    let statuses = query.status.as_ref().map_or(&JobStatus::ALL[..], std::slice::from_ref);
    let states = statuses.iter().flat_map(|status| QueueState::all_of(*status));
    let parts = states.map(|state| {
        format!("SELECT id, body FROM jobs WHERE place = {} AND project = :project{older}", *state as i64)
    });
    let parts = parts.collect::<Vec<_>>().join(" UNION ALL ");
    let mut select = connection.prepare_cached(&format!("{parts} ORDER BY id DESC LIMIT :limit OFFSET :skip"))?;
    let mut rows = select.query(&values[..])?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next()? {
        let row: Row = serde_json::from_str(row.get_ref(1)?.as_str()?)?;
        jobs.push(Arc::unwrap_or_clone(row.job));
    }
    Ok(jobs)
}
