//! Renders a job's journal as rows: newest first, filtered, a page at a time. A journal of any length is read in
//! batches, and only the rows that are shown are kept in memory.

use std::collections::HashMap;
use std::time::Duration;

use docent_authoring::{job_events, step_of, tool_names};
use docent_jobs::Entry;
use docent_types::{JobEvent, JobId, JobStatus, Project, Timestamp};
use docent_web::HttpError;
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::icon::{Tone, badge};
use crate::pages::jobs::state;
use crate::pages::journal_sentence::sentence;
use crate::text::{Sentence, Untrusted, clock_time, counted, in_url, precise_duration, shortened};
use crate::words::{Place, words};

/// Maximum number of rows on a page, and in a response to a live page.
const MAX_ROWS: usize = 300;
/// Entries read at a time.
pub(crate) const BATCH: u64 = 200;
/// Number of entries read before the shown ones for context: the tool that a result belongs to, and the duration of a
/// step.
const CONTEXT_ENTRIES: u64 = 4;
/// Number of rows shown above the one that the query parameter `at` names.
const ROWS_ABOVE: u64 = 10;
/// Maximum number of characters shown of a tool's input or output. The journal as a file has the rest.
const MAX_SHOWN_CHARS: usize = 4_000;
/// The longest result that stands in the line of its step, in characters.
const MAX_LINE_CHARS: usize = 160;

/// Which entries are shown, from the URL.
#[derive(Debug, Default)]
pub(crate) struct JournalFilter {
    only_failed: bool,
    tool: String,
    text: String,
    folded: String,
}

impl JournalFilter {
    pub(crate) fn of(request: &AuthorizedRequest<'_>) -> Self {
        let query = |name| request.http.query(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        let text = query("text");
        let folded = text.to_lowercase();
        Self { only_failed: query("only") == "failed", tool: query("tool"), text, folded }
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.only_failed && self.tool.is_empty() && self.text.is_empty()
    }

    pub(crate) const fn is_only_failed(&self) -> bool {
        self.only_failed
    }

    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The known tools and the selected one, sorted.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<&str> = tool_names().collect();
        if !self.tool.is_empty() && !tools.contains(&self.tool()) {
            tools.push(&self.tool);
        }
        tools.sort_unstable();
        tools
    }

    pub(crate) fn query(&self) -> String {
        let only = if self.only_failed { "failed" } else { "" };
        let pairs = [("text", self.text()), ("tool", self.tool()), ("only", only)];
        let given = pairs.iter().filter(|(_, text)| !text.is_empty());
        given.map(|(name, text)| format!("{name}={}&", in_url(text))).collect()
    }

    fn has(&self, row: &JournalRow) -> bool {
        row.events.iter().any(|ToolEvent { event, tool }| {
            (!self.only_failed || is_failed(event))
                && (self.tool.is_empty() || tool.as_deref() == Some(&self.tool))
                && (self.folded.is_empty() || searched_words(event).to_lowercase().contains(&self.folded))
        })
    }
}

fn is_failed(event: &JobEvent) -> bool {
    match event {
        JobEvent::Answered { is_error, .. } => *is_error,
        JobEvent::StartedOver { .. } | JobEvent::Waiting { .. } => true,
        JobEvent::Status { status, .. } => *status == JobStatus::Failed,
        _ => false,
    }
}

/// The position of a page in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalPage {
    Newest,
    /// Entries with a lower number.
    Before(u64),
    /// Entries with a higher number.
    After(u64),
}

impl JournalPage {
    pub(crate) fn of(request: &AuthorizedRequest<'_>) -> Self {
        let number = |name| request.http.query(name).and_then(|text| text.parse::<u64>().ok());
        match (number("at"), number("before"), number("after")) {
            (Some(at), ..) => Self::Before(at.saturating_add(1 + ROWS_ABOVE)),
            (_, Some(before), _) => Self::Before(before),
            (_, _, Some(after)) => Self::After(after),
            _ => Self::Newest,
        }
    }
}

/// Rows of a journal, newest first.
pub(crate) struct JournalRows {
    pub(crate) rows: Vec<Markup>,
    /// The number of the newest entry in the journal.
    pub(crate) last: u64,
    /// The numbers at which the neighbouring pages begin, if there are such pages.
    pub(crate) newer: Option<u64>,
    pub(crate) older: Option<u64>,
}

