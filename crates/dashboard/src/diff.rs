//! Renders a change of a repository: lines with their numbers, unified or side by side.

use std::ops::Range;

use docent_authoring::{Diff, FileDiff, FileStatus};
use docent_types::printable;
use maud::{Markup, html};

use crate::highlight::{Highlight, Highlighter};
use crate::icon::Icon;
use crate::line_comments::{LineOf, ShownComment, quoted_part};
use crate::text::{Untrusted, counted, in_url};

/// The longest line in which changed words are marked, in bytes.
const MAX_MARKED_LINE_BYTES: usize = 2_000;
/// Maximum number of highlighted parts of lines on a page: each takes some thirty bytes of markup.
const MAX_HIGHLIGHTS: usize = 20_000;
/// Maximum number of lines of a page that lead to the form of a comment.
const MAX_LINKS: usize = 1_500;
/// Files that are open at once; the others are opened in place.
const MAX_OPEN_FILES: usize = 12;

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

/// A line of a diff, with its numbers before and after the change.
#[derive(Debug)]
struct Row<'d> {
    old: Option<usize>,
    new: Option<usize>,
    line: Line<'d>,
    /// The counterpart of a changed line: for a removed line the added one, and vice versa.
    counterpart: Option<&'d str>,
    highlights: Vec<Highlight>,
    /// What was said about the line.
    comments: Vec<&'d Markup>,
}

impl Row<'_> {
    /// Whether this is the line with the number and the side of `line`.
    fn is(&self, line: &LineOf) -> bool {
        self.is_side_of(line) && if line.is_removed { self.old } else { self.new } == Some(line.number)
    }

    /// Whether the side of `line` has this one.
    fn is_side_of(&self, line: &LineOf) -> bool {
        match self.line {
            Line::Removed(_) => line.is_removed,
            Line::Same(_) | Line::Added(_) => !line.is_removed,
            Line::Hunk(_) | Line::Note(_) => false,
        }
    }

    /// What a comment on the line quotes.
    fn quoted(&self) -> String {
        match self.line {
            Line::Same(text) | Line::Added(text) | Line::Removed(text) => quoted_part(text),
            Line::Hunk(_) | Line::Note(_) => String::new(),
        }
    }
}

/// Highlights the lines of both sides of a change. `highlights_left` is how many parts may still be highlighted.
struct Reader<'f> {
    file: &'f FileDiff,
    old: Highlighter,
    new: Highlighter,
    highlights_left: usize,
}

impl<'f> Reader<'f> {
    fn new(file: &'f FileDiff, highlights_left: usize) -> Self {
        let [old, new] =
            [file.old_path.as_ref().unwrap_or(&file.path), &file.path].map(|path| Highlighter::of(path, false));
        Self { file, old, new, highlights_left }
    }

    /// Restarts the highlighting at a hunk with these first line numbers, counted from 1.
    fn hunk(&mut self, starts: Option<(usize, usize)>) {
        let (old, new) = starts.map_or((false, false), |(old, new)| (old == 1, new == 1));
        self.old = Highlighter::of(self.file.old_path.as_ref().unwrap_or(&self.file.path), old);
        self.new = Highlighter::of(&self.file.path, new);
    }

    fn highlights(&mut self, line: Line<'_>) -> Vec<Highlight> {
        let highlights = match line {
            Line::Same(text) => {
                self.old.line(text);
                self.new.line(text)
            }
            Line::Added(text) => self.new.line(text),
            Line::Removed(text) => self.old.line(text),
            Line::Hunk(_) | Line::Note(_) => return Vec::new(),
        };
        if highlights.len() > self.highlights_left {
            return Vec::new();
        }
        self.highlights_left -= highlights.len();
        highlights
    }
}

/// How a change is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Unified,
    Split,
}

/// The number of changed files and lines.
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

/// What surrounds a change: the page that it is on, and what was said about its lines.
#[derive(Clone, Copy)]
pub(crate) struct DiffFrame<'f> {
    /// The address of the page with the change.
    pub(crate) here: &'f str,
    /// The address at which a file can be read, by its path.
    pub(crate) url_of: &'f dyn Fn(&str) -> Option<String>,
    pub(crate) comments: &'f [ShownComment],
    /// Whether lines lead to the form of a comment.
    pub(crate) can_comment: bool,
}

