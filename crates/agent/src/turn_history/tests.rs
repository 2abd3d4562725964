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
    assert_eq!(done.outcome, FinishOutcome::Failed);
    assert_eq!(done.summary, "The agent was stopped before it finished: it did the same over and over.");
    assert_eq!((done.title.as_str(), done.words.as_str()), ("", "I read the page and changed nothing."));
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
    assert!(done.summary.ends_with("over and over."), "{}", done.summary);
    assert_eq!((done.outcome, done.words.as_str()), (FinishOutcome::Failed, "I could not decide."));
    assert_eq!(told_stuck(&model).iter().position(|told| *told), Some(2 * REPEATS_BEFORE_REMINDER));
}

#[tokio::test]
async fn the_same_call_with_another_answer_is_no_circle() {
    let model = Scripted::new();
    for count in 0..6 {
        model.replies(
            Script::default()
                .call("write", json!({"path": "index.mdx", "content": format!("---\ntitle: Acme\n---\n\n{count}\n")}))
                .call("read", json!({"path": "index.mdx"})),
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
    assert_eq!(done.summary, "The agent was stopped before it finished: it used up its tokens.");
    assert_eq!(done.words, "Looked; did not write.");

    // Without a reply from the model, the plan is told.
    let model = Scripted::new();
    model.replies(Script::default().call("todo_write", todos).costs(900, 101));
    model.replies(" ").replies(Script::default().call("list", json!({})));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &limited(limits)).await;
    assert_eq!(done.words, "Done so far:\n\n- Look\n\nNot done:\n\n- Write");
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_follow_up_to_a_stopped_turn_has_a_budget_of_its_own() {
    let model = Scripted::new();
    model.calls("list", json!({})).replies("Listed.").calls("finish", finish("Enough."));
    let limits = limited(TurnLimits { steps: 1, ..TurnLimits::default() });
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &limits).await;
    assert_eq!((done.outcome, done.title.as_str()), (FinishOutcome::Stopped, ""));
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
    assert_eq!(done.words, "Nothing done.");
}

#[tokio::test]
async fn half_a_call_is_answered_and_the_turn_goes_on() {
    let model = Scripted::new();
    model.replies(Script::default().call("write", json!("{\"path\": \"a.md\", \"cont")).ends(FinishReason::Length));
    model.calls("write", json!({"path": "index.mdx", "content": "---\ntitle: Acme\n---\n\nNew.\n"}));
    model.calls("finish", finish("Written."));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    let messages = model.requests()[1].messages.clone();
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
async fn finish_is_judged_after_the_other_calls_of_its_reply() {
    let model = Scripted::new();
    let finish = finish("Done.");
    let edit = |old: &str| json!({"path": "index.mdx", "old": old, "new": "posts"});
    model.replies(Script::default().call("edit", edit("nowhere")).call("finish", finish.clone()));
    model.replies(Script::default().call("finish", finish).call("edit", edit("sends")));
    let mut transcript = Transcript::of_prompt("go");
    let (done, files) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    assert_eq!(crate::files::EditableTree::changed(&files), ["index.mdx"]);
    assert_eq!(model.requests().len(), 2);

    // What the change broke is handed back, wherever `finish` stood.
    let model = Scripted::new();
    let delete = json!({"path": "guides/retries.mdx"});
    model.replies(Script::default().call("finish", self::finish("Deleted.")).call("delete", delete));
    model.calls("write", json!({"path": "guides/retries.mdx", "content": "---\ntitle: Retries\n---\n\nNew.\n"}));
    model.calls("finish", self::finish("Kept."));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!(done.summary, "Kept.");
}

#[tokio::test]
async fn a_turn_whose_edits_all_failed_is_handed_back_once_and_then_failed() {
    let edit = |old: &str| json!({"path": "index.mdx", "old": old, "new": "posts"});
    let claim = || finish("I replaced it.");
    let nowhere = || Script::default().call("edit", edit("nowhere"));
    for replies in [
        vec![nowhere(), Script::default().call("finish", claim()), Script::default().call("finish", claim())],
        vec![nowhere().call("finish", claim()), Script::default().call("finish", claim())],
        vec![
            Script::default().call("finish", claim()).call("edit", json!("{")),
            Script::default().call("finish", claim()),
        ],
        vec![nowhere(), Script::text("Done."), Script::text("Done."), Script::text("I will call `finish` now.")],
    ] {
        let model = Scripted::new();
        let count = replies.len();
        for reply in replies {
            model.replies(reply);
        }
        let mut transcript = Transcript::of_prompt("go");
        let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
        assert_eq!((done.outcome, model.requests().len()), (FinishOutcome::Failed, count), "{done:?}");
        assert!(done.summary.starts_with("Nothing was changed: every edit that the model tried failed.\n\nThe last"));
        assert!(!done.summary.contains("I replaced it"), "{}", done.summary);
        // The next turn is judged by its own edits.
        transcript.say("Only look.");
        model.calls("finish", finish("Nothing to change."));
        let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
        assert_eq!((done.outcome, done.summary.as_str()), (FinishOutcome::Done, "Nothing to change."));
    }

    // An edit that works after the hint, and a model that says that it cannot.
    for (reply, expected) in [
        (Script::default().call("edit", edit("sends")), FinishOutcome::Done),
        (
            Script::default().call("finish", json!({"outcome": "cannot", "title": "", "summary": "It is not there."})),
            FinishOutcome::Cannot,
        ),
    ] {
        let model = Scripted::new();
        model.replies(nowhere()).calls("finish", claim()).replies(reply).calls("finish", claim());
        let mut transcript = Transcript::of_prompt("go");
        let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
        assert_eq!(done.outcome, expected);
    }
}

#[tokio::test]
async fn looking_and_finding_nothing_to_change_is_done() {
    let model = Scripted::new();
    model
        .calls("read", json!({"path": "nowhere.mdx"}))
        .calls("search_text", json!("{"))
        .calls("no_such_tool", json!({}));
    model.calls("finish", finish("It is as it should be."));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!((done.outcome, done.summary.as_str()), (FinishOutcome::Done, "It is as it should be."));
}

#[tokio::test]
async fn silence_and_refusals_fail() {
    let model = Scripted::new();
    model.replies("").replies(" ").replies("\n");
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!((done.outcome, done.summary.as_str()), (FinishOutcome::Failed, "The model ended without a word."));

    let mut transcript = Transcript::of_prompt("go");
    transcript.push(TranscriptEntry::Refused { why: "the model refuses to answer this".into() });
    let Step::Done(done) = next(&transcript, &TurnSettings::default()) else { panic!("it is over") };
    assert_eq!(done.outcome, FinishOutcome::Failed);
    assert!(done.summary.ends_with("finished: the model refuses to answer this."), "{}", done.summary);
    transcript.say("Then do this.");
    assert!(matches!(next(&transcript, &TurnSettings::default()), Step::CallModel(_)));
}

#[tokio::test]
async fn words_alone_carry_nothing_out_and_answer_what_was_looked_up() {
    let look = || Script::default().call("read", json!({"path": "index.mdx"}));
    let edit = json!({"path": "index.mdx", "old": "sends", "new": "posts"});
    for (first, text, expected) in [
        (None, "Sure, I rename it.", FinishOutcome::Failed),
        (Some(look()), "I will call `finish` now.", FinishOutcome::Failed),
        (Some(look()), "It is on the first page.", FinishOutcome::Done),
        (Some(Script::default().call("edit", edit)), "I will call `finish` now.", FinishOutcome::Done),
    ] {
        let model = Scripted::new();
        if let Some(first) = first {
            model.replies(first);
        }
        model.replies(text).replies(text).replies(text);
        let mut transcript = Transcript::of_prompt("go");
        let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
        assert_eq!((done.outcome, done.words.as_str()), (expected, text), "{text}");
    }
}

#[tokio::test]
async fn calls_written_as_text_are_told_of_the_setting_that_reads_them() {
    for text in [
        "```json\n{\"name\": \"edit\", \"arguments\": {\"path\": \"index.mdx\"}}\n```",
        "<tool_call>\n{\"name\":\"finish\",\"outcome\":\"done\"}\n</tool_call>",
        "<function=read><parameter=path>a.md</parameter></function>",
        "I go. <invoke name=\"write\">",
    ] {
        let model = Scripted::new();
        model.replies(text).replies(text).replies("I called it.");
        let mut transcript = Transcript::of_prompt("go");
        let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
        assert_eq!(done.outcome, FinishOutcome::Failed, "{text}");
        assert!(done.summary.contains("text_tool_calls"), "{}", done.summary);
        let answer = model.requests()[1].messages.last().expect("a message").plain_text();
        assert_eq!(answer, crate::request::UNREADABLE);
    }
    for text in ["{\"name\": \"Docent\"}", "The function=read of it.", "\"name\"", "\"name\": ü", "<tool_call>"] {
        assert!(!crate::tools::holds_a_call(text), "{text}");
    }
}

#[tokio::test]
async fn announcing_finish_is_neither_a_title_nor_a_summary() {
    let model = Scripted::new();
    model.calls("edit", json!({"path": "index.mdx", "old": "sends", "new": "posts"}));
    let told = "You ended without calling `finish`. Go on with the tools, or call `finish` now.";
    model.calls("finish", json!({"outcome": "done", "title": "I will call `finish` now.", "summary": told}));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &docs(), &TurnSettings::default()).await;
    assert_eq!((done.outcome, done.title.as_str(), done.summary.as_str()), (FinishOutcome::Done, "", ""));
}

#[tokio::test]
async fn the_builtin_model_says_what_it_did_and_what_is_left_when_it_is_stopped() {
    let prompt = "Rename \"Acme\" to \"Zenith\". Fix broken links. Add missing descriptions.";
    let mut transcript = Transcript::of_prompt(prompt);
    let settings = limited(TurnLimits { steps: 1, ..TurnLimits::default() });
    let (done, _) = run(&docent_builtin::Builtin, &mut transcript, &docs(), &settings).await;
    assert_eq!(done.outcome, FinishOutcome::Stopped);
    assert!(done.words.starts_with("- Replaced “Acme” with “Zenith”"), "{}", done.words);
    assert!(done.words.ends_with("Not done:\n\n- `Fix broken links`\n- `Add missing descriptions`"), "{}", done.words);
}

#[test]
fn cached_tokens_count_a_tenth() {
    let message = Message::text(docent_types::Role::Assistant, "Well.");
    let usage = Usage { input_tokens: 1_000, output_tokens: 10, cached_input_tokens: 900 };
    let turn = [TranscriptEntry::Replied { message, reason: FinishReason::Stop, usage }];
    assert_eq!(TurnHistory::of(&turn, &TurnLimits::default()).tokens, 100 + 90 + 10);
}
