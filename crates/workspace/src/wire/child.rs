//! Git's services as a child process: `ssh` to another machine, or `git` for a folder that only git can serve.
//!
//! The child runs in a process group of its own, which is killed at the conversation's time limit. It never prompts,
//! uses no agent of another program, and accepts no unknown ssh host.

use std::io::{self, Read};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::{LimitedReader, WireFailure, WireSession};
use crate::error::{ErrorDetail, GitError, PushError};
use crate::program;
use crate::refusal::PushRefusal;
use crate::remote::{Credentials, Location, Remote};

/// How long a child may take to exit after the conversation.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A running service. Killed on drop.
#[derive(Debug)]
pub(crate) struct Service {
    /// Dropping it stops the watchdog; dropped before the child, because its process id is free after that.
    watch: mpsc::Sender<()>,
    child: program::Group,
    stderr: mpsc::Receiver<String>,
}

/// The pipes to a service.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) to: ChildStdin,
    pub(crate) from: LimitedReader<ChildStdout>,
}

/// The kind of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceKind {
    Upload,
    Receive,
}

impl ServiceKind {
    pub(crate) const fn doing(self) -> &'static str {
        match self {
            Self::Upload => "fetch",
            Self::Receive => "push",
        }
    }

    /// The service's name over http and ssh.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Upload => "git-upload-pack",
            Self::Receive => "git-receive-pack",
        }
    }

    const fn subcommand(self) -> &'static str {
        match self {
            Self::Upload => "upload-pack",
            Self::Receive => "receive-pack",
        }
    }
}

/// Starts the service for `remote`, which is not reached by http.
pub(crate) fn start(remote: &Remote, kind: ServiceKind, session: &WireSession) -> Result<(Service, Pipes), GitError> {
    let mut command = match remote.location()? {
        Location::Local(path) => {
            let mut command = program::git();
            command.arg(kind.subcommand()).arg(path);
            command
        }
        _ => ssh(remote, kind)?,
    };
    // Version 2 of the protocol exists for fetches only.
    if kind == ServiceKind::Upload {
        command.env("GIT_PROTOCOL", "version=2");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let is_ssh = command.get_program() == "ssh";
    let mut child = program::Group::start(command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if is_ssh => GitError::SshMissing { doing: kind.doing() },
        io::ErrorKind::NotFound => GitError::GitMissing { doing: kind.doing() },
        _ => GitError::io(kind.doing())(error),
    })?;
    let pipes = child.inner.stdin.take().zip(child.inner.stdout.take()).zip(child.inner.stderr.take());
    let Some(((to, from), errors)) = pipes else {
        return Err(GitError::Failed { doing: kind.doing(), source: ErrorDetail::new("the child has no pipes") });
    };
    let stderr = program::listen(errors);
    let watch = watch(child.id(), session);
    Ok((Service { watch, child, stderr }, Pipes { to, from: session.limited(from) }))
}

/// Kills the child at the conversation's time limit.
fn watch(id: u32, session: &WireSession) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel();
    let session = session.clone();
    thread::spawn(move || {
        let ended = receiver.recv_timeout(session.left().unwrap_or_default());
        if ended == Err(RecvTimeoutError::Timeout) {
            let _ = session.fail(WireFailure::TimedOut);
            program::kill_group(id);
        }
    });
    sender
}

impl Service {
    /// Waits for the child to exit and returns its standard error. The pipes are dropped by now.
    pub(crate) fn end(self) -> String {
        // The text arrives when the last process that can write has exited, for example a hook.
        let stderr = self.stderr.recv_timeout(EXIT_TIMEOUT).unwrap_or_default();
        drop(self.watch);
        drop(self.child);
        stderr
    }
}

