//! Parses include directives: which file, and which part of it.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use docent_markdown::{file_name, regex, slug};

/// Maximum length of an include comment, in bytes.
const MAX_COMMENT_BYTES: usize = 1_000;

/// The part of a file to include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'t> {
    Whole,
    /// Line ranges, counted from 1.
    Lines(Vec<RangeInclusive<usize>>),
    /// The text between two region markers of this name, or the section with this anchor; then line ranges within it.
    Named(&'t str, Vec<RangeInclusive<usize>>),
    /// The text behind the first words and before the second ones.
    Between {
        after: Option<&'t str>,
        before: Option<&'t str>,
    },
}

impl Part<'_> {
    /// Approximate number of passes over a file that finding the part takes.
    pub(super) fn passes(&self, is_page: bool) -> usize {
        match self {
            Self::Whole | Self::Between { .. } => 1,
            Self::Lines(lines) => lines.len().max(1),
            // Comparing headings costs more than comparing lines.
            Self::Named(_, lines) => lines.len() + if is_page { 8 } else { 1 },
        }
    }

    /// The part of a text, without region markers; `None` if it does not exist. `is_page` says whether the name may be
    /// that of a heading.
    pub(super) fn of<'t>(&self, text: &'t str, is_page: bool) -> Option<Cow<'t, str>> {
        match self {
            Self::Whole => Some(without_marks(text)),
            Self::Lines(lines) => Some(lines_in(text, lines).into()),
            Self::Between { after, before } => {
                let start = after.map_or(Some(0), |words| text.find(words).map(|at| at + words.len()))?;
                let end = before.map_or(Some(text.len()), |words| text[start..].find(words).map(|at| start + at))?;
                Some(text[start..end].into())
            }
            Self::Named(name, lines) => {
                let part =
                    between_marks(text, name).or_else(|| if is_page { under_heading(text, name) } else { None })?;
                Some(if lines.is_empty() { part.into() } else { lines_in(&part, lines).into() })
            }
        }
    }
}

fn lines_in(text: &str, ranges: &[RangeInclusive<usize>]) -> String {
    let mut out = String::new();
    for range in ranges {
        let count = (range.end().saturating_add(1)).saturating_sub(*range.start());
        for line in text.lines().skip(range.start().saturating_sub(1)).take(count) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

regex!(REGION_MARKER, r"(?m)^.*(?:#(?:end)?region\b|-+8<-+\s*\[\s*(?:start|end)\s*:|\bANCHOR(?:_END)?:).*\n?");

fn without_marks(text: &str) -> Cow<'_, str> {
    match ["region", "8<-", "ANCHOR"].iter().any(|sign| text.contains(sign)) {
        true => REGION_MARKER.replace_all(text, ""),
        false => text.into(),
    }
}

fn between_marks(text: &str, name: &str) -> Option<String> {
    let is_mark = |line: &str, words: [&str; 3]| {
        words.iter().any(|word| {
            line.find(word).is_some_and(|at| {
                let rest = line[at + word.len()..].trim_start();
                let named = rest
                    .split(|c: char| c.is_whitespace() || c == ']' || c == '*' || c == '-' && rest.contains("-->"))
                    .next();
                named == Some(name) || rest.trim_end_matches("-->").trim_end_matches("*/").trim() == name
            })
        })
    };
    let mut lines = text.lines();
    lines.by_ref().find(|line| is_mark(line, ["#region", "[start:", "ANCHOR:"]))?;
    let mut out = String::new();
    for line in lines {
        let ends = is_mark(line, ["#endregion", "[end:", "ANCHOR_END:"])
            || line.trim_end_matches(['-', '>', '*', '/', ' ']).ends_with("#endregion");
        if ends {
            break;
        }
        if !REGION_MARKER.is_match(line) {
            out.push_str(line);
            out.push('\n');
        }
    }
    Some(out)
}

fn under_heading(text: &str, name: &str) -> Option<String> {
    let level = |line: &str| {
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        ((1..=6).contains(&level) && line[level..].starts_with(' ')).then_some(level)
    };
    let is_named = |line: &str| {
        let words = line.trim_start_matches('#').trim();
        words.contains(&format!("{{#{name}}}")) || slug(words) == name
    };
    let mut lines = text.lines().skip_while(|line| level(line).is_none() || !is_named(line));
    let first = lines.next()?;
    let own = level(first)?;
    let mut out = format!("{first}\n");
    for line in lines.take_while(|line| level(line).is_none_or(|level| level > own)) {
        out.push_str(line);
        out.push('\n');
    }
    Some(out)
}

/// The kinds of `--8<--` lines.
pub(super) enum SnippetLine<'t> {
    /// A delimiter of a block that lists files.
    BlockDelimiter,
    /// An include of a file.
    File(&'t str),
    /// The start or end of a region.
    RegionMarker,
}

/// Parses a line of `--8<--`.
pub(super) fn snippet_line(line: &str) -> Option<SnippetLine<'_>> {
    let line = line.trim();
    let rest = line.trim_start_matches('-');
    let has_dashes = rest.len() < line.len();
    let rest = rest.strip_prefix("8<").filter(|_| has_dashes)?;
    let after = rest.trim_start_matches('-');
    (after.len() < rest.len()).then_some(())?;
    let named = after.trim();
    if named.is_empty() {
        return Some(SnippetLine::BlockDelimiter);
    }
    if named.starts_with('[') {
        return Some(SnippetLine::RegionMarker);
    }
    let quote = named.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some(SnippetLine::File(named[1..].strip_suffix(quote)?))
}

