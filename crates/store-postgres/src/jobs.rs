//! The port to jobs and journals.

use async_trait::async_trait;
use docent_jobs::{
    ClaimRequest, Decision, Entry, EntryBody, FoundJobs, JobQuery, JobSearch, Pruned, Pruning, Row, Store, WriteError,
    WriteGuards, WriteOutcome,
};
use docent_types::{AgentJob, BoxError, JobId, JobStatus, StoreError, Timestamp};
use uuid::Uuid;

use crate::changes::{change, locked};
use crate::error::Abort;
use crate::groups::Asked;
use crate::params::params;
use crate::postgres::PostgresStore;
use crate::rows::{number_of, status_of};
use crate::transaction::Transaction;
use crate::{job_search, journal, prune, queue, rows, write_guards};

const LIST: &str =
    "SELECT job FROM jobs WHERE project = $1 AND status = $2 AND id < $3 ORDER BY id DESC LIMIT $4 OFFSET $5";
/// In each status the index has the jobs in order, so the parts are merged and not sorted.
const LIST_ALL: &str = "
    SELECT job FROM (
        (SELECT id, job FROM jobs WHERE project = $1 AND status = 0 AND id < $2 ORDER BY id DESC LIMIT $3 + $4) UNION ALL
        (SELECT id, job FROM jobs WHERE project = $1 AND status = 1 AND id < $2 ORDER BY id DESC LIMIT $3 + $4) UNION ALL
        (SELECT id, job FROM jobs WHERE project = $1 AND status = 2 AND id < $2 ORDER BY id DESC LIMIT $3 + $4) UNION ALL
        (SELECT id, job FROM jobs WHERE project = $1 AND status = 3 AND id < $2 ORDER BY id DESC LIMIT $3 + $4)
    ) AS found ORDER BY id DESC LIMIT $3 OFFSET $4";
const NEXT_DUE: &str = "
    SELECT least(
        (SELECT min(due) FROM (
            SELECT CASE WHEN lease_until > $1 THEN lease_until ELSE not_before END AS due
            FROM queue WHERE is_leased AND is_active
        ) AS leased WHERE due > $1),
        (SELECT min(not_before) FROM queue WHERE is_active AND NOT is_leased AND not_before > $1))";
const LEASED: &str = "SELECT job FROM queue WHERE is_leased";
const COUNT: &str = "SELECT status, count(*) FROM jobs GROUP BY status";

#[async_trait]
impl Store for PostgresStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, guards: WriteGuards) -> Result<WriteOutcome, WriteError> {
        self.write("create the job", move |transaction| async move {
            if let Some(answer) = write_guards::stored_answer(&transaction, &guards).await? {
                return Ok(answer);
            }
            let usage = write_guards::check_quota(&transaction, &guards).await?;
            let write = rows::insert(&transaction, row, entries, guards.now);
            write_guards::carry_out(&transaction, &guards, usage, write).await
        })
        .await
    }

    async fn change(&self, id: JobId, guards: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError> {
        let asked = Asked { id, guards, decide };
        if asked.guards.quota.is_none() && asked.guards.key.is_none() {
            return self.change_in_a_group(asked).await;
        }
        self.write("change the job", move |transaction| change(transaction, asked)).await
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        self.write("change who holds the job", move |transaction| async move {
            let row = locked(&transaction, id).await?;
            let change = decide(&row).map_err(|refusal| Abort::Refused(WriteError::Refused(refusal)))?;
            // The holder of a lease outlives the database's machine, so its token must not be given again; and an entry
            // that was seen must stay. Anything else may be lost with the power: the lease then expires.
            if change.entries.is_empty() && change.next.last_token == row.last_token {
                transaction.leave_unflushed();
            }
            Ok(rows::apply(&transaction, &row, change, now).await?)
        })
        .await
    }

    async fn claim(&self, request: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        self.write("lease jobs", move |transaction| async move { queue::claim(&transaction, request, decide).await })
            .await
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        self.ask("read the job", move |transaction| async move { rows::read(&transaction, id).await }).await
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let read = move |transaction| async move { journal::read(&transaction, id, after, limit).await };
        self.ask("read the journal", read).await
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        self.read("list the jobs", move |transaction| async move { list(&transaction, &query).await }).await
    }

    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError> {
        let read = move |transaction| async move { job_search::search(&transaction, &search).await };
        self.read("look for jobs", read).await
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.ask("look for what falls due", move |transaction| async move {
            let found = transaction.query_opt(NEXT_DUE, params![now.millis()]).await?;
            Ok(found.and_then(|record| record.get::<_, Option<i64>>(0)).map(Timestamp::from_millis))
        })
        .await
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        self.read("list the leased jobs", |transaction| async move {
            Ok(transaction.query(LEASED, &[]).await?.iter().map(|record| JobId::new(record.get(0))).collect())
        })
        .await
    }

    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError> {
        let step = move |transaction| async move { prune::step(&transaction, pruning).await };
        self.write_in_order("prune the journals", step).await
    }

    fn changes(&self) -> Option<u64> {
        self.shared().feed.writes()
    }

    async fn written_elsewhere(&self) -> Option<Vec<JobId>> {
        self.shared().feed.written_elsewhere().await
    }
}

impl PostgresStore {
    /// The number of jobs by status, for each status that occurs.
    pub async fn jobs_by_status(&self) -> Result<Vec<(JobStatus, u64)>, StoreError> {
        self.read("count the jobs", |transaction| async move {
            let counted = transaction.query(COUNT, &[]).await?;
            let count = |record: &tokio_postgres::Row| {
                Some((status_of(record.get(0))?, record.get::<_, i64>(1).unsigned_abs()))
            };
            Ok(counted.iter().filter_map(count).collect())
        })
        .await
    }
}

async fn list(transaction: &Transaction, query: &JobQuery) -> Result<Vec<AgentJob>, BoxError> {
    let (project, before) = (query.project.as_str(), query.after.map_or(Uuid::max(), |id| id.uuid()));
    let (limit, skip) = (i64::from(query.limit), i64::from(query.skip));
    let found = match query.status {
        Some(status) => transaction.query(LIST, params![project, number_of(status), before, limit, skip]).await?,
        None => transaction.query(LIST_ALL, params![project, before, limit, skip]).await?,
    };
    found.iter().map(|record| Ok(serde_json::from_str(record.get(0))?)).collect()
}
