//! What the targets that send requests share: a service that is rebuilt after some requests, and a time limit.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Limit of one answer, until its last byte.
const LONGEST: Duration = Duration::from_secs(5);
/// Requests to one service before it is rebuilt: it stores them, and counts them against its limits.
const REQUESTS: usize = 500;

/// A service, and the runtime it runs on.
pub struct Harness<S> {
    build: fn(&Runtime) -> S,
    service: Option<(Runtime, S)>,
    requests: usize,
}

impl<S> Harness<S> {
    pub fn new(build: fn(&Runtime) -> S) -> Self {
        Self { build, service: None, requests: 0 }
    }

    /// Calls the service, with a time limit.
    ///
    /// # Panics
    /// When it takes longer.
    pub fn run<T>(&mut self, ask: impl AsyncFnOnce(&S) -> T) -> T {
        if self.requests == REQUESTS {
            (self.service, self.requests) = (None, 0);
        }
        self.requests += 1;
        let (runtime, service) = self.service.get_or_insert_with(|| {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            let service = (self.build)(&runtime);
            (runtime, service)
        });
        runtime.block_on(limited(ask(service)))
    }
}

async fn limited<T>(answer: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONGEST, answer).await.expect("nothing takes that long")
}

/// Whether a status is a success or an error of the caller.
pub const fn is_expected(status: u16) -> bool {
    status == 200 || status == 204 || (status >= 400 && status < 500)
}
