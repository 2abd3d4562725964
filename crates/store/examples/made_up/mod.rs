//! Conversations as the assistant writes them.

use std::sync::Arc;

use docent_assistant::{CitedPage, Feedback, NewThread, Rating, ThreadKey, Threads, Timing, Turn};
use docent_store::SqliteStore;
use docent_types::{Domain, ThreadId, Timestamp};
use uuid::Uuid;

const AT_ONCE: u32 = 256;
/// In milliseconds.
pub(crate) const MONTH: i64 = 30 * 86_400_000;

/// Writes conversations of a domain, spread over the 30 days from `start` on, in milliseconds.
pub(crate) async fn conversations(
    store: &Arc<SqliteStore>,
    domain: &Domain,
    conversations: u32,
    start: i64,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for first in (0..conversations).step_by(AT_ONCE as usize) {
        let mut writers = tokio::task::JoinSet::new();
        for n in first..conversations.min(first + AT_ONCE) {
            let (store, domain) = (Arc::clone(store), domain.clone());
            let asked_at = start + i64::from(n) * (MONTH / i64::from(conversations));
            writers.spawn(async move { conversation(&store, &domain, n, Timestamp::from_millis(asked_at)).await });
        }
        while let Some(written) = writers.join_next().await {
            written??;
        }
    }
    Ok(())
}

async fn conversation(
    store: &SqliteStore,
    domain: &Domain,
    n: u32,
    asked_at: Timestamp,
) -> Result<(), docent_types::StoreError> {
    let id = ThreadId::new(Uuid::from_u128(u128::from(n) << 64));
    // A question has 60 bytes, an answer 1,500; one of five is not answered, one of twenty is rated.
    let asked = Turn {
        question: format!("How do I set up topic {} for a service of kind number {n}?", n % 1_000),
        answer_id: Uuid::from_u128(u128::from(n.reverse_bits()) << 64 | 1).to_string(),
        asked_at,
        page: n.is_multiple_of(3).then(|| format!("/guides/topic-{}", n % 500)),
        ..Turn::default()
    };
    let answer_id = asked.answer_id.clone();
    let begun = NewThread {
        id,
        domain: domain.clone(),
        fp: format!("reader {n}"),
        key: ThreadKey([0; 32]),
        created_at: asked_at,
        turns: vec![asked.clone()],
    };
    store.begin(begun).await?;
    let answered = !n.is_multiple_of(5);
    let source = |n: u32| CitedPage {
        title: format!("Topic {n}"),
        url: format!("/guides/topic-{n}#{}", ["setup", "limits", "errors"][n as usize % 3]),
    };
    let spread = n.wrapping_mul(2_654_435_761);
    let sources = [spread % 400, spread / 400 % 400, spread / 160_000 % 400].map(source);
    let turn = Turn {
        answer: Some("Call the client with the options of the service, and wait for it. ".repeat(23)),
        answered,
        sources: if answered { sources.into() } else { Vec::new() },
        answered_at: Some(asked_at),
        language: Some(["en", "de", "fr"][n as usize % 3].to_owned()),
        timing: Some(Timing { search_ms: spread % 40, first_word_ms: spread % 2_000, end_ms: spread % 9_000 }),
        ..asked
    };
    store.put_turn(id, turn, None).await?;
    if n.is_multiple_of(20) {
        let rating = if n.is_multiple_of(60) { Rating::Down } else { Rating::Up };
        store.rate(domain, id, &answer_id, Feedback { rating, comment: None, at: asked_at }).await?;
    }
    Ok(())
}
