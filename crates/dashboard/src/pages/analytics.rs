//! What readers asked over time, and what the docs do not answer.

use std::time::Duration;

use docent_assistant::{
    DailyLimit, DayCount, Days, Gap, GapQuestion, Latency, Percentiles, QuestionCounts, Spend, Summary,
    UNKNOWN_LANGUAGE,
};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{Csv, HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::layout::{Section, table};
use crate::pages::jobs::reader_job_link;
use crate::text::{Untrusted, counted, grouped, in_url, relative_time, shortened};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The periods to choose from, in days.
const PERIODS: [u32; 4] = [7, 30, 90, 365];
const DEFAULT_PERIOD_DAYS: u32 = 30;
/// Gaps on a page.
const MAX_GAPS: usize = 50;

/// The period that a page is about.
pub(super) struct Period {
    pub(super) days: u32,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Period {
    pub(super) fn of(request: &AuthorizedRequest<'_>) -> Result<Self, HttpError> {
        let days = request.http.query_number("days", 1..=3_650, DEFAULT_PERIOD_DAYS)?;
        let (from, to) = last_days(days, request.parts().clock.now());
        Ok(Self { days, from, to })
    }

    /// The first and the last day, in the format of the list of conversations.
    fn ends(&self) -> (String, String) {
        (date(self.from), date(self.to.minus(DAY)))
    }

    pub(super) fn form(&self) -> Markup {
        html! {
            form.row method="get" {
                div { label for="days" { "The last" } select #days name="days" { @for days in PERIODS { option value=(days) selected[days == self.days] { (days) " days" } } } }
                button.quiet type="submit" { "Show" }
            }
        }
    }
}

/// The beginning and the exclusive end of the last `days` days in UTC, including today.
pub(super) fn last_days(days: u32, now: Timestamp) -> (Timestamp, Timestamp) {
    let day = DAY.as_millis() as i64;
    let to = Timestamp::from_millis((now.millis().div_euclid(day) + 1) * day);
    (to.minus(DAY * days), to)
}

/// A day in the format of forms and lists, such as `2026-01-31`.
pub(super) fn date(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

pub(crate) async fn analytics(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let period = Period::of(request)?;
    let span = Days::touched(Some(period.from), Some(period.to));
    let summary = request.parts().assistant.summary(&project.domain, span).await.map_err(HttpError::internal)?;
    if request.wants_csv() {
        return file(&summary, request.http.query("of").as_deref());
    }
    let spent = request.parts().assistant.spent_today(&project.domain).await.map_err(HttpError::internal)?;
    let lists = Lists { project, period: &period };
    let (first, last) = period.ends();
    let list = lists.of(&first, &last);
    let body = html! {
        (period.form())
        ul.tiles {
            @for (name, count, which) in kinds(summary.counts) { li { b { (grouped(count)) } a href=(format_args!("{list}{which}")) { (name) } } }
        }
        @if let Some((spent, limit)) = spent { (spent_today(spent, limit, &request.parts().prices.currency)) }
        @if summary.counts.questions == 0 { p.soft { "Nobody asked anything in these days." } }
        @else {
            h2 { "Questions a day" }
            (chart(&summary.by_day, &lists))
            (days(&summary.by_day, &lists))
            p { (lists.csv("days")) " · " a href=(format_args!("/dashboard/{}/gaps?days={}", project.domain, period.days)) { "What is missing" } }
            @if summary.counts.questions > summary.newest.questions { p.soft { "What follows is about the newest " (counted(summary.newest.questions, "question")) "." } }
            (latency(summary.newest.latency, &list, &lists))
            (sources(&summary, &list, &lists))
            (unanswered_pages(&summary, &list, &lists))
            (languages(&summary, &list, &lists))
        }
    };
    Ok(request.page("Analytics", Section::Analytics, Some(project), &body))
}

/// What the assistant has spent today, beside its limit.
fn spent_today(spent: Spend, limit: DailyLimit, currency: &str) -> Markup {
    let of = |limit: Option<String>| limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let money = |micros: u64| format!("{:.2}", micros as f64 / 1e6);
    let tokens = grouped(u64::try_from(spent.tokens).unwrap_or(0));
    let cost = u64::try_from(spent.cost_micros).unwrap_or(0);
    html! {
        p {
            "The assistant has used " (tokens) (of(limit.tokens.map(grouped))) " tokens today (UTC)"
            @if cost > 0 || limit.cost_micros.is_some() { ", " (currency) " " (money(cost)) (of(limit.cost_micros.map(money))) }
            "."
            @if limit.is_reached(spent) { " The limit is reached: until midnight it quotes the docs." }
        }
    }
}

/// The targets of the links of a page: lists of questions, and tables as files.
struct Lists<'a> {
    project: &'a Project,
    period: &'a Period,
}

impl Lists<'_> {
    /// The questions from one day to another, both included.
    fn of(&self, first: &str, last: &str) -> String {
        format!("/dashboard/{}/conversations?from={first}&to={last}", self.project.domain)
    }

    fn of_day(&self, day: Timestamp) -> String {
        let day = date(day);
        self.of(&day, &day)
    }

    fn csv(&self, table: &str) -> Markup {
        html! { a href=(format_args!("?days={}&format=csv&of={table}", self.period.days)) { "As CSV" } }
    }
}

/// The counts of questions: name, count, and the query parameter that filters a list to them.
fn kinds(counts: QuestionCounts) -> [(&'static str, u64, &'static str); 5] {
    [
        ("questions", counts.questions, ""),
        ("answered", counts.answered, "&which=answered"),
        ("unanswered", counts.unanswered(), "&which=unanswered"),
        ("helpful", counts.up, "&rated=up"),
        ("not helpful", counts.down, "&rated=down"),
    ]
}

/// A bar chart of questions per day, with the unanswered ones at the bottom. A bar links to its questions; for screen
/// readers and keyboard users, the table of days has the same links.
fn chart(by_day: &[DayCount], lists: &Lists<'_>) -> Markup {
    const WIDTH: f64 = 800.0;
    const HEIGHT: f64 = 120.0;
    let (first, last) = lists.period.ends();
    let day = DAY.as_millis() as i64;
    let max_questions = by_day.iter().map(|day| day.counts.questions).max().unwrap_or(0).max(1);
    let step = WIDTH / f64::from(lists.period.days);
    let height = |count: u64| HEIGHT * count as f64 / max_questions as f64;
    let bar = |x: f64, class: &str, count: u64| {
        let (x, y) = (format!("{x:.1}"), format!("{:.1}", HEIGHT - height(count)));
        let (width, height) = (format!("{:.1}", (step * 0.85).max(0.5)), format!("{:.1}", height(count)));
        html! { rect class=(class) x=(x) y=(y) width=(width) height=(height) {} }
    };
    html! {
        svg.chart aria-hidden="true" viewBox="0 0 800 140" preserveAspectRatio="none" {
            line x1="0" x2="800" y1="120" y2="120" {}
            @for of_day in by_day {
                @let (all, unanswered) = (of_day.counts.questions, of_day.counts.unanswered());
                @let x = (of_day.day.millis() - lists.period.from.millis()).div_euclid(day) as f64 * step;
                a href=(lists.of_day(of_day.day)) tabindex="-1" {
                    title { (date(of_day.day)) ": " (counted(all, "question")) ", " (grouped(unanswered)) " unanswered" }
                    (bar(x, "bar", all)) (bar(x, "bar un", unanswered))
                }
            }
            text x="0" y="134" { (first) }
            text x="800" y="134" text-anchor="end" { (last) }
            text x="0" y="10" { (grouped(max_questions)) }
        }
        p.legend { span { "questions" } span.un { "unanswered" } }
    }
}

/// The table of the same numbers, newest first.
fn days(by_day: &[DayCount], lists: &Lists<'_>) -> Markup {
    let names = kinds(QuestionCounts::default()).map(|(name, ..)| name);
    let rows = html! {
        @for DayCount { day, counts } in by_day.iter().rev() {
            tr { td { (date(*day)) } @for (_, count, which) in kinds(*counts) { td.num { (number(count, &format!("{}{which}", lists.of_day(*day)))) } } }
        }
    };
    html! {
        details {
            summary { "By day" }
            (table("Questions a day", &html! { th { "Day" } @for name in names { th.num { (name) } } }, &rows))
        }
    }
}

/// A count that links to the list of what was counted.
pub(super) fn number(count: u64, list: &str) -> Markup {
    html! { @if count == 0 { "0" } @else { a href=(list) { (grouped(count)) } } }
}

/// Rows of the table of waiting times: text, the stage's name in the list of conversations, and the percentiles.
fn waits(latency: Latency) -> [(&'static str, &'static str, Percentiles); 3] {
    [
        ("passages were found", "search", latency.search),
        ("the first word", "first-word", latency.first_word),
        ("the end", "end", latency.end),
    ]
}

fn latency(latency: Option<Latency>, list: &str, lists: &Lists<'_>) -> Markup {
    html! {
        @if let Some(latency) = latency {
            h2 { "How long readers waited" }
            p.soft { "Of " a href=(format_args!("{list}&waited=end&ms=0")) { (counted(latency.answers, "complete answer")) } ". A time leads to the questions for which readers waited that long or longer." }
            (table("How long readers waited", &html! { th { "Until" } th.num { "Half of them at most" } th.num { "95 of 100 at most" } }, &html! {
                @for (name, stage, of) in waits(latency) {
                    tr { td { (name) } @for ms in [of.p50, of.p95] { td.num { a href=(format_args!("{list}&waited={stage}&ms={ms}")) { (grouped(ms.into())) " ms" } } } }
                }
            }))
            p { (lists.csv("waits")) }
        }
    }
}

fn sources(summary: &Summary, list: &str, lists: &Lists<'_>) -> Markup {
    let rows = html! {
        @for source in &summary.newest.sources {
            @let list = with_filter(list, "source", &source.url);
            tr {
                td { (Untrusted(&source.title)) br; code { (Untrusted(&source.url)) } }
                td.num { (number(source.answers, &format!("{list}&which=answered"))) }
                td.num { (number(source.down, &format!("{list}&which=answered&rated=down"))) }
            }
        }
    };
    html! {
        @if !summary.newest.sources.is_empty() {
            h2 { "Pages that answer" }
            (table("Pages that answer", &html! { th { "Page" } th.num { "Answers" } th.num { "Not helpful" } }, &rows))
            p { (lists.csv("sources")) }
        }
    }
}

fn unanswered_pages(summary: &Summary, list: &str, lists: &Lists<'_>) -> Markup {
    let rows = html! {
        @for (page, count) in &summary.newest.unanswered_pages {
            tr { td { code { (Untrusted(page)) } } td.num { (number(*count, &format!("{}&which=unanswered", with_filter(list, "page", page)))) } }
        }
    };
    html! {
        @if !summary.newest.unanswered_pages.is_empty() {
            h2 { "Pages readers were on when nothing was found" }
            (table("Pages readers were on when nothing was found", &html! { th { "Page" } th.num { "Questions" } }, &rows))
            p { (lists.csv("pages")) }
        }
    }
}

fn languages(summary: &Summary, list: &str, lists: &Lists<'_>) -> Markup {
    let rows = html! {
        @for (language, count) in &summary.newest.languages {
            @let list = with_filter(list, "language", language.as_deref().unwrap_or(UNKNOWN_LANGUAGE));
            tr { td { @match language { Some(language) => { (Untrusted(language)) }, None => "unknown" } } td.num { (number(*count, &list)) } }
        }
    };
    html! {
        @if summary.newest.languages.len() > 1 {
            h2 { "Languages" }
            (table("Languages", &html! { th { "Language" } th.num { "Questions" } }, &rows))
            p { (lists.csv("languages")) }
        }
    }
}

fn with_filter(list: &str, name: &str, value: &str) -> String {
    format!("{list}&{name}={}", in_url(value))
}

fn file(summary: &Summary, of: Option<&str>) -> Result<Response, HttpError> {
    let counted = |name: &'static str, rows: &mut dyn Iterator<Item = (&str, u64)>| {
        let mut csv = Csv::new([name, "questions"]);
        rows.for_each(|(value, count)| csv.row([value, &count.to_string()]));
        csv
    };
    let newest = &summary.newest;
    let csv = match of {
        Some("days") => day_file(&summary.by_day),
        Some("waits") => {
            let mut csv = Csv::new(["until", "half at most, ms", "95 of 100 at most, ms"]);
            for (name, _, of) in newest.latency.into_iter().flat_map(waits) {
                csv.row([name, &of.p50.to_string(), &of.p95.to_string()]);
            }
            csv
        }
        Some("sources") => {
            let mut csv = Csv::new(["title", "url", "answers", "not helpful"]);
            for source in &newest.sources {
                csv.row([source.title.as_str(), &source.url, &source.answers.to_string(), &source.down.to_string()]);
            }
            csv
        }
        Some("pages") => {
            counted("page", &mut newest.unanswered_pages.iter().map(|(page, count)| (page.as_str(), *count)))
        }
        Some("languages") => {
            let languages = newest.languages.iter();
            counted("language", &mut languages.map(|(name, n)| (name.as_deref().unwrap_or(UNKNOWN_LANGUAGE), *n)))
        }
        _ => return Err(Refusal::invalid("of: it must be `days`, `waits`, `sources`, `pages` or `languages`").into()),
    };
    csv.response(of.unwrap_or_default())
}

fn day_file(by_day: &[DayCount]) -> Csv {
    let names = kinds(QuestionCounts::default()).map(|(name, ..)| name);
    let mut csv = Csv::new(std::iter::once("day").chain(names));
    for DayCount { day, counts } in by_day {
        let numbers = kinds(*counts).map(|(_, count, _)| count.to_string());
        let day = date(*day);
        csv.row(std::iter::once(day.as_str()).chain(numbers.iter().map(String::as_str)));
    }
    csv
}

/// Questions that the docs do not answer, grouped by likeness.
pub(crate) async fn gaps(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let period = Period::of(request)?;
    let docs = request.docs(project)?;
    let found =
        request.parts().assistant.gaps(&project.domain, docs, Some(period.from), Some(period.to), MAX_GAPS).await;
    let gaps = found.map_err(HttpError::internal)?;
    if request.wants_csv() {
        return gaps_file(&gaps).response("gaps");
    }
    if let Some(id) = request.http.query("group").filter(|id| !id.is_empty()) {
        return Ok(gap_page(request, project, &period, &gaps, &id));
    }
    let now = request.parts().clock.now();
    let body = html! {
        p { "Questions without an answer, and answers that readers found not helpful, grouped by what they have in common." }
        (period.form())
        @if gaps.is_empty() { p.soft { "None in these days." } }
        @for gap in &gaps {
            @let list = gap_list(gap, &period);
            section.box {
                h2 { a href=(list) { (counted(gap.questions.len() as u64, "question")) } @if !gap.words.is_empty() { ": " (Untrusted(&gap.words.join(", "))) } }
                @if gap.down() > 0 { p { a href=(format_args!("{list}&rated=down")) { (grouped(gap.down() as u64)) " of them" } " were answered, and readers found it not helpful." } }
                @if !gap.unknown_words.is_empty() { p { "The docs never mention: " (Untrusted(&gap.unknown_words.join(", "))) "." } }
                (gap_questions(project, &gap.examples(), now))
                (gap_job(request, project, gap))
            }
        }
        @if !gaps.is_empty() { p { a href=(format_args!("?days={}&format=csv", period.days)) { "As CSV" } } }
    };
    Ok(request.page("Gaps", Section::Gaps, Some(project), &body))
}

/// The query for all questions of a group. A group is identified by any of its questions, since new ones may join it.
fn gap_list(gap: &Gap, period: &Period) -> String {
    let id = gap.questions.first().map(|question| question.answer_id.as_str()).unwrap_or_default();
    format!("?days={}&group={}", period.days, in_url(id))
}

/// All questions of the group that contains the question `id`.
fn gap_page(request: &AuthorizedRequest<'_>, project: &Project, period: &Period, gaps: &[Gap], id: &str) -> Response {
    let gap = gaps.iter().find(|gap| gap.questions.iter().any(|question| question.answer_id == id));
    let only_down = request.http.query("rated").is_some_and(|rated| rated == "down");
    let body = html! {
        @match gap {
            None => p.soft { "No group of these days has this question: it may be answered by now, or be older." },
            Some(gap) => {
                @let questions: Vec<&GapQuestion> = gap.questions.iter().filter(|question| question.is_down || !only_down).collect();
                h2 { (counted(questions.len() as u64, "question")) @if only_down { " with an answer that readers found not helpful" } @if !gap.words.is_empty() { ": " (Untrusted(&gap.words.join(", "))) } }
                (gap_questions(project, &questions, request.parts().clock.now()))
                (gap_job(request, project, gap))
            }
        }
        nav.pages aria-label="Pages" { a href=(format_args!("?days={}", period.days)) { "All gaps" } }
    };
    request.page("Gaps", Section::Gaps, Some(project), &body)
}

fn gap_questions(project: &Project, questions: &[&GapQuestion], now: Timestamp) -> Markup {
    html! {
        ul {
            @for question in questions {
                li { a href=(format_args!("/dashboard/{}/conversations/{}", project.domain, question.thread)) { (Untrusted(&shortened(&question.question, 200))) } " " (relative_time(question.asked_at, now)) }
            }
        }
    }
}

fn gap_job(request: &AuthorizedRequest<'_>, project: &Project, gap: &Gap) -> Markup {
    html! {
        @if request.is_editor() { p { a.button.quiet href=(reader_job_link(project, &gap.suggestion)) { "Make a job of it" } } }
    }
}

fn gaps_file(gaps: &[Gap]) -> Csv {
    let mut csv = Csv::new(["questions", "not helpful", "words", "never mentioned", "examples", "suggestion"]);
    for gap in gaps {
        let examples: Vec<&str> = gap.examples().into_iter().map(|example| example.question.as_str()).collect();
        csv.row([
            gap.questions.len().to_string().as_str(),
            &gap.down().to_string(),
            &gap.words.join(" "),
            &gap.unknown_words.join(" "),
            &examples.join("\n"),
            &gap.suggestion,
        ]);
    }
    csv
}
