//! The `git` and `ssh` programs as child processes: without the git configuration of the machine or user, without
//! prompts, and with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::GitError;

/// Most output of a child that is kept, in bytes.
const OUTPUT_LIMIT: u64 = 64 << 10;

/// The git program.
pub(crate) fn git() -> Command {
    let mut command = Command::new("git");
    clear_git_environment(&mut command);
    command.env_remove("SSH_ASKPASS");
    command
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}

/// Removes the environment variables that git reads.
pub(crate) fn clear_git_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
}

/// A child with a process group of its own. On drop, the group is killed if it still runs, and waited for.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) inner: Child,
}

impl Group {
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(|inner| Self { inner })
    }

    pub(crate) fn id(&self) -> u32 {
        self.inner.id()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !matches!(self.inner.try_wait(), Ok(Some(_))) {
            kill_group(self.id());
            let _ = self.inner.kill();
        }
        let _ = self.inner.wait();
    }
}

/// Kills a group that [`Group`] started and has not yet waited for.
pub(crate) fn kill_group(id: u32) {
    if cfg!(unix) {
        // The shell's own `kill`: every system that has git has it, and it takes a whole group.
        let kill = format!("kill -KILL -{id}");
        let _ = Command::new("sh")
            .args(["-c", &kill])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// The output of a child that has ended.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) success: bool,
    pub(crate) stderr: String,
}

/// Runs a child in a process group of its own and kills the group after `limit`.
pub(crate) fn run(mut command: Command, doing: &'static str, limit: Duration) -> Result<Output, GitError> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = Group::start(command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => GitError::GitMissing { doing },
        _ => GitError::io(doing)(error),
    })?;
    let mut output = Output::default();
    if let Some(pipe) = child.inner.stderr.take() {
        // The pipe closes when the last process of the group is gone.
        match listen(pipe).recv_timeout(limit.saturating_sub(started.elapsed())) {
            Ok(text) => output.stderr = text,
            Err(mpsc::RecvTimeoutError::Disconnected) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(GitError::Timeout { doing, after: limit }),
        }
    }
    output.success = child.inner.wait().map_err(GitError::io(doing))?.success();
    Ok(output)
}

/// Reads `pipe` in a thread, and sends the text once the other end is closed.
pub(crate) fn listen(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = (&mut pipe).take(OUTPUT_LIMIT).read_to_end(&mut bytes);
        // Drain the pipe, or the child would block on it.
        let _ = io::copy(&mut pipe, &mut io::sink());
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_child_that_takes_too_long_is_killed_with_its_children() {
        let mut command = Command::new("sh");
        // The grandchild holds the pipe open: only killing the group ends the wait.
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
