//! A change of a repository, as people read it: lines with their numbers, unified or side by side.

use docent_authoring::{Diff, FileDiff};
use maud::{Markup, html};

use crate::text::{Foreign, counted, in_url};

/// The largest line in which changed words are marked, in bytes.
const LONGEST_MARKED: usize = 2_000;

/// A line of a unified diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'d> {
    Hunk(&'d str),
    Same(&'d str),
    Added(&'d str),
    Removed(&'d str),
    /// A header of the file, or a note that the file has no newline at its end.
    Note(&'d str),
}

impl<'d> Line<'d> {
    fn of(line: &'d str, in_hunk: bool) -> Self {
        match line.as_bytes().first() {
            Some(b'@') => Self::Hunk(line),
            Some(b'+') if in_hunk => Self::Added(&line[1..]),
            Some(b'-') if in_hunk => Self::Removed(&line[1..]),
            Some(b' ') if in_hunk => Self::Same(&line[1..]),
            None if in_hunk => Self::Same(""),
            _ => Self::Note(line),
        }
    }
}

/// Lines with the numbers they have before and after.
#[derive(Debug, PartialEq, Eq)]
struct Row<'d> {
    old: Option<usize>,
    new: Option<usize>,
    line: Line<'d>,
    /// The line that stands in its place on the other side, where one does.
    other: Option<&'d str>,
}

/// How a change is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Unified,
    Split,
}

/// How many files and lines changed.
pub(crate) fn counts(diff: &Diff) -> Markup {
    let (added, removed) =
        diff.files.iter().fold((0, 0), |(added, removed), file| (added + file.additions, removed + file.deletions));
    html! {
        span.count {
            (counted(diff.files_in_all as u64, "file")) " changed, " ins { "+" (added) } " " del { "−" (removed) }
            @if diff.files.len() < diff.files_in_all { " in those below" }
        }
    }
}

/// The changes, from the file with this number on, counted from 0.
pub(crate) fn files(diff: &Diff, first: usize, layout: Layout) -> Markup {
    let next = first + diff.files.len();
    let split = if layout == Layout::Split { "&layout=split" } else { "" };
    html! {
        @for file in &diff.files { (file_of(file, 0, layout)) }
        @if next < diff.files_in_all {
            p { a href=(format_args!("?from={}{split}", next + 1)) { "More files: " (diff.files_in_all - next) " are left" } }
        }
    }
}

/// The change of one file, from a line of its diff on, counted from 0.
pub(crate) fn file_of(file: &FileDiff, first: usize, layout: Layout) -> Markup {
    let shown = file.unified.lines().count();
    let next = first + shown.max(1);
    let split = if layout == Layout::Split { "&layout=split" } else { "" };
    html! {
        section.diff aria-label=(file.path) {
            header {
                @if let Some(old) = &file.old_path { code { (Foreign(old)) } " → " }
                code { (Foreign(&file.path)) } " "
                span.count { ins { "+" (file.additions) } " " del { "−" (file.deletions) } }
            }
            div.scroll tabindex="0" role="region" aria-label=(format_args!("Changes of {}", file.path)) {
                table {
                    colgroup {
                        @match layout {
                            Layout::Unified => { col.n; col.n; col; },
                            Layout::Split => { col.n; col; col.n; col; },
                        }
                    }
                    tbody { (body(&file.unified, first > 0, layout)) }
                }
            }
            @if next < file.lines || (shown == 0 && first < file.lines) {
                @let from = if shown == 0 { first } else { next };
                p { a href=(format_args!("?file={}&line={}{split}", in_url(&file.path), from + 1)) { "More: " (file.lines - from) " lines are left" } }
            }
        }
    }
}

/// `is_rest`: the part begins after the headers of the file, in the middle of a hunk perhaps.
fn body(unified: &str, is_rest: bool, layout: Layout) -> Markup {
    let rows = rows(unified, is_rest);
    html! {
        @match layout {
            Layout::Unified => { @for row in &rows { (unified_row(row)) } },
            Layout::Split => (split_rows(&rows)),
        }
    }
}

/// The lines of a diff with their numbers, and with each changed line its counterpart: the first removed line of a run stands
/// against the first added one behind it, and so on.
fn rows(unified: &str, is_rest: bool) -> Vec<Row<'_>> {
    let mut in_hunk = is_rest;
    // Unknown before the first hunk begins.
    let (mut old, mut new) = (None, None);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for text in unified.lines() {
        let line = Line::of(text, in_hunk);
        let (mut of_old, mut of_new) = (None, None);
        let next = |number: &mut Option<usize>| {
            let this = *number;
            *number = this.map(|number| number + 1);
            this
        };
        match line {
            Line::Hunk(text) => {
                in_hunk = true;
                (old, new) = beginnings(text).unzip();
            }
            Line::Same(_) => (of_old, of_new) = (next(&mut old), next(&mut new)),
            Line::Added(_) => of_new = next(&mut new),
            Line::Removed(_) => of_old = next(&mut old),
            Line::Note(_) => {}
        }
        rows.push(Row { old: of_old, new: of_new, line, other: None });
    }
    pair(&mut rows);
    rows
}

/// Sets removed and added lines against each other.
fn pair(rows: &mut [Row<'_>]) {
    let mut at = 0;
    while at < rows.len() {
        let removed = rows[at..].iter().take_while(|row| matches!(row.line, Line::Removed(_))).count();
        let added = rows[at + removed..].iter().take_while(|row| matches!(row.line, Line::Added(_))).count();
        for pair in 0..removed.min(added) {
            let (one, other) = (at + pair, at + removed + pair);
            if let (Line::Removed(before), Line::Added(after)) = (rows[one].line, rows[other].line) {
                rows[one].other = Some(after);
                rows[other].other = Some(before);
            }
        }
        at += (removed + added).max(1);
    }
}

/// The first line numbers of a hunk: `@@ -1,4 +2,5 @@`.
fn beginnings(hunk: &str) -> Option<(usize, usize)> {
    let mut parts = hunk.split(' ').skip(1);
    let mut number = |sign: char| parts.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((number('-')?, number('+')?))
}

fn number(number: Option<usize>) -> Markup {
    html! { td.n { @if let Some(number) = number { (number) } } }
}

fn unified_row(row: &Row<'_>) -> Markup {
    html! {
        @match row.line {
            Line::Hunk(text) | Line::Note(text) => tr.hunk { td.n {} td.n {} td { (Foreign(text)) } },
            Line::Same(text) => tr { (number(row.old)) (number(row.new)) td { "  " (Foreign(text)) } },
            Line::Added(text) => tr.add { (number(row.old)) (number(row.new)) td { "+ " (marked(row.other, text, true)) } },
            Line::Removed(text) => tr.del { (number(row.old)) (number(row.new)) td { "− " (marked(row.other, text, false)) } },
        }
    }
}

/// Removed lines on the left beside the added ones on the right.
fn split_rows(rows: &[Row<'_>]) -> Markup {
    let mut out = String::new();
    let mut at = 0;
    let mut push = |markup: Markup| out.push_str(&markup.into_string());
    while let Some(row) = rows.get(at) {
        let removed = rows[at..].iter().take_while(|row| matches!(row.line, Line::Removed(_))).count();
        let added = rows[at + removed..].iter().take_while(|row| matches!(row.line, Line::Added(_))).count();
        if removed + added > 0 {
            for pair in 0..removed.max(added) {
                let left = (pair < removed).then(|| &rows[at + pair]);
                let right = (pair < added).then(|| &rows[at + removed + pair]);
                push(html! { tr { (side(left)) (side(right)) } });
            }
            at += removed + added;
            continue;
        }
        push(match row.line {
            Line::Same(text) => {
                html! { tr { (number(row.old)) td { (Foreign(text)) } (number(row.new)) td { (Foreign(text)) } } }
            }
            Line::Hunk(text) | Line::Note(text) => html! { tr.hunk { td.n {} td colspan="3" { (Foreign(text)) } } },
            // These are in the runs above.
            Line::Added(_) | Line::Removed(_) => html! {},
        });
        at += 1;
    }
    maud::PreEscaped(out)
}

fn side(row: Option<&Row<'_>>) -> Markup {
    html! {
        @match row.map(|row| (row, row.line)) {
            Some((row, Line::Removed(text))) => { (number(row.old)) td.del { "− " (marked(row.other, text, false)) } },
            Some((row, Line::Added(text))) => { (number(row.new)) td.add { "+ " (marked(row.other, text, true)) } },
            _ => { td.n {} td {} },
        }
    }
}

/// A changed line with what differs from its counterpart marked: everything between their common beginning and end, in whole
/// words.
fn marked(other: Option<&str>, text: &str, is_new: bool) -> Markup {
    let Some(other) = other.filter(|other| other.len().max(text.len()) <= LONGEST_MARKED) else {
        return html! { (Foreign(text)) };
    };
    let words = words(text);
    let others = self::words(other);
    let start = words.iter().zip(&others).take_while(|(one, two)| one == two).count();
    let rest = words.len().min(others.len()) - start;
    let end = words.iter().rev().zip(others.iter().rev()).take(rest).take_while(|(one, two)| one == two).count();
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let from = length(&words[..start]);
    let to = text.len() - length(&words[words.len() - end..]);
    // Nothing in common is no change of words but another line.
    if from == 0 && to == text.len() {
        return html! { (Foreign(text)) };
    }
    html! {
        (Foreign(&text[..from]))
        @if from < to { @if is_new { ins { (Foreign(&text[from..to])) } } @else { del { (Foreign(&text[from..to])) } } }
        (Foreign(&text[to..]))
    }
}

/// A line in words and what is between them, all of it.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut begin = 0;
    let mut was_word = None;
    for (at, c) in text.char_indices() {
        let is_word = c.is_alphanumeric() || c == '_';
        if was_word.is_some_and(|was| was != is_word || !is_word) {
            words.push(&text[begin..at]);
            begin = at;
        }
        was_word = Some(is_word);
    }
    if begin < text.len() {
        words.push(&text[begin..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x.md\n+++ b/x.md\n@@ -3,3 +3,4 @@\n same\n-- the old word\n+- the new word\n+more\n";

    #[test]
    fn lines_have_their_numbers_and_their_counterparts() {
        let found = rows(DIFF, false);
        let numbers: Vec<_> = found.iter().map(|row| (row.old, row.new)).collect();
        assert_eq!(
            numbers,
            [
                (None, None),
                (None, None),
                (None, None),
                (Some(3), Some(3)),
                (Some(4), None),
                (None, Some(4)),
                (None, Some(5))
            ]
        );
        assert_eq!(found[0].line, Line::Note("--- a/x.md"));
        assert_eq!(
            (found[4].other, found[5].other, found[6].other),
            (Some("- the new word"), Some("- the old word"), None)
        );
    }

    #[test]
    fn a_part_that_begins_in_the_middle_of_a_hunk_has_its_lines() {
        let found = rows("+added\n same\n@@ -9 +9 @@\n-gone\n", true);
        let lines: Vec<_> = found.iter().map(|row| (row.old, row.new, row.line)).collect();
        assert_eq!(lines[0], (None, None, Line::Added("added")));
        assert_eq!(lines[3], (Some(9), None, Line::Removed("gone")));
    }

    #[test]
    fn only_the_words_that_differ_are_marked() {
        let plain = |markup: Markup| markup.into_string().replace("<bdi>", "").replace("</bdi>", "");
        assert_eq!(plain(marked(Some("the old word"), "the new word", true)), "the <ins>new</ins> word");
        assert_eq!(plain(marked(Some("a a"), "a a a", true)), "a a<ins> a</ins>");
        assert_eq!(plain(marked(Some("x"), "y", false)), "y", "nothing in common");
        assert_eq!(plain(marked(None, "<b>", true)), "&lt;b&gt;");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_some_diff(text in ".{0,300}", other in ".{0,60}") {
            let text = format!("@@ -1 +1 @@\n{text}\n-{other}\n+{text}");
            assert_eq!(rows(&text, false).len(), text.lines().count());
            let _ = (body(&text, false, Layout::Unified), body(&text, true, Layout::Split));
            assert_eq!(words(&other).concat(), other);
        }
    }
}
