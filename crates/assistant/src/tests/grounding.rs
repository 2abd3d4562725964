//! The grounding of replies: links, sources, and the note that the docs do not contain the answer.

use docent_llm::scripted::Reply;
use docent_types::{FinishReason, StreamEvent};
use serde_json::json;

use super::{TestAssistant, docs};
use crate::SiteSettings;

const QUESTION: &str = "How often is a failed call retried?";

#[tokio::test]
async fn links_that_lead_nowhere_are_taken_out() {
    let fixture = TestAssistant::new();
    fixture.model.replies(
        "See [Retries](guides/retries.mdx), [nothing](/guides/nothing), [the RFC](https://rfc.test/9110), \
         [more](https://evil.test/?q=secret) and ![a pixel](https://evil.test/p.png). `[code](/x)`",
    );
    let told = fixture.ask("How does the delay of the backoff double?").await;
    let expected =
        "See [Retries](/guides/retries), nothing, [the RFC](https://rfc.test/9110), more and a pixel. `[code](/x)`";
    assert_eq!(told.text(), expected);
    assert_eq!(fixture.last_turn().await.answer.as_deref(), Some(expected), "kept as it was told");
}

#[tokio::test]
async fn a_page_that_is_linked_is_a_source_though_it_scored_low() {
    let fixture = TestAssistant::new();
    fixture.model.replies("See [Python](/clients/python) and [Keys](/guides/keys).");
    let told = fixture.ask("A failed call is retried in which client?").await;
    let found = &told.found()[0];
    assert!(found.contains(&"clients/python".to_owned()) && !found.contains(&"guides/keys".to_owned()), "{found:?}");
    assert_eq!(told.sources(), ["guides/retries", "clients/python"], "what was never read is no source");
    let is_source = told.each(|event| Some(matches!(event, StreamEvent::Source { .. })));
    let end = told.events.iter().position(|event| matches!(event, StreamEvent::TextEnd { .. })).expect("a text");
    assert!(is_source[end + 1], "{:?}", told.events);
}

#[tokio::test]
async fn of_many_pages_that_fit_the_best_are_sources_and_those_that_are_linked() {
    let mut fixture = TestAssistant::new();
    let about =
        ["invoices by the bank", "builds of a branch", "letters to readers", "orders from a shop", "keys of a door"];
    let pages = about.map(|what| {
        (format!("{}.md", &what[..4]), format!("# Calls about {what}\n\nA failed call about {what} is retried."))
    });
    let others = ["red", "green", "blue", "white", "black"]
        .map(|what| (format!("{what}.md"), format!("# Paint\n\nAll {what}.")));
    let pages: Vec<_> = pages.iter().chain(&others).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    fixture.docs = docs(&pages);
    fixture.model.replies("Five times.");
    let told = fixture.ask(QUESTION).await;
    assert_eq!((told.found()[0].len(), told.sources().len()), (5, 3));
    let last = told.found()[0][4].clone();
    fixture.model.replies(format!("See [there](/{last}).").as_str());
    let told = fixture.ask(QUESTION).await;
    assert_eq!((told.sources().len(), told.sources().pop()), (4, Some(last)));
}

#[tokio::test]
async fn without_links_the_last_search_is_what_the_answer_leans_on() {
    let fixture = TestAssistant::new();
    fixture.model.calls("search", json!({ "query": "rotate keys" })).replies("Every month.");
    let told = fixture.ask("How often is a failed call retried?").await;
    assert_eq!(told.sources().last().map(String::as_str), Some("guides/keys"));
}

#[tokio::test]
async fn unanswered_questions_are_refused_and_recorded() {
    let fixture = TestAssistant::new();
    fixture.model.replies("The docs do not say. Nearest is [Retries](/guides/retries).\n\n<!--docent:unanswered-->");
    let told = fixture.ask("How often is a failed call to the moon retried?").await;
    assert_eq!(told.text().trim_end(), "The docs do not say. Nearest is [Retries](/guides/retries).");
    assert_eq!(told.sources(), [""; 0], "there is no answer that could lean on one");
    let turn = fixture.last_turn().await;
    assert!(!turn.answered && turn.sources.is_empty());

    fixture.model.replies(Reply::default().ends(FinishReason::ContentFilter));
    let told = fixture.ask("How often is a failed call retried, damn it?").await;
    assert!(told.text().contains("declines") && told.sources().is_empty() && !fixture.last_turn().await.answered);

    fixture.model.replies("I do not know.");
    fixture.ask("Quibblefrotz zymurgy xylophones?").await;
    let turn = fixture.last_turn().await;
    assert!(
        !turn.answered && turn.sources.is_empty(),
        "nothing was found, so a model that forgets to say so is not needed"
    );

    let builtin = TestAssistant::builtin();
    builtin.ask("Quibblefrotz zymurgy xylophones?").await;
    assert!(!builtin.last_turn().await.answered);
}

#[tokio::test]
async fn the_owner_of_the_site_may_wish_something() {
    let fixture = TestAssistant::new();
    fixture.model.replies("Arr.");
    fixture.ask(QUESTION).await;
    assert!(!fixture.told(0).contains("owner of this site"));

    let instructions = "Answer like a pirate. For help link https://acme.test/support.";
    let fixture =
        TestAssistant::new().site(SiteSettings { instructions: Some(instructions.into()), ..SiteSettings::default() });
    fixture.model.replies("Arr, see [support](https://acme.test/support).");
    let told = fixture.ask(QUESTION).await;
    assert!(fixture.told(0).contains("```\nAnswer like a pirate."));
    assert_eq!(told.text(), "Arr, see [support](https://acme.test/support).");
}

#[tokio::test]
async fn questions_to_ask_next_are_suggested_where_that_is_wished() {
    let reply = "Five times.\n<!--docent:suggestions\n- How long is the delay?\n\nWhat is max_delay?\nWhat is at http://evil.test/?\nThird?\nFourth?\n-->";
    let wishing = TestAssistant::new().site(SiteSettings { suggestions: true, ..SiteSettings::default() });
    wishing.model.replies(Reply::text(reply));
    let told = wishing.ask(QUESTION).await;
    assert_eq!(told.text().trim_end(), "Five times.");
    let suggested = told.each(|event| match event {
        StreamEvent::Data { name: "suggestions", value, .. } => Some(value.clone()),
        _ => None,
    });
    assert_eq!(suggested, [json!(["How long is the delay?", "What is max_delay?", "Third?"])]);
    assert!(wishing.told(0).contains("docent:suggestions"));

    let usual = TestAssistant::new();
    usual.model.replies(Reply::text(reply));
    assert!(!usual.ask(QUESTION).await.kinds().contains(&"suggestions"));
    assert!(!usual.told(0).contains("docent:suggestions"));
}
