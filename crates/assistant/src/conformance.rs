//! What every implementation of [`Threads`] must do. Panics on the first thing that is otherwise.

use docent_types::{Domain, ThreadId, Timestamp};
use uuid::Uuid;

use crate::export::{ExportCursor, ExportQuery};
use crate::thread::{Feedback, NewThread, Rating, ThreadKey, Threads, Turn};

fn turn(n: u32, answer: Option<&str>) -> Turn {
    Turn {
        question_id: Some(format!("q{n}")),
        question: format!("Question {n}?"),
        answer_id: format!("a{n}"),
        answer: answer.map(str::to_owned),
        sources: vec!["guides/retries".to_owned()],
        answered: answer.is_some(),
        asked_at: at(n),
        feedback: None,
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
    assert!(store.thread(&other, id).await.expect("reads").is_none(), "not seen from another domain");
    let turns = || async { store.thread(&acme, id).await.expect("reads").expect("is there").turns };
    let found = store.thread(&acme, id).await.expect("reads").expect("is there");
    assert!(found.key == key && found.key.fits("secret") && !found.key.fits("Secret"));
    assert_eq!(found.turns, [turn(1, Some("One."))]);

    store.put_turn(id, turn(2, None), None).await.expect("adds");
    store.put_turn(id, turn(2, Some("Two.")), None).await.expect("completes");
    assert_eq!(turns().await, [turn(1, Some("One.")), turn(2, Some("Two."))], "completed in its place");

    store.put_turn(id, turn(3, None), Some("a2".to_owned())).await.expect("replaces");
    assert_eq!(turns().await, [turn(1, Some("One.")), turn(3, None)], "a question asked again drops its old answer");

    let gone = ThreadId::new(Uuid::from_u128(9));
    store.put_turn(gone, turn(1, None), None).await.expect("a thread that is gone is left alone");
    assert!(store.thread(&acme, gone).await.expect("reads").is_none());
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
    let turns = || async { store.thread(&acme, id).await.expect("reads").expect("is there").turns };
    assert_eq!(turns().await[0].feedback, Some(given(Rating::Down, 22)));
    store.put_turn(id, turn(20, Some("Otherwise.")), None).await.expect("completes");
    let kept = turns().await;
    assert_eq!(kept[0].feedback, Some(given(Rating::Down, 22)), "a turn that is put keeps its feedback");
    assert_eq!(kept[0].answer.as_deref(), Some("Otherwise."));
}

async fn exports(store: &dyn Threads) {
    let acme = Domain::parse("exported").expect("a name");
    // Two of them began at the same moment.
    for (n, began) in [(31, 31), (32, 32), (33, 32), (34, 34)] {
        store.begin(NewThread { created_at: at(began), ..thread_of(&acme, n) }).await.expect("begins");
    }
    store.put_turn(ThreadId::new(Uuid::from_u128(31)), turn(40, None), None).await.expect("adds");
    let query = |from: Option<u32>, to: Option<u32>, after, limit| ExportQuery {
        domain: acme.clone(),
        from: from.map(at),
        to: to.map(at),
        after,
        limit,
        most_bytes: u64::MAX,
    };
    let page = |query: ExportQuery| async {
        let page = store.export(query).await.expect("exports");
        let ids = page.conversations.iter().map(|conversation| conversation.id.to_string());
        let numbers: Vec<u128> = ids.map(|id| Uuid::parse_str(&id).expect("an id").as_u128()).collect();
        (numbers, page)
    };
    let (numbers, whole) = page(query(None, None, None, 10)).await;
    assert_eq!((numbers, whole.next), (vec![34, 33, 32, 31], None), "newest first");
    let oldest = whole.conversations.last().expect("four");
    assert_eq!((oldest.fp.as_str(), oldest.began_at, oldest.touched_at), ("reader 31", at(31), at(40)));
    assert_eq!(oldest.turns, [turn(31, Some("So.")), turn(40, None)], "with all its turns");
    let (numbers, first) = page(query(None, None, None, 2)).await;
    assert_eq!(numbers, [34, 33]);
    let next = first.next.expect("there is more");
    assert_eq!(next, ExportCursor { began_at: at(32), id: ThreadId::new(Uuid::from_u128(33)) });
    let (numbers, second) = page(query(None, None, Some(next), 2)).await;
    assert_eq!((numbers, second.next), (vec![32, 31], None), "goes on after the last one");
    let (numbers, _) = page(query(Some(32), Some(34), None, 10)).await;
    assert_eq!(numbers, [33, 32], "from a moment on, and before another");
    let (numbers, _) =
        page(ExportQuery { domain: Domain::parse("other").expect("a name"), ..query(None, None, None, 10) }).await;
    assert!(numbers.is_empty(), "not of another domain");
}

async fn large_exports(store: &dyn Threads) {
    let acme = Domain::parse("talkative").expect("a name");
    // Two of these turns are less than three thousand bytes together, and three are more. The third is larger by itself.
    for (n, length) in [(75, 1_000), (74, 1_000), (73, 20_000), (72, 1_000), (71, 1_000)] {
        let turn = Turn { question: "w".repeat(length), ..turn(n, None) };
        store.begin(NewThread { turns: vec![turn], ..thread_of(&acme, n) }).await.expect("begins");
    }
    let mut pages: Vec<Vec<Timestamp>> = Vec::new();
    let mut after = None;
    loop {
        let query = ExportQuery { domain: acme.clone(), from: None, to: None, after, limit: 10, most_bytes: 3_000 };
        let page = store.export(query).await.expect("exports");
        pages.push(page.conversations.iter().map(|one| one.began_at).collect());
        assert!(page.conversations.iter().all(|one| one.turns.len() == 1), "each whole");
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
        assert_eq!(store.thread(&acme, id(n)).await.expect("reads").is_some(), kept, "{n}: asked or rated in since");
    }
    for (domain, n) in others.iter().zip([55, 56]) {
        assert!(store.thread(domain, id(n)).await.expect("reads").is_none(), "{n}: of another domain, and as old");
    }
}
