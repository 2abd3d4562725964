//! A server that an attacker or a service inside the network runs: it answers everything in one way and records what it
//! was sent.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::http_server::listen;

/// A running listener. It ends with the process.
#[derive(Debug, Clone)]
pub struct Listener {
    address: SocketAddr,
    credentials: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    /// A listener that answers every request with this status, content type and body.
    pub fn answering(status: u16, content_type: &str, body: &str) -> Self {
        let credentials = Arc::<Mutex<Vec<String>>>::default();
        let headers = [("Content-Type", content_type.to_owned()), ("WWW-Authenticate", "Basic".to_owned())];
        let (received_by, body) = (Arc::clone(&credentials), body.to_owned());
        let address = listen(
            0,
            Arc::new(move |received, connection| {
                let sent = ["authorization", "private-token"].iter().filter_map(|name| received.headers.get(*name));
                received_by.lock().extend(sent.cloned());
                connection.answer(status, &headers, body.as_bytes())
            }),
        );
        Self { address, credentials }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The credentials that requests had.
    pub fn credentials(&self) -> Vec<String> {
        self.credentials.lock().clone()
    }
}
