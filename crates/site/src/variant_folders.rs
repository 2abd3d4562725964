//! Finds sibling folders that hold the same pages in several versions or languages.

use std::collections::{BTreeMap, HashMap, HashSet};

use docent_markdown::has_word;

use crate::paths::path_in;
use crate::version_names::{NameKind, VersionName, without_docs};

/// What the name of a folder may denote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderKind {
    Version,
    Language,
}

/// Sibling folders that hold the same pages.
#[derive(Debug)]
pub(crate) struct Family {
    /// The parent folder with a trailing slash, or empty.
    pub(crate) parent: String,
    pub(crate) labels: Vec<String>,
    /// Whether the parent folder holds these pages itself, too.
    pub(crate) has_own: bool,
    /// For each page: its index, the index of its label, and its path with the label replaced by a placeholder.
    pub(crate) pages: Vec<(usize, Option<usize>, String)>,
}

/// Maximum depth of a folder that may denote a version.
const MAX_DEPTH: usize = 6;
/// Minimum share, and minimum number, of the pages in a folder that its siblings must hold as well.
const MIN_SHARED_RATIO: f32 = 0.3;
const MIN_SHARED_PAGES: usize = 2;
/// Minimum share and number for ambiguous names.
const STRICT_MIN_SHARED_RATIO: f32 = 0.6;
const STRICT_MIN_SHARED_PAGES: usize = 4;
/// Placeholder for the folder in a page's path. It occurs in no real path.
const HERE: char = '\u{1}';
/// Folders whose subfolders are about versions of the product and are not versions of the docs.
const ABOUT_VERSIONS: &str = "blog posts news changelog changelogs releases release-notes release_notes relnotes \
    whats-new whatsnew announcements";
/// Folders that hold older versions of the pages around them.
const ARCHIVES: [&str; 5] = ["archive", "archived", "archives", "old-versions", "previous"];
/// If at least this many siblings are versions, another sibling with the same count of numbers (more than one) in its
/// name is one, too, whatever it holds.
const ENOUGH_VERSIONS: usize = 3;
/// Languages that docs are written in, sorted.
const LANGUAGES: [&str; 62] = [
    "af", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr",
    "gl", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "km", "ko", "ku", "lt", "lv", "mk", "mn",
    "mr", "ms", "my", "nb", "ne", "nl", "nn", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv", "ta", "th",
    "tr", "uk", "ur", "uz", "vi",
];

/// A folder of a path that may denote the version or language, as byte offsets: `start` is the end of the parent path
/// including the slash, `end` the end of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    start: usize,
    end: usize,
    /// Start of the most specific name: that of the inner one of two folders.
    name: usize,
}

/// All families among the paths of pages that are `open`. Each page is in at most one family, the outermost.
pub(crate) fn families(paths: &[String], open: &[bool], kind: FolderKind) -> Vec<Family> {
    let refined = match kind {
        FolderKind::Version => paths.iter().flat_map(|path| refined_versions(path)).collect(),
        FolderKind::Language => HashSet::new(),
    };
    let parts: Vec<Vec<Part>> = paths
        .iter()
        .zip(open)
        .map(|(path, open)| if *open { parts(path, kind, &refined) } else { Vec::new() })
        .collect();
    let mut siblings: BTreeMap<&str, Siblings<'_>> = BTreeMap::new();
    for (page, (path, parts)) in paths.iter().zip(&parts).enumerate() {
        for part in parts {
            let of = siblings.entry(&path[..part.start]).or_default();
            of.docs = of.docs.or(without_docs(&path[part.start..part.end]).1);
            of.pages.push((page, Some(&path[part.name..part.end]), path[part.end..].trim_start_matches('/')));
        }
    }
    if siblings.is_empty() {
        return Vec::new();
    }
    for (page, (path, parts)) in paths.iter().zip(&parts).enumerate().filter(|(page, _)| open[*page]) {
        let folders = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1)).take(MAX_DEPTH + 1);
        for start in folders.filter(|start| parts.iter().all(|part| part.start != *start)) {
            if let Some(of) = siblings.get_mut(&path[..start]) {
                of.pages.push((page, None, of.own(&path[start..])));
            }
        }
    }
    let mut found = Vec::new();
    let mut taken = vec![false; paths.len()];
    let mut siblings: Vec<_> = siblings.into_iter().collect();
    siblings.sort_by_key(|(parent, _)| parent.len());
    for (parent, siblings) in siblings {
        let Some((labels, own)) = siblings.alike(kind) else { continue };
        let mut family =
            Family { parent: parent.to_owned(), labels: Vec::new(), has_own: own.is_some(), pages: Vec::new() };
        for (page, label, rest) in siblings.pages {
            let belongs = match (label, &own) {
                (Some(label), _) => labels.contains(label),
                (None, Some(own)) => own.contains(rest),
                (None, None) => false,
            };
            if !belongs || std::mem::replace(&mut taken[page], true) {
                continue;
            }
            let label = label.map(|label| {
                family.labels.iter().position(|known| known == label).unwrap_or_else(|| {
                    family.labels.push(label.to_owned());
                    family.labels.len() - 1
                })
            });
            family.pages.push((page, label, format!("{parent}{HERE}/{rest}")));
        }
        if !family.labels.is_empty() {
            found.push(family);
        }
    }
    found
}

