//! Concurrency keys: one branch of one repository each.
//!
//! Most jobs have a branch that is named after them, and so a concurrency key of their own. It is not written down; whoever else asks
//! for that very branch finds the job by the name.

use docent_jobs::{Row, named_after};
use docent_types::BoxError;
use std::sync::Arc;

use crate::rows;
use crate::write_connection::{Job, WriteConnection};

/// The concurrency key of a job as it is written down.
pub(crate) fn stored(row: &Row) -> Option<String> {
    (!row.has_own_branch()).then(|| name(row))
}

/// The concurrency key of a job as others are in it that are written down.
pub(crate) fn name(row: &Row) -> String {
    let (repository, branch) = row.concurrency_key();
    [repository, "\n", branch].concat()
}

/// The job that the branch of this one is named after, if it is another that is in the same concurrency key.
pub(crate) fn owner(connection: &WriteConnection, row: &Row) -> Result<Option<Arc<Job>>, BoxError> {
    if row.has_own_branch() {
        return Ok(None);
    }
    let Some(id) = named_after(&row.job.source.branch) else { return Ok(None) };
    Ok(rows::find(connection, id)?.filter(|owner| owner.row.concurrency_key() == row.concurrency_key()))
}
