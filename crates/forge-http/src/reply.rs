//! A response of a forge.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// A response of any status.
#[derive(Debug, Clone, Default)]
pub(crate) struct ForgeReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the repository was moved, and the response came from its new URL.
    pub(crate) moved: bool,
}
