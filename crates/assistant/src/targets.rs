//! The links that may be sent: those to pages of the site, and those in the text that the model was given.

use std::collections::HashSet;
use std::sync::Arc;

use docent_search::Snapshot;
use docent_types::{Passage, encoded_path};

use crate::link_filter::{LinkTarget, urls};
use crate::site::SiteSettings;

/// The link targets that a reply may use.
#[derive(Debug)]
pub(crate) struct Targets {
    docs: Arc<Snapshot>,
    site: SiteSettings,
    /// The path of the page the reader is on, if the docs have it.
    here: Option<String>,
    /// The folders of pages whose text was given to the model, percent-encoded, to resolve relative links copied from
    /// there.
    folders: Vec<String>,
    /// URLs of other sites in the given text.
    elsewhere: HashSet<String>,
    /// Images in the given text.
    images: HashSet<String>,
}

impl Targets {
    pub(crate) fn new(docs: Arc<Snapshot>, site: SiteSettings, here: Option<String>) -> Self {
        let folders = here.iter().map(|here| encoded_path(folder(here)).into_owned()).collect();
        let mut targets = Self { docs, site, here, folders, elsewhere: HashSet::new(), images: HashSet::new() };
        if let Some(instructions) = targets.site.truncated_instructions().map(str::to_owned) {
            targets.learn(&instructions);
        }
        targets
    }

    pub(crate) const fn docs(&self) -> &Arc<Snapshot> {
        &self.docs
    }

    pub(crate) const fn site(&self) -> &SiteSettings {
        &self.site
    }

    /// The page the reader is on, if the docs have it.
    pub(crate) fn here(&self) -> Option<&str> {
        self.here.as_deref()
    }

    /// Adds the links of a passage.
    pub(crate) fn learn_passage(&mut self, passage: &Passage) {
        let folder = encoded_path(folder(&passage.path));
        if !self.folders.iter().any(|known| *known == folder) {
            self.folders.push(folder.into_owned());
        }
        self.learn(&passage.content);
    }

    /// Adds the links of a text of the docs.
    pub(crate) fn learn(&mut self, text: &str) {
        self.elsewhere.extend(urls(text).map(|url| url.trim_end_matches('/').to_owned()));
        for (at, opening) in text.match_indices("](") {
            let link = &text[at + opening.len()..];
            let target = link.split(|c: char| c.is_whitespace() || c == ')').next().unwrap_or_default();
            if target.starts_with("mailto:") {
                self.elsewhere.insert(target.to_owned());
            } else {
                self.images.insert(target.to_owned());
            }
        }
    }

    /// The destination to write for a link; `None` if the link must be removed.
    pub(crate) fn judge(&self, destination: LinkTarget<'_>) -> Option<String> {
        let odd = |text: &str| text.is_empty() || text.contains(|c: char| c.is_control() || c == '\\');
        match destination {
            LinkTarget::Link(link) => self.link(Some(link.trim()).filter(|link| !odd(link))?),
            LinkTarget::Image(image) => {
                let from_here = image.starts_with('/') && !image.starts_with("//");
                let from_web = image.starts_with("https://") || image.starts_with("http://");
                let given = self.images.contains(image) || self.elsewhere.contains(image.trim_end_matches('/'));
                ((from_here || from_web) && given && !odd(image)).then(|| encoded(image))
            }
        }
    }

    fn link(&self, link: &str) -> Option<String> {
        if let Some(below) = self.site.below(link) {
            return self.page(below, &[]);
        }
        if link.starts_with("//") || has_scheme(link) {
            return self.elsewhere.contains(link.trim_end_matches('/')).then(|| encoded(link));
        }
        if link.starts_with('#') {
            return self.page(&format!("/{}{link}", encoded_path(self.here.as_ref()?)), &[]);
        }
        let folders = if link.starts_with('/') { &[][..] } else { &self.folders };
        self.page(link, folders)
    }

    /// The address of the page that a path with an optional anchor leads to, relative to the root of the site or to one
    /// of these folders.
    fn page(&self, link: &str, folders: &[String]) -> Option<String> {
        let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
        let path = path.split('?').next().unwrap_or_default().trim_matches('/');
        let below = path.strip_prefix(self.site.folder()).filter(|_| !self.site.folder().is_empty());
        let below =
            below.filter(|rest| rest.is_empty() || rest.starts_with('/')).map(|rest| rest.trim_start_matches('/'));
        let roots = [Some(path), below].into_iter().flatten().map(str::to_owned);
        let relative = folders.iter().filter_map(|folder| joined(folder, path));
        let path = encoded(&roots.chain(relative).find_map(|path| self.docs.url_of(&path))?);
        let anchor = anchor.filter(|anchor| !anchor.is_empty() && anchor.chars().all(is_of_an_anchor));
        // What is encoded already stays as it is.
        let anchor = anchor.map(|anchor| anchor.split('%').map(encoded_path).collect::<Vec<_>>().join("%"));
        Some(anchor.map_or_else(|| format!("/{path}"), |anchor| format!("/{path}#{anchor}")))
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn has_scheme(link: &str) -> bool {
    link.split(['/', '?', '#']).next().is_some_and(|head| head.contains(':'))
}

fn is_of_an_anchor(c: char) -> bool {
    c.is_alphanumeric() || "-_.~%:".contains(c)
}

/// Resolves a relative path in a folder; `None` when it leads out of the site.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Encodes a destination so that nothing in it can end a Markdown link.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // A semicolon ends an entity, a bar ends a table cell.
            c if c == ' ' || "()<>\"`[]\\;|{}^$'".contains(c) => out.push_str(&format!("%{:02X}", c as u32)),
            c if c.is_ascii_control() => {}
            c if c.is_ascii() || c.is_alphanumeric() => out.push(c),
            c => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}"))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::docs;

