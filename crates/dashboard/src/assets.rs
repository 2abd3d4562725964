//! The style and the script of all pages. Their addresses follow from their content, so that browsers keep them for good.

use std::sync::LazyLock;

use docent_web::{Response, respond};
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

pub(crate) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", "text/css; charset=utf-8", include_str!("assets/style.css")));
pub(crate) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("script", "js", "text/javascript; charset=utf-8", include_str!("assets/script.js")));

/// A file of the dashboard itself.
#[derive(Debug)]
pub(crate) struct Asset {
    path: String,
    content_type: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(name: &str, ending: &str, content_type: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text);
        let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self { path: format!("/dashboard/-/assets/{name}.{short}.{ending}"), content_type, text }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// The file of this name.
pub(crate) fn of(name: &str) -> Option<Response> {
    let asset = [&STYLE, &SCRIPT].into_iter().find(|asset| asset.path.rsplit('/').next() == Some(name))?;
    let mut response = respond::bytes_of(StatusCode::OK, asset.content_type, asset.text);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Some(response)
}
