//! A PostgreSQL server of a test's own, which can be stopped and started again, and have a standby.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::third_party::free_port;
use crate::wait::eventually;

pub(crate) const USER: &str = "docent";
pub(crate) const DATABASE: &str = "docent";
/// With characters that mean something in a URL.
pub(crate) const PASSWORD: &str = "p@ss/wörd 1%";

/// A server with an empty database, and a user who needs a password over TCP. Stopped and removed when dropped.
#[derive(Debug)]
pub struct Postgres {
    child: Option<Child>,
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

impl Postgres {
    /// Starts the programs in the folder that `$DOCENT_TEST_POSTGRES_PROGRAMS` names, such as `/usr/lib/postgresql/15/bin`.
    ///
    /// # Panics
    /// When that is not set, or the server does not start.
    pub fn start() -> Self {
        let mut postgres = Self::in_a_folder();
        postgres.must(
            "initdb",
            &[
                "--pgdata=data",
                "--username=docent",
                "--pwfile=password",
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
            ],
        );
        postgres.start_again();
        let port = postgres.port.to_string();
        postgres.must("createdb", &["--host", &postgres.socket(), "--port", &port, "-U", USER, DATABASE]);
        postgres
    }

    /// A standby of this server. From now on, a commit here waits until the standby has it on its disk.
    ///
    /// # Panics
    /// When it cannot be made, or does not follow.
    pub fn with_standby(&self) -> Self {
        let mut standby = Self::in_a_folder();
        let (socket, port) = (self.socket(), self.port.to_string());
        let from = ["--host", &socket, "--port", &port, "--username", USER];
        let how = ["--pgdata=data", "--write-recovery-conf", "--checkpoint=fast", "--no-sync"];
        standby.must("pg_basebackup", &[&from[..], &how].concat());
        standby.start_again();
        self.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.query("SELECT pg_reload_conf()");
        self.is_followed();
        standby
    }

    /// Waits until the standby has all that was written so far.
    ///
    /// # Panics
    /// When it does not catch up.
    pub fn is_followed(&self) {
        let written = self.query("SELECT pg_current_wal_lsn()");
        let has_it =
            format!("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= '{written}'");
        eventually("the standby to catch up", || (self.query(&has_it) == "1").then_some(()));
    }

    /// Makes a standby the primary server.
    ///
    /// # Panics
    /// When it is none.
    pub fn promote(&self) {
        self.must("pg_ctl", &["promote", "--pgdata=data", "--wait"]);
    }

    /// A server that has no data yet.
    fn in_a_folder() -> Self {
        let programs = std::env::var_os("DOCENT_TEST_POSTGRES_PROGRAMS")
            .expect("$DOCENT_TEST_POSTGRES_PROGRAMS names a folder of programs");
        let folder = tempfile::Builder::new().prefix("docent-postgres-").tempdir().expect("make a folder");
        let postgres = Self { child: None, folder, programs: programs.into(), port: free_port() };
        give_to_the_servers_user(postgres.folder.path());
        postgres.keeps("password", &format!("{PASSWORD}\n"));
        postgres
    }

    /// Writes a file that the server's user alone may read.
    fn keeps(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("write a file of the server");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("keep a file from others");
        give_to_the_servers_user(&path);
    }

    /// Takes connections under TLS too from now on, with this certificate and its key, both in PEM.
    ///
    /// # Panics
    /// When the server does not take them.
    pub fn speaks_tls(&self, certificate: &str, key: &str) {
        self.keeps("data/server.crt", certificate);
        self.keeps("data/server.key", key);
        self.query("ALTER SYSTEM SET ssl = on");
        self.query("SELECT pg_reload_conf()");
        eventually("the server to speak TLS", || (self.query("SHOW ssl") == "on").then_some(()));
    }

