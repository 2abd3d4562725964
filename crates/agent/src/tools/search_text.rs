//! `search_text`: finds the lines that match a pattern.

use std::collections::BTreeSet;

use docent_refactor::Selection;
use docent_site::Site;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::{OfferedTo, Tool, flag, number, object, text, within};
use crate::parallel::map_in_parallel;
use crate::parsed_call::{CallResult, Patterns, lenient_bool, reads, whole};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "search_text",
    offered: OfferedTo::Always,
    description: "Searches the text files of the docs line by line with a regular expression (Rust syntax, no \
                  look-around) and gives file, line and text of each match; with `context_lines` also the lines around.",
    schema: || {
        let properties = serde_json::json!({
            "pattern": text("The regular expression."),
            "in": within(),
            "ignore_case": flag("Whether case does not matter."),
            "context_lines": number("How many lines are shown before and after each match, at most 10."),
        });
        object(properties, &["pattern"])
    },
    begin: |given| reads(given, run),
};

const MATCHES: usize = 200;
const WIDTH: usize = 300;
/// Maximum number of context lines around a match.
const AROUND: usize = 10;
/// Maximum number of bytes of matches in a result, so that the note at its end is not cut off.
const BYTES: usize = 28_000;
/// Larger files, in bytes, are not searched.
const LARGEST: usize = 4 << 20;

#[derive(Deserialize)]
struct SearchTextArguments {
    #[serde(alias = "regex", alias = "query")]
    pattern: String,
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob")]
    within: Patterns,
    #[serde(default, alias = "case_insensitive", deserialize_with = "lenient_bool")]
    ignore_case: bool,
    #[serde(default, alias = "context", deserialize_with = "whole")]
    context_lines: Option<usize>,
}

fn run(
    SearchTextArguments { pattern, within, ignore_case, context_lines }: SearchTextArguments,
    workbench: &Workbench<'_>,
) -> CallResult {
    let pattern = Pattern::new(&pattern, ignore_case)?;
    let around = context_lines.unwrap_or(0).min(AROUND);
    let view = workbench.select(&within)?;
    let tree = view.tree;
    let site = Site::read(tree);
    let selection = Selection::of(&site, &view.patterns).map_err(|why| why.to_string())?;
    let files: Vec<&str> = site.files().filter(|file| !selection.is_narrowed() || selection.has(file)).collect();
    let read = |file: &str| {
        let bytes = tree.read(file).filter(|bytes| bytes.len() <= LARGEST && !bytes.contains(&0))?;
        String::from_utf8(bytes).ok()
    };
    let counts = map_in_parallel(&files, |file| read(file).map_or(0, |text| pattern.count(&text)));
    let (matches, hits): (usize, usize) = (counts.iter().sum(), counts.iter().filter(|count| **count > 0).count());
    let (mut shown, mut written) = (String::new(), 0);
    // Only the few files that are listed are searched again.
    for (file, _) in files.iter().zip(&counts).filter(|(_, count)| **count > 0) {
        if written == MATCHES || shown.len() >= BYTES {
            break;
        }
        let lines = read(file).map(|text| pattern.lines(&text, around)).unwrap_or_default();
        written += write(&mut shown, &format!("{}{file}", view.prefix), &lines, MATCHES - written, around > 0);
    }
    Ok(match matches {
        0 => "nothing matches".to_owned(),
        _ if matches > written => {
            format!("{shown}… {} more matches, {hits} files in all; narrow the pattern or use `in`", matches - written)
        }
        _ => shown,
    })
}

/// A pattern that is matched line by line.
struct Pattern {
    line: Regex,
    /// The same pattern for a whole text: if it does not match a text, no line of it matches. `None` if that does not
    /// hold for the pattern for certain.
    whole: Option<Regex>,
}

/// A matching line, or a context line near one.
struct FoundLine {
    /// Counted from 1.
    number: usize,
    matches: bool,
    text: String,
}

impl Pattern {
    fn new(written: &str, ignore_case: bool) -> Result<Self, String> {
        let build = |lines: bool| {
            RegexBuilder::new(written)
                .case_insensitive(ignore_case)
                .multi_line(lines)
                .size_limit(1 << 20)
                .build()
                .map_err(|why| format!("the pattern is not a regular expression: {why}"))
        };
        // These constructs may distinguish the start and end of a text from those of a line.
        let harmless = written.replace("(?i)", "").replace("(?:", "");
        let is_plain = !["\\A", "\\z", "(?"].iter().any(|special| harmless.contains(special));
        Ok(Self { line: build(false)?, whole: is_plain.then(|| build(true)).transpose()? })
    }

    /// How many lines match.
    fn count(&self, text: &str) -> usize {
        // Texts with other line ends are always searched line by line.
        if self.whole.as_ref().is_some_and(|whole| !text.contains('\r') && !whole.is_match(text)) {
            return 0;
        }
        text.lines().filter(|line| self.line.is_match(line)).count()
    }

    /// The matching lines, up to the limit of a result, and the context lines around them.
    fn lines(&self, text: &str, around: usize) -> Vec<FoundLine> {
        let lines: Vec<&str> = text.lines().collect();
        let matching = (0..lines.len()).filter(|&index| self.line.is_match(lines[index])).take(MATCHES);
        let matching: BTreeSet<usize> = matching.collect();
        let near = |index: &usize| index.saturating_sub(around)..=(index + around).min(lines.len() - 1);
        let shown: BTreeSet<usize> = matching.iter().flat_map(near).collect();
        let line = |index: usize| {
            let text = if around > 0 { lines[index].trim_end() } else { lines[index].trim() };
            let text = text.chars().take(WIDTH).collect();
            FoundLine { number: index + 1, matches: matching.contains(&index), text }
        };
        shown.into_iter().map(line).collect()
    }
}

/// Writes the lines of a file with at most this many matches, and returns the number of matches. Groups of lines that
/// are not adjacent are separated.
fn write(out: &mut String, file: &str, lines: &[FoundLine], most: usize, is_apart: bool) -> usize {
    let mut written = 0;
    let mut last = None;
    for FoundLine { number, matches, text } in lines {
        if out.len() >= BYTES || (*matches && written == most) {
            break;
        }
        if is_apart && !out.is_empty() && last.is_none_or(|last| last + 1 < *number) {
            out.push_str("--\n");
        }
        let mark = if *matches { ':' } else { '-' };
        out.push_str(&format!("{file}{mark}{number}{mark} {text}\n"));
        written += usize::from(*matches);
        last = Some(*number);
    }
    written
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_look_at_the_whole_text_overlooks_no_line(
            pattern in prop::sample::select(vec![
                "^a$", "a|b$", r"\bab", "^$", "[^a]b", r"a\s*b", r"\s$", ".*", "a.b", "(?i)A", "b{2}", r"\Ba", "(?:ab)+$",
                r"^\s*$", r"\Aa", r"b\z", "(?-m)^a", "(?s)a.b", r"\W", r"^[^\n]a",
            ]),
            text in "[ab \n\r]{0,24}",
        ) {
            let pattern = Pattern::new(pattern, false).expect("a pattern");
            let slowly = text.lines().filter(|line| pattern.line.is_match(line)).count();
            prop_assert_eq!(pattern.count(&text), slowly);
        }
    }
}
