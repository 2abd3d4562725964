//! `GET /metrics`: counters and gauges for Prometheus.
//!
//! It needs no key, so it contains numbers, and no names but those of models and the domains of sites: no contents and no
//! addresses. Counters start at 0 with the process; jobs are counted in the store, over all time.

mod disk;
mod model_calls;
mod requests;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docent_assistant::Assistant;
use docent_authoring::GitTimes;
use docent_discovery::Replies;
use docent_embed::Questions;
use docent_hooks::Hooks;
use docent_jobs::JobTimes;
use docent_types::{Domain, JobStatus, StoreError, Timestamp, WorkDurations};
use docent_web::{Response, respond};
use http::StatusCode;
use tracing::warn;

pub(crate) use self::disk::DiskUse;
pub(crate) use self::model_calls::ModelCalls;
use self::requests::Requests;
pub(crate) use self::requests::route_of;
use self::text::{Exposition, MetricKind};
use crate::wiring::app::App;
use crate::wiring::storage::Storage;

/// Most sites whose index is shown: those that were not updated for longest. A series for each of thousands of sites would
/// cost more than it tells.
const MOST_SITES: usize = 200;

/// The metrics of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: Timestamp,
    requests: Requests,
    streams: Arc<AtomicU64>,
    replies: Replies,
    models: ModelCalls,
    job_times: Arc<JobTimes>,
    disk: DiskUse,
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
    pub(crate) fn new(started: Timestamp, models: ModelCalls, job_times: Arc<JobTimes>) -> Self {
        let (requests, streams) = (Requests::new(), Arc::default());
        let (replies, disk, questions, hooks, assistant) = Default::default();
        Self { started, requests, streams, replies, models, job_times, disk, questions, hooks, assistant }
    }

    /// What the data folder takes of the disk; it is to be kept up to date.
    pub(crate) const fn disk(&self) -> &DiskUse {
        &self.disk
    }

    /// Adds the replies of the assistant.
    pub(crate) fn with_replies(self, replies: Replies) -> Self {
        Self { replies, ..self }
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

    /// Counts a response that took this long until its head, and its body as live while it streams.
    pub(crate) fn answered(&self, route: &'static str, took: Duration, response: Response) -> Response {
        self.requests.answered(route, response.status(), took);
        if !response.body().is_stream() {
            return response;
        }
        self.streams.fetch_add(1, Ordering::Relaxed);
        let live = LiveStream(Arc::clone(&self.streams));
        response.map(|body| body.holding(live))
    }

    /// The current values of all metrics.
    pub(crate) async fn exposed(&self, app: &App) -> Response {
        let mut text = Exposition::default();
        text.family("docent_build_info", MetricKind::Gauge, "1, under the version of the program.")
            .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
        text.family(
            "process_start_time_seconds",
            MetricKind::Gauge,
            "When the process started, in seconds since 1970.",
        )
        .sample(&[], seconds(self.started));
        self.http(&mut text);
        self.replies(&mut text);
        self.models(&mut text);
        self.questions(&mut text);
        self.hooks(&mut text);
        self.job_times(&mut text);
        git_times(&mut text, app.repositories.times());
        commit_times(&mut text, app.store.commit_times());
        self.disk.write(&mut text, &app.config.data);
        if let Err(error) = stored(&mut text, app).await {
            warn!(error = &error as &dyn std::error::Error, "metrics without jobs and sites: the store cannot be read");
        }
        respond::bytes_of(StatusCode::OK, Exposition::CONTENT_TYPE, text.into_text())
    }

    fn http(&self, text: &mut Exposition) {
        let live = self.streams.load(Ordering::Relaxed);
        text.family("docent_streams_live", MetricKind::Gauge, "Answers that are being streamed.").sample(&[], live);
        self.requests.write(text);
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
        let help = "Time from the admission of a question to the first words of its answer.";
        text.family("docent_reply_first_token_seconds", MetricKind::Histogram, help)
            .histogram(&[], &self.replies.first_words());
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
        let models = self.models.of_all();
        let mut calls =
            text.family("docent_model_calls_total", MetricKind::Counter, "Calls of models, by how they ended.");
        for (model, counts) in &models {
            for (outcome, durations) in counts.by_outcome() {
                calls.sample(&[("model", model), ("outcome", outcome)], durations.counts().count);
            }
        }
        let help = "Time from the call of a model to the end of its reply, by how it ended.";
        let mut times = text.family("docent_model_call_duration_seconds", MetricKind::Histogram, help);
        for (model, counts) in &models {
            for (outcome, durations) in counts.by_outcome() {
                times.histogram(&[("model", model), ("outcome", outcome)], &durations.counts());
            }
        }
        let mut tokens =
            text.family("docent_model_tokens_total", MetricKind::Counter, "Tokens that models read and wrote.");
        for (model, counts) in &models {
            tokens.sample(&[("model", model), ("direction", "input")], counts.input_tokens.load(Ordering::Relaxed));
            tokens.sample(&[("model", model), ("direction", "output")], counts.output_tokens.load(Ordering::Relaxed));
        }
        let help = "Those of the tokens read that came from the provider's cache.";
        let mut cached = text.family("docent_model_cached_input_tokens_total", MetricKind::Counter, help);
        for (model, counts) in &models {
            cached.sample(&[("model", model)], counts.cached_input_tokens.load(Ordering::Relaxed));
        }
    }

    fn job_times(&self, text: &mut Exposition) {
        let JobTimes { waited, ended } = &*self.job_times;
        let help = "Time from the creation of a job to the moment when a worker first takes it.";
        text.family("docent_job_wait_seconds", MetricKind::Histogram, help).histogram(&[], &waited.counts());
        let help = "Time from the creation of a job to its end, of jobs without a follow-up.";
        text.family("docent_job_duration_seconds", MetricKind::Histogram, help)
            .histogram(&[("status", JobStatus::Completed.as_str())], &ended.done.counts())
            .histogram(&[("status", JobStatus::Failed.as_str())], &ended.failed.counts());
    }
}

