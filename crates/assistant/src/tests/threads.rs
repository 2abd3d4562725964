//! Threads from outside: rated, exported, forgotten.

use std::time::Duration;

use docent_types::{CallError, Domain, RefusalKind, StreamEvent, ThreadId};

use super::{House, NOW, Told};
use crate::Rating;

const QUESTION: &str = "How often is a failed call retried?";
const DAY: Duration = Duration::from_secs(24 * 3600);

fn message(told: &Told) -> String {
    let ids = told.each(|event| match event {
        StreamEvent::Start { message_id, .. } => Some(message_id.to_string()),
        _ => None,
    });
    ids.into_iter().next().expect("a start")
}

async fn rate(house: &House, thread: ThreadId, message: &str, comment: &str) -> Result<(), RefusalKind> {
    let rated = house.assistant.rate(&house.domain, thread, message, Rating::Down, Some(comment.to_owned())).await;
    rated.map_err(|error| match error {
        CallError::Refused(refusal) => refusal.kind,
        CallError::Store(error) => panic!("{error}"),
    })
}

#[tokio::test]
async fn an_answer_is_rated_by_the_ids_of_its_stream() {
    let house = House::new();
    house.model.replies("Five times.");
    let told = house.ask(QUESTION).await;
    let message = message(&told);
    assert_eq!(rate(&house, told.thread, &message, "Too short.").await, Ok(()));
    let feedback = house.last_turn().await.feedback.expect("is kept");
    assert_eq!((feedback.rating, feedback.comment.as_deref(), feedback.at), (Rating::Down, Some("Too short."), NOW));
    assert_eq!(rate(&house, told.thread, &message, " ").await, Ok(()));
    assert_eq!(house.last_turn().await.feedback.expect("is kept").comment, None);
    assert_eq!(rate(&house, told.thread, "another", "x").await, Err(RefusalKind::NotFound));
    assert_eq!(rate(&house, told.thread, &message, &"x".repeat(4_001)).await, Err(RefusalKind::Invalid));
    let other = Domain::parse("other").expect("a name");
    assert!(house.assistant.rate(&other, told.thread, &message, Rating::Up, None).await.is_err());
}

#[tokio::test]
async fn conversations_are_exported_with_what_became_of_them() {
    let house = House::new();
    house.model.replies("Five times.").replies("As a bearer token.");
    let first = house.ask(QUESTION).await;
    house.clock.advance(DAY);
    house.ask("How is the API key sent to the server?").await;
    let conversations = house.conversations().await;
    assert_eq!(conversations.len(), 2);
    assert_eq!((conversations[1].id, conversations[1].began_at, conversations[1].touched_at), (first.thread, NOW, NOW));
    let turn = &conversations[1].turns[0];
    assert!(turn.answered && !turn.is_told());
    assert_eq!((turn.question.as_str(), turn.answer.as_deref()), (QUESTION, Some("Five times.")));
}

#[tokio::test]
async fn threads_nobody_touches_are_forgotten() {
    let house = House::new();
    house.model.replies("Five times.").replies("As a bearer token.");
    let old = house.ask(QUESTION).await;
    house.clock.advance(DAY * 20);
    let young = house.ask("How is the API key sent to the server?").await;
    house.clock.advance(DAY * 20);
    assert_eq!(house.assistant.forget(DAY * 30).await.expect("forgets"), 1);
    let kept: Vec<ThreadId> = house.conversations().await.iter().map(|conversation| conversation.id).collect();
    assert_eq!(kept, [young.thread]);
    assert_ne!(old.thread, young.thread);
}
