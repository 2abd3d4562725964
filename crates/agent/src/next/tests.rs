use docent_builtin::Builtin;
use docent_llm::Model;
use docent_llm::scripted::{Reply as Script, Scripted};
use docent_types::{ContentPart, FinishReason, Role, Usage};
use serde_json::json;

use super::*;
use crate::call::call_model;
use crate::compaction::compacted;
use crate::files::{EditableTree, MemoryFiles};
use crate::request::{CUT, UNFINISHED};
use crate::todos::todos;
use crate::tools::{replay, run_tools};
use crate::transcript::{ToolResult, calls};
use crate::turn_settings::TurnLimits;
use crate::workbench::ToolContext;

/// Runs a turn to its end, and rebuilds the state from the transcript before each step, as after a crash.
pub(crate) async fn run(
    model: &dyn Model,
    transcript: &mut Transcript,
    base: &MemoryFiles,
    settings: &TurnSettings,
) -> (Finish, MemoryFiles) {
    let context = ToolContext { limits: settings.limits, ..ToolContext::default() };
    for _ in 0..500 {
        let json = serde_json::to_string(transcript).expect("JSON");
        *transcript = serde_json::from_str(&json).expect("a transcript");
        let mut files = base.clone();
        replay(transcript, &mut files, &context).expect("a replay");
        match next(transcript, settings) {
            Step::CallModel(request) => {
                let reply = call_model(model, request, |_| ()).await.expect("a reply");
                transcript.push(reply.into());
            }
            Step::Compact(Compaction { request, upto }) => {
                let reply = call_model(model, request, |_| ()).await.expect("notes");
                transcript.push(compacted(&reply, upto));
            }
            Step::RunTools(calls) => {
                let results = run_tools(&calls, &mut files, &context);
                transcript.push(TranscriptEntry::Results { results });
            }
            Step::Done(finish) => return (finish, files),
        }
    }
    panic!("the turn did not end");
}

pub(crate) fn limited(limits: TurnLimits) -> TurnSettings {
    TurnSettings { limits, ..TurnSettings::default() }
}

pub(crate) fn docs() -> MemoryFiles {
    MemoryFiles::from_texts([
        (
            "docs.json",
            "{\n  \"navigation\": [{ \"group\": \"Guides\", \"pages\": [\"index\", \"guides/retries\"] }]\n}\n",
        ),
        ("index.mdx", "---\ntitle: Acme\n---\n\nAcme sends [retries](/guides/retries).\n"),
        (
            "guides/retries.mdx",
            "---\ntitle: Retries\n---\n\n# Retries of Acme\n\n[home](/) [me](/guides/Delivery/Retries)\n",
        ),
    ])
}

pub(crate) fn finish(summary: &str) -> serde_json::Value {
    json!({"outcome": "done", "title": "T", "summary": summary})
}

#[tokio::test]
async fn a_model_works_until_it_finishes() {
    let model = Scripted::new();
    model.replies(Script::text("I look.").call("read", json!({"path": "index.mdx"})));
    model.calls("edit", json!({"path": "index.mdx", "old": "sends", "new": "posts"}));
    model.calls("finish", finish("Posted."));
    let mut transcript = Transcript::of_prompt("Say posts.");
    let (done, files) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    let (title, summary, words) = ("T".into(), "Posted.".into(), String::new());
    assert_eq!(done, Finish { outcome: FinishOutcome::Done, title, summary, words });
    assert_eq!(files.changed(), ["index.mdx"]);
    let requests = model.requests();
    assert!(requests[0].system.starts_with("You are a documentation agent."));
    assert_eq!(requests[0].messages, [Message::text(Role::User, "Say posts.")]);
    assert_eq!(requests[2].messages.len(), 5);
    assert!(requests[0].tools.iter().any(|tool| tool.name == "finish"));
    // For the provider's cache, each request must begin with the previous one.
    for (before, after) in requests.iter().zip(&requests[1..]) {
        assert_eq!((&before.system, &before.tools), (&after.system, &after.tools));
        assert!(after.messages.starts_with(&before.messages));
    }
}

