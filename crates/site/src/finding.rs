//! A defect of a site, as a check reports it.

/// One defect of a site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    pub kind: FindingKind,
    /// The defect, in a sentence without its full stop.
    pub message: String,
    /// The target of the link, verbatim; empty if the finding is not about a link.
    pub target: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    BrokenLink,
    BrokenAnchor,
    /// The file could not be parsed as intended.
    Unreadable,
    MissingTitle,
    /// The navigation names a page that does not exist.
    DeadNavigation,
    /// The target of a link is known only to the running site or its build. Never reported as an error.
    NotUnderstood,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} {}", self.path, self.line, self.message)
    }
}
