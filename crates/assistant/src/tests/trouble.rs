//! A model that does not answer, or whose reply breaks off.

use std::time::Duration;

use docent_llm::ModelErrorKind as Kind;
use docent_llm::scripted::Reply;
use tokio::time::Instant;

use super::TestAssistant;

const QUESTION: &str = "How often is a failed call retried?";

#[tokio::test(start_paused = true)]
async fn a_short_disturbance_is_not_noticed() {
    let fixture = TestAssistant::new();
    fixture.model.fails(Kind::Overloaded { retry_after: None });
    fixture.model.replies(Reply::default().cut(Kind::Interrupted)).replies("Five times.");
    let since = Instant::now();
    let told = fixture.ask(QUESTION).await;
    assert_eq!((told.text().as_str(), told.error()), ("Five times.", None));
    assert!(since.elapsed() < Duration::from_secs(2));
    fixture.model.fails(Kind::RateLimited { retry_after: Some(Duration::from_secs(2)) }).replies("Five times.");
    assert_eq!(fixture.ask(QUESTION).await.text(), "Five times.");
}

#[tokio::test(start_paused = true)]
async fn a_longer_one_is_told_with_what_to_do() {
    for (kind, calls, told_so) in [
        (Kind::Overloaded { retry_after: None }, 3, "in a moment"),
        (Kind::RateLimited { retry_after: Some(Duration::from_secs(30)) }, 1, "in 30 seconds"),
        (Kind::RateLimited { retry_after: Some(Duration::from_millis(1_900)) }, 3, "in a second"),
        (Kind::Auth, 1, "operator"),
        (Kind::Refused, 1, "other words"),
        (Kind::Fatal, 1, "operator"),
    ] {
        let fixture = TestAssistant::new();
        for _ in 0..calls {
            fixture.model.fails(kind);
        }
        fixture.model.replies("Too late.");
        let since = Instant::now();
        let told = fixture.ask(QUESTION).await;
        let error = told.error().expect("an error");
        assert!(error.contains(told_so), "{kind:?}: {error}");
        assert_eq!(fixture.model.remaining(), 1, "{kind:?}");
        assert!(since.elapsed() <= Duration::from_secs(5), "{kind:?}");
        assert_eq!(told.kinds(), ["start", "step", "call", "result", "error"]);
    }
}

#[tokio::test]
async fn a_broken_off_reply_is_stored_without_an_answer() {
    let fixture = TestAssistant::new();
    fixture.model.replies(Reply::text("Five t").cut(Kind::Overloaded { retry_after: None }));
    let told = fixture.ask(QUESTION).await;
    assert_eq!(told.error().as_deref(), Some("The answer broke off. Ask again."));
    assert_eq!(fixture.model.requests().len(), 1, "what has left cannot be taken back");
    assert_eq!(fixture.last_turn().await.answer, None);
}

#[tokio::test]
async fn a_request_that_is_too_long_is_made_shorter_once() {
    let fixture = TestAssistant::new();
    fixture.model.fails(Kind::ContextTooLong).replies("Five times.");
    assert_eq!(fixture.ask(QUESTION).await.text(), "Five times.");
    fixture.model.fails(Kind::ContextTooLong).fails(Kind::ContextTooLong);
    let error = fixture.ask(QUESTION).await.error().expect("an error");
    assert!(error.contains("too long"), "{error}");
}
