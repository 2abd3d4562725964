//! Finds the page or anchor that a broken name was meant for.
//!
//! Nothing is guessed by similarity: a page is chosen if history, a redirect, its letter case or its extension
//! identifies it, or if it is the only one of that name and the link clearly leads into the docs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use docent_markdown::{AnchorStyle, Anchors, Page, file_name, folder, is_page, site_path};
use docent_site::{Site, Target, has_page_ending};

use super::history::History;
use super::listed;

/// Why a page or an anchor is taken for the intended target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    Moved,
    Redirected,
    LetterCase,
    Ending,
    Depth,
    OnlyOne,
    SlugRule,
    Renamed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Moved => "the page moved",
            Self::Redirected => "a redirect",
            Self::LetterCase => "letter case",
            Self::Ending => "the ending",
            Self::Depth => "the same path from another folder",
            Self::OnlyOne => "the only page of that name",
            Self::SlugRule => "the same words as an anchor",
            Self::Renamed => "the heading was renamed",
        })
    }
}

/// The result of looking up a broken name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resolution {
    /// This file or anchor.
    One(String, Reason),
    /// Perhaps one of these.
    Several(Vec<String>),
    Nothing,
}

impl Resolution {
    /// The file or anchor that is meant, or why none is known. `sign` stands before the names that it could be.
    pub(super) fn or_why(self, sign: &str, nothing: &str) -> Result<(String, Reason), String> {
        match self {
            Self::One(name, why) => Ok((name, why)),
            Self::Several(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("{sign}{name}")).collect();
                Err(format!("it could be {}", listed(&names)))
            }
            Self::Nothing => Err(nothing.to_owned()),
        }
    }
}

/// Minimum length of a name by which a page may be found, in bytes.
const MIN_NAME_BYTES: usize = 5;

/// The names of a site's pages and files.
pub(super) struct NameIndex<'a> {
    site: &'a Site,
    /// Files by path or address, normalized by [`plain`].
    pages: BTreeMap<String, BTreeSet<&'a str>>,
    assets: BTreeMap<String, BTreeSet<&'a str>>,
    /// Served pages by the last segment of their path or address.
    by_last_part: BTreeMap<String, BTreeSet<&'a str>>,
    /// Folders that hold pages, by file path and by address, in lowercase.
    folders: BTreeSet<String>,
    /// The parts of file paths that precede the page's address.
    prefixes: BTreeSet<&'a str>,
}

impl<'a> NameIndex<'a> {
    pub(super) fn of(site: &'a Site) -> Self {
        let mut names = Self {
            site,
            pages: BTreeMap::new(),
            assets: BTreeMap::new(),
            by_last_part: BTreeMap::new(),
            folders: BTreeSet::new(),
            prefixes: BTreeSet::from([""]),
        };
        for file in site.files() {
            if !is_page(file) {
                names.assets.entry(file.to_lowercase()).or_default().insert(file);
                continue;
            }
            names.pages.entry(plain(file)).or_default().insert(file);
            let Some(address) = site.address(file) else { continue };
            names.pages.entry(plain(address)).or_default().insert(file);
            names.by_last_part.entry(file_name(&plain(file)).to_owned()).or_default().insert(file);
            names.by_last_part.entry(file_name(&plain(address)).to_owned()).or_default().insert(file);
            names.folders.extend([folder(file), folder(address)].map(str::to_lowercase));
            let stem = file.get(..site_path(file).len()).unwrap_or("");
            names.prefixes.extend(stem.strip_suffix(address).filter(|rest| rest.is_empty() || rest.ends_with('/')));
        }
        names
    }

    /// The current path of the file that moved away from a path or address, according to the history; `None` if
    /// ambiguous.
    pub(super) fn moved_to(&self, path: &str, history: &dyn History) -> Option<String> {
        let now: BTreeSet<String> = self.moves(path, history).into_values().collect();
        let mut now = now.into_iter();
        now.next().filter(|_| now.next().is_none())
    }

    /// The files that a path or an address may have named before they moved, and their current paths.
    pub(super) fn moves(&self, path: &str, history: &dyn History) -> BTreeMap<String, String> {
        let path = path.trim_matches('/');
        let stem = path.strip_suffix(".html").unwrap_or(path);
        let forms: Vec<String> = match has_page_ending(path) || is_asset(path) {
            true => vec![path.to_owned()],
            false => {
                let endings =
                    [".md", ".mdx", ".markdown", ".rst", "/index.md", "/index.mdx", "/README.md", "/index.rst"];
                endings.iter().map(|ending| format!("{stem}{ending}").trim_start_matches('/').to_owned()).collect()
            }
        };
        let old = self.prefixes.iter().flat_map(|prefix| forms.iter().map(move |form| format!("{prefix}{form}")));
        let old = old.chain(self.site.files_for(stem));
        let now = |old: String| Some((history.moved(&old).filter(|now| self.site.has_file(now))?, old));
        old.filter(|old| !self.site.has_file(old)).filter_map(now).map(|(now, old)| (old, now)).collect()
    }

