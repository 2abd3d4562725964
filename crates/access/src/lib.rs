//! Who are you, may you, and how often?
//!
//! A caller shows a [`Key`]; what is known of it is a [`KeyRecord`]; whether it may do what it asks is one pure
//! decision, [`admit`], which says yes or why not, with a [`Denial`]. [`Access`] looks up what the decision needs, keeps it
//! while the storage says that nothing has changed, and gives a [`Principal`] to whoever is let in. This crate refuses to
//! know HTTP (it reads the bytes of two header values and an address) and jobs.
//!
//! A key is `docent_admin_` or `docent_assistant_`, 32 random base62 characters, and 6 base62 characters of the CRC-32
//! of all that precedes them, so that a mistyped key is told from an unknown one without asking anybody. Only the
//! key's SHA-256 is ever stored.
//!
//! - [`KeyEnd`] tells whoever goes on for a while when the key is no longer good.
//! - [`Proxies`] says who asks when a proxy connects.
//! - [`Throttle`] counts, in memory, what need not be exact across processes.
//! - [`Keys`] and [`Projects`] are the ports to storage; [`memory::MemoryAccess`] is their twin for tests and
//!   [`conformance`] what every implementation must pass.

mod access;
mod access_cache;
mod address;
mod admit;
pub mod conformance;
mod key;
mod key_end;
mod last_use;
pub mod memory;
mod origin;
mod ports;
mod proxies;
mod record;
mod throttle;

pub use access::{Access, AccessError, AssistantLimits, Principal};
pub use address::{AddressRange, AddressRangeError};
pub use admit::{Action, Credentials, Denial, admit};
pub use key::{Key, KeyHash, KeyKind};
pub use key_end::KeyEnd;
pub use origin::{Origin, OriginError};
pub use ports::{AddError, Keys, Projects};
pub use proxies::Proxies;
pub use record::{Grant, KeyId, KeyRecord, LIFETIME, Scope, mint, system_randomness};
pub use throttle::Throttle;
