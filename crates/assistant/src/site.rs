//! What whoever runs a docs site has decided about its assistant.

use std::fmt;
use std::sync::Arc;

use docent_types::ProjectUid;

/// The longest instructions that are told to a model, in bytes.
const LONGEST_INSTRUCTIONS: usize = 8 * 1024;

/// The assistant's settings of one docs site. By default there are none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Site {
    /// Where the site is served, for example `https://docs.example.com` or `https://example.com/docs`. Links and the page
    /// a reader is on are understood with it and without.
    pub address: Option<String>,
    /// What the site's owner wishes of the assistant, as the docs repository has it in `.docent/assistant.md`. Of a longer
    /// text the first 8 KiB count.
    pub instructions: Option<Arc<str>>,
    /// Whether a reply ends with questions a reader may ask next.
    pub suggestions: bool,
}

impl Site {
    /// The owner's wishes, cut to length; `None` when there are none.
    pub(crate) fn wishes(&self) -> Option<&str> {
        let text = self.instructions.as_deref()?.trim();
        let text = text[..text.floor_char_boundary(LONGEST_INSTRUCTIONS)].trim_end();
        Some(text).filter(|text| !text.is_empty())
    }

    /// What of an absolute URL is below the site's address; `None` when it is elsewhere.
    pub(crate) fn below<'u>(&self, url: &'u str) -> Option<&'u str> {
        let address = self.address.as_deref()?.trim_end_matches('/');
        let head = url.get(..address.len()).filter(|head| head.eq_ignore_ascii_case(address))?;
        let rest = &url[head.len()..];
        (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then_some(rest)
    }

    /// What the site's address has after its host, without slashes around it: `docs` for `https://example.com/docs`.
    pub(crate) fn folder(&self) -> &str {
        let address = self.address.as_deref().unwrap_or_default();
        let host = address.split_once("://").map_or("", |(_, host)| host);
        host.split_once('/').map_or("", |(_, folder)| folder.trim_matches('/'))
    }
}

/// Looks up the settings of a site. Asked once a question, so what it answers from is at hand.
#[derive(Clone)]
pub(crate) struct Sites(pub(crate) Arc<dyn Fn(ProjectUid) -> Site + Send + Sync>);

impl Sites {
    pub(crate) fn of(&self, project: ProjectUid) -> Site {
        (self.0)(project)
    }
}

impl Default for Sites {
    fn default() -> Self {
        Self(Arc::new(|_| Site::default()))
    }
}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sites")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Site {
        Site { address: Some(address.to_owned()), ..Site::default() }
    }

    #[test]
    fn a_url_is_below_its_site_or_elsewhere() {
        let site = at("https://Example.com/docs/");
        for (url, below) in [
            ("https://example.com/docs/a#b", Some("/a#b")),
            ("https://example.com/docs", Some("")),
            ("https://example.com/docs?x", Some("?x")),
            ("https://example.com/docsy", None),
            ("https://example.com/", None),
            ("https://example.com.evil.test/docs", None),
            ("é", None),
        ] {
            assert_eq!(site.below(url), below, "{url}");
        }
        assert_eq!(Site::default().below("https://example.com"), None);
        assert_eq!((site.folder(), at("https://example.com").folder()), ("docs", ""));
    }

    #[test]
    fn long_wishes_are_cut_between_letters() {
        let site = Site { instructions: Some("é".repeat(5_000).into()), ..Site::default() };
        assert_eq!(site.wishes().expect("some").len(), LONGEST_INSTRUCTIONS);
        let site = Site { instructions: Some(" \n ".into()), ..Site::default() };
        assert_eq!(site.wishes(), None);
    }
}
