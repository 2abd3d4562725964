//! The assistant: checks a question, finds its thread, and begins the reply.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use docent_llm::Model;
use docent_search::Snapshot;
use docent_types::{
    CallError, Clock, Domain, Ids, MessageId, ProjectUid, Refusal, StoreError, StreamEvent, ThreadId, Timestamp,
    TokenPrice,
};
use futures::stream::BoxStream;
use tokio::task::spawn_blocking;
use tracing::info;

use crate::analytics::{DayCount, Days, QuestionCounts, Summary, day_of};
use crate::ask::AskRequest;
use crate::bounds;
use crate::dialogue::{self, Dialogue};
use crate::export::{Export, ExportQuery, QuestionFilter, QuestionOutcome};
use crate::gaps::{Gap, MOST_GROUPED, gaps};
use crate::memory::MemoryThreads;
use crate::question_writes::QuestionWrites;
use crate::reply::{self, Answerer};
use crate::retrieval::Retrieval;
use crate::site::{SiteLookup, SiteSettings};
use crate::spend::{DailyBudget, DailyLimit, Meter, Notice, Spend};
use crate::thread::{Feedback, NewThread, Rating, Thread, ThreadKey, Threads, Turn};

/// Maximum length of a reader's comment, in characters.
const LONGEST_COMMENT: usize = 4_000;
/// Maximum number of turns that are loaded as history, which also limits how far back a question can be asked again;
/// and maximum number of turns that are shown of a thread.
const RECALLED: usize = 50;
const SHOWN: usize = 1_000;
/// Maximum number of list pages that are searched for gaps.
const MISSED_PAGES: usize = 3;
/// Maximum number of threads deleted in one transaction, so that other writes are not delayed for long.
const FORGOTTEN_AT_ONCE: u32 = 200;

/// Answers questions from the docs.
pub struct Assistant {
    model: Arc<dyn Model>,
    threads: Arc<dyn Threads>,
    writes: QuestionWrites,
    sites: SiteLookup,
    price: Option<TokenPrice>,
    budget: Option<DailyBudget>,
    limited: Arc<AtomicU64>,
    /// Whether it is asked by people who run the server.
    for_operators: bool,
    /// The fingerprint of people who try the chat that readers get, once somebody does.
    preview: Arc<OnceLock<String>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl fmt::Debug for Assistant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assistant").field("model", &self.model).finish_non_exhaustive()
    }
}

/// A reply that has begun.
pub struct AnswerStream {
    pub thread: ThreadId,
    /// The secret of the thread, if this request began it.
    pub new_key: Option<String>,
    /// The events in order, to be polled on a Tokio runtime. The reply starts at the first poll; dropping the stream
    /// cancels the model call.
    pub events: BoxStream<'static, StreamEvent>,
}

