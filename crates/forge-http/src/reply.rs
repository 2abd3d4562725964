//! An answer of a forge.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// A reply of any status.
#[derive(Debug, Clone, Default)]
pub(crate) struct ForgeReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The repository has another address now, and the reply is from there.
    pub(crate) moved: bool,
}