/// Classifies the standard error of a failed service; `None` when it is empty.
pub(crate) fn classify_stderr(remote: &Remote, kind: ServiceKind, stderr: &str) -> Option<PushError> {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return None;
    }
    let text: String = lines.join("; ").chars().take(1000).collect();
    let source = ErrorDetail::new(remote.scrub(&text));
    let repository = remote.redacted();
    // The programs report the cause only as text.
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let error = if says(&["Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED"]) {
        GitError::HostKey { repository, source }
    } else if says(&["UNPROTECTED PRIVATE KEY FILE", "Load key"]) {
        GitError::Key { repository, source }
    } else if says(&["Permission denied (", "Too many authentication failures"]) {
        GitError::Auth { repository, tried: remote.tried(), source }
    } else if says(&[
        "marked as read only",
        "Permission to",
        "not allowed to push",
        "not authorized to write",
        "denied to",
    ]) {
        return Some(PushError::Denied { repository, tried: remote.tried(), source });
    } else if says(&["dubious ownership"]) {
        return Some(PushError::Rejected { reason: OTHER_OWNER.to_owned(), refusal: PushRefusal::Rule });
    } else if says(&[
        "not found",
        "does not appear to be a git repository",
        "does not exist",
        "could not be found",
        "No such",
    ]) {
        GitError::NotFound { repository, tried: remote.tried(), source }
    } else if says(&[
        "Could not resolve", "Connection refused", "timed out", "Connection reset", "Connection closed",
        "Network is unreachable", "No route to host", "Broken pipe",
    ]) {
        GitError::Unreachable { repository, after: None, source }
    } else {
        GitError::Failed { doing: kind.doing(), source }
    };
    Some(error.into())
}

const OTHER_OWNER: &str =
    "the repository belongs to another user and has hooks or settings of its own: run as its owner";

fn ssh(remote: &Remote, kind: ServiceKind) -> Result<Command, GitError> {
    let Some(address) = SshAddress::parse(&remote.url) else {
        let reason = "write it as `ssh://user@host/path` or `user@host:path`";
        return Err(GitError::Address { repository: remote.redacted(), reason });
    };
    let mut command = Command::new("ssh");
    program::clear_git_environment(&mut command);
    command.env("LC_ALL", "C").env_remove("SSH_ASKPASS").env_remove("DISPLAY");
    for option in [
        "BatchMode=yes",
        "ConnectTimeout=20",
        "ServerAliveInterval=15",
        "ServerAliveCountMax=4",
        "StrictHostKeyChecking=yes",
        "UpdateHostKeys=no",
        // A shared connection would outlive this child and keep its pipes open.
        "ControlMaster=no",
        "ControlPath=none",
        "ClearAllForwardings=yes",
        "ForwardAgent=no",
        "PermitLocalCommand=no",
        "SendEnv=GIT_PROTOCOL",
    ] {
        command.arg(format!("-o{option}"));
    }
    if let Some(Credentials::SshKey { key_file, known_hosts }) = &remote.credentials {
        if let Err(error) = std::fs::File::open(key_file) {
            let source = ErrorDetail::new(format!("{}: {error}", key_file.display()));
            return Err(GitError::Key { repository: remote.redacted(), source });
        }
        command.args(["-oIdentitiesOnly=yes", "-oIdentityAgent=none", "-i"]).arg(key_file);
        if let Some(known) = known_hosts {
            // Quoted: the option takes a list, and a path may contain a space.
            let quoted = format!("\"{}\"", known.display().to_string().replace('%', "%%"));
            command.arg(format!("-oUserKnownHostsFile={quoted}")).arg("-oGlobalKnownHostsFile=/dev/null");
        }
    }
    command.arg("-T");
    if let Some(port) = address.port {
        command.arg(format!("-p{port}"));
    }
    command.arg("--").arg(address.host).arg(format!("{} {}", kind.name(), quoted(&address.path)));
    Ok(command)
}

/// The host and the path for `ssh`.
#[derive(Debug, PartialEq, Eq)]
struct SshAddress {
    /// With the user name, if there is one.
    host: String,
    port: Option<u16>,
    path: String,
}

impl SshAddress {
    fn parse(url: &str) -> Option<Self> {
        let (host, port, path) = match url.strip_prefix("ssh://") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/')?);
                let (user, address) = match authority.rsplit_once('@') {
                    Some((user, address)) => (Some(user), address),
                    None => (None, authority),
                };
                let (host, port) = split_port(address)?;
                let host = user.map_or_else(|| host.to_owned(), |user| format!("{user}@{host}"));
                let path = crate::remote::percent_decoded(path)?;
                // `/~ann/docs` is a path in a home directory.
                let path = if path.starts_with("/~") { path[1..].to_owned() } else { path };
                (host, port, path)
            }
            None => {
                let (host, path) = match url.find("]:") {
                    Some(end) => (url[..=end].replace(['[', ']'], ""), &url[end + 2..]),
                    None => {
                        let (host, path) = url.split_once(':')?;
                        (host.to_owned(), path)
                    }
                };
                (host, None, path.to_owned())
            }
        };
        let name = host.rsplit_once('@').map_or(host.as_str(), |(_, name)| name);
        let is_clean = !name.is_empty()
            && [host.as_str(), name, &path].iter().all(|part| !part.starts_with('-'))
            && !path.is_empty()
            && !path.contains(char::is_control);
        is_clean.then_some(Self { host, port, path })
    }
}