/// What is left for a page: parts of lines that may be highlighted, and lines that may lead to the form of a comment.
struct Left {
    highlights: usize,
    links: usize,
}

impl Left {
    const fn new() -> Self {
        Self { highlights: MAX_HIGHLIGHTS, links: MAX_LINKS }
    }
}

/// The changes of several files. `first` is the number of the first file in `diff`, counted from 0.
pub(crate) fn files(diff: &Diff, first: usize, layout: Layout, frame: &DiffFrame<'_>) -> Markup {
    let next = first + diff.files.len();
    let split = if layout == Layout::Split { "&layout=split" } else { "" };
    let mut left = Left::new();
    html! {
        div.changes.listed[diff.files.len() > 1] {
            @if diff.files.len() > 1 { (file_list(diff)) }
            div {
                @for (at, file) in diff.files.iter().enumerate() { (file_section(file, at, 0, layout, frame, at < MAX_OPEN_FILES, &mut left)) }
                @if next < diff.files_in_all {
                    p { a href=(format_args!("{}?from={}{split}", frame.here, next + 1)) { "More files: " (diff.files_in_all - next) " are left" } }
                }
            }
        }
    }
}

/// The files of a change, each leading to its lines below.
fn file_list(diff: &Diff) -> Markup {
    html! {
        nav.files aria-label="Changed files" {
            ul { @for (at, file) in diff.files.iter().enumerate() {
                @let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
                li { a href=(format_args!("#file-{at}")) title=(printable(&file.path)) {
                    span.name { bdi { (printable(name)) } @if !folder.is_empty() { " " small { (Untrusted(folder)) } } }
                    (line_counts(file))
                } }
            } }
        }
    }
}

fn line_counts(file: &FileDiff) -> Markup {
    html! { span.count { ins { "+" (file.additions) } " " del { "−" (file.deletions) } } }
}

/// The change of one file. `first` is the number of the first line in `file`, counted from 0.
pub(crate) fn file_of(file: &FileDiff, first: usize, layout: Layout, frame: &DiffFrame<'_>) -> Markup {
    file_section(file, 0, first, layout, frame, true, &mut Left::new())
}

/// `at` is the place of the file on its page, counted from 0.
fn file_section(
    file: &FileDiff,
    at: usize,
    first: usize,
    layout: Layout,
    frame: &DiffFrame<'_>,
    is_open: bool,
    left: &mut Left,
) -> Markup {
    let shown_lines = file.unified.lines().count();
    let next = first + shown_lines.max(1);
    let split = if layout == Layout::Split { "&layout=split" } else { "" };
    html! {
        details.diff id=(format_args!("file-{at}")) open[is_open] {
            summary {
                span {
                    (Icon::More) " "
                    @if let Some(old) = &file.old_path { code { (Untrusted(old)) } " → " }
                    code { (Untrusted(&file.path)) }
                    @match file.status { FileStatus::Added => { " " span.soft { "new" } }, FileStatus::Deleted => { " " span.soft { "deleted" } }, FileStatus::Modified | FileStatus::Renamed => {} }
                }
                (line_counts(file))
            }
            // Not in the line above, which is a button.
            @if let Some(url) = (frame.url_of)(&file.path).filter(|_| file.status != FileStatus::Deleted) { p.place { a href=(url) rel="noopener noreferrer" { "The file" @if !url.starts_with("https://") { " as it is now" } } } }
            div.scroll tabindex="0" role="region" aria-label=(format_args!("Changes of {}", printable(&file.path))) {
                table {
                    colgroup {
                        @match layout {
                            Layout::Unified => { col.n; col.n; col; },
                            Layout::Split => { col.n; col; col.n; col; },
                        }
                    }
                    tbody { (body(file, first > 0, layout, frame, left)) }
                }
            }
            @if next < file.lines || (shown_lines == 0 && first < file.lines) {
                @let from = if shown_lines == 0 { first } else { next };
                p { a href=(format_args!("{}?file={}&line={}{split}", frame.here, in_url(&file.path), from + 1)) { "More: " (file.lines - from) " lines are left" } }
            }
        }
    }
}

