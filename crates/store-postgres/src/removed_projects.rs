//! What happens to the jobs of a removed project.
//!
//! Jobs outlive a removed project, and a later project of the same id must not get them. So the transaction that removes a
//! project renames their owner to the project's uid, which is never an id or domain. It ends the jobs that are active. Quotas
//! and idempotency keys are deleted.

use docent_jobs::state;
use docent_types::{
    AgentJob, BoxError, Clock as _, Domain, JobId, Project, ProjectId, ProjectUid, StoreError, Timestamp,
};
use uuid::Uuid;

use crate::params::params;
use crate::postgres::PostgresStore;
use crate::rows;
use crate::transaction::Transaction;

/// Jobs renamed by one statement.
const BATCH: i64 = 500;

/// A lease that ran out is that of a dead node.
const NOT_STOPPED: &str = "SELECT job FROM queue WHERE is_leased AND project = $1 AND lease_until > $2";
const ACTIVE: &str = "SELECT id FROM jobs WHERE project = $1 AND status = 0 ORDER BY id";
const NEXT: &str = "SELECT id, job FROM jobs WHERE project = $1 ORDER BY id LIMIT $2 FOR UPDATE";
const RENAME: &str = "UPDATE jobs SET project = $1, job = renamed.job FROM unnest($2, $3) AS renamed (id, job)
                      WHERE jobs.id = renamed.id";
const RENAME_QUEUED: &str = "UPDATE queue SET project = $2 WHERE project = $1";
const RENAME_TURN: &str = "UPDATE project_turns SET project = $2 WHERE project = $1";
/// Buckets and scopes end with the id, after a colon.
const FORGET_USES: &str = "DELETE FROM uses WHERE substr(bucket, strpos(bucket, ':') + 1) = $1";
const FORGET_ANSWERS: &str = "DELETE FROM answers WHERE substr(scope, strpos(scope, ':') + 1) = $1";

impl PostgresStore {
    /// The jobs of a removed project whose workers have not said that they stopped.
    pub async fn jobs_not_stopped(&self, project: ProjectUid) -> Result<Vec<JobId>, StoreError> {
        let now = self.clock().now().millis();
        self.read("look for jobs that have not stopped", move |transaction| async move {
            let found = transaction.query(NOT_STOPPED, params![project.to_string(), now]).await?;
            Ok(found.iter().map(|record| JobId::new(record.get(0))).collect())
        })
        .await
    }
}

/// Ends the jobs of a project, and renames their owner.
pub(crate) async fn remove_jobs(transaction: &Transaction, project: &Project, now: Timestamp) -> Result<(), BoxError> {
    let (id, uid) = (project.id.as_str(), project.uid.to_string());
    for active in transaction.query(ACTIVE, params![id]).await? {
        if let Some(row) = rows::lock(transaction, JobId::new(active.get(0))).await? {
            rows::apply(transaction, &row, state::remove(&row, now)?, now).await?;
        }
    }
    while rename(transaction, id, &uid).await? {}
    for statement in [RENAME_QUEUED, RENAME_TURN] {
        transaction.execute(statement, params![id, uid]).await?;
    }
    for statement in [FORGET_USES, FORGET_ANSWERS] {
        transaction.execute(statement, params![id]).await?;
    }
    Ok(())
}

/// Renames the owner of some jobs; returns whether there were any.
async fn rename(transaction: &Transaction, id: &str, uid: &str) -> Result<bool, BoxError> {
    let (mut ids, mut jobs) = (Vec::<Uuid>::new(), Vec::<String>::new());
    for record in transaction.query(NEXT, params![id, BATCH]).await? {
        let mut job: AgentJob = serde_json::from_str(record.get(1))?;
        job.project = ProjectId::parse(uid)?;
        job.domain = Domain::parse(uid)?;
        transaction.touch_job(job.id);
        ids.push(record.get(0));
        jobs.push(serde_json::to_string(&job)?);
    }
    if ids.is_empty() {
        return Ok(false);
    }
    transaction.execute(RENAME, params![uid, ids, jobs]).await?;
    Ok(true)
}
