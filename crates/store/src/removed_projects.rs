//! What happens to the data of a removed project.
//!
//! Jobs, pull requests, conversations and counts of searches outlive a removed project, and a later project of the same
//! id or domain must not get them. So the transaction that removes a project renames their owner to the project's uid,
//! which is never an id or domain. Quotas and idempotency keys are deleted.

use docent_types::{BoxError, Domain, JobId, Project};
use rusqlite::Connection;
use uuid::Uuid;

use crate::write_connection::WriteConnection;

/// The tables whose rows belong to a domain.
const OF_DOMAIN: [&str; 3] = ["threads", "turns", "searches"];

/// Renames the owner of a project's data. Returns the jobs that were changed.
pub(crate) fn remove(connection: &WriteConnection, project: &Project) -> Result<Vec<JobId>, BoxError> {
    let (id, uid) = (project.id.as_str(), project.uid.to_string());
    // All states, so that the index on place and project is used.
    const OF_PROJECT: &str = "place IN (0, 1, 2, 3, 4, 5, 6) AND project = ?1";
    let mut select = connection.prepare(&format!("SELECT id FROM jobs WHERE {OF_PROJECT}"))?;
    let jobs = select.query_map([id], |row| Ok(JobId::new(Uuid::from_bytes(row.get(0)?))))?;
    let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
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

/// Moves the conversations and searches of a project to its new domain.
pub(crate) fn move_to_domain(connection: &Connection, from: &Domain, to: &Domain) -> rusqlite::Result<()> {
    if from != to {
        for table in OF_DOMAIN {
            let sql = format!("UPDATE {table} SET domain = ?2 WHERE domain = ?1");
            connection.execute(&sql, [from.as_str(), to.as_str()])?;
        }
    }
    Ok(())
}