    /// The file that is meant by a path or address that does not resolve. `target` is the link on the page `from`.
    pub(super) fn page(&self, path: &str, from: &str, target: &str) -> Resolution {
        if is_asset(path) {
            return one_of(self.assets.get(&path.to_lowercase()), |_| Reason::LetterCase);
        }
        let wanted = plain(path);
        if wanted.is_empty() {
            return Resolution::Nothing;
        }
        let of_that_name: Option<BTreeSet<&str>> = self.pages.get(&wanted).map(|found| {
            // With another address, a name without an ending that differs in letter case, too, is no name of the page.
            let is_like = |file: &&str| {
                has_page_ending(path)
                    || without_ending_and_index(file) == without_ending_and_index(path)
                    || self.site.address(file).is_none_or(|address| plain(address) == wanted)
            };
            found.iter().copied().filter(is_like).collect()
        });
        if let Some(found) = &of_that_name {
            let spelled = |file: &str| {
                let same = |name: &str| without_ending_and_index(name) == without_ending_and_index(path);
                if same(file) || self.site.address(file).is_some_and(same) {
                    Reason::Ending
                } else {
                    Reason::LetterCase
                }
            };
            return one_of(Some(found), spelled);
        }
        if let Target::Redirect { destination } = self.site.resolve(from, &format!("/{}", without_ending(path)))
            && let Target::Page { file, .. } = self.site.resolve(from, &destination)
        {
            return Resolution::One(file, Reason::Redirected);
        }
        self.only_one(&wanted, from, target)
    }

    /// Whether a page or a file has this path but for its letter case, its ending and `index`.
    pub(super) fn has_near(&self, path: &str) -> bool {
        let wanted = plain(path);
        self.pages.contains_key(&wanted) && !wanted.is_empty() || self.assets.contains_key(&path.to_lowercase())
    }

    /// The page at the path of a link, without its leading `..`, from a folder of the page `from` or one above it.
    pub(super) fn at_another_depth(&self, from: &str, written: &str) -> Resolution {
        let is_served = |file: &str| self.site.address(file).is_some();
        if written.starts_with('/') && (!is_served(from) || has_page_ending(written)) {
            // What is served at the root where the page is shown is unknown, and a file there may be served as it is.
            return Resolution::Nothing;
        }
        let wanted = plain(climbed(written));
        if !is_distinctive(file_name(&wanted)) {
            return Resolution::Nothing;
        }
        let mut found = BTreeSet::new();
        for start in [folder(from), self.site.address(from).unwrap_or_default()] {
            let mut above = start;
            loop {
                let path = if above.is_empty() { wanted.clone() } else { format!("{}/{wanted}", above.to_lowercase()) };
                found.extend(self.pages.get(&path).into_iter().flatten().copied());
                if above.is_empty() {
                    break;
                }
                above = folder(above);
            }
        }
        found.retain(|file| {
            *file != from && (is_served(file) || !is_served(from)) && self.is_of_the_same_docs(file, from)
        });
        one_of(Some(&found), |_| Reason::Depth)
    }

    /// Whether two pages belong to the same site, version and language.
    fn is_of_the_same_docs(&self, one: &str, other: &str) -> bool {
        let place = |file: &str| {
            let place = self.site.layout().place(file);
            (place.version, place.language)
        };
        self.site.site_folder(one) == self.site.site_folder(other) && place(one) == place(other)
    }

    /// The only page of that name, if the link clearly leads into the docs: it is relative, or its folder holds pages.
    /// Other links, such as `/pricing`, may be served by something else.
    fn only_one(&self, wanted: &str, from: &str, target: &str) -> Resolution {
        let name = file_name(wanted);
        let above = folder(wanted);
        let is_of_the_docs = match above.is_empty() {
            true => !target.starts_with('/'),
            false => {
                self.folders.contains(above)
                    || self.prefixes.iter().any(|prefix| self.folders.contains(&format!("{prefix}{above}")))
            }
        };
        let site_folder = self.site.site_folder(from);
        let found = self.by_last_part.get(name).map(|found| {
            found.iter().filter(|file| self.site.site_folder(file) == site_folder).copied().collect::<BTreeSet<_>>()
        });
        let ends_alike = |file: &&str| !above.is_empty() && plain(file).ends_with(&format!("/{wanted}"));
        let Some(found) = found.filter(|found| is_distinctive(name) && !found.is_empty()) else {
            return Resolution::Nothing;
        };
        let is_clear = is_of_the_docs || (found.len() == 1 && found.iter().all(ends_alike));
        match found.iter().next() {
            Some(file) if found.len() == 1 => {
                let file = (*file).to_owned();
                match file != from && self.is_of_the_same_docs(&file, from) {
                    true if is_clear => Resolution::One(file, Reason::OnlyOne),
                    true => Resolution::Several(vec![file]),
                    false => Resolution::Nothing,
                }
            }
            _ => one_of(Some(&found), |_| Reason::OnlyOne),
        }
    }
}

