//! A question to an index.

use crate::embedder::Asker;
use crate::text::message::Message;

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question: any text, with all that people write around a question ([`Message`]). Nothing in it is syntax.
    pub text: String,
    /// The earlier question, if this one follows up on it. Its words are searched for too, at a lower weight, and are
    /// not missed on a page without them. They replace a question that has no content words of its own.
    pub after: Option<String>,
    /// What is said beside the question. Its words help to rank the pages, at a low weight, and are not missed.
    pub beside: String,
    /// Maximum number of passages to return.
    pub limit: usize,
    pub filter: Filter,
    /// The site path of the page the asker is on: breaks ties in favour of that page and pages near it.
    pub near: Option<String>,
    /// Who is waiting for the answer, which decides how long an embedder may take.
    pub asker: Asker,
}

impl Query {
    /// The query with the text read as a message: what it asks, and what it says beside that. A text that asks nothing
    /// stays as it is: people search for `help`, too.
    pub(crate) fn read(&self) -> Self {
        let Message { question, beside } = Message::read(&self.text);
        match question.is_empty() {
            true => self.clone(),
            false => {
                Self { text: question, beside: format!("{beside} {}", self.beside).trim().to_owned(), ..self.clone() }
            }
        }
    }
}

/// What a text asks, as [`Query::read`] reads it.
pub(crate) fn asked(text: &str) -> String {
    Query { text: text.to_owned(), ..Query::default() }.read().text
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
