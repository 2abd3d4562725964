//! Authentication, authorisation and rate limits.
//!
//! A caller presents a [`Key`]; its stored form is a [`KeyRecord`]; [`admit`] is one pure decision whether it permits
//! the request, or a [`Denial`] with the reason. [`Access`] loads the data that the decision needs, caches it until the
//! storage reports a change, and returns a [`Principal`] for an admitted caller. This crate does not know HTTP (it
//! reads the bytes of two header values and an address) or jobs.
//!
//! A key is `docent_admin_` or `docent_assistant_`, 32 random base62 characters, and 6 base62 characters of the CRC-32
//! of all that precedes them, so that a mistyped key is distinguishable from an unknown one offline. Only the key's
//! SHA-256 is ever stored.
//!
//! - [`KeyWatch`] ends streams and waiting requests when their key stops being valid.
//! - [`Proxies`] finds the client's address behind trusted proxies.
//! - [`Throttle`] counts quotas that are not part of a write: of one process in [`MemoryThrottle`], or in a store.
//! - [`Keys`] and [`Projects`] are the ports to storage; [`memory::MemoryAccess`] implements them for tests, and
//!   [`conformance`] has the tests that every implementation must pass.

mod access;
mod access_cache;
mod address;
mod admit;
pub mod conformance;
mod key;
mod key_watch;
mod last_use;
pub mod memory;
mod origin;
mod ports;
mod proxies;
mod record;
mod throttle;

pub use access::{Access, AccessError, AssistantLimits, Principal, Reader};
pub use address::{AddressRange, AddressRangeError};
pub use admit::{Action, Credentials, Denial, admit};
pub use key::{Key, KeyHash, KeyKind};
pub use key_watch::KeyWatch;
pub use origin::{Origin, OriginError};
pub use ports::{AddError, Keys, Projects};
pub use proxies::Proxies;
pub use record::{Grant, KeyId, KeyRecord, LIFETIME, Scope, mint, system_randomness};
pub use throttle::{CountError, MemoryThrottle, Throttle, UseSlot, Uses, count_uses};
