//! The path below which a proxy serves the dashboard, such as `/docent`.
//!
//! The proxy removes the path from each request, so pages know each other by their own addresses. A response gets the path in
//! front of them when it is complete: no page can forget it.

use bytes::Bytes;
use docent_web::Response;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, LOCATION};

/// Attributes with addresses. No other attribute is changed: the value of a field may be a path of the machine.
const ADDRESSES: [&str; 6] = ["href", "src", "action", "data-stream", "data-events", "data-load"];

/// The path, without a slash at its end; empty at the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prefix(String);

impl Prefix {
    /// The path of the address at which people reach the server, if that is configured.
    pub(crate) fn of(public_url: Option<&str>) -> Self {
        let rest = public_url.and_then(|url| url.split_once("://")).map_or("", |(_, rest)| rest);
        let path = rest.find('/').map_or("", |at| &rest[at..]);
        Self(path.trim_end_matches('/').to_owned())
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of cookies.
    pub(crate) fn cookie_path(&self) -> &str {
        if self.is_root() { "/" } else { &self.0 }
    }

    /// The path of a page as browsers know it, without this one in front. `None` if it is elsewhere.
    pub(crate) fn without<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&self.0)
    }

    /// Puts the path in front of the addresses in a page, and of the address of a redirect.
    pub(crate) fn set(&self, response: &mut Response) {
        if self.is_root() {
            return;
        }
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        if let Some(location) = location.filter(|location| is_own(location))
            && let Ok(location) = HeaderValue::try_from(format!("{}{location}", self.0))
        {
            response.headers_mut().insert(LOCATION, location);
        }
        if response.headers().get(CONTENT_TYPE).is_some_and(|of| of.as_bytes().starts_with(b"text/html")) {
            let body = std::mem::take(response.body_mut());
            *response.body_mut() = body.map(|bytes| match str::from_utf8(&bytes) {
                Ok(html) => Bytes::from(self.in_html(html)),
                Err(_) => bytes,
            });
        }
    }

    /// Markup with the path in front of its addresses. All text is escaped, so an unescaped quotation mark after `=` begins
    /// the value of an attribute.
    pub(crate) fn in_html(&self, html: &str) -> String {
        if self.is_root() {
            return html.to_owned();
        }
        let mut out = String::with_capacity(html.len() + html.len() / 8);
        let mut done = 0;
        for (at, begin) in html.match_indices("=\"/") {
            let name = html[..at].rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
            let value = at + begin.len() - 1;
            if ADDRESSES.contains(&name) && is_own(&html[value..]) {
                out.push_str(&html[done..value]);
                out.push_str(&self.0);
                done = value;
            }
        }
        out.push_str(&html[done..]);
        out
    }
}

/// Whether this address begins at the root of this server.
fn is_own(address: &str) -> bool {
    address.starts_with('/') && !address.starts_with("//")
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn the_path_is_that_of_the_public_address() {
        for (url, path) in [
            (None, ""),
            (Some("https://docent.example.com"), ""),
            (Some("https://docent.example.com/"), ""),
            (Some("http://10.0.0.1:8080/docent/"), "/docent"),
            (Some("https://example.com/a/b"), "/a/b"),
        ] {
            assert_eq!(Prefix::of(url).0, path, "{url:?}");
        }
    }

    #[test]
    fn addresses_of_a_page_get_the_path_and_its_texts_do_not() {
        let text = " href=\"/dashboard\" and <a href=\"/dashboard\">";
        let page = html! {
            a href="/dashboard/acme" title=(text) { (text) }
            form action="/dashboard/-/search" data-stream="/dashboard/x" { input name="repository" value="/srv/docs.git"; }
            a href="https://example.com/dashboard" {} a href="//example.com" {} a href="?q=/dashboard" {}
            svg { use href="/dashboard/-/assets/icons.svg#plus" {} }
        };
        let page = page.into_string();
        let expected = page
            .replace("<a href=\"/dashboard/acme\"", "<a href=\"/docent/dashboard/acme\"")
            .replace("<form action=\"/", "<form action=\"/docent/")
            .replace("data-stream=\"/", "data-stream=\"/docent/")
            .replace("<use href=\"/", "<use href=\"/docent/");
        assert_eq!(Prefix::of(Some("https://example.com/docent")).in_html(&page), expected);
        assert_eq!(Prefix::of(None).in_html(&page), page);
    }
}
