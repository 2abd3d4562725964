use docent_llm::ToolChoice;
use docent_llm::scripted::{Reply as Script, Scripted};
use serde_json::json;

use super::*;
use crate::next::tests::{docs, finish, limited, run};
use crate::next::{FinishOutcome, Step, next};
use crate::request::STUCK;
use crate::transcript::Transcript;
use crate::turn_settings::TurnSettings;

fn told_stuck(model: &Scripted) -> Vec<bool> {
    let last = |request: docent_llm::Request| request.messages.last().expect("a message").plain_text();
    model.requests().into_iter().map(|request| last(request) == STUCK).collect()
}

#[tokio::test]
async fn going_in_circles_is_told_and_then_ended_with_an_answer() {
    let model = Scripted::new();
    for _ in 0..REPEATS_BEFORE_END {
        model.calls("read", json!({"path": "index.mdx"}));
    }
    model.replies("I read the page and changed nothing.");
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Stopped);
    assert_eq!(
        done.summary,
        "The agent was stopped before it finished: it did the same over and over.\n\nI read the page and changed nothing."
    );
    assert_eq!(told_stuck(&model), [false, false, false, true, true, false]);
    let last = model.requests().pop().expect("a request");
    assert_eq!(last.tool_choice, ToolChoice::None);
    assert!(last.messages.last().expect("a message").plain_text().contains("You are being stopped here"));
}

#[tokio::test]
async fn two_calls_that_take_turns_are_a_circle_too() {
    let model = Scripted::new();
    for _ in 0..REPEATS_BEFORE_END {
        model.calls("edit", json!({"path": "index.mdx", "old": "sends", "new": "posts"}));
        model.calls("edit", json!({"path": "index.mdx", "old": "posts", "new": "sends"}));
    }
    model.replies("I could not decide.");
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert!(done.summary.ends_with("over and over.\n\nI could not decide."), "{}", done.summary);
    assert_eq!(told_stuck(&model).iter().position(|told| *told), Some(2 * REPEATS_BEFORE_REMINDER));
}

#[tokio::test]
async fn the_same_call_with_another_answer_is_no_circle() {
    let model = Scripted::new();
    for count in 0..6 {
        model.replies(
            Script::default()
                .call("write", json!({"path": "n.txt", "content": "x\n".repeat(count)}))
                .call("read", json!({"path": "n.txt"})),
        );
    }
    model.calls("finish", finish("Written."));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    assert!(!told_stuck(&model).contains(&true));
}

#[tokio::test]
async fn a_budget_ends_the_turn_with_what_was_done() {
    let todos = json!({"todos": [
        {"content": "Look", "status": "completed"},
        {"content": "Write", "status": "pending", "priority": "high"},
    ]});
    let limits = TurnLimits { tokens: 1_000, ..TurnLimits::default() };

    let model = Scripted::new();
    model
        .replies(Script::default().call("todo_write", todos.clone()).costs(900, 101))
        .replies("Looked; did not write.");
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &limited(limits)).await;
    assert_eq!(done.outcome, FinishOutcome::Stopped);
    assert_eq!(
        done.summary,
        "The agent was stopped before it finished: it used up its tokens.\n\nLooked; did not write."
    );

    // Without a reply from the model, the plan becomes the summary.
    let model = Scripted::new();
    model.replies(Script::default().call("todo_write", todos).costs(900, 101));
    model.replies(" ").replies(Script::default().call("list", json!({})));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &limited(limits)).await;
    assert_eq!(
        done.summary,
        "The agent was stopped before it finished: it used up its tokens.\n\nDone so far:\n\n- Look\n\nNot done:\n\n- Write"
    );
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_follow_up_to_a_stopped_turn_has_a_budget_of_its_own() {
    let model = Scripted::new();
    model.calls("list", json!({})).replies("Listed.").calls("finish", finish("Enough."));
    let limits = limited(TurnLimits { steps: 1, ..TurnLimits::default() });
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &limits).await;
    assert_eq!((done.outcome, done.title.as_str()), (FinishOutcome::Stopped, "Unfinished documentation changes"));
    assert!(done.summary.contains("it used up its steps"), "{}", done.summary);
    transcript.say("Go on.");
    let (done, _) = run(&model, &mut transcript, &docs(), &limits).await;
    assert_eq!((done.outcome, done.summary.as_str()), (FinishOutcome::Done, "Enough."));
}

