//! Compiles the glob patterns that come from outside: from instructions, tool calls, options, configurations and pages.
//!
//! The library behind it recurses into nested alternatives and may fail to compile what it has parsed. So a pattern is
//! measured before the library sees it, and what cannot be compiled is an error with a sentence.

use std::collections::HashSet;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

/// Maximum length of a pattern in bytes.
const MAX_BYTES: usize = 2_000;

/// Maximum nesting of `{a,b}`.
const MAX_NESTING: usize = 8;

/// Maximum number of patterns read from one list.
const MAX_PATTERNS: usize = 1_000;

/// How much of a refused pattern its error shows, in bytes.
const SHOWN_BYTES: usize = 60;

/// Why a pattern is not compiled. The message names the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is not a glob that can be read: {why}; use `*`, `**`, `?`, `[…]` and `{{a,b}}`", shown(pattern))]
pub struct GlobError {
    pattern: String,
    why: String,
}

impl GlobError {
    fn of(pattern: &str, why: impl Into<String>) -> Self {
        // What is never shown is not kept.
        let end = pattern.floor_char_boundary(SHOWN_BYTES + 1);
        Self { pattern: pattern[..end].to_owned(), why: why.into() }
    }

    /// What is wrong with the pattern, without naming it.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The pattern, cut if it is long.
    pub fn pattern(&self) -> String {
        shown(&self.pattern)
    }
}

fn shown(pattern: &str) -> String {
    match pattern.len() > SHOWN_BYTES {
        true => format!("{}…", &pattern[..pattern.floor_char_boundary(SHOWN_BYTES)]),
        false => pattern.to_owned(),
    }
}

/// One pattern. `*` does not match a slash and `**` does.
#[derive(Debug, Clone)]
pub struct Glob(GlobSet);

impl Glob {
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        let parsed = parsed(pattern, Letters::AsWritten)?;
        // A set of one: compiling a single glob panics where compiling a set is an error.
        let set = GlobSetBuilder::new().add(parsed).build();
        set.map(Self).map_err(|error| GlobError::of(pattern, error.kind().to_string()))
    }

    pub fn is_match(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

/// Whether letters of either case match each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    AsWritten,
    InAnyCase,
}

/// Any number of patterns and paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Globs {
    set: GlobSet,
    paths: HashSet<String>,
    refused: Vec<GlobError>,
    /// The file that the patterns are written in.
    file: String,
}

impl Globs {
    /// The patterns of a file, as generators read them in scripts: relative to a folder of pages.
    pub(crate) fn of<'g>(file: &str, patterns: impl Iterator<Item = &'g str>) -> Self {
        let patterns = patterns.map(|pattern| pattern.trim_start_matches("./"));
        Self::with_letters(file, patterns, Letters::AsWritten)
    }

    /// Patterns of our own.
    pub(crate) fn known(patterns: &[&str]) -> Self {
        Self::of("", patterns.iter().copied())
    }

    /// Exactly these paths.
    pub(crate) fn of_paths<'p>(paths: impl Iterator<Item = &'p String>) -> Self {
        Self { paths: paths.cloned().collect(), ..Self::default() }
    }

    /// Patterns in the syntax of `.gitignore`: a pattern without a slash matches a name at any depth, and a folder
    /// matches everything inside it. Negated patterns (`!`) are ignored.
    pub(crate) fn ignored(file: &str, lines: &str) -> Self {
        let patterns: Vec<String> = lines
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with(['#', '!']))
            .take(MAX_PATTERNS)
            .flat_map(|line| {
                let anchored = line.trim_end_matches('/').contains('/');
                let line = line.trim_matches('/');
                let line = if anchored { line.to_owned() } else { format!("**/{line}") };
                [format!("{line}/**"), line]
            })
            .collect();
        Self::of(file, patterns.iter().map(String::as_str))
    }

    pub(crate) fn with_letters<'g>(file: &str, patterns: impl Iterator<Item = &'g str>, letters: Letters) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut refused = Vec::new();
        for pattern in patterns.take(MAX_PATTERNS) {
            match parsed(pattern, letters) {
                Ok(glob) => drop(builder.add(glob)),
                Err(error) => refused.push(error),
            }
        }
        let set = builder.build().unwrap_or_else(|error| {
            refused.push(GlobError::of(error.glob().unwrap_or("the list"), error.kind().to_string()));
            GlobSet::empty()
        });
        Self { set, refused, file: file.to_owned(), ..Self::default() }
    }

    pub(crate) fn is_match(&self, path: &str) -> bool {
        self.paths.contains(path) || self.set.is_match(path)
    }

    /// Whether a pattern could not be read, so that it is not known what it matches.
    pub(crate) fn has_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// The patterns that could not be read: their file, and a sentence.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (String, String)> {
        self.refused.iter().map(|error| (self.file.clone(), format!("the pattern is left out: {error}")))
    }
}