/// The pages in one parent folder: the index of each, the label of its folder, and its path within that folder.
#[derive(Debug, Default)]
struct Siblings<'p> {
    pages: Vec<(usize, Option<&'p str>, &'p str)>,
    /// The docs word in the folder names besides the version, such as `docs` in `v1-docs`.
    docs: Option<&'p str>,
}

impl<'p> Siblings<'p> {
    /// The path of a page outside the version folders, made comparable: `docs/a` corresponds to `v1-docs/a` as `a` does
    /// to `v1/a`.
    fn own(&self, path: &'p str) -> &'p str {
        self.docs.and_then(|docs| path_in(docs, path)).unwrap_or(path)
    }

    /// The labels of the folders that hold the same pages, and which of these pages the parent folder holds itself.
    fn alike(&self, kind: FolderKind) -> Option<(HashSet<&'p str>, Option<HashSet<&'p str>>)> {
        let mut inside: BTreeMap<&str, HashSet<&'p str>> = BTreeMap::new();
        let mut own: HashSet<&'p str> = HashSet::new();
        for (_, label, rest) in &self.pages {
            match label {
                Some(label) => inside.entry(label).or_default().insert(rest),
                None => own.insert(rest),
            };
        }
        let mut counts: HashMap<&str, usize> = HashMap::new();
        inside.values().flatten().for_each(|rest| *counts.entry(rest).or_default() += 1);
        let share_enough = |shared: usize, of: usize, is_strict: bool| {
            let (min_ratio, min_pages) = if is_strict {
                (STRICT_MIN_SHARED_RATIO, STRICT_MIN_SHARED_PAGES)
            } else {
                (MIN_SHARED_RATIO, MIN_SHARED_PAGES)
            };
            shared >= min_pages && shared as f32 >= min_ratio * of as f32
        };
        let is_moving = |label: &str| kind == FolderKind::Version && numbers(label) == 0;
        // Compared with the version that shares most, because all versions together may have held many times as many
        // pages.
        let shared = inside.values().map(|rests| (rests.intersection(&own).count(), rests.len()));
        let (shared_own, nearest) = shared.max().unwrap_or_default();
        // Without a name that is neither a bare number nor a word such as `main`, stronger evidence is required.
        let is_sure = inside.keys().any(|label| !is_moving(label) && !is_bare(label));
        let has_own = share_enough(shared_own, own.len().min(nearest), kind == FolderKind::Version && !is_sure);
        let is_shared =
            |rest: &&&str| counts.get(**rest).is_some_and(|count| *count > 1) || has_own && own.contains(**rest);
        let mut labels: HashSet<&'p str> = self
            .pages
            .iter()
            .filter_map(|(_, label, _)| *label)
            .filter(|label| {
                let rests = &inside[label];
                let is_strict = kind == FolderKind::Version && (is_bare(label) || is_moving(label) && !is_sure);
                share_enough(rests.iter().filter(is_shared).count(), rests.len(), is_strict)
            })
            .collect();
        if kind == FolderKind::Version && labels.len() >= ENOUGH_VERSIONS {
            let counts: HashSet<usize> = labels.iter().map(|label| numbers(label)).collect();
            labels.extend(inside.keys().filter(|label| numbers(label) > 1 && counts.contains(&numbers(label))));
        }
        let has_two = labels.len() + usize::from(has_own) > 1;
        let shared: HashSet<&'p str> =
            own.into_iter().filter(|rest| labels.iter().any(|label| inside[label].contains(rest))).collect();
        (has_two && !labels.is_empty()).then(|| (labels, has_own.then_some(shared)))
    }
}

/// The count of numbers in a version's name.
fn numbers(label: &str) -> usize {
    VersionName::of_folder(label).map_or(0, |name| name.numbers.len())
}

fn is_bare(label: &str) -> bool {
    VersionName::of_folder(label).is_some_and(|name| name.is_bare)
}

/// The folders of a path that may denote a version or language, the outermost first. `refined` are the folders of versions
/// that hold folders of more exact versions.
fn parts(path: &str, kind: FolderKind, refined: &HashSet<&str>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut start = 0;
    let mut archive = None;
    for (depth, name) in path.split('/').enumerate().take(MAX_DEPTH) {
        let end = start + name.len();
        let is_one = match kind {
            FolderKind::Language => is_language(name),
            FolderKind::Version => VersionName::of_folder(name).is_some(),
        };
        if is_one {
            let is_about_versions = |name: &str| has_word(ABOUT_VERSIONS, &name.to_ascii_lowercase());
            if kind == FolderKind::Version && path[..end].split('/').any(is_about_versions) {
                return parts;
            }
            match parts.last_mut().filter(|part| kind == FolderKind::Version && depth > 0 && part.end + 1 == start) {
                // `v2/2.20`: one version in two nested folders.
                Some(part) if is_inner(&path[part.name..part.end], name, refined.contains(&path[..part.end])) => {
                    *part = Part { end, name: start, ..*part };
                }
                // `v1/develop`: pages on developing in one version.
                Some(part) if numbers(&path[part.name..part.end]) > 0 && numbers(name) == 0 => {}
                _ => parts.push(Part { start: archive.unwrap_or(start), end, name: start }),
            }
        }
        archive = (kind == FolderKind::Version && ARCHIVES.contains(&name)).then_some(start);
        start = end + 1;
    }
    parts
}

/// Whether a folder inside a version's folder refines that version: `2.20` inside `v2`, or beside such folders a name
/// without numbers such as `next`.
fn is_inner(outer: &str, inner: &str, is_refined: bool) -> bool {
    let (Some(outer), Some(inner)) = (VersionName::of_folder(outer), VersionName::of_folder(inner)) else {
        return false;
    };
    let is_moving = is_refined && inner.numbers.is_empty() && inner.kind != NameKind::Kept;
    let is_exact = !inner.numbers.is_empty() && inner.numbers.starts_with(&outer.numbers);
    !outer.numbers.is_empty() && (is_moving || is_exact)
}

/// The folders of versions in a path that hold a folder of a more exact version, as `v2` does in `v2/2.20/a`.
fn refined_versions(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).take(MAX_DEPTH);
    ends.filter(|end| {
        let outer = path[..*end].rsplit('/').next().unwrap_or_default();
        let inner = path[end + 1..].split_once('/').map_or("", |(inner, _)| inner);
        numbers(outer) > 0 && is_inner(outer, inner, false)
    })
    .map(|end| &path[..end])
}

