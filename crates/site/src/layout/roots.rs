//! By which rules a file's name becomes the path it is served at.

use docent_markdown::{FrontMatter, site_path, slug, slugged, stem};
use globset::GlobSet;

use super::below;

/// A folder of pages.
#[derive(Debug, Clone, Default)]
pub(super) struct Root {
    /// `""` for the whole tree.
    pub(super) folder: String,
    /// The site path its pages are below.
    pub(super) served: String,
    pub(super) rules: Rules,
    pub(super) version: Option<String>,
    pub(super) language: Option<String>,
    /// Which navigation its pages are named in, where they are named by an id and not by their path.
    pub(super) navigation: String,
    /// Files that are no pages, relative to the folder.
    pub(super) excluded: GlobSet,
    /// The only files that are pages, if so.
    pub(super) included: Option<GlobSet>,
    /// Names of its folders for readers, by their path in the tree.
    pub(super) labels: std::collections::HashMap<String, String>,
    /// Paths of files that are served elsewhere: from, to, relative to the folder.
    pub(super) rewrites: Vec<(String, String)>,
    /// Languages that file names may end in (`page.fr.md`), the default one first.
    pub(super) suffixes: Vec<String>,
}

/// How a name becomes a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Rules {
    /// The ending goes, `index` and `README` are their folder.
    #[default]
    Plain,
    /// And numbers before names go, and a page named like its folder is its folder.
    Docusaurus,
    /// And dates before names are folders.
    DocusaurusBlog,
    /// Only `index` is its folder.
    VitePress,
    MkDocs,
    /// Only `index` is its folder, and every name is made a slug.
    Starlight,
}

impl Root {
    pub(super) fn holds(&self, file: &str) -> bool {
        self.inside(file).is_some()
    }

