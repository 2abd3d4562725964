//! What readers asked over time, and what the docs do not answer.

use std::cmp::Ordering;
use std::time::Duration;

use docent_assistant::{
    DailyLimit, DayCount, Days, Gap, GapQuestion, Latency, Percentiles, QuestionCounts, Spend, Summary,
    UNKNOWN_LANGUAGE,
};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{Csv, HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::icon::Icon;
use crate::layout::{Section, View};
use crate::pages::conversations::on_page;
use crate::pages::docs::unread;
use crate::pages::jobs::{found_now, reader_job_link};
use crate::parts::{Column, empty, table};
use crate::text::{self, Untrusted, counted, grouped, in_url, precise_duration, relative_time};
use crate::words::{Place, docs_page, first_words};

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

    /// The period of the same length before this one.
    fn before(&self) -> Self {
        Self { days: self.days, from: self.from.minus(DAY * self.days), to: self.from }
    }

    /// The first and the last day, in the format of the list of conversations.
    fn ends(&self) -> (String, String) {
        (date(self.from), date(self.to.minus(DAY)))
    }

    pub(super) fn form(&self) -> Markup {
        html! {
            form.row method="get" {
                div { label for="days" { "The last" } select #days name="days" { @for days in PERIODS { option value=(days) selected[days == self.days] { (days) " days" } } } }
                button.secondary type="submit" { "Show" }
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
    let before = period.before();
    let before_span = Days::touched(Some(before.from), Some(before.to));
    let counts_before =
        request.parts().assistant.counts(&project.domain, before_span).await.map_err(HttpError::internal)?;
    let lists = Lists { project, period: &period };
    let (first, last) = period.ends();
    let list = lists.of(&first, &last);
    let docs = request.read_docs(project);
    let place = Place::of(project, docs.as_deref());
    let body = html! {
        (period.form())
        p.soft { "How well do the docs answer readers?" }
        ul.tiles {
            @for ((name, count, which), (_, before, _)) in kinds(summary.counts).into_iter().zip(kinds(counts_before)) {
                li { b class=[class_of(name).filter(|_| count > 0)] { (grouped(count)) } a href=(format_args!("{list}{which}")) { (name) } (change(count, before, period.days)) }
            }
            @if let Some(percent) = share(summary.counts.answered, summary.counts.questions) {
                li { b { (percent) " %" } span { "of the questions got an answer" } (meter(percent, 100, "")) @if let Some(before) = share(counts_before.answered, counts_before.questions) { (change_of_share(percent, before, period.days)) } }
            }
        }
        @if let Some((spent, limit)) = spent { (spent_today(spent, limit, &request.parts().prices.currency)) }
        @if summary.counts.questions == 0 {
            (empty(Icon::Analytics, "Nobody asked anything in these days", "With readers' questions, this page says how many got an answer, from which pages, and how long readers waited.", Some((&format!("/dashboard/{}/widget", project.domain), "Put the chat on your site"))))
        } @else {
            h2 { "Questions a day" }
            (chart(&summary.by_day, &lists))
            (days(&summary.by_day, &lists))
            p { (lists.csv("days")) " · " a href=(format_args!("/dashboard/{}/gaps?days={}", project.domain, period.days)) { "What is missing" } }
            @if summary.counts.questions > summary.newest.questions { p.soft { "What follows is about the newest " (counted(summary.newest.questions, "question")) "." } }
            (latency(summary.newest.latency, &list, &lists))
            (sources(&summary, &list, &lists))
            (unanswered_pages(&summary, &list, &lists, place))
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

const fn class_of(name: &str) -> Option<&'static str> {
    match name.as_bytes() {
        b"unanswered" | b"not helpful" => Some("down"),
        b"answered" | b"helpful" => Some("up"),
        _ => None,
    }
}

/// A share in whole per cent; `None` of nothing.
fn share(part: u64, whole: u64) -> Option<u64> {
    (whole > 0).then(|| (part * 100 + whole / 2) / whole)
}

/// A count beside that of the period before: an arrow, how many more or fewer, and what it was.
fn change(now: u64, before: u64, days: u32) -> Markup {
    let by = grouped(now.abs_diff(before));
    html! {
        @match now.cmp(&before) {
            Ordering::Equal if now == 0 => {},
            Ordering::Equal => small.change { "as many as before" },
            Ordering::Greater => small.change title=(period_before(days)) { "▲ " span.unseen { "more by " } (by) " from " (grouped(before)) },
            Ordering::Less => small.change title=(period_before(days)) { "▼ " span.unseen { "fewer by " } (by) " from " (grouped(before)) },
        }
    }
}

/// A share in per cent beside that of the period before.
fn change_of_share(now: u64, before: u64, days: u32) -> Markup {
    html! {
        @match now.cmp(&before) {
            Ordering::Equal => small.change { "as before" },
            Ordering::Greater => small.change title=(period_before(days)) { "▲ " span.unseen { "up " } "from " (before) " %" },
            Ordering::Less => small.change title=(period_before(days)) { "▼ " span.unseen { "down " } "from " (before) " %" },
        }
    }
}

fn period_before(days: u32) -> String {
    format!("compared with the {days} days before")
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
    let (all, unanswered) = by_day
        .iter()
        .fold((0, 0), |(all, unanswered), of| (all + of.counts.questions, unanswered + of.counts.unanswered()));
    html! {
        p.legend { span { (counted(all, "question")) } span.un { (grouped(unanswered)) " of them unanswered" } }
        div.axis aria-hidden="true" { span { "at most " (grouped(max_questions)) " a day" } }
        svg.chart aria-hidden="true" viewBox="0 0 800 122" preserveAspectRatio="none" {
            line x1="0" x2="800" y1="121" y2="121" {}
            @for of_day in by_day {
                @let (all, unanswered) = (of_day.counts.questions, of_day.counts.unanswered());
                @let x = (of_day.day.millis() - lists.period.from.millis()).div_euclid(day) as f64 * step;
                a href=(lists.of_day(of_day.day)) tabindex="-1" {
                    title { (text::day(of_day.day)) ": " (counted(all, "question")) ", " (grouped(unanswered)) " unanswered" }
                    (bar(x, "bar-all", all)) (bar(x, "bar-un", unanswered))
                }
            }
        }
        div.axis aria-hidden="true" { span { (first) } span { (last) } }
    }
}

/// The questions of each of the `days` days from `from` on in a small picture, the unanswered ones below.
pub(super) fn sparkline(by_day: &[DayCount], from: Timestamp, days: u32) -> Markup {
    let day = DAY.as_millis() as i64;
    let most = by_day.iter().map(|day| day.counts.questions).max().unwrap_or(0).max(1);
    let bar = |of_day: &DayCount, class: &str, count: u64| {
        let x = (of_day.day.millis() - from.millis()).div_euclid(day) * 10;
        let height = format!("{:.0}", 100.0 * count as f64 / most as f64);
        html! { @if count > 0 { rect.(class) x=(x) y=(format_args!("-{height}")) width="8" height=(height) {} } }
    };
    html! {
        svg.chart.spark aria-hidden="true" viewBox=(format_args!("0 -100 {} 102", days * 10)) preserveAspectRatio="none" {
            line x1="0" x2=(days * 10) y1="1" y2="1" {}
            @for of_day in by_day {
                (bar(of_day, "bar-all", of_day.counts.questions)) (bar(of_day, "bar-un", of_day.counts.unanswered()))
            }
        }
    }
}

/// A small bar beside a number, as long as its share of the greatest.
pub(super) fn meter(part: u64, whole: u64, class: &str) -> Markup {
    let width = format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64);
    html! {
        svg.meter aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" {
            rect.of width="100" height="4" {}
            rect class=(format_args!("part {class}")) width=(width) height="4" {}
        }
    }
}

/// The table of the same numbers, newest first.
fn days(by_day: &[DayCount], lists: &Lists<'_>) -> Markup {
    let names = kinds(QuestionCounts::default()).map(|(name, ..)| name);
    let columns: Vec<Column<'_>> =
        std::iter::once(Column::Title("Day")).chain(names.into_iter().map(Column::Number)).collect();
    let rows = by_day.iter().rev().map(|DayCount { day, counts }| {
        let numbers = kinds(*counts);
        let numbers = numbers.iter().map(|(_, count, which)| number(*count, &format!("{}{which}", lists.of_day(*day))));
        std::iter::once(html! { (text::day(*day)) }).chain(numbers).collect()
    });
    html! {
        details {
            summary { "By day" }
            (table("Questions a day", &columns, rows))
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
    let Some(latency) = latency else { return html! {} };
    let time = |stage: &str, ms: u32| html! { a href=(format_args!("{list}&waited={stage}&ms={ms}")) { (precise_duration(Duration::from_millis(ms.into()))) } };
    let rows = waits(latency).map(|(name, stage, of)| vec![html! { (name) }, time(stage, of.p50), time(stage, of.p95)]);
    let columns = [Column::Title("Until"), Column::Number("Half within"), Column::Number("95 % within")];
    html! {
        h2 { "How long readers waited" }
        p.soft { "Of " a href=(format_args!("{list}&waited=end&ms=0")) { (counted(latency.answers, "complete answer")) } ". A time leads to the questions for which readers waited that long or longer." }
        (table("How long readers waited", &columns, rows))
        p { (lists.csv("waits")) }
    }
}

fn sources(summary: &Summary, list: &str, lists: &Lists<'_>) -> Markup {
    let most = summary.newest.sources.iter().map(|source| source.answers).max().unwrap_or(0);
    let rows = summary.newest.sources.iter().map(|source| {
        let list = with_filter(list, "source", &source.url);
        vec![
            html! { a.title href=(docs_page(&lists.project.domain, &source.url)) { (Untrusted(&source.title)) } span.sub { code { (Untrusted(&source.url)) } } (meter(source.answers, most, "")) },
            number(source.answers, &format!("{list}&which=answered")),
            number(source.down, &format!("{list}&which=answered&rated=down")),
        ]
    });
    let columns = [Column::Title("Page"), Column::Number("Answers"), Column::Number("Not helpful")];
    html! {
        @if !summary.newest.sources.is_empty() {
            h2 { "Pages that answer" }
            (table("Pages that answer", &columns, rows))
            p { (lists.csv("sources")) }
        }
    }
}

fn unanswered_pages(summary: &Summary, list: &str, lists: &Lists<'_>, place: Place<'_>) -> Markup {
    let most = summary.newest.unanswered_pages.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let rows = summary.newest.unanswered_pages.iter().map(|(page, count)| {
        vec![
            html! { (on_page(page, place)) (meter(*count, most, "un")) },
            number(*count, &format!("{}&which=unanswered", with_filter(list, "page", page))),
        ]
    });
    html! {
        @if !summary.newest.unanswered_pages.is_empty() {
            h2 { "Pages readers were on when nothing was found" }
            (table("Pages readers were on", &[Column::Title("Page"), Column::Number("Questions")], rows))
            p { (lists.csv("pages")) }
        }
    }
}

fn languages(summary: &Summary, list: &str, lists: &Lists<'_>) -> Markup {
    let rows = summary.newest.languages.iter().map(|(language, count)| {
        let list = with_filter(list, "language", language.as_deref().unwrap_or(UNKNOWN_LANGUAGE));
        vec![
            html! { @match language { Some(language) => { (Untrusted(language)) }, None => "unknown" } },
            number(*count, &list),
        ]
    });
    html! {
        @if summary.newest.languages.len() > 1 {
            h2 { "Languages" }
            (table("Languages", &[Column::Title("Language"), Column::Number("Questions")], rows))
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
    let Some(docs) = request.read_docs(project) else {
        return Ok(request.page("Gaps", Section::Gaps, Some(project), &unread(request, project)));
    };
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
    let most = gaps.iter().map(|gap| gap.questions.len() as u64).max().unwrap_or(0);
    let asked: u64 = gaps.iter().map(|gap| gap.questions.len() as u64).sum();
    let widget = format!("/dashboard/{}/conversations", project.domain);
    let body = html! {
        p.soft { "What do readers ask that the docs do not say? Questions without an answer, and answers that readers found not helpful, grouped by what they have in common." }
        (period.form())
        @if gaps.is_empty() {
            (empty(Icon::Gap, "No gap in these days", "No question of these days is without an answer, and no answer was found unhelpful.", Some((&widget, "See the conversations"))))
        } @else {
            p { strong { (counted(asked, "question")) } " in " (counted(gaps.len() as u64, "gap")) @if gaps.len() == MAX_GAPS { ", the largest" } "." }
        }
        @for gap in &gaps {
            @let list = gap_list(gap, &period);
            section.card {
                @let typical = gap.typical();
                h2 { @if let Some(question) = typical { a href=(conversation(project, question)) { bdi { (gap_title(gap)) } } } }
                p { a href=(list) { (counted(gap.questions.len() as u64, "question")) } @if gap.down() > 0 { ", " a href=(format_args!("{list}&rated=down")) { (grouped(gap.down() as u64)) " with an answer that readers found not helpful" } } }
                @if most > 1 { (meter(gap.questions.len() as u64, most, "un")) }
                @if !gap.unknown_words.is_empty() { p { "The docs never mention " @for (at, word) in gap.unknown_words.iter().enumerate() { @if at > 0 { ", " } strong { (Untrusted(word)) } } "." } }
                @let others: Vec<&GapQuestion> = gap.examples().into_iter().filter(|example| typical.is_none_or(|typical| example.question != typical.question)).collect();
                @if !others.is_empty() { (gap_questions(project, &others, now)) }
                (gap_job(request, project, gap, "secondary"))
            }
        }
        @if !gaps.is_empty() { p { a href=(format_args!("?days={}&format=csv", period.days)) { "As CSV" } } }
    };
    Ok(request.page("Gaps", Section::Gaps, Some(project), &body))
}

/// The question that stands best for a gap.
fn gap_title(gap: &Gap) -> String {
    gap.typical().map(|question| first_words(&question.question, 100)).unwrap_or_default()
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
            None => (empty(Icon::Gap, "This gap is gone", "No group of these days has this question: it may be answered by now, or be older.", Some((&format!("?days={}", period.days), "See all gaps")))),
            Some(gap) => {
                @let questions: Vec<&GapQuestion> = gap.questions.iter().filter(|question| question.is_down || !only_down).collect();
                h2 { (counted(questions.len() as u64, "question")) @if only_down { " with an answer that readers found not helpful" } }
                (gap_questions(project, &questions, request.parts().clock.now()))
                (gap_job(request, project, gap, ""))
            }
        }
    };
    let above = format!("/dashboard/{}/gaps?days={}", project.domain, period.days);
    let title = gap.map(gap_title).filter(|title| !title.is_empty()).unwrap_or_else(|| "A gap".to_owned());
    request.show(View::new(&title, Section::Gaps, Some(project)).below(above, "Gaps"), &body)
}

fn conversation(project: &Project, question: &GapQuestion) -> String {
    format!("/dashboard/{}/conversations/{}", project.domain, question.thread)
}

fn gap_questions(project: &Project, questions: &[&GapQuestion], now: Timestamp) -> Markup {
    html! {
        ul {
            @for question in questions {
                li { a href=(conversation(project, question)) { bdi { (first_words(&question.question, 200)) } } " " (relative_time(question.asked_at, now)) }
            }
        }
    }
}

/// What can be done about a gap: a job; without a language model, a page that the builtin model adds for a person to fill in.
fn gap_job(request: &AuthorizedRequest<'_>, project: &Project, gap: &Gap, class: &str) -> Markup {
    let question = gap.examples().first().map(|example| example.question.clone()).unwrap_or_default();
    html! {
        div.actions {
            @if request.is_editor() && request.parts().has_language_model {
                a class=(format_args!("button {class}")) href=(reader_job_link(project, &gap.suggestion)) { "Make a job of it" }
            } @else if request.is_editor() {
                a class=(format_args!("button {class}")) href=(reader_job_link(project, &page_instruction(gap))) { "Add a page for it" }
            }
            (found_now(project, &question))
        }
        @if request.is_editor() && !request.parts().has_language_model {
            p.soft.small { "Without a language model, the page is added with its title and its place in the navigation; what it says is for you to write." }
        }
    }
}

/// An instruction that the builtin model understands: a page with the words of a gap as its title.
fn page_instruction(gap: &Gap) -> String {
    let words: Vec<String> = gap
        .unknown_words
        .iter()
        .chain(&gap.words)
        .map(|word| word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | ' ')).collect::<String>())
        .filter(|word| !word.trim().is_empty())
        .take(3)
        .collect();
    let title = if words.is_empty() { "New page".to_owned() } else { words.join(" ") };
    let slug: String = title.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "new-page" } else { slug };
    format!("Add a page {slug} titled \"{title}\"")
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
