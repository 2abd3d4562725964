//! The daily limit of a site.

use std::sync::Arc;
use std::time::Duration;

use docent_builtin::Builtin;
use docent_llm::scripted::{Reply, ReplyGate};
use docent_types::{StreamEvent, TokenPrice};
use futures::StreamExt;
use futures::future::join_all;

use super::TestAssistant;
use crate::memory::MemorySpends;
use crate::{DailyBudget, DailyLimit, DailyLimits, Spend};

const DAY: Duration = Duration::from_secs(24 * 3600);
const QUESTION: &str = "How often is a failed call retried?";

impl TestAssistant {
    fn within(mut self, usual: DailyLimit) -> Self {
        let limits = DailyLimits { usual, ..DailyLimits::default() };
        let budget = DailyBudget { spends: Arc::new(MemorySpends::default()), limits, instead: Arc::new(Builtin) };
        let price = TokenPrice { input: 1.0, cached_input: 1.0, output: 1.0 };
        self.assistant = self.assistant.with_budget(budget, Some(price));
        self
    }

    async fn spent(&self) -> Spend {
        self.assistant.spent_today(&self.domain).await.expect("reads").expect("it is counted").0
    }
}

#[tokio::test]
async fn at_the_limit_the_docs_are_quoted_until_the_next_day() {
    let fixture = TestAssistant::new().within(DailyLimit { tokens: None, cost_micros: Some(13) });
    fixture.model.replies(Reply::text("Five times.").costs(10, 3));
    assert_eq!(fixture.ask(QUESTION).await.text(), "Five times.");
    assert_eq!(fixture.spent().await, Spend { tokens: 13, cost_micros: 13 });

    let told = fixture.ask(QUESTION).await;
    assert!(
        told.text().starts_with("The assistant of this site has used up what it may spend today"),
        "{}",
        told.text()
    );
    let notice = told.events.iter().find_map(|event| match event {
        StreamEvent::Data { name: "notice", value, .. } => Some(value.clone()),
        _ => None,
    });
    let notice = notice.expect("what clients say in their own words");
    let until = notice["until"].as_str().expect("a time");
    assert!(until.ends_with("T00:00:00.000Z") && told.text().starts_with(notice["sentence"].as_str().expect("a text")));
    assert!(told.sources().contains(&"guides/retries".to_owned()), "{:?}", told.sources());
    assert_eq!((fixture.model.requests().len(), fixture.assistant.limited_replies()), (1, 1));
    assert!(fixture.last_turn().await.search_only);

    fixture.clock.advance(DAY);
    fixture.model.replies(Reply::text("Five times.").costs(10, 3));
    assert_eq!(fixture.ask(QUESTION).await.text(), "Five times.", "a new day");
}

#[tokio::test]
async fn a_reply_that_its_reader_leaves_is_counted() {
    let fixture = TestAssistant::new().within(DailyLimit::default());
    let pause = ReplyGate::closed();
    fixture.model.replies(Reply::text("Five times.").wait(&pause).say(" Or more."));
    let mut events = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins").events;
    while !matches!(events.next().await.expect("an event"), StreamEvent::TextDelta { .. }) {}
    drop(events);
    while fixture.spent().await.tokens < 100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn questions_that_run_at_the_limit_end_as_they_would_and_no_other_begins() {
    let fixture = TestAssistant::new().within(DailyLimit { tokens: Some(1), cost_micros: None });
    let mut running = Vec::new();
    for _ in 0..100 {
        fixture.model.replies(Reply::text("Five times.").costs(10, 3));
        let reply = fixture.assistant.answer(fixture.question(QUESTION)).await.expect("begins");
        running.push(reply.events.count());
    }
    join_all(running).await;
    assert_eq!(fixture.spent().await.tokens, 1_300);
    assert_eq!((fixture.model.requests().len(), fixture.assistant.limited_replies()), (100, 0));
    assert!(fixture.ask(QUESTION).await.text().starts_with("The assistant of this site has used up"));
    assert_eq!(fixture.model.requests().len(), 100);
}
