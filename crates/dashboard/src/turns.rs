//! The time, steps and tokens of each turn of a job, summed up from its journal.
//!
//! A journal is append-only, so the sums of a job are cached and continued where they ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_authoring::{AgentStep, job_events, step_of};
use docent_jobs::{Entry, EntryBody, Jobs};
use docent_types::{JobEvent, JobId, JobStatus, Project, Timestamp, Usage};
use docent_web::HttpError;
use maud::{Markup, html};
use parking_lot::Mutex;

use crate::parts::{Column, table};
use crate::text::{counted, grouped, precise_duration, relative_time};
use crate::timeline::Spans;

/// Maximum number of jobs whose sums are cached.
const MAX_CACHED_JOBS: usize = 64;
/// Entries read at a time.
const BATCH: u32 = 500;
/// Maximum time that a page spends on summing up a long journal. The next request continues.
const MAX_READ_TIME: Duration = Duration::from_millis(200);
/// Maximum number of turns shown, the newest ones. The totals include all.
const MAX_SHOWN_TURNS: usize = 20;

/// A turn of a job: from an instruction to its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JobTurn {
    /// The number of the entry it began with.
    first: u64,
    pub(crate) began: Timestamp,
    /// When a worker first took it up.
    pub(crate) taken_up: Option<Timestamp>,
    pub(crate) pushed: Option<Timestamp>,
    pub(crate) has_pull: Option<Timestamp>,
    /// Why it waits and until when, if that was the last thing that happened.
    pub(crate) waits: Option<(String, Timestamp)>,
    /// When and how it ended, if it has.
    pub(crate) ended: Option<(Timestamp, JobStatus)>,
    pub(crate) sums: Sums,
}

impl JobTurn {
    fn begun(first: u64, began: Timestamp) -> Self {
        let (taken_up, pushed, has_pull, waits, ended) = (None, None, None, None, None);
        Self { first, began, taken_up, pushed, has_pull, waits, ended, sums: Sums::default() }
    }

