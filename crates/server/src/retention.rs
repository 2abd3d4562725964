//! Forgets the conversations that nobody touched for as long as `assistant.thread_days` says.

use std::sync::Arc;
use std::time::Duration;

use docent_assistant::Assistant;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

const EVERY: Duration = Duration::from_secs(60 * 60);

/// At once and then every hour, until the server drains. What is left in the middle is taken up the next time.
pub(crate) async fn keep(assistant: Arc<Assistant>, untouched: Duration, drain: CancellationToken) {
    let mut hours = interval(EVERY);
    hours.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let keeping = async {
        loop {
            hours.tick().await;
            match assistant.forget(untouched).await {
                Ok(0) => {}
                Ok(conversations) => info!(conversations, "forgot conversations that were not touched for long"),
                Err(error) => {
                    warn!(error = &error as &dyn std::error::Error, "could not forget old conversations");
                }
            }
        }
    };
    drain.run_until_cancelled(keeping).await;
}

#[cfg(test)]
mod tests {
    use docent_assistant::memory::MemoryThreads;
    use docent_assistant::{NewThread, ThreadKey, Threads};
    use docent_llm::builtin::Builtin;
    use docent_types::{Domain, FixedIds, Ids, ManualClock, ThreadId, Timestamp};

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    struct House {
        clock: ManualClock,
        ids: FixedIds,
        domain: Domain,
        threads: Arc<MemoryThreads>,
    }

    impl House {
        async fn begun(&self, at: Timestamp) -> ThreadId {
            let id = ThreadId::new(self.ids.unguessable());
            let thread = NewThread {
                id,
                domain: self.domain.clone(),
                fp: "anonymous".to_owned(),
                key: ThreadKey::of("secret"),
                created_at: at,
                turns: Vec::new(),
            };
            self.threads.begin(thread).await.expect("begins");
            id
        }

        async fn knows(&self, id: ThreadId) -> bool {
            self.threads.thread(&self.domain, id).await.expect("reads").is_some()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_touched_for_long_is_forgotten_at_the_start_and_then_within_the_hour() {
        let house = House {
            clock: ManualClock::at(NOW),
            ids: FixedIds::default(),
            domain: Domain::parse("docs").expect("a name"),
            threads: Arc::default(),
        };
        let old = house.begun(NOW.minus(91 * DAY)).await;
        let ageing = house.begun(NOW.minus(90 * DAY).plus(EVERY / 2)).await;
        let young = house.begun(NOW).await;
        let assistant = Assistant::new(
            Arc::new(Builtin),
            Arc::clone(&house.threads) as _,
            Arc::new(house.clock.clone()),
            Arc::new(FixedIds::default()),
        );
        let drain = CancellationToken::new();
        let keeper = tokio::spawn(keep(Arc::new(assistant), 90 * DAY, drain.clone()));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!house.knows(old).await && house.knows(ageing).await);
        house.clock.advance(EVERY);
        tokio::time::sleep(EVERY).await;
        assert!(!house.knows(ageing).await && house.knows(young).await);
        drain.cancel();
        keeper.await.expect("it ends with the server");
    }
}
