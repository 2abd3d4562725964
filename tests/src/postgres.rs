//! A PostgreSQL server of a test's own, which can be stopped and started again.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::wait::eventually;

const USER: &str = "docent";
const DATABASE: &str = "docent";
/// With characters that mean something in a URL.
const PASSWORD: &str = "p@ss/wörd 1%";

/// A server with an empty database, and a user who needs a password over TCP. Stopped and removed when dropped.
#[derive(Debug)]
pub struct Postgres {
    child: Option<Child>,
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    /// PostgreSQL refuses to run as root.
    user: Option<(u32, u32)>,
}

impl Postgres {
    /// Starts the programs in the folder that `$DOCENT_TEST_POSTGRES_PROGRAMS` names, such as `/usr/lib/postgresql/15/bin`.
    ///
    /// # Panics
    /// When that is not set, or the server does not start.
    pub fn start() -> Self {
        let programs = std::env::var_os("DOCENT_TEST_POSTGRES_PROGRAMS")
            .expect("$DOCENT_TEST_POSTGRES_PROGRAMS names a folder of programs");
        let folder = tempfile::Builder::new().prefix("docent-postgres-").tempdir().expect("make a folder");
        let user = geteuid().is_root().then(|| user_named("postgres"));
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group)).expect("give the folder away");
        }
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = free.local_addr().expect("a port").port();
        drop(free);
        let mut postgres = Self { child: None, folder, programs: programs.into(), port, user };
        fs::write(postgres.password_file(), format!("{PASSWORD}\n")).expect("write the password");
        if let Some((user, group)) = user {
            chown(postgres.password_file(), Some(user), Some(group)).expect("give the password away");
        }
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
        postgres.must("createdb", &["--host", &postgres.socket(), "--port", &port.to_string(), "-U", USER, DATABASE]);
        postgres
    }

    fn socket(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// The file that holds the password of [`url`](Self::url)'s user.
    pub fn password_file(&self) -> PathBuf {
        self.folder.path().join("password")
    }

    /// The database's address, without the password.
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{DATABASE}", self.port)
    }

    /// The variables with which `docent` uses the database.
    pub fn env(&self) -> [(String, String); 2] {
        [
            ("DOCENT_STORE".to_owned(), self.url()),
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

    /// Starts the server on the data that it had.
    ///
    /// # Panics
    /// When it does not get ready.
    pub fn start_again(&mut self) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.path().join("log"));
        let mut server = self.program("postgres");
        server.args(["-D", "data", "-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        server.arg("-c").arg(format!("unix_socket_directories={}", self.socket()));
        self.child = Some(server.stderr(log.expect("open the log")).spawn().expect("start PostgreSQL"));
        eventually("PostgreSQL to get ready", || {
            let port = self.port.to_string();
            let mut asks = self.program("pg_isready");
            let asks = asks.args(["--host", &self.socket(), "--port", &port]).status();
            asks.is_ok_and(|status| status.success()).then_some(())
        });
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
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
