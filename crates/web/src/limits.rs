//! Limits on what one client may take.

use std::time::Duration;

/// The limits of a server. [`ServerLimits::default`] suits a server on the open internet without a proxy in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Concurrent connections; further ones wait in the kernel's queue.
    pub connections: usize,
    /// Concurrent requests on one HTTP/2 connection.
    pub streams: u32,
    /// Limit for receiving a request's head, and for an idle connection. Enforced at most half as late again.
    pub head: Duration,
    /// Limit for receiving a request's body.
    pub body: Duration,
    /// Limit for a client to accept no byte of what is being sent to it.
    pub stalled: Duration,
    /// Largest request head, in bytes.
    pub head_bytes: usize,
    /// How long running requests may continue after the shutdown begins.
    pub drain: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            streams: 128,
            head: Duration::from_secs(30),
            body: Duration::from_secs(60),
            stalled: Duration::from_secs(60),
            head_bytes: 64 * 1024,
            drain: Duration::from_secs(10),
        }
    }
}
