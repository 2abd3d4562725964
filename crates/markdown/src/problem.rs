//! What could not be read.

/// Something on a page that could not be read as it was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, in a sentence for the author.
    pub message: String,
}

/// A page with more problems than this needs no longer list of them.
pub const MOST_PROBLEMS: usize = 200;
