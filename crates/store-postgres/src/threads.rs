//! Conversations with the assistant.
//!
//! A turn is visible to the next reader, on any node, without a wait for the disk: that wait would be most of the time of
//! a short answer. It reaches the disk a moment later, so a loss of the database's power takes at most the last second of
//! a conversation. Feedback on an answer is on the disk when it is acknowledged.

use async_trait::async_trait;
use docent_assistant::{
    DayCount, Days, Export, ExportQuery, Feedback, NewThread, QuestionFacts, Rating, Summary, Thread, ThreadKey,
    Threads, Turn,
};
use docent_types::{BoxError, Domain, StoreError, ThreadId, Timestamp};
use uuid::Uuid;

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;
use crate::text::storable;
use crate::transaction::Transaction;

#[async_trait]
impl Threads for PostgresStore {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError> {
        self.write_in_order("begin the thread", move |transaction| async move {
            let asked_times = thread.turns.iter().map(|turn| turn.asked_at);
            let touched_at = asked_times.fold(thread.created_at, Timestamp::max).millis();
            let insert = "INSERT INTO threads (id, domain, fp, key, created_at, touched_at)
                          VALUES ($1, $2, $3, $4, $5, $6)";
            transaction
                .execute(
                    insert,
                    params![
                        thread.id.uuid(),
                        thread.domain.as_str(),
                        storable(&thread.fp),
                        &thread.key.0[..],
                        thread.created_at.millis(),
                        touched_at,
                    ],
                )
                .await?;
            for (position, turn) in (0..).zip(&thread.turns) {
                put(&transaction, thread.id.uuid(), thread.domain.as_str(), position, turn).await?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn thread(&self, domain: &Domain, id: ThreadId, turns: usize) -> Result<Option<Thread>, StoreError> {
        let domain = domain.clone();
        self.read("read the thread", move |transaction| async move {
            let select = "SELECT key, created_at FROM threads WHERE id = $1 AND domain = $2";
            let Some(row) = transaction.query_opt(select, params![id.uuid(), domain.as_str()]).await? else {
                return Ok(None);
            };
            let (key, created_at): (&[u8], i64) = (row.try_get(0)?, row.try_get(1)?);
            let turns = last_turns(&transaction, id.uuid(), turns).await?;
            let (key, created_at) = (ThreadKey(key.try_into()?), Timestamp::from_millis(created_at));
            Ok(Some(Thread { id, domain, key, created_at, turns }))
        })
        .await
    }

    async fn put_turn(&self, id: ThreadId, mut turn: Turn, instead_of: Option<String>) -> Result<(), StoreError> {
        self.write_in_order("keep the turn", move |transaction| async move {
            let id = id.uuid();
            let Some(domain) = touch(&transaction, id, turn.asked_at).await? else { return Ok(()) };
            if let Some(replaced) = instead_of
                && let Some((from, _)) = turn_of(&transaction, id, &replaced).await?
            {
                let delete = "DELETE FROM thread_turns WHERE thread = $1 AND place >= $2";
                transaction.execute(delete, params![id, from]).await?;
            }
            let position = match turn_of(&transaction, id, &turn.answer_id).await? {
                Some((position, known)) => {
                    turn.feedback = known.feedback;
                    position
                }
                None => {
                    let next = "SELECT coalesce(max(place) + 1, 0) FROM thread_turns WHERE thread = $1";
                    transaction.query_one(next, params![id]).await?.try_get(0)?
                }
            };
            put(&transaction, id, &domain, position, &turn).await
        })
        .await
    }

    async fn rate(
        &self,
        domain: &Domain,
        id: ThreadId,
        answer_id: &str,
        feedback: Feedback,
    ) -> Result<bool, StoreError> {
        let (domain, answer_id, id) = (domain.clone(), answer_id.to_owned(), id.uuid());
        self.write("keep the feedback", move |transaction| async move {
            if touch(&transaction, id, feedback.at).await?.as_deref() != Some(domain.as_str()) {
                // Undone: the thread of another domain is not touched.
                return Err(Abort::Refused(Rated(Ok(false))));
            }
            let Some((position, turn)) = turn_of(&transaction, id, &answer_id).await? else {
                return Err(Abort::Refused(Rated(Ok(false))));
            };
            let turn = Turn { feedback: Some(feedback), ..turn };
            put(&transaction, id, domain.as_str(), position, &turn).await?;
            Ok(true)
        })
        .await
        .or_else(|Rated(rated)| rated)
    }

    async fn export(&self, query: ExportQuery) -> Result<Export, StoreError> {
        self.list_questions(query).await
    }

    async fn counts(&self, domain: &Domain, days: Days) -> Result<Vec<DayCount>, StoreError> {
        self.count_questions(domain, days).await
    }

    async fn summary(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        self.sum_up(domain, days).await
    }

    async fn forget(&self, untouched_since: Timestamp, limit: u32) -> Result<u32, StoreError> {
        self.write("forget old threads", move |transaction| async move {
            // By the index on the start: no thread was touched before it began. Its turns go with it.
            let delete = "DELETE FROM threads WHERE id IN (
                              SELECT id FROM threads WHERE created_at < $1 AND touched_at < $1
                              LIMIT $2 FOR UPDATE SKIP LOCKED
                          )";
            let gone = transaction.execute(delete, params![untouched_since.millis(), i64::from(limit)]).await?;
            Ok::<_, Abort<StoreError>>(u32::try_from(gone).unwrap_or(u32::MAX))
        })
        .await
    }
}

/// The result of a rating that was undone.
#[derive(Debug)]
struct Rated(Result<bool, StoreError>);

impl From<StoreError> for Rated {
    fn from(error: StoreError) -> Self {
        Self(Err(error))
    }
}

/// Updates the time of a thread's last activity, and holds the thread, so that its turns are written one after another.
/// Returns its domain; `None` when it is gone.
async fn touch(transaction: &Transaction, thread: Uuid, at: Timestamp) -> Result<Option<String>, BoxError> {
    let select = "SELECT domain, touched_at FROM threads WHERE id = $1 FOR NO KEY UPDATE";
    let Some(row) = transaction.query_opt(select, params![thread]).await? else { return Ok(None) };
    // Usually the same turn has touched it already.
    if row.try_get::<_, i64>(1)? < at.millis() {
        let update = "UPDATE threads SET touched_at = $2 WHERE id = $1";
        transaction.execute(update, params![thread, at.millis()]).await?;
    }
    Ok(Some(row.try_get(0)?))
}

/// The last turns of a thread, in order.
async fn last_turns(transaction: &Transaction, thread: Uuid, limit: usize) -> Result<Vec<Turn>, BoxError> {
    let select = "SELECT body FROM thread_turns WHERE thread = $1 ORDER BY place DESC LIMIT $2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = transaction.query(select, params![thread, limit]).await?;
    rows.iter().rev().map(|row| Ok(serde_json::from_str(row.try_get(0)?)?)).collect()
}

/// The turn with this answer, and its place.
async fn turn_of(transaction: &Transaction, thread: Uuid, answer: &str) -> Result<Option<(i64, Turn)>, BoxError> {
    let select = "SELECT place, body FROM thread_turns WHERE thread = $1 AND answer_id = $2 ORDER BY place LIMIT 1";
    let row = transaction.query_opt(select, params![thread, storable(answer)]).await?;
    row.map(|row| Ok((row.try_get(0)?, serde_json::from_str(row.try_get(1)?)?))).transpose()
}

async fn put<E>(
    transaction: &Transaction,
    thread: Uuid,
    domain: &str,
    position: i64,
    turn: &Turn,
) -> Result<(), Abort<E>> {
    let facts = QuestionFacts::of(turn);
    let rating = facts.rating.map(|rating| match rating {
        Rating::Up => "up",
        Rating::Down => "down",
    });
    let timing = |part: fn(&docent_assistant::Timing) -> u32| facts.timing.as_ref().map(part).map(i64::from);
    let upsert =
        "INSERT INTO thread_turns (thread, place, domain, answer_id, answered, asked_at, rating, language, page,
                                            sources, search_ms, first_word_ms, end_ms, body)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
                  ON CONFLICT (thread, place) DO UPDATE SET
                      answer_id = $4, answered = $5, asked_at = $6, rating = $7, language = $8, page = $9,
                      sources = $10, search_ms = $11, first_word_ms = $12, end_ms = $13, body = $14";
    transaction
        .execute(
            upsert,
            params![
                thread,
                position,
                domain,
                storable(&turn.answer_id),
                turn.answered,
                turn.listed_at().millis(),
                rating,
                turn.language.as_deref().map(storable),
                turn.page.as_deref().map(storable),
                &*facts.sources,
                timing(|timing| timing.search_ms),
                timing(|timing| timing.first_word_ms),
                timing(|timing| timing.end_ms),
                serde_json::to_string(turn)?,
            ],
        )
        .await?;
    Ok(())
}
