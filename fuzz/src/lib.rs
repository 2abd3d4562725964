//! What the targets that ask a server have in common: a house that is torn down now and then, and a limit of time.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// How long one answer may take, until its last byte.
const LONGEST: Duration = Duration::from_secs(5);
/// How many are asked of one house: it remembers what it was asked, and counts it against its limits.
const ASKED: usize = 500;

/// A house, and the runtime that everything in it runs on.
pub struct Street<H> {
    build: fn(&Runtime) -> H,
    home: Option<(Runtime, H)>,
    asked: usize,
}

impl<H> Street<H> {
    pub fn new(build: fn(&Runtime) -> H) -> Self {
        Self { build, home: None, asked: 0 }
    }

    /// Has something done in a house, with a limit of time.
    ///
    /// # Panics
    /// When it takes longer.
    pub fn visit<T>(&mut self, ask: impl AsyncFnOnce(&H) -> T) -> T {
        if self.asked == ASKED {
            (self.home, self.asked) = (None, 0);
        }
        self.asked += 1;
        let (runtime, house) = self.home.get_or_insert_with(|| {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            let house = (self.build)(&runtime);
            (runtime, house)
        });
        runtime.block_on(limited(ask(house)))
    }
}

async fn limited<T>(answer: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONGEST, answer).await.expect("nothing takes that long")
}

/// Whether this is an answer, or a word about what is wrong with the request.
pub const fn is_told(status: u16) -> bool {
    status == 200 || status == 204 || (status >= 400 && status < 500)
}
