//! Vectors of questions: cached, and waited for no longer than a limit that depends on the caller.
//!
//! A hosted embedder takes some hundred milliseconds. So a question that is cached is not sent again. A question whose
//! vector is late is answered by words alone, without vectors; its request continues, so that the next caller with this
//! question finds the vector cached. Concurrent callers with the same question share one request. Answers by words
//! alone are counted, and logged at most once a minute.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use docent_search::{Asker, Embedder, Role};
use docent_types::{BoxError, error_chain};
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use lru::LruCache;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

/// Maximum bytes of cached vectors and their questions.
const MAX_CACHE_BYTES: usize = 16 << 20;
/// Maximum length of the cache key of a question, in bytes: a longer question is unlikely to be asked twice.
const MAX_KEY_BYTES: usize = 2_000;
/// Maximum duration of a request, even if no caller waits for it any more. Operators wait that long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of concurrent requests, including those without a waiting caller.
const MAX_CONCURRENT_REQUESTS: usize = 64;
/// Minimum interval between two log lines about answers by words alone.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// How long callers wait for the vector of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    pub assistant: Duration,
    pub search_box: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { assistant: Duration::from_millis(1_500), search_box: Duration::from_millis(300) }
    }
}

impl Waits {
    fn of(self, asker: Asker) -> Duration {
        match asker {
            Asker::Assistant => self.assistant,
            Asker::SearchBox => self.search_box,
            Asker::Operator => REQUEST_TIMEOUT,
        }
    }
}

/// Number of questions by outcome, since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuestionCounts {
    /// The vector was computed in time.
    pub embedded: u64,
    /// The vector was cached.
    pub cached: u64,
    /// The vector was not ready in time: words alone answered.
    pub late: u64,
    /// The vector could not be computed: words alone answered.
    pub failed: u64,
    /// Too few sections had vectors: words alone answered.
    pub unready: u64,
}

/// Why a question has no vector.
#[derive(Debug, Clone, thiserror::Error)]
pub enum QuestionError {
    #[error("the embedder took longer than {} ms for a question", .0.as_millis())]
    Late(Duration),
    #[error("the embedder has {MAX_CONCURRENT_REQUESTS} questions to answer already")]
    Full,
    #[error("the embedder failed on a question")]
    Broken,
    #[error("too few sections of the docs have vectors yet")]
    Unready,
    /// The embedder's error with its causes.
    #[error("{0}")]
    Failed(Arc<str>),
}

impl QuestionError {
    fn failed(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::Failed(error_chain(error).into())
    }
}

/// A request in progress, shared by all callers with the same question.
type SharedRequest = Shared<BoxFuture<'static, Result<Arc<[f32]>, QuestionError>>>;
type RequestsInFlight = Mutex<HashMap<String, SharedRequest>>;

/// Removes a request from those in progress when dropped, however the request ends, even by a panic.
struct RemoveOnDrop {
    in_flight: Arc<RequestsInFlight>,
    key: String,
}

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        self.in_flight.lock().remove(&self.key);
    }
}

/// An embedder that caches the vectors of questions.
pub struct Questions {
    embedder: Arc<dyn Embedder>,
    waits: Waits,
    cache: Arc<Mutex<VectorCache>>,
    in_flight: Arc<RequestsInFlight>,
    counts: [AtomicU64; 5],
    fallbacks: Mutex<Fallbacks>,
}

/// The outcome of a question.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Embedded,
    Cached,
    Late,
    Failed,
    Unready,
}

/// Answers by words alone since the last log line.
#[derive(Debug, Default)]
struct Fallbacks {
    last_logged: Option<Instant>,
    since_logged: u64,
}

impl Questions {
    pub fn new(embedder: Arc<dyn Embedder>, waits: Waits) -> Self {
        let cache = VectorCache { vectors: LruCache::unbounded(), bytes: 0, max_bytes: MAX_CACHE_BYTES };
        Self {
            embedder,
            waits,
            cache: Arc::new(Mutex::new(cache)),
            in_flight: Arc::default(),
            counts: Default::default(),
            fallbacks: Mutex::default(),
        }
    }

    pub fn waits(&self) -> Waits {
        self.waits
    }

    pub fn counts(&self) -> QuestionCounts {
        let count = |outcome: Outcome| self.counts[outcome as usize].load(Ordering::Relaxed);
        QuestionCounts {
            embedded: count(Outcome::Embedded),
            cached: count(Outcome::Cached),
            late: count(Outcome::Late),
            failed: count(Outcome::Failed),
            unready: count(Outcome::Unready),
        }
    }

