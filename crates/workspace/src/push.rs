//! Moving a branch on the remote: directly where the remote is a plain folder here, by `git push` everywhere else.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{GitError, PushError, Why};
use crate::id::CommitId;
use crate::maintenance;
use crate::mirror::{Mirror, Shared};
use crate::odb::refs::Swap;
use crate::origin::Origin;
use crate::remote::{Location, Remote};

/// How much a child may say before we stop listening.
const SAID_AT_MOST: u64 = 64 << 10;

/// How a push ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The branch was moved.
    Moved,
    /// The branch was there already: an earlier push had done it.
    AlreadyThere,
}

pub(crate) fn push(
    mirror: &Mirror,
    shared: &Shared,
    remote: &Remote,
    branch: &str,
    commit: CommitId,
    expected: Option<CommitId>,
) -> Result<Pushed, PushError> {
    if let Location::Local(path) = remote.location()?
        && let Some(origin) = Origin::open(&path, &remote.shown())?
    {
        match origin.accepts_direct(branch) {
            Ok(()) => return direct(mirror, &origin, branch, commit, expected),
            Err(reason) => tracing::debug!(repository = remote.shown(), reason, "pushing with the git program"),
        }
    }
    by_child(mirror, shared, remote, branch, commit, expected)
}

fn direct(
    mirror: &Mirror,
    origin: &Origin,
    branch: &str,
    commit: CommitId,
    expected: Option<CommitId>,
) -> Result<Pushed, PushError> {
    match origin.push(&mirror.repo(), branch, commit.object(), expected.map(CommitId::object))? {
        Swap::Done => {
            maintenance::origin_when_due(origin);
            Ok(Pushed::Moved)
        }
        Swap::Differs(Some(now)) if now == commit.object() => Ok(Pushed::AlreadyThere),
        Swap::Differs(now) => Err(PushError::Moved { now: now.map(CommitId::from) }),
        Swap::Taken(other) => Err(PushError::Rejected {
            reason: format!("the branch `{other}` is in the way of `{branch}`: choose another name"),
        }),
    }
}

fn by_child(
    mirror: &Mirror,
    shared: &Shared,
    remote: &Remote,
    branch: &str,
    commit: CommitId,
    expected: Option<CommitId>,
) -> Result<Pushed, PushError> {
    let mut command = git(remote);
    // Named explicitly, the mirror may belong to another user.
    command.arg("--git-dir").arg(&shared.dir);
    let lease = expected.map(|commit| commit.to_string()).unwrap_or_default();
    command.args(["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"]);
    command.arg(format!("--force-with-lease=refs/heads/{branch}:{lease}"));
    command.arg("--").arg(&remote.url).arg(format!("{commit}:refs/heads/{branch}"));
    let said = run(command, "push", shared.limits.push)?;
    match verdict(&said) {
        Verdict::Pushed => Ok(Pushed::Moved),
        Verdict::UpToDate => Ok(Pushed::AlreadyThere),
        Verdict::Stale => match mirror.remote_branch(remote, branch)? {
            Some(now) if now == commit => Ok(Pushed::AlreadyThere),
            now => Err(PushError::Moved { now }),
        },
        Verdict::Rejected(reason) => Err(PushError::Rejected { reason: remote.scrub(&reason) }),
        Verdict::Failed => Err(failure(remote, &said)),
    }
}

/// The git program with nothing of the machine's or the user's configuration, no prompts, and the credentials in the
/// environment alone.
pub(crate) fn git(remote: &Remote) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env_remove("SSH_ASKPASS");
    command
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env(
            "GIT_SSH_COMMAND",
            "ssh -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=15 -oServerAliveCountMax=4",
        );
    let mut settings = vec![
        ("core.hooksPath".to_owned(), "/dev/null".to_owned()),
        ("credential.helper".to_owned(), String::new()),
        ("protocol.allow".to_owned(), "never".to_owned()),
    ];
    settings.extend(
        ["http", "https", "ssh", "file"].map(|scheme| (format!("protocol.{scheme}.allow"), "always".to_owned())),
    );
    if let Some(authorization) = remote.authorization() {
        settings.push(("http.extraHeader".to_owned(), format!("Authorization: {authorization}")));
        // The header goes wherever git goes, so it must not be sent on to another host.
        settings.push(("http.followRedirects".to_owned(), "false".to_owned()));
    }
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (index, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{index}"), key).env(format!("GIT_CONFIG_VALUE_{index}"), value);
    }
    command
}

