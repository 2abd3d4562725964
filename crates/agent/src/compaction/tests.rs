use std::collections::VecDeque;

use async_trait::async_trait;
use docent_llm::scripted::Scripted;
use docent_llm::{Description, EventStream, Model, ModelError};
use docent_types::{FinishReason, Usage};
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::files::{EditableTree, MemoryFiles};
use crate::next::tests::{docs, finish, run};
use crate::next::{FinishOutcome, Step, next};
use crate::transcript::{Call, ToolResult};
use crate::turn_settings::TurnLimits;

/// A context of this many tokens in addition to the prompt and the tools.
fn window(tokens: u32) -> TurnSettings {
    let settings = TurnSettings::default();
    let Step::CallModel(request) = next(&Transcript::of_prompt("x"), &settings) else { panic!("a call") };
    let fixed = u32::try_from(estimate(&[], &request, usize::MAX)).expect("a small prompt");
    let limits = TurnLimits { reply_tokens: 1_000, ..TurnLimits::default() };
    TurnSettings { limits, context_tokens: fixed + tokens + limits.reply_tokens, ..settings }
}

/// Docs with pages of about 1,400 tokens each.
fn long_docs() -> MemoryFiles {
    let text = |page: usize| format!("---\ntitle: Page {page}\n---\n\n{}", "Some words of a long page.\n".repeat(180));
    let pages: Vec<(String, String)> = (0..40).map(|page| (format!("p/{page}.md"), text(page))).collect();
    MemoryFiles::from_texts(pages.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

fn is_for_notes(request: &Request) -> bool {
    request.system == NOTES
}

/// A model that makes the calls of a list one by one, and writes notes when asked to.
#[derive(Debug)]
struct Worker {
    calls: Mutex<VecDeque<(&'static str, Value)>>,
    requests: Mutex<Vec<Request>>,
}

#[async_trait]
impl Model for Worker {
    fn describe(&self) -> Description {
        Description::new("worker", "worker")
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let asked = self.requests.lock().len();
        let script = Scripted::new();
        if is_for_notes(&request) {
            script.replies(format!("- notes {asked}"));
        } else {
            let (name, input) = self.calls.lock().pop_front().expect("a call");
            script.calls(name, input);
        }
        self.requests.lock().push(request.clone());
        script.stream(request).await
    }
}

#[tokio::test]
async fn a_long_job_goes_on_with_its_notes() {
    let settings = window(8_000);
    let mut calls = vec![("edit", json!({"path": "p/0.md", "old": "title: Page 0", "new": "title: Zero"}))];
    calls.extend((0..20).map(|page| ("read", json!({"path": format!("p/{page}.md")}))));
    calls.push(("finish", finish("Read them all.")));
    let model = Worker { calls: Mutex::new(calls.into()), requests: Mutex::default() };
    let mut transcript = Transcript::of_prompt("Read the pages with care.");
    let (done, files) = run(&model, &mut transcript, &long_docs(), &settings).await;
    assert_eq!((done.outcome, done.summary.as_str()), (FinishOutcome::Done, "Read them all."));
    assert_eq!(files.changed(), ["p/0.md"], "what was done before the notes is kept");

    let requests = model.requests.into_inner();
    let notes: Vec<usize> = (0..requests.len()).filter(|&at| is_for_notes(&requests[at])).collect();
    assert!((4..10).contains(&notes.len()), "{notes:?}");
    let first = requests[notes[0]].messages[0].plain_text();
    assert!(first.contains("Read the pages with care.") && first.contains("- `edit` {"), "{first}");
    assert!(first.contains("answer: Edited `p/0.md` at line 2."), "{first}");
    let second = requests[notes[1]].messages[0].plain_text();
    assert!(second.contains(&format!("# Your notes until now\n\n- notes {}", notes[0])), "{second}");
    assert!(!second.contains("Edited `p/0.md`"), "what the notes say is not told again");
    for &at in &notes {
        let after = &requests[at + 1].messages;
        assert_eq!(after[0].plain_text(), "Read the pages with care.");
        assert!(after[1].plain_text().ends_with(&format!("changes you made:\n\n- notes {at}")), "{after:?}");
        assert!(after.len() > 2, "the newest step is kept");
    }
    for request in &requests {
        assert!(estimate(&[], request, usize::MAX) <= available(&settings), "every request fits");
    }
}

#[tokio::test]
async fn a_long_instruction_leaves_room_to_work_between_notes() {
    let settings = window(4_000);
    let pages: Vec<(String, String)> = (0..40).map(|page| (format!("{page}.md"), "Some words.\n".repeat(80))).collect();
    let base = MemoryFiles::from_texts(pages.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let mut calls: Vec<(&'static str, Value)> = pages.iter().map(|(path, _)| ("read", json!({"path": path}))).collect();
    calls.push(("finish", finish("Read.")));
    let model = Worker { calls: Mutex::new(calls.into()), requests: Mutex::default() };
    let mut transcript = Transcript::of_prompt("word ".repeat(1_100));
    let (done, _) = run(&model, &mut transcript, &base, &settings).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    let requests = model.requests.into_inner();
    let notes = requests.iter().filter(|request| is_for_notes(request)).count();
    assert!((3..=13).contains(&notes), "{notes}");
    assert!(
        requests.iter().all(|request| estimate(&[], request, usize::MAX) <= available(&settings)),
        "every request fits"
    );
}

#[tokio::test]
async fn a_follow_up_is_kept_word_by_word() {
    let settings = window(8_000);
    let model = Scripted::new();
    model.calls("finish", finish("One."));
    let mut transcript = Transcript::of_prompt("First.");
    run(&model, &mut transcript, &long_docs(), &settings).await;
    transcript.say("Second.");
    for page in 0..4 {
        model.calls("read", json!({"path": format!("p/{page}.md")}));
    }
    model.replies("notes").calls("finish", finish("Two."));
    let (done, _) = run(&model, &mut transcript, &long_docs(), &settings).await;
    assert_eq!(done.summary, "Two.");
    let last = model.requests().pop().expect("a request").messages;
    assert_eq!([last[0].plain_text(), last[1].plain_text()], ["First.", "Second."]);
}

#[tokio::test]
async fn an_output_that_fills_the_context_is_cut_in_the_request_and_whole_in_the_transcript() {
    let settings = window(3_000);
    let model = Scripted::new();
    model.calls("read", json!({"path": "long.md"})).calls("finish", finish("Read."));
    let mut transcript = Transcript::of_prompt("go");
    let line = format!("{}\n", "x".repeat(1_900));
    let base = MemoryFiles::from_texts([("long.md", line.repeat(14).as_str())]);
    let (done, _) = run(&model, &mut transcript, &base, &settings).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    let TranscriptEntry::Results { results } = &transcript.entries()[2] else { panic!("the page") };
    assert!(results[0].output.len() > 26_000);
    let shown = model.requests().pop().expect("a request").messages.pop().expect("the page");
    let ContentPart::ToolResult { output, .. } = &shown.parts[0] else { panic!("the page") };
    assert!(output.len() < 8_000 && output.ends_with("more bytes; ask for less at a time"), "{}", output.len());
}

#[tokio::test]
async fn notes_without_a_word_are_made_from_the_calls() {
    let settings = window(6_000);
    let model = Scripted::new();
    for page in 0..3 {
        model.calls("read", json!({"path": format!("p/{page}.md")}));
    }
    model.replies(" ").calls("finish", finish("Read."));
    let mut transcript = Transcript::of_prompt("go");
    let (done, _) = run(&model, &mut transcript, &long_docs(), &settings).await;
    assert_eq!(done.outcome, FinishOutcome::Done);
    let notes = model.requests().pop().expect("a request").messages[1].plain_text();
    assert!(notes.contains("- `read` {\"path\":\"p/0.md\"}") && !notes.contains("Some words"), "{notes}");
}

#[test]
fn an_instruction_that_does_not_fit_ends_with_a_sentence() {
    let transcript = Transcript::of_prompt("word ".repeat(10_000));
    let Step::Done(done) = next(&transcript, &window(4_000)) else { panic!("it does not fit") };
    assert_eq!(done.outcome, FinishOutcome::Stopped);
    assert!(done.summary.contains("ask for less at a time"), "{}", done.summary);
}

#[test]
fn a_model_that_says_it_is_too_much_is_believed() {
    let mut transcript = Transcript::of_prompt("go");
    for index in 0..6 {
        let id = format!("c{index}");
        let part = ContentPart::ToolCall { id: id.clone(), name: "read".into(), input: json!({"path": id}) };
        let message = Message { role: Role::Assistant, parts: vec![part] };
        transcript.push(TranscriptEntry::Replied {
            message,
            reason: FinishReason::ToolCalls,
            usage: Usage::of(1_000, 10),
        });
        let results = vec![ToolResult { call_id: id, output: "word ".repeat(2_000), is_error: false }];
        transcript.push(TranscriptEntry::Results { results });
    }
    // A million tokens are configured.
    let settings = TurnSettings { context_tokens: 1_000_000, ..TurnSettings::default() };
    assert!(matches!(next(&transcript, &settings), Step::CallModel(_)));
    let mut sizes = Vec::new();
    for _ in 0..REFUSALS {
        transcript.push(TranscriptEntry::TooLong);
        let Step::Compact(compaction) = next(&transcript, &settings) else { panic!("{}", sizes.len()) };
        sizes.push(estimate(&[], &compaction.request, usize::MAX));
    }
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] > sizes[2], "{sizes:?}");

    // Notes were written: the model is asked again, with less.
    let mut noted = transcript.clone();
    let upto = noted.entries().len();
    noted.push(TranscriptEntry::Compacted { summary: "notes".into(), upto, usage: Usage::default() });
    let Step::CallModel(request) = next(&noted, &settings) else { panic!("a call") };
    assert_eq!(request.messages.len(), 2);
    // If the request is still too long, nothing is left to shorten.
    noted.push(TranscriptEntry::TooLong);
    let Step::Done(done) = next(&noted, &settings) else { panic!("the end") };
    assert_eq!(done.outcome, FinishOutcome::Stopped);

    transcript.push(TranscriptEntry::TooLong);
    assert!(matches!(next(&transcript, &settings), Step::Done(done) if done.outcome == FinishOutcome::Stopped));
    transcript.say("Then only page one.");
    assert!(matches!(next(&transcript, &settings), Step::CallModel(_)));
}

#[test]
fn token_counts_of_the_model_are_used_unless_impossible() {
    let transcript = |usage: Usage| {
        let mut transcript = Transcript::of_prompt("word ".repeat(7_000));
        let message = Message::text(Role::Assistant, "On it.");
        transcript.push(TranscriptEntry::Replied { message, reason: FinishReason::Stop, usage });
        transcript
    };
    let size = |usage: Usage| {
        let transcript = transcript(usage);
        let Step::CallModel(request) = next(&transcript, &TurnSettings::default()) else { panic!("a call") };
        estimate(transcript.entries(), &request, usize::MAX)
    };
    assert_eq!(size(Usage::of(70_000, 10)), 70_010);
    assert!((10_000..20_000).contains(&size(Usage::default())));
    assert_eq!(size(Usage::of(5, 5)), size(Usage::default()));
}

#[test]
fn old_journals_are_still_read() {
    let entries = json!([
        {"type": "said", "message": {"role": "user", "parts": [{"type": "text", "text": "go"}]}},
        {"type": "compacted", "summary": "s", "upto": 1},
        {"type": "too_long"},
        {"type": "expired", "why": "late"},
    ]);
    let transcript: Transcript = serde_json::from_value(entries).expect("a transcript");
    assert_eq!(transcript.entries().len(), 4);
    let limits: TurnLimits = serde_json::from_value(json!({"steps": 3, "tokens": 5})).expect("limits");
    assert_eq!((limits.steps, limits.minutes), (3, TurnLimits::default().minutes));
}

/// Arbitrary replies: calls of any tool with any input, text, nothing; complete or cut off.
fn any_reply() -> impl Strategy<Value = (Vec<(u8, u8)>, u8, bool, u16)> {
    (prop::collection::vec((0u8..6, 0u8..4), 0..4), 0u8..3, any::<bool>(), any::<u16>())
}

fn reply((calls, words, is_cut, cost): (Vec<(u8, u8)>, u8, bool, u16), serial: &mut usize) -> TranscriptEntry {
    let mut parts =
        vec![ContentPart::Text { text: ["", "Well.", &"word ".repeat(900)][usize::from(words)].to_owned() }];
    for (tool, input) in calls {
        *serial += 1;
        let name = ["read", "finish", "edit", "nope", "todo_write", "write"][usize::from(tool)].to_owned();
        let input = match input {
            0 => json!({"path": "index.mdx", "content": "x"}),
            1 => json!({"path": "index.mdx", "old": "sends", "new": "posts"}),
            2 => json!({"outcome": "done", "title": "T", "summary": "S", "content": "y ".repeat(800), "path": "y.md"}),
            _ => Value::String("{\"path".to_owned()),
        };
        parts.push(ContentPart::ToolCall { id: format!("c{serial}"), name, input });
    }
    let reason = if is_cut { FinishReason::Length } else { FinishReason::Stop };
    let message = Message { role: Role::Assistant, parts };
    TranscriptEntry::Replied { message, reason, usage: Usage::of(u64::from(cost), 10) }
}

#[track_caller]
fn well_formed(request: &Request) {
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!((roles.first(), roles.last()), (Some(&Role::User), Some(&Role::User)), "{roles:?}");
    let mut open: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for message in &request.messages {
        assert!(!message.parts.is_empty());
        let is_answer = message.parts.iter().any(|part| matches!(part, ContentPart::ToolResult { .. }));
        assert!(open.is_empty() || is_answer, "an answer follows its calls at once");
        for part in &message.parts {
            match part {
                ContentPart::Text { text } => assert!(!text.trim().is_empty()),
                ContentPart::ToolCall { id, .. } => {
                    assert!(seen.insert(id) && message.role == Role::Assistant);
                    open.push(id);
                }
                ContentPart::ToolResult { call_id, .. } => {
                    let at = open.iter().position(|id| id == call_id).expect("an answer to an open call");
                    open.remove(at);
                }
            }
        }
        assert!(!is_answer || open.is_empty(), "every call is answered");
    }
    assert!(open.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With any replies of the model, and whenever time runs out or a message from outside arrives, the turn ends and
    /// every call has one result.
    #[test]
    fn every_turn_ends(
        replies in prop::collection::vec((any_reply(), 0u8..20), 1..12),
        tokens in prop::sample::select(vec![1_000u32, 4_000, 12_000, u32::MAX / 2]),
        steps in 1u32..20,
    ) {
        let tiny = window(tokens);
        let settings = TurnSettings { limits: TurnLimits { steps, ..tiny.limits }, ..tiny };
        let mut transcript = Transcript::of_prompt("go");
        let mut files = docs();
        let (mut serial, mut asked, mut words) = (0, 0, 0);
        let mut script = replies.iter().cycle();
        let ended = (0..400).any(|_| {
            let step = next(&transcript, &settings);
            assert_eq!(step, next(&transcript, &settings));
            match step {
                Step::CallModel(request) => {
                    well_formed(&request);
                    asked += 1;
                    let (said, chance) = script.next().expect("a cycle").clone();
                    match chance {
                        0 => transcript.push(TranscriptEntry::TooLong),
                        1 => transcript.push(TranscriptEntry::Expired { why: "late".into() }),
                        2 if words < 3 => {
                            words += 1;
                            transcript.push(reply(said, &mut serial));
                            transcript.say("and more");
                        }
                        _ => transcript.push(reply(said, &mut serial)),
                    }
                }
                Step::Compact(Compaction { request, upto }) => {
                    well_formed(&request);
                    assert!(upto > beginning(transcript.entries()) && upto <= transcript.entries().len());
                    match script.next().expect("a cycle").1 {
                        0..5 => transcript.push(TranscriptEntry::TooLong),
                        chance => {
                            let summary = "notes ".repeat(usize::from(chance) - 5);
                            transcript.push(TranscriptEntry::Compacted { summary, upto, usage: Usage::of(10, 10) });
                        }
                    }
                }
                Step::RunTools(calls) => {
                    let context = crate::workbench::ToolContext::default();
                    let results = crate::tools::run_tools(&calls, &mut files, &context);
                    transcript.push(TranscriptEntry::Results { results });
                }
                Step::Done(_) => return true,
            }
            false
        });
        prop_assert!(ended, "{asked} calls");
        let mut answers: Vec<&str> = Vec::new();
        for entry in transcript.entries() {
            if let TranscriptEntry::Results { results } = entry {
                answers.extend(results.iter().map(|result| result.call_id.as_str()));
            }
        }
        answers.sort_unstable();
        let count = answers.len();
        answers.dedup();
        prop_assert_eq!((answers.len(), count), (serial, serial));
    }

    /// `next` accepts every transcript.
    #[test]
    fn any_transcript_has_a_next_step(
        entries in prop::collection::vec((0u8..7, any_reply(), 0usize..12), 0..14),
        tokens in prop::sample::select(vec![0u32, 3_000, u32::MAX / 2]),
    ) {
        let mut serial = 0;
        let entries: Vec<TranscriptEntry> = entries
            .into_iter()
            .map(|(kind, said, number)| match kind {
                0 => TranscriptEntry::Said { message: Message::text(Role::User, ["go", ""][number % 2]) },
                1 => TranscriptEntry::Said { message: Message::text([Role::System, Role::Assistant][number % 2], "so") },
                2 | 3 => {
                    // Includes duplicate ids.
                    serial = number;
                    reply(said, &mut serial)
                }
                4 => {
                    let result = |id: usize| ToolResult { call_id: format!("c{id}"), output: "x".into(), is_error: id.is_multiple_of(3) };
                    TranscriptEntry::Results { results: (number..number + 4).map(result).collect() }
                }
                5 => TranscriptEntry::Compacted { summary: "s".into(), upto: number, usage: Usage::default() },
                _ => [TranscriptEntry::TooLong, TranscriptEntry::Expired { why: "late".into() }][number % 2].clone(),
            })
            .collect();
        let transcript = Transcript::from(entries);
        match next(&transcript, &window(tokens)) {
            Step::CallModel(request) | Step::Compact(Compaction { request, .. }) => well_formed(&request),
            Step::RunTools(calls) => prop_assert!(!calls.is_empty()),
            Step::Done(done) => prop_assert!(!done.summary.trim().is_empty() || !done.words.is_empty()),
        }
        let _: Vec<Call> = transcript.unanswered();
    }
}
