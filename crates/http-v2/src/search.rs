//! `POST /discovery/v1/search/{domain}`: passages for a query.

use std::borrow::Cow;

use docent_discovery::{FilterBody, LARGEST_BODY};
use docent_search::{Asker, Query};
use docent_types::{Passage, Project, Refusal};
use docent_web::{HttpError, Object, Request, Response, WholeNumber, respond};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::api::Api;

const MOST_RESULTS: u64 = 50;
const USUAL_RESULTS: u64 = 10;
const LONGEST_QUERY: usize = 2_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchBody {
    query: String,
    page_size: Option<WholeNumber>,
    score_threshold: Option<f32>,
    filter: Option<Object<FilterBody>>,
}

#[derive(Debug, Serialize)]
struct ResultBody<'a> {
    content: String,
    path: Cow<'a, str>,
    metadata: MetadataBody<'a>,
    score: f32,
}

#[derive(Debug, Serialize)]
struct MetadataBody<'a> {
    title: &'a str,
    href: &'a str,
    headings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
}

pub(crate) async fn search(api: &Api, request: &mut Request, project: &Project) -> Result<Response, HttpError> {
    let body: SearchBody = request.json(LARGEST_BODY).await?.parse()?;
    let threshold = body.score_threshold.unwrap_or(0.0);
    let query = body.query()?;
    let docs = api.answering.docs.snapshot(project).await?;
    let found = docs.find(&query).await;
    let results: Vec<_> = found.iter().filter(|passage| passage.score >= threshold).map(ResultBody::from).collect();
    api.answering.searches.record(&project.domain, request.client(), &query.text, !results.is_empty());
    Ok(respond::json(StatusCode::OK, &results))
}

impl SearchBody {
    fn query(self) -> Result<Query, Refusal> {
        if self.query.trim().is_empty() || self.query.chars().count() > LONGEST_QUERY {
            return Err(Refusal::invalid(format!(
                "query: it must have 1 to {LONGEST_QUERY} characters; send the words to look for"
            )));
        }
        let results = self.page_size.map_or(USUAL_RESULTS, |WholeNumber(size)| size);
        if !(1..=MOST_RESULTS).contains(&results) {
            return Err(Refusal::invalid(format!(
                "pageSize: it must be a whole number from 1 to {MOST_RESULTS}; {USUAL_RESULTS} is usual"
            )));
        }
        if self.score_threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(Refusal::invalid("scoreThreshold: it must be from 0 to 1; leave it out to get all results"));
        }
        Ok(Query {
            text: self.query,
            after: None,
            beside: String::new(),
            limit: usize::try_from(results).unwrap_or(usize::MAX),
            filter: self.filter.unwrap_or_default().0.into(),
            near: None,
            asker: Asker::SearchBox,
        })
    }
}

impl<'a> From<&'a Passage> for ResultBody<'a> {
    fn from(passage: &'a Passage) -> Self {
        Self {
            content: passage.under_headings(),
            path: passage.encoded_path(),
            metadata: MetadataBody {
                title: &passage.title,
                href: &passage.href,
                headings: &passage.headings,
                version: passage.version.as_deref(),
                language: passage.language.as_deref(),
            },
            score: passage.score,
        }
    }
}
