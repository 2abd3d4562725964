//! What readers searched for, and what they did not find.

use docent_assistant::{Days, SearchCounts, SearchTerm, SearchTerms, TermCursor, TermQuery, search_instruction};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{Csv, HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::icon::Icon;
use crate::layout::{Section, View};
use crate::pages::analytics::{Period, date, number};
use crate::pages::jobs::{found_now, reader_job};
use crate::parts::{Column, empty, table};
use crate::text::{self, Untrusted, grouped, in_url, relative_time, shortened};
use crate::words::first_words;

const PAGE_ROWS: u32 = 50;
/// Maximum number of terms in a file.
const MAX_FILE_ROWS: u32 = 10_000;

pub(crate) async fn searches(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let period = Period::of(request)?;
    let days = Days::touched(Some(period.from), Some(period.to));
    if let Some(term) = request.http.query("term").filter(|term| !term.is_empty()) {
        return one(request, project, &period, days, &term).await;
    }
    let without_results = match request.http.query("which").as_deref() {
        None | Some("") => false,
        Some("nothing") => true,
        Some(_) => return Err(Refusal::invalid("which: choose one of the list").into()),
    };
    let after = || {
        let count = request.http.query("count")?.parse().ok()?;
        Some(TermCursor { count, term: request.http.query("after")?.into_owned() })
    };
    let limit = if request.wants_csv() { MAX_FILE_ROWS } else { PAGE_ROWS };
    let query = TermQuery { domain: project.domain.clone(), days, without_results, after: after(), limit };
    let is_first = query.after.is_none();
    let found = request.parts().searches.terms(query).await.map_err(HttpError::internal)?;
    if request.wants_csv() {
        return file(&found.terms).response("searches");
    }
    let query = |which: &str| format!("days={}&which={which}", period.days);
    let here = query(if without_results { "nothing" } else { "" });
    let SearchCounts { searches, without_results: nothing } = found.counts;
    let body = html! {
        p { "What readers searched for without asking. A search counts when its reader has typed no more for five seconds." }
        (period.form())
        ul.tiles {
            li { b { (grouped(searches)) } a href=(format_args!("?{}", query(""))) aria-current=[(!without_results).then_some("true")] { "searches" } }
            li { b { (grouped(nothing)) } a href=(format_args!("?{}", query("nothing"))) aria-current=[without_results.then_some("true")] { "found nothing" } }
        }
        @if found.terms.is_empty() && without_results && searches > 0 { p.soft { "Every search of these days found something." } }
        @else if found.terms.is_empty() { (empty(Icon::Searches, "No search in these days", "What readers type into the search of your docs stands here, the most frequent first.", Some((&format!("/dashboard/{}/widget", project.domain), "Put the chat on your site")))) } @else { (rows(&found, &period, request.parts().clock.now())) }
        nav.pages aria-label="Pages of the list" {
            @if !is_first { a href=(format_args!("?{here}")) { "Most frequent" } }
            @if let Some(TermCursor { count, term }) = &found.next { a href=(format_args!("?{here}&count={count}&after={}", in_url(term))) rel="next" { "Next" } }
            a href=(format_args!("?{here}&format=csv")) { "As CSV" } span.soft { "the first " (grouped(MAX_FILE_ROWS.into())) " at most" }
        }
    };
    Ok(request.page("Searches", Section::Searches, Some(project), &body))
}

fn rows(found: &SearchTerms, period: &Period, now: Timestamp) -> Markup {
    let rows = found.terms.iter().map(|SearchTerm { term, counts, last_at }| {
        let days = format!("?days={}&term={}", period.days, in_url(term));
        vec![
            html! { a.title href=(days) { (Untrusted(&shortened(term, 120))) } },
            number(counts.searches, &days),
            number(counts.without_results, &days),
            relative_time(*last_at, now),
        ]
    });
    let columns = [
        Column::Title("Searched for"),
        Column::Number("Searches"),
        Column::Number("Found nothing"),
        Column::Text("Last"),
    ];
    table("Searches", &columns, rows)
}

/// The page of one term, by day.
async fn one(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    period: &Period,
    days: Days,
    term: &str,
) -> Result<Response, HttpError> {
    let found = request.parts().searches.term_by_day(&project.domain, days, term).await.map_err(HttpError::internal)?;
    if request.wants_csv() {
        return day_file(&found).response("search-days");
    }
    let rows = found.iter().rev().map(|(day, counts)| {
        vec![
            html! { (text::day(*day)) },
            html! { (grouped(counts.searches)) },
            html! { (grouped(counts.without_results)) },
        ]
    });
    let columns = [Column::Title("Day"), Column::Number("Searches"), Column::Number("Found nothing")];
    let here = format!("days={}&term={}", period.days, in_url(term));
    let body = html! {
        p { "Searches for " strong { (Untrusted(term)) } " by day." }
        @if found.is_empty() { p.soft { "There are none in these days." } }
        @else { (table("Searches by day", &columns, rows)) }
        nav.pages aria-label="Pages" {
            a href=(format_args!("?{here}&format=csv")) { "As CSV" }
        }
        p.actions {
            @if found.iter().any(|(_, counts)| counts.without_results > 0) { (reader_job(request, project, &search_instruction(term))) }
            (found_now(project, term))
        }
    };
    let above = format!("/dashboard/{}/searches?days={}", project.domain, period.days);
    let title = first_words(term, 90);
    Ok(request.show(View::new(&title, Section::Searches, Some(project)).below(above, "Searches"), &body))
}

fn file(terms: &[SearchTerm]) -> Csv {
    let mut csv = Csv::new(["searched for", "searches", "found nothing", "last"]);
    for SearchTerm { term, counts, last_at } in terms {
        let (searches, nothing) = (counts.searches.to_string(), counts.without_results.to_string());
        csv.row([term.as_str(), &searches, &nothing, &last_at.to_string()]);
    }
    csv
}

fn day_file(days: &[(Timestamp, SearchCounts)]) -> Csv {
    let mut csv = Csv::new(["day", "searches", "found nothing"]);
    for (day, counts) in days {
        csv.row([date(*day).as_str(), &counts.searches.to_string(), &counts.without_results.to_string()]);
    }
    csv
}
