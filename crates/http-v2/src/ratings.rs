//! Ratings as feedback on pages: what a row of `GET /v1/analytics/{projectId}/feedback` has at its top, and
//! `…/feedback/by-page`, which counts them.

use std::collections::BTreeMap;

use docent_assistant::{ExportQuery, Feedback, QuestionFilter, Rating, RatingFilter, TermCursor, Turn};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{Csv, HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;
use serde_json::json;

use crate::api::Api;
use crate::parameter::{Format, given, page_of_table};
use crate::period::Period;
use crate::searches;

const MOST: u32 = 1_000;
const USUAL: u32 = 100;
/// Maximum number of ratings that are counted, the newest ones, and of reads for them, each of which examines 10,000
/// questions at most.
const MOST_COUNTED: usize = 10_000;
const MOST_READS: usize = 100;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Where feedback comes from. Docent has that of readers on answers, which is `contextual`.
const SOURCES: [&str; 4] = ["contextual", "code_snippet", "agent", "thumbs_only"];
/// How far it was dealt with. Docent does not keep that, so all of it is `pending`.
const STATUSES: [&str; 4] = ["pending", "in_progress", "resolved", "dismissed"];

/// The fields of a rated row in the form of feedback on a page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageFeedbackBody<'a> {
    path: Option<String>,
    comment: Option<&'a str>,
    created_at: Timestamp,
    source: &'static str,
    status: &'static str,
    helpful: bool,
}

impl<'a> PageFeedbackBody<'a> {
    pub(crate) fn of(turn: &'a Turn) -> Option<Self> {
        let Feedback { rating, comment, at, .. } = turn.feedback.as_ref()?;
        Some(Self {
            path: page_path(turn),
            comment: comment.as_deref(),
            created_at: *at,
            source: SOURCES[0],
            status: STATUSES[0],
            helpful: *rating == Rating::Up,
        })
    }
}

/// Whether the parameters `source` and `status` admit the feedback that there is.
pub(crate) fn are_selected(request: &Request) -> Result<bool, Refusal> {
    let admits = |name: &str, list: Option<String>, known: [&str; 4]| {
        let Some(list) = list else { return Ok(true) };
        let chosen: Vec<&str> = list.split(',').map(str::trim).collect();
        if let Some(unknown) = chosen.iter().find(|chosen| !known.contains(chosen)) {
            let shown: String = unknown.chars().take(80).collect();
            return Err(Refusal::invalid(format!("{name}: `{shown}` is not one of `{}`", known.join("`, `"))));
        }
        Ok(chosen.contains(&known[0]))
    };
    Ok(admits("source", given(request, "source"), SOURCES)? & admits("status", given(request, "status"), STATUSES)?)
}

/// The path of the page that an answer is about: the one its reader was on, else the first that it cites.
fn page_path(turn: &Turn) -> Option<String> {
    let address = turn.page.as_deref().or_else(|| turn.sources.first().map(|source| source.url.as_str()))?;
    let below_host = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => address,
    };
    let path = below_host.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    Some(format!("/{path}"))
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct PageBody {
    path: String,
    thumbs_up: u64,
    thumbs_down: u64,
    /// Always 0: there is no feedback on code.
    code: u64,
    total: u64,
}

pub(crate) async fn by_page(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let period = Period::given(request)?;
    let limit = request.query_number("limit", 1..=MOST, USUAL)?;
    let format = Format::of(request)?;
    let list = format!("pages_{}", period.text());
    let after = given(request, "cursor").map(|cursor| searches::place(&list, &cursor)).transpose()?;
    let pages = if are_selected(request)? { counted(api, project, &period).await? } else { Vec::new() };
    let is_after =
        |page: &PageBody| after.as_ref().is_none_or(|last| (last.count, &page.path) > (page.total, &last.term));
    let mut pages: Vec<PageBody> = pages.into_iter().filter(is_after).collect();
    let has_more = pages.len() > limit as usize;
    pages.truncate(limit as usize);
    let last = pages.last().filter(|_| has_more);
    let next = last.map(|page| searches::cursor(&list, &TermCursor { count: page.total, term: page.path.clone() }));
    if format == Format::Csv {
        return page_of_table(table(&pages), "feedback-by-page", next);
    }
    Ok(respond::json(StatusCode::OK, &json!({ "feedback": pages, "hasMore": has_more, "nextCursor": next })))
}

/// The pages with ratings, those with most first.
async fn counted(api: &Api, project: &Project, period: &Period) -> Result<Vec<PageBody>, HttpError> {
    let mut query = ExportQuery {
        domain: project.domain.clone(),
        which: QuestionFilter::rated(RatingFilter::Any),
        from: period.from,
        to: period.to,
        after: None,
        limit: MOST,
        most_bytes: MOST_BYTES,
    };
    let (mut pages, mut ratings) = (BTreeMap::<String, PageBody>::new(), 0);
    for _ in 0..MOST_READS {
        let found = api.answering.assistant.export(query.clone()).await?;
        for turn in found.turns.iter().map(|asked| &asked.turn) {
            let (Some(path), Some(feedback)) = (page_path(turn), &turn.feedback) else { continue };
            let page = pages.entry(path.clone()).or_insert_with(|| PageBody { path, ..PageBody::default() });
            page.total += 1;
            match feedback.rating {
                Rating::Up => page.thumbs_up += 1,
                Rating::Down => page.thumbs_down += 1,
            }
        }
        ratings += found.turns.len();
        query.after = found.next;
        if query.after.is_none() || ratings >= MOST_COUNTED {
            break;
        }
    }
    let mut pages: Vec<PageBody> = pages.into_values().collect();
    pages.sort_by(|one, other| other.total.cmp(&one.total).then_with(|| one.path.cmp(&other.path)));
    Ok(pages)
}

fn table(pages: &[PageBody]) -> Csv {
    let mut table = Csv::new(["path", "thumbsUp", "thumbsDown", "code", "total"]);
    for PageBody { path, thumbs_up, thumbs_down, code, total } in pages {
        let numbers = [thumbs_up, thumbs_down, code, total].map(u64::to_string);
        let [up, down, code, total] = numbers.each_ref().map(String::as_str);
        table.row([path.as_str(), up, down, code, total]);
    }
    table
}

#[cfg(test)]
mod tests {
    use docent_assistant::CitedPage;

    use super::*;

    #[test]
    fn a_rating_is_about_the_page_its_reader_was_on_or_else_about_a_cited_one() {
        let cited = || vec![CitedPage { title: "Retries".to_owned(), url: "/guides/retries#backoff".to_owned() }];
        for (page, sources, path) in [
            (Some("/guides/keys/?tab=1#x"), cited(), Some("/guides/keys")),
            (Some("https://docs.example.com/guides/keys"), Vec::new(), Some("/guides/keys")),
            (Some("https://docs.example.com"), Vec::new(), Some("/")),
            (Some("guides/keys"), Vec::new(), Some("/guides/keys")),
            (None, cited(), Some("/guides/retries")),
            (None, Vec::new(), None),
        ] {
            let turn = Turn { page: page.map(str::to_owned), sources, ..Turn::default() };
            assert_eq!(page_path(&turn).as_deref(), path, "{page:?}");
        }
    }
}
