//! Prints the demo's output. `anstream` strips colours if the output is not a terminal.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use docent_types::printable;
use docent_workspace::FileDiff;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const TITLE: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const HUNK: Style = AnsiColor::Magenta.on_default();
const LINK: Style = AnsiColor::Blue.on_default().underline();

/// Maximum number of lines of a diff that are printed; the rest is counted.
const DIFF_LINES: usize = 44;

/// Prints one line. Errors are ignored: a closed pipe must not stop the server.
fn line(text: &str) {
    let _ = writeln!(anstream::stdout(), "{text}");
}

pub(super) fn title(text: &str) {
    line(&format!("\n{TITLE}{text}{TITLE:#}\n"));
}

pub(super) fn fact(name: &str, value: &str) {
    line(&format!("  {DIM}{name:<13}{DIM:#} {}", printable(value)));
}

pub(super) fn link(name: &str, url: &str) {
    line(&format!("  {DIM}{name:<13}{DIM:#} {LINK}{url}{LINK:#}"));
}

pub(super) fn said(text: &str) {
    line(&format!("  {BOLD}> {}{BOLD:#}\n", printable(text)));
}

pub(super) fn note(text: &str) {
    for text in printable(text).lines() {
        line(&format!("  {text}"));
    }
}

pub(super) fn blank() {
    line("");
}

pub(super) fn request(method: &str, path: &str, status: u16) {
    line(&format!("  {DIM}{method} {path}{DIM:#}  {status}"));
}

/// Prints a state of the job.
pub(super) fn state(status: &str, detail: &str) {
    let style = match status {
        "completed" => GOOD,
        "failed" => BAD,
        _ => AnsiColor::Yellow.on_default(),
    };
    line(&format!("  {style}●{style:#} {status:<10} {DIM}{detail}{DIM:#}"));
}

/// Prints some files of the change in colour, and the number of lines left out.
pub(super) fn diff(files: &[FileDiff], more_at: &str) {
    let mut left = DIFF_LINES;
    let mut hidden = 0;
    for file in files {
        let lines: Vec<&str> = file.unified.lines().collect();
        if left < lines.len().min(8) {
            hidden += 1;
            continue;
        }
        for text in lines.iter().take(left) {
            let style = match text.as_bytes() {
                [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => BOLD,
                [b'+', ..] => GOOD,
                [b'-', ..] => BAD,
                [b'@', ..] => HUNK,
                _ => Style::new(),
            };
            line(&format!("    {style}{}{style:#}", printable(text)));
        }
        left = left.saturating_sub(lines.len());
    }
    if hidden > 0 {
        line(&format!("    {DIM}… and {hidden} more files at {more_at}{DIM:#}"));
    }
    line("");
}

/// Streams text as it arrives, indented, with line breaks between words.
#[derive(Debug, Default)]
pub(super) struct StreamedText {
    column: usize,
}

impl StreamedText {
    const WIDTH: usize = 92;

    pub(super) fn push(&mut self, text: &str) {
        let mut out = anstream::stdout();
        for piece in printable(text).split_inclusive([' ', '\n']) {
            let width = piece.trim_end().chars().count();
            if self.column > 0 && self.column + width > Self::WIDTH {
                let _ = writeln!(out);
                self.column = 0;
            }
            if self.column == 0 {
                if piece.trim().is_empty() && !piece.ends_with('\n') {
                    continue;
                }
                let _ = write!(out, "  ");
            }
            let _ = write!(out, "{piece}");
            self.column = if piece.ends_with('\n') { 0 } else { self.column + piece.chars().count() };
        }
        let _ = out.flush();
    }

    pub(super) fn end(&mut self) {
        let _ = writeln!(anstream::stdout(), "\n");
        self.column = 0;
    }
}