    fn count(&self, outcome: Outcome) {
        self.counts[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The vector of a question, and the outcome to count.
    async fn vector(&self, text: &str, asker: Asker) -> (Outcome, Result<Vec<f32>, BoxError>) {
        let key = key(self.embedder.id(), text);
        if let Some(known) = self.cache.lock().get(&key) {
            return (Outcome::Cached, Ok(known.to_vec()));
        }
        let Some(request) = self.request(key, text) else {
            return (Outcome::Late, Err(QuestionError::Full.into()));
        };
        let limit = self.waits.of(asker);
        match timeout(limit, request).await {
            Ok(Ok(vector)) => (Outcome::Embedded, Ok(vector.to_vec())),
            Ok(Err(error)) => (Outcome::Failed, Err(error.into())),
            Err(_) => (Outcome::Late, Err(QuestionError::Late(limit).into())),
        }
    }

    /// The request for a question: the one in progress, or a new one. `None` when there are too many.
    fn request(&self, key: String, text: &str) -> Option<SharedRequest> {
        let mut in_flight = self.in_flight.lock();
        if let Some(request) = in_flight.get(&key) {
            return Some(request.clone());
        }
        if in_flight.len() >= MAX_CONCURRENT_REQUESTS {
            return None;
        }
        let (embedder, text) = (Arc::clone(&self.embedder), text.to_owned());
        let (cache, requests, own_key) = (Arc::clone(&self.cache), Arc::clone(&self.in_flight), key.clone());
        // A separate task, which continues when its callers stop waiting.
        let task = tokio::spawn(async move {
            let _remove = RemoveOnDrop { in_flight: requests, key: own_key.clone() };
            let answer = timeout(REQUEST_TIMEOUT, embedder.embed(&[&text], Role::Question)).await;
            let vectors = answer
                .map_err(|_| QuestionError::Late(REQUEST_TIMEOUT))?
                .map_err(|error| QuestionError::failed(&*error))?;
            let vector: Arc<[f32]> = vectors.into_iter().next().ok_or(QuestionError::Broken)?.into();
            cache.lock().put(own_key, &vector);
            Ok(vector)
        });
        let request = task.map(|answer| answer.unwrap_or(Err(QuestionError::Broken))).boxed().shared();
        in_flight.insert(key, request.clone());
        Some(request)
    }

    /// Logs that words alone answer, at most once per [`LOG_INTERVAL`].
    fn log_fallback(&self, error: &BoxError) {
        let mut fallbacks = self.fallbacks.lock();
        fallbacks.since_logged += 1;
        let now = Instant::now();
        if fallbacks.last_logged.is_some_and(|at| now.duration_since(at) < LOG_INTERVAL) {
            return;
        }
        let questions = std::mem::take(&mut fallbacks.since_logged);
        fallbacks.last_logged = Some(now);
        drop(fallbacks);
        let error = &**error as &dyn std::error::Error;
        tracing::warn!(error, questions, "questions are answered by words alone; `docent doctor` checks the embedder");
    }
}

#[async_trait]
impl Embedder for Questions {
    fn id(&self) -> &str {
        self.embedder.id()
    }

    fn dimensions(&self) -> usize {
        self.embedder.dimensions()
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        self.embedder.embed(texts, role).await
    }

    async fn question(&self, text: &str, asker: Asker) -> Result<Vec<f32>, BoxError> {
        let text = text.trim();
        if text.is_empty() {
            return self.embedder.question(text, asker).await;
        }
        let (outcome, vector) = self.vector(text, asker).await;
        self.count(outcome);
        if let Err(error) = &vector {
            self.log_fallback(error);
        }
        vector
    }

    fn passed_over(&self) {
        self.count(Outcome::Unready);
        self.log_fallback(&QuestionError::Unready.into());
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions")
            .field("embedder", &self.embedder)
            .field("waits", &self.waits)
            .finish_non_exhaustive()
    }
}

/// The cache key of a question for a model. Model ids contain no line break.
fn key(model: &str, text: &str) -> String {
    format!("{model}\n{text}")
}

/// A cache of vectors by question, with a limit in bytes. The least recently used vectors are evicted first.
struct VectorCache {
    vectors: LruCache<String, Arc<[f32]>>,
    bytes: usize,
    max_bytes: usize,
}

impl VectorCache {
    fn get(&mut self, key: &str) -> Option<Arc<[f32]>> {
        self.vectors.get(key).cloned()
    }

    fn put(&mut self, key: String, vector: &[f32]) {
        if key.len() > MAX_KEY_BYTES {
            return;
        }
        self.bytes += entry_bytes(&key, vector.len());
        if let Some((key, before)) = self.vectors.push(key, vector.into()) {
            self.bytes -= entry_bytes(&key, before.len());
        }
        while self.bytes > self.max_bytes {
            let Some((key, vector)) = self.vectors.pop_lru() else { return };
            self.bytes -= entry_bytes(&key, vector.len());
        }
    }
}

fn entry_bytes(key: &str, numbers: usize) -> usize {
    // The constant is the approximate overhead of an entry in the map and in the list.
    key.len() + numbers * size_of::<f32>() + 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_keeps_the_latest_questions() {
        let mut cache = VectorCache { vectors: LruCache::unbounded(), bytes: 0, max_bytes: 10_000 };
        for number in 0..1_000 {
            cache.put(key("m", &number.to_string()), &[0.5; 100]);
            cache.put(key("m", "0"), &[0.5; 100]);
            assert!(cache.bytes <= 10_000, "{}", cache.bytes);
        }
        assert!(cache.get(&key("m", "0")).is_some() && cache.get(&key("m", "999")).is_some());
        assert!(cache.get(&key("m", "1")).is_none() && cache.get(&key("other", "999")).is_none());
        cache.put(key("m", &"long ".repeat(1_000)), &[0.5; 100]);
        assert!(cache.get(&key("m", &"long ".repeat(1_000))).is_none());
        while let Some((key, vector)) = cache.vectors.pop_lru() {
            cache.bytes -= entry_bytes(&key, vector.len());
        }
        assert_eq!(cache.bytes, 0);
    }
}