fn is_language(name: &str) -> bool {
    let (language, region) =
        name.split_once(['-', '_']).map_or((name, None), |(language, region)| (language, Some(region)));
    let is_known = language == "zh" || LANGUAGES.binary_search(&language).is_ok();
    let is_region = |region: &str| {
        (2..=4).contains(&region.len()) && region.bytes().all(|byte| byte.is_ascii_alphabetic())
            || region.len() == 3 && region.bytes().all(|byte| byte.is_ascii_digit())
    };
    is_known && region.is_none_or(is_region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_their_tags() {
        assert!(LANGUAGES.is_sorted());
        for (name, is) in [
            ("fr", true),
            ("pt-br", true),
            ("zh_CN", true),
            ("es-419", true),
            ("js", false),
            ("de-facto", false),
            ("ts", false),
        ] {
            assert_eq!(is_language(name), is, "{name}");
        }
    }

    #[test]
    fn one_version_may_stand_in_two_folders() {
        let refined = HashSet::from(["docs/v2"]);
        let version_parts = |path: &str| -> Vec<String> {
            parts(path, FolderKind::Version, &refined)
                .iter()
                .map(|part| path[part.start..part.end].to_owned())
                .collect()
        };
        assert_eq!(refined_versions("docs/v2/2.20/faq").collect::<Vec<_>>(), ["docs/v2"]);
        assert_eq!(version_parts("v1/develop/faq"), ["v1"]);
        assert_eq!(version_parts("docs/v2/2.20/faq"), ["v2/2.20"]);
        assert_eq!(version_parts("docs/v2/_dev/faq"), ["v2/_dev"]);
        assert_eq!(version_parts("api/v1/1/2"), ["v1/1", "2"]);
        assert_eq!(version_parts("release-notes/v1/a"), Vec::<String>::new());
    }
}
