//! Delivers due events from the outbox to the receivers.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use docent_http_client::{Client, ClientOptions, SendError, retry_after};
use docent_jobs::{DeliveryAttempt, Outbox, OutboxEvent, QueuedEvent, state};
use docent_types::{AgentJob, Clock, StoreError, error_chain_of, without_os_number};
use futures::future::{join_all, try_join_all};
use http::header::CONTENT_TYPE;
use http::{Method, Request, StatusCode};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::signing::SigningSecret;
use crate::url::HookUrl;
use crate::verdict::{Answer, RETRY_WAITS, Verdict, judge};

/// Limit for an attempt, from its start to the head of the answer.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// Longest interval between two polls of a hook's queue: the most that a new event waits while no other is due.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long this process has a hook for itself: longer than the attempts that it begins at once.
const HOLD: Duration = Duration::from_secs(2 * ATTEMPT_TIMEOUT.as_secs());
/// The pause after the store has failed.
const STORE_PAUSE: Duration = Duration::from_secs(10);
/// Maximum number of concurrent deliveries to one hook.
const MAX_CONCURRENT_DELIVERIES: u32 = 8;

/// Converts a job to the JSON that receivers get.
pub type JobJson = fn(&AgentJob) -> Value;

/// A receiver of events.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The name in logs.
    pub name: String,
    pub url: HookUrl,
    pub secret: SigningSecret,
}

impl Hook {
    /// The hook's key in the outbox: its URL.
    pub fn key(&self) -> String {
        self.url.uri().to_string()
    }
}

/// Attempts of this process to deliver an event, by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    pub delivered: u64,
    /// Failed attempts that are followed by another.
    pub failed: u64,
    /// Failed attempts after which the event was given up.
    pub given_up: u64,
}

/// The hooks of a server. Clones share the counts.
#[derive(Debug, Clone)]
pub struct Hooks {
    outbox: Arc<dyn Outbox>,
    hooks: Arc<[Hook]>,
    job_json: JobJson,
    clock: Arc<dyn Clock>,
    client: Client,
    waits: Arc<[Duration]>,
    counts: Arc<Mutex<DeliveryCounts>>,
}

impl Hooks {
    pub fn new(outbox: Arc<dyn Outbox>, hooks: Vec<Hook>, job_json: JobJson, clock: Arc<dyn Clock>) -> Self {
        let options = ClientOptions { head: ATTEMPT_TIMEOUT, total: Some(ATTEMPT_TIMEOUT), ..ClientOptions::default() };
        Self {
            outbox,
            hooks: hooks.into(),
            job_json,
            clock,
            client: Client::new(options),
            waits: RETRY_WAITS.into(),
            counts: Arc::default(),
        }
    }

    /// Sets the waits after failed attempts. An event is given up when the attempt after the last wait fails.
    #[must_use]
    pub fn with_waits(self, waits: &[Duration]) -> Self {
        Self { waits: waits.into(), ..self }
    }

    /// Registers the hooks in the store. Call it before the engine starts: a new hook gets the events from then on, and
    /// the queued events of a removed hook are deleted.
    pub async fn register(&self) -> Result<(), StoreError> {
        self.outbox.set_hooks(self.hooks.iter().map(Hook::key).collect()).await
    }

