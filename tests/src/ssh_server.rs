//! A git host over ssh: a real `sshd` on a port of the loopback interface, with its own configuration and keys.
//!
//! It accepts the user that runs the tests, with one key, for git's services only. Without `sshd` [`SshServer::start`]
//! panics with a message that says so.

use std::fs;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::wait::eventually;

/// A running `sshd`. Killed when dropped.
#[derive(Debug)]
pub struct SshServer {
    child: Child,
    address: SocketAddr,
    folder: TempDir,
    user: String,
}

impl SshServer {
    /// The path of `sshd`, if it is installed. It must be started by its absolute path.
    pub fn program() -> Option<PathBuf> {
        ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"]
            .map(PathBuf::from)
            .into_iter()
            .find(|path| path.exists())
    }

    /// Starts an `sshd`.
    ///
    /// # Panics
    /// When there is no `sshd`, or it does not start; its log says why.
    pub fn start() -> Self {
        let program = Self::program().expect("sshd is installed (Debian: openssh-server)");
        let folder = tempfile::Builder::new().prefix("docent-ssh-").tempdir().expect("make a temporary folder");
        for name in ["host_key", "user_key", "other_key"] {
            make_key(&folder.path().join(name));
        }
        let authorized = folder.path().join("authorized_keys");
        fs::copy(folder.path().join("user_key.pub"), &authorized).expect("authorize the key");
        private(&authorized);
        // The port is free now. If another process takes it meanwhile, sshd ends and the test fails with its log.
        let address = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("find a free port");
        let config = folder.path().join("sshd_config");
        fs::write(&config, configuration(folder.path(), address)).expect("write the configuration");
        if is_root() {
            // sshd refuses to start as root without this folder.
            fs::create_dir_all("/run/sshd").expect("make the folder sshd wants");
        }
        let log = fs::File::create(folder.path().join("log")).expect("create the log");
        let child = Command::new(program)
            .args(["-D", "-e", "-f"])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("start sshd");
        let mut server = Self { child, address, folder, user: user() };
        eventually("sshd to greet", || {
            let ended = server.child.try_wait().expect("ask after sshd");
            assert!(ended.is_none(), "sshd ended: {}", server.log());
            greets(address).ok()
        });
        server.know(&server.folder.path().join("host_key.pub"));
        server
    }

    /// The URL of a repository in a folder of this machine.
    pub fn url(&self, repository: &Path) -> String {
        format!("ssh://{}@{}{}", self.user, self.address, repository.display().to_string().replace(' ', "%20"))
    }

    /// The key that is accepted.
    pub fn key(&self) -> PathBuf {
        self.folder.path().join("user_key")
    }

    /// A key that is not accepted.
    pub fn stranger(&self) -> PathBuf {
        self.folder.path().join("other_key")
    }

    /// A `known_hosts` file with this host and its key.
    pub fn known_hosts(&self) -> PathBuf {
        self.folder.path().join("known_hosts")
    }

    /// A `known_hosts` file with this host and another key, as if the connection was intercepted.
    pub fn changed_hosts(&self) -> PathBuf {
        let file = self.folder.path().join("changed_hosts");
        fs::write(&file, self.entry(&self.folder.path().join("other_key.pub"))).expect("write a file of hosts");
        file
    }

    /// Restricts the key with these options in the format of `authorized_keys`, for example a forced command.
    pub fn let_in_only_with(&self, options: &str) {
        let key = fs::read_to_string(self.folder.path().join("user_key.pub")).expect("read the key");
        let file = self.folder.path().join("authorized_keys");
        fs::write(&file, format!("{options} {key}")).expect("write the authorized keys");
        private(&file);
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn know(&self, key: &Path) {
        fs::write(self.known_hosts(), self.entry(key)).expect("write the known hosts");
    }

    fn entry(&self, key: &Path) -> String {
        let key = fs::read_to_string(key).expect("read a public key");
        let key: Vec<&str> = key.split(' ').take(2).collect();
        format!("[127.0.0.1]:{} {}\n", self.address.port(), key.join(" "))
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the log of sshd ---\n{}", self.log());
        }
    }
}

fn configuration(folder: &Path, address: SocketAddr) -> String {
    let folder = folder.display();
    format!(
        "Port {}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\n\
         PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin prohibit-password\nAcceptEnv GIT_PROTOCOL\nPrintMotd no\nLogLevel INFO\n",
        address.port()
    )
}

fn make_key(path: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
        .arg(path)
        .status()
        .expect("run ssh-keygen");
    assert!(made.success(), "ssh-keygen failed: {made}");
}

fn private(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("make a file private");
}

fn greets(address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut greeting = [0; 4];
    stream.read_exact(&mut greeting)?;
    if &greeting == b"SSH-" { Ok(()) } else { Err(io::Error::other("no ssh server")) }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn user() -> String {
    let output = Command::new("id").arg("-un").output().expect("run id");
    String::from_utf8(output.stdout).expect("a user name is UTF-8").trim().to_owned()
}
