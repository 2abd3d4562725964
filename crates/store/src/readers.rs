//! The threads that read, each on its own connection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use docent_types::{BoxError, StoreError};
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{Closed, OpenError, Panicked};

#[derive(Debug)]
pub(crate) struct ReadPool {
    queue: Sender<ReaderMessage>,
    threads: Vec<JoinHandle<()>>,
}

enum ReaderMessage {
    Read(Box<dyn FnOnce(&Connection) + Send>),
    Close,
}

impl ReadPool {
    pub(crate) fn start(connections: Vec<Connection>) -> Result<Self, OpenError> {
        let (queue, reads) = channel();
        let reads = Arc::new(Mutex::new(reads));
        let mut readers = Self { queue, threads: Vec::new() };
        for connection in connections {
            let reads = Arc::clone(&reads);
            let thread = std::thread::Builder::new().name("store-reader".to_owned());
            let thread = thread.spawn(move || serve(&connection, &reads));
            readers.threads.push(thread.map_err(|source| OpenError::Thread { source })?);
        }
        Ok(readers)
    }

    /// Runs `work` on the newest committed state. `doing` completes "could not …".
    pub(crate) async fn read<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, BoxError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let read = move |connection: &Connection| {
            let result = catch_unwind(AssertUnwindSafe(|| work(connection)));
            let result = result.unwrap_or_else(|_| Err(Panicked.into()));
            // The caller may have gone away.
            let _ = reply.send(result);
        };
        let closed = |_| StoreError::new(doing, Closed);
        self.queue.send(ReaderMessage::Read(Box::new(read))).map_err(|_| StoreError::new(doing, Closed))?;
        answer.await.map_err(closed)?.map_err(|error| StoreError::new(doing, error))
    }

    /// Stops the threads after the reads that are already queued.
    pub(crate) fn close(&self) {
        for _ in &self.threads {
            let _ = self.queue.send(ReaderMessage::Close);
        }
    }
}

impl Drop for ReadPool {
    fn drop(&mut self) {
        self.close();
        for thread in self.threads.drain(..) {
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

fn serve(connection: &Connection, reads: &Mutex<Receiver<ReaderMessage>>) {
    loop {
        let next = reads.lock().recv();
        match next {
            Ok(ReaderMessage::Read(read)) => read(connection),
            Ok(ReaderMessage::Close) | Err(_) => return,
        }
    }
}
