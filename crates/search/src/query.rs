//! A question to an index.

use crate::embedder::Asker;

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question: any text. Nothing in it is syntax.
    pub text: String,
    /// What was asked before, where the question follows up on it: its words help to find what is meant, and are not
    /// missed. Where the question has no telling word of its own, they are what is looked for.
    pub after: Option<String>,
    /// How many passages to give back at most.
    pub limit: usize,
    pub filter: Filter,
    /// The site path of the page the asker is on: breaks ties in favour of what is near.
    pub near: Option<String>,
    /// Who waits for it, which decides how long an embedder may take.
    pub asker: Asker,
}

/// Which pages count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Pages of this version, and those of none.
    pub version: Option<String>,
    /// Pages in this language, and those of none.
    pub language: Option<String>,
    /// When not empty: pages open to one of these groups, and those open to all.
    pub groups: Vec<String>,
    /// Pages that carry this tag.
    pub tag: Option<String>,
}
