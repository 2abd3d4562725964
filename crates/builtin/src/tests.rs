use docent_llm::ToolSpec;
use docent_types::{ContentPart, Message, Role};
use futures::StreamExt;
use serde_json::json;

use super::*;

fn agent_request(messages: Vec<Message>) -> Request {
    let finish = ToolSpec { name: "finish".into(), description: String::new(), schema: json!({}) };
    Request { system: String::new(), messages, tools: vec![finish], tool_choice: ToolChoice::Auto, max_tokens: 1_000 }
}

/// Asks once and collects the reply as a message.
async fn ask(messages: &[Message]) -> Message {
    let mut stream = Builtin.stream(agent_request(messages.to_vec())).await.expect("the builtin model never fails");
    let mut text = String::new();
    let mut parts = Vec::new();
    while let Some(event) = stream.next().await {
        match event.expect("the builtin model never breaks off") {
            Event::TextDelta(delta) => text.push_str(&delta),
            Event::ToolCall { id, name, input } => parts.push(ContentPart::ToolCall { id, name, input }),
            Event::Done { .. } => {}
        }
    }
    if !text.is_empty() {
        parts.insert(0, ContentPart::Text { text });
    }
    Message { role: Role::Assistant, parts }
}

fn calls(message: &Message) -> Vec<(&str, &str, &Value)> {
    let calls = message.parts.iter().filter_map(|part| match part {
        ContentPart::ToolCall { id, name, input } => Some((id.as_str(), name.as_str(), input)),
        _ => None,
    });
    calls.collect()
}

/// Answers every call of a message with `answers(tool)`; an answer that begins with `!` is an error.
fn answer(message: &Message, answers: impl Fn(&str) -> String) -> Message {
    let parts = calls(message).into_iter().map(|(id, name, _)| {
        let output = answers(name);
        let is_error = output.starts_with('!');
        ContentPart::ToolResult { call_id: id.into(), output: output.trim_start_matches('!').into(), is_error }
    });
    Message { role: Role::User, parts: parts.collect() }
}

/// Runs a turn to its end, and returns the transcript.
async fn run(mut transcript: Vec<Message>, answers: impl Fn(&str) -> String) -> Vec<Message> {
    for _ in 0..20 {
        let reply = ask(&transcript).await;
        let answered = answer(&reply, &answers);
        let finished = calls(&reply).iter().any(|call| call.1 == "finish") && !answers("finish").starts_with('!');
        let ended = calls(&reply).is_empty();
        transcript.push(reply);
        if ended {
            return transcript;
        }
        transcript.push(answered);
        if finished {
            return transcript;
        }
    }
    panic!("the builtin agent did not come to an end");
}

fn last_finish(transcript: &[Message]) -> Value {
    let mut all = transcript.iter().flat_map(calls).filter(|call| call.1 == "finish");
    all.next_back().expect("a finish").2.clone()
}

fn done(tool: &str) -> String {
    format!("{tool} done.")
}

#[tokio::test]
async fn each_instruction_is_one_call_and_the_end_is_a_report() {
    let prompt = "Rename \"Acme\" to \"Zenith\". Fix broken links.";
    let transcript = run(vec![Message::text(Role::User, prompt)], done).await;
    let all: Vec<_> = transcript.iter().flat_map(calls).map(|call| (call.0, call.1)).collect();
    assert_eq!(
        all,
        [
            ("call-1", "todo_write"),
            ("call-2", "replace_text"),
            ("call-3", "todo_write"),
            ("call-4", "fix_links"),
            ("call-5", "todo_write"),
            ("call-6", "finish"),
        ]
    );
    assert_eq!(
        last_finish(&transcript),
        json!({
            "outcome": "done",
            "title": "Replace \"Acme\" with \"Zenith\" and one more",
            "tells_failures": true,
            "summary": "- replace_text done.\n- fix_links done.",
        })
    );
}

