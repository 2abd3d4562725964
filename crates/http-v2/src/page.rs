//! `POST /discovery/v1/page/{domain}`: the complete content of a page.

use std::borrow::Cow;

use docent_discovery::{LARGEST_BODY, page_named};
use docent_types::{Project, Refusal, encoded_path};
use docent_web::{HttpError, Request, Response, respond};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::api::Api;

#[derive(Debug, Deserialize)]
struct PathBody {
    path: String,
}

#[derive(Debug, Serialize)]
struct PageBody<'a> {
    path: Cow<'a, str>,
    content: &'a str,
}

pub(crate) async fn page(api: &Api, request: &mut Request, project: &Project) -> Result<Response, HttpError> {
    let PathBody { path } = request.json(LARGEST_BODY).await?.parse()?;
    let docs = api.answering.docs.snapshot(project).await?;
    let page = page_named(&docs, &path).ok_or_else(|| {
        let shown: String = if path.is_empty() { "/".to_owned() } else { path.chars().take(200).collect() };
        Refusal::not_found(format!("path: there is no page `{shown}`; search for it to learn its path"))
    })?;
    Ok(respond::json(StatusCode::OK, &PageBody { path: encoded_path(&page.path), content: &page.content }))
}
