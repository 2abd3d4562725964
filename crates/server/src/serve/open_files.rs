//! The limits on open files: the process's limit, and the share of it for connections.
//!
//! Every connection is an open file, and requests and jobs open more: sockets to models, git packs, the database, pipes
//! of child processes. Connections get only a share, so that many clients wait in the kernel's queue and do not make
//! accepted work fail.

use docent_web::ServerLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::{debug, warn};

/// Number of files that the database, the runtime, the indexes and the log have open.
const OURS: usize = 96;
/// Maximum number of files that one running job opens: its mirror, git child processes with their pipes, the model and
/// the forge.
const OF_A_JOB: usize = 16;
/// Minimum number of connections.
const FEWEST: usize = 16;
/// Fewer connections than this are logged as a warning.
const FEW: usize = 1_000;

/// Raises the soft limit to the hard limit, and returns it. The usual soft limit of 1,024 is too low for servers.
fn raise_open_file_limit() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if let Err(error) = raised {
        debug!(%error, "the limit of open files stays as it is");
    }
    getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}

/// The limits of a server that runs this many concurrent jobs.
pub(crate) fn limits(workers: usize) -> ServerLimits {
    let usual = ServerLimits::default();
    let files = raise_open_file_limit();
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

/// The maximum number of connections: half of the files that jobs leave; the other half is for files that requests
/// open.
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