fn split_port(address: &str) -> Option<(&str, Option<u16>)> {
    if let Some(inner) = address.strip_prefix('[') {
        let (host, rest) = inner.split_once(']')?;
        return match rest.strip_prefix(':') {
            None | Some("") => Some((host, None)),
            Some(port) => Some((host, Some(port.parse().ok()?))),
        };
    }
    match address.split_once(':') {
        None | Some((_, "")) => Some((address.trim_end_matches(':'), None)),
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
    }
}

/// Quoted as one word for the remote shell.
fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''").replace('!', "'\\!'"))
}

impl Read for Pipes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.from.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address(host: &str, port: Option<u16>, path: &str) -> Option<SshAddress> {
        Some(SshAddress { host: host.to_owned(), port, path: path.to_owned() })
    }

    #[test]
    fn ssh_addresses_are_taken_apart() {
        for (url, expected) in [
            ("git@example.com:acme/docs.git", address("git@example.com", None, "acme/docs.git")),
            ("example.com:/srv/docs.git", address("example.com", None, "/srv/docs.git")),
            ("git@[::1]:docs", address("git@::1", None, "docs")),
            ("ssh://git@example.com/srv/a%20b.git", address("git@example.com", None, "/srv/a b.git")),
            ("ssh://git@example.com:2222/docs", address("git@example.com", Some(2222), "/docs")),
            ("ssh://[::1]:22/docs", address("::1", Some(22), "/docs")),
            ("ssh://example.com/~ann/docs", address("example.com", None, "~ann/docs")),
            ("ssh://example.com", None),
            ("ssh://example.com:docs/x", None),
            ("ssh://-oProxyCommand=x/docs", None),
            ("ssh://git@-oProxyCommand=x/docs", None),
            ("git@example.com:-docs", None),
            ("ssh://example.com/a%0Ab", None),
        ] {
            assert_eq!(SshAddress::parse(url), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn no_address_becomes_an_option(url in "(ssh://)?[-a@:/\\[\\]%0~. ]{0,24}") {
            if let Some(address) = SshAddress::parse(&url) {
                prop_assert!(!address.host.starts_with('-') && !address.path.starts_with('-') && !address.path.is_empty());
            }
        }
    }

    #[test]
    fn a_path_is_one_word_for_the_shell() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; rm -rf $HOME!"), "'it'\\''s; rm -rf $HOME'\\!''");
    }

    #[test]
    fn the_stderr_of_ssh_is_classified() {
        let remote = Remote::new("git@example.com:docs");
        let sorted = |stderr: &str| classify_stderr(&remote, ServiceKind::Receive, stderr).unwrap();
        assert!(classify_stderr(&remote, ServiceKind::Receive, "\n \n").is_none());
        assert!(matches!(
            sorted("git@example.com: Permission denied (publickey)."),
            PushError::Git(GitError::Auth { .. })
        ));
        assert!(matches!(sorted("Host key verification failed."), PushError::Git(GitError::HostKey { .. })));
        assert!(matches!(sorted("ERROR: Repository not found."), PushError::Git(GitError::NotFound { .. })));
        assert!(matches!(sorted("ERROR: Permission to a/b.git denied to ann."), PushError::Denied { .. }));
        assert!(matches!(
            sorted("ERROR: The key you are authenticating with has been marked as read only."),
            PushError::Denied { .. }
        ));
        assert!(matches!(
            sorted("ssh: Could not resolve hostname example.com: Name or service not known"),
            PushError::Git(GitError::Unreachable { .. })
        ));
        assert!(matches!(
            sorted("ssh: connect to host example.com port 22: Connection refused"),
            PushError::Git(GitError::Unreachable { .. })
        ));
        assert!(matches!(sorted("something new"), PushError::Git(GitError::Failed { .. })));
    }
}
