//! A data directory, and commands that run on it.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary;
use crate::repository::Repository;
use crate::server::Server;

/// The folders of one test: a data directory, a home, and repositories. Removed when dropped.
#[derive(Debug)]
pub struct Installation {
    root: TempDir,
    binary: PathBuf,
    env: Vec<(String, String)>,
}

/// The half of the API that a key gives access to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    Admin,
    Assistant,
}

impl KeyKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Assistant => "assistant",
        }
    }
}

/// The result of a command.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// # Panics
    /// When stdout is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON ({error}):\n{}\n{}", self.stdout, self.stderr))
    }
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Installation {
    /// An installation of the binary under test.
    pub fn new() -> Self {
        Self::of(binary::docent().to_owned())
    }

    /// An installation of this binary.
    ///
    /// # Panics
    /// When no temporary folder can be created.
    pub fn of(binary: PathBuf) -> Self {
        let root = tempfile::Builder::new().prefix("docent-").tempdir().expect("make a temporary folder");
        Self { root, binary, env: Vec::new() }
    }

    /// An installation all of whose commands have these environment variables.
    pub fn with_variables(env: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::new().with(env)
    }

    /// The same folder with another binary.
    #[must_use]
    pub fn with_binary(self, binary: PathBuf) -> Self {
        Self { binary, ..self }
    }

    /// Gives all its commands these environment variables.
    #[must_use]
    pub fn with(self, env: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { env: env.into_iter().collect(), ..self }
    }

    /// An installation whose data folder holds nothing yet.
    ///
    /// # Panics
    /// When no server starts on it.
    pub fn with_data() -> Self {
        let installation = Self::new();
        let server = installation.serve();
        server.terminate();
        assert!(server.ended().success(), "the server drains");
        installation
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// A bare repository `NAME.git` beside the data directory.
    pub fn repository<P: AsRef<str>, C: AsRef<[u8]>>(&self, name: &str, files: &[(P, C)]) -> Repository {
        Repository::create(&self.root.path().join(format!("{name}.git")), files)
    }

    /// `docent ARGS` on this installation, without the environment variables and files of the user that runs the tests.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(self.root.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("DOCENT_") || name_text.starts_with("GIT_") {
                command.env_remove(&name);
            }
        }
        command.env("HOME", self.root.path()).env("NO_COLOR", "1").envs(self.env.iter().cloned());
        command
    }

    /// Runs `docent ARGS --data DATA` to its end.
    ///
    /// # Panics
    /// When the binary can't be started.
    pub fn run(&self, args: &[&str]) -> Finished {
        let mut command = self.command(args);
        command.arg("--data").arg(self.data()).output().expect("start docent").into()
    }

    /// Like [`run`](Self::run), for commands that must succeed.
    ///
    /// # Panics
    /// When the exit code is not 0; the message has the command's output.
    pub fn must(&self, args: &[&str]) -> Finished {
        let finished = self.run(args);
        assert_eq!(finished.code, Some(0), "docent {args:?} failed:\n{}\n{}", finished.stdout, finished.stderr);
        finished
    }

    /// `docent project add`.
    pub fn add_project(&self, id: &str, repository: &Repository) {
        self.must(&["project", "add", id, "--repo", &repository.path().display().to_string()]);
    }

    /// `docent key create` with `more` arguments such as `--scope read`; returns the key.
    pub fn mint(&self, project: &str, kind: KeyKind, more: &[&str]) -> String {
        let mut args = vec!["key", "create", "--project", project, "--kind", kind.as_str()];
        args.extend_from_slice(more);
        self.must(&args).stdout.trim().to_owned()
    }

    /// `docent serve` on a free port of the loopback interface.
    pub fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// `docent serve` with environment variables, such as a limit or a crash point.
    pub fn serve_with(&self, env: &[(&str, &str)]) -> Server {
        self.serve_on(SocketAddr::from(([127, 0, 0, 1], 0)), env)
    }

    /// `docent serve` on this address, for example that of a server which has ended.
    pub fn serve_on(&self, address: SocketAddr, env: &[(&str, &str)]) -> Server {
        let mut command = self.command(["serve", "--listen", &address.to_string(), "--data"]);
        command.arg(self.data()).envs(env.iter().copied());
        Server::start(command, &self.root.path().join("server.log"))
    }
}

impl Default for Installation {
    fn default() -> Self {
        Self::new()
    }
}
