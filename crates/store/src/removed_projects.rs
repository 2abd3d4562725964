//! What happens to the data of a removed project.
//!
//! Jobs, pull requests, conversations and counts of searches outlive a removed project, and a later project of the same
//! id or domain must not get them. So the transaction that removes a project renames their owner to the project's uid,
//! which is never an id or domain. It ends the jobs that are active. Quotas and idempotency keys are deleted.

use docent_jobs::state;
use docent_types::{BoxError, Domain, JobId, Project, ProjectUid, StoreError, Timestamp};
use rusqlite::Connection;
use uuid::Uuid;

use crate::error::Abort;
use crate::rows;
use crate::sqlite::SqliteStore;
use crate::write_connection::WriteConnection;

/// The tables whose rows belong to a domain.
const OF_DOMAIN: [&str; 4] = ["threads", "turns", "searches", "spends"];

impl SqliteStore {
    /// The jobs of a removed project whose workers have not said that they stopped.
    pub async fn jobs_not_stopped(&self, project: ProjectUid) -> Result<Vec<JobId>, StoreError> {
        self.read("look for jobs that have not stopped", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT id FROM jobs WHERE lease_until IS NOT NULL AND project = ?1")?;
            let ids = select.query_map([project.to_string()], |row| Ok(JobId::new(Uuid::from_bytes(row.get(0)?))))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
        .await
    }
}

/// Ends the jobs of a project, and renames the owner of its data. Returns the jobs that were changed.
pub(crate) fn remove(
    connection: &WriteConnection,
    project: &Project,
    now: Timestamp,
) -> Result<Vec<JobId>, Abort<StoreError>> {
    let (id, uid) = (project.id.as_str(), project.uid.to_string());
    // All states, so that the index on place and project is used.
    const OF_PROJECT: &str = "place IN (0, 1, 2, 3, 4, 5, 6) AND project = ?1";
    let mut select = connection.prepare(&format!("SELECT id, place < 4 FROM jobs WHERE {OF_PROJECT}"))?;
    let jobs = select.query_map([id], |row| Ok((JobId::new(Uuid::from_bytes(row.get(0)?)), row.get(1)?)))?;
    let jobs = jobs.collect::<Result<Vec<(JobId, bool)>, _>>()?;
    for (job, _) in jobs.iter().filter(|(_, is_active)| *is_active) {
        if let Some(job) = rows::find(connection, *job)? {
            let ended = state::remove(&job.row, now).map_err(BoxError::from)?;
            rows::apply::<StoreError>(connection, &job, ended, now)?;
        }
    }
    let jobs: Vec<JobId> = jobs.into_iter().map(|(job, _)| job).collect();
    jobs.iter().for_each(|job| connection.forget_job(*job));
    let statements = [
        &format!(
            "UPDATE jobs SET project = ?2, body = json_set(body, '$.job.project', ?2, '$.job.domain', ?2)
             WHERE {OF_PROJECT}"
        ),
        "UPDATE queues SET project = ?2 WHERE project = ?1",
        "UPDATE pulls SET project = ?2, body = json_set(body, '$.project', ?2) WHERE project = ?1",
    ];
    for statement in statements {
        connection.execute(statement, [id, &uid])?;
    }
    // Buckets and scopes end with the id, after a colon.
    for (table, column) in [("uses", "bucket"), ("answers", "scope")] {
        let of_project = format!("DELETE FROM {table} WHERE substr({column}, instr({column}, ':') + 1) = ?1");
        connection.execute(&of_project, [id])?;
    }
    connection.clear_waiting(id);
    for table in OF_DOMAIN {
        connection
            .execute(&format!("UPDATE {table} SET domain = ?2 WHERE domain = ?1"), [project.domain.as_str(), &uid])?;
    }
    Ok(jobs)
}

/// Moves the conversations, searches and spending of a project to its new domain.
pub(crate) fn move_to_domain(connection: &Connection, from: &Domain, to: &Domain) -> rusqlite::Result<()> {
    if from != to {
        for table in OF_DOMAIN {
            let sql = format!("UPDATE {table} SET domain = ?2 WHERE domain = ?1");
            connection.execute(&sql, [from.as_str(), to.as_str()])?;
        }
    }
    Ok(())
}
