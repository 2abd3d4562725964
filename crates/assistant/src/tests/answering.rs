//! The searches of a reply, including the model's own, and the query of a follow-up question.

use std::time::Duration;

use docent_llm::ToolChoice;
use docent_llm::scripted::{Reply, ReplyGate};
use docent_types::{Role, StreamEvent, Usage};
use futures::StreamExt;
use serde_json::json;

use super::{NOW, TestAssistant};
use crate::{AskRequest, ChatMessage, ContextItem, ContextKind, SiteSettings};

#[tokio::test]
async fn a_question_is_searched_and_answered() {
    let fixture = TestAssistant::new();
    fixture.model.replies(Reply::text("Five times, see [Retries](/guides/retries).").costs(10, 3));
    let told = fixture.ask("How often is a failed call retried?").await;
    assert_eq!(told.kinds(), ["start", "step", "call", "result", "text", "source", "step-end", "finish"]);
    assert_eq!(told.queries(), ["How often is a failed call retried?"]);
    assert_eq!(told.sources()[0], "guides/retries");
    assert_eq!(told.text(), "Five times, see [Retries](/guides/retries).");
    assert_eq!(told.usage(), Some(Usage::of(10, 3)));
    let turn = fixture.last_turn().await;
    assert!(turn.answered && turn.asked_at == NOW);
    assert_eq!(turn.answer.as_deref(), Some("Five times, see [Retries](/guides/retries)."));
    assert_eq!((turn.sources[0].title.as_str(), turn.sources[0].url.as_str()), ("Retries", "/guides/retries"));
    assert_eq!(turn.sources.len(), told.sources().len());
}

#[tokio::test]
async fn sources_are_streamed_before_the_first_word() {
    let fixture = TestAssistant::new();
    let thinking = ReplyGate::closed();
    fixture.model.replies(Reply::default().wait(&thinking).say("Five times."));
    let ask = fixture.question("How often is a failed call retried?");
    let mut events = fixture.assistant.answer(ask).await.expect("begins").events;
    let mut seen = Vec::new();
    while !matches!(seen.last(), Some(StreamEvent::ToolResult { .. })) {
        seen.push(events.next().await.expect("an event"));
    }
    assert!(fixture.model.requests().is_empty(), "not even asked");
    while futures::poll!(events.next()).is_ready() {}
    assert_eq!(fixture.model.requests().len(), 1, "it thinks");
    drop(events);
    fixture.model.is_cancelled(1).await;
}

#[tokio::test]
async fn the_model_searches_for_what_is_missing_and_then_must_answer() {
    let fixture = TestAssistant::new();
    for query in ["rotate keys", "python client", "bearer token"] {
        fixture.model.replies(Reply::text("Let me look. ").call("search", json!({ "query": query })).costs(5, 1));
    }
    fixture.model.replies(Reply::text("Every month, see [Rotation](/guides/keys#rotation).").costs(7, 2));
    let told = fixture.ask("How often is a failed call retried?").await;
    assert_eq!(told.queries()[1..], ["rotate keys", "python client", "bearer token"]);
    assert_eq!(told.kinds().iter().filter(|kind| **kind == "step").count(), 4);
    assert!(told.found()[1].contains(&"guides/keys".to_owned()));
    assert_eq!(told.usage(), Some(Usage::of(22, 5)), "of all steps");
    let requests = fixture.model.requests();
    let choices: Vec<ToolChoice> = requests.iter().map(|request| request.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Auto, ToolChoice::Auto, ToolChoice::Auto, ToolChoice::None]);
    assert!(requests.iter().all(|request| request.tools.len() == 1), "a transcript with calls names its tools");
    assert!(fixture.told(3).contains("Rotate keys every month."));
    assert_eq!(told.sources().last().map(String::as_str), Some("guides/keys"), "what the text links is a source");
    let once: std::collections::HashSet<_> = told.sources().into_iter().collect();
    assert_eq!(once.len(), told.sources().len(), "no page twice");
}

#[tokio::test]
async fn a_call_that_makes_no_sense_is_answered_and_shown_to_nobody() {
    let fixture = TestAssistant::new();
    let calls =
        Reply::default().call("search", json!("retr")).call("rm", json!({})).call("search", json!({ "query": " " }));
    fixture.model.replies(calls).replies("Five times.");
    let told = fixture.ask("How often is a failed call retried?").await;
    assert_eq!(told.queries().len(), 1);
    assert_eq!(told.text(), "Five times.");
    let transcript = fixture.told(1);
    assert!(transcript.contains("call-1 failed: The input must be an object with a `query`"), "{transcript}");
    assert!(transcript.contains("call-2 failed: There is no tool `rm`"), "{transcript}");
}

