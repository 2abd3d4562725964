//! Concurrency keys: one branch of one repository each.
//!
//! Most jobs have a branch named after their id, and so a concurrency key of their own. Such a key is not stored;
//! another job that names the same branch finds its owner by the id in the name.

use docent_jobs::{Row, named_after};
use docent_types::BoxError;
use std::sync::Arc;

use crate::rows;
use crate::write_connection::{Job, WriteConnection};

/// The concurrency key of a job as stored; `None` if its branch is named after the job.
pub(crate) fn stored(row: &Row) -> Option<String> {
    (!row.has_own_branch()).then(|| name(row))
}

/// The concurrency key of a job in its stored form.
pub(crate) fn name(row: &Row) -> String {
    let (repository, branch) = row.concurrency_key();
    [repository, "\n", branch].concat()
}

/// The job after which this one's branch is named, if it is another job with the same concurrency key.
pub(crate) fn owner(connection: &WriteConnection, row: &Row) -> Result<Option<Arc<Job>>, BoxError> {
    if row.has_own_branch() {
        return Ok(None);
    }
    let Some(id) = named_after(&row.job.source.branch) else { return Ok(None) };
    Ok(rows::find(connection, id)?.filter(|owner| owner.row.concurrency_key() == row.concurrency_key()))
}
