//! A receiver of webhooks that records the requests, and can be set to fail or not to answer.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::http_server::{AfterAnswer, Connection, Received, listen};
use crate::wait::eventually;

/// A running receiver. It ends with the process.
#[derive(Debug, Clone)]
pub struct HookReceiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    deliveries: Vec<Delivery>,
    /// The statuses of the next responses; 200 when the queue is empty.
    answers: VecDeque<u16>,
    is_silent: bool,
}

/// A request that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub target: String,
    /// Keyed by lower-case name.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Delivery {
    /// The id of the event.
    pub fn id(&self) -> &str {
        self.headers.get("webhook-id").map_or("", String::as_str)
    }
}

impl HookReceiver {
    /// A receiver on a free port.
    pub fn start() -> Self {
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        let address = listen(0, Arc::new(move |received, connection| serve(received, connection, &shared)));
        Self { address, state }
    }

    /// The URL to which events are posted.
    pub fn url(&self) -> String {
        format!("http://{}/docent?key=s3cret-4711", self.address)
    }

    /// Answers the next request with this status.
    pub fn answers(&self, status: u16) {
        self.state.lock().answers.push_back(status);
    }

    /// Stops answering requests, or answers them again.
    pub fn is_silent(&self, silent: bool) {
        self.state.lock().is_silent = silent;
    }

    /// The requests so far, oldest first.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.state.lock().deliveries.clone()
    }

    /// Waits until this many requests were received, and returns all.
    ///
    /// # Panics
    /// When they do not arrive in time.
    pub fn receives(&self, count: usize) -> Vec<Delivery> {
        eventually(&format!("{count} deliveries"), || Some(self.deliveries()).filter(|all| all.len() >= count))
    }
}

fn serve(received: Received, connection: &mut Connection, state: &Mutex<State>) -> std::io::Result<AfterAnswer> {
    if received.method != "POST" {
        return connection.answer(405, &[], b"");
    }
    let (is_silent, answer) = {
        let mut state = state.lock();
        state.deliveries.push(Delivery { target: received.target, headers: received.headers, body: received.body });
        (state.is_silent, state.answers.pop_front())
    };
    if is_silent {
        return connection.outwait();
    }
    connection.answer(answer.map_or(200, |status| status), &[], b"")
}
