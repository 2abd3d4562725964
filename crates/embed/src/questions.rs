//! Vectors of questions: kept, and waited for no longer than whoever asks would notice.
//!
//! A hosted embedder takes some hundred milliseconds. So a question that was asked before is not sent again, and one whose
//! vector comes too late is answered by words alone: its request goes on all the same, so that the next one who asks it is
//! served. Who asks the same at the same time waits for the same request. That words alone answered is counted, and told once in a while.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use docent_search::{Asker, Embedder, Role};
use docent_types::BoxError;
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use lru::LruCache;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

/// The most bytes of vectors that are kept, and of the questions they belong to.
const MOST_KEPT: usize = 16 << 20;
/// A longer question is not asked again in the same words, in bytes.
const LONGEST_KEPT: usize = 2_000;
/// A request that nobody waits for any more goes on for so long. Operators wait as long.
const LONGEST: Duration = Duration::from_secs(20);
/// So many questions are sent at a time, those that nobody waits for included.
const AT_A_TIME: usize = 64;
/// Between two lines of the log.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// How long the vector of a question is waited for.
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
            Asker::Operator => LONGEST,
        }
    }
}

/// What became of questions so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuestionCounts {
    /// The vector was made in time.
    pub embedded: u64,
    /// It was known.
    pub cached: u64,
    /// It was not there in time: words alone answered.
    pub late: u64,
    /// It could not be made: words alone answered.
    pub failed: u64,
    /// Too few sections had one: words alone answered.
    pub unready: u64,
}

/// Why a question has no vector.
#[derive(Debug, Clone, thiserror::Error)]
pub enum QuestionError {
    #[error("the embedder took longer than {} ms for a question", .0.as_millis())]
    Late(Duration),
    #[error("the embedder has {AT_A_TIME} questions to answer already")]
    Full,
    #[error("the embedder broke down over a question")]
    Broken,
    #[error("too few sections of the docs have vectors yet")]
    Unready,
    /// What the embedder says, and why.
    #[error("{0}")]
    Failed(Arc<str>),
}

impl QuestionError {
    fn failed(error: &(dyn std::error::Error + 'static)) -> Self {
        let chain = std::iter::successors(Some(error), |error| error.source());
        Self::Failed(chain.map(ToString::to_string).collect::<Vec<_>>().join(": ").into())
    }
}

/// A request that is under way, for all who ask the same.
type Flight = Shared<BoxFuture<'static, Result<Arc<[f32]>, QuestionError>>>;
type Flights = Mutex<HashMap<String, Flight>>;

/// Makes room for another request at the end of this one, however it ends.
struct Landing {
    flights: Arc<Flights>,
    key: String,
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.key);
    }
}

/// An embedder that keeps the vectors of questions.
pub struct Questions {
    embedder: Arc<dyn Embedder>,
    waits: Waits,
    kept: Arc<Mutex<Kept>>,
    flights: Arc<Flights>,
    counts: [AtomicU64; 5],
    told: Mutex<Told>,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Embedded,
    Cached,
    Late,
    Failed,
    Unready,
}

/// What is to be told of questions that words alone answered.
#[derive(Debug, Default)]
struct Told {
    last: Option<Instant>,
    since: u64,
}