fn git_times(text: &mut Exposition, times: &GitTimes) {
    let GitTimes { fetch, commit, push } = times;
    let help = "Time of work with git, by how it ended.";
    let mut family = text.family("docent_git_duration_seconds", MetricKind::Histogram, help);
    for (operation, WorkDurations { done, failed }) in [("fetch", fetch), ("commit", commit), ("push", push)] {
        family
            .histogram(&[("operation", operation), ("outcome", "done")], &done.counts())
            .histogram(&[("operation", operation), ("outcome", "failed")], &failed.counts());
    }
}

fn commit_times(text: &mut Exposition, WorkDurations { done, failed }: &WorkDurations) {
    let help = "Time of a commit of the database, by how it ended.";
    text.family("docent_store_commit_duration_seconds", MetricKind::Histogram, help)
        .histogram(&[("outcome", "done")], &done.counts())
        .histogram(&[("outcome", "failed")], &failed.counts());
}

/// What is read from the store.
async fn stored(text: &mut Exposition, app: &App) -> Result<(), StoreError> {
    jobs(text, &*app.store).await?;
    let projects = app.projects().projects().await?;
    let mut sites: Vec<(Timestamp, Domain)> = projects
        .into_iter()
        .filter_map(|project| Some((app.index_states.updated(project.uid)?, project.domain)))
        .collect();
    sites.sort();
    sites.truncate(MOST_SITES);
    let help = "When the docs of a site were last fetched and its index brought up to date, in seconds since 1970.";
    let mut family = text.family("docent_index_updated_timestamp_seconds", MetricKind::Gauge, help);
    for (at, domain) in &sites {
        family.sample(&[("domain", domain.as_str())], seconds(*at));
    }
    Ok(())
}

/// Seconds since 1970.
fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.millis() / 1000).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_stream_is_live_until_its_body_is_gone() {
        let metrics = Metrics::new(Timestamp::from_millis(0), ModelCalls::default(), Arc::default());
        let live = || metrics.streams.load(Ordering::Relaxed);
        let whole = metrics.answered("/a", Duration::ZERO, respond::empty(StatusCode::NO_CONTENT));
        assert_eq!(live(), 0);
        let stream = respond::stream("text/plain", futures::stream::pending::<Bytes>());
        let streamed = metrics.answered("/a", Duration::ZERO, stream);
        assert_eq!(live(), 1);
        drop((whole, streamed));
        assert_eq!(live(), 0);
    }
}
