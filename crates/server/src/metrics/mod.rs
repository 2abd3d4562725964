//! `GET /metrics`: counters and gauges for Prometheus.
//!
//! It needs no key, so it contains numbers only: no names, contents or addresses. Counters start at 0 with the process;
//! jobs are counted in the store, over all time.

mod model_calls;
mod text;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docent_assistant::Assistant;
use docent_discovery::Replies;
use docent_embed::Questions;
use docent_hooks::Hooks;
use docent_types::{JobStatus, StoreError, Timestamp};
use docent_web::{Request, Response, respond};
use http::StatusCode;
use parking_lot::Mutex;
use tracing::warn;

pub(crate) use self::model_calls::ModelCalls;
use self::text::{Exposition, MetricKind};
use crate::wiring::storage::Storage;

/// The metrics of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: Timestamp,
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    streams: Arc<AtomicU64>,
    replies: Replies,
    models: ModelCalls,
    /// `None` without an embedder.
    questions: Option<Arc<Questions>>,
    hooks: Option<Hooks>,
    assistant: Option<Arc<Assistant>>,
}

/// A stream that counts as live until this is dropped.
struct LiveStream(Arc<AtomicU64>);

impl Drop for LiveStream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    pub(crate) fn new(started: Timestamp, replies: Replies, models: ModelCalls) -> Self {
        let (requests, streams) = (Mutex::default(), Arc::default());
        Self { started, requests, streams, replies, models, questions: None, hooks: None, assistant: None }
    }

    /// Adds the outcomes of questions that need a vector.
    pub(crate) fn with_questions(self, questions: Option<Arc<Questions>>) -> Self {
        Self { questions, ..self }
    }

    /// Adds the replies that a daily limit kept from a language model.
    pub(crate) fn with_assistant(self, assistant: Arc<Assistant>) -> Self {
        Self { assistant: Some(assistant), ..self }
    }

    /// Adds the deliveries of webhooks.
    pub(crate) fn with_hooks(self, hooks: Hooks) -> Self {
        Self { hooks: Some(hooks), ..self }
    }

    /// Counts a response, and its body as live while it streams.
    pub(crate) fn answered(&self, route: &'static str, response: Response) -> Response {
        let mut requests = self.requests.lock();
        *requests.entry((route, response.status().as_u16())).or_default() += 1;
        drop(requests);
        if !response.body().is_stream() {
            return response;
        }
        self.streams.fetch_add(1, Ordering::Relaxed);
        let live = LiveStream(Arc::clone(&self.streams));
        response.map(|body| body.holding(live))
    }

    /// The current values of all metrics.
    pub(crate) async fn exposed(&self, store: &dyn Storage) -> Response {
        let mut text = Exposition::default();
        text.family("docent_build_info", MetricKind::Gauge, "1, under the version of the program.")
            .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
        let started = u64::try_from(self.started.millis() / 1000).unwrap_or(0);
        text.family(
            "process_start_time_seconds",
            MetricKind::Gauge,
            "When the process started, in seconds since 1970.",
        )
        .sample(&[], started);
        self.http(&mut text);
        self.replies(&mut text);
        self.models(&mut text);
        self.questions(&mut text);
        self.hooks(&mut text);
        if let Err(error) = jobs(&mut text, store).await {
            warn!(error = &error as &dyn std::error::Error, "metrics without jobs: they could not be counted");
        }
        respond::bytes_of(StatusCode::OK, Exposition::CONTENT_TYPE, text.into_text())
    }

    fn http(&self, text: &mut Exposition) {
        let live = self.streams.load(Ordering::Relaxed);
        text.family("docent_streams_live", MetricKind::Gauge, "Answers that are being streamed.").sample(&[], live);
        let requests = self.requests.lock();
        let mut family = text.family(
            "docent_http_requests_total",
            MetricKind::Counter,
            "Requests that were answered, by path and status.",
        );
        for ((route, status), count) in &*requests {
            family.sample(&[("route", route), ("status", &status.to_string())], *count);
        }
    }

    fn replies(&self, text: &mut Exposition) {
        let counts = self.replies.counts();
        text.family("docent_replies_live", MetricKind::Gauge, "Questions that are being answered.")
            .sample(&[], counts.running);
        text.family("docent_replies_total", MetricKind::Counter, "Questions to the assistant, by what became of them.")
            .sample(&[("outcome", "finished")], counts.finished)
            .sample(&[("outcome", "failed")], counts.failed)
            .sample(&[("outcome", "left")], counts.left)
            .sample(&[("outcome", "refused")], counts.refused);
        if let Some(assistant) = &self.assistant {
            text.family(
                "docent_limited_replies_total",
                MetricKind::Counter,
                "Questions that were answered without a language model, because the daily limit of their site was reached.",
            )
            .sample(&[], assistant.limited_replies());
        }
    }

    fn questions(&self, text: &mut Exposition) {
        let Some(questions) = &self.questions else { return };
        let counts = questions.counts();
        let help = "Questions that were to get a vector, by what became of it; late, failed and unready ones were answered by words alone.";
        text.family("docent_question_vectors_total", MetricKind::Counter, help)
            .sample(&[("outcome", "embedded")], counts.embedded)
            .sample(&[("outcome", "cached")], counts.cached)
            .sample(&[("outcome", "late")], counts.late)
            .sample(&[("outcome", "failed")], counts.failed)
            .sample(&[("outcome", "unready")], counts.unready);
    }

    fn hooks(&self, text: &mut Exposition) {
        let Some(hooks) = &self.hooks else { return };
        let counts = hooks.counts();
        let help = "Attempts to deliver an event to a webhook, by how they ended.";
        text.family("docent_webhook_deliveries_total", MetricKind::Counter, help)
            .sample(&[("outcome", "delivered")], counts.delivered)
            .sample(&[("outcome", "failed")], counts.failed)
            .sample(&[("outcome", "given_up")], counts.given_up);
    }

    fn models(&self, text: &mut Exposition) {
        let models = self.models.totals();
        let mut calls =
            text.family("docent_model_calls_total", MetricKind::Counter, "Calls of models, by how they ended.");
        for (model, counted) in &models {
            for (outcome, count) in
                [("done", counted.done), ("failed", counted.failed), ("cancelled", counted.cancelled)]
            {
                calls.sample(&[("model", model), ("outcome", outcome)], count);
            }
        }
        let mut tokens =
            text.family("docent_model_tokens_total", MetricKind::Counter, "Tokens that models read and wrote.");
        for (model, counted) in &models {
            tokens.sample(&[("model", model), ("direction", "input")], counted.usage.input_tokens);
            tokens.sample(&[("model", model), ("direction", "output")], counted.usage.output_tokens);
        }
        let help = "Those of the tokens read that came from the provider's cache.";
        let mut cached = text.family("docent_model_cached_input_tokens_total", MetricKind::Counter, help);
        for (model, counted) in &models {
            cached.sample(&[("model", model)], counted.usage.cached_input_tokens);
        }
    }
}

