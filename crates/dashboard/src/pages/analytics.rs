//! What readers asked over time, and what the docs do not answer.

use std::time::Duration;

use docent_assistant::{DayCount, Days, Gap, Latency, Percentiles, Summary};
use docent_types::{Project, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, PreEscaped, html};

use crate::csv::{self, Csv};
use crate::dashboard::Visit;
use crate::layout::{Section, table};
use crate::text::{Foreign, counted, grouped, in_url, moment, shortened};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// How many days a page is about.
const PERIODS: [u32; 4] = [7, 30, 90, 365];
const USUAL: u32 = 30;
/// Gaps on a page.
const GAPS: usize = 50;

/// The days that a page is about.
struct Period {
    days: u32,
    from: Timestamp,
    to: Timestamp,
}

impl Period {
    fn of(visit: &Visit<'_>) -> Result<Self, HttpError> {
        let days = visit.request.query_number("days", 1..=3_650, USUAL)?;
        // Whole days, today included.
        let now = visit.parts().clock.now().millis();
        let day = DAY.as_millis() as i64;
        let to = Timestamp::from_millis((now.div_euclid(day) + 1) * day);
        Ok(Self { days, from: to.minus(DAY * days), to })
    }

    /// The same span as the list of conversations takes it.
    fn query(&self) -> String {
        format!("from={}&to={}", date(self.from), date(self.to.minus(DAY)))
    }

