//! What every implementation of [`Threads`] must do. Panics on the first thing that is otherwise.

use docent_types::{Domain, ThreadId, Timestamp};
use uuid::Uuid;

use crate::thread::{NewThread, ThreadKey, Threads, Turn};

fn turn(n: u32, answer: Option<&str>) -> Turn {
    Turn {
        question_id: Some(format!("q{n}")),
        question: format!("Question {n}?"),
        answer_id: format!("a{n}"),
        answer: answer.map(str::to_owned),
        sources: vec!["guides/retries".to_owned()],
        answered: answer.is_some(),
        asked_at: Timestamp::from_millis(i64::from(n)),
    }
}

/// Runs the suite against an empty store.
///
/// # Panics
/// When the store does not keep a promise of the port.
pub async fn threads(store: &dyn Threads) {
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
