//! Child processes that end when this process receives a signal.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

/// How long a child may take to end after a signal.
const GRACE: Duration = Duration::from_secs(10);

/// Ctrl-C and SIGTERM.
#[derive(Debug)]
pub(crate) struct StopSignal {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    received: bool,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// With its output, if that was captured, or its exit status.
    Badly(String),
    /// This process received a signal, and the child was stopped.
    Stopped,
}

impl StopSignal {
    pub(crate) fn listen() -> Result<Self, String> {
        let listen = |kind| signal(kind).map_err(|error| format!("could not listen for signals: {error}"));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            received: false,
        })
    }

    pub(crate) fn was_received(&self) -> bool {
        self.received
    }

    /// Waits for a signal to stop, unless one was received.
    pub(crate) async fn received(&mut self) {
        if self.received {
            return;
        }
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        self.received = true;
    }
}

/// Runs a command to its end; it inherits the output of this process.
pub(crate) async fn run(command: &mut Command, stop: &mut StopSignal) -> Result<Ended, String> {
    command.stdin(Stdio::null());
    let child = start(command)?;
    wait(child, stop).await
}

/// Runs a command to its end. Its output is shown only when the command fails: the reason is seldom in the last line.
pub(crate) async fn run_quietly(command: &mut Command, stop: &mut StopSignal) -> Result<Ended, String> {
    let shown = shown(command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = start(command)?;
    let group = group_of(&child);
    tokio::select! {
        output = child.wait_with_output() => {
            let output = output.map_err(|error| format!("could not wait for {shown}: {error}"))?;
            if output.status.success() {
                return Ok(Ended::Well);
            }
            let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            eprintln!("{shown}:\n{}", said.trim_end());
            Ok(Ended::Badly(format!("{shown}: {}: {}", output.status, last_line(&said))))
        }
        () = stop.received() => {
            end(group, Signal::KILL);
            Ok(Ended::Stopped)
        }
    }
}

/// Starts the command in its own process group, so that its descendants can be signalled with it.
pub(crate) fn start(command: &mut Command) -> Result<Child, String> {
    let shown = shown(command);
    command.process_group(0).kill_on_drop(true).spawn().map_err(|error| format!("could not start {shown}: {error}"))
}

/// Waits for the end of a child, or ends it when a signal to stop is or was received.
pub(crate) async fn wait(mut child: Child, stop: &mut StopSignal) -> Result<Ended, String> {
    let group = group_of(&child);
    let status = tokio::select! {
        status = child.wait() => status.map_err(|error| format!("could not wait for a child: {error}"))?,
        () = stop.received() => {
            end(group, Signal::TERM);
            if timeout(GRACE, child.wait()).await.is_err() {
                end(group, Signal::KILL);
            }
            return Ok(Ended::Stopped);
        }
    };
    Ok(if status.success() { Ended::Well } else { Ended::Badly(status.to_string()) })
}

fn group_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
}

fn end(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // The group may have ended meanwhile.
        let _ = kill_process_group(group, signal);
    }
}

fn shown(command: &Command) -> String {
    let command = command.as_std();
    let mut shown = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        let _ = write!(shown, " {}", argument.to_string_lossy());
    }
    shown
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing")
}