/// What a child wrote before it ended.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) success: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a child in a process group of its own and kills the group when `limit` is over.
pub(crate) fn run(mut command: Command, doing: &'static str, limit: Duration) -> Result<Said, GitError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            GitError::GitMissing { doing }
        } else {
            GitError::io(doing)(error)
        }
    })?;
    let (sender, receiver) = mpsc::channel();
    listen(child.stdout.take(), false, sender.clone());
    listen(child.stderr.take(), true, sender);
    let mut said = Said::default();
    // Both ends close when the last process of the group is gone.
    loop {
        match receiver.recv_timeout(limit.saturating_sub(started.elapsed())) {
            Ok((is_err, text)) => *(if is_err { &mut said.err } else { &mut said.out }) = text,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                kill_group(&mut child);
                return Err(GitError::Timeout { doing, after: limit });
            }
        }
    }
    said.success = child.wait().map_err(GitError::io(doing))?.success();
    Ok(said)
}

fn listen(pipe: Option<impl Read + Send + 'static>, is_err: bool, sender: mpsc::Sender<(bool, String)>) {
    let Some(mut pipe) = pipe else { return };
    thread::spawn(move || {
        let mut heard = Vec::new();
        let _ = (&mut pipe).take(SAID_AT_MOST).read_to_end(&mut heard);
        // Keep the pipe empty, or the child would wait for us for ever.
        let _ = io::copy(&mut pipe, &mut io::sink());
        let _ = sender.send((is_err, String::from_utf8_lossy(&heard).into_owned()));
    });
}

