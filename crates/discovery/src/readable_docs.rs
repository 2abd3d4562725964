//! The docs of a site as one reader may see them: pages as Markdown, their list, and what is nearest to a page that does
//! not exist.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use docent_access::Reader;
use docent_assistant::SiteSettings;
use docent_markdown::{AnchorStyle, Format, Heading, Page, parse_as};
use docent_search::{PageContent, PageEntry, Snapshot};
use docent_types::{Domain, Passage, encoded_path};

use crate::filter::FilterBody;
use crate::page_links::{PagePlace, Pages, with_site_links};

/// A group that nobody is in: a filter by it leaves the pages that are open to all.
const NOBODY: &str = "";

/// One state of the docs of a site, for one reader. A reader without a key sees the pages that are open to all groups.
#[derive(Debug)]
pub struct ReadableDocs {
    docs: Arc<Snapshot>,
    site: SiteSettings,
    domain: Domain,
    is_anybody: bool,
}

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkdownPage {
    /// The page's path on the site, decoded and without a leading slash.
    pub path: String,
    pub title: String,
    /// Headings and text, with includes in place and without templates, imports and tags. Links to pages of the site are
    /// addresses of the site.
    pub markdown: String,
}

impl ReadableDocs {
    pub(crate) fn new(docs: Arc<Snapshot>, site: SiteSettings, reader: &Reader) -> Self {
        let domain = reader.project().domain.clone();
        Self { docs, site, domain, is_anybody: reader.is_anybody() }
    }

    pub const fn docs(&self) -> &Arc<Snapshot> {
        &self.docs
    }

    /// What the owners of the site have set.
    pub const fn site(&self) -> &SiteSettings {
        &self.site
    }

    pub const fn domain(&self) -> &Domain {
        &self.domain
    }

    /// A filter, narrowed to what this reader may read.
    pub fn narrowed(&self, filter: FilterBody) -> FilterBody {
        match self.is_anybody {
            true => FilterBody { groups: Some(vec![NOBODY.to_owned()]), ..filter },
            false => filter,
        }
    }

    /// The page at an address: a path with or without slashes around it and a file extension, or a URL of the site or
    /// of this server. `None` when this reader finds no such page.
    pub fn page(&self, address: &str) -> Option<MarkdownPage> {
        let path = self.path_in(address);
        let below = || path.trim_start_matches('/').strip_prefix(self.site.folder())?.strip_prefix('/');
        let page = page_named(&self.docs, path).or_else(|| page_named(&self.docs, below()?))?;
        self.is_open_to_reader(&page.groups).then(|| self.readable(page))
    }

    /// A passage under its headings, with links as in [`MarkdownPage::markdown`].
    pub fn passage(&self, passage: &Passage) -> String {
        let (content, address) = (passage.under_headings(), passage.encoded_path());
        match self.docs.file_of(&address) {
            Some(file) => self.with_site_links(&content, PagePlace { file, path: &passage.path }),
            None => content,
        }
    }

    /// The pages that this reader may read, in the order of the navigation, pages outside of it last.
    pub fn pages(&self) -> Vec<PageEntry> {
        let mut pages: Vec<_> = self.docs.pages().filter(|page| self.is_open_to_reader(&page.groups)).collect();
        pages.sort_by(|a, b| {
            let key = |page: &PageEntry| (page.order.is_none(), page.order);
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
        });
        // Two files served at one path are one page to a reader.
        let mut seen = HashSet::new();
        pages.retain(|page| seen.insert(page.path.clone()));
        pages
    }

    /// The pages whose paths are most like an address, at most `most`.
    pub fn nearest(&self, address: &str, most: usize) -> Vec<PageEntry> {
        let wanted = trigrams(self.path_in(address).trim_matches('/'));
        let mut pages: Vec<_> =
            self.pages().into_iter().map(|page| (likeness(&wanted, &trigrams(&page.path)), page)).collect();
        // Stable, so that of equally unlike pages the first of the navigation come.
        pages.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        pages.into_iter().take(most).map(|(_, page)| page).collect()
    }

    /// The URL of the page with a path, relative to the site's host where the site's address is not known.
    pub fn url_of(&self, path: &str) -> String {
        let path = encoded_path(path);
        let url = self.docs.url_of(&path).unwrap_or_else(|| path.into_owned());
        format!("{}/{url}", self.site.address.as_deref().unwrap_or_default().trim_end_matches('/'))
    }

    /// A text that differs between two states whose pages differ.
    pub fn state(&self) -> String {
        let Self { docs, site, domain, is_anybody } = self;
        format!(
            "{domain} {} {is_anybody} {}",
            docs.commit().unwrap_or_default(),
            site.address.as_deref().unwrap_or("-")
        )
    }

    fn is_open_to_reader(&self, groups: &[String]) -> bool {
        !self.is_anybody || groups.is_empty()
    }

    fn readable(&self, page: PageContent) -> MarkdownPage {
        let markdown = self.with_site_links(&page.content, PagePlace { file: &page.file, path: &page.path });
        MarkdownPage { path: page.path, title: page.title, markdown }
    }

    fn with_site_links(&self, content: &str, place: PagePlace<'_>) -> String {
        let base = self.site.address.as_deref().unwrap_or_default().trim_end_matches('/');
        with_site_links(content, place, base, &*self.docs)
    }

