//! Third-party servers that stories are played against: started as child processes on the loopback interface, killed
//! when dropped.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::binary::source_root;
use crate::http::{Request, Response};
use crate::wait::eventually;

/// A running third-party server.
#[derive(Debug)]
pub struct ThirdPartyServer {
    name: &'static str,
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl ThirdPartyServer {
    /// Starts `command`, which is configured to listen on `port`, and waits until it answers. Its output goes to a log
    /// in `folder`.
    ///
    /// # Panics
    /// When it can't be started, or ends, or does not answer.
    pub fn start(name: &'static str, mut command: Command, port: u16, folder: &Path) -> Self {
        let log = folder.join(format!("{name}.log"));
        let file = File::create(&log).expect("create a log");
        let said = file.try_clone().expect("share a log");
        // In its own process group, so that its descendants end with it.
        command.stdin(Stdio::null()).stdout(said).stderr(file).process_group(0);
        let child = command.spawn().unwrap_or_else(|error| panic!("could not start {name}: {error} ({command:?})"));
        let mut server = Self { name, child, address: SocketAddr::from(([127, 0, 0, 1], port)), log };
        eventually(&format!("{name} to answer"), || {
            if let Some(status) = server.child.try_wait().expect("ask after a child") {
                panic!("{name} ended before it answered ({status}):\n{}", server.said());
            }
            Request::get("/").send(server.address).ok()
        });
        server
    }

    pub fn address(&self) -> SocketAddr {
        self.address
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
        request.send(self.address).unwrap_or_else(|error| panic!("{}: no answer ({error}) to {request:?}", self.name))
    }

    /// The server's output so far.
    pub fn said(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

impl Drop for ThirdPartyServer {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
        if thread::panicking() {
            let said = self.said();
            let lines: Vec<&str> = said.lines().collect();
            eprintln!("--- {}, its end ---\n{}", self.name, lines[lines.len().saturating_sub(30)..].join("\n"));
        }
    }
}

/// `node SCRIPT` in a folder of the tests. `$DOCENT_NODE` names another node.
pub fn node(folder: &str, script: &str) -> Command {
    let node = std::env::var_os("DOCENT_NODE").unwrap_or_else(|| "node".into());
    let folder = source_root().join("tests").join(folder);
    let mut command = Command::new(node);
    command.arg(folder.join(script)).current_dir(folder).env("NO_COLOR", "1");
    command
}

/// A port that is free at the moment.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("find a free port");
    listener.local_addr().expect("a listener has an address").port()
}

/// A story and its name.
pub type Story<'a> = (String, Box<dyn Fn() + Send + Sync + 'a>);

/// Plays stories concurrently, at most `at_once` at a time: they wait more than they work.
///
/// # Panics
/// When one of them panics, after all have ended.
pub fn play_side_by_side(stories: Vec<Story<'_>>, at_once: usize) {
    let left = parking_lot::Mutex::new(stories.into_iter());
    let failed = parking_lot::Mutex::new(Vec::new());
    let next = || left.lock().next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((name, story)) = next() {
                    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&story));
                    println!("{} {name}", if played.is_ok() { "ok    " } else { "FAILED" });
                    if played.is_err() {
                        failed.lock().push(name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner();
    assert!(failed.is_empty(), "not as told: {}", failed.join(", "));
}