fn kill_group(child: &mut Child) {
    if cfg!(unix) {
        // The shell's own `kill`: every system that has git has it, and it takes a whole group.
        let kill = format!("kill -KILL -{}", child.id());
        let _ = Command::new("sh")
            .args(["-c", &kill])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Pushed,
    UpToDate,
    /// The branch is not where it was expected.
    Stale,
    Rejected(String),
    /// It never came to a verdict on the branch.
    Failed,
}

/// Reads git's `--porcelain` line about the one branch: a flag, the names, a summary with the reason in parentheses.
fn verdict(said: &Said) -> Verdict {
    for line in said.out.lines() {
        let mut fields = line.split('\t');
        let (Some(flag), Some(_), Some(summary)) = (fields.next(), fields.next(), fields.next()) else { continue };
        return match flag {
            "=" => Verdict::UpToDate,
            "!" if summary.contains("(stale info)") => Verdict::Stale,
            // The branch moved between git's look and its push.
            "!" if summary.contains("failed to update ref") || summary.contains("cannot lock ref") => Verdict::Stale,
            "!" => Verdict::Rejected(rejection(summary, &said.err)),
            _ if said.success => Verdict::Pushed,
            _ => Verdict::Failed,
        };
    }
    Verdict::Failed
}

/// Why the remote said no: what its hook or its rules wrote, or else git's own word for it.
fn rejection(summary: &str, err: &str) -> String {
    let told: Vec<&str> = err
        .lines()
        .filter_map(|line| line.strip_prefix("remote:"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let word = summary.split_once('(').map_or(summary, |(_, rest)| rest.trim_end_matches(')'));
    let text = if told.is_empty() { word.to_owned() } else { format!("{word}: {}", told.join(" ")) };
    text.chars().take(1000).collect()
}

/// A push that did not get as far as the branch.
fn failure(remote: &Remote, said: &Said) -> PushError {
    let repository = remote.shown();
    let lines: Vec<&str> = said.err.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text: String = lines.join("; ").chars().take(2000).collect();
    let source = Why::new(remote.scrub(&text));
    let says = |what: &[&str]| what.iter().any(|what| text.contains(what));
    if says(&["error: 403", "Write access to repository not granted", "denied to"]) {
        return PushError::Denied { repository, source };
    }
    if says(&[
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "Permission denied (",
        "error: 401",
    ]) {
        return GitError::Auth { repository, source }.into();
    }
    if says(&["not found", "does not appear to be a git repository", "does not exist", "error: 404"]) {
        return GitError::NotFound { repository, source }.into();
    }
    if says(&["dubious ownership"]) {
        let reason = "the repository belongs to another user and runs hooks of its own: run as its owner".to_owned();
        return PushError::Rejected { reason };
    }
    if says(&[
        "Could not resolve host",
        "Failed to connect",
        "Connection refused",
        "Connection timed out",
        "Connection reset",
        "Network is unreachable",
        "Could not read from remote repository",
        "the remote end hung up",
        "error: 5",
        "SSL",
        "unable to access",
    ]) {
        return GitError::Unreachable { repository, source }.into();
    }
    GitError::Failed { doing: "push", source }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(out: &str, err: &str, success: bool) -> Said {
        Said { success, out: out.to_owned(), err: err.to_owned() }
    }

    #[test]
    fn git_says_how_a_push_ended() {
        for (line, success, expected) in [
            ("*\tabc:refs/heads/x\t[new branch]", true, Verdict::Pushed),
            (" \tabc:refs/heads/x\t1..2", true, Verdict::Pushed),
            ("+\tabc:refs/heads/x\t1...2 (forced update)", true, Verdict::Pushed),
            ("=\tabc:refs/heads/x\t[up to date]", true, Verdict::UpToDate),
            ("!\tabc:refs/heads/x\t[rejected] (stale info)", false, Verdict::Stale),
            ("!\tabc:refs/heads/x\t[remote rejected] (failed to update ref)", false, Verdict::Stale),
        ] {
            let out = format!("To /srv/a.git\n{line}\nDone\n");
            assert_eq!(verdict(&said(&out, "", success)), expected, "{line}");
        }
        let hook = said(
            "To x\n!\ta:refs/heads/x\t[remote rejected] (pre-receive hook declined)\nDone\n",
            "remote: \nremote: docs are frozen        \nTo x\nerror: failed to push some refs\n",
            false,
        );
        assert_eq!(verdict(&hook), Verdict::Rejected("pre-receive hook declined: docs are frozen".to_owned()));
        assert_eq!(verdict(&said("", "fatal: no", false)), Verdict::Failed);
    }

    #[test]
    fn a_failed_push_is_sorted_by_what_to_do_next() {
        let remote = Remote::new("https://git.example.com/a");
        let sort = |err: &str| failure(&remote, &said("", err, false));
        assert!(matches!(sort("fatal: Authentication failed for 'x'"), PushError::Git(GitError::Auth { .. })));
        assert!(matches!(
            sort("fatal: unable to access 'x': The requested URL returned error: 403"),
            PushError::Denied { .. }
        ));
        assert!(matches!(sort("remote: Repository not found."), PushError::Git(GitError::NotFound { .. })));
        assert!(matches!(
            sort("fatal: unable to access 'x': Could not resolve host: git.example.com"),
            PushError::Git(GitError::Unreachable { .. })
        ));
        assert!(matches!(sort("fatal: something new"), PushError::Git(GitError::Failed { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_takes_too_long_is_killed_with_its_children() {
        let mut command = Command::new("sh");
        // The grandchild holds the pipes open: only killing the group ends the wait.
        command.args(["-c", "sleep 600 & sleep 600"]);
        let started = Instant::now();
        let ended = run(command, "wait", Duration::from_millis(50));
        assert!(matches!(ended, Err(GitError::Timeout { .. })));
        assert!(started.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_missing_git_is_said_in_a_sentence() {
        let ended = run(Command::new("docent-no-such-program"), "push", Duration::from_secs(5));
        assert!(matches!(ended, Err(GitError::GitMissing { .. })));
        assert!(ended.unwrap_err().to_string().contains("install git"));
    }
}