fn parsed(pattern: &str, letters: Letters) -> Result<globset::Glob, GlobError> {
    if pattern.len() > MAX_BYTES {
        return Err(GlobError::of(pattern, format!("it is longer than {MAX_BYTES} bytes")));
    }
    if nesting(pattern) > MAX_NESTING {
        return Err(GlobError::of(pattern, format!("its braces are nested more than {MAX_NESTING} deep")));
    }
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .case_insensitive(letters == Letters::InAnyCase)
        .build()
        .map_err(|error| GlobError::of(pattern, error.kind().to_string()))
}

/// How deep the braces of a pattern are nested.
fn nesting(pattern: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    let mut bytes = pattern.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_are_those_of_gitignore() {
        let set = Globs::ignored(".ignore", "drafts/\n*.tmp.md\n/top.md\n# note\na/b.md\n");
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

    #[test]
    fn a_pattern_that_is_too_long_or_too_deep_is_an_error() {
        let nested = |depth: usize| format!("{}x{}", "{a,".repeat(depth), "}".repeat(depth));
        for (pattern, why) in [
            (nested(9), "nested more than 8 deep"),
            (nested(200), "nested more than 8 deep"),
            (nested(500_000), "longer than 2000 bytes"),
            ("{".repeat(1_000), "nested more than 8 deep"),
            ("*a".repeat(1_001), "longer than 2000 bytes"),
            ("[a".to_owned(), "unclosed character class"),
        ] {
            let error = Glob::new(&pattern).expect_err("refused");
            assert!(error.why().contains(why), "{error}");
            assert!(error.to_string().len() < 400, "{error}");
            let all = Globs::of("conf.py", [pattern.as_str(), "*.md"].into_iter());
            assert!(all.has_refused() && all.is_match("a.md"), "the other patterns hold");
            let (file, message) = all.problems().next().expect("a problem");
            assert!(file == "conf.py" && message.contains(why), "{file}: {message}");
        }
    }

    #[test]
    fn ordinary_patterns_are_compiled() {
        let listed = format!("{{{}}}/**", (0..100).map(|n| format!("guides/part-{n}")).collect::<Vec<_>>().join(","));
        for (pattern, path) in [
            ("**/*.{md,mdx}", "a/b.mdx"),
            ("{a,{b,{c,d}}}/*.md", "d/x.md"),
            (r"\{a\{b\{c\{d\{e\{f\{g\{h\{i", "{a{b{c{d{e{f{g{h{i"),
            ("**/[!_]*", "a/b"),
            (listed.as_str(), "guides/part-42/x.md"),
        ] {
            assert!(Glob::new(pattern).expect("a glob").is_match(path), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn no_pattern_panics(unit in "[a*?!\\-\\[\\]{},/\\\\]{1,6}", count in 1_usize..2_000, path in "[ab/.]{0,12}") {
            let pattern = unit.repeat(count);
            if let Ok(glob) = Glob::new(&pattern) {
                glob.is_match(&path);
            }
            let all = Globs::with_letters("", [pattern.as_str(); 3].into_iter(), Letters::InAnyCase);
            all.is_match(&path);
        }
    }
}