    fn inside<'f>(&self, file: &'f str) -> Option<&'f str> {
        match self.folder.is_empty() {
            true => Some(file),
            false => file.strip_prefix(self.folder.as_str())?.strip_prefix('/'),
        }
    }

    /// Whether a file of the folder is a page at all.
    pub(super) fn keeps(&self, file: &str) -> bool {
        let Some(inside) = self.inside(file) else { return false };
        let is_hidden = match self.rules {
            // A page of every value of a parameter: there is none to read.
            Rules::VitePress => inside.contains('['),
            _ => false,
        };
        !is_hidden
            && !inside.split('/').any(|part| part == "node_modules")
            && !self.excluded.is_match(inside)
            && self.included.as_ref().is_none_or(|included| included.is_match(inside))
    }

    /// Whether readers are meant to find a file of the folder, by its name.
    pub(super) fn lists(&self, file: &str) -> bool {
        self.keeps(file)
    }

    /// The path a page is served at, its own wishes honoured.
    pub(super) fn path(&self, file: &str, front: &FrontMatter) -> String {
        let inside = self.inside(file).unwrap_or(file);
        match self.rules {
            Rules::Plain => match front.slug() {
                Some(slug) => below(&self.served, &slugged(inside, slug)),
                None => below(&self.served, &site_path(inside)),
            },
            Rules::Docusaurus | Rules::DocusaurusBlog => self.docusaurus_path(inside, front),
            Rules::VitePress => {
                let rewritten = self.rewritten(inside);
                below(&self.served, &index_path(stem(&rewritten).unwrap_or(&rewritten), &["index"]))
            }
            Rules::MkDocs => {
                let (stem, language) = self.without_language(inside);
                let path = index_path(stem, &["index", "README"]);
                let prefix = language.filter(|language| self.suffixes.first() != Some(language));
                below(&self.served, &below(prefix.map_or("", String::as_str), &path))
            }
            Rules::Starlight => match front.slug() {
                Some(slug) => slug.trim_matches('/').to_owned(),
                None => {
                    let parts: Vec<String> = stem(inside).unwrap_or(inside).split('/').map(slug).collect();
                    below(&self.served, &index_path(&parts.join("/"), &["index"]))
                }
            },
        }
    }

    /// The path of something that has no page's ending.
    pub(super) fn path_of_stem(&self, stem: &str) -> String {
        below(&self.served, self.inside(stem).unwrap_or(stem))
    }

    fn docusaurus_path(&self, inside: &str, front: &FrontMatter) -> String {
        let blog = self.rules == Rules::DocusaurusBlog;
        let id = docusaurus_id(inside, None);
        let id = if blog { dated(&id) } else { id };
        let (folder, name) = id.rsplit_once('/').unwrap_or(("", &id));
        let named = match (front.slug(), front.get("id")) {
            (Some(slug), _) if slug.starts_with('/') || blog => slug.to_owned(),
            (Some(slug), _) => docent_markdown::joined(folder, slug).unwrap_or_else(|| slug.to_owned()),
            (None, Some(id)) if !blog => below(folder, id),
            _ => {
                let above = folder.rsplit('/').next().unwrap_or_default();
                let is_folder = ["index", "readme"].iter().any(|known| name.eq_ignore_ascii_case(known))
                    || (!folder.is_empty() && name.eq_ignore_ascii_case(above) && !blog);
                if is_folder { folder.to_owned() } else { id.clone() }
            }
        };
        below(&self.served, &named)
    }

    /// By what the navigation names a page: an id where ids are used, else the path it is served at.
    pub(super) fn key(&self, file: &str, front: &FrontMatter, path: &str) -> Option<String> {
        match self.rules {
            Rules::Docusaurus if !self.navigation.is_empty() => {
                Some(id_key(&self.navigation, &docusaurus_id(self.inside(file)?, front.get("id"))))
            }
            _ => Some(path.to_owned()),
        }
    }

    pub(super) fn language_of(&self, file: &str) -> Option<String> {
        let suffix = self.inside(file).and_then(|inside| self.without_language(inside).1);
        suffix.or(self.language.as_ref()).or(self.suffixes.first()).cloned()
    }

    /// A file's stem without the language it ends in, and that language.
    fn without_language<'f>(&self, inside: &'f str) -> (&'f str, Option<&String>) {
        let stem = stem(inside).unwrap_or(inside);
        let suffix = stem.rsplit_once('.').and_then(|(stem, last)| {
            self.suffixes.iter().find(|language| *language == last).map(|language| (stem, Some(language)))
        });
        suffix.unwrap_or((stem, None))
    }

    fn rewritten(&self, inside: &str) -> String {
        self.rewrites.iter().find_map(|(from, to)| rewrite(inside, from, to)).unwrap_or_else(|| inside.to_owned())
    }

    /// The names of the folders around a page, where folders have names for readers.
    pub(super) fn categories(&self, file: &str) -> Vec<String> {
        if self.labels.is_empty() {
            return Vec::new();
        }
        let mut names = Vec::new();
        let start = if self.folder.is_empty() { 0 } else { self.folder.len() + 1 };
        for (at, _) in file.match_indices('/').filter(|(at, _)| *at >= start) {
            let folder = &file[..at];
            let own = folder.rsplit('/').next().unwrap_or(folder);
            let label = self.labels.get(folder).cloned();
            names.push(label.unwrap_or_else(|| without_number(own).to_owned()));
        }
        names
    }
}

/// How an entry is found that the navigation names by an id.
pub(super) fn id_key(navigation: &str, id: &str) -> String {
    format!("{navigation}\n{id}")
}

/// The id of a page: its path without ending and without the numbers that only order it.
fn docusaurus_id(inside: &str, own: Option<&str>) -> String {
    let parts: Vec<&str> = stem(inside).unwrap_or(inside).split('/').map(without_number).collect();
    let id = parts.join("/");
    match own {
        Some(own) => below(id.rsplit_once('/').map_or("", |(folder, _)| folder), own),
        None => id,
    }
}

