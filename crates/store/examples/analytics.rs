//! Measures what analytics cost: `cargo run --release -p docent-store --example analytics [CONVERSATIONS] [FOLDER]`.
//!
//! Writes conversations of one domain, spread over 30 days (100,000 unless told), as the assistant does: the question,
//! then the answer, now and then a rating. Says what a write takes, and then a summary of 30 days and pages of the list.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_assistant::{
    CitedPage, Days, ExportCursor, ExportQuery, Feedback, MOST_GROUPED, NewThread, QuestionFilter, QuestionOutcome,
    Rating, RatingFilter, ThreadKey, Threads, Timing, Turn, gaps,
};
use docent_store::SqliteStore;
use docent_types::{Domain, ThreadId, Timestamp};
use uuid::Uuid;

const AT_ONCE: u32 = 256;
const MONTH: i64 = 30 * 86_400_000;
const START: i64 = 20_000 * 86_400_000;
const TRIES: usize = 40;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let conversations = std::env::args().nth(1).map_or(Ok(100_000), |n| n.parse())?;
    let folder = std::env::args_os().nth(2).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    let store = Arc::new(SqliteStore::open(folder.path().join("docent.db"))?);
    let domain = Domain::parse("acme")?;
    let begun = Instant::now();
    fill(&store, &domain, conversations).await?;
    let each = begun.elapsed().as_secs_f64() * 1e6 / f64::from(conversations);
    println!("{conversations} conversations written, {each:.0} µs each; {:?}", store.sizes().await?);

    println!("{:>40} {:>10} {:>10}", "", "median ms", "most ms");
    let days = Days { first: START / 86_400_000, end: (START + MONTH) / 86_400_000 };
    let mut taken = Vec::new();
    for _ in 0..TRIES {
        let begun = Instant::now();
        let summary = store.summary(&domain, days).await?;
        taken.push(begun.elapsed());
        assert_eq!(summary.counts.questions, u64::from(conversations));
    }
    say("summary of 30 days", taken);
    let all = QuestionFilter::default();
    for (name, which) in [
        ("all", all.clone()),
        ("rated down", QuestionFilter::rated(RatingFilter::Only(Rating::Down))),
        ("missed", QuestionFilter::of_outcome(QuestionOutcome::Missed)),
        ("a source", QuestionFilter { source: Some("/guides/topic-7".to_owned()), ..all.clone() }),
        ("a source that is not there", QuestionFilter { source: Some("/nothing".to_owned()), ..all.clone() }),
        ("a page that is not there", QuestionFilter { page: Some("/nothing".to_owned()), ..all.clone() }),
        ("a text", QuestionFilter { text: Some("number 7".to_owned()), ..all.clone() }),
        ("a text that is not there", QuestionFilter { text: Some("Nowhere".to_owned()), ..all }),
    ] {
        let (mut taken, mut found, mut after) = (Vec::new(), 0, None);
        for _ in 0..TRIES {
            let (turns, next, took) = page(&store, &domain, which.clone(), after).await?;
            taken.push(took);
            found += turns;
            after = next;
        }
        say(&format!("page of {name}, {} listed", found / TRIES), taken);
    }
    let (mut taken, mut grouping, mut found) = (Vec::new(), Vec::new(), 0);
    for _ in 0..TRIES {
        let which = QuestionFilter::of_outcome(QuestionOutcome::Missed);
        let query = ExportQuery { limit: MOST_GROUPED, most_bytes: u64::MAX, ..query(&domain, which, None) };
        let begun = Instant::now();
        let missed = store.export(query).await?.turns;
        let read = begun.elapsed();
        found = gaps(&missed, 20, |_| Vec::new()).len();
        grouping.push(begun.elapsed() - read);
        taken.push(begun.elapsed());
    }
    say("grouping of 2,000 questions", grouping);
    say(&format!("gaps with reading, {found} listed"), taken);
    Ok(())
}

fn query(domain: &Domain, which: QuestionFilter, after: Option<ExportCursor>) -> ExportQuery {
    ExportQuery {
        domain: domain.clone(),
        which,
        from: Some(Timestamp::from_millis(START)),
        to: Some(Timestamp::from_millis(START + MONTH)),
        after,
        limit: 50,
        most_bytes: 4 * 1024 * 1024,
    }
}

async fn page(
    store: &SqliteStore,
    domain: &Domain,
    which: QuestionFilter,
    after: Option<ExportCursor>,
) -> Result<(usize, Option<ExportCursor>, Duration), Failure> {
    let query = query(domain, which, after);
    let begun = Instant::now();
    let page = store.export(query).await?;
    Ok((page.turns.len(), page.next, begun.elapsed()))
}

fn say(what: &str, mut taken: Vec<Duration>) {
    taken.sort_unstable();
    let millis = |at: usize| taken.get(at).map_or(0.0, |took| took.as_secs_f64() * 1000.0);
    println!("{what:>40} {:>10.2} {:>10.2}", millis(taken.len() / 2), millis(taken.len() - 1));
}

async fn fill(store: &Arc<SqliteStore>, domain: &Domain, conversations: u32) -> Result<(), Failure> {
    for first in (0..conversations).step_by(AT_ONCE as usize) {
        let mut writers = tokio::task::JoinSet::new();
        for n in first..conversations.min(first + AT_ONCE) {
            let (store, domain) = (Arc::clone(store), domain.clone());
            let asked_at = START + i64::from(n) * (MONTH / i64::from(conversations));
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
