//! `GET /v1/analytics/{projectId}/searches`: what readers searched for, the most frequent first.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use docent_assistant::{Days, SearchTerm, TermCursor, TermQuery};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{Csv, HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;

use crate::api::Api;
use crate::parameter::{Format, given, page_of_table};
use crate::period::Period;

const MOST: u32 = 1_000;
const USUAL: u32 = 100;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SearchesBody<'a> {
    searches: Vec<TermBody<'a>>,
    total_searches: u64,
    has_more: bool,
    next_cursor: Option<String>,
}

/// The fields about pages opened from the results are null, because Docent does not know which results readers open.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TermBody<'a> {
    search_query: &'a str,
    hits: u64,
    without_results: u64,
    ctr: Option<f64>,
    top_clicked_page: Option<&'a str>,
    last_searched_at: Timestamp,
}

pub(crate) async fn searches(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let period = Period::given(request)?;
    let format = Format::of(request)?;
    let without_results = match given(request, "withoutResults").as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => {
            return Err(Refusal::invalid("withoutResults: it must be `true` or `false`; `false` is usual").into());
        }
    };
    let list = format!("{}_{without_results}", period.text());
    let query = TermQuery {
        domain: project.domain.clone(),
        days: Days::touched(period.from, period.to),
        without_results,
        after: given(request, "cursor").map(|cursor| place(&list, &cursor)).transpose()?,
        limit: request.query_number("limit", 1..=MOST, USUAL)?,
    };
    let found = api.answering.searches.terms(query).await?;
    let next_cursor = found.next.as_ref().map(|next| cursor(&list, next));
    if format == Format::Csv {
        return page_of_table(table(&found.terms), "searches", next_cursor);
    }
    let body = SearchesBody {
        searches: found.terms.iter().map(TermBody::from).collect(),
        total_searches: found.counts.searches,
        has_more: next_cursor.is_some(),
        next_cursor,
    };
    Ok(respond::json(StatusCode::OK, &body))
}

fn table(terms: &[SearchTerm]) -> Csv {
    let mut table = Csv::new(["searchQuery", "hits", "withoutResults", "lastSearchedAt"]);
    for SearchTerm { term, counts, last_at } in terms {
        let (hits, without) = (counts.searches.to_string(), counts.without_results.to_string());
        table.row([term.as_str(), &hits, &without, &last_at.to_string()]);
    }
    table
}

/// A position as an opaque text that is valid for this list only.
pub(crate) fn cursor(list: &str, TermCursor { count, term }: &TermCursor) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("{list}_{count}_{term}"))
}

pub(crate) fn place(list: &str, text: &str) -> Result<TermCursor, Refusal> {
    let parse = || {
        let decoded = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (count, term) = decoded.strip_prefix(list)?.strip_prefix('_')?.split_once('_')?;
        Some(TermCursor { count: count.parse().ok()?, term: term.to_owned() })
    };
    parse().ok_or_else(|| {
        Refusal::invalid(
            "cursor: it is no `nextCursor` of this list with the same parameters; send one as it came, or leave it out to \
             begin with the most frequent",
        )
    })
}

impl<'a> From<&'a SearchTerm> for TermBody<'a> {
    fn from(SearchTerm { term, counts, last_at }: &'a SearchTerm) -> Self {
        Self {
            search_query: term,
            hits: counts.searches,
            without_results: counts.without_results,
            ctr: None,
            top_clicked_page: None,
            last_searched_at: *last_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_place_is_found_again_in_its_own_list_only(count in any::<u64>(), term in "\\PC{0,20}") {
            let place_of = TermCursor { count, term };
            let text = cursor("1_2_true", &place_of);
            prop_assert!(place("1_2_false", &text).is_err());
            prop_assert_eq!(place("1_2_true", &text).ok(), Some(place_of));
        }

        #[test]
        fn any_text_is_a_place_or_refused(text in "\\PC*|[A-Za-z0-9_-]{0,40}") {
            if let Err(refusal) = place("__false", &text) {
                prop_assert!(refusal.sentence.starts_with("cursor: "));
            }
        }
    }
}
