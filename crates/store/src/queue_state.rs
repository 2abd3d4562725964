//! The queue state of a job, stored as a number. `schema/4.sql` documents the states.

use docent_jobs::Row;
use docent_types::{JobStatus, Timestamp};
use rusqlite::ToSql;
use rusqlite::types::ToSqlOutput;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueState {
    Ready = 0,
    /// Its concurrency key is held by another job. The schema calls this state `behind`.
    Blocked = 1,
    /// It is not due yet. The schema calls this state `later`.
    Delayed = 2,
    Leased = 3,
    Completed = 4,
    Failed = 5,
    Archived = 6,
}

impl QueueState {
    /// The state that follows from the row alone. A ready job may turn out to be blocked by another.
    pub(crate) fn of(row: &Row, now: Timestamp) -> Self {
        match (row.job.status, &row.lease) {
            (JobStatus::Completed, _) => Self::Completed,
            (JobStatus::Failed, _) => Self::Failed,
            (JobStatus::Archived, _) => Self::Archived,
            (JobStatus::Active, Some(_)) => Self::Leased,
            (JobStatus::Active, None) if row.attempt.not_before > now => Self::Delayed,
            (JobStatus::Active, None) => Self::Ready,
        }
    }

    /// The states of jobs of this status.
    pub(crate) const fn all_of(status: JobStatus) -> &'static [Self] {
        match status {
            JobStatus::Active => &[Self::Ready, Self::Blocked, Self::Delayed, Self::Leased],
            JobStatus::Completed => &[Self::Completed],
            JobStatus::Failed => &[Self::Failed],
            JobStatus::Archived => &[Self::Archived],
        }
    }

    /// The status of jobs in the state with this number, if there is one.
    pub(crate) fn status(number: i64) -> Option<JobStatus> {
        JobStatus::ALL.into_iter().find(|status| Self::all_of(*status).iter().any(|state| *state as i64 == number))
    }
}

impl ToSql for QueueState {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}
