//! What every implementation of [`Threads`] must do. Panics on the first thing that is otherwise.

use docent_types::{Domain, ThreadId, Timestamp};
use uuid::Uuid;

use crate::export::{AskedTurn, ExportCursor, ExportQuery, QuestionFilter};
use crate::thread::{CitedPage, Feedback, NewThread, Rating, ThreadKey, Threads, Turn};

const ALL: usize = usize::MAX;

fn turn(n: u32, answer: Option<&str>) -> Turn {
    Turn {
        question_id: Some(format!("q{n}")),
        question: format!("Question {n}?"),
        answer_id: format!("a{n}"),
        answer: answer.map(str::to_owned),
        sources: vec![CitedPage { title: "Retries".to_owned(), url: "/guides/retries#backoff".to_owned() }],
        answered: answer.is_some(),
        asked_at: at(n),
        page: Some("/guides".to_owned()),
        ..Turn::default()
    }
}

fn at(n: u32) -> Timestamp {
    Timestamp::from_millis(i64::from(n))
}

fn thread_of(domain: &Domain, n: u32) -> NewThread {
    NewThread {
        id: ThreadId::new(Uuid::from_u128(u128::from(n))),
        domain: domain.clone(),
        fp: format!("reader {n}"),
        key: ThreadKey::of("secret"),
        created_at: at(n),
        turns: vec![turn(n, Some("So."))],
    }
}

/// Runs the suite against an empty store.
///
/// # Panics
/// When the store does not keep a promise of the port.
pub async fn threads(store: &dyn Threads) {
    conversations(store).await;
    feedback(store).await;
    exports(store).await;
    large_exports(store).await;
    retention(store).await;
}

async fn conversations(store: &dyn Threads) {
    let (acme, other) = (Domain::parse("acme").expect("a name"), Domain::parse("other").expect("a name"));
    let id = ThreadId::new(Uuid::from_u128(1));
    let key = ThreadKey::of("secret");
    let begun = NewThread {
        id,
        domain: acme.clone(),
        fp: "anonymous".to_owned(),
        key,
        created_at: Timestamp::from_millis(1),
        turns: vec![turn(1, Some("One."))],
    };
    store.begin(begun).await.expect("begins");
    assert!(store.thread(&other, id, ALL).await.expect("reads").is_none(), "not seen from another domain");
    let turns = || async { store.thread(&acme, id, ALL).await.expect("reads").expect("is there").turns };
    let found = store.thread(&acme, id, ALL).await.expect("reads").expect("is there");
    assert_eq!(found.created_at, Timestamp::from_millis(1));
    assert!(found.key == key && found.key.fits("secret") && !found.key.fits("Secret"));
    assert_eq!(found.turns, [turn(1, Some("One."))]);

    store.put_turn(id, turn(2, None), None).await.expect("adds");
    store.put_turn(id, turn(2, Some("Two.")), None).await.expect("completes");
    assert_eq!(turns().await, [turn(1, Some("One.")), turn(2, Some("Two."))], "completed in its place");
    let last = store.thread(&acme, id, 1).await.expect("reads").expect("is there").turns;
    assert_eq!(last, [turn(2, Some("Two."))], "no more than asked for, the last ones");

    store.put_turn(id, turn(3, None), Some("a2".to_owned())).await.expect("replaces");
    assert_eq!(turns().await, [turn(1, Some("One.")), turn(3, None)], "a question asked again drops its old answer");

    let gone = ThreadId::new(Uuid::from_u128(9));
    store.put_turn(gone, turn(1, None), None).await.expect("a thread that is gone is left alone");
    assert!(store.thread(&acme, gone, ALL).await.expect("reads").is_none());
}

async fn feedback(store: &dyn Threads) {
    let (acme, other) = (Domain::parse("rated").expect("a name"), Domain::parse("other").expect("a name"));
    let thread = thread_of(&acme, 20);
    let id = thread.id;
    store.begin(thread).await.expect("begins");
    let given = |rating, n| Feedback { rating, comment: Some(format!("Comment {n}")), at: at(n) };
    let rate = async |domain: &Domain, id, answer: &str, feedback| {
        store.rate(domain, id, answer, feedback).await.expect("rates")
    };
    assert!(!rate(&other, id, "a20", given(Rating::Up, 21)).await, "not from another domain");
    assert!(!rate(&acme, id, "a99", given(Rating::Up, 21)).await, "there is no such reply");
    assert!(!rate(&acme, ThreadId::new(Uuid::from_u128(999)), "a20", given(Rating::Up, 21)).await, "nor such a thread");
    assert!(rate(&acme, id, "a20", given(Rating::Up, 21)).await);
    assert!(rate(&acme, id, "a20", given(Rating::Down, 22)).await, "rated again");
    let turns = || async { store.thread(&acme, id, ALL).await.expect("reads").expect("is there").turns };
    assert_eq!(turns().await[0].feedback, Some(given(Rating::Down, 22)));
    store.put_turn(id, turn(20, Some("Otherwise.")), None).await.expect("completes");
    let kept = turns().await;
    assert_eq!(kept[0].feedback, Some(given(Rating::Down, 22)), "a turn that is put keeps its feedback");
    assert_eq!(kept[0].answer.as_deref(), Some("Otherwise."));
}

