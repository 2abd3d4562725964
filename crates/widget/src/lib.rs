//! The reader's chat: a button, a panel and the element `<docent-chat>`, for any page of a docs site.
//!
//! The chat is hand-written JavaScript without a build step, in `files/`; the same files are an npm package. [`answer`] serves them
//! to pages of any origin. `widget.js` is all that a page loads before somebody opens the chat. The modules of the panel are served
//! as one, which is one request and 400 bytes less.
//!
//! This crate refuses to know projects, keys and what is answered: the chat is a client of the API like any other.

use std::sync::LazyLock;

use docent_web::{HttpError, Methods, Request, Response, bytes_unless_known};
use http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
/// Short, since the files of one version belong together.
const CACHED: &str = "public, max-age=600, stale-while-revalidate=86400";
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

macro_rules! files {
    ($($path:literal)*) => { [$(($path, include_str!(concat!("../files/", $path)))),*] };
}

/// What the panel imports of its own, before the panel.
const PANEL: [&str; 3] = [
    include_str!("../files/widget/style.js"),
    include_str!("../files/widget/blocks.js"),
    include_str!("../files/widget/panel.js"),
];

/// The files by their paths on the server.
static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let sources = files! {
        "widget.js" "widget/mintlify.js" "widget/kapa.js" "widget/docsearch.js"
        "widget/texts/de.js" "widget/texts/en.js" "widget/texts/es.js" "widget/texts/fr.js" "widget/texts/ja.js"
        "widget/texts/ko.js" "widget/texts/pt.js" "widget/texts/zh.js"
    };
    let files = sources.into_iter().map(|(path, source)| File::new(path, source));
    files.chain([File::new("widget/panel.js", &joined(&PANEL))]).collect()
});

/// Modules of one folder as one: imports from this folder are left out, and only the last exports anything.
fn joined(modules: &[&str]) -> String {
    let is_import = |line: &str| line.starts_with("import ") && line.contains(" from \"./");
    let last = modules.len().saturating_sub(1);
    let lines = modules.iter().enumerate().flat_map(|(at, module)| module.lines().map(move |line| (at, line)));
    let lines = lines.filter(|(_, line)| !is_import(line));
    lines
        .flat_map(|(at, line)| [if at < last { line.strip_prefix("export ").unwrap_or(line) } else { line }, "\n"])
        .collect()
}

struct File {
    path: &'static str,
    text: Vec<u8>,
    gzip: Vec<u8>,
}

impl File {
    fn new(path: &'static str, source: &str) -> Self {
        let text = without_spaces_in_styles(without_comments(source)).into_bytes();
        Self { path, gzip: gzip(&text), text }
    }
}

/// The response to a request for a file of the chat; `None` for any other path.
///
/// # Errors
/// 405 for another method than GET, HEAD and OPTIONS.
pub fn answer(request: &Request) -> Option<Result<Response, HttpError>> {
    let path = request.path().strip_prefix('/')?;
    let file = FILES.iter().find(|file| file.path == path)?;
    if request.method() == Method::OPTIONS {
        return Some(Ok(Methods::GET.options()));
    }
    Some(Methods::GET.check(request.method()).map(|_| present(file, request)))
}

fn present(file: &'static File, request: &Request) -> Response {
    let is_compressed = takes_gzip(request.headers());
    let bytes = if is_compressed { &file.gzip } else { &file.text };
    let mut response = bytes_unless_known(request, JAVASCRIPT, bytes.as_slice());
    let headers = response.headers_mut();
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(CACHED));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Modules are loaded with CORS, by pages of any site.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    response
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(1.0_f32);
        ["gzip", "*"].contains(&name.trim()) && weight > 0.0
    })
}

/// The source without lines that are only comments, and without indentation.
fn without_comments(source: &str) -> String {
    let is_comment = |line: &str| line.starts_with("//") || (line.starts_with("/**") && line.ends_with("*/"));
    let is_code = |line: &&str| !line.is_empty() && !is_comment(line);
    source.lines().map(str::trim_start).filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// The source without the spaces that its stylesheet, if it has one, can do without.
fn without_spaces_in_styles(source: String) -> String {
    let parts = source.split_once("STYLE = `").and_then(|(before, rest)| Some((before, rest.split_once("`;")?)));
    let Some((before, (style, after))) = parts else { return source };
    let spaces = [(": ", ":"), ("; ", ";"), (" { ", "{"), (" }", "}"), (", ", ","), (" !", "!")];
    let style = spaces.into_iter().fold(style.to_owned(), |style, (spaced, tight)| style.replace(spaced, tight));
    format!("{before}STYLE = `{style}`;{after}")
}

fn gzip(text: &[u8]) -> Vec<u8> {
    /// 15 for the largest window, and 16 for the header of gzip.
    const GZIP: i32 = 15 + 16;
    /// What that header has more than the one of zlib.
    const HEADER: usize = 12;
    let config = DeflateConfig { level: 9, window_bits: GZIP, ..DeflateConfig::default() };
    let mut compressed = vec![0; compress_bound(text.len()) + HEADER];
    let (written, code) = compress_slice(&mut compressed, text, config);
    assert_eq!(code, ReturnCode::Ok, "the room suffices");
    let length = written.len();
    compressed.truncate(length);
    compressed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(path: &str) -> usize {
        FILES.iter().find(|file| file.path == path).expect("a file").gzip.len()
    }

    #[test]
    fn a_page_loads_little_before_the_chat_is_opened_and_not_much_then() {
        let before = compressed("widget.js");
        assert!(before <= 3 * 1024, "{before} bytes");
        for file in FILES.iter().filter(|file| file.path.contains("/texts/")) {
            let panel: usize = ["widget/panel.js", file.path].map(compressed).iter().sum();
            assert!(before + panel <= 16 * 1024, "{}: {before} and {panel} bytes", file.path);
        }
    }

    #[test]
    fn all_languages_have_the_same_texts() {
        let names = |file: &File| -> Vec<String> {
            let text = String::from_utf8(file.text.clone()).expect("UTF-8");
            let names =
                text.split(": \"").map(|before| before.rsplit([' ', '\n']).next().unwrap_or_default().to_owned());
            names.filter(|name| name.chars().all(|c| c.is_ascii_alphabetic())).collect()
        };
        let texts: Vec<&File> = FILES.iter().filter(|file| file.path.contains("/texts/")).collect();
        for file in &texts {
            let (found, mut unique) = (names(file), names(file));
            unique.sort();
            unique.dedup();
            assert_eq!(unique.len(), found.len(), "{}: a name comes twice", file.path);
            assert_eq!(found, names(texts[0]), "{}", file.path);
        }
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (header, expected) in [
            ("gzip", true),
            ("br, gzip;q=0.8", true),
            ("*", true),
            ("gzip;q=0", false),
            ("br", false),
            ("", false),
            ("x-gzip", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(header));
            assert_eq!(takes_gzip(&headers), expected, "{header}");
        }
    }
}
