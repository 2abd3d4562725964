//! Which line a byte is on.

/// The line starts of a text.
#[derive(Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let starts =
            std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(ix, _)| ix + 1));
        Self(starts.collect())
    }

    /// The line of a byte, counted from 1.
    pub(crate) fn number(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }
}
