//! A PostgreSQL server of our own, and a pooler before it, for the time of a suite, in a temporary folder and on a port of loopback.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::geteuid;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::child::{self, Ended, StopSignal};
use crate::tools::Missing;

/// How long the server may take until it takes connections.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Whether commits reach the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushing {
    On,
    Off,
}

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Cluster {
    port: u16,
    password: String,
    server: Child,
    folder: TempDir,
}

/// The user and group as whom the server runs: it refuses to run as root.
#[derive(Debug, Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

impl Cluster {
    /// Starts a server with the programs in the folder `bin`.
    pub(crate) async fn start(bin: &Path, flushing: Flushing, stop: &mut StopSignal) -> Result<Self, Missing> {
        let failed = |error: std::io::Error| Missing::Failed(format!("could not prepare PostgreSQL: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let (data, password_file) = (folder.path().join("data"), folder.path().join("password"));
        let password = password().map_err(failed)?;
        std::fs::write(&password_file, &password).map_err(failed)?;
        let user = user().map_err(Missing::Failed)?;
        for path in [folder.path(), &password_file] {
            if let Some(User { id, group }) = user {
                std::os::unix::fs::chown(path, Some(id), Some(group)).map_err(failed)?;
            }
        }
        let mut init = command(&bin.join("initdb"), user, folder.path());
        // The proof that SCRAM asks of a client takes longer than most of the tests that each connection is made for, in a
        // build without optimisation.
        init.args(["--username=docent", "--auth=password", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        init.arg("--pgdata").arg(&data).arg("--pwfile").arg(&password_file);
        match child::run_quietly(&mut init, stop).await? {
            Ended::Well => {}
            Ended::Badly(how) => return Err(Missing::Failed(how)),
            Ended::Stopped => return Err(Missing::Skip("stopped before it began".to_owned())),
        }
        let port = free_port().map_err(failed)?;
        let mut server = command(&bin.join("postgres"), user, folder.path());
        server.arg("-D").arg(&data).args(["-p", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        let fsync = if flushing == Flushing::On { "fsync=on" } else { "fsync=off" };
        for setting in ["listen_addresses=127.0.0.1", "unix_socket_directories=", fsync, "max_connections=300"] {
            server.args(["-c", setting]);
        }
        let mut server = child::start(&mut server)?;
        let begun = Instant::now();
        while !is_ready(&data) {
            if begun.elapsed() > START_LIMIT || server.try_wait().map_err(failed)?.is_some() {
                return Err(Missing::Failed(format!("the PostgreSQL in {} did not start", bin.display())));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { port, password, server, folder })
    }

    /// The process whose children the server's others are; `None` if it has ended.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.server.id()
    }

    /// The URL of the server.
    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The URL of one of its databases.
    pub(crate) fn url_of(&self, database: &str) -> String {
        format!("postgres://docent:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }
}

/// A PgBouncer in transaction mode before a server. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Pooler {
    port: u16,
    _pooler: Child,
}

impl Pooler {
    pub(crate) async fn start(program: &Path, cluster: &Cluster) -> Result<Self, Missing> {
        let failed = |error: std::io::Error| Missing::Failed(format!("could not prepare PgBouncer: {error}"));
        let (port, user) = (free_port().map_err(failed)?, user().map_err(Missing::Failed)?);
        let settings = cluster.folder.path().join("pgbouncer.ini");
        let Cluster { port: server, password, .. } = cluster;
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={server} user=docent password={password}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\nmax_client_conn = 1000\ndefault_pool_size = 20\nserver_idle_timeout = 5\n"
        );
        std::fs::write(&settings, text).map_err(failed)?;
        if let Some(User { id, group }) = user {
            std::os::unix::fs::chown(&settings, Some(id), Some(group)).map_err(failed)?;
        }
        let mut pooler = command(program, user, cluster.folder.path());
        let pooler = child::start(pooler.arg(&settings).stdout(Stdio::null()).stderr(Stdio::null()))?;
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            if begun.elapsed() > START_LIMIT {
                return Err(Missing::Failed(format!("{} did not start", program.display())));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { port, _pooler: pooler })
    }

    /// The URL of the pooler.
    pub(crate) fn url(&self) -> String {
        format!("postgres://docent@127.0.0.1:{}/postgres", self.port)
    }
}

fn command(program: &Path, user: Option<User>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    if let Some(User { id, group }) = user {
        command.uid(id).gid(group);
    }
    command
}

/// Whether the server takes connections: it says so in the eighth line of this file.
fn is_ready(data: &Path) -> bool {
    let said = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    said.lines().nth(7).is_some_and(|state| state.trim() == "ready")
}

/// `None` for the user of this process; Debian's user of the server, or nobody, if that is root.
fn user() -> Result<Option<User>, String> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let users =
        std::fs::read_to_string("/etc/passwd").map_err(|error| format!("could not read /etc/passwd: {error}"))?;
    let find = |name: &str| {
        let mut fields = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.split(':');
        Some(User { id: fields.nth(1)?.parse().ok()?, group: fields.next()?.parse().ok()? })
    };
    let found = find("postgres").or_else(|| find("nobody"));
    found.map(Some).ok_or_else(|| "PostgreSQL needs a user that is not root".to_owned())
}

fn password() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The folder of Debian's programs of the newest version.
pub(crate) fn debian_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let versions = versions.filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())));
    versions.max().map(|(_, folder)| folder.join("bin")).filter(|bin| bin.join("initdb").exists())
}
