//! What the assistant of a site spends in a day, and the limit of it.
//!
//! A model call is counted when it is made, by the estimated tokens of its input, then a little ahead of the text that comes, and
//! corrected when it ends: one that was refused has used nothing. So a reply that ends early, by its reader or with the process, has
//! been counted as well, and never as less.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_llm::Model;
use docent_types::{Domain, StoreError, Timestamp, TokenPrice, Usage};
use tokio::task::JoinHandle;
use tracing::error;

use crate::analytics::start_of;

/// What a reader is told before an answer, and clients that have words of their own for it beside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notice {
    /// What it is about.
    pub(crate) name: &'static str,
    pub(crate) sentence: &'static str,
    /// When it is no longer so.
    pub(crate) until: Timestamp,
}

impl Notice {
    /// That the limit of a day is reached, and `builtin` answers.
    pub(crate) fn limit_of(day: i64) -> Self {
        Self { name: "limit", sentence: LIMIT_REACHED, until: start_of(day.saturating_add(1)) }
    }
}

/// One paragraph of plain text: our chat finds it in the answer by comparison, and says it in the reader's language.
const LIMIT_REACHED: &str = "The assistant of this site has used up what it may spend today, so until 00:00 UTC it quotes \
                                        the docs instead of answering in its own words.";
/// Bytes of text that are counted as a token where a model has not said how many there were.
const BYTES_A_TOKEN: u64 = 4;
/// How far ahead of the text of a running call its output is counted, in tokens, and so how often that is stored.
const AHEAD: u64 = 128;

/// Tokens and their cost, or a correction of them, which may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spend {
    /// Input and output tokens.
    pub tokens: i64,
    /// In millionths of the configured currency; 0 for a model without a price.
    pub cost_micros: i64,
}

impl Spend {
    fn of(usage: Usage, price: Option<TokenPrice>) -> Self {
        let tokens = i64::try_from(usage.input_tokens.saturating_add(usage.output_tokens)).unwrap_or(i64::MAX);
        Self { tokens, cost_micros: price.map_or(0, |price| (price.of(usage) * 1e6).round() as i64) }
    }

    const fn minus(self, other: Self) -> Self {
        Self { tokens: self.tokens - other.tokens, cost_micros: self.cost_micros - other.cost_micros }
    }
}

/// The most that the assistant of a site may spend in a UTC day. The default is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DailyLimit {
    pub tokens: Option<u64>,
    pub cost_micros: Option<u64>,
}

/// The limits of all sites.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DailyLimits {
    pub usual: DailyLimit,
    /// Sites with limits of their own; what one leaves open is as usual.
    pub by_domain: BTreeMap<Domain, DailyLimit>,
}

impl DailyLimits {
    pub fn of(&self, domain: &Domain) -> DailyLimit {
        let own = self.by_domain.get(domain).copied().unwrap_or_default();
        DailyLimit { tokens: own.tokens.or(self.usual.tokens), cost_micros: own.cost_micros.or(self.usual.cost_micros) }
    }
}

impl DailyLimit {
    pub(crate) const fn is_set(&self) -> bool {
        self.tokens.is_some() || self.cost_micros.is_some()
    }

    /// Whether no further question may be answered by a model.
    pub fn is_reached(&self, spent: Spend) -> bool {
        let reached =
            |limit: Option<u64>, spent: i64| limit.is_some_and(|limit| i128::from(spent) >= i128::from(limit));
        reached(self.tokens, spent.tokens) || reached(self.cost_micros, spent.cost_micros)
    }
}

/// Storage of what was spent. A write is visible to every later read, and survives a crash of the process.
#[async_trait]
pub trait Spends: Send + Sync + fmt::Debug + 'static {
    /// Adds to what a domain has spent on a UTC day, counted from the Unix epoch.
    async fn spend(&self, domain: &Domain, day: i64, spend: Spend) -> Result<(), StoreError>;

    /// What a domain has spent on a day.
    async fn spent(&self, domain: &Domain, day: i64) -> Result<Spend, StoreError>;
}

/// Where spending is counted, its limits, and what answers once one is reached.
#[derive(Debug, Clone)]
pub struct DailyBudget {
    pub spends: Arc<dyn Spends>,
    pub limits: DailyLimits,
    /// A model that costs nothing, such as `builtin`.
    pub instead: Arc<dyn Model>,
}

/// Counts what one reply spends.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    account: Option<Account>,
    /// What ended calls have used.
    used: Usage,
    /// The call that runs, by estimate.
    running: Usage,
    written_bytes: u64,
    counted: Spend,
    /// The newest write; those before it end earlier.
    write: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone)]
struct Account {
    spends: Arc<dyn Spends>,
    domain: Domain,
    day: i64,
    price: Option<TokenPrice>,
}

impl Meter {
    pub(crate) fn new(spends: Arc<dyn Spends>, domain: Domain, day: i64, price: Option<TokenPrice>) -> Self {
        let mut meter = Self::default();
        meter.account = Some(Account { spends, domain, day, price });
        meter
    }

