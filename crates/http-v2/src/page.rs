//! `POST /discovery/v1/page/{domain}`: the complete content of a page.

use std::borrow::Cow;

use docent_discovery::LARGEST_BODY;
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
    let page = docs.page(&path).or_else(|| docs.page(folder_of_index(&path)?)).ok_or_else(|| {
        let shown: String = if path.is_empty() { "/".to_owned() } else { path.chars().take(200).collect() };
        Refusal::not_found(format!("path: there is no page `{shown}`; search for it to learn its path"))
    })?;
    Ok(respond::json(StatusCode::OK, &PageBody { path: encoded_path(&page.path), content: &page.content }))
}

/// The folder of an index page: `guides/index`, with any extension, is the page of the folder `guides`, and `index` the
/// front page.
fn folder_of_index(path: &str) -> Option<&str> {
    let path = path.split(['#', '?']).next().unwrap_or_default().trim().trim_matches('/');
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    stem.eq_ignore_ascii_case("index").then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_stands_for_its_folder() {
        for (path, folder) in [
            ("index", Some("")),
            ("/index.mdx", Some("")),
            ("index.html#top", Some("")),
            ("Index", Some("")),
            ("guides/index/", Some("guides")),
            ("a/b/index.md?x=1", Some("a/b")),
            ("", None),
            ("guides", None),
            ("guides/indexes", None),
            ("index/guides", None),
        ] {
            assert_eq!(folder_of_index(path), folder, "{path}");
        }
    }
}