#[test]
fn time_that_ran_out_asks_for_a_summary_once() {
    let mut transcript = Transcript::of_prompt("go");
    transcript.push(TranscriptEntry::Expired { why: "its 60 minutes are over".into() });
    let Step::CallModel(request) = next(&transcript, &TurnSettings::default()) else {
        panic!("a summary is asked for")
    };
    assert_eq!(request.tool_choice, ToolChoice::None);
    // No reply in time.
    transcript.push(TranscriptEntry::Expired { why: "still".into() });
    let Step::Done(done) = next(&transcript, &TurnSettings::default()) else { panic!("it is over") };
    assert_eq!(done.summary, "The agent was stopped before it finished: its 60 minutes are over.");
    transcript.say("Go on.");
    assert!(matches!(next(&transcript, &TurnSettings::default()), Step::CallModel(_)));
}

#[tokio::test]
async fn replies_that_are_cut_off_again_and_again_end_the_turn() {
    let model = Scripted::new();
    for _ in 0..MOST_CUT_REPLIES {
        model.replies(Script::text("Well, ").ends(FinishReason::Length));
    }
    model.replies("Nothing done.");
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Stopped);
    assert!(done.summary.ends_with("Nothing done."));
}

#[tokio::test]
async fn half_a_call_is_answered_and_the_turn_goes_on() {
    let model = Scripted::new();
    model.replies(Script::default().call("write", json!("{\"path\": \"a.md\", \"cont")).ends(FinishReason::Length));
    model.calls("finish", finish("Nothing to do."));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    let messages = model.requests().pop().expect("a request").messages;
    let answer = serde_json::to_string(&messages[2]).expect("JSON");
    assert!(answer.contains("the input is not a JSON object") && answer.contains("`write` takes {"), "{answer}");
    assert_eq!(messages[3].plain_text(), crate::request::CUT);
}

#[tokio::test]
async fn problems_come_back_twice_and_are_then_left_to_people() {
    let model = Scripted::new();
    model.calls("delete", json!({"path": "guides/retries.mdx"}));
    for attempt in ["One.", "Two.", "Three."] {
        model.calls("finish", finish(attempt));
    }
    let mut transcript = Transcript::of_prompt("Delete retries.");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    assert!(done.summary.starts_with("Three.\n\nLeft for you to decide:\n\n- "), "{}", done.summary);
    assert!(done.summary.contains("index.mdx:5 `/guides/retries` leads nowhere"), "{}", done.summary);
}

#[tokio::test]
async fn nothing_changes_behind_an_accepted_finish_nor_is_a_failed_change_overlooked() {
    let model = Scripted::new();
    let finish = finish("Done.");
    let edit = |old: &str| json!({"path": "index.mdx", "old": old, "new": "posts"});
    model.replies(Script::default().call("edit", edit("nowhere")).call("finish", finish.clone()));
    model.replies(Script::default().call("finish", finish).call("edit", edit("sends")));
    let mut transcript = Transcript::of_prompt("go");
    let (done, files) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    assert_eq!(crate::files::EditableTree::changed(&files), Vec::<String>::new());
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn the_builtin_model_says_what_it_did_and_what_is_left_when_it_is_stopped() {
    let prompt = "Rename \"Acme\" to \"Zenith\". Fix broken links. Add missing descriptions.";
    let mut transcript = Transcript::of_prompt(prompt);
    let settings = limited(TurnLimits { steps: 1, ..TurnLimits::default() });
    let (done, _) = run(&docent_builtin::Builtin, &mut transcript, &docs(), &settings).await;
    assert_eq!(done.outcome, FinishOutcome::Stopped);
    assert!(done.summary.contains("used up its steps.\n\n- Replaced “Acme” with “Zenith”"), "{}", done.summary);
    assert!(
        done.summary.ends_with("Not done:\n\n- `Fix broken links`\n- `Add missing descriptions`"),
        "{}",
        done.summary
    );
}

#[test]
fn what_the_provider_had_at_hand_counts_a_tenth() {
    let message = Message::text(docent_types::Role::Assistant, "Well.");
    let usage = Usage { input_tokens: 1_000, output_tokens: 10, cached_input_tokens: 900 };
    let turn = [TranscriptEntry::Replied { message, reason: FinishReason::Stop, usage }];
    assert_eq!(TurnHistory::of(&turn, &TurnLimits::default()).tokens, 100 + 90 + 10);
}
