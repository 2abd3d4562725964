//! What readers asked, and what they were answered.

use std::time::Duration;

use docent_assistant::{
    AnswerStage, AskedTurn, ExportCursor, ExportQuery, MinimumWait, QuestionFilter, QuestionOutcome, Rating,
    RatingFilter, Timing, question_instruction,
};
use docent_types::{Project, Refusal, ThreadId, Timestamp};
use docent_web::{Csv, HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, DAY};
use crate::icon::{Icon, Tone, badge};
use crate::layout::{Section, View};
use crate::pages::jobs::{found_now, reader_job};
use crate::parts::{Column, empty, filters, table};
use crate::text::{Untrusted, counted, grouped, in_url, precise_duration, relative_time};
use crate::words::{Place, docs_page, first_words, opening, words};

const PAGE_ROWS: u32 = 50;
/// Maximum number of questions in a file.
const MAX_FILE_ROWS: usize = 10_000;
/// Maximum bytes of texts in a file.
const MAX_FILE_BYTES: usize = 64 << 20;
/// Number of questions for a file that are read at a time.
const FILE_BATCH_ROWS: u32 = 1_000;
const MAX_PAGE_BYTES: u64 = 8 << 20;
/// The beginning of an answer that a list shows, in characters.
const MAX_PREVIEW_CHARS: usize = 120;
const OUTCOMES: [(&str, Option<QuestionOutcome>); 4] = [
    ("", None),
    ("answered", Some(QuestionOutcome::Answered)),
    ("unanswered", Some(QuestionOutcome::Unanswered)),
    ("missed", Some(QuestionOutcome::Missed)),
];
const RATINGS: [(&str, Option<RatingFilter>); 4] = [
    ("", None),
    ("any", Some(RatingFilter::Any)),
    ("up", Some(RatingFilter::Only(Rating::Up))),
    ("down", Some(RatingFilter::Only(Rating::Down))),
];
const STAGES: [(&str, &str, AnswerStage); 3] = [
    ("search", "until passages were found", AnswerStage::Search),
    ("first-word", "until the first word", AnswerStage::FirstWord),
    ("end", "until the end", AnswerStage::End),
];
const LABELS: [(&str, &str); 6] = [
    ("", "all"),
    ("missed", "unanswered or not helpful"),
    ("any", "any"),
    ("up", "helpful"),
    ("down", "not helpful"),
    ("unanswered", "unanswered"),
];

/// The filter of a list, from the URL.
struct ListFilter {
    filter: QuestionFilter,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    after: Option<ExportCursor>,
    /// The filter as a query string, without the position in the list.
    query: String,
}