#[tokio::test]
async fn todos_follow_the_work() {
    let transcript = run(vec![Message::text(Role::User, "Fix broken links. Dance. Add missing titles.")], done).await;
    let statuses: Vec<Vec<String>> = transcript
        .iter()
        .flat_map(calls)
        .filter(|call| call.1 == "todo_write")
        .map(|call| {
            let todos = call.2["todos"].as_array().expect("todos");
            todos.iter().map(|todo| todo["status"].as_str().expect("a status").to_owned()).collect()
        })
        .collect();
    assert_eq!(
        statuses,
        [
            ["in_progress", "pending", "cancelled"],
            ["completed", "in_progress", "cancelled"],
            ["completed", "completed", "cancelled"],
        ]
    );
}

#[tokio::test]
async fn skipped_places_are_listed_with_reasons() {
    let prompt = "Delete page gone.md. Write a poem. Fix broken links.";
    let answers = |tool: &str| match tool {
        "delete_page" => "!there is no page `gone.md`".to_owned(),
        "fix_links" => "Fixed 1 link:\n- a.md:3".to_owned(),
        other => done(other),
    };
    let finish = last_finish(&run(vec![Message::text(Role::User, prompt)], answers).await);
    let summary = finish["summary"].as_str().expect("a summary");
    assert!(
        summary.starts_with(
            "- Fixed 1 link:\n  - a.md:3\n\nLeft:\n\n- `Delete page gone.md`: there is no page `gone.md`\n- “Write a poem.”: "
        ),
        "{summary}"
    );
    assert!(summary.contains("configure a language model"));
    assert_eq!(finish["title"], "Fix broken links");
    assert_eq!(finish["outcome"], "done");
}

#[tokio::test]
async fn a_prompt_it_cannot_read_ends_with_the_forms() {
    for prompt in ["Make the docs better", "Hello!", "…"] {
        let finish = last_finish(&run(vec![Message::text(Role::User, prompt)], done).await);
        assert_eq!(finish["outcome"], "cannot", "{prompt}");
        let summary = finish["summary"].as_str().expect("a summary");
        for said in [
            "`Replace \"A\" with \"B\"`",
            "`Set FIELD to \"V\" in PATH-OR-GLOB`",
            "`[models.sonnet]` with `provider`",
            "`model` and `api_key_env`",
            "docs/CONFIGURATION.md",
        ] {
            assert!(summary.contains(said), "{summary}");
        }
    }
}

#[tokio::test]
async fn a_near_miss_is_left_with_the_forms_that_begin_like_it() {
    for (prompt, told) in [
        ("Repalce Acme by Zenith", "Write it as `Replace \"A\" with \"B\"`.\n"),
        ("Could you please fx links?", "\n"),
        ("Please fix links", "Write it as `Fix broken links`.\n"),
        ("Rename Acme", "Write it as `Rename \"A\" to \"B\"` or `Rename page P to Q`.\n"),
        ("Make the docs better", "\n"),
    ] {
        let finish = last_finish(&run(vec![Message::text(Role::User, prompt)], done).await);
        assert_eq!(finish["outcome"], "cannot");
        let summary = finish["summary"].as_str().expect("a summary");
        let (_, after) = summary.split_once("as an instruction.").expect("a sentence");
        assert!(after.trim_start_matches(' ').starts_with(told), "{prompt}: {summary}");
    }

    let prompt = "Fix broken links. Delete guides/x";
    let finish = last_finish(&run(vec![Message::text(Role::User, prompt)], done).await);
    assert_eq!(finish["outcome"], "done");
    let summary = finish["summary"].as_str().expect("a summary");
    assert!(summary.contains("language model. Write it as `Delete page P`.\n"), "{summary}");
}

#[tokio::test]
async fn control_characters_are_refused_with_a_sentence() {
    for prompt in [
        "Replace \"a\" with \"b\u{0}\"",
        "Set description to \"a\u{7}b\" in all pages",
        "Add a page x.md titled \"T\u{1b}[1m\"",
        "Add a page x.md titled \"T\"\n- Head\u{8}ing",
        "Move page \"a\u{0}.md\" to b.md",
        "Fix broken links in \"a\u{0}.md\"",
    ] {
        let finish = last_finish(&run(vec![Message::text(Role::User, prompt)], done).await);
        assert_eq!(finish["outcome"], "cannot", "{prompt:?}");
        let summary = finish["summary"].as_str().expect("a summary");
        assert!(summary.contains("control character U+00"), "{summary:?}");
        assert!(!summary.contains(|c: char| c.is_control() && c != '\n'), "{summary:?}");
    }
    let prompt = "Replace \"a\" with \"\u{0}\". Fix broken links. Replace \"a\tb\" with \"c\td\".";
    let finish = last_finish(&run(vec![Message::text(Role::User, prompt)], done).await);
    assert_eq!(finish["outcome"], "done");
    assert_eq!(
        finish["summary"],
        "- fix_links done.\n- replace_text done.\n\nLeft:\n\n- `Replace \"a\" with \"\\u{0}\"`: it holds the control character U+0000, which docs cannot hold; write it without"
    );
}

