//! The conformance suites of [`Threads`], [`Searches`] and [`Spends`]. They panic at the first failure.

use docent_types::{Domain, ThreadId, Timestamp};
use uuid::Uuid;

use crate::analytics::{DayCount, Days, Latency, NewestQuestions, Percentiles, QuestionCounts, SourceCount, Summary};
use crate::export::{
    AskedTurn, ExportCursor, ExportQuery, MOST_READ, MinimumWait, QuestionFilter, QuestionOutcome, RatingFilter,
};
use crate::searches::{
    MOST_TERMS_A_DAY, Search, SearchCounts, SearchTerm, SearchTerms, Searches, TermCursor, TermQuery,
};
use crate::spend::{Spend, Spends};
use crate::thread::{AnswerStage, CitedPage, Feedback, NewThread, Rating, ThreadKey, Threads, Timing, Turn};

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
/// If the store violates the contract of the port.
pub async fn threads(store: &dyn Threads) {
    conversations(store).await;
    feedback(store).await;
    exports(store).await;
    large_exports(store).await;
    filters(store).await;
    long_lists(store).await;
    retention(store).await;
    summaries(store).await;
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
    // A turn that the client sent as history, before the first question that was asked here.
    let told = Turn { asked_at: Timestamp::default(), ..turn(30, Some("Told.")) };
    let begun = thread_of(&acme, 31);
    let turns = vec![told, turn(31, Some("So."))];
    store.begin(NewThread { turns, ..begun }).await.expect("begins");
    // These two questions were asked at the same time.
    for (n, asked) in [(32, 32), (33, 32)] {
        let turns = vec![Turn { asked_at: at(asked), ..turn(n, Some("So.")) }];
        store.begin(NewThread { turns, ..thread_of(&acme, n) }).await.expect("begins");
    }
    store.put_turn(ThreadId::new(Uuid::from_u128(31)), turn(34, None), None).await.expect("adds");
    let rating = Feedback { rating: Rating::Down, comment: None, at: at(35) };
    assert!(store.rate(&acme, ThreadId::new(Uuid::from_u128(32)), "a32", rating).await.expect("rates"));
    let query = |from: Option<u32>, to: Option<u32>, after: Option<ExportCursor>, limit| ExportQuery {
        domain: acme.clone(),
        which: QuestionFilter::default(),
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
    let other = Domain::parse("other").expect("a name");
    let (ids, _) = page(ExportQuery { domain: other, ..query(None, None, None, 10) }).await;
    assert_eq!(ids, "", "not of another domain");
}

async fn large_exports(store: &dyn Threads) {
    let acme = Domain::parse("talkative").expect("a name");
    // Two of the short turns are below three thousand bytes together, three are above. The third turn alone is above.
    for (n, length) in [(75, 1_000), (74, 1_000), (73, 20_000), (72, 1_000), (71, 1_000)] {
        let turn = Turn { question: "w".repeat(length), ..turn(n, None) };
        store.begin(NewThread { turns: vec![turn], ..thread_of(&acme, n) }).await.expect("begins");
    }
    let mut pages: Vec<Vec<Timestamp>> = Vec::new();
    let mut after = None;
    loop {
        let (domain, which) = (acme.clone(), QuestionFilter::default());
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

async fn filters(store: &dyn Threads) {
    let acme = Domain::parse("filtered").expect("a name");
    let source = |url: &str| vec![CitedPage { title: "A page".to_owned(), url: url.to_owned() }];
    let turns = [
        Turn {
            question: "Wie groß ist ÜBERHAUPT alles?".to_owned(),
            language: Some("de".to_owned()),
            timing: Some(Timing { search_ms: 10, first_word_ms: 200, end_ms: 3_000 }),
            ..turn(81, Some("1"))
        },
        Turn { answer: Some("It waits a \"Minute\".".to_owned()), sources: source("/keys"), ..turn(82, Some("2")) },
        Turn {
            page: Some("/start".to_owned()),
            sources: source("/keys#rotation"),
            timing: Some(Timing { search_ms: 20, first_word_ms: 100, end_ms: 4_000 }),
            ..turn(83, Some("3"))
        },
        Turn { page: None, sources: Vec::new(), ..turn(84, None) },
        Turn { sources: source("/keys-of-others"), ..turn(85, Some("5")) },
    ];
    store.begin(NewThread { turns: turns.into(), ..thread_of(&acme, 81) }).await.expect("begins");
    let id = ThreadId::new(Uuid::from_u128(81));
    for (answer, rating) in [("a81", Rating::Up), ("a82", Rating::Down)] {
        let feedback = Feedback { rating, comment: None, at: at(86) };
        assert!(store.rate(&acme, id, answer, feedback).await.expect("rates"));
    }
    let all = QuestionFilter::default();
    let text = |text: &str| QuestionFilter { text: Some(text.to_owned()), ..all.clone() };
    let uses = |url: &str| QuestionFilter { source: Some(url.to_owned()), ..all.clone() };
    let on = |page: &str| QuestionFilter { page: Some(page.to_owned()), ..all.clone() };
    let down = RatingFilter::Only(Rating::Down);
    let waited = |until, ms| QuestionFilter { waited: Some(MinimumWait { until, ms }), ..all.clone() };
    for (which, expected) in [
        (all.clone(), "a85 a84 a83 a82 a81"),
        (QuestionFilter::of_outcome(QuestionOutcome::Answered), "a85 a83 a82 a81"),
        (QuestionFilter::of_outcome(QuestionOutcome::Unanswered), "a84"),
        (QuestionFilter::of_outcome(QuestionOutcome::Missed), "a84 a82"),
        (QuestionFilter::rated(RatingFilter::Any), "a82 a81"),
        (QuestionFilter::rated(RatingFilter::Only(Rating::Up)), "a81"),
        (QuestionFilter::rated(down), "a82"),
        (text("überhaupt ALLES"), "a81"),
        (text("a \"minute"), "a82"),
        (text("question 8"), "a85 a84 a83 a82"),
        (text("answered"), ""),
        (uses("/keys"), "a83 a82"),
        (uses("/keys#rotation"), "a83"),
        (uses("/guides/retries"), "a81"),
        (on("/start"), "a83"),
        (on("/guides"), "a85 a82 a81"),
        (QuestionFilter { language: Some("de".to_owned()), ..all.clone() }, "a81"),
        (QuestionFilter { language: Some("und".to_owned()), ..all.clone() }, "a85 a84 a83 a82"),
        (waited(AnswerStage::Search, 0), "a83 a81"),
        (waited(AnswerStage::Search, 11), "a83"),
        (waited(AnswerStage::FirstWord, 101), "a81"),
        (waited(AnswerStage::End, 3_000), "a83 a81"),
        (waited(AnswerStage::End, 4_001), ""),
        (QuestionFilter { rating: Some(down), ..on("/start") }, ""),
        (QuestionFilter { rating: Some(down), ..text("question") }, "a82"),
    ] {
        let (domain, wanted) = (acme.clone(), which.clone());
        let query =
            ExportQuery { domain, which: wanted, from: None, to: None, after: None, limit: 10, most_bytes: u64::MAX };
        let page = store.export(query).await.expect("exports");
        let ids: Vec<String> = page.turns.iter().map(|one| one.turn.answer_id.clone()).collect();
        assert_eq!((ids.join(" ").as_str(), page.next), (expected, None), "{which:?}");
    }
}

async fn long_lists(store: &dyn Threads) {
    let acme = Domain::parse("searched").expect("a name");
    let told = |n: u32| Turn { question: "What?".to_owned(), ..turn(n, None) };
    let mut turns: Vec<Turn> = (1..=MOST_READ + 1).map(told).collect();
    turns[0].question = "Where?".to_owned();
    store.begin(NewThread { turns, ..thread_of(&acme, 90) }).await.expect("begins");
    let page = async |after| {
        let which = QuestionFilter { text: Some("where".to_owned()), ..QuestionFilter::default() };
        let query =
            ExportQuery { domain: acme.clone(), which, from: None, to: None, after, limit: 10, most_bytes: u64::MAX };
        let page = store.export(query).await.expect("exports");
        (page.turns.len(), page.next)
    };
    let (found, next) = page(None).await;
    assert_eq!(
        (found, next.as_ref().map(|next| next.answer_id.as_str())),
        (0, Some("a2")),
        "ends where it has read enough"
    );
    assert_eq!(page(next).await, (1, None), "goes on after what it has read");
}

async fn summaries(store: &dyn Threads) {
    const DAY: i64 = 86_400_000;
    let acme = Domain::parse("counted").expect("a name");
    let of = async |first, end| store.summary(&acme, Days { first, end }).await.expect("sums up");
    assert_eq!(of(0, 9).await, Summary::default(), "nothing was asked");
    let moment = |day: i64, millis: i64| Timestamp::from_millis(day * DAY + millis);
    let source = |title: &str, url: &str| CitedPage { title: title.to_owned(), url: url.to_owned() };
    let answered = |n: u32, asked_at, search_ms| Turn {
        asked_at,
        language: Some("de".to_owned()),
        timing: Some(Timing { search_ms, first_word_ms: 10 * search_ms, end_ms: 100 * search_ms }),
        sources: vec![source("Keys", "/keys#a"), source("Keys", "/keys"), source("Retries", "/retries")],
        ..turn(n, Some("So."))
    };
    let told = Turn { asked_at: Timestamp::default(), ..turn(100, Some("Told.")) };
    let turns =
        vec![told, answered(101, moment(3, 0), 1), turn_at(102, moment(3, DAY - 1)), answered(103, moment(4, 0), 3)];
    store.begin(NewThread { turns, ..thread_of(&acme, 101) }).await.expect("begins");
    let id = ThreadId::new(Uuid::from_u128(101));
    // The answer is stored later, and cites a page whose title has changed.
    store.put_turn(id, turn_at(104, moment(4, 7)), None).await.expect("adds");
    let sources = vec![source("API keys", "/keys")];
    store.put_turn(id, Turn { sources, ..answered(104, moment(4, 7), 2) }, None).await.expect("completes");
    // One answer is rated twice; another question is asked again.
    for rating in [Rating::Up, Rating::Down] {
        let feedback = Feedback { rating, comment: None, at: at(1) };
        assert!(store.rate(&acme, id, "a103", feedback).await.expect("rates"));
    }
    store.put_turn(id, turn_at(105, moment(5, 0)), None).await.expect("adds");
    let operators = Turn { is_operators: true, ..answered(107, moment(5, 1), 1) };
    store.begin(NewThread { turns: vec![operators.clone()], ..thread_of(&acme, 107) }).await.expect("begins");
    let kept = store.thread(&acme, ThreadId::new(Uuid::from_u128(107)), ALL).await.expect("reads").expect("is there");
    assert_eq!(kept.turns, [operators], "what operators ask is kept, and not counted");
    store.put_turn(id, turn_at(106, moment(6, 0)), Some("a105".to_owned())).await.expect("replaces");

    let counts = |questions, answered, down| QuestionCounts { questions, answered, up: 0, down };
    let found = of(3, 7).await;
    let days = [(3, counts(2, 1, 0)), (4, counts(2, 2, 1)), (6, counts(1, 0, 0))];
    assert_eq!(
        found.by_day,
        days.map(|(day, counts)| DayCount::new(day, counts)),
        "days without a question are left out"
    );
    assert_eq!((found.counts, found.counts.unanswered()), (counts(5, 3, 1), 2));
    assert_eq!(store.counts(&acme, Days { first: 3, end: 7 }).await.expect("counts"), found.by_day);
    let percentiles = |p50, p95| Percentiles { p50, p95 };
    let newest = NewestQuestions {
        questions: 5,
        languages: vec![(Some("de".to_owned()), 3), (None, 2)],
        latency: Some(Latency {
            answers: 3,
            search: percentiles(2, 3),
            first_word: percentiles(20, 30),
            end: percentiles(200, 300),
        }),
        sources: vec![
            SourceCount { title: "API keys".to_owned(), url: "/keys".to_owned(), answers: 3, down: 1 },
            SourceCount { title: "Retries".to_owned(), url: "/retries".to_owned(), answers: 2, down: 1 },
        ],
        unanswered_pages: vec![("/guides".to_owned(), 2)],
    };
    assert_eq!(found.newest, newest);
    let one_day = of(4, 5).await;
    assert_eq!((one_day.by_day.len(), one_day.newest.questions), (1, 2), "nothing of other days");
    assert_eq!(of(5, 6).await, Summary::default(), "what was taken back is not counted");
    while store.forget(Timestamp::from_millis(7 * DAY), 100).await.expect("forgets") > 0 {}
    assert_eq!(of(0, 9).await, Summary::default(), "nor what was forgotten");
}

fn turn_at(n: u32, asked_at: Timestamp) -> Turn {
    Turn { asked_at, ..turn(n, None) }
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
    // Deletes the threads of the other tests, which are older than these.
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

/// The conformance suite of [`Searches`]. The store must be empty.
///
/// # Panics
/// If the store violates the contract of the port.
pub async fn searches(store: &dyn Searches) {
    const DAY: i64 = 86_400_000;
    let [acme, other] = ["acme", "other"].map(|name| Domain::parse(name).expect("a name"));
    let moment = |day: i64, millis: i64| Timestamp::from_millis(day * DAY + millis);
    let search = |domain: &Domain, term: &str, at, has_results| Search {
        domain: domain.clone(),
        term: term.to_owned(),
        at,
        has_results,
    };
    let batch = vec![
        search(&acme, "keys", moment(3, 0), true),
        search(&acme, "keys", moment(3, DAY - 1), false),
        search(&acme, "retry", moment(3, 5), true),
        search(&acme, "größe", moment(4, 1), false),
        search(&other, "keys", moment(3, 7), true),
    ];
    store.count(batch).await.expect("counts");
    store.count(Vec::new()).await.expect("counts none");
    let later = vec![search(&acme, "keys", moment(4, 0), false), search(&acme, "retry", moment(4, 2), true)];
    store.count(later).await.expect("counts");

    let query = |first, end| TermQuery {
        domain: acme.clone(),
        days: Days { first, end },
        without_results: false,
        after: None,
        limit: 10,
    };
    let counts = |searches, without_results| SearchCounts { searches, without_results };
    let term = |term: &str, counts, last_at| SearchTerm { term: term.to_owned(), counts, last_at };
    let keys = term("keys", counts(3, 2), moment(4, 0));
    let retry = term("retry", counts(2, 0), moment(4, 2));
    let size = term("größe", counts(1, 1), moment(4, 1));
    let list = async |query: TermQuery| store.terms(query).await.expect("lists");
    let whole =
        SearchTerms { counts: counts(6, 3), terms: vec![keys.clone(), retry.clone(), size.clone()], next: None };
    assert_eq!(list(query(0, 9)).await, whole);
    let day = list(query(3, 4)).await;
    let on_day = vec![term("keys", counts(2, 1), moment(3, DAY - 1)), term("retry", counts(1, 0), moment(3, 5))];
    assert_eq!((day.counts, day.terms), (counts(3, 1), on_day), "one day");
    assert_eq!(list(query(5, 9)).await, SearchTerms::default(), "nothing was searched for");
    let missed = list(TermQuery { without_results: true, ..query(0, 9) }).await;
    assert_eq!(missed, SearchTerms { counts: counts(6, 3), terms: vec![keys, size], next: None });
    for without_results in [false, true] {
        let mut query = TermQuery { without_results, limit: 1, ..query(0, 9) };
        let mut terms = Vec::new();
        loop {
            let page = list(query.clone()).await;
            assert_eq!((page.counts, page.terms.len()), (counts(6, 3), 1), "one a page, and the counts of all");
            terms.extend(page.terms.into_iter().map(|one| one.term));
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        let expected = if without_results { "keys größe" } else { "keys retry größe" };
        assert_eq!(terms.join(" "), expected, "page by page");
    }
    let before_all = TermCursor { count: u64::MAX, term: String::new() };
    assert_eq!(list(TermQuery { after: Some(before_all), ..query(0, 9) }).await, whole, "any position is one");
    let days = store.term_by_day(&acme, Days { first: 0, end: 9 }, "keys").await.expect("lists");
    assert_eq!(days, [(moment(3, 0), counts(2, 1)), (moment(4, 0), counts(1, 1))]);
    assert_eq!(store.forget(4, 1).await.expect("forgets"), 1, "as many as it may");
    assert_eq!(store.forget(4, 10).await.expect("forgets"), 2, "of every domain");
    assert_eq!(store.forget(4, 10).await.expect("forgets"), 0);
    assert_eq!(list(query(0, 9)).await.counts, counts(3, 2), "what is younger stays");

    let many = (0..MOST_TERMS_A_DAY + 5).map(|n| search(&other, &format!("term {n}"), moment(7, 0), true));
    let many: Vec<Search> = many.collect();
    for step in many.chunks(500) {
        store.count(step.to_vec()).await.expect("counts");
    }
    store.count(vec![many[0].clone()]).await.expect("counts");
    let of_other = TermQuery { domain: other.clone(), limit: 1, ..query(7, 8) };
    let found = list(of_other).await;
    assert_eq!(
        (found.counts.searches, found.terms[0].counts.searches),
        (MOST_TERMS_A_DAY + 1, 2),
        "and no further terms"
    );
}

/// What was spent adds up for each domain and day.
pub async fn spends(store: &dyn Spends) {
    let [acme, other] = ["acme", "other"].map(|name| Domain::parse(name).expect("a name"));
    let spend = |tokens, cost_micros| Spend { tokens, cost_micros };
    let spent = async |domain: &Domain, day| store.spent(domain, day).await.expect("reads");
    assert_eq!(spent(&acme, 3).await, Spend::default());
    for (domain, day, more) in
        [(&acme, 3, spend(100, 7)), (&acme, 3, spend(-40, -7)), (&acme, 4, spend(1, 0)), (&other, 3, spend(5, 1 << 40))]
    {
        store.spend(domain, day, more).await.expect("adds");
    }
    assert_eq!(
        [spent(&acme, 3).await, spent(&acme, 4).await, spent(&acme, 5).await],
        [spend(60, 0), spend(1, 0), spend(0, 0)]
    );
    assert_eq!(spent(&other, 3).await, spend(5, 1 << 40), "each domain has its own");
}
