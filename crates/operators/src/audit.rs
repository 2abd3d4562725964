//! The audit list: a record of what operators did.

use std::net::IpAddr;
use std::time::Duration;

use docent_types::{ProjectId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::operator::OperatorName;

/// How long entries are kept.
pub const AUDIT_KEPT: Duration = Duration::from_secs(365 * 24 * 3600);

/// One recorded action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// The operator's name at that time, since the operator may be gone; `None` for the command line.
    pub operator: Option<OperatorName>,
    /// For example `key.create`, `project.remove`, `operator.role`, `sign_in`.
    pub action: String,
    pub project: Option<ProjectId>,
    /// The object of the action: the id of a key, the name of an operator.
    pub subject: String,
    pub detail: Option<String>,
    /// The address of the client; `None` for the command line.
    pub address: Option<IpAddr>,
}
