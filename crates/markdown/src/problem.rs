//! Reports what could not be parsed.

/// Something on a page that could not be parsed as intended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// A sentence for the author that says what is wrong.
    pub message: String,
}

/// Most problems that are reported for a page.
pub const MOST_PROBLEMS: usize = 200;
