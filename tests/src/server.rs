//! A running `docent serve`.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::http::{Request, Response};
use crate::wait::eventually;

/// A server process. Killed when dropped; its log is printed if the test that holds it panics.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Server {
    /// Starts `command` and waits for the line `listening on http://ADDR` on its stdout. Its stderr is appended to
    /// `log`.
    ///
    /// # Panics
    /// When the process ends before it listens; the message has its log.
    pub fn start(mut command: Command, log: &Path) -> Self {
        let stderr = OpenOptions::new().create(true).append(true).open(log).expect("open the server's log");
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().expect("start docent serve");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let address = loop {
            let mut line = String::new();
            if stdout.read_line(&mut line).expect("read the server's stdout") == 0 {
                let status = child.wait().expect("wait for the server");
                panic!("docent serve ended before it listened ({status}):\n{}", tail(log));
            }
            if let Some(url) = line.trim().strip_prefix("listening on http://") {
                break url.trim_end_matches('/').parse().expect("the server names a socket address");
            }
        };
        // An unread pipe that is full would block the server.
        thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
        Self { child, address, log: log.to_owned() }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The current resident memory of the process, in bytes. Linux only.
    ///
    /// # Panics
    /// When the system does not report it.
    pub fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("read the server's status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a process has memory");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number of kibibytes") << 10
    }

    /// Runs `work`, and polls `/healthz` meanwhile: returns the result of `work`, and the longest response time of
    /// `/healthz`.
    pub fn watched<T: Send>(&self, work: impl FnOnce() -> T + Send) -> (T, Duration) {
        thread::scope(|scope| {
            let work = scope.spawn(work);
            let mut longest = Duration::ZERO;
            while !work.is_finished() {
                let begun = Instant::now();
                assert_eq!(self.send(&Request::get("/healthz")).status, 200);
                longest = longest.max(begun.elapsed());
                thread::sleep(Duration::from_millis(1));
            }
            (work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), longest)
        })
    }

    /// `http://ADDR`, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends a request that must be answered.
    ///
    /// # Panics
    /// When the connection fails.
    pub fn send(&self, request: &Request) -> Response {
        request.send(self.address).unwrap_or_else(|error| panic!("no answer ({error}) to {request:?}"))
    }

    /// `kill -9`, and waits until the process is gone.
    pub fn kill(mut self) {
        self.kill_now();
        self.child.wait().expect("wait for the killed server");
    }

    /// `kill -9`; does not wait.
    pub fn kill_now(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).expect("kill the server");
    }

    /// SIGTERM; does not wait.
    pub fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("send SIGTERM to the server");
    }

    /// SIGHUP; does not wait.
    pub fn hang_up(&self) {
        kill_process(Pid::from_child(&self.child), Signal::HUP).expect("send SIGHUP to the server");
    }

    /// SIGSTOP: the process stands still until [`thaw`](Self::thaw).
    pub fn freeze(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).expect("freeze the server");
    }

    /// SIGCONT: the process goes on where it stood, and knows nothing of the time that passed.
    pub fn thaw(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).expect("thaw the server");
    }

    /// What the server has logged.
    pub fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Waits until the process ends by itself.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn ended(mut self) -> ExitStatus {
        eventually("the server to end", || self.child.try_wait().expect("ask after the server"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- the server's log, its end ---\n{}", tail(&self.log));
        }
    }
}

fn tail(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}
