//! Operators, the people who run a server: their names, roles, passwords and sessions, and the audit list.
//!
//! An [`Operator`] has a name, a [`OperatorRole`] and a password. There is no registration: a [`Link`], which works
//! once and within a day, creates an operator or sets a forgotten password. If an [`IdentityProvider`] is configured,
//! people can also sign in there, and their groups determine the role. A sign-in begins a [`OperatorSession`].
//! [`Operators`] offers all of this as methods; [`AuditEntry`] is an entry of the audit list. This crate knows nothing
//! of HTTP, pages and projects.
//!
//! Secrets are not stored: of a password only the Argon2id hash, of the token of a session or a link only its SHA-256.
//!
//! [`OperatorStore`] is the port to storage; [`memory::MemoryOperators`] implements it for tests, and [`conformance`]
//! has the tests that every implementation must pass.

mod audit;
pub mod conformance;
mod identity;
mod link;
pub mod memory;
mod operator;
mod operators;
mod password;
mod ports;
mod session;
mod token;

pub use audit::{AUDIT_KEPT, AuditEntry};
pub use identity::{
    AuthorizationRequest, AuthorizationResponse, GroupRoles, Identity, IdentityClaims, IdentityError, IdentityProvider,
    PendingSignIn,
};
pub use link::{LINK_LIFETIME, Link, LinkTarget};
pub use operator::{Credential, NameError, Operator, OperatorId, OperatorName, OperatorRole};
pub use operators::{Operators, SignInError};
pub use password::{PasswordError, PasswordHash};
pub use ports::{LinkUse, OperatorChange, OperatorStore, Redemption, WriteError};
pub use session::{OperatorSession, SignedIn};
pub use token::{CsrfToken, LinkToken, SessionToken, TokenHash};