#[tokio::test]
async fn the_builtin_model_carries_out_chores_with_the_same_tools() {
    let prompt = "Rename \"Acme\" to \"Zenith\", then move page guides/retries to guides/delivery/retries.mdx. \
                  Fix broken links. Write a song.";
    let mut transcript = Transcript::of_prompt(prompt);
    let (done, files) = run(&Builtin, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    assert_eq!(done.title, "Replace \"Acme\" with \"Zenith\" and 2 more");
    assert_eq!(files.changed(), ["docs.json", "guides/delivery/retries.mdx", "guides/retries.mdx", "index.mdx"]);
    assert_eq!(
        files.text("guides/delivery/retries.mdx"),
        Some("---\ntitle: Retries\n---\n\n# Retries of Zenith\n\n[home](/) [me](/guides/delivery/retries)\n")
    );
    assert!(
        done.summary
            .starts_with("- Replaced “Acme” with “Zenith” in 3 places, 2 files:\n\n  - guides/retries.mdx: 1\n"),
        "{}",
        done.summary
    );
    assert!(done.summary.contains("“Write a song.”"));
    let todos = todos(&transcript);
    assert_eq!(todos.len(), 4);
    assert_eq!((todos[0].id.as_str(), todos[0].status), ("1", TodoStatus::Completed));

    // A follow-up is a separate turn on the same files.
    transcript.say("Add missing descriptions in guides/**");
    let (done, files) = run(&Builtin, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.title, "Add missing descriptions in guides/**");
    assert!(files.text("guides/delivery/retries.mdx").expect("a page").contains("description: "));
}

#[tokio::test]
async fn the_builtin_model_says_when_it_cannot() {
    let mut transcript = Transcript::of_prompt("Make the docs better.");
    let (done, files) = run(&Builtin, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Cannot);
    assert!(done.summary.contains("`Fix broken links`"));
    assert_eq!(files.changed(), Vec::<String>::new());
}

#[tokio::test]
async fn a_prompt_that_changes_nothing_is_done() {
    let mut transcript = Transcript::of_prompt("Replace \"nobody\" with \"somebody\"");
    let (done, files) = run(&Builtin, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!((done.outcome, files.changed().len()), (FinishOutcome::Done, 0));
    let mut transcript = Transcript::of_prompt("Delete page nowhere");
    let (done, _) = run(&Builtin, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    assert_eq!(done.summary, "Left:\n\n- `Delete page nowhere`: there is no page `nowhere`");
}

#[tokio::test]
async fn links_to_a_deleted_page_are_told_and_do_not_block() {
    let mut transcript = Transcript::of_prompt("Delete page guides/retries");
    let (done, files) = run(&Builtin, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    assert!(done.summary.contains("index.mdx:5 links to it as `/guides/retries`"), "{}", done.summary);
    assert_eq!(files.changed(), ["docs.json", "guides/retries.mdx"]);
}

#[tokio::test]
async fn problems_a_model_made_come_back_to_it() {
    let model = Scripted::new();
    model.calls("delete", json!({"path": "guides/retries.mdx"}));
    model.calls("finish", finish("Deleted."));
    model.calls("edit", json!({"path": "index.mdx", "old": "[retries](/guides/retries)", "new": "retries"}));
    model.calls("edit", json!({"path": "docs.json", "old": ", \"guides/retries\"", "new": ""}));
    model.calls("finish", finish("Deleted, with the links."));
    let mut transcript = Transcript::of_prompt("Delete retries.");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.summary, "Deleted, with the links.");
    let told = format!("{:?}", model.requests()[2].messages.last());
    assert!(told.contains("index.mdx:5 `/guides/retries` leads nowhere"), "{told}");
}

#[tokio::test]
async fn a_follow_up_that_comes_while_finishing_is_not_lost() {
    let mut transcript = Transcript::of_prompt("Fix broken links");
    let mut files = docs();
    for _ in 0..10 {
        match next(&transcript, &TurnSettings::default()) {
            Step::CallModel(request) => {
                let reply = call_model(&Builtin, request, |_| ()).await.expect("a reply");
                let finishes = calls(&reply.message).any(|call| call.name == "finish");
                transcript.push(reply.into());
                if finishes {
                    transcript.say("Rename \"Acme\" to \"Zenith\"");
                }
            }
            Step::RunTools(calls) => {
                let results = run_tools(&calls, &mut files, &ToolContext::default());
                transcript.push(TranscriptEntry::Results { results });
                if files.text("index.mdx").is_some_and(|text| text.contains("Zenith")) {
                    return;
                }
            }
            Step::Compact(_) => panic!("the context is large"),
            Step::Done(finish) => panic!("ended without the follow-up: {finish:?}"),
        }
    }
    panic!("the follow-up was not carried out");
}

#[tokio::test]
async fn words_without_a_call_are_reminded_of_finish() {
    let model = Scripted::new();
    model.replies("All done.");
    model.replies(Script::text("Cut of").ends(FinishReason::Length));
    model.calls("finish", finish("Really."));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.summary, "Really.");
    let requests = model.requests();
    assert_eq!(requests[1].messages.last().expect("a message").plain_text(), UNFINISHED);
    assert_eq!(requests[2].messages.last().expect("a message").plain_text(), CUT);

    for _ in 0..3 {
        model.replies("Only words.");
    }
    transcript.say("More.");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Failed);
    assert_eq!([done.title, done.summary, done.words], ["", IDLE, "Only words."]);
}

#[test]
fn a_follow_up_that_comes_between_a_call_and_its_answer_waits_its_turn() {
    let call = ContentPart::ToolCall { id: "a".into(), name: "list".into(), input: json!({}) };
    let message = Message { role: Role::Assistant, parts: vec![call] };
    let mut transcript = Transcript::of_prompt("go");
    transcript.push(TranscriptEntry::Replied { message, reason: FinishReason::ToolCalls, usage: Usage::default() });
    transcript.say("and more");
    let Step::RunTools(calls) = next(&transcript, &TurnSettings::default()) else { panic!("the call has no answer") };
    assert_eq!(calls.len(), 1);
    let results = vec![ToolResult { call_id: "a".into(), output: "x".into(), is_error: false }];
    transcript.push(TranscriptEntry::Results { results });
    let Step::CallModel(request) = next(&transcript, &TurnSettings::default()) else {
        panic!("everything is answered")
    };
    let shapes: Vec<bool> = request.messages.iter().map(|message| message.plain_text().is_empty()).collect();
    assert_eq!(shapes, [false, true, true, false]);
}

#[tokio::test]
async fn system_messages_join_the_system_prompt_or_are_the_instruction() {
    let mut transcript = Transcript::new();
    transcript.push(TranscriptEntry::Said { message: Message::text(Role::System, "Be brief.") });
    transcript.say("go");
    let Step::CallModel(request) = next(&transcript, &TurnSettings::default()) else { panic!("a call") };
    assert!(request.system.ends_with("\n\nBe brief."));
    assert_eq!(request.messages.len(), 1);

    let mut transcript = Transcript::new();
    transcript.push(TranscriptEntry::Said { message: Message::text(Role::System, "Rename \"Acme\" to \"Zenith\"") });
    transcript.push(TranscriptEntry::Said { message: Message::text(Role::Assistant, "An example.") });
    let (done, _) = run(&Builtin, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.title, "Replace \"Acme\" with \"Zenith\"");
}
