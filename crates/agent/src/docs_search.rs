//! The search over the published docs, for the tool `search_docs`.

use docent_types::Passage;

/// The index of the published docs. It may be older than the files being edited.
pub trait DocsSearch: Send + Sync {
    /// The passages that match, best first; none when nothing matches or nothing is indexed yet.
    fn search(&self, words: &str, limit: usize) -> Vec<Passage>;
}
