//! Vectors of sections: stored, compared with a question, and fused with the ranking by words.

pub(crate) mod embed;
pub(crate) mod files;
pub(crate) mod fusion;
pub(crate) mod section_vectors;
pub(crate) mod similarity;
pub(crate) mod store;
#[cfg(test)]
mod tests;
