//! The search over the published docs, as a tool asks for it.

use docent_types::Passage;

/// The index of the published docs. It may be older than the files at hand.
pub trait DocsSearch: Send + Sync {
    /// The passages that fit these words best, the best first; none when nothing fits or nothing is indexed yet.
    fn search(&self, words: &str, limit: usize) -> Vec<Passage>;
}