impl Questions {
    pub fn new(embedder: Arc<dyn Embedder>, waits: Waits) -> Self {
        let kept = Kept { vectors: LruCache::unbounded(), bytes: 0, most: MOST_KEPT };
        Self {
            embedder,
            waits,
            kept: Arc::new(Mutex::new(kept)),
            flights: Arc::default(),
            counts: Default::default(),
            told: Mutex::default(),
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

    /// The vector of a question, and what became of it.
    async fn vector(&self, text: &str, asker: Asker) -> (Outcome, Result<Vec<f32>, BoxError>) {
        let key = key(self.embedder.id(), text);
        if let Some(known) = self.kept.lock().get(&key) {
            return (Outcome::Cached, Ok(known.to_vec()));
        }
        let Some(flight) = self.flight(key, text) else {
            return (Outcome::Late, Err(QuestionError::Full.into()));
        };
        let limit = self.waits.of(asker);
        match timeout(limit, flight).await {
            Ok(Ok(vector)) => (Outcome::Embedded, Ok(vector.to_vec())),
            Ok(Err(error)) => (Outcome::Failed, Err(error.into())),
            Err(_) => (Outcome::Late, Err(QuestionError::Late(limit).into())),
        }
    }

    /// The request for a question: the one that is under way, or a new one. `None` when there are too many.
    fn flight(&self, key: String, text: &str) -> Option<Flight> {
        let mut flights = self.flights.lock();
        if let Some(flight) = flights.get(&key) {
            return Some(flight.clone());
        }
        if flights.len() >= AT_A_TIME {
            return None;
        }
        let (embedder, text) = (Arc::clone(&self.embedder), text.to_owned());
        let (kept, all, own) = (Arc::clone(&self.kept), Arc::clone(&self.flights), key.clone());
        // A task of its own: whoever asks may stop waiting for it.
        let made = tokio::spawn(async move {
            let _landing = Landing { flights: all, key: own.clone() };
            let made = timeout(LONGEST, embedder.embed(&[&text], Role::Question)).await;
            let made =
                made.map_err(|_| QuestionError::Late(LONGEST))?.map_err(|error| QuestionError::failed(&*error))?;
            let vector: Arc<[f32]> = made.into_iter().next().ok_or(QuestionError::Broken)?.into();
            kept.lock().put(own, &vector);
            Ok(vector)
        });
        let flight = made.map(|made| made.unwrap_or(Err(QuestionError::Broken))).boxed().shared();
        flights.insert(key, flight.clone());
        Some(flight)
    }

    /// Tells that words alone answer, at most once in a while.
    fn tell(&self, error: &BoxError) {
        let mut told = self.told.lock();
        told.since += 1;
        let now = Instant::now();
        if told.last.is_some_and(|last| now.duration_since(last) < TOLD_EVERY) {
            return;
        }
        let questions = std::mem::take(&mut told.since);
        told.last = Some(now);
        drop(told);
        let error = &**error as &dyn std::error::Error;
        tracing::warn!(
            error,
            questions,
            "questions are answered by words alone; `docent doctor` looks at the embedder"
        );
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
            self.tell(error);
        }
        vector
    }

    fn passed_over(&self) {
        self.count(Outcome::Unready);
        self.tell(&QuestionError::Unready.into());
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

/// A question to a model. No name of a model has a line break.
fn key(model: &str, text: &str) -> String {
    format!("{model}\n{text}")
}

/// Vectors by question, those that were asked for last.
struct Kept {
    vectors: LruCache<String, Arc<[f32]>>,
    bytes: usize,
    most: usize,
}

impl Kept {
    fn get(&mut self, key: &str) -> Option<Arc<[f32]>> {
        self.vectors.get(key).cloned()
    }

    fn put(&mut self, key: String, vector: &[f32]) {
        if key.len() > LONGEST_KEPT {
            return;
        }
        self.bytes += weight(&key, vector.len());
        if let Some((key, before)) = self.vectors.push(key, vector.into()) {
            self.bytes -= weight(&key, before.len());
        }
        while self.bytes > self.most {
            let Some((key, vector)) = self.vectors.pop_lru() else { return };
            self.bytes -= weight(&key, vector.len());
        }
    }
}

fn weight(key: &str, numbers: usize) -> usize {
    // What the map and the list need for an entry comes on top.
    key.len() + numbers * size_of::<f32>() + 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_last_is_kept_within_its_room() {
        let mut kept = Kept { vectors: LruCache::unbounded(), bytes: 0, most: 10_000 };
        for number in 0..1_000 {
            kept.put(key("m", &number.to_string()), &[0.5; 100]);
            kept.put(key("m", "0"), &[0.5; 100]);
            assert!(kept.bytes <= 10_000, "{}", kept.bytes);
        }
        assert!(kept.get(&key("m", "0")).is_some() && kept.get(&key("m", "999")).is_some());
        assert!(kept.get(&key("m", "1")).is_none() && kept.get(&key("other", "999")).is_none());
        kept.put(key("m", &"long ".repeat(1_000)), &[0.5; 100]);
        assert!(kept.get(&key("m", &"long ".repeat(1_000))).is_none());
        while let Some((key, vector)) = kept.vectors.pop_lru() {
            kept.bytes -= weight(&key, vector.len());
        }
        assert_eq!(kept.bytes, 0);
    }
}
