//! Measures what analytics cost: `cargo run --release -p docent-store --example analytics [CONVERSATIONS] [FOLDER]`.
//!
//! Writes conversations of one domain, spread over 30 days (100,000 unless told), as the assistant does: the question,
//! then the answer, now and then a rating. Says what a write takes, and then a summary of 30 days and pages of the list.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_assistant::{
    Days, ExportCursor, ExportQuery, MOST_GROUPED, QuestionFilter, QuestionOutcome, Rating, RatingFilter, Threads, gaps,
};
use docent_store::SqliteStore;
use docent_types::{Domain, Timestamp};

use made_up::MONTH;

mod made_up;

const START: i64 = 20_000 * 86_400_000;
const TRIES: usize = 40;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let conversations = std::env::args().nth(1).map_or(Ok(100_000), |n| n.parse())?;
    let folder = std::env::args_os().nth(2).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    let store = Arc::new(SqliteStore::open(folder.path().join("docent.db"))?);
    let domain = Domain::parse("acme")?;
    let begun = Instant::now();
    made_up::conversations(&store, &domain, conversations, START).await?;
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
    say("grouping of the questions", grouping);
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
