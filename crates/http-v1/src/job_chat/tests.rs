use docent_types::{Domain, JobId, ProjectId, Source, Timestamp, Todo, TodoPriority, TodoStatus};
use docent_ui_stream::Grammar;
use proptest::prelude::*;

use super::*;

fn job() -> AgentJob {
    AgentJob {
        id: JobId::parse("00000000-0000-0000-0000-000000000007").unwrap(),
        project: ProjectId::parse("acme").unwrap(),
        domain: Domain::parse("acme").unwrap(),
        status: JobStatus::Active,
        source: Source { repository: "/srv/git/acme.git".into(), branch: "docent/7".into() },
        model: "sonnet".into(),
        as_draft: false,
        pr_link: None,
        message: None,
        halt: None,
        todos: Vec::new(),
        created_at: Timestamp::default(),
        archived_at: None,
    }
}

/// All events of a job, which must be well-formed.
fn told(events: impl IntoIterator<Item = JobEvent>) -> Vec<StreamEvent> {
    let mut job_chat = JobChat::new(&job());
    let mut all = vec![job_chat.begin()];
    all.extend(events.into_iter().flat_map(|event| job_chat.events_of(event)));
    all.extend(job_chat.end());
    Grammar::check(&all).unwrap_or_else(|error| panic!("{error}\n{all:#?}"));
    all
}

fn delta(at: usize, text: &str) -> JobEvent {
    JobEvent::Delta { at, text: text.into() }
}

fn said(text: &str) -> JobEvent {
    JobEvent::Said { text: text.into() }
}

fn called(id: &str) -> JobEvent {
    JobEvent::Called { id: id.into(), name: "read".into(), input: json!({"path": "a.md"}) }
}

fn answered(id: &str, output: &str, is_error: bool) -> JobEvent {
    JobEvent::Answered { id: id.into(), output: output.into(), is_error }
}

fn replied(reason: FinishReason) -> JobEvent {
    JobEvent::Replied { reason, usage: Usage::of(10, 2) }
}

fn active() -> JobEvent {
    JobEvent::Status { status: JobStatus::Active, halt: None, message: None }
}

fn ended(status: JobStatus, halt: Halt, message: &str) -> JobEvent {
    JobEvent::Status { status, halt: Some(halt), message: Some(message.to_owned()) }
}

/// The stream in a compact form: `step`, `text "…"` (deltas joined by `|`), `call id`, `answer id …`, `error id …`,
/// `data …`, `end`.
fn short(events: &[StreamEvent]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in events {
        match event {
            StreamEvent::StepStart => lines.push("step".into()),
            StreamEvent::TextStart { .. } => lines.push("text ".into()),
            StreamEvent::TextDelta { text, .. } => lines.last_mut().unwrap().push_str(&format!("|{text}")),
            StreamEvent::ToolCall { id, .. } => lines.push(format!("call {id}")),
            StreamEvent::ToolResult { id, output: ToolOutput::Error(why) } => lines.push(format!("error {id}: {why}")),
            StreamEvent::ToolResult { id, .. } => lines.push(format!("answer {id}")),
            StreamEvent::StepFinish { reason, .. } => lines.push(format!("end {}", reason.as_str())),
            StreamEvent::Finish { reason, usage, .. } => {
                lines.push(format!("finish {} {}/{}", reason.as_str(), usage.input_tokens, usage.output_tokens));
            }
            StreamEvent::Data { name: "status", value, .. } => {
                lines.push(format!("status {}", value["status"].as_str().unwrap()));
            }
            StreamEvent::Data { name, .. } => lines.push((*name).to_owned()),
            _ => {}
        }
    }
    lines
}

#[test]
fn each_reply_of_the_model_is_a_step_with_its_calls_and_their_answers() {
    let todo =
        Todo { id: "1".into(), content: "Look".into(), status: TodoStatus::Pending, priority: TodoPriority::Low };
    let events = [
        active(),
        JobEvent::Asked { text: "Fix links".into() },
        said("I look."),
        called("a"),
        called("b"),
        replied(FinishReason::ToolCalls),
        answered("a", "found", false),
        answered("b", "no such page", true),
        JobEvent::Planned { todos: vec![todo] },
        said("It is fixed."),
        replied(FinishReason::Stop),
        JobEvent::Pushed { commit: "c0ffee".into() },
        JobEvent::PullRequest { url: "https://forge.example/7".into() },
        ended(JobStatus::Completed, Halt::Completed, "It is fixed."),
    ];
    assert_eq!(
        short(&told(events)),
        [
            "status active", "step", "text |I look.", "call a", "call b", "answer a", "error b: no such page",
            "end tool-calls", "todos", "step", "text |It is fixed.", "end stop", "pull-request", "status completed",
            "finish stop 20/4",
        ]
    );
}

#[test]
fn words_are_told_as_they_come_and_only_the_rest_from_the_journal() {
    let live = [delta(0, "It "), delta(3, "is "), said("It is fixed."), replied(FinishReason::Stop)];
    assert_eq!(short(&told(live))[..3], ["step", "text |It |is |fixed.", "end stop"]);
    let whole = [delta(0, "It"), said("It"), replied(FinishReason::Stop)];
    assert_eq!(short(&told(whole))[1], "text |It");
}

#[test]
fn a_reply_that_comes_anew_is_another_text() {
    let anew = [delta(0, "I thi"), delta(0, "It"), delta(2, " is"), said("It is."), replied(FinishReason::Stop)];
    assert_eq!(short(&told(anew))[..4], ["step", "text |I thi", "text |It| is|.", "end stop"]);
    let other = [delta(0, "I thi"), said("It is."), replied(FinishReason::Stop)];
    assert_eq!(short(&told(other))[..4], ["step", "text |I thi", "text |It is.", "end stop"]);
}