/// A page of the entries that match a filter.
pub(crate) async fn page(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: JobId,
    filter: &JournalFilter,
    journal_page: JournalPage,
) -> Result<JournalRows, HttpError> {
    let last = request.parts().jobs.last_entry(&project.id, id).await?;
    let docs = request.read_docs(project);
    let place = Place::of(project, docs.as_deref());
    match journal_page {
        JournalPage::After(after) => {
            let (rows, has_newer) = forwards(request, project, id, filter, after, last, place).await?;
            let (oldest, newest) = (rows.first().map(|row| row.0), rows.last().map(|row| row.0));
            let newer = newest.filter(|_| has_newer);
            let rows = rows.into_iter().rev().map(|row| row.1).collect();
            let older = Some(oldest.unwrap_or(after.saturating_add(1))).filter(|older| *older > 1);
            Ok(JournalRows { rows, last, newer, older })
        }
        JournalPage::Newest | JournalPage::Before(_) => {
            let end = last + 1;
            let before = if let JournalPage::Before(before) = journal_page { before.clamp(1, end) } else { end };
            let mut rows: Vec<(u64, Markup)> = Vec::new();
            let mut first = before;
            while first > 1 {
                let batch_end = first;
                first = first.saturating_sub(BATCH).max(1);
                for row in read(request, project, id, first, batch_end).await?.into_iter().rev() {
                    if !filter.has(&row) {
                        continue;
                    }
                    if rows.len() == MAX_ROWS {
                        let older = rows.last().map(|row| row.0);
                        return Ok(JournalRows { newer: newer(&rows, before, last), older, last, rows: markup(rows) });
                    }
                    rows.push((row.entry.seq, row.markup(place, id)));
                }
            }
            Ok(JournalRows { newer: newer(&rows, before, last), older: None, last, rows: markup(rows) })
        }
    }
}

fn markup(rows: Vec<(u64, Markup)>) -> Vec<Markup> {
    rows.into_iter().map(|row| row.1).collect()
}

/// The number after which the newer page begins: that of the first row, or without rows, of the last entry that was
/// read.
fn newer(rows: &[(u64, Markup)], before: u64, last: u64) -> Option<u64> {
    (before <= last).then(|| rows.first().map_or(before - 1, |row| row.0))
}

/// The rows that a live page lacks: those after the last one it has.
pub(crate) async fn new(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: JobId,
    after: u64,
) -> Result<JournalRows, HttpError> {
    let end = request.parts().jobs.last_entry(&project.id, id).await?;
    let last = end.min(after.saturating_add(MAX_ROWS as u64)).max(after);
    let docs = request.read_docs(project);
    let place = Place::of(project, docs.as_deref());
    let rows = read(request, project, id, after.saturating_add(1), last + 1).await?;
    let rows = rows.into_iter().rev().map(|row| row.markup(place, id)).collect();
    Ok(JournalRows { rows, last, newer: (last < end).then_some(last), older: None })
}

/// The first rows after an entry, oldest first, and whether there are more.
async fn forwards(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: JobId,
    filter: &JournalFilter,
    after: u64,
    last: u64,
    place: Place<'_>,
) -> Result<(Vec<(u64, Markup)>, bool), HttpError> {
    let mut rows = Vec::new();
    let mut first = after.saturating_add(1);
    while first <= last {
        let end = first.saturating_add(BATCH).min(last + 1);
        for row in read(request, project, id, first, end).await? {
            if !filter.has(&row) {
                continue;
            }
            if rows.len() == MAX_ROWS {
                return Ok((rows, true));
            }
            rows.push((row.entry.seq, row.markup(place, id)));
        }
        first = end;
    }
    Ok((rows, false))
}

/// The entries from `first` to before `end` that have events, oldest first.
async fn read(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: JobId,
    first: u64,
    end: u64,
) -> Result<Vec<JournalRow>, HttpError> {
    let after = first.saturating_sub(1 + CONTEXT_ENTRIES);
    let limit = u32::try_from(end.saturating_sub(1 + after)).unwrap_or(u32::MAX);
    let entries = request.parts().jobs.journal(&project.id, id, after, limit).await?;
    Ok(rows(entries).filter(|row| row.entry.seq >= first && !row.events.is_empty()).collect())
}

/// An event, and the name of its tool, if the event is about a known tool call.
#[derive(Debug)]
struct ToolEvent {
    event: JobEvent,
    tool: Option<String>,
}

/// An entry with its events.
#[derive(Debug)]
struct JournalRow {
    entry: Entry,
    events: Vec<ToolEvent>,
    /// The duration of the step that this entry records.
    took: Option<Duration>,
}

