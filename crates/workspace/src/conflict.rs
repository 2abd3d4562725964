//! The conflicts of a merge, described so that a person can resolve them.

use similar::{DiffableStr, TextMerge};

/// Most conflicts reported per file, and the longest text of each side, in bytes.
const MOST_REPORTED: usize = 20;
const LONGEST_TEXT: usize = 4 << 10;

/// A file that both sides changed in ways that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileConflict {
    pub path: String,
    pub kind: ConflictKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictKind {
    /// Both changed the same lines: the first twenty places of those.
    Lines(Vec<LineConflict>),
    /// Both changed the same entries of a file whose structure matters.
    Structure,
    /// Both added a file here, each with another content.
    AddedInBoth,
    /// The target deleted what the source changed.
    DeletedInTarget,
    /// The source deleted what the target changed.
    DeletedInSource,
    /// One made a file where the other made a folder.
    FileAndFolder,
    /// The file is too large to be merged, no text, or changed its type on both sides.
    NoText,
}

/// Lines that both sides changed. Long texts are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineConflict {
    /// The first of these lines in the target, counted from 1.
    pub line: usize,
    /// As they were before both changes.
    pub base: String,
    pub target: String,
    pub source: String,
}

/// The lines of base, target and source merged.
pub(crate) fn merged_lines(sides: [&[u8]; 3]) -> Result<Vec<u8>, ConflictKind> {
    let [Ok(base), Ok(target), Ok(source)] = sides.map(str::from_utf8) else { return Err(ConflictKind::NoText) };
    if [base, target, source].iter().any(|text| text.contains('\0')) {
        return Err(ConflictKind::NoText);
    }
    let merge = TextMerge::from_lines(base, target, source);
    if !merge.is_conflicted() {
        return Ok(merge.to_string().into_bytes());
    }
    let [base, target, source] = [base, target, source].map(DiffableStr::tokenize_lines);
    let reported = |region: &similar::MergeRegion| LineConflict {
        line: region.ours_range().start + 1,
        base: cut(&base[region.base_range()]),
        target: cut(&target[region.ours_range()]),
        source: cut(&source[region.theirs_range()]),
    };
    Err(ConflictKind::Lines(merge.conflicts().take(MOST_REPORTED).map(reported).collect()))
}

fn cut(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let room = LONGEST_TEXT - text.len();
        if line.len() > room {
            text.push_str(&line[..line.floor_char_boundary(room)]);
            break;
        }
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_conflict_has_its_line_and_texts() {
        let merge = |sides: [&str; 3]| merged_lines(sides.map(str::as_bytes));
        let base = "a\nb\nc\nd\ne\nf\ng\n";
        assert_eq!(
            merge([base, "A\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\ne\nf\nG\n"]),
            Ok(b"A\nb\nc\nd\ne\nf\nG\n".into())
        );
        let reported = merge([base, "a\nB\nc\nd\ne\nnew\nF\ng\n", "a\nbb\nc\nd\ne\ng\n"]);
        let at = |line, base: &str, target: &str, source: &str| {
            let [base, target, source] = [base, target, source].map(str::to_owned);
            LineConflict { line, base, target, source }
        };
        assert_eq!(reported, Err(ConflictKind::Lines(vec![at(2, "b\n", "B\n", "bb\n"), at(6, "f\n", "new\nF\n", "")])));
        assert_eq!(merge([base, "\0", "x"]), Err(ConflictKind::NoText));
        let long = "ü".repeat(LONGEST_TEXT);
        let Err(ConflictKind::Lines(reported)) = merge([base, &long, "x"]) else { panic!("a conflict") };
        assert_eq!(reported[0].target.len(), LONGEST_TEXT);
    }
}
