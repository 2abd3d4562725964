//! What the tasks of a store share.

use std::sync::Arc;

use docent_types::WorkDurations;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::clock::DatabaseClock;
use crate::connections::Connections;
use crate::feed::Feed;
use crate::groups::Groups;

/// What a commit of this database promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPromise {
    /// `synchronous_commit` as the server has it for this user.
    pub synchronous_commit: String,
    /// `synchronous_standby_names`: the standbys that have a commit before it is acknowledged. Empty if there are none.
    pub synchronous_standby_names: String,
    /// Whether the server flushes at all; without it, a loss of power may destroy the database.
    pub fsync: bool,
}

/// What the tasks of a store share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) connections: Connections,
    /// The running transactions.
    pub(crate) tasks: TaskTracker,
    pub(crate) clock: DatabaseClock,
    /// The identity of this process: another one each time.
    pub(crate) node: Uuid,
    pub(crate) feed: Arc<Feed>,
    pub(crate) groups: Groups,
    pub(crate) promise: CommitPromise,
    pub(crate) commits: WorkDurations,
}
