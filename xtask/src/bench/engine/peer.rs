//! The peer engine: graphile-worker on its own PostgreSQL instance, which is stopped and removed afterwards.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

/// Timeout for the database to accept connections.
const PATIENCE: Duration = Duration::from_secs(30);

/// The programs and folders that the peer needs.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) node: PathBuf,
    /// The folder with the peer's program and packages.
    pub(crate) folder: PathBuf,
    /// The folder of PostgreSQL's programs.
    pub(crate) postgres: PathBuf,
}

/// The folder of PostgreSQL's programs where Debian and others install them, the newest version.
pub(crate) fn postgres() -> Option<PathBuf> {
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = installed
        .filter_map(|version| Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin"))))
        .filter(|(_, programs)| programs.join("initdb").is_file() && programs.join("postgres").is_file())
        .collect();
    versions.sort_unstable();
    versions.pop().map(|(_, programs)| programs)
}

/// The result of adding jobs with clients that wait for each insertion.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Enqueued {
    pub(crate) jobs: u64,
    pub(crate) seconds: f64,
    /// Milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// The number of jobs, and the time until all were done.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Drained {
    pub(crate) jobs: u64,
    pub(crate) seconds: f64,
}

/// Latencies of single jobs for an idle worker; medians in milliseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct PickedUp {
    /// From requesting the job to its start.
    pub(crate) asked_p50: f64,
    /// From the acceptance of the job, when it is durable, to its start.
    pub(crate) accepted_p50: f64,
    pub(crate) accepted_p99: f64,
}

/// How the peer's worker is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// With its own defaults.
    Usual,
    /// With its local queue and with completions in batches.
    Batched,
}

#[derive(Debug)]
pub(crate) struct GraphileWorker {
    programs: Programs,
    database: Database,
}

impl GraphileWorker {
    pub(crate) const NAME: &'static str = "graphile-worker";

    pub(crate) fn start(programs: Programs) -> Result<Self, String> {
        let database = Database::start(&programs.postgres)?;
        let peer = Self { programs, database };
        peer.said::<serde_json::Value>(&["prepare"])?;
        Ok(peer)
    }

    pub(crate) fn enqueue(&self, clients: usize, seconds: u64) -> Result<Enqueued, String> {
        self.said(&["create", &clients.to_string(), &seconds.to_string()])
    }

    /// Lets this many clients add jobs while a worker carries them out.
    pub(crate) fn through(&self, clients: usize, seconds: u64) -> Result<Drained, String> {
        self.said(&["through", &clients.to_string(), &seconds.to_string()])
    }

    /// Measures how fast a worker carries out jobs that are waiting already.
    pub(crate) fn drain(&self, jobs: usize, way: Way) -> Result<Drained, String> {
        self.said(&["drain", &jobs.to_string(), if way == Way::Usual { "usual" } else { "batched" }])
    }

    pub(crate) fn pickup(&self, jobs: usize) -> Result<PickedUp, String> {
        self.said(&["pickup", &jobs.to_string()])
    }

    /// Runs the peer's program once, and parses the line of JSON that it ends with.
    fn said<T: DeserializeOwned>(&self, what: &[&str]) -> Result<T, String> {
        let mut command = Command::new(&self.programs.node);
        command.arg("peer.mjs").arg(self.database.url()).args(what).current_dir(&self.programs.folder);
        let output = command.env("NODE_ENV", "production").stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("could not run the peer: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().rev().find(|line| line.starts_with('{'));
        let last = last.filter(|_| output.status.success()).ok_or_else(|| {
            format!("the peer {what:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr))
        })?;
        serde_json::from_str(last).map_err(|error| format!("the peer says `{last}`: {error}"))
    }
}

/// A PostgreSQL instance with the default settings (every commit is flushed) on a socket in a temporary folder.
#[derive(Debug)]
struct Database {
    child: Child,
    folder: TempDir,
}

impl Database {
    fn start(programs: &Path) -> Result<Self, String> {
        let failed = |what: &str, error: std::io::Error| format!("could not {what}: {error}");
        let folder = tempfile::Builder::new().prefix("docent-peer-").tempdir();
        let folder = folder.map_err(|error| failed("make a folder for PostgreSQL", error))?;
        // PostgreSQL refuses to run as root.
        let user = if geteuid().is_root() { Some(user("postgres")?) } else { None };
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group)).map_err(|error| failed("give its folder away", error))?;
        }
        let home = folder.path().to_owned();
        let program = |name: &str| {
            let mut command = Command::new(programs.join(name));
            if let Some((user, group)) = user {
                command.uid(user).gid(group);
            }
            command.current_dir(&home).stdin(Stdio::null()).stdout(Stdio::null());
            command
        };
        let made = program("initdb").args(["--auth", "trust", "--username", "postgres", "--pgdata", "data"]).output();
        let made = made.map_err(|error| failed("run initdb", error))?;
        if !made.status.success() {
            return Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)));
        }
        let log = fs::File::create(home.join("log")).map_err(|error| failed("make a log", error))?;
        let mut server = program("postgres");
        server.args(["-D", "data", "-c", "listen_addresses=", "-c", "max_connections=300"]);
        server.arg("-c").arg(format!("unix_socket_directories={}", home.display())).stderr(log);
        let child = server.spawn().map_err(|error| failed("start PostgreSQL", error))?;
        let database = Self { child, folder };
        let began = Instant::now();
        while !program("pg_isready").arg("--host").arg(&home).status().is_ok_and(|status| status.success()) {
            if began.elapsed() > PATIENCE {
                let log = fs::read_to_string(home.join("log")).unwrap_or_default();
                return Err(format!("PostgreSQL does not get ready: {log}"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(database)
    }

    fn url(&self) -> String {
        format!("postgres://postgres@localhost/postgres?host={}", self.folder.path().display())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Immediate shutdown, without waiting for clients: the data is not needed any more.
        let _ = kill_process(Pid::from_child(&self.child), Signal::QUIT);
        let _ = self.child.wait();
    }
}

/// The uid and gid of a user.
fn user(name: &str) -> Result<(u32, u32), String> {
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    found(&known, name).ok_or_else(|| format!("there is no user `{name}` to run PostgreSQL as"))
}

fn found(users: &str, name: &str) -> Option<(u32, u32)> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_it = fields.next() == Some(name);
        let mut numbers = fields.skip(1).map(str::parse);
        is_it.then(|| Some((numbers.next()?.ok()?, numbers.next()?.ok()?)))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_name() {
        let users = "root:x:0:0:root:/root:/bin/bash\npostgres:x:101:104::/var/lib/postgresql:/bin/bash\nbroken:x\n";
        assert_eq!(found(users, "postgres"), Some((101, 104)));
        assert_eq!((found(users, "broken"), found(users, "nobody")), (None, None));
    }
}
