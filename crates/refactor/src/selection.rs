//! Selects the files that an instruction applies to.

use std::collections::BTreeSet;

use docent_markdown::{file_name, folder, is_markdown, is_page, site_path};
use docent_site::{Glob, Site, has_page_ending};

use super::RefactorError;

/// All Markdown files, or those that match the patterns.
#[derive(Debug, Clone)]
pub struct Selection {
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    written: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// A file.
    File(String),
    /// Everything below a folder; the path ends in a slash.
    Folder(String),
    Glob(Glob),
}

impl Selection {
    /// The files that match the patterns. A pattern is a page name as users write it, a file, a folder or a glob. In a
    /// glob, `*` does not match a slash and `**` does; a glob without a slash is matched against file names in every
    /// folder. No patterns select everything. A pattern that matches nothing is an error, because it is most likely a
    /// mistake.
    pub fn of(site: &Site, patterns: &[String]) -> Result<Self, RefactorError> {
        let patterns = patterns.iter().map(|pattern| read(site, pattern)).collect::<Result<Vec<_>, _>>()?;
        let selection = Self { patterns };
        for pattern in &selection.patterns {
            if !site.files().any(|file| pattern.matches(file)) {
                return Err(RefactorError::NothingMatches(pattern.written.clone()));
            }
        }
        Ok(selection)
    }