#[test]
fn missed_words_are_sent_from_the_journal() {
    let late = [delta(7, "fixed"), said("It was fixed."), replied(FinishReason::Stop)];
    assert_eq!(short(&told(late))[..3], ["step", "text |It was fixed.", "end stop"]);
    let gap = [delta(0, "It "), delta(7, "fixed"), said("It was fixed."), replied(FinishReason::Stop)];
    assert_eq!(short(&told(gap))[..3], ["step", "text |It |was fixed.", "end stop"]);
}

#[test]
fn a_job_that_fails_says_why_and_ends_in_an_error() {
    let failed = [active(), ended(JobStatus::Failed, Halt::GitMisconfigured, "The repository cannot be reached.")];
    let all = told(failed);
    assert_eq!(
        short(&all),
        [
            "status active",
            "status failed",
            "step",
            "text |The repository cannot be reached.",
            "end other",
            "finish error 0/0"
        ]
    );
    let StreamEvent::Data { name, id, value } = &all[2] else { panic!("{:?}", all[2]) };
    assert_eq!((*name, id.as_deref()), ("status", Some("status")));
    assert_eq!(
        *value,
        json!({
            "sessionId": "00000000-0000-0000-0000-000000000007",
            "status": "failed",
            "branch": "docent/7",
            "haultReason": "git_missconfigured",
        })
    );
}

#[test]
fn a_call_that_is_never_answered_is_answered_as_that() {
    let archived = [said("I look."), called("a"), ended(JobStatus::Archived, Halt::Error, "Archived.")];
    assert_eq!(
        short(&told(archived))[2..5],
        ["call a", "error a: Not answered: the job ended.", "end other"].map(str::to_owned)
    );
    let over = [called("a"), replied(FinishReason::ToolCalls), JobEvent::StartedOver { why: "moved".into() }];
    assert!(short(&told(over))[2].starts_with("error a: Discarded"));
    let next = [called("a"), replied(FinishReason::ToolCalls), said("On."), replied(FinishReason::Stop)];
    assert!(short(&told(next))[2].starts_with("error a: Not answered"));
}

#[test]
fn a_call_id_that_is_used_again_is_told_under_another() {
    let round = || [called("a"), replied(FinishReason::ToolCalls), answered("a", "x", false)];
    let lines = short(&told(round().into_iter().chain(round()).chain([called("a"), called("a")])));
    let calls: Vec<_> = lines.iter().filter(|line| line.starts_with("call")).collect();
    assert_eq!(calls, ["call a", "call a-2", "call a-3", "call a-4"]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("answer")).collect::<Vec<_>>(), ["answer a", "answer a-2"]);
}

#[test]
fn a_follow_up_goes_on_in_the_same_stream() {
    let turn = |message| [active(), replied(FinishReason::Stop), ended(JobStatus::Completed, Halt::Completed, message)];
    let lines = short(&told(turn("Done.").into_iter().chain(turn("Done."))));
    let twice = ["status active", "status completed", "step", "text |Done.", "end other"];
    assert_eq!(lines, [&twice[..], &twice[..], &["finish stop 20/4"]].concat());
}

#[test]
fn a_wait_is_a_state_that_says_until_when() {
    let until = Timestamp::from_millis(1_000);
    let all = told([active(), JobEvent::Waiting { why: "The model is overloaded.".into(), until }]);
    let StreamEvent::Data { value, .. } = &all[2] else { panic!("{:?}", all[2]) };
    assert_eq!(value["waiting"], json!({"why": "The model is overloaded.", "until": "1970-01-01T00:00:01.000Z"}));
}

#[test]
fn transient_status_lines_are_withdrawn() {
    let waiting = || JobEvent::Waiting { why: "busy".into(), until: Timestamp::default() };
    let all = told([waiting(), waiting(), said("On."), said("And on.")]);
    let statuses: Vec<_> = all
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Data { name: "status", value, .. } => Some(value.get("waiting").is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [true, true, false]);
}

#[test]
fn a_long_output_is_cut_between_two_characters() {
    let output = "é".repeat(LONGEST_OUTPUT);
    assert_eq!(shortened(output.clone()), output);
    assert_eq!(shortened(format!("{output}a")), format!("{output}…"));
}

fn any_event() -> impl Strategy<Value = JobEvent> {
    let id = prop::sample::select(vec!["a", "b", "a-2"]);
    let words = prop::sample::select(vec!["", " ", "It", "It is", "It is fixed."]);
    let status = prop::sample::select(JobStatus::ALL.to_vec());
    prop_oneof![
        (0_usize..6, words.clone()).prop_map(|(at, text)| delta(at, text)),
        words.clone().prop_map(said),
        id.clone().prop_map(called),
        (id, words.clone(), any::<bool>()).prop_map(|(id, output, is_error)| answered(id, output, is_error)),
        Just(replied(FinishReason::ToolCalls)),
        Just(active()),
        (status, words).prop_map(|(status, text)| ended(status, Halt::Error, text)),
        Just(JobEvent::StartedOver { why: "moved".into() }),
        Just(JobEvent::Waiting { why: "busy".into(), until: Timestamp::default() }),
        Just(JobEvent::Planned { todos: Vec::new() }),
        Just(JobEvent::PullRequest { url: "u".into() }),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_in_whatever_order_is_a_well_formed_stream(events in prop::collection::vec(any_event(), 0..40)) {
        told(events);
    }
}
