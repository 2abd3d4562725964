//! `GET /sites/{domain}/…`: pages as Markdown, and the lists of them, as files that a site can pass on.

use std::collections::VecDeque;

use bytes::Bytes;
use docent_discovery::{MarkdownPage, ReadableDocs};
use docent_types::{Refusal, encoded_path};
use docent_web::{HttpError, Request, Response, answer_unless_known, bytes_unless_known, respond};
use futures::stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, LINK};

use crate::llms_txt::{llms_txt, part};

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
/// Maximum length of all pages in one file, in bytes.
const LONGEST_FULL: usize = 16 << 20;
/// How many pages are named where one is not found.
const NEAREST: usize = 3;

/// `GET /sites/{domain}/{page}` and `…/{page}.md`.
pub(crate) fn page(request: &Request, docs: &ReadableDocs) -> Result<Response, HttpError> {
    let address = below_the_site(request);
    let page = docs.page(&address).ok_or_else(|| no_such_page(docs, &address))?;
    let canonical = docs.site().address.is_some().then(|| format!("<{}>; rel=\"canonical\"", docs.url_of(&page.path)));
    // Agents that arrive at a page learn from it where the others are.
    let list = docs.site().address.as_deref().map(|address| format!("{}/llms.txt", address.trim_end_matches('/')));
    let list = list.unwrap_or_else(|| format!("/sites/{}/llms.txt", docs.domain()));
    let text = format!("> All pages of this documentation: [llms.txt]({list})\n\n{}", with_newline(page.markdown));
    let mut response = bytes_unless_known(request, MARKDOWN, text.into_bytes());
    if let Some(canonical) = canonical.and_then(|link| HeaderValue::try_from(link).ok()) {
        response.headers_mut().insert(LINK, canonical);
    }
    Ok(response)
}

/// `GET /sites/{domain}/llms.txt`, and those of folders and further parts.
pub(crate) fn list(request: &Request, docs: &ReadableDocs) -> Result<Response, HttpError> {
    let address = below_the_site(request);
    let (folder, file) = address.rsplit_once('/').unwrap_or(("", &address));
    let folder = docent_types::decoded_path(folder);
    let list = part(file).and_then(|part| {
        llms_txt(docs.domain().as_str(), docs.site().address.as_deref(), &docs.pages(), &folder, part)
    });
    let list = list.ok_or_else(|| {
        let shown: String = address.chars().take(200).collect();
        Refusal::not_found(format!("there is no list `{shown}`: begin with /sites/{}/llms.txt", docs.domain()))
    })?;
    Ok(bytes_unless_known(request, TEXT, list.into_bytes()))
}

/// `GET /sites/{domain}/llms-full.txt`: all pages one after another, made as they are sent.
pub(crate) fn full(request: &Request, docs: ReadableDocs) -> Response {
    let state = format!("full {}", docs.state());
    answer_unless_known(request, &state, || {
        let paths = docs.pages().into_iter().filter(|page| page.is_usual).map(|page| page.path);
        let paths: VecDeque<String> = paths.collect();
        let pages = stream::unfold((docs, paths, 0), async |(docs, mut paths, sent)| {
            let path = paths.pop_front()?;
            if sent >= LONGEST_FULL {
                let rest =
                    format!("The rest is too long for one file: {} pages are in llms.txt alone.\n", paths.len() + 1);
                return Some((Bytes::from(rest), (docs, VecDeque::new(), sent)));
            }
            let page = docs.page(&encoded_path(&path)).map(|page| one_of_many(&docs, page)).unwrap_or_default();
            let sent = sent + page.len();
            Some((Bytes::from(page), (docs, paths, sent)))
        });
        respond::stream(TEXT, pages)
    })
}

/// Lets the answer be kept and asked for again by its tag: by anybody where anybody may read it.
pub(crate) fn cacheable(mut response: Response, is_public: bool) -> Response {
    let value = if is_public { "public, no-cache" } else { "private, no-cache" };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(value));
    response
}

/// A page among others: with its address in front, and a line behind.
fn one_of_many(docs: &ReadableDocs, page: MarkdownPage) -> String {
    let url = docs.url_of(&page.path);
    format!("Source: {url}\n\n{}\n---\n\n", with_newline(page.markdown))
}

fn with_newline(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The path below `/sites/{domain}/`, encoded once.
fn below_the_site(request: &Request) -> String {
    let segments = request.segments();
    let below: Vec<_> = segments.iter().skip(2).map(|segment| encoded_path(segment)).collect();
    below.join("/")
}

fn no_such_page(docs: &ReadableDocs, address: &str) -> Refusal {
    let shown: String = if address.is_empty() { "/".to_owned() } else { address.chars().take(200).collect() };
    let nearest: Vec<_> = docs.nearest(address, NEAREST).iter().map(|page| file_of(docs, &page.path)).collect();
    Refusal::not_found(match nearest.is_empty() {
        true => format!("there is no page `{shown}`, and no other"),
        false => format!("there is no page `{shown}`; the nearest: {}", nearest.join(", ")),
    })
}

fn file_of(docs: &ReadableDocs, path: &str) -> String {
    let path = if path.is_empty() { "index" } else { path };
    format!("/sites/{}/{}.md", docs.domain(), encoded_path(path))
}
