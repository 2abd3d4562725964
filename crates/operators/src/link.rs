//! One-time links, by which a person becomes an operator, gets a new password or signs in.

use std::time::Duration;

use docent_types::Timestamp;
use serde::{Deserialize, Serialize};

use crate::operator::{OperatorId, OperatorName, OperatorRole};
use crate::token::TokenHash;

/// How long a link can be used.
pub const LINK_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// What a link is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkTarget {
    /// Creates an operator of this role. Without a name, the person who uses the link chooses one.
    New { name: Option<OperatorName>, role: OperatorRole },
    /// Sets the password of an operator.
    Reset(OperatorId),
    /// Signs an operator in at once, on the machine of the server.
    SignIn(OperatorId),
}

/// A link that was not used yet, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub hash: TokenHash,
    pub target: LinkTarget,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}