/// `01-intro` and `1. intro` without their number. Dates and versions keep theirs.
pub(super) fn without_number(name: &str) -> &str {
    let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &name[digits..];
    let after = rest.trim_start();
    let Some(separator) = after.chars().next().filter(|c| digits > 0 && "-_.".contains(*c)) else { return name };
    let named = after[separator.len_utf8()..].trim_start();
    // `7.0-notes` and `2021-11-foo` are a version and a date.
    let more_digits = named.len() - named.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let looks_like_version =
        more_digits > 0 && named[more_digits..].starts_with(['-', '_', '.']) || named.len() == more_digits;
    if named.is_empty() || looks_like_version { name } else { named }
}

/// `2021-08-26-welcome` as `2021/08/26/welcome`.
fn dated(id: &str) -> String {
    let id = id.strip_suffix("/index").unwrap_or(id);
    let bytes = id.as_bytes();
    let is_date = bytes.len() > 11
        && bytes[..11].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 | 10 => matches!(byte, b'-' | b'/'),
            _ => byte.is_ascii_digit(),
        });
    if is_date { format!("{}/{}/{}/{}", &id[..4], &id[5..7], &id[8..10], &id[11..]) } else { id.to_owned() }
}

/// A stem whose last name stands for its folder.
fn index_path(stem: &str, names: &[&str]) -> String {
    match stem.rsplit_once('/') {
        Some((folder, name)) if names.contains(&name) => folder.to_owned(),
        None if names.contains(&stem) => String::new(),
        _ => stem.to_owned(),
    }
}

/// A path by one rule of `from` and `to`, which may hold `:name` and `:name(.*)`.
fn rewrite(path: &str, from: &str, to: &str) -> Option<String> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut parts = path.split('/');
    for wanted in from.split('/') {
        match wanted.strip_prefix(':') {
            Some(name) if name.ends_with('*') || name.contains("(.*)") => {
                let rest: Vec<&str> = parts.by_ref().collect();
                (!rest.is_empty()).then_some(())?;
                found.push((name.split(['*', '(']).next()?, rest.join("/")));
            }
            Some(name) => {
                let part = parts.next()?;
                let (name, tail) =
                    name.split_once('.').map_or((name, ""), |(name, _)| (name, &wanted[1 + name.len()..]));
                found.push((name, part.strip_suffix(tail)?.to_owned()));
            }
            None => (parts.next()? == wanted).then_some(())?,
        }
    }
    parts.next().is_none().then_some(())?;
    let mut out = to.to_owned();
    for (name, value) in found {
        out = out
            .replace(&format!(":{name}(.*)"), &value)
            .replace(&format!(":{name}*"), &value)
            .replace(&format!(":{name}"), &value);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_order_go_and_others_stay() {
        for (name, without) in [
            ("01-intro", "intro"),
            ("1. intro", "intro"),
            ("2_a", "a"),
            ("10 - b", "b"),
            ("7.0-notes", "7.0-notes"),
            ("2021-11-foo", "2021-11-foo"),
            ("2021-11-02-foo", "2021-11-02-foo"),
            ("404", "404"),
            ("3d", "3d"),
            ("1-", "1-"),
        ] {
            assert_eq!(without_number(name), without, "{name}");
        }
    }

    #[test]
    fn rewrites_follow_their_parameters() {
        assert_eq!(
            rewrite("packages/a/docs/x.md", "packages/:pkg/docs/:page", ":pkg/:page").as_deref(),
            Some("a/x.md")
        );
        assert_eq!(rewrite("en/a/b.md", "en/:rest*", ":rest*").as_deref(), Some("a/b.md"));
        assert_eq!(rewrite("en/a/b.md", "en/:rest(.*)", ":rest(.*)").as_deref(), Some("a/b.md"));
        assert_eq!(rewrite("x/a.md", "x/:page.md", "y/:page.md").as_deref(), Some("y/a.md"));
        assert_eq!(rewrite("en/a.md", "fr/a.md", "b.md"), None);
    }

    #[test]
    fn blog_posts_are_served_by_their_date() {
        assert_eq!(dated("2021-08-26-welcome/index"), "2021/08/26/welcome");
        assert_eq!(dated("2021-08-26-welcome"), "2021/08/26/welcome");
        assert_eq!(dated("a/2021"), "a/2021");
    }
}
