//! The conflicts of a merge, described so that a person can resolve them.

use similar::{DiffableStr, TextMerge};

/// Maximum number of conflicts reported per file, and maximum length of each side's text, in bytes.
const MOST_REPORTED: usize = 20;
const LONGEST_TEXT: usize = 4 << 10;

/// A file with changes on both sides that conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileConflict {
    pub path: String,
    pub kind: ConflictKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictKind {
    /// Both sides changed the same lines; the first twenty such regions.
    Lines(Vec<LineConflict>),
    /// Both sides changed the same entries of a file that is merged by its structure instead of by lines.
    Structure,
    /// Both sides added a file at this path, with different content.
    AddedInBoth,
    /// The target deleted the file that the source changed.
    DeletedInTarget,
    /// The source deleted the file that the target changed.
    DeletedInSource,
    /// One side added a file where the other added a folder.
    FileAndFolder,
    /// The file is too large to be merged, is not a text file, or got a different mode on each side.
    NoText,
}

/// Lines that both sides changed. Long texts are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineConflict {
    /// The first of these lines in the target, counted from 1.
    pub line: usize,
    /// The lines in the merge base.
    pub base: String,
    pub target: String,
    pub source: String,
}

/// Merges the lines of base, target and source.
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