/// Whether a name is more than a number or a few letters.
fn is_distinctive(name: &str) -> bool {
    name.len() >= MIN_NAME_BYTES && name.chars().filter(|c| c.is_alphabetic()).count() >= MIN_NAME_BYTES - 1
}

/// A path without the parts at its beginning that lead up.
fn climbed(path: &str) -> &str {
    let mut rest = path;
    while let Some(("" | "." | "..", below)) = rest.split_once('/') {
        rest = below;
    }
    rest
}

fn one_of(files: Option<&BTreeSet<&str>>, why: impl Fn(&str) -> Reason) -> Resolution {
    let files: Vec<&str> = files.into_iter().flatten().copied().collect();
    match files.as_slice() {
        [] => Resolution::Nothing,
        [one] => Resolution::One((*one).to_owned(), why(one)),
        _ => Resolution::Several(files.into_iter().take(3).map(str::to_owned).collect()),
    }
}

/// The anchor that is meant by one that the page lacks: it has the same words under the slug rule of another generator.
pub(super) fn anchor(wanted: &str, page: &Page) -> Resolution {
    let plain = plain_anchor(wanted);
    if plain.is_empty() {
        return Resolution::Nothing;
    }
    let styles = [AnchorStyle::GitHub, AnchorStyle::VitePress, AnchorStyle::Python, AnchorStyle::PythonUnicode];
    let mut found: Vec<&str> = Vec::new();
    for heading in &page.headings {
        let spelled = styles.iter().map(|style| Anchors::of(*style).for_heading(&heading.text));
        if spelled.chain([heading.anchor.clone()]).any(|anchor| plain_anchor(&anchor) == plain) {
            found.push(&heading.anchor);
        }
    }
    found.extend(page.ids.iter().map(String::as_str).filter(|id| plain_anchor(id) == plain));
    found.dedup();
    match found.as_slice() {
        [] => Resolution::Nothing,
        [one] => Resolution::One((*one).to_owned(), Reason::SlugRule),
        _ => Resolution::Several(found.into_iter().take(3).map(str::to_owned).collect()),
    }
}