#[tokio::test]
async fn more_searches_than_there_are_get_an_answer_too() {
    let fixture = TestAssistant::new();
    let calls = ["a", "b", "c", "d"]
        .into_iter()
        .fold(Reply::default(), |reply, query| reply.call("search", json!({ "query": format!("retries {query}") })));
    fixture.model.replies(calls).replies("Five times.");
    let told = fixture.ask("How often is a failed call retried?").await;
    assert_eq!(told.queries().len(), 4, "ours and three");
    assert!(fixture.told(1).contains("call-4 failed: No more searches can be made."));
    assert_eq!(fixture.model.requests()[1].tool_choice, ToolChoice::None);
}

#[tokio::test]
async fn a_reply_is_never_empty() {
    let fixture = TestAssistant::new();
    fixture.model.replies("").replies("Five times.");
    assert_eq!(fixture.ask("How often is a failed call retried?").await.text(), "Five times.");
    fixture.model.replies("").replies("");
    let told = fixture.ask("How often is a failed call retried?").await;
    assert_eq!(told.text(), "The model gave no answer. Ask again, or in other words.");
    fixture
        .model
        .replies(Reply::text("Let me look.").call("search", json!({ "query": "retries" })))
        .replies("")
        .replies("");
    let told = fixture.ask("How often is a failed call retried?").await;
    assert_eq!(told.text(), "Let me look.The model gave no answer. Ask again, or in other words.");
    fixture.model.replies("<!--docent:unanswered-->");
    assert_eq!(
        fixture.ask("How often is a failed call retried?").await.text(),
        "The docs do not answer this.\n\n[Retries](/guides/retries)"
    );
}

#[tokio::test]
async fn the_new_words_of_a_follow_up_lead() {
    let fixture = TestAssistant::builtin();
    let first = fixture.ask("How do I rotate an API key?").await;
    assert!(first.text().contains("> Rotate keys every month."), "{}", first.text());
    let second = fixture.ask_on(first.thread, "And the backoff?").await;
    assert!(second.text().contains("> The delay doubles up to `max_delay`."), "{}", second.text());
    assert!(!second.text().contains("Rotate keys"), "{}", second.text());
    // A follow-up without new words is about the same topic as before.
    let third = fixture.ask_on(first.thread, "Why?").await;
    assert!(third.text().contains("> Rotate keys every month."), "{}", third.text());
}

#[tokio::test]
async fn a_section_that_answers_is_quoted_wherever_it_stands_on_a_page_that_was_found() {
    let fixture = TestAssistant::builtin();
    let told = fixture.ask("How do I install the Python client and its retries?").await;
    assert!(told.text().contains("Pass `retries=5` to the client in Python."), "{}", told.text());
    assert!(told.text().contains("Install it with pip."), "{}", told.text());
}

#[tokio::test]
async fn a_follow_up_is_searched_in_the_words_of_the_model() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.").replies("\"retries Python client\"\n").replies("Pass `retries=5`.");
    let first = fixture.ask("How often is a failed call retried?").await;
    let second = fixture.ask_on(first.thread, "And in Python?").await;
    assert_eq!(second.queries(), ["retries Python client"]);
    assert_eq!(second.sources()[0], "clients/python");
    let rewriting = fixture.told(1);
    assert!(
        rewriting.contains("How often is a failed call retried?") && rewriting.contains("Five times."),
        "{rewriting}"
    );
    assert!(fixture.told(2).contains("How often is a failed call retried?"), "the conversation is told");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_takes_too_long_to_rewrite_is_not_waited_for() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.").replies(Reply::default().wait(&ReplyGate::closed())).replies("Pass it.");
    let first = fixture.ask("How often is a failed call retried?").await;
    let since = tokio::time::Instant::now();
    let second = fixture.ask_on(first.thread, "And in Python?").await;
    assert_eq!(second.queries(), ["And in Python? How often is a failed call retried?"]);
    assert_eq!(since.elapsed(), Duration::from_secs(2));
    assert_eq!(second.text(), "Pass it.");
}

#[tokio::test]
async fn a_question_that_stands_alone_is_not_rewritten() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.").replies("As a bearer token.");
    let first = fixture.ask("How often is a failed call retried?").await;
    let second = fixture.ask_on(first.thread, "How do I send the API key to the server?").await;
    assert_eq!(second.queries(), ["How do I send the API key to the server?"]);
    assert_eq!(fixture.model.requests().len(), 2);
}

#[tokio::test]
async fn the_page_the_reader_is_on_is_given_where_the_question_is_about_it() {
    let fixture = TestAssistant::new()
        .site(SiteSettings { address: Some("https://acme.test/docs".to_owned()), ..SiteSettings::default() });
    for path in ["/guides/keys", "https://acme.test/docs/guides/keys?x=1#rotation", "/docs/guides/keys/"] {
        fixture.model.replies("It is about keys, see [it](#rotation).");
        let ask = AskRequest { current_path: Some(path.to_owned()), ..fixture.question("What is this about?") };
        let told = fixture.answer(ask).await;
        let request = fixture.told(fixture.model.requests().len() - 1);
        assert!(request.contains("Rotate keys every month."), "{path}: {request}");
        assert_eq!(told.text(), "It is about keys, see [it](/guides/keys#rotation).");
    }
}

