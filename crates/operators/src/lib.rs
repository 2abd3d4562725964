//! The people who run a server: who they are, what they may do, their sessions, and the list of what they did.
//!
//! An [`Operator`] has a name, a [`OperatorRole`] and a password. Nobody registers: a [`Link`] that is used once and within a day
//! makes an operator, or sets a forgotten password. Where an [`IdentityProvider`] is configured, people come from there too, and
//! their groups give the role. A sign-in begins a [`OperatorSession`]. [`Operators`] is all of this as calls;
//! [`AuditEntry`] is one line of what was done. This crate refuses to know HTTP, pages and projects.
//!
//! What is a secret is not stored: of a password the Argon2id hash, of the token of a session or a link its SHA-256.
//!
//! [`OperatorStore`] is the port to storage; [`memory::MemoryOperators`] implements it for tests, and [`conformance`] is what
//! every implementation must pass.

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
};
pub use link::{LINK_LIFETIME, Link, LinkTarget};
pub use operator::{Credential, NameError, Operator, OperatorId, OperatorName, OperatorRole};
pub use operators::{Operators, SignInError};
pub use password::{PasswordError, PasswordHash};
pub use ports::{Account, OperatorChange, OperatorStore, Redemption, WriteError};
pub use session::{OperatorSession, SignedIn};
pub use token::{CsrfToken, LinkToken, SessionToken, TokenHash};