    /// Whether there are patterns.
    pub fn is_narrowed(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Whether a file is selected. Without patterns, every Markdown file is, even if it is no page of the site, and every
    /// file in another language of pages.
    pub fn has(&self, file: &str) -> bool {
        match self.patterns.as_slice() {
            [] => is_markdown(file) || is_page(file),
            patterns => patterns.iter().any(|pattern| pattern.matches(file)),
        }
    }
}

impl Pattern {
    fn matches(&self, file: &str) -> bool {
        match &self.kind {
            Kind::File(path) => path == file,
            Kind::Folder(folder) => file.starts_with(folder.as_str()),
            Kind::Glob(glob) => glob.is_match(file) || (is_page(file) && glob.is_match(&site_path(file))),
        }
    }
}

fn read(site: &Site, written: &str) -> Result<Pattern, RefactorError> {
    let name = written.trim().trim_start_matches("./").trim_start_matches('/');
    let kind = if !name.contains(['*', '?', '[', '{']) {
        let folder = format!("{}/", name.trim_end_matches('/'));
        let page = site.page_named(name).filter(|_| !name.ends_with('/'));
        match page {
            Some(file) => Kind::File(file.to_owned()),
            None if site.has_file(name) => Kind::File(name.to_owned()),
            None if folder == "/" => Kind::Folder(String::new()),
            None => Kind::Folder(folder),
        }
    } else {
        let anywhere = if name.contains('/') { name.to_owned() } else { format!("**/{name}") };
        Kind::Glob(Glob::new(&anywhere)?)
    };
    Ok(Pattern { written: written.to_owned(), kind })
}

/// The path of a new page, from user input. `like` supplies the extension if there is none, and the file name if the
/// path ends in a slash.
pub(super) fn page_path(site: &Site, written: &str, like: &str) -> Result<String, RefactorError> {
    let bad = |why| RefactorError::BadPath { path: written.to_owned(), why };
    let name = written.trim().trim_start_matches("./").trim_start_matches('/');
    let file_name = file_name(like);
    let mut path = if name.ends_with('/') { format!("{name}{file_name}") } else { name.to_owned() };
    if !has_page_ending(&path) {
        let ending = file_name.rsplit_once('.').map_or("mdx", |(_, ending)| ending);
        path = format!("{path}.{ending}");
    }
    if name.is_empty() {
        return Err(bad("it is empty"));
    }
    path = in_the_docs(site, path, like);
    if path.len() > 500 {
        return Err(bad("it is longer than 500 bytes"));
    }
    if path.contains(['\\', '\0', ':', '?', '#', '*', '<', '>', '|', '"', '`', '{', '}', '%'])
        || path.contains(char::is_control)
    {
        return Err(bad("use letters, digits, `-`, `_`, `.`, `/` and spaces"));
    }
    if path.split('/').any(|part| part.is_empty() || part.starts_with('.') || part.trim() != part) {
        return Err(bad("no part of it may be empty, or begin with a dot or a space"));
    }
    if site.has_file(&path) {
        return Err(RefactorError::Occupied(path));
    }
    if let Some(other) = site.file_at(&site_path(&path))
        && site_path(other) == site_path(&path)
        && other != like
    {
        return Err(RefactorError::Occupied(other.to_owned()));
    }
    Ok(path)
}

/// Completes a path at which the site serves no pages. Users who name a page by its address leave out the folder of the
/// docs, so the folder is prepended if exactly one fits. A file that is no page of the site has no address, so that paths
/// below its folder are complete.
fn in_the_docs(site: &Site, path: String, like: &str) -> String {
    let is_no_page = site.has_file(like) && site.address(like).is_none();
    if site.layout().holds_pages(&path) || (is_no_page && is_in(folder(like), &path)) {
        return path;
    }
    let before = |file: &str, address: &str| {
        let stem = file.get(..site_path(file).len())?;
        stem.strip_suffix(address).filter(|folder| folder.ends_with('/')).map(str::to_owned)
    };
    let own = site.address(like).and_then(|address| before(like, address));
    let folders: BTreeSet<String> = match own {
        Some(folder) => BTreeSet::from([folder]),
        None => site.served().into_iter().filter_map(|(address, file)| before(file, address)).collect(),
    };
    // A path that already begins with the folder is complete, even if the site makes no page of it.
    let folders = folders.into_iter().filter(|folder| !path.starts_with(folder.as_str()));
    let mut fitting = folders.map(|folder| format!("{folder}{path}")).filter(|path| site.layout().holds_pages(path));
    match (fitting.next(), fitting.next()) {
        (Some(path), None) => path,
        _ => path,
    }
}

fn is_in(folder: &str, path: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The page that a user means, or an error that lists pages with the same last segment.
pub(super) fn page_named(site: &Site, name: &str) -> Result<String, RefactorError> {
    if let Some(file) = site.page_named(name) {
        return Ok(file.to_owned());
    }
    let last = site_path(name.trim().trim_matches('/'));
    let last = file_name(&last).to_lowercase();
    let near = site.served().into_iter().filter(|(path, _)| !last.is_empty() && file_name(path).to_lowercase() == last);
    let nearest: Vec<String> = near.map(|(_, file)| file.to_owned()).take(3).collect();
    Err(match nearest.is_empty() {
        true => RefactorError::NoSuchPage(name.to_owned()),
        false => RefactorError::NoSuchPageBut { name: name.to_owned(), nearest },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::site;

    fn chosen(patterns: &[&str]) -> Result<Vec<String>, RefactorError> {
        let tree = site(&[
            ("index.mdx", ""),
            ("guides/a.mdx", ""),
            ("guides/deep/b.md", ""),
            ("api.json", "{}"),
            ("guides.mdx", ""),
        ]);
        let site = Site::read(&tree);
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let selection = Selection::of(&site, &patterns)?;
        Ok(site.files().filter(|file| selection.has(file)).map(str::to_owned).collect())
    }

    #[test]
    fn patterns_are_pages_files_folders_or_globs() {
        for (patterns, files) in [
            (&[][..], &["guides.mdx", "guides/a.mdx", "guides/deep/b.md", "index.mdx"][..]),
            (&["guides/a"], &["guides/a.mdx"]),
            (&["/guides/a.mdx"], &["guides/a.mdx"]),
            (&["guides"], &["guides.mdx"]),
            (&["guides/"], &["guides/a.mdx", "guides/deep/b.md"]),
            (&["guides/deep"], &["guides/deep/b.md"]),
            (&["guides/*"], &["guides/a.mdx"]),
            (&["guides/**"], &["guides/a.mdx", "guides/deep/b.md"]),
            (&["*.md"], &["guides/deep/b.md"]),
            (
                &["**/*.{md,mdx}", "api.json"],
                &["api.json", "guides.mdx", "guides/a.mdx", "guides/deep/b.md", "index.mdx"],
            ),
        ] {
            assert_eq!(chosen(patterns).expect("a selection"), files, "{patterns:?}");
        }
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_an_error() {
        assert_eq!(chosen(&["nope/**"]), Err(RefactorError::NothingMatches("nope/**".into())));
        assert_eq!(chosen(&["nope"]), Err(RefactorError::NothingMatches("nope".into())));
        assert_eq!(chosen(&["[a"]), Err(RefactorError::BadGlob(Glob::new("**/[a").expect_err("no glob"))));
    }

    #[test]
    fn a_path_beside_a_file_that_is_no_page_is_complete() {
        let tree = site(&[
            ("docs/astro.config.mjs", "import starlight from '@astrojs/starlight'\n"),
            ("docs/README.md", ""),
            ("docs/src/content/docs/a.md", ""),
        ]);
        let site = Site::read(&tree);
        for (like, written, expected) in [
            ("docs/README.md", "docs/old/README.md", "docs/old/README.md"),
            ("docs/README.md", "old/README.md", "docs/src/content/docs/old/README.md"),
            ("docs/src/content/docs/a.md", "docs/b.md", "docs/src/content/docs/docs/b.md"),
        ] {
            assert_eq!(page_path(&site, written, like).as_deref(), Ok(expected), "{written} beside {like}");
        }
    }

    #[test]
    fn a_new_page_gets_a_path_that_can_be_served() {
        let tree = site(&[("guides/a.mdx", "")]);
        let site = Site::read(&tree);
        let path = |written: &str| page_path(&site, written, "x/like.md");
        assert_eq!(path("/guides/b").as_deref(), Ok("guides/b.md"));
        assert_eq!(path("guides/b.mdx").as_deref(), Ok("guides/b.mdx"));
        assert_eq!(path("guides/").as_deref(), Ok("guides/like.md"));
        assert_eq!(path("v1.2").as_deref(), Ok("v1.2.md"));
        assert_eq!(path("guides/a"), Err(RefactorError::Occupied("guides/a.mdx".into())));
        for bad in ["", "../x", "a/../b", "a//b", ".git/x", "a\\b", "a:b"] {
            assert!(matches!(path(bad), Err(RefactorError::BadPath { .. })), "{bad}");
        }
    }
}