    fn targets(site: SiteSettings) -> Targets {
        let docs = docs(&[
            ("index.mdx", "# Home\n\nWelcome."),
            ("guides/retries.mdx", "# Retries\n\nAgain."),
            ("guides/a b(c).mdx", "# Odd\n\nOdd."),
            ("guides/100%/a%20b;c#d?.md", "# Odder\n\nOdder."),
            ("設定.md", "# 設定\n\n三つ。"),
            ("reference/errors.md", "# Errors\n\nE1."),
        ]);
        let mut targets = Targets::new(docs, site, Some("reference/errors".to_owned()));
        targets.learn("See [RFC](https://rfc.test/9110/) and https://wiki.test/Retry_(x). ![Chart](/img/chart.png) [w](mailto:a@b.test)");
        targets
    }

    #[test]
    fn a_link_to_a_page_is_written_as_the_site_does() {
        let site = SiteSettings { address: Some("https://acme.test/docs".to_owned()), ..SiteSettings::default() };
        let targets = targets(site);
        for (written, href) in [
            ("/guides/retries", Some("/guides/retries")),
            ("/guides/retries.mdx#backoff", Some("/guides/retries#backoff")),
            ("guides/retries/?tab=1", Some("/guides/retries")),
            ("../guides/retries", Some("/guides/retries")),
            ("./errors.md", Some("/reference/errors")),
            ("errors#e1", Some("/reference/errors#e1")),
            ("#e1", Some("/reference/errors#e1")),
            ("/", Some("/")),
            ("https://acme.test/docs/guides/retries#x", Some("/guides/retries#x")),
            ("https://acme.test/docs", Some("/")),
            ("/docs/guides/retries", Some("/guides/retries")),
            ("/guides/a%20b%28c%29", Some("/guides/a%20b%28c%29")),
            ("/guides/a b(c)", Some("/guides/a%20b%28c%29")),
            ("../guides/a b(c).mdx#é", Some("/guides/a%20b%28c%29#%C3%A9")),
            ("/guides/100%25/a%2520b;c%23d%3F", Some("/guides/100%25/a%2520b%3Bc%23d%3F")),
            ("/guides/100%/a%20b;c%23d%3F", None),
            ("/設定#設%E5%AE%9A", Some("/%E8%A8%AD%E5%AE%9A#%E8%A8%AD%E5%AE%9A")),
            ("/%E8%A8%AD%E5%AE%9A", Some("/%E8%A8%AD%E5%AE%9A")),
            ("/guides/retries#a b", Some("/guides/retries")),
            ("https://acme.test/docs/nothing", None),
            ("https://acme.test/elsewhere", None),
            ("/guides/nothing", None),
            ("//guides/retries", None),
            ("/\\guides/retries", None),
            ("../../../guides/retries", None),
            ("javascript:alert(1)", None),
            ("", None),
        ] {
            assert_eq!(targets.judge(LinkTarget::Link(written)).as_deref(), href, "{written}");
        }
    }

    #[test]
    fn external_links_of_the_docs_are_allowed_in_answers() {
        let targets = targets(SiteSettings::default());
        for (written, href) in [
            ("https://rfc.test/9110/", Some("https://rfc.test/9110/")),
            ("https://rfc.test/9110", Some("https://rfc.test/9110")),
            ("https://wiki.test/Retry_(x)", Some("https://wiki.test/Retry_%28x%29")),
            ("mailto:a@b.test", Some("mailto:a@b.test")),
            ("https://rfc.test/91", None),
            ("https://rfc.test/9110#x", None),
            ("//rfc.test/9110", None),
            ("mailto:c@b.test", None),
        ] {
            assert_eq!(targets.judge(LinkTarget::Link(written)).as_deref(), href, "{written}");
        }
        assert_eq!(targets.judge(LinkTarget::Image("/img/chart.png")).as_deref(), Some("/img/chart.png"));
        assert_eq!(targets.judge(LinkTarget::Image("/img/other.png")), None);
        assert_eq!(targets.judge(LinkTarget::Image("https://evil.test/x.png")), None);
    }
}