async fn exports(store: &dyn Threads) {
    let acme = Domain::parse("exported").expect("a name");
    // A turn that its client sent as history, before the first question asked here.
    let told = Turn { asked_at: Timestamp::default(), ..turn(30, Some("Told.")) };
    let begun = thread_of(&acme, 31);
    let turns = vec![told, turn(31, Some("So."))];
    store.begin(NewThread { turns, ..begun }).await.expect("begins");
    // Two of them were asked at the same time.
    for (n, asked) in [(32, 32), (33, 32)] {
        let turns = vec![Turn { asked_at: at(asked), ..turn(n, Some("So.")) }];
        store.begin(NewThread { turns, ..thread_of(&acme, n) }).await.expect("begins");
    }
    store.put_turn(ThreadId::new(Uuid::from_u128(31)), turn(34, None), None).await.expect("adds");
    let rating = Feedback { rating: Rating::Down, comment: None, at: at(35) };
    assert!(store.rate(&acme, ThreadId::new(Uuid::from_u128(32)), "a32", rating).await.expect("rates"));
    let query = |from: Option<u32>, to: Option<u32>, after: Option<ExportCursor>, limit| ExportQuery {
        domain: acme.clone(),
        which: QuestionFilter::All,
        from: from.map(at),
        to: to.map(at),
        after,
        limit,
        most_bytes: u64::MAX,
    };
    let page = |query: ExportQuery| async {
        let page = store.export(query).await.expect("exports");
        let ids: Vec<String> = page.turns.iter().map(|one| one.turn.answer_id.clone()).collect();
        (ids.join(" "), page)
    };
    let (ids, whole) = page(query(None, None, None, 10)).await;
    assert_eq!(
        (ids.as_str(), whole.next),
        ("a34 a33 a32 a31", None),
        "newest first, and nothing that was only told of"
    );
    let oldest = whole.turns.last().expect("four");
    let thread = ThreadId::new(Uuid::from_u128(31));
    assert_eq!(*oldest, AskedTurn { thread, fp: "reader 31".to_owned(), turn: turn(31, Some("So.")) });
    let (ids, first) = page(query(None, None, None, 2)).await;
    assert_eq!(ids, "a34 a33");
    let next = first.next.expect("there is more");
    assert_eq!(next, ExportCursor { asked_at: at(32), answer_id: "a33".to_owned() });
    let (ids, second) = page(query(None, None, Some(next), 2)).await;
    assert_eq!((ids.as_str(), second.next), ("a32 a31", None), "goes on after the last one");
    let (ids, _) = page(query(Some(32), Some(34), None, 10)).await;
    assert_eq!(ids, "a33 a32", "from a moment on, and before another");
    for (which, expected) in [(QuestionFilter::Rated, "a32"), (QuestionFilter::Unanswered, "a34")] {
        let (ids, _) = page(ExportQuery { which, ..query(None, None, None, 10) }).await;
        assert_eq!(ids, expected, "{which:?}");
    }
    let other = Domain::parse("other").expect("a name");
    let (ids, _) = page(ExportQuery { domain: other, ..query(None, None, None, 10) }).await;
    assert_eq!(ids, "", "not of another domain");
}

async fn large_exports(store: &dyn Threads) {
    let acme = Domain::parse("talkative").expect("a name");
    // Two of these turns have less than three thousand bytes together, three have more. The third alone is larger.
    for (n, length) in [(75, 1_000), (74, 1_000), (73, 20_000), (72, 1_000), (71, 1_000)] {
        let turn = Turn { question: "w".repeat(length), ..turn(n, None) };
        store.begin(NewThread { turns: vec![turn], ..thread_of(&acme, n) }).await.expect("begins");
    }
    let mut pages: Vec<Vec<Timestamp>> = Vec::new();
    let mut after = None;
    loop {
        let (domain, which) = (acme.clone(), QuestionFilter::All);
        let query = ExportQuery { domain, which, from: None, to: None, after, limit: 10, most_bytes: 3_000 };
        let page = store.export(query).await.expect("exports");
        pages.push(page.turns.iter().map(|one| one.turn.asked_at).collect());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let expected = [vec![at(75), at(74)], vec![at(73)], vec![at(72), at(71)]];
    assert_eq!(pages, expected, "as much as may be, a large one alone, and none left out");
}

async fn retention(store: &dyn Threads) {
    let acme = Domain::parse("forgetful").expect("a name");
    for n in 51..=54 {
        store.begin(NewThread { turns: Vec::new(), ..thread_of(&acme, n) }).await.expect("begins");
    }
    let others = ["another", "yet-another"].map(|name| Domain::parse(name).expect("a name"));
    for (domain, n) in others.iter().zip([55, 56]) {
        store.begin(NewThread { turns: Vec::new(), ..thread_of(domain, n) }).await.expect("begins");
    }
    let id = |n: u128| ThreadId::new(Uuid::from_u128(n));
    store.put_turn(id(51), turn(60, None), None).await.expect("adds");
    store.put_turn(id(52), turn(52, None), None).await.expect("adds");
    let late = Feedback { rating: Rating::Up, comment: None, at: at(61) };
    assert!(store.rate(&acme, id(52), "a52", late).await.expect("rates"));
    // The threads of the other stories are older than these.
    while store.forget(at(51), 2).await.expect("forgets") > 0 {}
    assert_eq!(store.forget(at(60), 1).await.expect("forgets"), 1, "no more than asked for");
    assert_eq!(store.forget(at(60), 10).await.expect("forgets"), 3);
    assert_eq!(store.forget(at(60), 10).await.expect("forgets"), 0);
    for (n, kept) in [(51, true), (52, true), (53, false), (54, false)] {
        assert_eq!(
            store.thread(&acme, id(n), ALL).await.expect("reads").is_some(),
            kept,
            "{n}: asked or rated in since"
        );
    }
    for (domain, n) in others.iter().zip([55, 56]) {
        assert!(store.thread(domain, id(n), ALL).await.expect("reads").is_none(), "{n}: of another domain, and as old");
    }
}