    /// The path below the site in an address.
    fn path_in<'a>(&self, address: &'a str) -> &'a str {
        let address = address.trim();
        if let Some(below) = self.site.below(address) {
            return below;
        }
        let path = match address.split_once("://") {
            Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
            None => address,
        };
        let here =
            |path: &'a str| path.trim_start_matches('/').strip_prefix("sites/")?.strip_prefix(self.domain.as_str());
        here(path).filter(|rest| rest.starts_with('/')).unwrap_or(path)
    }
}

impl MarkdownPage {
    /// The headings of the page, in order.
    pub fn headings(&self) -> Vec<String> {
        self.parsed().headings.into_iter().map(|heading| heading.text).collect()
    }

    /// A section with all that is below it, by its heading or its anchor, with or without `#`.
    pub fn section(&self, wanted: &str) -> Option<&str> {
        let wanted = wanted.trim().trim_start_matches('#').trim();
        let (anchor, words) = (docent_types::decoded_path(wanted), letters(wanted));
        let headings = self.parsed().headings;
        let is_anchor = |heading: &Heading| heading.anchor == anchor;
        let is_heading = |heading: &Heading| !words.is_empty() && letters(&heading.text) == words;
        let at = headings.iter().position(is_anchor).or_else(|| headings.iter().position(is_heading))?;
        let (heading, below) = (&headings[at], &headings[at + 1..]);
        let end =
            below.iter().find(|next| next.level <= heading.level).map_or(self.markdown.len(), |next| next.span.start);
        self.markdown.get(heading.span.start..end).map(str::trim_end)
    }

    fn parsed(&self) -> Page {
        parse_as("page.md", self.markdown.as_bytes(), Format::Markdown, AnchorStyle::GitHub)
    }
}

/// The letters and digits of a text, in small letters: what a heading and its anchor have in common.
fn letters(text: &str) -> String {
    docent_types::decoded_path(text).chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl Pages for Snapshot {
    fn url_of(&self, address: &str) -> Option<String> {
        Self::url_of(self, address)
    }

    fn url_of_file(&self, file: &str) -> Option<String> {
        Self::url_of_file(self, file)
    }
}

/// The page at an address: a path with or without slashes around it and a file extension. `guides/index` is the page of
/// the folder `guides`, and `index` the front page.
pub fn page_named(docs: &Snapshot, address: &str) -> Option<PageContent> {
    docs.page(address).or_else(|| docs.page(folder_of_index(address)?))
}

/// The folder of an index page: `guides/index`, with any extension, is the page of the folder `guides`, and `index` the
/// front page.
fn folder_of_index(path: &str) -> Option<&str> {
    let path = path.split(['#', '?']).next().unwrap_or_default().trim().trim_matches('/');
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    stem.eq_ignore_ascii_case("index").then_some(folder)
}

/// The runs of three letters of a path, in small letters.
fn trigrams(path: &str) -> HashSet<[char; 3]> {
    let path: Cow<'_, str> = docent_types::decoded_path(path);
    let stem = path.strip_suffix(".md").or_else(|| path.strip_suffix(".mdx")).unwrap_or(&path);
    let letters: Vec<char> = format!("/{stem}/").chars().take(500).flat_map(char::to_lowercase).collect();
    letters.windows(3).map(|run| [run[0], run[1], run[2]]).collect()
}

/// The share of what two paths have in common, from 0 to 1.
fn likeness(a: &HashSet<[char; 3]>, b: &HashSet<[char; 3]>) -> f64 {
    let both = a.intersection(b).count();
    2.0 * both as f64 / (a.len() + b.len()).max(1) as f64
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

    #[test]
    fn a_section_is_found_by_its_heading_and_by_its_anchor() {
        let markdown =
            "# Page\n\nIntro.\n\n## Get it\n\na\n\n### By hand: `make`\n\nb\n\n```\n# no heading\n```\n\n## Größe\n\nc";
        let page = MarkdownPage { path: String::new(), title: String::new(), markdown: markdown.to_owned() };
        let section = |wanted: &str| page.section(wanted).map(|text| text.lines().next_back().unwrap_or_default());
        for (wanted, last) in [
            ("Get it", Some("```")),
            ("#get-it", Some("```")),
            ("get-it", Some("```")),
            ("by hand make", Some("```")),
            ("gr%C3%B6%C3%9Fe", Some("c")),
            ("page", Some("c")),
            ("no heading", None),
            ("", None),
            ("#", None),
        ] {
            assert_eq!(section(wanted), last, "{wanted}");
        }
        assert_eq!(page.headings(), ["Page", "Get it", "By hand: make", "Größe"]);
    }

    #[test]
    fn a_typing_error_is_nearer_than_another_page() {
        let nearest = |wanted: &str| {
            let paths = ["guides/retries", "guides/webhooks", "reference/webhooks", "api/キー"];
            let mut paths: Vec<_> =
                paths.iter().map(|path| (likeness(&trigrams(wanted), &trigrams(path)), *path)).collect();
            paths.sort_by(|a, b| b.0.total_cmp(&a.0));
            paths[0].1
        };
        for (wanted, expected) in [
            ("guides/webhook.md", "guides/webhooks"),
            ("Reference/Web-Hooks", "reference/webhooks"),
            ("retry", "guides/retries"),
            ("api/%E3%82%AD%E3%83%BC", "api/キー"),
        ] {
            assert_eq!(nearest(wanted), expected, "{wanted}");
        }
        assert!(likeness(&trigrams(""), &trigrams("")) >= 0.0);
    }
}