/// An anchor without the differences between slug rules: letter case, separators and punctuation.
fn plain_anchor(anchor: &str) -> String {
    let anchor: String = anchor.chars().filter(|c| !"?,;:!'\"()[]{}".contains(*c)).collect();
    let parts = anchor.split(['-', '_', ' ', '.']).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// A path without what is spelled in different ways: letter case, the extension, `index`.
fn plain(path: &str) -> String {
    without_ending_and_index(path).to_lowercase()
}

/// A path without its extension and `index`.
fn without_ending_and_index(path: &str) -> &str {
    let path = without_ending(path);
    match path.rsplit_once('/') {
        Some((folder, name)) if is_index(name) => folder,
        None if is_index(path) => "",
        _ => path,
    }
}

fn is_index(name: &str) -> bool {
    ["index", "readme"].iter().any(|index| name.eq_ignore_ascii_case(index))
}

fn without_ending(path: &str) -> &str {
    let path = path.trim_matches('/');
    let endings = [".html", ".htm", ".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".ipynb"];
    let is_ending = |ending: &&str| {
        path.get(path.len().saturating_sub(ending.len())..).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    endings.iter().find(|ending| is_ending(ending)).map_or(path, |ending| &path[..path.len() - ending.len()])
}

/// Whether a path names a file that is not a page.
fn is_asset(path: &str) -> bool {
    let name = file_name(path);
    name.rsplit_once('.').is_some_and(|(_, ending)| {
        without_ending(name) == name
            && (2..=5).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use docent_markdown::parse;

    use super::*;
    use crate::sample::site;

    fn one(file: &str, why: Reason) -> Resolution {
        Resolution::One(file.to_owned(), why)
    }

    fn perhaps(file: &str) -> Resolution {
        Resolution::Several(vec![file.to_owned()])
    }

    #[test]
    fn a_page_is_meant_only_where_something_says_so() {
        let tree = site(&[
            ("docs.json", r#"{"redirects": [{"source": "/old/start", "destination": "/getting-started"}]}"#),
            ("guides/retries.mdx", ""),
            ("guides/webhooks.mdx", ""),
            ("api/errors.mdx", ""),
            ("api/v1/list-all.mdx", ""),
            ("api/v2/list-all.mdx", ""),
            ("getting-started.mdx", ""),
            ("reference/v12.mdx", ""),
            ("img/Logo.png", ""),
        ]);
        let site = Site::read(&tree);
        let names = NameIndex::of(&site);
        for (wanted, target, expected) in [
            ("guides/Retries.html", "/guides/Retries.html", one("guides/retries.mdx", Reason::LetterCase)),
            ("guides/retries.html", "/guides/retries.html", one("guides/retries.mdx", Reason::Ending)),
            ("getting-started/index", "/getting-started/index", one("getting-started.mdx", Reason::Ending)),
            ("old/start.html", "/old/start.html", one("getting-started.mdx", Reason::Redirected)),
            ("guides/errors", "/guides/errors", one("api/errors.mdx", Reason::OnlyOne)),
            ("img/logo.png", "/img/logo.png", one("img/Logo.png", Reason::LetterCase)),
            // In another folder, which may be served by something else.
            ("reference/rest/errors", "/reference/rest/errors", perhaps("api/errors.mdx")),
            ("errors", "/errors", perhaps("api/errors.mdx")),
            (
                "guides/list-all",
                "/guides/list-all",
                Resolution::Several(vec!["api/v1/list-all.mdx".into(), "api/v2/list-all.mdx".into()]),
            ),
            // Similarity is not enough.
            ("guides/retry", "/guides/retry", Resolution::Nothing),
            ("guides/webhoks", "/guides/webhoks", Resolution::Nothing),
            ("guides/web_hooks", "/guides/web_hooks", Resolution::Nothing),
            ("reference/v13", "/reference/v13", Resolution::Nothing),
            ("guides/v12", "/guides/v12", Resolution::Nothing),
            ("", "/", Resolution::Nothing),
        ] {
            assert_eq!(names.page(wanted, "guides/retries.mdx", target), expected, "{wanted}");
        }
        struct Moves;
        impl History for Moves {
            fn moved(&self, old: &str) -> Option<String> {
                (old == "guides/queue.mdx").then(|| "guides/webhooks.mdx".to_owned())
            }
        }
        let history = Moves;
        assert_eq!(names.moved_to("guides/queue", &history).as_deref(), Some("guides/webhooks.mdx"));
        assert_eq!(names.moved_to("guides/queues", &history), None);
    }

    #[test]
    fn a_name_in_other_letters_is_none_of_a_page_with_another_address() {
        let tree = site(&[
            ("docusaurus.config.js", "export default {presets: [['classic', {docs: {routeBasePath: '/'}}]]};"),
            ("docs/a.md", ""),
            ("docs/B.md", "---\nslug: bee\n---\n"),
            ("docs/Cedar.md", ""),
        ]);
        let site = Site::read(&tree);
        let names = NameIndex::of(&site);
        for (wanted, expected) in [
            ("docs/b", Resolution::Nothing),
            ("docs/b.md", one("docs/B.md", Reason::LetterCase)),
            ("docs/B", one("docs/B.md", Reason::Ending)),
            ("bee", one("docs/B.md", Reason::Ending)),
            ("cedar", one("docs/Cedar.md", Reason::LetterCase)),
        ] {
            assert_eq!(names.page(wanted, "docs/a.md", wanted), expected, "{wanted}");
        }
    }

    #[test]
    fn an_anchor_is_meant_only_by_its_own_words() {
        let page = parse(
            "a.md",
            b"# Set up\n\n## What's new?\n\n## Rate limits\n\n## Rate limits\n\n## v12\n\n## `foo_bar()` options\n",
        );
        for (wanted, expected) in [
            ("what-s-new", one("whats-new", Reason::SlugRule)),
            ("Set_Up", one("set-up", Reason::SlugRule)),
            ("what's-new?", one("whats-new", Reason::SlugRule)),
            ("foo-bar-options", one("foo_bar-options", Reason::SlugRule)),
            ("rate_limits_1", one("rate-limits-1", Reason::SlugRule)),
            ("setup", Resolution::Nothing),
            ("v1-2", Resolution::Nothing),
            ("rate-limit", Resolution::Nothing),
            ("billing", Resolution::Nothing),
        ] {
            assert_eq!(anchor(wanted, &page), expected, "{wanted}");
        }
    }
}
