//! Reports what could not be parsed.

/// Something on a page that could not be parsed as intended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// A sentence for the author that says what is wrong.
    pub message: String,
}

impl Problem {
    /// The problem of a file that is not UTF-8.
    pub fn of_encoding(bytes: &[u8]) -> Option<Self> {
        let message = "the file is not UTF-8: save it as UTF-8";
        std::str::from_utf8(bytes).is_err().then(|| Self { line: 1, message: message.to_owned() })
    }
}

/// Most problems that are reported for a page.
pub const MOST_PROBLEMS: usize = 200;
