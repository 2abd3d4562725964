//! Edits as data.

use std::ops::Range;

use docent_site::Tree;

/// Replaces a byte range with new text. An empty range is an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    pub range: Range<usize>,
    pub text: String,
}

impl TextEdit {
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::new(at..at, text)
    }
}

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Edits in order of the file, not overlapping.
    Edit {
        path: String,
        edits: Vec<TextEdit>,
    },
    Create {
        path: String,
        bytes: Vec<u8>,
    },
    Delete {
        path: String,
    },
}

impl Change {
    pub fn path(&self) -> &str {
        match self {
            Self::Edit { path, .. } | Self::Create { path, .. } | Self::Delete { path } => path,
        }
    }

    /// The file's bytes after the change; `None` if it is deleted.
    pub fn bytes_after(&self, tree: &dyn Tree) -> Option<Vec<u8>> {
        match self {
            Self::Edit { path, edits } => Some(apply(&tree.read(path).unwrap_or_default(), edits)),
            Self::Create { bytes, .. } => Some(bytes.clone()),
            Self::Delete { .. } => None,
        }
    }
}

/// Applies edits to bytes. Edits that are out of order or out of bounds are a mistake of the caller and are skipped.
pub fn apply(bytes: &[u8], edits: &[TextEdit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut at = 0;
    for edit in edits {
        if edit.range.start < at || edit.range.end < edit.range.start || edit.range.end > bytes.len() {
            continue;
        }
        out.extend_from_slice(&bytes[at..edit.range.start]);
        out.extend_from_slice(edit.text.as_bytes());
        at = edit.range.end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

/// Sorts edits by position and drops each that overlaps an earlier one.
pub(super) fn in_order(mut edits: Vec<TextEdit>) -> Vec<TextEdit> {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut end = 0;
    edits.retain(|edit| {
        let fits = edit.range.start >= end;
        if fits {
            end = edit.range.end;
        }
        fits
    });
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_touch_their_bytes_and_no_others() {
        let edits = [TextEdit::new(0..1, "X"), TextEdit::insert(3, "--"), TextEdit::new(4..6, "")];
        assert_eq!(apply(b"abcdef\xff", &edits), b"Xbc--d\xff");
        assert_eq!(apply(b"ab", &[TextEdit::new(1..9, "x"), TextEdit::new(0..1, "y")]), b"yb");
    }

    #[test]
    fn overlapping_edits_give_way_to_the_first() {
        let edits = vec![TextEdit::new(4..6, "b"), TextEdit::new(0..5, "a"), TextEdit::insert(6, "c")];
        assert_eq!(in_order(edits), [TextEdit::new(0..5, "a"), TextEdit::insert(6, "c")]);
    }
}
