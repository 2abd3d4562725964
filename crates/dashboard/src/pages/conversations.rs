//! What readers asked, and what they were answered.

use docent_assistant::{
    AnswerStage, AskedTurn, ExportCursor, ExportQuery, MinimumWait, QuestionFilter, QuestionOutcome, Rating,
    RatingFilter, Timing,
};
use docent_types::{Project, Refusal, ThreadId, Timestamp};
use docent_web::{Csv, HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{DAY, Visit};
use crate::layout::{Section, table};
use crate::text::{Foreign, grouped, in_url, moment, shortened};

const PAGE: u32 = 50;
/// Maximum number of questions in a file.
const FILE: usize = 10_000;
/// Maximum bytes of texts in a file.
const FILE_BYTES: usize = 64 << 20;
/// Number of questions for a file that are read at a time.
const FILE_STEP: u32 = 1_000;
const PAGE_BYTES: u64 = 8 << 20;
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
struct Narrowed {
    filter: QuestionFilter,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    after: Option<ExportCursor>,
    /// The filter as a query string, without the position in the list.
    query: String,
}

impl Narrowed {
    fn of(visit: &Visit<'_>) -> Result<Self, HttpError> {
        let given = |name: &str| {
            let text = visit.request.query(name).map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        let unknown = |name: &str| Refusal::invalid(format!("{name}: choose one of the list"));
        let which = given("which").unwrap_or_default();
        let outcome = OUTCOMES.iter().find(|(name, _)| *name == which).ok_or_else(|| unknown("which"))?.1;
        let rated = given("rated").unwrap_or_default();
        let rating = RATINGS.iter().find(|(name, _)| *name == rated).ok_or_else(|| unknown("rated"))?.1;
        let until =
            given("waited").map(|name| STAGES.iter().find(|stage| stage.0 == name).ok_or_else(|| unknown("waited")));
        let ms = visit.request.query_number("ms", 0..=u32::MAX, 0)?;
        let waited = until.transpose()?.map(|(.., until)| MinimumWait { until: *until, ms });
        let filter = QuestionFilter {
            outcome,
            rating,
            text: given("text"),
            source: given("source"),
            page: given("page"),
            language: given("language"),
            waited,
        };
        let to = visit.day("to")?.map(|day| day.plus(DAY));
        let names = ["which", "rated", "text", "source", "page", "language", "waited", "ms", "from", "to"];
        let pairs = names.into_iter().filter_map(|name| Some((name, given(name)?)));
        let query = pairs.map(|(name, text)| format!("{name}={}", in_url(&text))).collect::<Vec<_>>().join("&");
        Ok(Self { filter, from: visit.day("from")?, to, after: cursor(visit), query })
    }
}

fn cursor(visit: &Visit<'_>) -> Option<ExportCursor> {
    let asked_at = Timestamp::from_millis(visit.request.query("before")?.parse().ok()?);
    Some(ExportCursor { asked_at, answer_id: visit.request.query("answer")?.into_owned() })
}

pub(crate) async fn list(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let narrowed = Narrowed::of(visit)?;
    let query = ExportQuery {
        domain: project.domain.clone(),
        which: narrowed.filter.clone(),
        from: narrowed.from,
        to: narrowed.to,
        after: narrowed.after.clone(),
        limit: PAGE,
        most_bytes: PAGE_BYTES,
    };
    if visit.wants_csv() {
        return file(visit, query).await;
    }
    let found = visit.parts().assistant.export(query).await.map_err(HttpError::internal)?;
    let now = visit.parts().clock.now();
    let more = found.next.map(|next| {
        let id = in_url(&next.answer_id).to_string();
        format!("?{}&before={}&answer={id}", narrowed.query, next.asked_at.millis())
    });
    let body = html! {
        (form(visit, &narrowed))
        @if found.turns.is_empty() { p.soft { "There are none here." } } @else { (rows(project, &found.turns, now)) }
        nav.pages aria-label="Pages" {
            @if narrowed.after.is_some() { a href=(format_args!("?{}", narrowed.query)) { "Newest" } }
            @if let Some(more) = more { a href=(more) rel="next" { "Older" } }
            a href=(format_args!("?{}&format=csv", narrowed.query)) { "As CSV" } span.soft { "the newest " (grouped(FILE as u64)) " at most" }
        }
    };
    Ok(visit.page("Conversations", Section::Conversations, Some(project), &body))
}

fn label(name: &str) -> &str {
    LABELS.iter().find(|(known, _)| *known == name).map_or(name, |(_, label)| label)
}

fn form(visit: &Visit<'_>, narrowed: &Narrowed) -> Markup {
    let given = |name| visit.request.query(name).map(|text| text.into_owned()).unwrap_or_default();
    let filter = &narrowed.filter;
    html! {
        form.row method="get" {
            div { label for="which" { "Questions" } select #which name="which" { @for (name, outcome) in OUTCOMES { option value=(name) selected[outcome == filter.outcome] { (label(name)) } } } }
            div { label for="rated" { "Readers say" } select #rated name="rated" { @for (name, rating) in RATINGS { option value=(name) selected[rating == filter.rating] { (label(name)) } } } }
            div { label for="text" { "Contains" } input #text name="text" value=(given("text")); }
            div { label for="from" { "From" } input #from type="date" name="from" value=(given("from")); }
            div { label for="to" { "To" } input #to type="date" name="to" value=(given("to")); }
            @if let Some(MinimumWait { until, ms }) = filter.waited {
                div { label for="waited" { "Readers waited" } select #waited name="waited" { option value="" { "any time" } @for (name, label, stage) in STAGES { option value=(name) selected[stage == until] { (label) } } } }
                div { label for="ms" { "Milliseconds or longer" } input #ms type="number" min="0" name="ms" value=(ms); }
            }
            @for name in ["source", "page", "language"] { @if !given(name).is_empty() { div { label for=(name) { (name) } input id=(name) name=(name) value=(given(name)); } } }
            button.quiet type="submit" { "Show" }
        }
    }
}

fn rows(project: &Project, turns: &[AskedTurn], now: Timestamp) -> Markup {
    let head = html! { th { "Question" } th { "Answer" } th { "Readers say" } th { "Asked" } };
    let rows = html! {
        @for AskedTurn { thread, turn, .. } in turns {
            tr {
                td { a href=(format_args!("/dashboard/{}/conversations/{thread}", project.domain)) { (Foreign(&shortened(&turn.question, 200))) } }
                td {
                    @if turn.answered { span.state.good { "answered" } } @else { span.state.bad { "unanswered" } }
                    @if let Some(Timing { end_ms, .. }) = turn.timing { " in " (grouped(end_ms.into())) " ms" }
                }
                td { @if let Some(feedback) = &turn.feedback { (rating(feedback.rating)) @if let Some(comment) = &feedback.comment { ": " (Foreign(&shortened(comment, 120))) } } }
                td { (moment(turn.asked_at, now)) }
            }
        }
    };
    table("Questions", &head, &rows)
}

async fn file(visit: &Visit<'_>, mut query: ExportQuery) -> Result<Response, HttpError> {
    query.limit = FILE_STEP;
    let mut csv = Csv::new([
        "asked",
        "question",
        "answered",
        "answer",
        "rating",
        "comment",
        "page",
        "language",
        "sources",
        "search ms",
        "first word ms",
        "end ms",
        "thread",
    ]);
    let (mut rows, mut bytes) = (0, 0);
    loop {
        let found = visit.parts().assistant.export(query.clone()).await.map_err(HttpError::internal)?;
        for AskedTurn { thread, turn, .. } in found.turns.iter().take(FILE - rows) {
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
        query.after = found.next.filter(|_| rows < FILE && bytes < FILE_BYTES);
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

pub(crate) async fn conversation(visit: &Visit<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let missing = || {
        let sentence = "This site has no such conversation; it may be older than conversations are kept.";
        HttpError::from(Refusal::not_found(sentence))
    };
    let id = ThreadId::parse(id).ok_or_else(missing)?;
    let thread = visit.parts().assistant.thread(&project.domain, id).await.map_err(HttpError::internal)?;
    let thread = thread.ok_or_else(missing)?;
    let now = visit.parts().clock.now();
    let body = html! {
        p.soft { "Begun " (moment(thread.created_at, now)) "." }
        @for turn in &thread.turns {
            article.event.failed[!turn.answered] {
                header { @if turn.is_imported() { "sent by the client as history" } @else { (moment(turn.asked_at, now)) } @if let Some(page) = &turn.page { ", on " code { (Foreign(page)) } } }
                p.text { strong { (Foreign(&turn.question)) } }
                @match &turn.answer {
                    Some(answer) => p.text { (Foreign(answer)) },
                    None => p.soft { "No answer was completed." },
                }
                @if !turn.sources.is_empty() { ul { @for source in &turn.sources { li { (Foreign(&source.title)) " " code { (Foreign(&source.url)) } } } } }
                @if let Some(feedback) = &turn.feedback { p { "The reader found it " (rating(feedback.rating)) "." @if let Some(comment) = &feedback.comment { " “" (Foreign(comment)) "”" } } }
                @if !turn.answered && visit.is_editor() {
                    @let prompt = format!("Readers ask: “{}”. Document it where it belongs.", shortened(&turn.question, 1_000));
                    p { a href=(format_args!("/dashboard/{}/jobs/new?prompt={}", project.domain, in_url(&prompt))) { "Make a job of it" } }
                }
            }
        }
    };
    Ok(visit.page("Conversation", Section::Conversations, Some(project), &body))
}
