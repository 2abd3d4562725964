//! The page of one pull request.

use std::time::Duration;

use docent_authoring::{Diff, DiffView, FileDiff};
use docent_forge::{PullRecord, State};
use docent_types::Project;
use maud::{DOCTYPE, Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Files on a page.
const FILES: usize = 50;
/// Most lines of each.
const LINES_OF_EACH: usize = 400;
const BYTES_OF_EACH: usize = 64 << 10;
/// The same for a file that is displayed alone.
const LINES_OF_ONE: usize = 2_000;
/// Of changes on a page. Written as HTML they take up to seven times as much.
const BYTES: usize = 512 << 10;

/// The part of the changes to display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum View {
    /// The beginning of each file's change, from this file on, counted from 0.
    Files { first: usize },
    /// One file's change, from this line on, counted from 0.
    File { path: String, line: usize },
}

impl View {
    pub(crate) fn view(&self) -> DiffView {
        let view =
            DiffView { compared_bytes: 16 << 20, bytes: BYTES, time: Duration::from_secs(2), ..DiffView::default() };
        match self {
            Self::Files { first } => {
                DiffView { first_file: *first, files: FILES, lines: LINES_OF_EACH, file_bytes: BYTES_OF_EACH, ..view }
            }
            Self::File { path, line } => {
                DiffView { only: Some(path.clone()), first_line: *line, lines: LINES_OF_ONE, file_bytes: BYTES, ..view }
            }
        }
    }
}

/// `diff` is `None` when the repository cannot be read at the moment.
pub(crate) fn pull_request(project: &Project, record: &PullRecord, look: &View, diff: Option<&Diff>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (record.title) " · #" (record.number) " · " (project.id) }
                link rel="stylesheet" href="/pulls/pull.css";
                script src="/pulls/pull.js" defer {}
            }
            body {
                main {
                    p.crumb {
                        (project.id) " / "
                        @match look {
                            View::Files { first: 0 } => { "pull request " (record.number) }
                            _ => { a href=(format_args!("/pulls/{}/{}", project.id, record.id)) { "pull request " (record.number) } }
                        }
                    }
                    h1 { (record.title) }
                    p.line {
                        span class={ "state " (record.state.as_str()) } {
                            (record.state.as_str()) @if record.draft && record.state == State::Open { " draft" }
                        }
                        code { (record.head) } " → " code { (record.base) }
                        @if let Some(diff) = diff { (counts(diff)) }
                    }
                    @if *look == (View::Files { first: 0 }) {
                        pre.body { (record.body) }
                        @if record.state == State::Open { (form()) }
                    }
                    @match diff {
                        None => p { "The repository cannot be read at the moment. Look again later; the server's log says why." },
                        Some(diff) if diff.files.is_empty() => p { "There are no changes here." },
                        Some(diff) => (changes(look, diff)),
                    }
                }
            }
        }
    }
}

fn counts(diff: &Diff) -> Markup {
    let (added, removed) =
        diff.files.iter().fold((0, 0), |(added, removed), file| (added + file.additions, removed + file.deletions));
    html! {
        span.count {
            (diff.files_in_all) @if diff.files_in_all == 1 { " file " } @else { " files " }
            ins { "+" (added) } " " del { "−" (removed) }
            @if diff.files.len() < diff.files_in_all { " in those below" }
        }
    }
}

fn form() -> Markup {
    html! {
        form #end {
            label for="key" { "Admin key" }
            input #key type="password" autocomplete="off" placeholder="docent_admin_…" required;
            button type="submit" name="to" value="merge" { "Merge" }
            button.quiet type="submit" name="to" value="update" title="Merge the base branch into this one" { "Update branch" }
            button.quiet type="submit" name="to" value="close" { "Close" }
            output #answer role="status" {}
        }
    }
}

fn changes(look: &View, diff: &Diff) -> Markup {
    html! {
        @match look {
            View::Files { first } => {
                @for file in &diff.files { (file_diff(file, 0)) }
                @let next = first + diff.files.len();
                @if next < diff.files_in_all {
                    p.more { a href=(format_args!("?from={}", next + 1)) { "Show more files: " (diff.files_in_all - next) " are left" } }
                }
            }
            View::File { line, .. } => { @for file in &diff.files { (file_diff(file, *line)) } }
        }
    }
}

/// `first` is the first displayed line of the change, counted from 0.
fn file_diff(file: &FileDiff, first: usize) -> Markup {
    let shown = file.unified.lines().count();
    let next = first + shown.max(1);
    html! {
        details.file open {
            summary {
                @if let Some(old) = &file.old_path { code { (old) } " → " }
                code { (file.path) }
                span.count { ins { "+" (file.additions) } " " del { "−" (file.deletions) } }
            }
            pre {
                @if first > 0 { span.hunk { "… from line " (first + 1) " of " (file.lines) "\n" } }
                @for line in file.unified.lines() { span class=(kind(line)) { (line) "\n" } }
                @if shown > 0 && !file.unified.ends_with('\n') { span.hunk { "… the rest of this line is left out\n" } }
            }
            @if next < file.lines || (shown == 0 && first < file.lines) {
                @let from = if shown == 0 { first } else { next };
                p.more { a href=(more(&file.path, from)) { "Show more: " (file.lines - from) " lines are left" } }
            }
        }
    }
}

/// The address of a file's change, from a line on.
fn more(path: &str, line: usize) -> String {
    format!("?file={}&line={}", utf8_percent_encode(path, NON_ALPHANUMERIC), line + 1)
}

fn kind(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "name",
        [b'+', ..] => "add",
        [b'-', ..] => "del",
        [b'@', ..] => "hunk",
        _ => "same",
    }
}
