//! Files with one record per line, and errors that name a line.

use std::path::Path;

use thiserror::Error;

use crate::failure::Failure;

/// An invalid line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {sentence}")]
pub(super) struct LineError {
    file: String,
    /// The line number, counted from 1.
    line: usize,
    sentence: String,
}

impl From<LineError> for Failure {
    fn from(error: LineError) -> Self {
        Self::plain(error.to_string())
    }
}

/// The text of a file, and its name for error messages.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    file: String,
    text: String,
}

impl Lines {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Failure::new(format!("cannot read {file}"), error))?;
        let text = String::from_utf8(bytes).map_err(|error| Failure::new(format!("{file} is not UTF-8"), error))?;
        Ok(Self { file, text })
    }

    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        Self { file: "F".to_owned(), text: text.to_owned() }
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// The lines that are not blank, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty())
    }

    pub(super) fn error_at(&self, line: usize, sentence: impl Into<String>) -> LineError {
        LineError { file: self.file.clone(), line, sentence: sentence.into() }
    }
}
