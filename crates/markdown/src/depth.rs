//! Counts how deep a reader is in what it reads.

/// The levels that a reader may still go in. Every reader that calls itself takes one and hands on [`Depth::inside`],
/// so that no text from outside decides how much of the stack is used.
///
/// The limits hold for a debug build on a thread with two megabytes of stack, the smallest that this is read on: with
/// frames of a few kilobytes, some hundred levels of all readers above each other fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    left: usize,
}

impl Depth {
    /// The outermost level, with this many levels inside.
    pub const fn of(levels: usize) -> Self {
        Self { left: levels }
    }

    /// One level further in; `None` when that is too deep, and what is there counts as not understood.
    #[must_use]
    pub const fn inside(self) -> Option<Self> {
        match self.left.checked_sub(1) {
            Some(left) => Some(Self { left }),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_levels_as_were_given() {
        let mut depth = Some(Depth::of(3));
        let levels = std::iter::from_fn(|| {
            depth = depth?.inside();
            depth
        });
        assert_eq!(levels.count(), 3);
    }
}
