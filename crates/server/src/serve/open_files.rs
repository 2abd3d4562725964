//! How many files the server may have open, and how many of them may be connections.
//!
//! Every connection is an open file, and so is much of what a request or a job needs: the model's socket behind an answer,
//! packs of git, the database, pipes of children. What may be open is divided, so that a crowd of clients waits in the
//! kernel's queue and does not keep accepted work from being done.

use docent_web::ServerLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::{debug, warn};

/// What the database, the runtime, the indexes and the log have open.
const OURS: usize = 96;
/// What one running job has open at most: its mirror, children of git with their pipes, the model and the forge.
const OF_A_JOB: usize = 16;
/// Fewer would be no server.
const FEWEST: usize = 16;
/// Fewer connections than this are worth a word.
const FEW: usize = 1_000;

/// Raises the limit as far as it may be, and gives it. The one that a process is usually started with, 1,024, is not meant
/// for servers.
fn as_many_as_may_be() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if let Err(error) = raised {
        debug!(%error, "the limit of open files stays as it is");
    }
    getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

/// The limits of a server that runs so many jobs at a time.
pub(crate) fn limits(workers: usize) -> ServerLimits {
    let usual = ServerLimits::default();
    let files = as_many_as_may_be();
    let connections = connections(files, workers).min(usual.connections);
    if connections < FEW {
        warn!(
            files,
            connections,
            "few files may be open, so few clients may be connected at a time; raise the limit (`ulimit -n`, LimitNOFILE)"
        );
    }
    ServerLimits { connections, ..usual }
}

/// Half of what work leaves: the other half is for what answers need behind their connections.
fn connections(files: usize, workers: usize) -> usize {
    let work = workers.saturating_mul(OF_A_JOB).saturating_add(OURS);
    (files.saturating_sub(work) / 2).max(FEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_work() {
        for (files, workers, expected) in
            [(1024, 8, 400), (256, 8, 16), (0, 1, 16), (1_048_576, 8, 524_176), (usize::MAX, usize::MAX, 16)]
        {
            assert_eq!(connections(files, workers), expected, "{files} files, {workers} workers");
        }
    }
}
