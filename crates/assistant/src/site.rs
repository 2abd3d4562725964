//! The settings of a docs site for its assistant.

use std::fmt;
use std::sync::Arc;

use docent_types::ProjectUid;

/// Maximum length of the instructions passed to a model, in bytes.
const LONGEST_INSTRUCTIONS: usize = 8 * 1024;

/// The assistant's settings for one docs site. The default has none set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SiteSettings {
    /// The public URL of the site, for example `https://docs.example.com` or `https://example.com/docs`. Links, and the
    /// page a reader is on, are recognised with and without it.
    pub address: Option<String>,
    /// The site owner's instructions for the assistant, from `.docent/assistant.md` in the docs repository. Only the
    /// first 8 KiB are used.
    pub instructions: Option<Arc<str>>,
    /// Whether a reply ends with suggested questions.
    pub suggestions: bool,
    /// The reply to a message that asks nothing, such as a greeting; the model's own if it is not set.
    pub small_talk: Option<Arc<str>>,
    /// The reply to a question about the reader's account or contract that the docs do not answer, likewise.
    pub account: Option<Arc<str>>,
    /// Whether search and pages may be read without a key, where programs read them.
    pub public: bool,
    /// Whether programs that read the docs may also ask the assistant.
    pub agents_may_ask: bool,
}

impl SiteSettings {
    /// The owner's instructions, cut to the maximum length; `None` if there are none.
    pub(crate) fn truncated_instructions(&self) -> Option<&str> {
        let text = self.instructions.as_deref()?.trim();
        let text = text[..text.floor_char_boundary(LONGEST_INSTRUCTIONS)].trim_end();
        Some(text).filter(|text| !text.is_empty())
    }

    /// The part of an absolute URL below the site's address; `None` for other sites.
    pub fn below<'u>(&self, url: &'u str) -> Option<&'u str> {
        let address = self.address.as_deref()?.trim_end_matches('/');
        let head = url.get(..address.len()).filter(|head| head.eq_ignore_ascii_case(address))?;
        let rest = &url[head.len()..];
        (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then_some(rest)
    }

    /// The path of the site's address, without slashes around it: `docs` for `https://example.com/docs`.
    pub fn folder(&self) -> &str {
        let address = self.address.as_deref().unwrap_or_default();
        let host = address.split_once("://").map_or("", |(_, host)| host);
        host.split_once('/').map_or("", |(_, folder)| folder.trim_matches('/'))
    }
}

/// Looks up the settings of a site. Called once per question, so it must not block.
#[derive(Clone)]
pub(crate) struct SiteLookup(pub(crate) Arc<dyn Fn(ProjectUid) -> SiteSettings + Send + Sync>);

impl SiteLookup {
    pub(crate) fn of(&self, project: ProjectUid) -> SiteSettings {
        (self.0)(project)
    }
}

impl Default for SiteLookup {
    fn default() -> Self {
        Self(Arc::new(|_| SiteSettings::default()))
    }
}

impl fmt::Debug for SiteLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sites")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> SiteSettings {
        SiteSettings { address: Some(address.to_owned()), ..SiteSettings::default() }
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
        assert_eq!(SiteSettings::default().below("https://example.com"), None);
        assert_eq!((site.folder(), at("https://example.com").folder()), ("docs", ""));
    }

    #[test]
    fn long_instructions_are_cut_between_letters() {
        let site = SiteSettings { instructions: Some("é".repeat(5_000).into()), ..SiteSettings::default() };
        assert_eq!(site.truncated_instructions().expect("some").len(), LONGEST_INSTRUCTIONS);
        let site = SiteSettings { instructions: Some(" \n ".into()), ..SiteSettings::default() };
        assert_eq!(site.truncated_instructions(), None);
    }
}
