//! Compiles the glob patterns in configurations.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Maximum number of globs read from one list.
const MAX_PATTERNS: usize = 1_000;

/// Compiles globs as written in scripts, relative to a folder of pages. Invalid globs are ignored.
pub(crate) fn globs<'g>(patterns: impl Iterator<Item = &'g str>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.take(MAX_PATTERNS) {
        let pattern = pattern.trim_start_matches("./");
        if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

/// A glob set that matches exactly these paths.
pub(super) fn exact_globs<'p>(paths: impl Iterator<Item = &'p String>) -> Option<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for path in paths {
        if let Ok(glob) = Glob::new(&globset::escape(path)) {
            set.add(glob);
        }
    }
    set.build().ok()
}

/// Compiles patterns in the syntax of `.gitignore`: a pattern without a slash matches a name at any depth, and a folder
/// matches everything inside it. Negated patterns (`!`) are ignored.
pub(crate) fn ignore_globs(lines: &str) -> GlobSet {
    let patterns: Vec<String> = lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '!']))
        .flat_map(|line| {
            let anchored = line.trim_end_matches('/').contains('/');
            let line = line.trim_matches('/');
            let line = if anchored { line.to_owned() } else { format!("**/{line}") };
            [format!("{line}/**"), line]
        })
        .collect();
    globs(patterns.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_gitignore() {
        let set = ignore_globs("drafts/\n*.tmp.md\n/top.md\n# note\na/b.md\n");
        for (path, matches) in [
            ("drafts/a.md", true),
            ("x/drafts/a.md", true),
            ("x/a.tmp.md", true),
            ("top.md", true),
            ("a/b.md", true),
            ("x/a/b.md", false),
            ("a.md", false),
        ] {
            assert_eq!(set.is_match(path), matches, "{path}");
        }
    }
}