impl ListFilter {
    fn of(request: &AuthorizedRequest<'_>) -> Result<Self, HttpError> {
        let parameter = |name: &str| {
            let text = request.http.query(name).map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        let unknown = |name: &str| Refusal::invalid(format!("{name}: choose one of the list"));
        let which = parameter("which").unwrap_or_default();
        let outcome = OUTCOMES.iter().find(|(name, _)| *name == which).ok_or_else(|| unknown("which"))?.1;
        let rated = parameter("rated").unwrap_or_default();
        let rating = RATINGS.iter().find(|(name, _)| *name == rated).ok_or_else(|| unknown("rated"))?.1;
        let until = parameter("waited")
            .map(|name| STAGES.iter().find(|stage| stage.0 == name).ok_or_else(|| unknown("waited")));
        let ms = request.http.query_number("ms", 0..=u32::MAX, 0)?;
        let waited = until.transpose()?.map(|(.., until)| MinimumWait { until: *until, ms });
        let filter = QuestionFilter {
            outcome,
            rating,
            text: parameter("text"),
            source: parameter("source"),
            page: parameter("page"),
            language: parameter("language"),
            waited,
        };
        let to = request.day("to")?.map(|day| day.plus(DAY));
        let names = ["which", "rated", "text", "source", "page", "language", "waited", "ms", "from", "to"];
        let pairs = names.into_iter().filter_map(|name| Some((name, parameter(name)?)));
        let query = pairs.map(|(name, text)| format!("{name}={}", in_url(&text))).collect::<Vec<_>>().join("&");
        Ok(Self { filter, from: request.day("from")?, to, after: cursor(request), query })
    }
}

fn cursor(request: &AuthorizedRequest<'_>) -> Option<ExportCursor> {
    let asked_at = Timestamp::from_millis(request.http.query("before")?.parse().ok()?);
    Some(ExportCursor { asked_at, answer_id: request.http.query("answer")?.into_owned() })
}

pub(crate) async fn list(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let list_filter = ListFilter::of(request)?;
    let query = ExportQuery {
        domain: project.domain.clone(),
        which: list_filter.filter.clone(),
        from: list_filter.from,
        to: list_filter.to,
        after: list_filter.after.clone(),
        limit: PAGE_ROWS,
        most_bytes: MAX_PAGE_BYTES,
    };
    if request.wants_csv() {
        return csv_file(request, query).await;
    }
    let found = request.parts().assistant.export(query).await.map_err(HttpError::internal)?;
    let now = request.parts().clock.now();
    let more = found.next.map(|next| {
        let id = in_url(&next.answer_id).to_string();
        format!("?{}&before={}&answer={id}", list_filter.query, next.asked_at.millis())
    });
    let body = html! {
        (form(request, &list_filter))
        @if found.turns.is_empty() && list_filter.query.is_empty() {
            (empty(Icon::Conversations, "Nobody has asked anything yet", "What readers ask your docs stands here, with the answers they got.", Some((&format!("/dashboard/{}/widget", project.domain), "Put the chat on your site"))))
        } @else if found.turns.is_empty() { p.soft { "No question is like this." } } @else { (rows(project, &found.turns, now)) }
        nav.pages aria-label="Pages of the list" {
            @if list_filter.after.is_some() { a href=(format_args!("?{}", list_filter.query)) { "Newest" } }
            @if let Some(more) = more { a href=(more) rel="next" { "Older" } }
            a href=(format_args!("?{}&format=csv", list_filter.query)) { "As CSV" } span.soft { "the newest " (grouped(MAX_FILE_ROWS as u64)) " at most" }
        }
    };
    Ok(request.page("Conversations", Section::Conversations, Some(project), &body))
}

fn label(name: &str) -> &str {
    LABELS.iter().find(|(known, _)| *known == name).map_or(name, |(_, label)| label)
}

fn form(request: &AuthorizedRequest<'_>, list_filter: &ListFilter) -> Markup {
    let parameter = |name| request.http.query(name).map(|text| text.into_owned()).unwrap_or_default();
    let filter = &list_filter.filter;
    let is_open = !list_filter.query.is_empty();
    filters(
        is_open,
        &html! {
            form.row method="get" {
                div { label for="which" { "Questions" } select #which name="which" { @for (name, outcome) in OUTCOMES { option value=(name) selected[outcome == filter.outcome] { (label(name)) } } } }
                div { label for="rated" { "Readers say" } select #rated name="rated" { @for (name, rating) in RATINGS { option value=(name) selected[rating == filter.rating] { (label(name)) } } } }
                div { label for="text" { "Contains" } input #text name="text" value=(parameter("text")); }
                div { label for="from" { "From" } input #from type="date" name="from" value=(parameter("from")); }
                div { label for="to" { "To" } input #to type="date" name="to" value=(parameter("to")); }
                @if let Some(MinimumWait { until, ms }) = filter.waited {
                    div { label for="waited" { "Readers waited" } select #waited name="waited" { option value="" { "any time" } @for (name, label, stage) in STAGES { option value=(name) selected[stage == until] { (label) } } } }
                    div { label for="ms" { "Milliseconds or longer" } input #ms type="number" min="0" name="ms" value=(ms); }
                }
                @for name in ["source", "page", "language"] { @if !parameter(name).is_empty() { div { label for=(name) { (name) } input id=(name) name=(name) value=(parameter(name)); } } }
                button.secondary type="submit" { "Show" }
            }
        },
    )
}

fn rows(project: &Project, turns: &[AskedTurn], now: Timestamp) -> Markup {
    let rows = turns.iter().map(|AskedTurn { thread, turn, .. }| {
        vec![
            html! {
                a.title href=(format_args!("/dashboard/{}/conversations/{thread}", project.domain)) { bdi { (first_words(&turn.question, 200)) } }
                @if let Some(answer) = turn.answer.as_deref().filter(|_| turn.answered) { span.sub { bdi { (opening(answer, MAX_PREVIEW_CHARS)) } } }
            },
            html! {
                @if turn.answered { (badge(Tone::Done, "answered")) } @else { (badge(Tone::Failed, "unanswered")) }
                @if let Some(Timing { end_ms, .. }) = turn.timing { " " span.soft.small { "in " (precise_duration(Duration::from_millis(end_ms.into()))) } }
            },
            html! { @if let Some(feedback) = &turn.feedback { (said(feedback.rating)) @if let Some(comment) = &feedback.comment { span.sub { bdi { (opening(comment, 120)) } } } } },
            relative_time(turn.asked_at, now),
        ]
    });
    let columns =
        [Column::Title("Question"), Column::Text("Answer"), Column::Text("Readers say"), Column::Text("Asked")];
    table("Questions", &columns, rows)
}

/// What a reader found of an answer, as an icon and words.
fn said(rated: Rating) -> Markup {
    html! { @match rated { Rating::Up => (Icon::ThumbsUp), Rating::Down => (Icon::ThumbsDown) } " " (rating(rated)) }
}

async fn csv_file(request: &AuthorizedRequest<'_>, mut query: ExportQuery) -> Result<Response, HttpError> {
    query.limit = FILE_BATCH_ROWS;
    let mut csv = Csv::new([
        "asked", "question", "answered", "answer", "rating", "comment", "page", "language", "sources", "search ms",
        "first word ms", "end ms", "thread",
    ]);
    let (mut rows, mut bytes) = (0, 0);
    loop {
        let found = request.parts().assistant.export(query.clone()).await.map_err(HttpError::internal)?;
        for AskedTurn { thread, turn, .. } in found.turns.iter().take(MAX_FILE_ROWS - rows) {
            let feedback = turn.feedback.as_ref();
            let sources: Vec<&str> = turn.sources.iter().map(|source| source.url.as_str()).collect();
            let waited = |stage| turn.timing.map(|timing| timing.until(stage).to_string()).unwrap_or_default();
            let answer = turn.answer.as_deref().unwrap_or_default();
            csv.row([
                turn.asked_at.to_string().as_str(),
                &turn.question,
                if turn.answered { "yes" } else { "no" },
                answer,
                feedback.map_or("", |feedback| rating(feedback.rating)),
                feedback.and_then(|feedback| feedback.comment.as_deref()).unwrap_or_default(),
                turn.page.as_deref().unwrap_or_default(),
                turn.language.as_deref().unwrap_or_default(),
                &sources.join(" "),
                &waited(AnswerStage::Search),
                &waited(AnswerStage::FirstWord),
                &waited(AnswerStage::End),
                &thread.to_string(),
            ]);
            rows += 1;
            bytes += turn.question.len() + answer.len();
        }
        query.after = found.next.filter(|_| rows < MAX_FILE_ROWS && bytes < MAX_FILE_BYTES);
        if query.after.is_none() {
            return csv.response("conversations");
        }
    }
}

const fn rating(rating: Rating) -> &'static str {
    match rating {
        Rating::Up => "helpful",
        Rating::Down => "not helpful",
    }
}

pub(crate) async fn conversation(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let missing = || {
        let sentence = "This site has no such conversation; it may be older than conversations are kept.";
        HttpError::from(Refusal::not_found(sentence))
    };
    let id = ThreadId::parse(id).ok_or_else(missing)?;
    let thread = request.parts().assistant.thread(&project.domain, id).await.map_err(HttpError::internal)?;
    let thread = thread.ok_or_else(missing)?;
    let now = request.parts().clock.now();
    let docs = request.read_docs(project);
    let place = Place::of(project, docs.as_deref());
    let title = thread.turns.first().map(|turn| first_words(&turn.question, 90)).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| "Conversation".to_owned());
    let body = html! {
        p.facts { span { "begun " (relative_time(thread.created_at, now)) } span { (counted(thread.turns.len() as u64, "question")) } }
        @for turn in &thread.turns {
            article.asked.titled[turn.question.trim() == title] {
                header { (Icon::Person) @if turn.is_imported() { "sent by the client as history" } @else { "asked " (relative_time(turn.asked_at, now)) } @if let Some(page) = &turn.page { " on " (on_page(page, place)) } }
                // The first question may be the title.
                @if turn.question.trim() != title { (words(&turn.question, place)) }
            }
            article.turn {
                header { (Icon::Agent) "The assistant" @if !turn.answered { " " (badge(Tone::Failed, "found no answer")) } }
                @match &turn.answer {
                    Some(answer) => (words(answer, place)),
                    None => p.soft { "No answer was completed." },
                }
                @if !turn.sources.is_empty() { p.small.soft { "From: " @for (at, source) in turn.sources.iter().enumerate() { @if at > 0 { " · " } (source_link(&source.title, &source.url, place)) } } }
                @if let Some(feedback) = &turn.feedback { p { (said(feedback.rating)) @if feedback.comment.is_some() { ":" } } @if let Some(comment) = &feedback.comment { blockquote { (words(comment, place)) } } }
                @if !turn.answered { p.actions { (reader_job(request, project, &question_instruction(&turn.question))) (found_now(project, &turn.question)) } }
            }
        }
    };
    let above = format!("/dashboard/{}/conversations", project.domain);
    Ok(request.show(View::new(&title, Section::Conversations, Some(project)).below(above, "Conversations"), &body))
}

/// The page that a reader was on; a link to it if it is a page of the docs.
pub(super) fn on_page(page: &str, place: Place<'_>) -> Markup {
    let code = html! { code { (Untrusted(page)) } };
    let is_read = place.docs.is_some_and(|docs| docs.has_page(page));
    html! { @if is_read { a href=(docs_page(place.domain, page)) { (code) } } @else { (code) } }
}

/// A page that an answer leans on, as a link to what the index has of it.
pub(super) fn source_link(title: &str, url: &str, place: Place<'_>) -> Markup {
    let is_read = place.docs.is_some_and(|docs| docs.has_page(url));
    html! { @if is_read { a href=(docs_page(place.domain, url)) { (Untrusted(title)) } } @else { (Untrusted(title)) " " code { (Untrusted(url)) } } }
}
