//! What belongs to a project beside its jobs, when the project is removed or moves to another domain.
//!
//! Pull requests, conversations and counts outlive a removed project, and a later project of the same id or domain must
//! not get them. So the transaction that removes a project renames their owner to the project's uid, which is never an id
//! or domain.

use docent_forge::PullRecord;
use docent_types::{BoxError, Domain, Project, ProjectId};
use uuid::Uuid;

use crate::params::params;
use crate::transaction::Transaction;

/// Pull requests that are renamed by one statement.
const BATCH: i64 = 500;

/// Renames the owner of all that belongs to a removed project, but for its jobs.
pub(crate) async fn keep_from_later_projects(transaction: &Transaction, project: &Project) -> Result<(), BoxError> {
    let uid = project.uid.to_string();
    let owner = ProjectId::parse(&uid)?;
    while rename_pulls(transaction, &project.id, &owner).await? {}
    move_domain(transaction, project.domain.as_str(), &uid).await
}

/// Renames the owner of some pull requests; returns whether there were any.
async fn rename_pulls(transaction: &Transaction, from: &ProjectId, to: &ProjectId) -> Result<bool, BoxError> {
    let (mut ids, mut bodies) = (Vec::<Uuid>::new(), Vec::<String>::new());
    let next = "SELECT id, body FROM pulls WHERE project = $1 ORDER BY number LIMIT $2 FOR UPDATE";
    for row in transaction.query(next, params![from.as_str(), BATCH]).await? {
        let record: PullRecord = serde_json::from_str(row.try_get(1)?)?;
        ids.push(row.try_get(0)?);
        bodies.push(serde_json::to_string(&PullRecord { project: to.clone(), ..record })?);
    }
    let update = "UPDATE pulls SET project = $1, body = renamed.body FROM unnest($2, $3) AS renamed (id, body)
                  WHERE pulls.id = renamed.id";
    transaction.execute(update, params![to.as_str(), ids, bodies]).await?;
    Ok(!ids.is_empty())
}

/// Moves the conversations, searches and spending of a project to its new domain.
pub(crate) async fn move_to_domain(transaction: &Transaction, from: &Domain, to: &Domain) -> Result<(), BoxError> {
    if from != to { move_domain(transaction, from.as_str(), to.as_str()).await } else { Ok(()) }
}

async fn move_domain(transaction: &Transaction, from: &str, to: &str) -> Result<(), BoxError> {
    for table in ["threads", "searches", "spends"] {
        let update = format!("UPDATE {table} SET domain = $2 WHERE domain = $1");
        transaction.execute(&update, params![from, to]).await?;
    }
    // Behind its thread, in the order in which a turn is written.
    let turns = "UPDATE thread_turns SET domain = $2 FROM threads
                 WHERE threads.id = thread AND threads.domain = $2 AND thread_turns.domain = $1";
    transaction.execute(turns, params![from, to]).await.map(drop)
}