#[tokio::test]
async fn selected_text_is_quoted_as_the_readers() {
    let fixture = TestAssistant::new();
    fixture.model.replies("It doubles.");
    let selected = ContextItem {
        kind: ContextKind::TextSelection,
        value: "max_delay".into(),
        path: Some("/guides/retries".into()),
    };
    let told = fixture.answer(AskRequest { context: vec![selected], ..fixture.question("What is this?") }).await;
    assert_eq!(told.queries(), ["What is this? max_delay"]);
    assert!(fixture.told(0).contains("Selected text the reader points at from /guides/retries:\n```\nmax_delay\n```"));
}

#[tokio::test]
async fn no_more_passages_are_used_than_asked_for() {
    let fixture = TestAssistant::new();
    fixture.model.replies("So.");
    let told = fixture.answer(AskRequest { passages: 1, ..fixture.question("retries client key") }).await;
    assert_eq!(told.found()[0].len(), 1);
}

#[tokio::test]
async fn without_a_language_model_the_docs_are_quoted() {
    let fixture = TestAssistant::builtin();
    let first = fixture.ask("How often is a failed call retried?").await;
    assert!(first.text().contains("> A failed call is retried five times."), "{}", first.text());
    assert!(first.text().contains("](/guides/retries"), "{}", first.text());
    let second = fixture.ask_on(first.thread, "And in Python?").await;
    assert_eq!(second.queries(), ["And in Python? How often is a failed call retried?"]);
}

#[tokio::test]
async fn input_tokens_of_one_question_are_bounded_over_all_calls() {
    for (words, calls) in [(9_000, 1), (300, 2)] {
        let fixture = TestAssistant::new();
        for _ in 0..5 {
            let said = Reply::text("y".repeat(200_000));
            fixture.model.replies(said.call("search", json!({ "query": "rotate keys ".repeat(words) })));
        }
        let item = ContextItem {
            kind: ContextKind::TextSelection,
            value: "selected words ".repeat(words),
            path: Some("a/b ".repeat(words * 10)),
        };
        let before = ChatMessage { id: None, role: Role::User, text: "before ".repeat(words * 10) };
        let mut ask = AskRequest {
            context: vec![item; words / 100],
            passages: 50,
            ..fixture.question(&"retried? ".repeat(words * 10))
        };
        ask.said.insert(0, before);
        let told = fixture.answer(ask).await;
        let requests = fixture.model.requests();
        let read: u32 = requests.iter().map(crate::prompt::tokens).sum();
        assert!(requests.len() >= calls && read <= 64_000, "{read} tokens in {} calls", requests.len());
        assert!(told.queries().iter().all(|query| query.len() <= 2_000), "what is searched for, too");

        let turn = fixture.last_turn().await;
        assert!((16_000..=16 * 1024).contains(&turn.question.len()), "{} bytes are kept", turn.question.len());
        assert!((60_000..=64 * 1024).contains(&turn.answer.as_ref().expect("an answer").len()));
    }
}

#[tokio::test]
async fn of_what_a_client_says_was_said_before_no_more_is_kept_than_of_a_question() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Five times.");
    let said = |role, text: String| ChatMessage { id: None, role, text };
    let mut ask = fixture.question("How often is a failed call retried?");
    for turn in (0..30).rev() {
        ask.said.insert(0, said(Role::Assistant, "So. ".repeat(1_000)));
        ask.said.insert(0, said(Role::User, format!("What is {turn}?")));
    }
    let told = fixture.answer(ask).await;
    assert!(fixture.told(0).contains("What is 15?"), "the model reads more of it");
    let thread = fixture.assistant.thread(&fixture.domain, told.thread).await.expect("reads").expect("is there");
    let kept: usize =
        thread.turns.iter().map(|turn| turn.question.len() + turn.answer.as_ref().map_or(0, String::len)).sum();
    assert!((12_000..=16 * 1024 + "Five times.".len()).contains(&kept), "{kept} bytes");
    assert!(thread.turns.iter().any(|turn| turn.question == "What is 29?"), "the newest");
}

#[tokio::test]
async fn small_talk_and_account_questions_have_replies_of_their_own() {
    let fixture = TestAssistant::builtin();
    assert_eq!(fixture.ask("Thanks!").await.text(), "Ask me something about these docs.");
    let account = fixture.ask("Hi, cancel my subscription please").await.text();
    assert!(account.starts_with("I answer from these docs alone."), "{account}");
    let site = SiteSettings {
        small_talk: Some("Hello from Acme.".into()),
        account: Some("Write to billing@acme.test.".into()),
        ..SiteSettings::default()
    };
    let worded = TestAssistant::new().site(site);
    assert_eq!(worded.ask("hello").await.text(), "Hello from Acme.");
    assert_eq!(worded.ask("cancel my subscription").await.text(), "Write to billing@acme.test.");
    assert!(worded.model.requests().is_empty(), "no model is asked");
}