    fn socket(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// The file that holds the password of [`url`](Self::url)'s user.
    pub fn password_file(&self) -> PathBuf {
        self.folder.path().join("password")
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The database's address, without the password.
    pub fn url(&self) -> String {
        url_at(self.address())
    }

    /// The variables with which `docent` uses the database.
    pub fn env(&self) -> [(String, String); 2] {
        self.env_at(self.address())
    }

    /// The same by way of what listens at this address.
    pub fn env_at(&self, entrance: SocketAddr) -> [(String, String); 2] {
        [
            ("DOCENT_STORE".to_owned(), url_at(entrance)),
            ("DOCENT_STORE_PASSWORD_FILE".to_owned(), self.password_file().display().to_string()),
        ]
    }

    /// The rows of a query, as `psql` prints them.
    pub fn query(&self, sql: &str) -> String {
        let port = self.port.to_string();
        self.must("psql", &["--host", &self.socket(), "--port", &port, "-U", USER, "-AtX", "-c", sql, DATABASE])
    }

    /// Stops the server at once, as the loss of its power would.
    ///
    /// # Panics
    /// When it is not running.
    pub fn stop(&mut self) {
        let mut child = self.child.take().expect("the database runs");
        kill_process(Pid::from_child(&child), Signal::QUIT).expect("stop the database");
        child.wait().expect("wait for the database");
    }

    /// SIGSTOP to all processes of the server: it takes connections, and answers nothing until [`thaw`](Self::thaw).
    pub fn freeze(&self) {
        self.signals(Signal::STOP);
    }

    /// SIGCONT to all processes of the server.
    pub fn thaw(&self) {
        self.signals(Signal::CONT);
    }

    fn signals(&self, signal: Signal) {
        let first = Pid::from_child(self.child.as_ref().expect("the database runs"));
        kill_process(first, signal).expect("signal the database");
        for process in fs::read_dir("/proc").expect("read the processes").flatten() {
            let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            // After the name, which is in parentheses, come the state and the parent.
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
            if parent == Some(first.as_raw_nonzero().get()) {
                let pid = process.file_name().to_str().and_then(|name| Pid::from_raw(name.parse().ok()?));
                // One that has just ended needs no signal.
                let _ = pid.map(|pid| kill_process(pid, signal));
            }
        }
    }

    /// Starts the server on the data that it had.
    ///
    /// # Panics
    /// When it does not get ready.
    pub fn start_again(&mut self) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.path().join("log"));
        let mut server = self.program("postgres");
        server.args(["-D", "data", "-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        server.arg("-c").arg(format!("unix_socket_directories={}", self.socket()));
        // How soon a standby looks again for a primary server that was away.
        server.args(["-c", "wal_retrieve_retry_interval=200ms"]);
        self.child = Some(server.stderr(log.expect("open the log")).spawn().expect("start PostgreSQL"));
        eventually("PostgreSQL to get ready", || {
            let port = self.port.to_string();
            let mut asks = self.program("pg_isready");
            let asks = asks.args(["--host", &self.socket(), "--port", &port]).status();
            asks.is_ok_and(|status| status.success()).then_some(())
        });
    }

    fn program(&self, name: &str) -> Command {
        let own = self.programs.join(name);
        // Some packages of the server have no clients. Those of another version do.
        let mut command = Command::new(if own.exists() { own } else { name.into() });
        as_the_servers_user(&mut command, &[]);
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn must(&self, name: &str, args: &[&str]) -> String {
        let output = self.program(name).args(args).stdout(Stdio::piped()).output().expect(name);
        assert!(output.status.success(), "{name} failed: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.stop();
        }
    }
}

fn url_at(address: SocketAddr) -> String {
    format!("postgres://{USER}@{address}/{DATABASE}")
}

/// The user and group as whom a server runs: PostgreSQL and PgBouncer refuse to run as root. `None` for those of this process.
fn servers_user() -> Option<(u32, u32)> {
    geteuid().is_root().then(|| user_named("postgres"))
}

/// Lets a program run as a server's user, and gives it these files.
pub(crate) fn as_the_servers_user(command: &mut Command, files: &[&Path]) {
    files.iter().for_each(|file| give_to_the_servers_user(file));
    if let Some((user, group)) = servers_user() {
        command.uid(user).gid(group);
    }
}

fn give_to_the_servers_user(path: &Path) {
    if let Some((user, group)) = servers_user() {
        chown(path, Some(user), Some(group)).expect("give a file to the server");
    }
}

/// The uid and gid of a user.
fn user_named(name: &str) -> (u32, u32) {
    let known = fs::read_to_string(Path::new("/etc/passwd")).unwrap_or_default();
    let numbers = known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_it = fields.next() == Some(name);
        let mut numbers = fields.skip(1).map(str::parse);
        is_it.then(|| Some((numbers.next()?.ok()?, numbers.next()?.ok()?)))?
    });
    numbers.unwrap_or_else(|| panic!("there is no user `{name}` to run PostgreSQL as"))
}
