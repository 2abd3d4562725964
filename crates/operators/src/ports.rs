//! The port to storage of operators.

use std::fmt;

use async_trait::async_trait;
use docent_types::{StoreError, Timestamp};
use thiserror::Error;

use crate::audit::AuditEntry;
use crate::identity::{Identity, PendingSignIn};
use crate::link::Link;
use crate::operator::{Operator, OperatorId, OperatorName, OperatorRole};
use crate::password::PasswordHash;
use crate::session::OperatorSession;
use crate::token::TokenHash;

/// A change of an operator.
#[derive(Debug, Clone)]
pub enum OperatorChange {
    Name(OperatorName),
    Role(OperatorRole),
    /// Also ends the operator's sessions except `except`, and withdraws all links of the operator.
    Password {
        password: PasswordHash,
        except: TokenHash,
    },
}

/// What a link does when it is used, beyond beginning a session.
#[derive(Debug, Clone)]
pub enum LinkUse {
    New(Operator),
    /// Also ends the operator's sessions, and withdraws all links of the operator.
    Reset {
        operator: OperatorId,
        password: PasswordHash,
    },
    /// Changes nothing but begins the session.
    SignIn(OperatorId),
}

/// The use of a link, and the session that begins with it.
#[derive(Debug, Clone)]
pub struct Redemption {
    pub link: TokenHash,
    pub link_use: LinkUse,
    pub session: OperatorSession,
}

/// Why a write was refused, or failed.
#[derive(Debug, Error)]
pub enum WriteError {
    #[error("there is an operator `{0}` already: choose another name")]
    NameTaken(OperatorName),
    #[error("there is no such operator any more: see `docent operator list`")]
    NoOperator,
    #[error("this is the last owner, and somebody must be: make another operator an owner first")]
    LastOwner,
    #[error(
        "this link does not work any more, because it was used, withdrawn or is older than a day: ask an owner for a new \
         one, or run `docent operator link` on the server"
    )]
    NoLink,
    #[error("`{0}` signs in at the identity provider: password and role are changed there")]
    ByIdentity(OperatorName),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Storage of operators, their links and sessions, and the audit list. Each call is atomic. Writes return when they
/// would survive a loss of power, with the exception of [`touch_session`](Self::touch_session) and
/// [`add_pending`](Self::add_pending).
#[async_trait]
pub trait OperatorStore: Send + Sync + fmt::Debug + 'static {
    /// All operators, oldest first.
    async fn operators(&self) -> Result<Vec<Operator>, StoreError>;

    async fn by_id(&self, id: OperatorId) -> Result<Option<Operator>, StoreError>;

    /// The operator of this name, ignoring letter case.
    async fn by_name(&self, name: &OperatorName) -> Result<Option<Operator>, StoreError>;

    /// The operator of this identity.
    async fn by_identity(&self, identity: &Identity) -> Result<Option<Operator>, StoreError>;

    /// Changes an operator and returns the new state. Refuses a name that another operator has, and a lower role for
    /// the only owner.
    async fn change(&self, id: OperatorId, change: OperatorChange) -> Result<Operator, WriteError>;

    /// Removes an operator with all sessions and links, and returns it. Refused for the only owner.
    async fn remove(&self, id: OperatorId) -> Result<Operator, WriteError>;

    /// Adds a link. Refused if the link is for an operator that does not exist.
    async fn add_link(&self, link: Link) -> Result<(), WriteError>;

    /// A link, if it can still be used at this moment. Does not use it.
    async fn link(&self, hash: &TokenHash, now: Timestamp) -> Result<Option<Link>, StoreError>;

    /// All links that can still be used at this moment, oldest first.
    async fn links(&self, now: Timestamp) -> Result<Vec<Link>, StoreError>;

    /// Withdraws a link, and returns whether there was one.
    async fn remove_link(&self, hash: &TokenHash) -> Result<bool, StoreError>;

    /// Uses a link: creates the operator, sets the password or does neither, and begins the session. The current time
    /// is the time at which the session begins. Only one caller can use a link; after a refusal it can be used again.
    async fn redeem(&self, redemption: Redemption) -> Result<Operator, WriteError>;

    /// Signs in an operator whom an identity provider knows, and begins the session. A stored operator with the same
    /// identity is given the role of `operator`, even if it was the only owner; if there is none, `operator` is added.
    /// Returns the stored operator.
    async fn sign_in_by_identity(&self, operator: Operator, session: OperatorSession) -> Result<Operator, WriteError>;

    /// Stores a sign-in that goes on at the identity provider. At most `keep` are stored: beyond that, those that expire
    /// first are removed. Does not wait for the disk.
    async fn add_pending(&self, pending: PendingSignIn, keep: usize) -> Result<(), StoreError>;

    /// Removes and returns a sign-in that was sent to the identity provider, expired or not. Only one caller gets it.
    async fn take_pending(&self, hash: &TokenHash) -> Result<Option<PendingSignIn>, StoreError>;

    /// Begins a session of an operator, and stores when the operator was last seen.
    async fn add_session(&self, session: OperatorSession) -> Result<(), WriteError>;

    /// A session, expired or not, and its operator.
    async fn session(&self, hash: &TokenHash) -> Result<Option<(OperatorSession, Operator)>, StoreError>;

    /// Stores when a session and its operator were last seen, and when the session expires. Does not wait for the disk.
    async fn touch_session(
        &self,
        hash: &TokenHash,
        seen_at: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;

    async fn remove_session(&self, hash: &TokenHash) -> Result<(), StoreError>;

    /// Ends all sessions of an operator, except the given one.
    async fn remove_sessions_of(&self, id: OperatorId, except: Option<&TokenHash>) -> Result<(), StoreError>;

    /// Adds an entry to the audit list.
    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError>;

    /// Entries of the audit list with their numbers, newest first: those before the number `before`, or the newest
    /// ones.
    async fn audited(&self, before: Option<u64>, limit: usize) -> Result<Vec<(u64, AuditEntry)>, StoreError>;

    /// Deletes sessions, links and sign-ins at the provider that have expired at `now`, and audit entries from before `audited_before`: at most
    /// `limit` of each. Returns the number of deleted rows.
    async fn forget_expired(
        &self,
        now: Timestamp,
        audited_before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError>;
}