async fn jobs(text: &mut Exposition, store: &dyn Storage) -> Result<(), StoreError> {
    let (counts, running) = (store.jobs_by_status().await?, store.leased().await?.len());
    let mut family = text.family("docent_jobs", MetricKind::Gauge, "Jobs of all times, by their status.");
    for status in JobStatus::ALL {
        let count = counts.iter().find(|(counted, _)| *counted == status).map_or(0, |(_, count)| *count);
        family.sample(&[("status", status.as_str())], count);
    }
    let queued = store.hook_states().await?.iter().map(|hook| hook.queued).sum();
    text.family("docent_webhook_events_queued", MetricKind::Gauge, "Events that webhooks are still to be told.")
        .sample(&[], queued);
    text.family("docent_jobs_running", MetricKind::Gauge, "Jobs that a worker has in its hands.")
        .sample(&[], running as u64);
    Ok(())
}

/// The route label of a request, from a closed list, so that requests cannot add labels.
pub(crate) fn route_of(request: &Request) -> &'static str {
    // The most frequent path is matched first, without splitting it.
    if request.path().starts_with("/v2/agent/") {
        return "/v2/agent";
    }
    match *request.segments().as_slice() {
        ["v1", "agent", ..] => "/v1/agent",
        ["v1", "analytics", ..] => "/v1/analytics",
        ["v2", "agent", ..] => "/v2/agent",
        ["discovery", "v1", "assistant", _, "feedback"] => "/discovery/v1/assistant/feedback",
        ["discovery", "v1", "assistant", ..] => "/discovery/v1/assistant",
        ["discovery", "v2", "assistant", ..] => "/discovery/v2/assistant",
        ["discovery", "v2", "openai", ..] => "/discovery/v2/openai",
        ["discovery", "v1", "search", ..] => "/discovery/v1/search",
        ["discovery", "v1", "page", ..] => "/discovery/v1/page",
        ["sites", ..] => "/sites",
        ["mcp", ..] => "/mcp",
        ["healthz"] => "/healthz",
        ["readyz"] => "/readyz",
        ["metrics"] => "/metrics",
        ["widget.js"] | ["widget", ..] => "/widget",
        ["openapi.json"] => "/openapi.json",
        ["docs", "api"] => "/docs/api",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_stream_is_live_until_its_body_is_gone() {
        let metrics = Metrics::new(Timestamp::from_millis(0), Replies::default(), ModelCalls::default());
        let live = || metrics.streams.load(Ordering::Relaxed);
        let whole = metrics.answered("/a", respond::empty(StatusCode::NO_CONTENT));
        assert_eq!(live(), 0);
        let streamed = metrics.answered("/a", respond::stream("text/plain", futures::stream::pending::<Bytes>()));
        assert_eq!(live(), 1);
        drop((whole, streamed));
        assert_eq!(live(), 0);
        let mut text = Exposition::default();
        metrics.http(&mut text);
        let text = text.into_text();
        assert!(text.contains("\ndocent_http_requests_total{route=\"/a\",status=\"200\"} 1\n"), "{text}");
        assert!(text.contains("\ndocent_http_requests_total{route=\"/a\",status=\"204\"} 1\n"), "{text}");
    }
}