    fn form(&self) -> Markup {
        html! {
            form.row method="get" {
                div { label for="days" { "The last" } select #days name="days" { @for days in PERIODS { option value=(days) selected[days == self.days] { (days) " days" } } } }
                button.quiet type="submit" { "Show" }
            }
        }
    }
}

/// A day as forms and lists write it.
fn date(moment: Timestamp) -> String {
    moment.to_string().chars().take(10).collect()
}

pub(crate) async fn analytics(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let period = Period::of(visit)?;
    let days = Days::touched(Some(period.from), Some(period.to));
    let summary = visit.parts().assistant.summary(&project.domain, days).await.map_err(HttpError::internal)?;
    if csv::is_wanted(visit.request) {
        return Ok(file(&summary, visit.request.query("of").as_deref()));
    }
    let list = format!("/dashboard/{}/conversations?{}", project.domain, period.query());
    let counts = summary.counts;
    let body = html! {
        (period.form())
        ul.tiles {
            li { b { (grouped(counts.questions)) } a href=(list) { "questions" } }
            li { b { (grouped(counts.answered)) } a href=(format_args!("{list}&which=answered")) { "answered" } }
            li { b { (grouped(counts.unanswered())) } a href=(format_args!("{list}&which=unanswered")) { "unanswered" } }
            li { b { (grouped(counts.up)) } a href=(format_args!("{list}&rated=up")) { "helpful" } }
            li { b { (grouped(counts.down)) } a href=(format_args!("{list}&rated=down")) { "not helpful" } }
        }
        @if counts.questions == 0 { p.soft { "Nobody asked anything in these days." } }
        @else {
            h2 { "Questions a day" }
            (chart(&summary.by_day, &period))
            p { a href=(format_args!("?days={}&format=csv&of=days", period.days)) { "Days as CSV" } " · " a href=(format_args!("/dashboard/{}/gaps?days={}", project.domain, period.days)) { "What is missing" } }
            @if counts.questions > summary.newest.questions { p.soft { "What follows is about the newest " (counted(summary.newest.questions, "question")) "." } }
            (latency(summary.newest.latency))
            (sources(&summary, &list, &period))
            (unanswered_pages(&summary, &list))
            (languages(&summary, &list))
        }
    };
    Ok(visit.page("Analytics", Section::Analytics, Some(project), &body))
}

/// Bars of questions a day, the unanswered ones at their feet. The table of the same numbers is the CSV file.
fn chart(by_day: &[DayCount], period: &Period) -> Markup {
    const WIDTH: f64 = 800.0;
    const HEIGHT: f64 = 120.0;
    let day = DAY.as_millis() as i64;
    let most = by_day.iter().map(|day| day.counts.questions).max().unwrap_or(0).max(1);
    let step = WIDTH / f64::from(period.days);
    let mut bars = String::new();
    for of_day in by_day {
        let at = (of_day.day.millis() - period.from.millis()).div_euclid(day) as f64 * step;
        let height = |count: u64| HEIGHT * count as f64 / most as f64;
        let (all, un) = (of_day.counts.questions, of_day.counts.unanswered());
        let title = format!("{}: {}, {} unanswered", date(of_day.day), counted(all, "question"), grouped(un));
        bars.push_str(&format!(
            "<g><title>{title}</title><rect class=\"bar\" x=\"{at:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/><rect \
             class=\"bar un\" x=\"{at:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></g>",
            HEIGHT - height(all), (step * 0.85).max(0.5), height(all), HEIGHT - height(un), (step * 0.85).max(0.5), height(un)
        ));
    }
    let label = format!("Questions a day in {} days, at most {} a day", period.days, grouped(most));
    html! {
        svg.chart role="img" aria-label=(label) viewBox="0 0 800 140" preserveAspectRatio="none" {
            line x1="0" x2="800" y1="120" y2="120" {}
            (PreEscaped(bars))
            text x="0" y="134" { (date(period.from)) }
            text x="800" y="134" text-anchor="end" { (date(period.to.minus(DAY))) }
            text x="0" y="10" { (grouped(most)) }
        }
        p.legend { span { "questions" } span.un { "unanswered" } }
    }
}

fn latency(latency: Option<Latency>) -> Markup {
    let row = |name: &str, of: Percentiles| html! { tr { td { (name) } td.num { (grouped(of.p50.into())) " ms" } td.num { (grouped(of.p95.into())) " ms" } } };
    html! {
        @if let Some(latency) = latency {
            h2 { "How long readers waited" }
            (table("How long readers waited", &html! { th { "Until" } th.num { "Half of them at most" } th.num { "95 of 100 at most" } },
                &html! { (row("passages were found", latency.search)) (row("the first word", latency.first_word)) (row("the end", latency.end)) }))
        }
    }
}

fn sources(summary: &Summary, list: &str, period: &Period) -> Markup {
    let rows = html! {
        @for source in &summary.newest.sources {
            tr {
                td { (Foreign(&source.title)) br; code { (Foreign(&source.url)) } }
                td.num { a href=(narrowed(list, "source", &source.url)) { (grouped(source.answers)) } }
                td.num { @if source.down > 0 { a href=(format_args!("{}&rated=down", narrowed(list, "source", &source.url))) { (grouped(source.down)) } } @else { "0" } }
            }
        }
    };
    html! {
        @if !summary.newest.sources.is_empty() {
            h2 { "Pages that answer" }
            (table("Pages that answer", &html! { th { "Page" } th.num { "Answers" } th.num { "Not helpful" } }, &rows))
            p { a href=(format_args!("?days={}&format=csv&of=sources", period.days)) { "As CSV" } }
        }
    }
}

fn unanswered_pages(summary: &Summary, list: &str) -> Markup {
    let rows = html! {
        @for (page, count) in &summary.newest.unanswered_pages {
            tr { td { code { (Foreign(page)) } } td.num { a href=(format_args!("{}&which=unanswered", narrowed(list, "page", page))) { (grouped(*count)) } } }
        }
    };
    html! {
        @if !summary.newest.unanswered_pages.is_empty() {
            h2 { "Pages readers were on when nothing was found" }
            (table("Pages readers were on when nothing was found", &html! { th { "Page" } th.num { "Questions" } }, &rows))
        }
    }
}

fn languages(summary: &Summary, list: &str) -> Markup {
    html! {
        @if summary.newest.languages.len() > 1 {
            h2 { "Languages" }
            ul {
                @for (language, count) in &summary.newest.languages {
                    li { @match language { Some(language) => { a href=(narrowed(list, "language", language)) { (Foreign(language)) } }, None => "not told" } ": " (grouped(*count)) }
                }
            }
        }
    }
}

fn narrowed(list: &str, name: &str, value: &str) -> String {
    format!("{list}&{name}={}", in_url(value))
}

fn file(summary: &Summary, of: Option<&str>) -> Response {
    if of == Some("sources") {
        let mut csv = Csv::new("sources", &["title", "url", "answers", "not helpful"]);
        for source in &summary.newest.sources {
            csv.row([
                &source.title,
                &source.url,
                source.answers.to_string().as_str(),
                source.down.to_string().as_str(),
            ]);
        }
        return csv.response();
    }
    let mut csv = Csv::new("days", &["day", "questions", "answered", "unanswered", "helpful", "not helpful"]);
    for DayCount { day, counts } in &summary.by_day {
        let numbers =
            [counts.questions, counts.answered, counts.unanswered(), counts.up, counts.down].map(|n| n.to_string());
        let day = date(*day);
        csv.row(std::iter::once(day.as_str()).chain(numbers.iter().map(String::as_str)));
    }
    csv.response()
}

/// Questions that the docs do not answer, grouped by likeness.
pub(crate) async fn gaps(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let period = Period::of(visit)?;
    let docs = visit.docs(project)?;
    let found = visit.parts().assistant.gaps(&project.domain, docs, Some(period.from), Some(period.to), GAPS).await;
    let gaps = found.map_err(HttpError::internal)?;
    if csv::is_wanted(visit.request) {
        return Ok(gaps_file(&gaps));
    }
    let now = visit.parts().clock.now();
    let body = html! {
        p { "Questions without an answer, and answers that readers found not helpful, grouped by what they have in common." }
        (period.form())
        @if gaps.is_empty() { p.soft { "None in these days." } }
        @for gap in &gaps {
            section.box {
                h2 { (counted(gap.questions, "question")) @if !gap.words.is_empty() { ": " (Foreign(&gap.words.join(", "))) } }
                @if gap.down > 0 { p { (grouped(gap.down)) " of them were answered, and readers found it not helpful." } }
                @if !gap.unknown_words.is_empty() { p { "The docs never mention: " (Foreign(&gap.unknown_words.join(", "))) "." } }
                ul {
                    @for example in &gap.examples {
                        li { a href=(format_args!("/dashboard/{}/conversations/{}", project.domain, example.thread)) { (Foreign(&shortened(&example.question, 200))) } " " (moment(example.asked_at, now)) }
                    }
                }
                @if visit.is_editor() { p { a.button.quiet href=(format_args!("/dashboard/{}/jobs/new?prompt={}", project.domain, in_url(&shortened(&gap.suggestion, 1_500)))) { "Make a job of it" } } }
            }
        }
        @if !gaps.is_empty() { p { a href=(format_args!("?days={}&format=csv", period.days)) { "As CSV" } } }
    };
    Ok(visit.page("Gaps", Section::Gaps, Some(project), &body))
}

fn gaps_file(gaps: &[Gap]) -> Response {
    let mut csv = Csv::new("gaps", &["questions", "not helpful", "words", "never mentioned", "examples", "suggestion"]);
    for gap in gaps {
        let examples: Vec<&str> = gap.examples.iter().map(|example| example.question.as_str()).collect();
        csv.row([
            gap.questions.to_string().as_str(),
            &gap.down.to_string(),
            &gap.words.join(" "),
            &gap.unknown_words.join(" "),
            &examples.join("\n"),
            &gap.suggestion,
        ]);
    }
    csv.response()
}