    /// Takes note of what an entry that is no step of the agent says.
    fn note(&mut self, entry: &Entry) {
        for event in job_events(entry) {
            match event {
                JobEvent::Pushed { .. } => self.pushed = Some(entry.at),
                JobEvent::PullRequest { .. } => self.has_pull = Some(entry.at),
                JobEvent::Waiting { why, until } => self.waits = Some((why, until)),
                _ => {}
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sums {
    usage: Usage,
    pub(crate) model_calls: u64,
    model_time: Duration,
    tools_time: Duration,
}

/// When a turn waited, was in the model, in tools, and fetched, pushed or opened a pull request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activity {
    pub(crate) waiting: Spans,
    pub(crate) model: Spans,
    pub(crate) tools: Spans,
    pub(crate) git: Spans,
}

/// The turns of a job, as far as its journal was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    turns: Vec<JobTurn>,
    /// The numbers of the entries with an instruction, or with the message at the end of a turn.
    talk: Vec<u64>,
    /// The number and time of the last entry that was read.
    read_to: u64,
    before: Option<Timestamp>,
    /// The number of the newest entry.
    last: u64,
    /// Of the latest turn.
    activity: Activity,
    /// Whether the model has asked for tools that have not run yet.
    awaits_tools: bool,
}

impl Turns {
    fn add(&mut self, entry: &Entry) {
        let before = self.before.unwrap_or(entry.at);
        (self.read_to, self.before) = (entry.seq, Some(entry.at));
        let open = self.turns.last_mut().filter(|turn| turn.ended.is_none());
        match (&entry.body, open) {
            (EntryBody::Instruction(_), open) => {
                self.talk.push(entry.seq);
                if open.is_none() {
                    self.turns.push(JobTurn::begun(entry.seq, entry.at));
                    (self.activity, self.awaits_tools) = (Activity::default(), false);
                }
            }
            (EntryBody::Transition { to, .. }, Some(turn)) if *to != JobStatus::Active => {
                self.talk.push(entry.seq);
                turn.ended = Some((entry.at, *to));
                turn.waits = None;
            }
            (EntryBody::Leased { .. }, Some(turn)) if turn.taken_up.is_none() => {
                turn.taken_up = Some(entry.at);
                self.activity.waiting.add(turn.began, entry.at);
            }
            (EntryBody::Work { .. }, Some(turn)) => match step_of(entry) {
                Some(AgentStep::Model(usage)) => {
                    let asked = turn.waits.take().map_or(before, |(_, until)| until.clamp(before, entry.at));
                    if asked > before {
                        self.activity.waiting.add(before, asked);
                    }
                    self.activity.model.add(asked, entry.at);
                    self.awaits_tools = true;
                    turn.sums.usage += usage;
                    turn.sums.model_calls += 1;
                    turn.sums.model_time += entry.at.since(asked);
                }
                Some(AgentStep::Tools) => {
                    self.activity.tools.add(before, entry.at);
                    self.awaits_tools = false;
                    turn.sums.tools_time += entry.at.since(before);
                }
                None => {
                    // A wait begins when the model was asked in vain. All else is git: fetching, pushing, a pull request.
                    let is_wait = job_events(entry).iter().any(|event| matches!(event, JobEvent::Waiting { .. }));
                    let lane = if is_wait { &mut self.activity.model } else { &mut self.activity.git };
                    lane.add(before, entry.at);
                    turn.note(entry);
                }
            },
            (_, Some(turn)) => turn.note(entry),
            _ => {}
        }
    }

    /// The turn that runs, or the last one.
    pub(crate) fn latest(&self) -> Option<&JobTurn> {
        self.turns.last()
    }

    /// What went on when in the latest turn; what goes on in one that runs, until now.
    pub(crate) fn activity(&self, now: Timestamp) -> Activity {
        let mut activity = self.activity.clone();
        let runs = self.latest().filter(|turn| turn.ended.is_none() && turn.pushed.is_none());
        if let (Some(turn), Some(before)) = (runs, self.before) {
            let going_on = match (turn.taken_up, &turn.waits) {
                (None, _) | (_, Some(_)) => &mut activity.waiting,
                _ if self.awaits_tools => &mut activity.tools,
                _ => &mut activity.model,
            };
            going_on.add(before, now);
        }
        activity
    }

    /// The numbers of the newest entries with an instruction or the message at the end of a turn, oldest first.
    pub(crate) fn talk(&self, limit: usize) -> &[u64] {
        &self.talk[self.talk.len().saturating_sub(limit)..]
    }

    /// The tokens of all turns.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.turns.iter().for_each(|turn| usage += turn.sums.usage);
        usage
    }

    /// What the job cost, and folded below it each turn. `here` is the address of the job, `cost` what the tokens of its
    /// model cost, if that is configured.
    pub(crate) fn table(&self, here: &str, now: Timestamp, cost: impl Fn(Usage) -> Option<String>) -> Markup {
        let total = cost(self.usage());
        let hidden = self.turns.len().saturating_sub(MAX_SHOWN_TURNS);
        let mut columns = vec![
            Column::Title("Turn"),
            Column::Text("Began"),
            Column::Number("Took"),
            Column::Number("Model calls"),
            Column::Number("In the model"),
            Column::Number("In tools"),
            Column::Number("Tokens in"),
            Column::Number("Tokens out"),
        ];
        columns.extend(total.is_some().then_some(Column::Number("Cost")));
        let rows = self.turns.iter().enumerate().skip(hidden).map(|(at, turn)| {
            let JobTurn { first, began, ended, sums, .. } = turn;
            let mut row = vec![
                html! { a href=(format_args!("{here}?at={first}#e{first}")) { (at + 1) } },
                relative_time(*began, now),
                html! { (precise_duration(ended.map_or(now, |(at, _)| at).since(*began))) },
                html! { (grouped(sums.model_calls)) },
                html! { (precise_duration(sums.model_time)) },
                html! { (precise_duration(sums.tools_time)) },
                html! { (grouped(sums.usage.input_tokens)) },
                html! { (grouped(sums.usage.output_tokens)) },
            ];
            row.extend(total.is_some().then(|| html! { (cost(sums.usage).unwrap_or_default()) }));
            row
        });
        let usage = self.usage();
        html! {
            @if !self.turns.is_empty() {
                h2 { "What it cost" }
                @if usage.input_tokens + usage.output_tokens == 0 && self.turns.iter().any(|turn| turn.ended.is_none()) { p.soft { "Nothing yet." } }
                @else { p {
                    (counted(usage.input_tokens, "token")) " in, " (counted(usage.output_tokens, "token")) " out in "
                    (counted(self.turns.len() as u64, "turn")) @if let Some(total) = &total { ", " (total) } "."
                    @if self.read_to < self.last {
                        " Up to entry " (grouped(self.read_to)) " of " (grouped(self.last)) "; look again for the rest."
                    }
                } }
                details {
                    summary { "Time and tokens of each turn" }
                    (table("Turns", &columns, rows))
                    @if hidden > 0 { p.soft { "The newest " (MAX_SHOWN_TURNS) " turns are shown." } }
                }
            }
        }
    }
}

/// The cached sums of jobs, the most recently requested last.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnSums(Arc<Mutex<Vec<(JobId, Turns)>>>);

impl TurnSums {
    /// The turns of a project's job.
    pub(crate) async fn of(&self, jobs: &Jobs, project: &Project, id: JobId) -> Result<Turns, HttpError> {
        let cached = self.0.lock().iter().find(|(known, _)| *known == id).map(|(_, turns)| turns.clone());
        let mut turns = cached.unwrap_or_default();
        turns.last = jobs.last_entry(&project.id, id).await?;
        let begun = Instant::now();
        while turns.read_to < turns.last && begun.elapsed() < MAX_READ_TIME {
            let entries = jobs.journal(&project.id, id, turns.read_to, BATCH).await?;
            if entries.is_empty() {
                break;
            }
            entries.iter().for_each(|entry| turns.add(entry));
        }
        let mut cache = self.0.lock();
        cache.retain(|(known, _)| *known != id);
        cache.push((id, turns.clone()));
        let surplus = cache.len().saturating_sub(MAX_CACHED_JOBS);
        cache.drain(..surplus);
        Ok(turns)
    }
}

#[cfg(test)]
mod tests {
    use docent_jobs::Instruction;
    use docent_types::{Message, Role};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_turn_is_summed_up_from_its_instruction_to_its_end() {
        let instruction = || EntryBody::Instruction(Instruction::new(vec![Message::text(Role::User, "Do it")]));
        let went = |to| EntryBody::Transition { to, halt: None, message: None };
        let did = |kind: &str, data| EntryBody::Work { kind: kind.to_owned(), data };
        let usage = json!({ "input_tokens": 100, "output_tokens": 7, "cached_input_tokens": 0 });
        let message = json!({ "role": "assistant", "parts": [] });
        let replied = json!({ "did": "replied", "message": message, "reason": "tool-calls", "usage": usage });
        let journal = [
            (0, went(JobStatus::Active)),
            (0, instruction()),
            (10, EntryBody::Leased { token: 1, holder: "here".into(), rescued: false }),
            (1_010, did("replied", replied.clone())),
            (1_210, did("ran", json!({ "did": "ran", "results": [], "digest": "" }))),
            (1_300, instruction()),
            (2_000, did("replied", replied)),
            (2_500, did("pushed", json!({ "did": "newer" }))),
            (3_000, went(JobStatus::Completed)),
            (9_000, instruction()),
        ];
        let mut turns = Turns::default();
        for (seq, (at, body)) in (1..).zip(&journal) {
            turns.add(&Entry { seq, at: Timestamp::from_millis(*at), body: body.clone() });
        }
        let [first, second] = turns.turns.as_slice() else { panic!("{turns:?}") };
        assert_eq!((first.first, first.ended), (2, Some((Timestamp::from_millis(3_000), JobStatus::Completed))));
        let millis = |sums: Sums| (sums.model_calls, sums.model_time.as_millis(), sums.tools_time.as_millis());
        assert_eq!(millis(first.sums), (2, 1_700, 200), "a further instruction meanwhile is of the same turn");
        assert_eq!((second.first, second.ended, millis(second.sums)), (10, None, (0, 0, 0)));
        assert_eq!((first.taken_up, turns.talk(9)), (Some(Timestamp::from_millis(10)), &[2, 6, 9, 10][..]));
        assert_eq!((turns.usage().input_tokens, turns.usage().output_tokens), (200, 14));
        let first = (0..8).zip(&journal).fold(Turns::default(), |mut turns, (_, (at, body))| {
            turns.add(&Entry { seq: turns.read_to + 1, at: Timestamp::from_millis(*at), body: body.clone() });
            turns
        });
        let Activity { waiting, model, tools, git } = first.activity(Timestamp::from_millis(2_900));
        let times = [waiting, model, tools, git].map(|spans| spans.time().as_millis());
        assert_eq!(times, [10, 1_700, 600, 500], "the tools that the model asked for run until now");
        let activity = turns.activity(Timestamp::from_millis(9_500));
        assert_eq!((activity.waiting.time(), activity.model.time()), (Duration::from_millis(500), Duration::ZERO));

        let table = |cost: &dyn Fn(Usage) -> Option<String>| turns.table("/here", Timestamp::from_millis(9_000), cost);
        let priced = |usage: Usage| (usage != Usage::default()).then(|| format!("USD {}", usage.input_tokens));
        let shown = table(&priced).into_string();
        assert!(shown.contains("data-label=\"Cost\">USD 200</td>") && shown.contains("2 turns, USD 200."), "{shown}");
        assert!(!table(&|_| None).into_string().contains("Cost"), "nothing is shown where no price is known");
    }
}