impl fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerStream").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl Assistant {
    pub fn new(model: Arc<dyn Model>, threads: Arc<dyn Threads>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        let writes = QuestionWrites::new(Arc::clone(&threads));
        Self {
            model,
            threads,
            writes,
            sites: SiteLookup::default(),
            price: None,
            budget: None,
            limited: Arc::default(),
            for_operators: false,
            preview: Arc::default(),
            clock,
            ids,
        }
    }

    /// Sets the function that looks up the settings of a docs site. It is called once per question and must not block.
    #[must_use]
    pub fn with_sites(mut self, sites: impl Fn(ProjectUid) -> SiteSettings + Send + Sync + 'static) -> Self {
        self.sites = SiteLookup(Arc::new(sites));
        self
    }

    /// Counts what replies cost, at this price of the model, and holds them to the limits of their sites.
    #[must_use]
    pub fn with_budget(self, budget: DailyBudget, price: Option<TokenPrice>) -> Self {
        Self { budget: Some(budget), price, ..self }
    }

    /// The same assistant with another model, at this price.
    #[must_use]
    pub fn on(&self, model: Arc<dyn Model>, price: Option<TokenPrice>) -> Self {
        Self {
            model,
            price,
            budget: self.budget.clone(),
            limited: Arc::clone(&self.limited),
            threads: Arc::clone(&self.threads),
            writes: self.writes.clone(),
            sites: self.sites.clone(),
            for_operators: self.for_operators,
            preview: Arc::clone(&self.preview),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
        }
    }

    /// The same assistant for questions that are no reader's: they are kept nowhere and counted nowhere, but for what they cost.
    #[must_use]
    pub fn unrecorded(&self) -> Self {
        let threads: Arc<dyn Threads> = Arc::new(MemoryThreads::default());
        let writes = QuestionWrites::new(Arc::clone(&threads));
        Self { threads, writes, ..self.on(Arc::clone(&self.model), self.price) }
    }

    /// The same assistant for people who run the server: their conversations are kept, and are in no list and no count of
    /// what readers asked.
    #[must_use]
    pub fn for_operators(&self) -> Self {
        Self { for_operators: true, ..self.on(Arc::clone(&self.model), self.price) }
    }

    /// A fingerprint for people who run the server and try the chat that readers get: what they ask is in no list and no count
    /// of what readers asked. It is a secret of this process, so that no reader asks unseen.
    pub fn preview_fingerprint(&self) -> &str {
        self.preview.get_or_init(|| format!("preview-{}", self.ids.unguessable()))
    }

    /// The settings of a docs site.
    pub fn site(&self, project: ProjectUid) -> SiteSettings {
        self.sites.of(project)
    }

    /// Begins a reply. Errors before the first event are returned; later errors are events.
    pub async fn answer(&self, ask: AskRequest) -> Result<AnswerStream, CallError> {
        let (asked, history) = dialogue::question(&ask.said)?;
        let answerer = self.answerer(&ask.domain).await?;
        let stored = match ask.thread {
            Some(id) => self.continued(&ask.domain, id, ask.thread_key.as_deref()).await?,
            None => None,
        };
        let answer_id = MessageId::new(self.ids.unguessable());
        let turn = Turn {
            question_id: asked.id,
            question: bounds::cut_middle(&asked.text, bounds::QUESTION).into_owned(),
            answer_id: answer_id.to_string(),
            asked_at: self.clock.now(),
            page: ask.current_path.clone(),
            is_operators: self.for_operators || self.preview.get().is_some_and(|preview| *preview == ask.fp),
            ..Turn::default()
        };
        let dialogue = match stored {
            Some(thread) => Dialogue::continued(thread, asked.text, turn),
            None => self.begun(&ask, history, asked.text, turn),
        };
        let (thread, new_key) = (dialogue.id, dialogue.new_key.clone());
        let writing = self.writes.announce(thread);
        let retrieval =
            Retrieval::new(ask.docs, ask.passages, ask.filter, ask.current_path, self.sites.of(ask.project));
        let clock = Arc::clone(&self.clock);
        let events = reply::events(answerer, clock, writing, retrieval, ask.context, dialogue, answer_id);
        Ok(AnswerStream { thread, new_key, events })
    }

    /// Stores a reader's rating of a reply. `message` is the `message_id` of its first event; a new rating replaces the
    /// previous one.
    ///
    /// # Errors
    /// Not found, if the domain has no such thread or the thread no such reply; invalid, if the comment is longer than
    /// 4,000 characters.
    pub async fn rate(
        &self,
        domain: &Domain,
        thread: ThreadId,
        message: &str,
        rating: Rating,
        comment: Option<String>,
    ) -> Result<(), CallError> {
        if comment.as_ref().is_some_and(|comment| comment.chars().count() > LONGEST_COMMENT) {
            let sentence =
                format!("comment: it is longer than {LONGEST_COMMENT} characters; shorten it, or leave it out");
            return Err(Refusal::invalid(sentence).into());
        }
        let comment = comment.filter(|comment| !comment.trim().is_empty());
        let feedback = Feedback { rating, comment, at: self.clock.now() };
        if self.threads.rate(domain, thread, message, feedback).await? {
            return Ok(());
        }
        Err(Refusal::not_found(
            "messageId: this site has no such reply in this thread; send `threadId` and `messageId` as the stream gave them",
        )
        .into())
    }

    /// The questions of a site with their answers, newest first.
    pub async fn export(&self, query: ExportQuery) -> Result<Export, StoreError> {
        self.threads.export(query).await
    }

    /// The number of questions of a site on these UTC days.
    pub async fn counts(&self, domain: &Domain, days: Days) -> Result<QuestionCounts, StoreError> {
        let mut sum = QuestionCounts::default();
        self.counts_by_day(domain, days).await?.iter().for_each(|day| sum.add(day.counts));
        Ok(sum)
    }

    /// The number of questions of a site on each of these UTC days that has any, in order.
    pub async fn counts_by_day(&self, domain: &Domain, days: Days) -> Result<Vec<DayCount>, StoreError> {
        self.threads.counts(domain, days).await
    }

    /// Statistics on the questions of a site on these UTC days.
    pub async fn summary(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        self.threads.summary(domain, days).await
    }

    /// Questions of a period that were not answered, or whose answer was rated down, in at most `limit` [groups](gaps),
    /// the largest first. Examines 3 pages of [`MOST_EXAMINED`](crate::MOST_EXAMINED) questions, newest first, for at
    /// most [`MOST_GROUPED`] matches.
    pub async fn gaps(
        &self,
        domain: &Domain,
        docs: Arc<Snapshot>,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Gap>, StoreError> {
        let which = QuestionFilter::of_outcome(QuestionOutcome::Missed);
        let mut query = ExportQuery {
            domain: domain.clone(),
            which,
            from,
            to,
            after: None,
            limit: MOST_GROUPED,
            most_bytes: u64::MAX,
        };
        let mut missed = Vec::new();
        for _ in 0..MISSED_PAGES {
            let page = self.threads.export(query.clone()).await?;
            query.limit = query.limit.saturating_sub(u32::try_from(page.turns.len()).unwrap_or(u32::MAX));
            query.after = page.next;
            missed.extend(page.turns);
            if query.after.is_none() || query.limit == 0 {
                break;
            }
        }
        let group = move || gaps(&missed, limit, |text| docs.never_mentioned(text));
        spawn_blocking(group).await.map_err(|failure| StoreError::new("group the questions", failure))
    }

    /// A conversation of a site, with its newest 1,000 turns.
    pub async fn thread(&self, domain: &Domain, id: ThreadId) -> Result<Option<Thread>, StoreError> {
        self.threads.thread(domain, id, SHOWN).await
    }

    /// Deletes the threads that were not used for `untouched`; returns their number.
    pub async fn forget(&self, untouched: Duration) -> Result<u64, StoreError> {
        let before = self.clock.now().minus(untouched);
        let mut forgotten = 0;
        loop {
            let now = self.threads.forget(before, FORGOTTEN_AT_ONCE).await?;
            forgotten += u64::from(now);
            if now < FORGOTTEN_AT_ONCE {
                return Ok(forgotten);
            }
        }
    }

    /// What the assistant of a site has spent today, in UTC, and the limit of it; `None` where spending is not counted.
    pub async fn spent_today(&self, domain: &Domain) -> Result<Option<(Spend, DailyLimit)>, StoreError> {
        let Some(budget) = &self.budget else { return Ok(None) };
        let spent = budget.spends.spent(domain, day_of(self.clock.now())).await?;
        Ok(Some((spent, budget.limits.of(domain))))
    }

    /// How many replies were made without a language model because a limit was reached, since the process began.
    pub fn limited_replies(&self) -> u64 {
        self.limited.load(Ordering::Relaxed)
    }

    /// The model that answers within the limit of a site.
    async fn answerer(&self, domain: &Domain) -> Result<Answerer, StoreError> {
        let model = Arc::clone(&self.model);
        let Some(budget) = self.budget.as_ref().filter(|_| !model.describe().is_builtin()) else {
            return Ok(Answerer { model, meter: Meter::default(), notice: None });
        };
        let (day, limit) = (day_of(self.clock.now()), budget.limits.of(domain));
        if limit.is_set() && limit.is_reached(budget.spends.spent(domain, day).await?) {
            self.limited.fetch_add(1, Ordering::Relaxed);
            info!(%domain, "the daily limit is reached, so the question is answered without a language model");
            let model = Arc::clone(&budget.instead);
            return Ok(Answerer { model, meter: Meter::default(), notice: Some(Notice::limit_of(day)) });
        }
        let meter = Meter::new(Arc::clone(&budget.spends), domain.clone(), day, self.price);
        Ok(Answerer { model, meter, notice: None })
    }

    /// The thread to continue. `None` for an unknown or expired thread, or one of another site, so that a new one is
    /// begun: clients keep ids for longer than threads are kept.
    async fn continued(&self, domain: &Domain, id: ThreadId, key: Option<&str>) -> Result<Option<Thread>, CallError> {
        self.writes.stored(id).await;
        let found = self.threads.thread(domain, id, RECALLED).await?;
        if found.as_ref().zip(key).is_some_and(|(thread, key)| !thread.key.fits(key)) {
            let sentence = format!(
                "threadKey: it is not the key of the thread `{id}`; send the one that the thread began with, or leave \
                 `threadId` and `threadKey` out to start a new one"
            );
            return Err(Refusal::not_found(sentence).into());
        }
        Ok(found)
    }

    fn begun(&self, ask: &AskRequest, history: Vec<Turn>, question: String, turn: Turn) -> Dialogue {
        let id = ThreadId::new(self.ids.unguessable());
        let (secret, key) = ThreadKey::mint(self.ids.as_ref());
        let begin = NewThread {
            id,
            domain: ask.domain.clone(),
            fp: ask.fp.clone(),
            key,
            created_at: turn.asked_at,
            turns: bounds::newest(&history, bounds::QUESTION.saturating_sub(turn.question.len())),
        };
        let begin = Some(Box::new(begin));
        Dialogue { id, new_key: Some(secret), begin, before: history, question, turn, instead_of: None }
    }
}
