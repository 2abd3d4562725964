//! A question to an index.

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question: any text. Nothing in it is syntax.
    pub text: String,
    /// How many passages to give back at most.
    pub limit: usize,
    pub filter: Filter,
    /// The site path of the page the asker is on: breaks ties in favour of what is near.
    pub near: Option<String>,
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