    /// A call is made, with about this many tokens of input. One that was made before and failed has used nothing.
    pub(crate) fn begin(&mut self, input_tokens: u32) {
        self.running = Usage::of(input_tokens.into(), AHEAD);
        self.written_bytes = 0;
        self.count();
    }

    /// The running call has written more text.
    pub(crate) fn wrote(&mut self, bytes: usize) {
        self.written_bytes += bytes as u64;
        if self.written() >= self.running.output_tokens {
            self.running.output_tokens = self.written() + AHEAD;
            self.count();
        }
    }

    /// The running call's output by its text, in tokens.
    const fn written(&self) -> u64 {
        self.written_bytes / BYTES_A_TOKEN
    }

    /// A call has ended. One that was refused has used nothing.
    pub(crate) fn end(&mut self, usage: Usage) {
        self.running = Usage::default();
        self.written_bytes = 0;
        self.used += usage;
        self.count();
    }

    /// Waits until everything so far is stored.
    pub(crate) async fn stored(&mut self) {
        if let Some(write) = self.write.take() {
            // A panic in the store was reported where it happened.
            let _ = write.await;
        }
    }

    /// Stores what is not yet counted, in a task that ends even if the reader leaves.
    fn count(&mut self) {
        let Some(Account { spends, domain, day, price }) = self.account.clone() else { return };
        let mut all = self.used;
        all += self.running;
        let all = Spend::of(all, price);
        let spend = all.minus(std::mem::replace(&mut self.counted, all));
        if spend == Spend::default() {
            return;
        }
        let before = self.write.take();
        self.write = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            if let Err(failure) = spends.spend(&domain, day, spend).await {
                error!(%domain, error = &failure as &dyn std::error::Error, "could not count what a question cost");
            }
        }));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // A reply may be dropped outside of a runtime, when the process ends: its call stays counted a little ahead.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.running.output_tokens = self.written();
            self.count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemorySpends;

    fn domain() -> Domain {
        Domain::parse("acme").expect("a name")
    }

    #[tokio::test]
    async fn a_call_is_counted_when_it_begins_and_corrected_when_it_ends() {
        let spends = Arc::new(MemorySpends::default());
        let price = TokenPrice { input: 1.0, cached_input: 0.5, output: 10.0 };
        let mut meter = Meter::new(Arc::clone(&spends) as _, domain(), 7, Some(price));
        let spent = async || spends.spent(&domain(), 7).await.expect("reads");
        meter.begin(1_000);
        meter.stored().await;
        let output = AHEAD as i64;
        assert_eq!(spent().await, Spend { tokens: 1_000 + output, cost_micros: 1_000 + 10 * output });
        meter.wrote(400);
        meter.end(Usage { input_tokens: 900, output_tokens: 50, cached_input_tokens: 800 });
        meter.stored().await;
        assert_eq!(spent().await, Spend { tokens: 950, cost_micros: 100 + 400 + 500 });
        meter.begin(10);
        meter.end(Usage::default());
        meter.stored().await;
        assert_eq!(spent().await.tokens, 950, "a call that was refused");
    }

    #[tokio::test]
    async fn what_a_running_call_writes_is_stored_before_it_is_written() {
        let spends = Arc::new(MemorySpends::default());
        let mut meter = Meter::new(Arc::clone(&spends) as _, domain(), 7, None);
        meter.begin(1_000);
        for written in 1..=1_000 {
            meter.wrote(4);
            meter.stored().await;
            let output = spends.spent(&domain(), 7).await.expect("reads").tokens - 1_000;
            assert!((written + 1..=written + AHEAD as i64).contains(&output), "{output} for {written}");
        }
    }

    #[tokio::test]
    async fn a_reply_that_is_dropped_has_cost_what_it_wrote() {
        let spends = Arc::new(MemorySpends::default());
        let mut meter = Meter::new(Arc::clone(&spends) as _, domain(), 7, None);
        meter.begin(100);
        meter.wrote(40);
        drop(meter);
        while spends.spent(&domain(), 7).await.expect("reads").tokens < 110 {
            tokio::task::yield_now().await;
        }
        assert_eq!(spends.spent(&domain(), 8).await.expect("reads"), Spend::default(), "another day");
    }

    #[test]
    fn a_limit_is_reached_by_tokens_or_by_cost() {
        let spent = Spend { tokens: 10, cost_micros: 20 };
        let limit = |tokens, cost_micros| DailyLimit { tokens, cost_micros }.is_reached(spent);
        assert!(limit(Some(10), None) && limit(None, Some(20)) && limit(Some(0), Some(99)));
        assert!(!limit(Some(11), Some(21)) && !limit(None, None));
    }

    #[test]
    fn what_a_site_leaves_open_is_as_usual() {
        let own = DailyLimit { tokens: Some(1), cost_micros: None };
        let usual = DailyLimit { tokens: Some(9), cost_micros: Some(7) };
        let limits = DailyLimits { usual, by_domain: [(domain(), own)].into() };
        assert_eq!(limits.of(&domain()), DailyLimit { tokens: Some(1), cost_micros: Some(7) });
        assert_eq!(limits.of(&Domain::parse("other").expect("a name")), usual);
    }
}
