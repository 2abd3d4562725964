//! Parses version names: of a folder (`v23.1`, `version-0.80`, `next`) or of a label (`2.0 (latest)`).

use std::cmp::Ordering;

/// Names of the latest release, of unreleased versions, and of versions that are kept for those who need them.
const LATEST: [&str; 5] = ["latest", "stable", "current", "lts", "ga"];
const UNRELEASED: [&str; 25] = [
    "next", "dev", "devel", "develop", "development", "main", "master", "trunk", "head", "edge", "nightly", "canary",
    "preview", "pre", "beta", "alpha", "rc", "unstable", "upcoming", "unreleased", "draft", "experimental", "insiders",
    "snapshot", "prerelease",
];
const KEPT: [&str; 6] = ["old", "legacy", "archive", "archived", "previous", "deprecated"];
/// Prefixes of a version number.
const PREFIXES: [&str; 6] = ["version", "release", "ver", "rel", "v", ""];
/// Words for docs in a folder name besides the version: `v1.20-docs`, `docs-1.20`.
const DOCS: [&str; 3] = ["documentation", "docs", "doc"];
/// Maximum count of numbers in a version, and maximum number of digits in each.
const MOST_NUMBERS: usize = 4;
const LONGEST_NUMBER: usize = 6;

/// The kind of a version, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameKind {
    Kept,
    Released,
    Latest,
    Unreleased,
}

/// A parsed version name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionName {
    pub(crate) numbers: Vec<u64>,
    pub(crate) kind: NameKind,
    /// A single number and nothing else: it could also be a chapter or a year.
    pub(crate) is_bare: bool,
}

impl VersionName {
    /// Parses the name of a folder. `None` if it does not name a version.
    pub(crate) fn of_folder(name: &str) -> Option<Self> {
        let lower = name.trim_start_matches('_').to_ascii_lowercase();
        if let Some(kind) = kind_of_word(&lower) {
            return Some(Self { numbers: Vec::new(), kind, is_bare: false });
        }
        let (name, _) = without_docs(&lower);
        let (numbers, rest) = numbered(name)?;
        let kind = match rest.trim_start_matches(['-', '_', '.']) {
            "" | "x" => NameKind::Released,
            suffix => kind_of_word(suffix.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-'))?,
        };
        let is_bare =
            numbers.len() == 1 && lower.starts_with(|c: char| c.is_ascii_digit()) && name.len() == lower.len();
        Some(Self { numbers, kind, is_bare })
    }

    /// Parses a displayed label. A label without any version information is a release without a number.
    pub(crate) fn of_label(label: &str) -> Self {
        let lower = label.to_ascii_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|word| !word.is_empty());
        let numbers = words.clone().find_map(|word| Some(numbered(word)?.0)).unwrap_or_default();
        let kind = words.find_map(|word| {
            let word = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            kind_of_word(word.trim_end_matches(|c: char| c.is_ascii_digit()))
        });
        Self { numbers, kind: kind.unwrap_or(NameKind::Released), is_bare: false }
    }

    /// Orders versions from the oldest to the latest.
    pub(crate) fn later(&self, other: &Self) -> Ordering {
        let is_named = |name: &Self| name.numbers.is_empty();
        match (is_named(self), is_named(other)) {
            (false, false) => self.numbers.cmp(&other.numbers).then_with(|| other.kind.cmp(&self.kind)),
            (self_named, other_named) => self.kind.cmp(&other.kind).then(self_named.cmp(&other_named)),
        }
    }
}

/// The normalized name, for comparison: `v23.1`, `version-23.1` and `23.1` are equal.
pub(crate) fn plain(name: &str) -> String {
    let lower = name.trim().trim_start_matches('_').to_lowercase();
    let (version, _) = without_docs(&lower);
    let Some((_, rest)) = numbered(version) else { return lower };
    let start = version.find(|c: char| c.is_ascii_digit()).unwrap_or_default();
    let end = version.len() - rest.len();
    let rest = rest.split([' ', '(']).next().unwrap_or_default();
    format!("{}{}", &version[start..end], rest.trim_end_matches(".x"))
}

/// A folder name without the docs word before or after its version, and that word.
pub(crate) fn without_docs(name: &str) -> (&str, Option<&str>) {
    let word = |word: &'static str| {
        let rest = name.strip_suffix(word).map(|rest| rest.trim_end_matches(['-', '_', '.']));
        let rest = rest.or_else(|| Some(name.strip_prefix(word)?.trim_start_matches(['-', '_', '.'])));
        rest.filter(|rest| !rest.is_empty()).map(|rest| (rest, Some(word)))
    };
    DOCS.into_iter().find_map(word).unwrap_or((name, None))
}