/// `is_rest`: the lines begin after the headers of the file, possibly in the middle of a hunk.
fn body(file: &FileDiff, is_rest: bool, layout: Layout, frame: &DiffFrame<'_>, left: &mut Left) -> Markup {
    let mut reader = Reader::new(file, left.highlights);
    let mut rows = rows(&mut reader, is_rest);
    left.highlights = reader.highlights_left;
    let comments: Vec<_> = frame.comments.iter().filter(|comment| comment.line.path == file.path).collect();
    if !comments.is_empty() {
        let quotes: Vec<String> = rows.iter().map(Row::quoted).collect();
        let is_whole = !is_rest && file.unified.lines().count() >= file.lines;
        for comment in comments {
            if let Some(at) = place_of(comment, &rows, &quotes, is_whole) {
                rows[at].comments.push(&comment.markup);
            }
        }
    }
    html! {
        @match layout {
            Layout::Unified => { @for row in &rows { (unified_row(row, file, frame, left)) } },
            Layout::Split => (split_rows(&rows, file, frame, left)),
        }
    }
}

/// Where a comment stands: at the line with its number if that says what the comment quotes, else at the only line that does.
/// `quotes` are those of the rows. `is_whole`: all lines of the file's change are there.
fn place_of(comment: &ShownComment, rows: &[Row<'_>], quotes: &[String], is_whole: bool) -> Option<usize> {
    let ShownComment { line, quoted, .. } = comment;
    let says_so = |at: &usize| quoted.is_empty() || quotes[*at] == *quoted;
    if let Some(at) = rows.iter().position(|row| row.is(line)).filter(says_so) {
        return Some(at);
    }
    if quoted.is_empty() || !is_whole {
        return None;
    }
    let mut others = (0..rows.len()).filter(|at| says_so(at) && rows[*at].is_side_of(line));
    others.next().filter(|_| others.next().is_none())
}

/// What a comment on a line of a change quotes of it; `None` where the line is not in the part of the change that is read.
pub(crate) fn quoted_line(diff: &Diff, line: &LineOf, is_rest: bool) -> Option<String> {
    let file = diff.files.iter().find(|file| file.path == line.path)?;
    rows(&mut Reader::new(file, 0), is_rest).iter().find(|row| row.is(line)).map(Row::quoted)
}

/// The lines of a diff with their numbers and counterparts: the first removed line of a run is paired with the first
/// added line after it, and so on.
fn rows<'f>(reader: &mut Reader<'f>, is_rest: bool) -> Vec<Row<'f>> {
    let mut in_hunk = is_rest;
    // Unknown before the first hunk begins.
    let (mut old, mut new) = (None, None);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for text in reader.file.unified.lines() {
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
                let starts = hunk_starts(text);
                reader.hunk(starts);
                (old, new) = starts.unzip();
            }
            Line::Same(_) => (of_old, of_new) = (next(&mut old), next(&mut new)),
            Line::Added(_) => of_new = next(&mut new),
            Line::Removed(_) => of_old = next(&mut old),
            Line::Note(_) => {}
        }
        rows.push(Row {
            old: of_old,
            new: of_new,
            line,
            counterpart: None,
            highlights: reader.highlights(line),
            comments: Vec::new(),
        });
    }
    pair(&mut rows);
    rows
}

