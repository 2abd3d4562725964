//! Compares the two sides of one changed file, line by line.

use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

use similar::{DiffTag, TextDiff};

use super::{DiffView, FileDiff, FileStatus, Pair, Side, content, size};
use crate::error::GitError;

/// Maximum size in bytes of a file compared line by line; larger files are only listed.
const BYTES_AT_MOST: usize = 1 << 20;
/// Maximum number of lines of such a file.
const LINES_AT_MOST: usize = 100_000;

/// The unused part of a view's limits.
pub(super) struct Budget {
    compared_bytes: usize,
    bytes: usize,
    deadline: Instant,
    /// The most time for one file.
    time: Duration,
}

impl Budget {
    pub(super) fn new(view: &DiffView, now: Instant) -> Self {
        let DiffView { compared_bytes, bytes, time, .. } = *view;
        Self { compared_bytes, bytes, deadline: now + time, time: time / 4 }
    }
}

pub(super) fn file(
    repo: &gix::Repository,
    pair: &Pair,
    view: &DiffView,
    budget: &mut Budget,
) -> Result<FileDiff, GitError> {
    let status = match (&pair.old, &pair.new) {
        (None, _) => FileStatus::Added,
        (_, None) => FileStatus::Deleted,
        _ if pair.old_path.is_some() => FileStatus::Renamed,
        _ => FileStatus::Modified,
    };
    let old_path = pair.old_path.as_ref().unwrap_or(&pair.path);
    let old_name = pair.old.as_ref().map_or("/dev/null".to_owned(), |_| format!("a/{old_path}"));
    let new_name = pair.new.as_ref().map_or("/dev/null".to_owned(), |_| format!("b/{}", pair.path));
    let mut diff = FileDiff {
        path: pair.path.clone(),
        old_path: pair.old_path.clone(),
        status,
        additions: 0,
        deletions: 0,
        is_binary: false,
        unified: String::new(),
        lines: 0,
    };
    let mut out = Window::new(view, budget.bytes);
    // Writing to a window cannot fail.
    let _ = out.write_str(&header(pair, status));
    let is_same = pair.old.as_ref().map(|side| side.blob) == pair.new.as_ref().map(|side| side.blob);
    match texts(repo, pair, budget)? {
        Read::Texts([before, after]) => {
            let deadline = budget.deadline.min(Instant::now() + budget.time);
            let lines = TextDiff::configure().deadline(deadline).diff_lines(before.as_str(), after.as_str());
            for op in lines.ops() {
                match op.tag() {
                    DiffTag::Equal => {}
                    DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                        diff.deletions += op.old_range().len();
                        diff.additions += op.new_range().len();
                    }
                }
            }
            let _ = write!(out, "{}", lines.unified_diff().context_radius(3).header(&old_name, &new_name));
        }
        Read::NotText => {
            diff.is_binary = true;
            if !is_same {
                let _ = writeln!(out, "Binary files {old_name} and {new_name} differ");
            }
        }
        Read::TooMuch => {
            diff.is_binary = true;
            if !is_same {
                let _ = writeln!(out, "Files {old_name} and {new_name} differ, and are too large to compare");
            }
        }
    }
    (diff.unified, diff.lines) = (out.text, out.line);
    budget.bytes = budget.bytes.saturating_sub(diff.unified.len());
    Ok(diff)
}

enum Read {
    Texts([String; 2]),
    NotText,
    TooMuch,
}

/// The content of both sides, if the limits allow.
fn texts(repo: &gix::Repository, pair: &Pair, budget: &mut Budget) -> Result<Read, GitError> {
    let mut total_bytes = 0;
    for side in [&pair.old, &pair.new].into_iter().flatten() {
        let bytes = size(repo, side)?;
        total_bytes += bytes;
        if bytes > BYTES_AT_MOST || total_bytes > budget.compared_bytes {
            return Ok(Read::TooMuch);
        }
    }
    budget.compared_bytes -= total_bytes;
    let read = |side: &Option<Side>| side.as_ref().map(|side| content(repo, side)).transpose();
    let sides = [read(&pair.old)?.unwrap_or_default(), read(&pair.new)?.unwrap_or_default()];
    if sides.iter().any(|bytes| !is_text(bytes)) {
        return Ok(Read::NotText);
    }
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    if sides.iter().any(|bytes| lines(bytes) > LINES_AT_MOST) {
        return Ok(Read::TooMuch);
    }
    Ok(Read::Texts(sides.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())))
}

/// Whether git treats the content as text: a NUL among the first 8,000 bytes makes a file binary.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().take(8000).any(|byte| *byte == 0)
}

/// Keeps the lines in a view's range, and counts all lines.
struct Window {
    text: String,
    first: usize,
    end: usize,
    bytes: usize,
    /// Number of complete lines written.
    line: usize,
    is_full: bool,
}

impl Window {
    fn new(view: &DiffView, left: usize) -> Self {
        let (first, end) = (view.first_line, view.first_line.saturating_add(view.lines));
        Self { text: String::new(), first, end, bytes: view.file_bytes.min(left), line: 0, is_full: false }
    }
}

impl fmt::Write for Window {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive('\n') {
            if (self.first..self.end).contains(&self.line) && !self.is_full {
                let left = self.bytes - self.text.len();
                self.is_full = piece.len() > left;
                self.text.push_str(&piece[..piece.floor_char_boundary(left)]);
            }
            self.line += usize::from(piece.ends_with('\n'));
        }
        Ok(())
    }
}

fn header(pair: &Pair, status: FileStatus) -> String {
    let old_path = pair.old_path.as_ref().unwrap_or(&pair.path);
    let mut text = format!("diff --git a/{old_path} b/{}\n", pair.path);
    let octal = |side: &Option<Side>| side.as_ref().map_or("", |side| side.mode.octal());
    let (before, after) = (octal(&pair.old), octal(&pair.new));
    match status {
        FileStatus::Added => text.push_str(&format!("new file mode {after}\n")),
        FileStatus::Deleted => text.push_str(&format!("deleted file mode {before}\n")),
        FileStatus::Modified | FileStatus::Renamed if before != after => {
            text.push_str(&format!("old mode {before}\nnew mode {after}\n"));
        }
        FileStatus::Modified | FileStatus::Renamed => {}
    }
    if status == FileStatus::Renamed {
        text.push_str(&format!("rename from {old_path}\nrename to {}\n", pair.path));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_keeps_whole_lines_from_the_first_and_counts_all() {
        let shown = |first_line, lines, file_bytes| {
            let view = DiffView { first_line, lines, file_bytes, ..DiffView::default() };
            let mut window = Window::new(&view, usize::MAX);
            for piece in ["o", "ne\ntw", "o\n", "thrée\nfour\n"] {
                window.write_str(piece).expect("written");
            }
            assert_eq!(window.line, 4);
            window.text
        };
        assert_eq!(shown(0, 10, 100), "one\ntwo\nthrée\nfour\n");
        assert_eq!(shown(1, 2, 100), "two\nthrée\n");
        assert_eq!(shown(0, 10, 12), "one\ntwo\nthr");
        assert_eq!(shown(9, 10, 100), "");
    }
}
