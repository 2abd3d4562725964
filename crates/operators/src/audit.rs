//! The list of what was done.

use std::net::IpAddr;
use std::time::Duration;

use docent_types::{ProjectId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::operator::OperatorName;

/// How long entries are kept.
pub const AUDIT_KEPT: Duration = Duration::from_secs(365 * 24 * 3600);

/// One thing that somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// Who; `None` for the command line. The name of that time: the operator may be gone.
    pub operator: Option<OperatorName>,
    /// For example `key.create`, `project.remove`, `operator.role`, `sign_in`.
    pub action: String,
    pub project: Option<ProjectId>,
    /// What it was done to: the id of a key, the name of an operator.
    pub subject: String,
    pub detail: Option<String>,
    /// From where; `None` for the command line.
    pub address: Option<IpAddr>,
}