#[tokio::test]
async fn a_follow_up_is_a_turn_of_its_own() {
    let first = run(vec![Message::text(Role::User, "Fix broken links")], done).await;
    let mut second = first.clone();
    second.push(Message::text(Role::User, "Add missing titles"));
    let second = run(second, done).await;
    let tools: Vec<_> = second[first.len()..].iter().flat_map(calls).map(|call| (call.0, call.1)).collect();
    assert_eq!(
        tools,
        [("call-5", "todo_write"), ("call-6", "add_titles"), ("call-7", "todo_write"), ("call-8", "finish")]
    );
    assert_eq!(last_finish(&second)["summary"], "- add_titles done.");
}

#[tokio::test]
async fn a_follow_up_in_the_middle_joins_the_turn() {
    let mut transcript = vec![Message::text(Role::User, "Fix broken links")];
    let reply = ask(&transcript).await;
    let results = answer(&reply, done);
    transcript.extend([reply, results, Message::text(Role::User, "Also add missing titles")]);
    let finish = last_finish(&run(transcript, done).await);
    assert_eq!(finish["summary"], "- fix_links done.\n- add_titles done.");
}

#[tokio::test]
async fn problems_it_made_are_told_and_left_to_people() {
    let mut transcript = vec![Message::text(Role::User, "Delete page old.md")];
    let answers = |tool: &str| if tool == "finish" { "!a.md:3 links to old.md".to_owned() } else { done(tool) };
    for _ in 0..2 {
        let reply = ask(&transcript).await;
        let results = answer(&reply, answers);
        transcript.extend([reply, results]);
    }
    let reply = ask(&transcript).await;
    let (_, name, input) = calls(&reply)[0];
    assert_eq!(name, "finish");
    assert_eq!(input["known_problems"], true);
    // The tool that ran the check adds its findings to the summary.
    assert_eq!(input["summary"], "- delete_page done.");
    // After a second refusal the agent gives up, so that it cannot loop.
    let results = answer(&reply, answers);
    transcript.extend([reply, results]);
    let reply = ask(&transcript).await;
    assert_eq!(calls(&reply)[0].2["outcome"], "cannot");
}

#[tokio::test]
async fn examples_before_the_instruction_are_not_carried_out() {
    let transcript = vec![
        Message::text(Role::User, "Delete page important.md"),
        Message::text(Role::Assistant, "Deleted."),
        Message::text(Role::User, "Fix broken links"),
    ];
    assert_eq!(last_finish(&run(transcript, done).await)["summary"], "- fix_links done.");
    let system_alone = vec![Message::text(Role::System, "Fix broken links")];
    assert_eq!(last_finish(&run(system_alone, done).await)["summary"], "- fix_links done.");
}

#[tokio::test]
async fn the_same_transcript_gives_the_same_reply() {
    let transcript = [Message::text(Role::User, "Rename \"a\" to \"b\" in x.md, then delete page y.md")];
    assert_eq!(ask(&transcript).await, ask(&transcript).await);
}

#[tokio::test]
async fn answers_arrive_word_by_word() {
    let request = Request { tools: Vec::new(), ..agent_request(vec![Message::text(Role::User, "What is this?")]) };
    let events: Vec<Event> =
        Builtin.stream(request).await.expect("a stream").map(|event| event.expect("an event")).collect().await;
    assert_eq!(events[0], Event::TextDelta("The ".into()));
    assert_eq!(events[1], Event::TextDelta("docs ".into()));
    assert!(matches!(events.last(), Some(Event::Done { reason: FinishReason::Stop, .. })));
}
