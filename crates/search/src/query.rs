//! A question to an index.

use crate::embedder::Asker;

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question: any text. Nothing in it is syntax.
    pub text: String,
    /// The earlier question, if this one follows up on it. Its words are searched for too, at a lower weight, and are
    /// not missed on a page without them. They replace a question that has no content words of its own.
    pub after: Option<String>,
    /// Maximum number of passages to return.
    pub limit: usize,
    pub filter: Filter,
    /// The site path of the page the asker is on: breaks ties in favour of that page and pages near it.
    pub near: Option<String>,
    /// Who is waiting for the answer, which decides how long an embedder may take.
    pub asker: Asker,
}

/// Which pages are searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Pages of this version, and pages without a version.
    pub version: Option<String>,
    /// Pages in this language, in letters of either case, and pages without a language.
    pub language: Option<String>,
    /// When not empty: pages open to one of these groups, and those open to all.
    pub groups: Vec<String>,
    /// Pages that carry this tag.
    pub tag: Option<String>,
}
