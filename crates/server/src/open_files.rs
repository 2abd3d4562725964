//! How many files the server may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as it may be. Every connection is an open file, and the limit that a process is usually started
/// with, 1,024, is not meant for servers.
pub(crate) fn as_many_as_may_be() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}