/// Parses `file`, `file:name`, `file:3:5` or `file::5`.
pub(super) fn snippet(named: &str) -> (&str, Part<'_>) {
    let Some((path, rest)) = named.split_once(':').filter(|(_, rest)| !rest.starts_with("//")) else {
        return (named, Part::Whole);
    };
    let numbers = |part: &str| {
        let (start, end) = part.split_once(':').unwrap_or((part, ""));
        lines_between(start, end)
    };
    match rest.split(',').map(numbers).collect() {
        Some(lines) => (path, Part::Lines(lines)),
        None => (path, Part::Named(rest.trim(), Vec::new())),
    }
}

/// Parses `<!--@include: file#part{3,5}-->` at the start of a text: the file, the part, and the length of the comment.
pub(super) fn comment_include(text: &str) -> Option<(&str, Part<'_>, usize)> {
    let inside = text.strip_prefix("<!--")?;
    let directive = inside.trim_start().strip_prefix("@include:")?;
    let length = text[..text.floor_char_boundary(MAX_COMMENT_BYTES)].find("-->")?;
    let directive = &directive[..directive.len().checked_sub(text.len() - length)?];
    let (directive, lines) = braced(directive.trim());
    let lines = lines.map(|lines| lines.split(';').filter_map(comma_range).collect::<Vec<_>>()).unwrap_or_default();
    let (path, part) = match directive.split_once('#') {
        Some((path, name)) => (path, Part::Named(name, lines)),
        None if lines.is_empty() => (directive, Part::Whole),
        None => (directive, Part::Lines(lines)),
    };
    Some((path.trim(), part, length + "-->".len()))
}

/// Parses `3,5`, `3,`, `,5`, `3-5` or `3`.
fn comma_range(text: &str) -> Option<RangeInclusive<usize>> {
    let (start, end) = text.split_once([',', '-']).unwrap_or((text, text));
    lines_between(start, end)
}

/// The lines from one number to another; an empty text stands for the first or the last line.
pub(super) fn lines_between(first: &str, last: &str) -> Option<RangeInclusive<usize>> {
    let number = |text: &str, if_empty: usize| match text.trim() {
        "" => Some(if_empty),
        digits => digits.parse().ok(),
    };
    Some(number(first, 1)?..=number(last, usize::MAX - 1)?)
}

/// Splits a text at its first `{`: what is before it, and the contents of the braces.
fn braced(text: &str) -> (&str, Option<&str>) {
    match text.split_once('{') {
        Some((before, rest)) => (before.trim_end(), rest.split('}').next()),
        None => (text, None),
    }
}

/// A `<<<` include.
pub(super) struct CodeImport<'t> {
    pub(super) path: &'t str,
    pub(super) part: Part<'t>,
    pub(super) language: String,
    pub(super) name: String,
}