/// Turns entries into rows, in order. The tool of a result is that of its call, which an earlier entry made.
fn rows(entries: Vec<Entry>) -> impl Iterator<Item = JournalRow> {
    let mut tools: HashMap<String, String> = HashMap::new();
    let mut before: Option<Timestamp> = None;
    entries.into_iter().map(move |entry| {
        let events = job_events(&entry).into_iter().map(|event| {
            let tool = match &event {
                JobEvent::Called { id, name, .. } => {
                    tools.insert(id.clone(), name.clone());
                    Some(name.clone())
                }
                JobEvent::Answered { id, .. } => tools.get(id).cloned(),
                _ => None,
            };
            ToolEvent { event, tool }
        });
        let events = events.collect();
        let took = before.replace(entry.at).map(|before| entry.at.since(before));
        let took = took.filter(|_| step_of(&entry).is_some());
        JournalRow { entry, events, took }
    })
}

impl JournalRow {
    fn markup(&self, place: Place<'_>, job: JobId) -> Markup {
        let seq = self.entry.seq;
        let took = self.took.filter(|took| !took.is_zero()).map(precise_duration);
        html! {
            article.event id=(format_args!("e{seq}")) {
                a.when href=(format_args!("/dashboard/{}/jobs/{job}?at={seq}#e{seq}", place.domain)) title=(format_args!("Entry {seq}, {}", self.entry.at)) { (clock_time(self.entry.at)) }
                div.what {
                    @for (at, event) in self.events.iter().enumerate() { (event_markup(event, place, took.as_deref().filter(|_| at == 0))) }
                }
            }
        }
    }
}

/// A sentence, and beside it how long the step took.
fn line(sentence: &Markup, took: Option<&str>) -> Markup {
    line_with(sentence, took, &Markup::default())
}

/// A sentence with what can be opened in its line.
fn line_with(sentence: &Markup, took: Option<&str>, raw: &Markup) -> Markup {
    html! { div.line { span { (sentence) } (raw) @if let Some(took) = took { span.soft { (took) } } } }
}

fn event_markup(ToolEvent { event, tool }: &ToolEvent, place: Place<'_>, took: Option<&str>) -> Markup {
    let tool = tool.as_deref().unwrap_or("a tool");
    html! {
        @match event {
            JobEvent::Asked { text } => { (line(&html! { strong { "Instruction" } }, took)) (words(text, place)) },
            JobEvent::Said { text } | JobEvent::Delta { text, .. } => { (line(&html! { strong { "The agent" } }, took)) (words(text, place)) },
            JobEvent::Called { name, input, .. } => {
                (line_with(&sentence(name, input, place), took, &raw("Input", &serde_json::to_string_pretty(input).unwrap_or_default())))
            },
            JobEvent::Answered { output, is_error: true, .. } => {
                (line_with(&html! { span.wrong { "Failed: " (tool) @if !output.is_empty() { ", " (Sentence(&shortened(first_line(output), MAX_LINE_CHARS))) } } }, took, &raw("All of it", output)))
            },
            // The call said it.
            JobEvent::Answered { output, .. } if matches!(tool, "todo_write" | "finish") && is_one_line(output) => {},
            JobEvent::Answered { output, .. } if is_one_line(output) => (line(&html! { span.soft { (tool) ": " (Sentence(output.trim())) } }, took)),
            JobEvent::Answered { output, .. } => {
                (line_with(&html! { span.soft { (tool) " answered " (counted(output.lines().count() as u64, "line")) } }, took, &raw("Result", output)))
            },
            JobEvent::Replied { usage, .. } => span.soft.small { (counted(usage.input_tokens, "token")) " in, " (counted(usage.output_tokens, "token")) " out" },
            JobEvent::Planned { todos } => (line(&html! { "The plan has " (counted(todos.len() as u64, "step")) }, took)),
            JobEvent::StartedOver { why } => (line(&html! { "Started over: " (Untrusted(why)) }, took)),
            JobEvent::Waiting { why, until } => (line(&html! { (badge(Tone::Waiting, "waits")) " until " (clock_time(*until)) " UTC: " (Sentence(why)) }, took)),
            JobEvent::Pushed { commit } => (line(&html! { "Pushed commit " code { (shortened(commit, 12)) } }, took)),
            JobEvent::PullRequest { url } => (line(&html! { "Opened " @if url.starts_with("https://") || url.starts_with("http://") { a href=(url) rel="noopener noreferrer" { "the pull request" } } @else { "the pull request " (Untrusted(url)) } }, took)),
            JobEvent::Status { status, .. } => (line(&html! { "The job is " (state(*status)) }, took)),
        }
    }
}