    /// Delivers due events until `stop` is cancelled; then it returns at once. An attempt in progress is repeated by
    /// the next call, in this process or another.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(join_all(self.hooks.iter().map(|hook| self.deliver_to(hook)))).await;
    }

    /// The attempts so far.
    pub fn counts(&self) -> DeliveryCounts {
        *self.counts.lock()
    }

    /// The status with which the receiver answers a `HEAD` request, which carries no event.
    pub async fn probe(&self, hook: &Hook) -> Result<StatusCode, SendError> {
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = Method::HEAD;
        *request.uri_mut() = hook.url.uri().clone();
        Ok(self.client.send(request).await?.status())
    }

    async fn deliver_to(&self, hook: &Hook) {
        loop {
            let pause = self.deliver_due(hook).await.unwrap_or_else(|error| {
                warn!(hook = hook.name, error = &error as &dyn Error, "webhooks wait for the store");
                STORE_PAUSE
            });
            tokio::time::sleep(pause).await;
        }
    }

    /// Polls the queue once; returns the pause before the next poll.
    async fn deliver_due(&self, hook: &Hook) -> Result<Duration, StoreError> {
        let (queued, now) = (self.outbox.queued(&hook.key(), MAX_CONCURRENT_DELIVERIES).await?, self.clock.now());
        if queued.first().is_none_or(|next| next.due > now) {
            return Ok(queued.first().map_or(POLL_INTERVAL, |next| next.due.since(now).min(POLL_INTERVAL)));
        }
        if !self.outbox.take_deliveries(&hook.key(), now, now.plus(HOLD)).await? {
            return Ok(POLL_INTERVAL);
        }
        // Read again: another process may have delivered them before.
        let queued = self.outbox.queued(&hook.key(), MAX_CONCURRENT_DELIVERIES).await?;
        let due: Vec<_> = queued.iter().filter(|queued| queued.due <= now).collect();
        try_join_all(due.into_iter().map(|queued| self.attempt(hook, queued))).await?;
        Ok(Duration::ZERO)
    }

    async fn attempt(&self, hook: &Hook, queued: &QueuedEvent) -> Result<(), StoreError> {
        let (id, job) = (queued.event.id(), queued.event.job.id);
        let (answer, answer_text) = match self.post(hook, &id, &queued.event).await {
            Ok(answer) => (answer, answer.status.map_or_else(String::new, |status| status.as_u16().to_string())),
            Err(error) => (Answer { status: None, retry_after: None }, error_chain_of(&error, without_os_number)),
        };
        let verdict = judge(answer, queued.failed, &self.waits, state::draw(job, queued.failed));
        let now = self.clock.now();
        let retry_at = match verdict {
            Verdict::Delivered => {
                self.counts.lock().delivered += 1;
                debug!(hook = hook.name, event = id, answer = answer_text, "webhook delivered");
                None
            }
            Verdict::Retry(wait) => {
                self.counts.lock().failed += 1;
                let seconds = wait.as_secs();
                info!(
                    hook = hook.name,
                    event = id,
                    answer = answer_text,
                    seconds,
                    "webhook not delivered; it is sent again"
                );
                Some(now.plus(wait))
            }
            Verdict::GivenUp => {
                self.counts.lock().given_up += 1;
                warn!(
                    hook = hook.name,
                    event = id,
                    answer = answer_text,
                    "webhook given up; its event is not sent again"
                );
                None
            }
        };
        let attempt = DeliveryAttempt { at: now, delivered: verdict == Verdict::Delivered, answer: answer_text };
        self.outbox.attempted(&hook.key(), id, attempt, retry_at).await
    }

    async fn post(&self, hook: &Hook, id: &str, event: &OutboxEvent) -> Result<Answer, SendError> {
        let kind = format!("job.{}", event.job.status.as_str());
        let data = (self.job_json)(&event.job);
        let body = json!({ "type": kind, "timestamp": event.at, "data": data }).to_string();
        // The time of the attempt, not of the event: receivers refuse old timestamps.
        let seconds = self.clock.now().seconds();
        let request = Request::post(hook.url.uri())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", hook.secret.sign(id, seconds, body.as_bytes()))
            .body(Bytes::from(body))
            .expect("a parsed address, numbers and visible ASCII make a request");
        let response = self.client.send(request).await?;
        let since_epoch = u64::try_from(self.clock.now().millis()).unwrap_or_default();
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(since_epoch);
        Ok(Answer { status: Some(response.status()), retry_after: retry_after(response.headers(), now) })
    }
}