/// Parses `<<< path#part{1,3 language}[name]` on a line of its own.
pub(super) fn code_import(line: &str) -> Option<CodeImport<'_>> {
    let directive = line.trim().strip_prefix("<<<")?.trim();
    let (directive, name) = match directive.rsplit_once('[').filter(|(_, name)| name.ends_with(']')) {
        Some((directive, name)) => (directive.trim_end(), Some(name.trim_end_matches(']'))),
        None => (directive, None),
    };
    let (directive, options) = braced(directive);
    let (path, part) = match directive.split_once('#') {
        Some((path, name)) => (path, Part::Named(name, Vec::new())),
        None => (directive, Part::Whole),
    };
    let path = path.trim();
    (!path.is_empty() && !path.contains(['<', '>'])).then_some(())?;
    let file = file_name(path);
    let words = options.unwrap_or_default().split_whitespace();
    let language = words.last().filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    Some(CodeImport {
        path,
        part,
        language: language.map_or(ending, |word| word.split(':').next().unwrap_or(word)).to_owned(),
        name: name.unwrap_or(file).replace('"', "'"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_code_imports_say_what_they_want() {
        assert_eq!(comment_include("<!--@include: ./a.md-->x"), Some(("./a.md", Part::Whole, 23)));
        assert_eq!(
            comment_include("<!-- @include: @/a.md#part{3,5} -->").map(|(path, part, _)| (path, part)),
            Some(("@/a.md", Part::Named("part", vec![3..=5])))
        );
        assert_eq!(
            comment_include("<!--@include: a.md{3,}-->").map(|(path, part, _)| (path, part)),
            Some(("a.md", Part::Lines(vec![3..=usize::MAX - 1])))
        );
        assert!(comment_include("<!-- note -->").is_none() && comment_include("<!--@include: a").is_none());
        let import = code_import("  <<< @/s/a.ts#part{1,3 js:line-numbers}[App]").expect("an import");
        assert_eq!((import.path, import.language.as_str(), import.name.as_str()), ("@/s/a.ts", "js", "App"));
        assert_eq!(import.part, Part::Named("part", Vec::new()));
        assert!(code_import("<<<< HEAD").is_none());
    }

    #[test]
    fn snippets_name_files_and_parts() {
        assert_eq!(snippet("a.md"), ("a.md", Part::Whole));
        assert_eq!(snippet("a.md:part"), ("a.md", Part::Named("part", Vec::new())));
        assert_eq!(snippet("a.md:2:3"), ("a.md", Part::Lines(vec![2..=3])));
        assert_eq!(snippet("a.md::3,5:6"), ("a.md", Part::Lines(vec![1..=3, 5..=6])));
        assert!(matches!(snippet_line("  --8<-- \"a.md\""), Some(SnippetLine::File("a.md"))));
        assert!(matches!(snippet_line("--8<--"), Some(SnippetLine::BlockDelimiter)));
        assert!(matches!(snippet_line("--8<-- [start:x]"), Some(SnippetLine::RegionMarker)));
        assert!(snippet_line(";--8<-- \"a.md\"").is_none() && snippet_line("8<").is_none());
    }

    #[test]
    fn parts_are_cut_out() {
        let anchored = "a\n// ANCHOR: x\nb\n// ANCHOR: y\n// ANCHOR_END: y\n// ANCHOR_END: x\nc\n";
        assert_eq!(Part::Named("x", vec![]).of(anchored, false).as_deref(), Some("b\n"));
        let text = "a\n// #region x\nb\n// #endregion x\nc\n";
        assert_eq!(Part::Named("x", vec![]).of(text, false).as_deref(), Some("b\n"));
        assert_eq!(Part::Whole.of(text, false).as_deref(), Some("a\nb\nc\n"));
        assert_eq!(Part::Lines(vec![1..=1, 5..=9]).of(text, false).as_deref(), Some("a\nc\n"));
        assert_eq!(Part::Named("y", vec![]).of(text, false), None);
        let scissors = "# --8<-- [start:x]\nb\n# --8<-- [end:x]\nc";
        assert_eq!(Part::Named("x", vec![]).of(scissors, false).as_deref(), Some("b\n"));
        let page = "# A\n\n## The part\n\nx\n\n### In\n\ny\n\n## Next\n";
        assert_eq!(
            Part::Named("the-part", vec![]).of(page, true).as_deref(),
            Some("## The part\n\nx\n\n### In\n\ny\n\n")
        );
        let marked = "<!-- #region x -->\nb\n<!-- #endregion x -->\n";
        assert_eq!(Part::Named("x", vec![]).of(marked, true).as_deref(), Some("b\n"));
    }
}