fn kind_of_word(word: &str) -> Option<NameKind> {
    if LATEST.contains(&word) {
        Some(NameKind::Latest)
    } else if UNRELEASED.contains(&word) {
        Some(NameKind::Unreleased)
    } else {
        KEPT.contains(&word).then_some(NameKind::Kept)
    }
}

/// The numbers at the beginning of a name, possibly after a prefix such as `v`, and the rest of the name.
fn numbered(lower: &str) -> Option<(Vec<u64>, &str)> {
    let digits = PREFIXES.iter().find_map(|prefix| {
        let rest = lower.strip_prefix(prefix)?.trim_start_matches(['-', '_', ' ']);
        rest.starts_with(|c: char| c.is_ascii_digit()).then_some(rest)
    })?;
    let mut numbers = Vec::new();
    let mut rest = digits;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if end > LONGEST_NUMBER || numbers.len() == MOST_NUMBERS {
            return None;
        }
        numbers.push(rest[..end].parse().ok()?);
        rest = &rest[end..];
        match rest.strip_prefix('.').filter(|next| next.starts_with(|c: char| c.is_ascii_digit())) {
            Some(next) => rest = next,
            None => return Some((numbers, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_versions_are_told_from_others() {
        for (name, expected) in [
            ("v23.1", Some((vec![23, 1], NameKind::Released))),
            ("7.4", Some((vec![7, 4], NameKind::Released))),
            ("version-0.80", Some((vec![0, 80], NameKind::Released))),
            ("2.x", Some((vec![2], NameKind::Released))),
            ("release-1.2.3", Some((vec![1, 2, 3], NameKind::Released))),
            ("v3-beta", Some((vec![3], NameKind::Unreleased))),
            ("2.0-rc.1", Some((vec![2, 0], NameKind::Unreleased))),
            ("v1.20-docs", Some((vec![1, 20], NameKind::Released))),
            ("docs-2.1", Some((vec![2, 1], NameKind::Released))),
            ("docs", None),
            ("docs-guides", None),
            ("8.0-latest", Some((vec![8, 0], NameKind::Latest))),
            ("_dev", Some((vec![], NameKind::Unreleased))),
            ("stable", Some((vec![], NameKind::Latest))),
            ("legacy", Some((vec![], NameKind::Kept))),
            ("guides", None),
            ("2fa", None),
            ("3d-models", None),
            ("2023-04-05", None),
            ("v", None),
            ("vue", None),
            ("1.2.3.4.5", None),
            ("20230405", None),
        ] {
            let found = VersionName::of_folder(name).map(|name| (name.numbers, name.kind));
            assert_eq!(found, expected, "{name}");
        }
        assert!(VersionName::of_folder("5").is_some_and(|name| name.is_bare));
        assert!(VersionName::of_folder("v5").is_some_and(|name| !name.is_bare));
    }

    #[test]
    fn labels_are_read_as_they_are_meant() {
        assert_eq!(VersionName::of_label("v2.0 (latest)").kind, NameKind::Latest);
        assert_eq!(VersionName::of_label("Version 3 beta").kind, NameKind::Unreleased);
        assert_eq!(VersionName::of_label("3.0beta2").kind, NameKind::Unreleased);
        assert_eq!(VersionName::of_label("Version 3").numbers, [3]);
        assert_eq!(VersionName::of_label("Classic").kind, NameKind::Released);
    }

    #[test]
    fn the_later_one_is_told_by_its_numbers() {
        let name = |text: &str| VersionName::of_folder(text).expect("a version");
        for (later, earlier) in [
            ("v1.10", "v1.9"),
            ("2.0", "2.0-rc.1"),
            ("next", "3.0"),
            ("1.0", "legacy"),
            ("next", "4-beta"),
            ("latest", "9"),
        ] {
            assert_eq!(name(later).later(&name(earlier)), Ordering::Greater, "{later} {earlier}");
        }
    }

    #[test]
    fn spellings_of_one_version_are_one() {
        for name in ["v23.1", "23.1", "version-23.1", "Version 23.1", "v23.1 (latest)", "23.1.x", "v23.1-docs"] {
            assert_eq!(plain(name), "23.1", "{name}");
        }
        assert_eq!(plain("Next"), "next");
        assert_ne!(plain("2.0-rc.1"), plain("2.0"));
    }
}