/// Pairs removed lines with the added lines that follow them.
fn pair(rows: &mut [Row<'_>]) {
    let mut at = 0;
    while at < rows.len() {
        let removed = rows[at..].iter().take_while(|row| matches!(row.line, Line::Removed(_))).count();
        let added = rows[at + removed..].iter().take_while(|row| matches!(row.line, Line::Added(_))).count();
        for pair in 0..removed.min(added) {
            let (removed_at, added_at) = (at + pair, at + removed + pair);
            if let (Line::Removed(before), Line::Added(after)) = (rows[removed_at].line, rows[added_at].line) {
                rows[removed_at].counterpart = Some(after);
                rows[added_at].counterpart = Some(before);
            }
        }
        at += (removed + added).max(1);
    }
}

/// The first line numbers of a hunk: `@@ -1,4 +2,5 @@`.
fn hunk_starts(hunk: &str) -> Option<(usize, usize)> {
    let mut parts = hunk.split(' ').skip(1);
    let mut number = |sign: char| parts.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((number('-')?, number('+')?))
}

fn number(number: Option<usize>) -> Markup {
    html! { td.n { @if let Some(number) = number { (number) } } }
}

fn unified_row(row: &Row<'_>, file: &FileDiff, frame: &DiffFrame<'_>, left: &mut Left) -> Markup {
    html! {
        @match row.line {
            Line::Hunk(text) => tr.hunk { td.n {} td.n {} td { (Untrusted(text)) } },
            Line::Note(text) if is_header(text) => {},
            Line::Note(text) => tr.hunk { td.n {} td.n {} td { (Untrusted(text)) } },
            Line::Same(text) => tr { (number(row.old)) (commented_number(row, file, frame, left)) td { "  " (piece(row, text, 0..text.len())) } },
            Line::Added(text) => tr.add { (number(row.old)) (commented_number(row, file, frame, left)) td { "+ " (marked(row, text)) } },
            Line::Removed(text) => tr.del { (commented_number(row, file, frame, left)) (number(row.new)) td { "− " (marked(row, text)) } },
        }
        (comments_of([Some(row), None], 3))
    }
}

/// What was said about a line, or about the two of a row, below it.
fn comments_of(rows: [Option<&Row<'_>>; 2], columns: u8) -> Markup {
    let said: Vec<_> = rows.into_iter().flatten().flat_map(|row| &row.comments).collect();
    html! { @if !said.is_empty() { tr { td colspan=(columns) { @for comment in said { (comment) } } } } }
}

/// A header of a file that its title says already.
fn is_header(text: &str) -> bool {
    ["diff --git ", "index ", "--- ", "+++ "].iter().any(|head| text.starts_with(head))
}

/// The number of a line, after the change or of a removed one, which leads to the form of a comment at it.
fn commented_number(row: &Row<'_>, file: &FileDiff, frame: &DiffFrame<'_>, left: &mut Left) -> Markup {
    let (number_of, sign) = if matches!(row.line, Line::Removed(_)) { (row.old, "-") } else { (row.new, "") };
    let Some(at) = number_of.filter(|_| frame.can_comment && left.links > 0) else { return number(number_of) };
    left.links -= 1;
    html! { td.n { a href=(format_args!("{}?comment={}:{sign}{at}#comment-form", frame.here, in_url(&file.path))) title="Comment on this line" { (at) } } }
}

/// Removed lines on the left beside the added ones on the right.
fn split_rows(rows: &[Row<'_>], file: &FileDiff, frame: &DiffFrame<'_>, left: &mut Left) -> Markup {
    let mut out = String::new();
    let mut at = 0;
    let mut push = |markup: Markup| out.push_str(&markup.into_string());
    while let Some(row) = rows.get(at) {
        let removed = rows[at..].iter().take_while(|row| matches!(row.line, Line::Removed(_))).count();
        let added = rows[at + removed..].iter().take_while(|row| matches!(row.line, Line::Added(_))).count();
        if removed + added > 0 {
            for pair in 0..removed.max(added) {
                let both =
                    [(pair < removed).then(|| &rows[at + pair]), (pair < added).then(|| &rows[at + removed + pair])];
                let [before, after] = both.map(|row| side(row, file, frame, left));
                push(html! { tr { (before) (after) } (comments_of(both, 4)) });
            }
            at += removed + added;
            continue;
        }
        push(match row.line {
            Line::Same(text) => {
                let same = piece(row, text, 0..text.len());
                html! {
                    tr { (number(row.old)) td { "  " (same) } (commented_number(row, file, frame, left)) td { "  " (same) } }
                    (comments_of([Some(row), None], 4))
                }
            }
            Line::Note(text) if is_header(text) => html! {},
            Line::Hunk(text) | Line::Note(text) => html! { tr.hunk { td.n {} td colspan="3" { (Untrusted(text)) } } },
            // Handled as runs above.
            Line::Added(_) | Line::Removed(_) => html! {},
        });
        at += 1;
    }
    maud::PreEscaped(out)
}

fn side(row: Option<&Row<'_>>, file: &FileDiff, frame: &DiffFrame<'_>, left: &mut Left) -> Markup {
    html! {
        @match row.map(|row| (row, row.line)) {
            Some((row, Line::Removed(text))) => { (commented_number(row, file, frame, left)) td.del { "− " (marked(row, text)) } },
            Some((row, Line::Added(text))) => { (commented_number(row, file, frame, left)) td.add { "+ " (marked(row, text)) } },
            _ => { td.n {} td {} },
        }
    }
}

/// A changed line with its difference from the counterpart marked.
fn marked(row: &Row<'_>, text: &str) -> Markup {
    let counterpart = row.counterpart.filter(|other| other.len().max(text.len()) <= MAX_MARKED_LINE_BYTES);
    let Some(Range { start, end }) = counterpart.and_then(|other| differing(text, other)) else {
        return piece(row, text, 0..text.len());
    };
    let changed = piece(row, text, start..end);
    html! {
        (piece(row, text, 0..start))
        @if start < end { @if matches!(row.line, Line::Added(_)) { ins { (changed) } } @else { del { (changed) } } }
        (piece(row, text, end..text.len()))
    }
}

/// The part of a text that differs from another one: all between what they begin and what they end with, in whole words. `None`
/// where they have nothing in common.
pub(crate) fn differing(text: &str, other: &str) -> Option<Range<usize>> {
    let (words, others) = (words(text), self::words(other));
    let start = words.iter().zip(&others).take_while(|(one, two)| one == two).count();
    let rest = words.len().min(others.len()) - start;
    let end = words.iter().rev().zip(others.iter().rev()).take(rest).take_while(|(one, two)| one == two).count();
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let part = length(&words[..start])..text.len() - length(&words[words.len() - end..]);
    Some(part).filter(|part| *part != (0..text.len()))
}

/// A part of a line, highlighted.
fn piece(row: &Row<'_>, text: &str, of: Range<usize>) -> Markup {
    if of.is_empty() {
        return html! {};
    }
    let overlapping = row.highlights.iter().filter(|part| part.at.end > of.start && part.at.start < of.end);
    let mut parts = Vec::new();
    let mut at = of.start;
    for part in overlapping {
        let (start, end) = (part.at.start.max(of.start), part.at.end.min(of.end));
        parts.push((&text[at..start], part.class.as_str(), &text[start..end]));
        at = end;
    }
    html! {
        bdi {
            @for (before, class, highlighted) in parts {
                (printable(before))
                span class=(class) { (printable(highlighted)) }
            }
            (printable(&text[at..of.end]))
        }
    }
}

/// Splits a line into words and the characters between them, without loss.
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

    fn file(path: &str, unified: &str) -> FileDiff {
        FileDiff {
            path: path.to_owned(),
            old_path: None,
            status: docent_authoring::FileStatus::Modified,
            additions: 1,
            deletions: 1,
            is_binary: false,
            unified: unified.to_owned(),
            lines: unified.lines().count(),
        }
    }

    fn read(file: &FileDiff, is_rest: bool) -> Vec<Row<'_>> {
        rows(&mut Reader::new(file, MAX_HIGHLIGHTS), is_rest)
    }

    const DIFF: &str = "--- a/x.md\n+++ b/x.md\n@@ -3,3 +3,4 @@\n same\n-- the old word\n+- the new word\n+more\n";

    #[test]
    fn lines_have_their_numbers_and_their_counterparts() {
        let file = file("x.md", DIFF);
        let found = read(&file, false);
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
            (found[4].counterpart, found[5].counterpart, found[6].counterpart),
            (Some("- the new word"), Some("- the old word"), None)
        );
    }

    #[test]
    fn a_part_that_begins_in_the_middle_of_a_hunk_has_its_lines() {
        let file = file("x.md", "+added\n same\n@@ -9 +9 @@\n-gone\n");
        let found = read(&file, true);
        let lines: Vec<_> = found.iter().map(|row| (row.old, row.new, row.line)).collect();
        assert_eq!(lines[0], (None, None, Line::Added("added")));
        assert_eq!(lines[3], (Some(9), None, Line::Removed("gone")));
    }

    #[test]
    fn only_the_words_that_differ_are_marked() {
        let marks = |counterpart: Option<&'static str>, text: &'static str| {
            let row = Row {
                old: None,
                new: Some(1),
                line: Line::Added(text),
                counterpart,
                highlights: Vec::new(),
                comments: Vec::new(),
            };
            marked(&row, text).into_string().replace("<bdi>", "").replace("</bdi>", "")
        };
        assert_eq!(marks(Some("the old word"), "the new word"), "the <ins>new</ins> word");
        assert_eq!(marks(Some("a a"), "a a a"), "a a<ins> a</ins>");
        assert_eq!(marks(Some("x"), "y"), "y", "nothing in common");
        assert_eq!(marks(None, "<b>"), "&lt;b&gt;");
    }

    #[test]
    fn highlights_and_marks_go_together() {
        let file = file("x.md", "@@ -1,2 +1,2 @@\n ---\n-title: \"an old <b>\"\n+title: \"a new <b>\"\n");
        let frame = DiffFrame { here: "/here", url_of: &|_| None, comments: &[], can_comment: true };
        let shown = body(&file, false, Layout::Unified, &frame, &mut Left::new()).into_string();
        let expected = concat!(
            "<bdi><span class=\"c-name\">title</span>: <span class=\"c-lit\">&quot;</span></bdi>",
            "<ins><bdi><span class=\"c-lit\">a new</span></bdi></ins>",
            "<bdi><span class=\"c-lit\"> &lt;b&gt;&quot;</span></bdi>"
        );
        assert!(shown.contains(expected), "{shown}");
        let both = body(&file, false, Layout::Split, &frame, &mut Left::new()).into_string();
        for (line, shown) in [1, 2, -2].into_iter().flat_map(|line| [(line, &shown), (line, &both)]) {
            let link = format!("<a href=\"/here?comment=x.md:{line}#comment-form\"");
            assert_eq!(shown.matches(&link).count(), 1, "{shown}");
        }
        let mut none_left = Left { highlights: 0, links: 0 };
        let plain = body(&file, false, Layout::Split, &frame, &mut none_left).into_string();
        assert!(!plain.contains("<span") && plain.contains("a new"), "{plain}");
    }

    #[test]
    fn a_comment_stands_at_what_it_is_about_or_nowhere() {
        let file = file("x.md", DIFF);
        let rows = read(&file, false);
        let quotes: Vec<String> = rows.iter().map(Row::quoted).collect();
        let stands_in = |line: &str, quoted: &str, is_whole: bool| {
            let line = LineOf::read(line).expect("a line");
            place_of(&ShownComment { line, quoted: quoted.to_owned(), markup: html! {} }, &rows, &quotes, is_whole)
        };
        let stands = |line: &str, quoted: &str| stands_in(line, quoted, true);
        assert_eq!(stands("x.md:4", "- the new word"), Some(5));
        assert_eq!(stands("x.md:4", ""), Some(5), "an older comment has no quote");
        assert_eq!(stands("x.md:-4", "- the old word"), Some(4));
        assert_eq!(stands("x.md:9", "more"), Some(6), "it has moved");
        assert_eq!(stands("x.md:4", "more"), Some(6));
        assert_eq!(stands("x.md:4", "- the old word"), None, "another side");
        assert_eq!(stands("x.md:4", "gone"), None);
        assert_eq!(stands("x.md:9", ""), None);
        assert_eq!(stands_in("x.md:9", "more", false), None, "another part may have it, too");
        assert_eq!(stands_in("x.md:5", "more", false), Some(6));
        let diff = Diff { files: vec![file.clone()], files_in_all: 1 };
        let quoted = |line: &str| quoted_line(&diff, &LineOf::read(line).expect("a line"), false);
        assert_eq!(quoted("x.md:-4").as_deref(), Some("- the old word"));
        assert_eq!((quoted("x.md:40"), quoted("y.md:4")), (None, None));
        let frame = DiffFrame {
            here: "/here",
            url_of: &|_| None,
            comments: &["x.md:4", "x.md:-4"].map(|line| ShownComment {
                line: LineOf::read(line).expect("a line"),
                quoted: String::new(),
                markup: html! { "Hm " (line) },
            }),
            can_comment: true,
        };
        for layout in [Layout::Unified, Layout::Split] {
            let shown = body(&file, false, layout, &frame, &mut Left::new()).into_string();
            assert!(shown.contains("Hm x.md:4") && shown.contains("Hm x.md:-4"), "{shown}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_some_diff(text in ".{0,300}", counterpart in ".{0,60}") {
            let text = format!("@@ -1 +1 @@\n{text}\n-{counterpart}\n+{text}");
            let file = file("x.md", &text);
            assert_eq!(read(&file, false).len(), text.lines().count());
            for (is_rest, layout) in [(false, Layout::Unified), (true, Layout::Split)] {
                let frame = DiffFrame { here: "/here", url_of: &|_| None, comments: &[], can_comment: true };
                let _ = body(&file, is_rest, layout, &frame, &mut Left::new());
            }
            assert_eq!(words(&counterpart).concat(), counterpart);
        }
    }
}