/// Whether a result is short enough to stand where its length would.
fn is_one_line(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.lines().count() == 1 && text.chars().nth(MAX_LINE_CHARS).is_none()
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

/// A text as it is, on demand.
fn raw(title: &str, text: &str) -> Markup {
    let is_long = text.chars().nth(MAX_SHOWN_CHARS).is_some();
    html! {
        @if !text.trim().is_empty() {
            details {
                summary { (title) }
                pre { (Untrusted(&shortened(text, MAX_SHOWN_CHARS))) }
                @if is_long { p.soft { "Shortened; the journal as NDJSON has all of it." } }
            }
        }
    }
}

/// The text of an event that a filter searches.
fn searched_words(event: &JobEvent) -> String {
    match event {
        JobEvent::Asked { text } | JobEvent::Said { text } | JobEvent::Delta { text, .. } => text.clone(),
        JobEvent::Called { name, input, .. } => format!("{name} {input}"),
        JobEvent::Answered { output, .. } => output.clone(),
        JobEvent::StartedOver { why } | JobEvent::Waiting { why, .. } => why.clone(),
        JobEvent::Pushed { commit } => commit.clone(),
        JobEvent::PullRequest { url } => url.clone(),
        JobEvent::Status { message, status, .. } => format!("{} {}", status.as_str(), message.as_deref().unwrap_or("")),
        JobEvent::Planned { todos } => todos.iter().map(|todo| todo.content.as_str()).collect::<Vec<_>>().join(" "),
        JobEvent::Replied { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use docent_authoring::record::Record;
    use docent_jobs::EntryBody;
    use docent_types::{ContentPart, FinishReason, Message, Role, Usage};
    use serde_json::json;

    use super::*;

    fn calls(seq: u64, at: i64, id: &str, name: &str) -> Entry {
        let call = ContentPart::ToolCall { id: id.into(), name: name.into(), input: json!({ "path": "a.md" }) };
        let message = Message { role: Role::Assistant, parts: vec![call] };
        entry(seq, at, &Record::Replied { message, reason: FinishReason::ToolCalls, usage: Usage::of(3, 4) })
    }

    fn answers(seq: u64, at: i64, id: &str, output: &str, is_error: bool) -> Entry {
        let results = serde_json::from_value(json!([{ "call_id": id, "output": output, "is_error": is_error }]));
        let results = results.expect("a result");
        entry(seq, at, &Record::Ran { results, digest: String::new(), todos: None })
    }

    fn entry(seq: u64, at: i64, record: &Record) -> Entry {
        let data = serde_json::to_value(record).expect("records are JSON");
        let body = EntryBody::Work { kind: String::new(), data };
        Entry { seq, at: Timestamp::from_millis(at), body }
    }

    #[test]
    fn a_result_is_of_the_tool_that_was_called_and_a_step_took_its_time() {
        let entries =
            vec![calls(1, 1_000, "a", "edit"), answers(2, 1_250, "a", "done", false), answers(3, 1_250, "b", "", true)];
        let rows: Vec<JournalRow> = rows(entries).collect();
        assert_eq!(rows[0].events[0].tool.as_deref(), Some("edit"));
        assert_eq!((rows[1].events[0].tool.as_deref(), rows[1].took), (Some("edit"), Some(Duration::from_millis(250))));
        assert_eq!((rows[2].events[0].tool.as_deref(), rows[0].took), (None, None), "what came before is not known");
    }

    #[test]
    fn a_filter_is_about_one_event() {
        let entries = vec![
            calls(1, 0, "a", "edit"),
            answers(2, 0, "a", "No SUCH file", true),
            calls(3, 0, "b", "read"),
            answers(4, 0, "b", "such is life", false),
        ];
        let rows: Vec<JournalRow> = rows(entries).collect();
        let found = |only_failed, tool: &str, text: &str| -> Vec<u64> {
            let (tool, text, folded) = (tool.to_owned(), text.to_owned(), text.to_lowercase());
            let filter = JournalFilter { only_failed, tool, text, folded };
            rows.iter().filter(|row| filter.has(row)).map(|row| row.entry.seq).collect()
        };
        assert_eq!(found(false, "", ""), [1, 2, 3, 4]);
        assert_eq!(found(false, "", "such"), [2, 4]);
        assert_eq!(found(false, "edit", ""), [1, 2]);
        assert_eq!(found(true, "", "Such"), [2]);
        assert_eq!(found(true, "read", ""), [0; 0]);
        assert_eq!(found(false, "read", "a.md"), [3], "what a tool is called with");
    }
}
