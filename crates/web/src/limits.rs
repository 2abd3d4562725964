//! How much one client may take.

use std::time::Duration;

/// The bounds of a server. [`ServerLimits::default`] suits a server on the open internet behind no proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Connections open at a time; further ones wait in the kernel's queue.
    pub connections: usize,
    /// Requests at a time on one HTTP/2 connection.
    pub streams: u32,
    /// How long a request's head may take, and how long a connection may sit idle. It is noticed within half as long again.
    pub head: Duration,
    /// How long a request's body may take.
    pub body: Duration,
    /// How long a client may take no byte of what we have for it.
    pub stalled: Duration,
    /// How large a request's head may be, in bytes.
    pub head_bytes: usize,
    /// How long running requests may go on once the server is told to stop.
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
